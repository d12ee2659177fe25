/* Every system call that a transfer makes fails once, and from then on, with each errno that fits: the transfer ends with an
 * error that is true or with all its bytes, in bounded time and calls, the next one works, and no descriptor is left.
 * Runs under shim.c. FAULT_SCENARIO names what is transferred,
 * FAULT_DEPTH says how many calls of each kind fail in turn. */
#define _GNU_SOURCE
#include "../abi/check.h"
#include "shim.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <time.h>

#define HANDLES 16
/* Calls of one kind that one transfer may make while all of them fail: more is a busy loop. */
#define MOST_CALLS 2000

static __typeof__(&faults_arm) arm;
static __typeof__(&faults_seen) seen;
static __typeof__(&faults_step) step;

/* What fails, how, and what a transfer may come to by it; CURLE_OK (with the right bytes) where a failure can be borne, which
 * one that happens once always can be by another attempt. */
struct call {
  const char *name;
  int errors[8];
  int codes[10];
};

#define CONNECTING CURLE_COULDNT_CONNECT, CURLE_FTP_ACCEPT_FAILED, CURLE_FTP_PORT_FAILED
#define TALKING CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SSL_CONNECT_ERROR, CURLE_HTTP2, CURLE_GOT_NOTHING

#define END -1

static const struct call calls[] = {
  {"socket", {EMFILE, ENFILE, ENOBUFS, ENOMEM, EACCES}, {CONNECTING, END}},
  {"connect", {ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, EACCES, EPERM}, {CONNECTING, END}},
  {"connect", {ETIMEDOUT}, {CONNECTING, CURLE_OPERATION_TIMEDOUT, END}},
  {"send", {EPIPE, ECONNRESET, ENOBUFS, ENOMEM, EHOSTUNREACH}, {TALKING, CURLE_COULDNT_CONNECT, END}},
  {"send", {EINTR}, {CURLE_OK, END}},
  {"send", {EAGAIN}, {CURLE_OK, END}},
  {"recv", {ECONNRESET, ETIMEDOUT, EHOSTUNREACH, ENOMEM}, {TALKING, CURLE_COULDNT_CONNECT, END}},
  {"recv", {EINTR}, {CURLE_OK, END}},
  {"poll", {EINTR}, {CURLE_OK, END}},
  {"poll", {ENOMEM}, {CURLE_UNRECOVERABLE_POLL, CURLE_OK, END}},
  {"epoll_create1", {EMFILE, ENFILE, ENOMEM}, {CURLE_OK, END}},
  {"epoll_ctl", {ENOSPC, ENOMEM, EPERM}, {CURLE_OK, END}},
  {"epoll_wait", {EINTR}, {CURLE_OK, END}},
  {"eventfd", {EMFILE, ENFILE, ENOMEM}, {CURLE_OK, END}},
  {"getsockopt", {ENOBUFS}, {CONNECTING, CURLE_OK, END}},
  {"setsockopt", {ENOPROTOOPT, EINVAL, ENOMEM, EPERM}, {CURLE_OK, END}},
  {"getsockname", {ENOBUFS}, {CONNECTING, CURLE_OK, END}},
  {"getpeername", {ENOBUFS}, {CONNECTING, CURLE_OK, END}},
  {"shutdown", {ENOTCONN}, {TALKING, CURLE_OK, END}},
  {"bind", {EADDRINUSE, EACCES, ENOBUFS}, {CONNECTING, END}},
  {"listen", {EADDRINUSE}, {CONNECTING, END}},
  {"accept4", {EMFILE, ENFILE, ENOBUFS}, {CONNECTING, CURLE_OPERATION_TIMEDOUT, END}},
  {"open", {EMFILE, ENFILE, EACCES, ENOENT, EIO}, {CURLE_SSL_CACERT_BADFILE, CURLE_OK, END}},
  {"read", {EIO, ENOMEM}, {CURLE_SSL_CACERT_BADFILE, CURLE_OK, END}},
  {"stat", {EACCES, EIO}, {CURLE_SSL_CACERT_BADFILE, CURLE_OK, END}},
  {"getaddrinfo", {-EAI_AGAIN, -EAI_FAIL, -EAI_NONAME, -EAI_MEMORY}, {CURLE_COULDNT_RESOLVE_HOST, END}},
  {"pthread_create", {EAGAIN, EPERM}, {CURLE_COULDNT_RESOLVE_HOST, CURLE_OK, END}},
};

struct scenario {
  const char *name, *base, *path, *name_instead;
  long size;
  int handles;
  void (*more)(CURL *);
};

