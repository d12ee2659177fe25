/* What a multi handle counts and tells of its transfers at each stage: curl_multi_get_offt, the notify API, messages, the list of handles; with
 * failing, removed, waiting and re-added transfers. And a socket callback that fails.
 * covers: curl_multi_get_offt, curl_multi_notify_enable, curl_multi_notify_disable, CURLMOPT_NOTIFYFUNCTION, CURLMOPT_NOTIFYDATA, curl_multi_info_read, curl_multi_get_handles,
 * covers: CURLMOPT_MAX_TOTAL_CONNECTIONS, CURLMOPT_SOCKETFUNCTION, curl_multi_socket_action */
#include "check.h"

static char notified[256];
static CURL *known[8];
static int read_inside;

static void on_notify(CURLM *multi, unsigned int kind, CURL *easy, void *user)
{
  size_t length = strlen(notified);
  int which = 0, left;
  CHECK(user == notified && multi);
  while(which < 8 && known[which] != easy)
    which++;
  if(kind == CURLMNOTIFY_EASY_DONE)
    snprintf(notified + length, sizeof notified - length, "done%d ", which);
  else if(kind == CURLMNOTIFY_INFO_READ)
    snprintf(notified + length, sizeof notified - length, "read ");
  else
    snprintf(notified + length, sizeof notified - length, "kind%u ", kind);
  if(kind == CURLMNOTIFY_INFO_READ && read_inside)
    while(curl_multi_info_read(multi, &left))
      read_inside++;
}

static long long count(CURLM *multi, CURLMinfo_offt info)
{
  curl_off_t value = -77;
  SAME(curl_multi_get_offt(multi, info, &value), CURLM_OK);
  return value;
}

/* current, running, pending, done, added */
static void counts(int line, CURLM *multi, long long current, long long running, long long pending, long long done, long long added)
{
  long long got[] = {count(multi, CURLMINFO_XFERS_CURRENT), count(multi, CURLMINFO_XFERS_RUNNING), count(multi, CURLMINFO_XFERS_PENDING), count(multi, CURLMINFO_XFERS_DONE), count(multi, CURLMINFO_XFERS_ADDED)};
  long long wanted[] = {current, running, pending, done, added};
  if(memcmp(got, wanted, sizeof got)) {
    failures++;
    printf("line %d: current %lld running %lld pending %lld done %lld added %lld\n", line, got[0], got[1], got[2], got[3], got[4]);
  }
}

#define COUNTS(...) counts(__LINE__, multi, __VA_ARGS__)

static size_t discard(char *data, size_t size, size_t number, void *user)
{
  (void)data, (void)user;
  return size * number;
}

static CURL *to(const char *path)
{
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server(path));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 20L);
  return easy;
}

static void run(CURLM *multi)
{
  int running = 1;
  while(curl_multi_perform(multi, &running) == CURLM_OK && running)
    curl_multi_poll(multi, NULL, 0, 1000, NULL);
  SAME(running, 0);
}

static int handles(CURLM *multi)
{
  CURL **list = curl_multi_get_handles(multi);
  int number = 0;
  while(list && list[number])
    number++;
  curl_free(list);
  return number;
}

