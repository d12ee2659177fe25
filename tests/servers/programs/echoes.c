/* Says messages of many sizes to an echo, by hand and in fragments, and compares what comes back; then closes.
 * usage: echoes URL */
#include <curl/curl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 5000000, ROOM = 70000 };

static CURL *easy;
static unsigned char sent[LARGEST], got[LARGEST + ROOM];

static int fail(const char *what, long at)
{
  printf("failed=%s at=%ld\n", what, at);
  exit(1);
}

static void wait_for(short what)
{
  curl_socket_t fd = CURL_SOCKET_BAD;
  struct pollfd waits = {.events = what};
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
  waits.fd = fd;
  if(poll(&waits, 1, 30000) <= 0)
    fail("wait", what);
}

/* All that has come of a message, so that there is something to wait for; 1 when it is whole. */
static int receive(size_t *have, int *flags)
{
  struct curl_ws_frame *frame;
  size_t n;
  for(;;) {
    CURLcode code = curl_ws_recv(easy, got + *have, ROOM, &n, &frame);
    if(code == CURLE_AGAIN)
      return 0;
    if(code)
      fail(curl_easy_strerror(code), (long)*have);
    *flags = frame->flags;
    *have += n;
    if(!frame->bytesleft && !(frame->flags & CURLWS_CONT))
      return 1;
  }
}

/* An echo may stop reading while nobody reads what it says: both go on at once. */
static void say(size_t length, unsigned flags, size_t *have, int *seen, int *whole)
{
  size_t done = 0, n;
  do {
    CURLcode code = curl_ws_send(easy, sent + done, length - done, &n, 0, flags);
    done += n;
    if(code == CURLE_AGAIN) {
      if(!*whole)
        *whole = receive(have, seen);
      wait_for(POLLIN | POLLOUT);
    }
    else if(code)
      fail(curl_easy_strerror(code), (long)length);
    else if(done >= length)
      return;
  } while(1);
}

static void echo(size_t length, unsigned flags, size_t fragment)
{
  size_t have = 0, at = 0;
  int seen = 0, whole = 0;
  for(size_t i = 0; i < length; i++)
    sent[i] = flags == CURLWS_TEXT ? 'a' + i % 26 : (unsigned char)(i * 7 + i / 251);
  if(!fragment)
    say(length, flags, &have, &seen, &whole);
  else {
    static unsigned char all[LARGEST];
    memcpy(all, sent, length);
    while(at < length) {
      size_t piece = length - at < fragment ? length - at : fragment;
      memcpy(sent, all + at, piece);
      at += piece;
      say(piece, flags | (at < length ? CURLWS_CONT : 0), &have, &seen, &whole);
    }
    memcpy(sent, all, length);
  }
  while(!whole && !(whole = receive(&have, &seen)))
    wait_for(POLLIN);
  if(have != length || memcmp(sent, got, length) || !(seen & (int)flags))
    fail("echo", (long)length);
  printf("echoed=%zu\n", length);
}

int main(int count, char **words)
{
  static const size_t sizes[] = {0, 1, 125, 126, 127, 65535, 65536, 200000, LARGEST};
  const unsigned char end[] = {3, 232, 'b', 'y', 'e'};
  struct curl_ws_frame *frame;
  size_t n, have = 0;
  int flags = 0;
  CURLcode code;
  if(count < 2)
    return 2;
  easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, words[1]);
  curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 2L);
  if((code = curl_easy_perform(easy)))
    fail(curl_easy_strerror(code), 0);
  for(size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    echo(sizes[i], CURLWS_BINARY, 0);
    echo(sizes[i], CURLWS_TEXT, 0);
    if(sizes[i] > 1)
      echo(sizes[i], CURLWS_BINARY, sizes[i] / 3 + 1);
  }
  if((code = curl_ws_send(easy, "are you?", 8, &n, 0, CURLWS_PING)))
    fail(curl_easy_strerror(code), 1);
  while(!receive(&have, &flags))
    wait_for(POLLIN);
  if(flags != CURLWS_PONG || have != 8 || memcmp(got, "are you?", 8))
    fail("pong", flags);
  if((code = curl_ws_send(easy, end, sizeof end, &n, 0, CURLWS_CLOSE)))
    fail(curl_easy_strerror(code), 2);
  for(have = 0; !receive(&have, &flags);)
    wait_for(POLLIN);
  if(flags != CURLWS_CLOSE || got[0] != 3 || got[1] != 232)
    fail("close", flags);
  wait_for(POLLIN);
  printf("end=%d\n", curl_ws_recv(easy, got, 1, &n, &frame));
  curl_easy_cleanup(easy);
  return 0;
}
