/* loop_libuv BASE NAMED: the scenario, driven by libuv 1, which dislikes descriptors that are closed while it polls
 * them: each must be taken back before.
 * link: -luv */
#include "scenario.h"
#include <uv.h>

static uv_loop_t *loop;
static uv_timer_t timer, interference;

static void stop_when_over(void) {
  if (scenario_over()) uv_stop(loop);
}

static void on_ready(uv_poll_t *poll, int status, int events) {
  uv_os_fd_t fd;
  int bits = status < 0 ? CURL_CSELECT_ERR : 0;
  if (uv_fileno((uv_handle_t *)poll, &fd)) puts("a poll handle without descriptor");
  if (events & UV_READABLE) bits |= CURL_CSELECT_IN;
  if (events & UV_WRITABLE) bits |= CURL_CSELECT_OUT;
  scenario_act(fd, bits);
  stop_when_over();
}

static void on_timer(uv_timer_t *unused) {
  (void)unused;
  scenario_act(CURL_SOCKET_TIMEOUT, 0);
  stop_when_over();
}

static void on_interference(uv_timer_t *unused) {
  (void)unused;
  if (!scenario_interfere()) uv_timer_start(&interference, on_interference, 20, 0);
}

static void on_closed(uv_handle_t *handle) { free(handle); }

static int socket_callback(CURL *easy, curl_socket_t fd, int what, void *user, void *known) {
  uv_poll_t *poll = known;
  struct job *job = NULL;
  (void)user;
  if (curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&job) || job < scene.jobs || job >= scene.jobs + ALL)
    puts("a handle that is not the application's");
  if (what == CURL_POLL_REMOVE) {
    if (!poll) return 0;
    uv_poll_stop(poll);
    uv_close((uv_handle_t *)poll, on_closed);
    curl_multi_assign(scene.multi, fd, NULL);
    scene.watched--;
    return 0;
  }
  if (!poll) {
    poll = malloc(sizeof *poll);
    if (uv_poll_init_socket(loop, poll, fd)) puts("uv_poll_init_socket");
    curl_multi_assign(scene.multi, fd, poll);
    scene.watched++;
  }
  uv_poll_start(poll, (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0), on_ready);
  return 0;
}

static int timer_callback(CURLM *multi, long timeout_ms, void *user) {
  (void)multi, (void)user;
  scene.timer_ms = timeout_ms;
  if (timeout_ms < 0) uv_timer_stop(&timer);
  else uv_timer_start(&timer, on_timer, (uint64_t)timeout_ms, 0);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  loop = uv_default_loop();
  uv_timer_init(loop, &timer);
  uv_timer_init(loop, &interference);
  scene.multi = curl_multi_init();
  curl_multi_setopt(scene.multi, CURLMOPT_SOCKETFUNCTION, socket_callback);
  curl_multi_setopt(scene.multi, CURLMOPT_TIMERFUNCTION, timer_callback);
  scenario_open(argv[1], argv[2]);
  scenario_start();
  uv_timer_start(&interference, on_interference, 150, 0);
  uv_run(loop, UV_RUN_DEFAULT);
  scenario_report();
  uv_close((uv_handle_t *)&timer, NULL);
  uv_close((uv_handle_t *)&interference, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  printf("closed=%d\n", uv_loop_close(loop) == 0);
  curl_global_cleanup();
  return 0;
}
