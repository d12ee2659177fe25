/* In which order callbacks are called, and how often multi and share handles answer what: GET, POST, redirects, uploads with
 * and without a known length, errors, several transfers of one multi handle.
 * covers: CURLOPT_OPENSOCKETFUNCTION, CURLOPT_SOCKOPTFUNCTION, CURLOPT_CLOSESOCKETFUNCTION, CURLOPT_PREREQFUNCTION,
 * covers: CURLOPT_DEBUGFUNCTION, CURLOPT_HEADERFUNCTION, CURLOPT_WRITEFUNCTION, CURLOPT_READFUNCTION, CURLOPT_SEEKFUNCTION,
 * covers: CURLOPT_RESOLVER_START_FUNCTION, curl_multi_info_read, curl_multi_remove_handle, curl_share_setopt */
#include "twin.h"
#include <sys/socket.h>

static char events[4000];

/* Several of the same in a row are one. */
static void event(const char *name)
{
  size_t length = strlen(events), own = strlen(name);
  if(length > own && !strncmp(events + length - own - 1, name, own) && events[length - 1] == ' ' &&
     (length == own + 1 || events[length - own - 2] == ' '))
    return;
  snprintf(events + length, sizeof events - length, "%s ", name);
}

static void print_events(const char *name, CURLcode code)
{
  printf("%s: code %d, %s\n", name, code, events);
  *events = 0;
}

static curl_socket_t on_open(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
  (void)user, (void)purpose;
  event("open");
  return socket(address->family, address->socktype, address->protocol);
}

static int on_option(void *user, curl_socket_t fd, curlsocktype purpose)
{
  (void)user, (void)fd, (void)purpose;
  event("sockopt");
  return CURL_SOCKOPT_OK;
}

static int on_close(void *user, curl_socket_t fd)
{
  (void)user;
  event("close");
  return close(fd);
}

static int on_prereq(void *user, char *remote, char *local, int remote_port, int local_port)
{
  (void)user, (void)remote, (void)local, (void)remote_port, (void)local_port;
  event("prereq");
  return CURL_PREREQFUNC_OK;
}

static int on_start(void *resolver, void *reserved, void *user)
{
  (void)resolver, (void)reserved, (void)user;
  event("resolve");
  return 0;
}

static int on_debug(CURL *easy, curl_infotype kind, char *data, size_t size, void *user)
{
  /* What is received is reported in another order since 8. */
  static const char *const names[] = {NULL, NULL, ">head", NULL, ">data"};
  (void)easy, (void)data, (void)size, (void)user;
  if(kind > 0 && kind < 5 && names[kind])
    event(names[kind]);
  return 0;
}

static size_t on_header(char *data, size_t size, size_t count, void *user)
{
  (void)user;
  event(size * count == 2 ? "header-end" : !strncmp(data, "HTTP/", 5) ? "status" : "header");
  return size * count;
}

static size_t on_write(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  event("write");
  return size * count;
}

static size_t left;

static size_t on_read(char *to, size_t size, size_t count, void *user)
{
  size_t n = size * count < left ? size * count : left;
  (void)user;
  event(n ? "read" : "read-end");
  memset(to, 'r', n);
  left -= n;
  return n;
}

static int on_seek(void *user, curl_off_t offset, int origin)
{
  (void)user, (void)offset, (void)origin;
  event("seek");
  left = 100;
  return CURL_SEEKFUNC_OK;
}

static CURL *watched(const char *path)
{
  CURL *easy = to("SERVER", path);
  WITH(easy, OPENSOCKETFUNCTION, on_open);
  WITH(easy, SOCKOPTFUNCTION, on_option);
  WITH(easy, CLOSESOCKETFUNCTION, on_close);
  WITH(easy, PREREQFUNCTION, on_prereq);
  WITH(easy, RESOLVER_START_FUNCTION, on_start);
  WITH(easy, DEBUGFUNCTION, on_debug);
  WITH(easy, VERBOSE, 1L);
  WITH(easy, HEADERFUNCTION, on_header);
  WITH(easy, WRITEFUNCTION, on_write);
  WITH(easy, READFUNCTION, on_read);
  WITH(easy, SEEKFUNCTION, on_seek);
  WITH(easy, EXPECT_100_TIMEOUT_MS, 100L);
  return easy;
}

static void ended(const char *name, CURL *easy)
{
  print_events(name, curl_easy_perform(easy));
  curl_easy_cleanup(easy);
  print_events("cleaned up", 0);
}

