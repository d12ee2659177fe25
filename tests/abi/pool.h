/* What the programs of warmwire.h share. FTP_SERVER is the embedded FTP server, with a file /dir/file. */
#include "check.h"
#include <curl/warmwire.h>

struct report {
  int count;
  struct warmwire_connection last;
  char scheme[16], host[64];
  int stop;
};

static inline int note(const struct warmwire_connection *connection, void *user)
{
  struct report *report = user;
  report->count++;
  report->last = *connection;
  snprintf(report->scheme, sizeof report->scheme, "%s", connection->scheme);
  snprintf(report->host, sizeof report->host, "%s", connection->host);
  return report->stop;
}

static inline size_t drop_body(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  return size * count;
}

static inline const char *ftp_url(void)
{
  static char url[256];
  snprintf(url, sizeof url, "%s/dir/file", getenv("FTP_SERVER"));
  return url;
}

/* A file of an FTP server comes over a connection of its own, which counts among those that were opened (CURLINFO_NUM_CONNECTS). */
#define FTP_DATA 1

/* One transfer on a handle of its own: how many connections it opened, or -1. */
static inline long fetch(const char *url)
{
  CURL *easy = curl_easy_init();
  long connects = -1;
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_body);
  if(curl_easy_perform(easy) == CURLE_OK)
    curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
  curl_easy_cleanup(easy);
  return connects;
}
