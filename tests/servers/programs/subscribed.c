/* Listens to a topic, asking the broker whether it is there after each 300 ms of silence; another handle publishes late. Both
 * run in one multi handle.
 * usage: subscribed URL */
#include "facts.h"

static CURL *publisher, *subscriber;
static CURLcode published = CURLE_FAILED_INIT, subscribed = CURLE_FAILED_INIT;
static struct sink heard;

static void done(CURL *easy, CURLcode code) { *(easy == publisher ? &published : &subscribed) = code; }

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  int running = 1;
  curl_global_init(CURL_GLOBAL_ALL);
  CURLM *multi = curl_multi_init();
  sink_reset(&heard);
  subscriber = curl_easy_init();
  curl_easy_setopt(subscriber, CURLOPT_URL, argv[1]);
  curl_easy_setopt(subscriber, CURLOPT_WRITEFUNCTION, sink_write);
  curl_easy_setopt(subscriber, CURLOPT_WRITEDATA, &heard);
  curl_easy_setopt(subscriber, CURLOPT_UPKEEP_INTERVAL_MS, 300L);
  curl_multi_add_handle(multi, subscriber);
  publisher = curl_easy_init();
  curl_easy_setopt(publisher, CURLOPT_URL, argv[1]);
  curl_easy_setopt(publisher, CURLOPT_POSTFIELDS, "late");
  double begun = now_ms();
  int added = 0;
  while (running && now_ms() - begun < 15000 && !(heard.bytes && published == CURLE_OK)) {
    if (!added && now_ms() - begun > 2500) curl_multi_add_handle(multi, publisher), added = 1;
    must(curl_multi_perform(multi, &running), "perform");
    take_messages(multi, done);
    must(curl_multi_poll(multi, NULL, 0, 50, NULL), "poll");
  }
  printf("heard=%zu published=%d\n", heard.bytes, published);
  curl_multi_remove_handle(multi, subscriber);
  if (added) curl_multi_remove_handle(multi, publisher);
  curl_easy_cleanup(subscriber);
  curl_easy_cleanup(publisher);
  curl_multi_cleanup(multi);
  puts("end=1");
  return 0;
}
