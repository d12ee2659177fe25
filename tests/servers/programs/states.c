/* states BASE NAMED SECURE: a multi handle and its easy handle are taken down in each order at each stage of a transfer, driven
 * by polling and by socket_action. Prints a line for each: what the calls answered, how many sockets the application still
 * watches, and whether the easy handle, where it is left, fetches afterwards. SECURE never ends its TLS handshake. */
#include "facts.h"

static const char *base, *named, *secure;
static int ended;

static void done(CURL *easy, CURLcode code) { (void)easy, (void)code, ended++; }

static size_t pausing(char *data, size_t size, size_t count, void *user) {
  (void)data, (void)size, (void)count, (void)user;
  return CURL_WRITEFUNC_PAUSE;
}

/* A stage is reached by a URL and a number of milliseconds. */
static const struct stage {
  const char *name, *path;
  const char **server;
  int for_ms;
} stages[] = {
  {"added", "/bytes/1000", &base, 0},     {"resolving", "/bytes/1000", &named, 1},
  {"handshake", "/", &secure, 30},        {"waiting", "/delay/60000/bytes/1", &base, 30},
  {"receiving", "/drip/10/20/bytes/90000", &base, 50}, {"paused", "/bytes/100000", &base, 50},
  {"pending", "/bytes/1000", &base, 30},  {"ended", "/bytes/1000", &base, 50},
};

static void turn(CURLM *multi, int event, struct loop *loop, int for_ms) {
  double until = now_ms() + for_ms;
  int running;
  do {
    if (event) {
      loop->limit_ms = 5;
      loop_step(loop, multi, done);
    } else {
      must(curl_multi_perform(multi, &running), "perform");
      must(curl_multi_poll(multi, NULL, 0, 5, NULL), "poll");
    }
  } while (now_ms() < until);
}

static CURL *handle(const struct stage *stage, struct sink *sink) {
  char url[256];
  CURL *easy = curl_easy_init();
  snprintf(url, sizeof url, "%s%s", *stage->server, stage->path);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, !strcmp(stage->name, "paused") ? pausing : sink_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, sink);
  return easy;
}

/* The bytes that the handle fetches when it is asked once more. */
static size_t again(CURL *easy, struct sink *sink) {
  char url[256];
  snprintf(url, sizeof url, "%s/bytes/777", base);
  sink_reset(sink);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
  return curl_easy_perform(easy) == CURLE_OK ? sink->bytes : 0;
}

static void take_down(const struct stage *stage, const char *order, int event) {
  struct sink sink, other;
  struct loop loop;
  size_t bytes = 777;
  int removed = 0;
  CURLM *multi = curl_multi_init();
  CURL *first = NULL, *easy = handle(stage, &sink);
  sink_reset(&sink), sink_reset(&other);
  if (event) loop_open(&loop, multi);
  if (!strcmp(stage->name, "pending")) {
    curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1L);
    first = handle(&stages[3], &other);
    curl_multi_add_handle(multi, first);
  }
  must(curl_multi_add_handle(multi, easy), "add");
  if (stage->for_ms) turn(multi, event, &loop, stage->for_ms);
  if (!strcmp(order, "easy-first")) {
    curl_easy_cleanup(easy);
  } else if (!strcmp(order, "removed")) {
    removed = curl_multi_remove_handle(multi, easy);
    bytes = again(easy, &sink);
  }
  int cleaned = curl_multi_cleanup(multi);
  if (strcmp(order, "easy-first")) {
    if (!strcmp(order, "multi-first")) bytes = again(easy, &sink);
    curl_easy_cleanup(easy);
  }
  if (first) curl_easy_cleanup(first);
  printf("stage=%s order=%s event=%d removed=%d cleaned=%d watched=%d bytes=%zu\n", stage->name, order, event, removed, cleaned,
         event ? loop.watched : 0, bytes);
  if (event) close(loop.epoll);
}

int main(int argc, char **argv) {
  static const char *orders[] = {"multi-first", "easy-first", "removed"};
  if (argc < 4) return 2;
  base = argv[1], named = argv[2], secure = argv[3];
  curl_global_init(CURL_GLOBAL_DEFAULT);
  for (size_t stage = 0; stage < sizeof stages / sizeof *stages; stage++)
    for (size_t order = 0; order < 3; order++)
      for (int event = 0; event < 2; event++) take_down(&stages[stage], orders[order], event);
  curl_global_cleanup();
  return 0;
}
