/* WebSocket against an echo that judges every frame it gets: random fragments with control frames between them by hand
 * (CURLOPT_CONNECT_ONLY 2) and by callbacks, with frames begun in the read callback, pauses, and pings of the server's own.
 * covers: curl_ws_recv, curl_ws_send, curl_ws_meta, curl_ws_start_frame, CURLOPT_WS_OPTIONS, CURLOPT_CONNECT_ONLY */
#include "check.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LARGEST = 200000 };
#ifdef _WIN32
enum { FRAMES = 1000 }; /* a frame takes Wine ten milliseconds */
#else
enum { FRAMES = 10000 };
#endif

/* What the echo has seen, and what was wrong with it. */
struct echo {
  int listener, port, fd;
  long frames, pings, pongs, repeated_masks;
  const char *fault;
  unsigned seed;
  pthread_t thread;
};

/* xorshift: the same numbers in every run. */
static unsigned roll(unsigned *seed, unsigned sides)
{
  *seed ^= *seed << 13;
  *seed ^= *seed >> 17;
  *seed ^= *seed << 5;
  return *seed % sides;
}

static int take(struct echo *echo, void *into, size_t length)
{
  return !length || recv(echo->fd, into, length, MSG_WAITALL) == (ssize_t)length;
}

static void give(struct echo *echo, unsigned char first, const unsigned char *payload, size_t length)
{
  unsigned char head[10] = {first};
  size_t size = 2;
  head[1] = length < 126 ? (unsigned char)length : length < 65536 ? 126 : 127;
  if(length >= 126) {
    size = length < 65536 ? 4 : 10;
    for(size_t i = 2, shift = (size - 2) * 8; i < size; i++)
      head[i] = (unsigned char)(length >> (shift -= 8));
  }
  (void)!send(echo->fd, head, size, MSG_NOSIGNAL | (length ? MSG_MORE : 0));
  (void)!send(echo->fd, payload, length, MSG_NOSIGNAL);
}

static const char *judge(unsigned char first, int masked, size_t length, int *in_message)
{
  int opcode = first & 15, last = first >> 7;
  if(first & 0x70)
    return "reserved bits";
  if(!masked)
    return "no mask";
  if(opcode >= 8)
    return opcode > 10 ? "unknown opcode" : !last ? "a control frame in fragments" : length > 125 ? "a long control frame" : NULL;
  if(opcode > 2)
    return "unknown opcode";
  if(*in_message != (opcode == 0))
    return *in_message ? "a message within a message" : "a continuation of nothing";
  *in_message = !last;
  return NULL;
}

/* Echoes frames until one closes; a ping is answered, and now and then one is sent. */
static void echo_frames(struct echo *echo)
{
  unsigned char head[10], mask[4], before[4] = {0}, *payload = malloc(LARGEST);
  int in_message = 0, done = 0;
  while(!done && take(echo, head, 2)) {
    size_t length = head[1] & 127, more = length == 126 ? 2 : length == 127 ? 8 : 0;
    if(more && take(echo, head + 2, more)) {
      length = 0;
      for(size_t i = 2; i < 2 + more; i++)
        length = length << 8 | head[i];
    }
    echo->fault = length > LARGEST ? "a length out of bounds" : judge(head[0], head[1] >> 7, length, &in_message);
    if(echo->fault || !take(echo, mask, 4) || !take(echo, payload, length))
      break;
    echo->repeated_masks += !memcmp(mask, before, 4);
    memcpy(before, mask, 4);
    for(size_t i = 0; i < length; i++)
      payload[i] ^= mask[i % 4];
    echo->frames++;
    done = head[0] == 0x88;
    if(head[0] == 0x8a && length == 9 && !memcmp(payload, "are you? ", 9)) {
      echo->pongs++;
      continue;
    }
    give(echo, head[0] == 0x89 ? 0x8a : head[0], payload, length);
    if(!done && roll(&echo->seed, 8) == 0) {
      give(echo, 0x89, (const unsigned char *)"are you? ", 9);
      echo->pings++;
    }
  }
  free(payload);
}

