/* FTP paths and commands of the application's own: FTP_FILEMETHOD on every shape of path, quoted commands before and after, folders that
 * are missing, listings, and what a body less transfer asks.
 * covers: CURLOPT_FTP_FILEMETHOD, CURLOPT_QUOTE, CURLOPT_PREQUOTE, CURLOPT_POSTQUOTE, CURLOPT_DIRLISTONLY, CURLOPT_NOBODY, CURLOPT_FTP_CREATE_MISSING_DIRS,
 * covers: CURLOPT_CUSTOMREQUEST, CURLOPT_TRANSFERTEXT, CURLINFO_FTP_ENTRY_PATH, CURLINFO_FILETIME_T, CURLOPT_HEADER, CURLOPT_RANGE, CURLOPT_TIMECONDITION */
#include "ftp_peer.h"

static size_t left_;
static size_t give(char *to, size_t size, size_t count, void *user)
{
  size_t n = left_ < size * count ? left_ : size * count;
  (void)user;
  memcpy(to, "0123456789" + 10 - left_, n);
  left_ -= n;
  return n;
}

static const long methods[] = {CURLFTPMETHOD_DEFAULT, CURLFTPMETHOD_MULTICWD, CURLFTPMETHOD_NOCWD, CURLFTPMETHOD_SINGLECWD};

static void paths(void)
{
  static const char *names[] = {"", "/", "//", "///", "/file", "//file", "/%2ffile", "/%2Fdir/file", "/dir/", "/dir/file", "//dir/file", "/dir//file", "/dir///", "/a/b/c/", "/a/b/c/d", "/../file", "/a/../b", "/a%20b/c%20d", "/a%0d%0ab/c", "/a/c%0aDELE x",
                                "/file;type=a", "/file;type=i", "/dir/;type=d", "/file;type=x", "/file;type=", "/;type=a", "/dir/;type=a", "/dir/file?query", "/dir/file#frag", "/*", "/dir/%00x", "/~/file"};
  char name[64];
  for(size_t p = 0; p < sizeof names / sizeof *names; p++)
    for(int m = 1; m < 4; m++) {
      if(m > 1 && p % 3)
        continue;
      struct ftp_peer *peer = ftp_new();
      peer->listing = "-rw-r--r-- 1 u g 10 Jan 1 2000 file\r\n";
      snprintf(name, sizeof name, "path %zu method %d", p, m);
      CURL *easy = to_ftp(ftp_start(peer), names[p]);
      WITH(easy, FTP_FILEMETHOD, methods[m]);
      ftp_run(name, easy, peer);
    }
  /* One after the other on a connection that remembers where it is. */
  static const char *walks[][4] = {{"/a/b/one", "/a/b/two", "/a/three", "/a/b/c/four"}, {"/a/one", "/", "/a/two", "//root"}, {"//a/one", "//a/two", "/a/three", "//b/four"}, {"/one", "/two", "//three", "/four"}, {"/no/one", "/a/two", "/no/three", "/a/four"}};
  for(int w = 0; w < 5; w++)
    for(int m = 1; m < (w == 0 ? 4 : 2); m += 2) {
      struct ftp_peer *peer = ftp_new();
      ftp_answer(peer, "CWD no", "550 none");
      CURL *easy = to_ftp(ftp_start(peer), "/");
      snprintf(name, sizeof name, "walk %d method %d", w, m);
      WITH(easy, FTP_FILEMETHOD, methods[m]);
      for(int i = 0; i < 4; i++) {
        char url[100];
        snprintf(url, sizeof url, "ftp://127.0.0.1:%d%s", peer->port, walks[w][i]);
        WITH(easy, URL, url);
        go(name, easy);
      }
      printf("%s entry: %s\n", name, text(easy, CURLINFO_FTP_ENTRY_PATH));
      curl_easy_cleanup(easy);
      ftp_show(name, peer);
      ftp_end(peer);
    }
}