static void stages(void)
{
  CURLM *multi = curl_multi_init();
  int left = -1, running;
  COUNTS(0, 0, 0, 0, 0);
  SAME(handles(multi), 0);
  for(int i = 0; i < 3; i++) {
    known[i] = to(i == 1 ? "/status/404" : "/bytes/10");
    SAME(curl_multi_add_handle(multi, known[i]), CURLM_OK);
  }
  curl_easy_setopt(known[1], CURLOPT_FAILONERROR, 1L);
  SAME(count(multi, CURLMINFO_XFERS_CURRENT), 3);
  SAME(count(multi, CURLMINFO_XFERS_ADDED), 3);
  SAME(count(multi, CURLMINFO_XFERS_DONE), 0);
  SAME(handles(multi), 3);
  run(multi);
  COUNTS(3, 0, 0, 3, 3);
  /* Reading a message changes none of it; removing does. */
  CHECK(curl_multi_info_read(multi, &left));
  SAME(left, 2);
  COUNTS(3, 0, 0, 3, 3);
  SAME(curl_multi_remove_handle(multi, known[0]), CURLM_OK);
  SAME(handles(multi), 2);
  SAME(count(multi, CURLMINFO_XFERS_CURRENT), 2);
  SAME(count(multi, CURLMINFO_XFERS_ADDED), 3);
  /* Added again it counts again. */
  SAME(curl_multi_add_handle(multi, known[0]), CURLM_OK);
  SAME(count(multi, CURLMINFO_XFERS_ADDED), 4);
  SAME(curl_multi_remove_handle(multi, known[0]), CURLM_OK);
  SAME(curl_multi_perform(multi, &running), CURLM_OK);
  SAME(running, 0);
  for(int i = 1; i < 3; i++)
    SAME(curl_multi_remove_handle(multi, known[i]), CURLM_OK);
  SAME(count(multi, CURLMINFO_XFERS_CURRENT), 0);
  SAME(count(multi, CURLMINFO_XFERS_RUNNING), 0);
  SAME(count(multi, CURLMINFO_XFERS_PENDING), 0);
  CHECK(!curl_multi_info_read(multi, &left));
  SAME(left, 0);
  SAME(curl_multi_cleanup(multi), CURLM_OK);
  /* Waiting for one connection. */
  multi = curl_multi_init();
  SAME(curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1L), CURLM_OK);
  for(int i = 0; i < 3; i++) {
    curl_easy_setopt(known[i], CURLOPT_URL, server("/delay/100/bytes/10"));
    SAME(curl_multi_add_handle(multi, known[i]), CURLM_OK);
  }
  for(int i = 0; i < 500 && count(multi, CURLMINFO_XFERS_PENDING) < 2; i++) {
    curl_multi_perform(multi, &running);
    curl_multi_poll(multi, NULL, 0, 1, NULL);
  }
  SAME(count(multi, CURLMINFO_XFERS_CURRENT), 3);
  SAME(count(multi, CURLMINFO_XFERS_PENDING), 2);
  SAME(count(multi, CURLMINFO_XFERS_RUNNING), 1);
  /* One that waits is taken out. */
  SAME(curl_multi_remove_handle(multi, known[2]), CURLM_OK);
  SAME(count(multi, CURLMINFO_XFERS_CURRENT), 2);
  SAME(count(multi, CURLMINFO_XFERS_PENDING), 1);
  run(multi);
  SAME(count(multi, CURLMINFO_XFERS_PENDING), 0);
  SAME(count(multi, CURLMINFO_XFERS_RUNNING), 0);
  /* What is no count. */
  curl_off_t value = 55;
  CHECK(curl_multi_get_offt(multi, CURLMINFO_NONE, &value) != CURLM_OK);
  CHECK(curl_multi_get_offt(multi, (CURLMinfo_offt)99, &value) != CURLM_OK);
  CHECK(curl_multi_get_offt(multi, (CURLMinfo_offt)-1, &value) != CURLM_OK);
  SAME(curl_multi_get_offt(multi, CURLMINFO_XFERS_ADDED, NULL), CURLM_BAD_FUNCTION_ARGUMENT);
  SAME(curl_multi_cleanup(multi), CURLM_OK);
  for(int i = 0; i < 3; i++)
    curl_easy_cleanup(known[i]);
}

