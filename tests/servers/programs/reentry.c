/* reentry URL PLACE: calls every function of the re-entry table on the running handle, or on its multi handle, from
 * inside a callback (write, header, progress, socket, timer, notify), once each. A line of facts for each function:
 * its name and the code it answered, "ignored" where it has none, "absent" where the library lacks it. */
#define _GNU_SOURCE
#include "facts.h"
#include <dlfcn.h>

static CURL *easy;
static CURLM *multi;
static struct sink sink;
static int asked, ended = -1;
static CURL *other;

static void say(const char *name, int code) { printf("%s %d\n", name, code); }

static int no_ssls(CURL *handle, void *user, const char *key, const unsigned char *shmac, size_t shmac_length,
                   const unsigned char *data, size_t data_length, curl_off_t until, int version, const char *alpn,
                   size_t early) {
  (void)handle, (void)user, (void)key, (void)shmac, (void)shmac_length, (void)data, (void)data_length, (void)until,
      (void)version, (void)alpn, (void)early;
  return 0;
}

/* Those newer than the distribution's headers are looked up by name. */
static void *find(const char *name) {
  void *function = dlsym(RTLD_DEFAULT, name);
  if (!function) printf("%s absent\n", name);
  return function;
}

static void ask_newer(void) {
  typedef CURLcode ssls_import(CURL *, const char *, const unsigned char *, size_t, const unsigned char *, size_t);
  typedef CURLcode ssls_export(CURL *, void *, void *);
  typedef CURL **get_handles(CURLM *);
  typedef CURLMcode get_offt(CURLM *, int, curl_off_t *);
  typedef CURLMcode notify(CURLM *, unsigned);
  typedef CURLMcode waitfds(CURLM *, struct curl_waitfd *, unsigned, unsigned *);
  union {
    void *found;
    ssls_import *import;
    ssls_export *export;
    get_handles *handles;
    get_offt *offt;
    notify *notify;
    waitfds *waitfds;
  } to;
  if ((to.found = find("curl_easy_ssls_export"))) say("curl_easy_ssls_export", to.export(easy, (void *)no_ssls, NULL));
  if ((to.found = find("curl_easy_ssls_import")))
    say("curl_easy_ssls_import", to.import(easy, "key", NULL, 0, (const unsigned char *)"x", 1));
  if ((to.found = find("curl_multi_get_handles"))) {
    CURL **handles = to.handles(multi);
    printf("curl_multi_get_handles %d\n", handles && handles[0] == easy ? 0 : -1);
    curl_free(handles);
  }
  curl_off_t value;
  if ((to.found = find("curl_multi_get_offt"))) say("curl_multi_get_offt", to.offt(multi, 1, &value));
  if ((to.found = find("curl_multi_notify_enable"))) say("curl_multi_notify_enable", to.notify(multi, 1));
  if ((to.found = find("curl_multi_notify_disable"))) say("curl_multi_notify_disable", to.notify(multi, 0));
  unsigned count;
  if ((to.found = find("curl_multi_waitfds"))) say("curl_multi_waitfds", to.waitfds(multi, NULL, 0, &count));
}

static void done(CURL *handle, CURLcode code) {
  (void)handle;
  ended = code;
}

