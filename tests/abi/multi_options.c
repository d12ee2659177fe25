/* Options of a multi handle that have nothing to do with HTTP/1 are taken as curl takes them; and no stream was pushed.
 * covers: CURLMOPT_MAX_PIPELINE_LENGTH, CURLMOPT_CONTENT_LENGTH_PENALTY_SIZE, CURLMOPT_CHUNK_LENGTH_PENALTY_SIZE,
 * covers: CURLMOPT_PIPELINING_SITE_BL, CURLMOPT_PIPELINING_SERVER_BL, CURLMOPT_PUSHFUNCTION, CURLMOPT_PUSHDATA,
 * covers: CURLMOPT_MAX_CONCURRENT_STREAMS, CURLMOPT_RESOLVE_THREADS_MAX, CURLMOPT_QUICK_EXIT, curl_pushheader_bynum,
 * covers: curl_pushheader_byname */
#define CURL_DISABLE_DEPRECATION
#include "check.h"

static int push(CURL *parent, CURL *easy, size_t count, struct curl_pushheaders *headers, void *user)
{
  (void)parent, (void)easy, (void)count, (void)user;
  CHECK(!curl_pushheader_bynum(headers, 0) && !curl_pushheader_byname(headers, "x"));
  return CURL_PUSH_DENY;
}

int main(void)
{
  CURLM *multi = curl_multi_init();
  CURL *easy = curl_easy_init();
  struct text body = {0};
  const char *sites[] = {"one.example", NULL};
  int running = 1;
  SAME(curl_multi_setopt(multi, CURLMOPT_MAX_PIPELINE_LENGTH, 3L), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_CONTENT_LENGTH_PENALTY_SIZE, (curl_off_t)3), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_CHUNK_LENGTH_PENALTY_SIZE, (curl_off_t)3), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_PIPELINING_SITE_BL, sites), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_PIPELINING_SERVER_BL, sites), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_PUSHFUNCTION, push), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_PUSHDATA, &body), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 10L), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_RESOLVE_THREADS_MAX, 2L), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_QUICK_EXIT, 1L), CURLM_OK);
  CHECK(!curl_pushheader_bynum(NULL, 0));
  CHECK(!curl_pushheader_byname(NULL, "x"));
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  SAME(curl_multi_add_handle(multi, easy), CURLM_OK);
  while(running && curl_multi_perform(multi, &running) == CURLM_OK)
    curl_multi_poll(multi, NULL, 0, 1000, NULL);
  SAME(body.length, 10);
  SAME(curl_multi_remove_handle(multi, easy), CURLM_OK);
  SAME(curl_multi_cleanup(multi), CURLM_OK);
  curl_easy_cleanup(easy);
  free(body.at);
  return FAILURES;
}
