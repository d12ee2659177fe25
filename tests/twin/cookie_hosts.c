/* Which cookies go where: the attributes of replies against the hosts, paths and schemes of later requests, several files, a jar on
 * standard output, and what CURLOPT_COOKIELIST's commands leave, in which order.
 * covers: CURLOPT_COOKIEFILE, CURLOPT_COOKIEJAR, CURLOPT_COOKIELIST, CURLOPT_COOKIESESSION, CURLOPT_COOKIE, CURLOPT_CONNECT_TO, CURLINFO_COOKIELIST */
#include "peer.h"

/* A handle whose every host is the peer. */
static CURL *led(struct peer *peer, const char *url, struct curl_slist **lead)
{
  char to[64];
  snprintf(to, sizeof to, "::127.0.0.1:%d", peer->port);
  *lead = curl_slist_append(NULL, to);
  CURL *easy = to_peer(peer, "/");
  WITH(easy, CONNECT_TO, *lead);
  WITH(easy, URL, url);
  WITH(easy, COOKIEFILE, "");
  return easy;
}

static void print_cookies(const char *name, struct peer *peer, int from)
{
  for(int i = from; i < peer->rounds; i++) {
    char *line = strcasestr(peer->heard[i], "\r\nCookie: "), *host = strcasestr(peer->heard[i], "\r\nHost: ");
    printf("%s to %.*s %.*s: %.*s\n", name, host ? (int)strcspn(host + 8, "\r") : 0, host ? host + 8 : "", (int)strcspn(peer->heard[i] + 4, " "), peer->heard[i] + 4, line ? (int)strcspn(line + 10, "\r") : 4,
           line ? line + 10 : "none");
  }
}

static int count(CURL *easy)
{
  struct curl_slist *list = NULL;
  int n = 0;
  curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &list);
  for(struct curl_slist *item = list; item; item = item->next)
    n++;
  curl_slist_free_all(list);
  return n;
}

static void attributes(void)
{
  static const char *cookies[] = {
    "a=1", "a=1; domain=host.example", "a=1; domain=.host.example", "a=1; domain=sub.host.example", "a=1; domain=example", "a=1; domain=other.example", "a=1; domain=HOST.example", "a=1; domain=", "a=1; domain=.", "a=1; domain=..host.example",
    "a=1; domain=host.example.", "a=1; domain=ost.example", "a=1; domain=x; domain=host.example", "a=1; path=/p", "a=1; path=/p/", "a=1; path=p", "a=1; path=", "a=1; path=\"/p\"", "a=1; path=/p; path=/", "a=1; secure", "a=1; httponly", "a=1; HttpOnly=x; Secure=y",
    "a=1; expires=Thu, 01 Jan 1970 00:00:01 GMT", "a=1; max-age=0", "a=1; max-age=-5", "a=1; max-age=\"100\"", "a=1; max-age=x", "a=1; max-age=99999999999999999999", "a=1; expires=garbage", "a=1; expires=Thu, 01 Jan 1970 00:00:01 GMT; max-age=100", "a=1;;;", "a", "=1", "a=", " a = 1 ",
    "a=b=c", "a=\"1\"", "a=1,b=2", "a\tb=1", "a=1\tb", "__Secure-a=1", "__Secure-a=1; secure", "__Host-a=1; path=/; secure", "__Host-a=1; secure", "__Host-a=1; path=/; secure; domain=host.example", "__host-a=1", "a=1; samesite=strict", "a=1; unknown=x; unknown2", "a=\x7f", "a=\xc3\xa4"};
  static const char *places[] = {"http://host.example/p/q", "http://host.example/", "http://host.example/pp", "http://sub.host.example/p/q", "http://HOST.example/p", "http://host.example:81/p/q", "http://example/p/q", "http://host.example./p/q"};
  char name[64];
  for(size_t c = 0; c < sizeof cookies / sizeof *cookies; c++) {
    char reply[300];
    struct peer *peer = peer_new();
    struct curl_slist *lead;
    snprintf(reply, sizeof reply, "HTTP/1.1 200 OK\r\nSet-Cookie: %s\r\nContent-Length: 0\r\n\r\n", cookies[c]);
    peer->says[0] = reply;
    for(int i = 1; i < 9; i++)
      peer->says[i] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    CURL *easy = led(peer_start(peer), "http://host.example/p/q", &lead);
    snprintf(name, sizeof name, "cookie %zu", c);
    go(name, easy);
    printf("%s kept: %d\n", name, count(easy));
    for(size_t p = 0; p < sizeof places / sizeof *places; p++) {
      WITH(easy, URL, places[p]);
      curl_easy_perform(easy);
    }
    print_cookies(name, peer, 1);
    curl_easy_cleanup(easy), curl_slist_free_all(lead);
    peer_end(peer);
  }
}

