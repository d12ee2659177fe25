/* Expect: 100-continue and uploads that the server refuses early, chunked uploads with trailers, and bodies that must be sent again.
 * covers: CURLOPT_EXPECT_100_TIMEOUT_MS, CURLOPT_TRAILERFUNCTION, CURLOPT_TRAILERDATA, CURLOPT_SEEKFUNCTION, CURLOPT_READFUNCTION, CURLOPT_INFILESIZE_LARGE */
#include "peer.h"

static const char *whole = "the upload";
static size_t at_;
static int seeks, seek_answer, trailer_answer;

static size_t give(char *to, size_t size, size_t count, void *user)
{
  size_t n = strlen(whole) - at_ < size * count ? strlen(whole) - at_ : size * count;
  (void)user;
  memcpy(to, whole + at_, n);
  at_ += n;
  return n;
}

static int back(void *user, curl_off_t offset, int origin)
{
  (void)user;
  seeks++;
  if(seek_answer == CURL_SEEKFUNC_OK && origin == SEEK_SET)
    at_ = offset;
  return seek_answer;
}

static int trailers(struct curl_slist **list, void *user)
{
  (void)user;
  *list = curl_slist_append(*list, "X-Trailer: one");
  *list = curl_slist_append(*list, "no colon");
  *list = curl_slist_append(*list, "X-Two:two");
  return trailer_answer;
}

static void run(const char *name, const char *first, const char *second, int expect, int chunked, int with_trailers, int with_seek)
{
  struct peer *peer = peer_saying(first, second);
  CURL *easy = to_peer(peer, "/up");
  struct curl_slist *lines = curl_slist_append(NULL, expect ? "Expect: 100-continue" : "Expect:");
  if(with_trailers)
    lines = curl_slist_append(lines, "Trailer: X-Trailer");
  at_ = seeks = 0;
  WITH(easy, UPLOAD, 1L);
  WITH(easy, READFUNCTION, give);
  if(!chunked)
    WITH(easy, INFILESIZE_LARGE, (curl_off_t)strlen(whole));
  if(with_seek)
    WITH(easy, SEEKFUNCTION, back);
  if(with_trailers)
    WITH(easy, TRAILERFUNCTION, trailers);
  WITH(easy, HTTPHEADER, lines);
  WITH(easy, EXPECT_100_TIMEOUT_MS, 100L);
  WITH(easy, FOLLOWLOCATION, 1L);
  WITH(easy, USERPWD, "u:p");
  WITH(easy, HTTPAUTH, (long)CURLAUTH_DIGEST);
  WITH(easy, HTTPAUTH, (long)CURLAUTH_BASIC);
  go(name, easy);
  printf("%s: read %zu sought %d\n", name, at_, seeks > 0);
  curl_easy_cleanup(easy);
  curl_slist_free_all(lines);
  if(peer->rounds)
    printf("%s head has: expect %d, length %d, chunked %d\n", name, strstr(peer->heard[0], "Expect: 100") != NULL, strstr(peer->heard[0], "Content-Length: 10") != NULL, strstr(peer->heard[0], "chunked") != NULL);
  peer_end(peer);
}

int main(void)
{
  static const char *refused = "!HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n", *moved = "!HTTP/1.1 307 There\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n", *no = "!HTTP/1.1 413 Too large\r\nContent-Length: 2\r\n\r\nno";
  run("expected, refused early", no, NULL, 1, 0, 0, 0);
  run("expected, moved", moved, OK_CLOSE, 1, 0, 0, 1);
  run("expected, refused", refused, OK_CLOSE, 1, 0, 0, 1);
  for(int answer = 0; answer < 3; answer++) {
    char name[32];
    seek_answer = answer;
    snprintf(name, sizeof name, "moved, seek says %d", answer);
    run(name, moved, OK_CLOSE, 0, 0, 0, 1);
  }
  run("moved, no seek", moved, OK_CLOSE, 0, 0, 0, 0);
  /* To the harness's server, which reads chunks. */
  for(int answer = 0; answer < 2; answer++) {
    CURL *easy = to("SERVER", "/sum");
    trailer_answer = answer ? CURL_TRAILERFUNC_ABORT : CURL_TRAILERFUNC_OK;
    at_ = 0;
    WITH(easy, UPLOAD, 1L);
    WITH(easy, READFUNCTION, give);
    WITH(easy, TRAILERFUNCTION, trailers);
    go("trailers", easy);
    printf("body: %s\n", first);
    curl_easy_cleanup(easy);
  }
  return 0;
}
