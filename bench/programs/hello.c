/* hello PORT SERVER_PORT COUNT PROGRAM ARGUMENT...: runs a program so many times, which makes one request over TLS 1.3 to
 * PORT, and passes its bytes on to SERVER_PORT. Prints the medians: microseconds from the start of the process to the first
 * byte of its output, and of its CPU from the moment its hello was seen to the moment its request was. */
#define _GNU_SOURCE
#include "measure.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define APPLICATION_DATA 23

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int fail(const char *what) {
  perror(what);
  exit(1);
}

static struct sockaddr_in loopback(const char *port) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

/* Of another process, running or not. */
static double cpu_of(pid_t process) {
  clockid_t clock;
  struct timespec t;
  if (clock_getcpuclockid(process, &clock) || clock_gettime(clock, &t)) fail("clock of the process");
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/* Counts the records that hide what they are: the first is the end of the handshake, the second the request. */
struct records {
  unsigned char head[5];
  size_t in_head, left, hidden;
};

static void count(struct records *r, const unsigned char *bytes, size_t length) {
  while (length) {
    if (r->left) {
      size_t n = length < r->left ? length : r->left;
      bytes += n, length -= n, r->left -= n;
      if (!r->left && r->head[0] == APPLICATION_DATA) r->hidden++;
      continue;
    }
    r->head[r->in_head++] = *bytes++, length--;
    if (r->in_head == 5) r->in_head = 0, r->left = r->head[3] << 8 | r->head[4];
  }
}

static void pass(int to, const unsigned char *bytes, ssize_t length) {
  while (length > 0) {
    ssize_t n = write(to, bytes, length);
    if (n < 0) fail("write");
    bytes += n, length -= n;
  }
}

static void once(int listener, const char *server_port, char **program, double *first, double *cpu) {
  int out[2];
  if (pipe2(out, O_CLOEXEC)) fail("pipe");
  double start = wall_us();
  pid_t child = fork();
  if (child == 0) {
    dup2(out[1], 1);
    execvp(program[0], program);
    _exit(127);
  }
  close(out[1]);
  struct pollfd until[2] = {{listener, POLLIN, 0}, {out[0], POLLIN, 0}};
  if (poll(until, 2, 20000) < 1 || !(until[0].revents & POLLIN)) fail("nobody calls");
  int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC), server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in at = loopback(server_port);
  if (client < 0 || connect(server, (struct sockaddr *)&at, sizeof at)) fail("connect");
  int one = 1;
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  struct pollfd ways[3] = {{client, POLLIN, 0}, {server, POLLIN, 0}, {out[0], POLLIN, 0}};
  struct records records = {0};
  unsigned char buffer[65536];
  double hello = 0;
  *first = *cpu = 0;
  while (ways[2].fd >= 0) {
    if (poll(ways, 3, 20000) < 1) fail("nothing comes");
    for (int i = 0; i < 3; i++) {
      if (!ways[i].revents) continue;
      ssize_t n = read(ways[i].fd, buffer, sizeof buffer);
      if (n <= 0) {
        ways[i].fd = -1;
        if (i < 2) shutdown(i ? client : server, SHUT_WR);
        continue;
      }
      if (i == 2) {
        if (!*first) *first = wall_us() - start;
        continue;
      }
      if (i == 0) {
        count(&records, buffer, n);
        if (!hello) hello = cpu_of(child);
        if (!*cpu && records.hidden >= 2) *cpu = cpu_of(child) - hello;
      }
      pass(i ? client : server, buffer, n);
    }
  }
  int status;
  waitpid(child, &status, 0);
  close(client), close(server), close(out[0]);
  if (status || !*first || !*cpu) fprintf(stderr, "%s: status %d\n", program[0], status), exit(1);
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  signal(SIGPIPE, SIG_IGN);
  int runs = atoi(argv[3]), one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in at = loopback(argv[1]);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 8)) fail("listen");
  double *first = calloc(runs, sizeof *first), *cpu = calloc(runs, sizeof *cpu);
  for (int i = 0; i < runs; i++) once(listener, argv[2], argv + 4, first + i, cpu + i);
  qsort(first, runs, sizeof *first, compare);
  qsort(cpu, runs, sizeof *cpu, compare);
  printf("%.3f %.3f\n", first[runs / 2], cpu[runs / 2]);
  return 0;
}
