/* mime URL: a small multipart form and a small POST; the harness looks at how they came over the wire. */
#include "facts.h"

int main(int argc, char **argv) {
  struct sink sink;
  if (argc < 2) return 2;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  sink_reset(&sink);
  curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
  curl_mime *form = curl_mime_init(easy);
  curl_mimepart *part = curl_mime_addpart(form);
  curl_mime_name(part, "field");
  curl_mime_data(part, "value one", CURL_ZERO_TERMINATED);
  part = curl_mime_addpart(form);
  curl_mime_name(part, "file");
  curl_mime_filename(part, "a \"quoted\" name.txt");
  curl_mime_type(part, "text/plain");
  curl_mime_data(part, "file content\n", CURL_ZERO_TERMINATED);
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, form);
  printf("form=%d\n", curl_easy_perform(easy));
  curl_easy_reset(easy); /* keeps the connection */
  curl_mime_free(form);
  curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "small=post");
  printf("post=%d\n", curl_easy_perform(easy));
  long connects = -1;
  curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
  printf("connects=%ld\n", connects);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return 0;
}
