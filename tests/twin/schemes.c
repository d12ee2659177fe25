/* Which protocol a URL means and whether it may be used: names without a scheme, guesses by host name, DEFAULT_PROTOCOL, and the lists
 * of allowed ones, old and new, for URLs and for redirects.
 * covers: CURLOPT_DEFAULT_PROTOCOL, CURLOPT_PROTOCOLS, CURLOPT_PROTOCOLS_STR, CURLOPT_REDIR_PROTOCOLS, CURLOPT_REDIR_PROTOCOLS_STR,
 * covers: CURLINFO_SCHEME, CURLINFO_EFFECTIVE_URL, CURLOPT_CONNECT_TO, CURLOPT_PORT */
#include "peer.h"
#include <limits.h>

static const char *scheme_names[] = {"http", "https", "ftp", "ftps", "scp", "sftp", "telnet", "ldap", "ldaps", "dict", "file", "tftp", "imap", "imaps", "pop3", "pop3s", "smtp", "smtps", "rtsp", "gopher", "gophers", "smb", "smbs", "mqtt", "ws", "wss", "rtmp", "nothing"};

/* Nobody listens: what counts is how far it comes. */
static CURL *nowhere(const char *url)
{
  static struct curl_slist *lead;
  if(!lead)
    lead = curl_slist_append(NULL, "::127.0.0.1:1");
  CURL *easy = curl_easy_init();
  WITH(easy, URL, url);
  WITH(easy, CONNECT_TO, lead);
  WITH(easy, WRITEFUNCTION, take);
  WITH(easy, TIMEOUT, 5L);
  return easy;
}

static void refused(const char *name, CURL *easy, int code) { printf("%s: %d url %s\n", name, code, code == CURLE_COULDNT_CONNECT ? text(easy, CURLINFO_EFFECTIVE_URL) : "-"); }

static void guesses(void)
{
  static const char *hosts[] = {"example.com", "ftp.example.com", "FTP.example.com", "ftp", "ftpx.example.com", "pop.example.com", "ftps.example.com", "https.example.com",
                                "sftp.example.com", "ws.example.com", "gopher.example.com", "user@ftp.example.com", "u:p@ftp.example.com:8080/x", "ftp.example.com:80", "example.com/ftp.", "//example.com/x", "127.0.0.1", "[::1]", "localhost:1", "example.com?q", "a:1",
                                "http:example.com", "http:/example.com", "http:///example.com", "http:////example.com", "http//example.com", "ht tp://x", "HTTP://example.com", "hTTps://example.com", "://example.com", "h-t.t+p://example.com", "http:", "mailto:a@b", "ftp:example.com"};
  static const char *defaults[] = {NULL, "https", "ftp", "FTP", "nothing", "", "file"};
  char name[160];
  for(size_t h = 0; h < sizeof hosts / sizeof *hosts; h++)
    for(size_t d = 0; d < sizeof defaults / sizeof *defaults; d++) {
      CURL *easy = nowhere(hosts[h]);
      WITH(easy, DEFAULT_PROTOCOL, defaults[d]);
      snprintf(name, sizeof name, "host %zu default %zu", h, d);
      refused(name, easy, curl_easy_perform(easy));
      curl_easy_cleanup(easy);
    }
}

static void known(void)
{
  char name[160], url[160];
  for(size_t s = 0; s < sizeof scheme_names / sizeof *scheme_names; s++) {
    CURL *easy = curl_easy_init();
    if(strstr("https ftps file nothing", scheme_names[s])) /* what both have */
      printf("list %s: %d %d\n", scheme_names[s], curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, scheme_names[s]), curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, scheme_names[s]));
    curl_easy_cleanup(easy);
    static const char *allowed[] = {"http,ftp", "https,file", "all"};
    for(int mode = 0; mode < 3; mode++) {
      if(mode == 2 && strcmp(scheme_names[s], "http") && strcmp(scheme_names[s], "ftps") && strcmp(scheme_names[s], "nothing"))
        continue;
      snprintf(url, sizeof url, "%s://h.example/x", scheme_names[s]);
      easy = nowhere(url);
      WITH(easy, PROTOCOLS_STR, allowed[mode]);
      snprintf(name, sizeof name, "scheme %s mode %d", scheme_names[s], mode);
      refused(name, easy, curl_easy_perform(easy));
      curl_easy_cleanup(easy);
    }
  }
}

