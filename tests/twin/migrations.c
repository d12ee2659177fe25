/* Handles that move: from one multi handle to another and back, between easy and multi interface, between threads, and what becomes of
 * the connections that they made.
 * covers: curl_multi_add_handle, curl_multi_remove_handle, curl_multi_cleanup, CURLINFO_NUM_CONNECTS, CURLINFO_CONN_ID, CURLINFO_ACTIVESOCKET, CURLOPT_CONNECT_ONLY, CURL_LOCK_DATA_CONNECT */
#include "peer.h"

static int had_own; /* 7.88 takes a connection of a handle's own for one of the multi handle when their numbers are the same */

static void within(const char *name, CURLM *multi, CURL *easy)
{
  got = 0;
  CURLMcode add = curl_multi_add_handle(multi, easy);
  int running = run_all(multi), code = code_of(multi, easy);
  curl_socket_t fd = -5;
  printf("%s: add %d running %d code %d bytes %zu, connections %ld", name, add, running, code, got, number(easy, CURLINFO_NUM_CONNECTS));
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
  printf(", socket %d", fd >= 0);
  printf(", remove %d", curl_multi_remove_handle(multi, easy));
  fd = -5;
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
  printf(", socket %d\n", !had_own && fd >= 0);
}

static void alone(const char *name, CURL *easy)
{
  go(name, easy);
  printf("%s: connections %ld\n", name, number(easy, CURLINFO_NUM_CONNECTS));
}

static void between_multis(void)
{
  CURLM *one = curl_multi_init(), *two = curl_multi_init();
  CURL *easy = to("SERVER", "/bytes/10"), *second = to("SERVER", "/bytes/11");
  alone("alone", easy);
  alone("alone again", easy);
  had_own = 1;
  within("in one", one, easy);
  within("in one again", one, easy);
  within("in two", two, easy);
  within("back in one", one, easy);
  had_own = 0;
  within("another in one", one, second);
  within("another in two", two, second);
  alone("alone after multis", easy);
  alone("alone after multis, again", easy);
  had_own = 1;
  within("in one once more", one, easy);
  /* The connection that its multi handle kept dies with it; the handle lives. */
  curl_multi_add_handle(one, easy);
  printf("cleanup with a handle inside: %d\n", curl_multi_cleanup(one));
  within("in two after that", two, easy);
  /* Freed right after its transfer: the connection stays. */
  curl_easy_cleanup(easy);
  had_own = 0;
  within("another uses what it left", two, second);
  CURL *copy = curl_easy_duphandle(second);
  within("a copy too", two, copy);
  curl_easy_reset(copy);
  WITH(copy, URL, at("SERVER", "/bytes/12"));
  WITH(copy, WRITEFUNCTION, take);
  within("and after a reset", two, copy);
  curl_easy_cleanup(copy);
  curl_easy_cleanup(second);
  printf("cleanup: %d\n", curl_multi_cleanup(two));
}

/* Taken out while it runs, at each stage, and put elsewhere. */
static void in_the_middle(void)
{
  static const char *paths[] = {"/delay/200/bytes/10", "/drip/1000/5/bytes/20000", "/redirect/3", "/bytes/10"};
  CURLM *one = curl_multi_init(), *two = curl_multi_init();
  for(size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    CURL *easy = to("SERVER", "/bytes/1");
    char name[64];
    int running;
    snprintf(name, sizeof name, "from the middle of %zu", i);
    within(name, one, easy);
    struct peer *silent = peer_new(); /* never answers */
    WITH(easy, URL, silent->url);
    curl_multi_add_handle(one, easy);
    if(i)
      run_for(one, 20);
    printf("%s: remove %d, in two %d", name, curl_multi_remove_handle(one, easy), curl_multi_add_handle(two, easy));
    printf(", again in one %d, from one %d", curl_multi_add_handle(one, easy), curl_multi_remove_handle(one, easy));
    curl_multi_perform(two, &running);
    printf(", running %d, out %d\n", running, curl_multi_remove_handle(two, easy));
    close(silent->listener);
    free(silent);
    WITH(easy, URL, at("SERVER", i == 2 ? "/redirect/3" : "/bytes/7"));
    WITH(easy, FOLLOWLOCATION, 1L);
    within(name, one, easy);
    within(name, two, easy);
    curl_easy_cleanup(easy);
  }
  curl_multi_cleanup(one);
  curl_multi_cleanup(two);
}

