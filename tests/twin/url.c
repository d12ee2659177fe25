/* The URL API: every part of many URLs, with every flag that matters, and parts set one by one. */
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

static const char *const parts[] = {"url", "scheme", "user", "password", "options", "host", "port", "path", "query", "fragment", "zoneid"};

static void show(const char *name, CURLU *url, unsigned flags)
{
  for(int part = 0; part < 11; part++) {
    char *text = NULL;
    int code = curl_url_get(url, (CURLUPart)part, &text, flags);
    printf("%s %s %u: %d %s\n", name, parts[part], flags, code, text ? text : "-");
    curl_free(text);
  }
}

static void parse(const char *input, unsigned set_flags, unsigned get_flags)
{
  CURLU *url = curl_url();
  char name[300];
  int code = curl_url_set(url, CURLUPART_URL, input, set_flags);
  snprintf(name, sizeof name, "%.200s/%u", input, set_flags);
  for(char *at = name; *at; at++)
    if(*at == ':' || *at == '\t')
      *at = *at == ':' ? ';' : '~';
  printf("%s: %d\n", name, code);
  if(!code)
    show(name, url, get_flags);
  curl_url_cleanup(url);
}

static void set(CURLU *url, int part, const char *value, unsigned flags)
{
  int code = curl_url_set(url, (CURLUPart)part, value, flags);
  char *text = NULL;
  int whole = curl_url_get(url, CURLUPART_URL, &text, 0);
  printf("set %s %s %u: %d then %d %s\n", parts[part], value ? value : "NULL", flags, code, whole, text ? text : "-");
  curl_free(text);
}

int main(void)
{
  static const char *const inputs[] = {
    "http://example.com", "HTTP://User:Pass@EXAMPLE.com:8080/a/../b/./c?q=1#frag", "https://[fe80::1%25eth0]:443/x",
    "http://[::1]/", "http://127.1/", "http://0x7f.0.0.1/", "http://1234567890/", "http://a b/", "http://a/b c", "example.com/path",
    "ftp.example.com/", "//host/x", "http:/one", "http:///three", "file:///etc/passwd", "file://localhost/x", "file://other/x",
    "http://host:/", "http://host:0/", "http://host:65535/", "http://host:65536/", "http://host:abc/", "http://host:1:2/",
    "http://u@h/", "http://u:@h/", "http://:p@h/", "http://@h/", "http://a@b@c/", "http://h?q", "http://h#f", "http://h?#",
    "http://h/%41%2f%zz", "http://h/a%20b?c%20d#e%20f", "http://-h/", "http://h_/", "http://h..x/", "http://.h/", "http://h./",
    "unknown://h/", "1http://h/", "", " http://h/", "http://h/\t", "http://h/\\", "http:\\\\h\\", "http://[::1", "http://::1]/",
    "http://[::1]x/", "http://[::ffff:1.2.3.4]/", "http://[1:2:3:4:5:6:7:8]/", "http://[g::1]/", "smtp://h:25", "imap://u;o:p@h/",
    "http://h/?a=b&c=d", "http://h/a/b/c/../../d", "http://h/..", "http://h/.", "http://h/../../x", "http://h/./x/", "mailto:a@b",
  };
  for(unsigned i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
    parse(inputs[i], 0, 0);
    parse(inputs[i], CURLU_DEFAULT_SCHEME, CURLU_DEFAULT_PORT);
    parse(inputs[i], CURLU_GUESS_SCHEME, CURLU_NO_DEFAULT_PORT);
    parse(inputs[i], CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS, CURLU_URLDECODE);
    parse(inputs[i], CURLU_URLENCODE | CURLU_ALLOW_SPACE, CURLU_URLENCODE);
    parse(inputs[i], CURLU_DISALLOW_USER | CURLU_NO_AUTHORITY | CURLU_NON_SUPPORT_SCHEME, 0);
  }
  CURLU *url = curl_url();
  set(url, CURLUPART_SCHEME, "https", 0);
  set(url, CURLUPART_SCHEME, "nope", 0);
  set(url, CURLUPART_SCHEME, "nope", CURLU_NON_SUPPORT_SCHEME);
  set(url, CURLUPART_SCHEME, "http", 0);
  set(url, CURLUPART_HOST, "example.org", 0);
  set(url, CURLUPART_HOST, "exa mple", 0);
  set(url, CURLUPART_HOST, "[::1]", 0);
  set(url, CURLUPART_HOST, "example.org", 0);
  set(url, CURLUPART_PORT, "81", 0);
  set(url, CURLUPART_PORT, "0", 0);
  set(url, CURLUPART_PORT, "99999", 0);
  set(url, CURLUPART_PORT, "8x", 0);
  set(url, CURLUPART_USER, "us er", 0);
  set(url, CURLUPART_USER, "us er", CURLU_URLENCODE);
  set(url, CURLUPART_PASSWORD, "p:w", CURLU_URLENCODE);
  set(url, CURLUPART_PATH, "a b/c", CURLU_URLENCODE);
  set(url, CURLUPART_PATH, "noslash", 0);
  set(url, CURLUPART_QUERY, "a=b c", CURLU_URLENCODE);
  set(url, CURLUPART_QUERY, "d=e", CURLU_APPENDQUERY);
  set(url, CURLUPART_QUERY, "f=g h&", CURLU_APPENDQUERY | CURLU_URLENCODE);
  set(url, CURLUPART_FRAGMENT, "fr ag", CURLU_URLENCODE);
  set(url, CURLUPART_FRAGMENT, NULL, 0);
  set(url, CURLUPART_QUERY, NULL, 0);
  set(url, CURLUPART_PORT, NULL, 0);
  static const char *const relative[] = {"other", "/abs", "?query", "#frag", "../up", "//host2/x", "http://full/", "a/./b/../c", ""};
  for(unsigned i = 0; i < sizeof relative / sizeof relative[0]; i++) {
    curl_url_set(url, CURLUPART_URL, "http://base/one/two?q#f", 0);
    set(url, CURLUPART_URL, relative[i], 0);
  }
  CURLU *copy = curl_url_dup(url);
  show("copy", copy, 0);
  curl_url_cleanup(copy);
  curl_url_cleanup(url);
  return 0;
}
