/* ftp HOW LEVEL COUNT SIZE URL...: COUNT files of SIZE bytes from each URL, a thread for each. HOW is naive (a handle for
 * each file) or kept (a handle for each thread); LEVEL is given to warmwire_ftp_pipeline(), unless it is "-".
 * Prints the milliseconds of each file on a line, "failed" for one that did not come whole. The first WARM of each
 * thread are not printed. */
#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARM 6

struct job {
  pthread_t thread;
  const char *url;
  double *ms;
};

static int kept, count;
static const char *level;
static size_t wanted;

static size_t count_bytes(char *data, size_t size, size_t n, void *user) {
  (void)data;
  *(size_t *)user += size * n;
  return size * n;
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static CURL *handle(const char *url, size_t *received) {
  CURL *easy = curl_easy_init();
  if (!easy) return NULL;
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_bytes);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, received);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 60L);
  if (strcmp(level, "-")) {
    CURLcode (*set)(CURL *, long) = (CURLcode(*)(CURL *, long))dlsym(RTLD_DEFAULT, "warmwire_ftp_pipeline");
    if (!set || set(easy, atol(level)) != CURLE_OK) {
      fprintf(stderr, "no warmwire_ftp_pipeline\n");
      exit(1);
    }
  }
  return easy;
}

static void *work(void *user) {
  struct job *job = user;
  CURL *easy = NULL;
  size_t received;
  for (int i = -WARM; i < count; i++) {
    double start = now_ms();
    received = 0;
    if (!easy) easy = handle(job->url, &received);
    CURLcode code = curl_easy_perform(easy);
    if (!kept) curl_easy_cleanup(easy), easy = NULL;
    if (code != CURLE_OK && getenv("VERBOSE")) fprintf(stderr, "%s\n", curl_easy_strerror(code));
    if (i >= 0) job->ms[i] = code == CURLE_OK && received == wanted ? now_ms() - start : -1;
  }
  if (easy) curl_easy_cleanup(easy);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 6) return 2;
  kept = !strcmp(argv[1], "kept");
  level = argv[2];
  count = atoi(argv[3]);
  wanted = strtoul(argv[4], NULL, 10);
  int jobs = argc - 5;
  struct job *all = calloc(jobs, sizeof *all);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  for (int i = 0; i < jobs; i++) {
    all[i].url = argv[5 + i];
    all[i].ms = calloc(count, sizeof(double));
    if (pthread_create(&all[i].thread, NULL, work, &all[i])) return 1;
  }
  for (int i = 0; i < jobs; i++) pthread_join(all[i].thread, NULL);
  for (int i = 0; i < jobs; i++)
    for (int k = 0; k < count; k++)
      if (all[i].ms[k] < 0)
        puts("failed");
      else
        printf("%.3f\n", all[i].ms[k]);
  curl_global_cleanup();
  return 0;
}
