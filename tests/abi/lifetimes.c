/* Strings are copied when they are set; POSTFIELDS is not; NULL takes back; a reset handle keeps its connection.
 * covers: CURLOPT_URL, CURLOPT_POSTFIELDS, CURLOPT_COPYPOSTFIELDS, CURLOPT_POSTFIELDSIZE, CURLOPT_CUSTOMREQUEST,
 * covers: CURLOPT_HTTPHEADER, CURLOPT_CURLU, CURLINFO_EFFECTIVE_URL, CURLINFO_NUM_CONNECTS, CURLINFO_EFFECTIVE_METHOD */
#include "check.h"

static struct text body;

static char *fetch(CURL *easy)
{
  free(body.at);
  body.at = NULL;
  body.length = 0;
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  SAME(curl_easy_perform(easy), CURLE_OK);
  return body.at ? body.at : "";
}

int main(void)
{
  CURL *easy = curl_easy_init();
  char url[512], data[] = "first", *effective = NULL, *method = NULL;
  long connects = -1;
  strcpy(url, server("/body"));
  curl_easy_setopt(easy, CURLOPT_URL, url);
  memset(url, 'x', strlen(url));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, data);
  strcpy(data, "other");
  SAME_TEXT(fetch(easy), "other");
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 3L);
  SAME_TEXT(fetch(easy), "oth");
  curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, data);
  strcpy(data, "later");
  SAME_TEXT(fetch(easy), "oth");
  curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
  SAME(connects, 0); /* kept */

  curl_easy_reset(easy);
  curl_easy_setopt(easy, CURLOPT_URL, server("/echo"));
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "FROB");
  struct curl_slist *list = curl_slist_append(NULL, "X-Mine: 1");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
  char *text = fetch(easy);
  CHECK(!strncmp(text, "FROB /echo HTTP/1.1\r\n", 21) && strstr(text, "\r\nX-Mine: 1\r\n"));
  curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
  SAME(connects, 0); /* a reset keeps connections */
  curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_METHOD, &method);
  SAME_TEXT(method, "FROB");
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, NULL);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
  text = fetch(easy);
  CHECK(!strncmp(text, "GET /echo HTTP/1.1\r\n", 20) && !strstr(text, "X-Mine"));
  curl_slist_free_all(list);

  /* A URL handle goes before the string, and is looked at when the transfer begins. */
  CURLU *handle = curl_url();
  curl_easy_setopt(easy, CURLOPT_CURLU, handle);
  SAME(curl_url_set(handle, CURLUPART_URL, server("/bytes/3"), 0), CURLUE_OK);
  SAME(strlen(fetch(easy)) <= 3, 1);
  SAME(body.length, 3);
  curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &effective);
  SAME_TEXT(effective, server("/bytes/3"));
  CURL *copy = curl_easy_duphandle(easy);
  fetch(copy);
  SAME(body.length, 3);
  curl_url_cleanup(handle);
  CHECK(curl_easy_perform(easy) != CURLE_OK); /* a stale handle is no URL */
  curl_easy_cleanup(copy);
  curl_easy_cleanup(easy);
  free(body.at);
  return FAILURES;
}
