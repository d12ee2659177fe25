#include <curl/curl.h>
#include <stdio.h>

static size_t count(char *data, size_t size, size_t number, void *sum) {
  (void)data;
  *(size_t *)sum += size * number;
  return size * number;
}

/* Fetches the URL of the command line twice, each time with a fresh handle. */
int main(int words, char **word) {
  if (words < 2)
    return 2;
  curl_global_init(CURL_GLOBAL_ALL);
  for (int turn = 0; turn < 2; turn++) {
    size_t sum = 0;
    long created = 0;
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, word[1]);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sum);
    CURLcode code = curl_easy_perform(easy);
    if (code != CURLE_OK)
      return fprintf(stderr, "%s\n", curl_easy_strerror(code)), 1;
    /* 0 new connections: the request used one from the pool. */
    curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &created);
    printf("%zu bytes, new connections: %ld\n", sum, created);
    curl_easy_cleanup(easy);
  }
  curl_global_cleanup();
}
