/* What the multi functions answer from inside each callback, and what happens to a transfer whose callback says stop.
 * covers: curl_multi_remove_handle, curl_multi_add_handle, curl_multi_perform, curl_easy_perform, CURLOPT_XFERINFOFUNCTION, CURLOPT_PREREQFUNCTION */
#include "twin.h"

static CURLM *multi;
static CURL *other, *self;
static int callbacks;
static const char *where;

static void call(void)
{
  int running;
  long ms;
  CURL *fresh;
  if(callbacks++)
    return;
  printf("in %s: add %d, remove self %d, remove other %d, perform %d, socket_action %d, timeout %d, wait %d, cleanup %d\n", where,
         curl_multi_add_handle(multi, other), curl_multi_remove_handle(multi, self), curl_multi_remove_handle(multi, other),
         curl_multi_perform(multi, &running), curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running), curl_multi_timeout(multi, &ms),
         curl_multi_wait(multi, NULL, 0, 0, &running), curl_multi_cleanup(multi));
  printf("in %s: easy perform %d, getinfo %d, setopt %d, pause nothing %d\n", where, curl_easy_perform(self), curl_easy_getinfo(self, CURLINFO_RESPONSE_CODE, &ms),
         curl_easy_setopt(self, CURLOPT_LOW_SPEED_LIMIT, 0L), curl_easy_pause(self, CURLPAUSE_CONT));
  printf("in %s: another handle %d", where, (fresh = to("SERVER", "/bytes/4")) != NULL);
  printf(" %d\n", curl_easy_perform(fresh));
  curl_easy_cleanup(fresh);
}

static size_t on_write(char *d, size_t s, size_t n, void *u) { (void)d, (void)u; call(); return s * n; }
static size_t on_read(char *d, size_t s, size_t n, void *u) { (void)d, (void)s, (void)n, (void)u; call(); return 0; }
static int on_progress(void *u, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) { (void)u, (void)a, (void)b, (void)c, (void)d; call(); return 0; }
static int on_prereq(void *u, char *a, char *b, int c, int d) { (void)u, (void)a, (void)b, (void)c, (void)d; call(); return 0; }
static int on_sockopt(void *u, curl_socket_t s, curlsocktype t) { (void)u, (void)s, (void)t; call(); return 0; }
static int on_debug(CURL *e, curl_infotype t, char *d, size_t s, void *u) { (void)e, (void)t, (void)d, (void)s, (void)u; if(t == CURLINFO_HEADER_IN) call(); return 0; }

int main(void)
{
  for(int i = 0; i < 7; i++) {
    int running = 1, left;
    multi = curl_multi_init();
    self = to("SERVER", i == 2 ? "/sum" : "/bytes/10");
    other = to("SERVER", "/bytes/3");
    callbacks = 0;
    switch(i) {
    case 0: where = "write", curl_easy_setopt(self, CURLOPT_WRITEFUNCTION, on_write); break;
    case 1: where = "header", curl_easy_setopt(self, CURLOPT_HEADERFUNCTION, on_write); break;
    case 2: where = "read", curl_easy_setopt(self, CURLOPT_READFUNCTION, on_read), curl_easy_setopt(self, CURLOPT_UPLOAD, 1L); break;
    case 3: where = "progress", curl_easy_setopt(self, CURLOPT_XFERINFOFUNCTION, on_progress), curl_easy_setopt(self, CURLOPT_NOPROGRESS, 0L); break;
    case 4: where = "prereq", curl_easy_setopt(self, CURLOPT_PREREQFUNCTION, on_prereq); break;
    case 5: where = "sockopt", curl_easy_setopt(self, CURLOPT_SOCKOPTFUNCTION, on_sockopt); break;
    default: where = "debug", curl_easy_setopt(self, CURLOPT_DEBUGFUNCTION, on_debug), curl_easy_setopt(self, CURLOPT_VERBOSE, 1L);
    }
    curl_multi_add_handle(multi, self);
    while(curl_multi_perform(multi, &running) == CURLM_OK && running)
      curl_multi_poll(multi, NULL, 0, 1000, NULL);
    CURLMsg *message = curl_multi_info_read(multi, &left);
    printf("%s ends: %d, called %d\n", where, message ? (int)message->data.result : -1, callbacks > 0);
    printf("%s remove: %d %d\n", where, curl_multi_remove_handle(multi, self), curl_multi_remove_handle(multi, other));
    curl_easy_cleanup(self), curl_easy_cleanup(other);
    curl_multi_cleanup(multi);
  }
  return 0;
}
