/* many URL COUNT PARALLEL: so many GETs, so many at once, on one multi handle whose handles are used again and again;
 * prints microseconds of CPU (this process only) and of wall time per request, and bytes per request. The first two of
 * each handle are not counted. */
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

static CURL *handle(const char *url) {
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_bytes);
  return easy;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  int count = atoi(argv[2]), parallel = atoi(argv[3]);
  int first = 2 * parallel, all = first + count, started = 0, done = 0, running;
  double cpu = 0, wall = 0;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = curl_multi_init();
  for (; started < parallel; started++) curl_multi_add_handle(multi, handle(argv[1]));
  while (done < all) {
    CURLMsg *message;
    int left;
    curl_multi_perform(multi, &running);
    while ((message = curl_multi_info_read(multi, &left))) {
      CURL *easy = message->easy_handle;
      if (message->data.result != CURLE_OK) {
        fprintf(stderr, "request %d: %s\n", done, curl_easy_strerror(message->data.result));
        return 1;
      }
      if (++done == first) cpu = cpu_us(), wall = wall_us();
      curl_multi_remove_handle(multi, easy);
      if (started++ < all) curl_multi_add_handle(multi, easy);
      else curl_easy_cleanup(easy);
    }
    if (done < all) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  cpu = cpu_us() - cpu, wall = wall_us() - wall;
  printf("%.3f %.3f %zu\n", cpu / count, wall / count, received / (size_t)all);
  curl_multi_cleanup(multi);
  curl_global_cleanup();
  return 0;
}
