/* An application that jumps out of a callback, over the library's frames, can go on and clean up.
 * covers: curl_easy_perform, curl_easy_cleanup, curl_multi_perform, curl_multi_cleanup */
#include "check.h"
#include <setjmp.h>

static jmp_buf out;

static size_t jump(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)size, (void)count, (void)user;
  longjmp(out, 1);
}

/* Further down the stack than the call that was jumped out of. */
static void deep(int depth, void (*then)(void *), void *what)
{
  volatile char frame[512];
  memset((char *)frame, depth, sizeof frame);
  if(depth)
    deep(depth - 1, then, what);
  else
    then(what);
  frame[0] = 0;
}

static void clean_easy(void *easy) { curl_easy_cleanup(easy); }
static void clean_multi(void *multi) { SAME(curl_multi_cleanup(multi), CURLM_OK); }

int main(void)
{
  for(int pass = 0; pass < 2; pass++) {
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, jump);
    if(!setjmp(out)) {
      curl_easy_perform(easy);
      CHECK(!"reached");
    }
    if(pass)
      deep(100, clean_easy, easy);
    else
      curl_easy_cleanup(easy);
    char *pointer;
    SAME(curl_easy_getinfo(easy, CURLINFO_PRIVATE, &pointer), CURLE_BAD_FUNCTION_ARGUMENT); /* really gone */
  }
  for(int pass = 0; pass < 2; pass++) {
    CURLM *multi = curl_multi_init();
    CURL *easy = curl_easy_init();
    int running = 1;
    curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, jump);
    curl_multi_add_handle(multi, easy);
    if(!setjmp(out))
      while(running)
        curl_multi_perform(multi, &running), curl_multi_poll(multi, NULL, 0, 1000, NULL);
    if(pass) {
      SAME(curl_multi_remove_handle(multi, easy), CURLM_OK);
      curl_easy_cleanup(easy);
      SAME(curl_multi_cleanup(multi), CURLM_OK);
    }
    else {
      deep(100, clean_multi, multi);
      deep(100, clean_easy, easy);
    }
  }
  return FAILURES;
}
