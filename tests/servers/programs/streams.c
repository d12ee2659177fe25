/* streams [-w WAY] [-n COUNT] [-p PARALLEL] [-b BYTES] [-e SUM] [-u UPLOAD] [-s SLOW] [-x ABORTED] [-c CONNECTIONS]
 *         [-m PAUSE_MS] [-y PROXY] [-o OPTION=NUMBER]... URL
 * COUNT transfers of a URL, whose %d is the transfer's number, so many at once on one multi handle (or in turn on one easy
 * handle), over HTTP/2. With -u each sends so many bytes of the harness's pattern, as a PUT. Every SLOW-th one pauses
 * again and again while it receives, with -m once and for so long, every ABORTED-th one is given up by its write function. With -c no more connections
 * than that are made to one host, and all wait for them.
 * -b and -e say what must come. Facts: how many were as they must be, how many connections were made, how many
 * replies were HTTP/2 and HTTP/3, the program's largest memory; and a line for each transfer that was otherwise. */
#include "facts.h"

enum { HELD = 256 << 10, HOLD_MS = 20 };

struct transfer {
  CURL *easy;
  struct sink sink;
  char message[CURL_ERROR_SIZE];
  char url[256];
  int number, aborts, is_slow, is_paused;
  size_t sent, held_at;
  double resumes_ms;
};

static const char *url, *way = "poll", *sum, *settings[16];
static int count = 1, parallel = 1, slow, aborted, setting_count;
static const char *proxy;
static long bytes = -1, upload = -1, connections, pause_ms;
static int started, ended, good, given_up, connects, second, third;
static CURLM *multi;
static struct transfer **paused;
static int paused_count;

static size_t take(char *data, size_t size, size_t number, void *user) {
  struct transfer *transfer = user;
  if (transfer->aborts) return 0;
  if (transfer->is_slow && transfer->sink.bytes >= transfer->held_at + HELD) {
    transfer->held_at = transfer->sink.bytes;
    transfer->resumes_ms = now_ms() + (pause_ms ? pause_ms : HOLD_MS);
    transfer->is_slow = !pause_ms;
    transfer->is_paused = 1;
    paused[paused_count++] = transfer;
    return CURL_WRITEFUNC_PAUSE;
  }
  return sink_write(data, size, number, &transfer->sink);
}

static size_t give(char *data, size_t size, size_t number, void *user) {
  struct transfer *transfer = user;
  size_t room = size * number, left = upload - transfer->sent;
  if (room > left) room = left;
  for (size_t i = 0; i < room; i++) {
    size_t at = transfer->sent + i;
    data[i] = 'a' + (at % 251 + at / 251) % 26;
  }
  transfer->sent += room;
  return room;
}

static int rewind_upload(void *user, curl_off_t offset, int origin) {
  ((struct transfer *)user)->sent = offset;
  return origin == SEEK_SET ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

static void prepare(struct transfer *transfer, CURL *easy) {
  transfer->easy = easy;
  transfer->number = started++;
  transfer->aborts = aborted && transfer->number % aborted == 0;
  transfer->is_slow = slow && transfer->number % slow == 0;
  sink_reset(&transfer->sink);
  snprintf(transfer->url, sizeof transfer->url, url, transfer->number);
  curl_easy_setopt(easy, CURLOPT_URL, transfer->url);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                   (long)(strncmp(url, "https", 5) ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : CURL_HTTP_VERSION_2TLS));
  if (getenv("CA")) curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  if (proxy) curl_easy_setopt(easy, CURLOPT_PROXY, proxy), curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, getenv("CA"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->message);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
  if (upload >= 0) {
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)upload);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(easy, CURLOPT_READDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, rewind_upload);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, transfer);
  }
  for (int i = 0; i < setting_count; i++) {
    char name[64];
    const char *value = strchr(settings[i], '=') + 1;
    snprintf(name, sizeof name, "%.*s", (int)(value - 1 - settings[i]), settings[i]);
    const struct curl_easyoption *option = curl_easy_option_by_name(name);
    if (!option || curl_easy_setopt(easy, option->id, atol(value))) printf("setopt %s\n", settings[i]), exit(2);
  }
}

