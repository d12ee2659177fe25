/* What curl_easy_reset and curl_easy_duphandle keep, and what options do that are changed while a transfer runs.
 * covers: curl_easy_reset, curl_easy_duphandle, CURLOPT_COOKIELIST, CURLINFO_COOKIELIST, CURLOPT_USERAGENT, CURLOPT_PRIVATE,
 * covers: CURLOPT_SHARE, CURLOPT_MIMEPOST, CURLOPT_COPYPOSTFIELDS, CURLOPT_HTTPHEADER, CURLOPT_MAX_RECV_SPEED_LARGE,
 * covers: CURLOPT_TIMEOUT_MS, CURLOPT_RANGE, CURLOPT_POSTFIELDS */
#include "check.h"
#include <pthread.h>
#include <time.h>

static struct text body;

static void to(CURL *easy, const char *path)
{
  body.length = 0;
  curl_easy_setopt(easy, CURLOPT_URL, server(path));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
}

static int cookies_of(CURL *easy)
{
  struct curl_slist *list = NULL;
  int count = 0;
  SAME(curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &list), CURLE_OK);
  for(struct curl_slist *at = list; at; at = at->next)
    count++;
  curl_slist_free_all(list);
  return count;
}

static void copies(void)
{
  CURL *easy = curl_easy_init(), *copy;
  char *mine = NULL;
  struct curl_slist *fields = curl_slist_append(NULL, "X-Field: value");
  to(easy, "/echo");
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "own/1");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &body);
  curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, "copied body");
  curl_easy_setopt(easy, CURLOPT_COOKIELIST, "Set-Cookie: a=b; domain=a.example");
  copy = curl_easy_duphandle(easy);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "changed/2"); /* the copy does not follow */
  curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, "other");
  curl_easy_cleanup(easy);
  SAME(curl_easy_perform(copy), CURLE_OK);
  CHECK(strstr(body.at, "User-Agent: own/1\r\n") && strstr(body.at, "X-Field: value\r\n") && strstr(body.at, "copied body"));
  SAME(cookies_of(copy), 0); /* a copy inherits none */
  curl_easy_setopt(copy, CURLOPT_COOKIELIST, "Set-Cookie: a=b; domain=a.example");
  SAME(curl_easy_getinfo(copy, CURLINFO_PRIVATE, &mine), CURLE_OK);
  CHECK(mine == (char *)&body);

  curl_easy_reset(copy);
  SAME(curl_easy_perform(copy), CURLE_URL_MALFORMAT);
  SAME(cookies_of(copy), 1); /* cookies stay */
  SAME(curl_easy_getinfo(copy, CURLINFO_PRIVATE, &mine), CURLE_OK);
  CHECK(!mine);
  to(copy, "/echo");
  SAME(curl_easy_perform(copy), CURLE_OK);
  CHECK(!strncmp(body.at, "GET /echo", 9) && !strstr(body.at, "own/1") && !strstr(body.at, "X-Field"));
  curl_easy_cleanup(copy);
  curl_slist_free_all(fields);
}

static void *elsewhere(void *easy)
{
  SAME(curl_easy_perform(easy), CURLE_OK);
  curl_easy_cleanup(easy);
  return NULL;
}

/* A form is copied with its handle, and the copy may work in another thread after the original has gone. */
static void forms(void)
{
  CURL *easy = curl_easy_init(), *copy;
  pthread_t thread;
  curl_mime *mime = curl_mime_init(easy);
  curl_mimepart *part = curl_mime_addpart(mime);
  curl_mime_name(part, "field");
  curl_mime_data(part, "form value", CURL_ZERO_TERMINATED);
  to(easy, "/body");
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, mime);
  copy = curl_easy_duphandle(easy);
  pthread_create(&thread, NULL, elsewhere, copy);
  pthread_join(thread, NULL);
  CHECK(strstr(body.at, "name=\"field\"") && strstr(body.at, "form value"));
  to(easy, "/echo");
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, NULL);
  SAME(curl_easy_perform(easy), CURLE_OK);
  CHECK(!strncmp(body.at, "POST /echo", 10)); /* a form taken back leaves a POST without a body, as in curl */
  curl_mime_free(mime);
  curl_easy_cleanup(easy);
}

static CURL *running;
static int changed;

