/* A server of the program's own: to each request (or, when `raw`, to whatever comes) it says its next piece, over as many
 * connections as come, and keeps what it heard. A piece that begins with '!' ends its connection. */
#ifndef PEER_H
#define PEER_H
#include "twin.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

enum { ROUNDS = 24 };

struct peer {
  int listener, port, raw, rounds, connections, delay_ms;
  int ender; /* the port from which peer_end connects */
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
    heard[at] = 0;
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

/* One request and its answer; whether the connection goes on. */
static int peer_answers(struct peer *peer, int fd)
{
  if(peer->rounds == ROUNDS || !peer_hears(peer, fd))
    return 0;
  const char *piece = peer->says[peer->rounds];
  int length = peer->lengths[peer->rounds], go_on = piece && *piece != '!';
  peer->rounds++; /* before the answer: the client may look at once */
  if(piece)
    peer_says(peer, fd, go_on ? piece : piece + 1, length ? length : (int)strlen(go_on ? piece : piece + 1));
  return go_on;
}

/* Until peer_end has connected and no client is left, or none has stirred for five seconds. */
static void *peer_serves(void *user)
{
  struct peer *peer = user;
  struct pollfd doors[1 + ROUNDS] = {{.fd = peer->listener, .events = POLLIN}};
  int ended[1 + ROUNDS] = {0}, count = 1, open = 1;
  while(open || count > 1) {
    if(poll(doors + !open, count - !open, open ? -1 : 5000) <= 0)
      break;
    for(int i = count - 1; i; i--) {
      char rest[4096];
      if(!doors[i].revents)
        continue;
      if(!ended[i] && (ended[i] = !peer_answers(peer, doors[i].fd)))
        shutdown(doors[i].fd, SHUT_WR);
      ssize_t n = ended[i] ? recv(doors[i].fd, rest, sizeof rest, MSG_DONTWAIT) : 1;
      if(n == 0 || n < 0 && errno != EAGAIN)
        close(doors[i].fd), doors[i] = doors[--count], ended[i] = ended[count];
    }
    if(open && doors[0].revents) {
      struct timeval limit = {.tv_sec = 5};
      struct sockaddr_in from = {0};
      socklen_t length = sizeof from;
      int fd = accept(peer->listener, (struct sockaddr *)&from, &length);
      if(fd < 0 || count == 1 + ROUNDS || ntohs(from.sin_port) == __atomic_load_n(&peer->ender, __ATOMIC_SEQ_CST)) {
        open = 0;
        if(fd >= 0)
          close(fd);
        continue;
      }
      setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      doors[count] = (struct pollfd){.fd = fd, .events = POLLIN}, ended[count++] = 0;
      peer->connections++;
    }
  }
  while(count > 1)
    close(doors[--count].fd);
  return NULL;
}

/* A socket on a free port of this host. */
static int peer_socket(int *port)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if(bind(fd, (struct sockaddr *)&address, length))
    perror("peer");
  getsockname(fd, (struct sockaddr *)&address, &length);
  __atomic_store_n(port, ntohs(address.sin_port), __ATOMIC_SEQ_CST);
  return fd;
}

static struct peer *peer_new(void)
{
  struct peer *peer = calloc(1, sizeof *peer);
  peer->listener = peer_socket(&peer->port);
  if(listen(peer->listener, 16))
    perror("peer");
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

/* Ends the thread by a connection: on Windows a listener that is shut wakes nobody who polls it. */
static void peer_end(struct peer *peer)
{
  struct sockaddr_in address = {
    .sin_family = AF_INET, .sin_port = htons(peer->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int ender = peer_socket(&peer->ender);
  if(connect(ender, (struct sockaddr *)&address, sizeof address))
    perror("peer");
  pthread_join(peer->thread, NULL);
  close(ender);
  close(peer->listener);
  free(peer);
}

/* Performs, tells what came and what the peer heard, and ends both. */
static CURLcode peer_run(const char *name, CURL *easy, struct peer *peer)
{
  CURLcode code = go(name, easy);
  printf("%s body: ", name);
  print_bytes(first, got < sizeof first ? got : sizeof first - 1);
  peer_show(peer, name);
  curl_easy_cleanup(easy);
  peer_end(peer);
  return code;
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
