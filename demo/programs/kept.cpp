// kept ROUNDS URLS: one handle for each server, kept from round to round.
#include "poll.hpp"

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  std::vector<std::string> urls = read_urls(argv[2]);
  std::map<std::string, CURL *> handles;
  std::string content;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  for (int round = 0; round < std::atoi(argv[1]); round++) {
    for (const std::string &url : urls) {
      auto start = Clock::now();
      std::string server = url.substr(0, url.find('/', url.find("://") + 3));
      CURL *&easy = handles[server];
      if (!easy) easy = curl_easy_init();
      prepare(easy, url, &content);
      report(start, curl_easy_perform(easy), content);
    }
  }
  for (auto &entry : handles) curl_easy_cleanup(entry.second);
  curl_global_cleanup();
}
