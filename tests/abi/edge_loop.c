/* An edge-triggered event loop (EPOLLET) that looks late, so that bytes and the end that follows them are one event, and that
 * names CURL_CSELECT_IN alone. Nothing is lost to it: not the rest of a long stream, not its end, not a reset.
 * covers: curl_multi_socket_action, CURLMOPT_SOCKETFUNCTION, CURLMOPT_TIMERFUNCTION */
#include "check.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum end { STAYS, CLOSES, SHUTS, RESETS };

static const struct peer {
  const char *path, *head;
  int pieces; /* one every 5 ms */
  const char *piece, *last;
  enum end end;
  CURLcode result;
  size_t bytes;
  int by_check; /* the end may be found a second later */
} peers[] = {
  {"/whole", "Content-Length: 41\r\n", 40, "x", "x", STAYS, CURLE_OK, 41, 0},
  {"/whole-closed", "Content-Length: 41\r\n", 40, "x", "x", CLOSES, CURLE_OK, 41, 0},
  {"/whole-shut", "Content-Length: 41\r\n", 40, "x", "x", SHUTS, CURLE_OK, 41, 0},
  {"/cut", "Content-Length: 100\r\n", 40, "x", "x", CLOSES, CURLE_PARTIAL_FILE, 41, 1},
  {"/cut-early", "Content-Length: 100\r\n", 2, "x", "x", CLOSES, CURLE_PARTIAL_FILE, 3, 0},
  {"/reset", "Content-Length: 100\r\n", 40, "x", "x", RESETS, CURLE_RECV_ERROR, 41, 1},
  {"/until-close", "", 40, "x", "x", CLOSES, CURLE_OK, 41, 0},
  {"/chunks", "Transfer-Encoding: chunked\r\n", 40, "1\r\nx\r\n", "0\r\n\r\n", STAYS, CURLE_OK, 40, 0},
  {"/chunks-in-parts", "Transfer-Encoding: chunked\r\n", 40, "\r\nx\r\n1", "\r\nx\r\n0\r\n\r\n", SHUTS, CURLE_OK, 41, 0},
  {"/chunks-cut", "Transfer-Encoding: chunked\r\n", 40, "1\r\nx\r\n", "1\r\nx\r\n", CLOSES, CURLE_PARTIAL_FILE, 41, 1},
};

static int epoll_fd, running;
static long due = -1;
static size_t body;

static double now_s(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void say(int fd, const char *text)
{
  (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void *serve(void *listener)
{
  for(int fd; (fd = accept(*(int *)listener, NULL, NULL)) >= 0;) {
    char request[4096], head[256];
    const struct peer *peer = NULL;
    int yes = 1;
    struct linger reset = {.l_onoff = 1};
    ssize_t n = recv(fd, request, sizeof request - 1, 0);
    request[n > 0 ? n : 0] = 0;
    for(size_t i = 0; i < sizeof peers / sizeof *peers; i++) {
      char start[64];
      snprintf(start, sizeof start, "GET %s ", peers[i].path);
      if(!strncmp(request, start, strlen(start)))
        peer = &peers[i];
    }
    if(!peer) {
      close(fd);
      continue;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\n%s\r\n%s", peer->head, strstr(peer->path, "parts") ? "1" : "");
    say(fd, head);
    for(int i = 0; i < peer->pieces; i++) {
      usleep(5000);
      say(fd, peer->piece);
    }
    usleep(5000);
    say(fd, peer->last);
    if(peer->end == RESETS)
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    if(peer->end == SHUTS)
      shutdown(fd, SHUT_WR);
    if(peer->end == SHUTS || peer->end == STAYS)
      recv(fd, request, sizeof request, 0); /* until the client closes */
    close(fd);
  }
  return NULL;
}

static size_t count(char *data, size_t size, size_t members, void *user)
{
  (void)data, (void)user;
  body += size * members;
  return size * members;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *known)
{
  struct epoll_event event = {.data.fd = fd, .events = EPOLLET};
  (void)easy;
  if(what & CURL_POLL_IN)
    event.events |= EPOLLIN;
  if(what & CURL_POLL_OUT)
    event.events |= EPOLLOUT;
  if(what == CURL_POLL_REMOVE)
    epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
  else if(known)
    epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &event);
  else {
    SAME(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event), 0);
    curl_multi_assign(user, fd, &epoll_fd);
  }
  return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *user)
{
  (void)multi, (void)user;
  due = timeout_ms;
  return 0;
}

static void turn(CURLM *multi)
{
  struct epoll_event events[8];
  int n;
  usleep(3000); /* what comes close together is one event */
  n = epoll_wait(epoll_fd, events, 8, due < 0 || due > 1000 ? 1000 : (int)due);
  for(int i = 0; i < n; i++) {
    int bits = (events[i].events & ~(uint32_t)EPOLLOUT ? CURL_CSELECT_IN : 0) | (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
    curl_multi_socket_action(multi, events[i].data.fd, bits, &running);
  }
  if(!n && due >= 0) {
    due = -1;
    curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

int main(void)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  pthread_t thread;
  CURLM *multi = curl_multi_init();
  bind(listener, (struct sockaddr *)&address, length);
  listen(listener, 5);
  getsockname(listener, (struct sockaddr *)&address, &length);
  pthread_create(&thread, NULL, serve, &listener);
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, multi);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  for(size_t i = 0; i < sizeof peers / sizeof *peers; i++) {
    const struct peer *peer = &peers[i];
    CURL *easy = curl_easy_init();
    CURLMsg *message = NULL;
    char url[128];
    int left;
    double begun = now_s(), took;
    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", ntohs(address.sin_port), peer->path);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L); /* the server has one connection at a time */
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count);
    body = 0;
    curl_multi_add_handle(multi, easy);
    while(!(message = curl_multi_info_read(multi, &left)) && now_s() - begun < 10)
      turn(multi);
    took = now_s() - begun;
    printf("%s: %d, %zu bytes, %.3f s\n", peer->path, message ? (int)message->data.result : -1, body, took);
    SAME(message ? (int)message->data.result : -1, peer->result);
    SAME(body, peer->bytes);
    /* Pieces take 5 ms and more on a busy machine. */
    CHECK(took < (peer->by_check ? 8 : 5));
    curl_multi_remove_handle(multi, easy);
    curl_easy_cleanup(easy);
  }
  SAME(curl_multi_cleanup(multi), CURLM_OK);
  shutdown(listener, SHUT_RDWR);
  pthread_join(thread, NULL);
  close(listener);
  close(epoll_fd);
  return FAILURES;
}
