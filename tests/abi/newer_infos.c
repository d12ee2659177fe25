/* Infos that came after Debian's libcurl, and those of a protocol that is not built.
 * covers: CURLINFO_XFER_ID, CURLINFO_CONN_ID, CURLINFO_QUEUE_TIME_T, CURLINFO_USED_PROXY, CURLINFO_POSTTRANSFER_TIME_T,
 * covers: CURLINFO_EARLYDATA_SENT_T, CURLINFO_HTTPAUTH_USED, CURLINFO_PROXYAUTH_USED, CURLINFO_SIZE_DELIVERED,
 * covers: CURLINFO_RTSP_SESSION_ID, CURLINFO_RTSP_CLIENT_CSEQ, CURLINFO_RTSP_SERVER_CSEQ, CURLINFO_RTSP_CSEQ_RECV,
 * covers: CURLINFO_SIZE_DOWNLOAD_T */
#include "check.h"

static long number(CURL *easy, CURLINFO info)
{
  long value = -77;
  SAME(curl_easy_getinfo(easy, info, &value), CURLE_OK);
  return value;
}

static curl_off_t large(CURL *easy, CURLINFO info)
{
  curl_off_t value = -77;
  SAME(curl_easy_getinfo(easy, info, &value), CURLE_OK);
  return value;
}

int main(void)
{
  struct text body = {0};
  char *session = "x";
  CURL *easy = curl_easy_init(), *other = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  SAME(large(easy, CURLINFO_XFER_ID), -1);
  SAME(large(easy, CURLINFO_CONN_ID), -1);
  curl_easy_setopt(easy, CURLOPT_URL, server("/gzip/5000"));
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
  SAME(curl_easy_perform(easy), CURLE_OK);
  curl_off_t first = large(easy, CURLINFO_XFER_ID), connection = large(easy, CURLINFO_CONN_ID);
  CHECK(first >= 0 && connection >= 0);
  SAME(large(easy, CURLINFO_SIZE_DELIVERED), 5000);
  SAME(body.length, 5000);
  CHECK(large(easy, CURLINFO_SIZE_DOWNLOAD_T) < 5000); /* as it came */
  SAME(number(easy, CURLINFO_USED_PROXY), 0);
  SAME(number(easy, CURLINFO_HTTPAUTH_USED), 0);
  SAME(large(easy, CURLINFO_EARLYDATA_SENT_T), 0);
  curl_off_t before = large(easy, CURLINFO_PRETRANSFER_TIME_T), after = large(easy, CURLINFO_POSTTRANSFER_TIME_T);
  CHECK(before > 0 && before <= after && after <= large(easy, CURLINFO_TOTAL_TIME_T));
  CHECK(large(easy, CURLINFO_QUEUE_TIME_T) >= 0 && large(easy, CURLINFO_QUEUE_TIME_T) <= before);

  /* Another transfer on the same connection. */
  curl_easy_setopt(easy, CURLOPT_URL, server("/basic/me/secret"));
  curl_easy_setopt(easy, CURLOPT_USERPWD, "me:secret");
  curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_ANY);
  SAME(curl_easy_perform(easy), CURLE_OK);
  CHECK(large(easy, CURLINFO_XFER_ID) > first);
  SAME(large(easy, CURLINFO_CONN_ID), connection);
  SAME(number(easy, CURLINFO_HTTPAUTH_USED), CURLAUTH_BASIC);

  /* By a proxy, which is the server itself. */
  curl_easy_setopt(other, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(other, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(other, CURLOPT_URL, "http://far.example/bytes/5");
  curl_easy_setopt(other, CURLOPT_PROXY, server(""));
  curl_easy_setopt(other, CURLOPT_PROXYUSERPWD, "me:secret");
  SAME(curl_easy_perform(other), CURLE_OK);
  SAME(number(other, CURLINFO_USED_PROXY), 1);
  SAME(number(other, CURLINFO_PROXYAUTH_USED), CURLAUTH_BASIC);
  CHECK(large(other, CURLINFO_XFER_ID) > large(easy, CURLINFO_XFER_ID));

  SAME(curl_easy_getinfo(easy, CURLINFO_RTSP_SESSION_ID, &session), CURLE_OK);
  CHECK(!session);
  SAME(number(easy, CURLINFO_RTSP_CLIENT_CSEQ), 0);
  SAME(number(easy, CURLINFO_RTSP_SERVER_CSEQ), 0);
  SAME(number(easy, CURLINFO_RTSP_CSEQ_RECV), 0);
  curl_easy_cleanup(easy);
  curl_easy_cleanup(other);
  free(body.at);
  return FAILURES;
}
