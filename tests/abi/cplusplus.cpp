// The headers in C++, and C++ functions as callbacks.
// covers: curl_easy_init, curl_easy_perform, CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION, CURLINFO_RESPONSE_CODE
#include <string>
#include "check.h"

static size_t append(char *data, size_t size, size_t count, void *user)
{
  static_cast<std::string *>(user)->append(data, size * count);
  return size * count;
}

int main()
{
  std::string body, head;
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/335114"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, append);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &head);
  SAME(curl_easy_perform(easy), CURLE_OK);
  long code = 0;
  SAME(curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code), CURLE_OK);
  SAME(code, 200);
  SAME(body.size(), 335114);
  CHECK(head.rfind("HTTP/1.1 200", 0) == 0 && head.find("\r\n\r\n") == head.size() - 4);
  curl_easy_cleanup(easy);
  return FAILURES;
}
