/* effects URL-OF-THE-TEST-SERVER: infos, headers and callbacks of real transfers. The server has the built-in paths and
 * /dressed, an answer with many fields. As in values.c each line names a fact that does not hold. */
#define CURL_DISABLE_DEPRECATION
#include "facts.h"
#include <curl/curl.h>

static int held;
static const char *base;
static char url_room[512];

#define HOLDS(fact)                                                \
  do {                                                             \
    if (fact) held++;                                              \
    else printf("%s:%d: not so: %s\n", __func__, __LINE__, #fact); \
  } while (0)

/* Options that a library may refuse; what depends on them is then passed over. */
#define TAKEN(code) ((code) != CURLE_NOT_BUILT_IN && (code) != CURLE_UNKNOWN_OPTION)

static int same(const char *a, const char *b) { return a && b && !strcmp(a, b); }

static const char *at(const char *path) {
  snprintf(url_room, sizeof url_room, "%s%s", base, path);
  return url_room;
}

static struct sink sink;

static CURL *handle(const char *path) {
  CURL *easy = curl_easy_init();
  sink_reset(&sink);
  curl_easy_setopt(easy, CURLOPT_URL, at(path));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT, 30L);
  return easy;
}

static long number(CURL *easy, CURLINFO info) {
  long value = -77;
  return curl_easy_getinfo(easy, info, &value) ? -78 : value;
}

static curl_off_t large(CURL *easy, CURLINFO info) {
  curl_off_t value = -77;
  return curl_easy_getinfo(easy, info, &value) ? -78 : value;
}

static double real(CURL *easy, CURLINFO info) {
  double value = -77;
  return curl_easy_getinfo(easy, info, &value) ? -78 : value;
}

static const char *text(CURL *easy, CURLINFO info) {
  char *value = NULL;
  return curl_easy_getinfo(easy, info, &value) ? "(error)" : value ? value : "(null)";
}

/* covers: CURLINFO_RESPONSE_CODE, CURLINFO_EFFECTIVE_URL, CURLINFO_EFFECTIVE_METHOD, CURLINFO_CONTENT_TYPE,
 *   CURLINFO_SIZE_DOWNLOAD, CURLINFO_SIZE_DOWNLOAD_T, CURLINFO_CONTENT_LENGTH_DOWNLOAD,
 *   CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, CURLINFO_HEADER_SIZE, CURLINFO_REQUEST_SIZE, CURLINFO_PRIMARY_IP,
 *   CURLINFO_PRIMARY_PORT, CURLINFO_LOCAL_IP, CURLINFO_LOCAL_PORT, CURLINFO_SCHEME, CURLINFO_PROTOCOL,
 *   CURLINFO_HTTP_VERSION, CURLINFO_NUM_CONNECTS, CURLINFO_OS_ERRNO, CURLINFO_SSL_VERIFYRESULT,
 *   CURLINFO_RETRY_AFTER, CURLINFO_FILETIME, CURLINFO_FILETIME_T, CURLOPT_FILETIME, CURLINFO_HTTP_CONNECTCODE,
 *   CURLINFO_SPEED_DOWNLOAD, CURLINFO_SPEED_DOWNLOAD_T, CURLINFO_SIZE_UPLOAD, CURLINFO_SIZE_UPLOAD_T,
 *   CURLINFO_CONDITION_UNMET, CURLINFO_REDIRECT_COUNT */
