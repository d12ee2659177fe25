/* A signal ends a wait: the progress function has its turn at once, and curl_multi_poll and curl_multi_wait return.
 * covers: curl_easy_perform, curl_multi_poll, curl_multi_wait, CURLOPT_XFERINFOFUNCTION */
#include "check.h"
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
  (void)number;
  interrupted = 1;
}

static void signal_after_ms(long ms)
{
  struct itimerval timer = {.it_value = {.tv_usec = ms * 1000}};
  interrupted = 0;
  setitimer(ITIMER_REAL, &timer, NULL);
}

static int on_progress(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
  (void)user, (void)a, (void)b, (void)c, (void)d;
  return interrupted;
}

static long now_ms(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static CURL *slow(void)
{
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server("/delay/6000/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
  return easy;
}

/* Enough transfers that they are waited for by another way. */
static void in_a_multi(int transfers)
{
  CURLM *multi = curl_multi_init();
  CURL *easy[20];
  int running, aborted = 0, left, count = -1;
  interrupted = 0;
  for(int i = 0; i < transfers; i++)
    curl_multi_add_handle(multi, easy[i] = slow());
  long end = now_ms() + 300;
  while(now_ms() < end) {
    curl_multi_perform(multi, &running);
    curl_multi_poll(multi, NULL, 0, 50, NULL);
  }
  SAME(running, transfers);
  for(int way = 0; way < 2; way++) {
    struct curl_waitfd none = {.fd = -1, .revents = 7};
    interrupted = 0;
    curl_multi_perform(multi, &running);
    long begun = now_ms();
    signal_after_ms(100);
    SAME(way ? curl_multi_wait(multi, &none, 1, 4000, &count) : curl_multi_poll(multi, &none, 1, 4000, &count), CURLM_OK);
    CHECK(interrupted && now_ms() - begun < 900);
    SAME(count, 0);
    SAME(none.revents, 0);
  }
  SAME(curl_multi_perform(multi, &running), CURLM_OK);
  SAME(running, 0);
  for(CURLMsg *message; (message = curl_multi_info_read(multi, &left));)
    aborted += message->data.result == CURLE_ABORTED_BY_CALLBACK;
  SAME(aborted, transfers);
  for(int i = 0; i < transfers; i++) {
    curl_multi_remove_handle(multi, easy[i]);
    curl_easy_cleanup(easy[i]);
  }
  curl_multi_cleanup(multi);
}

int main(void)
{
  struct sigaction action = {.sa_handler = on_signal};
  CURL *easy = slow();
  long begun = now_ms();
  sigaction(SIGALRM, &action, NULL);
  signal_after_ms(300);
  SAME(curl_easy_perform(easy), CURLE_ABORTED_BY_CALLBACK);
  CHECK(now_ms() - begun < 900);
  curl_easy_cleanup(easy);
  in_a_multi(1);
  in_a_multi(20);
  return FAILURES;
}
