/* A request that leaves with the hello of a resumed session: only where it is wanted, with sessions of a share, too.
 * covers: CURLOPT_SSL_OPTIONS, CURLINFO_EARLYDATA_SENT_T, CURL_LOCK_DATA_SSL_SESSION */
#include "check.h"

static struct text body;

static long long fetch(CURL *easy, long version, long options)
{
  curl_off_t sent = 99, appconnect = 0, pretransfer = 0;
  long verified = 1;
  char url[512];
  snprintf(url, sizeof url, "%s/bytes-1000", getenv("NGINX"));
  body.length = 0;
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, version);
  curl_easy_setopt(easy, CURLOPT_SSL_OPTIONS, options);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(body.length, 1000);
  SAME(curl_easy_getinfo(easy, CURLINFO_EARLYDATA_SENT_T, &sent), CURLE_OK);
  SAME(curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &verified), CURLE_OK);
  SAME(verified, 0);
  curl_easy_getinfo(easy, CURLINFO_APPCONNECT_TIME_T, &appconnect);
  curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &pretransfer);
  /* The request is on its way before the handshake is over. */
  CHECK(appconnect > 0 && (appconnect < pretransfer) == (sent == 0));
  return sent;
}

static void with_share(long version)
{
  CURLSH *share = curl_share_init();
  CURL *one = curl_easy_init(), *two = curl_easy_init();
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  curl_easy_setopt(one, CURLOPT_SHARE, share);
  curl_easy_setopt(two, CURLOPT_SHARE, share);
  SAME(fetch(one, version, CURLSSLOPT_EARLYDATA), 0);
  CHECK(fetch(two, version, CURLSSLOPT_EARLYDATA) > 50);
  curl_easy_cleanup(one);
  curl_easy_cleanup(two);
  curl_share_cleanup(share);
}

int main(void)
{
  const long versions[] = { CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_2TLS };
  curl_global_init(CURL_GLOBAL_ALL);
  for(int i = 0; i < 2; i++) {
    CURL *easy = curl_easy_init();
    SAME(fetch(easy, versions[i], 0), 0);
    SAME(fetch(easy, versions[i], 0), 0);
    CHECK(fetch(easy, versions[i], CURLSSLOPT_EARLYDATA) > 50);
    CHECK(fetch(easy, versions[i], CURLSSLOPT_EARLYDATA) > 50);
    SAME(fetch(easy, versions[i], 0), 0);
    curl_easy_cleanup(easy);
    with_share(versions[i]);
  }
  free(body.at);
  curl_global_cleanup();
  return FAILURES;
}
