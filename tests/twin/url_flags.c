/* URLs set and got with each flag of curl_url_set(3) and curl_url_get(3), alone and some together.
 * covers: curl_url_set, curl_url_get */
#include "url_shown.h"

static const char *urls[] = {
  "http://example.com", "example.com:1/x", "http://u:p@example.com/a/../b?q=a b#f", "ftp.example.com/x", "unknown://h/x", "http:///x",
  "http://us er@h/", "http://h/%61%2f%7e?%41+%20#%42", "http://h:80/", "https://h:443", "http://h/a b", "http://h/\xc3\xa4?\xc3\xa4",
  "http://u;o@h/", "//h/x", "/only/path", "http://h?", "http://h/?#", "http://h/x y?z w#v u", "http://@h/", "file:///a b",
  "http://h/%00", "http://h/?%00", "http://[fe80::1%25e]/", "http://h/a?b=c&d=e%26f", "http://127.1/", "HTTPS://H/", "ws://h/"};

int main(void)
{
  static const unsigned sets[] = {0, CURLU_NON_SUPPORT_SCHEME, CURLU_URLENCODE, CURLU_DEFAULT_SCHEME, CURLU_GUESS_SCHEME, CURLU_PATH_AS_IS,
                                  CURLU_DISALLOW_USER, CURLU_NO_AUTHORITY, CURLU_ALLOW_SPACE, CURLU_DEFAULT_SCHEME | CURLU_URLENCODE,
                                  CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS};
  static const unsigned gets[] = {0, CURLU_URLDECODE, CURLU_URLENCODE, CURLU_DEFAULT_PORT, CURLU_NO_DEFAULT_PORT, CURLU_DEFAULT_SCHEME,
                                  CURLU_PUNYCODE, CURLU_DEFAULT_PORT | CURLU_URLDECODE};
  for(size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    for(size_t j = 0; j < sizeof sets / sizeof *sets; j++)
      show(urls[i], sets[j], 0);
    for(size_t j = 1; j < sizeof gets / sizeof *gets; j++)
      show(urls[i], CURLU_GUESS_SCHEME | CURLU_ALLOW_SPACE, gets[j]);
  }
  return 0;
}
