/* The header functions while a transfer runs: what curl_easy_header(3) and curl_easy_nextheader(3) know inside each callback, hop by
 * hop; the lines that CURLOPT_HEADERFUNCTION gets, whole, and what its answers do.
 * covers: curl_easy_header, curl_easy_nextheader, CURLOPT_HEADERFUNCTION, CURLOPT_SUPPRESS_CONNECT_HEADERS, CURLOPT_HEADER, CURLOPT_HEADERDATA,
 * covers: CURLOPT_FAILONERROR, CURLOPT_HTTPPROXYTUNNEL, CURLINFO_HEADER_SIZE, CURLINFO_RESPONSE_CODE, CURLOPT_XFERINFOFUNCTION */
#include "peer.h"

static CURL *running;
static int lines, stop_at, bodies;

/* All that is known now, in one line. */
static void known(const char *name, const char *where)
{
  static const unsigned origins[] = {CURLH_HEADER, CURLH_TRAILER, CURLH_CONNECT, CURLH_1XX};
  printf("%s %s %ld:", name, where, number(running, CURLINFO_RESPONSE_CODE));
  for(int o = 0; o < 4; o++)
    for(int request = 0; request < 4; request++) {
      struct curl_header *header = NULL;
      while((header = curl_easy_nextheader(running, origins[o], request, header)))
        printf(" %u.%d %s=%s %zu/%zu;", origins[o], request, header->name, header->value, header->index, header->amount);
    }
  puts("");
}

static size_t line(char *data, size_t size, size_t count, void *user)
{
  char where[32];
  printf("%s line %d: ", (char *)user, lines);
  print_bytes(data, size * count);
  snprintf(where, sizeof where, "knows at %d", lines);
  if(lines++ == stop_at)
    return size * count + (stop_at & 1 ? -1 : 1);
  known((char *)user, where);
  return size * count;
}

static size_t body(char *data, size_t size, size_t count, void *user)
{
  (void)data;
  if(!bodies++)
    known(user, "in body");
  return size * count;
}

static void run(const char *name, struct peer *peer, int way)
{
  CURL *easy = running = to_peer(peer, "/h");
  struct curl_header *header = NULL;
  lines = bodies = 0;
  WITH(easy, HEADERFUNCTION, line), WITH(easy, HEADERDATA, (void *)name), WITH(easy, WRITEFUNCTION, body), WITH(easy, WRITEDATA, (void *)name);
  WITH(easy, FOLLOWLOCATION, 1L), WITH(easy, TIMEOUT, 5L);
  if(way & 1)
    WITH(easy, HEADER, 1L);
  if(way & 2)
    WITH(easy, PROXY, peer->url), WITH(easy, HTTPPROXYTUNNEL, 1L), WITH(easy, URL, "http://inside.example/x");
  if(way & 4)
    WITH(easy, SUPPRESS_CONNECT_HEADERS, 1L);
  if(way & 8)
    WITH(easy, FAILONERROR, 1L);
  if(way & 16)
    WITH(easy, NOBODY, 1L);
  go(name, easy);
  known(name, "afterwards");
  printf("%s sizes: head %ld bodies %d last %d\n", name, number(easy, CURLINFO_HEADER_SIZE), bodies, curl_easy_header(easy, "x-last", 0, CURLH_HEADER, -1, &header));
  curl_easy_cleanup(easy);
  peer_end(peer);
}

static struct peer *saying(const char *const *texts)
{
  struct peer *peer = peer_new();
  for(int i = 0; texts[i]; i++)
    peer->says[i] = texts[i];
  return peer_start(peer);
}

#define SAYING(...) saying((const char *const[]){__VA_ARGS__, NULL})