static void lists(void)
{
  static const char *texts[] = {"http", "HTTP", "http,https", "http, https", " http", "http ", "http,", ",http", ",", "", "all", "ALL", "all,nothing", "nothing", "http,nothing", "http;https", "http https", "-http", "+http", "http,http", "http://", "ftp", NULL};
  static const long masks[] = {0, 1, CURLPROTO_HTTP | CURLPROTO_HTTPS, CURLPROTO_FTP, (long)CURLPROTO_ALL, -1, 1L << 40, LONG_MAX};
  char name[64];
  for(size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
    CURL *easy = nowhere("http://h.example/");
    printf("text %zu: %d %d\n", t, curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, texts[t]), curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, texts[t]));
    snprintf(name, sizeof name, "text %zu goes", t);
    printf("%s: %d\n", name, curl_easy_perform(easy));
    /* A list that is refused leaves the one before. */
    WITH(easy, PROTOCOLS_STR, "ftp");
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, texts[t]);
    printf("%s after ftp: %d\n", name, curl_easy_perform(easy));
    curl_easy_cleanup(easy);
  }
  for(size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
    CURL *easy = nowhere("http://h.example/");
    printf("mask %zu: %d %d\n", m, curl_easy_setopt(easy, CURLOPT_PROTOCOLS, masks[m]), curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS, masks[m]));
    printf("mask %zu goes: %d\n", m, curl_easy_perform(easy));
    WITH(easy, PROTOCOLS_STR, "http"); /* the last one set counts */
    printf("mask %zu then text: %d\n", m, curl_easy_perform(easy));
    WITH(easy, PROTOCOLS, (long)CURLPROTO_FTP);
    printf("mask %zu then mask: %d\n", m, curl_easy_perform(easy));
    CURL *copy = curl_easy_duphandle(easy);
    printf("mask %zu copied: %d\n", m, curl_easy_perform(copy));
    curl_easy_reset(easy);
    WITH(easy, URL, "http://127.0.0.1:1/");
    printf("mask %zu reset: %d\n", m, curl_easy_perform(easy));
    curl_easy_cleanup(easy), curl_easy_cleanup(copy);
  }
}

static void redirects(void)
{
  static const char *places[] = {"ftp://127.0.0.1:1/", "ftps://127.0.0.1:1/", "https://127.0.0.1:1/", "HTTP://127.0.0.1:1/", "file:///etc/hostname", "nothing://127.0.0.1:1/", "scp://127.0.0.1:1/", "mailto:x@y", "data:text/plain,x"};
  static const char *allowed[] = {NULL, "all", "http", "ftp", "https,ftp", "file", ""};
  char name[64];
  for(size_t p = 0; p < sizeof places / sizeof *places; p++)
    for(size_t a = 0; a < sizeof allowed / sizeof *allowed; a++) {
      char moved[160];
      snprintf(moved, sizeof moved, "!HTTP/1.1 302 M\r\nConnection: close\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", places[p]);
      if(!strncmp(places[p], "scp", 3) && a == 1 || !strncmp(places[p], "file", 4) && (a == 1 || a == 5)) /* reads this machine */
        continue;
      struct peer *peer = peer_saying(moved, OK_CLOSE);
      CURL *easy = to_peer(peer, "/");
      WITH(easy, FOLLOWLOCATION, 1L);
      if(allowed[a])
        WITH(easy, REDIR_PROTOCOLS_STR, allowed[a]);
      snprintf(name, sizeof name, "to %zu allowed %zu", p, a);
      CURLcode code = go(name, easy);
      printf("%s: redirects %ld next %s scheme %s\n", name, number(easy, CURLINFO_REDIRECT_COUNT), text(easy, CURLINFO_REDIRECT_URL), code ? "-" : text(easy, CURLINFO_SCHEME));
      curl_easy_cleanup(easy);
      peer_end(peer);
    }
  /* CURLOPT_PROTOCOLS bounds redirects too, only at the URL itself. */
  for(int i = 0; i < 3; i++) {
    struct peer *peer = peer_saying("!HTTP/1.1 302 M\r\nConnection: close\r\nLocation: ftp://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", NULL);
    CURL *easy = to_peer(peer, "/");
    WITH(easy, FOLLOWLOCATION, 1L);
    WITH(easy, PROTOCOLS_STR, i ? "http" : "http,ftp");
    if(i == 2)
      WITH(easy, REDIR_PROTOCOLS_STR, "ftp");
    snprintf(name, sizeof name, "both lists %d", i);
    go(name, easy);
    curl_easy_cleanup(easy);
    peer_end(peer);
  }
  /* Without a scheme, against a server. */
  static const char *names[] = {"127.0.0.1:%d/a b", "127.0.0.1:%d/x", "//127.0.0.1:%d/x", "me:pw@127.0.0.1:%d", "http:127.0.0.1:%d/x", "http:/127.0.0.1:%d/x", "http:///127.0.0.1:%d/x", "  http://127.0.0.1:%d/x", "http://127.0.0.1:%d/x  ", "http://127.0.0.1:%d/x\n", "http://127.1:%d/", "http://0x7f000001:%d/", "http://2130706433:%d/", "http://0177.1:%d/", "http://127.0.0.1:00%d/", "http://127.0.0.1:+%d/", "http://127.0.0.1:%d:1/", "http://127.0.0.1:%dx/"};
  for(size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct peer *peer = peer_saying(OK_CLOSE, NULL);
    CURL *easy = to_peer(peer, "/");
    char url[128];
    snprintf(url, sizeof url, names[i], peer->port);
    WITH(easy, URL, url);
    snprintf(name, sizeof name, "named %zu", i);
    peer_run(name, easy, peer);
  }
}

int main(void)
{
  guesses();
  known();
  lists();
  redirects();
  return 0;
}
