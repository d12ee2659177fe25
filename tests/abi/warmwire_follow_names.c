/* A handle chooses for itself whether it follows names; what is no choice is an error. */
#include "pool.h"

int main(void)
{
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  SAME(warmwire_follow_names(easy, 1), CURLE_OK);
  SAME(warmwire_follow_names(easy, 0), CURLE_OK);
  SAME(warmwire_follow_names(easy, -1), CURLE_OK);
  SAME(warmwire_follow_names(easy, -2), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_follow_names(easy, 2), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_follow_names(NULL, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return FAILURES;
}
