/* An HTTPS proxy, and the options that say how it is trusted and who asks it.
 * covers: CURLOPT_PROXY, CURLOPT_PROXYTYPE, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAINFO_BLOB, CURLOPT_PROXY_CAPATH,
 * covers: CURLOPT_PROXY_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYHOST, CURLOPT_PROXY_SSLVERSION, CURLOPT_PROXY_SSLCERT,
 * covers: CURLOPT_PROXY_SSLCERTTYPE, CURLOPT_PROXY_SSLKEY, CURLOPT_PROXY_SSLKEYTYPE, CURLOPT_PROXY_SSLCERT_BLOB,
 * covers: CURLOPT_PROXY_SSLKEY_BLOB, CURLOPT_PROXY_KEYPASSWD, CURLOPT_PROXY_ISSUERCERT, CURLOPT_PROXY_ISSUERCERT_BLOB,
 * covers: CURLOPT_PROXY_SSL_CIPHER_LIST, CURLOPT_PROXY_TLS13_CIPHERS, CURLOPT_PROXY_CRLFILE, CURLOPT_PROXY_SSL_OPTIONS,
 * covers: CURLOPT_PROXY_PINNEDPUBLICKEY, CURLINFO_PROXY_SSL_VERIFYRESULT, CURLOPT_HEADEROPT, CURLOPT_PROXYHEADER,
 * covers: CURLINFO_PROXYAUTH_AVAIL, CURLOPT_PROXYUSERPWD, CURLOPT_PROXYAUTH */
#include "twin.h"

static CURL *by(const char *proxy)
{
  CURL *easy = to("SERVER", "/bytes/10");
  WITH(easy, URL, "http://far.example/bytes/10");
  WITH(easy, PROXY, at(proxy, ""));
  return easy;
}

