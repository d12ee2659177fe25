/* curl's printf family over a grid: each flag, width and precision with each conversion and value, and each way to print.
 * A line holds one conversion with its flags; the value is a sum over widths, precisions and arguments, so that the list stays short. The
 * first text that differs can be seen with GRID=conversion in the environment, which prints each text.
 * covers: curl_msnprintf, curl_mvsnprintf, curl_maprintf, curl_mvaprintf, curl_mprintf, curl_mfprintf, curl_msprintf, curl_mvsprintf */
#include <curl/curl.h>
#include <curl/mprintf.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#undef printf
#undef fprintf
#undef snprintf
#undef sprintf

static unsigned long sum;
static const char *shown;

static void add(const char *text, int length)
{
  for(const char *at = text; *at; at++)
    sum = sum * 31 + (unsigned char)*at;
  sum = sum * 31 + (unsigned long)length;
}

/* One text by every function that makes one; they must agree among themselves, too. */
static void one(const char *format, ...)
{
  char fixed[700], small[8], direct[700];
  va_list list;
  va_start(list, format);
  int length = curl_mvsnprintf(fixed, sizeof fixed, format, list);
  va_end(list);
  va_start(list, format);
  int cut = curl_mvsnprintf(small, sizeof small, format, list);
  va_end(list);
  va_start(list, format);
  char *grown = curl_mvaprintf(format, list);
  va_end(list);
  va_start(list, format);
  int written = curl_mvsprintf(direct, format, list);
  va_end(list);
  if(!grown || strcmp(grown, fixed) || strcmp(direct, fixed) || written != length)
    printf("disagree on %s: [%s] [%s] [%s] %d %d\n", format, fixed, grown ? grown : "none", direct, length, written);
  if(shown && strstr(format, shown))
    printf("shows %s: %d [%s] %d [%s]\n", format, length, fixed, cut, small);
  add(fixed, length);
  add(small, cut);
  curl_free(grown);
}

static const char *const flags[] = {"", "-", "+", " ", "#", "0", "-0", "+0", " 0", "#0", "-+", "- ", "-#", "+ ", "+#"};
static const char *const widths[] = {"", "1", "5", "9", "24"};
static const char *const precisions[] = {"", ".0", ".1", ".4", ".12"};

typedef void (*values)(const char *format);

static void ints(const char *format)
{
  static const int all[] = {0, 1, -1, 42, -42, 255, INT_MAX, INT_MIN};
  for(size_t i = 0; i < sizeof all / sizeof *all; i++)
    one(format, all[i]);
}

static void shorts(const char *format)
{
  static const int all[] = {0, 7, -7, SHRT_MAX, SHRT_MIN};
  for(size_t i = 0; i < sizeof all / sizeof *all; i++)
    one(format, all[i]);
}

static void longs(const char *format)
{
  static const long all[] = {0, 1, -1, 123456789, LONG_MAX, LONG_MIN};
  for(size_t i = 0; i < sizeof all / sizeof *all; i++)
    one(format, all[i]);
}

static void longers(const char *format)
{
  static const long long all[] = {0, 1, -1, 1234567890123, LLONG_MAX, LLONG_MIN};
  for(size_t i = 0; i < sizeof all / sizeof *all; i++)
    one(format, all[i]);
}

static void sizes(const char *format)
{
  static const size_t all[] = {0, 1, 4096, SIZE_MAX};
  for(size_t i = 0; i < sizeof all / sizeof *all; i++)
    one(format, all[i]);
}

static void doubles(const char *format)
{
  static const double all[] = {0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.14159265358979, 1e10, -1e-10, 123456.789};
  for(size_t i = 0; i < sizeof all / sizeof *all; i++)
    one(format, all[i]);
}

static void texts(const char *format)
{
  static const char *const all[] = {"", "a", "text", "a longer text of words", NULL};
  for(size_t i = 0; i < sizeof all / sizeof *all; i++)
    one(format, all[i]);
}

static void letters(const char *format)
{
  one(format, 'a');
  one(format, '%');
  one(format, 200);
}

