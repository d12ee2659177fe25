/* The API that needs no transfer: strings, dates, lists, options by name, URLs, printf, versions, handles at rest.
 * Each line printed names a fact that does not hold; nothing printed, and "held N", is success. */
#define CURL_DISABLE_DEPRECATION
#include "facts.h"
#include <curl/curl.h>
#include <curl/mprintf.h>
#include <stdarg.h>
#include <strings.h>

static int held;
static unsigned int version;

#define HOLDS(fact)                                            \
  do {                                                         \
    if (fact) held++;                                          \
    else printf("%s:%d: not so: %s\n", __func__, __LINE__, #fact); \
  } while (0)

static int same(const char *a, const char *b) { return a && b && !strcmp(a, b); }

/* covers: curl_easy_escape, curl_easy_unescape, curl_escape, curl_unescape, curl_free */
static void escaping(void) {
  CURL *easy = curl_easy_init();
  char *out = curl_easy_escape(easy, "a b/\xc3\xa9~-._%", 0);
  HOLDS(same(out, "a%20b%2F%C3%A9~-._%25"));
  curl_free(out);
  out = curl_easy_escape(NULL, "ab\0c", 4);
  HOLDS(same(out, "ab%00c"));
  curl_free(out);
  out = curl_easy_escape(easy, "", 0);
  HOLDS(same(out, ""));
  curl_free(out);
  HOLDS(!curl_easy_escape(easy, "x", -1));
  int length = -1;
  out = curl_easy_unescape(easy, "a%20b%2f%00%zz+", 0, &length);
  HOLDS(out && length == 9 && !memcmp(out, "a b/\0%zz+", 10));
  curl_free(out);
  out = curl_easy_unescape(easy, "%41%42", 3, &length);
  HOLDS(same(out, "A") && length == 1);
  curl_free(out);
  out = curl_escape("ä", 0);
  HOLDS(same(out, "%C3%A4"));
  curl_free(out);
  out = curl_unescape("%7e", 0);
  HOLDS(same(out, "~"));
  curl_free(out);
  curl_free(NULL);
  curl_easy_cleanup(easy);
}

/* covers: curl_slist_append, curl_slist_free_all */
static void lists(void) {
  char word[] = "one";
  struct curl_slist *list = curl_slist_append(NULL, word);
  word[0] = 'X'; /* it was copied */
  struct curl_slist *longer = curl_slist_append(list, "two");
  HOLDS(longer == list && same(list->data, "one") && list->next && same(list->next->data, "two"));
  HOLDS(list->next && !list->next->next);
  curl_slist_free_all(list);
  curl_slist_free_all(NULL);
}

/* covers: curl_getdate */
static void dates(void) {
  HOLDS(curl_getdate("Sun, 06 Nov 1994 08:49:37 GMT", NULL) == 784111777);
  HOLDS(curl_getdate("Sunday, 06-Nov-94 08:49:37 GMT", NULL) == 784111777);
  HOLDS(curl_getdate("Sun Nov  6 08:49:37 1994", NULL) == 784111777);
  HOLDS(curl_getdate("06 Nov 1994 08:49:37 +0200", NULL) == 784104577);
  HOLDS(curl_getdate("20040912 15:05:58 -0700", NULL) == 1095026758);
  HOLDS(curl_getdate("1994.11.06", NULL) == -1);
  HOLDS(curl_getdate("rubbish", NULL) == -1);
  HOLDS(curl_getdate("", NULL) == -1);
}

/* covers: curl_strequal, curl_strnequal, curl_getenv */
static void comparing(void) {
  HOLDS(curl_strequal("HTTP", "http") && !curl_strequal("http", "https"));
  HOLDS(curl_strnequal("HTTPS", "http", 4) && !curl_strnequal("httq", "http", 4));
  HOLDS(curl_strequal(NULL, NULL) && !curl_strequal(NULL, "a"));
  setenv("WARMWIRE_TEST_VALUE", "there", 1);
  char *value = curl_getenv("WARMWIRE_TEST_VALUE");
  HOLDS(same(value, "there"));
  curl_free(value);
  HOLDS(!curl_getenv("WARMWIRE_TEST_NO_SUCH"));
}

/* covers: curl_easy_option_by_name, curl_easy_option_by_id, curl_easy_option_next */
static void options_by_name(void) {
  const struct curl_easyoption *o = curl_easy_option_by_name("url");
  HOLDS(o && same(o->name, "URL") && o->id == CURLOPT_URL && o->type == CURLOT_STRING && !o->flags);
  o = curl_easy_option_by_name("FILE");
  HOLDS(o && o->id == CURLOPT_WRITEDATA && o->flags == CURLOT_FLAG_ALIAS);
  o = curl_easy_option_by_name("ENCODING");
  HOLDS(o && o->id == CURLOPT_ACCEPT_ENCODING && o->flags == CURLOT_FLAG_ALIAS);
  HOLDS(!curl_easy_option_by_name("nonsense"));
  o = curl_easy_option_by_id(CURLOPT_WRITEDATA);
  HOLDS(o && same(o->name, "WRITEDATA") && o->type == CURLOT_CBPTR && !o->flags);
  HOLDS(!curl_easy_option_by_id((CURLoption)9999));
  int count = 0, found = 0, unsorted = 0;
  const struct curl_easyoption *before = NULL;
  for (o = curl_easy_option_next(NULL); o; before = o, o = curl_easy_option_next(o)) {
    count++;
    found += same(o->name, "XOAUTH2_BEARER");
    unsorted += before && strcmp(before->name, o->name) >= 0;
    if (!(o->flags & CURLOT_FLAG_ALIAS)) {
      const struct curl_easyoption *by_id = curl_easy_option_by_id(o->id);
      HOLDS(by_id && same(by_id->name, o->name));
    }
  }
  HOLDS(count > 300 && count < 400 && found == 1);
  (void)unsorted; /* the order is nobody's promise */
}

/* covers: curl_easy_strerror, curl_multi_strerror, curl_share_strerror, curl_url_strerror */
static void texts(void) {
  HOLDS(same(curl_easy_strerror(CURLE_OK), "No error"));
  HOLDS(same(curl_easy_strerror(CURLE_OPERATION_TIMEDOUT), "Timeout was reached"));
  HOLDS(same(curl_easy_strerror(CURLE_PEER_FAILED_VERIFICATION), "SSL peer certificate or SSH remote key was not OK"));
  HOLDS(same(curl_easy_strerror((CURLcode)4711), "Unknown error"));
  HOLDS(same(curl_multi_strerror(CURLM_BAD_HANDLE), "Invalid multi handle"));
  HOLDS(same(curl_multi_strerror((CURLMcode)4711), "Unknown error"));
  HOLDS(same(curl_share_strerror(CURLSHE_IN_USE), "Share currently in use"));
  HOLDS(same(curl_share_strerror((CURLSHcode)4711), "CURLSHcode unknown"));
  HOLDS(same(curl_url_strerror(CURLUE_BAD_HOSTNAME), "Bad hostname"));
  HOLDS(same(curl_url_strerror((CURLUcode)4711), "CURLUcode unknown"));
}

static char *part(CURLU *u, CURLUPart what, unsigned int flags) {
  static char room[512];
  char *value = NULL;
  CURLUcode code = curl_url_get(u, what, &value, flags);
  if (code) snprintf(room, sizeof room, "code %d", code);
  else snprintf(room, sizeof room, "%s", value);
  curl_free(value);
  return room;
}

/* covers: curl_url, curl_url_cleanup, curl_url_set, curl_url_get, curl_url_dup */
static void urls(void) {
  CURLU *u = curl_url();
  HOLDS(curl_url_set(u, CURLUPART_URL, "https://me:secret@EXAMPLE.org:8443/a/./b/../c%20d?q=1&r=%41#frag", 0) == CURLUE_OK);
  HOLDS(same(part(u, CURLUPART_SCHEME, 0), "https"));
  HOLDS(same(part(u, CURLUPART_USER, 0), "me") && same(part(u, CURLUPART_PASSWORD, 0), "secret"));
  HOLDS(same(part(u, CURLUPART_PORT, 0), "8443"));
  HOLDS(same(part(u, CURLUPART_PATH, 0), "/a/c%20d"));
  HOLDS(same(part(u, CURLUPART_PATH, CURLU_URLDECODE), "/a/c d"));
  HOLDS(same(part(u, CURLUPART_QUERY, 0), "q=1&r=%41") && same(part(u, CURLUPART_FRAGMENT, 0), "frag"));
  HOLDS(curl_url_set(u, CURLUPART_QUERY, "s=x y", CURLU_APPENDQUERY | CURLU_URLENCODE) == CURLUE_OK);
  HOLDS(same(part(u, CURLUPART_QUERY, 0), "q=1&r=%41&s=x+y"));
  CURLU *copy = curl_url_dup(u);
  HOLDS(curl_url_set(u, CURLUPART_URL, "../up?n", 0) == CURLUE_OK);
  HOLDS(same(part(u, CURLUPART_PATH, 0), "/up") && same(part(copy, CURLUPART_PATH, 0), "/a/c%20d"));
  HOLDS(curl_url_set(u, CURLUPART_PORT, NULL, 0) == CURLUE_OK);
  HOLDS(same(part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT), "443"));
  HOLDS(curl_url_set(u, CURLUPART_URL, "nosuch://host/", 0) == CURLUE_UNSUPPORTED_SCHEME);
  HOLDS(curl_url_set(u, CURLUPART_URL, "nosuch://host/", CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK);
  HOLDS(curl_url_set(u, CURLUPART_PORT, "65536", 0) == CURLUE_BAD_PORT_NUMBER);
  HOLDS(curl_url_set(NULL, CURLUPART_URL, "http://h/", 0) == CURLUE_BAD_HANDLE);
  curl_url_cleanup(copy);
  curl_url_cleanup(u);
  u = curl_url();
  HOLDS(curl_url_set(u, CURLUPART_URL, "ftp.example.org/x", CURLU_GUESS_SCHEME) == CURLUE_OK);
  HOLDS(same(part(u, CURLUPART_SCHEME, 0), "ftp"));
  HOLDS(curl_url_set(u, CURLUPART_URL, "http://[fe80::1%25eth0]/", 0) == CURLUE_OK);
  HOLDS(same(part(u, CURLUPART_HOST, 0), "[fe80::1]") && same(part(u, CURLUPART_ZONEID, 0), "eth0"));
  curl_url_cleanup(u);
  curl_url_cleanup(NULL);
}

static int formatted(int (*into)(char *, const char *, va_list), char *out, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = into(out, format, args);
  va_end(args);
  return n;
}

static int bounded(char *out, const char *format, va_list args) { return curl_mvsnprintf(out, 8, format, args); }

static int allocated(char *out, const char *format, va_list args) {
  char *made = curl_mvaprintf(format, args);
  strcpy(out, made ? made : "");
  curl_free(made);
  return (int)strlen(out);
}

/* covers: curl_msprintf, curl_msnprintf, curl_maprintf, curl_mvsprintf, curl_mvsnprintf, curl_mvaprintf */
static void printing(void) {
  char room[256];
  HOLDS(curl_msprintf(room, "%d|%5d|%-5d|%05d|%x|%X|%#x", -7, 42, 42, 42, 255, 255, 255) > 0);
  HOLDS(same(room, "-7|   42|42   |00042|ff|FF|0xff"));
  curl_msprintf(room, "%s|%.3s|%10s|%-6s|%c|%%", "word", "truncated", "right", "left", 'c');
  HOLDS(same(room, "word|tru|     right|left  |c|%"));
  curl_msprintf(room, "%ld|%lu|%lld|%zu|%" CURL_FORMAT_CURL_OFF_T, -1L, 1UL, -(1LL << 40), (size_t)9, (curl_off_t)1 << 40);
  HOLDS(same(room, "-1|1|-1099511627776|9|1099511627776"));
  curl_msprintf(room, "%.2f|%8.3f|%e|%g", 3.14159, 2.5, 12345.678, 0.0001);
  HOLDS(same(room, "3.14|   2.500|1.234568e+04|0.0001"));
  curl_msprintf(room, "%2$s %1$s", "one", "two");
  HOLDS(same(room, "two one"));
  curl_msprintf(room, "%*d|%-*d|%.*s", 4, 7, 4, 7, 2, "abc");
  HOLDS(same(room, "   7|7   |ab"));
  HOLDS(curl_msnprintf(room, 5, "%s", "longer") == 4 && same(room, "long"));
  char *made = curl_maprintf("%s-%d", "x", 5);
  HOLDS(same(made, "x-5"));
  curl_free(made);
  HOLDS(formatted(curl_mvsprintf, room, "%d%s", 1, "a") == 2 && same(room, "1a"));
  HOLDS(formatted(bounded, room, "%s", "0123456789") == 7 && same(room, "0123456"));
  HOLDS(formatted(allocated, room, "%s", "0123456789") == 10);
}

static int to_stdout(char *unused, const char *format, va_list args) {
  (void)unused;
  return curl_mvprintf(format, args);
}

static FILE *scratch;

static int to_file(char *unused, const char *format, va_list args) {
  (void)unused;
  return curl_mvfprintf(scratch, format, args);
}

/* covers: curl_mprintf, curl_mfprintf, curl_mvprintf, curl_mvfprintf */
static void printing_to_files(void) {
  char room[64] = "";
  scratch = tmpfile();
  HOLDS(curl_mfprintf(scratch, "%d,", 12) == 3);
  HOLDS(formatted(to_file, NULL, "%s", "abc") == 3);
  rewind(scratch);
  HOLDS(fgets(room, sizeof room, scratch) && same(room, "12,abc"));
  fclose(scratch);
  HOLDS(curl_mprintf("%s", "") == 0);
  HOLDS(formatted(to_stdout, NULL, "%s", "") == 0);
}

/* covers: curl_version, curl_version_info */
static void versions(void) {
  curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
  HOLDS(info && info->age >= CURLVERSION_NOW && info->version_num == version);
  HOLDS(info->version && strstr(curl_version(), info->version));
  HOLDS(!strncmp(curl_version(), "libcurl/", 8));
  int http = 0, sorted = 1;
  for (const char *const *p = info->protocols; *p; p++) {
    http += same(*p, "http") || same(*p, "https") || same(*p, "file");
    if (p[1] && strcmp(p[0], p[1]) >= 0) sorted = 0;
  }
  HOLDS(http == 3 && sorted);
  HOLDS(info->features & CURL_VERSION_SSL && info->features & CURL_VERSION_LARGEFILE && info->features & CURL_VERSION_LIBZ);
  int ssl = 0;
  for (const char *const *p = info->feature_names; p && *p; p++) ssl += same(*p, "SSL");
  HOLDS(ssl == 1);
  HOLDS(info->ssl_version && !strncmp(info->ssl_version, "OpenSSL", 7));
}

/* covers: curl_global_init, curl_global_cleanup, curl_global_sslset */
static void global(void) {
  HOLDS(curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK);
  const curl_ssl_backend **backends = NULL;
  CURLsslset set = curl_global_sslset((curl_sslbackend)-1, "nosuch", &backends);
  HOLDS(set == CURLSSLSET_UNKNOWN_BACKEND || set == CURLSSLSET_TOO_LATE);
  HOLDS(backends && backends[0] && backends[0]->name);
  curl_global_cleanup();
}

/* covers: curl_easy_init, curl_easy_duphandle, curl_easy_reset, curl_easy_cleanup, curl_easy_setopt, curl_easy_getinfo,
 *   CURLOPT_PRIVATE, CURLINFO_PRIVATE, CURLINFO_RESPONSE_CODE, CURLINFO_EFFECTIVE_URL, CURLINFO_TOTAL_TIME,
 *   CURLINFO_SIZE_DOWNLOAD_T */
static void easy_at_rest(void) {
  CURL *easy = curl_easy_init();
  char *mark = "mark", *got = NULL;
  long code = 7;
  double seconds = 7;
  curl_off_t bytes = 7;
  HOLDS(curl_easy_setopt(easy, CURLOPT_PRIVATE, mark) == CURLE_OK);
  HOLDS(curl_easy_getinfo(easy, CURLINFO_PRIVATE, &got) == CURLE_OK && got == mark);
  CURL *copy = curl_easy_duphandle(easy);
  got = NULL;
  HOLDS(copy && curl_easy_getinfo(copy, CURLINFO_PRIVATE, &got) == CURLE_OK && got == mark);
  curl_easy_reset(easy);
  HOLDS(curl_easy_getinfo(easy, CURLINFO_PRIVATE, &got) == CURLE_OK && !got);
  HOLDS(curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code) == CURLE_OK && code == 0);
  HOLDS(curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME, &seconds) == CURLE_OK && seconds == 0);
  HOLDS(curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &bytes) == CURLE_OK && bytes == 0);
  HOLDS(curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &got) == CURLE_OK && same(got, ""));
  HOLDS(curl_easy_setopt(easy, (CURLoption)9998, 1L) == CURLE_UNKNOWN_OPTION);
  HOLDS(curl_easy_getinfo(easy, (CURLINFO)(CURLINFO_LONG + 9998), &code) != CURLE_OK);
  HOLDS(curl_easy_setopt(NULL, CURLOPT_VERBOSE, 1L) == CURLE_BAD_FUNCTION_ARGUMENT);
  curl_easy_cleanup(copy);
  curl_easy_cleanup(easy);
  curl_easy_cleanup(NULL);
}

