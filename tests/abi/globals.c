/* Global calls in every order and number: init without cleanup and the other way round, init_mem before and after, TLS backends chosen too late, strings
 * for traces, threads that begin all at once; and counting allocators, which get back all that they gave while transfers, forms, copies and shares come and go.
 * covers: curl_global_init, curl_global_init_mem, curl_global_cleanup, curl_global_trace, curl_global_sslset, curl_free, curl_mime_init, curl_easy_duphandle, curl_easy_header, curl_multi_get_handles,
 * covers: CURLINFO_CERTINFO, CURLINFO_SSL_ENGINES, CURLINFO_COOKIELIST, curl_maprintf, curl_url_get, curl_formadd, curl_pushheader_byname */
#define CURL_DISABLE_DEPRECATION
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

static atomic_long blocks, foreign_frees, given;

/* Each block has a mark of ours in front. */
enum { MARK = 0x57415257 };

static void *marked(void *block)
{
  if(!block)
    return NULL;
  *(unsigned *)block = MARK;
  blocks++;
  given++;
  return (char *)block + 16;
}

static void *my_malloc(size_t size) { return marked(malloc(size + 16)); }
static void *my_calloc(size_t count, size_t size) { return marked(calloc(1, count * size + 16)); }

static void my_free(void *block)
{
  if(!block)
    return;
  unsigned *mark = (unsigned *)((char *)block - 16);
  if(*mark != MARK) {
    foreign_frees++;
    return;
  }
  *mark = 0;
  blocks--;
  free(mark);
}

static void *my_realloc(void *block, size_t size)
{
  void *larger = my_malloc(size);
  if(block && larger) {
    memcpy(larger, block, size);
    my_free(block);
  }
  return larger;
}

static char *my_strdup(const char *text)
{
  char *copy = my_malloc(strlen(text) + 1);
  return copy ? strcpy(copy, text) : NULL;
}

static size_t discard(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  return size * count;
}

static int fetches(const char *path)
{
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server(path));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
  CURLcode code = curl_easy_perform(easy);
  curl_easy_cleanup(easy);
  return code == CURLE_OK;
}

/* What is handed to C, each freed the way its page says. */
static void handed_out(void)
{
  CURL *easy = curl_easy_init(), *copy;
  CURLM *multi = curl_multi_init();
  CURLU *url = curl_url(), *second;
  CURLSH *share = curl_share_init();
  struct curl_slist *list = NULL;
  struct curl_certinfo *certificates = NULL;
  struct curl_header *header = NULL;
  char *text = NULL;
  int left;
  for(int i = 0; i < 20; i++)
    list = curl_slist_append(list, "X-Line: value");
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
  curl_easy_setopt(easy, CURLOPT_SHARE, share);
  curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");
  curl_easy_setopt(easy, CURLOPT_URL, server("/cookies/set/name/value"));
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
  curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(curl_easy_header(easy, "set-cookie", 0, CURLH_HEADER, -1, &header), CURLHE_OK); /* the handle's own */
  struct curl_slist *cookies = NULL, *engines = NULL;
  SAME(curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &cookies), CURLE_OK);
  CHECK(cookies);
  curl_slist_free_all(cookies);
  SAME(curl_easy_getinfo(easy, CURLINFO_SSL_ENGINES, &engines), CURLE_OK);
  curl_slist_free_all(engines);
  curl_easy_getinfo(easy, CURLINFO_CERTINFO, &certificates); /* the handle's own */
  curl_mime *mime = curl_mime_init(easy);
  curl_mimepart *part = curl_mime_addpart(mime);
  curl_mime_data(part, "data", CURL_ZERO_TERMINATED);
  curl_mime_headers(part, curl_slist_append(NULL, "X-Part: 1"), 1);
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, mime);
  copy = curl_easy_duphandle(easy);
  curl_easy_setopt(copy, CURLOPT_URL, server("/body"));
  SAME(curl_easy_perform(copy), CURLE_OK);
  curl_multi_add_handle(multi, copy);
  CURL **handles = curl_multi_get_handles(multi);
  CHECK(handles && handles[0] == copy);
  curl_free(handles);
  struct curl_httppost *first = NULL, *last = NULL;
  curl_formadd(&first, &last, CURLFORM_COPYNAME, "n", CURLFORM_COPYCONTENTS, "c", CURLFORM_CONTENTTYPE, "text/plain", CURLFORM_END);
  curl_formfree(first);
  curl_url_set(url, CURLUPART_URL, "http://u:p@h:1/p?q#f", 0);
  second = curl_url_dup(url);
  for(int which = CURLUPART_URL; which <= CURLUPART_ZONEID; which++)
    if(curl_url_get(second, (CURLUPart)which, &text, CURLU_DEFAULT_SCHEME) == CURLUE_OK)
      curl_free(text);
  curl_free(curl_easy_escape(easy, "a b", 3));
  curl_free(curl_easy_unescape(easy, "a%20b", 0, &left));
  curl_free(curl_maprintf("%s %d", "text", 1));
  curl_free(curl_getenv("PATH"));
  CHECK(blocks > 0 && given > 30);
  curl_multi_cleanup(multi);
  curl_easy_cleanup(copy);
  curl_easy_cleanup(easy);
  curl_mime_free(mime);
  curl_slist_free_all(list);
  curl_url_cleanup(second);
  curl_url_cleanup(url);
  SAME(curl_share_cleanup(share), CURLSHE_OK);
}

