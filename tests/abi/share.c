/* Share handles: what they refuse, and the application's lock functions around shared cookies.
 * covers: curl_share_init, curl_share_setopt, curl_share_cleanup, CURLOPT_SHARE, CURLOPT_COOKIELIST, CURLINFO_COOKIELIST,
 * CURL_LOCK_DATA_SSL_SESSION */
#include "check.h"
#include "own_server.h"

static int locks, unlocks, seen[CURL_LOCK_DATA_LAST], held[CURL_LOCK_DATA_LAST], after_body, body_seen;
static CURL *one, *two;
static void lock(CURL *easy, curl_lock_data data, curl_lock_access access, void *user)
{
  CHECK(user == (void *)&locks && data < CURL_LOCK_DATA_LAST);
  CHECK(access == CURL_LOCK_ACCESS_SINGLE || access == CURL_LOCK_ACCESS_SHARED);
  CHECK(!easy || easy == one || easy == two);
  if(easy == one)
    seen[data]++;
  SAME(held[data], 0);
  held[data]++;
  if(body_seen && data == CURL_LOCK_DATA_CONNECT)
    after_body += easy == one;
  locks++;
}
static void unlock(CURL *easy, curl_lock_data data, void *user)
{
  CHECK(!easy || easy == one || easy == two);
  CHECK(data < CURL_LOCK_DATA_LAST);
  CHECK(user == (void *)&locks);
  SAME(held[data], 1);
  held[data]--;
  unlocks++;
}

static size_t note_body(char *data, size_t size, size_t count, void *user)
{
  body_seen = 1;
  return collect(data, size, count, user);
}

/* What is locked and written, in order; an application that counts sees the same as with curl (its test 1554). */
static char story[512];
static void tell(const char *word)
{
  strncat(story, word, sizeof story - strlen(story) - 1);
}
static void tell_lock(CURL *easy, curl_lock_data data, curl_lock_access access, void *user)
{
  (void)easy, (void)access, (void)user;
  tell(data == CURL_LOCK_DATA_SHARE ? "S" : data == CURL_LOCK_DATA_CONNECT ? "C" : "?");
}
static void tell_unlock(CURL *easy, curl_lock_data data, void *user)
{
  (void)easy, (void)data, (void)user;
  tell(".");
}
static size_t tell_body(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  tell("body ");
  return size * count;
}

static void locks_in_order(void)
{
  CURLSH *share = curl_share_init();
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
  curl_share_setopt(share, CURLSHOPT_LOCKFUNC, tell_lock);
  curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, tell_unlock);
  for(int round = 0; round < 3; round++) {
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/3"));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, tell_body);
    curl_easy_setopt(easy, CURLOPT_SHARE, share);
    SAME(curl_easy_perform(easy), CURLE_OK);
    curl_easy_cleanup(easy);
    SAME_TEXT(story, round == 0 ? "S.C.C.C.C.body C.S." : "S.C.C.C.body C.S.");
    story[0] = 0;
  }
  SAME(curl_share_cleanup(share), CURLSHE_OK);
  SAME_TEXT(story, "S.C."); /* 8.22 locks the connections that it closes, too */
}

/* The server takes the hello and does not answer: nobody who wants a session waits for that. */
static void nothing_is_held_in_a_handshake(void)
{
  struct own_server *own = own_server(NULL, NULL);
  CURLSH *share = curl_share_init();
  CURLM *multi = curl_multi_init();
  char url[64];
  int running;
  size_t heard = 0;
  one = curl_easy_init();
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  curl_share_setopt(share, CURLSHOPT_LOCKFUNC, lock);
  curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, unlock);
  curl_share_setopt(share, CURLSHOPT_USERDATA, &locks);
  snprintf(url, sizeof url, "https://127.0.0.1:%d/", own->port);
  curl_easy_setopt(one, CURLOPT_URL, url);
  curl_easy_setopt(one, CURLOPT_SHARE, share);
  curl_multi_add_handle(multi, one);
  for(int i = 0; i < 200 && !heard; i++) {
    curl_multi_perform(multi, &running);
    SAME(running, 1);
    SAME(held[CURL_LOCK_DATA_SSL_SESSION], 0);
    curl_multi_poll(multi, NULL, 0, 50, NULL);
    heard = __atomic_load_n(&own->heard_length, __ATOMIC_SEQ_CST);
  }
  CHECK(heard > 0 && seen[CURL_LOCK_DATA_SSL_SESSION] > 0);
  curl_multi_remove_handle(multi, one);
  SAME(held[CURL_LOCK_DATA_SSL_SESSION], 0);
  curl_easy_cleanup(one);
  curl_multi_cleanup(multi);
  own_server_end(own);
  free(own);
  SAME(curl_share_cleanup(share), CURLSHE_OK);
}

