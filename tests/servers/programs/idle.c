/* idle URL BUSY_URL IDLES WAY: the CPU of a request of one busy handle, alone and beside so many idle transfers that wait
 * for their answers; by perform and poll, or by socket_action (WAY event). The best of some batches counts. */
#include "facts.h"
#include <sys/resource.h>

static int ended;

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

static double batch(CURLM *multi, struct loop *loop, CURL *easy, int count) {
  double start = cpu_us();
  int running;
  for (int i = 0; i < count; i++) {
    curl_multi_add_handle(multi, easy);
    for (ended = 0; !ended;) {
      if (loop) {
        loop_step(loop, multi, done);
        continue;
      }
      must(curl_multi_perform(multi, &running), "perform");
      take_messages(multi, done);
      if (!ended) must(curl_multi_poll(multi, NULL, 0, 1000, NULL), "poll");
    }
    curl_multi_remove_handle(multi, easy);
  }
  return (cpu_us() - start) / count;
}

static double busy(CURLM *multi, struct loop *loop, CURL *easy) {
  double best = 1e9;
  for (int i = 0; i < 5; i++) {
    double cost = batch(multi, loop, easy, 400);
    if (cost < best) best = cost;
  }
  return best;
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  int idles = atoi(argv[3]), running;
  CURL **idle = calloc(idles + 1, sizeof *idle);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  int event = !strcmp(argv[4], "event");
  struct loop loop;
  struct sink sink;
  CURLM *multi = curl_multi_init();
  CURL *easy = curl_easy_init();
  if (event) loop_open(&loop, multi);
  sink_reset(&sink);
  curl_easy_setopt(easy, CURLOPT_URL, argv[2]);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
  loop.limit_ms = 1000;
  double alone = busy(multi, event ? &loop : NULL, easy);
  loop.limit_ms = 1;
  for (int i = 0; i < idles; i++) {
    idle[i] = curl_easy_init();
    curl_easy_setopt(idle[i], CURLOPT_URL, argv[1]);
    curl_easy_setopt(idle[i], CURLOPT_WRITEFUNCTION, sink_write);
    curl_easy_setopt(idle[i], CURLOPT_WRITEDATA, &sink);
    curl_multi_add_handle(multi, idle[i]);
    /* In portions, so that no backlog overflows. */
    if (i % 100 == 99)
      for (int turn = 0; turn < 5; turn++) {
        if (event) loop_step(&loop, multi, done);
        else curl_multi_perform(multi, &running), curl_multi_poll(multi, NULL, 0, 1, NULL);
      }
  }
  for (double until = now_ms() + 1000; now_ms() < until;) {
    if (event) loop_step(&loop, multi, done);
    else curl_multi_perform(multi, &running), curl_multi_poll(multi, NULL, 0, 50, NULL);
  }
  loop.limit_ms = 1000;
  double beside = busy(multi, event ? &loop : NULL, easy);
  printf("alone_us=%.2f beside_us=%.2f ratio=%.3f\n", alone, beside, beside / alone);
  for (int i = 0; i < idles; i++) curl_multi_remove_handle(multi, idle[i]), curl_easy_cleanup(idle[i]);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  curl_global_cleanup();
  free(idle);
  return 0;
}
