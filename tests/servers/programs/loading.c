/* loading URL TIMES: dlopen, GET, dlclose, again and again; what is left of threads, descriptors and memory. */
#include "facts.h"
#include <dirent.h>
#include <dlfcn.h>

static int entries(const char *path) {
  int count = 0;
  DIR *directory = opendir(path);
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

int main(int argc, char **argv) {
  int good = 0, times = argc > 2 ? atoi(argv[2]) : 0;
  int threads = 0, fds = 0;
  long memory = 0;
  for (int i = 0; i < times; i++) {
    void *lib = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
      printf("%s\n", dlerror());
      return 1;
    }
    CURL *(*init)(void) = (CURL * (*)(void)) dlsym(lib, "curl_easy_init");
    CURLcode (*setopt)(CURL *, CURLoption, ...) = (CURLcode(*)(CURL *, CURLoption, ...))dlsym(lib, "curl_easy_setopt");
    CURLcode (*perform)(CURL *) = (CURLcode(*)(CURL *))dlsym(lib, "curl_easy_perform");
    void (*cleanup)(CURL *) = (void (*)(CURL *))dlsym(lib, "curl_easy_cleanup");
    CURLcode (*global_init)(long) = (CURLcode(*)(long))dlsym(lib, "curl_global_init");
    void (*global_cleanup)(void) = (void (*)(void))dlsym(lib, "curl_global_cleanup");
    struct sink sink;
    sink_reset(&sink);
    global_init(CURL_GLOBAL_DEFAULT);
    CURL *easy = init();
    setopt(easy, CURLOPT_URL, argv[1]);
    setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
    setopt(easy, CURLOPT_WRITEDATA, &sink);
    setopt(easy, CURLOPT_NOSIGNAL, 1L);
    good += perform(easy) == CURLE_OK && sink.bytes == 1000;
    cleanup(easy);
    global_cleanup();
    dlclose(lib);
    if (i == 20) threads = entries("/proc/self/task"), fds = entries("/proc/self/fd"), memory = resident_kb();
  }
  printf("good=%d\n", good);
  printf("more_threads=%d more_fds=%d more_kb=%ld\n", entries("/proc/self/task") - threads,
         entries("/proc/self/fd") - fds, resident_kb() - memory);
  return 0;
}