static void notifications(void)
{
  CURLM *multi = curl_multi_init();
  int left;
  known[0] = to("/bytes/10");
  SAME(curl_multi_setopt(multi, CURLMOPT_NOTIFYFUNCTION, on_notify), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_NOTIFYDATA, notified), CURLM_OK);
  /* Nothing was enabled. */
  curl_multi_add_handle(multi, known[0]);
  run(multi);
  SAME_TEXT(notified, "");
  curl_multi_remove_handle(multi, known[0]);
  /* One kind after the other. */
  SAME(curl_multi_notify_enable(multi, CURLMNOTIFY_EASY_DONE), CURLM_OK);
  SAME(curl_multi_notify_enable(multi, CURLMNOTIFY_EASY_DONE), CURLM_OK);
  curl_multi_add_handle(multi, known[0]);
  run(multi);
  SAME_TEXT(notified, "done0 ");
  curl_multi_remove_handle(multi, known[0]);
  *notified = 0;
  SAME(curl_multi_notify_disable(multi, CURLMNOTIFY_EASY_DONE), CURLM_OK);
  SAME(curl_multi_notify_disable(multi, CURLMNOTIFY_EASY_DONE), CURLM_OK);
  SAME(curl_multi_notify_enable(multi, CURLMNOTIFY_INFO_READ), CURLM_OK);
  curl_multi_add_handle(multi, known[0]);
  run(multi);
  SAME_TEXT(notified, "read ");
  /* Read inside: there is nothing outside. */
  curl_multi_remove_handle(multi, known[0]);
  *notified = 0;
  read_inside = 1;
  curl_multi_add_handle(multi, known[0]);
  run(multi);
  SAME_TEXT(notified, "read ");
  SAME(read_inside, 2);
  CHECK(!curl_multi_info_read(multi, &left));
  read_inside = 0;
  curl_multi_remove_handle(multi, known[0]);
  /* Unknown kinds, and no function. */
  SAME(curl_multi_notify_enable(multi, 2), CURLM_UNKNOWN_OPTION);
  SAME(curl_multi_notify_disable(multi, 77), CURLM_UNKNOWN_OPTION);
  SAME(curl_multi_setopt(multi, CURLMOPT_NOTIFYFUNCTION, NULL), CURLM_OK);
  *notified = 0;
  curl_multi_add_handle(multi, known[0]);
  run(multi);
  SAME_TEXT(notified, "");
  curl_easy_cleanup(known[0]);
  SAME(curl_multi_cleanup(multi), CURLM_OK);
}

static int socket_answer;

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *assigned)
{
  (void)easy, (void)fd, (void)what, (void)user, (void)assigned;
  return socket_answer;
}

/* All transfers fail, which is reported at once and by their messages; then the handle is as good as new. */
static void failing(void)
{
  CURLM *multi = curl_multi_init();
  int running = -1, left, seen = 0;
  CURLMcode code = CURLM_OK;
  for(int i = 0; i < 3; i++)
    known[i] = to("/delay/300/bytes/3");
  SAME(curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket), CURLM_OK);
  for(int i = 0; i < 3; i++)
    SAME(curl_multi_add_handle(multi, known[i]), CURLM_OK);
  socket_answer = -1;
  for(int i = 0; i < 100 && code == CURLM_OK; i++)
    code = curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
  SAME(code, CURLM_ABORTED_BY_CALLBACK);
  socket_answer = 0;
  SAME(curl_multi_perform(multi, &running), CURLM_OK);
  SAME(running, 0);
  for(CURLMsg *message; (message = curl_multi_info_read(multi, &left)); seen++)
    SAME(message->data.result, CURLE_ABORTED_BY_CALLBACK);
  SAME(seen, 3);
  for(int i = 0; i < 3; i++)
    SAME(curl_multi_remove_handle(multi, known[i]), CURLM_OK);
  curl_easy_setopt(known[0], CURLOPT_URL, server("/bytes/3"));
  SAME(curl_multi_add_handle(multi, known[0]), CURLM_OK);
  run(multi);
  CURLMsg *message = curl_multi_info_read(multi, &left);
  CHECK(message && message->data.result == CURLE_OK);
  SAME(curl_multi_cleanup(multi), CURLM_OK);
  for(int i = 0; i < 3; i++)
    curl_easy_cleanup(known[i]);
}

int main(void)
{
  curl_global_init(CURL_GLOBAL_ALL);
  stages();
  notifications();
  failing();
  curl_global_cleanup();
  return FAILURES;
}
