/* loop_libevent BASE NAMED: the scenario, driven by libevent 2.
 * link: -levent */
#include "scenario.h"
#include <event2/event.h>

static struct event_base *base;
static struct event *timer, *interference;

static void on_ready(evutil_socket_t fd, short what, void *user) {
  (void)user;
  scenario_act(fd, (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
  if (scenario_over()) event_base_loopbreak(base);
}

static void on_timer(evutil_socket_t fd, short what, void *user) {
  (void)fd, (void)what, (void)user;
  scenario_act(CURL_SOCKET_TIMEOUT, 0);
  if (scenario_over()) event_base_loopbreak(base);
}

static void on_interference(evutil_socket_t fd, short what, void *user) {
  (void)fd, (void)what, (void)user;
  struct timeval again = {0, 20000};
  if (!scenario_interfere()) evtimer_add(interference, &again);
}

/* The event of a socket is kept by curl_multi_assign. */
static int socket_callback(CURL *easy, curl_socket_t fd, int what, void *user, void *known) {
  struct event *event = known;
  struct job *job = NULL;
  (void)user;
  /* The handle passed here is always one of the application's, with its private pointer. */
  if (curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&job) || job < scene.jobs || job >= scene.jobs + ALL)
    puts("a handle that is not the application's");
  if (event) {
    event_del(event);
    event_free(event);
    scene.watched--;
  }
  event = NULL;
  if (what != CURL_POLL_REMOVE) {
    short bits = EV_PERSIST | (what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0);
    event = event_new(base, fd, bits, on_ready, NULL);
    event_add(event, NULL);
    scene.watched++;
  }
  curl_multi_assign(scene.multi, fd, event);
  return 0;
}

static int timer_callback(CURLM *multi, long timeout_ms, void *user) {
  struct timeval wait = {timeout_ms / 1000, timeout_ms % 1000 * 1000};
  (void)multi, (void)user;
  scene.timer_ms = timeout_ms;
  if (timeout_ms < 0) evtimer_del(timer);
  else evtimer_add(timer, &wait);
  return 0;
}

int main(int argc, char **argv) {
  struct timeval soon = {0, 150000};
  if (argc < 3) return 2;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  base = event_base_new();
  timer = evtimer_new(base, on_timer, NULL);
  interference = evtimer_new(base, on_interference, NULL);
  scene.multi = curl_multi_init();
  curl_multi_setopt(scene.multi, CURLMOPT_SOCKETFUNCTION, socket_callback);
  curl_multi_setopt(scene.multi, CURLMOPT_TIMERFUNCTION, timer_callback);
  scenario_open(argv[1], argv[2]);
  scenario_start();
  evtimer_add(interference, &soon);
  event_base_dispatch(base);
  scenario_report();
  event_free(timer);
  event_free(interference);
  event_base_free(base);
  curl_global_cleanup();
  return 0;
}
