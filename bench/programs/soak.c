/* soak WAY SECONDS EVERY COUNT BASE: works until SECONDS are over, and says every EVERY seconds how it fares. BASE is the beginning of a
 * URL of a holding server (testkit/src/holding.rs), "http://%s:PORT"; %s becomes an address of 127.0.0.0/8, of which there are HOSTS, so
 * that closed connections do not use up the ports of one.
 *
 * WAY is one of
 *   churn    COUNT transfers at once in one multi handle, each on a connection of its own: some are held back until the server
 *            releases them, some trickle, some are quick; handles are removed in the middle, cleaned up, made anew, used again
 *   pool     COUNT threads on the process-wide pool, each with a handle that it now and then replaces
 *   handles  easy handles come and go, COUNT of them at least: unused, duplicated, reset, used; the last thousand exist
 *
 * Each line: seconds, resident KiB, KiB in use as the allocator counts them, descriptors, what was done so far, and of quick transfers
 * since the last line the median and the 99th percentile of their time in microseconds. Ends with 1 when a transfer fails. */
#define _GNU_SOURCE
#include "measure.h"
#include <curl/curl.h>
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define HOSTS 64
#define TIMES 65536

static const char *base;
static double begun, until, every, next_line;
static int count;

static double times[TIMES]; /* of quick transfers; a random choice where there are more */
static long quick, done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void must(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "soak: %s\n", what);
  exit(1);
}

/* The same order in each run. */
static unsigned roll(unsigned *seed, unsigned sides) {
  *seed = *seed * 1103515245u + 12345u;
  return (*seed >> 8) % sides;
}

static size_t drop(char *data, size_t size, size_t number, void *user) {
  (void)data, (void)user;
  return size * number;
}

static void go_to(CURL *easy, unsigned host, const char *path) {
  char address[32], url[256];
  snprintf(address, sizeof address, "127.0.%u.%u", 1 + host % HOSTS / 8, 1 + host % 8);
  size_t n = (size_t)snprintf(url, sizeof url, base, address);
  snprintf(url + n, sizeof url - n, "%s", path);
  must(curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK, url);
}

static CURL *fresh(void) {
  CURL *easy = curl_easy_init();
  must(easy != NULL, "no handle");
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  return easy;
}

static void took(double us) {
  static unsigned seed = 7;
  pthread_mutex_lock(&lock);
  if (quick < TIMES) times[quick] = us;
  else times[roll(&seed, TIMES)] = us;
  quick++, done++;
  pthread_mutex_unlock(&lock);
}

static int by_size(const void *a, const void *b) {
  double one = *(const double *)a, other = *(const double *)b;
  return (one > other) - (one < other);
}

static long descriptors(void) {
  DIR *all = opendir("/proc/self/fd");
  long n = -3; /* two dots and this one */
  must(all != NULL, "/proc/self/fd");
  while (readdir(all)) n++;
  closedir(all);
  return n;
}

static void say(void) {
  if (wall_us() < next_line) return;
  next_line += every;
  long pages = 0, resident = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  must(statm && fscanf(statm, "%ld %ld", &pages, &resident) == 2, "/proc/self/statm");
  fclose(statm);
  struct mallinfo2 heap = mallinfo2();
  pthread_mutex_lock(&lock);
  size_t n = (size_t)(quick < TIMES ? quick : TIMES);
  qsort(times, n, sizeof *times, by_size);
  printf("%.1f\t%ld\t%zu\t%ld\t%ld\t%.0f\t%.0f\n", (wall_us() - begun) / 1e6, resident * (sysconf(_SC_PAGESIZE) / 1024),
         (heap.uordblks + heap.hblkhd) / 1024, descriptors(), done, n ? times[n / 2] : 0, n ? times[n * 99 / 100] : 0);
  quick = 0;
  pthread_mutex_unlock(&lock);
  fflush(stdout);
}

/* One of the transfers in the multi handle. */
struct place {
  CURL *easy;
  double since;
  int is_quick, is_inside;
};

