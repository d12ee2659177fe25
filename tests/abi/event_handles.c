/* Socket and timer callbacks only hear of handles that the application made, with their private pointers, while
 * transfers share connections, wait for them and are taken out half way; and what they may call.
 * covers: CURLMOPT_SOCKETFUNCTION, CURLMOPT_SOCKETDATA, CURLMOPT_TIMERFUNCTION, CURLMOPT_TIMERDATA, curl_multi_socket_action,
 * covers: curl_multi_assign, CURLOPT_PRIVATE, CURLINFO_PRIVATE, CURLMOPT_MAX_TOTAL_CONNECTIONS */
#include "check.h"
#include <poll.h>

#define MANY 12

static CURL *made[MANY];
static struct pollfd watched[64];
static int count, done, socket_reports, removals;
static long due = -1;

static int is_ours(CURL *easy)
{
  char *mine = NULL;
  for(int i = 0; i < MANY; i++)
    if(made[i] && made[i] == easy)
      return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &mine) == CURLE_OK && mine == (char *)&made[i];
  return 0;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *assigned)
{
  int at = 0;
  CURLM *multi = user;
  CHECK(is_ours(easy));
  SAME(curl_easy_pause(easy, CURLPAUSE_CONT), CURLE_RECURSIVE_API_CALL);
  SAME(curl_multi_remove_handle(multi, easy), CURLM_RECURSIVE_API_CALL);
  while(at < count && watched[at].fd != fd)
    at++;
  CHECK(at == count ? !assigned : assigned == (void *)&watched);
  socket_reports++;
  if(what == CURL_POLL_REMOVE) {
    removals++;
    if(at < count)
      watched[at] = watched[--count];
    return 0;
  }
  if(at == count)
    count++;
  watched[at].fd = fd;
  watched[at].events = (short)((what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0));
  SAME(curl_multi_assign(multi, fd, watched), CURLM_OK);
  return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *user)
{
  int running;
  CHECK(multi && user == (void *)&due);
  SAME(curl_multi_perform(multi, &running), CURLM_RECURSIVE_API_CALL);
  due = timeout_ms;
  return 0;
}

static void take_messages(CURLM *multi)
{
  CURLMsg *message;
  int left;
  while((message = curl_multi_info_read(multi, &left))) {
    CHECK(is_ours(message->easy_handle));
    SAME(message->data.result, CURLE_OK);
    done++;
  }
}

int main(void)
{
  CURLM *multi = curl_multi_init();
  struct text body = {0};
  int running = 1, taken_out = 0;
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, multi);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, &due);
  curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 3L);
  for(int i = 0; i < MANY; i++) {
    made[i] = curl_easy_init();
    curl_easy_setopt(made[i], CURLOPT_PRIVATE, &made[i]);
    curl_easy_setopt(made[i], CURLOPT_URL, server(i % 3 ? "/delay/20/bytes/100" : "/bytes/100"));
    curl_easy_setopt(made[i], CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(made[i], CURLOPT_WRITEDATA, &body);
    SAME(curl_multi_add_handle(multi, made[i]), CURLM_OK);
  }
  CHECK(due == 0); /* reported before add_handle returned */
  for(int turn = 0; running && turn < 1000; turn++) {
    int wait_ms = due < 0 || due > 100 ? 100 : (int)due;
    int ready = poll(watched, (nfds_t)count, wait_ms);
    struct pollfd now[64];
    int known = count;
    memcpy(now, watched, sizeof now);
    if(ready <= 0) {
      due = -1;
      SAME(curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running), CURLM_OK);
    }
    for(int i = 0; ready > 0 && i < known; i++) {
      int bits = (now[i].revents & (POLLIN | POLLHUP) ? CURL_CSELECT_IN : 0) | (now[i].revents & POLLOUT ? CURL_CSELECT_OUT : 0);
      if(now[i].revents)
        SAME(curl_multi_socket_action(multi, now[i].fd, bits, &running), CURLM_OK);
    }
    take_messages(multi);
    if(!taken_out && done >= 2) { /* one that runs, one that waits */
      for(int i = MANY - 2; i < MANY; i++) {
        taken_out++;
        SAME(curl_multi_remove_handle(multi, made[i]), CURLM_OK);
        curl_easy_cleanup(made[i]);
        made[i] = NULL;
      }
    }
  }
  SAME(running, 0);
  SAME(done, MANY - taken_out);
  CHECK(body.length >= 100u * (MANY - 2));
  CHECK(socket_reports > 0 && removals > 0);
  for(int i = 0; i < MANY; i++) {
    if(made[i])
      curl_multi_remove_handle(multi, made[i]);
  }
  SAME(curl_multi_cleanup(multi), CURLM_OK);
  SAME(count, 0); /* nothing is left watched */
  for(int i = 0; i < MANY; i++)
    if(made[i])
      curl_easy_cleanup(made[i]);
  free(body.at);
  return FAILURES;
}