static void infos_of_a_get(void) {
  CURL *easy = handle("/dressed");
  HOLDS(curl_easy_setopt(easy, CURLOPT_FILETIME, 1L) == CURLE_OK);
  HOLDS(curl_easy_perform(easy) == CURLE_OK);
  HOLDS(number(easy, CURLINFO_RESPONSE_CODE) == 203);
  HOLDS(same(text(easy, CURLINFO_EFFECTIVE_URL), at("/dressed")));
  HOLDS(same(text(easy, CURLINFO_EFFECTIVE_METHOD), "GET"));
  HOLDS(same(text(easy, CURLINFO_CONTENT_TYPE), "text/own; x=y"));
  HOLDS(real(easy, CURLINFO_SIZE_DOWNLOAD) == 7 && large(easy, CURLINFO_SIZE_DOWNLOAD_T) == 7);
  HOLDS(real(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD) == 7 && large(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) == 7);
  HOLDS(real(easy, CURLINFO_SPEED_DOWNLOAD) >= 0 && large(easy, CURLINFO_SPEED_DOWNLOAD_T) >= 0);
  HOLDS(real(easy, CURLINFO_SIZE_UPLOAD) == 0 && large(easy, CURLINFO_SIZE_UPLOAD_T) == 0);
  HOLDS(number(easy, CURLINFO_HEADER_SIZE) > 60 && number(easy, CURLINFO_REQUEST_SIZE) > 30);
  HOLDS(same(text(easy, CURLINFO_PRIMARY_IP), "127.0.0.1") && same(text(easy, CURLINFO_LOCAL_IP), "127.0.0.1"));
  HOLDS(number(easy, CURLINFO_PRIMARY_PORT) == atol(strrchr(base, ':') + 1) && number(easy, CURLINFO_LOCAL_PORT) > 0);
  HOLDS(!strcasecmp(text(easy, CURLINFO_SCHEME), "http") && number(easy, CURLINFO_PROTOCOL) == CURLPROTO_HTTP);
  HOLDS(number(easy, CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_1_1);
  HOLDS(number(easy, CURLINFO_NUM_CONNECTS) == 1 && number(easy, CURLINFO_HTTP_CONNECTCODE) == 0);
  HOLDS(number(easy, CURLINFO_SSL_VERIFYRESULT) == 0);
  HOLDS(large(easy, CURLINFO_RETRY_AFTER) == 12);
  HOLDS(number(easy, CURLINFO_FILETIME) == 784111777 && large(easy, CURLINFO_FILETIME_T) == 784111777);
  HOLDS(number(easy, CURLINFO_CONDITION_UNMET) == 0 && number(easy, CURLINFO_REDIRECT_COUNT) == 0);
  HOLDS(number(easy, CURLINFO_OS_ERRNO) >= 0);
  curl_easy_cleanup(easy);
}

/* covers: CURLINFO_TOTAL_TIME, CURLINFO_NAMELOOKUP_TIME, CURLINFO_CONNECT_TIME, CURLINFO_PRETRANSFER_TIME,
 *   CURLINFO_STARTTRANSFER_TIME, CURLINFO_APPCONNECT_TIME, CURLINFO_TOTAL_TIME_T, CURLINFO_NAMELOOKUP_TIME_T,
 *   CURLINFO_CONNECT_TIME_T, CURLINFO_PRETRANSFER_TIME_T, CURLINFO_STARTTRANSFER_TIME_T, CURLINFO_APPCONNECT_TIME_T,
 *   CURLINFO_REDIRECT_TIME, CURLINFO_REDIRECT_TIME_T */
static void times_in_order(void) {
  CURL *easy = handle("/delay/150/bytes/10");
  HOLDS(curl_easy_perform(easy) == CURLE_OK);
  HOLDS(real(easy, CURLINFO_NAMELOOKUP_TIME) >= 0);
  HOLDS(real(easy, CURLINFO_NAMELOOKUP_TIME) <= real(easy, CURLINFO_CONNECT_TIME));
  HOLDS(real(easy, CURLINFO_CONNECT_TIME) > 0 && real(easy, CURLINFO_CONNECT_TIME) <= real(easy, CURLINFO_PRETRANSFER_TIME));
  HOLDS(real(easy, CURLINFO_PRETRANSFER_TIME) < real(easy, CURLINFO_STARTTRANSFER_TIME));
  HOLDS(real(easy, CURLINFO_STARTTRANSFER_TIME) <= real(easy, CURLINFO_TOTAL_TIME));
  HOLDS(real(easy, CURLINFO_STARTTRANSFER_TIME) > 0.14 && real(easy, CURLINFO_TOTAL_TIME) < 10);
  HOLDS(real(easy, CURLINFO_APPCONNECT_TIME) == 0 && large(easy, CURLINFO_APPCONNECT_TIME_T) == 0);
  HOLDS(large(easy, CURLINFO_NAMELOOKUP_TIME_T) <= large(easy, CURLINFO_CONNECT_TIME_T));
  HOLDS(large(easy, CURLINFO_CONNECT_TIME_T) <= large(easy, CURLINFO_PRETRANSFER_TIME_T));
  HOLDS(large(easy, CURLINFO_PRETRANSFER_TIME_T) < large(easy, CURLINFO_STARTTRANSFER_TIME_T));
  HOLDS(large(easy, CURLINFO_STARTTRANSFER_TIME_T) > 140000);
  HOLDS(large(easy, CURLINFO_TOTAL_TIME_T) >= large(easy, CURLINFO_STARTTRANSFER_TIME_T));
  HOLDS(real(easy, CURLINFO_REDIRECT_TIME) == 0);
  curl_easy_setopt(easy, CURLOPT_URL, at("/redirect/2"));
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  HOLDS(curl_easy_perform(easy) == CURLE_OK);
  HOLDS(large(easy, CURLINFO_REDIRECT_TIME_T) > 0 && real(easy, CURLINFO_REDIRECT_TIME) > 0);
  curl_easy_cleanup(easy);
}

/* covers: CURLINFO_REDIRECT_URL, CURLINFO_REFERER, CURLINFO_HTTPAUTH_AVAIL, CURLINFO_COOKIELIST, CURLINFO_CONDITION_UNMET,
 *   CURLINFO_SIZE_UPLOAD_T, CURLINFO_CONTENT_LENGTH_UPLOAD_T, CURLINFO_CONTENT_LENGTH_UPLOAD, CURLINFO_ACTIVESOCKET,
 *   CURLINFO_SSL_ENGINES, CURLINFO_CAINFO, CURLINFO_CAPATH */
static void infos_of_others(void) {
  CURL *easy = handle("/redirect/1");
  curl_easy_setopt(easy, CURLOPT_REFERER, "http://from/");
  HOLDS(curl_easy_perform(easy) == CURLE_OK);
  HOLDS(same(text(easy, CURLINFO_REDIRECT_URL), at("/redirect/0/302")));
  HOLDS(same(text(easy, CURLINFO_REFERER), "http://from/"));
  curl_easy_setopt(easy, CURLOPT_URL, at("/basic/a/b"));
  HOLDS(curl_easy_perform(easy) == CURLE_OK && number(easy, CURLINFO_HTTPAUTH_AVAIL) == (long)CURLAUTH_BASIC);
  HOLDS(same(text(easy, CURLINFO_REDIRECT_URL), "(null)"));
  curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");
  curl_easy_setopt(easy, CURLOPT_URL, at("/cookies/set/name/value"));
  HOLDS(curl_easy_perform(easy) == CURLE_OK);
  struct curl_slist *cookies = NULL;
  HOLDS(curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &cookies) == CURLE_OK);
  HOLDS(cookies && same(cookies->data, "127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue"));
  curl_slist_free_all(cookies);
  curl_easy_setopt(easy, CURLOPT_URL, at("/dressed"));
  curl_easy_setopt(easy, CURLOPT_TIMECONDITION, (long)CURL_TIMECOND_IFMODSINCE);
  curl_easy_setopt(easy, CURLOPT_TIMEVALUE, 784111778L);
  HOLDS(curl_easy_perform(easy) == CURLE_OK && number(easy, CURLINFO_CONDITION_UNMET) == 1);
  curl_easy_setopt(easy, CURLOPT_TIMECONDITION, (long)CURL_TIMECOND_NONE);
  curl_easy_setopt(easy, CURLOPT_URL, at("/sum"));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "twelve bytes");
  HOLDS(curl_easy_perform(easy) == CURLE_OK && large(easy, CURLINFO_SIZE_UPLOAD_T) == 12);
  HOLDS(large(easy, CURLINFO_CONTENT_LENGTH_UPLOAD_T) == 12 && real(easy, CURLINFO_CONTENT_LENGTH_UPLOAD) == 12);
  curl_socket_t fd = CURL_SOCKET_BAD;
  HOLDS(curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK && fd >= 0);
  struct curl_slist *engines = NULL;
  HOLDS(curl_easy_getinfo(easy, CURLINFO_SSL_ENGINES, &engines) == CURLE_OK);
  curl_slist_free_all(engines);
  char *path = NULL;
  HOLDS(curl_easy_getinfo(easy, CURLINFO_CAINFO, &path) == CURLE_OK);
  HOLDS(curl_easy_getinfo(easy, CURLINFO_CAPATH, &path) == CURLE_OK);
  curl_easy_cleanup(easy);
}