static size_t fill(char *to, size_t size, size_t count, void *user)
{
  long *left = user, part = *left < (long)(size * count) ? *left : (long)(size * count);
  memset(to, 'u', part);
  *left -= part;
  return part;
}

static int rewinds(void *user, curl_off_t to, int from)
{
  (void)from;
  *(long *)user = 100000 - (long)to;
  return CURL_SEEKFUNC_OK;
}

static void secure(CURL *easy)
{
  curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CA"));
  curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
}

static void upload(CURL *easy)
{
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE, 100000L);
}

static void active(CURL *easy)
{
  curl_easy_setopt(easy, CURLOPT_FTPPORT, "-");
  curl_easy_setopt(easy, CURLOPT_ACCEPTTIMEOUT_MS, 10000L);
}

static const struct scenario scenarios[] = {
  {"http", "SERVER", "/bytes/30000", "fault.test", 30000, 1, NULL},
  {"upload", "SERVER", "/body", NULL, 100000, 1, upload},
  {"https", "TLS_SERVER", "/bytes/30000", NULL, 30000, 1, secure},
  {"http2", "NGINX", "/bytes-1000", NULL, 1000, 3, secure},
  {"many", "SERVER", "/bytes/3000", NULL, 3000, HANDLES, NULL},
  {"ftp", "FTP_SERVER", "/dir/file", NULL, 2000, 1, NULL},
  {"ftp-upload", "FTP_SERVER", "/dir/up", NULL, 0, 1, upload},
  {"ftp-active", "FTPD", "/bytes-2000", NULL, 2000, 1, active},
};

struct world {
  const struct scenario *of;
  CURLM *multi;
  CURL *easy[HANDLES];
  struct text body[HANDLES];
  long left[HANDLES];
  int went_on; /* the time limit was needed */
};

static int descriptors(void)
{
  int count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while(readdir(folder))
    count++;
  closedir(folder);
  return count;
}

static double now(void)
{
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec + at.tv_nsec / 1e9;
}

static const char *url(const struct scenario *of)
{
  static char text[300];
  const char *base = getenv(of->base), *port = strrchr(base, ':');
  if(of->name_instead)
    snprintf(text, sizeof text, "http://%s%s%s", of->name_instead, port, of->path);
  else
    snprintf(text, sizeof text, "%s%s", base, of->path);
  return text;
}

static void begin(struct world *world, const struct scenario *of)
{
  *world = (struct world){.of = of, .multi = of->handles > 1 ? curl_multi_init() : NULL};
  for(int i = 0; i < of->handles; i++) {
    CURL *easy = world->easy[i] = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url(of));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &world->body[i]);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, fill);
    curl_easy_setopt(easy, CURLOPT_READDATA, &world->left[i]);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, rewinds);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, &world->left[i]);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, 30L);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
    if(of->more)
      of->more(easy);
  }
}

/* The worst that became of a handle: the first code that is none of success, or -1 when bytes are wrong. */
static int transfer(struct world *world)
{
  const struct scenario *of = world->of;
  int worst = CURLE_OK, running = 0, left;
  double began = now();
  for(int i = 0; i < of->handles; i++)
    world->body[i].length = 0, world->left[i] = 100000;
  if(!world->multi)
    worst = curl_easy_perform(world->easy[0]);
  else {
    for(int i = 0; i < of->handles; i++)
      curl_multi_add_handle(world->multi, world->easy[i]);
    do {
      curl_multi_perform(world->multi, &running);
      if(running && curl_multi_poll(world->multi, NULL, 0, 1000, NULL) == CURLM_UNRECOVERABLE_POLL)
        worst = CURLE_UNRECOVERABLE_POLL;
    } while(running && !worst && now() - began < 40);
    CURLMsg *message;
    while((message = curl_multi_info_read(world->multi, &left)))
      worst = message->data.result ? (int)message->data.result : worst;
    for(int i = 0; i < of->handles; i++)
      curl_multi_remove_handle(world->multi, world->easy[i]);
  }
  world->went_on = now() - began > 25;
  for(int i = 0; i < of->handles && !worst; i++)
    worst = (long)world->body[i].length == of->size ? worst : -1;
  return worst;
}

static void end(struct world *world)
{
  for(int i = 0; i < world->of->handles; i++) {
    curl_easy_cleanup(world->easy[i]);
    free(world->body[i].at);
  }
  if(world->multi)
    curl_multi_cleanup(world->multi);
}


static int among(const int *codes, int code)
{
  while(*codes != END && *codes != code)
    codes++;
  return *codes == code;
}

