/* Server push: SETTINGS allow it only with a callback, which gets what was promised;
 * accepting gives a handle whose transfer reads the reply, denying resets the stream, and an error ends the connection.
 * covers: CURLMOPT_PUSHFUNCTION, CURLMOPT_PUSHDATA, curl_pushheader_bynum, curl_pushheader_byname */
#include "check.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

/* A server for one connection: it answers the first stream, and pushes `pushes` times. */
struct peer {
  int listener, port, pushes, keeps; /* keeps: what is promised is not sent */
  const char *authority; /* of what is promised; its own when NULL */
  pthread_t thread;
  int may_push, resets, reset_code; /* what the client said */
};

static size_t frame(unsigned char *to, int kind, int flags, unsigned stream, const void *payload, size_t length)
{
  unsigned char head[9] = {0, (unsigned char)(length >> 8), (unsigned char)length, (unsigned char)kind,
                           (unsigned char)flags, 0, 0, 0, (unsigned char)stream};
  memcpy(to, head, 9);
  memcpy(to + 9, payload, length);
  return 9 + length;
}

static size_t literal(unsigned char *to, const char *name, const char *value)
{
  size_t n = 0, names = strlen(name), values = strlen(value);
  to[n++] = 0;
  to[n++] = (unsigned char)names;
  memcpy(to + n, name, names);
  n += names;
  to[n++] = (unsigned char)values;
  memcpy(to + n, value, values);
  return n + values;
}

static void answer(struct peer *peer, int fd)
{
  unsigned char out[4096], block[512];
  char own[64], path[32];
  size_t n = frame(out, 4, 0, 0, "", 0);
  snprintf(own, sizeof own, "127.0.0.1:%d", peer->port);
  for(int i = 0; i < peer->pushes; i++) {
    size_t b = 4;
    snprintf(path, sizeof path, "/pushed-%d", i);
    memset(block, 0, 4);
    block[3] = (unsigned char)(2 + 2 * i);
    b += literal(block + b, ":method", "GET");
    b += literal(block + b, ":scheme", "http");
    b += literal(block + b, ":authority", peer->authority ? peer->authority : own);
    b += literal(block + b, ":path", path);
    b += literal(block + b, "x-why", "because");
    n += frame(out + n, 5, 4, 1, block, b);
  }
  for(int i = 0; i <= (peer->keeps ? 0 : peer->pushes); i++) {
    unsigned stream = i ? 2 * (unsigned)i : 1;
    snprintf(path, sizeof path, "body %u", stream);
    n += frame(out + n, 1, 4, stream, "\x88", 1);
    n += frame(out + n, 0, 1, stream, path, strlen(path));
  }
  CHECK(write(fd, out, n) == (ssize_t)n);
}

static int whole(int fd, unsigned char *to, size_t length)
{
  for(size_t n = 0; n < length;) {
    ssize_t got = recv(fd, to + n, length - n, 0);
    if(got <= 0)
      return 0;
    n += (size_t)got;
  }
  return 1;
}

static void *serve(void *user)
{
  struct peer *peer = (struct peer *)user;
  int fd = accept(peer->listener, NULL, NULL);
  unsigned char head[24], payload[1 << 14];
  whole(fd, head, 24); /* the preface */
  while(whole(fd, head, 9)) {
    size_t length = (size_t)head[1] << 8 | head[2];
    if(!whole(fd, payload, length))
      break;
    for(size_t at = 0; head[3] == 4 && at + 6 <= length; at += 6)
      if(payload[at + 1] == 2)
        peer->may_push = payload[at + 5];
    if(head[3] == 3 && head[8] % 2 == 0) {
      peer->resets++;
      peer->reset_code = payload[3];
    }
    if(head[3] == 1)
      answer(peer, fd);
  }
  close(fd);
  return NULL;
}

static CURLM *multi;
static CURL *parent;
static int asked, says, added;
static struct text bodies[4];

static size_t keep(char *data, size_t size, size_t count, void *user)
{
  return collect(data, size, count, user);
}

static int decide(CURL *from, CURL *easy, size_t count, struct curl_pushheaders *headers, void *user)
{
  char path[32];
  snprintf(path, sizeof path, "/pushed-%d", asked);
  CHECK(from == parent && easy && easy != parent && user == (void *)&asked);
  SAME(count, 5);
  SAME_TEXT(curl_pushheader_bynum(headers, 0), ":method:GET");
  SAME_TEXT(curl_pushheader_bynum(headers, 4), "x-why:because");
  CHECK(!curl_pushheader_bynum(headers, 5));
  SAME_TEXT(curl_pushheader_byname(headers, ":path"), path);
  SAME_TEXT(curl_pushheader_byname(headers, "x-why"), "because");
  CHECK(!curl_pushheader_byname(headers, "x-wh") && !curl_pushheader_byname(headers, ":"));
  CHECK(!curl_pushheader_byname(headers, ":path:") && !curl_pushheader_byname(headers, "X-Why"));
  SAME(curl_multi_add_handle(multi, easy), CURLM_RECURSIVE_API_CALL);
  asked++;
  if(says == CURL_PUSH_OK) {
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &bodies[asked]);
    added++;
  }
  return says;
}

