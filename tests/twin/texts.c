/* Pure functions: dates, escapes, comparison, error texts, option look-up. */
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

static void date(const char *text)
{
  char name[100];
  snprintf(name, sizeof name, "%s", text);
  for(char *at = name; *at; at++)
    if(*at == ':')
      *at = ';';
  printf("date %s: %lld\n", name, (long long)curl_getdate(text, NULL));
}

static void escaped(const char *text, int length)
{
  char *out = curl_easy_escape(NULL, text, length);
  printf("escape %d: %s\n", length, out ? out : "NULL");
  curl_free(out);
}

static void unescaped(const char *text, int length)
{
  int size = -1;
  char *out = curl_easy_unescape(NULL, text, length, &size);
  printf("unescape %s %d: %d %s\n", text, length, size, out ? out : "NULL");
  curl_free(out);
}

int main(void)
{
  static const char *const dates[] = {
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "06 Nov 1994 08:49:37 GMT",
    "06-Nov-94 08:49:37 GMT", "Nov  6 08:49:37 1994", "1994 Nov 6 08:49:37", "GMT 08:49:37 06-Nov-94 Sunday", "94 6 Nov 08:49:37",
    "1994 Nov 6", "06-Nov-94", "Sun Nov 6 94", "1994.Nov.6", "Sun/Nov/6/94/GMT", "Sun, 06 Nov 1994 08:49:37 CET",
    "06 Nov 1994 08:49:37 EST", "Sun, 12 Sep 2004 15:05:58 -0700", "Sat, 11 Sep 2004 21:32:11 +0200", "20040912 15:05:58 -0700",
    "20040911 +0200", "2004-09-12", "Thu, 01-Jan-1970 00:59:58 GMT", "Thu, 01-Jan-1970 00:00:00 GMT", "Wed, 31 Dec 1969 23:59:59 GMT",
    "Thu, 999999999999-Aug-2007 20:49:07 GMT", "6 Nov 24:00:00 1994", "6 Nov 08:60:00 1994", "6 Nov 08:49:61 1994", "6 Nov 8:4:7 1994",
    "6 Nov 08:49 1994", "32 Nov 1994", "31 Feb 1994", "29 Feb 1900", "29 Feb 2000", "Nov", "", "6 Nov", "Foo 6 Nov 1994", "6 Nov 1500",
    "1 Jan 1583", "1 Jan 9999", "6 Nov 69", "6 Nov 70", "6 Nov 71", "6 Nov 0", "06 Nov 1994 08:49:37 A", "06 Nov 1994 08:49:37 M",
    "06 Nov 1994 08:49:37 N", "06 Nov 1994 08:49:37 Z", "06 Nov 1994 08:49:37 J", "06 Nov 1994 +1400", "06 Nov 1994 +1401", "+0100 6 Nov 1994",
    "6 Nov 1994 BST", "6 Nov 1994 PDT", "6 Nov 1994 UTC", "Tue Wed 6 Nov 1994", "6 6 Nov 1994", "6 Nov 1994 1995",
  };
  for(unsigned i = 0; i < sizeof dates / sizeof dates[0]; i++)
    date(dates[i]);
  static const char bytes[] = "a\0b/\xff ~-._!";
  escaped(bytes, sizeof bytes - 1);
  escaped("", 0);
  escaped("abc def", 3);
  escaped("abc", -1);
  unescaped("a%20b%2", 0);
  unescaped("%zz%4", 0);
  unescaped("%41%42", 3);
  unescaped("abc", -1);
  unescaped("", 0);
  unescaped("a%00b", 0);
  printf("equal: %d %d %d %d\n", curl_strequal("aB", "Ab"), curl_strequal("a", "ab"), curl_strequal("", ""), curl_strequal("\xe4", "\xc4"));
  printf("nequal: %d %d %d %d\n", curl_strnequal("aBx", "Aby", 2), curl_strnequal("a", "ab", 1), curl_strnequal("a", "ab", 5), curl_strnequal("x", "y", 0));
  for(int code = -1; code < 105; code++)
    printf("easy %d: %s\n", code, curl_easy_strerror((CURLcode)code));
  for(int code = -2; code < 15; code++)
    printf("multi %d: %s\n", code, curl_multi_strerror((CURLMcode)code));
  for(int code = 0; code < 8; code++)
    printf("share %d: %s\n", code, curl_share_strerror((CURLSHcode)code));
  for(int code = 0; code < 34; code++)
    printf("url %d: %s\n", code, curl_url_strerror((CURLUcode)code));
  const struct curl_easyoption *option = NULL;
  while((option = curl_easy_option_next(option)))
    printf("option %s: %d %d %u\n", option->name, option->id, option->type, option->flags);
  return 0;
}
