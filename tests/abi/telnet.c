/* TELNET with the default read function: whoever types slowly holds nobody up.
 * covers: CURLOPT_READDATA, CURLOPT_READFUNCTION, curl_multi_perform */
#include "check.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

/* Says hello, has a line of someone slow, answers it, and ends. */
static void *serve(void *user)
{
  char heard[6] = "";
  int fd = accept(*(int *)user, NULL, NULL);
  (void)!send(fd, "hello\n", 6, MSG_NOSIGNAL);
  if(recv(fd, heard, 6, MSG_WAITALL) == 6 && !memcmp(heard, "typed\n", 6))
    (void)!send(fd, "heard\n", 6, MSG_NOSIGNAL);
  close(fd);
  return NULL;
}

static char body[64];

static size_t keep(char *data, size_t size, size_t count, void *user)
{
  (void)user;
  strncat(body, data, size * count);
  return size * count;
}

int main(void)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0), ends[2], running = 1, left;
  pthread_t thread;
  char url[64];
  alarm(30); /* a read that waits is a fault */
  bind(listener, (struct sockaddr *)&address, length);
  listen(listener, 5);
  getsockname(listener, (struct sockaddr *)&address, &length);
  sprintf(url, "telnet://127.0.0.1:%d", ntohs(address.sin_port));
  pthread_create(&thread, NULL, serve, &listener);
  CHECK(!pipe(ends));
  FILE *slow = fdopen(ends[0], "r");
  CURLM *multi = curl_multi_init();
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_READDATA, slow);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
  curl_multi_add_handle(multi, easy);
  int typed = 0;
  while(running && !curl_multi_perform(multi, &running)) {
    if(!typed && !strcmp(body, "hello\n"))
      typed = write(ends[1], "typed\n", 6) == 6; /* its end stays open: nobody has said that this was all */
    curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  CURLMsg *message = curl_multi_info_read(multi, &left);
  CHECK(message);
  if(message)
    SAME(message->data.result, CURLE_OK);
  CHECK(typed && !strcmp(body, "hello\nheard\n"));
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  pthread_join(thread, NULL);
  close(ends[1]);
  fclose(slow);
  close(listener);
  return FAILURES;
}
