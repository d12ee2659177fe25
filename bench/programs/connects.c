/* connects URL COUNT RESOLVE: so many GETs, each over a connection of its own, by one kept handle; the host's addresses are
 * those of RESOLVE (CURLOPT_RESOLVE). Prints the microseconds until each was connected. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static size_t nowhere(char *data, size_t size, size_t count, void *to) {
  (void)data, (void)to;
  return size * count;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  CURL *easy = curl_easy_init();
  struct curl_slist *addresses = curl_slist_append(NULL, argv[3]);
  curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
  curl_easy_setopt(easy, CURLOPT_RESOLVE, addresses);
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, nowhere);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 20L);
  for (int i = atoi(argv[2]); i > 0; i--) {
    curl_off_t connected = 0;
    int code = curl_easy_perform(easy);
    if (code) return fprintf(stderr, "%s: %s\n", argv[1], curl_easy_strerror(code)), 1;
    curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &connected);
    printf("%lld\n", (long long)connected);
  }
  curl_easy_cleanup(easy);
  curl_slist_free_all(addresses);
  return 0;
}
