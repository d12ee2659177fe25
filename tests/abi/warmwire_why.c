/* The reasons of a transfer are kept when they are asked for, and returned as text and as JSON. */
#include "pool.h"

static size_t ignored(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  return size * count;
}

/* Performs, and returns the reasons. */
static char *reasons(CURL *easy, long what)
{
  char *text = NULL;
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(warmwire_why(easy, what, &text), CURLE_OK);
  CHECK(text);
  return text;
}

int main(void)
{
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init(), *copy;
  char *text = (char *)"not NULL";
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignored);

  /* Nothing is kept unless asked for. */
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(warmwire_why(easy, WARMWIRE_WHY_TEXT, &text), CURLE_BAD_FUNCTION_ARGUMENT);
  CHECK(!text);

  SAME(warmwire_why(easy, WARMWIRE_WHY_ON, NULL), CURLE_OK);
  text = reasons(easy, WARMWIRE_WHY_TEXT);
  CHECK(text && strstr(text, " reused: ") && strstr(text, "\n  time        "));
  curl_free(text);

  /* The option that keeps it from using the open connection is named. */
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  text = reasons(easy, WARMWIRE_WHY_JSON);
  CHECK(text && text[0] == '{' && strstr(text, "\"differs_in\":[\"CURLOPT_TCP_KEEPALIVE\"]"));
  curl_free(text);

  /* A copy keeps them, too; a reset handle does not. */
  copy = curl_easy_duphandle(easy);
  text = reasons(copy, WARMWIRE_WHY_JSON);
  CHECK(text && strstr(text, "\"reason\":\"nothing-open\""));
  curl_free(text);
  curl_easy_reset(copy);
  SAME(warmwire_why(copy, WARMWIRE_WHY_JSON, &text), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_easy_cleanup(copy);

  /* Without TLS no certificate is checked. */
  SAME(warmwire_why(easy, WARMWIRE_WHY_CERTIFICATES, NULL), CURLE_OK);
  text = reasons(easy, WARMWIRE_WHY_CERTIFICATES_TEXT);
  SAME_TEXT(text, "");
  curl_free(text);
  text = reasons(easy, WARMWIRE_WHY_CERTIFICATES_JSON);
  SAME_TEXT(text, "[]");
  curl_free(text);

  SAME(warmwire_why(easy, WARMWIRE_WHY_TEXT, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_why(easy, WARMWIRE_WHY_CERTIFICATES_TEXT, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_why(easy, 7, &text), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_why(easy, -1, &text), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_why(NULL, WARMWIRE_WHY_ON, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_why(easy, WARMWIRE_WHY_OFF, NULL), CURLE_OK);
  SAME(warmwire_why(easy, WARMWIRE_WHY_TEXT, &text), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return FAILURES;
}
