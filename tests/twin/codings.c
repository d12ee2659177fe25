/* Content and transfer codings: what is asked for, what is taken off, stacked, broken and empty ones, and which sizes are reported.
 * covers: CURLOPT_ACCEPT_ENCODING, CURLOPT_HTTP_CONTENT_DECODING, CURLOPT_HTTP_TRANSFER_DECODING, CURLOPT_TRANSFER_ENCODING,
 * covers: CURLINFO_SIZE_DOWNLOAD_T, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, CURLOPT_MAXFILESIZE_LARGE, CURLOPT_IGNORE_CONTENT_LENGTH */
#include "peer.h"

struct bytes { int length; char at[3000]; };

static struct bytes plain(const char *text)
{
  struct bytes made = {.length = (int)strlen(text)};
  memcpy(made.at, text, made.length);
  return made;
}

static void add(struct bytes *to, const void *what, int length) { memcpy(to->at + to->length, what, length), to->length += length; }
static void add_number(struct bytes *to, unsigned number, int big) { for(int i = 0; i < 4; i++) add(to, &(char){(char)(number >> (big ? 24 - 8 * i : 8 * i))}, 1); }

/* One stored block is a whole deflate stream. */
static struct bytes raw(struct bytes in)
{
  struct bytes made = {0};
  char head[5] = {1, (char)in.length, (char)(in.length >> 8), (char)~in.length, (char)(~in.length >> 8)};
  add(&made, head, 5), add(&made, in.at, in.length);
  return made;
}

static struct bytes zlib(struct bytes in)
{
  struct bytes made = {0}, block = raw(in);
  unsigned a = 1, b = 0;
  for(int i = 0; i < in.length; i++)
    a = (a + (unsigned char)in.at[i]) % 65521, b = (b + a) % 65521;
  add(&made, "\x78\x01", 2), add(&made, block.at, block.length), add_number(&made, b << 16 | a, 1);
  return made;
}

