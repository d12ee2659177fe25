/* Bodies that must be sent again: because of a redirect, of a refused login, or of a connection that the server had left; and each answer
 * that the seek and the ioctl callback may give. Resumed uploads, which begin in the middle. Trailers, with each thing they may be.
 * covers: CURLOPT_SEEKFUNCTION, CURLOPT_SEEKDATA, CURLOPT_IOCTLFUNCTION, CURLOPT_IOCTLDATA, CURLOPT_RESUME_FROM_LARGE, CURLOPT_TRAILERFUNCTION, CURLOPT_TRAILERDATA, CURLOPT_READFUNCTION, CURLOPT_HTTPAUTH, CURLOPT_FOLLOWLOCATION */
#define CURL_DISABLE_DEPRECATION
#include "peer.h"

static const char whole[] = "0123456789";
static size_t place, asked_at;
static int reads, seeks, controls, seek_answer, control_answer, last_origin;
static curl_off_t last_offset;

static size_t on_read(char *data, size_t size, size_t count, void *user)
{
  size_t n = strlen(whole) - place < size * count ? strlen(whole) - place : size * count;
  (void)user;
  reads++;
  memcpy(data, whole + place, n);
  place += n;
  return n;
}

static int on_seek(void *user, curl_off_t offset, int origin)
{
  seeks++;
  last_offset = offset, last_origin = origin;
  if(user != &seeks)
    printf("wrong pointer\n");
  if(seek_answer == CURL_SEEKFUNC_OK)
    place = offset;
  return seek_answer;
}

static curlioerr on_control(CURL *easy, int command, void *user)
{
  (void)easy;
  controls++;
  if(user != &controls || command != CURLIOCMD_RESTARTREAD)
    printf("wrong command\n");
  if(control_answer == CURLIOE_OK)
    place = 0;
  return (curlioerr)control_answer;
}

static const char *const causes[] = {"307", "302", "401 basic", "401 digest", "stale"};
static const char *const first_answers[] = {
  "!HTTP/1.1 307 There\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n",
  "!HTTP/1.1 302 There\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n",
  "HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n",
  "HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=MD5\r\nContent-Length: 0\r\n\r\n",
};

/* What of the body each request had. */
static void bodies(const char *name, struct peer *peer)
{
  printf("%s requests:", name);
  for(int i = 0; i < peer->rounds; i++) {
    char *end = strstr(peer->heard[i], "\r\n\r\n");
    int length = end ? (int)(peer->heard_length[i] - (end + 4 - peer->heard[i])) : 0;
    printf(" %.*s:", (int)strcspn(peer->heard[i], " "), peer->heard[i]);
    for(int at = 0; at < length; at++)
      printf(end[4 + at] > ' ' ? "%c" : "_", end[4 + at]);
  }
  puts("");
}

static void again(int cause, int chunked, int as_post, int with_seek, int with_control)
{
  struct peer *peer = peer_saying(first_answers[cause], OK_CLOSE);
  CURL *easy = to_peer(peer, "/");
  struct curl_slist *lines = curl_slist_append(NULL, "Expect:");
  char name[128];
  place = reads = seeks = controls = 0;
  last_offset = last_origin = -1;
  WITH(easy, READFUNCTION, on_read);
  WITH(easy, HTTPHEADER, lines);
  WITH(easy, FOLLOWLOCATION, 1L);
  WITH(easy, USERPWD, "u:p");
  WITH(easy, HTTPAUTH, cause == 2 ? (long)(CURLAUTH_BASIC | CURLAUTH_NTLM) : cause == 3 ? (long)CURLAUTH_ANY : (long)CURLAUTH_BASIC);
  if(as_post) {
    WITH(easy, POST, 1L);
    WITH(easy, POSTFIELDSIZE, chunked ? -1L : 10L);
  }
  else {
    WITH(easy, UPLOAD, 1L);
    WITH(easy, INFILESIZE, chunked ? -1L : 10L);
  }
  if(with_seek) {
    WITH(easy, SEEKFUNCTION, on_seek);
    WITH(easy, SEEKDATA, &seeks);
  }
  if(with_control) {
    WITH(easy, IOCTLFUNCTION, on_control);
    WITH(easy, IOCTLDATA, &controls);
  }
  snprintf(name, sizeof name, "%s %s%s seek %d control %d", causes[cause], chunked ? "chunked " : "", as_post ? "post" : "put", with_seek ? seek_answer : -1, with_control ? control_answer : -1);
  go(name, easy);
  printf("%s: sought %d to %lld from %d, controls %d\n", name, seeks, (long long)last_offset, last_origin, controls);
  curl_easy_cleanup(easy);
  bodies(name, peer);
  peer_end(peer);
  curl_slist_free_all(lines);
}

/* The server has left a kept connection: what was sent on it is sent again, if it can be. */
static void stale(int with_seek)
{
  struct peer *peer = peer_saying(OK_BODY, "!");
  peer->says[2] = OK_CLOSE;
  CURL *easy = to_peer(peer, "/");
  struct curl_slist *lines = curl_slist_append(NULL, "Expect:");
  char name[64];
  snprintf(name, sizeof name, "left alone, seek %d", with_seek);
  go(name, easy);
  WITH(easy, UPLOAD, 1L);
  WITH(easy, INFILESIZE, 10L);
  WITH(easy, READFUNCTION, on_read);
  WITH(easy, HTTPHEADER, lines);
  if(with_seek) {
    WITH(easy, SEEKFUNCTION, on_seek);
    WITH(easy, SEEKDATA, &seeks);
  }
  place = seeks = 0;
  go(name, easy);
  printf("%s: sought %d, connections %ld\n", name, seeks, number(easy, CURLINFO_NUM_CONNECTS));
  curl_easy_cleanup(easy);
  bodies(name, peer);
  peer_end(peer);
  curl_slist_free_all(lines);
}

