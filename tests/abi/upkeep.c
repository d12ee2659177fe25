/* curl_easy_upkeep looks at idle connections once the interval has passed, and closes those that the server has left.
 * covers: curl_easy_upkeep, CURLOPT_UPKEEP_INTERVAL_MS, CURLOPT_CLOSESOCKETFUNCTION, CURLOPT_CLOSESOCKETDATA */
#include "check.h"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
#include <pthread.h>

static int listener, closed;

/* One reply, then the connection is dropped, a moment later. */
static void *serve(void *unused)
{
  static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  char request[4096];
  for(int i = 0; i < 2; i++) {
    int fd = accept(listener, NULL, NULL);
    if(recv(fd, request, sizeof request, 0) > 0)
      (void)!write(fd, reply, sizeof reply - 1);
    usleep(50000);
    close(fd);
  }
  return unused;
}

static int on_close(void *user, curl_socket_t fd)
{
  CHECK(user == (void *)&closed);
  closed++;
  return close(fd);
}

int main(void)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  pthread_t thread;
  struct text body = {0};
  char url[64];
  listener = socket(AF_INET, SOCK_STREAM, 0);
  bind(listener, (struct sockaddr *)&address, length);
  listen(listener, 5);
  getsockname(listener, (struct sockaddr *)&address, &length);
  snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
  pthread_create(&thread, NULL, serve, NULL);

  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, &closed);
  SAME(curl_easy_setopt(easy, CURLOPT_UPKEEP_INTERVAL_MS, -1L), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_upkeep(easy), CURLE_OK); /* nothing there */
  SAME(curl_easy_perform(easy), CURLE_OK);
  usleep(150000);
  SAME(curl_easy_upkeep(easy), CURLE_OK); /* before the default of a minute nothing is looked at */
  SAME(closed, 0);
  SAME(curl_easy_setopt(easy, CURLOPT_UPKEEP_INTERVAL_MS, 0L), CURLE_OK);
  SAME(curl_easy_upkeep(easy), CURLE_OK);
  SAME(closed, 1);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(curl_easy_upkeep(easy), CURLE_OK);
  SAME(closed, 1); /* alive */
  SAME(body.length, 4);
  pthread_join(thread, NULL);
  curl_easy_cleanup(easy);
  SAME(closed, 2);
  SAME(curl_easy_upkeep(NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  free(body.at);
  return FAILURES;
}
