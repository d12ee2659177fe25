/* Rate limits in both directions, set before and changed during a transfer, and transfers that are too slow: how long they take, about, what
 * progress is reported at the end, and what they end with.
 * covers: CURLOPT_MAX_RECV_SPEED_LARGE, CURLOPT_MAX_SEND_SPEED_LARGE, CURLOPT_LOW_SPEED_LIMIT, CURLOPT_LOW_SPEED_TIME, CURLOPT_XFERINFOFUNCTION, CURLINFO_SPEED_DOWNLOAD_T, CURLINFO_SPEED_UPLOAD_T */
#include "peer.h"

static curl_off_t last[4];
static int rising, progress_calls;

static int on_progress(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
  (void)user;
  rising = rising && down >= last[1] && up >= last[3];
  last[0] = down_total, last[1] = down, last[2] = up_total, last[3] = up;
  progress_calls++;
  return 0;
}

static CURL *limited(const char *path)
{
  CURL *easy = to("SERVER", path);
  WITH(easy, XFERINFOFUNCTION, on_progress);
  WITH(easy, NOPROGRESS, 0L);
  WITH(easy, BUFFERSIZE, 1024L);
  memset(last, 0, sizeof last);
  rising = 1, progress_calls = 0;
  return easy;
}

/* In seconds, by a scale on which a busy machine makes no difference. */
static const char *took(double seconds)
{
  return seconds < 0.4 ? "no time" : seconds < 4 ? "its time" : "too long";
}

static void figures(const char *name, CURL *easy, double began)
{
  curl_off_t down = -1, up = -1;
  double seconds = now_s() - began;
  curl_easy_getinfo(easy, CURLINFO_SPEED_DOWNLOAD_T, &down);
  curl_easy_getinfo(easy, CURLINFO_SPEED_UPLOAD_T, &up);
  printf("%s: took %s, rising %d, calls %d, last %lld %lld %lld %lld, speeds %d %d\n", name, took(seconds), rising, progress_calls > 0, (long long)last[0], (long long)last[1],
         (long long)last[2], (long long)last[3], down > 0, up > 0);
  curl_easy_cleanup(easy);
}

static size_t left_to_give;

static size_t give(char *data, size_t size, size_t count, void *user)
{
  size_t n = left_to_give < size * count ? left_to_give : size * count;
  (void)user;
  memset(data, 'g', n);
  left_to_give -= n;
  return n;
}

static CURL *uploading(size_t bytes, struct curl_slist *lines)
{
  CURL *easy = limited("/sum");
  left_to_give = bytes;
  WITH(easy, UPLOAD, 1L);
  WITH(easy, READFUNCTION, give);
  WITH(easy, INFILESIZE_LARGE, (curl_off_t)bytes);
  WITH(easy, HTTPHEADER, lines);
  WITH(easy, UPLOAD_BUFFERSIZE, 16384L);
  return easy;
}

static void limits(struct curl_slist *lines)
{
  static const curl_off_t rates[] = {0, 1000000000, 200000};
  char name[64];
  for(size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    CURL *easy = limited("/bytes/400000");
    double began = now_s();
    snprintf(name, sizeof name, "down at %lld", (long long)rates[i]);
    WITH(easy, MAX_RECV_SPEED_LARGE, rates[i]);
    go(name, easy);
    figures(name, easy, began);
    easy = uploading(400000, lines);
    began = now_s();
    snprintf(name, sizeof name, "up at %lld", (long long)rates[i]);
    WITH(easy, MAX_SEND_SPEED_LARGE, rates[i]);
    go(name, easy);
    figures(name, easy, began);
  }
  CURL *easy = limited("/bytes/10");
  printf("negative: %d %d %d %d\n", curl_easy_setopt(easy, CURLOPT_MAX_RECV_SPEED_LARGE, (curl_off_t)-1), curl_easy_setopt(easy, CURLOPT_MAX_SEND_SPEED_LARGE, (curl_off_t)-1),
         curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, -1L), curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, -1L));
  curl_easy_cleanup(easy);
}

