/* Each callback's special answers, and the code that the transfer ends with.
 * covers: CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION, CURLOPT_READFUNCTION, CURLOPT_SEEKFUNCTION, CURLOPT_SOCKOPTFUNCTION,
 * covers: CURLOPT_OPENSOCKETFUNCTION, CURLOPT_PREREQFUNCTION, CURLOPT_RESOLVER_START_FUNCTION, CURLOPT_TRAILERFUNCTION,
 * covers: CURLOPT_DEBUGFUNCTION, CURLOPT_IOCTLFUNCTION, curl_easy_pause, CURLOPT_ERRORBUFFER */
#define CURL_DISABLE_DEPRECATION
#include "check.h"
#include <sys/socket.h>
#include <unistd.h>

static struct text body;
static size_t answer, pauses;
static char error[CURL_ERROR_SIZE];

static CURL *handle(const char *path)
{
  CURL *easy = curl_easy_init();
  body.length = 0;
  curl_easy_setopt(easy, CURLOPT_URL, server(path));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 20L);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error);
  return easy;
}

static size_t answering(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)size, (void)count, (void)user;
  return answer;
}

static void writing(void)
{
  static const size_t answers[] = {0, 3, CURL_WRITEFUNC_ERROR, 100000};
  for(size_t i = 0; i < 4; i++) {
    CURL *easy = handle("/bytes/10");
    answer = answers[i];
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, answering);
    SAME(curl_easy_perform(easy), CURLE_WRITE_ERROR);
    CHECK(*error);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, answering);
    SAME(curl_easy_perform(easy), CURLE_WRITE_ERROR);
    SAME(body.length, 0);
    curl_easy_cleanup(easy);
  }
}

static CURL *paused;

static size_t pause_once(char *data, size_t size, size_t count, void *user)
{
  if(!pauses++)
    return CURL_WRITEFUNC_PAUSE;
  return collect(data, size, count, user);
}

static int go_on(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
  (void)user, (void)a, (void)b, (void)c, (void)d;
  if(pauses == 1)
    SAME(curl_easy_pause(paused, CURLPAUSE_CONT), CURLE_OK);
  return 0;
}

/* Paused in the write and in the header callback; the progress callback lets it go on, with the same bytes. */
static void pausing(void)
{
  for(int of_headers = 0; of_headers < 2; of_headers++) {
    struct text headers = {0};
    paused = handle("/bytes/20000");
    pauses = 0;
    curl_easy_setopt(paused, of_headers ? CURLOPT_HEADERFUNCTION : CURLOPT_WRITEFUNCTION, pause_once);
    curl_easy_setopt(paused, CURLOPT_HEADERDATA, &headers);
    curl_easy_setopt(paused, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(paused, CURLOPT_XFERINFOFUNCTION, go_on);
    if(!of_headers)
      curl_easy_setopt(paused, CURLOPT_HEADERFUNCTION, collect);
    SAME(curl_easy_perform(paused), CURLE_OK);
    SAME(body.length, 20000);
    CHECK(headers.at && !strncmp(headers.at, "HTTP/1.1 200 OK\r\n", 17));
    CHECK(pauses > 1);
    curl_easy_cleanup(paused);
    free(headers.at);
  }
}

static size_t reading(char *to, size_t size, size_t count, void *user)
{
  (void)to, (void)user;
  return answer == 1 ? size * count + 1 : answer;
}

static int seeking(void *user, curl_off_t offset, int origin)
{
  CHECK(offset == 0 && origin == SEEK_SET);
  return *(int *)user;
}

static void uploads(void)
{
  CURL *easy = handle("/sum");
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, reading);
  answer = CURL_READFUNC_ABORT;
  SAME(curl_easy_perform(easy), CURLE_ABORTED_BY_CALLBACK);
  answer = 1; /* more than there was room for */
  SAME(curl_easy_perform(easy), CURLE_READ_ERROR);
  answer = 0;
  curl_easy_setopt(easy, CURLOPT_INFILESIZE, 10L); /* fewer than promised */
  CHECK(curl_easy_perform(easy) != CURLE_OK);
  curl_easy_cleanup(easy);

  /* A redirect asks for the body again. */
  int seek_answer = CURL_SEEKFUNC_FAIL;
  easy = handle("/redirect/1/307");
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 1L);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, answering);
  answer = 1;
  SAME(curl_easy_perform(easy), CURLE_SEND_FAIL_REWIND); /* nobody can rewind */
  curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seeking);
  curl_easy_setopt(easy, CURLOPT_SEEKDATA, &seek_answer);
  SAME(curl_easy_perform(easy), CURLE_SEND_FAIL_REWIND);
  seek_answer = CURL_SEEKFUNC_CANTSEEK;
  SAME(curl_easy_perform(easy), CURLE_SEND_FAIL_REWIND);
  seek_answer = CURL_SEEKFUNC_OK;
  SAME(curl_easy_perform(easy), CURLE_OK);
  curl_easy_cleanup(easy);
}

