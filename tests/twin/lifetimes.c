/* Strings are copied when they are set, but for POSTFIELDS; NULL takes a string back.
 * covers: CURLOPT_POSTFIELDS, CURLOPT_COPYPOSTFIELDS, CURLOPT_POSTFIELDSIZE, CURLOPT_POSTFIELDSIZE_LARGE, CURLOPT_USERAGENT,
 * covers: CURLOPT_REFERER, CURLOPT_COOKIE, CURLOPT_CUSTOMREQUEST, CURLOPT_RANGE, CURLOPT_ACCEPT_ENCODING, CURLOPT_USERPWD */
#include "twin.h"

static void copied(void)
{
  static const struct { CURLoption id; const char *name, *value; } strings[] = {
    {CURLOPT_USERAGENT, "agent", "my agent"}, {CURLOPT_REFERER, "referer", "http://from.example/"}, {CURLOPT_COOKIE, "cookie", "a=b; c=d"},
    {CURLOPT_CUSTOMREQUEST, "method", "PURGE"}, {CURLOPT_RANGE, "range", "1-3"}, {CURLOPT_ACCEPT_ENCODING, "coding", "gzip"},
    {CURLOPT_USERPWD, "login", "me:secret"}, {CURLOPT_XOAUTH2_BEARER, "bearer", "token"}};
  for(size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
    CURL *easy = to("SERVER", "/echo");
    char room[64];
    strcpy(room, strings[i].value);
    printf("%s set: %d\n", strings[i].name, curl_easy_setopt(easy, strings[i].id, room));
    memset(room, 'X', strlen(room));
    go(strings[i].name, easy);
    printf("%s taken back: %d\n", strings[i].name, curl_easy_setopt(easy, strings[i].id, NULL));
    go("without", easy);
    curl_easy_cleanup(easy);
  }
}

static size_t wanted;

static size_t give(char *to, size_t size, size_t count, void *user)
{
  size_t n = wanted < 4 ? wanted : 4;
  (void)user, (void)size, (void)count;
  memcpy(to, "read", n);
  wanted -= n;
  return n;
}

static void posts(void)
{
  static const long sizes[] = {-1, 0, 2, 5};
  for(int copy = 0; copy < 2; copy++)
    for(size_t i = 0; i < 4; i++) {
      CURL *easy = to("SERVER", "/body");
      char room[16] = "ab\0de";
      WITH(easy, POSTFIELDSIZE, sizes[i]);
      curl_easy_setopt(easy, copy ? CURLOPT_COPYPOSTFIELDS : CURLOPT_POSTFIELDS, room);
      room[0] = 'Z';
      go(copy ? "copied" : "pointed to", easy);
      printf("body: %zu %02x%02x%02x\n", got, first[0], first[1], first[2]);
      /* A size set later that is larger than the one before makes a copy void: the body is asked for. */
      WITH(easy, READFUNCTION, give);
      wanted = 4;
      WITH(easy, POSTFIELDSIZE_LARGE, (curl_off_t)4);
      go("size after", easy);
      printf("body: %02x%02x%02x%02x\n", first[0], first[1], first[2], first[3]);
      wanted = 1;
      WITH(easy, POSTFIELDSIZE, 1L);
      go("smaller after", easy);
      printf("body: %02x\n", first[0]);
      WITH(easy, HTTPGET, 1L);
      go("a GET again", easy);
      curl_easy_cleanup(easy);
    }
  CURL *easy = to("SERVER", "/body");
  WITH(easy, POST, 1L);
  WITH(easy, COPYPOSTFIELDS, "first");
  WITH(easy, POSTFIELDS, NULL);
  WITH(easy, POSTFIELDSIZE, 0L);
  go("fields taken back", easy);
  WITH(easy, COPYPOSTFIELDS, NULL);
  go("copy taken back", easy);
  WITH(easy, POSTFIELDSIZE, -1L);
  WITH(easy, POSTFIELDS, "");
  go("empty", easy);
  WITH(easy, POSTFIELDS, "pointer");
  WITH(easy, COPYPOSTFIELDS, "copy");
  go("copy after pointer", easy);
  printf("body: %s\n", first);
  WITH(easy, POSTFIELDS, "pointer again");
  go("pointer after copy", easy);
  printf("body: %s\n", first);
  printf("sizes: %d %d %d\n", curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, -2L), curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)-2),
         curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)1 << 62));
  curl_easy_cleanup(easy);
}

int main(void)
{
  copied();
  posts();
  return 0;
}
