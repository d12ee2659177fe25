/* Every limit of time and size, and the exact code that it ends a transfer with.
 * covers: CURLOPT_TIMEOUT, CURLOPT_TIMEOUT_MS, CURLOPT_CONNECTTIMEOUT_MS, CURLOPT_LOW_SPEED_LIMIT, CURLOPT_LOW_SPEED_TIME,
 * covers: CURLOPT_MAXFILESIZE, CURLOPT_MAXFILESIZE_LARGE, CURLOPT_MAX_RECV_SPEED_LARGE, CURLOPT_MAX_SEND_SPEED_LARGE, CURLOPT_TIMECONDITION, CURLOPT_TIMEVALUE */
#include "peer.h"

static void timed(const char *name, CURL *easy, double least, double most)
{
  char error[CURL_ERROR_SIZE] = "";
  double begun = now_s();
  got = 0;
  WITH(easy, ERRORBUFFER, error);
  CURLcode code = curl_easy_perform(easy);
  double spent = now_s() - begun;
  printf("%s: %d, in time %d, says %d\n", name, code, spent >= least && spent <= most, *error != 0);
}

int main(void)
{
  CURL *easy = to("SERVER", "/delay/5000/bytes/1");
  WITH(easy, TIMEOUT_MS, 200L);
  timed("no reply", easy, 0.19, 2);
  WITH(easy, TIMEOUT, 1L);
  timed("no reply in a second", easy, 0.95, 3);
  WITH(easy, TIMEOUT_MS, 0L);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/drip/10/50/bytes/1000"));
  WITH(easy, TIMEOUT_MS, 200L);
  timed("slow body", easy, 0.19, 2);
  printf("some came: %d\n", got > 0 && got < 1000);
  WITH(easy, TIMEOUT_MS, 20000L);
  WITH(easy, LOW_SPEED_LIMIT, 5000L);
  WITH(easy, LOW_SPEED_TIME, 1L);
  timed("too slow", easy, 0.9, 4);
  WITH(easy, LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/drip/10/20/bytes/300"));
  timed("slow enough", easy, 0, 5);
  WITH(easy, LOW_SPEED_TIME, 0L);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/bytes/1000"));
  WITH(easy, MAXFILESIZE, 999L);
  timed("one byte too large", easy, 0, 2);
  WITH(easy, MAXFILESIZE, 1000L);
  timed("just so large", easy, 0, 2);
  WITH(easy, MAXFILESIZE_LARGE, (curl_off_t)10);
  timed("too large", easy, 0, 2);
  printf("bytes of it: %zu\n", got);
  WITH(easy, MAXFILESIZE, 0L);
  timed("no limit", easy, 0, 2);
  printf("ranges: %d %d %d\n", curl_easy_setopt(easy, CURLOPT_MAXFILESIZE, -1L), curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)-1),
         curl_easy_setopt(easy, CURLOPT_MAX_RECV_SPEED_LARGE, (curl_off_t)-1));
  curl_easy_cleanup(easy);
  easy = to("SERVER", "/bytes/20000");
  WITH(easy, MAX_RECV_SPEED_LARGE, (curl_off_t)20000);
  WITH(easy, BUFFERSIZE, 1024L);
  timed("at most 20000 a second", easy, 0, 4);
  curl_easy_cleanup(easy);

  static const char *dates[] = {"Sun, 06 Nov 1994 08:49:37 GMT", "garbage", NULL};
  static const long conditions[] = {CURL_TIMECOND_NONE, CURL_TIMECOND_IFMODSINCE, CURL_TIMECOND_IFUNMODSINCE, CURL_TIMECOND_LASTMOD};
  for(int d = 0; d < 3; d++)
    for(int c = 0; c < 4; c++)
      for(int later = 0; later < 2; later++) {
        char reply[256];
        snprintf(reply, sizeof reply, "!HTTP/1.1 200 OK\r\n%s%s%sContent-Length: 2\r\n\r\nhi", dates[d] ? "Last-Modified: " : "", dates[d] ? dates[d] : "", dates[d] ? "\r\n" : "");
        struct peer *peer = peer_saying(reply, NULL);
        easy = to_peer(peer, "/");
        WITH(easy, FILETIME, 1L);
        WITH(easy, TIMECONDITION, conditions[c]);
        WITH(easy, TIMEVALUE, later ? 800000000L : 700000000L);
        char name[64];
        snprintf(name, sizeof name, "date %d condition %d later %d", d, c, later);
        go(name, easy);
        printf("%s: unmet %ld time %ld\n", name, number(easy, CURLINFO_CONDITION_UNMET), number(easy, CURLINFO_FILETIME));
        peer_show(peer, name);
        curl_easy_cleanup(easy);
        peer_end(peer);
      }
  return 0;
}