/* covers: curl_easy_perform, curl_easy_send, curl_easy_recv, curl_easy_upkeep, curl_easy_pause */
static void easy_without_a_connection(void) {
  CURL *easy = curl_easy_init();
  char room[8];
  size_t n = 0;
  HOLDS(curl_easy_perform(easy) == CURLE_URL_MALFORMAT);
  HOLDS(curl_easy_perform(NULL) == CURLE_BAD_FUNCTION_ARGUMENT);
  HOLDS(curl_easy_recv(easy, room, sizeof room, &n) == CURLE_UNSUPPORTED_PROTOCOL);
  HOLDS(curl_easy_send(easy, "x", 1, &n) == CURLE_UNSUPPORTED_PROTOCOL);
  HOLDS(curl_easy_upkeep(easy) == CURLE_OK);
  HOLDS(curl_easy_upkeep(NULL) == CURLE_BAD_FUNCTION_ARGUMENT);
  HOLDS(curl_easy_pause(easy, CURLPAUSE_ALL) == CURLE_BAD_FUNCTION_ARGUMENT);
  curl_easy_setopt(easy, CURLOPT_URL, "nosuch://localhost/");
  HOLDS(curl_easy_perform(easy) == CURLE_UNSUPPORTED_PROTOCOL);
  curl_easy_cleanup(easy);
}

