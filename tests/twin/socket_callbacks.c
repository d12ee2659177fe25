/* The open, set-up, pre-request, resolver and close callbacks: what they get, in which order, and what their answers do; socket
 * options as the system has them; names led elsewhere.
 * covers: CURLOPT_OPENSOCKETFUNCTION, CURLOPT_OPENSOCKETDATA, CURLOPT_CLOSESOCKETFUNCTION, CURLOPT_CLOSESOCKETDATA, CURLOPT_SOCKOPTFUNCTION,
 * covers: CURLOPT_SOCKOPTDATA, CURLOPT_PREREQFUNCTION, CURLOPT_PREREQDATA, CURLOPT_RESOLVER_START_FUNCTION, CURLOPT_CONNECT_TO, CURLOPT_RESOLVE, CURLOPT_TCP_NODELAY, CURLOPT_TCP_KEEPALIVE */
#include "twin.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static int sockopt_answer, prereq_answer, start_answer, refuse_open, connect_myself;

static curl_socket_t on_open(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
  struct sockaddr_in *in = (struct sockaddr_in *)&address->addr;
  printf("open: %s purpose %d family %d type %d protocol %d, address %s\n", (char *)user, purpose, address->family == AF_INET, address->socktype == SOCK_STREAM,
         address->protocol, inet_ntoa(in->sin_addr));
  if(refuse_open)
    return CURL_SOCKET_BAD;
  int fd = socket(address->family, address->socktype, address->protocol);
  if(connect_myself)
    connect(fd, (struct sockaddr *)in, sizeof *in);
  return fd;
}

static int on_close(void *user, curl_socket_t fd)
{
  printf("close: %s\n", (char *)user);
  return close(fd);
}

static int on_sockopt(void *user, curl_socket_t fd, curlsocktype purpose)
{
  struct sockaddr_in peer;
  socklen_t length = sizeof peer;
  printf("sockopt: %s purpose %d, connected %d\n", (char *)user, purpose, getpeername(fd, (struct sockaddr *)&peer, &length) == 0);
  return sockopt_answer;
}

static int on_prereq(void *user, char *ip, char *own, int port, int own_port)
{
  printf("prereq: %s %s %s %d %d\n", (char *)user, ip, own, port > 0, own_port > 0);
  return prereq_answer;
}

static int on_start(void *state, void *reserved, void *user)
{
  (void)state;
  printf("start: %s %d\n", (char *)user, reserved == NULL);
  return start_answer;
}

static CURL *handle(void)
{
  CURL *easy = to("SERVER", "/bytes/2");
  WITH(easy, OPENSOCKETFUNCTION, on_open);
  WITH(easy, OPENSOCKETDATA, "o");
  WITH(easy, CLOSESOCKETFUNCTION, on_close);
  WITH(easy, CLOSESOCKETDATA, "c");
  WITH(easy, SOCKOPTFUNCTION, on_sockopt);
  WITH(easy, SOCKOPTDATA, "s");
  WITH(easy, PREREQFUNCTION, on_prereq);
  WITH(easy, PREREQDATA, "p");
  WITH(easy, RESOLVER_START_FUNCTION, on_start);
  WITH(easy, RESOLVER_START_DATA, "r");
  return easy;
}

static void level(CURL *easy, const char *name)
{
  curl_socket_t fd = -1;
  int nodelay = -1, alive = -1, idle = -1, interval = -1;
  socklen_t size = sizeof(int);
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
  getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, &size);
  getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &alive, &size);
  getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, &size);
  getsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, &size);
  printf("%s: nodelay %d keepalive %d idle %d interval %d\n", name, nodelay != 0, alive, idle, interval);
}

