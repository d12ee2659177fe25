/* WARMWIRE_FTP chooses for handles that say nothing. */
#include "pool.h"

static size_t count_line(char *data, size_t size, size_t count, void *user)
{
  (void)data;
  ++*(size_t *)user;
  return size * count;
}

int main(void)
{
  unsetenv("WARMWIRE_POOL");
  setenv("WARMWIRE_FTP", "pipeline", 1);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  size_t lines = 0;
  curl_easy_setopt(easy, CURLOPT_URL, ftp_url());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_body);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, count_line);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &lines);
  for(int i = 0; i < 4; i++) {
    lines = 0;
    SAME(curl_easy_perform(easy), CURLE_OK);
  }
  /* Curl's commands are answered by four: 229, 213, 150 and 226. */
  SAME(lines < 4, 1);
  SAME(warmwire_ftp_pipeline(easy, WARMWIRE_FTP_TOGETHER), CURLE_OK);
  SAME(curl_easy_perform(easy), CURLE_OK);
  lines = 0;
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(lines, 4);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return FAILURES;
}
