/* An event loop of epoll(7) in which things change: functions and their data set anew while transfers run, pointers assigned to sockets,
 * pauses, calls from inside the callbacks, and callbacks that fail.
 * covers: CURLMOPT_SOCKETFUNCTION, CURLMOPT_SOCKETDATA, CURLMOPT_TIMERFUNCTION, CURLMOPT_TIMERDATA, curl_multi_socket_action, curl_multi_assign, curl_multi_socket_all */
#define CURL_DISABLE_DEPRECATION
#include "twin.h"
#include <sys/epoll.h>

static CURLM *multi;
static int queue, socket_calls, answer, timer_answer, want_log;
static long timer;
static char events[512];
static const char *function, *inside_name;
static void (*inside)(CURL *easy);

static void event(const char *text)
{
  size_t length = strlen(events), own = strlen(text);
  if(length >= own && !strcmp(events + length - own, text))
    return;
  snprintf(events + length, sizeof events - length, "%s", text);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *assigned)
{
  static const char *const names[] = {"0", "in", "out", "in+out", "removed"};
  struct epoll_event wanted = {.data.fd = fd};
  char text[64];
  socket_calls++;
  snprintf(text, sizeof text, " %s%s%s%s", function ? function : "", names[what], assigned ? "*" : "", user ? (char *)user : "");
  if(want_log)
    event(text);
  wanted.events = (what & CURL_POLL_IN && what != CURL_POLL_REMOVE ? EPOLLIN : 0) | (what & CURL_POLL_OUT && what != CURL_POLL_REMOVE ? EPOLLOUT : 0);
  if(what == CURL_POLL_REMOVE)
    epoll_ctl(queue, EPOLL_CTL_DEL, fd, NULL);
  else if(epoll_ctl(queue, EPOLL_CTL_MOD, fd, &wanted))
    epoll_ctl(queue, EPOLL_CTL_ADD, fd, &wanted);
  if(inside && what != CURL_POLL_REMOVE) {
    void (*once)(CURL *) = inside;
    inside = NULL;
    once(easy);
  }
  return answer;
}

static int second_function(CURL *easy, curl_socket_t fd, int what, void *user, void *assigned)
{
  function = "second:";
  int result = on_socket(easy, fd, what, user, assigned);
  function = NULL;
  return result;
}

static int on_timer(CURLM *handle, long ms, void *user)
{
  (void)handle, (void)user;
  timer = ms;
  return timer_answer;
}

/* The loop turns until nothing runs, until `stop` says so, or for so many turns. */
static int turn(int turns, int (*stop)(void))
{
  int running = 1;
  while(turns-- > 0 && running && !(stop && stop())) {
    struct epoll_event ready[8];
    int wait = timer < 0 || timer > 50 ? 50 : (int)timer, n = epoll_wait(queue, ready, 8, wait);
    CURLMcode code = CURLM_OK;
    if(!n) {
      if(timer >= 0 && timer <= wait)
        timer = -1;
      code = curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    for(int i = 0; i < n && !code; i++)
      code = curl_multi_socket_action(multi, ready[i].data.fd, (ready[i].events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) | (ready[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0), &running);
    if(code) {
      printf("turn: %d\n", code);
      break;
    }
  }
  return running;
}

static CURL *begin(const char *path)
{
  CURL *easy = to("SERVER", path);
  got = 0;
  *events = 0;
  timer = -1;
  printf("add: %d", curl_multi_add_handle(multi, easy));
  printf(", timer %ld\n", timer);
  return easy;
}

static void end(const char *name, CURL *easy)
{
  int code = code_of(multi, easy);
  printf("%s: code %d bytes %zu, remove %d", name, code, got, curl_multi_remove_handle(multi, easy));
  printf(", timer %ld,%s\n", timer, want_log ? events : "");
  curl_easy_cleanup(easy);
}

static int waits_for_answer(void) { return strstr(events, " in") != NULL; }
static int has_bytes(void) { return got > 0; }

static curl_socket_t last_socket(CURL *easy)
{
  curl_socket_t fd = -1;
  for(int i = 3; i < 100; i++)
    if(curl_multi_assign(multi, i, NULL) == CURLM_OK)
      fd = i;
  (void)easy;
  return fd;
}

static void replaced(void)
{
  /* Another function, other data, while the answer is waited for. */
  CURL *easy = begin("/delay/60/bytes/5");
  turn(100, waits_for_answer);
  *events = 0;
  curl_socket_t fd = last_socket(easy);
  printf("assign: %d\n", curl_multi_assign(multi, fd, &multi));
  printf("second: %d %d\n", curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, second_function), curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, "!"));
  turn(1000, NULL);
  end("function replaced", easy);
  printf("assign to what is gone: %d\n", curl_multi_assign(multi, fd, &multi));
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, NULL);
  /* None at all: the descriptors wanted are still those reported before. */
  easy = begin("/delay/60/bytes/5");
  turn(100, waits_for_answer);
  *events = 0;
  printf("none: %d\n", curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, NULL));
  turn(1000, NULL);
  end("no function", easy);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  /* No timer function for a while. */
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, NULL);
  easy = begin("/delay/60/bytes/5");
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  turn(1000, NULL);
  end("timer function later", easy);
}

