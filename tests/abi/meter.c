/* CURLOPT_NOPROGRESS 0 without a function: the library's own meter goes to CURLOPT_STDERR; with one it is called instead.
 * covers: CURLOPT_NOPROGRESS, CURLOPT_STDERR, CURLOPT_XFERINFOFUNCTION, CURLOPT_XFERINFODATA, CURLOPT_PROGRESSFUNCTION */
#define CURL_DISABLE_DEPRECATION
#include "check.h"
#include <unistd.h>

static int calls, old_calls;
static curl_off_t last;

static int xferinfo(void *user, curl_off_t total, curl_off_t now, curl_off_t up, curl_off_t sent)
{
  CHECK(user == (void *)&calls && up == 0 && sent == 0);
  CHECK(total == 0 || total == 5000);
  last = now;
  calls++;
  return 0;
}

static int progress(void *user, double total, double now, double up, double sent)
{
  CHECK(user == (void *)&old_calls && total >= now && up == 0 && sent == 0);
  old_calls++;
  return CURL_PROGRESSFUNC_CONTINUE;
}

static int refuse(void *user, curl_off_t total, curl_off_t now, curl_off_t up, curl_off_t sent)
{
  (void)user, (void)total, (void)up, (void)sent;
  return now > 0;
}

static char *shown(FILE *file)
{
  static char all[8192];
  rewind(file);
  all[fread(all, 1, sizeof all - 1, file)] = 0;
  rewind(file);
  CHECK(!ftruncate(fileno(file), 0));
  return all;
}

int main(void)
{
  struct text body = {0};
  FILE *file = tmpfile();
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/5000"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_STDERR, file);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME_TEXT(shown(file), ""); /* the default is to be quiet */
  for(int pass = 0; pass < 2; pass++) { /* each transfer begins a meter of its own */
    SAME(curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L), CURLE_OK);
    SAME(curl_easy_perform(easy), CURLE_OK);
    const char *meter = shown(file);
    CHECK(!strncmp(meter, "  % Total    % Received % Xferd  Average Speed", 46));
    CHECK(strstr(meter, "\r100   5000 100   5000   0      0 ") && meter[strlen(meter) - 1] == '\n');
  }
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, xferinfo);
  curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &calls);
  SAME(curl_easy_perform(easy), CURLE_OK);
  CHECK(calls > 0);
  SAME(last, 5000);
  SAME_TEXT(shown(file), "");
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, NULL);
  curl_easy_setopt(easy, CURLOPT_PROGRESSFUNCTION, progress);
  curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &old_calls);
  SAME(curl_easy_perform(easy), CURLE_OK);
  CHECK(old_calls > 0);
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, refuse); /* goes before the old one */
  SAME(curl_easy_perform(easy), CURLE_ABORTED_BY_CALLBACK);
  calls = 0;
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, xferinfo);
  curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &calls);
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 1L);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(calls, 0);
  curl_easy_cleanup(easy);
  fclose(file);
  free(body.at);
  return FAILURES;
}