static void judge(struct transfer *transfer, CURLcode code) {
  char got[32];
  long http = 0, made = 0, version = 0;
  curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &http);
  curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &made);
  curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_VERSION, &version);
  snprintf(got, sizeof got, "%016llx", (unsigned long long)transfer->sink.sum);
  ended++;
  connects += made;
  second += version == CURL_HTTP_VERSION_2_0;
  third += version == CURL_HTTP_VERSION_3;
  if (transfer->aborts && code == CURLE_WRITE_ERROR) given_up++;
  else if (code == CURLE_OK && http / 100 == 2 && (bytes < 0 || (size_t)bytes == transfer->sink.bytes) &&
           (!sum || !strcmp(sum, got)))
    good++;
  else
    printf("transfer=%d code=%d http=%ld bytes=%zu sum=%s sent=%zu message=%s\n", transfer->number, code, http,
           transfer->sink.bytes, got, transfer->sent, transfer->message);
}

static void begin(void) {
  struct transfer *transfer = calloc(1, sizeof *transfer);
  prepare(transfer, curl_easy_init());
  must(curl_multi_add_handle(multi, transfer->easy), "add_handle");
}

static void done(CURL *easy, CURLcode code) {
  struct transfer *transfer;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
  judge(transfer, code);
  for (int i = 0; i < paused_count; i++)
    if (paused[i] == transfer) paused[i--] = paused[--paused_count];
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
  free(transfer);
  if (started < count) begin();
}

/* Those whose time has come go on. */
static void resume(void) {
  double now = now_ms();
  for (int i = 0; i < paused_count; i++) {
    struct transfer *transfer = paused[i];
    if (transfer->resumes_ms > now) continue;
    paused[i--] = paused[--paused_count];
    transfer->is_paused = 0;
    curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
  }
}

static void at_once(void) {
  struct loop loop;
  int running, is_event = !strcmp(way, "event");
  multi = curl_multi_init();
  if (connections) curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections);
  if (is_event) loop_open(&loop, multi), loop.limit_ms = slow ? HOLD_MS / 2 : 1000;
  while (started < count && started < parallel) begin();
  while (ended < count) {
    if (is_event) loop_step(&loop, multi, done);
    else {
      must(curl_multi_perform(multi, &running), "perform");
      take_messages(multi, done);
      if (ended < count) must(curl_multi_poll(multi, NULL, 0, slow ? HOLD_MS / 2 : 1000, NULL), "poll");
    }
    resume();
  }
  curl_multi_cleanup(multi);
  if (is_event) printf("left_watched=%d\n", loop.watched);
}

static void in_turn(void) {
  CURL *easy = curl_easy_init();
  while (started < count) {
    struct transfer transfer = {0};
    prepare(&transfer, easy);
    judge(&transfer, curl_easy_perform(easy));
  }
  curl_easy_cleanup(easy);
}

static long peak_kb(void) {
  char line[256];
  long kb = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %ld", &kb);
  if (status) fclose(status);
  return kb;
}

int main(int argc, char **argv) {
  int choice;
  while ((choice = getopt(argc, argv, "w:n:p:b:e:u:s:x:c:m:y:o:")) != -1) switch (choice) {
    case 'w': way = optarg; break;
    case 'n': count = atoi(optarg); break;
    case 'p': parallel = atoi(optarg); break;
    case 'b': bytes = atol(optarg); break;
    case 'e': sum = optarg; break;
    case 'u': upload = atol(optarg); break;
    case 's': slow = atoi(optarg); break;
    case 'x': aborted = atoi(optarg); break;
    case 'c': connections = atol(optarg); break;
    case 'm': pause_ms = atol(optarg); break;
    case 'y': proxy = optarg; break;
    case 'o': settings[setting_count++] = optarg; break;
    default: return 2;
    }
  if (optind + 1 != argc) return 2;
  url = argv[optind];
  paused = calloc(count + 1, sizeof *paused);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  double start = now_ms();
  if (!strcmp(way, "easy")) in_turn();
  else at_once();
  printf("good=%d given_up=%d connects=%d second=%d third=%d peak_kb=%ld elapsed_ms=%.0f\n", good, given_up, connects, second, third,
         peak_kb(), now_ms() - start);
  curl_global_cleanup();
  free(paused);
  return 0;
}
