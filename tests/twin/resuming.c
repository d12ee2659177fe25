/* Ranges and resumed transfers over HTTP: what is asked for, and what becomes of servers that give it, ignore it or answer something else.
 * covers: CURLOPT_RANGE, CURLOPT_RESUME_FROM, CURLOPT_RESUME_FROM_LARGE, CURLOPT_MAXFILESIZE, CURLOPT_MAXFILESIZE_LARGE, CURLOPT_FAILONERROR,
 * covers: CURLINFO_CONTENT_LENGTH_UPLOAD_T, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, CURLINFO_SIZE_UPLOAD_T, CURLOPT_SEEKFUNCTION, CURLOPT_APPEND */
#include "peer.h"

static const char whole[] = "0123456789";
static size_t at_, reads;
static int seek_answer, seeks;

static size_t give(char *to, size_t size, size_t count, void *user)
{
  size_t n = sizeof whole - 1 - at_ < size * count ? sizeof whole - 1 - at_ : size * count;
  (void)user;
  memcpy(to, whole + at_, n);
  at_ += n, reads += n;
  return n;
}

static int seek_to(void *user, curl_off_t offset, int origin)
{
  printf("%s seek: %lld %d\n", (char *)user, (long long)offset, origin);
  seeks++;
  if(seek_answer == CURL_SEEKFUNC_OK)
    at_ = offset;
  return seek_answer;
}

static void sizes(const char *name, CURL *easy)
{
  printf("%s sizes: down %lld of %lld", name, size_of(easy, CURLINFO_SIZE_DOWNLOAD_T), size_of(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T));
  printf(strncmp(name, "put", 3) ? "\n" : ", up %lld of %lld\n", size_of(easy, CURLINFO_SIZE_UPLOAD_T), size_of(easy, CURLINFO_CONTENT_LENGTH_UPLOAD_T));
}

static void finish(const char *name, CURL *easy, struct peer *peer)
{
  CURLcode code = go(name, easy);
  printf("%s body: ", name);
  print_bytes(first, code == CURLE_HTTP_RETURNED_ERROR ? 0 : got);
  sizes(name, easy);
  peer_show(peer, name);
  curl_easy_cleanup(easy);
  peer_end(peer);
}

static void ranges(void)
{
  static const char *asked[] = {"0-4", "5-", "-3", "0-0,-1", "0-1,3-4", " 1-2", "1 - 2", "x", "", "-", "5-2", "99999999999999999999-", "bytes=0-1", "0-4\r\nX-Injected: 1", "18446744073709551616-", "1-2;x"};
  char name[64];
  for(size_t i = 0; i < sizeof asked / sizeof *asked; i++)
    for(int method = 0; method < 3; method++) {
      struct peer *peer = peer_saying(OK_BODY, NULL);
      CURL *easy = to_peer(peer, "/r");
      struct curl_slist *none = curl_slist_append(NULL, "Expect:");
      snprintf(name, sizeof name, "range %zu %d", i, method);
      WITH(easy, RANGE, asked[i]);
      if(method == 1)
        WITH(easy, POSTFIELDS, "body");
      if(method == 2) {
        at_ = 0;
        WITH(easy, UPLOAD, 1L);
        WITH(easy, READFUNCTION, give);
        WITH(easy, INFILESIZE, 10L);
        WITH(easy, HTTPHEADER, none);
      }
      finish(name, easy, peer);
      curl_slist_free_all(none);
    }
  /* An own line, and both options. */
  for(int i = 0; i < 4; i++) {
    struct peer *peer = peer_saying("HTTP/1.1 206 P\r\nContent-Range: bytes 3-4/10\r\nContent-Length: 2\r\n\r\n34", NULL);
    CURL *easy = to_peer(peer, "/r");
    struct curl_slist *own = curl_slist_append(NULL, i == 1 ? "Range:" : "Range: bytes=3-4");
    WITH(easy, RANGE, i < 2 ? "1-2" : NULL);
    if(i > 1)
      WITH(easy, RESUME_FROM, 3L);
    if(i < 3)
      WITH(easy, HTTPHEADER, own);
    if(i == 3)
      WITH(easy, RANGE, "5-6");
    snprintf(name, sizeof name, "own range %d", i);
    finish(name, easy, peer);
    curl_slist_free_all(own);
  }
}

