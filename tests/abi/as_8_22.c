/* Behaviour of curl 8.22 that differs from Debian's 7.88, so that tests/twin cannot compare it: jars and shares, infos within header
 * callbacks, Digest after a change of user, chunks of forms, counts of descriptors, MQTT without a payload.
 * covers: CURLOPT_COOKIEJAR, CURLOPT_COOKIELIST, CURLOPT_SHARE, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, CURLINFO_FILETIME_T, CURLINFO_HTTPAUTH_AVAIL,
 * covers: CURLINFO_CONDITION_UNMET, CURLOPT_USERPWD, CURLOPT_PROXYUSERPWD, CURLOPT_MIMEPOST, curl_formadd, curl_multi_waitfds, curl_multi_fdset,
 * covers: CURLOPT_POST, curl_mime_data_cb, CURLOPT_HTTPPOST */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#include "check.h"
#include "../twin/peer.h"
#include <sys/select.h>

/* The values of the cookies in a jar, or "absent". */
static const char *jar(void)
{
  static char text[400];
  char line[300];
  FILE *file = fopen("as-8-22-jar", "r");
  text[0] = 0;
  if(!file)
    return "absent";
  while(fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    if(line[0] && (line[0] != '#' || !strncmp(line, "#Http", 5)))
      strcat(strcat(text, text[0] ? " " : ""), strrchr(line, '\t') + 1);
  }
  fclose(file);
  return text;
}

/* S: joins the share; s: leaves it; j: names a jar; f: turns cookies on; p: performs; c: adds a cookie; x: FLUSH; F: names a file;
 * 0: COOKIEFILE NULL. What the jar is after curl_easy_cleanup. */
static const char *jar_after(const char *steps)
{
  struct peer *peer = peer_new();
  for(int i = 0; i < 4; i++)
    peer->says[i] = "HTTP/1.1 200 OK\r\nSet-Cookie: n=served\r\nContent-Length: 2\r\n\r\nhi";
  peer_start(peer);
  write_file("as-8-22-in", "127.0.0.1\tFALSE\t/\tFALSE\t0\tf\tfile\n");
  unlink("as-8-22-jar");
  CURLSH *share = curl_share_init();
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
  CURL *easy = to_peer(peer, "/");
  for(; *steps; steps++)
    switch(*steps) {
    case 'S': curl_easy_setopt(easy, CURLOPT_SHARE, share); break;
    case 's': curl_easy_setopt(easy, CURLOPT_SHARE, NULL); break;
    case 'j': curl_easy_setopt(easy, CURLOPT_COOKIEJAR, "as-8-22-jar"); break;
    case 'f': curl_easy_setopt(easy, CURLOPT_COOKIEFILE, ""); break;
    case 'F': curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "as-8-22-in"); break;
    case '0': curl_easy_setopt(easy, CURLOPT_COOKIEFILE, NULL); break;
    case 'c': curl_easy_setopt(easy, CURLOPT_COOKIELIST, "127.0.0.1\tFALSE\t/\tFALSE\t0\tm\tmine"); break;
    case 'x': curl_easy_setopt(easy, CURLOPT_COOKIELIST, "FLUSH"); break;
    case 'p': SAME(curl_easy_perform(easy), CURLE_OK); break;
    }
  curl_easy_cleanup(easy);
  SAME(curl_share_cleanup(share), CURLSHE_OK);
  peer_end(peer);
  return jar();
}

static void jars(void)
{
  static const char *const rows[][2] = {
    {"Sfjpxs", "served"}, {"Sjpxs", "served"}, {"jpx", "served"}, {"jpxS", "served"}, {"jpxSs", "served"}, {"jpxSp", "served"},
    {"Sjpxsp", "served"}, {"jp", "served"}, {"Sjps", "absent"}, {"jpS", "absent"}, {"j", "absent"}, {"Sj", "absent"}, {"fj", "absent"},
    {"Fj", "absent"}, {"FjSs", "absent"}, {"jpF", "served"}, {"jpFx", "served"}, {"Fjp", "served file"}, {"jp0", "absent"},
    {"Sjp0", "absent"}, {"Sjcs", "absent"}, {"jcS", "absent"}, {"jcp", "served mine"},
    {"jc", "mine"}, /* CURLOPT_COOKIELIST.md has it so; 8.22 itself writes none before a transfer */
  };
  for(size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *found = jar_after(rows[i][0]);
    if(strcmp(found, rows[i][1])) {
      failures++;
      printf("jar after %s: %s, not %s\n", rows[i][0], found, rows[i][1]);
    }
  }
}

