/* TLS sessions leave one store and come into another, where they are resumed; what is no session, or nobody's, is refused.
 * covers: curl_easy_ssls_export, curl_easy_ssls_import, curl_global_sslset, CURL_LOCK_DATA_SSL_SESSION */
#include "check.h"
#include <openssl/ssl.h>
#include <time.h>

static struct kept {
  unsigned char proof[64], session[17000];
  size_t length;
  char name[2000];
} kept[16];
static int count, reused;

static CURLcode keep(CURL *easy, void *user, const char *name, const unsigned char *proof, size_t proof_length,
                     const unsigned char *session, size_t session_length, curl_off_t until, int version,
                     const char *alpn, size_t early)
{
  struct kept *one = &kept[count++];
  CHECK(easy && user == kept && count < 16);
  SAME(proof_length, 64);
  CHECK(session_length > 0 && session_length <= sizeof one->session);
  memcpy(one->proof, proof, proof_length);
  memcpy(one->session, session, session_length);
  one->length = session_length;
  snprintf(one->name, sizeof one->name, "%s", name ? name : "");
  CHECK(until > time(NULL) && until <= time(NULL) + 7 * 24 * 3600);
  CHECK(version == 0x303 || version == 0x304);
  CHECK(alpn && !strcmp(alpn, "h2"));
  (void)early;
  return CURLE_OK;
}

static CURLcode refuse(CURL *easy, void *user, const char *name, const unsigned char *proof, size_t proof_length,
                       const unsigned char *session, size_t session_length, curl_off_t until, int version,
                       const char *alpn, size_t early)
{
  (void)easy, (void)user, (void)name, (void)proof, (void)proof_length, (void)session, (void)session_length;
  (void)until, (void)version, (void)alpn, (void)early;
  count++;
  return CURLE_WRITE_ERROR;
}

static size_t look(char *data, size_t size, size_t n, void *easy)
{
  struct curl_tlssessioninfo *session = NULL;
  (void)data;
  curl_easy_getinfo((CURL *)easy, CURLINFO_TLS_SSL_PTR, &session); /* rustls has none */
  if(session && session->internals)
    reused = SSL_session_reused(session->internals);
  return size * n;
}

static CURL *handle(CURLSH *share)
{
  CURL *easy = curl_easy_init();
  char url[300];
  snprintf(url, sizeof url, "%s/1000", getenv("NGINX"));
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, look);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, easy);
  curl_easy_setopt(easy, CURLOPT_SHARE, share);
  return easy;
}

static CURLSH *store(void)
{
  CURLSH *share = curl_share_init();
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  return share;
}

/* rustls lets none out. */
static void by_rustls(void)
{
  CURLSH *share = store();
  CURL *easy = handle(share);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(curl_easy_ssls_export(easy, keep, kept), CURLE_NOT_BUILT_IN);
  SAME(curl_easy_ssls_import(easy, "localhost:1:G", NULL, 0, kept[0].session, 10), CURLE_NOT_BUILT_IN);
  curl_easy_cleanup(easy);
  curl_share_cleanup(share);
}

static void out(void)
{
  CURLSH *share = store();
  CURL *easy = handle(share);
  SAME(curl_easy_ssls_export(easy, NULL, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_ssls_export(easy, keep, kept), CURLE_OK);
  SAME(count, 0);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(reused, 0);
  SAME(curl_easy_ssls_export(easy, refuse, NULL), CURLE_WRITE_ERROR);
  SAME(count, 1);
  count = 0;
  SAME(curl_easy_ssls_export(easy, keep, kept), CURLE_OK);
  CHECK(count > 0 && strstr(kept[0].name, ":IMPL-OpenSSL/3"));
  curl_easy_cleanup(easy);
  curl_share_cleanup(share);
}

/* By its proof, or by its name; other rules find nothing. */
static void in(int by_name)
{
  CURLSH *share = store();
  CURL *easy = handle(share);
  for(int i = 0; i < count; i++)
    SAME(curl_easy_ssls_import(easy, by_name ? kept[i].name : NULL, kept[i].proof, by_name ? 0 : 64,
                               kept[i].session, kept[i].length), CURLE_OK);
  reused = -1;
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(reused, 0);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(reused, 1);
  curl_easy_cleanup(easy);
  curl_share_cleanup(share);
}

static void garbage(void)
{
  CURLSH *share = store();
  CURL *easy = handle(share);
  const struct kept *one = &kept[0];
  unsigned char odd[200];
  SAME(curl_easy_ssls_import(easy, NULL, NULL, 0, one->session, one->length), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_ssls_import(easy, NULL, one->proof, 63, one->session, one->length), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_ssls_import(easy, NULL, one->proof, 64, NULL, 0), CURLE_READ_ERROR);
  SAME(curl_easy_ssls_import(easy, NULL, one->proof, 64, (const unsigned char *)"\x02", 1), CURLE_READ_ERROR);
  /* Whole in form, but no session of the library's: the connection is made without. */
  memset(odd, 'x', sizeof odd);
  memcpy(odd, "\x01\x02\x03\x04\x04\x00\x64", 7);
  SAME(curl_easy_ssls_import(easy, NULL, one->proof, 64, odd, sizeof odd), CURLE_READ_ERROR);
  memcpy(odd, "\x01\x02\x03\x04\x04\x00\xc1", 7);
  SAME(curl_easy_ssls_import(easy, NULL, one->proof, 64, odd, sizeof odd), CURLE_OK);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(reused, 0);
  curl_easy_cleanup(easy);
  curl_share_cleanup(share);
  easy = curl_easy_init(); /* neither a share nor a multi handle: nowhere to keep it */
  SAME(curl_easy_ssls_import(easy, NULL, one->proof, 64, one->session, one->length), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_easy_cleanup(easy);
}

int main(void)
{
  curl_global_init(CURL_GLOBAL_DEFAULT);
  by_rustls();
  SAME(curl_global_sslset(CURLSSLBACKEND_OPENSSL, NULL, NULL), CURLSSLSET_OK);
  out();
  in(0);
  in(1);
  garbage();
  curl_global_cleanup();
  return FAILURES;
}
