/* Header lines and what a debug function hears of text have a NUL behind them. The manual promises none, but libcurl's
 * have one, and programs read them as C strings.
 * covers: CURLOPT_HEADERFUNCTION, CURLOPT_DEBUGFUNCTION */
#include "check.h"

static int heads, texts;

static size_t head(char *line, size_t size, size_t count, void *user)
{
  (void)user;
  heads++;
  SAME(strlen(line), size * count);
  return size * count;
}

static int debug(CURL *easy, curl_infotype kind, char *data, size_t size, void *user)
{
  (void)easy;
  (void)user;
  if(kind <= CURLINFO_HEADER_OUT) {
    texts++;
    SAME(strlen(data), size);
  }
  return 0;
}

int main(void)
{
  CURL *easy = curl_easy_init();
  struct text body = {0};
  char agent[2000] = "";
  memset(agent, 'a', sizeof agent - 1);
  curl_easy_setopt(easy, CURLOPT_URL, server("/redirect/1"));
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, agent);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, head);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
  curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, debug);
  SAME(curl_easy_perform(easy), CURLE_OK);
  CHECK(heads >= 6);
  CHECK(texts > heads + 2);
  /* The write function takes heads when only header data are set. */
  struct text whole = {0};
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, NULL);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &whole);
  SAME(curl_easy_perform(easy), CURLE_OK);
  CHECK(whole.at && strstr(whole.at, "\r\n\r\nHTTP/1.1 200"));
  curl_easy_cleanup(easy);
  free(body.at);
  free(whole.at);
  return FAILURES;
}
