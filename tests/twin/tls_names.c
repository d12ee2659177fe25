/* Whom a TLS connection is believed to lead to: names and addresses in the URL against those of the certificate, with and without the
 * checks, keys pinned in every form, versions that can not be had, and that what was believed once is asked again when an option changes.
 * covers: CURLOPT_SSL_VERIFYHOST, CURLOPT_SSL_VERIFYPEER, CURLOPT_PINNEDPUBLICKEY, CURLOPT_SSLVERSION, CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB, CURLOPT_CONNECT_TO,
 * covers: CURLINFO_SSL_VERIFYRESULT, CURLOPT_CERTINFO, CURLINFO_NUM_CONNECTS, CURLOPT_SSL_CIPHER_LIST, CURLOPT_TLS13_CIPHERS */
#include "twin.h"

/* A name of any kind that leads to the server. */
static CURL *named(const char *host)
{
  static struct curl_slist *lead;
  char url[256], to_[64];
  CURL *easy = to("TLS", "/bytes/10");
  if(!lead) {
    snprintf(to_, sizeof to_, "::127.0.0.1:%s", port_of("TLS"));
    lead = curl_slist_append(NULL, to_);
  }
  snprintf(url, sizeof url, "https://%s/bytes/10", host);
  WITH(easy, URL, url), WITH(easy, CONNECT_TO, lead), WITH(easy, CAINFO, "ca.pem");
  return easy;
}

static void names(void)
{
  static const char *hosts[] = {"localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.1", "2130706433", "[::1]", "[0:0:0:0:0:0:0:1]", "127.0.0.2", "other.example", "x.localhost", "localhost.x"};
  char name[64];
  for(size_t h = 0; h < sizeof hosts / sizeof *hosts; h++)
    for(long host_check = 0; host_check < 3; host_check++)
      for(long peer_check = 0; peer_check < 2; peer_check++) {
        CURL *easy = named(hosts[h]);
        snprintf(name, sizeof name, "host %zu checks %ld %ld", h, host_check, peer_check);
        WITH(easy, SSL_VERIFYHOST, host_check), WITH(easy, SSL_VERIFYPEER, peer_check);
        go(name, easy);
        printf("%s verified: %ld\n", name, number(easy, CURLINFO_SSL_VERIFYRESULT));
        curl_easy_cleanup(easy);
      }
  for(long check = -1; check < 4; check++) {
    CURL *easy = named("other.example");
    printf("check %ld: %d", check, curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, check));
    printf(" %d\n", curl_easy_perform(easy));
    curl_easy_cleanup(easy);
  }
}

static void pins(void)
{
  char good[128] = "", name[64], several[400], line[128];
  /* The key of the server, as CURLINFO_CERTINFO has it. */
  CURL *easy = named("localhost");
  struct curl_certinfo *info = NULL;
  WITH(easy, CERTINFO, 1L);
  go("certificates reported", easy);
  curl_easy_getinfo(easy, CURLINFO_CERTINFO, &info);
  for(struct curl_slist *field = info && info->num_of_certs ? info->certinfo[0] : NULL; field; field = field->next)
    if(!strncmp(field->data, "Cert:", 5))
      write_file("pinned-cert.pem", field->data + 5);
  curl_easy_cleanup(easy);
  if(system("openssl x509 -in pinned-cert.pem -pubkey -noout > pinned-key.pem && openssl pkey -pubin -in pinned-key.pem -outform DER -out pinned-key.der"))
    puts("no key");
  FILE *sum = popen("openssl dgst -sha256 -binary pinned-key.der | openssl base64 -A", "r");
  if(!sum || !fgets(line, sizeof line, sum))
    puts("no sum");
  if(sum)
    pclose(sum);
  snprintf(good, sizeof good, "sha256//%s", line);
  static const char *const wrong = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
  const char *forms[] = {good, wrong, several, "pinned-key.pem", "pinned-key.der", "pinned-cert.pem", "no-such-key.pem", "ca.pem", "sha256//", "sha256//x", "", "sha1//x", NULL};
  snprintf(several, sizeof several, "%s;%s", wrong, good);
  for(size_t f = 0; f < sizeof forms / sizeof *forms; f++)
    for(long peer_check = 0; peer_check < 2; peer_check++) {
      easy = named("localhost");
      snprintf(name, sizeof name, "pin %zu check %ld", f, peer_check);
      WITH(easy, PINNEDPUBLICKEY, forms[f]), WITH(easy, SSL_VERIFYPEER, peer_check);
      go(name, easy);
      curl_easy_cleanup(easy);
    }
  unlink("pinned-cert.pem"), unlink("pinned-key.pem"), unlink("pinned-key.der");
}

static void versions(void)
{
  static const long values[] = {CURL_SSLVERSION_DEFAULT, CURL_SSLVERSION_TLSv1, CURL_SSLVERSION_TLSv1_0, CURL_SSLVERSION_TLSv1_2, CURL_SSLVERSION_TLSv1_3, CURL_SSLVERSION_LAST, -1, 99, CURL_SSLVERSION_MAX_DEFAULT, CURL_SSLVERSION_MAX_TLSv1_2,
                                CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_2, CURL_SSLVERSION_TLSv1_3 | CURL_SSLVERSION_MAX_TLSv1_3, CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_3};
  for(size_t v = 0; v < sizeof values / sizeof *values; v++) {
    CURL *easy = named("localhost");
    printf("version %zu: %d", v, curl_easy_setopt(easy, CURLOPT_SSLVERSION, values[v]));
    printf(" %d\n", curl_easy_perform(easy));
    curl_easy_cleanup(easy);
  }
}

/* One handle: a connection made under laxer rules does not serve stricter ones. */
static void changes(void)
{
  CURL *easy = named("other.example");
  WITH(easy, SSL_VERIFYHOST, 0L);
  go("no name asked", easy);
  go("no name asked again", easy);
  printf("connections: %ld\n", number(easy, CURLINFO_NUM_CONNECTS));
  WITH(easy, SSL_VERIFYHOST, 2L);
  go("name asked", easy);
  WITH(easy, SSL_VERIFYHOST, 0L), WITH(easy, CAINFO, "other-ca.pem");
  go("another authority", easy);
  WITH(easy, SSL_VERIFYPEER, 0L);
  go("nobody asked", easy);
  WITH(easy, SSL_VERIFYPEER, 1L);
  go("asked again", easy);
  WITH(easy, CAINFO, "ca.pem"), WITH(easy, PINNEDPUBLICKEY, "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
  go("pinned", easy);
  WITH(easy, PINNEDPUBLICKEY, NULL);
  go("not pinned", easy);
  curl_easy_cleanup(easy);
}

int main(void)
{
  names();
  pins();
  versions();
  changes();
  return 0;
}