static void downloads(void)
{
  static const char *replies[] = {
    "HTTP/1.1 206 P\r\nContent-Range: bytes 4-9/10\r\nContent-Length: 6\r\n\r\n456789", "HTTP/1.1 206 P\r\nContent-Range: bytes 0-9/10\r\nContent-Length: 10\r\n\r\n0123456789",
    "HTTP/1.1 206 P\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\n56789", "HTTP/1.1 206 P\r\nContent-Length: 6\r\n\r\n456789", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789",
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n0123", "HTTP/1.1 200 OK\r\nContent-Range: bytes 4-9/10\r\nContent-Length: 6\r\n\r\n456789",
    "HTTP/1.1 416 No\r\nContent-Range: bytes */10\r\nContent-Length: 2\r\n\r\nno", "HTTP/1.1 416 No\r\nContent-Range: bytes */4\r\nContent-Length: 2\r\n\r\nno", "HTTP/1.1 416 No\r\nContent-Length: 2\r\n\r\nno",
    "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno", "HTTP/1.1 206 P\r\nContent-Range: garbage\r\nContent-Length: 6\r\n\r\n456789", "HTTP/1.1 206 P\r\nContent-Range: bytes */10\r\nContent-Length: 6\r\n\r\n456789",
    "HTTP/1.1 206 P\r\nContent-Range: bytes=4-9/10\r\nContent-Length: 6\r\n\r\n456789", "HTTP/1.1 206 P\r\nContent-Range: items 4-9/10\r\nContent-Length: 6\r\n\r\n456789", "HTTP/1.1 206 P\r\nContent-Range:bytes    4-9/10\r\nContent-Length: 6\r\n\r\n456789",
    "HTTP/1.1 206 P\r\nContent-Range: 4-9/10\r\nContent-Length: 6\r\n\r\n456789", "!HTTP/1.1 206 P\r\nContent-Range: bytes 4-9/10\r\n\r\n456789", "HTTP/1.1 206 P\r\nContent-Range: bytes 4-9/10\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n456789\r\n0\r\n\r\n",
    "!HTTP/1.0 200 OK\r\n\r\n0123456789", "HTTP/1.1 304 Not\r\n\r\n", "HTTP/1.1 204 None\r\n\r\n", "HTTP/1.1 302 F\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 206 P\r\nContent-Range: bytes 4-\r\nContent-Length: 6\r\n\r\n456789",
    "HTTP/1.1 206 P\r\nContent-Range: bytes 4-9/10\r\nContent-Range: bytes 0-9/10\r\nContent-Length: 6\r\n\r\n456789", "HTTP/1.1 206 P\r\nContent-Type: multipart/byteranges; boundary=x\r\nContent-Length: 6\r\n\r\n456789"};
  for(size_t i = 0; i < sizeof replies / sizeof *replies; i++)
    for(int kind = 0; kind < 4; kind++) {
      struct peer *peer = peer_saying(replies[i], replies[0]);
      CURL *easy = to_peer(peer, "/file");
      char name[64];
      WITH(easy, FOLLOWLOCATION, 1L);
      WITH(easy, RESUME_FROM_LARGE, (curl_off_t)4);
      if(kind == 1)
        WITH(easy, FAILONERROR, 1L);
      if(kind == 2)
        WITH(easy, MAXFILESIZE, 6L);
      if(kind == 3)
        WITH(easy, NOBODY, 1L);
      snprintf(name, sizeof name, "reply %zu kind %d", i, kind);
      if(kind == 3 && (strstr(replies[i], "\r\n\r\n") + 4)[0]) { /* a HEAD has no body */
        char *head = strndup(replies[i], strstr(replies[i], "\r\n\r\n") + 4 - replies[i]);
        peer->says[0] = head;
        finish(name, easy, peer);
        free(head);
        continue;
      }
      finish(name, easy, peer);
    }
  /* Numbers that are no place in a file, a transfer that is asked again, and one of an option after the other. */
  static const curl_off_t places[] = {0, 1, -1, -5, 9999999999LL};
  for(size_t i = 0; i < sizeof places / sizeof *places; i++) {
    struct peer *peer = peer_saying(replies[4], replies[4]);
    CURL *easy = to_peer(peer, "/place");
    char name[64];
    printf("set %lld: %d %d\n", (long long)places[i], curl_easy_setopt(easy, CURLOPT_RESUME_FROM, (long)places[i]), curl_easy_setopt(easy, CURLOPT_RESUME_FROM_LARGE, places[i]));
    snprintf(name, sizeof name, "place %zu first", i);
    go(name, easy);
    snprintf(name, sizeof name, "place %zu again", i);
    finish(name, easy, peer);
  }
  static const long limits[] = {1, 5, 6, 9, 10, 11};
  for(size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    for(int from = 0; from < 8; from += 4) {
      struct peer *peer = peer_saying(from ? replies[0] : "!HTTP/1.1 200 OK\r\n\r\n0123456789", NULL);
      CURL *easy = to_peer(peer, "/limit");
      char name[64];
      WITH(easy, RESUME_FROM, (long)from);
      WITH(easy, MAXFILESIZE, limits[i]);
      snprintf(name, sizeof name, "limit %ld from %d", limits[i], from);
      finish(name, easy, peer);
    }
}

static void uploads(void)
{
  static const struct { const char *name; long from, size; int post, seeks, answer; } kinds[] = {
    {"put all", 0, 10, 0, 0, 0}, {"put from 4", 4, 10, 0, 0, 0}, {"put from 4, sought", 4, 10, 0, 1, 0}, {"put from 4, seek fails", 4, 10, 0, 1, CURL_SEEKFUNC_FAIL}, {"put from 4, seek can't", 4, 10, 0, 1, CURL_SEEKFUNC_CANTSEEK},
    {"put from 10", 10, 10, 0, 0, 0}, {"put from 11", 11, 10, 0, 0, 0}, {"put from 20, sought", 20, 10, 0, 1, 0}, {"put from 4, size unknown", 4, -1, 0, 0, 0}, {"put from the end", -1, 10, 0, 0, 0}, {"put from before the end", -4, 10, 0, 1, 0},
    {"post from 4", 4, 10, 1, 0, 0}, {"post from 4, sought", 4, 10, 1, 1, 0}, {"put 6 from 4", 4, 6, 0, 1, 0}};
  for(size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct peer *peer = peer_saying(OK_CLOSE, NULL);
    CURL *easy = to_peer(peer, "/up");
    struct curl_slist *none = curl_slist_append(NULL, "Expect:");
    at_ = reads = seeks = 0;
    seek_answer = kinds[i].answer;
    WITH(easy, TIMEOUT, 3L);
    WITH(easy, HTTPHEADER, none);
    WITH(easy, READFUNCTION, give);
    WITH(easy, RESUME_FROM, kinds[i].from);
    if(kinds[i].seeks)
      WITH(easy, SEEKFUNCTION, seek_to), WITH(easy, SEEKDATA, (void *)kinds[i].name);
    if(kinds[i].post)
      WITH(easy, POST, 1L), WITH(easy, POSTFIELDSIZE, kinds[i].size);
    else
      WITH(easy, UPLOAD, 1L), WITH(easy, INFILESIZE, kinds[i].size);
    finish(kinds[i].name, easy, peer);
    printf("%s read: %zu, sought %d\n", kinds[i].name, reads, seeks);
    curl_slist_free_all(none);
  }
}

int main(void)
{
  ranges();
  downloads();
  uploads();
  return 0;
}
