/* threads URL COUNT THREADS HOW: COUNT GETs in all, shared out to so many threads. HOW is fresh (a handle for each request) or kept (one
 * for each thread). Prints microseconds of CPU (this process only) and of wall time per request. */
#include "measure.h"
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *url;
static int each, kept;

static size_t count_bytes(char *data, size_t size, size_t count, void *user) {
  (void)data, (void)user;
  return size * count;
}

static void *work(void *user) {
  CURL *easy = NULL;
  for (int i = 0; i < each; i++) {
    if (!easy) {
      easy = curl_easy_init();
      curl_easy_setopt(easy, CURLOPT_URL, url);
      curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_bytes);
      curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
      if (getenv("CA")) curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
    }
    CURLcode code = curl_easy_perform(easy);
    if (code != CURLE_OK) {
      fprintf(stderr, "%s\n", curl_easy_strerror(code));
      exit(1);
    }
    if (!kept) curl_easy_cleanup(easy), easy = NULL;
  }
  curl_easy_cleanup(easy);
  return user;
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  int threads = atoi(argv[3]);
  url = argv[1], kept = !strcmp(argv[4], "kept"), each = (atoi(argv[2]) + threads - 1) / threads;
  pthread_t *all = calloc(threads, sizeof *all);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  double cpu = cpu_us(), wall = wall_us();
  for (int i = 0; i < threads; i++)
    if (pthread_create(&all[i], NULL, work, NULL)) return 1;
  for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
  printf("%.3f %.3f\n", (cpu_us() - cpu) / (each * threads), (wall_us() - wall) / (each * threads));
  curl_global_cleanup();
  free(all);
  return 0;
}