static void *begins(void *user)
{
  (void)user;
  for(int i = 0; i < 50; i++)
    if(curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK)
      curl_global_cleanup();
  return NULL;
}

static void traces(void)
{
  static const char *const words[] = {"", "all", "-all", "ids,time", "+ids", "-ids,-time", "tcp, ssl", "TCP;SSL", "nonsense", ",", ",,,", "-", "+", "all,-all,all", "network", "proxy protocol", "tls,\t doh", "-all"};
  for(size_t i = 0; i < sizeof words / sizeof *words; i++)
    SAME(curl_global_trace(words[i]), CURLE_OK);
  SAME(curl_global_trace(NULL), CURLE_OK);
}

int main(void)
{
  const curl_ssl_backend **backends = NULL;
  pthread_t threads[6];
  /* Cleanup first, and more often than init. */
  curl_global_cleanup();
  curl_global_cleanup();
  SAME(curl_global_sslset(CURLSSLBACKEND_OPENSSL, NULL, &backends), CURLSSLSET_OK);
  CHECK(backends && backends[0]);
  /* Handles without init: done on the way. */
  CHECK(fetches("/bytes/10"));
  SAME(curl_global_sslset((curl_sslbackend)1234, NULL, &backends), CURLSSLSET_UNKNOWN_BACKEND);
  SAME(curl_global_sslset(CURLSSLBACKEND_NONE, "nonsense", NULL), CURLSSLSET_UNKNOWN_BACKEND);
  curl_global_cleanup();
  traces();
  /* Functions are all given or it is refused. */
  SAME(curl_global_init_mem(CURL_GLOBAL_ALL, my_malloc, NULL, my_realloc, my_strdup, my_calloc), CURLE_FAILED_INIT);
  SAME(curl_global_init_mem(CURL_GLOBAL_ALL, my_malloc, my_free, NULL, my_strdup, my_calloc), CURLE_FAILED_INIT);
  SAME(curl_global_init_mem(CURL_GLOBAL_ALL, my_malloc, my_free, my_realloc, NULL, my_calloc), CURLE_FAILED_INIT);
  SAME(curl_global_init_mem(CURL_GLOBAL_ALL, my_malloc, my_free, my_realloc, my_strdup, NULL), CURLE_FAILED_INIT);
  SAME(curl_global_init_mem(CURL_GLOBAL_ALL, my_malloc, my_free, my_realloc, my_strdup, my_calloc), CURLE_OK);
  for(int i = 0; i < 3; i++) {
    handed_out();
    SAME(blocks, 0);
  }
  SAME(foreign_frees, 0);
  /* Once more while it is up: counted, and the functions stay. */
  SAME(curl_global_init_mem(CURL_GLOBAL_ALL, my_malloc, my_free, my_realloc, my_strdup, my_calloc), CURLE_OK);
  SAME(curl_global_init(CURL_GLOBAL_NOTHING), CURLE_OK);
  long before = given;
  handed_out();
  CHECK(given > before);
  curl_global_cleanup();
  curl_global_cleanup();
  handed_out();
  SAME(blocks, 0);
  SAME(foreign_frees, 0);
  curl_global_cleanup();
  /* All at once. */
  for(int i = 0; i < 6; i++)
    pthread_create(&threads[i], NULL, begins, NULL);
  for(int i = 0; i < 6; i++)
    pthread_join(threads[i], NULL);
  SAME(curl_global_init(CURL_GLOBAL_SSL | CURL_GLOBAL_WIN32 | CURL_GLOBAL_ACK_EINTR), CURLE_OK);
  CHECK(fetches("/bytes/10"));
  curl_global_cleanup();
  SAME(curl_global_init(-1), CURLE_OK);
  CHECK(fetches("/bytes/10"));
  curl_global_cleanup();
  SAME(foreign_frees, 0);
  return FAILURES;
}
