/* How connections are made: families and their race, local ends, time-outs, PROXY protocol, unix sockets, SOCKS. The servers
 * are the program's own.
 * covers: CURLOPT_CONNECTTIMEOUT, CURLOPT_CONNECTTIMEOUT_MS, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS,
 * covers: CURLOPT_HAPROXYPROTOCOL, CURLOPT_ABSTRACT_UNIX_SOCKET, CURLOPT_UNIX_SOCKET_PATH, CURLOPT_SOCKS5_AUTH,
 * covers: CURLOPT_LOCALPORT, CURLOPT_LOCALPORTRANGE, CURLOPT_INTERFACE, CURLOPT_RESOLVE, CURLOPT_SUPPRESS_CONNECT_HEADERS,
 * covers: CURLOPT_PROXYTYPE, CURLOPT_HTTPPROXYTUNNEL, CURLINFO_HTTP_CONNECTCODE */
#include "twin.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

static const char *hello = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";

/* What a server heard first, and what it says after each of its waits. */
struct peer {
  int listener, port;
  const char *says[6];
  int lengths[6];
  char heard[6][2048];
  int heard_length[6], rounds;
  pthread_t thread;
};

static void *serve(void *user)
{
  struct peer *peer = user;
  int fd = accept(peer->listener, NULL, NULL);
  struct timeval limit = {.tv_sec = 5};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  for(int i = 0; i < 6 && peer->says[i]; i++) {
    ssize_t n = recv(fd, peer->heard[i], sizeof peer->heard[i] - 1, 0);
    if(n <= 0)
      break;
    peer->heard_length[i] = (int)n;
    peer->rounds++;
    (void)!write(fd, peer->says[i], peer->lengths[i] ? peer->lengths[i] : strlen(peer->says[i]));
  }
  shutdown(fd, SHUT_WR);
  char rest[4096];
  while(recv(fd, rest, sizeof rest, 0) > 0)
    ;
  close(fd);
  return NULL;
}