static CURL *asked;
static char heads[600];
static size_t head_line(char *data, size_t size, size_t count, void *user)
{
  curl_off_t length = -7, date = -7;
  long available = -7, unmet = -7, status = -7;
  (void)data, (void)user;
  curl_easy_getinfo(asked, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  curl_easy_getinfo(asked, CURLINFO_FILETIME_T, &date);
  curl_easy_getinfo(asked, CURLINFO_HTTPAUTH_AVAIL, &available);
  curl_easy_getinfo(asked, CURLINFO_CONDITION_UNMET, &unmet);
  curl_easy_getinfo(asked, CURLINFO_RESPONSE_CODE, &status);
  sprintf(heads + strlen(heads), "%ld/%ld/%ld/%ld/%d ", status, (long)length, available, unmet, date > 0);
  return size * count;
}

static void in_header_callbacks(void)
{
  static const struct {
    const char *says, *wanted;
    CURLoption option;
    long value, when;
  } rows[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200/-1/0/0/0 200/-1/0/0/0 200/2/0/0/0 ", 0, 0, 0},
    {"HTTP/1.1 103 E\r\nContent-Length: 9\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
     "103/-1/0/0/0 103/-1/0/0/0 103/-1/0/0/0 200/-1/0/0/0 200/-1/0/0/0 200/2/0/0/0 ", 0, 0, 0},
    {"HTTP/1.1 200 OK\r\nContent-Length: 55\r\n\r\n", "200/-1/0/0/0 200/-1/0/0/0 200/55/0/0/0 ", CURLOPT_NOBODY, 1, 0},
    {"HTTP/1.1 204 No\r\nX: y\r\n\r\n", "204/-1/0/0/0 204/-1/0/0/0 204/0/0/0/0 ", 0, 0, 0},
    {"HTTP/1.1 304 Not\r\nX: y\r\n\r\n", "304/-1/0/1/0 304/-1/0/1/0 304/0/0/1/0 ", 0, 0, 0},
    {"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno", "404/-1/0/0/0 404/-1/0/0/0 404/-1/0/0/0 ", CURLOPT_FAILONERROR, 1, 0},
    {"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n", "200/-1/0/0/0 200/-1/0/0/0 200/-1/0/0/0 ", CURLOPT_MAXFILESIZE, 10, 0},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "200/-1/0/0/0 200/-1/0/0/0 200/-1/0/0/0 ", 0, 0, 0},
    {"HTTP/1.1 401 A\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n", "401/-1/0/0/0 401/-1/1/0/0 401/-1/1/0/0 401/0/1/0/0 ", 0, 0, 0},
    {"HTTP/1.1 200 OK\r\nLast-Modified: Tue, 15 Nov 1994 12:45:26 GMT\r\nContent-Length: 2\r\n\r\nhi",
     "200/-1/0/0/0 200/-1/0/0/1 200/-1/0/0/1 200/2/0/0/1 ", CURLOPT_FILETIME, 1, 0},
    {"HTTP/1.1 200 OK\r\nLast-Modified: Tue, 15 Nov 1994 12:45:26 GMT\r\nContent-Length: 2\r\n\r\nhi",
     "200/-1/0/0/0 200/-1/0/0/0 200/-1/0/0/0 304/2/0/1/0 ", CURLOPT_TIMECONDITION, CURL_TIMECOND_IFMODSINCE, 1500000000},
  };
  for(size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct peer *peer = peer_saying(rows[i].says, NULL);
    asked = to_peer(peer, "/");
    heads[0] = 0;
    curl_easy_setopt(asked, CURLOPT_HEADERFUNCTION, head_line);
    if(rows[i].option)
      curl_easy_setopt(asked, rows[i].option, rows[i].value);
    if(rows[i].when)
      curl_easy_setopt(asked, CURLOPT_TIMEVALUE, rows[i].when);
    curl_easy_perform(asked);
    if(strcmp(heads, rows[i].wanted)) {
      failures++;
      printf("%s: %s, not %s\n", rows[i].says, heads, rows[i].wanted);
    }
    curl_easy_cleanup(asked);
    peer_end(peer);
  }
}

/* User, nonce and its count of each request that the peer heard; "-" without an answer. */
static const char *answers(struct peer *peer, const char *field)
{
  static char text[800];
  text[0] = 0;
  for(int i = 0; i < peer->rounds; i++) {
    char *at = strstr(peer->heard[i], field), user[20] = "", nonce[20] = "", count[20] = "";
    if(at) {
      sscanf(strstr(at, "username=\"") + 10, "%19[^\"]", user);
      sscanf(strstr(at, " nonce=\"") + 8, "%19[^\"]", nonce);
      sscanf(strstr(at, " nc=") + 4, "%19[^,]", count);
    }
    sprintf(text + strlen(text), at ? "%s%s:%s:%d" : "%s-", i ? " " : "", user, nonce, atoi(count));
  }
  return text;
}