/* covers: curl_easy_header, curl_easy_nextheader */
static void headers(void) {
  CURL *easy = handle("/redirect/1");
  struct curl_header *h = NULL;
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  HOLDS(curl_easy_perform(easy) == CURLE_OK);
  HOLDS(curl_easy_header(easy, "location", 0, CURLH_HEADER, 0, &h) == CURLHE_OK && h && same(h->value, "/redirect/0/302"));
  HOLDS(curl_easy_header(easy, "location", 0, CURLH_HEADER, -1, &h) == CURLHE_MISSING);
  HOLDS(curl_easy_header(easy, "location", 0, CURLH_HEADER, 2, &h) == CURLHE_NOREQUEST);
  curl_easy_setopt(easy, CURLOPT_URL, at("/dressed"));
  HOLDS(curl_easy_perform(easy) == CURLE_OK);
  HOLDS(curl_easy_header(easy, "X-TWICE", 0, CURLH_HEADER, -1, &h) == CURLHE_OK && h && same(h->value, "one"));
  HOLDS(h && same(h->name, "X-Twice") && h->amount == 2 && h->index == 0 && h->origin & CURLH_HEADER);
  HOLDS(curl_easy_header(easy, "X-Twice", 1, CURLH_HEADER, -1, &h) == CURLHE_OK && h && same(h->value, "two words"));
  HOLDS(curl_easy_header(easy, "X-Twice", 2, CURLH_HEADER, -1, &h) == CURLHE_BADINDEX);
  HOLDS(curl_easy_header(easy, "X-None", 0, CURLH_HEADER, -1, &h) == CURLHE_MISSING);
  HOLDS(curl_easy_header(easy, "X-Twice", 0, CURLH_TRAILER, -1, &h) == CURLHE_MISSING);
  int count = 0, twice = 0;
  for (h = NULL; (h = curl_easy_nextheader(easy, CURLH_HEADER, -1, h)); count++) twice += same(h->name, "X-Twice");
  HOLDS(count >= 5 && twice == 2);
  curl_easy_cleanup(easy);
}

