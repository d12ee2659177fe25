/* hsts URL: an application that keeps the HSTS cache itself. Prints the calls of its callbacks, and what
 * becomes of http URLs. */
#include "facts.h"

static const struct {
  const char *name, *expires;
  unsigned subdomains;
} entries[] = {
  {"forever.example", "", 0},
  {"all.example", "20991231 10:00:00", 1},
  {"past.example", "20010101 00:00:00", 0},
};

static size_t entries_read;

/* covers: CURLOPT_HSTSREADFUNCTION, CURLOPT_HSTSREADDATA */
static CURLSTScode read_entry(CURL *easy, struct curl_hstsentry *entry, void *user) {
  if (user != &entries_read || !easy) printf("wrong user\n");
  if (entries_read == sizeof entries / sizeof entries[0]) return CURLSTS_DONE;
  if (strlen(entries[entries_read].name) > entry->namelen) return CURLSTS_FAIL;
  strcpy(entry->name, entries[entries_read].name);
  entry->includeSubDomains = entries[entries_read].subdomains & 1;
  strcpy(entry->expire, entries[entries_read].expires);
  entries_read++;
  return CURLSTS_OK;
}

static CURLSTScode refuse(CURL *easy, struct curl_hstsentry *entry, void *user) {
  (void)easy, (void)entry, (void)user;
  return CURLSTS_FAIL;
}

/* covers: CURLOPT_HSTSWRITEFUNCTION, CURLOPT_HSTSWRITEDATA */
static CURLSTScode write_entry(CURL *easy, struct curl_hstsentry *entry, struct curl_index *at, void *user) {
  if (user != entries || !easy) printf("wrong user\n");
  printf("entry %zu/%zu %s (%zu) %u \"%s\"\n", at->index, at->total, entry->name, entry->namelen,
         entry->includeSubDomains, entry->expire);
  return CURLSTS_OK;
}

static CURL *open_handle(const char *url) {
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http");
  return easy;
}

static void perform(CURL *easy, const char *url) {
  curl_easy_setopt(easy, CURLOPT_URL, url);
  printf("code %d\n", curl_easy_perform(easy));
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = open_handle(argv[1]);
  curl_easy_setopt(easy, CURLOPT_HSTS_CTRL, CURLHSTS_ENABLE);
  curl_easy_setopt(easy, CURLOPT_HSTSREADFUNCTION, read_entry);
  curl_easy_setopt(easy, CURLOPT_HSTSREADDATA, &entries_read);
  curl_easy_setopt(easy, CURLOPT_HSTSWRITEFUNCTION, write_entry);
  curl_easy_setopt(easy, CURLOPT_HSTSWRITEDATA, entries);
  perform(easy, argv[1]);
  printf("entries %zu\n", entries_read);
  perform(easy, "http://sub.all.example:1/");
  perform(easy, "http://forever.example:1/");
  curl_easy_setopt(easy, CURLOPT_HSTSREADFUNCTION, refuse);
  perform(easy, argv[1]);
  curl_easy_cleanup(easy);
  CURLSH *share = curl_share_init();
  printf("share %d %d\n", curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_HSTS),
         curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_PSL));
  easy = open_handle(argv[1]);
  CURL *other = open_handle(argv[1]);
  curl_easy_setopt(easy, CURLOPT_SHARE, share);
  curl_easy_setopt(other, CURLOPT_SHARE, share);
  curl_easy_setopt(easy, CURLOPT_HSTSREADFUNCTION, read_entry);
  curl_easy_setopt(easy, CURLOPT_HSTSREADDATA, &entries_read);
  entries_read = 0;
  perform(easy, argv[1]);
  perform(other, "http://forever.example:1/");
  curl_easy_cleanup(easy);
  curl_easy_cleanup(other);
  printf("closed %d\n", curl_share_cleanup(share));
  curl_global_cleanup();
  return 0;
}
