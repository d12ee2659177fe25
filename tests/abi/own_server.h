/* A server of the program's own for one connection: it waits for bytes, says its next piece, and keeps what it heard. */
#ifndef OWN_SERVER_H
#define OWN_SERVER_H
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

struct own_server {
  int listener, port, rounds;
  const char *says[4];
  char heard[1 << 16];
  size_t heard_length; /* of what was kept */
  size_t total;
  pthread_t thread;
};

static void *own_serve(void *user)
{
  struct own_server *own = (struct own_server *)user;
  struct timeval limit = {.tv_sec = 5};
  int fd = accept(own->listener, NULL, NULL);
  char piece[1 << 14];
  ssize_t n;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  while((n = recv(fd, piece, sizeof piece, 0)) > 0) {
    size_t room = sizeof own->heard - 1 - own->heard_length, kept = (size_t)n < room ? (size_t)n : room;
    memcpy(own->heard + own->heard_length, piece, kept);
    __atomic_add_fetch(&own->heard_length, kept, __ATOMIC_SEQ_CST); /* a program may look in meanwhile */
    own->total += (size_t)n;
    if(own->rounds < 4 && own->says[own->rounds])
      (void)!write(fd, own->says[own->rounds], strlen(own->says[own->rounds]));
    own->rounds++;
  }
  close(fd);
  return NULL;
}

static struct own_server *own_server(const char *first, const char *second)
{
  struct own_server *own = (struct own_server *)calloc(1, sizeof *own);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  own->listener = socket(AF_INET, SOCK_STREAM, 0);
  own->says[0] = first;
  own->says[1] = second;
  bind(own->listener, (struct sockaddr *)&address, length);
  listen(own->listener, 5);
  getsockname(own->listener, (struct sockaddr *)&address, &length);
  own->port = ntohs(address.sin_port);
  pthread_create(&own->thread, NULL, own_serve, own);
  return own;
}

/* Waits until the client has gone. */
static void own_server_end(struct own_server *own)
{
  shutdown(own->listener, SHUT_RDWR);
  pthread_join(own->thread, NULL);
  close(own->listener);
}
#endif