struct seen {
  int calls, in, out, body_in, lines, prereq, started, opened, closed, options;
  char first[64];
  void *user;
};

static int debug(CURL *easy, curl_infotype type, char *data, size_t size, void *user) {
  struct seen *seen = user;
  (void)easy, (void)data;
  seen->calls++;
  if (type == CURLINFO_HEADER_IN) seen->in += (int)size;
  if (type == CURLINFO_HEADER_OUT) seen->out += (int)size;
  if (type == CURLINFO_DATA_IN) seen->body_in += (int)size;
  return 0;
}

static size_t header_line(char *data, size_t size, size_t count, void *user) {
  struct seen *seen = user;
  if (!seen->lines++) snprintf(seen->first, sizeof seen->first, "%.*s", (int)(size * count), data);
  return size * count;
}

/* covers: CURLOPT_VERBOSE, CURLOPT_DEBUGFUNCTION, CURLOPT_DEBUGDATA, CURLOPT_HEADERFUNCTION, CURLOPT_HEADERDATA */
static void headers_reach_callbacks(void) {
  struct seen seen = {0};
  CURL *easy = handle("/bytes/500");
  curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
  curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, debug);
  curl_easy_setopt(easy, CURLOPT_DEBUGDATA, &seen);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_line);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &seen);
  HOLDS(curl_easy_perform(easy) == CURLE_OK);
  HOLDS(seen.out == number(easy, CURLINFO_REQUEST_SIZE) && seen.in == number(easy, CURLINFO_HEADER_SIZE));
  HOLDS(seen.body_in == 500);
  HOLDS(same(seen.first, "HTTP/1.1 200 OK\r\n") && seen.lines >= 3);
  curl_easy_cleanup(easy);
}