/* In the middle of the body: what counts for the next transfer, and what counts at once. */
static size_t change(char *data, size_t size, size_t count, void *user)
{
  if(!changed++) {
    SAME(curl_easy_setopt(running, CURLOPT_RANGE, "0-4"), CURLE_OK);
    SAME(curl_easy_setopt(running, CURLOPT_URL, server("/bytes/7")), CURLE_OK);
    SAME(curl_easy_setopt(running, CURLOPT_WRITEFUNCTION, collect), CURLE_OK);
  }
  return collect(data, size, count, user);
}

static void on_the_way(void)
{
  char *url = NULL;
  running = curl_easy_init();
  to(running, "/drip/1000/2/bytes/5000");
  curl_easy_setopt(running, CURLOPT_WRITEFUNCTION, change);
  SAME(curl_easy_perform(running), CURLE_OK);
  SAME(body.length, 5000);
  SAME(changed, 1); /* the new function took over */
  body.length = 0;
  SAME(curl_easy_perform(running), CURLE_OK);
  SAME(body.length, 5);
  curl_easy_getinfo(running, CURLINFO_EFFECTIVE_URL, &url);
  SAME_TEXT(url, server("/bytes/7"));
  curl_easy_setopt(running, CURLOPT_RANGE, NULL); /* takes back */
  body.length = 0;
  SAME(curl_easy_perform(running), CURLE_OK);
  SAME(body.length, 7);
  curl_easy_cleanup(running);
}

static int is_as_new(CURL *easy)
{
  char *mine = "", *url = NULL;
  long code = -1, connects = -1;
  curl_off_t connection = 0;
  struct curl_header *field = NULL;
  SAME(curl_easy_getinfo(easy, CURLINFO_PRIVATE, &mine), CURLE_OK);
  SAME(curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &url), CURLE_OK);
  SAME(curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code), CURLE_OK);
  SAME(curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects), CURLE_OK);
  SAME(curl_easy_getinfo(easy, CURLINFO_CONN_ID, &connection), CURLE_OK);
  CHECK(curl_easy_header(easy, "Content-Length", 0, CURLH_HEADER, -1, &field) != CURLHE_OK);
  CHECK(!curl_easy_nextheader(easy, CURLH_HEADER, -1, NULL));
  return !mine && (!url || !*url) && !code && !connects && connection == -1 && !cookies_of(easy);
}

/* A handle has nothing of the one that was closed before it, whose storage it may have. */
static void successors(void)
{
  for(int times = 0; times < 3; times++) {
    CURL *first = curl_easy_init(), *second;
    struct curl_slist *fields = curl_slist_append(NULL, "X-Field: value");
    char error[CURL_ERROR_SIZE] = "";
    curl_off_t connection = -1;
    long connects = -1;
    to(first, "/echo");
    curl_easy_setopt(first, CURLOPT_USERAGENT, "own/1");
    curl_easy_setopt(first, CURLOPT_USERPWD, "me:secret");
    curl_easy_setopt(first, CURLOPT_HTTPHEADER, fields);
    curl_easy_setopt(first, CURLOPT_PRIVATE, &body);
    curl_easy_setopt(first, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(first, CURLOPT_COPYPOSTFIELDS, "copied body");
    curl_easy_setopt(first, CURLOPT_COOKIE, "given=1");
    curl_easy_setopt(first, CURLOPT_COOKIELIST, "Set-Cookie: a=b; domain=127.0.0.1");
    SAME(curl_easy_perform(first), CURLE_OK);
    CHECK(strstr(body.at, "own/1") && strstr(body.at, "Authorization: ") && strstr(body.at, "given=1"));
    if(times == 1)
      curl_easy_reset(first);
    curl_easy_cleanup(first);
    curl_slist_free_all(fields);

    second = curl_easy_init();
    CHECK(is_as_new(second));
    SAME(curl_easy_perform(second), CURLE_URL_MALFORMAT);
    CHECK(!*error);
    to(second, "/echo");
    SAME(curl_easy_perform(second), CURLE_OK);
    CHECK(!strncmp(body.at, "GET /echo", 9) && !strstr(body.at, "own/1") && !strstr(body.at, "Authorization"));
    CHECK(!strstr(body.at, "X-Field") && !strstr(body.at, "Cookie") && !strstr(body.at, "copied"));
    SAME(curl_easy_getinfo(second, CURLINFO_NUM_CONNECTS, &connects), CURLE_OK);
    SAME(curl_easy_getinfo(second, CURLINFO_CONN_ID, &connection), CURLE_OK);
    SAME(connects, 1); /* the first one's connection was closed with it */
    SAME(connection, 0);
    curl_easy_cleanup(second);
  }
}

int main(void)
{
  successors();
  copies();
  forms();
  on_the_way();
  free(body.at);
  return FAILURES;
}