/* covers: curl_easy_header, curl_easy_nextheader */
static void headers_without_a_transfer(void) {
  CURL *easy = curl_easy_init();
  struct curl_header *header = NULL;
  HOLDS(curl_easy_header(easy, "Server", 0, CURLH_HEADER, -1, &header) != CURLHE_OK);
  HOLDS(curl_easy_header(NULL, "Server", 0, CURLH_HEADER, -1, &header) == CURLHE_BAD_ARGUMENT);
  HOLDS(curl_easy_header(easy, "Server", 0, 0, -1, &header) == CURLHE_BAD_ARGUMENT);
  HOLDS(!curl_easy_nextheader(easy, CURLH_HEADER, -1, NULL));
  curl_easy_cleanup(easy);
}

/* covers: curl_multi_init, curl_multi_cleanup, curl_multi_add_handle, curl_multi_remove_handle, curl_multi_perform,
 *   curl_multi_timeout, curl_multi_fdset, curl_multi_info_read, curl_multi_setopt, curl_multi_wakeup, curl_multi_poll,
 *   curl_multi_wait, curl_multi_assign, CURLMOPT_MAXCONNECTS */
static void multi_at_rest(void) {
  CURLM *multi = curl_multi_init();
  CURL *easy = curl_easy_init();
  int running = 7, left = 7, ready = 7, highest = 7;
  long wait_ms = 7;
  fd_set in, out, except;
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_ZERO(&except);
  HOLDS(curl_multi_perform(multi, &running) == CURLM_OK && running == 0);
  HOLDS(curl_multi_timeout(multi, &wait_ms) == CURLM_OK && wait_ms == -1);
  HOLDS(curl_multi_fdset(multi, &in, &out, &except, &highest) == CURLM_OK && highest == -1);
  HOLDS(!curl_multi_info_read(multi, &left) && left == 0);
  HOLDS(curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 3L) == CURLM_OK);
  HOLDS(curl_multi_setopt(multi, (CURLMoption)9998, 3L) == CURLM_UNKNOWN_OPTION);
  HOLDS(curl_multi_assign(multi, 1000, NULL) == CURLM_BAD_SOCKET);
  HOLDS(curl_multi_wakeup(multi) == CURLM_OK);
  double before = now_ms();
  HOLDS(curl_multi_poll(multi, NULL, 0, 5000, &ready) == CURLM_OK && now_ms() - before < 3000);
  HOLDS(curl_multi_wait(multi, NULL, 0, 10, &ready) == CURLM_OK && ready == 0);
  HOLDS(curl_multi_add_handle(multi, easy) == CURLM_OK);
  HOLDS(curl_multi_add_handle(multi, easy) == CURLM_ADDED_ALREADY);
  HOLDS(curl_multi_remove_handle(multi, easy) == CURLM_OK);
  HOLDS(curl_multi_add_handle(multi, NULL) == CURLM_BAD_EASY_HANDLE);
  HOLDS(curl_multi_perform(NULL, &running) == CURLM_BAD_HANDLE);
  HOLDS(curl_multi_cleanup(multi) == CURLM_OK);
  HOLDS(curl_multi_cleanup(NULL) == CURLM_BAD_HANDLE);
  curl_easy_cleanup(easy);
}

