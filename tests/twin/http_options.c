/* Options of HTTP transfers whose effect the server sees or the callbacks tell.
 * covers: CURLOPT_BUFFERSIZE, CURLOPT_UPLOAD_BUFFERSIZE, CURLOPT_IOCTLFUNCTION, CURLOPT_IOCTLDATA, CURLOPT_AWS_SIGV4,
 * covers: CURLOPT_LOGIN_OPTIONS, CURLOPT_NOSIGNAL, CURLINFO_LASTSOCKET, CURLINFO_SPEED_UPLOAD,
 * covers: CURLINFO_SPEED_UPLOAD_T, CURLOPT_TCP_NODELAY, CURLOPT_TCP_KEEPALIVE, CURLOPT_TCP_KEEPIDLE, CURLOPT_TCP_KEEPINTVL,
 * covers: CURLOPT_NEW_FILE_PERMS, CURLOPT_MAXAGE_CONN, CURLOPT_MAXLIFETIME_CONN, CURLOPT_QUICK_EXIT, CURLOPT_PIPEWAIT,
 * covers: CURLOPT_STREAM_DEPENDS, CURLOPT_STREAM_DEPENDS_E, CURLOPT_SSL_ENABLE_NPN,
 * covers: CURLOPT_RANDOM_FILE, CURLOPT_EGDSOCKET, CURLOPT_DNS_USE_GLOBAL_CACHE, CURLOPT_NEW_DIRECTORY_PERMS,
 * covers: CURLOPT_TCP_FASTOPEN, CURLOPT_SUPPRESS_CONNECT_HEADERS, CURLOPT_ADDRESS_SCOPE */
#include "twin.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

static size_t left, asked;

static size_t give(char *to, size_t size, size_t count, void *user)
{
  size_t n = size * count < left ? size * count : left;
  (void)user;
  if(size * count > asked)
    asked = size * count;
  memset(to, 'u', n);
  left -= n;
  return n;
}

static curlioerr again(CURL *easy, int command, void *user)
{
  (void)easy;
  printf("restart: %d %s\n", command, (char *)user);
  left = 50;
  return CURLIOE_OK;
}

static void buffers(void)
{
  CURL *easy = to("SERVER", "/bytes/100000");
  WITH(easy, BUFFERSIZE, 1024L);
  go("small buffer", easy);
  printf("pieces of at most 1024: %d\n", largest <= 1024);
  WITH(easy, BUFFERSIZE, 200000L);
  go("large buffer", easy);
  printf("pieces of at most 16384: %d\n", largest <= CURL_MAX_WRITE_SIZE);
  curl_easy_cleanup(easy);
  easy = to("SERVER", "/sum");
  left = 300000;
  WITH(easy, UPLOAD, 1L);
  WITH(easy, READFUNCTION, give);
  WITH(easy, INFILESIZE_LARGE, (curl_off_t)300000);
  WITH(easy, EXPECT_100_TIMEOUT_MS, 1L);
  WITH(easy, UPLOAD_BUFFERSIZE, 16384L);
  go("upload", easy);
  printf("room: %d\n", asked <= 16384);
  double speed = 0;
  curl_off_t exact = 0;
  printf("speed: %d %d", curl_easy_getinfo(easy, CURLINFO_SPEED_UPLOAD, &speed),
         curl_easy_getinfo(easy, CURLINFO_SPEED_UPLOAD_T, &exact));
  printf(" %d %d\n", speed > 1000, exact > 1000);
  printf("ranges: %d %d\n", curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 1L),
         curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 99999999L));
  curl_easy_cleanup(easy);
}

static void rewound(void)
{
  CURL *easy = to("SERVER", "/redirect/1/307");
  left = 50;
  WITH(easy, POST, 1L);
  WITH(easy, POSTFIELDSIZE, 50L);
  WITH(easy, READFUNCTION, give);
  WITH(easy, IOCTLFUNCTION, again);
  WITH(easy, IOCTLDATA, "mine");
  WITH(easy, FOLLOWLOCATION, 1L);
  go("restarted", easy);
  printf("left: %zu\n", left);
  curl_easy_cleanup(easy);
}

