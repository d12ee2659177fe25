/* What a thousand WebSocket connections in one multi handle cost in memory, each, beside a thousand kept HTTP ones: no more
 * than a transfer that is under way, and nothing for messages that do not come.
 * covers: curl_multi_perform, CURLMOPT_MAXCONNECTS */
#include "check.h"
#include <arpa/inet.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <poll.h>
#include <unistd.h>

enum { CONNECTIONS = 1000 };

/* A process of its own, so that what it takes is not counted: the same answer to whatever comes, as often as it comes. */
static pid_t serve(const char *answer, int *port)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  bind(listener, (struct sockaddr *)&address, length);
  listen(listener, CONNECTIONS);
  getsockname(listener, (struct sockaddr *)&address, &length);
  *port = ntohs(address.sin_port);
  pid_t child = fork();
  if(child) {
    close(listener);
    return child;
  }
  static struct pollfd all[1 + CONNECTIONS];
  int count = 1;
  all[0] = (struct pollfd){.fd = listener, .events = POLLIN};
  for(;;) {
    poll(all, (nfds_t)count, -1);
    for(int i = 1; i < count; i++) {
      char heard[4096];
      if(all[i].revents && recv(all[i].fd, heard, sizeof heard, 0) > 0)
        (void)!send(all[i].fd, answer, strlen(answer), MSG_NOSIGNAL);
      else if(all[i].revents)
        all[i].events = 0, all[i].fd = -1;
    }
    if(all[0].revents && count <= CONNECTIONS)
      all[count++] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
  }
}

static int answered;

static size_t count_ends(char *line, size_t size, size_t count, void *user)
{
  (void)user;
  answered += size * count == 2 && *line == '\r';
  return size * count;
}

static size_t ignore(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  return size * count;
}

/* Bytes that the program has allocated, for each of a thousand transfers whose connections are idle. */
static long each(const char *scheme, const char *answer)
{
  static CURL *easy[CONNECTIONS];
  int port, running = 0;
  char url[64];
  pid_t server = serve(answer, &port);
  sprintf(url, "%s://127.0.0.1:%d/", scheme, port);
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 2L * CONNECTIONS);
  struct mallinfo2 before = mallinfo2();
  answered = 0;
  for(int i = 0; i < CONNECTIONS; i++) {
    easy[i] = curl_easy_init();
    curl_easy_setopt(easy[i], CURLOPT_URL, url);
    curl_easy_setopt(easy[i], CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy[i], CURLOPT_HEADERFUNCTION, count_ends);
    curl_easy_setopt(easy[i], CURLOPT_WRITEFUNCTION, ignore);
    curl_multi_add_handle(multi, easy[i]);
  }
  int wanted = *scheme == 'w' ? CONNECTIONS : 0; /* those end never, the others by themselves */
  for(int rounds = 0; rounds < 100000 && (answered < CONNECTIONS || running != wanted); rounds++) {
    curl_multi_perform(multi, &running);
    curl_multi_poll(multi, NULL, 0, 100, NULL);
  }
  SAME(answered, CONNECTIONS);
  SAME(running, wanted);
  struct mallinfo2 after = mallinfo2();
  long used = (long)(after.uordblks + after.hblkhd) - (long)(before.uordblks + before.hblkhd);
  for(int i = 0; i < CONNECTIONS; i++) {
    curl_multi_remove_handle(multi, easy[i]);
    curl_easy_cleanup(easy[i]);
  }
  curl_multi_cleanup(multi);
  kill(server, SIGKILL);
  waitpid(server, NULL, 0);
  return used / CONNECTIONS;
}

int main(void)
{
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  static const char kept[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
  static const char upgraded[] = "HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
  each("http", kept); /* what is allocated once */
  long http = each("http", kept), ws = each("ws", upgraded);
  printf("each: http %ld, ws %ld\n", http, ws);
  /* The future of a transfer is 4 KiB at most; it and what is known of frames have room there. */
  CHECK(ws <= http + 4096);
  return FAILURES;
}
