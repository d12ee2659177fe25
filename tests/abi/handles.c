/* NULL, foreign and stale handles get each function's own error and touch nothing.
 * covers: curl_easy_cleanup, curl_easy_reset, curl_easy_duphandle, curl_multi_cleanup, curl_share_cleanup, curl_url_cleanup,
 * covers: curl_easy_recv, curl_easy_send, curl_easy_upkeep, curl_easy_ssls_export, curl_easy_ssls_import, curl_ws_meta,
 * covers: curl_multi_socket, curl_multi_socket_all, curl_multi_assign, curl_multi_get_handles, curl_multi_wakeup */
#define CURL_DISABLE_DEPRECATION
#include "check.h"
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#undef curl_share_setopt

static void bad_easy(CURL *easy)
{
  char buffer[4];
  size_t count;
  long number;
  struct curl_header *header;
  SAME(curl_easy_setopt(easy, CURLOPT_URL, "x"), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &number), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_perform(easy), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_pause(easy, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_recv(easy, buffer, 4, &count), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_send(easy, buffer, 4, &count), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_upkeep(easy), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_ssls_export(easy, NULL, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_ssls_import(easy, NULL, NULL, 0, NULL, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_header(easy, "a", 0, CURLH_HEADER, -1, &header), CURLHE_BAD_ARGUMENT);
  CHECK(!curl_easy_nextheader(easy, CURLH_HEADER, -1, NULL));
  CHECK(!curl_easy_duphandle(easy));
  curl_easy_reset(easy);
  curl_easy_cleanup(easy);
}

static void bad_multi(CURLM *multi)
{
  CURL *easy = curl_easy_init();
  int number;
  long timeout;
  fd_set set;
  curl_off_t count;
  unsigned int fds;
  FD_ZERO(&set);
  SAME(curl_multi_add_handle(multi, easy), CURLM_BAD_HANDLE);
  SAME(curl_multi_remove_handle(multi, easy), CURLM_BAD_HANDLE);
  SAME(curl_multi_perform(multi, &number), CURLM_BAD_HANDLE);
  SAME(curl_multi_wait(multi, NULL, 0, 0, &number), CURLM_BAD_HANDLE);
  SAME(curl_multi_poll(multi, NULL, 0, 0, &number), CURLM_BAD_HANDLE);
  SAME(curl_multi_wakeup(multi), CURLM_BAD_HANDLE);
  SAME(curl_multi_fdset(multi, &set, &set, &set, &number), CURLM_BAD_HANDLE);
  SAME(curl_multi_waitfds(multi, NULL, 0, &fds), CURLM_BAD_HANDLE);
  SAME(curl_multi_timeout(multi, &timeout), CURLM_BAD_HANDLE);
  SAME(curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &number), CURLM_BAD_HANDLE);
  SAME(curl_multi_socket_all(multi, &number), CURLM_BAD_HANDLE);
  SAME(curl_multi_assign(multi, 0, NULL), CURLM_BAD_HANDLE);
  SAME(curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 1L), CURLM_BAD_HANDLE);
  SAME(curl_multi_get_offt(multi, CURLMINFO_XFERS_CURRENT, &count), CURLM_BAD_HANDLE);
  SAME(curl_multi_notify_enable(multi, CURLMNOTIFY_EASY_DONE), CURLM_BAD_HANDLE);
  SAME(curl_multi_notify_disable(multi, CURLMNOTIFY_EASY_DONE), CURLM_BAD_HANDLE);
  CHECK(!curl_multi_info_read(multi, &number));
  CHECK(!curl_multi_get_handles(multi));
  SAME(curl_multi_cleanup(multi), CURLM_BAD_HANDLE);
  curl_easy_cleanup(easy);
}

static void bad_share(CURLSH *share)
{
  CURL *easy = curl_easy_init();
  SAME(curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS), CURLSHE_INVALID);
  SAME(curl_share_cleanup(share), CURLSHE_INVALID);
  if(share)
    SAME(curl_easy_setopt(easy, CURLOPT_SHARE, share), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_easy_cleanup(easy);
}

static void bad_url(CURLU *url)
{
  char *text;
  SAME(curl_url_set(url, CURLUPART_URL, "http://a/", 0), CURLUE_BAD_HANDLE);
  SAME(curl_url_get(url, CURLUPART_URL, &text, 0), CURLUE_BAD_HANDLE);
  CHECK(!curl_url_dup(url));
  curl_url_cleanup(url);
}

static void bad_mime(curl_mime *mime, curl_mimepart *part)
{
  CHECK(!curl_mime_addpart(mime));
  SAME(curl_mime_name(part, "x"), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_data(part, "x", 1), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_subparts(part, mime), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_mime_free(mime);
}

int main(void)
{
  char foreign[4096] = "not a handle";
  void *stale_easy = curl_easy_init(), *stale_multi = curl_multi_init();
  void *stale_share = curl_share_init();
  CURLU *stale_url = curl_url();
  curl_mime *stale_mime = curl_mime_init(NULL);
  curl_mimepart *stale_part = curl_mime_addpart(stale_mime);
  curl_easy_cleanup(stale_easy);
  SAME(curl_multi_cleanup(stale_multi), CURLM_OK);
  SAME(curl_share_cleanup(stale_share), CURLSHE_OK);
  curl_url_cleanup(stale_url);
  curl_mime_free(stale_mime);

  void *easies[] = {NULL, foreign, foreign + 1, stale_easy};
  void *multis[] = {NULL, foreign, foreign + 1, stale_multi};
  void *shares[] = {NULL, foreign, foreign + 1, stale_share};
  for(int i = 0; i < 4; i++) {
    bad_easy(easies[i]);
    bad_multi(multis[i]);
    bad_share(shares[i]);
  }
  bad_url(NULL);
  bad_url((CURLU *)foreign);
  bad_url(stale_url);
  bad_mime(NULL, NULL);
  bad_mime((curl_mime *)foreign, (curl_mimepart *)foreign);
  bad_mime(stale_mime, stale_part);

  /* One kind of handle isn't another. */
  CURLM *multi = curl_multi_init();
  bad_easy(multi);
  SAME(curl_multi_add_handle(multi, NULL), CURLM_BAD_EASY_HANDLE);
  SAME(curl_multi_add_handle(multi, multi), CURLM_BAD_EASY_HANDLE);
  SAME(curl_multi_cleanup(multi), CURLM_OK);

  /* The slot of a handle is used again; the old pointer still isn't the new handle. */
  CURL *again = curl_easy_init();
  CHECK(again != stale_easy);
  bad_easy(stale_easy);
  curl_easy_cleanup(again);
  return FAILURES;
}
