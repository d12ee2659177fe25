/* Many WebSockets in one multi handle by callbacks: each says three messages of growing size, compares what comes back, and closes.
 * usage: echo_streams URL COUNT; CA is the file of the authority. Tells how many went well, over which version of HTTP, and how
 * many connections there were. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 3, MOST = 200 };
static const size_t sizes[MESSAGES] = {5, 20000, 300000};

struct talk {
  CURL *easy;
  int number, message, done;
  size_t got;
};

static char byte_of(const struct talk *talk, int message, size_t at)
{
  return (char)('a' + ((size_t)talk->number + (size_t)message * 7 + at) % 26);
}

/* Says the next message when the one before has come back, as soon as there is somebody to say it to. */
static void say(struct talk *talk)
{
  static char text[300000];
  size_t sent, length;
  if(talk->message != talk->done || talk->message == MESSAGES)
    return;
  length = sizes[talk->message];
  for(size_t i = 0; i < length; i++)
    text[i] = byte_of(talk, talk->message, i);
  if(!curl_ws_send(talk->easy, text, length, &sent, 0, CURLWS_TEXT) && sent == length)
    talk->message++;
}

static size_t take(char *data, size_t size, size_t count, void *user)
{
  struct talk *talk = user;
  const struct curl_ws_frame *frame = curl_ws_meta(talk->easy);
  if(!frame)
    return 0;
  if(frame->flags & CURLWS_CLOSE)
    return size * count;
  if(talk->done == MESSAGES)
    return 0;
  for(size_t i = 0; i < size * count; i++)
    if(data[i] != byte_of(talk, talk->done, talk->got + i))
      return 0;
  talk->got += size * count;
  if(!frame->bytesleft && !(frame->flags & CURLWS_CONT)) {
    if(talk->got != sizes[talk->done])
      return 0;
    talk->got = 0;
    if(++talk->done == MESSAGES) {
      size_t sent;
      if(curl_ws_send(talk->easy, "\3\350", 2, &sent, 0, CURLWS_CLOSE))
        return 0;
    }
  }
  return size * count;
}

int main(int argc, char **argv)
{
  static struct talk talks[MOST];
  int count = argc > 2 ? atoi(argv[2]) : 0, running = 1, left, good = 0;
  long version = 0, connects = 0;
  CURLM *multi = curl_multi_init();
  CURLMsg *message;
  if(count < 1 || count > MOST)
    return 2;
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 100L);
  for(int i = 0; i < count; i++) {
    CURL *easy = curl_easy_init();
    talks[i].easy = easy;
    talks[i].number = i;
    curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
    curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, 60L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &talks[i]);
    curl_multi_add_handle(multi, easy);
  }
  while(running && !curl_multi_perform(multi, &running)) {
    for(int i = 0; i < count; i++)
      say(&talks[i]);
    curl_multi_poll(multi, NULL, 0, 100, NULL);
  }
  while((message = curl_multi_info_read(multi, &left)))
    if(message->data.result)
      printf("code=%d\n", message->data.result);
  for(int i = 0; i < count; i++) {
    long opened = 0;
    curl_easy_getinfo(talks[i].easy, CURLINFO_NUM_CONNECTS, &opened);
    curl_easy_getinfo(talks[i].easy, CURLINFO_HTTP_VERSION, &version);
    connects += opened;
    good += talks[i].done == MESSAGES;
    curl_multi_remove_handle(multi, talks[i].easy);
    curl_easy_cleanup(talks[i].easy);
  }
  curl_multi_cleanup(multi);
  printf("good=%d\nversion=%ld\nconnects=%ld\n", good, version, connects);
  return 0;
}
