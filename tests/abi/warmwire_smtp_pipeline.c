/* How a mail's commands are sent is chosen for each handle; what is no level is an error. */
#include "pool.h"

int main(void)
{
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  SAME(warmwire_smtp_pipeline(easy, WARMWIRE_SMTP_WAIT), CURLE_OK);
  SAME(warmwire_smtp_pipeline(easy, WARMWIRE_SMTP_TOGETHER), CURLE_OK);
  SAME(warmwire_smtp_pipeline(easy, -1), CURLE_OK);
  SAME(warmwire_smtp_pipeline(easy, -2), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_smtp_pipeline(easy, 2), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_smtp_pipeline(NULL, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return FAILURES;
}