int main(void)
{
  stop_at = -1;
  run("plain", SAYING("HTTP/1.1 200 Fine thing\r\nX-A: 1\r\nX-A: 2\r\nx-a:3\r\nX-Trail: v  \t\r\nX-Tab:\tv\r\nContent-Length: 2\r\n\r\nhi"), 0);
  run("into the body", SAYING("HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nhi"), 1);
  run("hops", SAYING("HTTP/1.1 302 F\r\nLocation: /2\r\nX-A: first\r\nContent-Length: 3\r\n\r\nold", "HTTP/1.1 302 F\r\nLocation: /3\r\nX-A: second\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nX-Last: third\r\nContent-Length: 2\r\n\r\nhi"), 0);
  run("early", SAYING("HTTP/1.1 103 E\r\nX-A: early\r\n\r\nHTTP/1.1 103 E\r\nX-A: early 2\r\n\r\nHTTP/1.1 200 OK\r\nX-A: late\r\nContent-Length: 2\r\n\r\nhi"), 0);
  run("trailers", SAYING("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\nX-A: 1\r\n\r\n2\r\nhi\r\n0\r\nX-T: t\r\nX-A: trailing\r\n\r\n"), 0);
  run("no trailers", SAYING("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"), 0);
  run("tunnel", SAYING("HTTP/1.1 200 Tunnel\r\nX-P: proxy\r\nX-P: again\r\n\r\n", "HTTP/1.1 200 OK\r\nX-A: origin\r\nContent-Length: 2\r\n\r\nhi"), 2);
  run("quiet tunnel", SAYING("HTTP/1.1 200 Tunnel\r\nX-P: proxy\r\n\r\n", "HTTP/1.1 200 OK\r\nX-A: origin\r\nContent-Length: 2\r\n\r\nhi"), 2 | 4);
  run("tunnel into the body", SAYING("HTTP/1.1 200 Tunnel\r\nX-P: proxy\r\n\r\n", "HTTP/1.1 200 OK\r\nX-A: origin\r\nContent-Length: 2\r\n\r\nhi"), 1 | 2);
  run("quiet tunnel into the body", SAYING("HTTP/1.1 200 Tunnel\r\nX-P: proxy\r\n\r\n", "HTTP/1.1 200 OK\r\nX-A: origin\r\nContent-Length: 2\r\n\r\nhi"), 1 | 2 | 4);
  run("tunnel refused", SAYING("!HTTP/1.1 403 No\r\nX-P: proxy\r\nContent-Length: 3\r\n\r\nbad"), 2);
  run("tunnel and hop", SAYING("HTTP/1.1 200 Tunnel\r\nX-P: proxy\r\n\r\n", "HTTP/1.1 302 F\r\nLocation: /2\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nX-A: second\r\nContent-Length: 0\r\n\r\n"), 2);
  run("failing", SAYING("HTTP/1.1 404 No\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nno"), 8);
  run("head", SAYING("HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 2\r\n\r\n"), 16);
  run("bare line ends", SAYING("HTTP/1.1 200 OK\nX-A: 1\nContent-Length: 2\n\nhi"), 0);
  run("HTTP/1.0", SAYING("!HTTP/1.0 200 OK\r\nX-A: 1\r\n\r\nhi"), 0);
  run("no reason", SAYING("HTTP/1.1 200\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n"), 0);
  run("blank reason", SAYING("HTTP/1.1 200 \r\nX-A: 1\r\nContent-Length: 0\r\n\r\n"), 0);
  run("304", SAYING("HTTP/1.1 304 Not\r\nX-A: 1\r\nContent-Length: 5\r\n\r\n"), 0);
  for(stop_at = 0; stop_at < 5; stop_at++) {
    char name[32];
    snprintf(name, sizeof name, "stopped at %d", stop_at);
    run(name, SAYING("HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nhi"), 0);
  }
  for(stop_at = 0; stop_at < 3; stop_at++) {
    char name[32];
    snprintf(name, sizeof name, "stopped in tunnel at %d", stop_at);
    run(name, SAYING("HTTP/1.1 200 Tunnel\r\nX-P: proxy\r\n\r\n", OK_BODY), 2);
  }
  stop_at = 4;
  run("stopped in trailer", SAYING("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n2\r\nhi\r\n0\r\nX-T: t\r\n\r\n"), 0);
  stop_at = -1;
  /* CURLOPT_HEADERDATA alone: the lines go to the write callback; a second transfer forgets those of the first. */
  struct peer *peer = SAYING("HTTP/1.1 200 OK\r\nX-One: 1\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 200 OK\r\nX-Two: 2\r\nContent-Length: 2\r\n\r\nhi");
  CURL *easy = running = to_peer(peer, "/");
  bodies = 0;
  WITH(easy, WRITEFUNCTION, body), WITH(easy, WRITEDATA, "body"), WITH(easy, HEADERDATA, "header");
  go("by the write callback", easy);
  printf("by the write callback: %d\n", bodies);
  known("first", "kept");
  go("second", easy);
  known("second", "kept");
  curl_easy_reset(easy);
  known("reset", "kept");
  CURL *copy = curl_easy_duphandle(easy);
  running = copy;
  known("copy", "kept");
  curl_easy_cleanup(copy), curl_easy_cleanup(easy);
  peer_end(peer);
  return 0;
}
