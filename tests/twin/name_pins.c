/* CURLOPT_RESOLVE and CURLOPT_CONNECT_TO: each form of an entry, who else sees it, how it is replaced and taken back, and what is no entry.
 * Whose cache it is: an easy handle's, a multi handle's, a share's.
 * covers: CURLOPT_RESOLVE, CURLOPT_CONNECT_TO, CURLOPT_DNS_CACHE_TIMEOUT, CURLOPT_RESOLVER_START_FUNCTION, CURL_LOCK_DATA_DNS, CURLOPT_IPRESOLVE */
#include "twin.h"

static int starts;

static int on_start(void *resolver, void *reserved, void *user)
{
  (void)resolver, (void)reserved, (void)user;
  starts++;
  return 0;
}

/* An entry, in which P stands for the server's port. */
static const char *entry(const char *text)
{
  static char rooms[8][256];
  static int next;
  char *room = rooms[next = (next + 1) % 8];
  const char *p = strchr(text, 'P');
  if(p)
    snprintf(room, sizeof rooms[0], "%.*s%s%s", (int)(p - text), text, port_of("SERVER"), p + 1);
  else
    snprintf(room, sizeof rooms[0], "%s", text);
  return room;
}

static CURL *named(const char *host)
{
  char url[256];
  CURL *easy = to("SERVER", "/");
  snprintf(url, sizeof url, "http://%s:%s/bytes/2", host, port_of("SERVER"));
  WITH(easy, URL, url);
  WITH(easy, CONNECTTIMEOUT_MS, 4000L);
  WITH(easy, RESOLVER_START_FUNCTION, on_start);
  WITH(easy, FRESH_CONNECT, 1L);
  return easy;
}

/* A key may hold no colon. */
static const char *plain(const char *text)
{
  static char room[256];
  snprintf(room, sizeof room, "%s", text);
  for(char *c = room; *c; c++)
    *c = *c == ':' ? ';' : *c;
  return room;
}

/* 7.88 tells of the transfer before when an entry is refused. */
static void fetches(const char *name, CURL *easy)
{
  starts = 0;
  CURLcode code = curl_easy_perform(easy);
  printf("%s: code %d, started %d, at %s\n", name, code, starts, code ? "" : text(easy, CURLINFO_PRIMARY_IP));
}

static void pinned(CURL *easy, const char *text)
{
  struct curl_slist *list = text ? curl_slist_append(NULL, entry(text)) : NULL;
  char name[256];
  snprintf(name, sizeof name, "<%s>", text ? plain(text) : "");
  curl_easy_setopt(easy, CURLOPT_RESOLVE, list);
  fetches(name, easy);
  curl_easy_setopt(easy, CURLOPT_RESOLVE, NULL);
  curl_slist_free_all(list);
}

