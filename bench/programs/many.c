/* many URL COUNT PARALLEL [UPLOAD]: so many GETs, or PUTs of UPLOAD bytes, so many at once, on one multi handle whose handles
 * are used again and again; over HTTP/2 or HTTP/3 where HTTP2 or HTTP3 is set, and then on one connection. Prints microseconds of CPU (this process only) and
 * of wall time per request, bytes per request, and the largest memory in KB. The first two of each handle are not counted, unless there
 * is no more than one for each. */
#include "measure.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t received;
static curl_off_t upload = -1;

static size_t count_bytes(char *data, size_t size, size_t count, void *user) {
  (void)data, (void)user;
  received += size * count;
  return size * count;
}

/* The handle knows how much it has sent. */
static size_t give(char *data, size_t size, size_t count, void *user) {
  curl_off_t *sent = user;
  size_t room = size * count;
  if ((curl_off_t)room > upload - *sent) room = (size_t)(upload - *sent);
  memset(data, 'u', room);
  *sent += (curl_off_t)room;
  return room;
}

static int go_back(void *user, curl_off_t offset, int origin) {
  *(curl_off_t *)user = offset;
  return origin == SEEK_SET ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

static int has_streams(void) { return getenv("HTTP2") || getenv("HTTP3"); }

static CURL *handle(const char *url) {
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_bytes);
  if (getenv("CA")) curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                   getenv("HTTP3")   ? (long)CURL_HTTP_VERSION_3ONLY
                   : getenv("HTTP2") ? (long)CURL_HTTP_VERSION_2TLS
                                     : (long)CURL_HTTP_VERSION_1_1);
  if (has_streams()) curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  if (upload >= 0) {
    curl_off_t *sent = calloc(1, sizeof *sent);
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, upload);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(easy, CURLOPT_READDATA, sent);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, go_back);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, sent);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, sent);
  }
  return easy;
}

static void begin(CURLM *multi, CURL *easy) {
  curl_off_t *sent = NULL;
  if (upload >= 0) {
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&sent);
    *sent = 0;
  }
  curl_multi_add_handle(multi, easy);
}

static void must_be_good(CURL *easy, CURLcode code, int number) {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (code == CURLE_OK && status / 100 == 2) return;
  fprintf(stderr, "request %d: %s, status %ld\n", number, curl_easy_strerror(code), status);
  exit(1);
}

/* getrusage would tell the memory of who started us, where that is more. */
static long peak_kb(void) {
  char line[256];
  long kb = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %ld", &kb);
  if (status) fclose(status);
  return kb;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  int count = atoi(argv[2]), parallel = atoi(argv[3]);
  if (argc > 4) upload = atoll(argv[4]);
  int first = count > parallel ? 2 * parallel : 0, all = first + count, started = 0, done = 0, running;
  double cpu = 0, wall = 0;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = curl_multi_init();
  if (has_streams()) curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
  if (!first) cpu = cpu_us(), wall = wall_us();
  for (; started < parallel && started < all; started++) begin(multi, handle(argv[1]));
  while (done < all) {
    CURLMsg *message;
    int left;
    curl_multi_perform(multi, &running);
    while ((message = curl_multi_info_read(multi, &left))) {
      CURL *easy = message->easy_handle;
      must_be_good(easy, message->data.result, done);
      if (++done == first) cpu = cpu_us(), wall = wall_us();
      curl_multi_remove_handle(multi, easy);
      if (started++ < all) begin(multi, easy);
      else curl_easy_cleanup(easy);
    }
    if (done < all) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  cpu = cpu_us() - cpu, wall = wall_us() - wall;
  printf("%.3f %.3f %zu %ld\n", cpu / count, wall / count, received / (size_t)all, peak_kb());
  curl_multi_cleanup(multi);
  curl_global_cleanup();
  return 0;
}
