/* fetch [-w WAY] [-n TIMES] [-i IDLE] [-f FILE] [-o OPTION=VALUE]... URL...
 * Fetches each URL TIMES times, over easy_perform (the default, one handle kept) or in parallel over a multi handle
 * driven in the given way, while IDLE more transfers of the first -o-free URL given by -I wait. Options go by their
 * names. Prints a line of facts for each transfer, in order. With -f the body goes to that file by the default write
 * function. */
#include "facts.h"
#include "setting.h"

struct transfer {
  CURL *easy;
  const char *url;
  struct sink sink;
  char message[CURL_ERROR_SIZE];
  CURLcode code;
  int done;
};

static const char *settings[64];
static int setting_count;
static struct transfer *transfers;
static int transfer_count;
static FILE *file;
static int pending;

static void prepare(struct transfer *transfer) {
  CURL *easy = transfer->easy;
  curl_easy_setopt(easy, CURLOPT_URL, transfer->url);
  if (file) curl_easy_setopt(easy, CURLOPT_WRITEDATA, file);
  else {
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer->sink);
  }
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->message);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
  for (int i = 0; i < setting_count; i++) set(easy, settings[i]);
  sink_reset(&transfer->sink);
}

static void report(struct transfer *transfer) {
  long http = -1, connects = -1, redirects = -1;
  double total = 0;
  curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &http);
  curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &connects);
  curl_easy_getinfo(transfer->easy, CURLINFO_REDIRECT_COUNT, &redirects);
  curl_easy_getinfo(transfer->easy, CURLINFO_TOTAL_TIME, &total);
  printf("code=%d http=%ld bytes=%zu sum=%016llx connects=%ld redirects=%ld total_ms=%.0f name=%s message=%s\n",
         transfer->code, http, transfer->sink.bytes, (unsigned long long)transfer->sink.sum, connects, redirects,
         total * 1000, curl_easy_strerror(transfer->code), transfer->message);
}

static void done(CURL *easy, CURLcode code) {
  struct transfer *transfer;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
  transfer->code = code;
  transfer->done++;
  pending--;
}

static void in_parallel(const char *way, const char *idle_url, int idle_count) {
  CURLM *multi = curl_multi_init();
  struct loop loop;
  CURL **idle = calloc(idle_count + 1, sizeof *idle);
  if (!strcmp(way, "event")) loop_open(&loop, multi);
  for (int i = 0; i < idle_count; i++) {
    idle[i] = curl_easy_init();
    curl_easy_setopt(idle[i], CURLOPT_URL, idle_url);
    curl_multi_add_handle(multi, idle[i]);
  }
  for (int i = 0; i < transfer_count; i++) {
    transfers[i].easy = curl_easy_init();
    prepare(&transfers[i]);
    curl_multi_add_handle(multi, transfers[i].easy);
  }
  pending = transfer_count;
  if (idle_count) {
    /* The idle ones never end: stop when ours have. */
    int running = 1;
    while (pending && running) {
      if (!strcmp(way, "event")) loop_step(&loop, multi, done);
      else {
        must(curl_multi_perform(multi, &running), "perform");
        take_messages(multi, done);
        if (pending) must(curl_multi_poll(multi, NULL, 0, 1000, NULL), "poll");
      }
    }
  } else {
    drive(multi, way, &loop, done);
  }
  for (int i = 0; i < transfer_count; i++) {
    if (transfers[i].done != 1) printf("done %d times: ", transfers[i].done);
    report(&transfers[i]);
    curl_multi_remove_handle(multi, transfers[i].easy);
    curl_easy_cleanup(transfers[i].easy);
  }
  for (int i = 0; i < idle_count; i++) {
    curl_multi_remove_handle(multi, idle[i]);
    curl_easy_cleanup(idle[i]);
  }
  curl_multi_cleanup(multi);
  if (!strcmp(way, "event")) printf("most_watched=%d left_watched=%d\n", loop.most_watched, loop.watched);
  free(idle);
}

static void in_turn(void) {
  CURL *easy = curl_easy_init();
  for (int i = 0; i < transfer_count; i++) {
    transfers[i].easy = easy;
    prepare(&transfers[i]);
    transfers[i].code = curl_easy_perform(easy);
    report(&transfers[i]);
  }
  curl_easy_cleanup(easy);
}

int main(int argc, char **argv) {
  const char *way = "easy", *idle_url = NULL;
  int times = 1, idle_count = 0, choice;
  while ((choice = getopt(argc, argv, "w:n:i:I:f:o:")) != -1) switch (choice) {
    case 'w': way = optarg; break;
    case 'n': times = atoi(optarg); break;
    case 'i': idle_count = atoi(optarg); break;
    case 'I': idle_url = optarg; break;
    case 'f': file = fopen(optarg, "wb"); break;
    case 'o': settings[setting_count++] = optarg; break;
    default: return 2;
    }
  transfer_count = (argc - optind) * times;
  transfers = calloc(transfer_count + 1, sizeof *transfers);
  for (int i = 0; i < transfer_count; i++) transfers[i].url = argv[optind + i % (argc - optind)];
  curl_global_init(CURL_GLOBAL_DEFAULT);
  double start = now_ms();
  if (!strcmp(way, "easy")) in_turn();
  else in_parallel(way, idle_url, idle_count);
  printf("elapsed_ms=%.0f\n", now_ms() - start);
  if (file && fclose(file)) printf("fclose: %s\n", strerror(errno));
  curl_global_cleanup();
  free(transfers);
  return 0;
}
