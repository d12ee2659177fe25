/* Nonsense for every option: numbers out of any range, strings of 100 MB, numbers where no option is. Each answer is an
 * error code or OK, none is a crash, and a fresh handle still fetches; so does the one that was fed, once it is reset. */
#include "check.h"
#include <limits.h>
#include <stdint.h>

/* CHECK, and what was tried. */
#define TRIED(condition, ...)                                                                          \
  do {                                                                                                 \
    if(!(condition)) {                                                                                 \
      failures++;                                                                                      \
      printf("%s:%d: ", __FILE__, __LINE__);                                                           \
      printf(__VA_ARGS__);                                                                             \
      puts("");                                                                                        \
    }                                                                                                  \
  } while(0)

static size_t swallow(char *data, size_t size, size_t count, void *user) {
  (void)data;
  *(size_t *)user += size * count;
  return size * count;
}

static int fetches(CURL *easy) {
  size_t bytes = 0;
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/1000"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, swallow);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &bytes);
  return curl_easy_perform(easy) == CURLE_OK && bytes == 1000;
}

/* The numbers that a long may be; those that fit an option are taken, the others refused. */
static void numbers(CURL *easy) {
  static const long longs[] = {0, 1, -1, -2, 2, 3, 7, 255, 65535, 65536, (long)(1LL << 31), (long)-(1LL << 31), (long)(1LL << 40), LONG_MAX, LONG_MIN};
  for (const struct curl_easyoption *option = curl_easy_option_next(NULL); option; option = curl_easy_option_next(option))
    for (size_t i = 0; i < sizeof longs / sizeof *longs; i++) {
      CURLcode code = CURLE_OK;
      if (option->type == CURLOT_LONG || option->type == CURLOT_VALUES) code = curl_easy_setopt(easy, option->id, longs[i]);
      else if (option->type == CURLOT_OFF_T) code = curl_easy_setopt(easy, option->id, (curl_off_t)longs[i]);
      else break;
      TRIED(code <= CURL_LAST, "%s %ld: %d", option->name, longs[i], code);
    }
}

/* No string above 8,000,000 bytes is taken. */
static void long_strings(CURL *easy, char *text) {
  for (const struct curl_easyoption *option = curl_easy_option_next(NULL); option; option = curl_easy_option_next(option)) {
    if (option->type != CURLOT_STRING || option->id == CURLOPT_COPYPOSTFIELDS) continue;
    CURLcode code = curl_easy_setopt(easy, option->id, text);
    TRIED(code != CURLE_OK, "%s took 100 MB: %d", option->name, code);
  }
}

/* Where no option is, the argument is not looked at. */
static void unknown_numbers(CURL *easy) {
  static const int none[] = {-1, 0, 1, 7, 9999, 10999, 20999, 30999, 40999, 50000, 99999, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
    long untouched = 42;
    CURLcode code = curl_easy_setopt(easy, (CURLoption)none[i], (void *)1);
    TRIED(code == CURLE_UNKNOWN_OPTION || code == CURLE_BAD_FUNCTION_ARGUMENT, "option %d: %d", none[i], code);
    code = curl_easy_getinfo(easy, (CURLINFO)none[i], &untouched);
    TRIED(code != CURLE_OK && untouched == 42, "info %d: %d, %ld", none[i], code, untouched);
  }
}

static void other_calls(CURL *easy, char *text) {
  CURLU *url = curl_url();
  TRIED(curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK, "a URL of 100 MB");
  curl_url_cleanup(url);
  TRIED(curl_easy_unescape(easy, text, -1, NULL) == NULL, "a negative length");
  TRIED(curl_getdate(text, NULL) == -1, "a date of 100 MB");
  TRIED(curl_multi_setopt(NULL, CURLMOPT_MAXCONNECTS, 1L) == CURLM_BAD_HANDLE, "no multi handle");
  CURLM *multi = curl_multi_init();
  TRIED(curl_multi_setopt(multi, (CURLMoption)12345, 1L) == CURLM_UNKNOWN_OPTION, "an unknown multi option");
  TRIED(curl_multi_wait(multi, NULL, 0, -5, NULL) == CURLM_BAD_FUNCTION_ARGUMENT, "a negative time");
  TRIED(curl_multi_socket_action(multi, 12345, 0, NULL) == CURLM_OK, "a socket that nobody knows");
  TRIED(curl_multi_assign(multi, 12345, multi) == CURLM_BAD_SOCKET, "assign to a socket that nobody knows");
  TRIED(curl_multi_cleanup(multi) == CURLM_OK, "cleanup");
}

int main(void) {
  static const size_t size = 100 << 20;
  char *text = malloc(size + 1);
  memset(text, 'a', size);
  text[size] = 0;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init(), *fresh = curl_easy_init();
  numbers(easy);
  curl_easy_reset(easy);
  long_strings(easy, text);
  unknown_numbers(easy);
  other_calls(easy, text);
  TRIED(fetches(easy), "after all that");
  numbers(easy);
  curl_easy_reset(easy);
  TRIED(fetches(easy), "after a reset");
  TRIED(fetches(fresh), "a fresh handle");
  curl_easy_cleanup(easy);
  curl_easy_cleanup(fresh);
  curl_global_cleanup();
  free(text);
  return FAILURES;
}
