/* idle URL BUSY_URL IDLES WAY: the CPU of a request of one busy handle, on a multi handle of its own and on one beside so
 * many idle transfers that wait for their answers; by perform and poll, or by socket_action (WAY event). Batches on the
 * two alternate, so that the machine's mood hits both, and the best of each counts. */
#include "facts.h"
#include <sys/resource.h>

struct side {
  CURLM *multi;
  CURL *easy;
  struct loop loop;
  double best_us;
};

static int ended, event;
static struct sink sink;

static void done(CURL *easy, CURLcode code) {
  (void)easy;
  if (code == CURLE_OK) ended = 1;
  else printf("failed: %s\n", curl_easy_strerror(code)), exit(3);
}

static double cpu_us(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static CURL *handle(const char *url) {
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
  return easy;
}

static void open_side(struct side *side, const char *url) {
  side->multi = curl_multi_init();
  side->easy = handle(url);
  side->best_us = 1e9;
  if (event) loop_open(&side->loop, side->multi);
}

static void turn(struct side *side, int limit_ms) {
  int running;
  if (event) {
    side->loop.limit_ms = limit_ms;
    loop_step(&side->loop, side->multi, done);
    return;
  }
  must(curl_multi_perform(side->multi, &running), "perform");
  take_messages(side->multi, done);
  if (!ended) must(curl_multi_poll(side->multi, NULL, 0, limit_ms, NULL), "poll");
}

static void batch(struct side *side, int count) {
  double start = cpu_us();
  for (int i = 0; i < count; i++) {
    ended = 0;
    curl_multi_add_handle(side->multi, side->easy);
    while (!ended) turn(side, 1000);
    curl_multi_remove_handle(side->multi, side->easy);
  }
  double cost = (cpu_us() - start) / count;
  if (cost < side->best_us) side->best_us = cost;
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  struct side alone, beside;
  int idles = atoi(argv[3]);
  CURL **idle = calloc(idles + 1, sizeof *idle);
  event = !strcmp(argv[4], "event");
  curl_global_init(CURL_GLOBAL_DEFAULT);
  open_side(&alone, argv[2]);
  open_side(&beside, argv[2]);
  for (int i = 0; i < idles; i++) {
    idle[i] = handle(argv[1]);
    curl_multi_add_handle(beside.multi, idle[i]);
    /* In portions, so that no backlog overflows. */
    if (i % 100 == 99)
      for (int times = 0; times < 5; times++) turn(&beside, 1);
  }
  for (double until = now_ms() + 1000; now_ms() < until;) turn(&beside, 50);
  for (int i = 0; i < 20; i++) batch(&alone, 200), batch(&beside, 200);
  printf("alone_us=%.2f beside_us=%.2f ratio=%.3f\n", alone.best_us, beside.best_us, beside.best_us / alone.best_us);
  for (int i = 0; i < idles; i++) curl_multi_remove_handle(beside.multi, idle[i]), curl_easy_cleanup(idle[i]);
  curl_easy_cleanup(alone.easy), curl_easy_cleanup(beside.easy);
  curl_multi_cleanup(alone.multi), curl_multi_cleanup(beside.multi);
  curl_global_cleanup();
  free(idle);
  return 0;
}
