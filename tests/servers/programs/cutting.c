/* cutting PREFIX PATH LENGTH IDLE_URL IDLES: fetches PREFIX/K/PATH for each K from 0 to LENGTH through one multi handle
 * on which IDLES more transfers wait (one socket: poll; 50: epoll). A line for each K. */
#include "facts.h"

static int ended;
static CURLcode result;

static void done(CURL *easy, CURLcode code) {
  (void)easy;
  ended = 1;
  result = code;
}

int main(int argc, char **argv) {
  char url[1024];
  if (argc < 6) return 2;
  int length = atoi(argv[3]), idles = atoi(argv[5]), running;
  CURL *idle[64];
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = curl_multi_init();
  for (int i = 0; i < idles; i++) {
    idle[i] = curl_easy_init();
    curl_easy_setopt(idle[i], CURLOPT_URL, argv[4]);
    curl_multi_add_handle(multi, idle[i]);
  }
  for (int k = 0; k <= length; k++) {
    struct sink sink;
    CURL *easy = curl_easy_init();
    sink_reset(&sink);
    snprintf(url, sizeof url, "%s/%d%s", argv[1], k, argv[2]);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
    if (getenv("CA")) curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
    curl_multi_add_handle(multi, easy);
    for (ended = 0; !ended;) {
      must(curl_multi_perform(multi, &running), "perform");
      take_messages(multi, done);
      if (!ended) must(curl_multi_poll(multi, NULL, 0, 1000, NULL), "poll");
    }
    printf("k=%d code=%d bytes=%zu\n", k, result, sink.bytes);
    curl_multi_remove_handle(multi, easy);
    curl_easy_cleanup(easy);
  }
  for (int i = 0; i < idles; i++) {
    curl_multi_remove_handle(multi, idle[i]);
    curl_easy_cleanup(idle[i]);
  }
  curl_multi_cleanup(multi);
  curl_global_cleanup();
  return 0;
}
