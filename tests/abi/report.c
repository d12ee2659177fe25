/* Programs that make a mistake, each in a process of its own: the report at exit names the mistake. The one that makes none
   gets no finding. */
#define _GNU_SOURCE /* memmem */
#include "pool.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMES 4

static size_t ignored(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  return size * count;
}

static CURL *handle(const char *path)
{
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server(path));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignored);
  return easy;
}

static void one_handle(void)
{
  CURL *easy = handle("/bytes/10");
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

static void handle_for_each(void)
{
  for(int i = 0; i < TIMES; i++) {
    CURL *easy = handle("/bytes/10");
    curl_easy_perform(easy);
    curl_easy_cleanup(easy);
  }
}

/* Two handles at the same time need two connections. */
static void together(void)
{
  CURLM *multi = curl_multi_init();
  CURL *easy[TIMES];
  int running;
  for(int i = 0; i < TIMES; i++)
    curl_multi_add_handle(multi, easy[i] = handle("/delay/100/bytes/10"));
  do {
    curl_multi_perform(multi, &running);
    curl_multi_poll(multi, NULL, 0, 100, NULL);
  } while(running);
  for(int i = 0; i < TIMES; i++) {
    curl_multi_remove_handle(multi, easy[i]);
    curl_easy_cleanup(easy[i]);
  }
  curl_multi_cleanup(multi);
}

static void differing(void)
{
  CURL *easy = handle("/bytes/10");
  for(int i = 0; i < TIMES; i++) {
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 60L + i);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_perform(easy);
  }
  curl_easy_cleanup(easy);
}

