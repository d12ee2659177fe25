/* pooled URL POLLS [THREADS]: the naive program, with WARMWIRE_POOL=process set by the harness: a handle for each
 * request. Then the same from THREADS threads at once, and what they opened. Tells how descriptors and memory grew between
 * the tenth part and the end, and forks with pooled connections. */
#include "facts.h"
#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>

static const char *url;
static int polls;
static struct sink expected;
static _Atomic long opened;

static int get(void) {
  struct sink sink;
  sink_reset(&sink);
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  if (getenv("CA")) curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  CURLcode code = curl_easy_perform(easy);
  long connects = 0;
  curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
  opened += connects;
  curl_easy_cleanup(easy);
  if (!expected.bytes) expected = sink;
  return code == CURLE_OK && sink.bytes == expected.bytes && sink.sum == expected.sum;
}

static int open_fds(void) {
  int count = 0;
  DIR *directory = opendir("/proc/self/fd");
  while (directory && readdir(directory)) count++;
  if (directory) closedir(directory);
  return count;
}

static long resident_kb(void) {
  long pages = 0, ignored;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%ld %ld", &ignored, &pages) != 2) pages = 0;
  if (file) fclose(file);
  return pages * 4;
}

static void *work(void *good) {
  for (int i = 0; i < polls / 10; i++) *(long *)good += get();
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int threads = argc > 3 ? atoi(argv[3]) : 0, good = 0, fds = 0;
  long memory = 0, parts[64] = {0}, together = 0;
  pthread_t ids[64];
  url = argv[1], polls = atoi(argv[2]);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  for (int i = 0; i < polls; i++) {
    good += get();
    if (i == polls / 10) fds = open_fds(), memory = resident_kb();
  }
  printf("good=%d more_fds=%d more_kb=%ld\n", good, open_fds() - fds, resident_kb() - memory);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(get() && get() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  printf("child=%d after=%d\n", status, get());
  opened = 0;
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, work, &parts[i]);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL), together += parts[i];
  printf("together=%ld of=%d opened=%ld\n", together, threads * (polls / 10), opened);
  curl_global_cleanup();
  printf("left_fds=%d\n", open_fds());
  return 0;
}
