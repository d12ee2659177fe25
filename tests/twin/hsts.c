/* HTTP Strict Transport Security and Alt-Svc: which switches hold, files of both kinds, the callbacks and each of their answers.
 * covers: CURLOPT_HSTS, CURLOPT_HSTS_CTRL, CURLOPT_HSTSREADFUNCTION, CURLOPT_HSTSREADDATA, CURLOPT_HSTSWRITEFUNCTION, CURLOPT_HSTSWRITEDATA,
 * covers: CURLOPT_ALTSVC, CURLOPT_ALTSVC_CTRL, CURLOPT_CONNECT_TO, CURLINFO_EFFECTIVE_URL, CURLINFO_SCHEME */
#include "peer.h"

static const char *names_[8];
static int next_name, expire_kind, answer_last, writes, write_answer;

static CURLSTScode read_one(CURL *easy, struct curl_hstsentry *entry, void *user)
{
  (void)easy;
  if(!names_[next_name])
    return answer_last;
  printf("%s asks: %d\n", (char *)user, next_name);
  snprintf(entry->name, entry->namelen + 1, "%s", names_[next_name]);
  entry->includeSubDomains = next_name & 1;
  strcpy(entry->expire, expire_kind == 0 ? "20990101 00:00:00" : expire_kind == 1 ? "20000101 00:00:00" : expire_kind == 2 ? "" : "garbage");
  next_name++;
  return CURLSTS_OK;
}

static CURLSTScode write_one(CURL *easy, struct curl_hstsentry *entry, struct curl_index *index, void *user)
{
  (void)easy;
  printf("%s gives %zu/%zu: %s sub %d until %s\n", (char *)user, index->index, index->total, entry->name, entry->includeSubDomains, strncmp(entry->expire, "2099", 4) ? "later" : entry->expire);
  writes++;
  return write_answer;
}

/* Nobody listens: what counts is the URL that it comes to. */
static CURL *nowhere(const char *url)
{
  static struct curl_slist *lead;
  if(!lead)
    lead = curl_slist_append(NULL, "::127.0.0.1:1");
  CURL *easy = curl_easy_init();
  WITH(easy, CONNECT_TO, lead), WITH(easy, URL, url), WITH(easy, WRITEFUNCTION, take), WITH(easy, TIMEOUT, 5L);
  return easy;
}

static void comes_to(const char *name, CURL *easy)
{
  int code = curl_easy_perform(easy);
  printf("%s: %d %s\n", name, code, text(easy, CURLINFO_EFFECTIVE_URL));
}

static void show(const char *name, const char *file)
{
  char line[300];
  FILE *in = fopen(file, "r");
  for(int i = 0; in && fgets(line, sizeof line, in); i++)
    if(*line != '#')
      printf("%s %d: %.*s\n", name, i, (int)strcspn(line, "\n"), strstr(line, "2099") || strstr(line, "unlimited") ? line : strndupa(line, strcspn(line, "\"")));
  if(in)
    fclose(in);
  else
    printf("%s: no file\n", name);
}

static void switches(void)
{
  static const long values[] = {0, CURLHSTS_ENABLE, CURLHSTS_READONLYFILE, CURLHSTS_ENABLE | CURLHSTS_READONLYFILE, 4, -1};
  char name[64];
  for(int v = 0; v < 6; v++)
    for(int file = 0; file < 3; file++) {
      CURL *easy = nowhere("http://host.example/");
      write_file("hsts-file", "host.example \"20990101 00:00:00\"\n");
      snprintf(name, sizeof name, "switch %d file %d", v, file);
      printf("%s set: %d\n", name, curl_easy_setopt(easy, CURLOPT_HSTS_CTRL, values[v]));
      if(file)
        printf("%s set: %d\n", name, curl_easy_setopt(easy, CURLOPT_HSTS, file == 1 ? "hsts-file" : "no-such-hsts"));
      comes_to(name, easy);
      WITH(easy, HSTS, NULL);
      comes_to(name, easy);
      curl_easy_cleanup(easy);
      show(name, "hsts-file");
      printf("%s new: %d\n", name, access("no-such-hsts", F_OK));
      unlink("no-such-hsts");
    }
}

