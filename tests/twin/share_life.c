/* The life of share handles: who sees what when handles come, go and are copied, what is refused meanwhile, in which order the lock
 * functions are called around one operation, and sharing between threads.
 * covers: curl_share_setopt, curl_share_cleanup, CURLOPT_SHARE, CURLSHOPT_SHARE, CURLSHOPT_UNSHARE, CURLSHOPT_LOCKFUNC, CURLSHOPT_UNLOCKFUNC, CURLSHOPT_USERDATA, CURLOPT_COOKIELIST, curl_easy_duphandle, curl_easy_reset */
#include "twin.h"
#include <pthread.h>

static pthread_mutex_t mutexes[CURL_LOCK_DATA_LAST + 1];
static int locked[CURL_LOCK_DATA_LAST + 1], held, most, foreign, unbalanced;
static CURL *expected;

static void lock(CURL *easy, curl_lock_data data, curl_lock_access access, void *user)
{
  (void)access;
  pthread_mutex_lock(&mutexes[data]);
  locked[data]++;
  held++;
  if(held > most)
    most = held;
  foreign += expected && easy && easy != expected;
  unbalanced += user != (void *)mutexes;
}

static void unlock(CURL *easy, curl_lock_data data, void *user)
{
  foreign += expected && easy && easy != expected;
  unbalanced += user != (void *)mutexes;
  held--;
  pthread_mutex_unlock(&mutexes[data]);
}

/* Which kinds an operation locked. */
static void locks(const char *name)
{
  printf("%s locked:%s%s, held %d, foreign %d, unbalanced %d\n", name, locked[CURL_LOCK_DATA_COOKIE] ? " cookie" : "", locked[CURL_LOCK_DATA_SHARE] ? " share" : "", held, foreign, unbalanced);
  memset(locked, 0, sizeof locked);
  most = foreign = unbalanced = 0;
}

static CURLSH *share_of(int kind)
{
  CURLSH *share = curl_share_init();
  curl_share_setopt(share, CURLSHOPT_SHARE, kind);
  curl_share_setopt(share, CURLSHOPT_LOCKFUNC, lock);
  curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, unlock);
  curl_share_setopt(share, CURLSHOPT_USERDATA, (void *)mutexes);
  return share;
}

static void cookies_of(const char *name, CURL *easy)
{
  struct curl_slist *list = NULL;
  CURLcode code = curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &list);
  printf("%s cookies: %d", name, code);
  for(struct curl_slist *item = list; item; item = item->next)
    printf(" %s", strrchr(item->data, '\t') + 1);
  puts("");
  curl_slist_free_all(list);
}

static void operations(void)
{
  CURLSH *share = share_of(CURL_LOCK_DATA_COOKIE);
  CURL *easy = to("SERVER", "/cookies/set/n/v1");
  memset(locked, 0, sizeof locked);
  expected = easy;
  WITH(easy, SHARE, share);
  locks("joining");
  WITH(easy, COOKIELIST, "Set-Cookie: own=v0; domain=127.0.0.1");
  locks("a cookie given");
  go("sets", easy);
  locks("transfer");
  cookies_of("after", easy);
  locks("listing");
  WITH(easy, COOKIELIST, "SESS");
  locks("sessions forgotten");
  WITH(easy, COOKIELIST, "ALL");
  locks("all forgotten");
  WITH(easy, COOKIEJAR, "share-jar.txt");
  WITH(easy, COOKIELIST, "Set-Cookie: late=v2; domain=127.0.0.1");
  locks("given again");
  WITH(easy, COOKIELIST, "FLUSH");
  locks("flushed");
  expected = NULL;
  CURL *copy = curl_easy_duphandle(easy);
  locks("copied");
  cookies_of("copy", copy);
  printf("still used: %d\n", curl_share_cleanup(share));
  locks("cleanup refused");
  curl_easy_reset(easy);
  locks("reset");
  cookies_of("reset", easy);
  printf("after the reset: %d\n", curl_share_cleanup(share));
  curl_easy_setopt(easy, CURLOPT_SHARE, NULL);
  locks("left");
  cookies_of("left", easy);
  curl_easy_setopt(copy, CURLOPT_SHARE, NULL);
  printf("nobody left: %d\n", curl_share_cleanup(share));
  locks("cleanup");
  curl_easy_cleanup(copy);
  curl_easy_cleanup(easy);
}

/* What a handle had before it joined, and has after it left. */
static void joining(void)
{
  CURLSH *share = share_of(CURL_LOCK_DATA_COOKIE), *other = share_of(CURL_LOCK_DATA_COOKIE);
  CURL *one = to("SERVER", "/cookies"), *two = to("SERVER", "/cookies");
  WITH(one, COOKIELIST, "Set-Cookie: before=b; domain=127.0.0.1");
  cookies_of("before", one);
  WITH(one, SHARE, share);
  cookies_of("joined", one);
  WITH(one, COOKIELIST, "Set-Cookie: inside=i; domain=127.0.0.1");
  WITH(two, SHARE, share);
  cookies_of("the second", two);
  go("the second asks", two);
  printf("sent: %s\n", first);
  WITH(two, SHARE, share);
  printf("joined twice, left once: %d", curl_easy_setopt(two, CURLOPT_SHARE, NULL));
  printf(" %d\n", curl_easy_setopt(one, CURLOPT_SHARE, NULL));
  cookies_of("first, alone", one);
  cookies_of("second, alone", two);
  go("first asks alone", one);
  printf("sent: %s\n", first);
  /* From one share to another. */
  WITH(one, SHARE, share);
  cookies_of("what the share kept", one);
  WITH(one, SHARE, other);
  cookies_of("in the other", one);
  printf("the first is free: %d\n", curl_share_cleanup(share));
  printf("the other is not: %d\n", curl_share_cleanup(other));
  curl_easy_cleanup(one);
  printf("now it is: %d\n", curl_share_cleanup(other));
  curl_easy_cleanup(two);
}

