/* conversation [-u UPLOAD] [-o OPTION=VALUE]... URL: for each line "WAY MS" on its input one transfer of URL on handles of its own,
 * driven in that way, of which CURLOPT_TIMEOUT_MS is MS; and a line of facts. */
#include "facts.h"
#include "setting.h"

static CURLcode result;
static int ends;

static void done(CURL *easy, CURLcode code) {
  (void)easy;
  result = code;
  ends++;
}

/* What is uploaded, and how much of it is left. */
static const char *upload, *left;

static size_t read_upload(char *into, size_t size, size_t count, void *user) {
  size_t length = strlen(left);
  (void)user;
  if (length > size * count) length = size * count;
  memcpy(into, left, length);
  left += length;
  return length;
}

int main(int argc, char **argv) {
  const char *settings[64];
  int choice, count = 0, limit;
  char way[16];
  while ((choice = getopt(argc, argv, "u:o:")) != -1) switch (choice) {
    case 'u': upload = optarg; break;
    case 'o': settings[count++] = optarg; break;
    default: return 2;
    }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  while (scanf("%15s %d", way, &limit) == 2) {
    struct loop loop;
    struct sink sink;
    CURLM *multi = curl_multi_init();
    CURL *easy = curl_easy_init();
    alarm(60); /* a transfer that never ends ends us */
    if (!strcmp(way, "event")) loop_open(&loop, multi);
    sink_reset(&sink);
    curl_easy_setopt(easy, CURLOPT_URL, argv[optind]);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)limit);
    if (upload) {
      left = upload;
      curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
      curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_upload);
      curl_easy_setopt(easy, CURLOPT_INFILESIZE, (long)strlen(upload));
    }
    for (int i = 0; i < count; i++) set(easy, settings[i]);
    ends = 0;
    double start = now_ms();
    curl_multi_add_handle(multi, easy);
    drive(multi, way, &loop, done);
    printf("ends=%d code=%d bytes=%zu sum=%016llx ms=%.0f\n", ends, result, sink.bytes, (unsigned long long)sink.sum,
           now_ms() - start);
    fflush(stdout);
    curl_multi_remove_handle(multi, easy);
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
    if (!strcmp(way, "event")) close(loop.epoll);
  }
  curl_global_cleanup();
  return 0;
}
