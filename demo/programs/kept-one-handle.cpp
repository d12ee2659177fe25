// kept-one-handle ROUNDS URLS: one handle for everything. Its pool holds five connections: with more servers than
// that, each connection has been closed by the time its server comes round again.
#include "poll.hpp"

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  std::vector<std::string> urls = read_urls(argv[2]);
  std::string content;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  for (int round = 0; round < std::atoi(argv[1]); round++) {
    for (const std::string &url : urls) {
      auto start = Clock::now();
      prepare(easy, url, &content);
      report(start, curl_easy_perform(easy), content);
    }
  }
  curl_easy_cleanup(easy);
  curl_global_cleanup();
}
