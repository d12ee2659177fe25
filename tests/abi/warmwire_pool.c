/* The process-wide pool is off until it is turned on, serves handle after handle, and is empty once turned off. */
#include "pool.h"

int main(void)
{
  unsetenv("WARMWIRE_POOL");
  curl_global_init(CURL_GLOBAL_DEFAULT);
  SAME(warmwire_pool(-1), 0);
  SAME(fetch(ftp_url()), 1 + FTP_DATA);
  SAME(fetch(ftp_url()), 1 + FTP_DATA);
  SAME(warmwire_pool(1), 0);
  SAME(warmwire_pool(-1), 1);
  SAME(fetch(ftp_url()), 1 + FTP_DATA);
  SAME(fetch(ftp_url()), FTP_DATA);
  SAME(fetch(ftp_url()), FTP_DATA);
  SAME(warmwire_each(NULL, NULL), 1);
  SAME(warmwire_pool(0), 1);
  SAME(warmwire_each(NULL, NULL), 0);
  SAME(fetch(ftp_url()), 1 + FTP_DATA);
  SAME(fetch(ftp_url()), 1 + FTP_DATA);
  curl_global_cleanup();
  return FAILURES;
}
