/* The priority of a handle is in its requests, in those of its copies, and of no other; it may change in a callback. */
#include "pool.h"
#include <string.h>

static int found; /* the last priority in a head that was sent: -1 without a field */

static int watch(CURL *easy, curl_infotype kind, char *data, size_t size, void *user)
{
  (void)easy, (void)user;
  if(kind == CURLINFO_HEADER_OUT) {
    char head[2048] = "";
    memcpy(head, data, size < sizeof head ? size : sizeof head - 1);
    const char *line = strstr(head, "Priority: u=");
    found = line ? line[12] - '0' + (line[13] == ',' ? 10 : 0) : -1;
  }
  return 0;
}

static size_t change(char *data, size_t size, size_t count, void *user)
{
  (void)data;
  SAME(warmwire_priority(user, 7, 0), CURLE_OK);
  return size * count;
}

static int sent(CURL *easy)
{
  found = -2;
  SAME(curl_easy_perform(easy), CURLE_OK);
  return found;
}

static void prepare(CURL *easy, curl_write_callback write)
{
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
  curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, watch);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, easy);
}

int main(void)
{
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  prepare(easy, change);
  SAME(sent(easy), -1);
  /* The write function of the first transfer has set it. */
  SAME(sent(easy), 7);
  SAME(warmwire_priority(easy, 0, 1), CURLE_OK);
  CURL *copy = curl_easy_duphandle(easy);
  curl_easy_setopt(copy, CURLOPT_WRITEFUNCTION, drop_body);
  SAME(sent(copy), 10);
  curl_easy_cleanup(copy);
  SAME(sent(easy), 10);
  SAME(warmwire_priority(easy, 8, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_priority(easy, -2, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_priority(NULL, 1, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(sent(easy), 7);
  SAME(warmwire_priority(easy, -1, 1), CURLE_OK);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_body);
  SAME(sent(easy), -1);
  SAME(warmwire_priority(easy, 5, 0), CURLE_OK);
  curl_easy_reset(easy);
  prepare(easy, drop_body);
  SAME(sent(easy), -1);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return FAILURES;
}
