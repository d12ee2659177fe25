/* ways WAY URL COUNT: one kept request by other system calls than bare.c's. http://ADDRESS:PORT/ only. WAY is a word of
 *
 *   look-send-poll-receive   what the library does: is the connection alive, send, wait, receive
 *   send-poll-receive        without the look
 *   look-send-try            receives at once, and waits only where nothing has come yet
 *   look-send-receive        on a blocking socket, whose receive waits by itself (SO_RCVTIMEO)
 *   send-receive             the same without the look
 *   ring                     io_uring: a linked send and receive, one call
 *
 * Prints microseconds of CPU and of wall time for each request, and the bytes of a reply. */
#define _GNU_SOURCE /* memmem */
#include "measure.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static char buffer[64 * 1024], request[512];
static int connection, length, looks, waits, tries;

static struct {
  int fd;
  char *submissions, *completions;
  struct io_uring_sqe *entries;
  struct io_uring_params set;
} ring;

static int ring_open(void) {
  ring.set.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
  ring.fd = (int)syscall(SYS_io_uring_setup, 8, &ring.set);
  if (ring.fd < 0) return -1;
  struct io_uring_params *set = &ring.set;
  size_t in = set->sq_off.array + set->sq_entries * sizeof(unsigned);
  size_t out = set->cq_off.cqes + set->cq_entries * sizeof(struct io_uring_cqe);
  ring.submissions = mmap(NULL, in, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
  ring.completions = mmap(NULL, out, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_CQ_RING);
  ring.entries = mmap(NULL, set->sq_entries * sizeof *ring.entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQES);
  return ring.submissions == MAP_FAILED || ring.completions == MAP_FAILED || ring.entries == MAP_FAILED ? -1 : 0;
}

static _Atomic unsigned *word(char *of, unsigned offset) { return (_Atomic unsigned *)(of + offset); }

/* Sends the request and receives; the length of what came. */
static long ring_exchange(void) {
  struct io_uring_params *set = &ring.set;
  _Atomic unsigned *tail = word(ring.submissions, set->sq_off.tail), *head = word(ring.completions, set->cq_off.head);
  unsigned *places = (unsigned *)(ring.submissions + set->sq_off.array), at = atomic_load(tail);
  for (unsigned i = 0; i < 2; i++) {
    unsigned place = (at + i) & (set->sq_entries - 1);
    ring.entries[place] = (struct io_uring_sqe){
        .opcode = i ? IORING_OP_RECV : IORING_OP_SEND, .flags = i ? 0 : IOSQE_IO_LINK, .fd = connection, .user_data = i,
        .addr = (unsigned long)(i ? buffer : request), .len = i ? sizeof buffer : (unsigned)length};
    places[place] = place;
  }
  atomic_store(tail, at + 2);
  long got = -1;
  for (unsigned left = 2, give = 2; left; give = 0) {
    if (syscall(SYS_io_uring_enter, ring.fd, give, left, IORING_ENTER_GETEVENTS, NULL, 0) < 0) return -1;
    unsigned next = atomic_load(head);
    for (; next != atomic_load(word(ring.completions, set->cq_off.tail)); next++, left--) {
      unsigned place = next & (set->cq_entries - 1);
      struct io_uring_cqe *done = (struct io_uring_cqe *)(ring.completions + set->cq_off.cqes) + place;
      if (done->user_data) got = done->res;
    }
    atomic_store(head, next);
  }
  return got;
}

static long exchange(void) {
  if (ring.entries) return ring_exchange();
  struct pollfd wait = {connection, POLLIN, 0};
  if (looks) recv(connection, buffer, 1, MSG_PEEK | MSG_DONTWAIT);
  if (send(connection, request, (size_t)length, MSG_NOSIGNAL) != length) return -1;
  if (waits) return recv(connection, buffer, sizeof buffer, 0);
  long got = tries ? recv(connection, buffer, sizeof buffer, MSG_DONTWAIT) : -1;
  if (got >= 0) return got;
  return poll(&wait, 1, 10000) == 1 ? recv(connection, buffer, sizeof buffer, MSG_DONTWAIT) : -1;
}

int main(int argc, char **argv) {
  char host[64], path[128];
  int port, one = 1;
  if (argc < 4 || sscanf(argv[2], "http://%63[0-9.]:%d%127s", host, &port, path) != 3) return 2;
  int count = atoi(argv[3]);
  looks = !strncmp(argv[1], "look-", 5), waits = !!strstr(argv[1], "send-receive"), tries = !!strstr(argv[1], "try");
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  inet_pton(AF_INET, host, &address.sin_addr);
  connection = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(connection, (struct sockaddr *)&address, sizeof address)) return 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  struct timeval limit = {10, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (!strcmp(argv[1], "ring") && ring_open()) return fprintf(stderr, "io_uring: %s\n", strerror(errno)), 3;
  length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s:%d\r\nAccept: */*\r\n\r\n", path, host, port);
  double cpu = 0, wall = 0;
  long got = 0;
  for (int i = -10; i < count; i++) {
    if (i == 0) cpu = cpu_us(), wall = wall_us();
    if ((got = exchange()) <= 0 || !memmem(buffer, (size_t)got, "\r\n\r\n", 4)) return fprintf(stderr, "a reply of %ld\n", got), 1;
  }
  cpu = cpu_us() - cpu, wall = wall_us() - wall;
  printf("%.3f %.3f %ld\n", cpu / count, wall / count, got);
  return 0;
}
