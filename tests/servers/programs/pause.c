/* pause URL HOW: pauses a download in its write callback and resumes it
 *   outside: from the multi loop after 150 ms;   inside: from the progress callback;
 *   event:   from the application's epoll loop;  upload: pauses the read callback of a PUT instead.
 * While paused the loop must not spin: the number of turns is a fact. */
#include "facts.h"

static struct sink sink;
static int paused, pauses, turns;
static double paused_at;
static int inside;
static CURL *easy;
static int ended = -1;
static size_t sent;

static size_t receive(char *data, size_t size, size_t count, void *user) {
  if (pauses < 3 && sink.bytes >= (size_t)pauses * 20000) {
    pauses++;
    paused = 1;
    paused_at = now_ms();
    return CURL_WRITEFUNC_PAUSE;
  }
  return sink_write(data, size, count, user);
}

static size_t provide(char *data, size_t size, size_t count, void *user) {
  (void)user;
  if (pauses < 3 && sent >= (size_t)pauses * 20000) {
    pauses++;
    paused = 1;
    paused_at = now_ms();
    return CURL_READFUNC_PAUSE;
  }
  size_t left = 100000 - sent, length = size * count < left ? size * count : left;
  if (length > 5000) length = 5000;
  memset(data, 'u', length);
  sent += length;
  return length;
}

static int progress(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
  (void)user, (void)a, (void)b, (void)c, (void)d;
  if (inside && paused && now_ms() - paused_at > 150) {
    paused = 0;
    curl_easy_pause(easy, CURLPAUSE_CONT);
  }
  return 0;
}

static void done(CURL *handle, CURLcode code) {
  (void)handle;
  ended = code;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int event = !strcmp(argv[2], "event"), upload = !strcmp(argv[2], "upload"), running = 1;
  struct loop loop;
  inside = !strcmp(argv[2], "inside");
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = curl_multi_init();
  easy = curl_easy_init();
  sink_reset(&sink);
  curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, upload ? sink_write : receive);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress);
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  if (upload) {
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, provide);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE, 100000L);
  }
  if (event) loop_open(&loop, multi);
  curl_multi_add_handle(multi, easy);
  while (ended < 0) {
    turns++;
    if (!inside && paused && now_ms() - paused_at > 150) {
      paused = 0;
      curl_easy_pause(easy, CURLPAUSE_CONT);
    }
    if (event) {
      /* A pause reports no interest: let the loop's wait be short enough to resume. */
      if (paused && (loop.deadline_ms < 0 || loop.deadline_ms > now_ms() + 50)) usleep(20000);
      if (!paused || loop.deadline_ms >= 0) loop_step(&loop, multi, done);
      continue;
    }
    must(curl_multi_perform(multi, &running), "perform");
    take_messages(multi, done);
    if (ended < 0) must(curl_multi_poll(multi, NULL, 0, paused ? 20 : 1000, NULL), "poll");
  }
  printf("code=%d bytes=%zu sum=%016llx sent=%zu pauses=%d\n", ended, sink.bytes, (unsigned long long)sink.sum, sent,
         pauses);
  printf("turns=%d\n", turns);
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  curl_global_cleanup();
  return 0;
}
