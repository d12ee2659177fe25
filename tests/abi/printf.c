/* curl's printf family where curl 8.22's documents say more than Debian's 7.88 does; the rest is compared in tests/twin.
 * covers: curl_mprintf, curl_mfprintf, curl_msprintf, curl_msnprintf, curl_maprintf, curl_mvprintf, curl_mvfprintf,
 * covers: curl_mvsprintf, curl_mvsnprintf, curl_mvaprintf */
#include "check.h"
#include <curl/mprintf.h>
#include <stdarg.h>
#undef printf
#undef fprintf
#undef snprintf
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-overflow"
#pragma GCC diagnostic ignored "-Wformat-extra-args"

static char buffer[600];
#define PRINTED(wanted, ...)                                                            \
  do {                                                                                  \
    int length = curl_msnprintf(buffer, sizeof buffer, __VA_ARGS__);                    \
    SAME_TEXT(buffer, wanted);                                                          \
    SAME(length, strlen(wanted));                                                       \
  } while(0)

static int by_list(char *out, const char *format, ...)
{
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  int length = curl_mvsnprintf(out, 20, format, list);
  va_end(list);
  char *copy = curl_mvaprintf(format, again);
  va_end(again);
  SAME_TEXT(copy, out);
  curl_free(copy);
  va_start(list, format);
  SAME(curl_mvsprintf(out, format, list), length);
  va_end(list);
  va_start(list, format);
  FILE *file = tmpfile();
  SAME(curl_mvfprintf(file, format, list), length);
  va_end(list);
  rewind(file);
  char back[30] = "";
  SAME(fread(back, 1, 29, file), length);
  SAME_TEXT(back, out);
  fclose(file);
  return length;
}

int main(void)
{
  PRINTED("", "%2$s", "a", "b");        /* a gap */
  PRINTED("", "%1$s %s", "a", "b");     /* numbered and not */
  PRINTED("a %1$s", "%s %1$s", "a"); /* text, where nothing is numbered */
  PRINTED("%0$d", "%0$d", 5);
  PRINTED("%129$s", "%129$s", "a");
  PRINTED("", "%99999999999d", 5);      /* no int */
  PRINTED("b a", "%2$s %1$s", "a", "b");
  PRINTED("   42|", "%2$*1$d|", 5, 42);
  PRINTED("2.500000", "%Lf", (long double)2.5);
  PRINTED("     (nil)|", "%10p|", (void *)NULL);
  PRINTED("5 18446744073709551615", "%zd %zu", (size_t)5, (size_t)-1);
  PRINTED("\"x\" \"y\"", "%#s %S", "x", "y");
  SAME(curl_msnprintf(NULL, 0, "abc"), 0);
  SAME(curl_msnprintf(buffer, 4, "abcdef"), 3);
  SAME_TEXT(buffer, "abc");
  SAME(curl_msprintf(buffer, "%s", "any"), 3);
  char room[20];
  SAME(by_list(room, "%d-%s-%c", 12, "x", 'y'), 6);
  SAME_TEXT(room, "12-x-y");
  CHECK(!curl_maprintf("%9000000d", 1)); /* longer than curl's 8,000,000 */
  char *text = curl_maprintf("%s", "");
  SAME_TEXT(text, "");
  curl_free(text);
  SAME(curl_mprintf("to stdout\n"), 10);
  SAME(curl_mfprintf(stdout, "%s\n", "to a file"), 10);
  return FAILURES;
}
