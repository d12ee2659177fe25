/* Relative references (RFC 3986, section 5) set on a URL handle that holds a base.
 * covers: curl_url_set, curl_url_dup */
#include "twin.h"

int main(void)
{
  static const char *bases[] = {"http://a/b/c/d;p?q", "http://u:p@h:81/x/y?z#w", "https://h", "http://h/a/b/../c/", "ftp://h/dir/file"};
  static const char *relatives[] = {
    "g:h", "g", "./g", "g/", "/g", "//g", "?y", "g?y", "g#s", "g?y#s", ";x", "g;x", "g;x?y#s", ".", "./", "..", "../", "../g",
    "../..", "../../", "../../g", "../../../g", "../../../../g", "/./g", "/../g", "g.", ".g", "g..", "..g", "./../g", "./g/.", "g/./h",
    "g/../h", "g;x=1/./y", "g;x=1/../y", "g?y/./x", "g?y/../x", "g#s/./x", "g#s/../x", "http:g", "http://other", "HTTPS://Other:443/x",
    "//u:p@other:9/x", "//other?x", "//[::1]/x", "/a b", "a%20b", "?a b", "#a b", "/\xc3\xa4", "a//b", "//", "///", "/", "\\x", "a:b", "a/b:c", "./a:b"};
  for(size_t b = 0; b < sizeof bases / sizeof *bases; b++)
    for(size_t r = 0; r < sizeof relatives / sizeof *relatives; r++)
      for(unsigned flags = 0; flags < 2; flags++) {
        CURLU *base = curl_url(), *url;
        char *text = NULL, name[64];
        curl_url_set(base, CURLUPART_URL, bases[b], 0);
        url = curl_url_dup(base);
        curl_url_cleanup(base);
        CURLUcode code = curl_url_set(url, CURLUPART_URL, relatives[r], flags ? CURLU_PATH_AS_IS | CURLU_URLENCODE : 0);
        curl_url_get(url, CURLUPART_URL, &text, 0);
        snprintf(name, sizeof name, "%s", relatives[r]);
        for(char *c = name; *c; c++)
          *c = *c == ':' ? ';' : *c < 33 ? '_' : *c;
        printf("%s %u base %zu: %d %s\n", name, flags, b, code, text ? text : "(none)");
        curl_free(text);
        curl_url_cleanup(url);
      }
  return 0;
}