#define CHALLENGE(status, side, nonce)                                                                                \
  "HTTP/1.1 " status "\r\n" side "-Authenticate: Digest realm=\"r\", qop=\"auth\", nonce=\"" nonce "\"\r\nContent-Length: 0\r\n\r\n"
#define ASKS(nonce) CHALLENGE("401 A", "WWW", nonce)
#define PROXY_ASKS(nonce) CHALLENGE("407 P", "Proxy", nonce)

static void digest_and_users(void)
{
  for(int proxy = 0; proxy < 2; proxy++) {
    struct peer *peer = peer_new();
    const char *const says[] = {proxy ? PROXY_ASKS("n1") : ASKS("n1"), OK_BODY, OK_BODY, proxy ? PROXY_ASKS("n2") : ASKS("n2"), OK_BODY,
      proxy ? PROXY_ASKS("n3") : ASKS("n3"), OK_BODY, OK_BODY};
    CURLoption login = proxy ? CURLOPT_PROXYUSERPWD : CURLOPT_USERPWD;
    memcpy(peer->says, says, sizeof says);
    peer_start(peer);
    CURL *easy = to_peer(peer, "/");
    curl_easy_setopt(easy, proxy ? CURLOPT_PROXYAUTH : CURLOPT_HTTPAUTH, CURLAUTH_DIGEST);
    if(proxy)
      curl_easy_setopt(easy, CURLOPT_PROXY, peer->url), curl_easy_setopt(easy, CURLOPT_URL, "http://origin.example/");
    static const char *const logins[] = {"a:x", "a:x", "b:x", "b:y", "b:y"};
    for(int i = 0; i < 5; i++) {
      curl_easy_setopt(easy, login, logins[i]);
      SAME(curl_easy_perform(easy), CURLE_OK);
      SAME(number(easy, CURLINFO_RESPONSE_CODE), 200);
    }
    SAME_TEXT(answers(peer, proxy ? "Proxy-Authorization: Digest" : "\r\nAuthorization: Digest"), "- a:n1:1 a:n1:2 - b:n2:1 - b:n3:1 b:n3:2");
    curl_easy_cleanup(easy);
    peer_end(peer);
  }
  /* Refused: the nonce that came with the refusal is used by whoever asks next, and once more if that is refused, too. */
  struct peer *peer = peer_new();
  const char *const says[] = {ASKS("n1"), ASKS("n2"), ASKS("n3"), ASKS("n4"), OK_BODY, OK_BODY, ASKS("n5"), OK_BODY};
  memcpy(peer->says, says, sizeof says);
  peer_start(peer);
  CURL *easy = to_peer(peer, "/");
  curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_DIGEST);
  static const char *const logins[] = {"bad:x", "bad:x", "good:x", "good:x"};
  for(int i = 0; i < 4; i++) {
    curl_easy_setopt(easy, CURLOPT_USERPWD, logins[i]);
    SAME(curl_easy_perform(easy), CURLE_OK);
    SAME(number(easy, CURLINFO_RESPONSE_CODE), i < 2 ? 401 : 200);
  }
  SAME_TEXT(answers(peer, "\r\nAuthorization: Digest"), "- bad:n1:1 bad:n2:1 bad:n2:2 good:n4:1 good:n4:2");
  curl_easy_cleanup(easy);
  peer_end(peer);
}

static size_t by_piece;
static size_t pieces(char *buffer, size_t size, size_t count, void *user)
{
  size_t *left = user, n = *left < by_piece ? *left : by_piece;
  CHECK(n <= size * count);
  memset(buffer, 'x', n);
  *left -= n;
  return n;
}

