/* What an application jumped out of is not kept: descriptors and connections do not pile up, the handle can be used again, a
 * limit of connections is not held by transfers that are no more, and the peer sees the end.
 * covers: curl_easy_perform, curl_easy_reset, curl_multi_info_read, CURLMOPT_MAX_TOTAL_CONNECTIONS, curl_easy_cleanup */
#include "check.h"
#include "jump.h"

static CURL *handle(curl_write_callback function, struct text *body)
{
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/100000"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, body);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 20L);
  return easy;
}

/* A handle that is freed after each jump; one that goes on; one that is reset. */
static void easies(void)
{
  static CURL *kept;
  static volatile int round;
  struct text body = {0};
  kept = handle(jump, NULL);
  if(!setjmp(out))
    curl_easy_perform(kept);
  int before = descriptors();
  for(round = 0; round < 20; round++) {
    if(!setjmp(out))
      curl_easy_perform(kept);
    if(round % 3 == 1)
      curl_easy_reset(kept);
    if(round % 3 == 1) {
      curl_easy_setopt(kept, CURLOPT_URL, server("/bytes/5"));
      curl_easy_setopt(kept, CURLOPT_WRITEFUNCTION, jump);
    }
    static CURL *once;
    once = handle(jump, NULL);
    if(!setjmp(out))
      curl_easy_perform(once);
    curl_easy_cleanup(once);
  }
  CHECK(descriptors() <= before + 1);
  curl_easy_setopt(kept, CURLOPT_URL, server("/bytes/100000"));
  curl_easy_setopt(kept, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(kept, CURLOPT_WRITEDATA, &body);
  SAME(curl_easy_perform(kept), CURLE_OK);
  SAME(body.length, 100000);
  curl_easy_cleanup(kept);
  CHECK(descriptors() <= before);
  free(body.at);
}

static void multis(void)
{
  static CURLM *multi;
  static CURL *lost, *other;
  static volatile int running, left, done, before;
  static struct text body;
  before = descriptors();
  for(volatile int round = 0; round < 10; round++) {
    multi = curl_multi_init();
    lost = handle(jump, NULL);
    other = handle(collect, &body);
    body.length = 0, done = 0;
    curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1L);
    curl_multi_add_handle(multi, lost);
    if(!setjmp(out))
      while(curl_multi_perform(multi, (int *)&running), running)
        curl_multi_poll(multi, NULL, 0, 1000, NULL);
    curl_multi_add_handle(multi, other);
    while(curl_multi_perform(multi, (int *)&running), running)
      curl_multi_poll(multi, NULL, 0, 1000, NULL);
    CURLMsg *message;
    while((message = curl_multi_info_read(multi, (int *)&left))) {
      SAME(message->data.result, message->easy_handle == lost ? CURLE_ABORTED_BY_CALLBACK : CURLE_OK);
      done++;
    }
    SAME(done, 2);
    SAME(body.length, 100000);
    SAME(curl_multi_remove_handle(multi, lost), CURLM_OK);
    SAME(curl_multi_remove_handle(multi, other), CURLM_OK);
    curl_easy_cleanup(lost);
    curl_easy_cleanup(other);
    SAME(curl_multi_cleanup(multi), CURLM_OK);
  }
  free(body.at);
  CHECK(descriptors() <= before);
}

int main(void)
{
  easies();
  multis();
  return FAILURES;
}
