/* Texts of 100 MB, and of eight million bytes and one, wherever a text goes in: refused where curl has a limit (CURL_MAX_INPUT_LENGTH), taken
 * where it has none, and in no case kept several times over.
 * covers: curl_url_set, curl_url_get, curl_easy_escape, curl_easy_unescape, curl_slist_append, curl_mime_name, curl_mime_data, curl_mime_filename, curl_mime_type, curl_mime_encoder, curl_mime_filedata,
 * covers: curl_formadd, CURLOPT_COOKIELIST, CURLOPT_COOKIE, CURLOPT_HTTPHEADER, CURLOPT_POSTFIELDS, CURLOPT_COPYPOSTFIELDS, CURLOPT_USERPWD, CURLOPT_URL, CURLOPT_RESOLVE, curl_getdate, curl_maprintf */
#define CURL_DISABLE_DEPRECATION
#include "check.h"
#include <sys/resource.h>

enum { LIMIT = 8000000, LARGE = 32 << 20, HUGE = 100 << 20 };

static char *huge; /* its length is changed by a zero */

static char *of(size_t length)
{
  static size_t zero;
  huge[zero] = 'a';
  huge[zero = length] = 0;
  return huge;
}

/* Peak memory in MB. */
static long peak(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

static size_t discard(char *data, size_t size, size_t count, void *user)
{
  (void)data;
  if(user)
    *(size_t *)user += size * count;
  return size * count;
}

static CURL *to(const char *path)
{
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server(path));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
  return easy;
}

/* Every option that takes a text has the same limit. */
static void options(void)
{
  CURL *easy = to("/body");
  int count = 0;
  for(const struct curl_easyoption *option = curl_easy_option_next(NULL); option; option = curl_easy_option_next(option)) {
    if(option->type != CURLOT_STRING || option->id == CURLOPT_COPYPOSTFIELDS)
      continue;
    CURLcode small = curl_easy_setopt(easy, option->id, "x"), large = curl_easy_setopt(easy, option->id, of(LIMIT + 1));
    if(small == CURLE_OK && large == CURLE_OK) {
      failures++;
      printf("%s takes %d bytes\n", option->name, LIMIT + 1);
    }
    if(small == CURLE_OK && large != CURLE_BAD_FUNCTION_ARGUMENT && large != CURLE_UNSUPPORTED_PROTOCOL && large != CURLE_TOO_LARGE) {
      failures++;
      printf("%s answers %d\n", option->name, large);
    }
    curl_easy_setopt(easy, option->id, NULL);
    count++;
  }
  CHECK(count > 80);
  curl_easy_reset(easy);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
  curl_easy_setopt(easy, CURLOPT_URL, server("/echo"));
  SAME(curl_easy_setopt(easy, CURLOPT_USERAGENT, "short"), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_USERAGENT, of(LIMIT + 1)), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_perform(easy), CURLE_OK);
  /* As much as may be is taken, and refused where it would be sent: a request has room for a megabyte. */
  SAME(curl_easy_setopt(easy, CURLOPT_USERAGENT, of(LIMIT)), CURLE_OK);
  CURLcode code = curl_easy_perform(easy);
  CHECK(code == CURLE_TOO_LARGE || code == CURLE_OUT_OF_MEMORY);
  curl_easy_cleanup(easy);
}

static void urls(void)
{
  static const CURLUPart parts[] = {CURLUPART_URL, CURLUPART_SCHEME, CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_HOST, CURLUPART_PORT, CURLUPART_PATH, CURLUPART_QUERY, CURLUPART_FRAGMENT, CURLUPART_ZONEID};
  static const unsigned flags[] = {0, CURLU_URLENCODE, CURLU_APPENDQUERY, CURLU_URLENCODE | CURLU_APPENDQUERY, CURLU_GUESS_SCHEME, CURLU_NON_SUPPORT_SCHEME};
  CURLU *url = curl_url();
  char *text = NULL;
  SAME(curl_url_set(url, CURLUPART_URL, "http://u:p@host/path?query#fragment", 0), CURLUE_OK);
  for(size_t part = 0; part < sizeof parts / sizeof *parts; part++)
    for(size_t flag = 0; flag < sizeof flags / sizeof *flags; flag++)
      CHECK(curl_url_set(url, parts[part], of(HUGE), flags[flag]) != CURLUE_OK);
  SAME(curl_url_set(url, CURLUPART_PATH, of(LIMIT + 1), 0), CURLUE_MALFORMED_INPUT);
  SAME(curl_url_get(url, CURLUPART_URL, &text, 0), CURLUE_OK);
  SAME_TEXT(text, "http://u:p@host/path?query#fragment");
  curl_free(text);
  /* Query upon query grows no further than the limit. */
  int appended = 0;
  while(appended < 100 && curl_url_set(url, CURLUPART_QUERY, of(1000000), CURLU_APPENDQUERY) == CURLUE_OK)
    appended++;
  SAME(curl_url_get(url, CURLUPART_URL, &text, 0), CURLUE_OK);
  CHECK(appended >= 7 && text && strlen(text) < 110000000);
  curl_free(text);
  curl_url_cleanup(url);
}

