/* Infos of a connection that has been closed, of a transfer that uploads nothing, and of an error of an earlier transfer.
 * covers: CURLINFO_ACTIVESOCKET, CURLINFO_LASTSOCKET, CURLINFO_CONN_ID, CURLINFO_CONTENT_LENGTH_UPLOAD_T, CURLINFO_CONTENT_LENGTH_UPLOAD, CURLINFO_OS_ERRNO */
#include "check.h"
#include <unistd.h>

/* Returns the file URL of an empty file that it makes in the current folder. */
static const char *empty_file(void)
{
  static char url[600];
  char folder[500] = "";
  FILE *file = fopen("closed-empty", "w");
  CHECK(file && !fclose(file) && getcwd(folder, sizeof folder));
  for(char *at = folder; *at; at++)
    *at = *at == '\\' ? '/' : *at;
  snprintf(url, sizeof url, "file://%s%s/closed-empty", *folder == '/' ? "" : "/", folder);
  return url;
}

static size_t drop(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  return size * count;
}

static int is_open(CURL *easy)
{
  curl_socket_t fd = 0;
  long last = 0;
  SAME(curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd), CURLE_OK);
  SAME(curl_easy_getinfo(easy, CURLINFO_LASTSOCKET, &last), CURLE_OK);
  CHECK((fd == CURL_SOCKET_BAD) == (last == -1));
  return fd != CURL_SOCKET_BAD;
}

/* The number of the connection last used or attempted. It outlives the connection, as libcurl 8.22 was seen to have it. */
static curl_off_t connection(CURL *easy)
{
  curl_off_t number = -2;
  SAME(curl_easy_getinfo(easy, CURLINFO_CONN_ID, &number), CURLE_OK);
  return number;
}

static curl_off_t upload(CURL *easy)
{
  curl_off_t size = 55;
  double old = 55;
  SAME(curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_UPLOAD_T, &size), CURLE_OK);
  SAME(curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_UPLOAD, &old), CURLE_OK);
  CHECK(old == (double)size);
  return size;
}

static long error_of_system(CURL *easy)
{
  long number = 55;
  SAME(curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number), CURLE_OK);
  return number;
}

int main(void)
{
  int running = 1;
  CURL *easy = curl_easy_init();
  CHECK(!is_open(easy));
  SAME(connection(easy), -1);
  SAME(upload(easy), -1);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
  /* Twice: the second request is the first one's. */
  for(int i = 0; i < 2; i++) {
    curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/5"));
    SAME(curl_easy_perform(easy), CURLE_OK);
    CHECK(is_open(easy));
    SAME(connection(easy), 0);
    SAME(upload(easy), 0);
  }
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  SAME(curl_easy_perform(easy), CURLE_OK);
  CHECK(!is_open(easy));
  SAME(connection(easy), 0);
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 0L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "abc");
  SAME(curl_easy_perform(easy), CURLE_OK);
  CHECK(is_open(easy));
  SAME(connection(easy), 1);
  SAME(upload(easy), 3);
  curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  /* An error of the system is the last transfer's, and outlives a reset. */
  curl_easy_setopt(easy, CURLOPT_URL, "http://127.0.0.1:9/");
  SAME(curl_easy_perform(easy), CURLE_COULDNT_CONNECT);
  CHECK(!is_open(easy));
  SAME(connection(easy), 2); /* of an attempt that failed */
  SAME(upload(easy), -1);
  CHECK(error_of_system(easy) != 0);
  curl_easy_reset(easy);
  CHECK(error_of_system(easy) != 0);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/5"));
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(error_of_system(easy), 0);
  SAME(connection(easy), 1);
  curl_easy_setopt(easy, CURLOPT_URL, "file:///no/such/file");
  SAME(curl_easy_perform(easy), CURLE_FILE_COULDNT_READ_FILE);
  SAME(connection(easy), -1);
  SAME(error_of_system(easy), 0);
  curl_easy_setopt(easy, CURLOPT_URL, empty_file());
  SAME(curl_easy_perform(easy), CURLE_OK);
  remove("closed-empty");
  SAME(connection(easy), 3);
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/5"));
  /* A multi handle keeps its connections, and one who leaves knows nothing of them. */
  CURLM *multi = curl_multi_init();
  SAME(curl_multi_add_handle(multi, easy), CURLM_OK);
  while(curl_multi_perform(multi, &running) == CURLM_OK && running)
    curl_multi_poll(multi, NULL, 0, 1000, NULL);
  CHECK(is_open(easy));
  SAME(curl_multi_remove_handle(multi, easy), CURLM_OK);
  CHECK(!is_open(easy));
  SAME(curl_multi_cleanup(multi), CURLM_OK);
  curl_easy_cleanup(easy);
  return FAILURES;
}