static void resumed(void)
{
  static const curl_off_t from[] = {0, 4, 10, 12, -1};
  for(size_t i = 0; i < sizeof from / sizeof *from; i++)
    for(int answer = -1; answer < 3; answer++) {
      struct peer *peer = peer_saying(OK_CLOSE, NULL);
      CURL *easy = to_peer(peer, "/");
      struct curl_slist *lines = curl_slist_append(NULL, "Expect:");
      char name[64];
      place = seeks = 0;
      last_offset = -1;
      seek_answer = answer;
      WITH(easy, UPLOAD, 1L);
      WITH(easy, INFILESIZE, 10L);
      WITH(easy, READFUNCTION, on_read);
      WITH(easy, HTTPHEADER, lines);
      WITH(easy, RESUME_FROM_LARGE, from[i]);
      if(answer >= 0) {
        WITH(easy, SEEKFUNCTION, on_seek);
        WITH(easy, SEEKDATA, &seeks);
      }
      snprintf(name, sizeof name, "from %lld, seek %d", (long long)from[i], answer);
      go(name, easy);
      printf("%s: sought %d to %lld\n", name, seeks, (long long)last_offset);
      curl_easy_cleanup(easy);
      if(peer->rounds) {
        char *range = strstr(peer->heard[0], "Content-Range:"), *length = strstr(peer->heard[0], "Content-Length:");
        printf("%s: %.*s, %.*s\n", name, range ? (int)strcspn(range, "\r") : 0, range, length ? (int)strcspn(length, "\r") : 0, length);
      }
      bodies(name, peer);
      peer_end(peer);
      curl_slist_free_all(lines);
    }
}

static int trailer_answer, trailer_calls;
static const char *const *trailer_lines;

static int on_trailer(struct curl_slist **list, void *user)
{
  if(user != &trailer_calls)
    printf("wrong pointer\n");
  trailer_calls++;
  asked_at = place;
  for(const char *const *line = trailer_lines; *line; line++)
    *list = curl_slist_append(*list, *line);
  return trailer_answer;
}

static void trailers(void)
{
  static const char *const lists[][6] = {{NULL}, {"X-One: 1", NULL}, {"X-One: 1", "X-Two:2", "X-Three:", NULL}, {"no colon", "X-Good: yes", NULL}, {": no name", "X-Good: yes", NULL},
                                         {"X-Semi;", "X-Space : 1", NULL}, {"Content-Length: 5", "Transfer-Encoding: gzip", NULL}, {"X-Many: a", "X-Many: b", NULL}, {" X-Led: by space", "X-Good: 1", NULL}};
  for(size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    for(int kind = 0; kind < 4; kind++) {
      /* chunked; with a length; chunked by a line; refused by the callback */
      struct peer *peer = peer_new();
      char name[64];
      peer->says[0] = OK_CLOSE;
      peer_start(peer);
      CURL *easy = to_peer(peer, "/");
      struct curl_slist *lines = curl_slist_append(NULL, "Expect:");
      if(kind == 2)
        lines = curl_slist_append(lines, "Transfer-Encoding: chunked");
      if(kind && i > 2) {
        curl_slist_free_all(lines), curl_easy_cleanup(easy), peer_end(peer);
        continue;
      }
      place = trailer_calls = asked_at = 0;
      trailer_lines = lists[i];
      trailer_answer = kind == 3 ? CURL_TRAILERFUNC_ABORT : CURL_TRAILERFUNC_OK;
      WITH(easy, UPLOAD, 1L);
      WITH(easy, READFUNCTION, on_read);
      WITH(easy, HTTPHEADER, lines);
      WITH(easy, TRAILERFUNCTION, on_trailer);
      WITH(easy, TRAILERDATA, &trailer_calls);
      if(kind == 1)
        WITH(easy, INFILESIZE, 10L);
      snprintf(name, sizeof name, "trailers %zu kind %d", i, kind);
      CURLcode code = curl_easy_perform(easy);
      printf("%s: code %d, calls %d at %zu\n", name, code, trailer_calls, asked_at);
      curl_easy_cleanup(easy);
      bodies(name, peer);
      peer_end(peer);
      curl_slist_free_all(lines);
    }
}

int main(void)
{
  for(int cause = 0; cause < 4; cause++)
    for(int kind = 0; kind < 4; kind++) {
      for(seek_answer = 0; seek_answer < 3; seek_answer++)
        again(cause, kind & 1, kind & 2, 1, 0);
      for(control_answer = 0; control_answer < 4; control_answer++)
        again(cause, kind & 1, kind & 2, 0, control_answer < 3);
      seek_answer = 2, control_answer = 0; /* the seek callback comes first */
      again(cause, kind & 1, kind & 2, 1, 1);
    }
  seek_answer = CURL_SEEKFUNC_OK;
  stale(0);
  stale(1);
  resumed();
  trailers();
  return 0;
}