static void ask(void) {
  int running, left;
  long number = 0;
  size_t length;
  char byte[4];
  fd_set set;
  struct curl_header *header;
  if (asked++) return;
  FD_ZERO(&set);
  CURL *copy = curl_easy_duphandle(easy);
  printf("curl_easy_duphandle %d\n", copy ? 0 : -1);
  if (copy) curl_easy_cleanup(copy);
  say("curl_easy_getinfo", curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &number));
  printf("curl_easy_header %d\n", curl_easy_header(easy, "X-None", 0, CURLH_HEADER, -1, &header) == 99 ? 93 : 0);
  printf("curl_easy_nextheader %d\n", (curl_easy_nextheader(easy, CURLH_HEADER, -1, NULL), 0));
  say("curl_easy_perform", curl_easy_perform(easy));
  say("curl_easy_recv", curl_easy_recv(easy, byte, sizeof byte, &length));
  say("curl_easy_send", curl_easy_send(easy, byte, sizeof byte, &length));
  say("curl_easy_setopt", curl_easy_setopt(easy, CURLOPT_USERAGENT, "inside"));
  say("curl_easy_upkeep", curl_easy_upkeep(easy));
  say("curl_easy_pause", curl_easy_pause(easy, CURLPAUSE_CONT));
  curl_easy_cleanup(easy), puts("curl_easy_cleanup ignored");
  curl_easy_reset(easy), puts("curl_easy_reset ignored");
  CURLMcode added = curl_multi_add_handle(multi, other);
  say("curl_multi_add_handle", added);
  /* Only one that is in the multi handle can be removed, and so be refused. */
  say("curl_multi_remove_handle", curl_multi_remove_handle(multi, added ? easy : other));
  say("curl_multi_assign", curl_multi_assign(multi, 0, NULL) == CURLM_RECURSIVE_API_CALL ? 8 : 0);
  say("curl_multi_cleanup", curl_multi_cleanup(multi));
  say("curl_multi_fdset", curl_multi_fdset(multi, &set, &set, &set, &left));
  take_messages(multi, done), say("curl_multi_info_read", 0); /* inside notify the message is already there */
  say("curl_multi_perform", curl_multi_perform(multi, &running));
  say("curl_multi_poll", curl_multi_poll(multi, NULL, 0, 0, NULL));
  say("curl_multi_setopt", curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 7L));
  say("curl_multi_socket_action", curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#undef curl_multi_socket
  say("curl_multi_socket_all", curl_multi_socket_all(multi, &running));
  say("curl_multi_socket", curl_multi_socket(multi, CURL_SOCKET_TIMEOUT, &running));
#pragma GCC diagnostic pop
  say("curl_multi_timeout", curl_multi_timeout(multi, &number));
  say("curl_multi_wait", curl_multi_wait(multi, NULL, 0, 0, NULL));
  ask_newer();
}

static size_t on_write(char *d, size_t s, size_t n, void *u) { ask(); return sink_write(d, s, n, u); }
static size_t on_header(char *d, size_t s, size_t n, void *u) { (void)d, (void)u; ask(); return s * n; }
static int on_progress(void *u, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
  (void)u, (void)b, (void)c, (void)d;
  if (a > 0) ask();
  return 0;
}
static int on_socket(CURL *e, curl_socket_t fd, int what, void *user, void *known) {
  int result = loop_socket(e, fd, what, user, known);
  ask();
  return result;
}
static int on_timer(CURLM *m, long timeout_ms, void *user) {
  int result = loop_timer(m, timeout_ms, user);
  if (ended == -2) ask();
  return result;
}
static void on_notify(CURLM *m, unsigned what, CURL *e, void *user) { (void)m, (void)what, (void)e, (void)user; ask(); }

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const char *place = argv[2];
  struct loop loop;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi = curl_multi_init();
  easy = curl_easy_init(), other = curl_easy_init();
  sink_reset(&sink);
  curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, !strcmp(place, "write") ? on_write : sink_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
  if (!strcmp(place, "header")) curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  if (!strcmp(place, "progress")) {
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  }
  loop_open(&loop, multi);
  if (!strcmp(place, "socket")) curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  if (!strcmp(place, "timer")) curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  if (!strcmp(place, "notify")) {
    curl_multi_setopt(multi, (CURLMoption)20018, on_notify);
    curl_multi_setopt(multi, (CURLMoption)10019, NULL);
    CURLMcode (*enable)(CURLM *, unsigned);
    *(void **)&enable = find("curl_multi_notify_enable");
    if (enable) enable(multi, 1);
  }
  curl_multi_add_handle(multi, easy);
  ended = -2;
  while (ended < 0) loop_step(&loop, multi, done);
  printf("asked=%d code=%d bytes=%zu\n", asked > 0, ended, sink.bytes);
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy), curl_easy_cleanup(other);
  printf("cleanup=%d\n", curl_multi_cleanup(multi));
  curl_global_cleanup();
  return 0;
}
