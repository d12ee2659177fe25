/* Multi handles: options, counts, messages, notifications, cleaning up in any state.
 * covers: curl_multi_setopt, curl_multi_get_offt, curl_multi_notify_enable, curl_multi_notify_disable, curl_multi_info_read,
 * covers: curl_multi_get_handles, curl_multi_waitfds, curl_multi_poll, curl_multi_wakeup, curl_multi_timeout, CURLMOPT_NOTIFYFUNCTION,
 * covers: CURLMOPT_NOTIFYDATA, CURLMOPT_PIPELINING, CURLMOPT_MAXCONNECTS, CURLMOPT_MAX_HOST_CONNECTIONS,
 * covers: CURLMOPT_MAX_TOTAL_CONNECTIONS, CURLMOPT_NETWORK_CHANGED, CURLMOPT_SOCKETDATA, CURLMOPT_TIMERDATA */
#include "check.h"

static int reads, dones;
static CURL *finished;

static void on_notify(CURLM *multi, unsigned int kind, CURL *easy, void *user)
{
  CHECK(user == (void *)&reads);
  int left;
  SAME(curl_multi_perform(multi, &left), CURLM_RECURSIVE_API_CALL);
  if(kind == CURLMNOTIFY_INFO_READ)
    reads++;
  if(kind == CURLMNOTIFY_EASY_DONE)
    dones++, finished = easy;
}

static curl_off_t amount(CURLM *multi, CURLMinfo_offt info)
{
  curl_off_t value = -1;
  SAME(curl_multi_get_offt(multi, info, &value), CURLM_OK);
  return value;
}

int main(void)
{
  CURLM *multi = curl_multi_init();
  struct text body = {0};
  int running = 1, left;
  unsigned int count;
  long timeout, waited = 0;
  SAME(curl_multi_setopt(multi, (CURLMoption)4711, 1L), CURLM_UNKNOWN_OPTION);
  SAME(curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 3L), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 2L), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_NETWORK_CHANGED, CURLMNWC_CLEAR_ALL), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, NULL), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_TIMERDATA, NULL), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_NOTIFYFUNCTION, on_notify), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_NOTIFYDATA, &reads), CURLM_OK);
  SAME(curl_multi_notify_enable(multi, CURLMNOTIFY_INFO_READ), CURLM_OK);
  SAME(curl_multi_notify_enable(multi, CURLMNOTIFY_EASY_DONE), CURLM_OK);
  SAME(curl_multi_notify_enable(multi, 99), CURLM_UNKNOWN_OPTION);
  SAME(curl_multi_timeout(multi, NULL), CURLM_BAD_FUNCTION_ARGUMENT);
  SAME(curl_multi_timeout(multi, &timeout), CURLM_OK);
  SAME(timeout, -1);
  SAME(curl_multi_poll(multi, NULL, 0, -1, NULL), CURLM_BAD_FUNCTION_ARGUMENT);
  SAME(curl_multi_waitfds(multi, NULL, 0, NULL), CURLM_BAD_FUNCTION_ARGUMENT);
  SAME(curl_multi_waitfds(multi, NULL, 0, &count), CURLM_OK);
  SAME(count, 0);
  SAME(curl_multi_wakeup(multi), CURLM_OK);
  SAME(curl_multi_poll(multi, NULL, 0, 60000, &left), CURLM_OK); /* ends at once */
  SAME(curl_multi_get_offt(multi, CURLMINFO_NONE, NULL), CURLM_BAD_FUNCTION_ARGUMENT);

  CURL *easy[3];
  for(int i = 0; i < 3; i++) {
    easy[i] = curl_easy_init();
    curl_easy_setopt(easy[i], CURLOPT_URL, server("/bytes/10"));
    curl_easy_setopt(easy[i], CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(easy[i], CURLOPT_WRITEDATA, &body);
    SAME(curl_multi_add_handle(multi, easy[i]), CURLM_OK);
    SAME(curl_multi_add_handle(multi, easy[i]), CURLM_ADDED_ALREADY);
  }
  SAME(curl_easy_perform(easy[0]), CURLE_FAILED_INIT);
  SAME(amount(multi, CURLMINFO_XFERS_CURRENT), 3);
  SAME(amount(multi, CURLMINFO_XFERS_ADDED), 3);
  SAME(amount(multi, CURLMINFO_XFERS_DONE), 0);
  SAME(curl_multi_remove_handle(multi, easy[2]), CURLM_OK);
  SAME(curl_multi_remove_handle(multi, easy[2]), CURLM_OK);
  while(running) {
    SAME(curl_multi_perform(multi, &running), CURLM_OK);
    if(running == 2) {
      waited = amount(multi, CURLMINFO_XFERS_PENDING);
      SAME(amount(multi, CURLMINFO_XFERS_RUNNING), running - waited);
    }
    if(running)
      SAME(curl_multi_poll(multi, NULL, 0, 1000, NULL), CURLM_OK);
  }
  SAME(body.length, 20);
  SAME(amount(multi, CURLMINFO_XFERS_DONE), 2);
  SAME(waited, 1); /* one connection per host */
  SAME(dones, 2);
  CHECK(reads >= 1);
  CHECK(finished == easy[0] || finished == easy[1]);
  CURLMsg *message = curl_multi_info_read(multi, &left);
  CHECK(message && message->msg == CURLMSG_DONE && message->data.result == CURLE_OK);
  SAME(left, 1);
  CHECK(curl_multi_info_read(multi, &left));
  SAME(left, 0);
  CHECK(!curl_multi_info_read(multi, &left));

  /* Cleaned up with handles inside, one of them half way; they live on. */
  SAME(curl_multi_remove_handle(multi, easy[0]), CURLM_OK);
  curl_easy_setopt(easy[0], CURLOPT_URL, server("/delay/500/bytes/10"));
  SAME(curl_multi_add_handle(multi, easy[0]), CURLM_OK);
  for(int i = 0; i < 5; i++)
    curl_multi_perform(multi, &running), curl_multi_poll(multi, NULL, 0, 10, NULL);
  SAME(curl_multi_cleanup(multi), CURLM_OK);
  curl_easy_setopt(easy[0], CURLOPT_URL, server("/bytes/10"));
  SAME(curl_easy_perform(easy[0]), CURLE_OK);
  for(int i = 0; i < 3; i++)
    curl_easy_cleanup(easy[i]);
  free(body.at);
  return FAILURES;
}
