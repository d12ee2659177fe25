/* curl_multi_timeout, fdset, wait and poll at each stage of a transfer, with descriptors of the application's own, and the wake-up
 * from another thread.
 * covers: curl_multi_timeout, curl_multi_fdset, curl_multi_wait, curl_multi_poll, curl_multi_wakeup */
#include "peer.h"
#include <poll.h>
#include <sys/select.h>

static void sets(const char *when, CURLM *multi)
{
  fd_set in, out, odd;
  int max = -7, reads = 0, writes = 0, odds = 0;
  long ms = -7;
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_ZERO(&odd);
  CURLMcode code = curl_multi_fdset(multi, &in, &out, &odd, &max);
  for(int fd = 0; fd <= max; fd++)
    reads += FD_ISSET(fd, &in) != 0, writes += FD_ISSET(fd, &out) != 0, odds += FD_ISSET(fd, &odd) != 0;
  CURLMcode also = curl_multi_timeout(multi, &ms);
  printf("%s: fdset %d any %d read %d write %d odd %d; timeout %d %s\n", when, code, max >= 0, reads, writes, odds, also,
         ms < 0 ? "none" : ms == 0 ? "now" : "later");
}

static void *wake(void *multi)
{
  usleep(100000);
  curl_multi_wakeup(multi);
  return NULL;
}

static void extra(CURLM *multi, const char *name)
{
  int pipes[2], count = -7;
  (void)!pipe(pipes);
  struct curl_waitfd fds[2] = {{.fd = pipes[0], .events = CURL_WAIT_POLLIN}, {.fd = pipes[1], .events = CURL_WAIT_POLLOUT}};
  double begun = now_s();
  CURLMcode code = curl_multi_wait(multi, fds, 1, 80, &count);
  printf("%s wait, nothing: %d %d revents %d, in time %d\n", name, code, count, fds[0].revents, now_s() - begun > 0.07 && now_s() - begun < 1);
  code = curl_multi_poll(multi, fds, 2, 5000, &count);
  printf("%s poll, writable: %d %d revents %d %d\n", name, code, count, fds[0].revents, fds[1].revents);
  (void)!write(pipes[1], "x", 1);
  code = curl_multi_poll(multi, fds, 1, 5000, &count);
  printf("%s poll, readable: %d %d revents %d\n", name, code, count, fds[0].revents);
  fds[0].events = CURL_WAIT_POLLPRI;
  code = curl_multi_poll(multi, fds, 1, 20, &count);
  printf("%s poll, nothing urgent: %d %d revents %d\n", name, code, count, fds[0].revents);
  close(pipes[1]);
  fds[0].events = CURL_WAIT_POLLIN;
  code = curl_multi_poll(multi, fds, 1, 5000, &count);
  printf("%s poll, closed: %d %d\n", name, code, count);
  close(pipes[0]);
}

int main(void)
{
  CURLM *multi = curl_multi_init();
  struct peer *peer = peer_new();
  int running, count = -7;
  peer->says[0] = OK_BODY;
  peer->delay_ms = 200;
  peer_start(peer);
  sets("empty", multi);
  extra(multi, "empty");
  double begun = now_s();
  printf("wait on nothing: %d %d", curl_multi_wait(multi, NULL, 0, 300, &count), count);
  printf(" at once %d\n", now_s() - begun < 0.2);
  begun = now_s();
  printf("poll on nothing: %d %d", curl_multi_poll(multi, NULL, 0, 100, &count), count);
  printf(" at once %d\n", now_s() - begun < 0.05);
  printf("negative: %d %d\n", curl_multi_wait(multi, NULL, 0, -1, NULL), curl_multi_poll(multi, NULL, 0, -1, NULL));
  CURL *easy = to_peer(peer, "/");
  curl_multi_add_handle(multi, easy);
  sets("added", multi);
  do {
    curl_multi_perform(multi, &running);
    if(peer->heard_length[0])
      break;
    curl_multi_poll(multi, NULL, 0, 10, NULL);
  } while(running);
  curl_multi_perform(multi, &running);
  curl_multi_poll(multi, NULL, 0, 20, NULL);
  curl_multi_perform(multi, &running);
  sets("waiting for the reply", multi);
  extra(multi, "waiting");
  while(running)
    curl_multi_perform(multi, &running), running && curl_multi_poll(multi, NULL, 0, 100, NULL);
  sets("done", multi);
  pthread_t thread;
  pthread_create(&thread, NULL, wake, multi);
  begun = now_s();
  CURLMcode code = curl_multi_poll(multi, NULL, 0, 5000, &count);
  printf("woken: %d %d, in time %d\n", code, count, now_s() - begun > 0.05 && now_s() - begun < 2);
  pthread_join(thread, NULL);
  curl_multi_wakeup(multi), curl_multi_wakeup(multi);
  begun = now_s();
  code = curl_multi_poll(multi, NULL, 0, 2000, &count);
  printf("woken before: %d %d, at once %d\n", code, count, now_s() - begun < 1);
  begun = now_s();
  code = curl_multi_poll(multi, NULL, 0, 100, &count);
  printf("once only: %d %d %d\n", code, count, now_s() - begun > 0.08);
  curl_multi_wakeup(multi);
  begun = now_s();
  code = curl_multi_wait(multi, NULL, 0, 0, &count);
  printf("wait is not woken: %d %d\n", code, count);
  curl_multi_remove_handle(multi, easy);
  sets("removed", multi);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  peer_end(peer);
  return 0;
}
