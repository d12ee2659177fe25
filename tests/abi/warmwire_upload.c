/* The modes of uploads, their part, and what resets them. */
#include "check.h"
#include <curl/warmwire.h>
#include <string.h>

/* Whether the handle's part is this one, or NULL. */
static int is_at(CURL *easy, const char *expected)
{
  char *place = (char *)1;
  SAME(warmwire_upload_place(easy, &place), CURLE_OK);
  int same = expected ? place && !strcmp(place, expected) : !place;
  curl_free(place);
  return same;
}

int main(void)
{
  char *place = (char *)1;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  SAME(is_at(easy, NULL), 1);
  SAME(warmwire_upload(easy, WARMWIRE_UPLOAD_RESUME, NULL), CURLE_OK);
  SAME(is_at(easy, NULL), 1);
  SAME(warmwire_upload(easy, WARMWIRE_UPLOAD_TUS, "http://h/u/1"), CURLE_OK);
  SAME(is_at(easy, "http://h/u/1"), 1);
  CURL *copy = curl_easy_duphandle(easy);
  SAME(is_at(copy, NULL), 1);
  curl_easy_cleanup(copy);
  SAME(warmwire_upload(easy, WARMWIRE_UPLOAD_TUS, NULL), CURLE_OK);
  SAME(is_at(easy, NULL), 1);
  SAME(warmwire_upload(easy, WARMWIRE_UPLOAD_RESUME, "ftp://h/f"), CURLE_OK);
  curl_easy_reset(easy);
  SAME(is_at(easy, NULL), 1);
  SAME(warmwire_upload(easy, 5, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_upload(easy, WARMWIRE_UPLOAD_VERIFY | 5, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  /* Without a transfer there is no checksum. */
  long compared = 7;
  SAME(warmwire_upload(easy, WARMWIRE_UPLOAD_RESUME | WARMWIRE_UPLOAD_VERIFY, NULL), CURLE_OK);
  SAME(warmwire_upload_verify(easy, "/nonexistent", &compared), CURLE_OK);
  SAME(compared, 0);
  SAME(warmwire_upload_verify(easy, "/nonexistent", NULL), CURLE_OK);
  SAME(warmwire_upload_verify(easy, NULL, &compared), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_upload_verify(NULL, "/nonexistent", &compared), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_upload(easy, -1, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_upload(NULL, WARMWIRE_UPLOAD_TUS, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_upload_place(easy, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_upload_place(NULL, &place), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(place == NULL, 1);
  /* A tus upload announces its length. */
  SAME(warmwire_upload(easy, WARMWIRE_UPLOAD_TUS, NULL), CURLE_OK);
  curl_easy_setopt(easy, CURLOPT_URL, "http://127.0.0.1:1/");
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  SAME(curl_easy_perform(easy), CURLE_UPLOAD_FAILED);
  /* And so does one in parts, whose lengths are those of the source. */
  SAME(warmwire_upload(easy, WARMWIRE_UPLOAD_S3, NULL), CURLE_OK);
  SAME(curl_easy_perform(easy), CURLE_UPLOAD_FAILED);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)9 << 20);
  curl_easy_setopt(easy, CURLOPT_CRLF, 1L);
  SAME(curl_easy_perform(easy), CURLE_UPLOAD_FAILED);
  SAME(warmwire_upload(easy, WARMWIRE_UPLOAD_S3, "http://h/b/k?uploadId=1"), CURLE_OK);
  SAME(is_at(easy, "http://h/b/k?uploadId=1"), 1);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return FAILURES;
}
