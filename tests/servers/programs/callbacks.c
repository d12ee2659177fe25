/* callbacks URL WHICH: one transfer with a callback that fails. */
#include "facts.h"

static struct sink sink;
static int opened, closed;

static size_t short_write(char *d, size_t s, size_t n, void *u) { (void)d, (void)u; return s && n ? s * n - 1 : 0; }
static size_t huge_write(char *d, size_t s, size_t n, void *u) { (void)d, (void)u; return s * n + 1; }
static size_t abort_read(char *d, size_t s, size_t n, void *u) { (void)d, (void)s, (void)n, (void)u; return CURL_READFUNC_ABORT; }
static size_t huge_read(char *d, size_t s, size_t n, void *u) { (void)d, (void)u; return s * n + 1; }
static size_t short_read(char *d, size_t s, size_t n, void *u) {
  static int calls;
  (void)s, (void)n, (void)u;
  if (calls++) return 0;
  memcpy(d, "abc", 3);
  return 3;
}
static int stop(void *u, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) { (void)u, (void)a, (void)b, (void)c, (void)d; return 1; }
static curl_socket_t no_socket(void *u, curlsocktype p, struct curl_sockaddr *a) { (void)u, (void)p, (void)a; return CURL_SOCKET_BAD; }
static curl_socket_t own_socket(void *u, curlsocktype p, struct curl_sockaddr *a) {
  (void)u, (void)p;
  opened++;
  return socket(a->family, a->socktype, a->protocol);
}
static int own_close(void *u, curl_socket_t fd) { (void)u; closed++; return close(fd); }
static int bad_sockopt(void *u, curl_socket_t fd, curlsocktype p) { (void)u, (void)fd, (void)p; return CURL_SOCKOPT_ERROR; }
static int seek_fail(void *u, curl_off_t o, int w) { (void)u, (void)o, (void)w; return CURL_SEEKFUNC_FAIL; }

int main(int argc, char **argv) {
  char message[CURL_ERROR_SIZE] = "";
  if (argc < 3) return 2;
  const char *which = argv[2];
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  sink_reset(&sink);
  curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, message);
  if (!strcmp(which, "write")) curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, short_write);
  else if (!strcmp(which, "write-more")) curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, huge_write);
  else if (!strcmp(which, "header")) curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, short_write);
  else if (!strcmp(which, "progress")) {
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, stop);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  } else if (!strcmp(which, "opensocket")) curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, no_socket);
  else if (!strcmp(which, "sockopt")) curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, bad_sockopt);
  else if (!strcmp(which, "sockets")) {
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, own_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, own_close);
  } else if (!strcmp(which, "seek")) {
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, short_read);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seek_fail);
    curl_easy_setopt(easy, CURLOPT_RESUME_FROM, 10L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE, 20L);
  } else {
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE, 100L);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION,
                     !strcmp(which, "read")        ? abort_read
                     : !strcmp(which, "read-more") ? huge_read
                                                   : short_read);
  }
  CURLcode code = curl_easy_perform(easy);
  printf("code=%d bytes=%zu message=%s\n", code, sink.bytes, message);
  curl_easy_cleanup(easy);
  printf("opened=%d closed=%d\n", opened, closed);
  curl_global_cleanup();
  return 0;
}
