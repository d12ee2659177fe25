/* What the test programs share: a sink that counts and sums what it receives, and every way to drive a multi handle.
 * A program prints facts, one per line; the harness compares them. */
#ifndef FACTS_H
#define FACTS_H
#include <curl/curl.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

/* Bytes received, and their FNV-1a. */
struct sink {
  size_t bytes;
  uint64_t sum;
};

static inline void sink_reset(struct sink *sink) {
  sink->bytes = 0;
  sink->sum = 0xcbf29ce484222325u;
}

static inline size_t sink_write(char *data, size_t size, size_t count, void *user) {
  struct sink *sink = user;
  for (size_t i = 0; i < size * count; i++) sink->sum = (sink->sum ^ (unsigned char)data[i]) * 0x100000001b3u;
  sink->bytes += size * count;
  return size * count;
}

static inline double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* Called for each transfer that ended. */
typedef void done_fn(CURL *easy, CURLcode code);

static inline void take_messages(CURLM *multi, done_fn *done) {
  int left;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left)))
    if (message->msg == CURLMSG_DONE) done(message->easy_handle, message->data.result);
}

static inline void must(CURLMcode code, const char *what) {
  if (code != CURLM_OK) {
    printf("%s: %d %s\n", what, code, curl_multi_strerror(code));
    exit(3);
  }
}

/* As it is done where nobody waits. */
static inline void drive_perform(CURLM *multi, done_fn *done) {
  int running = 1;
  while (running) {
    must(curl_multi_perform(multi, &running), "perform");
    take_messages(multi, done);
    if (running) usleep(200);
  }
}

static inline void drive_poll(CURLM *multi, done_fn *done) {
  int running = 1;
  while (running) {
    must(curl_multi_perform(multi, &running), "perform");
    take_messages(multi, done);
    if (running) must(curl_multi_poll(multi, NULL, 0, 1000, NULL), "poll");
  }
}

static inline void drive_wait(CURLM *multi, done_fn *done) {
  int running = 1, ready;
  while (running) {
    must(curl_multi_perform(multi, &running), "perform");
    take_messages(multi, done);
    if (running) must(curl_multi_wait(multi, NULL, 0, 1000, &ready), "wait");
  }
}

static inline void drive_fdset(CURLM *multi, done_fn *done) {
  int running = 1;
  while (running) {
    must(curl_multi_perform(multi, &running), "perform");
    take_messages(multi, done);
    if (!running) break;
    fd_set in, out, except;
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_ZERO(&except);
    int highest = -1;
    long wait_ms = -1;
    must(curl_multi_fdset(multi, &in, &out, &except, &highest), "fdset");
    must(curl_multi_timeout(multi, &wait_ms), "timeout");
    if (wait_ms < 0 || wait_ms > 1000) wait_ms = 1000;
    if (highest < 0 && wait_ms > 100) wait_ms = 100; /* as the manual page advises */
    struct timeval limit = {wait_ms / 1000, wait_ms % 1000 * 1000};
    select(highest + 1, &in, &out, &except, &limit);
  }
}

/* Newer than the headers of the distribution. */
extern CURLMcode curl_multi_waitfds(CURLM *, struct curl_waitfd *, unsigned, unsigned *) __attribute__((weak));

static inline void drive_waitfds(CURLM *multi, done_fn *done) {
  int running = 1;
  if (!curl_multi_waitfds) {
    puts("absent");
    exit(0);
  }
  while (running) {
    must(curl_multi_perform(multi, &running), "perform");
    take_messages(multi, done);
    if (!running) break;
    unsigned count = 0;
    long wait_ms = -1;
    must(curl_multi_waitfds(multi, NULL, 0, &count), "waitfds");
    struct curl_waitfd *wants = calloc(count + 1, sizeof *wants);
    struct pollfd *fds = calloc(count + 1, sizeof *fds);
    must(curl_multi_waitfds(multi, wants, count, &count), "waitfds");
    for (unsigned i = 0; i < count; i++) {
      fds[i].fd = wants[i].fd;
      if (wants[i].events & CURL_WAIT_POLLIN) fds[i].events |= POLLIN;
      if (wants[i].events & CURL_WAIT_POLLOUT) fds[i].events |= POLLOUT;
    }
    must(curl_multi_timeout(multi, &wait_ms), "timeout");
    if (wait_ms < 0 || wait_ms > 1000) wait_ms = 1000;
    poll(fds, count, (int)wait_ms);
    free(wants), free(fds);
  }
}

/* Event mode: the application's own epoll. */
struct loop {
  int epoll;
  double deadline_ms; /* negative: none */
  int watched;        /* sockets now reported */
  int most_watched;
  int limit_ms;       /* of one wait */
};

static inline int loop_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *known) {
  struct loop *loop = user;
  (void)easy, (void)known;
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL);
    loop->watched--;
    return 0;
  }
  struct epoll_event event = {.data.fd = fd};
  if (what & CURL_POLL_IN) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  if (epoll_ctl(loop->epoll, EPOLL_CTL_MOD, fd, &event) && errno == ENOENT) {
    epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event);
    if (++loop->watched > loop->most_watched) loop->most_watched = loop->watched;
  }
  return 0;
}

static inline int loop_timer(CURLM *multi, long timeout_ms, void *user) {
  struct loop *loop = user;
  (void)multi;
  loop->deadline_ms = timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
  return 0;
}

static inline void loop_open(struct loop *loop, CURLM *multi) {
  *loop = (struct loop){.epoll = epoll_create1(EPOLL_CLOEXEC), .deadline_ms = -1, .limit_ms = 1000};
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, loop_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, loop);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, loop_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, loop);
}

/* One wait and what it brings; the number of transfers still running. */
static inline int loop_step(struct loop *loop, CURLM *multi, done_fn *done) {
  int running = 0, wait_ms = loop->limit_ms;
  struct epoll_event events[64];
  if (loop->deadline_ms >= 0) {
    double left = loop->deadline_ms - now_ms();
    wait_ms = left <= 0 ? 0 : left > loop->limit_ms ? loop->limit_ms : (int)left + 1;
  }
  int count = epoll_wait(loop->epoll, events, 64, wait_ms);
  for (int i = 0; i < count; i++) {
    int bits = 0;
    if (events[i].events & EPOLLIN) bits |= CURL_CSELECT_IN;
    if (events[i].events & EPOLLOUT) bits |= CURL_CSELECT_OUT;
    if (events[i].events & (EPOLLERR | EPOLLHUP)) bits |= CURL_CSELECT_ERR;
    must(curl_multi_socket_action(multi, events[i].data.fd, bits, &running), "socket_action");
  }
  if (loop->deadline_ms >= 0 && now_ms() >= loop->deadline_ms) {
    loop->deadline_ms = -1; /* one-shot */
    must(curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running), "socket_action");
  } else if (count <= 0) {
    running = 1; /* nothing was asked */
  }
  take_messages(multi, done);
  return running;
}

/* The callbacks must be set before the handles are added. */
static inline void drive(CURLM *multi, const char *way, struct loop *loop, done_fn *done) {
  if (!strcmp(way, "perform")) drive_perform(multi, done);
  else if (!strcmp(way, "poll")) drive_poll(multi, done);
  else if (!strcmp(way, "wait")) drive_wait(multi, done);
  else if (!strcmp(way, "fdset")) drive_fdset(multi, done);
  else if (!strcmp(way, "waitfds")) drive_waitfds(multi, done);
  else if (!strcmp(way, "event")) while (loop_step(loop, multi, done)) {}
  else printf("no such way: %s\n", way), exit(2);
}
#endif