/* A kind that is taken back while nobody uses the share, and one that comes later. */
static void kinds(void)
{
  CURLSH *share = share_of(CURL_LOCK_DATA_COOKIE);
  CURL *easy = to("SERVER", "/cookies");
  WITH(easy, SHARE, share);
  WITH(easy, COOKIELIST, "Set-Cookie: kept=k; domain=127.0.0.1");
  printf("while used: %d %d %d %d\n", curl_share_setopt(share, CURLSHOPT_UNSHARE, CURL_LOCK_DATA_COOKIE), curl_share_setopt(share, CURLSHOPT_USERDATA, NULL),
         curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, NULL), curl_share_setopt(share, (CURLSHoption)77, NULL));
  curl_easy_setopt(easy, CURLOPT_SHARE, NULL);
  printf("unshare: %d\n", curl_share_setopt(share, CURLSHOPT_UNSHARE, CURL_LOCK_DATA_COOKIE));
  WITH(easy, SHARE, share);
  cookies_of("not shared", easy);
  curl_easy_setopt(easy, CURLOPT_SHARE, NULL);
  printf("share again: %d\n", curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE));
  WITH(easy, SHARE, share);
  cookies_of("shared again", easy);
  curl_easy_setopt(easy, CURLOPT_SHARE, NULL);
  printf("unknown: %d %d %d\n", curl_share_setopt(share, (CURLSHoption)77, NULL), curl_share_setopt(share, CURLSHOPT_NONE, NULL), curl_share_setopt(NULL, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS));
  printf("cleanup: %d, of nothing %d\n", curl_share_cleanup(share), curl_share_cleanup(NULL));
  curl_easy_cleanup(easy);
}

/* Set and left while a transfer runs. */
static void during(void)
{
  CURLSH *share = share_of(CURL_LOCK_DATA_COOKIE);
  CURLM *multi = curl_multi_init();
  CURL *easy = to("SERVER", "/delay/50/cookies/set/late/l");
  int running;
  WITH(easy, SHARE, share);
  curl_multi_add_handle(multi, easy);
  curl_multi_perform(multi, &running);
  printf("used by one that runs: %d\n", curl_share_cleanup(share));
  run_all(multi);
  printf("code %d, used by one that is over: %d\n", code_of(multi, easy), curl_share_cleanup(share));
  cookies_of("over", easy);
  curl_multi_remove_handle(multi, easy);
  printf("used by one that was removed: %d\n", curl_share_cleanup(share));
  curl_multi_add_handle(multi, easy);
  curl_multi_cleanup(multi);
  curl_easy_cleanup(easy);
  printf("free: %d\n", curl_share_cleanup(share));
  printf("held %d unbalanced %d\n", held, unbalanced);
}

static CURLSH *of_threads;

static void *asks(void *user)
{
  char cookie[64]; /* for elsewhere, so that all requests look alike */
  for(int i = 0; i < 5; i++) {
    CURL *easy = to("SERVER", "");
    snprintf(cookie, sizeof cookie, "Set-Cookie: thread%ld-%d=x; domain=elsewhere.example", (long)(size_t)user, i);
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(easy, CURLOPT_SHARE, of_threads);
    curl_easy_setopt(easy, CURLOPT_COOKIELIST, cookie);
    if(curl_easy_perform(easy))
      printf("a thread failed\n");
    curl_easy_cleanup(easy);
  }
  return NULL;
}

static void threads(void)
{
  pthread_t all[6];
  struct curl_slist *list = NULL;
  int count = 0;
  of_threads = share_of(CURL_LOCK_DATA_COOKIE);
  curl_share_setopt(of_threads, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
  curl_share_setopt(of_threads, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  for(size_t i = 0; i < 6; i++)
    pthread_create(&all[i], NULL, asks, (void *)i);
  for(size_t i = 0; i < 6; i++)
    pthread_join(all[i], NULL);
  CURL *easy = curl_easy_init();
  WITH(easy, SHARE, of_threads);
  curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &list);
  for(struct curl_slist *item = list; item; item = item->next)
    count++;
  curl_slist_free_all(list);
  curl_easy_cleanup(easy);
  printf("from threads: %d cookies, free %d, unbalanced %d\n", count, curl_share_cleanup(of_threads), unbalanced);
}

int main(void)
{
  for(int i = 0; i <= CURL_LOCK_DATA_LAST; i++)
    pthread_mutex_init(&mutexes[i], NULL);
  curl_global_init(CURL_GLOBAL_ALL);
  operations();
  joining();
  kinds();
  during();
  threads();
  return 0;
}
