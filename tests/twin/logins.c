/* Who logs in how: Basic and Digest, ANY, ANYSAFE, wrong passwords, credentials in the URL, in options and in a netrc file.
 * covers: CURLOPT_HTTPAUTH, CURLOPT_USERPWD, CURLOPT_USERNAME, CURLOPT_PASSWORD, CURLOPT_NETRC, CURLOPT_NETRC_FILE, CURLINFO_HTTPAUTH_AVAIL, CURLOPT_DISALLOW_USERNAME_IN_URL */
#include "peer.h"

int main(void)
{
  static const struct { const char *url, *userpwd, *user, *password; } who[] = {
    {"/basic/u/p", "u:p", NULL, NULL}, {"/basic/u/p", "u:wrong", NULL, NULL}, {"/basic/u/p", NULL, "u", "p"}, {"/basic/u/p", "u:x", NULL, "p"}, {"/basic/u/p", ":p", "u", NULL}, {"/basic/u/p", "u", NULL, NULL},
    {"/basic/u/p", NULL, NULL, NULL}, {"/basic/u/p", NULL, NULL, "p"}, {"/echo", NULL, NULL, "p"}, {"/echo", NULL, "", "p"}};
  static const long ways[] = {CURLAUTH_BASIC, CURLAUTH_DIGEST, CURLAUTH_ANY, CURLAUTH_ANYSAFE, CURLAUTH_NONE, (long)(CURLAUTH_BASIC | CURLAUTH_ONLY), (long)(CURLAUTH_DIGEST | CURLAUTH_ONLY), (long)CURLAUTH_ONLY};
  for(size_t i = 0; i < sizeof who / sizeof *who; i++)
    for(size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
      CURL *easy = to("SERVER", who[i].url);
      char name[32];
      if(who[i].userpwd)
        WITH(easy, USERPWD, who[i].userpwd);
      if(who[i].user)
        WITH(easy, USERNAME, who[i].user);
      if(who[i].password)
        WITH(easy, PASSWORD, who[i].password);
      snprintf(name, sizeof name, "who %zu way %zu", i, w);
      printf("%s set: %d\n", name, curl_easy_setopt(easy, CURLOPT_HTTPAUTH, ways[w]));
      go(name, easy);
      printf("%s offered: %ld\n", name, number(easy, CURLINFO_HTTPAUTH_AVAIL));
      curl_easy_cleanup(easy);
    }
  /* With CURLAUTH_ONLY the first request asks; a server that wants nothing to be proved receives no login, and a body waits. */
  for(int i = 0; i < 6; i++) {
    struct peer *peer = peer_new();
    char name[32];
    peer->says[0] = i % 3 == 0 ? OK_BODY : i % 3 == 1 ? "HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=r\r\nContent-Length: 0\r\n\r\n" : "HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\nContent-Length: 0\r\n\r\n";
    peer->says[1] = peer->says[2] = peer->says[3] = OK_BODY;
    CURL *easy = to_peer(peer_start(peer), "/only");
    WITH(easy, USERPWD, "u:p");
    WITH(easy, HTTPAUTH, (long)(CURLAUTH_BASIC | CURLAUTH_ONLY));
    if(i > 2)
      WITH(easy, POSTFIELDS, "body");
    snprintf(name, sizeof name, "only %d", i);
    go(name, easy);
    go(name, easy);
    printf("%s offered: %ld\n", name, number(easy, CURLINFO_HTTPAUTH_AVAIL));
    curl_easy_cleanup(easy);
    peer_show(peer, name);
    peer_end(peer);
  }
  /* In the URL, against options, and forbidden there. */
  static const char *inside[] = {"u:p@", "u@", ":p@", "@", "u%40x:p%3ay@", "wrong:wrong@"};
  for(size_t i = 0; i < sizeof inside / sizeof *inside; i++)
    for(int mode = 0; mode < 3; mode++) {
      CURL *easy = to("SERVER", "/echo");
      char url[256], name[32];
      snprintf(url, sizeof url, "http://%s127.0.0.1:%s/basic/u/p", inside[i], port_of("SERVER"));
      WITH(easy, URL, url);
      if(mode == 1)
        WITH(easy, USERPWD, "u:p");
      if(mode == 2)
        WITH(easy, DISALLOW_USERNAME_IN_URL, 1L);
      snprintf(name, sizeof name, "inside %zu mode %d", i, mode);
      go(name, easy);
      curl_easy_cleanup(easy);
    }
  FILE *netrc = fopen("logins-netrc", "w");
  fputs("machine 127.0.0.1 login u password p\nmachine 127.0.0.1 login second password s\ndefault login d password e\n", netrc);
  fclose(netrc);
  static const long uses[] = {CURL_NETRC_IGNORED, CURL_NETRC_OPTIONAL, CURL_NETRC_REQUIRED};
  static const char *given[] = {NULL, "second:", "u:wrong", "unknown:x"};
  for(int use = 0; use < 3; use++)
    for(int i = 0; i < 4; i++) {
      CURL *easy = to("SERVER", "/basic/u/p");
      char name[32];
      WITH(easy, NETRC, uses[use]);
      WITH(easy, NETRC_FILE, "logins-netrc");
      if(given[i])
        WITH(easy, USERPWD, given[i]);
      snprintf(name, sizeof name, "netrc %d %d", use, i);
      go(name, easy);
      curl_easy_cleanup(easy);
    }
  CURL *easy = to("SERVER", "/basic/u/p");
  WITH(easy, NETRC, (long)CURL_NETRC_REQUIRED);
  WITH(easy, NETRC_FILE, "no-such-netrc");
  go("no netrc", easy);
  curl_easy_cleanup(easy);
  return 0;
}