int main(void)
{
  locks_in_order();
  nothing_is_held_in_a_handshake();
  CURLSH *share = curl_share_init();
  one = curl_easy_init(), two = curl_easy_init();
  struct curl_slist *cookies = NULL;
  struct text body = {0};
  SAME(curl_share_setopt(share, (CURLSHoption)99, 1), CURLSHE_BAD_OPTION);
  SAME(curl_share_setopt(share, CURLSHOPT_SHARE, 99), CURLSHE_BAD_OPTION);
  SAME(curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE), CURLSHE_OK);
  SAME(curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS), CURLSHE_OK);
  SAME(curl_share_setopt(share, CURLSHOPT_UNSHARE, CURL_LOCK_DATA_DNS), CURLSHE_OK);
  SAME(curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS), CURLSHE_OK);
  SAME(curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT), CURLSHE_OK);
  SAME(curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION), CURLSHE_OK);
  SAME(curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_PSL), CURLSHE_OK);
  SAME(curl_share_setopt(share, CURLSHOPT_LOCKFUNC, lock), CURLSHE_OK);
  SAME(curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, unlock), CURLSHE_OK);
  SAME(curl_share_setopt(share, CURLSHOPT_USERDATA, &locks), CURLSHE_OK);
  SAME(curl_easy_setopt(one, CURLOPT_SHARE, share), CURLE_OK);
  SAME(curl_easy_setopt(two, CURLOPT_SHARE, share), CURLE_OK);
  SAME(curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS), CURLSHE_IN_USE);
  SAME(curl_share_cleanup(share), CURLSHE_IN_USE);
  curl_easy_setopt(one, CURLOPT_COOKIELIST, "Set-Cookie: a=b; domain=a.example");
  SAME(curl_easy_getinfo(two, CURLINFO_COOKIELIST, &cookies), CURLE_OK);
  CHECK(cookies && strstr(cookies->data, "a.example"));
  curl_slist_free_all(cookies);
  CHECK(locks > 0);
  curl_easy_setopt(one, CURLOPT_URL, server("/bytes/3"));
  curl_easy_setopt(one, CURLOPT_WRITEFUNCTION, note_body);
  curl_easy_setopt(one, CURLOPT_WRITEDATA, &body);
  SAME(curl_easy_perform(one), CURLE_OK);
  SAME(body.length, 3);
  free(body.at);
  CHECK(seen[CURL_LOCK_DATA_COOKIE] > 0 && seen[CURL_LOCK_DATA_CONNECT] > 0);
  CHECK(seen[CURL_LOCK_DATA_DNS] > 0 && seen[CURL_LOCK_DATA_SHARE] > 0);
  SAME(locks, unlocks);
  SAME(after_body, 1); /* when the connection went back */
  curl_easy_cleanup(one);
  SAME(curl_share_cleanup(share), CURLSHE_IN_USE);
  SAME(curl_easy_setopt(two, CURLOPT_SHARE, NULL), CURLE_OK);
  int before = locks;
  SAME(curl_share_cleanup(share), CURLSHE_OK);
  CHECK(locks > before);
  SAME(locks, unlocks);
  curl_easy_cleanup(two);
  return FAILURES;
}
