/* first URL: one GET by a process that has done nothing before, its body to standard output; the trust anchors are those of CA. */
#include <curl/curl.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
  curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 20L);
  int code = curl_easy_perform(easy);
  curl_easy_cleanup(easy);
  return code;
}
