/* What a transfer's TLS is asked for: certificates and keys as files and in memory, and what is refused.
 * covers: CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB, CURLOPT_CAPATH, CURLOPT_SSLCERT, CURLOPT_SSLCERTTYPE, CURLOPT_SSLCERT_BLOB,
 * covers: CURLOPT_SSLKEY, CURLOPT_SSLKEYTYPE, CURLOPT_SSLKEY_BLOB, CURLOPT_KEYPASSWD, CURLOPT_ISSUERCERT,
 * covers: CURLOPT_ISSUERCERT_BLOB, CURLOPT_CERTINFO, CURLINFO_CERTINFO, CURLOPT_SSL_OPTIONS, CURLOPT_SSLVERSION,
 * covers: CURLOPT_CA_CACHE_TIMEOUT, CURLINFO_SSL_VERIFYRESULT, CURLOPT_SSL_CIPHER_LIST,
 * covers: CURLOPT_CRLFILE, CURLINFO_TLS_SESSION, CURLINFO_TLS_SSL_PTR, CURLOPT_PINNEDPUBLICKEY, CURLINFO_APPCONNECT_TIME */
#include "twin.h"

static CURL *trusting(const char *server)
{
  CURL *easy = to(server, "/bytes/10");
  WITH(easy, CAINFO, "ca.pem");
  return easy;
}

static void anchors(void)
{
  struct curl_blob ca = blob_of("ca.pem"), other = blob_of("other-ca.pem"), none = {.data = "", .len = 0};
  CURL *easy = trusting("TLS");
  go("file", easy);
  printf("verified: %ld\n", number(easy, CURLINFO_SSL_VERIFYRESULT));
  curl_easy_cleanup(easy);
  easy = to("TLS", "/bytes/10");
  WITH(easy, CAINFO_BLOB, &ca);
  go("memory", easy);
  curl_easy_cleanup(easy);
  easy = to("TLS", "/bytes/10");
  WITH(easy, CAINFO_BLOB, &other);
  go("memory, others", easy);
  WITH(easy, CAINFO_BLOB, &none);
  go("memory, nothing", easy);
  curl_easy_cleanup(easy);
  easy = to("TLS", "/bytes/10");
  WITH(easy, CAINFO, NULL);
  WITH(easy, CAPATH, ".");
  go("folder without hashed names", easy);
  if(!system("mkdir -p hashed && cp ca.pem hashed/ && openssl rehash hashed"))
    WITH(easy, CAPATH, "hashed");
  go("folder", easy);
  WITH(easy, CAPATH, NULL);
  WITH(easy, CAINFO, "other-ca.pem");
  go("others", easy);
  printf("not verified: %ld\n", number(easy, CURLINFO_SSL_VERIFYRESULT));
  WITH(easy, CAINFO, "client.key");
  go("no certificate in it", easy);
  curl_easy_cleanup(easy);
  easy = trusting("TLS");
  printf("cache: %d %d\n", curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L),
         curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, -1L));
  go("cached for ever", easy);
  WITH(easy, FRESH_CONNECT, 1L);
  go("from the cache", easy);
  WITH(easy, CRLFILE, "none.crl");
  go("no such list", easy);
  curl_easy_cleanup(easy);
}

static void own_certificates(void)
{
  struct curl_blob cert = blob_of("client.pem"), key = blob_of("client.key");
  CURL *easy = trusting("MUTUAL");
  printf("without: %d\n", curl_easy_perform(easy) != CURLE_OK);
  curl_easy_cleanup(easy);
  easy = trusting("MUTUAL");
  WITH(easy, SSLCERT, "client.pem");
  WITH(easy, SSLKEY, "client.key");
  go("files", easy);
  curl_easy_cleanup(easy);
  easy = trusting("MUTUAL");
  WITH(easy, SSLCERT_BLOB, &cert);
  WITH(easy, SSLKEY_BLOB, &key);
  go("memory", easy);
  curl_easy_cleanup(easy);
  if(!system("openssl x509 -in client.pem -outform DER -out client.der && "
             "openssl pkcs8 -topk8 -in client.key -passout pass:open -out locked.key && "
             "openssl pkey -in client.key -outform DER -out key.der")) {
    easy = trusting("MUTUAL");
    WITH(easy, SSLCERT, "client.der");
    WITH(easy, SSLCERTTYPE, "DER");
    WITH(easy, SSLKEY, "key.der");
    WITH(easy, SSLKEYTYPE, "DER");
    go("DER", easy);
    curl_easy_cleanup(easy);
    easy = trusting("MUTUAL");
    WITH(easy, SSLCERT, "client.pem");
    WITH(easy, SSLKEY, "locked.key");
    WITH(easy, KEYPASSWD, "open");
    go("locked key", easy);
    curl_easy_cleanup(easy);
    easy = trusting("MUTUAL");
    WITH(easy, SSLCERT, "client.pem");
    WITH(easy, SSLKEY, "locked.key");
    WITH(easy, KEYPASSWD, "wrong");
    go("wrong password", easy);
    curl_easy_cleanup(easy);
  }
  easy = trusting("MUTUAL");
  WITH(easy, SSLCERT, "none.pem");
  go("no such file", easy);
  WITH(easy, SSLCERT, "client.pem");
  WITH(easy, SSLKEY, "none.key");
  go("no such key", easy);
  WITH(easy, SSLKEY, "client.key");
  WITH(easy, SSLCERTTYPE, "XYZ");
  go("unknown type", easy);
  WITH(easy, SSLCERTTYPE, NULL);
  go("the default type", easy);
  curl_easy_cleanup(easy);
}

