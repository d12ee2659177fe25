/* Values that are there and hold nothing, and forms of values that are the same.
 * covers: CURLOPT_CAINFO_BLOB, CURLOPT_SSLCERT_BLOB, CURLOPT_SSLKEY_BLOB, CURLOPT_ISSUERCERT_BLOB, CURLOPT_PROXY_CAINFO_BLOB,
 * covers: CURLOPT_PROXY_SSLCERT_BLOB, CURLOPT_PROXY_SSLKEY_BLOB, CURLOPT_PROXY_ISSUERCERT_BLOB, CURLOPT_MIMEPOST, CURLOPT_INTERFACE */
#include "check.h"

int main(void)
{
  static const CURLoption blobs[] = {CURLOPT_CAINFO_BLOB, CURLOPT_SSLCERT_BLOB, CURLOPT_SSLKEY_BLOB, CURLOPT_ISSUERCERT_BLOB,
                                     CURLOPT_PROXY_CAINFO_BLOB, CURLOPT_PROXY_SSLCERT_BLOB, CURLOPT_PROXY_SSLKEY_BLOB,
                                     CURLOPT_PROXY_ISSUERCERT_BLOB};
  struct curl_blob none = {.data = "", .len = 0, .flags = CURL_BLOB_COPY}, lost = {.data = NULL, .len = 5}, some = {.data = "x", .len = 1};
  CURL *easy = curl_easy_init();
  for(size_t i = 0; i < sizeof blobs / sizeof *blobs; i++) {
    SAME(curl_easy_setopt(easy, blobs[i], &none), CURLE_BAD_FUNCTION_ARGUMENT);
    SAME(curl_easy_setopt(easy, blobs[i], &lost), CURLE_BAD_FUNCTION_ARGUMENT);
    SAME(curl_easy_setopt(easy, blobs[i], &some), CURLE_OK);
    SAME(curl_easy_setopt(easy, blobs[i], (struct curl_blob *)NULL), CURLE_OK);
  }

  /* A form without a part, one that is gone, and both. */
  for(int i = 0; i < 4; i++) {
    struct text text = {0};
    curl_mime *mime = curl_mime_init(easy);
    if(i & 1)
      curl_mime_data(curl_mime_addpart(mime), "part", CURL_ZERO_TERMINATED);
    curl_easy_setopt(easy, CURLOPT_URL, server("/echo"));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &text);
    SAME(curl_easy_setopt(easy, CURLOPT_MIMEPOST, mime), CURLE_OK);
    if(i & 2)
      curl_mime_free(mime);
    SAME(curl_easy_perform(easy), CURLE_OK);
    CHECK(text.at && !strncmp(text.at, "POST /echo", 10));
    CHECK(!!strstr(text.at ? text.at : "", "part\r\n--") == (i == 1));
    if(!(i & 2))
      curl_mime_free(mime);
    free(text.at);
  }
  curl_easy_cleanup(easy);

  static const char *ends[] = {"127.0.0.1", "host!127.0.0.1", "[127.0.0.1]", "[::1]", "host![::1]", "::1"};
  for(int i = 0; i < 6; i++) {
    easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, i < 3 ? server("/bytes/1") : "http://[::1]:9/");
    curl_easy_setopt(easy, CURLOPT_INTERFACE, ends[i]);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
    struct text text = {0};
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &text);
    /* Nobody listens at port 9: the socket was bound when connecting is what fails. */
    SAME(curl_easy_perform(easy), i < 3 ? CURLE_OK : CURLE_COULDNT_CONNECT);
    free(text.at);
    curl_easy_cleanup(easy);
  }
  return FAILURES;
}
