/* Values at and beyond an option's bounds: which are refused when they are set, and which are taken for the nearest that has a meaning.
 * covers: CURLOPT_STREAM_WEIGHT, CURLOPT_TFTP_BLKSIZE, CURLOPT_PROXY_TRANSFER_MODE, CURLOPT_MAXCONNECTS, CURLOPT_HTTPAUTH, CURLOPT_PROXYAUTH,
 * CURLOPT_INTERFACE, CURLOPT_ALTSVC, CURLOPT_PRE_PROXY, CURLOPT_SSLCERT_BLOB, CURLOPT_CAINFO_BLOB */
#include "check.h"
#include <limits.h>

enum { LARGEST = 8000000 };

static void numbers(CURL *easy)
{
  static const long any[] = {LONG_MIN, -1, 0, 1, 2, 256, 257, INT_MAX, LONG_MAX};
  for(size_t i = 0; i < sizeof any / sizeof *any; i++) {
    SAME(curl_easy_setopt(easy, CURLOPT_STREAM_WEIGHT, any[i]), CURLE_OK);
    SAME(curl_easy_setopt(easy, CURLOPT_PROXY_TRANSFER_MODE, any[i]), CURLE_OK);
    CURLcode natural = any[i] < 0 ? CURLE_BAD_FUNCTION_ARGUMENT : CURLE_OK;
    SAME(curl_easy_setopt(easy, CURLOPT_TFTP_BLKSIZE, any[i]), natural);
    SAME(curl_easy_setopt(easy, CURLOPT_MAXCONNECTS, any[i]), natural);
  }
  /* Bits that no scheme has ask for none; the bit above those is no scheme. */
  static const CURLoption logins[] = {CURLOPT_HTTPAUTH, CURLOPT_PROXYAUTH};
  for(int i = 0; i < 2; i++) {
    SAME(curl_easy_setopt(easy, logins[i], 32L), CURLE_OK);
    SAME(curl_easy_setopt(easy, logins[i], 1L << 30), CURLE_OK);
    SAME(curl_easy_setopt(easy, logins[i], (long)CURLAUTH_ONLY), CURLE_NOT_BUILT_IN);
    SAME(curl_easy_setopt(easy, logins[i], 0L), CURLE_OK);
  }
}

static void texts(CURL *easy)
{
  static const char *faulty[] = {"", "if!", "host!", "ifhost!", "ifhost!lo", "ifhost!lo!"};
  char name[514];
  for(size_t i = 0; i < sizeof faulty / sizeof *faulty; i++)
    SAME(curl_easy_setopt(easy, CURLOPT_INTERFACE, faulty[i]), CURLE_BAD_FUNCTION_ARGUMENT);
  memset(name, 'x', sizeof name);
  name[513] = 0;
  SAME(curl_easy_setopt(easy, CURLOPT_INTERFACE, name), CURLE_BAD_FUNCTION_ARGUMENT);
  name[512] = 0;
  SAME(curl_easy_setopt(easy, CURLOPT_INTERFACE, name), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_INTERFACE, "ifhost!lo!127.0.0.1"), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_INTERFACE, NULL), CURLE_OK);
  /* A file that cannot be read has nothing in it. */
  SAME(curl_easy_setopt(easy, CURLOPT_ALTSVC, "/"), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_ALTSVC, name), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_ALTSVC, NULL), CURLE_OK);
}

static void blobs(CURL *easy)
{
  static const CURLoption options[] = {CURLOPT_SSLCERT_BLOB, CURLOPT_CAINFO_BLOB, CURLOPT_PROXY_SSLKEY_BLOB};
  char *bytes = calloc(1, LARGEST + 1);
  for(size_t i = 0; bytes && i < sizeof options / sizeof *options; i++) {
    struct curl_blob blob = {bytes, LARGEST + 1, CURL_BLOB_NOCOPY};
    SAME(curl_easy_setopt(easy, options[i], &blob), CURLE_BAD_FUNCTION_ARGUMENT);
    blob.len = LARGEST;
    SAME(curl_easy_setopt(easy, options[i], &blob), CURLE_OK);
    SAME(curl_easy_setopt(easy, options[i], NULL), CURLE_OK);
  }
  free(bytes);
}

/* Before a proxy may stand one of SOCKS, and no other. */
static void pre_proxies(CURL *easy)
{
  static const char *others[] = {"http://127.0.0.1:9", "https://127.0.0.1:9"};
  char message[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, message);
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/1"));
  for(int i = 0; i < 4; i++) {
    curl_easy_setopt(easy, CURLOPT_PRE_PROXY, others[i % 2]);
    curl_easy_setopt(easy, CURLOPT_PROXY, i < 2 ? NULL : "http://127.0.0.1:9");
    SAME(curl_easy_perform(easy), CURLE_COULDNT_RESOLVE_PROXY);
    CHECK(strstr(message, "Unsupported pre-proxy type for '"));
  }
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
}

int main(void)
{
  CURL *easy = curl_easy_init();
  numbers(easy);
  texts(easy);
  blobs(easy);
  pre_proxies(easy);
  curl_easy_cleanup(easy);
  return FAILURES;
}
