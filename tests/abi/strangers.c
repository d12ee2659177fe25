/* Handles where they do not belong: each kind given as each other kind, freed ones whose place was taken again, and two threads at once on an
 * easy handle, a multi handle and a share, with every call answered by a code and everything usable afterwards.
 * covers: curl_easy_perform, curl_easy_setopt, curl_easy_getinfo, curl_easy_pause, curl_easy_reset, curl_easy_duphandle, curl_easy_cleanup, curl_multi_perform, curl_multi_add_handle,
 * covers: curl_multi_remove_handle, curl_multi_cleanup, curl_multi_poll, curl_multi_wakeup, curl_share_setopt, curl_share_cleanup, curl_url_set, curl_mime_addpart, CURLOPT_SHARE, CURLOPT_MIMEPOST, CURLOPT_CURLU */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#undef curl_share_setopt

enum { EASY, MULTI, SHARE, URL, MIME, PART, KINDS };

static void *make(int kind, CURL *easy)
{
  static curl_mime *mime;
  switch(kind) {
  case EASY:
    return curl_easy_init();
  case MULTI:
    return curl_multi_init();
  case SHARE:
    return curl_share_init();
  case URL:
    return curl_url();
  case MIME:
    return mime = curl_mime_init(easy);
  default:
    return curl_mime_addpart(mime);
  }
}