static int prereq(void *user, char *primary, char *local, int primary_port, int local_port) {
  struct seen *seen = user;
  seen->prereq += same(primary, "127.0.0.1") && same(local, "127.0.0.1") && primary_port > 0 && local_port > 0;
  return seen->options ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static int starting(void *state, void *reserved, void *user) {
  (void)state, (void)reserved;
  struct seen *seen = user;
  seen->started++;
  return seen->options;
}

/* covers: CURLOPT_PREREQFUNCTION, CURLOPT_PREREQDATA, CURLOPT_RESOLVER_START_FUNCTION, CURLOPT_RESOLVER_START_DATA */
static void asked_before(void) {
  struct seen seen = {0};
  CURL *easy = handle("/bytes/1");
  if (TAKEN(curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, prereq))) {
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, &seen);
    HOLDS(curl_easy_perform(easy) == CURLE_OK && seen.prereq == 1);
    seen.options = 1;
    HOLDS(curl_easy_perform(easy) == CURLE_ABORTED_BY_CALLBACK);
    seen.options = 0;
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, NULL);
  }
  curl_easy_cleanup(easy);
  easy = handle("/bytes/1");
  if (TAKEN(curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, starting))) {
    curl_easy_setopt(easy, CURLOPT_RESOLVER_START_DATA, &seen);
    HOLDS(curl_easy_perform(easy) == CURLE_OK && seen.started == 1);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
    seen.options = 1;
    CURLcode code = curl_easy_perform(easy); /* newer versions say who did it */
    HOLDS(code == CURLE_ABORTED_BY_CALLBACK || code == CURLE_COULDNT_RESOLVE_HOST);
  }
  curl_easy_cleanup(easy);
}

static curl_socket_t opening(void *user, curlsocktype purpose, struct curl_sockaddr *address) {
  struct seen *seen = user;
  seen->opened += purpose == CURLSOCKTYPE_IPCXN;
  return socket(address->family, address->socktype, address->protocol);
}

static int closing(void *user, curl_socket_t fd) {
  ((struct seen *)user)->closed++;
  return close(fd);
}

static int tuning(void *user, curl_socket_t fd, curlsocktype purpose) {
  ((struct seen *)user)->options += fd >= 0 && purpose == CURLSOCKTYPE_IPCXN;
  return CURL_SOCKOPT_OK;
}

/* covers: CURLOPT_OPENSOCKETFUNCTION, CURLOPT_OPENSOCKETDATA, CURLOPT_CLOSESOCKETFUNCTION, CURLOPT_CLOSESOCKETDATA,
 *   CURLOPT_SOCKOPTFUNCTION, CURLOPT_SOCKOPTDATA */
static void own_sockets(void) {
  struct seen seen = {0};
  CURL *easy = handle("/bytes/1");
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, opening);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &seen);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, closing);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, &seen);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, tuning);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, &seen);
  HOLDS(curl_easy_perform(easy) == CURLE_OK && curl_easy_perform(easy) == CURLE_OK);
  HOLDS(seen.opened == 1 && seen.options == 1 && seen.closed == 0);
  curl_easy_cleanup(easy);
  HOLDS(seen.closed == 1);
}

static size_t reading(char *data, size_t size, size_t count, void *user) {
  size_t *left = user, room = size * count < *left ? size * count : *left;
  memset(data, 'r', room);
  *left -= room;
  return room;
}

