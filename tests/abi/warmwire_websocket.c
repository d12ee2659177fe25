/* What WebSockets may try is chosen for each handle; what is no sum of the names is an error. */
#include "pool.h"

int main(void)
{
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  const long sums[] = {WARMWIRE_WS_PLAIN, WARMWIRE_WS_DEFLATE, WARMWIRE_WS_DEFLATE | WARMWIRE_WS_FORGET | WARMWIRE_WS_HTTP2,
                       WARMWIRE_WS_DEFLATE | WARMWIRE_WS_WINDOW(8), WARMWIRE_WS_DEFLATE | WARMWIRE_WS_WINDOW(15), -1};
  const long wrong[] = {-2, 8, WARMWIRE_WS_DEFLATE | WARMWIRE_WS_WINDOW(7), WARMWIRE_WS_WINDOW(16)};
  for(size_t i = 0; i < sizeof sums / sizeof *sums; i++)
    SAME(warmwire_websocket(easy, sums[i]), CURLE_OK);
  for(size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    SAME(warmwire_websocket(easy, wrong[i]), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_websocket(NULL, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return FAILURES;
}
