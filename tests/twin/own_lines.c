/* Header lines of the application's own: how each form is sent, which of the library's lines it replaces, and what goes along to another
 * host, through a proxy, into a tunnel and after a challenge.
 * covers: CURLOPT_HTTPHEADER, CURLOPT_PROXYHEADER, CURLOPT_HEADEROPT, CURLOPT_UNRESTRICTED_AUTH, CURLOPT_COOKIE, CURLOPT_REFERER, CURLOPT_RESOLVE,
 * covers: CURLOPT_CONNECT_TO, CURLOPT_USERAGENT, CURLOPT_HTTPPROXYTUNNEL, CURLOPT_UPLOAD, CURLOPT_POSTFIELDS */
#include "peer.h"

static struct curl_slist *lines(const char *const *texts)
{
  struct curl_slist *list = NULL;
  while(*texts)
    list = curl_slist_append(list, *texts++);
  return list;
}

#define LINES(...) lines((const char *const[]){__VA_ARGS__, NULL})

static size_t given;
static size_t give(char *to, size_t size, size_t count, void *user)
{
  (void)user, (void)size, (void)count;
  if(given)
    return 0;
  memcpy(to, "abc", 3);
  return given = 3;
}

/* A name that leads to the peer. */
static void named(CURL *easy, struct peer *peer, const char *url)
{
  char to[64];
  static struct curl_slist *kept;
  snprintf(to, sizeof to, "::127.0.0.1:%d", peer->port);
  kept = curl_slist_append(NULL, to); /* one per transfer; they live as long as the program */
  WITH(easy, CONNECT_TO, kept);
  WITH(easy, URL, url);
}

enum { GET, POST, PUT, CHUNKED_PUT, HEAD, METHODS };

/* Without its length a body may come later than the answer: then only the head counts. */
static void forget_body(struct peer *peer)
{
  char *end = peer->rounds ? strstr(peer->heard[0], "\r\n\r\n") : NULL;
  if(end && !memmem(peer->heard[0], end - peer->heard[0], "Transfer-Encoding: chunked", 26))
    peer->heard_length[0] = (int)(end + 4 - peer->heard[0]);
}

static void one(const char *name, struct curl_slist *own, int method)
{
  struct peer *peer = peer_saying(method == HEAD ? "!HTTP/1.1 200 OK\r\n\r\n" : OK_CLOSE, NULL);
  CURL *easy = to_peer(peer, "/");
  named(easy, peer, "http://own.example/p");
  given = 0;
  WITH(easy, TIMEOUT_MS, 700L);
  WITH(easy, HTTPHEADER, own);
  WITH(easy, USERAGENT, "agent");
  WITH(easy, COOKIE, "from=option");
  WITH(easy, REFERER, "http://ref/");
  WITH(easy, USERPWD, "me:pw");
  WITH(easy, EXPECT_100_TIMEOUT_MS, 1L);
  if(method == POST)
    WITH(easy, POSTFIELDS, "abc");
  if(method == PUT || method == CHUNKED_PUT) {
    WITH(easy, UPLOAD, 1L);
    WITH(easy, READFUNCTION, give);
    if(method == PUT)
      WITH(easy, INFILESIZE, 3L);
  }
  if(method == HEAD)
    WITH(easy, NOBODY, 1L);
  go(name, easy);
  forget_body(peer);
  peer_show(peer, name);
  curl_easy_cleanup(easy);
  peer_end(peer);
  curl_slist_free_all(own);
}

