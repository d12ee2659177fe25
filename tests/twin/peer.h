/* A server of the program's own: to each request (or, when `raw`, to whatever comes) it says its next piece, over as many
 * connections as come one after the other, and keeps what it heard. A piece that begins with '!' ends its connection. */
#ifndef PEER_H
#define PEER_H
#include "twin.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>

enum { ROUNDS = 24 };

struct peer {
  int listener, port, raw, rounds, connections, delay_ms;
  const char *says[ROUNDS];
  int lengths[ROUNDS]; /* for pieces with zero bytes */
  char heard[ROUNDS][8192];
  int heard_length[ROUNDS];
  char url[64];
  pthread_t thread;
};

static int peer_hears(struct peer *peer, int fd)
{
  int at = 0, round = peer->rounds;
  char *heard = peer->heard[round];
  for(;;) {
    ssize_t n = recv(fd, heard + at, sizeof peer->heard[0] - 1 - at, 0);
    if(n <= 0)
      return 0;
    peer->heard_length[round] = at += (int)n;
    char *end = strstr(heard, "\r\n\r\n"), *length = strcasestr(heard, "\r\nContent-Length:");
    if(end && memmem(heard, end - heard, "Transfer-Encoding: chunked", 26)) {
      /* the last chunk, and the empty line after whatever trailers there are */
      if(memmem(end, at - (end - heard), "\r\n0\r\n", 5) && !memcmp(heard + at - 4, "\r\n\r\n", 4))
        return 1;
    }
    else if(peer->raw || end && (!length || length > end || at >= end + 4 - heard + atoi(length + 17)))
      return 1;
  }
}

static void peer_says(struct peer *peer, int fd, const char *piece, int length)
{
  if(peer->delay_ms)
    usleep(peer->delay_ms * 1000);
  (void)!send(fd, piece, length, MSG_NOSIGNAL);
}

static void *peer_serves(void *user)
{
  struct peer *peer = user;
  int fd;
  while(peer->rounds < ROUNDS && (fd = accept(peer->listener, NULL, NULL)) >= 0) {
    struct timeval limit = {.tv_sec = 5};
    int go_on = 1;
    peer->connections++;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    while(go_on && peer->rounds < ROUNDS && peer_hears(peer, fd)) {
      const char *piece = peer->says[peer->rounds];
      int length = peer->lengths[peer->rounds];
      go_on = piece && *piece != '!';
      peer->rounds++; /* before the answer: the client may look at once */
      if(piece)
        peer_says(peer, fd, go_on ? piece : piece + 1, length ? length : (int)strlen(go_on ? piece : piece + 1));
    }
    shutdown(fd, SHUT_WR);
    char rest[4096];
    while(recv(fd, rest, sizeof rest, 0) > 0)
      ;
    close(fd);
  }
  return NULL;
}

static struct peer *peer_new(void)
{
  struct peer *peer = calloc(1, sizeof *peer);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  peer->listener = socket(AF_INET, SOCK_STREAM, 0);
  if(bind(peer->listener, (struct sockaddr *)&address, length) || listen(peer->listener, 16))
    perror("peer");
  getsockname(peer->listener, (struct sockaddr *)&address, &length);
  peer->port = ntohs(address.sin_port);
  snprintf(peer->url, sizeof peer->url, "http://127.0.0.1:%d/", peer->port);
  return peer;
}

static struct peer *peer_start(struct peer *peer)
{
  pthread_create(&peer->thread, NULL, peer_serves, peer);
  return peer;
}

/* One that says these things. */
static struct peer *peer_saying(const char *first, const char *second)
{
  struct peer *peer = peer_new();
  peer->says[0] = first, peer->says[1] = second;
  return peer_start(peer);
}

/* What it heard, a line each, with its own port left out. */
static void peer_show(struct peer *peer, const char *name)
{
  char port[16];
  snprintf(port, sizeof port, ":%d", peer->port);
  for(int i = 0; i < peer->rounds; i++) {
    printf("%s heard %d:", name, i);
    for(int at = 0; at < peer->heard_length[i]; at++) {
      const char *c = peer->heard[i] + at;
      if(!strncmp(c, port, strlen(port)))
        at += (int)strlen(port) - 1, printf(":PORT");
      else if(*c == '\r' && c[1] == '\n')
        at++, printf(" | ");
      else
        printf(*c >= ' ' && *c < 127 ? "%c" : "\\x%02x", (unsigned char)*c);
    }
    puts("");
  }
}

static void peer_end(struct peer *peer)
{
  shutdown(peer->listener, SHUT_RDWR);
  pthread_join(peer->thread, NULL);
  close(peer->listener);
  free(peer);
}

static CURL *to_peer(struct peer *peer, const char *path)
{
  char url[256];
  CURL *easy = to("SERVER", "/");
  snprintf(url, sizeof url, "%s%s", peer->url, *path == '/' ? path + 1 : path);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  return easy;
}

#define OK_BODY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
#define OK_CLOSE "!HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
#endif
