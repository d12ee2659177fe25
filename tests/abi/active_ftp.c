/* Active FTP with a server that connects before it replies to PORT: the connection is accepted at once, so that an application
 * that refuses it (CURLOPT_SOCKOPTFUNCTION, CURLSOCKTYPE_ACCEPT) ends the transfer before SIZE and RETR. As curl 8.22.
 * covers: CURLOPT_FTPPORT, CURLOPT_SOCKOPTFUNCTION, CURLOPT_FTP_USE_EPRT */
#include "check.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static char commands[4096], seen[4096];
static int listener, refuses;

/* The server's thread and the application's both write notes. */
static void note(char *list, const char *what)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  size_t used;
  pthread_mutex_lock(&lock);
  used = strlen(list);
  snprintf(list + used, sizeof commands - used, "%s ", what);
  pthread_mutex_unlock(&lock);
}

static void say(int fd, const char *line)
{
  (void)!write(fd, line, strlen(line));
}

/* Reads a line, which ends with a line feed; returns 0 at the end of the connection. */
static int hear(int fd, char *line, size_t size)
{
  size_t length = 0;
  while(length + 1 < size && recv(fd, line + length, 1, 0) == 1) {
    if(line[length++] == '\n') {
      line[length] = 0;
      return 1;
    }
  }
  return 0;
}

/* The data connection that PORT asks for. */
static int dial(const char *arguments)
{
  unsigned h[4], p[2];
  struct sockaddr_in address = {.sin_family = AF_INET};
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(sscanf(arguments, "%u,%u,%u,%u,%u,%u", h, h + 1, h + 2, h + 3, p, p + 1) == 6);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons((unsigned short)(p[0] * 256 + p[1]));
  SAME(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
  return fd;
}

static void *serve(void *user)
{
  int fd = accept(listener, NULL, NULL), data = -1;
  char line[300];
  say(fd, "220 hello\r\n");
  while(hear(fd, line, sizeof line)) {
    char verb[20] = "";
    sscanf(line, "%19s", verb);
    note(commands, verb);
    note(seen, verb);
    if(!strcmp(verb, "USER"))
      say(fd, "331 password\r\n");
    else if(!strcmp(verb, "PWD"))
      say(fd, "257 \"/\"\r\n");
    else if(!strcmp(verb, "SIZE"))
      say(fd, "213 5\r\n");
    else if(!strcmp(verb, "PORT")) {
      data = dial(line + 5);
      say(fd, "200 connected\r\n");
    }
    else if(!strcmp(verb, "RETR")) {
      say(fd, "150 here\r\n");
      say(data, "hello");
      close(data);
      data = -1;
      say(fd, "226 done\r\n");
    }
    else
      say(fd, "200 yes\r\n");
  }
  if(data >= 0)
    close(data);
  close(fd);
  return user;
}

static int options(void *user, curl_socket_t fd, curlsocktype purpose)
{
  (void)user;
  (void)fd;
  if(purpose != CURLSOCKTYPE_ACCEPT)
    return CURL_SOCKOPT_OK;
  note(seen, "accept");
  return refuses ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK;
}

static CURLcode fetch(void)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  struct text body = {0};
  pthread_t thread;
  char url[80];
  CURLcode code;
  CURL *easy = curl_easy_init();
  listener = socket(AF_INET, SOCK_STREAM, 0);
  bind(listener, (struct sockaddr *)&address, length);
  listen(listener, 1);
  getsockname(listener, (struct sockaddr *)&address, &length);
  commands[0] = seen[0] = 0;
  pthread_create(&thread, NULL, serve, NULL);
  snprintf(url, sizeof url, "ftp://127.0.0.1:%d/file", ntohs(address.sin_port));
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_FTPPORT, "-");
  curl_easy_setopt(easy, CURLOPT_FTP_USE_EPRT, 0L);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, options);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 10000L);
  code = curl_easy_perform(easy);
  curl_easy_cleanup(easy);
  pthread_join(thread, NULL);
  close(listener);
  free(body.at);
  return code;
}

int main(void)
{
  curl_global_init(CURL_GLOBAL_ALL);
  SAME(fetch(), CURLE_OK);
  CHECK(strstr(seen, "PORT accept TYPE SIZE RETR"));
  refuses = 1;
  CHECK(fetch() != CURLE_OK);
  CHECK(strstr(seen, "PORT accept"));
  CHECK(!strstr(commands, "RETR"));
  curl_global_cleanup();
  return FAILURES;
}
