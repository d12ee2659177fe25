/* gets URL COUNT [WARM]: so many GETs over one kept handle; prints microseconds of CPU (this process only) and of wall time
 * and bytes per request. The first WARM, ten of them, are not counted. */
#include "measure.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static size_t received;

static size_t count_bytes(char *data, size_t size, size_t count, void *user) {
  (void)data, (void)user;
  received += size * count;
  return size * count;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int count = atoi(argv[2]), warm = argc > 3 ? atoi(argv[3]) : 10;
  double cpu = 0, wall = 0;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_bytes);
  if (getenv("CA")) curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  for (int i = -warm; i < count; i++) {
    if (i == 0) received = 0, cpu = cpu_us(), wall = wall_us();
    CURLcode code = curl_easy_perform(easy);
    if (code != CURLE_OK) {
      fprintf(stderr, "request %d: %s\n", i, curl_easy_strerror(code));
      return 1;
    }
  }
  cpu = cpu_us() - cpu, wall = wall_us() - wall;
  printf("%.3f %.3f %zu\n", cpu / count, wall / count, received / (count ? count : 1));
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return 0;
}