/* Lengths of the chunks of a form whose boundary has curl's length. */
static const char *chunks(int encoder, size_t length, size_t piece)
{
  static char text[400];
  struct peer *peer = peer_saying(OK_BODY, NULL);
  CURL *easy = to_peer(peer, "/");
  curl_mime *form = curl_mime_init(easy);
  curl_mimepart *part = curl_mime_addpart(form);
  curl_mime_name(part, "field");
  curl_mime_data_cb(part, -1, pieces, NULL, NULL, &length);
  if(encoder)
    curl_mime_encoder(part, encoder == 1 ? "base64" : "quoted-printable");
  by_piece = piece;
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, form);
  SAME(curl_easy_perform(easy), CURLE_OK);
  text[0] = 0;
  for(char *at = strstr(peer->heard[0], "\r\n\r\n"), *end = peer->heard[0] + peer->heard_length[0]; at && at + 4 < end;) {
    long size = strtol(at + (at[2] == '\r' ? 4 : 2), &at, 16);
    if(!size)
      break;
    sprintf(text + strlen(text), "%lx ", size);
    at += 2 + size;
  }
  curl_mime_free(form);
  curl_easy_cleanup(easy);
  peer_end(peer);
  return text;
}

static void chunks_of_forms(void)
{
  SAME_TEXT(chunks(0, 4, 1), "63 1 1 1 36 ");
  SAME_TEXT(chunks(0, 12, 5), "67 5 2 36 ");
  SAME_TEXT(chunks(0, 12, 1000), "6e 36 ");
  SAME_TEXT(chunks(1, 6, 1), "85 4 4 36 ");
  SAME_TEXT(chunks(2, 3, 1), "90 1 1 36 ");
}

static size_t keep(void *user, const char *bytes, size_t length)
{
  strncat(user, bytes, length);
  return length;
}

/* The head of the only part of a form, and its contents. */
static void a_form(const char *wanted, struct curl_forms *options)
{
  char text[2000] = "", *at;
  struct curl_httppost *first = NULL, *last = NULL;
  int code = curl_formadd(&first, &last, CURLFORM_COPYNAME, "n", CURLFORM_ARRAY, options, CURLFORM_END);
  if(code)
    sprintf(text, "error %d", code);
  else {
    SAME(curl_formget(first, text, keep), 0);
    CHECK(first->flags & CURL_HTTPPOST_LARGE);
    at = strstr(text, "name=\"n\"");
    memmove(text, at + 8, strlen(at + 8) + 1);
    *strstr(text, "\r\n--") = 0;
    for(at = text; (at = strstr(at, "\r\n"));)
      *at = '|', memmove(at + 1, at + 2, strlen(at + 2) + 1);
  }
  SAME_TEXT(text, wanted);
  curl_formfree(first);
}

#define FORM(wanted, ...) a_form(wanted, (struct curl_forms[]){__VA_ARGS__, {CURLFORM_END, NULL}})

static void forms(void)
{
  struct curl_forms contents = {CURLFORM_PTRCONTENTS, "pointed"}, copied = {CURLFORM_COPYCONTENTS, "copied"}, name = {CURLFORM_FILENAME, "shown.txt"},
    length = {CURLFORM_CONTENTSLENGTH, (char *)3}, file = {CURLFORM_FILE, "as-8-22-in.txt"}, file_content = {CURLFORM_FILECONTENT, "as-8-22-in.txt"},
    buffer = {CURLFORM_BUFFER, "b.txt"}, bytes = {CURLFORM_BUFFERPTR, "buffered"}, size = {CURLFORM_BUFFERLENGTH, (char *)4};
  write_file("as-8-22-in.txt", "filed");
  FORM("||pointed", contents, name);
  FORM("||copied", name, copied);
  FORM("||poi", contents, name, length);
  FORM("||filed", file_content, name);
  FORM("; filename=\"shown.txt\"|Content-Type: text/plain||filed", file, name);
  FORM("; filename=\"as-8-22-in.txt\"|Content-Type: text/plain||filed", file);
  FORM("|Content-Type: application/octet-stream||buffered", bytes);
  FORM("; filename=\"b.txt\"|Content-Type: text/plain||buff", buffer, bytes, size);
  FORM("; filename=\"shown.txt\"|Content-Type: text/plain||buff", name, bytes, size);
  FORM("||pointed", contents, buffer);
  FORM("||filed", copied, file_content);
  FORM("error 2", contents, file_content);
  FORM("error 2", contents, contents);
  FORM("error 2", size, size, bytes);
  FORM("error 5", file, length);
  FORM("error 5", name);
}

static int watched(CURLM *multi)
{
  fd_set reading, writing, failing;
  int highest = -1, found = 0;
  FD_ZERO(&reading);
  FD_ZERO(&writing);
  FD_ZERO(&failing);
  SAME(curl_multi_fdset(multi, &reading, &writing, &failing, &highest), CURLM_OK);
  for(int fd = 0; fd <= highest; fd++)
    found += !!FD_ISSET(fd, &reading) + !!FD_ISSET(fd, &writing);
  return found;
}

