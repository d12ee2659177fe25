/* Redirects: each status with each method, POSTREDIR, MAXREDIRS, referers, protocols, credentials and cookies on the way.
 * covers: CURLOPT_FOLLOWLOCATION, CURLOPT_POSTREDIR, CURLOPT_MAXREDIRS, CURLOPT_AUTOREFERER, CURLOPT_UNRESTRICTED_AUTH, CURLOPT_REDIR_PROTOCOLS_STR,
 * covers: CURLINFO_REDIRECT_COUNT, CURLINFO_REDIRECT_URL, CURLINFO_EFFECTIVE_METHOD */
#include "peer.h"

static size_t give(char *to, size_t size, size_t count, void *user) { int *left = user; (void)size, (void)count; if(!*left) return 0; --*left; memcpy(to, "up", 2); return 2; }
static int back(void *user, curl_off_t offset, int origin) { (void)offset, (void)origin; *(int *)user = 1; return CURL_SEEKFUNC_OK; }

static void run(const char *name, int status, const char *method, long postredir)
{
  struct peer *peer = peer_new();
  char reply[200];
  int left = 1;
  snprintf(reply, sizeof reply, "HTTP/1.1 %d Moved\r\nLocation: /next?x#y\r\nContent-Length: 3\r\n\r\nold", status);
  peer->says[0] = reply;
  peer->says[1] = OK_BODY;
  peer_start(peer);
  CURL *easy = to_peer(peer, "/first?q");
  struct curl_slist *none = curl_slist_append(NULL, "Expect:");
  WITH(easy, FOLLOWLOCATION, 1L);
  WITH(easy, POSTREDIR, postredir);
  WITH(easy, HTTPHEADER, none);
  WITH(easy, AUTOREFERER, 1L);
  if(!strcmp(method, "POST"))
    WITH(easy, POSTFIELDS, "body");
  else if(!strcmp(method, "PUT")) {
    WITH(easy, UPLOAD, 1L);
    WITH(easy, READFUNCTION, give);
    WITH(easy, READDATA, &left);
    WITH(easy, INFILESIZE, 2L);
    WITH(easy, SEEKFUNCTION, back);
    WITH(easy, SEEKDATA, &left);
  }
  else if(!strcmp(method, "HEAD"))
    WITH(easy, NOBODY, 1L);
  else if(strcmp(method, "GET"))
    WITH(easy, CUSTOMREQUEST, method);
  go(name, easy);
  const char *url = text(easy, CURLINFO_EFFECTIVE_URL);
  printf("%s: count %ld method %s path %s\n", name, number(easy, CURLINFO_REDIRECT_COUNT), text(easy, CURLINFO_EFFECTIVE_METHOD), strchr(url + 8, '/'));
  curl_easy_cleanup(easy);
  curl_slist_free_all(none);
  peer_show(peer, name);
  peer_end(peer);
}

