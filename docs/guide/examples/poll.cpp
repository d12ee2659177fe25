#include <curl/curl.h>
#include <curl/warmwire.h>
#include <cstdio>
#include <string>

static size_t append(char *data, size_t size, size_t number, void *text) {
  static_cast<std::string *>(text)->append(data, size * number);
  return size * number;
}

// Polls each URL of the command line twice. A handle lives for one file only; the pool keeps the connections.
int main(int words, char **word) {
  curl_global_init(CURL_GLOBAL_ALL);
  warmwire_pool(1);
  for (int round = 0; round < 2; round++)
    for (int at = 1; at < words; at++) {
      std::string text;
      CURL *easy = curl_easy_init();
      warmwire_ftp_pipeline(easy, WARMWIRE_FTP_PIPELINE);
      curl_easy_setopt(easy, CURLOPT_URL, word[at]);
      curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
      curl_easy_setopt(easy, CURLOPT_WRITEDATA, &text);
      CURLcode code = curl_easy_perform(easy);
      if (code != CURLE_OK)
        std::fprintf(stderr, "%s: %s\n", word[at], curl_easy_strerror(code));
      curl_easy_cleanup(easy);
      std::printf("%zu bytes, idle connections: %zu\n", text.size(), warmwire_each(nullptr, nullptr));
    }
  curl_global_cleanup(); // QUIT for FTP, close_notify for TLS
}
