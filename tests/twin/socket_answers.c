/* The callbacks around a connection, with each thing they may answer, on fresh and on kept connections: which of them are called at all,
 * what becomes of the connection afterwards, and which close function closes it.
 * covers: CURLOPT_PREREQFUNCTION, CURLOPT_OPENSOCKETFUNCTION, CURLOPT_SOCKOPTFUNCTION, CURLOPT_CLOSESOCKETFUNCTION, CURLOPT_CLOSESOCKETDATA, CURLOPT_FRESH_CONNECT, CURLOPT_FORBID_REUSE */
#include "peer.h"
#include <fcntl.h>
#include <netdb.h>

static char log_[2000];
static int open_answer, option_answer, prereq_answer, close_answer, opens;
static struct sockaddr_in elsewhere;

static void note(const char *text) { snprintf(log_ + strlen(log_), sizeof log_ - strlen(log_), " %s", text); }

static curl_socket_t on_open(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
  note((char *)user);
  note(address->family == AF_INET6 ? "open6" : "open");
  opens++;
  switch(open_answer) {
  case 1:
    return CURL_SOCKET_BAD;
  case 2: /* led elsewhere by the application */
    memcpy(&address->addr, &elsewhere, sizeof elsewhere);
    break;
  case 3: /* no socket at all */
    return open("/dev/null", O_RDWR);
  case 4: /* one that blocks is made not to */
    break;
  case 5: { /* a number that is closed */
    int fd = dup(0);
    close(fd);
    return fd;
  }
  case 6: /* the first is refused, the second is good */
    if(opens == 1)
      return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype, address->protocol);
}

static int on_option(void *user, curl_socket_t fd, curlsocktype purpose)
{
  (void)user;
  note(purpose == CURLSOCKTYPE_ACCEPT ? "sockopt-accept" : "sockopt");
  return option_answer;
}

static int on_prereq(void *user, char *ip, char *own, int port, int own_port)
{
  (void)user, (void)port, (void)own_port;
  note("prereq");
  note(strcmp(ip, own) ? "other" : "same");
  return prereq_answer;
}

static int on_close(void *user, curl_socket_t fd)
{
  note((char *)user);
  note("close");
  close(fd);
  return close_answer;
}

static int second_close(void *user, curl_socket_t fd)
{
  note("second");
  return on_close(user, fd);
}

static void perform(const char *name, CURL *easy)
{
  CURLcode code = curl_easy_perform(easy);
  printf("%s: code %d, connections %ld,%s\n", name, code, number(easy, CURLINFO_NUM_CONNECTS), log_);
  *log_ = 0;
}

static CURL *watched(const char *path)
{
  CURL *easy = to("SERVER", path);
  WITH(easy, OPENSOCKETFUNCTION, on_open);
  WITH(easy, OPENSOCKETDATA, "o");
  WITH(easy, SOCKOPTFUNCTION, on_option);
  WITH(easy, PREREQFUNCTION, on_prereq);
  WITH(easy, CLOSESOCKETFUNCTION, on_close);
  WITH(easy, CLOSESOCKETDATA, "c");
  WITH(easy, CONNECTTIMEOUT_MS, 5000L);
  open_answer = option_answer = prereq_answer = close_answer = opens = 0;
  return easy;
}

static void ended(CURL *easy)
{
  curl_easy_cleanup(easy);
  printf("freed:%s\n", log_);
  *log_ = 0;
}

static void kept(void)
{
  CURL *easy = watched("/bytes/3");
  perform("fresh", easy);
  option_answer = CURL_SOCKOPT_ERROR; /* nobody asks */
  open_answer = 1;
  perform("kept, refusals unasked", easy);
  WITH(easy, FRESH_CONNECT, 1L);
  open_answer = 0;
  perform("fresh demanded, option fails", easy);
  option_answer = 0;
  perform("fresh demanded", easy);
  WITH(easy, FRESH_CONNECT, 0L);
  prereq_answer = CURL_PREREQFUNC_ABORT;
  perform("kept, request refused", easy);
  prereq_answer = 0;
  perform("after the refusal", easy);
  WITH(easy, FORBID_REUSE, 1L);
  perform("not to be kept", easy);
  perform("so another", easy);
  WITH(easy, FORBID_REUSE, 0L);
  close_answer = 1; /* means nothing */
  WITH(easy, URL, at("SERVER", "/last/bytes/3"));
  perform("the last, close answers 1", easy);
  ended(easy);
}