/* One transfer and what is pushed with it; its result. */
static CURLcode run(struct peer *peer, curl_push_callback function)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  CURLcode result = CURLE_OK;
  int running, left, done = 0;
  char url[64];
  asked = added = 0;
  memset(bodies, 0, sizeof bodies);
  peer->listener = socket(AF_INET, SOCK_STREAM, 0);
  peer->may_push = -1;
  bind(peer->listener, (struct sockaddr *)&address, size);
  listen(peer->listener, 1);
  getsockname(peer->listener, (struct sockaddr *)&address, &size);
  peer->port = ntohs(address.sin_port);
  pthread_create(&peer->thread, NULL, serve, peer);
  multi = curl_multi_init();
  parent = curl_easy_init();
  snprintf(url, sizeof url, "http://127.0.0.1:%d/", peer->port);
  curl_easy_setopt(parent, CURLOPT_URL, url);
  curl_easy_setopt(parent, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
  curl_easy_setopt(parent, CURLOPT_WRITEFUNCTION, keep);
  curl_easy_setopt(parent, CURLOPT_WRITEDATA, &bodies[0]);
  curl_easy_setopt(parent, CURLOPT_TIMEOUT, 20L);
  SAME(curl_multi_setopt(multi, CURLMOPT_PUSHFUNCTION, function), CURLM_OK);
  SAME(curl_multi_setopt(multi, CURLMOPT_PUSHDATA, &asked), CURLM_OK);
  curl_multi_add_handle(multi, parent);
  do {
    struct CURLMsg *message;
    SAME(curl_multi_perform(multi, &running), CURLM_OK);
    while((message = curl_multi_info_read(multi, &left))) {
      CURL *easy = message->easy_handle;
      CURLcode code = message->data.result;
      char *at = NULL;
      long status = 0, version = 0;
      done++;
      if(easy == parent)
        result = code;
      else {
        SAME(code, CURLE_OK);
        curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &at);
        CHECK(at && strstr(at, "/pushed-"));
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
        SAME(status, 200);
        SAME(version, CURL_HTTP_VERSION_2_0);
      }
      SAME(curl_multi_remove_handle(multi, easy), CURLM_OK);
      curl_easy_cleanup(easy);
    }
    if(running)
      curl_multi_poll(multi, NULL, 0, 1000, NULL);
  } while(running);
  SAME(done, 1 + added);
  SAME(curl_multi_cleanup(multi), CURLM_OK);
  pthread_join(peer->thread, NULL);
  close(peer->listener);
  return result;
}

static void forget_bodies(void)
{
  for(int i = 0; i < 4; i++)
    free(bodies[i].at);
}

int main(void)
{
  struct peer taken = {.pushes = 2}, denied = {.pushes = 2, .keeps = 1}, broken = {.pushes = 1};
  struct peer foreign = {.pushes = 1, .keeps = 1, .authority = "other.example"};
  struct peer silent = {.pushes = 0};
  says = CURL_PUSH_OK;
  SAME(run(&taken, decide), CURLE_OK);
  SAME(asked, 2);
  SAME(taken.may_push, 1);
  SAME_TEXT(bodies[0].at, "body 1");
  SAME_TEXT(bodies[1].at, "body 2");
  SAME_TEXT(bodies[2].at, "body 4");
  forget_bodies();

  says = CURL_PUSH_DENY;
  SAME(run(&denied, decide), CURLE_OK);
  SAME(asked, 2);
  SAME(denied.resets, 2);
  SAME(denied.reset_code, 8); /* CANCEL */
  SAME_TEXT(bodies[0].at, "body 1");
  forget_bodies();

  says = CURL_PUSH_ERROROUT;
  SAME(run(&broken, decide), CURLE_RECV_ERROR);
  SAME(asked, 1);
  forget_bodies();

  /* Another server's pages are not this one's to push. */
  SAME(run(&foreign, decide), CURLE_OK);
  SAME(asked, 0);
  SAME(foreign.resets, 1);
  SAME(foreign.reset_code, 1); /* PROTOCOL_ERROR */
  forget_bodies();

  /* Without a callback the client's SETTINGS forbid it. */
  SAME(run(&silent, NULL), CURLE_OK);
  SAME(silent.may_push, 0);
  SAME_TEXT(bodies[0].at, "body 1");
  forget_bodies();
  return FAILURES;
}
