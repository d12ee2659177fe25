/* What every program of tests/abi uses: CHECK counts what does not hold, and main returns FAILURES. */
#ifndef CHECK_H
#define CHECK_H
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                       \
  do {                                                                         \
    if(!(condition)) {                                                         \
      failures++;                                                              \
      printf("%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);    \
    }                                                                          \
  } while(0)

#define SAME(got, wanted)                                                                              \
  do {                                                                                                 \
    long long got_ = (long long)(got), wanted_ = (long long)(wanted);                                  \
    if(got_ != wanted_) {                                                                              \
      failures++;                                                                                      \
      printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, got_, wanted_);                \
    }                                                                                                  \
  } while(0)

#define SAME_TEXT(got, wanted)                                                                         \
  do {                                                                                                 \
    const char *got_ = (got), *wanted_ = (wanted);                                                     \
    if(!got_ || strcmp(got_, wanted_)) {                                                               \
      failures++;                                                                                      \
      printf("%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #got, got_ ? got_ : "NULL", wanted_); \
    }                                                                                                  \
  } while(0)

#define FAILURES (failures ? 1 : 0)

/* A URL at the embedded server, as http://127.0.0.1:PORT/path; testkit/src/http/routes.rs lists the paths. The buffers are the
   thread's own: programs call this from several threads at once. */
static inline const char *server(const char *path)
{
  static __thread char url[4][512];
  static __thread int next;
  const char *base = getenv("SERVER");
  char *at = url[next = (next + 1) % 4];
  snprintf(at, sizeof url[0], "%s%s", base ? base : "http://127.0.0.1:9", path);
  return at;
}

struct text {
  char *at;
  size_t length;
};

/* A write function that collects. */
static inline size_t collect(char *data, size_t size, size_t count, void *user)
{
  struct text *text = (struct text *)user;
  text->at = (char *)realloc(text->at, text->length + size * count + 1);
  memcpy(text->at + text->length, data, size * count);
  text->length += size * count;
  text->at[text->length] = 0;
  return size * count;
}
#endif