static void quotes(void)
{
  static const char *commands[] = {"NOOP", "*NOSUCH", "NOSUCH", "", "*", "RNFR x", "CWD elsewhere", "TYPE A", "pwd", "SITE\tx", "**NOSUCH"};
  char name[64];
  for(size_t c = 0; c < sizeof commands / sizeof *commands; c++)
    for(int when = 0; when < 3; when++)
      for(int kind = 0; kind < 3; kind++) {
        if(c > 3 && kind)
          continue;
        struct ftp_peer *peer = ftp_new();
        CURL *easy = to_ftp(ftp_start(peer), kind == 2 ? "/dir/" : "/dir/file");
        struct curl_slist *list = curl_slist_append(curl_slist_append(NULL, commands[c]), "NOOP after");
        curl_easy_setopt(easy, when == 0 ? CURLOPT_QUOTE : when == 1 ? CURLOPT_PREQUOTE : CURLOPT_POSTQUOTE, list);
        if(kind == 1)
          WITH(easy, NOBODY, 1L);
        snprintf(name, sizeof name, "quote %zu when %d kind %d", c, when, kind);
        ftp_run(name, easy, peer);
        curl_slist_free_all(list);
      }
  /* Around uploads, and after one that fails. */
  for(int fails = 0; fails < 2; fails++) {
    struct ftp_peer *peer = ftp_new();
    struct curl_slist *before = curl_slist_append(NULL, "NOOP 1"), *then = curl_slist_append(NULL, "NOOP 2"), *after = curl_slist_append(NULL, "NOOP 3");
    if(fails)
      ftp_answer(peer, "STOR", "553 no");
    CURL *easy = to_ftp(ftp_start(peer), "/dir/file");
    left_ = 10;
    WITH(easy, UPLOAD, 1L), WITH(easy, READFUNCTION, give);
    WITH(easy, QUOTE, before), WITH(easy, PREQUOTE, then), WITH(easy, POSTQUOTE, after);
    ftp_run(fails ? "quotes around a refused upload" : "quotes around an upload", easy, peer);
    curl_slist_free_all(before), curl_slist_free_all(then), curl_slist_free_all(after);
  }
}

static void folders(void)
{
  static const char *refusals[][2] = {{"CWD new", "550 none"}, {"CWD b", "550 none"}, {"CWD", "550 none"}, {"MKD", "550 exists"}};
  char name[64];
  for(int refusal = 0; refusal < 4; refusal++)
    for(long create = 0; create < 3; create++)
      for(int m = 1; m < 4; m += 2)
        for(int up = m > 1; up < 2; up++) {
          struct ftp_peer *peer = ftp_new();
          ftp_answer(peer, refusals[refusal][0], refusals[refusal][1]);
          if(refusal == 3)
            ftp_answer(peer, "CWD", "550 none");
          CURL *easy = to_ftp(ftp_start(peer), "/new/b/file");
          left_ = 10;
          if(up)
            WITH(easy, UPLOAD, 1L), WITH(easy, READFUNCTION, give), WITH(easy, INFILESIZE, 10L);
          WITH(easy, FTP_FILEMETHOD, methods[m]);
          WITH(easy, FTP_CREATE_MISSING_DIRS, create);
          snprintf(name, sizeof name, "folder %d create %ld method %d up %d", refusal, create, m, up);
          ftp_run(name, easy, peer);
        }
}

static size_t line(char *data, size_t size, size_t count, void *user)
{
  if(strncmp(data, "227", 3)) { /* names a port */
    printf("%s line: ", (char *)user);
    print_bytes(data, size * count);
  }
  return size * count;
}