/* Whether a transfer may have all it wants although such calls failed to its end. Over HTTP/2 what can't be sent may be an
 * acknowledgement alone: replies that are there are heard to their end all the same. An upload by FTP is over with the server's word;
 * the last call looks whether TLS left tickets on the data connection. */
static int borne(const struct scenario *of, const struct call *call, int last)
{
  return among(call->codes, CURLE_OK) || (!strcmp(of->name, "http2") && !strcmp(call->name, "send")) ||
    (last && !strcmp(of->name, "ftp-upload") && !strcmp(call->name, "recv"));
}

/* One failure, in the first transfer or, when `warm`, in one that finds all in place; how many such calls there were. */
static long one(const struct scenario *of, const struct call *call, int error, long at, int on, int warm)
{
  struct world world;
  int before = descriptors();
  begin(&world, of);
  if(warm)
    SAME(transfer(&world), CURLE_OK);
  arm(call->name, at, error, on);
  int code = transfer(&world);
  long count = seen();
  arm(NULL, 0, 0, 0);
  int bad = at && code != CURLE_OK && !among(call->codes, code);
  bad |= at && on && code == CURLE_OK && count >= at && !borne(of, call, at == count);
  bad |= code == END || world.went_on || count > MOST_CALLS;
  const char *why = world.went_on ? ", late" : count > MOST_CALLS ? ", a busy loop" : "";
  int next = transfer(&world);
  end(&world);
  int after = descriptors();
  if(bad || next != CURLE_OK || after != before) {
    failures++;
    printf("%s: %s %s %ld of %ld with %d (%s): %d%s, then %d, %d descriptors more\n", of->name, call->name,
      on ? "from" : "at", at, count, error, strerror(error), code, why, next, after - before);
  }
  return count;
}

/* What goes on for ever is no interruption; and epoll reports room once, which without EAGAIN's cause never comes again. */
static int happens(const struct scenario *of, int error, int on)
{
  return !(on && (error == EINTR || error == EAGAIN)) && !(error == EAGAIN && of->handles == HANDLES);
}

/* Whether each transfer on a new connection makes such calls; how often it makes others depends on when bytes arrive. */
static int necessary(const char *call)
{
  return !strcmp(call, "socket") || !strcmp(call, "connect") || !strcmp(call, "send") || !strcmp(call, "recv");
}

static void all(const struct scenario *of, long depth)
{
  struct world world;
  begin(&world, of);
  SAME(transfer(&world), CURLE_OK); /* what the process makes once is made */
  end(&world);
  for(size_t c = 0; c < sizeof calls / sizeof *calls; c++)
    for(int warm = 0; warm < 2; warm++) {
      long count = one(of, &calls[c], 0, 0, 0, warm);
      if(!warm && necessary(calls[c].name) && count == 0) {
        failures++;
        printf("%s: the shim saw no %s\n", of->name, calls[c].name);
      }
      for(const int *error = calls[c].errors; *error; error++)
        for(long at = 1; at <= count && at <= depth; at++)
          for(int on = 0; on < 2; on++)
            if(happens(of, *error, on))
              one(of, &calls[c], *error, at, on, warm);
    }
}

/* A day back and forth is nothing to a transfer; when all clocks jump, as on a machine that slept, its time is over. */
static void clocks(const struct scenario *of)
{
  struct world world;
  begin(&world, of);
  long steps[] = {86400, -86400, 0};
  for(int i = 0; i < 3; i++) {
    step(steps[i], 0);
    SAME(transfer(&world), CURLE_OK);
    CHECK(!world.went_on);
  }
  step(0, 0);
  end(&world);
}

int main(void)
{
  arm = (__typeof__(arm))dlsym(RTLD_DEFAULT, "faults_arm");
  seen = (__typeof__(seen))dlsym(RTLD_DEFAULT, "faults_seen");
  step = (__typeof__(step))dlsym(RTLD_DEFAULT, "faults_step");
  const char *name = getenv("FAULT_SCENARIO"), *depth = getenv("FAULT_DEPTH");
  if(!arm || !seen || !step || !name || !depth)
    return 2;
  setvbuf(stdout, NULL, _IOLBF, 0); /* what was found is seen, should it hang */
  curl_global_init(CURL_GLOBAL_ALL);
  const struct scenario *end_of = scenarios + sizeof scenarios / sizeof *scenarios;
  for(const struct scenario *of = scenarios; of < end_of; of++)
    if(!strcmp(name, of->name)) {
      all(of, atol(depth));
      clocks(of);
      curl_global_cleanup();
      return FAILURES;
    }
  return 2;
}