static int seeking(void *user, curl_off_t offset, int origin) {
  *(size_t *)user = 5000;
  return offset == 0 && origin == SEEK_SET ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

static int trailing(struct curl_slist **list, void *user) {
  *list = curl_slist_append(*list, user);
  return CURL_TRAILERFUNC_OK;
}

/* covers: CURLOPT_READFUNCTION, CURLOPT_READDATA, CURLOPT_SEEKFUNCTION, CURLOPT_SEEKDATA, CURLOPT_UPLOAD,
 *   CURLOPT_INFILESIZE_LARGE, CURLOPT_TRAILERFUNCTION, CURLOPT_TRAILERDATA, CURLOPT_POST */
static void reading_bodies(void) {
  size_t left = 5000;
  CURL *easy = handle("/body");
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, reading);
  curl_easy_setopt(easy, CURLOPT_READDATA, &left);
  curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seeking);
  curl_easy_setopt(easy, CURLOPT_SEEKDATA, &left);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)5000);
  HOLDS(curl_easy_perform(easy) == CURLE_OK && sink.bytes == 5000 && left == 0);
  /* A redirect wants the body again. */
  left = 5000;
  sink_reset(&sink);
  curl_easy_setopt(easy, CURLOPT_URL, at("/redirect/1/307"));
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  HOLDS(curl_easy_perform(easy) == CURLE_OK && left == 0 && number(easy, CURLINFO_RESPONSE_CODE) == 200);
  /* Length unknown: chunks. */
  left = 5000;
  sink_reset(&sink);
  curl_easy_setopt(easy, CURLOPT_URL, at("/body"));
  curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)-1);
  HOLDS(curl_easy_perform(easy) == CURLE_OK && sink.bytes == 5000);
  if (TAKEN(curl_easy_setopt(easy, CURLOPT_TRAILERFUNCTION, trailing))) {
    left = 10;
    sink_reset(&sink);
    curl_easy_setopt(easy, CURLOPT_TRAILERDATA, (void *)"X-End: yes");
    HOLDS(curl_easy_perform(easy) == CURLE_OK && sink.bytes == 10);
  }
  curl_easy_cleanup(easy);
}

/* covers: CURLOPT_CONNECT_ONLY, curl_easy_send, curl_easy_recv */
static void connect_only(void) {
  CURL *easy = handle("/");
  const char *request = "GET /bytes/3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  char room[2048];
  size_t n = 0, got = 0;
  if (TAKEN(curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L))) {
    HOLDS(curl_easy_perform(easy) == CURLE_OK);
    HOLDS(curl_easy_send(easy, request, strlen(request), &n) == CURLE_OK && n == strlen(request));
    for (int turn = 0; turn < 400 && got < sizeof room; turn++) {
      CURLcode code = curl_easy_recv(easy, room + got, sizeof room - got, &n);
      if (code == CURLE_AGAIN) usleep(5000);
      else if (code || !n) break;
      else got += n;
    }
    HOLDS(got > 20 && !memcmp(room, "HTTP/1.1 200 OK\r\n", 17));
  }
  curl_easy_cleanup(easy);
}

/* covers: CURLOPT_CURLU */
static void url_handle(void) {
  CURLU *u = curl_url();
  CURL *easy = handle("/");
  curl_url_set(u, CURLUPART_URL, at("/bytes/9"), 0);
  if (TAKEN(curl_easy_setopt(easy, CURLOPT_CURLU, u))) HOLDS(curl_easy_perform(easy) == CURLE_OK && sink.bytes == 9);
  curl_easy_cleanup(easy);
  curl_url_cleanup(u);
}

/* covers: CURLOPT_HTTPPOST, curl_formadd */
static void old_form(void) {
  struct curl_httppost *first = NULL, *last = NULL;
  CURL *easy = handle("/body");
  curl_formadd(&first, &last, CURLFORM_COPYNAME, "name", CURLFORM_COPYCONTENTS, "value", CURLFORM_END);
  if (TAKEN(curl_easy_setopt(easy, CURLOPT_HTTPPOST, first))) HOLDS(curl_easy_perform(easy) == CURLE_OK && sink.bytes > 100);
  curl_easy_cleanup(easy);
  curl_formfree(first);
}

static size_t part_reading(char *data, size_t size, size_t count, void *user) { return reading(data, size, count, user); }

/* covers: curl_mime_init, curl_mime_addpart, curl_mime_name, curl_mime_data_cb, curl_mime_subparts, curl_mime_encoder,
 *   curl_mime_headers, curl_mime_filedata, CURLOPT_MIMEPOST */