/* Each option alone, on a proxy that is trusted or not. */
#define ALONE(proxy, option, value)                  \
  do {                                               \
    CURL *easy_ = by(proxy);                         \
    WITH(easy_, PROXY_CAINFO, "ca.pem");             \
    WITH(easy_, option, value);                      \
    go(proxy " " #option " " #value, easy_);         \
    curl_easy_cleanup(easy_);                        \
  } while(0)

static void trust(void)
{
  struct curl_blob ca = blob_of("ca.pem"), other = blob_of("other-ca.pem");
  ALONE("TLS_PROXY", PROXY_CAINFO, "ca.pem");
  ALONE("TLS_PROXY", PROXY_CAINFO, "other-ca.pem");
  ALONE("TLS_PROXY", PROXY_CAINFO, "none.pem");
  ALONE("TLS_PROXY", PROXY_CRLFILE, "none.crl");
  ALONE("TLS_PROXY", PROXY_ISSUERCERT, "ca.pem");
  ALONE("TLS_PROXY", PROXY_ISSUERCERT_BLOB, &ca);
  ALONE("TLS_PROXY", PROXY_ISSUERCERT_BLOB, &other);
  ALONE("TLS_PROXY", PROXY_SSLVERSION, (long)CURL_SSLVERSION_MAX_TLSv1_1);
  ALONE("TLS_PROXY", PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_3);
  ALONE("TLS_PROXY", PROXY_SSLVERSION, 99L);
  ALONE("TLS_PROXY", PROXY_SSL_CIPHER_LIST, "NONSENSE");
  ALONE("TLS_PROXY", PROXY_TLS13_CIPHERS, "NONSENSE");
  ALONE("TLS_PROXY", PROXY_TLS13_CIPHERS, "TLS_AES_128_GCM_SHA256");
  ALONE("TLS_PROXY", PROXY_SSL_OPTIONS, (long)CURLSSLOPT_NO_REVOKE);
  ALONE("TLS_PROXY", PROXY_PINNEDPUBLICKEY, "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
  CURL *easy = by("TLS_PROXY");
  WITH(easy, PROXY_CAINFO_BLOB, &ca);
  go("in memory", easy);
  curl_easy_cleanup(easy);
  easy = by("TLS_PROXY");
  WITH(easy, PROXY_CAINFO_BLOB, &other);
  go("others in memory", easy);
  printf("proxy not verified: %ld %ld\n", number(easy, CURLINFO_PROXY_SSL_VERIFYRESULT),
         number(easy, CURLINFO_SSL_VERIFYRESULT));
  WITH(easy, PROXY_SSL_VERIFYPEER, 0L);
  go("unverified", easy);
  curl_easy_cleanup(easy);
  easy = by("TLS_PROXY");
  WITH(easy, PROXY_CAINFO, NULL);
  if(!system("mkdir -p hashed && cp ca.pem hashed/ && openssl rehash hashed"))
    WITH(easy, PROXY_CAPATH, "hashed");
  go("folder", easy);
  curl_easy_cleanup(easy);
  char odd[128];
  easy = by("TLS_PROXY");
  snprintf(odd, sizeof odd, "https://127.0.0.2:%s", port_of("TLS_PROXY"));
  WITH(easy, PROXY_CAINFO, "ca.pem");
  WITH(easy, PROXY, "https://other.example:443");
  snprintf(odd, sizeof odd, "other.example:443:127.0.0.1");
  struct curl_slist *to_port = NULL;
  snprintf(odd, sizeof odd, "https://other.example:%s", port_of("TLS_PROXY"));
  WITH(easy, PROXY, odd);
  snprintf(odd, sizeof odd, "other.example:%s:127.0.0.1", port_of("TLS_PROXY"));
  to_port = curl_slist_append(NULL, odd);
  WITH(easy, RESOLVE, to_port);
  go("another name", easy);
  WITH(easy, PROXY_SSL_VERIFYHOST, 0L);
  go("name not checked", easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(to_port);
}

static void who_asks(void)
{
  struct curl_blob cert = blob_of("client.pem"), key = blob_of("client.key");
  CURL *easy = by("MUTUAL_PROXY");
  WITH(easy, PROXY_CAINFO, "ca.pem");
  printf("no certificate: %d\n", curl_easy_perform(easy) != CURLE_OK);
  curl_easy_cleanup(easy);
  easy = by("MUTUAL_PROXY");
  WITH(easy, PROXY_CAINFO, "ca.pem");
  WITH(easy, PROXY_SSLCERT, "client.pem");
  WITH(easy, PROXY_SSLKEY, "client.key");
  go("certificate", easy);
  curl_easy_cleanup(easy);
  easy = by("MUTUAL_PROXY");
  WITH(easy, PROXY_CAINFO, "ca.pem");
  WITH(easy, PROXY_SSLCERT_BLOB, &cert);
  WITH(easy, PROXY_SSLKEY_BLOB, &key);
  go("in memory", easy);
  curl_easy_cleanup(easy);
  if(!system("openssl x509 -in client.pem -outform DER -out client.der && "
             "openssl pkcs8 -topk8 -in client.key -passout pass:open -out locked.key && "
             "openssl pkey -in client.key -outform DER -out key.der")) {
    easy = by("MUTUAL_PROXY");
    WITH(easy, PROXY_CAINFO, "ca.pem");
    WITH(easy, PROXY_SSLCERT, "client.der");
    WITH(easy, PROXY_SSLCERTTYPE, "DER");
    WITH(easy, PROXY_SSLKEY, "key.der");
    WITH(easy, PROXY_SSLKEYTYPE, "DER");
    go("DER", easy);
    curl_easy_cleanup(easy);
    easy = by("MUTUAL_PROXY");
    WITH(easy, PROXY_CAINFO, "ca.pem");
    WITH(easy, PROXY_SSLCERT, "client.pem");
    WITH(easy, PROXY_SSLKEY, "locked.key");
    WITH(easy, PROXY_KEYPASSWD, "open");
    go("locked key", easy);
    curl_easy_cleanup(easy);
  }
}

static void headers(void)
{
  struct curl_slist *mine = curl_slist_append(NULL, "X-Mine: 1"), *theirs = curl_slist_append(NULL, "X-Proxy: 2");
  static const long ways[] = {CURLHEADER_UNIFIED, CURLHEADER_SEPARATE};
  for(int i = 0; i < 2; i++) {
    CURL *easy = by("PROXY");
    WITH(easy, HTTPHEADER, mine);
    WITH(easy, PROXYHEADER, theirs);
    WITH(easy, HEADEROPT, ways[i]);
    WITH(easy, PROXYUSERPWD, "me:secret");
    go("headers", easy);
    WITH(easy, PROXYAUTH, (long)CURLAUTH_DIGEST);
    go("Digest", easy);
    printf("offered: %ld\n", number(easy, CURLINFO_PROXYAUTH_AVAIL));
    curl_easy_cleanup(easy);
  }
  CURL *easy = by("PROXY");
  char plain[64];
  snprintf(plain, sizeof plain, "127.0.0.1:%s", port_of("PROXY"));
  WITH(easy, PROXY, plain);
  WITH(easy, PROXYTYPE, (long)CURLPROXY_HTTP_1_0);
  go("HTTP/1.0 proxy", easy);
  printf("no such type: %d\n", curl_easy_setopt(easy, CURLOPT_PROXYTYPE, 99L));
  curl_easy_cleanup(easy);
  easy = by("TLS_PROXY");
  snprintf(plain, sizeof plain, "localhost:%s", port_of("TLS_PROXY"));
  WITH(easy, PROXY, plain);
  WITH(easy, PROXYTYPE, (long)CURLPROXY_HTTPS);
  WITH(easy, PROXY_CAINFO, "ca.pem");
  go("HTTPS proxy by type", easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(mine), curl_slist_free_all(theirs);
}

int main(void)
{
  trust();
  who_asks();
  headers();
  return 0;
}
