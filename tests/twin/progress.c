/* CURLOPT_XFERINFOFUNCTION and CURLOPT_PROGRESSFUNCTION: the first and last numbers they get, and what their answers do.
 * covers: CURLOPT_XFERINFOFUNCTION, CURLOPT_XFERINFODATA, CURLOPT_PROGRESSFUNCTION, CURLOPT_NOPROGRESS */
#include "peer.h"

static int called, answer, rising;
static curl_off_t last[4], before[4];

static int info(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
  curl_off_t now[4] = {a, b, c, d};
  if(user != &called)
    printf("wrong user\n");
  called++;
  rising = rising && b >= before[1] && d >= before[3];
  memcpy(before, now, sizeof now);
  memcpy(last, now, sizeof now);
  return answer;
}

static int old(void *user, double a, double b, double c, double d) { return info(user, (curl_off_t)a, (curl_off_t)b, (curl_off_t)c, (curl_off_t)d); }

static size_t give(char *to, size_t size, size_t count, void *user)
{
  size_t *left = user, n = size * count < *left ? size * count : *left;
  memset(to, 'u', n);
  *left -= n;
  return n;
}

static void run(const char *name, CURL *easy)
{
  called = 0, rising = 1;
  memset(before, 0, sizeof before);
  memset(last, 0xff, sizeof last);
  go(name, easy);
  if(!strstr(name, "redirect")) /* each request begins with nothing */
    printf("%s: rising %d\n", name, rising);
  printf("%s: called %d last %lld %lld %lld %lld\n", name, called > 0, (long long)last[0], (long long)last[1], (long long)last[2], (long long)last[3]);
}

int main(void)
{
  static const char *paths[] = {"/bytes/0", "/bytes/100000", "/chunked/5000/100", "/redirect/2", "/gzip/10000", "/close/3000", "/status/404"};
  for(int of_old = 0; of_old < 2; of_old++)
    for(size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
      CURL *easy = to("SERVER", paths[i]);
      WITH(easy, NOPROGRESS, 0L);
      WITH(easy, FOLLOWLOCATION, 1L);
      if(of_old) {
        WITH(easy, PROGRESSFUNCTION, old);
        WITH(easy, PROGRESSDATA, &called);
      }
      else {
        WITH(easy, XFERINFOFUNCTION, info);
        WITH(easy, XFERINFODATA, &called);
      }
      run(paths[i], easy);
      curl_easy_cleanup(easy);
    }
  CURL *easy = to("SERVER", "/sum");
  size_t left = 50000;
  WITH(easy, NOPROGRESS, 0L);
  WITH(easy, XFERINFOFUNCTION, info);
  WITH(easy, XFERINFODATA, &called);
  WITH(easy, UPLOAD, 1L);
  WITH(easy, INFILESIZE, 50000L);
  WITH(easy, READFUNCTION, give);
  WITH(easy, READDATA, &left);
  WITH(easy, EXPECT_100_TIMEOUT_MS, 1L);
  run("put", easy);
  WITH(easy, INFILESIZE, -1L);
  left = 3000;
  run("chunked put", easy);
  WITH(easy, UPLOAD, 0L);
  WITH(easy, POSTFIELDS, "twelve bytes");
  run("post", easy);
  WITH(easy, HTTPGET, 1L);
  struct peer *peer = peer_saying(OK_BODY, OK_BODY); /* who may hear of it or not */
  curl_easy_setopt(easy, CURLOPT_URL, peer->url);
  static const int answers[] = {1, -1, 1000, CURL_PROGRESSFUNC_CONTINUE};
  for(int i = 0; i < 3; i++) {
    answer = answers[i];
    called = 0;
    printf("answer %d: %d\n", answer, curl_easy_perform(easy));
  }
  peer_end(peer);
  answer = 0;
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/bytes/10"));
  WITH(easy, NOPROGRESS, 1L);
  run("switched off", easy);
  curl_easy_cleanup(easy);
  return 0;
}