static void files(void)
{
  static const char *lines[] = {"host.example \"20990101 00:00:00\"", ".host.example \"20990101 00:00:00\"", "host.example \"20000101 00:00:00\"", "host.example \"unlimited\"", "host.example 20990101 00:00:00", "host.example", "HOST.EXAMPLE \"20990101 00:00:00\"", "host.example. \"20990101 00:00:00\"",
                                "# host.example \"20990101 00:00:00\"", " host.example \"20990101 00:00:00\"", "host.example\t\"20990101 00:00:00\"", "host.example \"garbage\"", "host.example \"20990101 00:00:00\" more", "example \"20990101 00:00:00\"", ".example \"20990101 00:00:00\"", "127.0.0.1 \"20990101 00:00:00\"",
                                "host.example \"20990101 00:00:00\"\nhost.example \"20000101 00:00:00\"", "host.example \"20000101 00:00:00\"\n.host.example \"20990101 00:00:00\"", ""};
  static const char *urls[] = {"http://host.example/", "http://sub.host.example/a?b", "http://HOST.example:80/", "http://host.example:8080/", "http://host.example./", "http://u:p@host.example/", "http://127.0.0.1/", "host.example/x"};
  char name[64];
  for(size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
    write_file("hsts-file", lines[l]);
    for(size_t u = 0; u < (l < 3 ? 8 : 2); u++) {
      CURL *easy = nowhere(urls[u]);
      WITH(easy, HSTS_CTRL, CURLHSTS_ENABLE | CURLHSTS_READONLYFILE);
      WITH(easy, HSTS, "hsts-file");
      snprintf(name, sizeof name, "line %zu url %zu", l, u);
      comes_to(name, easy);
      curl_easy_cleanup(easy);
    }
    CURL *easy = nowhere("http://none.example/");
    WITH(easy, HSTS_CTRL, CURLHSTS_ENABLE), WITH(easy, HSTS, "hsts-file");
    snprintf(name, sizeof name, "line %zu", l);
    comes_to(name, easy);
    curl_easy_cleanup(easy);
    snprintf(name, sizeof name, "line %zu written", l);
    show(name, "hsts-file");
  }
  /* Two files, and none. */
  write_file("hsts-file", "host.example \"20990101 00:00:00\"\n"), write_file("hsts-other", "other.example \"20990101 00:00:00\"\n");
  CURL *easy = nowhere("http://host.example/");
  WITH(easy, HSTS_CTRL, CURLHSTS_ENABLE | CURLHSTS_READONLYFILE), WITH(easy, HSTS, "hsts-file"), WITH(easy, HSTS, "hsts-other");
  comes_to("two files, first", easy);
  WITH(easy, URL, "http://other.example/");
  comes_to("two files, second", easy);
  CURL *copy = curl_easy_duphandle(easy);
  comes_to("copy, second", copy);
  WITH(copy, URL, "http://host.example/");
  comes_to("copy, first", copy);
  curl_easy_reset(easy);
  WITH(easy, URL, "http://host.example/"), WITH(easy, CONNECTTIMEOUT_MS, 1L), WITH(easy, PROXY, "http://127.0.0.1:1");
  comes_to("reset", easy);
  curl_easy_cleanup(easy), curl_easy_cleanup(copy);
  unlink("hsts-file"), unlink("hsts-other");
}

static void callbacks(void)
{
  char name[64];
  for(int kind = 0; kind < 4; kind++)
    for(int last = 0; last < 3; last++) {
      CURL *easy = nowhere("http://one.example/");
      names_[0] = "one.example", names_[1] = "two.example", names_[2] = NULL;
      next_name = 0, expire_kind = kind, answer_last = last == 0 ? CURLSTS_DONE : last == 1 ? CURLSTS_FAIL : 77;
      write_answer = last == 0 ? CURLSTS_OK : last == 1 ? CURLSTS_DONE : CURLSTS_FAIL, writes = 0;
      snprintf(name, sizeof name, "callback %d %d", kind, last);
      WITH(easy, HSTS_CTRL, CURLHSTS_ENABLE);
      WITH(easy, HSTSREADFUNCTION, read_one), WITH(easy, HSTSREADDATA, name), WITH(easy, HSTSWRITEFUNCTION, write_one), WITH(easy, HSTSWRITEDATA, name);
      comes_to(name, easy);
      WITH(easy, URL, "http://sub.two.example/");
      comes_to(name, easy);
      curl_easy_cleanup(easy);
      printf("%s writes: %d\n", name, writes);
    }
  /* Names that are none. */
  static const char *odd[] = {"", ".", "a b", "one.example.", "ONE.example", "127.0.0.1", ".one.example"};
  for(size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    CURL *easy = nowhere("http://one.example/");
    names_[0] = odd[i], names_[1] = NULL;
    next_name = 0, expire_kind = 0, answer_last = CURLSTS_DONE, write_answer = CURLSTS_OK;
    snprintf(name, sizeof name, "odd %zu", i);
    WITH(easy, HSTS_CTRL, CURLHSTS_ENABLE);
    WITH(easy, HSTSREADFUNCTION, read_one), WITH(easy, HSTSREADDATA, name), WITH(easy, HSTSWRITEFUNCTION, write_one), WITH(easy, HSTSWRITEDATA, name);
    comes_to(name, easy);
    curl_easy_cleanup(easy);
  }
}

