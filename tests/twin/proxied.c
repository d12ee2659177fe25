/* Requests by way of a proxy: plain, tunnelled, logged in, with lines of its own, and hosts that go without one.
 * covers: CURLOPT_PROXY, CURLOPT_PROXYPORT, CURLOPT_PROXYTYPE, CURLOPT_PROXYUSERPWD, CURLOPT_PROXYAUTH, CURLOPT_NOPROXY, CURLOPT_PROXYHEADER, CURLOPT_HEADEROPT, CURLOPT_HTTPPROXYTUNNEL, CURLINFO_HTTP_CONNECTCODE, CURLINFO_PROXYAUTH_AVAIL */
#include "peer.h"

int main(void)
{
  for(int kind = 0; kind < 12; kind++) {
    struct peer *peer = peer_new();
    char name[32], bare[64];
    struct curl_slist *own = curl_slist_append(NULL, "X-Own: server"), *proxy = curl_slist_append(NULL, "X-Proxy: proxy");
    peer->says[0] = kind == 5 ? "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 2\r\n\r\nno" : kind == 7 ? "!HTTP/1.1 403 Never\r\nContent-Length: 2\r\n\r\nno" :
                    kind >= 6 && kind < 10 ? "HTTP/1.1 200 Fine\r\n\r\n" : OK_BODY;
    peer->says[1] = OK_BODY, peer->says[2] = OK_BODY;
    peer_start(peer);
    CURL *easy = to("SERVER", "/");
    WITH(easy, URL, "http://u:p@far.example:81/path?q#f");
    WITH(easy, HTTPHEADER, own);
    WITH(easy, PROXYHEADER, proxy);
    snprintf(bare, sizeof bare, "127.0.0.1");
    WITH(easy, PROXY, kind == 1 ? bare : peer->url);
    switch(kind) {
    case 1: WITH(easy, PROXYPORT, (long)peer->port); break;
    case 2: WITH(easy, PROXYUSERPWD, "pu:pp"); break;
    case 3: WITH(easy, PROXYUSERNAME, "only"); break;
    case 4: WITH(easy, HEADEROPT, (long)CURLHEADER_SEPARATE); break;
    case 5: WITH(easy, PROXYUSERPWD, "pu:pp"); WITH(easy, PROXYAUTH, (long)CURLAUTH_ANY); break;
    case 6: case 7: WITH(easy, HTTPPROXYTUNNEL, 1L); break;
    case 8: WITH(easy, HTTPPROXYTUNNEL, 1L); WITH(easy, HEADEROPT, (long)CURLHEADER_SEPARATE); WITH(easy, PROXYUSERPWD, "pu:pp"); break;
    case 9: WITH(easy, HTTPPROXYTUNNEL, 1L); WITH(easy, PROXYTYPE, (long)CURLPROXY_HTTP_1_0); WITH(easy, USERAGENT, "me"); break;
    case 10: WITH(easy, HTTP_VERSION, (long)CURL_HTTP_VERSION_1_0); break;
    case 11: WITH(easy, URL, "ftp://far.example/file;type=a"); break;
    }
    snprintf(name, sizeof name, "kind %d", kind);
    go(name, easy);
    printf("%s: connect %ld, offered %ld, used %s\n", name, number(easy, CURLINFO_HTTP_CONNECTCODE), number(easy, CURLINFO_PROXYAUTH_AVAIL), text(easy, CURLINFO_PRIMARY_IP));
    if(kind == 0)
      go("again", easy);
    curl_easy_cleanup(easy);
    curl_slist_free_all(own), curl_slist_free_all(proxy);
    peer_show(peer, name);
    peer_end(peer);
  }
  static const char *hosts[] = {"far.example", "x.far.example", "notfar.example", "127.0.0.1", "10.1.2.3", "[::1]", "FAR.EXAMPLE", "far.example."};
  static const char *lists[] = {"far.example", ".far.example", "*", "a,far.example,b", "a far.example", "127.0.0.1", "127.0.0.0/8", "10.0.0.0/8,127.0.0.1", "::1", "[::1]", "far.example:80", "example", "", "*.far.example", "far.example."};
  for(size_t l = 0; l < sizeof lists / sizeof *lists; l++)
    for(size_t h = 0; h < sizeof hosts / sizeof *hosts; h++) {
      struct peer *peer = peer_saying(OK_CLOSE, NULL);
      char url[128], name[64], pin[128];
      CURL *easy = curl_easy_init();
      snprintf(url, sizeof url, "http://%s:1/", hosts[h]);
      snprintf(pin, sizeof pin, "*:1:127.0.0.1");
      struct curl_slist *pins = curl_slist_append(NULL, pin);
      WITH(easy, URL, url);
      WITH(easy, RESOLVE, pins);
      WITH(easy, PROXY, peer->url);
      WITH(easy, NOPROXY, lists[l]);
      WITH(easy, WRITEFUNCTION, take);
      WITH(easy, CONNECTTIMEOUT_MS, 50L);
      CURLcode code = curl_easy_perform(easy);
      snprintf(name, sizeof name, "list %zu host %zu", l, h);
      printf("%s: %s\n", name, code ? "without" : "proxy");
      curl_easy_cleanup(easy);
      curl_slist_free_all(pins);
      peer_end(peer);
    }
  return 0;
}
