/* Each allocation of what C is handed fails, alone and with all after it: the answer says so or is whole, nothing is left behind, and with
 * memory again all is as it was.
 * covers: curl_global_init_mem, curl_slist_append, curl_slist_free_all, curl_easy_escape, curl_easy_unescape, curl_maprintf, curl_url_get,
 * covers: curl_getenv, curl_multi_get_handles, curl_formadd, curl_formfree, CURLINFO_COOKIELIST */
#define CURL_DISABLE_DEPRECATION
#include "blocks.h"

static CURL *easy;
static CURLM *multi;
static CURLU *url;

/* NULL, or what it should be. */
static int text(char *got, const char *wanted)
{
  int there = got != NULL;
  if(there)
    SAME_TEXT(got, wanted);
  curl_free(got);
  return there;
}

static int escapes(void) { return text(curl_easy_escape(easy, "a b", 0), "a%20b"); }
static int unescapes(void) { return text(curl_easy_unescape(easy, "a%20b", 0, NULL), "a b"); }
static int prints(void) { return text(curl_maprintf("%s-%d", "five", 5), "five-5"); }
static int environment(void) { return text(curl_getenv("OUT_OF_MEMORY"), "here"); }

static int takes_apart(void)
{
  char *part = (char *)"untouched";
  CURLUcode code = curl_url_get(url, CURLUPART_HOST, &part, 0);
  CHECK(code == CURLUE_OK || (code == CURLUE_OUT_OF_MEMORY && !part));
  return text(part, "a.example");
}

static int lists(void)
{
  struct curl_slist *list = NULL, *longer;
  int length = 0;
  for(; length < 3 && (longer = curl_slist_append(list, "one more")); length++)
    list = longer;
  int count = 0;
  for(struct curl_slist *at = list; at; at = at->next, count++)
    SAME_TEXT(at->data, "one more");
  SAME(count, length);
  curl_slist_free_all(list);
  return length == 3;
}

static int cookies(void)
{
  struct curl_slist *list = NULL;
  SAME(curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &list), CURLE_OK);
  int there = list != NULL;
  CHECK(!there || (list->next && !list->next->next)); /* both or none */
  curl_slist_free_all(list);
  return there;
}

static int members(void)
{
  CURL **handles = curl_multi_get_handles(multi);
  int there = handles != NULL;
  CHECK(!there || (handles[0] == easy && !handles[1]));
  curl_free(handles);
  return there;
}

static int forms(void)
{
  struct curl_httppost *first = NULL, *last = NULL;
  CURLFORMcode codes[3];
  codes[0] = curl_formadd(&first, &last, CURLFORM_COPYNAME, "name", CURLFORM_COPYCONTENTS, "contents", CURLFORM_CONTENTTYPE, "text/x", CURLFORM_END);
  codes[1] = curl_formadd(&first, &last, CURLFORM_COPYNAME, "files", CURLFORM_FILE, "/dev/null", CURLFORM_FILE, "/dev/zero", CURLFORM_END);
  codes[2] = curl_formadd(&first, &last, CURLFORM_PTRNAME, "name", CURLFORM_BUFFER, "shown", CURLFORM_BUFFERPTR, "xy", CURLFORM_BUFFERLENGTH, 2L, CURLFORM_END);
  int wanted = 0, count = 0;
  for(int i = 0; i < 3; i++) {
    CHECK(codes[i] == CURL_FORMADD_OK || codes[i] == CURL_FORMADD_MEMORY);
    wanted += codes[i] == CURL_FORMADD_OK;
  }
  for(struct curl_httppost *at = first; at; at = at->next, count++)
    CHECK(at->name && at->contents && (at->flags & CURL_HTTPPOST_PTRNAME || !strcmp(at->name, at == first && codes[0] == CURL_FORMADD_OK ? "name" : "files")));
  SAME(count, wanted); /* a part is there when it was said to be */
  curl_formfree(first);
  return wanted == 3;
}

static const struct {
  const char *name;
  int (*does)(void);
} all[] = {{"escape", escapes}, {"unescape", unescapes}, {"maprintf", prints}, {"getenv", environment}, {"url_get", takes_apart}, {"slist", lists},
  {"cookies", cookies}, {"members", members}, {"forms", forms}};

int main(void)
{
  setenv("OUT_OF_MEMORY", "here", 1);
  SAME(curl_global_init_mem(CURL_GLOBAL_ALL, my_malloc, my_free, my_realloc, my_strdup, my_calloc), CURLE_OK);
  easy = curl_easy_init();
  multi = curl_multi_init();
  url = curl_url();
  curl_url_set(url, CURLUPART_URL, "http://a.example/b", 0);
  curl_easy_setopt(easy, CURLOPT_COOKIELIST, "Set-Cookie: a=b; domain=a.example");
  curl_easy_setopt(easy, CURLOPT_COOKIELIST, "Set-Cookie: c=d; domain=a.example");
  curl_multi_add_handle(multi, easy);
  for(size_t one = 0; one < sizeof all / sizeof *all; one++) {
    seen = fails_at = 0;
    CHECK(all[one].does());
    long calls = seen;
    CHECK(calls > 0 && calls < 100);
    for(on = 0; on < 2; on++)
      for(long at = 1; at <= calls; at++) {
        long before = blocks;
        seen = 0, fails_at = at;
        int whole = all[one].does();
        fails_at = 0;
        if(whole || blocks != before) {
          failures++;
          printf("%s: allocation %ld of %ld fails%s: %s, %ld blocks left\n", all[one].name, at, calls, on ? " and all after it" : "",
            whole ? "but no call failed" : "reported", blocks - before);
        }
        CHECK(all[one].does());
      }
  }
  curl_multi_remove_handle(multi, easy);
  curl_multi_cleanup(multi);
  curl_easy_cleanup(easy);
  curl_url_cleanup(url);
  SAME(blocks, 0);
  curl_global_cleanup();
  return FAILURES;
}
