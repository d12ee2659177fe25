/* Cookies by CURLOPT_COOKIELIST, by file, by reply, and what CURLINFO_COOKIELIST says of them.
 * covers: CURLOPT_COOKIELIST, CURLOPT_COOKIEFILE, CURLOPT_COOKIEJAR, CURLOPT_COOKIESESSION, CURLOPT_COOKIE, CURLINFO_COOKIELIST */
#include "peer.h"

static void list(const char *name, CURL *easy)
{
  struct curl_slist *cookies = NULL;
  int n = 0;
  CURLcode code = curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &cookies);
  /* Their order is each library's own, and 8 caps how long they live: sorted, and the time as now, never or later. */
  char lines[32][256];
  for(struct curl_slist *item = cookies; item && n < 32; item = item->next) {
    snprintf(lines[n++], sizeof lines[0], "%s", item->data);
    for(int i = n - 1; i && strcmp(lines[i - 1], lines[i]) > 0; i--) {
      char other[256];
      strcpy(other, lines[i]), strcpy(lines[i], lines[i - 1]), strcpy(lines[i - 1], other);
    }
  }
  for(int i = 0; i < n; i++) {
    int column = 0;
    printf("%s %d: ", name, i);
    for(char *c = lines[i]; *c; c++)
      if(*c == '\t') {
        printf("|");
        if(++column == 4 && atoll(c + 1) > time(NULL))
          printf("later"), c += strspn(c + 1, "0123456789");
      }
      else
        printf("%c", *c);
    puts("");
  }
  printf("%s: %d, %d cookies\n", name, code, n);
  curl_slist_free_all(cookies);
}

int main(void)
{
  static const char *lines[] = {
    "Set-Cookie: a=1; domain=a.example", "Set-Cookie: b=2; path=/x; domain=.b.example; secure; HttpOnly", "set-cookie: c=3; domain=a.example; expires=Fri, 01 Jan 2100 00:00:00 GMT",
    "Set-Cookie: d=4; domain=a.example; max-age=0", "Set-Cookie: e=5; domain=a.example; expires=Fri, 01 Jan 1999 00:00:00 GMT", "Set-Cookie: a=changed; domain=a.example",
    "h.example\tFALSE\t/\tFALSE\t0\tname\tvalue", "h.example\tTRUE\t/p\tTRUE\t4102444800\tlater\tv", "#HttpOnly_h.example\tFALSE\t/\tFALSE\t0\thidden\tv", "# a comment", "h.example\tFALSE\t/", "garbage", "",
    "Set-Cookie: noname", "Set-Cookie: =novalue; domain=a.example", "Set-Cookie: empty=; domain=a.example", "Set-Cookie: sp = v a l ; domain=a.example", "Set-Cookie: q=\"quoted\"; domain=a.example",
    "Set-Cookie: tab=a\tb; domain=a.example", "Set-Cookie: __Secure-x=1; domain=a.example", "Set-Cookie: __Host-x=1; domain=a.example; secure; path=/", "Set-Cookie: tld=1; domain=com", "Set-Cookie: pub=1; domain=co.uk",
    "Set-Cookie: ip=1; domain=127.0.0.1", "Set-Cookie: l=1; domain=localhost", "Set-Cookie: ctl=\x01; domain=a.example"};
  CURL *easy = to("SERVER", "/cookies");
  list("fresh", easy);
  for(size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    char name[32];
    printf("line %zu: %d\n", i, curl_easy_setopt(easy, CURLOPT_COOKIELIST, lines[i]));
    snprintf(name, sizeof name, "after %zu", i);
    list(name, easy);
  }
  printf("session: %d\n", curl_easy_setopt(easy, CURLOPT_COOKIELIST, "SESS"));
  list("without session cookies", easy);
  WITH(easy, COOKIEJAR, "cookies-jar.txt");
  printf("flush: %d\n", curl_easy_setopt(easy, CURLOPT_COOKIELIST, "FLUSH"));
  printf("all: %d\n", curl_easy_setopt(easy, CURLOPT_COOKIELIST, "ALL"));
  list("none", easy);
  WITH(easy, COOKIEFILE, "cookies-jar.txt");
  printf("reload: %d\n", curl_easy_setopt(easy, CURLOPT_COOKIELIST, "RELOAD"));
  list("reloaded", easy);
  curl_easy_cleanup(easy);
  char text[2000] = "";
  FILE *jar = fopen("cookies-jar.txt", "r");
  if(jar)
    text[fread(text, 1, sizeof text - 1, jar)] = 0, fclose(jar);
  int number_ = 0;
  for(char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
    if(*line != '#' || !strncmp(line, "#Http", 5)) {
      printf("jar %d: ", number_++);
      printf("%s\n", strrchr(line, '\t') ? strrchr(line, '\t') + 1 : line);
    }
  /* Replies. */
  struct peer *peer = peer_new();
  peer->says[0] = "HTTP/1.1 200 OK\r\nSet-Cookie: one=1\r\nSet-Cookie: two=2; path=/deep\r\nSet-Cookie: three=3; path=deep\r\nSet-Cookie: sec=1; secure\r\nSet-Cookie: far=1; domain=other.example\r\n"
                  "Set-Cookie: gone=1; max-age=-1\r\nSet-Cookie: long=1; max-age=1000\r\nSet-Cookie: one=again\r\nContent-Length: 0\r\n\r\n";
  for(int i = 1; i < 6; i++)
    peer->says[i] = OK_BODY;
  peer_start(peer);
  easy = to_peer(peer, "/deep/er/page");
  WITH(easy, COOKIEFILE, "");
  WITH(easy, COOKIE, "literal=x");
  go("sets", easy);
  static const char *paths[] = {"/", "/deep", "/deeper", "/deep/er/x"};
  for(int i = 0; i < 4; i++) {
    char url[128];
    snprintf(url, sizeof url, "%s%s", peer->url, paths[i] + 1);
    WITH(easy, URL, url);
    go(paths[i], easy);
  }
  WITH(easy, COOKIESESSION, 1L);
  go("new session", easy);
  curl_easy_cleanup(easy);
  peer_show(peer, "server");
  peer_end(peer);
  unlink("cookies-jar.txt");
  return 0;
}