/* A connection that the application talks over itself, made in a multi handle. */
static void connect_only(void)
{
  CURLM *multi = curl_multi_init();
  CURL *easy = to("PROXY", "/"), *other = to("PROXY", "/bytes/3");
  char reply[4096];
  size_t n = 0;
  const char *ask = "GET /bytes/3 HTTP/1.1\r\nHost: x\r\n\r\n";
  WITH(easy, CONNECT_ONLY, 1L);
  curl_multi_add_handle(multi, easy);
  run_all(multi);
  printf("connected: %d\n", code_of(multi, easy));
  within("not lent", multi, other);
  printf("send: %d %d", curl_easy_send(easy, ask, strlen(ask), &n), n == strlen(ask));
  CURLcode code;
  for(int i = 0; i < 500 && (code = curl_easy_recv(easy, reply, sizeof reply, &n)) == CURLE_AGAIN; i++)
    usleep(2000);
  printf(", recv: %d %d\n", code, code == CURLE_OK && !strncmp(reply, "HTTP/1.1 200", 12));
  printf("remove: %d", curl_multi_remove_handle(multi, easy));
  printf(", send then: %d\n", curl_easy_send(easy, ask, strlen(ask), &n));
  WITH(easy, CONNECT_ONLY, 0L);
  WITH(easy, URL, at("PROXY", "/bytes/4"));
  within("an ordinary transfer", multi, easy);
  curl_easy_cleanup(easy);
  curl_easy_cleanup(other);
  curl_multi_cleanup(multi);
}

static struct { CURLM *multi; CURL *easy; int step; CURLcode code; int running; } job;

static void *work(void *user)
{
  (void)user;
  switch(job.step) {
  case 0:
  case 2:
    job.code = curl_easy_perform(job.easy);
    break;
  case 1:
    job.running = run_all(job.multi);
    break;
  case 3:
    curl_multi_perform(job.multi, &job.running);
    break;
  default:
    curl_multi_cleanup(job.multi);
    curl_easy_cleanup(job.easy);
  }
  return NULL;
}

static void in_a_thread(int step)
{
  pthread_t thread;
  job.step = step, job.code = 99, job.running = -1;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
}

/* Made in one thread, used in others, freed in another still. */
static void between_threads(void)
{
  job.easy = to("SERVER", "/cookies/set/a/b");
  job.multi = curl_multi_init();
  WITH(job.easy, COOKIEFILE, "");
  in_a_thread(0);
  printf("thread: code %d, connections %ld\n", job.code, number(job.easy, CURLINFO_NUM_CONNECTS));
  WITH(job.easy, URL, at("SERVER", "/cookies"));
  alone("first thread", job.easy);
  printf("cookie: %s\n", first);
  in_a_thread(2);
  printf("another thread: code %d, connections %ld\n", job.code, number(job.easy, CURLINFO_NUM_CONNECTS));
  curl_multi_add_handle(job.multi, job.easy);
  in_a_thread(1);
  printf("multi driven elsewhere: running %d code %d connections %ld\n", job.running, code_of(job.multi, job.easy), number(job.easy, CURLINFO_NUM_CONNECTS));
  curl_multi_remove_handle(job.multi, job.easy);
  WITH(job.easy, URL, at("SERVER", "/delay/50/bytes/8"));
  curl_multi_add_handle(job.multi, job.easy);
  in_a_thread(3);
  got = 0;
  printf("begun there: running %d", job.running);
  printf(", ended here: %d", run_all(job.multi));
  printf(" code %d bytes %zu connections %ld\n", code_of(job.multi, job.easy), got, number(job.easy, CURLINFO_NUM_CONNECTS));
  in_a_thread(4);
}

/* Connections in a share: whoever is free takes them, in a multi handle or not. */
static void in_a_share(void)
{
  CURLSH *share = curl_share_init();
  CURLM *multi = curl_multi_init();
  CURL *easy = to("SERVER", "/bytes/10"), *other = to("SERVER", "/bytes/20");
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
  WITH(easy, SHARE, share);
  WITH(other, SHARE, share);
  alone("shared", easy);
  alone("shared, other", other);
  within("shared, in a multi", multi, easy);
  within("shared, other in a multi", multi, other);
  printf("cleanup: %d\n", curl_multi_cleanup(multi));
  alone("shared, after the multi", easy);
  curl_easy_cleanup(easy);
  alone("shared, after the handle", other);
  WITH(other, SHARE, NULL);
  alone("no longer shared", other);
  printf("free: %d\n", curl_share_cleanup(share));
  curl_easy_cleanup(other);
}

int main(void)
{
  between_multis();
  in_the_middle();
  connect_only();
  between_threads();
  in_a_share();
  return 0;
}
