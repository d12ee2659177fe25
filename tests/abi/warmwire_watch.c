/* A watcher reports changes over HTTP, FTP and of files; misuse is answered by errors. */
#include "check.h"
#include <curl/warmwire.h>
#include <pthread.h>
#include <unistd.h>

struct seen {
  WARMWIRE_WATCHER *watcher;
  int count, kinds[32], answer;
  size_t index, body_size, structure;
  CURLcode code, inside[3];
  curl_off_t length;
  char body[64], url[512], error[256];
};

static int note(const struct warmwire_change *change, void *user)
{
  struct seen *seen = user;
  struct warmwire_watched state = {0};
  state.size = sizeof state;
  /* threads() reads the count while this runs. */
  seen->kinds[__atomic_fetch_add(&seen->count, 1, __ATOMIC_ACQ_REL) % 32] = change->kind;
  seen->index = change->index;
  seen->code = change->code;
  seen->length = change->length;
  seen->structure = change->size;
  seen->body_size = change->body_size;
  snprintf(seen->body, sizeof seen->body, "%s", change->body ? change->body : "(none)");
  snprintf(seen->url, sizeof seen->url, "%s", change->url);
  snprintf(seen->error, sizeof seen->error, "%s", change->error ? change->error : "");
  /* What is allowed here, and what is not. */
  SAME(warmwire_watch_status(seen->watcher, change->index, &state), CURLE_OK);
  SAME(state.code, change->code);
  seen->inside[0] = warmwire_watch_run(seen->watcher, 0, note, user);
  seen->inside[1] = warmwire_watch_add(seen->watcher, "http://127.0.0.1:1/", NULL, NULL);
  seen->inside[2] = warmwire_watch_free(seen->watcher);
  return seen->answer;
}

static int stop_at_first(const struct warmwire_change *change, void *user)
{
  struct seen *seen = user;
  note(change, user);
  return warmwire_watch_stop(seen->watcher) == CURLE_OK ? 0 : 1;
}

static WARMWIRE_WATCHER *started(int contents)
{
  struct warmwire_watch_options options = {0};
  options.size = sizeof options;
  options.interval_ms = 50;
  options.contents = contents;
  return warmwire_watch(&options);
}

static void write_file(const char *name, const char *text)
{
  char fresh[128];
  snprintf(fresh, sizeof fresh, "%s.new", name);
  FILE *file = fopen(fresh, "w");
  fputs(text, file);
  fclose(file);
  rename(fresh, name);
}

static void changes_of_a_file(void)
{
  char name[64], url[128];
  struct seen seen = {0};
  snprintf(name, sizeof name, "/tmp/warmwire_watch.%d", (int)getpid());
  snprintf(url, sizeof url, "file://%s", name);
  write_file(name, "one");
  seen.watcher = started(1);
  size_t index = 9;
  SAME(warmwire_watch_add(seen.watcher, url, NULL, &index), CURLE_OK);
  SAME(index, 0);
  SAME(warmwire_watch_run(seen.watcher, 20000, stop_at_first, &seen), CURLE_OK);
  SAME(seen.count, 1);
  SAME(seen.kinds[0], WARMWIRE_CHANGE_FIRST);
  SAME(seen.structure, sizeof(struct warmwire_change));
  SAME_TEXT(seen.body, "one");
  SAME(seen.body_size, 3);
  SAME(seen.length, 3);
  SAME_TEXT(seen.url, url);
  SAME(seen.inside[0], CURLE_RECURSIVE_API_CALL);
  SAME(seen.inside[1], CURLE_RECURSIVE_API_CALL);
  SAME(seen.inside[2], CURLE_RECURSIVE_API_CALL);
  write_file(name, "three");
  seen.answer = 1;
  SAME(warmwire_watch_run(seen.watcher, 20000, note, &seen), CURLE_ABORTED_BY_CALLBACK);
  SAME(seen.kinds[1], WARMWIRE_CHANGE_CHANGED);
  SAME_TEXT(seen.body, "three");
  remove(name);
  SAME(warmwire_watch_run(seen.watcher, 20000, note, &seen), CURLE_ABORTED_BY_CALLBACK);
  SAME(seen.kinds[2], WARMWIRE_CHANGE_GONE);
  SAME_TEXT(seen.body, "(none)");
  struct warmwire_watched state = {0};
  state.size = sizeof state;
  SAME(warmwire_watch_status(seen.watcher, 0, &state), CURLE_OK);
  SAME(state.exists, 0);
  CHECK(state.p50_us >= 0 && state.p99_us >= state.p50_us && state.age_ms >= 0 && state.in_time > 0);
  SAME(warmwire_watch_status(seen.watcher, 1, &state), CURLE_BAD_FUNCTION_ARGUMENT);
  /* A structure of an older version is not written behind its end. */
  state.size = sizeof(size_t) + sizeof(int);
  state.streams = 77;
  SAME(warmwire_watch_status(seen.watcher, 0, &state), CURLE_OK);
  SAME(state.streams, 77);
  SAME(warmwire_watch_free(seen.watcher), CURLE_OK);
  SAME(warmwire_watch_free(seen.watcher), CURLE_BAD_FUNCTION_ARGUMENT);
}