/* Many of one name, and the order in which they are sent. */
static void orders(void)
{
  struct peer *peer = peer_new();
  struct curl_slist *lead;
  peer->says[0] = "HTTP/1.1 200 OK\r\nSet-Cookie: one=short; path=/\r\nSet-Cookie: two=longest; path=/a/b/c\r\nSet-Cookie: three=longer; path=/a/b\r\nSet-Cookie: one=again; path=/a\r\nSet-Cookie: name=dom; domain=example.org; path=/a\r\nSet-Cookie: four=4; path=/a/b\r\nContent-Length: 0\r\n\r\n";
  for(int i = 1; i < 8; i++)
    peer->says[i] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  CURL *easy = led(peer_start(peer), "http://www.example.org/a/b/c/d", &lead);
  go("order", easy);
  go("order", easy);
  WITH(easy, COOKIE, "mine=x; one=mine");
  go("order with mine", easy);
  WITH(easy, COOKIE, NULL);
  WITH(easy, COOKIELIST, "Set-Cookie: one=listed; domain=www.example.org; path=/a");
  WITH(easy, COOKIELIST, "www.example.org\tFALSE\t/a/b/c\tFALSE\t0\tfive\t5");
  go("order with listed", easy);
  printf("sess: %d\n", curl_easy_setopt(easy, CURLOPT_COOKIELIST, "sess"));
  printf("unknown: %d\n", curl_easy_setopt(easy, CURLOPT_COOKIELIST, "NOSUCH"));
  printf("after unknown: %d\n", count(easy));
  printf("SESS: %d\n", curl_easy_setopt(easy, CURLOPT_COOKIELIST, "SESS"));
  printf("after SESS: %d\n", count(easy));
  go("order after SESS", easy);
  printf("ALL: %d\n", curl_easy_setopt(easy, CURLOPT_COOKIELIST, "ALL"));
  go("order after ALL", easy);
  printf("NULL: %d\n", curl_easy_setopt(easy, CURLOPT_COOKIELIST, NULL));
  print_cookies("order", peer, 0);
  curl_easy_cleanup(easy), curl_slist_free_all(lead);
  peer_end(peer);
}

static void files(void)
{
  write_file("cookies-a.txt", "# Netscape HTTP Cookie File\nhost.example\tFALSE\t/\tFALSE\t0\tfrom\ta\nhost.example\tFALSE\t/\tFALSE\t4102444800\tlong\ta\n.host.example\tTRUE\t/\tFALSE\t4102444800\ttail\ta\n");
  write_file("cookies-b.txt", "HTTP/1.1 200 OK\r\nSet-Cookie: header=b; domain=host.example\r\nSet-Cookie: bare=b\r\nOther: x\r\n\r\nhost.example\tFALSE\t/\tFALSE\t0\tfrom\tb\nhost.example\tTRUE\t/\tTRUE\t0\tsecure\tb\nbroken line\nhost.example FALSE / FALSE 0 spaces b\nhost.example\tFALSE\t/\tFALSE\t1\texpired\tb\nhost.example\tFALSE\t/\tFALSE\t0\tempty\n");
  static const char *lists[][3] = {{"cookies-a.txt", NULL, NULL}, {"cookies-a.txt", "cookies-b.txt", NULL}, {"cookies-b.txt", "cookies-a.txt", NULL}, {"no-such.txt", "cookies-a.txt", NULL}, {"", "cookies-a.txt", NULL}, {"cookies-a.txt", "", NULL}, {"cookies-a.txt", NULL, "cookies-b.txt"}, {".", "cookies-a.txt", NULL}};
  char name[64];
  for(size_t l = 0; l < sizeof lists / sizeof *lists; l++)
    for(long session = 0; session < 2; session++) {
      struct peer *peer = peer_new();
      struct curl_slist *lead;
      peer->says[0] = peer->says[1] = peer->says[2] = "HTTP/1.1 200 OK\r\nSet-Cookie: new=n\r\nContent-Length: 0\r\n\r\n";
      CURL *easy = led(peer_start(peer), "http://host.example/", &lead);
      WITH(easy, COOKIEFILE, NULL);
      snprintf(name, sizeof name, "files %zu session %ld", l, session);
      WITH(easy, COOKIEFILE, lists[l][0]);
      if(lists[l][2])
        WITH(easy, COOKIEFILE, NULL);
      WITH(easy, COOKIEFILE, lists[l][2] ? lists[l][2] : lists[l][1]);
      if(!lists[l][1] && !lists[l][2])
        WITH(easy, COOKIEFILE, lists[l][0]);
      WITH(easy, COOKIESESSION, session);
      printf("%s before: %d\n", name, count(easy));
      go(name, easy);
      printf("%s after: %d\n", name, count(easy));
      go(name, easy);
      WITH(easy, COOKIELIST, "RELOAD");
      go(name, easy);
      print_cookies(name, peer, 0);
      curl_easy_cleanup(easy), curl_slist_free_all(lead);
      peer_end(peer);
    }
  /* A jar on standard output, behind a mark: sorted by no one, so one cookie each. */
  for(int way = 0; way < 4; way++) {
    struct peer *peer = peer_saying("HTTP/1.1 200 OK\r\nSet-Cookie: jar=1; path=/x; domain=host.example; httponly\r\nContent-Length: 0\r\n\r\n", NULL);
    struct curl_slist *lead;
    CURL *easy = led(peer, "http://host.example/x", &lead);
    snprintf(name, sizeof name, "jar %d", way);
    WITH(easy, COOKIEJAR, way == 1 ? "cookies-jar-twin.txt" : way == 2 ? "/no/such/folder/jar" : "-");
    go(name, easy);
    if(way == 3)
      printf("flush: %d\n", curl_easy_setopt(easy, CURLOPT_COOKIELIST, "FLUSH"));
    printf("%s then\n", name);
    curl_easy_cleanup(easy), curl_slist_free_all(lead);
    peer_end(peer);
  }
  char text_[1000] = "";
  FILE *jar = fopen("cookies-jar-twin.txt", "r");
  if(jar)
    text_[fread(text_, 1, sizeof text_ - 1, jar)] = 0, fclose(jar);
  printf("jar file: ");
  print_bytes(text_, strlen(text_));
  unlink("cookies-jar-twin.txt"), unlink("cookies-a.txt"), unlink("cookies-b.txt");
}

int main(void)
{
  setvbuf(stdout, NULL, _IOLBF, 0);
  attributes();
  orders();
  files();
  return 0;
}
