/* Engines and providers of OpenSSL are chosen by name, and a name that nobody has is refused at once.
 * covers: CURLOPT_SSLENGINE, CURLOPT_SSLENGINE_DEFAULT, CURLINFO_SSL_ENGINES */
#include "check.h"

static size_t discard(char *data, size_t size, size_t count, void *user)
{
  (void)data;
  (void)user;
  return size * count;
}

static CURLcode fetch(CURL *easy)
{
  char url[300];
  snprintf(url, sizeof url, "%s/1000", getenv("NGINX"));
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
  return curl_easy_perform(easy);
}

static void names(CURL *easy)
{
  char name[200];
  memset(name, 'a', sizeof name);
  name[129] = 0;
  SAME(curl_easy_setopt(easy, CURLOPT_SSLENGINE, NULL), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_SSLENGINE, ""), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_SSLENGINE_DEFAULT, 1L), CURLE_OK); /* there is none yet */
  SAME(curl_easy_setopt(easy, CURLOPT_SSLENGINE, "nobody"), CURLE_SSL_ENGINE_NOTFOUND);
  SAME(curl_easy_setopt(easy, CURLOPT_SSLENGINE, "nobody:with=properties"), CURLE_SSL_ENGINE_NOTFOUND);
  SAME(curl_easy_setopt(easy, CURLOPT_SSLENGINE, "\x01\xff\r\n"), CURLE_SSL_ENGINE_NOTFOUND);
  SAME(curl_easy_setopt(easy, CURLOPT_SSLENGINE, name), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(fetch(easy), CURLE_OK);
}

static void known(CURL *easy)
{
  struct curl_slist *engines = NULL;
  int dynamic = 0;
  SAME(curl_easy_getinfo(easy, CURLINFO_SSL_ENGINES, &engines), CURLE_OK);
  for(struct curl_slist *one = engines; one; one = one->next)
    dynamic += !strcmp(one->data, "dynamic");
  SAME(dynamic, 1);
  curl_slist_free_all(engines);
}

/* A connection by a provider is not that of another, and a copy of the handle asks the same one. */
static void provider(CURL *easy)
{
  long connects = 0;
  SAME(curl_easy_setopt(easy, CURLOPT_SSLENGINE, "default"), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_SSLENGINE_DEFAULT, 1L), CURLE_OK);
  SAME(fetch(easy), CURLE_OK);
  curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
  SAME(connects, 1);
  SAME(fetch(easy), CURLE_OK);
  curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
  SAME(connects, 0);
  CURL *copy = curl_easy_duphandle(easy);
  SAME(fetch(copy), CURLE_OK);
  curl_easy_cleanup(copy);
  SAME(curl_easy_setopt(easy, CURLOPT_SSLENGINE, "default:provider=nobody"), CURLE_OK);
  CHECK(fetch(easy) != CURLE_OK); /* no algorithm has that property */
  curl_easy_reset(easy);
  SAME(fetch(easy), CURLE_OK);
}

int main(void)
{
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  names(easy);
  known(easy);
  provider(easy);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return FAILURES;
}