static void *serve(void *user)
{
  static const char reply[] = "HTTP/1.1 101 Welcome\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
  struct echo *echo = user;
  char end[4] = "";
  echo->fd = accept(echo->listener, NULL, NULL);
  setsockopt(echo->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  while(memcmp(end, "\r\n\r\n", 4)) {
    memmove(end, end + 1, 3);
    if(!take(echo, end + 3, 1))
      return NULL;
  }
  (void)!send(echo->fd, reply, sizeof reply - 1, MSG_NOSIGNAL);
  echo_frames(echo);
  shutdown(echo->fd, SHUT_WR);
  while(take(echo, end, 1))
    ;
  close(echo->fd);
  return NULL;
}

static void start(struct echo *echo, char *url)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  memset(echo, 0, sizeof *echo);
  echo->seed = 6455;
  echo->listener = socket(AF_INET, SOCK_STREAM, 0);
  bind(echo->listener, (struct sockaddr *)&address, length);
  listen(echo->listener, 5);
  getsockname(echo->listener, (struct sockaddr *)&address, &length);
  sprintf(url, "ws://127.0.0.1:%d/", ntohs(address.sin_port));
  pthread_create(&echo->thread, NULL, serve, echo);
}

static void stop(struct echo *echo)
{
  pthread_join(echo->thread, NULL);
  close(echo->listener);
  if(echo->fault)
    printf("the echo says: %s\n", echo->fault);
  CHECK(!echo->fault);
  CHECK(echo->repeated_masks < 3);
}

static void wait_for(CURL *easy, short what)
{
  curl_socket_t fd = CURL_SOCKET_BAD;
  struct pollfd waits = {.events = what};
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
  waits.fd = fd;
  CHECK(poll(&waits, 1, 20000) > 0);
}

/* Sends a frame, whole or in parts, until all has left. */
static void send_frame(CURL *easy, const unsigned char *payload, size_t length, unsigned flags, size_t part)
{
  size_t sent, done = 0;
  CURLcode code;
  do {
    size_t piece = part && length - done > part ? part : length - done;
    code = curl_ws_send(easy, payload + done, piece, &sent, part && !done ? (curl_off_t)length : 0,
                        flags | (part ? CURLWS_OFFSET : 0));
    done += sent;
    if(code == CURLE_AGAIN)
      wait_for(easy, POLLOUT);
  } while(code == CURLE_AGAIN || (code == CURLE_OK && done < length));
  SAME(code, CURLE_OK);
}

/* Receives a frame by buffers of this size, and compares. */
static void receive_frame(CURL *easy, const unsigned char *wanted, size_t length, int flags, size_t room)
{
  static unsigned char buffer[LARGEST];
  const struct curl_ws_frame *frame = NULL;
  size_t got, done = 0;
  CURLcode code;
  do {
    code = curl_ws_recv(easy, buffer, room, &got, &frame);
    if(code == CURLE_AGAIN) {
      CHECK(!frame && !got);
      wait_for(easy, POLLIN);
      continue;
    }
    if(code)
      break;
    SAME(frame->flags, flags);
    SAME(frame->offset, done);
    SAME(frame->len, got);
    CHECK(got <= length - done && !memcmp(buffer, wanted + done, got));
    done += got;
    SAME(frame->bytesleft, length - done);
  } while(!failures && (code == CURLE_AGAIN || frame->bytesleft));
  SAME(code, CURLE_OK);
  SAME(done, length);
}

static void by_hand(void)
{
  static const unsigned kinds[] = {CURLWS_TEXT, CURLWS_BINARY, CURLWS_PING, CURLWS_PONG};
  static const unsigned sizes[] = {0, 1, 125, 126, 127, 1000, 65535, 65536, LARGEST};
  static unsigned char payload[LARGEST], end[2] = {3, 232};
  struct echo echo;
  char url[64];
  unsigned seed = 1, message = 0;
  size_t got;
  const struct curl_ws_frame *frame;
  CURL *easy = curl_easy_init();
  start(&echo, url);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 2L);
  SAME(curl_ws_recv(easy, end, 2, &got, &frame), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_ws_send(easy, end, 2, &got, 0, CURLWS_TEXT), CURLE_SEND_ERROR);
  SAME(curl_easy_perform(easy), CURLE_OK);
  CHECK(!curl_ws_meta(easy));
  for(int i = 0; i < FRAMES && !failures; i++) {
    unsigned kind = kinds[roll(&seed, 4)];
    int control = kind == CURLWS_PING || kind == CURLWS_PONG;
    size_t length = sizes[control ? roll(&seed, 3) : roll(&seed, 40) ? roll(&seed, 6) : roll(&seed, 9)];
    unsigned more = !control && roll(&seed, 2) ? CURLWS_CONT : 0;
    for(size_t at = 0; at < length; at += 1 + at / 16)
      payload[at] = (unsigned char)roll(&seed, 256);
    if(!control) {
      kind = message ? message : kind;
      message = more ? kind : 0;
    }
    send_frame(easy, payload, length, kind | more, length && roll(&seed, 2) ? 1 + roll(&seed, (unsigned)length) : 0);
    receive_frame(easy, payload, length, (int)(control ? CURLWS_PONG : kind | more), 1 + roll(&seed, 70000));
  }
  send_frame(easy, end, 2, CURLWS_CLOSE, 0);
  receive_frame(easy, end, 2, CURLWS_CLOSE, 10);
  wait_for(easy, POLLIN);
  SAME(curl_ws_recv(easy, end, 2, &got, &frame), CURLE_GOT_NOTHING);
  curl_easy_cleanup(easy);
  stop(&echo);
  CHECK(echo.frames > FRAMES);
  CHECK(echo.pings > 0 && echo.pings >= echo.pongs && echo.pongs > echo.pings * 9 / 10);
}