/* The body that the application reads slowly is not read ahead without bound; a limit lifted while it holds lets the rest through. */
static void changed(void)
{
  CURLM *multi = curl_multi_init();
  CURL *easy = limited("/bytes/300000");
  double began = now_s();
  WITH(easy, MAX_RECV_SPEED_LARGE, (curl_off_t)20000);
  got = 0;
  curl_multi_add_handle(multi, easy);
  int running = run_for(multi, 300);
  printf("slow at first: running %d, got less than half %d\n", running, got < 150000);
  WITH(easy, MAX_RECV_SPEED_LARGE, (curl_off_t)0);
  running = run_all(multi);
  printf("then lifted: running %d code %d bytes %zu\n", running, code_of(multi, easy), got);
  curl_multi_remove_handle(multi, easy);
  figures("lifted", easy, began);
  curl_multi_cleanup(multi);
}

static void ends(const char *name, CURL *easy, double began)
{
  char error[CURL_ERROR_SIZE] = "";
  WITH(easy, ERRORBUFFER, error);
  go(name, easy);
  printf("%s says: %s\n", name, strstr(error, "Operation too slow. Less than ") ? error : *error ? "something else" : "nothing");
  WITH(easy, ERRORBUFFER, NULL);
  figures(name, easy, began);
}

static void too_slow(struct curl_slist *lines)
{
  /* Nothing comes at all: a peer that takes the request and is silent. */
  struct peer *silent = peer_new();
  silent->says[0] = OK_BODY;
  silent->delay_ms = 2600;
  peer_start(silent);
  CURL *easy = limited("/");
  WITH(easy, URL, silent->url);
  WITH(easy, LOW_SPEED_LIMIT, 10L);
  WITH(easy, LOW_SPEED_TIME, 1L);
  double began = now_s();
  ends("silent", easy, began);
  peer_end(silent);
  /* A limit without a time, and a time without a limit, are none. */
  for(int which = 0; which < 2; which++) {
    easy = limited("/delay/1500/bytes/10");
    if(which)
      WITH(easy, LOW_SPEED_TIME, 1L);
    else
      WITH(easy, LOW_SPEED_LIMIT, 1000000L);
    began = now_s();
    ends(which ? "time alone" : "limit alone", easy, began);
  }
  /* Fast enough. */
  easy = limited("/drip/1000/100/bytes/15000");
  WITH(easy, LOW_SPEED_LIMIT, 100L);
  WITH(easy, LOW_SPEED_TIME, 1L);
  began = now_s();
  ends("fast enough", easy, began);
  /* Held back by its own limit: not the server's fault, and still too slow. */
  struct peer *generous = peer_new();
  static char body[400100];
  int head = snprintf(body, sizeof body, "HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n");
  memset(body + head, 'b', 400000);
  generous->says[0] = generous->says[1] = body;
  generous->lengths[0] = generous->lengths[1] = head + 400000;
  peer_start(generous);
  easy = limited("/");
  WITH(easy, URL, generous->url);
  WITH(easy, MAX_RECV_SPEED_LARGE, (curl_off_t)200000);
  WITH(easy, LOW_SPEED_LIMIT, 1000L);
  WITH(easy, LOW_SPEED_TIME, 1L);
  began = now_s();
  ends("limited and fast enough", easy, began);
  peer_end(generous);
  /* An upload that nobody reads. */
  struct peer *deaf = peer_new();
  easy = uploading(50000000, lines);
  WITH(easy, URL, deaf->url);
  WITH(easy, LOW_SPEED_LIMIT, 100000L);
  WITH(easy, LOW_SPEED_TIME, 1L);
  char error[CURL_ERROR_SIZE] = "";
  WITH(easy, ERRORBUFFER, error);
  go("nobody reads", easy);
  printf("nobody reads: reported as too slow %d, total %lld, some sent %d, not all %d\n", strstr(error, "Operation too slow") != NULL, (long long)last[2], last[3] > 0, last[3] < 50000000);
  curl_easy_cleanup(easy);
  close(deaf->listener);
  free(deaf);
}

int main(void)
{
  struct curl_slist *lines = curl_slist_append(NULL, "Expect:");
  limits(lines);
  changed();
  too_slow(lines);
  curl_slist_free_all(lines);
  return 0;
}
