/* curl_easy_escape(3) and curl_easy_unescape(3): every byte, lengths shorter and longer than the text, zero bytes inside.
 * covers: curl_easy_escape, curl_easy_unescape, curl_escape, curl_unescape, curl_free */
#include "twin.h"

static void dump(const char *name, const char *text, int length)
{
  printf("%s: %d ", name, length);
  for(int i = 0; text && i <= length; i++)
    printf("%02x", (unsigned char)text[i]);
  puts(text ? "" : "NULL");
}

int main(void)
{
  static const char *coded[] = {"", "%", "%4", "%41", "%4g", "%g4", "%%41", "a%00b", "%zz%41", "+a+", "%e4%C3%a4", "100%", "a%2", "%2B%2b", "%0d%0a", "%7F%80%ff"};
  CURL *easy = curl_easy_init();
  char name[64];
  for(int byte = 0; byte < 256; byte++) {
    char one[2] = {(char)byte, 0};
    char *text = curl_easy_escape(easy, one, 1);
    printf("byte %d: %s\n", byte, text);
    curl_free(text);
  }
  for(int length = -2; length < 8; length++) {
    char *text = curl_easy_escape(easy, "a b\0c", length > 6 ? 6 : length), *old = curl_escape("x y", length > 3 ? 3 : length);
    printf("escape %d: %s %s\n", length, text ? text : "NULL", old ? old : "NULL");
    curl_free(text), curl_free(old);
  }
  for(size_t i = 0; i < sizeof coded / sizeof *coded; i++)
    for(int length = -1; length < 6; length++) {
      int out = -5;
      int given = length > (int)strlen(coded[i]) ? (int)strlen(coded[i]) : length;
      char *text = curl_easy_unescape(i % 2 ? easy : NULL, coded[i], given, &out);
      snprintf(name, sizeof name, "unescape %s %d", coded[i], length);
      dump(name, text, text ? out : out < 0 ? -1 : 0);
      curl_free(text);
      text = curl_unescape(coded[i], given);
      snprintf(name, sizeof name, "old unescape %s %d", coded[i], length);
      dump(name, text, text ? (int)strlen(text) : 0);
      curl_free(text);
    }
  int n = 3;
  printf("negative: %s\n", curl_easy_unescape(easy, "abc", -1, &n) ? "text" : "NULL");
  curl_easy_cleanup(easy);
  return 0;
}
