/* CURLOPT_CONNECT_ONLY with curl_easy_send(3) and curl_easy_recv(3), and CURLINFO_ACTIVESOCKET.
 * covers: CURLOPT_CONNECT_ONLY, curl_easy_send, curl_easy_recv, CURLINFO_ACTIVESOCKET, CURLINFO_LASTSOCKET */
#include "peer.h"
#include <poll.h>

static void wait_for(CURL *easy, short events)
{
  curl_socket_t fd = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
  struct pollfd one = {.fd = fd, .events = events};
  poll(&one, 1, 3000);
}

int main(void)
{
  struct peer *peer = peer_saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "!HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
  CURL *easy = to_peer(peer, "/");
  size_t n = 77;
  char room[256] = "";
  curl_socket_t fd = 77;
  const char *request = "GET /by-hand HTTP/1.1\r\nHost: x\r\n\r\n";
  printf("before: send %d recv %d", curl_easy_send(easy, "x", 1, &n), curl_easy_recv(easy, room, 1, &n));
  printf(" socket %d\n", curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd) ? -9 : (int)fd);
  WITH(easy, CONNECT_ONLY, 1L);
  go("connect", easy);
  printf("socket: %d %d, last %d\n", curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd), fd > 2, number(easy, CURLINFO_LASTSOCKET) > 2);
  printf("nothing there: %d %zu\n", curl_easy_recv(easy, room, sizeof room, &n), n);
  CURLcode code = curl_easy_send(easy, request, strlen(request), &n);
  printf("sent: %d %zu of %zu\n", code, n, strlen(request));
  wait_for(easy, POLLIN);
  memset(room, 0, sizeof room);
  code = curl_easy_recv(easy, room, 10, &n);
  printf("received: %d %zu %.*s\n", code, n, (int)n, room);
  memset(room, 0, sizeof room);
  code = curl_easy_recv(easy, room, sizeof room, &n);
  printf("the rest: %d %zu\n", code, n);
  code = curl_easy_recv(easy, room, sizeof room, &n);
  printf("no more: %d\n", code);
  curl_easy_send(easy, request, strlen(request), &n);
  wait_for(easy, POLLIN);
  usleep(50000);
  code = curl_easy_recv(easy, room, sizeof room, &n);
  printf("second: %d %d\n", code, n > 12);
  usleep(50000);
  code = curl_easy_recv(easy, room, sizeof room, &n);
  printf("closed: %d %zu\n", code, n);
  printf("connects: %ld\n", number(easy, CURLINFO_NUM_CONNECTS));
  WITH(easy, CONNECT_ONLY, 0L);
  printf("pause: %d\n", curl_easy_pause(easy, CURLPAUSE_CONT));
  curl_easy_cleanup(easy);
  peer_show(peer, "server");
  peer_end(peer);
  /* Over a multi handle, and to nobody. */
  easy = to("SERVER", "/");
  WITH(easy, CONNECT_ONLY, 1L);
  CURLM *multi = curl_multi_init();
  int running = 1, left;
  curl_multi_add_handle(multi, easy);
  while(curl_multi_perform(multi, &running) == CURLM_OK && running)
    curl_multi_poll(multi, NULL, 0, 1000, NULL);
  CURLMsg *message = curl_multi_info_read(multi, &left);
  printf("over multi: %d\n", message ? (int)message->data.result : -1);
  code = curl_easy_send(easy, "GET /bytes/3 HTTP/1.1\r\nHost: h\r\n\r\n", 34, &n);
  printf("sent: %d %zu\n", code, n);
  wait_for(easy, POLLIN);
  usleep(20000);
  code = curl_easy_recv(easy, room, 12, &n);
  printf("received: %d %zu %.12s\n", code, n, room);
  curl_multi_remove_handle(multi, easy);
  code = curl_easy_send(easy, "x", 1, &n);
  printf("after removal: %d\n", code);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  easy = curl_easy_init();
  WITH(easy, URL, "http://127.0.0.1:1/");
  WITH(easy, CONNECT_ONLY, 1L);
  printf("nobody: %d\n", curl_easy_perform(easy));
  printf("socket: %d\n", curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd) ? -9 : (int)fd);
  curl_easy_cleanup(easy);
  return 0;
}