/* covers: curl_share_init, curl_share_setopt, curl_share_cleanup, CURLOPT_SHARE */
static void share_at_rest(void) {
  CURLSH *share = curl_share_init();
  HOLDS(curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) == CURLSHE_OK);
  HOLDS(curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT) == CURLSHE_OK);
  HOLDS(curl_share_setopt(share, CURLSHOPT_SHARE, 4711) == CURLSHE_BAD_OPTION);
  HOLDS(curl_share_setopt(share, CURLSHOPT_UNSHARE, CURL_LOCK_DATA_DNS) == CURLSHE_OK);
  CURL *easy = curl_easy_init();
  HOLDS(curl_easy_setopt(easy, CURLOPT_SHARE, share) == CURLE_OK);
  HOLDS(curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) == CURLSHE_IN_USE);
  HOLDS(curl_share_cleanup(share) == CURLSHE_IN_USE);
  HOLDS(curl_easy_setopt(easy, CURLOPT_SHARE, NULL) == CURLE_OK);
  HOLDS(curl_share_cleanup(share) == CURLSHE_OK);
  HOLDS(curl_share_cleanup(NULL) == CURLSHE_INVALID);
  curl_easy_cleanup(easy);
}

static size_t append(void *user, const char *data, size_t length) {
  char *all = user;
  strncat(all, data, length);
  return length;
}

