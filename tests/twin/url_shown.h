/* What a URL consists of, in one line: for the programs about the URL API. */
#include "twin.h"

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
