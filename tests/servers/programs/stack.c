/* stack KIB|measure URL [OPTION=VALUE]...
 * Makes the transfer twice with one handle, the second time perhaps on the kept connection, in a thread that has KIB KiB of stack
 * above a guard page, and cleans up there. With `measure` the stack is 1 MiB, painted beforehand: the program prints how deep
 * curl_easy_perform, the callbacks (seen from the frame that calls curl_easy_perform) and curl_easy_cleanup reach.
 * UPLOAD=1 sends 100,000 bytes. */
#define _GNU_SOURCE
#include "facts.h"
#include "setting.h"
#include <pthread.h>
#include <sys/mman.h>

enum { PAINT = 0xa5, ROOM = 1 << 20, SENT = 100000 };

static char *stack; /* its lowest byte */
static size_t size;
static int measures;
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
  if (measures)
    while (at < base - 4096) *at++ = (char)PAINT;
}

static size_t depth(void) {
  unsigned char *at = (unsigned char *)stack;
  while (measures && at < (unsigned char *)base && *at == PAINT) at++;
  return measures ? (size_t)(base - (char *)at) : 0;
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
    code = curl_easy_perform(easy);
    printf("code=%d bytes=%zu sent=%zu perform=%zu callback=%zu\n", (int)code, sink.bytes, uploads ? SENT - left : 0, depth(),
           measures ? callback : 0);
    if (code) printf("message=%s\n", curl_easy_strerror(code));
  }
  paint();
  curl_easy_cleanup(easy);
  printf("cleanup=%zu\n", depth());
  return NULL;
}

int main(int argc, char **argv) {
  pthread_attr_t attributes;
  pthread_t thread;
  size_t guard = (size_t)sysconf(_SC_PAGESIZE);
  if (argc < 3) return 2;
  measures = !strcmp(argv[1], "measure");
  size = measures ? ROOM : (size_t)atol(argv[1]) * 1024;
  words = argv + 2;
  count = argc - 2;
  curl_global_init(CURL_GLOBAL_ALL);
  stack = mmap(NULL, guard + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(stack, guard, PROT_NONE);
  stack += guard;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, size)) {
    printf("no such stack\n");
    return 2;
  }
  if (pthread_create(&thread, &attributes, run, NULL)) return 2;
  pthread_join(thread, NULL);
  curl_global_cleanup();
  return 0;
}
