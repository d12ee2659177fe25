/* stack KIB URL [OPTION=VALUE]...
 * Makes the transfer twice with one handle, the second time perhaps on the kept connection, in a thread that has KIB KiB of stack
 * above a guard page, and cleans up there. The stack is painted beforehand: the program prints how deep curl_easy_perform, the
 * callbacks (seen from the frame that calls curl_easy_perform) and curl_easy_cleanup reach. With MULTI=1 in the environment the
 * transfer runs in a multi handle, with COROUTINE=1 the stack is that of a coroutine on the main thread.
 * UPLOAD=1 sends 100,000 bytes. */
#define _GNU_SOURCE
#include "facts.h"
#include "setting.h"
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAINT = 0xa5, SENT = 100000 };

static char *stack; /* its lowest byte */
static size_t size;
static char *base; /* in the frame that calls the library */
static size_t callback;
static struct sink sink;
static size_t left;
static int count;
static char **words;

static void reached(void) {
  char local;
  size_t depth = (size_t)(base - &local);
  if (depth > callback) callback = depth;
}

static size_t takes(char *data, size_t each, size_t number, void *user) {
  reached();
  return sink_write(data, each, number, user);
}

static size_t gives(char *data, size_t each, size_t number, void *user) {
  size_t room = each * number;
  (void)user;
  reached();
  if (room > left) room = left;
  for (size_t i = 0; i < room; i++) data[i] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n"[(SENT - left + i) % 31];
  left -= room;
  return room;
}

static size_t hears(char *data, size_t each, size_t number, void *user) {
  (void)data, (void)user;
  reached();
  return each * number;
}

static int says(CURL *easy, curl_infotype type, char *data, size_t length, void *user) {
  (void)easy, (void)type, (void)data, (void)length, (void)user;
  reached();
  return 0;
}

static int moves(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
  (void)user, (void)a, (void)b, (void)c, (void)d;
  reached();
  return 0;
}

static int connected(void *user, curl_socket_t fd, curlsocktype purpose) {
  (void)user, (void)fd, (void)purpose;
  reached();
  return 0;
}

static void paint(void) {
  volatile char *at = stack;
  /* Not what is in use, nor the red zone below it. */
  while (at < base - 2048) *at++ = (char)PAINT;
}

static size_t depth(void) {
  unsigned char *at = (unsigned char *)stack;
  while (at < (unsigned char *)base && *at == PAINT) at++;
  return (size_t)(base - (char *)at);
}

static CURLcode perform(CURL *easy) {
  CURLM *multi;
  CURLcode code = CURLE_OK;
  int running = 1, left_over;
  CURLMsg *message;
  if (getenv("MULTI") == NULL) return curl_easy_perform(easy);
  multi = curl_multi_init();
  curl_multi_add_handle(multi, easy);
  while (running) {
    curl_multi_perform(multi, &running);
    if (running) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  message = curl_multi_info_read(multi, &left_over);
  if (message) code = message->data.result;
  curl_multi_remove_handle(multi, easy);
  curl_multi_cleanup(multi);
  return code;
}

static void *run(void *user) {
  char local;
  CURL *easy;
  long uploads = 0;
  (void)user;
  base = &local;
  easy = curl_easy_init();
  for (int i = 1; i < count; i++) {
    uploads |= !strcmp(words[i], "UPLOAD=1");
    set(easy, words[i]);
  }
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, takes);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, hears);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, gives);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, connected);
  curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, says);
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, moves);
  if (getenv("QUIET") == NULL) {
    curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  }
  for (int round = 0; round < 2; round++) {
    CURLcode code;
    sink_reset(&sink);
    left = uploads ? SENT : 0;
    callback = 0;
    curl_easy_setopt(easy, CURLOPT_URL, words[0]);
    paint();
    code = perform(easy);
    printf("code=%d bytes=%zu sent=%zu perform=%zu callback=%zu\n", (int)code, sink.bytes, uploads ? SENT - left : 0, depth(),
           callback);
    if (code) printf("message=%s\n", curl_easy_strerror(code));
  }
  paint();
  curl_easy_cleanup(easy);
  printf("cleanup=%zu\n", depth());
  return NULL;
}

static void routine(void) { run(NULL); }

static void coroutine(void) {
  ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = size;
  there.uc_link = &here;
  makecontext(&there, routine, 0);
  swapcontext(&here, &there);
}

static void thread(void) {
  pthread_attr_t attributes;
  pthread_t id;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, size) || pthread_create(&id, &attributes, run, NULL)) {
    printf("no such stack\n");
    exit(2);
  }
  pthread_join(id, NULL);
}

int main(int argc, char **argv) {
  size_t guard = (size_t)sysconf(_SC_PAGESIZE);
  if (argc < 3) return 2;
  size = (size_t)atol(argv[1]) * 1024;
  words = argv + 2;
  count = argc - 2;
  curl_global_init(CURL_GLOBAL_ALL);
  stack = mmap(NULL, guard + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(stack, guard, PROT_NONE);
  stack += guard;
  if (getenv("COROUTINE"))
    coroutine();
  else
    thread();
  curl_global_cleanup();
  return 0;
}