static void single(void)
{
  struct curl_slist *plain = curl_slist_append(NULL, "Expect:");
  CURL *easy = watched("/bytes/10");
  print_events("get", curl_easy_perform(easy));
  print_events("again", curl_easy_perform(easy));
  WITH(easy, URL, at("SERVER", "/last/bytes/10"));
  ended("the last on its connection", easy);
  ended("empty", watched("/bytes/0"));
  easy = watched("/redirect/2");
  WITH(easy, FOLLOWLOCATION, 1L);
  ended("redirects", easy);
  easy = watched("/body");
  WITH(easy, POSTFIELDS, "a=b");
  ended("post", easy);
  easy = watched("/body");
  left = 100;
  WITH(easy, UPLOAD, 1L);
  WITH(easy, HTTPHEADER, plain);
  WITH(easy, INFILESIZE, 100L);
  ended("put", easy);
  easy = watched("/body");
  left = 100;
  WITH(easy, UPLOAD, 1L);
  WITH(easy, HTTPHEADER, plain);
  ended("put of unknown length", easy);
  easy = watched("/redirect/1/307");
  left = 100;
  WITH(easy, POST, 1L);
  WITH(easy, POSTFIELDSIZE, 100L);
  WITH(easy, FOLLOWLOCATION, 1L);
  ended("post again", easy);
  easy = watched("/basic/me/secret");
  WITH(easy, USERPWD, "me:secret");
  WITH(easy, HTTPAUTH, (long)CURLAUTH_ANY);
  ended("asked who", easy);
  easy = watched("/bytes/10");
  WITH(easy, NOBODY, 1L);
  ended("head", easy);
  easy = watched("/status/404");
  WITH(easy, FAILONERROR, 1L);
  ended("not found", easy);
  ended("cut in the body", watched("/cut/300/bytes/1000"));
  ended("gzip", watched("/gzip/1000"));
  ended("chunks", watched("/chunked/1000/300"));
  easy = watched("/");
  WITH(easy, URL, "http://127.0.0.1:1/");
  ended("refused", easy);
  curl_slist_free_all(plain);
}

static void several(void)
{
  CURLM *multi = curl_multi_init();
  CURL *easy[3];
  int running = 1, left_over = -1, codes = 0, count = 0;
  curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1L);
  for(int i = 0; i < 3; i++) {
    easy[i] = to("SERVER", i == 1 ? "/status/404" : "/bytes/10");
    WITH(easy[i], PRIVATE, (char *)"abc" + i);
    if(i == 1)
      WITH(easy[i], FAILONERROR, 1L);
    printf("add: %d\n", curl_multi_add_handle(multi, easy[i]));
  }
  printf("add again: %d\n", curl_multi_add_handle(multi, easy[0]));
  printf("perform alone: %d\n", curl_easy_perform(easy[0]));
  printf("nothing yet: %d\n", curl_multi_info_read(multi, &left_over) != NULL);
  while(running && !curl_multi_perform(multi, &running))
    curl_multi_wait(multi, NULL, 0, 1000, NULL);
  for(CURLMsg *message; (message = curl_multi_info_read(multi, &left_over));) {
    printf("message: %s code %d left %d kind %d\n", text(message->easy_handle, CURLINFO_PRIVATE), message->data.result, left_over,
           message->msg);
    codes += message->data.result;
    printf("remove: %d\n", curl_multi_remove_handle(multi, message->easy_handle));
    count++;
  }
  printf("in all: %d, codes %d\n", count, codes);
  printf("remove again: %d\n", curl_multi_remove_handle(multi, easy[0]));
  printf("put back: %d\n", curl_multi_add_handle(multi, easy[2]));
  curl_easy_cleanup(easy[2]); /* takes itself out */
  printf("perform: %d", curl_multi_perform(multi, &running));
  printf(" %d\n", running);
  printf("put back: %d\n", curl_multi_add_handle(multi, easy[0]));
  printf("cleanup: %d\n", curl_multi_cleanup(multi));
  go("alone after all", easy[0]);
  curl_easy_cleanup(easy[0]);
  curl_easy_cleanup(easy[1]);
}

static void shared(void)
{
  static const int kinds[] = {CURL_LOCK_DATA_NONE, CURL_LOCK_DATA_SHARE, CURL_LOCK_DATA_COOKIE, CURL_LOCK_DATA_DNS,
                              CURL_LOCK_DATA_SSL_SESSION, CURL_LOCK_DATA_CONNECT, CURL_LOCK_DATA_PSL, CURL_LOCK_DATA_HSTS,
                              CURL_LOCK_DATA_LAST, -1, 99};
  CURLSH *share = curl_share_init();
  for(size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    printf("share %d: %d\n", kinds[i], curl_share_setopt(share, CURLSHOPT_SHARE, kinds[i]));
    printf("unshare %d: %d\n", kinds[i], curl_share_setopt(share, CURLSHOPT_UNSHARE, kinds[i]));
  }
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
  CURL *one = to("SERVER", "/cookies/set/name/value"), *two = to("SERVER", "/cookies");
  printf("set: %d %d\n", curl_easy_setopt(one, CURLOPT_SHARE, share), curl_easy_setopt(two, CURLOPT_SHARE, share));
  go("sets a cookie", one);
  go("sends it", two);
  printf("cookie: %s\n", first);
  printf("in use: %d %d\n", curl_share_cleanup(share), curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS));
  curl_easy_cleanup(one);
  printf("leave: %d\n", curl_easy_setopt(two, CURLOPT_SHARE, NULL));
  printf("free: %d\n", curl_share_cleanup(share));
  go("sends none", two);
  printf("cookie: %s\n", first);
  curl_easy_cleanup(two);
}

int main(void)
{
  single();
  several();
  shared();
  return 0;
}
