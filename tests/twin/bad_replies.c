/* What is no proper HTTP: which code each reply ends with, and how much of its body comes.
 * covers: curl_easy_perform, CURLOPT_HTTP09_ALLOWED, CURLOPT_IGNORE_CONTENT_LENGTH, CURLOPT_HTTP_TRANSFER_DECODING, CURLOPT_ERRORBUFFER */
#include "peer.h"

int main(void)
{
  static const char *replies[] = {
    "!", "!HTTP", "!hello there, no head at all", "!HTTP/1.1\r\n\r\n", "!HTTP/1.1 \r\n\r\n", "!HTTP/1.1 2\r\n\r\n", "!HTTP/1.1 20\r\n\r\n", "!HTTP/1.1 2000 x\r\n\r\n", "!HTTP/1.1 abc\r\n\r\n",
    "!HTTP/1.1 099 low\r\n\r\n", "!HTTP/1.1 999 high\r\nContent-Length: 0\r\n\r\n", "!HTTP/1.1 600 x\r\n\r\nbody", "!HTTP/3.7 200 OK\r\n\r\nbody", "!HTTP/0.9 200 OK\r\n\r\nbody", "!HTTP/1.2 200 OK\r\n\r\nbody", "!HTTP/11 200 OK\r\n\r\nbody",
    "!http/1.1 200 OK\r\n\r\nbody", "!\r\nHTTP/1.1 200 OK\r\n\r\nbody", "! HTTP/1.1 200 OK\r\n\r\nbody", "!HTTP/1.1  200  OK\r\n\r\nbody", 
    "!HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "!HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nlonger than that", "!HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nbody",
    "!HTTP/1.1 200 OK\r\nContent-Length: 4abc\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 2\r\n\r\nbody",
    "!HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nContent-Length: +4\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi",
    "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhiXX0\r\n\r\n", "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00000000000000002\r\nhi\r\n0\r\n\r\n", "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nhi\r\n0\r\n\r\n",
    "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nhi\n0\n\n", "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2 \r\nhi\r\n0\r\n\r\n", "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n 2\r\nhi\r\n0\r\n\r\n", "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0;c\r\n\r\n",
    "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n", "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX: y\r\n", "!HTTP/1.1 200 OK\r\nTransfer-Encoding: unknown\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    "!HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 4\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nNo colon\r\n\r\nbody", "!HTTP/1.1 200 OK\r\n: no name\r\n\r\nbody", "!HTTP/1.1 200 OK\r\n folded first\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nX : space\r\n\r\nbody",
    "!HTTP/1.1 200 OK\r\nHalf a hea", "!HTTP/1.1 200 OK\r\n", "!HTTP/1.1 200 OK\n\nbody", "!HTTP/1.1 200 OK\r\n\nbody", "!HTTP/1.1 200 OK\n\r\nbody", "!HTTP/1.1 101 Switching\r\n\r\nbody", "!HTTP/1.1 100 Continue\r\n\r\n", "!HTTP/1.1 204 No\r\nContent-Length: 4\r\n\r\nbody",
    "!HTTP/1.1 304 Not\r\nContent-Length: 4\r\n\r\nbody", "!HTTP/1.1 205 Reset\r\nContent-Length: 4\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody", "!HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    "!HTTP/1.1 302 Found\r\n\r\nbody", "!HTTP/1.1 302 Found\r\nLocation:\r\n\r\nbody", "!HTTP/1.1 302 Found\r\nLocation: http://\r\n\r\nbody", "!HTTP/1.1 302 Found\r\nLocation: ftpx://h/\r\n\r\nbody", "!HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\nbody",
    "!HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot gzip", "!HTTP/1.1 200 OK\r\nContent-Encoding: unknown\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\n\r\nbody", "!HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\nxxxx",
    "!HTTP/1.1 401 No\r\nContent-Length: 4\r\n\r\nbody", "!HTTP/1.1 401 No\r\nWWW-Authenticate: Weird\r\nContent-Length: 4\r\n\r\nbody", "!HTTP/1.1 407 No\r\nContent-Length: 4\r\n\r\nbody", "!RTSP/1.0 200 OK\r\n\r\nbody", "!ICY 200 OK\r\n\r\nbody",
    "!HTTP/1.1 200 OK\r\nX-Half: of it", "!HTTP/1.1 200 OK\r\nX-Whole: line\r\n", "!HTTP/1.1 200 OK\r\nX-Folded: a\r\n b\r\n", "!HTTP/1.1 200 O", "!HTTP/1.1 103 Early\r\nX: y\r\n", "!HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 2",
    "!HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n", "!HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "!HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n",
    "!HTTP/1.1 302 Found\r\nLocation: /whole\r\n", "!HTTP/1.1 302 Found\r\nLocation: /ha", "!HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\n", "!HTTP/1.1 404 No\r\nContent-Length: 9\r\n"};
  for(size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
    struct peer *peer = peer_saying(replies[i], NULL);
    CURL *easy = to_peer(peer, "/");
    char name[80], error[CURL_ERROR_SIZE] = "";
    WITH(easy, FOLLOWLOCATION, 1L);
    WITH(easy, ACCEPT_ENCODING, "");
    WITH(easy, ERRORBUFFER, error);
    WITH(easy, TIMEOUT, 4L);
    snprintf(name, sizeof name, "reply %zu %s", i, replies[i] + 1);
    for(char *c = name; *c; c++)
      *c = *c == ':' ? ';' : *c < ' ' ? '_' : *c;
    go(name, easy);
    printf("%s body: %s\n", name, first);
    struct curl_header *header;
    printf("%s header: %s rounds %d\n", name, !curl_easy_header(easy, strstr(name, "Half") ? "X-Half" : strstr(name, "Folded") ? "X-Folded" : "X-Whole", 0, CURLH_HEADER, -1, &header) ? header->value : "no", peer->rounds);
    printf("%s says: %d %s\n", name, *error != 0, error);
    curl_easy_cleanup(easy);
    peer_end(peer);
  }
  return 0;
}