static void looks(void)
{
  static const struct { const char *name, *path; long names, nobody, time, header; const char *command, *range; } kinds[] = {
    {"list", "/dir/", 0, 0, 0, 0, NULL, NULL}, {"names", "/dir/", 1, 0, 0, 0, NULL, NULL}, {"own list", "/dir/", 0, 0, 0, 0, "LIST -a", NULL}, {"own name list", "/dir/", 1, 0, 0, 0, "NLST -a", NULL}, {"own on a file", "/dir/file", 0, 0, 0, 0, "LIST", NULL},
    {"no body", "/dir/file", 0, 1, 0, 0, NULL, NULL}, {"no body, time", "/dir/file", 0, 1, 1, 0, NULL, NULL}, {"no body, folder", "/dir/", 0, 1, 1, 0, NULL, NULL}, {"no body, header", "/dir/file", 0, 1, 1, 1, NULL, NULL}, {"header", "/dir/file", 0, 0, 0, 1, NULL, NULL}, {"time", "/dir/file", 0, 0, 1, 0, NULL, NULL},
    {"range", "/dir/file", 0, 0, 0, 0, NULL, "2-4"}, {"range open", "/dir/file", 0, 0, 0, 0, NULL, "4-"}, {"range end", "/dir/file", 0, 0, 0, 0, NULL, "-3"}, {"range odd", "/dir/file", 0, 0, 0, 0, NULL, "x"}, {"range backwards", "/dir/file", 0, 0, 0, 0, NULL, "5-2"},
    {"range of a folder", "/dir/", 0, 0, 0, 0, NULL, "0-3"}, {"no body, range", "/dir/file", 0, 1, 0, 0, NULL, "2-4"}, {"own, injecting", "/dir/", 0, 0, 0, 0, "LIST\r\nDELE x", NULL}};
  for(size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for(int refuse = 0; refuse < (kinds[k].path[5] ? kinds[k].range ? 4 : 5 : 1); refuse++) {
      static const char *refused[][2] = {{"none", ""}, {"SIZE", "500 what"}, {"MDTM", "550 none"}, {"REST", "502 can't"}, {"RETR", "550 none"}};
      char name[80];
      struct ftp_peer *peer = ftp_new();
      peer->listing = "one\r\ntwo\r\n";
      ftp_answer(peer, refused[refuse][0], refused[refuse][1]);
      CURL *easy = to_ftp(ftp_start(peer), kinds[k].path);
      snprintf(name, sizeof name, "%s refuse %d", kinds[k].name, refuse);
      WITH(easy, DIRLISTONLY, kinds[k].names), WITH(easy, NOBODY, kinds[k].nobody), WITH(easy, FILETIME, kinds[k].time), WITH(easy, HEADER, kinds[k].header);
      WITH(easy, CUSTOMREQUEST, kinds[k].command), WITH(easy, RANGE, kinds[k].range);
      CURLcode code = go(name, easy);
      printf("%s body: ", name);
      print_bytes(first, got);
      printf("%s infos: %lld %lld %ld\n", name, size_of(easy, CURLINFO_FILETIME_T), code ? -2 : size_of(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T), number(easy, CURLINFO_RESPONSE_CODE));
      curl_easy_cleanup(easy);
      ftp_show(name, peer);
      ftp_end(peer);
    }
  struct ftp_peer *peer = ftp_new();
  peer->greeting = "220-several\r\n220-lines\r\n220 hi";
  CURL *easy = to_ftp(ftp_start(peer), "/dir/file");
  WITH(easy, HEADERFUNCTION, line), WITH(easy, HEADERDATA, "lines"), WITH(easy, FTP_USE_EPSV, 0L);
  go("lines", easy);
  curl_easy_cleanup(easy);
  ftp_end(peer);
  for(long condition = 1; condition < 4; condition++)
    for(int later = 0; later < 2; later++)
      for(int kind = 0; kind < 3; kind++) {
        char name[64];
        peer = ftp_new();
        ftp_answer(peer, kind == 2 ? "MDTM" : "none", "213 nonsense");
        easy = to_ftp(ftp_start(peer), "/dir/file");
        WITH(easy, TIMECONDITION, condition), WITH(easy, TIMEVALUE, later ? 800000000L : 700000000L), WITH(easy, NOBODY, kind == 1 ? 1L : 0L);
        snprintf(name, sizeof name, "condition %ld later %d kind %d", condition, later, kind);
        go(name, easy);
        printf("%s unmet: %ld time %ld\n", name, number(easy, CURLINFO_CONDITION_UNMET), number(easy, CURLINFO_FILETIME));
        curl_easy_cleanup(easy);
        ftp_show(name, peer);
        ftp_end(peer);
      }
}

int main(void)
{
  paths();
  quotes();
  folders();
  looks();
  return 0;
}
