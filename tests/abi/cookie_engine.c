/* When the cookie engine is on, and which of two cookies stays.
 * covers: CURLOPT_COOKIELIST, CURLOPT_COOKIEFILE, CURLOPT_COOKIEJAR, CURLINFO_COOKIELIST */
#include "check.h"
#include <unistd.h>

static const char *file = "engine-cookies.txt";

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

static int has(CURL *easy, const char *value)
{
  struct curl_slist *list = NULL;
  int found = 0;
  curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &list);
  for(struct curl_slist *item = list; item; item = item->next)
    found += strstr(item->data, value) != NULL;
  curl_slist_free_all(list);
  return found;
}

static void write_file(const char *value)
{
  FILE *out = fopen(file, "w");
  fprintf(out, "h.example\tFALSE\t/\tFALSE\t0\tname\t%s\n", value);
  fclose(out);
}

/* Whether a reply's cookie is kept. */
static int is_on(CURL *easy)
{
  struct text text = {0};
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &text);
  curl_easy_setopt(easy, CURLOPT_URL, server("/cookies/set/fresh/one"));
  SAME(curl_easy_perform(easy), CURLE_OK);
  free(text.at);
  return has(easy, "fresh");
}

int main(void)
{
  static const char *commands[] = {"ALL", "SESS", "FLUSH", "RELOAD"};
  for(int i = 0; i < 4; i++) {
    CURL *easy = curl_easy_init();
    SAME(curl_easy_setopt(easy, CURLOPT_COOKIELIST, commands[i]), CURLE_OK);
    SAME(is_on(easy), 0);
    SAME(curl_easy_setopt(easy, CURLOPT_COOKIELIST, "Set-Cookie: a=b; domain=h.example"), CURLE_OK);
    SAME(is_on(easy), 1);
    SAME(curl_easy_setopt(easy, CURLOPT_COOKIELIST, "ALL"), CURLE_OK);
    SAME(is_on(easy), 1);
    curl_easy_cleanup(easy);
  }

  /* COOKIEFILE NULL: off, and nothing is left of it. */
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");
  SAME(is_on(easy), 1);
  curl_easy_setopt(easy, CURLOPT_COOKIEFILE, NULL);
  SAME(count(easy), 0);
  SAME(is_on(easy), 0);
  curl_easy_setopt(easy, CURLOPT_COOKIEJAR, "engine-jar.txt");
  SAME(is_on(easy), 1);
  curl_easy_setopt(easy, CURLOPT_COOKIEFILE, NULL);
  SAME(is_on(easy), 0);
  curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");
  SAME(is_on(easy), 1);
  curl_easy_cleanup(easy);

  /* RELOAD replaces what was there before any file was read, and what other files said. */
  easy = curl_easy_init();
  write_file("file1");
  curl_easy_setopt(easy, CURLOPT_COOKIELIST, "h.example\tFALSE\t/\tFALSE\t0\tname\tmemory");
  curl_easy_setopt(easy, CURLOPT_COOKIEFILE, file);
  CHECK(has(easy, "memory"));
  curl_easy_setopt(easy, CURLOPT_COOKIELIST, "RELOAD");
  CHECK(has(easy, "file1") && count(easy) == 1);
  write_file("file2");
  curl_easy_setopt(easy, CURLOPT_COOKIELIST, "RELOAD");
  CHECK(has(easy, "file2") && count(easy) == 1);
  curl_easy_setopt(easy, CURLOPT_COOKIELIST, "h.example\tFALSE\t/\tFALSE\t0\tname\tmemory");
  curl_easy_setopt(easy, CURLOPT_COOKIELIST, "RELOAD");
  CHECK(has(easy, "memory") && count(easy) == 1);
  curl_easy_cleanup(easy);
  unlink(file);
  unlink("engine-jar.txt");
  return FAILURES;
}