static int refused_sockets;

static int configure(void *user, curl_socket_t fd, curlsocktype purpose)
{
  CHECK(fd >= 0 && purpose == CURLSOCKTYPE_IPCXN);
  return *(int *)user;
}

static curl_socket_t no_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
  (void)user, (void)purpose, (void)address;
  refused_sockets++;
  return CURL_SOCKET_BAD;
}

static curl_socket_t connected(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
  int fd = socket(address->family, address->socktype, address->protocol);
  (void)user, (void)purpose;
  SAME(connect(fd, &address->addr, address->addrlen), 0);
  return fd;
}

static int refuse(void *user, char *remote, char *local, int remote_port, int local_port)
{
  CHECK(remote && local && *remote && remote_port > 0 && local_port > 0);
  return *(int *)user;
}

static int start(void *resolver, void *reserved, void *user)
{
  (void)resolver, (void)reserved;
  return *(int *)user;
}

static void connections(void)
{
  int value = CURL_SOCKOPT_ERROR;
  CURL *easy = handle("/bytes/10");
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, configure);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, &value);
  SAME(curl_easy_perform(easy), CURLE_ABORTED_BY_CALLBACK);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, connected);
  value = CURL_SOCKOPT_ALREADY_CONNECTED;
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(body.length, 10);
  curl_easy_cleanup(easy);

  easy = handle("/bytes/10");
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, no_socket);
  SAME(curl_easy_perform(easy), CURLE_COULDNT_CONNECT);
  SAME(refused_sockets, 1);
  curl_easy_cleanup(easy);

  easy = handle("/bytes/10");
  value = CURL_PREREQFUNC_ABORT;
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, refuse);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, &value);
  SAME(curl_easy_perform(easy), CURLE_ABORTED_BY_CALLBACK);
  value = CURL_PREREQFUNC_OK;
  SAME(curl_easy_perform(easy), CURLE_OK);
  curl_easy_cleanup(easy);

  easy = handle("/bytes/10");
  value = 1;
  curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, start);
  curl_easy_setopt(easy, CURLOPT_RESOLVER_START_DATA, &value);
  SAME(curl_easy_perform(easy), CURLE_ABORTED_BY_CALLBACK);
  value = 0;
  SAME(curl_easy_perform(easy), CURLE_OK);
  curl_easy_cleanup(easy);
}

static int trail(struct curl_slist **list, void *user)
{
  *list = curl_slist_append(*list, "X-End: yes");
  return *(int *)user;
}

static size_t four(char *to, size_t size, size_t count, void *user)
{
  size_t n = *(size_t *)user;
  (void)size, (void)count;
  memset(to, 'x', n);
  *(size_t *)user = 0;
  return n;
}

static void trailers(void)
{
  static const int answers[] = {CURL_TRAILERFUNC_ABORT, CURL_TRAILERFUNC_OK};
  static const CURLcode codes[] = {CURLE_ABORTED_BY_CALLBACK, CURLE_OK};
  for(int i = 0; i < 2; i++) {
    int value = answers[i];
    size_t left = 4;
    CURL *easy = handle("/body");
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, four);
    curl_easy_setopt(easy, CURLOPT_READDATA, &left);
    curl_easy_setopt(easy, CURLOPT_TRAILERFUNCTION, trail);
    curl_easy_setopt(easy, CURLOPT_TRAILERDATA, &value);
    SAME(curl_easy_perform(easy), codes[i]);
    curl_easy_cleanup(easy);
  }
}

static int debug(CURL *easy, curl_infotype kind, char *data, size_t size, void *user)
{
  (void)easy, (void)kind, (void)data, (void)size;
  ++*(int *)user;
  return 7; /* has no meaning */
}

int main(void)
{
  int lines = 0;
  writing();
  pausing();
  uploads();
  connections();
  trailers();
  CURL *easy = handle("/bytes/10");
  curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
  curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, debug);
  curl_easy_setopt(easy, CURLOPT_DEBUGDATA, &lines);
  SAME(curl_easy_perform(easy), CURLE_OK);
  CHECK(lines > 3);
  curl_easy_cleanup(easy);
  free(body.at);
  return FAILURES;
}
