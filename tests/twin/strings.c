/* Case-blind comparison, lists, the environment, and what curl_version_info(3) says of its own structure.
 * covers: curl_strequal, curl_strnequal, curl_slist_append, curl_slist_free_all, curl_getenv, curl_version_info, curl_version */
#include "twin.h"

int main(void)
{
  static const char *words[] = {"", "a", "A", "ab", "AB", "aB", "abc", "\xc3\xa4", "\xc3\x84", "a\x80", "[", "{", "@", "`", "I", "i"};
  enum { WORDS = sizeof words / sizeof *words };
  for(int i = 0; i < WORDS; i++)
    for(int j = 0; j < WORDS; j++) {
      printf("equal %d %d: %d", i, j, !!curl_strequal(words[i], words[j]));
      for(size_t n = 0; n < 4; n++)
        printf(" %d", !!curl_strnequal(words[i], words[j], n));
      puts("");
    }
  char own[] = "copied";
  struct curl_slist *list = curl_slist_append(NULL, own), *first = list;
  strcpy(own, "gone");
  for(int i = 0; i < 3; i++) {
    char text[16];
    snprintf(text, sizeof text, "more %d", i);
    list = curl_slist_append(list, text);
    printf("head stays: %d\n", list == first);
  }
  list = curl_slist_append(list, "");
  int count = 0;
  for(struct curl_slist *item = list; item; item = item->next)
    printf("item %d: %s\n", count++, item->data);
  curl_slist_free_all(list);
  setenv("TWIN_VARIABLE", "value", 1);
  setenv("TWIN_EMPTY", "", 1);
  char *value = curl_getenv("TWIN_VARIABLE"), *empty = curl_getenv("TWIN_EMPTY"), *none = curl_getenv("TWIN_NONE");
  printf("environment: %s %s %s\n", value ? value : "NULL", empty ? empty : "NULL", none ? none : "NULL");
  curl_free(value), curl_free(empty), curl_free(none);
  curl_version_info_data *info = curl_version_info(CURLVERSION_FIRST);
  printf("the same for every age: %d\n", info == curl_version_info(CURLVERSION_NOW));
  printf("filled in: age %d, version %d, number %d, host %d, features %d, protocols %d\n", info->age >= CURLVERSION_ELEVENTH, info->version != NULL,
         info->version_num > 0x070000, info->host != NULL, info->features != 0, info->protocols && info->protocols[0]);
  printf("versions fit: %d\n", strncmp(curl_version(), "libcurl/", 8) == 0 && strstr(curl_version(), info->version) != NULL);
  int sorted = 1, known = 0;
  for(const char *const *p = info->protocols; *p; p++) {
    sorted = sorted && (!p[1] || strcmp(p[0], p[1]) < 0);
    known += !strcmp(*p, "http") || !strcmp(*p, "https") || !strcmp(*p, "ftp") || !strcmp(*p, "ftps") || !strcmp(*p, "file");
  }
  printf("protocols: sorted %d, known %d\n", sorted, known);
  static const struct { int bit; const char *name; } features[] = {
    {CURL_VERSION_IPV6, "IPv6"}, {CURL_VERSION_SSL, "SSL"}, {CURL_VERSION_LIBZ, "libz"}, {CURL_VERSION_NTLM, "NTLM"}, {CURL_VERSION_DEBUG, "debug"},
    {CURL_VERSION_ASYNCHDNS, "AsynchDNS"}, {CURL_VERSION_LARGEFILE, "Largefile"}, {CURL_VERSION_UNIX_SOCKETS, "UnixSockets"}, {CURL_VERSION_PSL, "PSL"},
    {CURL_VERSION_HTTPS_PROXY, "HTTPS-proxy"}, {CURL_VERSION_BROTLI, "brotli"}, {CURL_VERSION_ALTSVC, "alt-svc"}, {CURL_VERSION_ZSTD, "zstd"},
    {CURL_VERSION_UNICODE, "Unicode"}, {CURL_VERSION_HSTS, "HSTS"}, {CURL_VERSION_THREADSAFE, "threadsafe"}, {CURL_VERSION_IDN, "IDN"}};
  for(size_t i = 0; i < sizeof features / sizeof *features; i++)
    printf("feature %s: %d\n", features[i].name, (info->features & features[i].bit) != 0);
  return 0;
}
