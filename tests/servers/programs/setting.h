/* An option by its name, as a word NAME=VALUE; the entries of a list stand between bars. */
#ifndef SETTING_H
#define SETTING_H
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void set(CURL *easy, const char *setting) {
  char name[64];
  const char *value = strchr(setting, '=') + 1;
  snprintf(name, sizeof name, "%.*s", (int)(value - 1 - setting), setting);
  const struct curl_easyoption *option = curl_easy_option_by_name(name);
  CURLcode code = CURLE_UNKNOWN_OPTION;
  if (!option) {
    printf("no option %s\n", name);
    exit(2);
  }
  switch (option->type) {
  case CURLOT_LONG:
  case CURLOT_VALUES:
    code = curl_easy_setopt(easy, option->id, atol(value));
    break;
  case CURLOT_OFF_T:
    code = curl_easy_setopt(easy, option->id, (curl_off_t)atoll(value));
    break;
  case CURLOT_SLIST: {
    static struct curl_slist *lists[64];
    static const char *names[64];
    int i = 0;
    while (names[i] && strcmp(names[i], setting)) i++;
    if (!names[i]) {
      char *copy = strdup(value), *state = NULL;
      for (char *word = strtok_r(copy, "|", &state); word; word = strtok_r(NULL, "|", &state))
        lists[i] = curl_slist_append(lists[i], word);
      free(copy);
      names[i] = setting;
    }
    code = curl_easy_setopt(easy, option->id, lists[i]);
    break;
  }
  default:
    code = curl_easy_setopt(easy, option->id, value);
  }
  if (code) printf("setopt %s: %d %s\n", setting, code, curl_easy_strerror(code));
}
#endif
