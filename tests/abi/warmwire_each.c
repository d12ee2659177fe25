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
  struct told told = {0};
  size_t closed = 0;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  warmwire_pool(1);
  SAME(warmwire_each(note, &told), 0);
  SAME(fetch(ftp_url()), 1 + FTP_DATA);
  SAME(fetch(ftp_url()), FTP_DATA);
  SAME(warmwire_each(note, &told), 1);
  SAME(told.count, 1);
  SAME(told.last.size, sizeof told.last);
  SAME_TEXT(told.scheme, "ftp");
  SAME_TEXT(told.host, "127.0.0.1");
  SAME(told.last.port, atoi(strrchr(getenv("FTP_SERVER"), ':') + 1));
  SAME(told.last.uses, 2);
  SAME(told.last.tls, 0);
  CHECK(told.last.age_ms >= told.last.idle_ms && told.last.idle_ms >= 0 && told.last.age_ms < 60000);
  SAME(fetch(server("/bytes/10")), 1);
  SAME(warmwire_each(NULL, NULL), 2);
  told = (struct told){.stop = 1};
  SAME(warmwire_each(note, &told), 1);
  SAME(told.count, 1);
  SAME_TEXT(told.scheme, "ftp");
  SAME(warmwire_each(nested, &closed), 2);
  SAME(warmwire_each(NULL, NULL), 0);
  curl_global_cleanup();
  return FAILURES;
}
