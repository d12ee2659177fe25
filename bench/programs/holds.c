/* holds COUNT URL: what crowd.c begins, as the bare system calls and nothing else: so many connections at once, each sends a request
 * and gets a head and a byte of a body that is then held back. Prints microseconds of this process's CPU for each. http://ADDRESS:PORT/
 * only. */
#include "measure.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* As many on their way as crowd.c has. */
#define AHEAD 500

int main(int argc, char **argv) {
  char host[64], path[128], request[512], reply[4096];
  int port, one = 1;
  if (argc < 3 || sscanf(argv[2], "http://%63[0-9.]:%d%127s", host, &port, path) != 3) return 2;
  int count = atoi(argv[1]), begun = 0, answered = 0, epoll = epoll_create1(0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  inet_pton(AF_INET, host, &address.sin_addr);
  int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s:%d\r\nAccept: */*\r\n\r\n", path, host, port);
  double cpu = cpu_us();
  while (answered < count) {
    for (; begun < count && begun < answered + AHEAD; begun++) {
      int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      struct epoll_event event = {.events = EPOLLOUT | EPOLLET | EPOLLIN, .data.fd = fd};
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      connect(fd, (struct sockaddr *)&address, sizeof address);
      if (fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) return perror("holds"), 1;
    }
    struct epoll_event events[64];
    int n = epoll_wait(epoll, events, 64, 10000);
    if (n <= 0) return fprintf(stderr, "nothing comes\n"), 1;
    for (int i = 0; i < n; i++) {
      int fd = events[i].data.fd;
      if (events[i].events & EPOLLIN) {
        if (recv(fd, reply, sizeof reply, 0) <= 0) return perror("holds"), 1;
        answered++;
      } else if (events[i].events & EPOLLOUT) {
        if (send(fd, request, (size_t)length, MSG_NOSIGNAL) != length) return perror("holds"), 1;
      }
    }
  }
  printf("%.3f\n", (cpu_us() - cpu) / count);
  return 0;
}