static void forms(void)
{
  static const char *const texts[] = {
    "Host: other.example", "Host:", "Host;", "host: lower.example:99", "Host:other.example  ", "Host: a b", "Authorization: own", "Authorization:", "Authorization;", "Cookie: own=1", "Cookie:", "Cookie;",
    "Referer:", "Referer: own", "User-Agent;", "Accept;", "Accept-Encoding: own", "Content-Length:", "Content-Length: 2", "Content-Length: 3", "Content-Length: x", "Content-Type;", "Content-Type: own/type",
    "Transfer-Encoding:", "Transfer-Encoding: chunked", "Transfer-Encoding: Chunked", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity", "Expect:", "Expect;", "Expect: 100-continue", "Expect: other",
    "Connection: keep-alive", "Connection: upgrade", "Connection:", "Upgrade: websocket", "Range: bytes=0-0", "X-A:  spaces  ", "X-A:\ttab", "X-B:", "X-B: ", "X-B;", "X-B; x", "X-B;:", ";", ":", "", " ", "X", "X-C : x",
    "X-D: 1\nX-E: 2", "X-D: 1\r\n", "X-D: 1\r", "X-D: 1\n", "X-D\r\n: 1", "\r\nX: 1", "X-F: a;b", "X-G;h: 1", "X-H:;", "(bad): name", "X-I: \x01\x7f", "X-J: \xff", "Date: now", "If-None-Match: *", "TE:", "TE: gzip", "Keep-Alive: 5"};
  char name[64];
  for(size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for(int method = 0; method < METHODS; method++) {
      if(method > POST && !strstr("HostContent-Length:Transfer-Encoding:Expect:Connection", strndupa(texts[i], strcspn(texts[i], ":;"))))
        continue;
      snprintf(name, sizeof name, "form %zu method %d", i, method);
      one(name, LINES(texts[i], strncmp(texts[i], "Expect", 6) ? "Expect:" : "X-Last: 1"), method);
    }
  one("twice", LINES("X-A: 1", "X-A: 2", "x-a: 3"), GET);
  one("twice taken back", LINES("User-Agent:", "User-Agent: late"), GET);
  one("two hosts", LINES("Host: one", "Host: two"), GET);
  one("two cookies", LINES("Cookie: a=1", "Cookie: b=2"), GET);
  one("two types", LINES("Content-Type: a/a", "Content-Type: b/b"), POST);
  one("length and chunked", LINES("Content-Length: 3", "Transfer-Encoding: chunked"), POST);
  one("expect twice", LINES("Expect:", "Expect: 100-continue"), POST);
}

static const char *const secrets[] = {"Authorization: own", "Cookie: own=1", "X-Key: own", "Host: own.host", "Proxy-Authorization: own", "WWW-Authenticate: own", "Referer: own"};

static void hops(void)
{
  static const char *places[] = {"http://own.example/next", "http://OWN.example/next", "http://own.example:80/next", "http://own.example./next", "http://own.example:81/next", "http://else.example/next", "http://u:p@else.example/next", "http://u:p@own.example/next",
                                 "//else.example/next", "http://sub.own.example/next"};
  char name[64];
  for(size_t i = 0; i < sizeof places / sizeof *places; i++)
    for(long free_ = 0; free_ < 2; free_++) {
      char moved[200];
      snprintf(moved, sizeof moved, "HTTP/1.1 302 M\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", places[i]);
      struct peer *peer = peer_new();
      peer->says[0] = moved;
      peer->says[1] = "HTTP/1.1 302 M\r\nLocation: http://own.example/back\r\nContent-Length: 0\r\n\r\n";
      peer->says[2] = OK_CLOSE;
      CURL *easy = to_peer(peer_start(peer), "/");
      struct curl_slist *own = LINES(secrets[0], secrets[1], secrets[2], secrets[3], secrets[4], secrets[5], secrets[6]);
      named(easy, peer, "http://own.example/first");
      WITH(easy, FOLLOWLOCATION, 1L);
      WITH(easy, UNRESTRICTED_AUTH, free_);
      WITH(easy, HTTPHEADER, own);
      snprintf(name, sizeof name, "hop %zu %ld", i, free_);
      peer_run(name, easy, peer);
      curl_slist_free_all(own);
      /* The same by options. */
      peer = peer_new();
      peer->says[0] = moved;
      peer->says[1] = "HTTP/1.1 302 M\r\nLocation: http://own.example/back\r\nContent-Length: 0\r\n\r\n";
      peer->says[2] = OK_CLOSE;
      easy = to_peer(peer_start(peer), "/");
      named(easy, peer, "http://own.example/first");
      WITH(easy, FOLLOWLOCATION, 1L);
      WITH(easy, UNRESTRICTED_AUTH, free_);
      WITH(easy, USERPWD, "me:pw");
      WITH(easy, COOKIE, "opt=1");
      WITH(easy, REFERER, "http://ref/");
      snprintf(name, sizeof name, "hop by options %zu %ld", i, free_);
      peer_run(name, easy, peer);
    }
}

static void proxies(void)
{
  char name[64];
  for(int tunnel = 0; tunnel < 2; tunnel++)
    for(int apart = -1; apart < 2; apart++)
      for(int proxy_lines = 0; proxy_lines < 2; proxy_lines++) {
        struct peer *peer = peer_new();
        peer->says[0] = tunnel ? "HTTP/1.1 200 In\r\n\r\n" : OK_BODY;
        peer->says[1] = peer->says[2] = OK_BODY;
        CURL *easy = to_peer(peer_start(peer), "/");
        struct curl_slist *own = LINES("X-Own: 1", "User-Agent: own", "Host: own.host", "Proxy-Connection: own", "Authorization: own"), *to_proxy = LINES("X-Proxy: 1", "User-Agent: proxied", "Host: proxy.host", "X-Empty;", "X-Gone:", "Proxy-Authorization: own");
        WITH(easy, URL, "http://far.example/p");
        WITH(easy, PROXY, peer->url);
        WITH(easy, HTTPPROXYTUNNEL, (long)tunnel);
        WITH(easy, HTTPHEADER, own);
        if(proxy_lines)
          WITH(easy, PROXYHEADER, to_proxy);
        if(apart >= 0)
          WITH(easy, HEADEROPT, apart ? (long)CURLHEADER_SEPARATE : (long)CURLHEADER_UNIFIED);
        snprintf(name, sizeof name, "proxy %d %d %d", tunnel, apart, proxy_lines);
        peer_run(name, easy, peer);
        curl_slist_free_all(own), curl_slist_free_all(to_proxy);
      }
}

int main(void)
{
  forms();
  hops();
  proxies();
  return 0;
}
