/* Connections ahead of need: they serve the handles that come, and what can not be is said. */
#include "pool.h"

int main(void)
{
  CURL *like = curl_easy_init();
  struct report report = {0};
  size_t opened = 99;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  warmwire_pool(0);
  SAME(warmwire_open(NULL, ftp_url(), 1, 5000, &opened), CURLE_FAILED_INIT);
  SAME(opened, 0);
  warmwire_pool(1);
  SAME(warmwire_open(NULL, ftp_url(), 3, 5000, &opened), CURLE_OK);
  SAME(opened, 3);
  SAME(warmwire_each(note, &report), 3);
  SAME_TEXT(report.scheme, "ftp");
  SAME(fetch(ftp_url()), FTP_DATA);
  SAME(warmwire_each(NULL, NULL), 3);
  SAME(warmwire_open(NULL, server("/bytes/10"), 2, 0, NULL), CURLE_OK);
  SAME(fetch(server("/bytes/10")), 0);
  SAME(warmwire_each(NULL, NULL), 5);
  /* Another user's connections are not for everybody. */
  warmwire_close(NULL, 0);
  curl_easy_setopt(like, CURLOPT_USERPWD, "somebody:secret");
  SAME(warmwire_open(like, ftp_url(), 1, 5000, &opened), CURLE_OK);
  SAME(opened, 1);
  SAME(fetch(ftp_url()), 1 + FTP_DATA);
  curl_easy_setopt(like, CURLOPT_URL, ftp_url());
  curl_easy_setopt(like, CURLOPT_WRITEFUNCTION, drop_body);
  SAME(curl_easy_perform(like), CURLE_OK);
  {
    long connects = -1;
    curl_easy_getinfo(like, CURLINFO_NUM_CONNECTS, &connects);
    SAME(connects, FTP_DATA);
  }
  SAME(warmwire_open(NULL, NULL, 1, 0, &opened), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_open(NULL, ftp_url(), 1, -1, &opened), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_open(NULL, ftp_url(), 1000000, 0, &opened), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_open((CURL *)&report, ftp_url(), 1, 0, &opened), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_open(NULL, "file:///etc/passwd", 1, 0, &opened), CURLE_UNSUPPORTED_PROTOCOL);
  SAME(warmwire_open(NULL, "ftp://127.0.0.1:1/", 2, 5000, &opened), CURLE_COULDNT_CONNECT);
  SAME(opened, 0);
  SAME(warmwire_open(NULL, ftp_url(), 0, 0, &opened), CURLE_OK);
  curl_easy_cleanup(like);
  curl_global_cleanup();
  SAME(warmwire_each(NULL, NULL), 0);
  return FAILURES;
}