static void signed_request(void)
{
  struct curl_slist *date = curl_slist_append(NULL, "X-Amz-Date: 20220101T000000Z");
  CURL *easy = to("SERVER", "/bytes/3");
  WITH(easy, HTTPHEADER, date);
  WITH(easy, USERPWD, "key:secret");
  WITH(easy, AWS_SIGV4, "aws:amz:region-1:service");
  struct curl_slist *host = curl_slist_append(date, "Host: service.region-1.example");
  WITH(easy, HTTPHEADER, host);
  go("signed", easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(date);
}

static int option_of(CURL *easy, int level, int name)
{
  curl_socket_t fd = -1;
  int value = -1;
  socklen_t length = sizeof value;
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
  getsockopt(fd, level, name, &value, &length);
  return value;
}

static void sockets(void)
{
  CURL *easy = to("SERVER", "/bytes/3");
  go("plain", easy);
  printf("delay, alive: %d %d\n", !!option_of(easy, IPPROTO_TCP, TCP_NODELAY), option_of(easy, SOL_SOCKET, SO_KEEPALIVE));
  long last = -1;
  printf("last socket: %d %d\n", curl_easy_getinfo(easy, CURLINFO_LASTSOCKET, &last), last >= 0);
  curl_easy_cleanup(easy);
  easy = to("SERVER", "/bytes/3");
  WITH(easy, TCP_NODELAY, 0L);
  WITH(easy, TCP_KEEPALIVE, 1L);
  WITH(easy, TCP_KEEPIDLE, 77L);
  WITH(easy, TCP_KEEPINTVL, 33L);
  go("tuned", easy);
  printf("delay, alive: %d %d\n", !!option_of(easy, IPPROTO_TCP, TCP_NODELAY), option_of(easy, SOL_SOCKET, SO_KEEPALIVE));
  printf("idle, interval: %d %d\n", option_of(easy, IPPROTO_TCP, TCP_KEEPIDLE), option_of(easy, IPPROTO_TCP, TCP_KEEPINTVL));
  curl_easy_cleanup(easy);
  easy = to("SERVER", "/bytes/3");
  WITH(easy, TCP_FASTOPEN, 1L);
  go("fast open", easy);
  printf("fast: %d\n", option_of(easy, IPPROTO_TCP, TCP_FASTOPEN_CONNECT));
  curl_easy_cleanup(easy);
}

static curl_socket_t look(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address->addr;
  (void)user, (void)purpose;
  printf("scope: %u\n", (unsigned)six->sin6_scope_id);
  return CURL_SOCKET_BAD;
}

static void ages(void)
{
  CURL *easy = to("SERVER", "/bytes/3");
  go("first", easy);
  usleep(2100000);
  go("kept", easy);
  printf("connections: %ld\n", number(easy, CURLINFO_NUM_CONNECTS));
  WITH(easy, MAXAGE_CONN, 1L);
  usleep(2100000);
  go("too long idle", easy);
  printf("connections: %ld\n", number(easy, CURLINFO_NUM_CONNECTS));
  WITH(easy, MAXAGE_CONN, 100L);
  WITH(easy, MAXLIFETIME_CONN, 1L);
  usleep(2100000);
  go("too old", easy);
  printf("connections: %ld\n", number(easy, CURLINFO_NUM_CONNECTS));
  printf("ranges: %d %d\n", curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, -1L), curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, -1L));
  curl_easy_cleanup(easy);
}

static void files(void)
{
  char url[512], here[400] = "";
  struct stat made = {0};
  CURL *easy = to("SERVER", "/");
  snprintf(url, sizeof url, "file://%s/made-%d", getcwd(here, sizeof here), (int)getpid());
  left = 5;
  WITH(easy, URL, url);
  WITH(easy, UPLOAD, 1L);
  WITH(easy, READFUNCTION, give);
  WITH(easy, NEW_FILE_PERMS, 0600L);
  go("file", easy);
  stat(url + 7, &made);
  printf("mode: %o, size %ld\n", made.st_mode & 0777, (long)made.st_size);
  unlink(url + 7);
  printf("ranges: %d %d %d\n", curl_easy_setopt(easy, CURLOPT_NEW_FILE_PERMS, 07777L),
         curl_easy_setopt(easy, CURLOPT_NEW_DIRECTORY_PERMS, 07777L),
         curl_easy_setopt(easy, CURLOPT_NEW_DIRECTORY_PERMS, 0700L));
  curl_easy_cleanup(easy);
}

/* Taken, and without effect here and now. */
static void no_effect(void)
{
  CURL *easy = to("SERVER", "/bytes/3"), *other = curl_easy_init();
  printf("login options: %d\n", curl_easy_setopt(easy, CURLOPT_LOGIN_OPTIONS, "AUTH=*"));
  printf("no signal: %d\n", curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L));
  printf("quick exit: %d\n", curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L));
  printf("pipe wait: %d\n", curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L));
  printf("weight: %d\n", curl_easy_setopt(easy, CURLOPT_STREAM_WEIGHT, 10L));
  printf("depends: %d\n", curl_easy_setopt(easy, CURLOPT_STREAM_DEPENDS, other));
  printf("depends on it alone: %d\n", curl_easy_setopt(easy, CURLOPT_STREAM_DEPENDS_E, other));
  printf("depends no more: %d\n", curl_easy_setopt(easy, CURLOPT_STREAM_DEPENDS, NULL));
  printf("NPN: %d\n", curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_NPN, 0L));
  printf("random file: %d\n", curl_easy_setopt(easy, CURLOPT_RANDOM_FILE, "/dev/null"));
  printf("EGD: %d\n", curl_easy_setopt(easy, CURLOPT_EGDSOCKET, "/dev/null"));
  printf("global cache: %d\n", curl_easy_setopt(easy, CURLOPT_DNS_USE_GLOBAL_CACHE, 1L));
  printf("connect headers: %d\n", curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L));
  go("with all of them", easy);
  curl_easy_cleanup(easy);
  easy = to("SERVER", "/");
  WITH(easy, URL, "http://[fe80::1]:9/");
  WITH(easy, ADDRESS_SCOPE, 7L);
  WITH(easy, OPENSOCKETFUNCTION, look);
  go("scope", easy);
  printf("scopes: %d\n", curl_easy_setopt(easy, CURLOPT_ADDRESS_SCOPE, -1L));
  curl_easy_cleanup(easy);
  curl_easy_cleanup(other);
}

int main(void)
{
  buffers();
  rewound();
  signed_request();
  sockets();
  ages();
  files();
  no_effect();
  return 0;
}
