/* Everything that C frees comes from the application's functions, and goes back to them.
 * covers: curl_global_init_mem, curl_free, curl_slist_append, curl_slist_free_all, curl_easy_escape, curl_easy_unescape,
 * covers: curl_maprintf, curl_url_get, curl_getenv, curl_multi_get_handles, CURLINFO_COOKIELIST */
#include "blocks.h"

int main(void)
{
  SAME(curl_global_init_mem(CURL_GLOBAL_ALL, NULL, my_free, my_realloc, my_strdup, my_calloc), CURLE_FAILED_INIT);
  SAME(curl_global_init_mem(CURL_GLOBAL_ALL, my_malloc, my_free, my_realloc, my_strdup, my_calloc), CURLE_OK);
  CURL *easy = curl_easy_init();
  CURLM *multi = curl_multi_init();
  CURLU *url = curl_url();
  struct curl_slist *list = curl_slist_append(curl_slist_append(NULL, "a"), "b");
  struct curl_slist *cookies = NULL;
  char *texts[5], *part = NULL;
  CURL **handles;
  SAME_TEXT(list->next->data, "b");
  texts[0] = curl_easy_escape(easy, "a b", 0);
  texts[1] = curl_easy_unescape(easy, "a%20b", 0, NULL);
  texts[2] = curl_maprintf("%d", 5);
  texts[3] = curl_getenv("PATH");
  texts[4] = curl_easy_escape(NULL, "\xff", 1);
  SAME_TEXT(texts[0], "a%20b");
  SAME_TEXT(texts[1], "a b");
  SAME_TEXT(texts[2], "5");
  SAME_TEXT(texts[3], getenv("PATH"));
  SAME_TEXT(texts[4], "%FF");
  CHECK(!curl_getenv("no such variable"));
  SAME(curl_url_set(url, CURLUPART_URL, "http://a/b", 0), CURLUE_OK);
  SAME(curl_url_get(url, CURLUPART_PATH, &part, 0), CURLUE_OK);
  curl_easy_setopt(easy, CURLOPT_COOKIELIST, "Set-Cookie: a=b; domain=a.example");
  SAME(curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &cookies), CURLE_OK);
  CHECK(cookies && !cookies->next);
  curl_multi_add_handle(multi, easy);
  handles = curl_multi_get_handles(multi);
  CHECK(handles && handles[0] == easy && !handles[1]);
  CHECK(seen > 0 && blocks > 0);
  for(int i = 0; i < 5; i++)
    curl_free(texts[i]);
  curl_free(part);
  curl_free(handles);
  curl_slist_free_all(list);
  curl_slist_free_all(cookies);
  curl_multi_remove_handle(multi, easy);
  curl_multi_cleanup(multi);
  curl_easy_cleanup(easy);
  curl_url_cleanup(url);
  SAME(blocks, 0);
  curl_global_cleanup();
  return FAILURES;
}