static struct peer *listen_on(const char *ip, int port)
{
  struct peer *peer = calloc(1, sizeof *peer);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  socklen_t length = sizeof address;
  int on = 1;
  inet_pton(AF_INET, ip, &address.sin_addr);
  peer->listener = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(peer->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if(bind(peer->listener, (struct sockaddr *)&address, sizeof address) || listen(peer->listener, 5))
    perror("bind");
  getsockname(peer->listener, (struct sockaddr *)&address, &length);
  peer->port = ntohs(address.sin_port);
  return peer;
}

static struct peer *start(struct peer *peer)
{
  if(!peer->says[0])
    peer->says[0] = hello;
  pthread_create(&peer->thread, NULL, serve, peer);
  return peer;
}

static void stop(struct peer *peer)
{
  shutdown(peer->listener, SHUT_RDWR);
  pthread_join(peer->thread, NULL);
  close(peer->listener);
  free(peer);
}

static CURL *handle(int port)
{
  char url[64];
  CURL *easy = to("SERVER", "/");
  snprintf(url, sizeof url, "http://127.0.0.1:%d/x", port);
  WITH(easy, URL, url);
  return easy;
}

/* A listener whose queue is full does not answer any more. */
static int deaf(int family, int port, int *fillers)
{
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr *address = family == AF_INET6 ? (struct sockaddr *)&six : (struct sockaddr *)&four;
  socklen_t length = family == AF_INET6 ? sizeof six : sizeof four;
  int on = 1, listener = socket(family, SOCK_STREAM, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if(family == AF_INET6)
    setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if(bind(listener, address, length) || listen(listener, 0))
    return close(listener), -1;
  getsockname(listener, address, &length);
  for(int i = 0; i < 3; i++) {
    fillers[i] = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connect(fillers[i], address, length);
  }
  usleep(50000);
  return listener;
}

static int port_of_listener(int fd)
{
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  getsockname(fd, (struct sockaddr *)&address, &length);
  return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

static void timeouts(void)
{
  int fillers[3], listener = deaf(AF_INET, 0, fillers);
  CURL *easy = handle(port_of_listener(listener));
  WITH(easy, CONNECTTIMEOUT_MS, 300L);
  double begun = now_s();
  go("connect time-out in ms", easy);
  printf("in time: %d\n", now_s() - begun > 0.25 && now_s() - begun < 3);
  WITH(easy, CONNECTTIMEOUT, 1L);
  begun = now_s();
  go("connect time-out", easy);
  printf("in time: %d\n", now_s() - begun > 0.9 && now_s() - begun < 4);
  printf("ranges: %d %d\n", curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, -1L),
         curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, -1L));
  curl_easy_cleanup(easy);
  for(int i = 0; i < 3; i++)
    close(fillers[i]);
  close(listener);
}

static void eyeballs(void)
{
  for(int slow = 0; slow < 2; slow++) {
    struct peer *peer = start(listen_on("127.0.0.1", 0));
    int fillers[3], listener = deaf(AF_INET6, peer->port, fillers);
    char pin[128], url[64];
    CURL *easy = to("SERVER", "/");
    snprintf(url, sizeof url, "http://two.example:%d/", peer->port);
    snprintf(pin, sizeof pin, "two.example:%d:[::1],127.0.0.1", peer->port);
    struct curl_slist *pins = curl_slist_append(NULL, pin);
    WITH(easy, URL, url);
    WITH(easy, RESOLVE, pins);
    WITH(easy, HAPPY_EYEBALLS_TIMEOUT_MS, slow ? 700L : 50L);
    double begun = now_s();
    go("six is deaf", easy);
    double spent = now_s() - begun;
    printf("by: %s, in time %d\n", text(easy, CURLINFO_PRIMARY_IP), slow ? spent > 0.65 && spent < 3 : spent > 0.04 && spent < 0.6);
    curl_easy_cleanup(easy);
    curl_slist_free_all(pins);
    for(int i = 0; i < 3; i++)
      close(fillers[i]);
    close(listener);
    stop(peer);
  }
}

static void show_first_line(const char *name, struct peer *peer)
{
  printf("%s heard: %.*s\n", name, (int)strcspn(peer->heard[0], "\r"), peer->heard[0]);
}

static void haproxy(void)
{
  struct peer *peer = start(listen_on("127.0.0.1", 0));
  CURL *easy = handle(peer->port);
  char end[16];
  WITH(easy, HAPROXYPROTOCOL, 1L);
  go("PROXY protocol", easy);
  snprintf(end, sizeof end, " %d\r\n", peer->port);
  printf("heard: %.30s, port %d, then GET %d\n", peer->heard[0], strstr(peer->heard[0], end) != NULL,
         (strstr(peer->heard[0], "GET /x") ? peer->heard[0] : peer->heard[1]) != NULL);
  curl_easy_cleanup(easy);
  stop(peer);
}

static void unix_sockets(void)
{
  for(int abstract = 0; abstract < 2; abstract++) {
    struct peer *peer = calloc(1, sizeof *peer);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[64];
    snprintf(name, sizeof name, "twin-%d", (int)getpid());
    strcpy(address.sun_path + abstract, name);
    peer->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + abstract + strlen(name);
    if(bind(peer->listener, (struct sockaddr *)&address, abstract ? length : sizeof address) || listen(peer->listener, 5))
      perror("unix");
    start(peer);
    CURL *easy = to("SERVER", "/");
    WITH(easy, URL, "http://named.example/y");
    if(abstract)
      WITH(easy, ABSTRACT_UNIX_SOCKET, name);
    else
      WITH(easy, UNIX_SOCKET_PATH, name);
    go(abstract ? "abstract" : "path", easy);
    show_first_line("unix", peer);
    printf("address: %s %ld\n", text(easy, CURLINFO_PRIMARY_IP)[0] == '/' ? "path" : "none", number(easy, CURLINFO_PRIMARY_PORT));
    curl_easy_cleanup(easy);
    stop(peer);
    unlink(name);
  }
}

static void local_ends(void)
{
  struct peer *peer = start(listen_on("127.0.0.1", 0));
  struct peer *spare = listen_on("127.0.0.1", 0);
  int port = spare->port;
  CURL *easy = handle(peer->port);
  WITH(easy, LOCALPORT, (long)port);
  WITH(easy, LOCALPORTRANGE, 20L);
  WITH(easy, INTERFACE, "127.0.0.1");
  go("local port", easy);
  printf("another in the range: %d\n", number(easy, CURLINFO_LOCAL_PORT) > port && number(easy, CURLINFO_LOCAL_PORT) < port + 20);
  WITH(easy, LOCALPORTRANGE, 1L);
  go("taken", easy);
  WITH(easy, INTERFACE, "nosuchinterface");
  go("no such interface", easy);
  curl_easy_cleanup(easy);
  close(spare->listener), free(spare);
  stop(peer);
}

static void dump(const char *name, struct peer *peer)
{
  for(int i = 0; i < 3 && peer->heard_length[i]; i++) {
    printf("%s heard %d:", name, i);
    for(int at = 0; at < peer->heard_length[i] && at < 24; at++)
      printf(" %02x", (unsigned char)peer->heard[i][at]);
    printf("\n");
  }
}

static void socks(void)
{
  static const long ways[] = {CURLAUTH_BASIC, CURLAUTH_BASIC | CURLAUTH_GSSAPI, 0};
  for(int i = 0; i < 2; i++) {
    struct peer *peer = listen_on("127.0.0.1", 0);
    char proxy[64];
    peer->says[0] = "\x05\x02", peer->lengths[0] = 2;
    peer->says[1] = "\x01\x00", peer->lengths[1] = 2;
    peer->says[2] = "\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x09", peer->lengths[2] = 10;
    peer->says[3] = hello;
    start(peer);
    CURL *easy = to("SERVER", "/");
    snprintf(proxy, sizeof proxy, "127.0.0.1:%d", peer->port);
    WITH(easy, URL, "http://10.1.2.3/z");
    WITH(easy, PROXY, proxy);
    WITH(easy, PROXYTYPE, (long)CURLPROXY_SOCKS5);
    WITH(easy, PROXYUSERPWD, "me:secret");
    WITH(easy, SOCKS5_AUTH, ways[i]);
    go("SOCKS 5 with a password", easy);
    dump("socks", peer);
    curl_easy_cleanup(easy);
    stop(peer);
  }
  CURL *easy = to("SERVER", "/");
  printf("no way to log in: %d\n", curl_easy_setopt(easy, CURLOPT_SOCKS5_AUTH, (long)CURLAUTH_DIGEST));
  curl_easy_cleanup(easy);
}

static void tunnels(void)
{
  for(long quiet = 0; quiet < 2; quiet++) {
    struct peer *peer = listen_on("127.0.0.1", 0);
    char proxy[64];
    peer->says[0] = "HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n";
    peer->says[1] = hello;
    start(peer);
    CURL *easy = to("SERVER", "/");
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", peer->port);
    WITH(easy, URL, "http://far.example/z");
    WITH(easy, PROXY, proxy);
    WITH(easy, HTTPPROXYTUNNEL, 1L);
    WITH(easy, HEADER, 1L);
    WITH(easy, SUPPRESS_CONNECT_HEADERS, quiet);
    go("tunnel", easy);
    printf("connect code: %ld, the proxy's headers %d\n", number(easy, CURLINFO_HTTP_CONNECTCODE), strstr(first, "X-Proxy") != NULL);
    show_first_line("proxy", peer);
    curl_easy_cleanup(easy);
    stop(peer);
  }
}

int main(void)
{
  timeouts();
  eyeballs();
  haproxy();
  unix_sockets();
  local_ends();
  socks();
  tunnels();
  return 0;
}
