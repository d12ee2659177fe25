// at_exit URL: a static object whose destructor cleans handles, one of them in the middle of a transfer, after main
// has returned; with "twice", after curl_global_cleanup as well.
#include <cstdio>
#include <cstring>
#include <curl/curl.h>

struct Holder {
  CURL *kept = nullptr;
  CURL *running = nullptr;
  CURLM *multi = nullptr;
  ~Holder() {
    if (multi && running) curl_multi_remove_handle(multi, running);
    if (running) curl_easy_cleanup(running);
    if (multi) curl_multi_cleanup(multi);
    if (kept) curl_easy_cleanup(kept);
    std::puts("destroyed");
    std::fflush(stdout);
  }
};

static Holder holder;

static size_t discard(char *, size_t size, size_t count, void *) { return size * count; }

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int running = 1;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  holder.kept = curl_easy_init();
  curl_easy_setopt(holder.kept, CURLOPT_URL, argv[1]);
  curl_easy_setopt(holder.kept, CURLOPT_WRITEFUNCTION, discard);
  std::printf("code=%d\n", curl_easy_perform(holder.kept));
  holder.multi = curl_multi_init();
  holder.running = curl_easy_duphandle(holder.kept);
  curl_easy_setopt(holder.running, CURLOPT_URL, argv[1]);
  curl_multi_add_handle(holder.multi, holder.running);
  curl_multi_perform(holder.multi, &running);
  std::printf("running=%d\n", running);
  if (argc > 2) curl_global_cleanup();
  return 0;
}
