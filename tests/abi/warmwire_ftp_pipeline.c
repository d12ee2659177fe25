/* How FTP commands are sent is chosen for each handle, copied with it, and forgotten by a reset. */
#include "pool.h"

static size_t lines;

static size_t count_line(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  lines++;
  return size * count;
}

/* Reply lines of the fourth of four files: 229, 213, 150 and 226 for the commands of curl. */
static size_t lines_of(CURL *easy)
{
  for(int i = 0; i < 4; i++) {
    lines = 0;
    if(curl_easy_perform(easy) != CURLE_OK)
      return 0;
  }
  return lines;
}

/* Without SIZE; the lines of 226 and 229 count when they were not there already. */
static int spares_some(CURL *easy)
{
  size_t lines = lines_of(easy);
  return lines > 0 && lines < 4;
}

static void set_up(CURL *easy)
{
  curl_easy_setopt(easy, CURLOPT_URL, ftp_url());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_body);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, count_line);
}

int main(void)
{
  unsetenv("WARMWIRE_POOL");
  unsetenv("WARMWIRE_FTP");
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  set_up(easy);
  SAME(lines_of(easy), 4);
  SAME(warmwire_ftp_pipeline(easy, WARMWIRE_FTP_WAIT), CURLE_OK);
  SAME(lines_of(easy), 4);
  SAME(warmwire_ftp_pipeline(easy, WARMWIRE_FTP_PIPELINE), CURLE_OK);
  SAME(spares_some(easy), 1);
  CURL *copy = curl_easy_duphandle(easy);
  SAME(spares_some(copy), 1);
  curl_easy_reset(copy);
  set_up(copy);
  SAME(lines_of(copy), 4);
  SAME(warmwire_ftp_pipeline(copy, WARMWIRE_FTP_TURNS), CURLE_OK);
  SAME(warmwire_ftp_pipeline(copy, -1), CURLE_OK);
  SAME(warmwire_ftp_pipeline(copy, -2), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_ftp_pipeline(copy, 4), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_ftp_pipeline(NULL, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_easy_cleanup(copy);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return FAILURES;
}
