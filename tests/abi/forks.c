/* Threads use the library without a pause while another forks: each child uses it, too, and finds no lock that a thread of its
 * parent's held. A child that hangs is ended by its alarm.
 * covers: curl_easy_strerror, curl_multi_strerror, curl_share_strerror, curl_url_strerror, curl_easy_option_by_name,
 * curl_easy_option_by_id, curl_easy_option_next, curl_version, curl_version_info, curl_global_init */
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, FORKS = 60, ROUNDS = 80, LIMIT_S = 20 };
static int over;

/* Whether all of it answers as it should. */
static int asks(int round)
{
  const struct curl_easyoption *option = curl_easy_option_by_name("URL");
  int good = option && option == curl_easy_option_by_id(CURLOPT_URL) && curl_easy_option_next(option);
  good = good && curl_easy_strerror((CURLcode)(round % 100)) && curl_multi_strerror((CURLMcode)(round % 12));
  good = good && curl_share_strerror((CURLSHcode)(round % 6)) && curl_url_strerror((CURLUcode)(round % 31));
  return good && curl_version() && curl_version_info(CURLVERSION_NOW)->version;
}

/* The same for what begins something: whether all of it can be made and used. */
static int makes(void)
{
  CURLM *multi = curl_multi_init();
  CURLSH *share = curl_share_init();
  CURLU *url = curl_url();
  CURL *easy = curl_easy_init();
  curl_mime *mime = easy ? curl_mime_init(easy) : NULL;
  char *text = easy ? curl_easy_escape(easy, "a b", 3) : NULL;
  int running = 0;
  int good = multi && share && url && mime && text && curl_mime_addpart(mime);
  good = good && !curl_url_set(url, CURLUPART_URL, "http://h/", 0);
  good = good && !curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
  good = good && !curl_easy_setopt(easy, CURLOPT_SHARE, share);
  good = good && !curl_multi_add_handle(multi, easy) && !curl_multi_perform(multi, &running);
  good = good && !curl_multi_remove_handle(multi, easy) && curl_getdate("1 Jan 2020", NULL) > 0;
  curl_free(text);
  curl_mime_free(mime);
  curl_easy_cleanup(easy);
  curl_url_cleanup(url);
  curl_multi_cleanup(multi);
  return !curl_share_cleanup(share) && good;
}

static int fetches(void)
{
  struct text body = {0};
  CURL *easy = curl_easy_init();
  CURLcode code;
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/1000"));
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  code = curl_easy_perform(easy);
  curl_easy_cleanup(easy);
  free(body.at);
  return code == CURLE_OK;
}

static void *hammers(void *user)
{
  long fetching = (long)user;
  for(int round = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); round++) {
    if(fetching)
      fetches();
    else
      asks(round);
  }
  return NULL;
}

/* Programs that nobody has asked anything yet: the tables are made while others fork. */
static int fresh(void)
{
  pthread_t threads[THREADS];
  int bad = 0;
  for(long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, hammers, (void *)(long)(i == 2));
  for(int i = 0; i < FORKS; i++) {
    int status = 0;
    pid_t child = fork();
    if(!child) {
      alarm(LIMIT_S);
      _exit(asks(i) && fetches() && makes() ? 0 : 1);
    }
    waitpid(child, &status, 0);
    bad += status != 0;
    if(status)
      printf("child %d ended with %x\n", i, (unsigned)status);
    if(bad > 2)
      break;
  }
  __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
  for(int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  return bad;
}

static pthread_barrier_t start;

static void *begins(void *user)
{
  (void)user;
  pthread_barrier_wait(&start);
  curl_global_init(CURL_GLOBAL_ALL);
  fetches();
  makes();
  return NULL;
}

/* One process that has never used the library: its threads use it for the first time while it forks, a little later each time. */
static int begin_and_fork(int round)
{
  pthread_t threads[THREADS];
  int status = 0;
  pid_t child;
  pthread_barrier_init(&start, NULL, THREADS + 1);
  for(int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, begins, NULL);
  pthread_barrier_wait(&start);
  for(volatile int i = 0; i < round * 2000; i++)
    ;
  child = fork();
  if(!child) {
    alarm(LIMIT_S);
    _exit(!curl_global_init(CURL_GLOBAL_ALL) && fetches() && makes() && asks(round) ? 0 : 1);
  }
  waitpid(child, &status, 0);
  for(int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  return status;
}

static int first_uses(void)
{
  int bad = 0;
  for(int round = 0; round < ROUNDS && bad < 3; round++) {
    int status = 0;
    pid_t process = fork();
    if(!process)
      _exit(begin_and_fork(round) ? 1 : 0);
    waitpid(process, &status, 0);
    bad += status != 0;
  }
  return bad;
}

/* A process with so many forks between it and the first one, which has never used the library either. */
static int far_down(int forks)
{
  int status = -1; /* stays where no process can be made */
  pid_t process;
  if(!forks)
    return first_uses();
  process = fork();
  if(!process)
    _exit(far_down(forks - 1) ? 1 : 0);
  waitpid(process, &status, 0);
  return status;
}

int main(void)
{
  /* Before this process has used anything. */
  SAME(first_uses(), 0);
  SAME(far_down(20), 0);
  curl_global_init(CURL_GLOBAL_ALL);
  SAME(fresh(), 0);
  curl_global_cleanup();
  return FAILURES;
}
