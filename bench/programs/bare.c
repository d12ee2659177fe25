/* bare URL COUNT [WARM]: what gets.c does, as the bare system calls of a kept connection and nothing else: look whether it is
 * alive, send, wait, receive. What this takes is the kernel's share, which no library can save. http://ADDRESS:PORT/
 * only; prints the same figures. */
#define _GNU_SOURCE /* memmem */
#include "measure.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static char buffer[256 * 1024];

/* One request; the length of its body, or -1. */
static long exchange(int socket, const char *request, size_t length) {
  struct pollfd wait = {socket, POLLIN, 0};
  long body = -1, got = 0;
  recv(socket, buffer, 1, MSG_PEEK | MSG_DONTWAIT);
  if (send(socket, request, length, MSG_NOSIGNAL) != (ssize_t)length) return -1;
  while (body < 0 || got < body) {
    ssize_t n;
    if (poll(&wait, 1, 10000) <= 0) return -1;
    while ((n = recv(socket, buffer, sizeof buffer, MSG_DONTWAIT)) > 0) {
      if (body < 0) {
        char *end = memmem(buffer, (size_t)n, "\r\n\r\n", 4), *field = memmem(buffer, (size_t)n, "Content-Length: ", 16);
        if (!end || !field) return -1;
        body = atol(field + 16);
        got -= end + 4 - buffer;
      }
      got += n;
      if (got >= body || n < (ssize_t)sizeof buffer) break;
    }
    if (n == 0) return -1;
  }
  return body;
}

int main(int argc, char **argv) {
  char host[64], path[128], request[512];
  int port, one = 1;
  if (argc < 3 || sscanf(argv[1], "http://%63[0-9.]:%d%127s", host, &port, path) != 3) return 2;
  int count = atoi(argv[2]), warm = argc > 3 ? atoi(argv[3]) : 10;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  inet_pton(AF_INET, host, &address.sin_addr);
  int connection = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(connection, (struct sockaddr *)&address, sizeof address)) return 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s:%d\r\nAccept: */*\r\n\r\n", path, host, port);
  double cpu = 0, wall = 0;
  long body = 0;
  for (int i = -warm; i < count; i++) {
    if (i == 0) cpu = cpu_us(), wall = wall_us();
    if ((body = exchange(connection, request, (size_t)length)) < 0) return 1;
  }
  cpu = cpu_us() - cpu, wall = wall_us() - wall;
  printf("%.3f %.3f %ld\n", cpu / count, wall / count, body);
  return 0;
}