static void as_easy(void *handle)
{
  long value = 77;
  size_t n = 5;
  char byte;
  struct curl_header *header;
  SAME(curl_easy_setopt(handle, CURLOPT_VERBOSE, 0L), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_setopt(handle, CURLOPT_URL, "http://x/"), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &value), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(value, 77);
  SAME(curl_easy_perform(handle), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_pause(handle, CURLPAUSE_ALL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_recv(handle, &byte, 1, &n), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_send(handle, &byte, 1, &n), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_upkeep(handle), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_header(handle, "x", 0, CURLH_HEADER, -1, &header), CURLHE_BAD_ARGUMENT);
  CHECK(!curl_easy_nextheader(handle, CURLH_HEADER, -1, NULL));
  CHECK(!curl_easy_duphandle(handle));
  curl_easy_reset(handle);
  curl_easy_cleanup(handle);
}

static void as_multi(void *handle, CURL *easy)
{
  int number = 7;
  long ms = 77;
  SAME(curl_multi_add_handle(handle, easy), CURLM_BAD_HANDLE);
  SAME(curl_multi_remove_handle(handle, easy), CURLM_BAD_HANDLE);
  SAME(curl_multi_perform(handle, &number), CURLM_BAD_HANDLE);
  SAME(curl_multi_poll(handle, NULL, 0, 0, &number), CURLM_BAD_HANDLE);
  SAME(curl_multi_wakeup(handle), CURLM_BAD_HANDLE);
  SAME(curl_multi_timeout(handle, &ms), CURLM_BAD_HANDLE);
  SAME(ms, 77);
  SAME(curl_multi_socket_action(handle, CURL_SOCKET_TIMEOUT, 0, &number), CURLM_BAD_HANDLE);
  SAME(curl_multi_assign(handle, 1, NULL), CURLM_BAD_HANDLE);
  SAME(curl_multi_setopt(handle, CURLMOPT_MAXCONNECTS, 1L), CURLM_BAD_HANDLE);
  CHECK(!curl_multi_info_read(handle, &number));
  CHECK(!curl_multi_get_handles(handle));
  SAME(curl_multi_cleanup(handle), CURLM_BAD_HANDLE);
}

static void as_others(int kind, void *handle, CURL *easy, CURLM *multi)
{
  char *text = NULL;
  if(kind != SHARE) {
    SAME(curl_share_setopt(handle, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS), CURLSHE_INVALID);
    SAME(curl_share_cleanup(handle), CURLSHE_INVALID);
    SAME(curl_easy_setopt(easy, CURLOPT_SHARE, handle), CURLE_BAD_FUNCTION_ARGUMENT);
  }
  if(kind != URL) {
    SAME(curl_url_set(handle, CURLUPART_URL, "http://x/", 0), CURLUE_BAD_HANDLE);
    SAME(curl_url_get(handle, CURLUPART_URL, &text, 0), CURLUE_BAD_HANDLE);
    CHECK(!text && !curl_url_dup(handle));
    curl_url_cleanup(handle);
    /* Looked at when a transfer begins. */
    curl_easy_setopt(easy, CURLOPT_CURLU, handle);
    CHECK(curl_easy_perform(easy) != CURLE_OK);
    SAME(curl_easy_setopt(easy, CURLOPT_CURLU, NULL), CURLE_OK);
  }
  if(kind != MIME) {
    CHECK(!curl_mime_addpart(handle));
    curl_mime_free(handle);
    curl_easy_setopt(easy, CURLOPT_URL, server("/body"));
    curl_easy_setopt(easy, CURLOPT_MIMEPOST, handle);
    curl_easy_perform(easy); /* an error, or no parts: what counts is that nothing is touched */
    SAME(curl_easy_setopt(easy, CURLOPT_MIMEPOST, NULL), CURLE_OK);
  }
  if(kind != PART) {
    SAME(curl_mime_name(handle, "n"), CURLE_BAD_FUNCTION_ARGUMENT);
    SAME(curl_mime_data(handle, "d", 1), CURLE_BAD_FUNCTION_ARGUMENT);
    SAME(curl_mime_filedata(handle, "/etc/hosts"), CURLE_BAD_FUNCTION_ARGUMENT);
    SAME(curl_mime_subparts(handle, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
    SAME(curl_mime_headers(handle, NULL, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  }
  if(kind != EASY) {
    SAME(curl_multi_add_handle(multi, handle), CURLM_BAD_EASY_HANDLE);
    SAME(curl_multi_remove_handle(multi, handle), CURLM_BAD_EASY_HANDLE);
  }
}

static int fetches(CURL *easy)
{
  struct text body = {0};
  curl_easy_reset(easy);
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  CURLcode code = curl_easy_perform(easy);
  free(body.at);
  return code == CURLE_OK && body.length == 10;
}

static void release(int kind, void *handle)
{
  if(kind == EASY)
    curl_easy_cleanup(handle);
  else if(kind == MULTI)
    SAME(curl_multi_cleanup(handle), CURLM_OK);
  else if(kind == SHARE)
    SAME(curl_share_cleanup(handle), CURLSHE_OK);
  else if(kind == URL)
    curl_url_cleanup(handle);
  else if(kind == MIME)
    curl_mime_free(handle); /* and its part */
}

static size_t discard(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  return size * count;
}

/* Living handles of every kind in every place, then the same addresses freed, then with the places taken anew. */
static void kinds(void)
{
  CURL *easy = curl_easy_init();
  CURLM *multi = curl_multi_init();
  void *all[KINDS], *anew[KINDS];
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
  for(int kind = 0; kind < KINDS; kind++)
    all[kind] = make(kind, easy);
  for(int round = 0; round < 3; round++) {
    for(int kind = 0; kind < KINDS; kind++) {
      int alive = round == 0;
      if(kind != EASY || !alive)
        as_easy(all[kind]);
      if(kind != MULTI || !alive)
        as_multi(all[kind], easy);
      as_others(alive ? kind : KINDS, all[kind], easy, multi);
    }
    CHECK(fetches(easy));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
    if(round == 0)
      for(int kind = 0; kind < KINDS; kind++)
        release(kind, all[kind]);
    if(round == 1)
      for(int kind = 0; kind < KINDS; kind++)
        anew[kind] = make(kind, easy);
  }
  CHECK(fetches(anew[EASY]));
  for(int kind = 0; kind < KINDS; kind++)
    release(kind, anew[kind]);
  SAME(curl_multi_cleanup(multi), CURLM_OK);
  curl_easy_cleanup(easy);
}

static CURL *contested;
static CURLM *contested_multi;
static const char *contested_url;
static atomic_int stop, refused, taken, wrong;

static void count(int code, int busy)
{
  if(code == 0)
    taken++;
  else if(code == busy)
    refused++;
  else
    wrong++;
}

static void *meddle(void *user)
{
  unsigned seed = (unsigned)(size_t)user;
  while(!stop) {
    long value;
    switch(rand_r(&seed) % 6) {
    case 0:
      count(curl_easy_setopt(contested, CURLOPT_USERAGENT, "somebody else"), CURLE_BAD_FUNCTION_ARGUMENT);
      break;
    case 1:
      count(curl_easy_getinfo(contested, CURLINFO_RESPONSE_CODE, &value), CURLE_BAD_FUNCTION_ARGUMENT);
      break;
    case 2:
      count(curl_easy_perform(contested), CURLE_BAD_FUNCTION_ARGUMENT);
      break;
    case 3:
      count(curl_easy_pause(contested, 0), CURLE_BAD_FUNCTION_ARGUMENT);
      break;
    case 4:
      curl_easy_cleanup(curl_easy_duphandle(contested));
      break;
    default:
      count(curl_easy_upkeep(contested), CURLE_BAD_FUNCTION_ARGUMENT);
    }
  }
  return NULL;
}

static void *meddle_multi(void *user)
{
  unsigned seed = (unsigned)(size_t)user;
  CURL *own = curl_easy_init();
  curl_easy_setopt(own, CURLOPT_URL, contested_url);
  curl_easy_setopt(own, CURLOPT_WRITEFUNCTION, discard);
  while(!stop) {
    int running;
    long ms;
    switch(rand_r(&seed) % 6) {
    case 0:
      count(curl_multi_perform(contested_multi, &running), CURLM_BAD_HANDLE);
      break;
    case 1:
      count(curl_multi_poll(contested_multi, NULL, 0, 1, NULL), CURLM_BAD_HANDLE);
      break;
    case 2:
      count(curl_multi_timeout(contested_multi, &ms), CURLM_BAD_HANDLE);
      break;
    case 3:
      count(curl_multi_wakeup(contested_multi), CURLM_BAD_HANDLE);
      break;
    case 4:
      count(curl_multi_setopt(contested_multi, CURLMOPT_MAXCONNECTS, 5L), CURLM_BAD_HANDLE);
      break;
    default:
      if(curl_multi_add_handle(contested_multi, own) == CURLM_OK)
        while(curl_multi_remove_handle(contested_multi, own) != CURLM_OK)
          ;
    }
  }
  curl_easy_cleanup(own);
  return NULL;
}

static void threads(void *(*meddler)(void *))
{
  pthread_t all[4];
  stop = refused = taken = wrong = 0;
  for(size_t i = 0; i < 4; i++)
    pthread_create(&all[i], NULL, meddler, (void *)(i + 1));
  usleep(300000);
  stop = 1;
  for(int i = 0; i < 4; i++)
    pthread_join(all[i], NULL);
  CHECK(taken > 0);
  SAME(wrong, 0);
}

static void *copy_again(void *user)
{
  for(int i = 0; i < 100; i++)
    curl_easy_cleanup(curl_easy_duphandle(user));
  curl_easy_cleanup(user);
  return NULL;
}

/* A copy belongs to whom it was made for: each may go to a thread of its own. */
static void copies(void)
{
  pthread_t all[4];
  CURL *first = curl_easy_init();
  curl_mime *form = curl_mime_init(first);
  curl_mimepart *part = curl_mime_addpart(form);
  curl_mime_name(part, "name");
  curl_mime_data(part, "text", CURL_ZERO_TERMINATED);
  curl_easy_setopt(first, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(first, CURLOPT_WRITEFUNCTION, discard);
  curl_easy_setopt(first, CURLOPT_COOKIEFILE, "/dev/null");
  curl_easy_setopt(first, CURLOPT_HSTS, "/dev/null");
  CHECK(fetches(first));
  curl_easy_setopt(first, CURLOPT_MIMEPOST, form);
  for(size_t i = 0; i < 4; i++)
    pthread_create(&all[i], NULL, copy_again, curl_easy_duphandle(first));
  for(int i = 0; i < 4; i++)
    pthread_join(all[i], NULL);
  curl_easy_cleanup(first);
  curl_mime_free(form);
}

int main(void)
{
  curl_global_init(CURL_GLOBAL_ALL);
  copies();
  kinds();
  contested_url = server("/bytes/10");
  contested = curl_easy_init();
  curl_easy_setopt(contested, CURLOPT_URL, contested_url);
  curl_easy_setopt(contested, CURLOPT_WRITEFUNCTION, discard);
  curl_easy_setopt(contested, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(contested, CURLOPT_CONNECT_ONLY, 0L);
  threads(meddle);
  CHECK(fetches(contested));
  curl_easy_cleanup(contested);
  contested_multi = curl_multi_init();
  threads(meddle_multi);
  CURL *easy = curl_easy_init();
  int running = 1;
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
  SAME(curl_multi_add_handle(contested_multi, easy), CURLM_OK);
  while(running && curl_multi_perform(contested_multi, &running) == CURLM_OK && running)
    curl_multi_poll(contested_multi, NULL, 0, 1000, NULL);
  SAME(running, 0);
  SAME(curl_multi_remove_handle(contested_multi, easy), CURLM_OK);
  SAME(curl_multi_cleanup(contested_multi), CURLM_OK);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return FAILURES;
}