static void servers_by_http_and_ftp(void)
{
  char ftp[256];
  struct seen seen = {0};
  size_t index[3];
  CURL *like = curl_easy_init();
  snprintf(ftp, sizeof ftp, "%s/dir/file", getenv("FTP_SERVER"));
  curl_easy_setopt(like, CURLOPT_FAILONERROR, 1L);
  seen.watcher = started(0);
  SAME(warmwire_watch_add(seen.watcher, server("/bytes/1000"), like, &index[0]), CURLE_OK);
  curl_easy_cleanup(like);
  SAME(warmwire_watch_add(seen.watcher, ftp, NULL, &index[1]), CURLE_OK);
  SAME(warmwire_watch_add(seen.watcher, "http://127.0.0.1:1/", NULL, &index[2]), CURLE_OK);
  int first = 0, failed = 0;
  seen.answer = 1;
  while(first < 2 || failed < 1) {
    SAME(warmwire_watch_run(seen.watcher, 20000, note, &seen), CURLE_ABORTED_BY_CALLBACK);
    if(failures)
      break;
    int kind = seen.kinds[(seen.count - 1) % 32];
    first += kind == WARMWIRE_CHANGE_FIRST;
    failed += kind == WARMWIRE_CHANGE_FAILED;
    if(kind == WARMWIRE_CHANGE_FAILED) {
      SAME(seen.index, index[2]);
      SAME(seen.code, CURLE_COULDNT_CONNECT);
      CHECK(seen.error[0]);
    }
    if(kind == WARMWIRE_CHANGE_FIRST && seen.index == index[1])
      SAME(seen.length, 2000);
  }
  /* Nothing changes any more. */
  seen.count = 0;
  SAME(warmwire_watch_run(seen.watcher, 300, note, &seen), CURLE_OK);
  SAME(seen.count, 0);
  SAME(warmwire_watch_free(seen.watcher), CURLE_OK);
}

static void *run_there(void *user)
{
  struct seen *seen = user;
  seen->code = warmwire_watch_run(seen->watcher, -1, note, seen);
  return NULL;
}

static void threads(void)
{
  struct seen seen = {0};
  pthread_t thread;
  seen.watcher = started(0);
  SAME(warmwire_watch_add(seen.watcher, server("/bytes/10"), NULL, NULL), CURLE_OK);
  seen.code = 99;
  pthread_create(&thread, NULL, run_there, &seen);
  while(!__atomic_load_n(&seen.count, __ATOMIC_ACQUIRE))
    usleep(2000);
  /* The other thread is inside, and this one is turned away. */
  struct warmwire_watched state = {0};
  state.size = sizeof state;
  SAME(warmwire_watch_run(seen.watcher, 0, note, &seen), CURLE_RECURSIVE_API_CALL);
  SAME(warmwire_watch_status(seen.watcher, 0, &state), CURLE_RECURSIVE_API_CALL);
  SAME(warmwire_watch_free(seen.watcher), CURLE_RECURSIVE_API_CALL);
  SAME(warmwire_watch_stop(seen.watcher), CURLE_OK);
  pthread_join(thread, NULL);
  SAME(seen.code, CURLE_OK);
  SAME(warmwire_watch_free(seen.watcher), CURLE_OK);
}

static void misuse(void)
{
  struct warmwire_watch_options options = {0};
  struct seen seen = {0};
  int local;
  SAME(warmwire_watch(NULL) == NULL, 1);
  options.size = sizeof options;
  SAME(warmwire_watch(&options) == NULL, 1);
  options.interval_ms = -5;
  SAME(warmwire_watch(&options) == NULL, 1);
  options.interval_ms = 5;
  options.deadline_ms = -1;
  SAME(warmwire_watch(&options) == NULL, 1);
  for(int at = 0; at < 2; at++) {
    WARMWIRE_WATCHER *bad = at ? (WARMWIRE_WATCHER *)&local : NULL;
    SAME(warmwire_watch_add(bad, "http://a/", NULL, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
    SAME(warmwire_watch_run(bad, 0, note, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
    SAME(warmwire_watch_stop(bad), CURLE_BAD_FUNCTION_ARGUMENT);
    SAME(warmwire_watch_status(bad, 0, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
    SAME(warmwire_watch_free(bad), CURLE_BAD_FUNCTION_ARGUMENT);
  }
  seen.watcher = started(0);
  SAME(warmwire_watch_run(seen.watcher, 0, note, &seen), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_watch_add(seen.watcher, NULL, NULL, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_watch_add(seen.watcher, "http://a b/", NULL, NULL), CURLE_URL_MALFORMAT);
  SAME(warmwire_watch_add(seen.watcher, "nosuch://a/", NULL, NULL), CURLE_UNSUPPORTED_PROTOCOL);
  SAME(warmwire_watch_add(seen.watcher, "http://127.0.0.1:1/", (CURL *)&local, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_watch_add(seen.watcher, "http://127.0.0.1:1/", NULL, NULL), CURLE_OK);
  SAME(warmwire_watch_run(seen.watcher, 0, NULL, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_watch_run(seen.watcher, -2, note, &seen), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(warmwire_watch_status(seen.watcher, 0, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  /* A stop before the run ends it. */
  SAME(warmwire_watch_stop(seen.watcher), CURLE_OK);
  SAME(warmwire_watch_run(seen.watcher, -1, note, &seen), CURLE_OK);
  SAME(warmwire_watch_free(seen.watcher), CURLE_OK);
}

int main(void)
{
  curl_global_init(CURL_GLOBAL_DEFAULT);
  changes_of_a_file();
  servers_by_http_and_ftp();
  threads();
  misuse();
  curl_global_cleanup();
  return FAILURES;
}
