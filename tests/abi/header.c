/* The header API on a real reply.
 * covers: curl_easy_header, curl_easy_nextheader */
#include "check.h"

int main(void)
{
  CURL *easy = curl_easy_init();
  struct curl_header *header = NULL, *next = NULL;
  struct text body = {0};
  SAME(curl_easy_header(easy, "a", 0, CURLH_HEADER, -1, &header), CURLHE_NOHEADERS);
  SAME(curl_easy_header(easy, NULL, 0, CURLH_HEADER, -1, &header), CURLHE_BAD_ARGUMENT);
  SAME(curl_easy_header(easy, "a", 0, CURLH_HEADER, -1, NULL), CURLHE_BAD_ARGUMENT);
  SAME(curl_easy_header(easy, "a", 0, 0, -1, &header), CURLHE_BAD_ARGUMENT);
  SAME(curl_easy_header(easy, "a", 0, CURLH_HEADER, -2, &header), CURLHE_BAD_ARGUMENT);
  curl_easy_setopt(easy, CURLOPT_URL, server("/redirect/1"));
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(curl_easy_header(easy, "content-LENGTH", 0, CURLH_HEADER, -1, &header), CURLHE_OK);
  SAME_TEXT(header->name, "Content-Length");
  SAME(atol(header->value), body.length);
  SAME(header->amount, 1);
  SAME(header->index, 0);
  CHECK(header->origin & CURLH_HEADER);
  SAME(curl_easy_header(easy, "Content-Length", 1, CURLH_HEADER, -1, &header), CURLHE_BADINDEX);
  SAME(curl_easy_header(easy, "No-Such", 0, CURLH_HEADER, -1, &header), CURLHE_MISSING);
  SAME(curl_easy_header(easy, "Content-Length", 0, CURLH_TRAILER, -1, &header), CURLHE_MISSING);
  SAME(curl_easy_header(easy, "Location", 0, CURLH_HEADER, 0, &header), CURLHE_OK);
  SAME(curl_easy_header(easy, "Location", 0, CURLH_HEADER, 1, &header), CURLHE_MISSING);
  SAME(curl_easy_header(easy, "Location", 0, CURLH_HEADER, 2, &header), CURLHE_NOREQUEST);
  int count = 0;
  while((next = curl_easy_nextheader(easy, CURLH_HEADER, -1, next))) {
    count++;
    SAME(curl_easy_header(easy, next->name, next->index, CURLH_HEADER, -1, &header), CURLHE_OK);
    SAME_TEXT(header->value, next->value);
  }
  CHECK(count > 0 && count < 50);
  curl_easy_cleanup(easy);
  free(body.at);
  return FAILURES;
}