static void forbidding(void)
{
  CURL *easy = handle("/bytes/10");
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

static void fresh(void)
{
  CURL *easy = handle("/bytes/10");
  curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

/* The pool has room for one connection, and the requests alternate between two. */
static void too_small(void)
{
  CURL *easy = handle("/bytes/10");
  curl_easy_setopt(easy, CURLOPT_MAXCONNECTS, 1L);
  for(int i = 0; i < 2 * TIMES; i++) {
    char name[600];
    const char *at = server("/bytes/10");
    snprintf(name, sizeof name, "http://localhost%s", strrchr(at, ':'));
    curl_easy_setopt(easy, CURLOPT_URL, i % 2 ? name : at);
    curl_easy_perform(easy);
  }
  curl_easy_cleanup(easy);
}

static void closing(void)
{
  CURL *easy = handle("/last/bytes/10");
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

/* A pool would not help: the server closes each time. */
static void closing_each(void)
{
  for(int i = 0; i < TIMES; i++) {
    CURL *easy = handle("/last/bytes/10");
    curl_easy_perform(easy);
    curl_easy_cleanup(easy);
  }
}

static void expect_at(const char *path, long patience)
{
  CURL *easy = handle(path);
  struct curl_slist *lines = curl_slist_append(NULL, "Expect: 100-continue");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lines);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "body");
  curl_easy_setopt(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, patience);
  curl_easy_perform(easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(lines);
}

static void expecting(void) { expect_at("/no-continue/10", 50); }
static void expecting_well(void) { expect_at("/bytes/10", 60000); }

static void redirected(void)
{
  CURL *easy = handle("/redirect/1");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

static void limited(const char *path, long limit)
{
  CURL *easy = handle(path);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, limit);
  curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

static void late(void) { limited("/delay/5000/bytes/10", 50); }
static void in_time(void) { limited("/bytes/10", 60000); }

static void closing_old(void)
{
  for(int i = 0; i < TIMES; i++) {
    CURL *easy = handle("/close/10");
    curl_easy_perform(easy);
    curl_easy_cleanup(easy);
  }
}

static void many_files(void)
{
  CURL *easy = handle("/");
  curl_easy_setopt(easy, CURLOPT_URL, ftp_url());
  for(int i = 0; i < 2 * TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

static void many_files_in_turn(void)
{
  setenv("WARMWIRE_FTP", "turns", 1);
  many_files();
}

static size_t piece;

static size_t give(char *data, size_t size, size_t count, void *user)
{
  size_t *left = user, n = size * count;
  n = n < piece ? n : piece;
  n = n < *left ? n : *left;
  memset(data, 'x', n);
  *left -= n;
  return n;
}

static void upload(void)
{
  size_t left = 1000;
  CURL *easy = handle("/sum");
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE, 1000L);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, give);
  curl_easy_setopt(easy, CURLOPT_READDATA, &left);
  curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

static void upload_by_tens(void)
{
  piece = 10;
  upload();
}

static void upload_at_once(void)
{
  piece = 1000;
  upload();
}

/* A server for one connection. It waits before it reads the first upload, so that its window is full. */
static int slow_reader(pid_t *child, size_t size)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  SAME(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
  SAME(listen(listener, 1), 0);
  SAME(getsockname(listener, (struct sockaddr *)&address, &length), 0);
  *child = fork();
  if(!*child) {
    static char data[65536];
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    int peer = accept(listener, NULL, NULL);
    for(int i = 0; i < TIMES; i++) {
      size_t got = 0, head = 0;
      if(!i)
        usleep(400 * 1000);
      while(!head || got < head + size) {
        ssize_t n = read(peer, data + (head ? 0 : got), sizeof data - (head ? 0 : got));
        if(n <= 0)
          _exit(1);
        got += (size_t)n;
        char *end = head ? NULL : memmem(data, got, "\r\n\r\n", 4);
        if(end)
          head = (size_t)(end - data) + 4;
      }
      if(write(peer, reply, sizeof reply - 1) < 0)
        _exit(1);
    }
    _exit(0);
  }
  close(listener);
  return ntohs(address.sin_port);
}

/* Uploads on one connection. */
static void upload_slowly(size_t size)
{
  pid_t child;
  char url[64], *body = calloc(1, size);
  CURL *easy = handle("/");
  struct curl_slist *lines = curl_slist_append(NULL, "Expect:");
  snprintf(url, sizeof url, "http://127.0.0.1:%d/", slow_reader(&child, size));
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lines);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
  for(int i = 0; i < TIMES; i++)
    SAME(curl_easy_perform(easy), CURLE_OK);
  curl_easy_cleanup(easy);
  curl_slist_free_all(lines);
  free(body);
  waitpid(child, NULL, 0);
}

/* The receiver takes no more for a while; a small body fits into its window. */
static void full_window(void) { upload_slowly(8 << 20); }
static void open_window(void) { upload_slowly(10 * 1000); }

static void busy(void)
{
  CURLM *multi = curl_multi_init();
  CURL *easy = handle("/delay/200/bytes/10");
  int running;
  curl_multi_add_handle(multi, easy);
  do
    curl_multi_perform(multi, &running);
  while(running);
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
}

static void texts(const char *coding)
{
  CURL *easy = handle("/text/5000");
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, coding);
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

static void plain_texts(void) { texts(NULL); }
static void coded_texts(void) { texts(""); }

/* One handle logs in, others ask without its cookie. */
static void logins(CURLSH *share)
{
  CURL *login = handle("/cookies/set/session/secret");
  curl_easy_setopt(login, CURLOPT_SHARE, share);
  curl_easy_setopt(login, CURLOPT_COOKIEFILE, "");
  curl_easy_perform(login);
  curl_easy_setopt(login, CURLOPT_URL, server("/cookies"));
  curl_easy_perform(login);
  CURL *other = handle("/status/403");
  curl_easy_setopt(other, CURLOPT_SHARE, share);
  if(share)
    curl_easy_setopt(other, CURLOPT_COOKIEFILE, "");
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(other);
  curl_easy_cleanup(other);
  curl_easy_cleanup(login);
}

static void separate_logins(void) { logins(NULL); }

static void shared_logins(void)
{
  CURLSH *share = curl_share_init();
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
  logins(share);
  curl_share_cleanup(share);
}

/* A handle for nginx, which speaks HTTP/2 and resumes sessions. */
static CURL *secure(void)
{
  CURL *easy = handle("/");
  curl_easy_setopt(easy, CURLOPT_URL, getenv("NGINX"));
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_2);
  return easy;
}

static void uncached(void)
{
  CURL *easy = secure();
  curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

static void unshared(void)
{
  for(int i = 0; i < TIMES; i++) {
    CURL *easy = secure();
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_perform(easy);
    curl_easy_cleanup(easy);
  }
}

static void beside(long version)
{
  CURLM *multi = curl_multi_init();
  CURL *easy[TIMES];
  int running;
  for(int i = 0; i < TIMES; i++) {
    easy[i] = secure();
    curl_easy_setopt(easy[i], CURLOPT_HTTP_VERSION, version);
    curl_easy_setopt(easy[i], CURLOPT_PIPEWAIT, 1L);
    curl_multi_add_handle(multi, easy[i]);
  }
  do {
    curl_multi_perform(multi, &running);
    curl_multi_poll(multi, NULL, 0, 100, NULL);
  } while(running);
  for(int i = 0; i < TIMES; i++) {
    curl_multi_remove_handle(multi, easy[i]);
    curl_easy_cleanup(easy[i]);
  }
  curl_multi_cleanup(multi);
}

static void beside_1(void) { beside(CURL_HTTP_VERSION_1_1); }
static void beside_2(void) { beside(CURL_HTTP_VERSION_2TLS); }

/* A handle for a host of NAME_SERVER, on which the server closes each time. */
static CURL *named(const char *host)
{
  char url[256];
  const char *port = strrchr(server(""), ':');
  CURL *easy = curl_easy_init();
  snprintf(url, sizeof url, "http://%s%s/last/bytes/10", host, port);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignored);
  curl_easy_setopt(easy, CURLOPT_DNS_SERVERS, getenv("NAME_SERVER"));
  return easy;
}

/* Each handle asks for a name that another one knows. */
static void ask_again(CURLSH *share)
{
  for(int i = 0; i < TIMES; i++) {
    CURL *easy = named("late.test");
    curl_easy_setopt(easy, CURLOPT_SHARE, share);
    curl_easy_perform(easy);
    curl_easy_cleanup(easy);
  }
}

static void asked_again(void) { ask_again(NULL); }

static void asked_once(void)
{
  CURLSH *share = curl_share_init();
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
  ask_again(share);
  curl_share_cleanup(share);
}

static void ask_for_many(const char *word)
{
  for(int i = 0; i < TIMES; i++) {
    char host[64];
    snprintf(host, sizeof host, "%s%d.test", word, i);
    CURL *easy = named(host);
    curl_easy_perform(easy);
    curl_easy_cleanup(easy);
  }
}

static void slow_names(void) { ask_for_many("slow"); }
static void quick_names(void) { ask_for_many("quick"); }

/* A name with an address of IPv6 where nobody answers: the queue of the listening socket is full. */
static void half_dead(long families)
{
  struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int port = atoi(strrchr(server(""), ':') + 1);
  char pin[128];
  struct curl_slist *pins;
  address.sin6_port = htons((unsigned short)port);
  int silent = socket(AF_INET6, SOCK_STREAM, 0), only = 1;
  setsockopt(silent, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
  SAME(bind(silent, (struct sockaddr *)&address, sizeof address), 0);
  SAME(listen(silent, 0), 0);
  for(int i = 0; i < 4; i++) {
    int filler = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connect(filler, (struct sockaddr *)&address, sizeof address);
  }
  snprintf(pin, sizeof pin, "half.test:%d:[::1],127.0.0.1", port);
  pins = curl_slist_append(NULL, pin);
  for(int i = 0; i < TIMES; i++) {
    CURL *easy = named("half.test");
    curl_easy_setopt(easy, CURLOPT_RESOLVE, pins);
    curl_easy_setopt(easy, CURLOPT_IPRESOLVE, families);
    curl_easy_perform(easy);
    curl_easy_cleanup(easy);
  }
  curl_slist_free_all(pins);
}

static void dead_family(void) { half_dead(CURL_IPRESOLVE_WHATEVER); }
static void living_family(void) { half_dead(CURL_IPRESOLVE_V4); }

/* Runs the program in a child, and returns its report. */
static char *report(void (*program)(void))
{
  static char text[65536];
  const char *name = "report.txt";
  unlink(name);
  pid_t child = fork();
  if(!child) {
    setenv("WARMWIRE_REPORT", name, 1);
    unsetenv("WARMWIRE_POOL");
    program();
    exit(0);
  }
  int status = 1;
  SAME(waitpid(child, &status, 0), child);
  SAME(status, 0);
  int file = open(name, O_RDONLY);
  CHECK(file >= 0);
  ssize_t length = read(file, text, sizeof text - 1);
  text[length > 0 ? length : 0] = 0;
  close(file);
  return text;
}

static void finds(void (*program)(void), const char *wanted)
{
  char *text = report(program);
  if(!strstr(text, wanted)) {
    failures++;
    printf("the report lacks \"%s\":\n%s\n", wanted, text);
  }
}

static void lacks(void (*program)(void), const char *unwanted)
{
  char *text = report(program);
  CHECK(strstr(text, "\nTotals: 4 transfers (0 failed) in "));
  if(strstr(text, unwanted)) {
    failures++;
    printf("the report has \"%s\":\n%s\n", unwanted, text);
  }
}

int main(void)
{
  /* Children must not write the parent's lines again. */
  setvbuf(stdout, NULL, _IONBF, 0);
  finds(one_handle, "\nNo findings.\nTotals: 4 transfers (0 failed) in ");
  finds(together, "\nNo findings.\nTotals: 4 transfers (0 failed) in ");
  finds(handle_for_each, ": 3 connections were opened although another handle had left an equal one");
  finds(handle_for_each, "\n  remedy: set WARMWIRE_POOL=process in the environment, or reuse one handle\n");
  finds(differing, ": 3 connections were opened because transfers differ in CURLOPT_TCP_KEEPIDLE");
  finds(forbidding, ": 3 connections were opened because CURLOPT_FORBID_REUSE or CURLOPT_FRESH_CONNECT is set");
  finds(fresh, ": 4 connections were opened because CURLOPT_FORBID_REUSE or CURLOPT_FRESH_CONNECT is set");
  finds(too_small, ": 6 connections were closed for lack of room and opened again");
  finds(closing, ": 3 connections were opened because the server had closed the one before");
  finds(closing_each, ": 3 connections were opened because the server had closed the one before");
  finds(closing_old, ": 3 connections were opened because the server had closed the one before");
  finds(many_files, " files by FTP took ");
  finds(many_files_in_turn, "\nNo findings.\n");
  finds(upload_by_tens, ": 100 calls of CURLOPT_READFUNCTION gave 10 bytes each");
  finds(upload_at_once, "\nNo findings.\n");
  finds(busy, " calls of curl_multi_perform without a wait before them");
  finds(plain_texts, ": 4 texts came uncompressed");
  finds(coded_texts, "\nNo findings.\n");
  finds(separate_logins, ": 4 requests without a cookie were refused");
  finds(shared_logins, "\nNo findings.\n");
  if(getenv("NGINX")) {
    finds(uncached, ": 4 full handshakes, because CURLOPT_SSL_SESSIONID_CACHE is off");
    finds(unshared, ": 3 full handshakes, although another handle had a session to resume");
    finds(beside_1, ": 3 connections were opened beside others, because an option forbids HTTP/2");
    finds(beside_2, "\nNo findings.\n");
  }
  finds(expecting, ": 1 uploads waited in vain for 100 Continue");
  finds(expecting_well, "\nNo findings.\n");
  finds(redirected, ": 4 requests met the same redirect: http://");
  finds(asked_again, ": 3 look-ups of a name whose answer was known");
  lacks(asked_once, "look-ups");
  finds(slow_names, "4 hosts: 4 look-ups of a name took 100 ms or more each");
  lacks(quick_names, "look-ups");
  finds(dead_family, ": 4 connections tried IPv6 first, which always failed");
  lacks(living_family, "IPv6");
#ifdef __linux__
  finds(full_window, ": 1 uploads waited for the receiver, whose window was full; at least ");
#endif
  lacks(open_window, "uploads");
  finds(late, ": 1 transfers ended by a time limit");
  finds(in_time, "\nNo findings.\n");
  return FAILURES;
}
