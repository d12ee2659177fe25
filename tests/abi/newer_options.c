/* Options that Debian's libcurl lacks or does not answer in time; each by what the server hears.
 * covers: CURLOPT_HAPROXY_CLIENT_IP, CURLOPT_TCP_KEEPCNT, CURLOPT_SERVER_RESPONSE_TIMEOUT_MS, CURLOPT_SSL_SIGNATURE_ALGORITHMS,
 * covers: CURLOPT_KEEP_SENDING_ON_ERROR, CURLOPT_DNS_SHUFFLE_ADDRESSES, CURLOPT_SSL_ENABLE_ALPN, CURLOPT_SSL_EC_CURVES */
#include "check.h"
#include "own_server.h"
#include <netinet/tcp.h>
#include <time.h>

#define UPLOAD 60000000u
#define REPLY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"

static struct text body;

static CURL *handle(const char *scheme, int port)
{
  char url[64];
  CURL *easy = curl_easy_init();
  snprintf(url, sizeof url, "%s://127.0.0.1:%d/x", scheme, port);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 20L);
  return easy;
}

static void client_address(void)
{
  struct own_server *own = own_server(REPLY, NULL);
  CURL *easy = handle("http", own->port);
  SAME(curl_easy_setopt(easy, CURLOPT_HAPROXY_CLIENT_IP, "192.0.2.7"), CURLE_OK);
  SAME(curl_easy_perform(easy), CURLE_OK);
  curl_easy_cleanup(easy);
  own_server_end(own);
  CHECK(!strncmp(own->heard, "PROXY TCP4 192.0.2.7 ", 21));
  CHECK(strstr(own->heard, "\r\nGET /x HTTP/1.1\r\n"));
  free(own);
}

static void probes(void)
{
  CURL *easy = curl_easy_init();
  curl_socket_t fd = -1;
  int count = 0;
  socklen_t length = sizeof count;
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/1"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  SAME(curl_easy_setopt(easy, CURLOPT_TCP_KEEPCNT, 5L), CURLE_OK);
  SAME(curl_easy_perform(easy), CURLE_OK);
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
  /* Wine 8 has no such option: where a socket of the program's own can't be given one, the library's has none, either. */
  int own = (int)socket(AF_INET, SOCK_STREAM, 0);
  if(!setsockopt(own, IPPROTO_TCP, TCP_KEEPCNT, &(int){4}, sizeof(int))) {
    SAME(getsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, &length), 0);
    SAME(count, 5);
  }
  close(own);
  curl_easy_cleanup(easy);
}

static void silent_server(void)
{
  struct own_server *own = own_server(NULL, NULL);
  struct timespec begun, ended;
  CURL *easy = handle("ftp", own->port);
  SAME(curl_easy_setopt(easy, CURLOPT_SERVER_RESPONSE_TIMEOUT_MS, 300L), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_SERVER_RESPONSE_TIMEOUT_MS, -1L), CURLE_BAD_FUNCTION_ARGUMENT);
  clock_gettime(CLOCK_MONOTONIC, &begun);
  SAME(curl_easy_perform(easy), CURLE_OPERATION_TIMEDOUT);
  clock_gettime(CLOCK_MONOTONIC, &ended);
  CHECK(ended.tv_sec - begun.tv_sec < 4);
  curl_easy_cleanup(easy);
  own_server_end(own);
  free(own);
}

/* Whether an extension of a ClientHello begins with these bytes. */
static int hello_has(const struct own_server *own, const char *bytes, size_t length)
{
  for(size_t at = 0; at + length <= own->heard_length; at++)
    if(!memcmp(own->heard + at, bytes, length))
      return 1;
  return 0;
}

