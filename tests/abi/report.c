/* Programs that make a mistake, each in a process of its own: the report at exit names the mistake. The one that makes none
   gets no finding. */
#include "pool.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMES 4

static size_t ignored(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  return size * count;
}

static CURL *handle(const char *path)
{
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server(path));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignored);
  return easy;
}

static void one_handle(void)
{
  CURL *easy = handle("/bytes/10");
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

static void handle_for_each(void)
{
  for(int i = 0; i < TIMES; i++) {
    CURL *easy = handle("/bytes/10");
    curl_easy_perform(easy);
    curl_easy_cleanup(easy);
  }
}

/* Two handles at the same time need two connections. */
static void together(void)
{
  CURLM *multi = curl_multi_init();
  CURL *easy[TIMES];
  int running;
  for(int i = 0; i < TIMES; i++)
    curl_multi_add_handle(multi, easy[i] = handle("/delay/100/bytes/10"));
  do {
    curl_multi_perform(multi, &running);
    curl_multi_poll(multi, NULL, 0, 100, NULL);
  } while(running);
  for(int i = 0; i < TIMES; i++) {
    curl_multi_remove_handle(multi, easy[i]);
    curl_easy_cleanup(easy[i]);
  }
  curl_multi_cleanup(multi);
}

static void differing(void)
{
  CURL *easy = handle("/bytes/10");
  for(int i = 0; i < TIMES; i++) {
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 60L + i);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_perform(easy);
  }
  curl_easy_cleanup(easy);
}

static void forbidding(void)
{
  CURL *easy = handle("/bytes/10");
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

static void fresh(void)
{
  CURL *easy = handle("/bytes/10");
  curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

/* The pool has room for one connection, and the requests alternate between two. */
static void too_small(void)
{
  CURL *easy = handle("/bytes/10");
  curl_easy_setopt(easy, CURLOPT_MAXCONNECTS, 1L);
  for(int i = 0; i < 2 * TIMES; i++) {
    char name[600];
    const char *at = server("/bytes/10");
    snprintf(name, sizeof name, "http://localhost%s", strrchr(at, ':'));
    curl_easy_setopt(easy, CURLOPT_URL, i % 2 ? name : at);
    curl_easy_perform(easy);
  }
  curl_easy_cleanup(easy);
}

static void closing(void)
{
  CURL *easy = handle("/last/bytes/10");
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

/* A pool would not help: the server closes each time. */
static void closing_each(void)
{
  for(int i = 0; i < TIMES; i++) {
    CURL *easy = handle("/last/bytes/10");
    curl_easy_perform(easy);
    curl_easy_cleanup(easy);
  }
}

static void expecting(void)
{
  CURL *easy = handle("/no-continue/10");
  struct curl_slist *lines = curl_slist_append(NULL, "Expect: 100-continue");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lines);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "body");
  curl_easy_setopt(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, 50L);
  curl_easy_perform(easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(lines);
}

static void redirected(void)
{
  CURL *easy = handle("/redirect/1");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  for(int i = 0; i < TIMES; i++)
    curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

static void late(void)
{
  CURL *easy = handle("/delay/5000/bytes/10");
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 50L);
  curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

/* Runs the program in a child, and returns its report. */
static char *report(void (*program)(void))
{
  static char text[65536];
  const char *name = "report.txt";
  unlink(name);
  pid_t child = fork();
  if(!child) {
    setenv("WARMWIRE_REPORT", name, 1);
    unsetenv("WARMWIRE_POOL");
    program();
    exit(0);
  }
  int status = 1;
  SAME(waitpid(child, &status, 0), child);
  SAME(status, 0);
  int file = open(name, O_RDONLY);
  CHECK(file >= 0);
  ssize_t length = read(file, text, sizeof text - 1);
  text[length > 0 ? length : 0] = 0;
  close(file);
  return text;
}

static void finds(void (*program)(void), const char *wanted)
{
  char *text = report(program);
  if(!strstr(text, wanted)) {
    failures++;
    printf("the report lacks \"%s\":\n%s\n", wanted, text);
  }
}

int main(void)
{
  finds(one_handle, "\nNo findings.\nTotals: 4 transfers (0 failed) in ");
  finds(together, "\nNo findings.\nTotals: 4 transfers (0 failed) in ");
  finds(handle_for_each, ": 3 connections were opened although another handle had left an equal one");
  finds(handle_for_each, "\n  remedy: set WARMWIRE_POOL=process, or reuse one handle\n");
  finds(differing, ": 3 connections were opened because transfers differ in CURLOPT_TCP_KEEPIDLE");
  finds(forbidding, ": 3 connections were opened because CURLOPT_FORBID_REUSE or CURLOPT_FRESH_CONNECT is set");
  finds(fresh, ": 4 connections were opened because CURLOPT_FORBID_REUSE or CURLOPT_FRESH_CONNECT is set");
  finds(too_small, ": 3 connections were closed for lack of room and opened again");
  finds(closing, ": 3 connections were opened because the server had closed the one before");
  finds(closing_each, ": 3 connections were opened because the server had closed the one before");
  finds(expecting, ": 1 uploads waited in vain for 100 Continue");
  finds(redirected, ": 4 requests met the same redirect: http://");
  finds(late, ": 1 transfers ended by a time limit");
  return FAILURES;
}
