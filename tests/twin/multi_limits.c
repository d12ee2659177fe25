/* CURLMOPT_MAX_TOTAL_CONNECTIONS, MAX_HOST_CONNECTIONS and MAXCONNECTS: how many connections there are, and in which order those
 * that wait are served.
 * covers: CURLMOPT_MAX_TOTAL_CONNECTIONS, CURLMOPT_MAX_HOST_CONNECTIONS, CURLMOPT_MAXCONNECTS, CURLOPT_FRESH_CONNECT, CURLOPT_FORBID_REUSE */
#include "twin.h"

enum { HANDLES = 6 };

static void run(const char *name, CURLMoption limit, long value, const char *path, int forbid)
{
  CURLM *multi = curl_multi_init();
  CURL *easy[HANDLES];
  int running = 1, left, order[HANDLES], done = 0;
  long connects = 0;
  if(limit)
    printf("%s set: %d\n", name, curl_multi_setopt(multi, limit, value));
  for(int i = 0; i < HANDLES; i++) {
    easy[i] = to("SERVER", path);
    if(forbid)
      WITH(easy[i], FORBID_REUSE, 1L);
    curl_multi_add_handle(multi, easy[i]);
  }
  while(running) {
    curl_multi_perform(multi, &running);
    CURLMsg *message;
    while((message = curl_multi_info_read(multi, &left)))
      for(int i = 0; i < HANDLES; i++)
        if(message->easy_handle == easy[i] && done < HANDLES)
          order[done++] = message->data.result ? -1 : i;
    if(running)
      curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  for(int i = 0; i < HANDLES; i++) {
    connects += number(easy[i], CURLINFO_NUM_CONNECTS);
    curl_multi_remove_handle(multi, easy[i]);
    curl_easy_cleanup(easy[i]);
  }
  printf("%s: %d done, %ld connections", name, done, connects);
  if(limit && value == 1)
    for(int i = 0; i < done; i++)
      printf(" %d", order[i]);
  puts("");
  curl_multi_cleanup(multi);
}

int main(void)
{
  run("no limit", 0, 0, "/delay/30/bytes/10", 0);
  run("total 1", CURLMOPT_MAX_TOTAL_CONNECTIONS, 1, "/bytes/10", 0);
  run("total 2", CURLMOPT_MAX_TOTAL_CONNECTIONS, 2, "/delay/30/bytes/10", 0);
  run("total 1, not kept", CURLMOPT_MAX_TOTAL_CONNECTIONS, 1, "/bytes/10", 1);
  run("host 1", CURLMOPT_MAX_HOST_CONNECTIONS, 1, "/bytes/10", 0);
  run("host 3", CURLMOPT_MAX_HOST_CONNECTIONS, 3, "/delay/30/bytes/10", 0);
  run("host 1, not kept", CURLMOPT_MAX_HOST_CONNECTIONS, 1, "/bytes/10", 1);
  run("closed by the server", CURLMOPT_MAX_HOST_CONNECTIONS, 1, "/last/bytes/10", 0);
  CURLM *multi = curl_multi_init();
  static const CURLMoption options[] = {CURLMOPT_MAXCONNECTS, CURLMOPT_MAX_HOST_CONNECTIONS, CURLMOPT_MAX_TOTAL_CONNECTIONS, CURLMOPT_PIPELINING,
                                        CURLMOPT_MAX_PIPELINE_LENGTH, CURLMOPT_MAX_CONCURRENT_STREAMS, CURLMOPT_CONTENT_LENGTH_PENALTY_SIZE,
                                        CURLMOPT_CHUNK_LENGTH_PENALTY_SIZE, CURLMOPT_PIPELINING_SITE_BL, CURLMOPT_PIPELINING_SERVER_BL};
  for(size_t i = 0; i < sizeof options / sizeof *options; i++)
    printf("option %zu: %d %d\n", i, curl_multi_setopt(multi, options[i], 0L), i < 6 ? curl_multi_setopt(multi, options[i], 5L) : 0);
  curl_multi_cleanup(multi);
  /* An easy handle's own limit. */
  CURL *easy = to("SERVER", "/bytes/5");
  for(int i = 0; i < 6; i++) {
    WITH(easy, FRESH_CONNECT, (long)(i == 2));
    WITH(easy, FORBID_REUSE, (long)(i == 3));
    WITH(easy, MAXCONNECTS, i == 4 ? 1L : 5L);
    go("easy", easy);
    printf("new connections: %ld\n", number(easy, CURLINFO_NUM_CONNECTS));
  }
  curl_easy_cleanup(easy);
  return 0;
}
