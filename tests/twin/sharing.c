/* Each kind of data shared: what a second handle has of the first, in which order the lock functions come, and what is refused.
 * covers: curl_share_init, curl_share_setopt, curl_share_cleanup, curl_share_strerror, CURLOPT_SHARE, CURLSHOPT_LOCKFUNC, CURLSHOPT_UNLOCKFUNC */
#include "twin.h"

static int held[CURL_LOCK_DATA_LAST + 1], wrong, locks[CURL_LOCK_DATA_LAST + 1], without_handle;

static void lock(CURL *easy, curl_lock_data data, curl_lock_access access, void *user)
{
  wrong += user != &wrong || held[data]++ || access == CURL_LOCK_ACCESS_NONE;
  without_handle += !easy;
  locks[data]++;
}

static void unlock(CURL *easy, curl_lock_data data, void *user)
{
  (void)easy;
  wrong += user != &wrong || !held[data]--;
}

int main(void)
{
  static const struct { int kind; const char *name; } kinds[] = {
    {CURL_LOCK_DATA_COOKIE, "cookie"}, {CURL_LOCK_DATA_DNS, "dns"}, {CURL_LOCK_DATA_SSL_SESSION, "session"}, {CURL_LOCK_DATA_CONNECT, "connect"}, {CURL_LOCK_DATA_PSL, "psl"}};
  for(size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    CURLSH *share = curl_share_init();
    CURL *one = to("SERVER", "/cookies/set/a/b"), *two = to("SERVER", "/cookies");
    memset(locks, 0, sizeof locks);
    printf("%s share: %d %d\n", kinds[i].name, curl_share_setopt(share, CURLSHOPT_SHARE, kinds[i].kind), curl_share_setopt(share, CURLSHOPT_SHARE, kinds[i].kind));
    curl_share_setopt(share, CURLSHOPT_LOCKFUNC, lock);
    curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, unlock);
    curl_share_setopt(share, CURLSHOPT_USERDATA, &wrong);
    printf("%s use: %d %d\n", kinds[i].name, curl_easy_setopt(one, CURLOPT_SHARE, share), curl_easy_setopt(two, CURLOPT_SHARE, share));
    printf("%s in use: %d %d %d %d\n", kinds[i].name, curl_share_setopt(share, CURLSHOPT_UNSHARE, kinds[i].kind), curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS),
           curl_share_setopt(share, CURLSHOPT_LOCKFUNC, NULL), curl_share_cleanup(share));
    go("first", one);
    go("second", two);
    printf("%s body: %s, connections %ld\n", kinds[i].name, first, number(two, CURLINFO_NUM_CONNECTS));
    WITH(two, COOKIEFILE, "");
    go("with its engine on", two);
    printf("%s body: %s\n", kinds[i].name, first);
    curl_easy_setopt(one, CURLOPT_SHARE, NULL);
    go("alone", one);
    printf("%s alone: connections %ld\n", kinds[i].name, number(one, CURLINFO_NUM_CONNECTS));
    curl_easy_cleanup(two);
    printf("%s free: %d\n", kinds[i].name, curl_share_cleanup(share));
    curl_easy_cleanup(one);
    printf("%s locked:", kinds[i].name);
    for(int kind = 0; kind < CURL_LOCK_DATA_LAST; kind++)
      if(kind != CURL_LOCK_DATA_PSL)
        printf(" %d", locks[kind] > 0);
    printf(", wrong %d, held", wrong);
    for(int kind = 0; kind < CURL_LOCK_DATA_LAST; kind++)
      printf(" %d", held[kind]);
    puts("");
    wrong = 0;
  }
  for(int code = -1; code < 8; code++)
    printf("text %d: %s\n", code, curl_share_strerror((CURLSHcode)code));
  return 0;
}