static void mime(void) {
  CURL *easy = handle("/body");
  size_t left = 300;
  curl_mime *outer = curl_mime_init(easy), *inner = curl_mime_init(easy);
  curl_mimepart *part = curl_mime_addpart(outer);
  HOLDS(curl_mime_name(part, "read") == CURLE_OK && curl_mime_data_cb(part, 300, part_reading, NULL, NULL, &left) == CURLE_OK);
  part = curl_mime_addpart(inner);
  HOLDS(curl_mime_data(part, "\xe4", 1) == CURLE_OK && curl_mime_encoder(part, "base64") == CURLE_OK);
  HOLDS(curl_mime_headers(part, curl_slist_append(NULL, "X-Own: header"), 1) == CURLE_OK);
  part = curl_mime_addpart(outer);
  HOLDS(curl_mime_name(part, "many") == CURLE_OK && curl_mime_subparts(part, inner) == CURLE_OK);
  part = curl_mime_addpart(outer);
  HOLDS(curl_mime_name(part, "file") == CURLE_OK && curl_mime_filedata(part, "/nonexistent/file") == CURLE_READ_ERROR);
  HOLDS(curl_mime_filedata(part, "/dev/null") == CURLE_OK);
  HOLDS(curl_mime_encoder(part, "nosuch") == CURLE_BAD_FUNCTION_ARGUMENT);
  HOLDS(curl_easy_setopt(easy, CURLOPT_MIMEPOST, outer) == CURLE_OK);
  HOLDS(curl_easy_perform(easy) == CURLE_OK && left == 0 && sink.bytes > 700);
  curl_easy_cleanup(easy);
  curl_mime_free(outer);
}

/* covers: curl_easy_duphandle, curl_easy_reset */
static void copies(void) {
  CURL *easy = handle("/bytes/11"), *copy;
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 6L); /* 7.88 copies badly without */
  curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, "copied");
  copy = curl_easy_duphandle(easy);
  curl_easy_cleanup(easy);
  HOLDS(curl_easy_perform(copy) == CURLE_OK && sink.bytes == 11 && same(text(copy, CURLINFO_EFFECTIVE_METHOD), "POST"));
  curl_easy_reset(copy);
  HOLDS(curl_easy_perform(copy) == CURLE_URL_MALFORMAT);
  curl_easy_cleanup(copy);
}

static void ignore(CURL *easy, CURLcode code) {
  (void)easy;
  HOLDS(code == CURLE_OK);
}

/* covers: CURLMOPT_MAX_TOTAL_CONNECTIONS, CURLMOPT_MAX_HOST_CONNECTIONS, CURLMOPT_MAXCONNECTS, CURLINFO_NUM_CONNECTS */
static void few_connections(void) {
  CURLMoption options[] = {CURLMOPT_MAX_TOTAL_CONNECTIONS, CURLMOPT_MAX_HOST_CONNECTIONS};
  for (int o = 0; o < 2; o++) {
    CURLM *multi = curl_multi_init();
    CURL *easy[6];
    long connects = 0;
    if (curl_multi_setopt(multi, options[o], 2L) == CURLM_OK) {
      for (int i = 0; i < 6; i++) curl_multi_add_handle(multi, easy[i] = handle("/delay/50/bytes/5"));
      drive_poll(multi, ignore);
      for (int i = 0; i < 6; i++) {
        connects += number(easy[i], CURLINFO_NUM_CONNECTS);
        curl_multi_remove_handle(multi, easy[i]);
        curl_easy_cleanup(easy[i]);
      }
      HOLDS(connects == 2);
    }
    curl_multi_cleanup(multi);
  }
}

/* covers: CURLOPT_STDERR, CURLOPT_VERBOSE */
static void verbose_to_a_file(void) {
  FILE *file = tmpfile();
  char all[4096] = "";
  CURL *easy = handle("/bytes/1");
  curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
  curl_easy_setopt(easy, CURLOPT_STDERR, file);
  HOLDS(curl_easy_perform(easy) == CURLE_OK);
  curl_easy_cleanup(easy);
  rewind(file);
  HOLDS(fread(all, 1, sizeof all - 1, file) > 0);
  HOLDS(strstr(all, "> GET /bytes/1 HTTP/1.1\r\n") && strstr(all, "< HTTP/1.1 200 OK\r\n") && strstr(all, "\n* "));
  fclose(file);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  base = argv[1];
  curl_global_init(CURL_GLOBAL_DEFAULT);
  infos_of_a_get();
  times_in_order();
  infos_of_others();
  headers();
  headers_reach_callbacks();
  asked_before();
  own_sockets();
  reading_bodies();
  connect_only();
  url_handle();
  old_form();
  mime();
  copies();
  few_connections();
  verbose_to_a_file();
  curl_global_cleanup();
  printf("held %d\n", held);
  return 0;
}
