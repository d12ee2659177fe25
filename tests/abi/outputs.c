/* What a program writes beside its own output when variables ask for it: an archive, a picture, a log. Each
   program runs in a process of its own. */
#include "pool.h"
#include <fcntl.h>
#include <signal.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[1 << 20];

/* Returns the content of a file, or NULL if there is none. */
static const char *content(const char *name)
{
  int file = open(name, O_RDONLY);
  if(file < 0)
    return NULL;
  ssize_t length = read(file, text, sizeof text - 1);
  text[length > 0 ? length : 0] = 0;
  close(file);
  return text;
}

static int count(const char *where, const char *what)
{
  int found = 0;
  for(; where && (where = strstr(where, what)); where++)
    found++;
  return found;
}

/* Runs a program in a child whose variable has that value, and returns the child's status. */
static int run(void (*program)(void), const char *variable, const char *value)
{
  pid_t child = fork();
  if(!child) {
    setenv(variable, value, 1);
    program();
    exit(0);
  }
  int status = 1;
  SAME(waitpid(child, &status, 0), child);
  return status;
}

static void get(const char *path)
{
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server(path));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_body);
  curl_easy_setopt(easy, CURLOPT_USERPWD, "me:secret-password");
  curl_easy_setopt(easy, CURLOPT_COOKIE, "name=secret-cookie");
  curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

static void with_secrets(void)
{
  get("/bytes/10?token=secret-token&page=2");
}

static void *in_thread(void *path)
{
  get(path);
  return NULL;
}

static void four_threads(void)
{
  pthread_t threads[4];
  for(int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, in_thread, "/bytes/10");
  for(int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
}

static void two_processes(void)
{
  get("/bytes/10?first");
  pid_t child = fork();
  if(!child) {
    get("/bytes/10?second");
    exit(0);
  }
  waitpid(child, NULL, 0);
}

static void killed(void)
{
  get("/bytes/10");
  kill(getpid(), SIGKILL);
}

static void idle(void)
{
  curl_easy_cleanup(curl_easy_init());
}

static void refused(void)
{
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, "http://127.0.0.1:1/");
  curl_easy_perform(easy);
  curl_easy_cleanup(easy);
}

/* Returns the mode of a file, or 0. */
static unsigned mode(const char *name)
{
  struct stat about;
  return stat(name, &about) ? 0 : about.st_mode & 0777;
}

static void archives(void)
{
  SAME(run(with_secrets, "WARMWIRE_HAR", "a.har"), 0);
  const char *har = content("a.har");
  SAME(mode("a.har"), 0600);
  SAME(count(har, "\"startedDateTime\""), 1);
  SAME(count(har, "secret-"), 0);
  SAME(count(har, "{\"name\":\"Authorization\",\"value\":\"Basic (redacted)\"}"), 1);
  SAME(count(har, "/bytes/10?token=(redacted)&page=2\""), 1);

  setenv("WARMWIRE_HAR_SECRETS", "yes", 1);
  SAME(run(with_secrets, "WARMWIRE_HAR", "b.har"), 0);
  unsetenv("WARMWIRE_HAR_SECRETS");
  har = content("b.har");
  SAME(mode("b.har"), 0600);
  CHECK(count(har, "secret-token") > 0 && count(har, "secret-cookie") > 0);
  SAME(count(har, "(redacted)"), 0);

  SAME(run(four_threads, "WARMWIRE_HAR", "c.har"), 0);
  SAME(count(content("c.har"), "\"startedDateTime\""), 4);

  /* The child ends first, so that the parent replaces the child's archive. In a folder, each has a file. */
  SAME(run(two_processes, "WARMWIRE_HAR", "d.har"), 0);
  har = content("d.har");
  SAME(count(har, "?first\""), 1);
  SAME(count(har, "?second\""), 0);
  mkdir("archives", 0700);
  SAME(run(two_processes, "WARMWIRE_HAR", "archives"), 0);
  SAME(system("cat archives/warmwire-*.har > e.har; test $(ls archives | wc -l) = 2"), 0);
  har = content("e.har");
  SAME(count(har, "?first\""), 1);
  SAME(count(har, "?second\""), 1);

  SAME(WTERMSIG(run(killed, "WARMWIRE_HAR", "f.har")), SIGKILL);
  CHECK(!content("f.har"));
  SAME(run(idle, "WARMWIRE_HAR", "g.har"), 0);
  CHECK(!content("g.har"));
}

static void pictures(void)
{
  SAME(run(with_secrets, "WARMWIRE_TIMELINE", "a.svg"), 0);
  const char *picture = content("a.svg");
  SAME(mode("a.svg"), 0600);
  SAME(strncmp(picture, "<svg ", 5), 0);
  SAME(count(picture, "1 transfer over 1 connection"), 1);
  SAME(count(picture, "secret-"), 0);
  SAME(run(with_secrets, "WARMWIRE_TIMELINE", "a.html"), 0);
  CHECK(!strncmp(content("a.html"), "<!DOCTYPE html>", 15));
}

/* Returns whether each line is one object. */
static int is_whole(const char *log)
{
  while(*log) {
    const char *end = strchr(log, '\n');
    if(!end || strncmp(log, "{\"time\":\"", 9) || end[-1] != '}')
      return 0;
    log = end + 1;
  }
  return 1;
}

static void logs(void)
{
  SAME(run(with_secrets, "WARMWIRE_LOG", "debug:a.log"), 0);
  const char *log = content("a.log");
  SAME(mode("a.log"), 0600);
  CHECK(is_whole(log));
  SAME(count(log, "secret-"), 0);
  SAME(count(log, "\"event\":\"connection-new\""), 1);
  SAME(count(log, "\"event\":\"request\",\"method\":\"GET\""), 1);
  SAME(count(log, "\"event\":\"end\""), 1);

  /* Lines of four threads and of a second process do not mix. */
  SAME(run(four_threads, "WARMWIRE_LOG", "info:b.log"), 0);
  SAME(run(two_processes, "WARMWIRE_LOG", "info:b.log"), 0);
  log = content("b.log");
  CHECK(is_whole(log));
  SAME(count(log, "\n"), 12);
  SAME(count(log, "\"event\":\"end\""), 6);

  SAME(run(with_secrets, "WARMWIRE_LOG", "error:c.log"), 0);
  CHECK(!content("c.log"));
  SAME(run(refused, "WARMWIRE_LOG", "error:c.log"), 0);
  log = content("c.log");
  SAME(count(log, "\n"), 1);
  SAME(count(log, "\"event\":\"failure\",\"url\":\"http://127.0.0.1:1/\",\"code\":7,\"error\":\""), 1);
}

int main(void)
{
  /* Children must not write the parent's lines again. */
  setvbuf(stdout, NULL, _IONBF, 0);
  archives();
  pictures();
  logs();
  return FAILURES;
}
