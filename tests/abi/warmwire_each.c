/* What is pooled: protocol, host, port, age, uses; the callback may end the list and call the library. */
#include "pool.h"

static int nested(const struct warmwire_connection *connection, void *user)
{
  (void)connection;
  *(size_t *)user = warmwire_close(NULL, 0);
  return 0;
}

int main(void)
{
  struct report report = {0};
  size_t closed = 0;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  warmwire_pool(1);
  SAME(warmwire_each(note, &report), 0);
  SAME(fetch(ftp_url()), 1 + FTP_DATA);
  SAME(fetch(ftp_url()), FTP_DATA);
  SAME(warmwire_each(note, &report), 1);
  SAME(report.count, 1);
  SAME(report.last.size, sizeof report.last);
  SAME_TEXT(report.scheme, "ftp");
  SAME_TEXT(report.host, "127.0.0.1");
  SAME(report.last.port, atoi(strrchr(getenv("FTP_SERVER"), ':') + 1));
  SAME(report.last.uses, 2);
  SAME(report.last.tls, 0);
  CHECK(report.last.age_ms >= report.last.idle_ms && report.last.idle_ms >= 0 && report.last.age_ms < 60000);
  SAME(fetch(server("/bytes/10")), 1);
  SAME(warmwire_each(NULL, NULL), 2);
  report = (struct report){.stop = 1};
  SAME(warmwire_each(note, &report), 1);
  SAME(report.count, 1);
  SAME_TEXT(report.scheme, "ftp");
  SAME(warmwire_each(nested, &closed), 2);
  SAME(warmwire_each(NULL, NULL), 0);
  curl_global_cleanup();
  return FAILURES;
}