/* An upload of frames: what each is, and how far it has come. */
struct script {
  CURL *easy;
  size_t step, given, seen, seen_of;
  int paused;
};

static const struct { unsigned flags; size_t length; } steps[] = {
  {CURLWS_TEXT | CURLWS_CONT, 5}, {CURLWS_PING, 3}, {CURLWS_TEXT, LARGEST}, {CURLWS_BINARY, 0}, {0, 100}, {CURLWS_CLOSE, 2},
};
enum { STEPS = sizeof steps / sizeof steps[0] };

static unsigned char byte_of(size_t step, size_t at)
{
  return (unsigned char)(step * 31 + at * 7);
}

static size_t give_step(char *into, size_t size, size_t count, void *user)
{
  struct script *script = user;
  size_t at = script->step, room = size * count, left = at < STEPS ? steps[at].length - script->given : 0;
  if(at == STEPS)
    return 0;
  if(at == 3 && !script->paused++)
    return CURL_READFUNC_PAUSE;
  if(!script->given && steps[at].flags) {
    SAME(curl_ws_start_frame(script->easy, steps[at].flags, (curl_off_t)steps[at].length), CURLE_OK);
    if(steps[at].length)
      SAME(curl_ws_start_frame(script->easy, CURLWS_TEXT, 1), CURLE_SEND_ERROR);
  }
  if(left > room)
    left = room;
  for(size_t i = 0; i < left; i++)
    into[i] = (char)byte_of(at, script->given + i);
  script->given += left;
  if(script->given == steps[at].length) {
    script->step++;
    script->given = 0;
  }
  return left;
}

static size_t see(char *data, size_t size, size_t count, void *user)
{
  struct script *script = user;
  const struct curl_ws_frame *frame = curl_ws_meta(script->easy);
  size_t at = script->seen;
  int flags = at < STEPS ? (int)steps[at].flags : 0;
  CHECK(frame && at < STEPS);
  if(!frame || at >= STEPS)
    return CURL_WRITEFUNC_ERROR;
  SAME(frame->flags, flags == CURLWS_PING ? CURLWS_PONG : flags ? flags : CURLWS_BINARY);
  SAME(frame->offset, script->seen_of);
  SAME(frame->len, size * count);
  SAME(frame->bytesleft, steps[at].length - script->seen_of - size * count);
  for(size_t i = 0; i < size * count; i++)
    if((unsigned char)data[i] != byte_of(at, script->seen_of + i))
      failures++;
  script->seen_of += size * count;
  if(!frame->bytesleft) {
    script->seen++;
    script->seen_of = 0;
  }
  return size * count;
}

static void by_callbacks(void)
{
  struct echo echo;
  char url[64];
  int running = 1, left;
  CURL *easy = curl_easy_init();
  CURLM *multi = curl_multi_init();
  struct script script = {.easy = easy};
  CURLMsg *message;
  start(&echo, url);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_step);
  curl_easy_setopt(easy, CURLOPT_READDATA, &script);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, see);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &script);
  curl_multi_add_handle(multi, easy);
  while(running && !curl_multi_perform(multi, &running)) {
    if(script.paused == 1 && script.step == 3 && script.seen >= 2) {
      script.paused++;
      SAME(curl_easy_pause(easy, CURLPAUSE_CONT), CURLE_OK);
    }
    curl_multi_poll(multi, NULL, 0, script.paused == 1 ? 10 : 1000, NULL);
  }
  message = curl_multi_info_read(multi, &left);
  CHECK(message);
  if(message)
    SAME(message->data.result, CURLE_OK);
  SAME(script.seen, STEPS);
  CHECK(!curl_ws_meta(easy));
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  stop(&echo);
}

int main(void)
{
  by_hand();
  by_callbacks();
  return FAILURES;
}
