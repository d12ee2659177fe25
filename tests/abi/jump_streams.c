/* A jump out of a callback of one transfer takes nothing from others that have their streams on the same connection, even where
 * it was the one that opened it; and where it was the last, nothing stays.
 * covers: curl_multi_perform, curl_easy_perform, CURLOPT_PIPEWAIT, CURLOPT_HTTP_VERSION, curl_multi_cleanup, curl_easy_cleanup */
#include "check.h"
#include "jump.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* A POST's reply ends when a GET comes. */
static CURL *handle(int post, curl_write_callback function, struct text *body)
{
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, getenv("H2_SERVER"));
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  if(post)
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "x");
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, body);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 20L);
  return easy;
}

static void together(void)
{
  static CURLM *multi;
  static CURL *easies[4];
  static struct text bodies[4];
  static volatile int running, left, before, own[8];
  before = descriptors();
  multi = curl_multi_init();
  for(volatile int i = 0; i < 3; i++) {
    easies[i] = handle(1, i ? collect : jump, &bodies[i]);
    curl_multi_add_handle(multi, easies[i]);
  }
  if(!setjmp(out))
    while(curl_multi_perform(multi, (int *)&running), running)
      curl_multi_poll(multi, NULL, 0, 1000, NULL);
  easies[3] = handle(0, collect, &bodies[3]);
  curl_multi_add_handle(multi, easies[3]);
  /* Whatever is opened now must not be closed by who believes that the number is still his. */
  for(volatile int i = 0; i < 8; i++)
    own[i] = socket(AF_INET, SOCK_DGRAM, 0);
  while(curl_multi_perform(multi, (int *)&running), running)
    curl_multi_poll(multi, NULL, 0, 1000, NULL);
  CURLMsg *message;
  int done = 0;
  while((message = curl_multi_info_read(multi, (int *)&left))) {
    SAME(message->data.result, message->easy_handle == easies[0] ? CURLE_ABORTED_BY_CALLBACK : CURLE_OK);
    done++;
  }
  SAME(done, 4);
  SAME(bodies[1].length, 31000);
  SAME(bodies[2].length, 31000);
  SAME(bodies[3].length, 1000);
  for(int i = 1; i < 4; i++) {
    long connects = -1;
    curl_easy_getinfo(easies[i], CURLINFO_NUM_CONNECTS, &connects);
    SAME(connects, 0);
  }
  for(int i = 0; i < 4; i++) {
    curl_multi_remove_handle(multi, easies[i]);
    curl_easy_cleanup(easies[i]);
    free(bodies[i].at);
  }
  SAME(curl_multi_cleanup(multi), CURLM_OK);
  for(int i = 0; i < 8; i++) {
    CHECK(fcntl(own[i], F_GETFD) >= 0);
    close(own[i]);
  }
  CHECK(descriptors() <= before);
}

static void alone(void)
{
  static CURL *kept;
  static volatile int before, own[8];
  struct text body = {0};
  before = descriptors();
  kept = handle(1, jump, NULL);
  for(volatile int round = 0; round < 20; round++)
    if(!setjmp(out))
      curl_easy_perform(kept);
  CHECK(descriptors() <= before + 8);
  curl_easy_setopt(kept, CURLOPT_HTTPGET, 1L);
  curl_easy_setopt(kept, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(kept, CURLOPT_WRITEDATA, &body);
  for(int i = 0; i < 8; i++)
    own[i] = socket(AF_INET, SOCK_DGRAM, 0);
  SAME(curl_easy_perform(kept), CURLE_OK);
  SAME(body.length, 1000);
  curl_easy_cleanup(kept);
  for(int i = 0; i < 8; i++) {
    CHECK(fcntl(own[i], F_GETFD) >= 0);
    close(own[i]);
  }
  CHECK(descriptors() <= before);
  free(body.at);
}

int main(void)
{
  curl_global_init(CURL_GLOBAL_DEFAULT);
  together();
  alone();
  return FAILURES;
}
