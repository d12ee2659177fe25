/* Connections whose sockets the application opened serve every handle of a multi handle with the same functions: each
 * handle of the Rust crate `curl` has some. One that the application will close stays with its handle, whose data it
 * carries.
 * covers: CURLOPT_OPENSOCKETFUNCTION, CURLOPT_OPENSOCKETDATA, CURLOPT_SOCKOPTFUNCTION, CURLOPT_CLOSESOCKETFUNCTION,
 * covers: CURLINFO_NUM_CONNECTS */
#include "check.h"
#include <sys/socket.h>
#include <unistd.h>

static curl_socket_t on_open(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
  (void)purpose;
  ++*(int *)user;
  return socket(address->family, address->socktype, address->protocol);
}

static int on_option(void *user, curl_socket_t fd, curlsocktype purpose)
{
  (void)user, (void)fd, (void)purpose;
  return CURL_SOCKOPT_OK;
}

static int on_close(void *user, curl_socket_t fd)
{
  (void)user;
  return close(fd);
}

enum functions { NONE, OPEN, OPEN_AND_OPTION, OPEN_AND_CLOSE };

/* One transfer of a new handle; how many connections it made. */
static long connects(CURLM *multi, enum functions functions)
{
  CURL *easy = curl_easy_init();
  struct text body = {0};
  int running = 1, opened = 0;
  long count = -1;
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &opened);
  if(functions != NONE)
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
  if(functions == OPEN_AND_OPTION)
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_option);
  if(functions == OPEN_AND_CLOSE)
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
  curl_multi_add_handle(multi, easy);
  while(running) {
    SAME(curl_multi_perform(multi, &running), CURLM_OK);
    curl_multi_poll(multi, NULL, 0, 100, NULL);
  }
  SAME(body.length, 10);
  curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &count);
  SAME(opened, functions == NONE ? 0 : count);
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
  free(body.at);
  return count;
}

int main(void)
{
  CURLM *multi = curl_multi_init();
  SAME(connects(multi, OPEN), 1);
  SAME(connects(multi, OPEN), 0);
  SAME(connects(multi, NONE), 1);
  SAME(connects(multi, OPEN_AND_OPTION), 1);
  SAME(connects(multi, OPEN), 0);
  SAME(connects(multi, OPEN_AND_CLOSE), 1);
  SAME(connects(multi, OPEN_AND_CLOSE), 1);
  curl_multi_cleanup(multi);
  return FAILURES;
}
