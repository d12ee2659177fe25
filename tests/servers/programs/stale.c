/* NULL, foreign and stale handles get an error, never a crash; only our library promises it. */
#include "facts.h"

int main(void) {
  long value;
  int running;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  CURLM *multi = curl_multi_init();
  CURLSH *share = curl_share_init();
  char foreign[4096];
  memset(foreign, 0x5a, sizeof foreign);
  printf("null %d %d %d %d %d\n", curl_easy_perform(NULL), curl_easy_setopt(NULL, CURLOPT_URL, "x"),
         curl_easy_getinfo(NULL, CURLINFO_RESPONSE_CODE, &value), curl_multi_perform(NULL, &running),
         curl_multi_add_handle(multi, NULL));
  printf("foreign %d %d %d\n", curl_easy_perform((CURL *)foreign), curl_multi_perform((CURLM *)foreign, &running),
         curl_easy_perform((CURL *)multi));
  printf("swapped %d %d\n", curl_multi_add_handle(multi, (CURL *)multi), curl_multi_perform((CURLM *)easy, &running));
  curl_easy_cleanup(easy);
  printf("stale %d %d\n", curl_easy_perform(easy), curl_multi_add_handle(multi, easy));
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  printf("gone %d\n", curl_multi_perform(multi, &running));
  printf("share %d\n", curl_share_cleanup(share));
  printf("again %d\n", curl_share_cleanup(share));
  curl_easy_cleanup(NULL);
  curl_slist_free_all(NULL);
  curl_free(NULL);
  curl_global_cleanup();
  puts("end");
  return 0;
}
