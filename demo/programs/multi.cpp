// multi ROUNDS URLS: all files of a round in parallel over one multi handle.
#include "poll.hpp"

struct File {
  CURL *easy = nullptr;
  std::string content;
};

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  std::vector<std::string> urls = read_urls(argv[2]);
  std::vector<File> files(urls.size());
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 100L);
  for (int round = 0; round < std::atoi(argv[1]); round++) {
    auto start = Clock::now();
    for (size_t i = 0; i < urls.size(); i++) {
      files[i].easy = curl_easy_init();
      prepare(files[i].easy, urls[i], &files[i].content);
      curl_easy_setopt(files[i].easy, CURLOPT_PRIVATE, &files[i]);
      curl_multi_add_handle(multi, files[i].easy);
    }
    for (int running = 1, left; running;) {
      curl_multi_perform(multi, &running);
      while (CURLMsg *message = curl_multi_info_read(multi, &left)) {
        File *file;
        CURL *easy = message->easy_handle;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&file);
        report(start, message->data.result, file->content);
        curl_multi_remove_handle(multi, easy);
        curl_easy_cleanup(easy);
      }
      if (running) curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
    }
  }
  curl_multi_cleanup(multi);
  curl_global_cleanup();
}
