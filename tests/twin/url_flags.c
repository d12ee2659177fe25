/* URLs set and got with each flag of curl_url_set(3) and curl_url_get(3), alone and some together.
 * covers: curl_url_set, curl_url_get */
#include "twin.h"

static const char *urls[] = {
  "http://example.com", "example.com:1/x", "http://u:p@example.com/a/../b?q=a b#f", "ftp.example.com/x", "unknown://h/x", "http:///x",
  "http://us er@h/", "http://h/%61%2f%7e?%41+%20#%42", "http://h:80/", "https://h:443", "http://h/a b", "http://h/\xc3\xa4?\xc3\xa4",
  "http://u;o@h/", "//h/x", "/only/path", "http://h?", "http://h/?#", "http://h/x y?z w#v u", "http://@h/", "file:///a b",
  "http://h/%00", "http://h/?%00", "http://[fe80::1%25e]/", "http://h/a?b=c&d=e%26f", "http://127.1/", "HTTPS://H/", "ws://h/"};

static const struct { CURLUPart part; const char *name; } parts[] = {
  {CURLUPART_URL, "url"}, {CURLUPART_SCHEME, "scheme"}, {CURLUPART_USER, "user"}, {CURLUPART_PASSWORD, "password"},
  {CURLUPART_OPTIONS, "options"}, {CURLUPART_HOST, "host"}, {CURLUPART_PORT, "port"}, {CURLUPART_PATH, "path"},
  {CURLUPART_QUERY, "query"}, {CURLUPART_FRAGMENT, "fragment"}, {CURLUPART_ZONEID, "zone"}};

static void show(const char *url, unsigned set, unsigned get)
{
  CURLU *u = curl_url();
  CURLUcode code = curl_url_set(u, CURLUPART_URL, url, set);
  printf("<");
  for(; *url; url++)
    printf(*url == ':' ? ";" : *url > 32 && *url < 127 ? "%c" : "\\x%02x", (unsigned char)*url);
  printf("> %u %u: %d", set, get, code);
  for(size_t i = 0; !code && i < sizeof parts / sizeof *parts; i++) {
    char *text = NULL;
    CURLUcode got = curl_url_get(u, parts[i].part, &text, get);
    if(got)
      printf(" %s=#%d", parts[i].name, got);
    else
      printf(" %s=[%s]", parts[i].name, text);
    curl_free(text);
  }
  puts("");
  curl_url_cleanup(u);
}

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
