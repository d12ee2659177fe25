/* CURLOPT_HEADERFUNCTION and curl_easy_header(3): folded lines, informational replies, trailers, redirects, a proxy's CONNECT.
 * covers: CURLOPT_HEADERFUNCTION, curl_easy_header, curl_easy_nextheader, CURLOPT_FOLLOWLOCATION, CURLOPT_HTTPPROXYTUNNEL */
#include "peer.h"

static size_t line(char *data, size_t size, size_t count, void *user)
{
  printf("line %s: ", (char *)user);
  for(size_t i = 0; i < size * count; i++)
    printf(data[i] == '\r' ? "^" : data[i] == '\n' ? "$" : data[i] == '\t' ? "\\t" : "%c", data[i]);
  puts("");
  return size * count;
}

static void show(CURL *easy)
{
  static const unsigned origins[] = {CURLH_HEADER, CURLH_TRAILER, CURLH_CONNECT, CURLH_1XX, CURLH_PSEUDO, CURLH_HEADER | CURLH_TRAILER | CURLH_1XX | CURLH_CONNECT};
  for(size_t i = 0; i < sizeof origins / sizeof *origins; i++)
    for(int request = -1; request < 3; request++) {
      struct curl_header *header = NULL;
      while((header = curl_easy_nextheader(easy, origins[i], request, header)))
        printf("next %u %d: <%s> <%s> %zu/%zu %u\n", origins[i], request, header->name, header->value, header->index, header->amount, header->origin);
    }
  static const struct { const char *name; size_t index; unsigned origin; int request; } asked[] = {
    {"x-A", 0, CURLH_HEADER, -1}, {"X-a", 1, CURLH_HEADER, -1}, {"x-a", 2, CURLH_HEADER, -1}, {"x-a", 0, CURLH_HEADER, 0}, {"x-a", 0, CURLH_HEADER, 1},
    {"x-a", 0, CURLH_HEADER, 9}, {"x-a", 0, CURLH_HEADER, -2}, {"no", 0, CURLH_HEADER, -1}, {"", 0, CURLH_HEADER, -1}, {"x-t", 0, CURLH_TRAILER, -1},
    {"x-t", 0, CURLH_HEADER, -1}, {"x-a", 0, 0, -1}, {"x-a", 0, 1 << 7, -1}, {"x-early", 0, CURLH_1XX, -1}, {"x-proxy", 0, CURLH_CONNECT, -1}};
  for(size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    struct curl_header *header = NULL;
    CURLHcode code = curl_easy_header(easy, asked[i].name, asked[i].index, asked[i].origin, asked[i].request, &header);
    printf("ask %zu: %d %s\n", i, code, code ? "" : header->value);
  }
}

int main(void)
{
  struct peer *peer = peer_new();
  peer->says[0] = "HTTP/1.1 200 OK\r\nX-A: one\r\nX-Fold: a\r\n b\r\n\tc\r\nx-a:   two  \r\nEmpty:\r\nContent-Length: 2\r\n\r\nhi";
  peer->says[1] = "HTTP/1.1 103 Early\r\nX-Early: 1\r\n\r\nHTTP/1.1 102 More\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: final\r\n\r\nhi";
  peer->says[2] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n2\r\nhi\r\n0\r\nX-T: trailing\r\nX-A: too\r\n\r\n";
  peer->says[3] = "HTTP/1.1 302 Found\r\nLocation: /next\r\nX-A: first\r\nContent-Length: 0\r\n\r\n";
  peer->says[4] = "HTTP/1.1 301 Moved\nLocation: /third\nX-A: second\nX-A: again\nContent-Length: 3\n\nabc";
  peer->says[5] = "HTTP/1.1 200\r\nX-A: third\r\nContent-Length: 0\r\n\r\n";
  peer->says[6] = "HTTP/1.1 200 Connected\r\nX-Proxy: yes\r\n\r\n";
  peer->says[7] = "HTTP/1.1 200 OK\r\nX-A: inside\r\nContent-Length: 0\r\n\r\n";
  peer_start(peer);
  static const char *names[] = {"plain", "early", "trailer", "redirects", "tunnel"};
  CURL *easy = to_peer(peer, "/h");
  for(int i = 0; i < 5; i++) {
    WITH(easy, HEADERFUNCTION, line);
    WITH(easy, HEADERDATA, (char *)names[i]);
    WITH(easy, FOLLOWLOCATION, 1L);
    if(i == 4) {
      WITH(easy, PROXY, peer->url);
      WITH(easy, HTTPPROXYTUNNEL, 1L);
      WITH(easy, URL, "http://inside.example/");
    }
    go(names[i], easy);
    show(easy);
  }
  curl_easy_reset(easy);
  show(easy);
  curl_easy_cleanup(easy);
  peer_show(peer, "server");
  peer_end(peer);
  return 0;
}
