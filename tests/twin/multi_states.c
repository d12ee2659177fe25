/* Adding and removing easy handles in every state, and the queue of messages.
 * covers: curl_multi_add_handle, curl_multi_remove_handle, curl_multi_info_read, curl_multi_cleanup, curl_multi_perform */
#include "peer.h"

static int run(CURLM *multi)
{
  int running = 1, rounds = 0;
  while(curl_multi_perform(multi, &running) == CURLM_OK && running && rounds++ < 1000)
    curl_multi_poll(multi, NULL, 0, 1000, NULL);
  return running;
}

static void messages(CURLM *multi, CURL **known, int count)
{
  int left = -1, number = 0;
  CURLMsg *message;
  while((message = curl_multi_info_read(multi, &left)) && number < 20) {
    int which = 0;
    while(which < count && known[which] != message->easy_handle)
      which++;
    printf("message %d: kind %d handle %d code %d left %d\n", number++, message->msg, which, message->data.result, left);
  }
  printf("messages: %d left %d\n", number, left);
}

int main(void)
{
  CURLM *multi = curl_multi_init(), *other = curl_multi_init();
  CURL *easy[4] = {to("SERVER", "/bytes/10"), to("SERVER", "/status/404"), to("SERVER", "/bytes/3"), curl_easy_init()};
  int running = -1;
  printf("perform on nothing: %d %d\n", curl_multi_perform(multi, &running), running);
  messages(multi, easy, 4);
  printf("remove what was never added: %d\n", curl_multi_remove_handle(multi, easy[0]));
  printf("add: %d\n", curl_multi_add_handle(multi, easy[0]));
  printf("add again: %d\n", curl_multi_add_handle(multi, easy[0]));
  printf("add to another: %d\n", curl_multi_add_handle(other, easy[0]));
  printf("remove from another: %d\n", curl_multi_remove_handle(other, easy[0]));
  printf("easy perform of one inside: %d\n", curl_easy_perform(easy[0]));
  printf("perform: %d\n", run(multi));
  printf("add when done, message unread: %d\n", curl_multi_add_handle(multi, easy[0]));
  messages(multi, easy, 4);
  messages(multi, easy, 4);
  printf("add when done: %d\n", curl_multi_add_handle(multi, easy[0]));
  printf("remove when done: %d\n", curl_multi_remove_handle(multi, easy[0]));
  printf("remove twice: %d\n", curl_multi_remove_handle(multi, easy[0]));
  printf("add anew: %d\n", curl_multi_add_handle(multi, easy[0]));
  printf("perform: %d\n", run(multi));
  printf("remove with the message unread: %d\n", curl_multi_remove_handle(multi, easy[0]));
  messages(multi, easy, 4);
  /* Several, one without a URL, one failing. */
  for(int i = 0; i < 3; i++) /* alike, for they come in any order */
    curl_easy_setopt(easy[i], CURLOPT_URL, at("SERVER", "/status/404"));
  curl_easy_setopt(easy[1], CURLOPT_FAILONERROR, 1L);
  for(int i = 0; i < 4; i++)
    printf("add %d: %d\n", i, curl_multi_add_handle(multi, easy[i]));
  printf("perform: %d\n", run(multi));
  int left, seen[4] = {0}, total = 0;
  CURLMsg *message;
  while((message = curl_multi_info_read(multi, &left))) {
    for(int i = 0; i < 4; i++)
      if(message->easy_handle == easy[i])
        seen[i] = 100 + message->data.result;
    total++;
    printf("left counts down: %d\n", left == 4 - total);
  }
  printf("seen: %d %d %d %d\n", seen[0], seen[1], seen[2], seen[3]);
  /* Removed before it ran, and in the middle. */
  for(int i = 0; i < 4; i++)
    curl_multi_remove_handle(multi, easy[i]);
  struct peer *silent = peer_new(); /* never accepts */
  curl_easy_setopt(easy[2], CURLOPT_URL, silent->url);
  curl_multi_add_handle(multi, easy[0]);
  curl_multi_add_handle(multi, easy[2]);
  printf("never ran: %d\n", curl_multi_remove_handle(multi, easy[0]));
  for(int i = 0; i < 5; i++)
    curl_multi_perform(multi, &running), curl_multi_poll(multi, NULL, 0, 20, NULL);
  printf("running: %d\n", running);
  printf("cut short: %d\n", curl_multi_remove_handle(multi, easy[2]));
  printf("perform: %d %d\n", curl_multi_perform(multi, &running), running);
  messages(multi, easy, 4);
  close(silent->listener);
  free(silent);
  curl_easy_setopt(easy[2], CURLOPT_URL, at("SERVER", "/bytes/3"));
  go("easy again", easy[2]);
  /* An easy handle freed, and a multi handle freed, with a transfer under way. */
  curl_multi_add_handle(multi, easy[1]);
  curl_multi_perform(multi, &running);
  curl_easy_cleanup(easy[1]);
  printf("after the cleanup: %d %d\n", curl_multi_perform(multi, &running), running);
  curl_multi_add_handle(other, easy[0]);
  curl_multi_perform(other, &running);
  printf("cleanup of the other: %d\n", curl_multi_cleanup(other));
  go("left alone", easy[0]);
  curl_easy_cleanup(easy[0]), curl_easy_cleanup(easy[2]), curl_easy_cleanup(easy[3]);
  printf("cleanup: %d\n", curl_multi_cleanup(multi));
  return 0;
}
