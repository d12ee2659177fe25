// An exception of C++ that is thrown in a callback passes through the library to whoever called it; so does pthread_exit. The
// transfer in whose middle it was has ended, others go on, and the handles serve again.
// covers: curl_easy_perform, curl_multi_perform, curl_multi_socket_action, curl_easy_setopt, CURLOPT_WRITEFUNCTION,
// covers: CURLOPT_HEADERFUNCTION, CURLOPT_READFUNCTION, CURLOPT_XFERINFOFUNCTION, CURLOPT_DEBUGFUNCTION,
// covers: CURLOPT_OPENSOCKETFUNCTION, CURLOPT_SOCKOPTFUNCTION, CURLOPT_PREREQFUNCTION, curl_mime_data_cb, CURLMOPT_TIMERFUNCTION
#include "check.h"
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <sys/socket.h>

static const char *thrower; // whose turn it is

static void may_throw(const char *who)
{
  if(thrower && !strcmp(thrower, who)) {
    thrower = nullptr;
    throw std::runtime_error(who);
  }
}

static size_t writes(char *, size_t size, size_t count, void *user)
{
  may_throw("write");
  *static_cast<size_t *>(user) += size * count;
  return size * count;
}
static size_t heads(char *, size_t size, size_t count, void *) { return may_throw("header"), size * count; }
static size_t reads(char *at, size_t, size_t, void *user)
{
  may_throw("read");
  size_t *left = static_cast<size_t *>(user), n = *left;
  memset(at, 'x', n);
  *left = 0;
  return n;
}
static int moves(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t) { return may_throw("xferinfo"), 0; }
static int debugs(CURL *, curl_infotype, char *, size_t, void *) { return may_throw("debug"), 0; }
static curl_socket_t opens(void *, curlsocktype, struct curl_sockaddr *to) { return may_throw("open"), socket(to->family, to->socktype, to->protocol); }
static int options(void *, curl_socket_t, curlsocktype) { return may_throw("sockopt"), CURL_SOCKOPT_OK; }
static int before(void *, char *, char *, int, int) { return may_throw("prereq"), CURL_PREREQFUNC_OK; }
static size_t part(char *, size_t, size_t, void *) { return may_throw("part"), 0; }
static int rewinds(void *, curl_off_t, int) { return CURL_SEEKFUNC_OK; }
static int timers(CURLM *, long, void *) { return may_throw("timer"), 0; }
static int sockets(CURL *, curl_socket_t, int, void *, void *) { return 0; }

static const char *const THROWERS[] = {"write", "header", "read", "xferinfo", "debug", "open", "sockopt", "prereq", "part"};

struct transfer {
  CURL *easy = curl_easy_init();
  curl_mime *form = nullptr;
  size_t got = 0, left = 4;
  explicit transfer(bool with_form = false)
  {
    curl_easy_setopt(easy, CURLOPT_URL, server("/echo"));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, writes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &got);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, heads);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, reads);
    curl_easy_setopt(easy, CURLOPT_READDATA, &left);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, moves);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, debugs);
    curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, opens);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, options);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before);
    if(with_form) {
      form = curl_mime_init(easy);
      curl_mimepart *added = curl_mime_addpart(form);
      curl_mime_name(added, "n");
      curl_mime_data_cb(added, -1, part, rewinds, nullptr, nullptr);
      curl_easy_setopt(easy, CURLOPT_MIMEPOST, form);
    }
    else {
      curl_easy_setopt(easy, CURLOPT_POST, 1L);
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 4L);
    }
  }
  ~transfer()
  {
    curl_easy_cleanup(easy);
    curl_mime_free(form);
  }
};

static void easily(const char *who)
{
  transfer one(!strcmp(who, "part"));
  std::string caught;
  thrower = who;
  try {
    curl_easy_perform(one.easy);
    CHECK(!"reached");
  }
  catch(const std::runtime_error &error) {
    caught = error.what();
  }
  SAME_TEXT(caught.c_str(), who);
  one.left = 4;
  one.got = 0;
  SAME(curl_easy_perform(one.easy), CURLE_OK);
  CHECK(one.got >= 4);
}

static void together(const char *who)
{
  transfer one(!strcmp(who, "part")), other;
  CURLM *multi = curl_multi_init();
  curl_multi_add_handle(multi, one.easy);
  curl_multi_add_handle(multi, other.easy);
  std::string caught;
  thrower = who;
  int running = 1, left = 0, ended = 0, broken = 0;
  for(int turn = 0; running && turn < 10000; turn++) {
    try {
      SAME(curl_multi_perform(multi, &running), CURLM_OK);
    }
    catch(const std::runtime_error &error) {
      caught = error.what();
    }
    curl_multi_poll(multi, nullptr, 0, 100, nullptr);
  }
  SAME_TEXT(caught.c_str(), who);
  while(CURLMsg *message = curl_multi_info_read(multi, &left)) {
    ended++;
    broken += message->data.result == CURLE_ABORTED_BY_CALLBACK;
    if(message->data.result != CURLE_ABORTED_BY_CALLBACK)
      SAME(message->data.result, CURLE_OK);
  }
  SAME(ended, 2);
  SAME(broken, 1);
  for(transfer *each : {&one, &other}) {
    SAME(curl_multi_remove_handle(multi, each->easy), CURLM_OK);
    each->left = 4;
    SAME(curl_easy_perform(each->easy), CURLE_OK);
  }
  SAME(curl_multi_cleanup(multi), CURLM_OK);
}

/* From a callback that is no transfer's. */
static void from_a_timer()
{
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timers);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, sockets);
  transfer one;
  bool caught = false;
  thrower = "timer";
  try {
    curl_multi_add_handle(multi, one.easy);
  }
  catch(const std::runtime_error &) {
    caught = true;
  }
  CHECK(caught);
  int running;
  SAME(curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running), CURLM_OK);
  curl_multi_remove_handle(multi, one.easy);
  SAME(curl_multi_cleanup(multi), CURLM_OK);
}

static size_t leaves(char *, size_t, size_t, void *) { pthread_exit(nullptr); return 0; }

static void *in_a_thread(void *easy)
{
  curl_easy_perform(easy);
  CHECK(!"reached");
  return nullptr;
}

static void from_a_thread_that_ends()
{
  transfer one;
  curl_easy_setopt(one.easy, CURLOPT_WRITEFUNCTION, leaves);
  pthread_t thread;
  pthread_create(&thread, nullptr, in_a_thread, one.easy);
  pthread_join(thread, nullptr);
  curl_easy_setopt(one.easy, CURLOPT_WRITEFUNCTION, writes);
  one.left = 4;
  SAME(curl_easy_perform(one.easy), CURLE_OK);
}

int main()
{
  for(const char *who : THROWERS) {
    easily(who);
    together(who);
  }
  from_a_timer();
  from_a_thread_that_ends();
  return FAILURES;
}
