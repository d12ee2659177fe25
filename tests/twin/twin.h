/* What twin programs share: handles to the servers of the harness, and a line of facts about each transfer. */
#ifndef TWIN_H
#define TWIN_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define CURL_DISABLE_DEPRECATION
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static size_t got, calls, largest;
static char first[256];

static size_t take(char *data, size_t size, size_t count, void *user)
{
  size_t bytes = size * count, room = sizeof first - 1 - (got < sizeof first ? got : sizeof first - 1);
  (void)user;
  if(got < sizeof first)
    memcpy(first + got, data, bytes < room ? bytes : room);
  got += bytes;
  calls++;
  if(bytes > largest)
    largest = bytes;
  return bytes;
}

/* The URL of a server (a variable of the environment) and a path. */
static const char *at(const char *server, const char *path)
{
  static char urls[8][512];
  static int next;
  char *url = urls[next = (next + 1) % 8];
  snprintf(url, sizeof urls[0], "%s%s", getenv(server) ? getenv(server) : "http://127.0.0.1:9", path);
  return url;
}

static const char *port_of(const char *server) { return strrchr(at(server, ""), ':') + 1; }

static CURL *to(const char *server, const char *path)
{
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, at(server, path));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 20L);
  return easy;
}

static CURLcode go(const char *name, CURL *easy)
{
  long status = 0;
  got = calls = largest = 0;
  memset(first, 0, sizeof first);
  CURLcode code = curl_easy_perform(easy);
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  printf("%s: code %d status %ld bytes %zu\n", name, code, status, got);
  return code;
}

/* Sets, performs and says what the setting was answered. */
#define WITH(easy, option, value)                                                   \
  ({                                                                                \
    CURLcode code_ = curl_easy_setopt(easy, CURLOPT_##option, value);               \
    if(code_)                                                                       \
      printf("set " #option " " #value ": %d\n", code_);                            \
    (void)0;                                                                        \
  })

static long number(CURL *easy, CURLINFO info)
{
  long value = -77;
  return curl_easy_getinfo(easy, info, &value) ? -78 : value;
}

static const char *text(CURL *easy, CURLINFO info)
{
  char *value = NULL;
  return curl_easy_getinfo(easy, info, &value) ? "(error)" : value ? value : "(null)";
}

static long long size_of(CURL *easy, CURLINFO info)
{
  curl_off_t value = -77;
  return curl_easy_getinfo(easy, info, &value) ? -78 : value;
}

/* Bytes as the rest of a line of facts. */
static void print_bytes(const char *bytes, size_t count)
{
  for(size_t i = 0; i < count; i++)
    printf(bytes[i] >= ' ' && bytes[i] < 127 && bytes[i] != '\\' ? "%c" : bytes[i] == '\n' ? "$" : bytes[i] == '\r' ? "^" : "\\x%02x", (unsigned char)bytes[i]);
  puts("");
}

static void write_file(const char *name, const char *text)
{
  FILE *out = fopen(name, "w");
  fputs(text, out);
  fclose(out);
}

static double now_s(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

/* Drives a multi handle until nothing runs; how many transfers still do. */
static int run_all(CURLM *multi)
{
  int running = 1, rounds = 0;
  while(curl_multi_perform(multi, &running) == CURLM_OK && running && rounds++ < 5000)
    curl_multi_poll(multi, NULL, 0, 1000, NULL);
  return running;
}

/* A few rounds, for what does not end by itself. */
static int run_for(CURLM *multi, int ms)
{
  double until = now_s() + ms / 1e3;
  int running = -1;
  do {
    curl_multi_perform(multi, &running);
    curl_multi_poll(multi, NULL, 0, 5, NULL);
  } while(now_s() < until);
  return running;
}

/* Reads all messages; the code of this handle's, or -1. */
static int code_of(CURLM *multi, CURL *easy)
{
  int left, code = -1;
  for(CURLMsg *message; (message = curl_multi_info_read(multi, &left));)
    if(message->easy_handle == easy)
      code = message->data.result;
  return code;
}

/* A file's bytes, for a blob. */
static struct curl_blob blob_of(const char *name)
{
  static char room[4][8192];
  static int next;
  char *at = room[next = (next + 1) % 4];
  FILE *file = fopen(name, "rb");
  size_t length = file ? fread(at, 1, sizeof room[0], file) : 0;
  if(file)
    fclose(file);
  return (struct curl_blob){.data = at, .len = length, .flags = CURL_BLOB_NOCOPY};
}
#endif
