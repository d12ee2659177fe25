/* Two threads on one handle: the second gets an error code, and nothing breaks.
 * covers: curl_easy_getinfo, curl_easy_setopt, curl_multi_add_handle, curl_multi_wakeup */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

static CURL *easy;
static atomic_int inside, release_it;

static size_t hold(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  inside = 1;
  while(!release_it)
    ;
  return size * count;
}

static void *run(void *user)
{
  (void)user;
  SAME(curl_easy_perform(easy), CURLE_OK);
  return NULL;
}

int main(void)
{
  pthread_t thread;
  long code;
  CURLM *multi = curl_multi_init();
  easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, hold);
  pthread_create(&thread, NULL, run, NULL);
  while(!inside)
    ;
  SAME(curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_setopt(easy, CURLOPT_URL, "x"), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_perform(easy), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_multi_add_handle(multi, easy), CURLM_BAD_EASY_HANDLE);
  CHECK(!curl_easy_duphandle(easy));
  curl_easy_cleanup(easy); /* ignored */
  release_it = 1;
  pthread_join(thread, NULL);
  SAME(curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code), CURLE_OK);
  SAME(code, 200);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  return FAILURES;
}
