/* share URL THREADS REQUESTS: so many threads with a handle each, all over one share of connections, DNS and TLS
 * sessions with lock callbacks. */
#include "facts.h"
#include <pthread.h>

static CURLSH *share;
static const char *url;
static int requests;
static pthread_mutex_t locks[CURL_LOCK_DATA_LAST];
static long ok, wrong;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static void lock(CURL *easy, curl_lock_data data, curl_lock_access access, void *user) {
  (void)easy, (void)access, (void)user;
  pthread_mutex_lock(&locks[data]);
}

static void unlock(CURL *easy, curl_lock_data data, void *user) {
  (void)easy, (void)user;
  pthread_mutex_unlock(&locks[data]);
}

static void *work(void *unused) {
  CURL *easy = curl_easy_init();
  struct sink sink;
  long good = 0, bad = 0;
  (void)unused;
  curl_easy_setopt(easy, CURLOPT_SHARE, share);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
  if (getenv("CA")) curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  for (int i = 0; i < requests; i++) {
    sink_reset(&sink);
    CURLcode code = curl_easy_perform(easy);
    if (code == CURLE_OK && sink.bytes == 1000) good++;
    else bad++;
  }
  curl_easy_cleanup(easy);
  pthread_mutex_lock(&counting);
  ok += good, wrong += bad;
  pthread_mutex_unlock(&counting);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  int threads = atoi(argv[2]);
  pthread_t ids[64];
  url = argv[1], requests = atoi(argv[3]);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  for (int i = 0; i < CURL_LOCK_DATA_LAST; i++) pthread_mutex_init(&locks[i], NULL);
  share = curl_share_init();
  curl_share_setopt(share, CURLSHOPT_LOCKFUNC, lock);
  curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, unlock);
  int set = curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
  set |= curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
  set |= curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, work, NULL);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  printf("set=%d ok=%ld wrong=%ld cleanup=%d\n", set, ok, wrong, curl_share_cleanup(share));
  curl_global_cleanup();
  return 0;
}
