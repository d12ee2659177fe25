// What the demo's programs share: the list of files, the clock, and a line of output for each file fetched.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <curl/curl.h>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;

inline std::vector<std::string> read_urls(const char *path) {
  std::vector<std::string> urls;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) urls.push_back(line);
  return urls;
}

inline size_t append(char *data, size_t size, size_t count, void *user) {
  static_cast<std::string *>(user)->append(data, size * count);
  return size * count;
}

inline void prepare(CURL *easy, const std::string &url, std::string *content) {
  content->clear();
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, content);
  if (const char *ca = std::getenv("DEMO_CA")) curl_easy_setopt(easy, CURLOPT_CAINFO, ca);
}

// Milliseconds, the code, the length: the driver makes a table of these.
inline void report(Clock::time_point start, CURLcode code, const std::string &content) {
  double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  std::printf("%.3f %d %zu\n", ms, code, content.size());
  std::fflush(stdout);
}
