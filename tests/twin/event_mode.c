/* An event loop of poll(2) on curl_multi_socket_action: the calls of the socket and the timer callback, and curl_multi_assign.
 * covers: curl_multi_socket_action, curl_multi_assign, CURLMOPT_SOCKETFUNCTION, CURLMOPT_SOCKETDATA, CURLMOPT_TIMERFUNCTION, CURLMOPT_TIMERDATA */
#include "twin.h"
#include <poll.h>

static struct pollfd watched[16];
static int count, in_reports, out_reports, removals, assigned, timer_set;
static long timer = -1;
static CURLM *multi;

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *of_socket)
{
  int i = 0;
  if(user != &count || !easy)
    printf("wrong user\n");
  while(i < count && watched[i].fd != fd)
    i++;
  if(of_socket && of_socket != &watched[0])
    printf("wrong pointer\n");
  assigned += of_socket != NULL;
  if(what == CURL_POLL_REMOVE) {
    removals++;
    if(i < count)
      watched[i] = watched[--count];
    else
      printf("removed, never reported\n");
    return 0;
  }
  in_reports += (what & CURL_POLL_IN) != 0;
  out_reports += (what & CURL_POLL_OUT) != 0;
  if(i == count)
    count++, curl_multi_assign(multi, fd, &watched[0]);
  watched[i] = (struct pollfd){.fd = fd, .events = (what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0)};
  return 0;
}

static int on_timer(CURLM *handle, long ms, void *user)
{
  if(handle != multi || user != &timer)
    printf("wrong timer\n");
  timer = ms;
  timer_set++;
  return 0;
}

static void loop(const char *name)
{
  int running = 1, rounds = 0;
  while(running && rounds++ < 2000) {
    long wait = timer < 0 ? 1000 : timer;
    int ready = poll(watched, count, (int)(wait > 1000 ? 1000 : wait));
    if(ready <= 0) {
      timer = -1;
      curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
      continue;
    }
    struct pollfd now[16];
    int n = count;
    memcpy(now, watched, sizeof now);
    for(int i = 0; i < n; i++)
      if(now[i].revents)
        curl_multi_socket_action(multi, now[i].fd, (now[i].revents & (POLLIN | POLLHUP) ? CURL_CSELECT_IN : 0) | (now[i].revents & POLLOUT ? CURL_CSELECT_OUT : 0) |
                                 (now[i].revents & POLLERR ? CURL_CSELECT_ERR : 0), &running);
  }
  printf("%s: running %d, watched %d, timer set %d\n", name, running, count, timer_set > 0);
  if(strstr(name, "delay")) /* the others may be over before anything must be waited for */
    printf("%s reported: in %d out %d removed %d, pointer came back %d\n", name, in_reports > 0, out_reports > 0, removals > 0, assigned > 0);
  in_reports = out_reports = removals = assigned = timer_set = 0;
}

int main(void)
{
  multi = curl_multi_init();
  printf("set: %d %d %d %d\n", curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket), curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, &count),
         curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer), curl_multi_setopt(multi, CURLMOPT_TIMERDATA, &timer));
  static const char *paths[] = {"/bytes/10", "/chunked/100000/1000", "/redirect/3", "/delay/100/bytes/5", "/last/bytes/7", "/close/1000", "/cut/20/bytes/100", "/bytes/3000000"};
  for(size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    CURL *easy = to("SERVER", paths[i]);
    int left, running = -1;
    WITH(easy, FOLLOWLOCATION, 1L);
    printf("add: %d, timer set at once %d\n", curl_multi_add_handle(multi, easy), timer_set > 0 && timer == 0);
    got = 0;
    loop(paths[i]);
    CURLMsg *message = curl_multi_info_read(multi, &left);
    printf("%s ends: %d bytes %zu\n", paths[i], message ? (int)message->data.result : -1, got);
    curl_multi_remove_handle(multi, easy);
    printf("idle: watched %d\n", count);
    printf("nothing to do: %d %d\n", curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running), running);
    curl_easy_cleanup(easy);
  }
  printf("unknown socket: %d, assign %d\n", curl_multi_socket_action(multi, 1000, CURL_CSELECT_IN, &count), curl_multi_assign(multi, 1000, NULL));
  /* A failing callback. */
  printf("cleanup: %d\n", curl_multi_cleanup(multi));
  return 0;
}
