/* Every option with numbers and strings that may mean nothing: the codes are compared; nothing crashes, and the handle works
 * afterwards. */
#include "twin.h"
#include <limits.h>
#undef curl_easy_setopt

static const curl_off_t numbers[] = {LONG_MIN, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 30, 32, 99, 511, 512, 1023, 65535, 65536,
                                     INT_MAX, LONG_MAX};

static char *long_text(size_t length)
{
  char *text = malloc(length + 1);
  memset(text, 'a', length);
  text[length] = 0;
  return text;
}

/* The same code for several values in a row is one fact. */
static void set_numbers(const struct curl_easyoption *option)
{
  CURL *easy = curl_easy_init();
  char line[600] = "";
  int last = -1;
  for(size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    int code = curl_easy_setopt(easy, option->id, numbers[i]);
    if(code != last)
      snprintf(line + strlen(line), sizeof line - strlen(line), " %ld:%d", (long)numbers[i], code);
    last = code;
  }
  printf("%s:%s\n", option->name, line);
  curl_easy_cleanup(easy);
}

static void set_texts(const struct curl_easyoption *option, char *just, char *too_long, char *huge)
{
  CURL *easy = curl_easy_init();
  int codes[6] = {curl_easy_setopt(easy, option->id, NULL), curl_easy_setopt(easy, option->id, ""),
                  curl_easy_setopt(easy, option->id, "\x01\xff"), curl_easy_setopt(easy, option->id, just),
                  curl_easy_setopt(easy, option->id, too_long), curl_easy_setopt(easy, option->id, huge)};
  printf("%s: NULL %d, empty %d, odd %d, 8 MB %d, more %d, 100 MB %d\n", option->name, codes[0], codes[1], codes[2], codes[3],
         codes[4], codes[5]);
  curl_easy_cleanup(easy);
}

int main(void)
{
  const struct curl_easyoption *option = NULL;
  char *just = long_text(8000000), *too_long = long_text(8000001), *huge = long_text(100000000);
  while((option = curl_easy_option_next(option))) {
    if(option->flags & CURLOT_FLAG_ALIAS)
      continue;
    CURL *easy = curl_easy_init();
    switch(option->type) {
    case CURLOT_LONG:
    case CURLOT_VALUES:
    case CURLOT_OFF_T:
      set_numbers(option);
      break;
    case CURLOT_STRING:
      if(option->id != CURLOPT_COOKIEFILE && option->id != CURLOPT_COOKIEJAR && option->id != CURLOPT_COOKIELIST)
        set_texts(option, just, too_long, huge);
      break;
    default:
      printf("%s: NULL %d\n", option->name, curl_easy_setopt(easy, option->id, NULL));
      break;
    }
    curl_easy_cleanup(easy);
  }
  /* All of it on one handle, then as new. */
  CURL *easy = curl_easy_init();
  while((option = curl_easy_option_next(option)))
    if(option->type == CURLOT_LONG || option->type == CURLOT_VALUES || option->type == CURLOT_OFF_T)
      for(size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        curl_easy_setopt(easy, option->id, numbers[i]);
  curl_easy_reset(easy);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
  go("after a reset", easy);
  curl_easy_cleanup(easy);
  free(just), free(too_long), free(huge);
  return 0;
}