static void lists(void)
{
  CURL *easy = to("/bytes/10");
  struct curl_slist *list = curl_slist_append(NULL, of(HUGE));
  CHECK(list && strlen(list->data) == HUGE);
  SAME(curl_easy_setopt(easy, CURLOPT_RESOLVE, list), CURLE_OK);
  CHECK(curl_easy_perform(easy) != CURLE_OK); /* no entry */
  SAME(curl_easy_setopt(easy, CURLOPT_RESOLVE, NULL), CURLE_OK);
  list->data[2] = ':', list->data[3] = ' ';
  SAME(curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list), CURLE_OK);
  CURLcode code = curl_easy_perform(easy);
  CHECK(code == CURLE_TOO_LARGE || code == CURLE_OUT_OF_MEMORY);
  SAME(curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_CONNECT_TO, list), CURLE_OK);
  SAME(curl_easy_perform(easy), CURLE_OK); /* fits no host */
  SAME(curl_easy_setopt(easy, CURLOPT_CONNECT_TO, NULL), CURLE_OK);
  curl_slist_free_all(list);
  /* A cookie is a line of at most some kilobytes; what is longer is passed over. */
  struct curl_slist *cookies = NULL;
  CHECK(curl_easy_setopt(easy, CURLOPT_COOKIELIST, of(HUGE)) != CURLE_OK);
  memcpy(of(5000), "Set-Cookie: a=", 14);
  curl_easy_setopt(easy, CURLOPT_COOKIELIST, huge);
  SAME(curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &cookies), CURLE_OK);
  CHECK(!cookies);
  memset(huge, 'a', 14);
  curl_easy_cleanup(easy);
}

static void forms(void)
{
  CURL *easy = to("/status/200");
  curl_mime *mime = curl_mime_init(easy);
  curl_mimepart *part = curl_mime_addpart(mime);
  CURLcode codes[] = {curl_mime_name(part, of(LIMIT + 1)), curl_mime_filename(part, huge), curl_mime_type(part, huge)};
  for(int i = 0; i < 3; i++)
    CHECK(codes[i] == CURLE_OK || codes[i] == CURLE_BAD_FUNCTION_ARGUMENT || codes[i] == CURLE_OUT_OF_MEMORY);
  SAME(curl_mime_encoder(part, huge), CURLE_BAD_FUNCTION_ARGUMENT);
  CHECK(curl_mime_filedata(part, huge) != CURLE_OK);
  curl_mime_free(mime);
  /* Data has no limit. */
  mime = curl_mime_init(easy);
  part = curl_mime_addpart(mime);
  SAME(curl_mime_data(part, of(LARGE), CURL_ZERO_TERMINATED), CURLE_OK);
  curl_mime_name(part, "data");
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, mime);
  SAME(curl_easy_perform(easy), CURLE_OK);
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, NULL);
  curl_mime_free(mime);
  struct curl_httppost *first = NULL, *last = NULL;
  SAME(curl_formadd(&first, &last, CURLFORM_COPYNAME, "name", CURLFORM_PTRCONTENTS, of(LARGE), CURLFORM_END), CURL_FORMADD_OK);
  curl_easy_setopt(easy, CURLOPT_HTTPPOST, first);
  SAME(curl_easy_perform(easy), CURLE_OK);
  curl_easy_setopt(easy, CURLOPT_HTTPPOST, NULL);
  curl_formfree(first);
  curl_easy_cleanup(easy);
}

static void bodies(void)
{
  CURL *easy = to("/status/200");
  curl_off_t sent = 0;
  SAME(curl_easy_setopt(easy, CURLOPT_POSTFIELDS, of(LARGE)), CURLE_OK);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &sent), CURLE_OK);
  SAME(sent, LARGE);
  SAME(curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL), CURLE_OK);
  /* Without a size the text has the limit of texts; with one it is bytes, as many as are said. */
  SAME(curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, huge), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)LARGE);
  SAME(curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, huge), CURLE_OK);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &sent), CURLE_OK);
  SAME(sent, LARGE);
  curl_easy_cleanup(easy);
}

static void helpers(void)
{
  int length = 0;
  CHECK(!curl_easy_escape(NULL, of(LARGE), 0)); /* would be longer than may be */
  char *text = curl_easy_escape(NULL, of(LIMIT), 0);
  CHECK(text && strlen(text) == LIMIT);
  curl_free(text);
  text = curl_easy_unescape(NULL, of(LARGE), 0, &length);
  CHECK(!text || length == LARGE);
  curl_free(text);
  SAME(curl_getdate(of(LARGE), NULL), -1);
  CHECK(!curl_maprintf("%s", of(LARGE)));
  text = curl_maprintf("%s", of(LIMIT - 1));
  CHECK(text && strlen(text) == LIMIT - 1);
  curl_free(text);
  SAME(curl_strequal(of(LARGE), "a"), 0);
  CHECK(!curl_getenv(of(LARGE)));
  CHECK(!curl_easy_option_by_name(of(LARGE)));
  SAME(curl_global_trace(of(LARGE)), CURLE_OK);
  SAME(curl_easy_header(NULL, of(LARGE), 0, CURLH_HEADER, -1, NULL), CURLHE_BAD_ARGUMENT);
}

int main(void)
{
  huge = malloc(HUGE + 1);
  memset(huge, 'a', HUGE);
  curl_global_init(CURL_GLOBAL_ALL);
  of(HUGE);
  long before = peak();
  options();
  urls();
  printf("options and URLs: %ld MB more\n", peak() - before);
  CHECK(peak() - before < 200 || getenv("ASAN_OPTIONS"));
  lists();
  bodies();
  helpers();
  forms();
  printf("all: %ld MB more\n", peak() - before);
  CHECK(peak() - before < 600 || getenv("ASAN_OPTIONS"));
  free(huge);
  curl_global_cleanup();
  return FAILURES;
}
