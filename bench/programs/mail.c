/* mail HOW COUNT URL: sends COUNT mails of 2 KB to a server, or fetches the messages 1 to COUNT, with one kept handle. HOW is
 * send or fetch; a URL to fetch from ends where the message's number follows.
 * Prints what one mail took: CPU of this process and time, in microseconds; and how many failed. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "measure.h"

#define SIZE 2048

static char mail[SIZE + 1];

static size_t give(char *to, size_t size, size_t n, void *user) {
  size_t *at = user, left = SIZE - *at, most = size * n;
  if (left > most) left = most;
  memcpy(to, mail + *at, left);
  *at += left;
  return left;
}

static size_t count_bytes(char *data, size_t size, size_t n, void *user) {
  (void)data;
  *(size_t *)user += size * n;
  return size * n;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  int send = !strcmp(argv[1], "send"), count = atoi(argv[2]), failed = 0;
  memset(mail, 'm', SIZE);
  memcpy(mail, "Subject: a small one\r\n\r\n", 24);
  for (int at = 78; at < SIZE; at += 78) memcpy(mail + at - 2, "\r\n", 2);
  memcpy(mail + SIZE - 2, "\r\n", 2);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  struct curl_slist *to = curl_slist_append(NULL, "you@example.com");
  size_t at = 0;
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 60L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_bytes);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &at);
  if (send) {
    curl_easy_setopt(easy, CURLOPT_MAIL_FROM, "me@example.com");
    curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, to);
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE, (long)SIZE);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(easy, CURLOPT_READDATA, &at);
    curl_easy_setopt(easy, CURLOPT_URL, argv[3]);
  } else {
    curl_easy_setopt(easy, CURLOPT_USERPWD, "user:secret");
  }
  double cpu = 0, wall = 0;
  /* The first one opens the connection. */
  for (int i = 0; i <= count; i++) {
    if (i == 1) cpu = cpu_us(), wall = wall_us();
    at = 0;
    if (!send) {
      char url[512];
      snprintf(url, sizeof url, "%s%d", argv[3], i ? i : 1);
      curl_easy_setopt(easy, CURLOPT_URL, url);
    }
    failed += curl_easy_perform(easy) != CURLE_OK || at != SIZE;
  }
  printf("%.1f %.1f %d\n", (cpu_us() - cpu) / count, (wall_us() - wall) / count, failed);
  curl_easy_cleanup(easy);
  curl_slist_free_all(to);
  curl_global_cleanup();
  return 0;
}
