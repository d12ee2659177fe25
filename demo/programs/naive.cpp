// naive ROUNDS URLS: a fresh handle for each file, as the first page of every tutorial does it.
#include "poll.hpp"

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  std::vector<std::string> urls = read_urls(argv[2]);
  std::string content;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  for (int round = 0; round < std::atoi(argv[1]); round++) {
    for (const std::string &url : urls) {
      auto start = Clock::now();
      CURL *easy = curl_easy_init();
      prepare(easy, url, &content);
      CURLcode code = curl_easy_perform(easy);
      curl_easy_cleanup(easy);
      report(start, code, content);
    }
  }
  curl_global_cleanup();
}
