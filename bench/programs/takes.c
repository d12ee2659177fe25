/* takes COUNT URL: a new handle for each request, COUNT times from the pool of the process and COUNT times, in turn, from
 * the broker of the user, with WARMWIRE_POOL=user. Prints two lines: medians of CPU and wall time in microseconds of such
 * a request from the pool, then from the broker. A request that opened a connection is reported as an error, unless it was
 * one of a few: the broker may be too slow for it on a busy machine. */
#include <curl/curl.h>
#include "measure.h"
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static size_t ignore(char *data, size_t size, size_t count, void *user) {
  (void)data, (void)user;
  return size * count;
}

/* Makes one request with a handle of its own; returns the number of connections that it opened, -1 if it failed. */
static long get(const char *url, double *cpu, double *wall) {
  CURL *easy = curl_easy_init();
  long opened = -1;
  if (!easy) return -1;
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
  *cpu = cpu_us(), *wall = wall_us();
  CURLcode code = curl_easy_perform(easy);
  *cpu = cpu_us() - *cpu, *wall = wall_us() - *wall;
  if (code == CURLE_OK) curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &opened);
  curl_easy_cleanup(easy);
  return opened;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  int count = atoi(argv[1]), fresh = 0;
  double *values = calloc(4 * (count + 1), sizeof *values);
  double *cpu[2] = {values, values + count + 1}, *wall[2] = {values + 2 * (count + 1), values + 3 * (count + 1)};
  curl_global_init(CURL_GLOBAL_DEFAULT);
  for (int i = -3; i < count; i++) {
    for (int way = 0; way < 2; way++) {
      double spent, passed;
      long opened = get(argv[2], &spent, &passed);
      if (opened < 0) return fprintf(stderr, "a request failed\n"), 1;
      if (i >= 0) cpu[way][i] = spent, wall[way][i] = passed, fresh += opened > 0;
      /* The idle connection goes to the broker; the next request gets it from there. */
      if (way == 0) curl_global_cleanup(), curl_global_init(CURL_GLOBAL_DEFAULT);
      if (i == -3) { struct timespec start = {0, 300000000}; nanosleep(&start, NULL); }
    }
  }
  if (fresh > count / 10) return fprintf(stderr, "%d of %d requests opened a connection\n", fresh, 2 * count), 1;
  for (int way = 0; way < 2; way++) {
    qsort(cpu[way], count, sizeof(double), compare);
    qsort(wall[way], count, sizeof(double), compare);
    printf("%.3f %.3f\n", cpu[way][count / 2], wall[way][count / 2]);
  }
  return 0;
}
