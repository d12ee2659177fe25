/* Prints what changes at the URLs of the command line, until the time in the first argument is over. */
#include <curl/warmwire.h>
#include <stdio.h>
#include <stdlib.h>

static int show(const struct warmwire_change *change, void *user)
{
  (void)user;
  if(change->kind == WARMWIRE_CHANGE_FAILED)
    printf("%s: (%d) %s\n", change->url, (int)change->code, change->error);
  else if(change->body)
    printf("%s: %.*s\n", change->url, (int)change->body_size, change->body);
  return fflush(stdout); /* other than 0 ends the run */
}

int main(int count, char **arguments)
{
  struct warmwire_watch_options options = {0};
  options.size = sizeof options;
  options.interval_ms = 200;
  options.contents = 1;
  WARMWIRE_WATCHER *watcher = warmwire_watch(&options);
  for(int at = 2; at < count; at++) {
    CURLcode code = warmwire_watch_add(watcher, arguments[at], NULL, NULL);
    if(code)
      fprintf(stderr, "%s: %s\n", arguments[at], curl_easy_strerror(code));
  }
  CURLcode code = warmwire_watch_run(watcher, count > 1 ? atol(arguments[1]) : 0, show, NULL);
  warmwire_watch_free(watcher);
  return code;
}
