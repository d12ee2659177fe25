/* stream down|up BYTES: the limit of a large file: one process sends, one receives, each with nothing but a loop over a buffer
 * of 256 KiB. Prints microseconds of CPU of the receiver (down) or of the sender (up), of wall time, the bytes, and microseconds of
 * the other process' CPU. */
#include "measure.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static char buffer[256 * 1024];

static long long receive_all(int socket) {
  long long all = 0;
  ssize_t n;
  while ((n = recv(socket, buffer, sizeof buffer, 0)) > 0) all += n;
  return all;
}

static long long send_all(int socket, long long bytes) {
  long long sent = 0;
  while (sent < bytes) {
    long long left = bytes - sent;
    ssize_t n = send(socket, buffer, left < (long long)sizeof buffer ? (size_t)left : sizeof buffer, MSG_NOSIGNAL);
    if (n <= 0) break;
    sent += n;
  }
  shutdown(socket, SHUT_WR);
  char last;
  recv(socket, &last, 1, 0); /* until all has arrived */
  return sent;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int down = !strcmp(argv[1], "down");
  long long bytes = atoll(argv[2]), moved;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0), own;
  if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1)) return 1;
  getsockname(listener, (struct sockaddr *)&address, &length);
  pid_t peer = fork();
  if (peer < 0) return 1;
  own = peer ? accept(listener, NULL, NULL) : socket(AF_INET, SOCK_STREAM, 0);
  if (!peer && connect(own, (struct sockaddr *)&address, length)) return 1;
  memset(buffer, 's', sizeof buffer);
  double cpu = cpu_us(), wall = wall_us();
  moved = (peer == 0) == down ? send_all(own, bytes) : receive_all(own);
  cpu = cpu_us() - cpu, wall = wall_us() - wall;
  close(own);
  if (!peer) return moved != bytes;
  int status;
  waitpid(peer, &status, 0);
  if (status || moved != bytes) return 1;
  struct rusage other;
  getrusage(RUSAGE_CHILDREN, &other);
  double other_us = (other.ru_utime.tv_sec + other.ru_stime.tv_sec) * 1e6 + other.ru_utime.tv_usec + other.ru_stime.tv_usec;
  printf("%.3f %.3f %lld %.3f\n", cpu, wall, moved, other_us);
  return 0;
}