static struct own_server *greeted(CURLoption option, const char *text, long number)
{
  struct own_server *own = own_server("x", NULL); /* no TLS: that ends it */
  CURL *easy = handle("https", own->port);
  if(text)
    SAME(curl_easy_setopt(easy, option, text), CURLE_OK);
  else
    SAME(curl_easy_setopt(easy, option, number), CURLE_OK);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 1500L);
  CHECK(curl_easy_perform(easy) != CURLE_OK);
  curl_easy_cleanup(easy);
  own_server_end(own);
  return own;
}

static void hellos(void)
{
  static const char one_algorithm[] = "\x00\x0d\x00\x04\x00\x02\x04\x03"; /* signature_algorithms: ecdsa_secp256r1_sha256 */
  static const char one_curve[] = "\x00\x0a\x00\x04\x00\x02\x00\x17";     /* supported_groups: secp256r1 */
  struct own_server *own = greeted(CURLOPT_SSL_SIGNATURE_ALGORITHMS, "ECDSA+SHA256", 0);
  CHECK(hello_has(own, one_algorithm, 8) && !hello_has(own, one_curve, 8) && hello_has(own, "http/1.1", 8));
  free(own);
  own = greeted(CURLOPT_SSL_EC_CURVES, "P-256", 0);
  CHECK(!hello_has(own, one_algorithm, 8) && hello_has(own, one_curve, 8));
  free(own);
  own = greeted(CURLOPT_SSL_ENABLE_ALPN, NULL, 0);
  CHECK(own->heard_length > 100 && !hello_has(own, "http/1.1", 8));
  free(own);
}

static size_t left;

static size_t give(char *to, size_t size, size_t count, void *user)
{
  size_t n = size * count < left ? size * count : left;
  (void)user;
  memset(to, 'k', n);
  left -= n;
  usleep(500); /* so that the reply comes in between */
  return n;
}

static void refused_uploads(void)
{
  for(long keep = 0; keep < 2; keep++) {
    struct own_server *own = own_server("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", NULL);
    CURL *easy = handle("http", own->port);
    struct curl_slist *plain = curl_slist_append(NULL, "Expect:");
    left = UPLOAD;
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, plain);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)UPLOAD);
    SAME(curl_easy_setopt(easy, CURLOPT_KEEP_SENDING_ON_ERROR, keep), CURLE_OK);
    SAME(curl_easy_perform(easy), CURLE_OK);
    curl_easy_cleanup(easy);
    own_server_end(own);
    if(keep)
      CHECK(own->total > UPLOAD && left == 0);
    else
      CHECK(own->total < UPLOAD && left > 0);
    curl_slist_free_all(plain);
    free(own);
  }
}

static curl_socket_t first_address(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
  (void)purpose;
  if(!*(unsigned *)user)
    *(unsigned *)user = ntohl(((struct sockaddr_in *)&address->addr)->sin_addr.s_addr);
  return CURL_SOCKET_BAD;
}

static void shuffled(void)
{
  for(long on = 0; on < 2; on++) {
    int changes = 0;
    unsigned before = 0;
    for(int i = 0; i < 25; i++) {
      unsigned tried = 0;
      CURL *easy = curl_easy_init();
      struct curl_slist *pins = curl_slist_append(NULL, "many.example:80:127.0.0.1,127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.5");
      curl_easy_setopt(easy, CURLOPT_URL, "http://many.example/");
      curl_easy_setopt(easy, CURLOPT_RESOLVE, pins);
      SAME(curl_easy_setopt(easy, CURLOPT_DNS_SHUFFLE_ADDRESSES, on), CURLE_OK);
      curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, first_address);
      curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &tried);
      SAME(curl_easy_perform(easy), CURLE_COULDNT_CONNECT);
      changes += before && before != tried;
      before = tried;
      curl_easy_cleanup(easy);
      curl_slist_free_all(pins);
    }
    SAME(changes > 0, on);
  }
}

int main(void)
{
  client_address();
  probes();
  silent_server();
  hellos();
  refused_uploads();
  shuffled();
  free(body.at);
  return FAILURES;
}