static void demands(void)
{
  struct curl_blob issuer = blob_of("ca.pem"), other = blob_of("other-ca.pem");
  CURL *easy = trusting("TLS");
  WITH(easy, ISSUERCERT, "ca.pem");
  go("issuer", easy);
  curl_easy_cleanup(easy);
  easy = trusting("TLS");
  WITH(easy, ISSUERCERT_BLOB, &issuer);
  go("issuer in memory", easy);
  curl_easy_cleanup(easy);
  easy = trusting("TLS");
  WITH(easy, ISSUERCERT_BLOB, &other);
  go("another issuer", easy);
  curl_easy_cleanup(easy);
  easy = trusting("TLS");
  WITH(easy, SSLVERSION, (long)CURL_SSLVERSION_MAX_TLSv1_1);
  go("too old", easy);
  WITH(easy, SSLVERSION, (long)(CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_2));
  WITH(easy, SSL_CIPHER_LIST, "ECDHE-ECDSA-AES128-GCM-SHA256");
  go("1.2 with one cipher", easy);
  WITH(easy, FRESH_CONNECT, 1L);
  WITH(easy, SSL_CIPHER_LIST, "NONSENSE");
  go("no such cipher", easy);
  curl_easy_cleanup(easy);
  easy = trusting("TLS");
  WITH(easy, SSL_OPTIONS, (long)(CURLSSLOPT_ALLOW_BEAST | CURLSSLOPT_NO_REVOKE | CURLSSLOPT_NO_PARTIALCHAIN));
  go("options", easy);
  curl_easy_cleanup(easy);
  easy = trusting("TLS");
  WITH(easy, PINNEDPUBLICKEY, "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
  go("another key", easy);
  curl_easy_cleanup(easy);
  printf("false start: %d\n", curl_easy_setopt(easy = trusting("TLS"), CURLOPT_SSL_FALSESTART, 0L));
  curl_easy_cleanup(easy);
}

/* As programs ask that trust the code alone, or the backend alone. */
static size_t looks_inside(char *data, size_t size, size_t count, void *easy)
{
  static int infos_read;
  (void)data;
  const CURLINFO infos[] = {CURLINFO_TLS_SESSION, CURLINFO_TLS_SSL_PTR};
  for(int i = 0; i < 2 && infos_read < 2; i++, infos_read++) {
    const struct curl_tlssessioninfo *session = NULL;
    CURLcode code = curl_easy_getinfo(easy, infos[i], &session);
    printf("inside %d: code %d\n", i, code);
    printf("inside %d: %s\n", i, code || (session && session->internals) ? "no NULL to be used" : "NULL");
    printf("inside %d: session %d\n", i, session != NULL);
  }
  return size * count;
}

static void certificates(void)
{
  struct curl_certinfo *found = NULL;
  const struct curl_tlssessioninfo *session = NULL;
  CURL *easy = trusting("TLS");
  curl_easy_getinfo(easy, CURLINFO_CERTINFO, &found);
  printf("before: %d\n", found ? found->num_of_certs : -1);
  WITH(easy, CERTINFO, 1L);
  go("certificates reported", easy);
  curl_easy_getinfo(easy, CURLINFO_CERTINFO, &found);
  printf("asked: %d\n", found ? found->num_of_certs : -1);
  for(int i = 0; found && i < found->num_of_certs; i++)
    for(struct curl_slist *field = found->certinfo[i]; field; field = field->next)
      printf("field %d: %.*s\n", i, (int)strcspn(field->data, ":"), field->data);
  printf("session: %d\n", curl_easy_getinfo(easy, CURLINFO_TLS_SESSION, &session));
  printf("session: %d\n", session != NULL);
  printf("session again: %d\n", curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session));
  WITH(easy, WRITEFUNCTION, looks_inside);
  WITH(easy, WRITEDATA, easy);
  go("looking inside", easy);
  curl_easy_cleanup(easy);
}

int main(void)
{
  anchors();
  own_certificates();
  demands();
  certificates();
  return 0;
}