static void churn_start(CURLM *multi, struct place *place, unsigned number, unsigned *seed) {
  char path[64];
  if (place->easy && roll(seed, 4) == 0) curl_easy_cleanup(place->easy), place->easy = NULL;
  if (!place->easy) place->easy = fresh();
  else if (roll(seed, 8) == 0) {
    curl_easy_reset(place->easy);
    curl_easy_setopt(place->easy, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(place->easy, CURLOPT_PROXY, "");
  }
  unsigned kind = roll(seed, 20);
  place->is_quick = kind == 0;
  if (kind == 0) snprintf(path, sizeof path, "/bytes/%u", 1 + roll(seed, 2000));
  else if (kind < 4) snprintf(path, sizeof path, "/drip/%u/%u", 1000 + roll(seed, 100000), 2 + roll(seed, 20));
  else snprintf(path, sizeof path, "/hold");
  go_to(place->easy, number, path);
  curl_easy_setopt(place->easy, CURLOPT_FORBID_REUSE, (long)(roll(seed, 8) == 0));
  curl_easy_setopt(place->easy, CURLOPT_PRIVATE, place);
  place->since = wall_us();
  place->is_inside = 1;
  must(curl_multi_add_handle(multi, place->easy) == CURLM_OK, "add");
}

static void churn(void) {
  struct place *places = calloc((size_t)count, sizeof *places);
  CURLM *multi = curl_multi_init();
  CURL *release = fresh();
  unsigned seed = 1;
  int running, left, releasing = 0;
  double next_release = wall_us() + every / 4;
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)count / 4);
  go_to(release, 0, "/release");
  /* They come little by little, as they would. */
  for (int filled = 0; wall_us() < until;) {
    for (int i = 0; i < 50 && filled < count; i++, filled++) churn_start(multi, &places[filled], (unsigned)filled, &seed);
    must(curl_multi_perform(multi, &running) == CURLM_OK, "perform");
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
      CURL *easy = message->easy_handle;
      must(message->data.result == CURLE_OK, curl_easy_strerror(message->data.result));
      curl_multi_remove_handle(multi, easy);
      if (easy == release) {
        releasing = 0;
        continue;
      }
      char *private;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
      struct place *place = (struct place *)private;
      if (place->is_quick) took(wall_us() - place->since);
      else done++;
      churn_start(multi, place, (unsigned)(place - places), &seed);
    }
    /* Somebody loses patience. */
    if (filled == count && roll(&seed, 4) == 0) {
      struct place *place = &places[roll(&seed, (unsigned)count)];
      must(curl_multi_remove_handle(multi, place->easy) == CURLM_OK, "remove");
      churn_start(multi, place, (unsigned)(place - places), &seed);
    }
    if (!releasing && wall_us() > next_release) {
      next_release = wall_us() + every / 2;
      releasing = 1;
      must(curl_multi_add_handle(multi, release) == CURLM_OK, "add");
    }
    say();
    curl_multi_poll(multi, NULL, 0, filled < count ? 0 : 100, NULL);
  }
  if (releasing) curl_multi_remove_handle(multi, release);
  for (int i = 0; i < count; i++) {
    if (places[i].is_inside) curl_multi_remove_handle(multi, places[i].easy);
    curl_easy_cleanup(places[i].easy);
  }
  curl_easy_cleanup(release);
  must(curl_multi_cleanup(multi) == CURLM_OK, "cleanup");
  free(places);
}

static void *pool_thread(void *user) {
  unsigned seed = (unsigned)(size_t)user;
  CURL *easy = NULL;
  while (wall_us() < until) {
    if (!easy) easy = fresh();
    char path[64];
    snprintf(path, sizeof path, "/bytes/%u", 1 + roll(&seed, 2000));
    go_to(easy, roll(&seed, 16), path);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, (long)(roll(&seed, 50) == 0));
    double since = wall_us();
    CURLcode code = curl_easy_perform(easy);
    must(code == CURLE_OK, curl_easy_strerror(code));
    took(wall_us() - since);
    if (roll(&seed, 10) == 0) curl_easy_cleanup(easy), easy = NULL;
  }
  curl_easy_cleanup(easy);
  return NULL;
}

static void pool(void) {
  pthread_t *threads = calloc((size_t)count, sizeof *threads);
  for (int i = 0; i < count; i++) must(!pthread_create(&threads[i], NULL, pool_thread, (void *)(size_t)(i + 1)), "a thread");
  while (wall_us() < until) {
    say();
    usleep(20000);
  }
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  free(threads);
}

static void handles(void) {
  enum { KEPT = 1000 };
  static CURL *kept[KEPT];
  unsigned seed = 1;
  long made = 0;
  for (; made < count || wall_us() < until; made++) {
    CURL **place = &kept[made % KEPT];
    CURL *old = *place, *easy;
    /* A copy has what the old one was given. */
    easy = old && roll(&seed, 8) == 0 ? curl_easy_duphandle(old) : fresh();
    must(easy != NULL, "no handle");
    curl_easy_cleanup(old);
    *place = easy;
    if (roll(&seed, 4) == 0) curl_easy_setopt(easy, CURLOPT_USERPWD, "user:password");
    if (roll(&seed, 4) == 0) curl_easy_setopt(easy, CURLOPT_COOKIELIST, "Set-Cookie: a=b; domain=a.example");
    if (roll(&seed, 16) == 0) {
      curl_easy_reset(easy);
      curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
      curl_easy_setopt(easy, CURLOPT_PROXY, "");
    }
    if (roll(&seed, 50) == 0) {
      go_to(easy, roll(&seed, HOSTS), "/bytes/100");
      double since = wall_us();
      CURLcode code = curl_easy_perform(easy);
      must(code == CURLE_OK, curl_easy_strerror(code));
      took(wall_us() - since);
    }
    if (made % 64 == 0) say();
  }
  done = made;
  for (int i = 0; i < KEPT; i++) curl_easy_cleanup(kept[i]);
}

int main(int argc, char **argv) {
  if (argc < 6) return 2;
  struct rlimit most;
  getrlimit(RLIMIT_NOFILE, &most);
  most.rlim_cur = most.rlim_max;
  setrlimit(RLIMIT_NOFILE, &most);
  every = atof(argv[3]) * 1e6, count = atoi(argv[4]), base = argv[5];
  begun = wall_us(), until = begun + atof(argv[2]) * 1e6, next_line = begun + every;
  if (!strcmp(argv[1], "pool")) setenv("WARMWIRE_POOL", "process", 1);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (!strcmp(argv[1], "churn")) churn();
  else if (!strcmp(argv[1], "pool")) pool();
  else if (!strcmp(argv[1], "handles")) handles();
  else return 2;
  curl_global_cleanup();
  return 0;
}
