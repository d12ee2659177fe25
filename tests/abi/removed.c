/* What an event loop's timer hears of handles that are added and removed without being driven, and what becomes of its refusal.
 * covers: CURLMOPT_TIMERFUNCTION, CURLMOPT_TIMERDATA, curl_multi_add_handle, curl_multi_remove_handle, curl_easy_pause */
#include "check.h"

static long timeouts[32];
static int count, answer;

static int on_timer(CURLM *multi, long ms, void *user)
{
  (void)multi, (void)user;
  if(count < 32)
    timeouts[count++] = ms;
  return answer;
}

static int paused;

static size_t pausing(char *data, size_t size, size_t bytes, void *user)
{
  (void)data, (void)user;
  return paused++ ? size * bytes : CURL_WRITEFUNC_PAUSE;
}

/* A refusal while a paused transfer is continued: the transfer is over, and curl_easy_pause reports it. */
static void refused_inside_pause(CURLM *multi)
{
  CURL *easy = curl_easy_init();
  CURLMsg *message;
  int running, left;
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, pausing);
  SAME(curl_multi_add_handle(multi, easy), CURLM_OK);
  do
    SAME(curl_multi_perform(multi, &running), CURLM_OK);
  while(!paused && curl_multi_poll(multi, NULL, 0, 1000, NULL) == CURLM_OK);
  answer = -1;
  SAME(curl_easy_pause(easy, CURLPAUSE_CONT), CURLE_ABORTED_BY_CALLBACK);
  answer = 0;
  SAME(curl_multi_perform(multi, &running), CURLM_OK);
  SAME(running, 0);
  message = curl_multi_info_read(multi, &left);
  CHECK(message && message->easy_handle == easy && message->data.result == CURLE_ABORTED_BY_CALLBACK);
  SAME(curl_multi_remove_handle(multi, easy), CURLM_OK);
  curl_easy_cleanup(easy);
}

int main(void)
{
  CURLM *multi = curl_multi_init();
  CURL *easy[3];
  long ms = 7;
  int running;
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  for(int i = 0; i < 3; i++) {
    easy[i] = curl_easy_init();
    curl_easy_setopt(easy[i], CURLOPT_URL, server("/bytes/10"));
    SAME(curl_multi_add_handle(multi, easy[i]), CURLM_OK);
  }
  SAME(count, 1);
  SAME(timeouts[0], 0);
  SAME(curl_multi_remove_handle(multi, easy[1]), CURLM_OK);
  SAME(curl_multi_remove_handle(multi, easy[0]), CURLM_OK);
  SAME(count, 1);
  SAME(curl_multi_timeout(multi, &ms), CURLM_OK);
  SAME(ms, 0);
  SAME(curl_multi_remove_handle(multi, easy[2]), CURLM_OK);
  SAME(count, 2);
  SAME(timeouts[1], -1);
  SAME(curl_multi_timeout(multi, &ms), CURLM_OK);
  SAME(ms, -1);

  /* A refusal: the handle has left all the same. */
  SAME(curl_multi_add_handle(multi, easy[0]), CURLM_OK);
  answer = -1;
  SAME(curl_multi_remove_handle(multi, easy[0]), CURLM_ABORTED_BY_CALLBACK);
  SAME(timeouts[count - 1], -1);
  answer = 0;
  SAME(curl_multi_remove_handle(multi, easy[0]), CURLM_OK);
  SAME(curl_easy_perform(easy[0]), CURLE_OK);

  /* They can come again, and be driven. */
  SAME(curl_multi_add_handle(multi, easy[0]), CURLM_OK);
  do
    SAME(curl_multi_perform(multi, &running), CURLM_OK);
  while(running && curl_multi_poll(multi, NULL, 0, 1000, NULL) == CURLM_OK);
  SAME(curl_multi_remove_handle(multi, easy[0]), CURLM_OK);
  SAME(timeouts[count - 1], -1);
  while(curl_multi_info_read(multi, &running))
    continue;
  refused_inside_pause(multi);
  for(int i = 0; i < 3; i++)
    curl_easy_cleanup(easy[i]);
  curl_multi_cleanup(multi);
  return FAILURES;
}