/* A reply over TLS counts, one in clear does not. */
static void replies(void)
{
  struct peer *peer = peer_new();
  peer->says[0] = "HTTP/1.1 200 OK\r\nStrict-Transport-Security: max-age=1000\r\nAlt-Svc: h2=\"127.0.0.1:1\"; ma=1000\r\nContent-Length: 0\r\n\r\n";
  peer->says[1] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  CURL *easy = to_peer(peer_start(peer), "/");
  char to[64];
  snprintf(to, sizeof to, "::127.0.0.1:%d", peer->port);
  struct curl_slist *lead = curl_slist_append(NULL, to);
  WITH(easy, CONNECT_TO, lead), WITH(easy, URL, "http://clear.example/");
  WITH(easy, HSTS_CTRL, CURLHSTS_ENABLE), WITH(easy, HSTS, "hsts-new");
  WITH(easy, ALTSVC_CTRL, CURLALTSVC_H1 | CURLALTSVC_H2), WITH(easy, ALTSVC, "altsvc-new");
  go("in clear", easy);
  go("in clear again", easy);
  curl_easy_cleanup(easy), curl_slist_free_all(lead);
  peer_end(peer);
  show("in clear hsts", "hsts-new"), show("in clear altsvc", "altsvc-new");
  unlink("hsts-new"), unlink("altsvc-new");
}

static void alternatives(void)
{
  static const long values[] = {0, CURLALTSVC_READONLYFILE, CURLALTSVC_H1, CURLALTSVC_H1 | CURLALTSVC_READONLYFILE, CURLALTSVC_H2, 1L << 20, -1};
  char name[64], line[256];
  for(int v = 0; v < 7; v++)
    for(int secure = 0; secure < 2; secure++) {
      struct peer *peer = peer_new();
      CURL *easy = curl_easy_init();
      peer->raw = 1, peer->says[0] = OK_CLOSE; /* no TLS, and at once */
      peer_start(peer);
      snprintf(line, sizeof line, "h1 127.0.0.2 1 h1 127.0.0.1 %d \"20990101 00:00:00\" 0 0\n", peer->port);
      write_file("altsvc-file", line);
      snprintf(name, sizeof name, "alternative %d %d", v, secure);
      WITH(easy, URL, secure ? "https://127.0.0.2:1/" : "http://127.0.0.2:1/"), WITH(easy, WRITEFUNCTION, take), WITH(easy, TIMEOUT, 5L);
      printf("%s set: %d %d\n", name, curl_easy_setopt(easy, CURLOPT_ALTSVC_CTRL, values[v]), curl_easy_setopt(easy, CURLOPT_ALTSVC, "altsvc-file"));
      int code = curl_easy_perform(easy);
      printf("%s: reached %d, peer %d\n", name, code != CURLE_COULDNT_CONNECT, peer->connections > 0);
      curl_easy_cleanup(easy);
      peer_end(peer);
    }
  printf("NULL: ");
  CURL *easy = curl_easy_init();
  printf("%d %d %d\n", curl_easy_setopt(easy, CURLOPT_ALTSVC, NULL), curl_easy_setopt(easy, CURLOPT_ALTSVC, ""), curl_easy_setopt(easy, CURLOPT_HSTS, ""));
  curl_easy_cleanup(easy);
  unlink("altsvc-file");
}

int main(void)
{
  switches();
  files();
  callbacks();
  replies();
  alternatives();
  return 0;
}
