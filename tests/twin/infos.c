/* Every info that 7.88 has: before a transfer, inside its callbacks and afterwards; pieces of time only by their order.
 * covers: curl_easy_getinfo, CURLINFO_EFFECTIVE_METHOD, CURLINFO_SCHEME, CURLINFO_PROTOCOL, CURLINFO_HTTP_VERSION, CURLINFO_REQUEST_SIZE,
 * covers: CURLINFO_HEADER_SIZE, CURLINFO_REDIRECT_COUNT, CURLINFO_REDIRECT_URL, CURLINFO_CONDITION_UNMET, CURLINFO_FILETIME_T */
#include "twin.h"

static const struct { CURLINFO id; const char *name; } longs[] = {
  {CURLINFO_RESPONSE_CODE, "response code"}, {CURLINFO_HTTP_CONNECTCODE, "connect code"}, {CURLINFO_FILETIME, "filetime"},
  {CURLINFO_HEADER_SIZE, "header size"}, {CURLINFO_REQUEST_SIZE, "request size"}, {CURLINFO_SSL_VERIFYRESULT, "verify"},
  {CURLINFO_PROXY_SSL_VERIFYRESULT, "proxy verify"}, {CURLINFO_REDIRECT_COUNT, "redirects"}, {CURLINFO_HTTPAUTH_AVAIL, "auth"},
  {CURLINFO_PROXYAUTH_AVAIL, "proxy auth"}, {CURLINFO_OS_ERRNO, "errno"}, {CURLINFO_NUM_CONNECTS, "connects"}, {CURLINFO_CONDITION_UNMET, "condition"},
  {CURLINFO_HTTP_VERSION, "version"}, {CURLINFO_PROTOCOL, "protocol"}, {CURLINFO_RTSP_CLIENT_CSEQ, "rtsp client"}, {CURLINFO_PROXY_ERROR, "proxy error"}},
texts[] = {{CURLINFO_CONTENT_TYPE, "content type"}, {CURLINFO_SCHEME, "scheme"}, {CURLINFO_EFFECTIVE_METHOD, "method"}, {CURLINFO_REFERER, "referer"},
  {CURLINFO_PRIMARY_IP, "ip"}, {CURLINFO_LOCAL_IP, "local ip"}, {CURLINFO_FTP_ENTRY_PATH, "entry path"}, {CURLINFO_RTSP_SESSION_ID, "session"}},
offsets[] = {{CURLINFO_SIZE_UPLOAD_T, "uploaded"}, {CURLINFO_SIZE_DOWNLOAD_T, "downloaded"}, {CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, "length down"},
  {CURLINFO_CONTENT_LENGTH_UPLOAD_T, "length up"}, {CURLINFO_RETRY_AFTER, "retry after"}, {CURLINFO_FILETIME_T, "filetime t"}};

static void show(const char *when, CURL *easy)
{
  for(size_t i = 0; i < sizeof longs / sizeof *longs; i++)
    printf("%s %s: %ld\n", when, longs[i].name, number(easy, longs[i].id));
  for(size_t i = 0; i < sizeof texts / sizeof *texts; i++)
  { /* 8 tells schemes in lower case. */
    const char *value = text(easy, texts[i].id);
    printf("%s %s: %s\n", when, texts[i].name, strcmp(value, "HTTP") ? value : "http");
  }
  for(size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    curl_off_t value = -77;
    printf("%s %s: %d %lld\n", when, offsets[i].name, curl_easy_getinfo(easy, offsets[i].id, &value), (long long)value);
  }
  const char *url = text(easy, CURLINFO_EFFECTIVE_URL), *to = text(easy, CURLINFO_REDIRECT_URL);
  printf("%s urls: %s, %s\n", when, strchr(url + (strlen(url) > 8 ? 8 : 0), '/') ? strchr(url + 8, '/') : "none",
         strlen(to) > 8 && strchr(to + 8, '/') ? strchr(to + 8, '/') : to);
  printf("%s ports: %d %d\n", when, number(easy, CURLINFO_PRIMARY_PORT) > 0, number(easy, CURLINFO_LOCAL_PORT) > 0);
  curl_off_t t[7] = {0};
  static const CURLINFO times[] = {CURLINFO_NAMELOOKUP_TIME_T, CURLINFO_CONNECT_TIME_T, CURLINFO_PRETRANSFER_TIME_T, CURLINFO_STARTTRANSFER_TIME_T,
                                   CURLINFO_TOTAL_TIME_T, CURLINFO_APPCONNECT_TIME_T, CURLINFO_REDIRECT_TIME_T};
  for(int i = 0; i < 7; i++)
    curl_easy_getinfo(easy, times[i], t + i);
  printf("%s times: known %d%d%d%d%d%d\n", when, t[0] > 0, t[2] > 0, t[3] > 0, t[4] > 0, t[5] > 0, t[6] > 0);
}

static CURL *current;
static const char *phase;
static int headers, bodies;

static size_t on_header(char *data, size_t size, size_t count, void *user)
{
  char name[64];
  (void)data, (void)user;
  snprintf(name, sizeof name, "%s first header", phase);
  if(!headers++)
    show(name, current);
  return size * count;
}

static size_t on_body(char *data, size_t size, size_t count, void *user)
{
  char name[64];
  snprintf(name, sizeof name, "%s first body", phase);
  if(!bodies++)
    show(name, current);
  return take(data, size, count, user);
}

static void run(const char *name, CURL *easy)
{
  char when[64];
  current = easy, phase = name, headers = bodies = 0;
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  go(name, easy);
  snprintf(when, sizeof when, "%s after", name);
  show(when, easy);
}

int main(void)
{
  CURL *easy = to("SERVER", "/bytes/10");
  show("fresh", easy);
  run("get", easy);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/redirect/2"));
  run("not followed", easy);
  WITH(easy, FOLLOWLOCATION, 1L);
  WITH(easy, REFERER, "http://ref.example/");
  run("followed", easy);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/sum"));
  WITH(easy, POSTFIELDS, "12345");
  run("post", easy);
  WITH(easy, HTTPGET, 1L);
  WITH(easy, NOBODY, 1L);
  run("head", easy);
  WITH(easy, HTTPGET, 1L);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/basic/u/p"));
  run("refused", easy);
  curl_easy_setopt(easy, CURLOPT_URL, "http://127.0.0.1:1/");
  run("no server", easy);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/chunked/100/10"));
  WITH(easy, FILETIME, 1L);
  run("chunked", easy);
  curl_easy_reset(easy);
  show("reset", easy);
  curl_easy_cleanup(easy);
  return 0;
}
