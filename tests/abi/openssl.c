/* Programs that meet libcurl at OpenSSL: what the function of CURLOPT_SSL_CTX_FUNCTION changes counts, and the pointers of
 * CURLINFO_TLS_SSL_PTR are the library's own.
 * covers: CURLOPT_SSL_CTX_FUNCTION, CURLOPT_SSL_CTX_DATA, CURLINFO_TLS_SSL_PTR, CURLINFO_TLS_SESSION */
#include "check.h"
#include <openssl/ssl.h>
#include <openssl/err.h>

static struct curl_tlssessioninfo seen;
static int called, judged;
static SSL_CTX *shown;

static size_t take(char *data, size_t size, size_t count, void *easy)
{
  struct curl_tlssessioninfo *session = NULL;
  (void)data;
  SAME(curl_easy_getinfo((CURL *)easy, CURLINFO_TLS_SSL_PTR, &session), CURLE_OK);
  if(session)
    seen = *session;
  if(session && session->internals) {
    SSL *ssl = session->internals;
    CHECK(SSL_get_SSL_CTX(ssl) == shown);
    CHECK(SSL_get_verify_result(ssl) == X509_V_OK);
    SAME(curl_easy_getinfo((CURL *)easy, CURLINFO_TLS_SESSION, &session), CURLE_OK);
    CHECK(session && session->internals == shown);
  }
  return size * count;
}

static size_t sink(char *data, size_t size, size_t count, void *easy)
{
  (void)data;
  (void)easy;
  return size * count;
}

static CURL *handle(const char *path)
{
  CURL *easy = curl_easy_init();
  char url[300];
  snprintf(url, sizeof url, "%s%s", getenv("NGINX"), path);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, easy);
  return easy;
}

/* Puts the trust anchors into the store that curl has not filled. */
static CURLcode trusts(CURL *easy, void *context, void *data)
{
  BIO *file = BIO_new_file((const char *)data, "r");
  X509 *cert = PEM_read_bio_X509(file, NULL, NULL, NULL);
  (void)easy;
  called++;
  shown = context;
  CHECK(cert && X509_STORE_add_cert(SSL_CTX_get_cert_store(context), cert) == 1);
  X509_free(cert);
  BIO_free(file);
  return CURLE_OK;
}

static int no(int good, X509_STORE_CTX *store)
{
  (void)good;
  (void)store;
  return 0;
}

static CURLcode forbids(CURL *easy, void *context, void *data)
{
  (void)easy;
  (void)data;
  called++;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, no);
  return CURLE_OK;
}

/* A store of the program's own is the one that counts, whatever CURLOPT_CAINFO says. */
static CURLcode empties(CURL *easy, void *context, void *data)
{
  (void)easy;
  (void)data;
  called++;
  SSL_CTX_set_cert_store(context, X509_STORE_new());
  return CURLE_OK;
}

/* A verdict that needs four calls: three of them put it off. */
static int hesitates(X509_STORE_CTX *store, void *data)
{
  SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  (void)data;
  if(++judged % 4) {
    SSL_set_retry_verify(ssl);
    return 1;
  }
  return X509_verify_cert(store);
}

static CURLcode puts_off(CURL *easy, void *context, void *data)
{
  (void)easy;
  (void)data;
  shown = context;
  SSL_CTX_set_cert_verify_callback(context, hesitates, NULL);
  return CURLE_OK;
}

static CURLcode fails(CURL *easy, void *context, void *data)
{
  (void)easy;
  (void)context;
  (void)data;
  return CURLE_OUT_OF_MEMORY;
}

static void functions(void)
{
  CURL *easy = handle("/1000");
  long result = -1;
  curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
  CHECK(curl_easy_perform(easy) == CURLE_PEER_FAILED_VERIFICATION);
  SAME(curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, trusts), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, getenv("CA")), CURLE_OK);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(called, 1);
  SAME(seen.backend, CURLSSLBACKEND_OPENSSL);
  CHECK(seen.internals != NULL);
  curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &result);
  SAME(result, 0);
  /* A kept connection is not made again; a copy of the handle has the function, too. */
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(called, 1);
  CURL *copy = curl_easy_duphandle(easy);
  curl_easy_setopt(copy, CURLOPT_WRITEDATA, copy);
  SAME(curl_easy_perform(copy), CURLE_OK);
  SAME(called, 2);
  curl_easy_cleanup(copy);
  /* Another function's connections are others. */
  curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, forbids);
  SAME(curl_easy_perform(easy), CURLE_PEER_FAILED_VERIFICATION);
  SAME(called, 3);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, empties);
  SAME(curl_easy_perform(easy), CURLE_PEER_FAILED_VERIFICATION);
  SAME(called, 4);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, fails);
  SAME(curl_easy_perform(easy), CURLE_OUT_OF_MEMORY);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, NULL);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, NULL);
  curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(called, 4);
  curl_easy_cleanup(easy);
}

/* A verify callback that asks to be called again: the handshake waits for its verdict, without an event of the program's. */
static void late_verdicts(void)
{
  for(int tls13 = 0; tls13 < 2; tls13++) {
    CURL *easy = handle("/1000");
    judged = 0;
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, puts_off);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_MAX_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 10000L);
    SAME(curl_easy_perform(easy), CURLE_OK);
    SAME(judged, 4);
    curl_easy_cleanup(easy);
  }
}

/* Four connections at once in one multi handle, HTTP/2 over one connection, an upload. */
static void many(void)
{
  CURLM *multi = curl_multi_init();
  CURL *easies[4];
  int running = 1, left, done = 0;
  CURLMsg *message;
  called = 0;
  for(int i = 0; i < 4; i++) {
    easies[i] = handle("/1000");
    curl_easy_setopt(easies[i], CURLOPT_SSL_CTX_FUNCTION, trusts);
    curl_easy_setopt(easies[i], CURLOPT_SSL_CTX_DATA, getenv("CA"));
    curl_easy_setopt(easies[i], CURLOPT_HTTP_VERSION, i < 2 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easies[i], CURLOPT_WRITEFUNCTION, sink);
    curl_multi_add_handle(multi, easies[i]);
  }
  while(running) {
    curl_multi_perform(multi, &running);
    curl_multi_poll(multi, NULL, 0, 100, NULL);
  }
  while((message = curl_multi_info_read(multi, &left))) {
    SAME(message->data.result, CURLE_OK);
    done++;
  }
  SAME(done, 4);
  CHECK(called >= 3);
  for(int i = 0; i < 4; i++) {
    long version = 0;
    curl_easy_getinfo(easies[i], CURLINFO_HTTP_VERSION, &version);
    SAME(version, i < 2 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2_0);
    curl_multi_remove_handle(multi, easies[i]);
    curl_easy_cleanup(easies[i]);
  }
  curl_multi_cleanup(multi);
}

int main(void)
{
  curl_global_init(CURL_GLOBAL_DEFAULT);
  functions();
  late_verdicts();
  many();
  curl_global_cleanup();
  return FAILURES;
}