static void paused(void)
{
  CURL *easy = begin("/drip/1000/300/bytes/4000");
  turn(1000, has_bytes);
  *events = 0;
  printf("pause: %d\n", curl_easy_pause(easy, CURLPAUSE_RECV));
  size_t before = got;
  turn(1, NULL);
  printf("paused: moved %d,%s\n", got != before, events);
  *events = 0;
  timer = -1;
  printf("go on: %d", curl_easy_pause(easy, CURLPAUSE_CONT));
  printf(", timer %ld\n", timer);
  turn(1000, NULL);
  end("paused", easy);
  easy = begin("/drip/1000/30/bytes/4000");
  WITH(easy, TIMEOUT_MS, 200L);
  turn(1000, has_bytes);
  curl_easy_pause(easy, CURLPAUSE_RECV);
  turn(1000, NULL);
  end("paused until its time is over", easy);
}

static void calls_inside(CURL *easy)
{
  int running = -1;
  long value = -1;
  CURL *other = curl_easy_init();
  fd_set sets[3];
  memset(sets, 0, sizeof sets);
  printf("inside: perform %d action %d all %d\n", curl_multi_perform(multi, &running), curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running), curl_multi_socket_all(multi, &running));
  printf("inside: add %d remove %d cleanup %d\n", curl_multi_add_handle(multi, other), curl_multi_remove_handle(multi, easy), curl_multi_cleanup(multi));
  printf("inside: fdset %d timeout %d wait %d poll %d\n", curl_multi_fdset(multi, &sets[0], &sets[1], &sets[2], &running), curl_multi_timeout(multi, &value), curl_multi_wait(multi, NULL, 0, 0, NULL), curl_multi_poll(multi, NULL, 0, 0, NULL));
  printf("inside: setopt %d\n", curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 9L));
  printf("inside: easy perform %d, of another %d\n", curl_easy_perform(easy), curl_easy_perform(other));
  printf("inside: set %d, info %d, message %d\n", curl_easy_setopt(easy, CURLOPT_PRIVATE, "x"), curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &value), curl_multi_info_read(multi, &running) != NULL);
  curl_easy_cleanup(other);
}

/* A timer callback that fails. (7.88 breaks when a socket callback does: tests/abi/counts.c.) */
static void failing(void)
{
  CURL *easy = to("SERVER", "/delay/20/bytes/3");
  multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  timer_answer = -1;
  printf("failing timer: add %d\n", curl_multi_add_handle(multi, easy));
  timer_answer = 0;
  printf("remove: %d\n", curl_multi_remove_handle(multi, easy));
  printf("cleanup: %d\n", curl_multi_cleanup(multi));
  curl_easy_cleanup(easy);
}

int main(void)
{
  int running = -1;
  queue = epoll_create1(0);
  multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  want_log = 1;
  CURL *easy = begin("/delay/60/bytes/5");
  printf("nothing before its time: %d, calls %d\n", curl_multi_socket_action(multi, 77, CURL_CSELECT_IN, &running), socket_calls);
  printf("running: %d\n", running);
  turn(1000, NULL);
  end("plain", easy);
  easy = begin("/delay/60/bytes/5");
  turn(1000, NULL);
  end("on a kept connection", easy);
  easy = begin("/delay/60/bytes/5");
  turn(100, waits_for_answer);
  printf("all: %d", curl_multi_socket_all(multi, &running));
  printf(" %d\n", running);
  printf("odd bits: %d\n", curl_multi_socket_action(multi, last_socket(easy), 0, &running));
  *events = 0;
  end("removed while it waits", easy);
  easy = to("SERVER", "/delay/1000/bytes/5");
  WITH(easy, TIMEOUT_MS, 100L);
  curl_multi_add_handle(multi, easy);
  turn(1000, NULL);
  end("out of time", easy);
  replaced();
  paused();
  inside = calls_inside;
  easy = begin("/delay/60/bytes/5");
  turn(1000, NULL);
  end("called from inside", easy);
  printf("cleanup: %d\n", curl_multi_cleanup(multi));
  want_log = 0;
  failing();
  close(queue);
  return 0;
}