/* Functions and data set anew: a connection keeps the close function of its making. */
static void replaced(void)
{
  CURL *easy = watched("/bytes/3");
  perform("made with the first", easy);
  WITH(easy, CLOSESOCKETFUNCTION, second_close);
  WITH(easy, CLOSESOCKETDATA, "d");
  perform("kept", easy);
  WITH(easy, URL, at("PROXY", "/last/bytes/3"));
  perform("elsewhere, made with the second", easy);
  ended(easy);
  easy = watched("/bytes/3");
  perform("made with a function", easy);
  WITH(easy, CLOSESOCKETFUNCTION, NULL);
  ended(easy);
  easy = watched("/bytes/3");
  WITH(easy, CLOSESOCKETFUNCTION, NULL);
  perform("made without", easy);
  WITH(easy, CLOSESOCKETFUNCTION, on_close);
  ended(easy);
  /* In a multi handle, which outlives the easy handle. */
  CURLM *multi = curl_multi_init();
  easy = watched("/bytes/3");
  curl_multi_add_handle(multi, easy);
  run_all(multi);
  printf("in a multi: %d,%s\n", code_of(multi, easy), log_);
  *log_ = 0;
  curl_multi_remove_handle(multi, easy);
  printf("removed:%s\n", log_);
  curl_multi_cleanup(multi);
  printf("multi freed:%s\n", log_);
  *log_ = 0;
  ended(easy);
}

static void opened(void)
{
  static const char *const names[] = {"plain", "refused", "led elsewhere", "no socket", "blocking", "closed number"};
  struct peer *peer = peer_saying(OK_CLOSE, NULL);
  elsewhere = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(peer->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  for(int answer = 0; answer < 6; answer++) {
    CURL *easy = watched("/bytes/3");
    char ip[64];
    open_answer = answer;
    got = 0;
    perform(names[answer], easy);
    printf("%s: bytes %zu, at %s, the port %d, own %d\n", names[answer], got, text(easy, CURLINFO_PRIMARY_IP), number(easy, CURLINFO_PRIMARY_PORT) == atoi(port_of("SERVER")), number(easy, CURLINFO_LOCAL_PORT) > 0);
    ended(easy);
  }
  peer_end(peer);
  /* Two addresses: the second serves when the first gets no socket. */
  char pin[128], url[128];
  snprintf(pin, sizeof pin, "two.example:%s:127.0.0.2,127.0.0.1", port_of("SERVER"));
  snprintf(url, sizeof url, "http://two.example:%s/bytes/3", port_of("SERVER"));
  struct curl_slist *pins = curl_slist_append(NULL, pin);
  CURL *easy = watched("/bytes/3");
  WITH(easy, URL, url);
  WITH(easy, RESOLVE, pins);
  open_answer = 6;
  perform("second address", easy);
  ended(easy);
  curl_slist_free_all(pins);
}

static void options(void)
{
  static const int answers[] = {CURL_SOCKOPT_OK, CURL_SOCKOPT_ERROR, CURL_SOCKOPT_ALREADY_CONNECTED, 3, -1};
  for(size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    CURL *easy = watched("/bytes/3");
    char name[32];
    if(answers[i] == CURL_SOCKOPT_ALREADY_CONNECTED) {
      curl_easy_cleanup(easy);
      continue; /* tests/twin/socket_callbacks.c */
    }
    snprintf(name, sizeof name, "sockopt %d", answers[i]);
    option_answer = answers[i];
    perform(name, easy);
    option_answer = 0;
    perform("then", easy);
    ended(easy);
  }
}

/* Each request of a transfer is asked for; a refusal ends it. */
static int refuse_at, asked;

static int counting(void *user, char *ip, char *own, int port, int own_port)
{
  (void)user, (void)ip, (void)own, (void)port, (void)own_port;
  return ++asked == refuse_at ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static void requests(void)
{
  for(refuse_at = 0; refuse_at < 4; refuse_at++) {
    CURL *easy = to("SERVER", "/redirect/2");
    char error[CURL_ERROR_SIZE] = "", name[32];
    asked = 0;
    WITH(easy, FOLLOWLOCATION, 1L);
    WITH(easy, PREREQFUNCTION, counting);
    WITH(easy, ERRORBUFFER, error);
    snprintf(name, sizeof name, "refused at %d", refuse_at);
    go(name, easy);
    printf("%s: asked %d, redirects %ld, says <%s>\n", name, asked, number(easy, CURLINFO_REDIRECT_COUNT), error);
    asked = 10;
    WITH(easy, URL, at("SERVER", "/bytes/3"));
    go("afterwards", easy);
    printf("afterwards: connections %ld\n", number(easy, CURLINFO_NUM_CONNECTS));
    curl_easy_cleanup(easy);
  }
}

/* FTP has two kinds of sockets. */
static void ftp(void)
{
  CURL *easy = watched("/");
  WITH(easy, URL, at("FTP", "/dir/file"));
  for(int again = 0; again < 2; again++) {
    CURLcode code = curl_easy_perform(easy);
    printf("ftp: code %d,%s\n", code, log_);
    *log_ = 0;
  }
  ended(easy);
}

int main(void)
{
  kept();
  replaced();
  opened();
  options();
  requests();
  ftp();
  return 0;
}
