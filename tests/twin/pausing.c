/* curl_easy_pause(3) in both directions, from inside callbacks and from outside, and what is handed out again.
 * covers: curl_easy_pause, CURLOPT_WRITEFUNCTION, CURLOPT_READFUNCTION, CURLOPT_HEADERFUNCTION */
#include "twin.h"

static CURL *easy;
static int pauses, reads, writes, headers;
static size_t offered[4];

static size_t write_pausing(char *data, size_t size, size_t count, void *user)
{
  writes++;
  if(pauses < 3) {
    offered[pauses++] = size * count;
    return CURL_WRITEFUNC_PAUSE;
  }
  return take(data, size, count, user);
}

static size_t header_pausing(char *data, size_t size, size_t count, void *user)
{
  (void)user, (void)data;
  headers++;
  return pauses++ == 0 ? CURL_WRITEFUNC_PAUSE : size * count;
}

static size_t read_pausing(char *to, size_t size, size_t count, void *user)
{
  int *left = user;
  (void)size, (void)count;
  reads++;
  if(pauses++ < 2)
    return CURL_READFUNC_PAUSE;
  if(!*left)
    return 0;
  --*left;
  memcpy(to, "0123456789", 10);
  return 10;
}

/* Unpaused from outside as often as nothing moves. */
static void drive(const char *name, int bits)
{
  CURLM *multi = curl_multi_init();
  int running = 1, unpaused = 0, left, rounds = 0;
  got = calls = 0;
  curl_multi_add_handle(multi, easy);
  while(curl_multi_perform(multi, &running) == CURLM_OK && running && rounds++ < 500) {
    int before = pauses;
    curl_multi_poll(multi, NULL, 0, 20, NULL);
    if(pauses > unpaused && before == pauses) {
      CURLcode code = curl_easy_pause(easy, bits);
      if(code)
        printf("%s unpause: %d\n", name, code);
      unpaused++;
    }
  }
  CURLMsg *message = curl_multi_info_read(multi, &left);
  printf("%s: code %d bytes %zu, paused %d\n", name, message ? (int)message->data.result : -1, got, pauses > 0);
  curl_multi_remove_handle(multi, easy);
  curl_multi_cleanup(multi);
}

static int progress_unpauses(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
  (void)user, (void)a, (void)b, (void)c, (void)d;
  curl_easy_pause(easy, CURLPAUSE_CONT);
  return 0;
}

static size_t pauses_itself(char *data, size_t size, size_t count, void *user)
{
  if(!pauses++)
    printf("pause inside: %d\n", curl_easy_pause(easy, CURLPAUSE_RECV));
  return take(data, size, count, user);
}

int main(void)
{
  static const char *paths[] = {"/bytes/5", "/bytes/100000", "/chunked/50000/1000", "/gzip/30000", "/close/20000"};
  for(size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    easy = to("SERVER", paths[i]);
    pauses = writes = 0;
    WITH(easy, WRITEFUNCTION, write_pausing);
    WITH(easy, ACCEPT_ENCODING, "gzip");
    drive(paths[i], CURLPAUSE_CONT);
    printf("%s the same again: %d\n", paths[i], offered[1] == offered[2]);
    curl_easy_cleanup(easy);
  }
  easy = to("SERVER", "/bytes/10");
  pauses = headers = 0;
  WITH(easy, HEADERFUNCTION, header_pausing);
  drive("header", CURLPAUSE_RECV_CONT | CURLPAUSE_SEND_CONT);
  curl_easy_cleanup(easy);
  for(int chunked = 0; chunked < 2; chunked++) {
    int left = 3;
    easy = to("SERVER", "/body");
    pauses = reads = 0;
    WITH(easy, UPLOAD, 1L);
    WITH(easy, READFUNCTION, read_pausing);
    WITH(easy, READDATA, &left);
    if(!chunked)
      WITH(easy, INFILESIZE, 30L);
    drive(chunked ? "chunked upload" : "upload", CURLPAUSE_CONT);
    curl_easy_cleanup(easy);
  }
  easy = to("SERVER", "/bytes/20000");
  pauses = 0;
  WITH(easy, WRITEFUNCTION, write_pausing);
  WITH(easy, XFERINFOFUNCTION, progress_unpauses);
  WITH(easy, NOPROGRESS, 0L);
  go("unpaused by progress", easy);
  curl_easy_cleanup(easy);
  easy = to("SERVER", "/drip/1000/5/bytes/20000");
  pauses = 0;
  WITH(easy, WRITEFUNCTION, pauses_itself);
  drive("paused by a call", CURLPAUSE_CONT);
  curl_easy_cleanup(easy);
  easy = curl_easy_init();
  printf("nothing under way: %d %d\n", curl_easy_pause(easy, CURLPAUSE_ALL), curl_easy_pause(easy, CURLPAUSE_CONT));
  /* Paused for ever: the time-out ends it. */
  WITH(easy, URL, at("SERVER", "/bytes/20000"));
  WITH(easy, WRITEFUNCTION, write_pausing);
  WITH(easy, TIMEOUT_MS, 300L);
  pauses = 0;
  go("paused for ever", easy);
  WITH(easy, LOW_SPEED_LIMIT, 1000L);
  WITH(easy, LOW_SPEED_TIME, 1L);
  WITH(easy, TIMEOUT_MS, 1600L);
  pauses = 0;
  go("paused is not slow", easy);
  curl_easy_cleanup(easy);
  return 0;
}
