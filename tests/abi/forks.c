/* Threads use the library without a pause while another forks: each child uses it, too, and finds no lock that a thread of its
 * parent's held. A child that hangs is ended by its alarm.
 * covers: curl_easy_strerror, curl_multi_strerror, curl_share_strerror, curl_url_strerror, curl_easy_option_by_name,
 * curl_easy_option_by_id, curl_easy_option_next, curl_version, curl_version_info */
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, FORKS = 60, LIMIT_S = 20 };
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
      _exit(asks(i) && fetches() ? 0 : 1);
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

int main(void)
{
  curl_global_init(CURL_GLOBAL_ALL);
  SAME(fresh(), 0);
  curl_global_cleanup();
  return FAILURES;
}