static void pointers(const char *format)
{
  one(format, (void *)0x1);
  one(format, (void *)0xdeadbeef);
}

static const struct { const char *conversion; values values; } rows[] = {
  {"d", ints}, {"i", ints}, {"u", ints}, {"x", ints}, {"X", ints}, {"o", ints}, {"hd", shorts}, {"hu", shorts}, {"hx", shorts},
  {"ld", longs}, {"lu", longs}, {"lx", longs}, {"lo", longs}, {"lld", longers}, {"llu", longers}, {"llX", longers}, {"qd", longers},
  {"zd", sizes}, {"zu", sizes}, {"zx", sizes}, {CURL_FORMAT_CURL_OFF_T, longers}, {CURL_FORMAT_CURL_OFF_TU, longers},
  {"f", doubles}, {"e", doubles}, {"g", doubles}, {"E", doubles}, {"G", doubles}, {"s", texts}, {"c", letters}, {"p", pointers}};

static void by_argument(const char *conversion)
{
  static const int all[] = {0, 3, -3, 12, -12};
  char format[40];
  sum = 0;
  snprintf(format, sizeof format, "<%%*%s>", conversion);
  for(int i = 0; i < 5; i++)
    one(format, all[i], 77);
  snprintf(format, sizeof format, "<%%.*%s>", conversion);
  for(int i = 0; i < 5; i++)
    one(format, all[i], 77);
  snprintf(format, sizeof format, "<%%*.*%s>", conversion);
  for(int i = 0; i < 5; i++)
    for(int j = 0; j < 5; j++)
      one(format, all[i], all[j], 77);
  snprintf(format, sizeof format, "<%%2$*1$%s>", conversion);
  one(format, 6, 77);
  snprintf(format, sizeof format, "<%%3$*1$.*2$%s>", conversion);
  one(format, 6, 3, 77);
  snprintf(format, sizeof format, "<%%2$%s %%1$%s>", conversion, conversion);
  one(format, 6, 77);
  printf("by argument %s: %016lx\n", conversion, sum);
}

static void to_streams(void)
{
  FILE *file = tmpfile();
  char back[64] = "";
  int written = curl_mfprintf(file, "%d %s %lld", 5, "words", 7LL);
  rewind(file);
  size_t got = fread(back, 1, sizeof back - 1, file);
  printf("to a file: %d %zu [%s]\n", written, got, back);
  fclose(file);
  fflush(stdout);
  written = curl_mprintf("to stdout: %s %c %u\n", "words", 'x', 7u);
  fflush(stdout);
  printf("counts: %d\n", written);
  written = curl_msprintf(back, "%s-%05d", "a", 42);
  printf("unbounded: %d [%s]\n", written, back);
  char *grown = curl_maprintf("%s%s", "a", "b");
  printf("grown: [%s]\n", grown);
  curl_free(grown);
  memset(back, 'x', 8);
  printf("no room: %d\n", curl_msnprintf(back, 0, "abc"));
  printf("untouched: %.3s\n", back);
  printf("room for one: %d [%s]\n", curl_msnprintf(back, 1, "abc"), back);
  printf("room for all but the end: %d [%s]\n", curl_msnprintf(back, 3, "abc"), back);
  printf("room for all: %d [%s]\n", curl_msnprintf(back, 4, "abc"), back);
}

int main(void)
{
  char format[64];
  shown = getenv("GRID");
  for(size_t row = 0; row < sizeof rows / sizeof *rows; row++)
    for(size_t flag = 0; flag < sizeof flags / sizeof *flags; flag++) {
      sum = 0;
      for(size_t width = 0; width < sizeof widths / sizeof *widths; width++)
        for(size_t precision = 0; precision < sizeof precisions / sizeof *precisions; precision++) {
          snprintf(format, sizeof format, "<%%%s%s%s%s>", flags[flag], widths[width], precisions[precision], rows[row].conversion);
          rows[row].values(format);
        }
      printf("grid %s %%%s: %016lx\n", rows[row].conversion, flags[flag], sum);
    }
  by_argument("d");
  by_argument("u");
  by_argument("x");
  by_argument("c");
  to_streams();
  return 0;
}
