/* crowd LOOP COUNT EVENTS BASE [HOSTS]: COUNT transfers at once in one multi handle, each held back by the server after the first
 * byte of its body; then one among them that gets a byte at a time; then the end of all. LOOP is poll (curl_multi_poll and
 * curl_multi_perform) or epoll (curl_multi_socket_action). With HOSTS the transfers go to so many addresses, 127.0.N.M;
 * the environment's PAUSE_US is the time between two bytes.
 *
 * Prints names and figures: microseconds of this process's CPU for each start, event and end; bytes of memory, as the allocator
 * counts them, for each handle, each transfer with and without its handle, each idle connection; and resident bytes without the
 * pages of files. */
#define _GNU_SOURCE
#include "measure.h"
#include <curl/curl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static CURLM *multi;
static int by_epoll, epoll_fd, running;
static long timer_ms = -1;
static double timer_set;
static size_t pieces;
static CURL *last; /* to have ended */

static size_t count_piece(char *data, size_t size, size_t count, void *user) {
  (void)data, (void)user;
  pieces++;
  return size * count;
}

static int watch(CURL *easy, curl_socket_t fd, int what, void *user, void *known) {
  (void)easy, (void)user;
  struct epoll_event event = {.data.fd = fd};
  if (what != CURL_POLL_OUT) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  if (what == CURL_POLL_REMOVE) epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, &event);
  else if (known) epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &event);
  else epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event), curl_multi_assign(multi, fd, &epoll_fd);
  return 0;
}

static int set_timer(CURLM *of, long ms, void *user) {
  (void)of, (void)user;
  timer_ms = ms, timer_set = wall_us();
  return 0;
}

static void must(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* One turn of the loop; the messages that came are read. */
static void turn(void) {
  if (by_epoll) {
    struct epoll_event events[64];
    double left = timer_ms < 0 ? 1000 : timer_ms - (wall_us() - timer_set) / 1e3;
    int n = epoll_wait(epoll_fd, events, 64, left < 0 ? 0 : left > 1000 ? 1000 : (int)(left + 0.999));
    for (int i = 0; i < n; i++) {
      int bits = (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_CSELECT_IN : 0) |
                 (events[i].events & (EPOLLOUT | EPOLLERR) ? CURL_CSELECT_OUT : 0);
      curl_multi_socket_action(multi, events[i].data.fd, bits, &running);
    }
    if (timer_ms >= 0 && wall_us() - timer_set >= timer_ms * 1e3) {
      timer_ms = -1;
      curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
  } else {
    curl_multi_poll(multi, NULL, 0, 1000, NULL);
    curl_multi_perform(multi, &running);
  }
  int left;
  for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
    must(message->data.result == CURLE_OK, curl_easy_strerror(message->data.result));
    last = message->easy_handle;
  }
}

static CURL *handle(const char *url) {
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_piece);
  if (getenv("CA")) curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  return easy;
}

static CURL *to(const char *base, const char *path) {
  char url[256];
  snprintf(url, sizeof url, "%s%s", base, path);
  return handle(url);
}

/* Beside a crowd that waits: a transfer to its end. */
static void alone(CURL *easy) {
  curl_multi_add_handle(multi, easy);
  while (last != easy) turn();
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
}

static double heap(void) {
  struct mallinfo2 all = mallinfo2();
  return (double)(all.uordblks + all.hblkhd);
}

/* Resident memory of this process alone. Pages of code and of files belong to all processes that map them. */
static double resident(void) {
  char line[128];
  long kilobytes = -1;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && kilobytes < 0 && fgets(line, sizeof line, status)) sscanf(line, "RssAnon: %ld", &kilobytes);
  must(kilobytes >= 0, "RssAnon");
  fclose(status);
  return (double)kilobytes * 1024;
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  by_epoll = !strcmp(argv[1], "epoll");
  int count = atoi(argv[2]), events = atoi(argv[3]), hosts = argc > 5 ? atoi(argv[5]) : 0;
  const char *base = argv[4];
  char scheme[8], path[64];
  int port;
  must(sscanf(base, "%7[a-z]://%*[^:]:%d", scheme, &port) == 2, "what is that URL?");
  CURL **crowd = calloc(count, sizeof *crowd);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)count + 10);
  if (by_epoll) {
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
  }
  alone(to(base, "/bytes/1024"));

  double before = heap(), resident_before = resident();
  for (int i = 0; i < count; i++) {
    char host[64];
    if (hosts) {
      snprintf(host, sizeof host, "%s://127.0.%d.%d:%d", scheme, i % hosts / 250, i % hosts % 250 + 1, port);
      crowd[i] = to(host, "/hold");
    } else {
      crowd[i] = to(base, "/hold");
    }
  }
  double with_handles = heap();
  printf("handle_bytes %.1f\n", (with_handles - before) / count);
  pieces = 0;
  double cpu = cpu_us();
  /* So many at once as a listener has room for. */
  for (size_t begun = 0; pieces < (size_t)count; turn())
    for (; begun < (size_t)count && begun < pieces + 500; begun++) curl_multi_add_handle(multi, crowd[begun]);
  printf("start_cpu_us %.3f\n", (cpu_us() - cpu) / count);
  printf("transfer_bytes %.1f\n", (heap() - before) / count);
  printf("own_bytes %.1f\n", (heap() - with_handles) / count);
  printf("transfer_resident_bytes %.1f\n", (resident() - resident_before) / count);

  /* So far apart that each is an event. */
  const char *pause = getenv("PAUSE_US") ? getenv("PAUSE_US") : "500";
  snprintf(path, sizeof path, "/drip/%s/%d", pause, events);
  CURL *busy = to(base, path);
  pieces = 0;
  curl_multi_add_handle(multi, busy);
  while (!pieces) turn();
  pieces = 0, cpu = cpu_us();
  while (last != busy) turn();
  printf("event_cpu_us %.3f\n", (cpu_us() - cpu) / (pieces ? pieces : 1));
  printf("events %zu\n", pieces);
  curl_multi_remove_handle(multi, busy);
  curl_easy_cleanup(busy);

  CURL *release = to(base, "/release");
  cpu = cpu_us();
  curl_multi_add_handle(multi, release);
  do turn(); while (running);
  curl_multi_remove_handle(multi, release);
  curl_easy_cleanup(release);
  for (int i = 0; i < count; i++) curl_multi_remove_handle(multi, crowd[i]);
  printf("end_cpu_us %.3f\n", (cpu_us() - cpu) / count);
  with_handles = heap();
  for (int i = 0; i < count; i++) curl_easy_cleanup(crowd[i]);
  printf("used_handle_bytes %.1f\n", (with_handles - heap()) / count);
  printf("connection_bytes %.1f\n", (heap() - before) / count);
  double held = heap();
  curl_multi_cleanup(multi);
  printf("multi_bytes %.1f\n", held - heap());
  curl_global_cleanup();
  free(crowd);
  return 0;
}
