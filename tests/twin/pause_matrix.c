/* curl_easy_pause(3) from every side: where a transfer was paused, what it was receiving or sending, and who lets it go on.
 * covers: curl_easy_pause, CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION, CURLOPT_READFUNCTION, CURLOPT_XFERINFOFUNCTION, curl_multi_fdset */
#include "twin.h"

enum place { STATUS, FIELD, BLANK, FIRST, LATER, PROGRESS, PLACES };
static const char *const places[] = {"status line", "field", "blank line", "first write", "later write", "progress"};

/* What happens to the transfer that is paused. */
static struct {
  CURL *easy;
  enum place place;
  int pausing, paused, lines, writes, while_paused, continue_first;
  size_t refused, offered;
  unsigned hash;
} t;

static void take_note(const char *data, size_t length)
{
  for(size_t i = 0; i < length; i++)
    t.hash = t.hash * 31 + (unsigned char)data[i];
  got += length;
}

static int pauses_here(enum place place, size_t length)
{
  t.while_paused += t.paused;
  if(t.refused && !t.offered)
    t.offered = length;
  if(!t.pausing || t.place != place)
    return 0;
  t.pausing--;
  t.paused = 1;
  t.refused = length, t.offered = 0;
  return 1;
}

static size_t on_header(char *data, size_t size, size_t count, void *user)
{
  size_t length = size * count;
  (void)user;
  enum place place = !strncmp(data, "HTTP/", 5) ? STATUS : length == 2 ? BLANK : FIELD;
  if(pauses_here(place, length))
    return CURL_WRITEFUNC_PAUSE;
  for(size_t i = 0; i < length; i++) /* 7.88 gives several at once after a pause */
    t.lines += data[i] == '\n';
  return length;
}

static size_t on_write(char *data, size_t size, size_t count, void *user)
{
  (void)user;
  if(pauses_here(t.writes ? LATER : FIRST, size * count)) {
    if(t.continue_first)
      printf("let go on before: %d\n", curl_easy_pause(t.easy, CURLPAUSE_CONT));
    return CURL_WRITEFUNC_PAUSE;
  }
  t.writes++;
  take_note(data, size * count);
  return size * count;
}

static int on_progress(void *user, curl_off_t a, curl_off_t now, curl_off_t b, curl_off_t c)
{
  (void)user, (void)a, (void)b, (void)c;
  if(t.pausing && t.place == PROGRESS && now > 0) {
    t.pausing--, t.paused = 1;
    curl_easy_pause(t.easy, CURLPAUSE_RECV);
  }
  return 0;
}

static void go_on(int bits)
{
  t.paused = 0;
  CURLcode code = curl_easy_pause(t.easy, bits);
  if(code)
    printf("go on: %d\n", code);
}

static int other_wrote;

static size_t other_writes(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  if(t.paused)
    go_on(CURLPAUSE_CONT);
  other_wrote = 1;
  return size * count;
}

static CURL *pausing(const char *path, enum place place, int times)
{
  memset(&t, 0, sizeof t);
  got = 0;
  t.place = place, t.pausing = times;
  t.easy = to("SERVER", path);
  WITH(t.easy, WRITEFUNCTION, on_write);
  WITH(t.easy, HEADERFUNCTION, on_header);
  WITH(t.easy, XFERINFOFUNCTION, on_progress);
  WITH(t.easy, NOPROGRESS, 0L);
  WITH(t.easy, ACCEPT_ENCODING, "gzip");
  return t.easy;
}

/* Until it is over; who lets it go on is either the program or the write callback of others. */
static void drive(const char *name, int by_others)
{
  CURLM *multi = curl_multi_init();
  CURL *other = NULL;
  int running = 1, rounds = 0, stood = 0;
  curl_multi_add_handle(multi, t.easy);
  while(curl_multi_perform(multi, &running) == CURLM_OK && running && rounds++ < 2000) {
    curl_multi_poll(multi, NULL, 0, 5, NULL);
    if(!t.paused || stood++ < 2)
      continue;
    stood = 0;
    if(!by_others)
      go_on(CURLPAUSE_CONT);
    else if(!other || other_wrote) {
      if(other)
        curl_multi_remove_handle(multi, other), curl_easy_cleanup(other);
      other_wrote = 0;
      other = to("PROXY", "/bytes/100");
      WITH(other, WRITEFUNCTION, other_writes);
      curl_multi_add_handle(multi, other);
    }
  }
  printf("%s: code %d bytes %zu hash %08x lines %d, called while paused %d\n", name, code_of(multi, t.easy), got, t.hash, t.lines, t.while_paused);
  if(t.place != PROGRESS)
    printf("%s: offered %s\n", name, !t.refused ? "never" : t.offered >= t.refused ? "again" : t.offered ? "in part" : "no more");
  curl_multi_remove_handle(multi, t.easy);
  if(other)
    curl_multi_remove_handle(multi, other), curl_easy_cleanup(other);
  curl_easy_cleanup(t.easy);
  curl_multi_cleanup(multi);
}

