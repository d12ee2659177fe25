/* What the options make of a request: methods, header fields added, replaced, emptied and removed, targets.
 * covers: CURLOPT_HTTPHEADER, CURLOPT_CUSTOMREQUEST, CURLOPT_REQUEST_TARGET, CURLOPT_PATH_AS_IS, CURLOPT_HTTP_VERSION, CURLOPT_USERAGENT, CURLOPT_REFERER,
 * covers: CURLOPT_RANGE, CURLOPT_RESUME_FROM, CURLOPT_TRANSFER_ENCODING, CURLOPT_ACCEPT_ENCODING, CURLOPT_NOBODY, CURLOPT_HTTPGET, CURLOPT_POST, CURLOPT_UPLOAD */
#include "twin.h"

static size_t nothing(char *d, size_t s, size_t n, void *u) { (void)d, (void)s, (void)n, (void)u; return 0; }

int main(void)
{
  static const char *lines[] = {"X-New: 1", "X-Empty;", "X-Gone:", "Host: other.example", "Host:", "Accept:", "Accept: text/x", "User-Agent: by line", "User-Agent:", "Content-Length: 3",
                                "Content-Type:", "Content-Type: a/b", "Connection: close", "Transfer-Encoding: chunked", "no colon", "X-Space : y", " Leading: z", ": nameless", "X-Two: a\r\nX-Three: b", "Cookie: c=d",
                                "Range: bytes=0-1", "Expect: 100-continue", "Authorization: own", "If-Modified-Since: x", "TE: trailers", "Upgrade: h2c", "X-Umlaut: \xc3\xa4", "x-lower: l", "X-Long;  ", "Referer: r"};
  for(size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    /* A GET that says it is chunked never ends with 7.88; since 8 it has the closing chunk (promised_chunks_end_without_a_body in engine/tests/auth.rs). */
    for(int post = strstr(lines[i], "chunked") != NULL; post < 2; post++) {
      CURL *easy = to("SERVER", "/echo");
      char name[64];
      struct curl_slist *list = curl_slist_append(NULL, lines[i]);
      WITH(easy, HTTPHEADER, list);
      WITH(easy, USERAGENT, "agent");
      if(post)
        WITH(easy, POSTFIELDS, "abc");
      snprintf(name, sizeof name, "line %zu %s", i, post ? "post" : "get");
      WITH(easy, TIMEOUT, 3L);
      go(name, easy);
      curl_easy_cleanup(easy);
      curl_slist_free_all(list);
    }
  for(int kind = 0; kind < 22; kind++) {
    CURL *easy = to("SERVER", "/a/../b/./c?q=1#frag");
    char name[32];
    switch(kind) {
    case 0: WITH(easy, CUSTOMREQUEST, "DELETE"); break;
    case 1: WITH(easy, CUSTOMREQUEST, "PATCH"); WITH(easy, POSTFIELDS, "x"); break;
    case 2: WITH(easy, NOBODY, 1L); break;
    case 3: WITH(easy, NOBODY, 1L); WITH(easy, NOBODY, 0L); break;
    case 4: WITH(easy, POST, 1L); WITH(easy, POSTFIELDSIZE, 0L); WITH(easy, POSTFIELDS, ""); break;
    case 5: WITH(easy, POSTFIELDS, "x"); WITH(easy, HTTPGET, 1L); break;
    case 6: WITH(easy, POSTFIELDS, "x"); WITH(easy, NOBODY, 1L); break;
    case 7: WITH(easy, UPLOAD, 1L); WITH(easy, READFUNCTION, nothing); WITH(easy, INFILESIZE, 0L); break;
    case 8: WITH(easy, UPLOAD, 1L); WITH(easy, READFUNCTION, nothing); break;
    case 9: WITH(easy, UPLOAD, 1L); WITH(easy, UPLOAD, 0L); break;
    case 10: WITH(easy, PATH_AS_IS, 1L); break;
    case 11: WITH(easy, REQUEST_TARGET, "*"); WITH(easy, CUSTOMREQUEST, "OPTIONS"); break;
    case 12: WITH(easy, REQUEST_TARGET, "http://absolute.example/x y"); break;
    case 13: WITH(easy, HTTP_VERSION, (long)CURL_HTTP_VERSION_1_0); break;
    case 14: WITH(easy, HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1); WITH(easy, RANGE, "2-"); WITH(easy, REFERER, "http://r/"); break;
    case 15: WITH(easy, RESUME_FROM, 7L); break;
    case 16: WITH(easy, TRANSFER_ENCODING, 1L); break;
    case 17: WITH(easy, ACCEPT_ENCODING, "identity, x-own"); break;
    case 18: WITH(easy, COOKIE, "a=b; c"); WITH(easy, USERPWD, "user:"); break;
    case 19: WITH(easy, USERNAME, "only"); WITH(easy, HTTPAUTH, (long)CURLAUTH_BASIC); break;
    case 20: WITH(easy, XOAUTH2_BEARER, "tok"); WITH(easy, HTTPAUTH, (long)CURLAUTH_BEARER); break;
    default: WITH(easy, PORT, atol(port_of("SERVER"))); break;
    }
    snprintf(name, sizeof name, "kind %d", kind);
    go(name, easy);
    printf("%s method: %s\n", name, text(easy, CURLINFO_EFFECTIVE_METHOD));
    curl_easy_cleanup(easy);
  }
  return 0;
}
