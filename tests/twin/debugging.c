/* CURLOPT_DEBUGFUNCTION: which kinds come in which order with which bytes, and CURLOPT_HEADER, for requests of each kind. Informational
 * text is each library's own, so it is only counted as present.
 * covers: CURLOPT_DEBUGFUNCTION, CURLOPT_DEBUGDATA, CURLOPT_VERBOSE, CURLOPT_HEADER */
#include "peer.h"

static int last, texts;
static char all[8192];

static int debug(CURL *easy, curl_infotype kind, char *data, size_t size, void *user)
{
  static const char *names[] = {"text", "header in", "header out", "data in", "data out", "tls in", "tls out"};
  (void)easy;
  if(user != all)
    printf("wrong user\n");
  if(kind == CURLINFO_TEXT) {
    texts++;
    return 0;
  }
  size_t at = strlen(all);
  if(last != (int)kind || kind == CURLINFO_HEADER_IN)
    at += snprintf(all + at, sizeof all - at, " [%s]", names[kind]);
  for(size_t i = 0; i < size && at + 2 < sizeof all; i++)
    all[at++] = data[i] == '\r' ? '^' : data[i] == '\n' ? '$' : data[i];
  all[at] = 0;
  last = kind;
  return 0;
}

static void run(const char *name, CURL *easy, struct peer *peer)
{
  char port[16], *at;
  last = -1, texts = 0, all[0] = 0;
  WITH(easy, DEBUGFUNCTION, debug);
  WITH(easy, DEBUGDATA, all);
  WITH(easy, VERBOSE, 1L);
  go(name, easy);
  snprintf(port, sizeof port, ":%d", peer ? peer->port : 0);
  while((at = strstr(all, port)))
    memmove(at, at + strlen(port), strlen(at + strlen(port)) + 1);
  printf("%s reported: %d%s\n", name, texts > 0, all);
}

static size_t give(char *to, size_t size, size_t count, void *user)
{
  int *left = user;
  (void)size, (void)count;
  if(!*left)
    return 0;
  --*left;
  memcpy(to, "piece", 5);
  return 5;
}

int main(void)
{
  struct peer *peer = peer_new();
  int left = 2;
  peer->says[0] = OK_BODY;
  peer->says[1] = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 Fine\r\nContent-Length: 3\r\nX-A: b\r\n\r\nabc";
  peer->says[2] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nX-T: end\r\n\r\n";
  peer->says[3] = "HTTP/1.1 204 No Content\r\n\r\n";
  peer->says[4] = "!HTTP/1.0 200 OK\r\n\r\nto the end";
  peer->says[5] = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
  peer_start(peer);
  CURL *easy = to_peer(peer, "/x");
  run("get", easy, peer);
  WITH(easy, POSTFIELDS, "the body");
  run("post", easy, peer);
  WITH(easy, HTTPGET, 1L);
  WITH(easy, HEADER, 1L);
  run("chunked", easy, peer);
  printf("body with headers: %zu\n", got);
  run("nothing", easy, peer);
  run("until close", easy, peer);
  WITH(easy, NOBODY, 1L);
  run("head", easy, peer);
  curl_easy_cleanup(easy);
  peer_end(peer);

  peer = peer_saying(OK_CLOSE, NULL);
  easy = to_peer(peer, "/up");
  WITH(easy, UPLOAD, 1L);
  WITH(easy, READFUNCTION, give);
  WITH(easy, READDATA, &left);
  WITH(easy, INFILESIZE, 10L);
  struct curl_slist *none = curl_slist_append(NULL, "Expect:");
  WITH(easy, HTTPHEADER, none);
  run("put", easy, peer);
  curl_easy_cleanup(easy);
  curl_slist_free_all(none);
  peer_end(peer);
  return 0;
}