static struct bytes gzip_with(struct bytes in, int flags, const char *extras, int extra_length)
{
  struct bytes made = {0}, block = raw(in);
  unsigned crc = ~0u;
  for(int i = 0; i < in.length; i++) {
    crc ^= (unsigned char)in.at[i];
    for(int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  char head[10] = {0x1f, (char)0x8b, 8, (char)flags, 0, 0, 0, 0, 0, 3};
  add(&made, head, 10), add(&made, extras, extra_length), add(&made, block.at, block.length), add_number(&made, ~crc, 0), add_number(&made, in.length, 0);
  return made;
}

static struct bytes gzip(struct bytes in) { return gzip_with(in, 0, "", 0); }
static struct bytes brotli(void) { return plain("\x0b\x02\x80hello\x03"); }
static struct bytes zstd(void) { struct bytes made = {0}; add(&made, "\x28\xb5\x2f\xfd\x20\x05\x29\0\0hello", 14); return made; }
static struct bytes cut(struct bytes in, int length) { in.length = length < 0 ? in.length + length : length; return in; }
static struct bytes with(struct bytes in, const char *more) { add(&in, more, (int)strlen(more)); return in; }
static struct bytes spoilt(struct bytes in, int place) { in.at[place < 0 ? in.length + place : place] ^= 0x55; return in; }

static struct bytes chunked(struct bytes in, int size, const char *trailer)
{
  struct bytes made = {0};
  char line[32];
  for(int at = 0; at < in.length; at += size) {
    int n = in.length - at < size ? in.length - at : size;
    add(&made, line, sprintf(line, "%x\r\n", n)), add(&made, in.at + at, n), add(&made, "\r\n", 2);
  }
  add(&made, "0\r\n", 3), add(&made, trailer, (int)strlen(trailer)), add(&made, "\r\n", 2);
  return made;
}

enum { LENGTH = 1, CHUNKED = 2, CONTENT_OFF = 4, TRANSFER_OFF = 8, HEAD = 16, ASK_TE = 32, SMALL = 64, IGNORE = 128, RANGED = 256 };

static void run(const char *name, const char *asked, const char *fields, struct bytes body, int how)
{
  struct bytes whole = {0};
  char head[400];
  if(how & CHUNKED)
    body = chunked(body, 3, "");
  int n = snprintf(head, sizeof head, "HTTP/1.1 %s\r\n%s", how & RANGED ? "206 Part" : "200 OK", fields);
  if(how & LENGTH)
    n += snprintf(head + n, sizeof head - n, "Content-Length: %d\r\n", body.length);
  if(how & CHUNKED && !strstr(fields, "Transfer-Encoding"))
    n += snprintf(head + n, sizeof head - n, "Transfer-Encoding: chunked\r\n");
  n += snprintf(head + n, sizeof head - n, "\r\n");
  if(!(how & (LENGTH | CHUNKED)) || how & IGNORE)
    add(&whole, "!", 1);
  add(&whole, head, n);
  if(!(how & HEAD))
    add(&whole, body.at, body.length);
  struct peer *peer = peer_new();
  peer->says[0] = whole.at;
  peer->lengths[0] = whole.length - (*whole.at == '!');
  CURL *easy = to_peer(peer_start(peer), "/");
  WITH(easy, ACCEPT_ENCODING, asked);
  WITH(easy, TIMEOUT, 4L);
  if(how & CONTENT_OFF)
    WITH(easy, HTTP_CONTENT_DECODING, 0L);
  if(how & TRANSFER_OFF)
    WITH(easy, HTTP_TRANSFER_DECODING, 0L);
  if(how & HEAD)
    WITH(easy, NOBODY, 1L);
  if(how & ASK_TE)
    WITH(easy, TRANSFER_ENCODING, 1L);
  if(how & SMALL)
    WITH(easy, MAXFILESIZE_LARGE, (curl_off_t)6);
  if(how & IGNORE)
    WITH(easy, IGNORE_CONTENT_LENGTH, 1L);
  if(how & RANGED)
    WITH(easy, RANGE, "0-4");
  go(name, easy);
  printf("%s body: ", name);
  print_bytes(first, got < 64 ? got : 64);
  printf("%s sizes: %lld of %lld\n", name, size_of(easy, CURLINFO_SIZE_DOWNLOAD_T), size_of(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T));
  for(char *line = strtok(peer->heard[0], "\r\n"); line; line = strtok(NULL, "\r\n"))
    if(!strncasecmp(line, "Accept-E", 8) || !strncasecmp(line, "TE:", 3) || !strncasecmp(line, "Connection", 10))
      printf("%s asks with %.*s: %s\n", name, (int)strcspn(line, ":"), line, line);
  curl_easy_cleanup(easy);
  peer_end(peer);
}

int main(void)
{
  struct bytes hello = plain("hello"), none = {0};
  static const char *asked[] = {NULL, "", "gzip", "deflate", "br", "zstd", "identity", "gzip, deflate", "x-own;q=0.5", " ", "gzip\r\nX-Two: 2"};
  static const char *codings[] = {"gzip", "x-gzip", "GZip", "deflate", "br", "zstd", "identity", "none", "compress", "unknown", "gzip;q=1", "", ",", " gzip ", "\"gzip\""};
  char name[120], fields[200];
  for(size_t a = 0; a < sizeof asked / sizeof *asked; a++) {
    snprintf(name, sizeof name, "asked %zu", a);
    run(name, asked[a], "", hello, LENGTH);
    snprintf(name, sizeof name, "asked %zu, gzip comes", a);
    run(name, asked[a], "Content-Encoding: gzip\r\n", gzip(hello), LENGTH);
  }
  for(size_t t = 0; t < sizeof codings / sizeof *codings; t++)
    for(int kind = 0; kind < 4; kind++) {
      struct bytes body = strstr(codings[t], "br") ? brotli() : strstr(codings[t], "zstd") ? zstd() : strstr(codings[t], "defl") ? zlib(hello) : strcasestr(codings[t], "gzip") ? gzip(hello) : hello;
      static const int how[] = {LENGTH, 0, CHUNKED, LENGTH | CONTENT_OFF};
      snprintf(fields, sizeof fields, "Content-Encoding: %s\r\n", codings[t]);
      snprintf(name, sizeof name, "coding <%s> %d", codings[t], kind);
      run(name, "", fields, body, how[kind]);
    }
  run("raw deflate", "", "Content-Encoding: deflate\r\n", raw(hello), LENGTH);
  run("raw deflate, cut", "", "Content-Encoding: deflate\r\n", cut(raw(hello), -2), LENGTH);
  run("deflate is gzip", "", "Content-Encoding: deflate\r\n", gzip(hello), LENGTH);
  run("gzip is deflate", "", "Content-Encoding: gzip\r\n", zlib(hello), LENGTH);
  run("twice in one line", "", "Content-Encoding: gzip, gzip\r\n", gzip(gzip(hello)), LENGTH);
  run("twice in two lines", "", "Content-Encoding: deflate\r\nContent-Encoding: gzip\r\n", gzip(zlib(hello)), LENGTH);
  run("in the wrong order", "", "Content-Encoding: gzip\r\nContent-Encoding: deflate\r\n", gzip(zlib(hello)), LENGTH);
  run("identity and gzip", "", "Content-Encoding: identity, gzip\r\n", gzip(hello), LENGTH);
  run("unknown and gzip", "", "Content-Encoding: unknown, gzip\r\n", gzip(hello), LENGTH);
  run("gzip and unknown", "", "Content-Encoding: gzip, unknown\r\n", gzip(hello), LENGTH);
  run("five", "", "Content-Encoding: gzip, gzip, gzip, gzip, gzip\r\n", gzip(gzip(gzip(gzip(gzip(hello))))), LENGTH);
  run("six", "", "Content-Encoding: gzip, gzip, gzip, gzip, gzip, gzip\r\n", gzip(gzip(gzip(gzip(gzip(gzip(hello)))))), LENGTH);
  run("six lines", "", "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n", gzip(gzip(gzip(gzip(gzip(gzip(hello)))))), LENGTH);
  run("seven identities", "", "Content-Encoding: identity, identity, identity, identity, identity, identity, identity\r\n", hello, LENGTH);

  static const char *coded[] = {"gzip", "deflate", "br", "zstd"};
  for(int c = 0; c < 4; c++) {
    struct bytes body = c == 0 ? gzip(hello) : c == 1 ? zlib(hello) : c == 2 ? brotli() : zstd();
    snprintf(fields, sizeof fields, "Content-Encoding: %s\r\n", coded[c]);
#define RUN(what, ...) (snprintf(name, sizeof name, "%s %s", coded[c], what), run(name, "", fields, __VA_ARGS__))
    RUN("empty", none, LENGTH);
    RUN("empty chunked", none, CHUNKED);
    RUN("empty to the end", none, 0);
    RUN("of nothing asked for", body, LENGTH | CONTENT_OFF | SMALL);
    RUN("cut", cut(body, -1), LENGTH);
    RUN("cut in the middle", cut(body, body.length / 2), LENGTH);
    RUN("one byte", cut(body, 1), LENGTH);
    RUN("with more behind", with(body, "more"), LENGTH);
    RUN("spoilt end", spoilt(body, -1), LENGTH);
    RUN("spoilt start", spoilt(body, 0), LENGTH);
    RUN("HEAD", body, LENGTH | HEAD);
    RUN("too large as sent", body, LENGTH | SMALL);
    RUN("too large chunked", body, CHUNKED | SMALL);
    RUN("length ignored", body, LENGTH | IGNORE);
    RUN("as a part", body, LENGTH | RANGED);
  }
  run("gzip, size wrong", "", "Content-Encoding: gzip\r\n", spoilt(gzip(hello), -4), LENGTH);
  run("gzip, sum wrong", "", "Content-Encoding: gzip\r\n", spoilt(gzip(hello), -6), LENGTH);
  run("gzip, method wrong", "", "Content-Encoding: gzip\r\n", spoilt(gzip(hello), 2), LENGTH);
  run("gzip, reserved flag", "", "Content-Encoding: gzip\r\n", gzip_with(hello, 0x20, "", 0), LENGTH);
  run("gzip, with a name", "", "Content-Encoding: gzip\r\n", gzip_with(hello, 8, "name", 5), CHUNKED);
  run("gzip, with a comment", "", "Content-Encoding: gzip\r\n", gzip_with(hello, 16, "comment", 8), CHUNKED);
  run("gzip, with extra", "", "Content-Encoding: gzip\r\n", gzip_with(hello, 4, "\3\0abc", 5), CHUNKED);
  run("gzip, with all", "", "Content-Encoding: gzip\r\n", gzip_with(hello, 28, "\3\0abcname\0comment", 18), CHUNKED);
  run("gzip, zeros behind", "", "Content-Encoding: gzip\r\n", ({struct bytes b = gzip(hello); b.length += 8; b;}), LENGTH);
  run("zlib, sum wrong", "", "Content-Encoding: deflate\r\n", spoilt(zlib(hello), -2), LENGTH);
  run("trailers", "", "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", chunked(gzip(hello), 4, "X-T: x\r\n"), 0);

  static const char *transfers[] = {"gzip, chunked", "deflate, chunked", "chunked", "gzip", "identity", "chunked, gzip", "x-gzip, chunked", "br, chunked", "gzip, gzip, chunked"};
  for(size_t t = 0; t < sizeof transfers / sizeof *transfers; t++)
    for(int kind = 0; kind < 4; kind++) {
      struct bytes body = strstr(transfers[t], "gzip, gzip") ? gzip(gzip(hello)) : strstr(transfers[t], "gzip") ? gzip(hello) : strstr(transfers[t], "defl") ? zlib(hello) : strstr(transfers[t], "br") ? brotli() : hello;
      static const int how[] = {ASK_TE, 0, TRANSFER_OFF, ASK_TE | CONTENT_OFF};
      snprintf(fields, sizeof fields, "Transfer-Encoding: %s\r\n", transfers[t]);
      snprintf(name, sizeof name, "transfer <%s> %d", transfers[t], kind);
      run(name, NULL, fields, body, how[kind] | (strstr(transfers[t], "chunked") ? CHUNKED : 0));
    }
  run("both codings", "", "Transfer-Encoding: deflate, chunked\r\nContent-Encoding: gzip\r\n", zlib(gzip(hello)), CHUNKED | ASK_TE);
  run("chunks as they come", NULL, "Transfer-Encoding: chunked\r\n", hello, CHUNKED | TRANSFER_OFF);
  run("chunks of gzip as they come", "", "Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n", hello, CHUNKED | TRANSFER_OFF | CONTENT_OFF);
  return 0;
}
