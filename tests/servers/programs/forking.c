/* forking URL: forks after a look-up and with a live kept connection. The child fetches with handles of its own and
 * cleans up what it inherited; then the parent goes on over its connection as if nothing had been. */
#include "facts.h"
#include <sys/wait.h>

static CURLcode get(CURL *easy, const char *url, struct sink *sink, long *connects) {
  sink_reset(sink);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, sink);
  if (getenv("CA")) curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  CURLcode code = curl_easy_perform(easy);
  curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, connects);
  return code;
}

int main(int argc, char **argv) {
  struct sink sink;
  long connects;
  if (argc < 2) return 2;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  CURLcode code = get(easy, argv[1], &sink, &connects);
  printf("parent code=%d bytes=%zu connects=%ld\n", code, sink.bytes, connects);
  for (int round = 0; round < 3; round++) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      CURL *own = curl_easy_init();
      code = get(own, argv[1], &sink, &connects);
      printf("child code=%d bytes=%zu connects=%ld\n", code, sink.bytes, connects);
      curl_easy_cleanup(own);
      if (round == 1) curl_easy_cleanup(easy); /* must not say goodbye on the parent's connection */
      fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status) printf("child status=%d\n", status);
    code = get(easy, argv[1], &sink, &connects);
    printf("parent code=%d bytes=%zu connects=%ld\n", code, sink.bytes, connects);
  }
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return 0;
}