int main(void)
{
  static const int statuses[] = {300, 301, 302, 303, 304, 305, 306, 307, 308};
  static const char *methods[] = {"GET", "POST", "PUT", "HEAD", "DELETE"};
  char name[64];
  for(size_t s = 0; s < sizeof statuses / sizeof *statuses; s++)
    for(size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
      snprintf(name, sizeof name, "%d %s", statuses[s], methods[m]);
      if(!strcmp(methods[m], "HEAD") || statuses[s] == 304)
        continue;
      run(name, statuses[s], methods[m], 0);
      if(m == 1) {
        snprintf(name, sizeof name, "%d kept", statuses[s]);
        run(name, statuses[s], methods[m], CURL_REDIR_POST_ALL);
      }
    }
  static const long most[] = {0, 1, 3, -1};
  for(int i = 0; i < 4; i++) {
    CURL *easy = to("SERVER", "/redirect/3");
    WITH(easy, FOLLOWLOCATION, 1L);
    WITH(easy, MAXREDIRS, most[i]);
    snprintf(name, sizeof name, "at most %ld", most[i]);
    go(name, easy);
    printf("%s: %ld\n", name, number(easy, CURLINFO_REDIRECT_COUNT));
    curl_easy_cleanup(easy);
  }
  /* What counts as a redirect: an answered challenge does not, and one between two redirects takes nothing of their number. */
  static const char *challenges[] = {"Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\"", "NTLM"};
  for(int c = 0; c < 3; c++)
    for(long limit = 0; limit < 4; limit++) {
      struct peer *peer = peer_new();
      char login[200];
      int round = 0;
      snprintf(login, sizeof login, "HTTP/1.1 401 Who\r\nWWW-Authenticate: %s\r\nContent-Length: 3\r\n\r\nwho", challenges[c]);
      peer->says[round++] = login;
      if(c == 2)
        peer->says[round++] = "HTTP/1.1 401 Who\r\nWWW-Authenticate: NTLM TlRMTVNTUAACAAAAAAAAADgAAACGggEAASNFZ4mrze8AAAAAAAAAAAAAAAAwAAAA\r\nContent-Length: 3\r\n\r\nwho";
      peer->says[round++] = "HTTP/1.1 302 F\r\nLocation: /second\r\nContent-Length: 0\r\n\r\n";
      peer->says[round++] = login;
      peer->says[round++] = "HTTP/1.1 302 F\r\nLocation: /third\r\nContent-Length: 0\r\n\r\n";
      peer->says[round] = OK_CLOSE;
      peer_start(peer);
      CURL *easy = to_peer(peer, "/first");
      WITH(easy, FOLLOWLOCATION, 1L);
      WITH(easy, HTTPAUTH, CURLAUTH_ANY);
      WITH(easy, USERPWD, "me:pw");
      WITH(easy, MAXREDIRS, limit);
      snprintf(name, sizeof name, "login %d, at most %ld", c, limit);
      go(name, easy);
      const char *next = text(easy, CURLINFO_REDIRECT_URL);
      printf("%s: count %ld status %ld next %s rounds %d connections %ld\n", name, number(easy, CURLINFO_REDIRECT_COUNT),
             number(easy, CURLINFO_RESPONSE_CODE), next && strchr(next, '/') ? strchr(next + 8, '/') : "none", peer->rounds, number(easy, CURLINFO_NUM_CONNECTS));
      curl_easy_cleanup(easy);
      peer_end(peer);
    }
  static const char *places[] = {"//127.0.0.1:1/x", "?only", "#only", "../up", "a b", "http://127.0.0.1:1", "HTTP://127.0.0.1:1/", "ftp://127.0.0.1:1/", "gopher://x/", "javascript:x", "", " /space ", "/\xc3\xa4", "/%zz", "///x", "http:/x", "\\x"};
  for(size_t i = 0; i < sizeof places / sizeof *places; i++) {
    char reply[200];
    snprintf(reply, sizeof reply, "HTTP/1.1 302 F\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", places[i]);
    struct peer *peer = peer_saying(reply, OK_CLOSE);
    CURL *easy = to_peer(peer, "/dir/file?q");
    WITH(easy, FOLLOWLOCATION, 1L);
    WITH(easy, USERPWD, "me:pw");
    WITH(easy, COOKIE, "k=v");
    snprintf(name, sizeof name, "place %zu", i);
    go(name, easy);
    peer_show(peer, name);
    curl_easy_cleanup(easy);
    peer_end(peer);
  }
  /* To another origin: what goes along. */
  for(int unrestricted = 0; unrestricted < 2; unrestricted++) {
    struct peer *second = peer_saying(OK_CLOSE, NULL);
    char reply[200];
    snprintf(reply, sizeof reply, "!HTTP/1.1 302 F\r\nLocation: %selse\r\nContent-Length: 0\r\n\r\n", second->url);
    struct peer *peer = peer_saying(reply, NULL);
    CURL *easy = to_peer(peer, "/");
    struct curl_slist *own = curl_slist_append(curl_slist_append(NULL, "X-Own: 1"), "Cookie: by=line");
    WITH(easy, FOLLOWLOCATION, 1L);
    WITH(easy, UNRESTRICTED_AUTH, (long)unrestricted);
    WITH(easy, USERPWD, "me:pw");
    WITH(easy, COOKIE, "k=v");
    WITH(easy, HTTPHEADER, own);
    go("another origin", easy);
    peer_show(second, unrestricted ? "unrestricted" : "restricted");
    curl_easy_cleanup(easy);
    curl_slist_free_all(own);
    peer_end(peer), peer_end(second);
  }
  return 0;
}