static void receiving(void)
{
  static const char *paths[] = {"/bytes/60000", "/chunked/60000/7000", "/gzip/60000", "/close/60000", "/drip/20000/3/bytes/60000", "/status/404", "/bytes/0"};
  char name[100];
  for(size_t path = 0; path < sizeof paths / sizeof *paths; path++)
    for(enum place place = STATUS; place < PLACES; place++)
      for(int by_others = 0; by_others < 2; by_others++) {
        /* Whether a small body comes in one piece, and when progress is reported, is chance. */
        if(place == LATER && path != 4 || place == PROGRESS && path != 4)
          continue;
        pausing(paths[path], place, 1 + (place == STATUS) * 2);
        snprintf(name, sizeof name, "%s at %s, %s", paths[path], places[place], by_others ? "by another" : "by the program");
        drive(name, by_others);
      }
  pausing("/bytes/60000", FIRST, 2);
  t.continue_first = 1;
  drive("going on before it paused", 0);
}

/* An upload that is paused by its read callback or by a call, until the program lets it go on. */
static struct { int pauses, left, reads, by_call; } up;

static size_t on_read(char *data, size_t size, size_t count, void *user)
{
  (void)size, (void)count, (void)user;
  up.reads++;
  t.while_paused += t.paused;
  if(up.pauses > 0 && up.left < 3) {
    up.pauses--, t.paused = 1;
    if(!up.by_call)
      return CURL_READFUNC_PAUSE;
    curl_easy_pause(t.easy, CURLPAUSE_SEND);
  }
  if(!up.left)
    return 0;
  up.left--;
  memset(data, 'a' + up.left, 1000);
  return 1000;
}

static void sending(void)
{
  char name[100];
  for(int kind = 0; kind < 12; kind++) {
    int chunked = kind & 1, as_post = kind & 2, others = kind >= 8;
    struct curl_slist *lines = curl_slist_append(NULL, "Expect:");
    if(chunked)
      lines = curl_slist_append(lines, "Transfer-Encoding: chunked");
    pausing("/sum", PLACES, 0);
    up.pauses = kind & 4 ? 3 : 1, up.left = 3, up.by_call = 0;
    WITH(t.easy, READFUNCTION, on_read);
    WITH(t.easy, HTTPHEADER, lines);
    if(as_post) {
      WITH(t.easy, POST, 1L);
      WITH(t.easy, POSTFIELDSIZE, chunked ? -1L : 3000L);
    }
    else {
      WITH(t.easy, UPLOAD, 1L);
      WITH(t.easy, INFILESIZE, chunked ? -1L : 3000L);
    }
    snprintf(name, sizeof name, "%s%s paused %d%s", chunked ? "chunked " : "", as_post ? "post" : "put", up.pauses, others ? " by another" : "");
    drive(name, others);
    printf("%s: left %d\n", name, up.left);
    curl_slist_free_all(lines);
  }
}

/* What the call answers, and what the multi handle says of a transfer that stands. */
static void standing(void)
{
  CURLM *multi = curl_multi_init();
  fd_set in, out, bad;
  int highest, running;
  printf("no handle: %d\n", curl_easy_pause(NULL, CURLPAUSE_ALL));
  pausing("/drip/20000/3/bytes/60000", FIRST, 1);
  printf("never run: %d", curl_easy_pause(t.easy, CURLPAUSE_RECV));
  printf(" %d\n", curl_easy_pause(t.easy, 0xffff));
  curl_multi_add_handle(multi, t.easy);
  printf("just added: %d\n", curl_easy_pause(t.easy, CURLPAUSE_ALL));
  for(int i = 0; i < 2000 && !t.paused; i++)
    run_for(multi, 1);
  printf("stands: running %d\n", run_for(multi, 50));
  for(int bits = 0; bits < 3; bits++) {
    static const int all[] = {CURLPAUSE_ALL, CURLPAUSE_RECV, CURLPAUSE_SEND | CURLPAUSE_RECV};
    printf("pause %d again: %d, running %d\n", all[bits], curl_easy_pause(t.easy, all[bits]), run_for(multi, 10));
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_ZERO(&bad);
    curl_multi_fdset(multi, &in, &out, &bad, &highest);
    printf("wants a descriptor: %d\n", highest >= 0);
  }
  /* Taken out while it stands, and run again: from the start, and not paused. */
  printf("out: %d", curl_multi_remove_handle(multi, t.easy));
  printf(", pause %d\n", curl_easy_pause(t.easy, CURLPAUSE_ALL));
  got = 0;
  curl_multi_add_handle(multi, t.easy);
  run_all(multi);
  printf("run again: code %d bytes %zu\n", code_of(multi, t.easy), got);
  printf("when over: %d\n", curl_easy_pause(t.easy, CURLPAUSE_ALL));
  curl_multi_remove_handle(multi, t.easy);
  got = 0;
  printf("afterwards: %d", curl_easy_perform(t.easy));
  printf(" bytes %zu\n", got);
  curl_easy_cleanup(t.easy);
  curl_multi_cleanup(multi);
  /* Freed, and its multi handle freed, while it stands. */
  for(int first_multi = 0; first_multi < 2; first_multi++) {
    CURL *easy = pausing("/drip/20000/3/bytes/60000", FIRST, 1);
    multi = curl_multi_init();
    curl_multi_add_handle(multi, easy);
    for(int i = 0; i < 2000 && !t.paused; i++)
      run_for(multi, 1);
    printf("it stands: %d\n", t.paused);
    if(first_multi)
      printf("multi freed: %d\n", curl_multi_cleanup(multi));
    curl_easy_cleanup(easy);
    if(!first_multi) {
      printf("freed: %d", curl_multi_perform(multi, &running));
      printf(" %d, cleanup", running);
      printf(" %d\n", curl_multi_cleanup(multi));
    }
  }
}

int main(void)
{
  receiving();
  sending();
  standing();
  return 0;
}