/* covers: curl_formadd, curl_formget, curl_formfree */
static void forms(void) {
  struct curl_httppost *first = NULL, *last = NULL;
  char all[4096] = "";
  HOLDS(curl_formadd(&first, &last, CURLFORM_COPYNAME, "name", CURLFORM_COPYCONTENTS, "value", CURLFORM_END) == CURL_FORMADD_OK);
  HOLDS(curl_formadd(&first, &last, CURLFORM_COPYNAME, "x", CURLFORM_COPYNAME, "y", CURLFORM_END) == CURL_FORMADD_OPTION_TWICE);
  HOLDS(curl_formadd(&first, &last, CURLFORM_COPYNAME, "n", CURLFORM_END) == CURL_FORMADD_INCOMPLETE);
  HOLDS(curl_formget(first, all, append) == 0);
  HOLDS(strstr(all, "Content-Disposition: form-data; name=\"name\"\r\n\r\nvalue\r\n--"));
  curl_formfree(first);
}

int main(void) {
  version = curl_version_info(CURLVERSION_FIRST)->version_num;
  global();
  curl_global_init(CURL_GLOBAL_DEFAULT);
  escaping();
  lists();
  dates();
  comparing();
  options_by_name();
  texts();
  urls();
  printing();
  printing_to_files();
  versions();
  easy_at_rest();
  easy_without_a_connection();
  headers_without_a_transfer();
  multi_at_rest();
  share_at_rest();
  forms();
  curl_global_cleanup();
  printf("held %d\n", held);
  return 0;
}