int main(void)
{
  for(int round = 0; round < 8; round++) {
    CURL *easy = handle();
    sockopt_answer = round == 1 ? CURL_SOCKOPT_ERROR : round == 2 ? CURL_SOCKOPT_ALREADY_CONNECTED : round == 3 ? 77 : CURL_SOCKOPT_OK;
    connect_myself = round == 2;
    prereq_answer = round == 4 ? CURL_PREREQFUNC_ABORT : round == 5 ? 55 : CURL_PREREQFUNC_OK;
    start_answer = round == 6;
    refuse_open = round == 7;
    printf("round %d\n", round);
    go("with callbacks", easy);
    if(!round)
      go("again", easy);
    curl_easy_cleanup(easy);
  }
  for(int on = 0; on < 2; on++) {
    CURL *easy = to("SERVER", "/bytes/2");
    WITH(easy, CONNECT_ONLY, 1L);
    WITH(easy, TCP_NODELAY, (long)on);
    WITH(easy, TCP_KEEPALIVE, (long)on);
    WITH(easy, TCP_KEEPIDLE, 33L);
    WITH(easy, TCP_KEEPINTVL, 44L);
    go("options", easy);
    level(easy, on ? "set" : "not set");
    curl_easy_cleanup(easy);
  }
  static const char *pins[] = {"elsewhere.example:80:127.0.0.1", "+elsewhere.example:80:127.0.0.1", "*:80:127.0.0.1", "-elsewhere.example:80", "elsewhere.example:80", "elsewhere.example:x:127.0.0.1",
                               "elsewhere.example:80:not.an.address", "elsewhere.example:80:[::1],127.0.0.1", ":80:127.0.0.1", ""};
  for(size_t i = 0; i < sizeof pins / sizeof *pins; i++) {
    char pin[128], url[128], leads[128], copy[128];
    const char *port = port_of("SERVER"), *at80 = strstr(pins[i], ":80");
    snprintf(copy, sizeof copy, "%s", pins[i]);
    if(at80)
      snprintf(pin, sizeof pin, "%.*s:%s%s", (int)(at80 - pins[i]), pins[i], port, at80 + 3);
    else
      strcpy(pin, copy);
    struct curl_slist *list = curl_slist_append(NULL, pin);
    CURL *easy = to("SERVER", "/bytes/2");
    snprintf(url, sizeof url, "http://elsewhere.example:%s/bytes/2", port);
    WITH(easy, URL, url);
    WITH(easy, RESOLVE, list);
    WITH(easy, CONNECTTIMEOUT_MS, 3000L);
    for(char *c = copy; *c; c++)
      *c = *c == ':' ? ';' : *c;
    snprintf(leads, sizeof leads, "pin <%s>", copy);
    go(leads, easy);
    curl_easy_cleanup(easy);
    curl_slist_free_all(list);
  }
  static const char *ways[] = {"::127.0.0.1:", "away.example:80:127.0.0.1:P", "away.example::127.0.0.1:P", ":80:127.0.0.1:P", "other.example:80:127.0.0.1:P", "away.example:80::P", "::127.0.0.1:P", "away.example:81:127.0.0.1:P", "garbage", "::[::1]:P"};
  for(size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    char way[128], name[64];
    size_t length = strlen(ways[i]);
    snprintf(way, sizeof way, "%.*s%s", ways[i][length - 1] == 'P' ? (int)length - 1 : (int)length, ways[i], ways[i][length - 1] == 'P' ? port_of("SERVER") : "");
    struct curl_slist *list = curl_slist_append(NULL, way), *pin = curl_slist_append(NULL, "away.example:80:127.0.0.1");
    CURL *easy = to("SERVER", "/");
    WITH(easy, URL, "http://away.example/bytes/2");
    WITH(easy, CONNECT_TO, list);
    pin = curl_slist_append(pin, "away.example:81:127.0.0.1");
    char third[64];
    snprintf(third, sizeof third, "away.example:%s:127.0.0.1", port_of("SERVER"));
    pin = curl_slist_append(pin, third);
    WITH(easy, RESOLVE, pin);
    snprintf(name, sizeof name, "way %zu", i);
    go(name, easy);
    curl_easy_cleanup(easy);
    curl_slist_free_all(list), curl_slist_free_all(pin);
  }
  return 0;
}
