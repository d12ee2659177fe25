/* remove SLOW QUICK: removes a transfer of SLOW half way, then fetches QUICK with the same handle and multi, while a
 * third transfer of SLOW goes on undisturbed. */
#include "facts.h"

static struct sink sinks[2];
static int codes[2] = {-1, -1};
static CURL *handles[2];

static void done(CURL *easy, CURLcode code) { codes[easy == handles[1]] = code; }

int main(int argc, char **argv) {
  int running = 1;
  if (argc < 3) return 2;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = curl_multi_init();
  for (int i = 0; i < 2; i++) {
    handles[i] = curl_easy_init();
    sink_reset(&sinks[i]);
    curl_easy_setopt(handles[i], CURLOPT_URL, argv[1]);
    curl_easy_setopt(handles[i], CURLOPT_WRITEFUNCTION, sink_write);
    curl_easy_setopt(handles[i], CURLOPT_WRITEDATA, &sinks[i]);
    curl_multi_add_handle(multi, handles[i]);
  }
  while (sinks[0].bytes < 1000) {
    must(curl_multi_perform(multi, &running), "perform");
    must(curl_multi_poll(multi, NULL, 0, 100, NULL), "poll");
  }
  must(curl_multi_remove_handle(multi, handles[0]), "remove");
  printf("half=%d\n", sinks[0].bytes >= 1000 && codes[0] < 0);
  sink_reset(&sinks[0]);
  curl_easy_setopt(handles[0], CURLOPT_URL, argv[2]);
  curl_multi_add_handle(multi, handles[0]);
  while (codes[0] < 0 || codes[1] < 0) {
    must(curl_multi_perform(multi, &running), "perform");
    take_messages(multi, done);
    must(curl_multi_poll(multi, NULL, 0, 100, NULL), "poll");
  }
  for (int i = 0; i < 2; i++) {
    printf("code=%d bytes=%zu sum=%016llx\n", codes[i], sinks[i].bytes, (unsigned long long)sinks[i].sum);
    curl_multi_remove_handle(multi, handles[i]);
    curl_easy_cleanup(handles[i]);
  }
  curl_multi_cleanup(multi);
  curl_global_cleanup();
  return 0;
}
