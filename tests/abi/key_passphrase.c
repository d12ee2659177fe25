/* A passphrase is bytes: one that is not UTF-8 opens its key, over TLS and over SSH, and what a conversion would make of it
 * does not. The bytes are copied when they are set.
 * covers: CURLOPT_KEYPASSWD, CURLOPT_SSLKEY, CURLOPT_SSLCERT, CURLOPT_SSH_PRIVATE_KEYFILE */
#include "check.h"

static size_t sink(char *data, size_t size, size_t n, void *user)
{
  (void)data, (void)user;
  return size * n;
}

static CURLcode fetch(const char *url, const char *phrase, int ssh)
{
  char copy[32];
  CURL *easy = curl_easy_init();
  CURLcode code;
  snprintf(copy, sizeof copy, "%s", phrase);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink);
  if(ssh) {
    curl_easy_setopt(easy, CURLOPT_SSH_AUTH_TYPES, (long)CURLSSH_AUTH_PUBLICKEY);
    curl_easy_setopt(easy, CURLOPT_SSH_PRIVATE_KEYFILE, getenv("LOCKED_SSH_KEY"));
  }
  else {
    curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
    curl_easy_setopt(easy, CURLOPT_SSLCERT, getenv("CLIENT_CERT"));
    curl_easy_setopt(easy, CURLOPT_SSLKEY, getenv("LOCKED_KEY"));
  }
  SAME(curl_easy_setopt(easy, CURLOPT_KEYPASSWD, copy), CURLE_OK);
  memset(copy, 'x', sizeof copy);
  code = curl_easy_perform(easy);
  curl_easy_cleanup(easy);
  return code;
}

int main(void)
{
  const char *right = "p\xe9\xff word", *lossy = "p\xef\xbf\xbd\xef\xbf\xbd word", *utf8 = "p\xc3\xa9\xc3\xbf word";
  const char *tls = getenv("DEMANDING_SERVER"), *ssh = getenv("SSH_SERVER");
  curl_global_init(CURL_GLOBAL_ALL);
  SAME(fetch(tls, right, 0), CURLE_OK);
  SAME(fetch(tls, lossy, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(fetch(tls, utf8, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(fetch(ssh, right, 1), CURLE_OK);
  SAME(fetch(ssh, lossy, 1), CURLE_LOGIN_DENIED);
  SAME(fetch(ssh, utf8, 1), CURLE_LOGIN_DENIED);
  curl_global_cleanup();
  return FAILURES;
}
