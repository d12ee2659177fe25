/* The text in CURLOPT_ERRORBUFFER for the failures that programs meet most, and that it is empty after a success.
 * covers: CURLOPT_ERRORBUFFER, CURLOPT_FAILONERROR, CURLOPT_MAXREDIRS, curl_easy_strerror */
#include "peer.h"

static char error[CURL_ERROR_SIZE];

static void run(const char *name, CURL *easy)
{
  char text[CURL_ERROR_SIZE + 64], *at;
  strcpy(error, "left over");
  WITH(easy, ERRORBUFFER, error);
  go(name, easy);
  /* Numbers of milliseconds and ports are chance. */
  char *to = text;
  for(at = error; *at; at++)
    if(!strncmp(at, "after ", 6) || !strncmp(at, "port ", 5)) {
      to += sprintf(to, "%.*s N", (int)strcspn(at, " "), at);
      at += strcspn(at, " ") + 1;
      at += strspn(at, "0123456789") - 1;
    }
    else
      *to++ = *at == '\n' ? '$' : *at;
  *to = 0;
  printf("%s says: %s\n", name, text);
}

static size_t refuse(char *d, size_t s, size_t n, void *u) { (void)d, (void)u; return s * n - 1; }
static size_t abort_read(char *d, size_t s, size_t n, void *u) { (void)d, (void)s, (void)n, (void)u; return CURL_READFUNC_ABORT; }
static int stop(void *u, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) { (void)u, (void)a, (void)b, (void)c, (void)d; return 1; }

int main(void)
{
  CURL *easy = to("SERVER", "/bytes/10");
  run("success", easy);
  static const char *urls[] = {"http://127.0.0.1:1/", "", "http://", "http:///", "nothing://x/", "://", "http://a b/", "http://user:pa ss@h/", "ftp://127.0.0.1:1/", "https://127.0.0.1:1/",
                               "http://[::1", "http://127.0.0.1:99999/", "file:///no/such/file", "file:///", "http://no-such-host.invalid/", "dict:", "http://:80/", "http://%20/"};
  for(size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    char name[64];
    snprintf(name, sizeof name, "<%s>", urls[i]);
    for(char *c = name; *c; c++)
      *c = *c == ':' ? ';' : *c;
    WITH(easy, URL, urls[i]);
    run(name, easy);
  }
  WITH(easy, URL, NULL);
  run("no URL", easy);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/status/404"));
  WITH(easy, FAILONERROR, 1L);
  run("404", easy);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/redirect/5"));
  WITH(easy, FOLLOWLOCATION, 1L);
  WITH(easy, MAXREDIRS, 2L);
  run("too many redirects", easy);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/bytes/10"));
  WITH(easy, WRITEFUNCTION, refuse);
  run("write refused", easy);
  WITH(easy, WRITEFUNCTION, take);
  WITH(easy, HEADERFUNCTION, refuse);
  run("header refused", easy);
  WITH(easy, HEADERFUNCTION, NULL);
  WITH(easy, XFERINFOFUNCTION, stop);
  WITH(easy, NOPROGRESS, 0L);
  run("stopped by progress", easy);
  WITH(easy, NOPROGRESS, 1L);
  WITH(easy, UPLOAD, 1L);
  WITH(easy, READFUNCTION, abort_read);
  run("read aborts", easy);
  WITH(easy, UPLOAD, 0L);
  WITH(easy, HTTPGET, 1L);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/cut/50/bytes/1000"));
  run("cut", easy);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/delay/3000/bytes/1"));
  WITH(easy, TIMEOUT_MS, 100L);
  run("time-out", easy);
  WITH(easy, TIMEOUT_MS, 0L);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/bytes/1000"));
  WITH(easy, MAXFILESIZE, 10L);
  run("too large", easy);
  WITH(easy, MAXFILESIZE, 0L);
  WITH(easy, PROTOCOLS_STR, "ftp");
  run("forbidden", easy);
  WITH(easy, PROTOCOLS_STR, "all");
  WITH(easy, PROXY, "http://127.0.0.1:1");
  run("no proxy", easy);
  WITH(easy, PROXY, "nothing://127.0.0.1:1");
  run("odd proxy", easy);
  WITH(easy, PROXY, "no-such-proxy.invalid");
  run("unknown proxy", easy);
  WITH(easy, PROXY, NULL);
  WITH(easy, INTERFACE, "no-such-interface");
  run("no interface", easy);
  WITH(easy, INTERFACE, NULL);
  WITH(easy, CAINFO, "no-such-file.pem");
  curl_easy_setopt(easy, CURLOPT_URL, getenv("TLS") ? at("TLS", "/") : "https://127.0.0.1:1/");
  run("no CA file", easy);
  WITH(easy, RANGE, "x-y");
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/bytes/10"));
  run("odd range", easy);
  curl_easy_cleanup(easy);
  return 0;
}
