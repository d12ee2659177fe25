/* A policy binds the handle it is set for, its copies, and no other; a wrong one refuses everything. */
#include "pool.h"
#include <string.h>
#include <unistd.h>

static CURLcode get(CURL *easy, char *why)
{
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, why);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 2000L);
  curl_easy_setopt(easy, CURLOPT_URL, "http://127.0.0.1:1/");
  return curl_easy_perform(easy);
}

static void write_file(const char *name, const char *text)
{
  FILE *file = fopen(name, "w");
  fputs(text, file);
  fclose(file);
}

int main(void)
{
  char why[CURL_ERROR_SIZE] = "";
  char good[64], bad[64];
  snprintf(good, sizeof(good), "/tmp/warmwire_policy_good.%d", (int)getpid());
  snprintf(bad, sizeof(bad), "/tmp/warmwire_policy_bad.%d", (int)getpid());
  write_file(good, "version 1\nallow address loopback\ndeny port 1\n");
  write_file(bad, "version 1\nallow adress loopback\n");
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  SAME(get(easy, why), CURLE_COULDNT_CONNECT);
  SAME(warmwire_policy(easy, good), CURLE_OK);
  SAME(get(easy, why), CURLE_REMOTE_ACCESS_DENIED);
  SAME(strstr(why, "line 3, \"deny port 1\"") != NULL, 1);
  char *reasons = NULL;
  SAME(warmwire_why(easy, WARMWIRE_WHY_ON, NULL), CURLE_OK);
  SAME(get(easy, why), CURLE_REMOTE_ACCESS_DENIED);
  SAME(warmwire_why(easy, WARMWIRE_WHY_JSON, &reasons), CURLE_OK);
  SAME(strstr(reasons, "\"event\":\"policy-refused\",\"check\":\"url\"") != NULL, 1);
  SAME(strstr(reasons, "\"refused\":\"port 1\",\"rule\":\"line 3, \\\"deny port 1\\\"\"") != NULL, 1);
  curl_free(reasons);
  CURL *copy = curl_easy_duphandle(easy);
  SAME(get(copy, why), CURLE_REMOTE_ACCESS_DENIED);
  curl_easy_cleanup(copy);
  SAME(warmwire_policy(easy, bad), CURLE_READ_ERROR);
  SAME(get(easy, why), CURLE_REMOTE_ACCESS_DENIED);
  SAME(strstr(why, "line 2: \"adress\"") != NULL, 1);
  SAME(warmwire_policy(easy, "/nonexistent/policy"), CURLE_READ_ERROR);
  SAME(get(easy, why), CURLE_REMOTE_ACCESS_DENIED);
  SAME(strstr(why, "cannot be read") != NULL, 1);
  SAME(warmwire_policy(easy, NULL), CURLE_OK);
  SAME(get(easy, why), CURLE_COULDNT_CONNECT);
  SAME(warmwire_policy(easy, good), CURLE_OK);
  curl_easy_reset(easy);
  SAME(get(easy, why), CURLE_COULDNT_CONNECT);
  SAME(warmwire_policy(NULL, good), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  remove(good);
  remove(bad);
  return FAILURES;
}