/* One handle, one entry after the other: what an earlier one did stays until another undoes it. */
static void one_after_the_other(void)
{
  static const char *const entries[] = {
    "pin.example:P:127.0.0.1", NULL, "PIN.Example:P:127.0.0.1", "pin.example:P:127.0.0.1,127.0.0.1", "+pin.example:P:127.0.0.1", "-pin.example:1", NULL,
    "other.example:P:127.0.0.1", "pin.example:P:[127.0.0.1]", "pin.example:P:127.0.0.1:80", "pin.example:P:127.0.0.1,", "pin.example:P:,127.0.0.1", "pin.example:P:nonsense,127.0.0.1",
    "pin.example:P:127.0.0.1 ", "pin.example:P:", "pin.example:P", "pin.example", "pin.example::127.0.0.1", "pin.example:99999:127.0.0.1", "pin.example:-1:127.0.0.1", "pin.example:Px:127.0.0.1",
    "-", "-pin.example", "-:P", "-pin.example:x", "-pin.example:99999", "- pin.example:80", "pin.example:P:[::1]", "pin.example:P:127.0.0.1",
  };
  CURL *easy = named("pin.example");
  for(size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    pinned(easy, entries[i]);
  curl_easy_cleanup(easy);
}

static void taken_back(void)
{
  CURL *easy = named("localhost");
  WITH(easy, IPRESOLVE, CURL_IPRESOLVE_V4);
  pinned(easy, "localhost:P:127.0.0.2");
  pinned(easy, NULL);
  pinned(easy, "-localhost:P");
  pinned(easy, "*:P:127.0.0.3");
  pinned(easy, "+localhost:P:127.0.0.4");
  pinned(easy, "-LOCALHOST:P");
  pinned(easy, "-*:P");
  pinned(easy, NULL);
  /* Several entries at once, the last of which counts. */
  struct curl_slist *list = curl_slist_append(NULL, entry("localhost:P:127.0.0.5"));
  list = curl_slist_append(list, entry("localhost:P:127.0.0.6"));
  curl_easy_setopt(easy, CURLOPT_RESOLVE, list);
  fetches("two entries", easy);
  fetches("the same list again", easy);
  WITH(easy, DNS_CACHE_TIMEOUT, 0L);
  fetches("nothing is cached", easy);
  curl_easy_setopt(easy, CURLOPT_RESOLVE, NULL);
  fetches("nothing is cached, no list", easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(list);
  /* A bad entry behind good ones. */
  list = curl_slist_append(NULL, entry("localhost:P:127.0.0.7"));
  list = curl_slist_append(list, "bad");
  easy = named("localhost");
  WITH(easy, IPRESOLVE, CURL_IPRESOLVE_V4);
  curl_easy_setopt(easy, CURLOPT_RESOLVE, list);
  fetches("good and bad", easy);
  curl_easy_setopt(easy, CURLOPT_RESOLVE, NULL);
  fetches("and then", easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(list);
}

/* Who else sees an entry. */
static void whose(void)
{
  struct curl_slist *list = curl_slist_append(NULL, entry("ours.example:P:127.0.0.1"));
  CURL *one = named("ours.example"), *two = named("ours.example");
  CURLM *multi = curl_multi_init();
  CURLSH *share = curl_share_init();
  WITH(one, RESOLVE, list);
  fetches("easy, first", one);
  fetches("easy, second", two);
  CURL *copy = curl_easy_duphandle(one);
  fetches("easy, copy", copy);
  curl_easy_cleanup(copy);
  curl_easy_reset(one);
  WITH(one, URL, "http://ours.example:1/");
  printf("after a reset: %d\n", curl_easy_perform(one));
  curl_easy_cleanup(one);
  one = named("ours.example");
  WITH(one, RESOLVE, list);
  curl_multi_add_handle(multi, one);
  run_all(multi);
  printf("multi, first: %d\n", code_of(multi, one));
  curl_multi_add_handle(multi, two);
  run_all(multi);
  printf("multi, second: %d\n", code_of(multi, two));
  curl_multi_remove_handle(multi, one);
  curl_multi_remove_handle(multi, two);
  fetches("out of the multi", two);
  curl_multi_cleanup(multi);
  curl_easy_setopt(one, CURLOPT_RESOLVE, NULL);
  fetches("the multi is gone", one);
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
  WITH(one, SHARE, share);
  WITH(two, SHARE, share);
  WITH(one, RESOLVE, list);
  fetches("share, first", one);
  fetches("share, second", two);
  WITH(one, SHARE, NULL);
  curl_easy_cleanup(one);
  fetches("share, first gone", two);
  WITH(two, SHARE, NULL);
  fetches("out of the share", two);
  curl_easy_cleanup(two);
  printf("share: %d\n", curl_share_cleanup(share));
  curl_slist_free_all(list);
}

static void led(void)
{
  static const char *const ways[] = {
    "far.example:P:localhost:P", "FAR.example:P:localhost:", ":P:localhost:", "far.example::localhost:", "::localhost:", "far.example:P::", "far.example:P:localhost", "far.example:P", "far.example",
    "", ":", "::", ":::", "::::", "far.example:P:localhost:x", "far.example:P:localhost:99999", "far.example:x:localhost:", "near.example:P:localhost:", "far.example:1:localhost:", "[far.example]:P:localhost:",
    "far.example:P:[::ffff:127.0.0.1]:", "far.example:P:[127.0.0.1]:", " far.example:P:localhost:",
  };
  for(size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    struct curl_slist *list = curl_slist_append(NULL, entry(ways[i]));
    char name[128];
    CURL *easy = named("far.example");
    WITH(easy, IPRESOLVE, CURL_IPRESOLVE_V4);
    WITH(easy, CONNECT_TO, list);
    snprintf(name, sizeof name, "way <%s>", plain(ways[i]));
    go(name, easy);
    printf("%s: at %s\n", name, text(easy, CURLINFO_PRIMARY_IP));
    curl_easy_cleanup(easy);
    curl_slist_free_all(list);
  }
  /* The first that fits; kept connections by where they lead. */
  struct curl_slist *list = curl_slist_append(NULL, "none.example:80:127.0.0.9:");
  list = curl_slist_append(list, entry("far.example:P:127.0.0.1:"));
  list = curl_slist_append(list, entry("far.example:P:127.0.0.2:"));
  CURL *easy = named("far.example");
  WITH(easy, FRESH_CONNECT, 0L);
  WITH(easy, CONNECT_TO, list);
  go("first that fits", easy);
  printf("at %s\n", text(easy, CURLINFO_PRIMARY_IP));
  go("again", easy);
  printf("connections %ld\n", number(easy, CURLINFO_NUM_CONNECTS));
  struct curl_slist *other = curl_slist_append(NULL, entry("far.example:P:127.0.0.2:"));
  WITH(easy, CONNECT_TO, other);
  go("another way", easy);
  printf("connections %ld at %s\n", number(easy, CURLINFO_NUM_CONNECTS), text(easy, CURLINFO_PRIMARY_IP));
  WITH(easy, CONNECT_TO, NULL);
  WITH(easy, URL, at("SERVER", "/bytes/4"));
  go("straight", easy);
  printf("connections %ld\n", number(easy, CURLINFO_NUM_CONNECTS));
  curl_easy_cleanup(easy);
  curl_slist_free_all(list), curl_slist_free_all(other);
}

int main(void)
{
  one_after_the_other();
  taken_back();
  whose();
  led();
  return 0;
}
