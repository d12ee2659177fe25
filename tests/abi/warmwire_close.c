/* Closing what is pooled: for one origin, or all of it. */
#include "pool.h"

int main(void)
{
  unsigned port = (unsigned)atoi(strrchr(getenv("FTP_SERVER"), ':') + 1);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  warmwire_pool(1);
  SAME(warmwire_close(NULL, 0), 0);
  SAME(fetch(ftp_url()), 1 + FTP_DATA);
  SAME(fetch(server("/bytes/10")), 1);
  SAME(warmwire_close("127.0.0.1", 1), 0);
  SAME(warmwire_close("127.0.0.1", port + 65536), 0);
  SAME(warmwire_close("elsewhere.example", port), 0);
  SAME(warmwire_close("127.0.0.1", port), 1);
  SAME(warmwire_each(NULL, NULL), 1);
  SAME(fetch(server("/bytes/10")), 0);
  SAME(fetch(ftp_url()), 1 + FTP_DATA);
  SAME(warmwire_close(NULL, 0), 2);
  SAME(warmwire_each(NULL, NULL), 0);
  SAME(fetch(ftp_url()), 1 + FTP_DATA);
  curl_global_cleanup();
  return FAILURES;
}