static unsigned waits(CURLM *multi)
{
  unsigned count = 99;
  SAME(curl_multi_waitfds(multi, NULL, 0, &count), CURLM_OK);
  return count;
}

/* The wake-up descriptor is counted while a transfer waits for something. */
static void descriptors(void)
{
  CURLM *multi = curl_multi_init();
  struct peer *peers[2];
  CURL *handles[2];
  struct curl_waitfd rows[4];
  unsigned count = 0;
  int running;
  for(int i = 0; i < 2; i++) {
    peers[i] = peer_new();
    peers[i]->delay_ms = 50;
    peers[i]->says[0] = OK_BODY;
    handles[i] = to_peer(peer_start(peers[i]), "/");
    curl_multi_add_handle(multi, handles[i]);
  }
  SAME(waits(multi), 0);
  SAME(watched(multi), 0);
  curl_multi_perform(multi, &running);
  SAME(waits(multi), 3);
  SAME(watched(multi), 3);
  SAME(curl_multi_waitfds(multi, rows, 4, &count), CURLM_OK);
  CHECK(count == 3 && rows[0].events == CURL_WAIT_POLLIN && rows[1].events == CURL_WAIT_POLLOUT && rows[2].events == CURL_WAIT_POLLOUT);
  SAME(curl_multi_waitfds(multi, rows, 2, &count), CURLM_OUT_OF_MEMORY);
  SAME(count, 3);
  SAME(run_all(multi), 0);
  SAME(waits(multi), 0);
  SAME(watched(multi), 0);
  for(int i = 0; i < 2; i++) {
    curl_multi_remove_handle(multi, handles[i]);
    curl_easy_cleanup(handles[i]);
    peer_end(peers[i]);
  }
  curl_multi_cleanup(multi);
}

static size_t never(char *buffer, size_t size, size_t count, void *user)
{
  (void)buffer, (void)user;
  failures++;
  return size * count;
}

static CURLcode published(int way)
{
  struct peer *peer = peer_new();
  CURL *easy = to_peer(peer, "/");
  char url[80];
  snprintf(url, sizeof url, "mqtt://127.0.0.1:%d/topic", peer->port);
  peer->raw = 1;
  peer->says[0] = "\x20\x02\x00\x00";
  peer->lengths[0] = 4;
  peer_start(peer);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, never);
  if(way == 1)
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 3L);
  if(way == 2)
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "");
  CURLcode code = curl_easy_perform(easy);
  curl_easy_cleanup(easy);
  peer_end(peer);
  return code;
}

/* How often an RTSP request asks the read callback (libtest 572): a size alone makes no upload. */
static int rtsp_reads(long request, long upload, long post_size)
{
  static int asked_for;
  struct peer *peer = peer_saying("RTSP/1.0 200 OK\r\nCSeq: 1\r\nSession: 1\r\nContent-Length: 0\r\n\r\n", NULL);
  CURL *easy = to_peer(peer, "/");
  char url[80];
  size_t left = 5;
  snprintf(url, sizeof url, "rtsp://127.0.0.1:%d/m", peer->port);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_RTSP_STREAM_URI, url);
  curl_easy_setopt(easy, CURLOPT_RTSP_SESSION_ID, "1");
  curl_easy_setopt(easy, CURLOPT_RTSP_REQUEST, request);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, pieces);
  curl_easy_setopt(easy, CURLOPT_READDATA, &left);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE, 5L);
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_UPLOAD, upload);
  if(post_size)
    curl_easy_setopt(easy, CURLOPT_POST, 1L), curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, post_size);
  by_piece = 5;
  SAME(curl_easy_perform(easy), CURLE_OK);
  asked_for = left == 0;
  SAME(strstr(peer->heard[0], "Content-Length: 5") != NULL, asked_for);
  curl_easy_cleanup(easy);
  peer_end(peer);
  return asked_for;
}

int main(void)
{
  jars();
  SAME(rtsp_reads(CURL_RTSPREQ_GET_PARAMETER, 1, 0), 1);
  SAME(rtsp_reads(CURL_RTSPREQ_GET_PARAMETER, 0, 0), 0);
  SAME(rtsp_reads(CURL_RTSPREQ_GET_PARAMETER, 0, 5), 1);
  SAME(rtsp_reads(CURL_RTSPREQ_ANNOUNCE, 0, 0), 0);
  SAME(rtsp_reads(CURL_RTSPREQ_ANNOUNCE, 1, 0), 1);
  in_header_callbacks();
  digest_and_users();
  chunks_of_forms();
  forms();
  descriptors();
  SAME(published(0), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(published(1), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(published(2), CURLE_OK);
  return FAILURES;
}
