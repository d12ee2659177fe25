/* FTP's data connections: active ones by every form of CURLOPT_FTPPORT, passive ones that are refused or get a wrong address, uploads
 * added to, resumed and cut, downloads that end early, and what the replies around them are taken for.
 * covers: CURLOPT_FTPPORT, CURLOPT_FTP_USE_EPRT, CURLOPT_FTP_USE_EPSV, CURLOPT_FTP_SKIP_PASV_IP, CURLOPT_APPEND, CURLOPT_RESUME_FROM_LARGE, CURLOPT_INFILESIZE,
 * covers: CURLOPT_MAXFILESIZE, CURLOPT_IGNORE_CONTENT_LENGTH, CURLOPT_CRLF, CURLOPT_TRANSFERTEXT, CURLOPT_FTP_ACCOUNT, CURLOPT_FTP_ALTERNATIVE_TO_USER */
#include "ftp_peer.h"

static size_t at_;
static const char *upload = "0123456789";

static size_t give(char *to, size_t size, size_t count, void *user)
{
  size_t left = strlen(upload) - at_, n = left < size * count ? left : size * count;
  (void)user;
  memcpy(to, upload + at_, n);
  at_ += n;
  return n;
}

static int seek_to(void *user, curl_off_t offset, int origin) { (void)user, (void)origin; at_ = offset; return CURL_SEEKFUNC_OK; }

static void active(void)
{
  static const char *ports[] = {"-", "127.0.0.1", "localhost", "lo", "127.0.0.1:0", "127.0.0.1:70000", "lo:40000-65000", ":40000-65000", "-:40000-65000", "127.0.0.1:x", "", "[127.0.0.1]:40000-65000"};
  char name[64];
  for(size_t p = 0; p < sizeof ports / sizeof *ports; p++)
    for(int refuse = 0; refuse < (p < 2 ? 4 : 1); refuse++) {
      struct ftp_peer *peer = ftp_new();
      if(refuse == 1)
        ftp_answer(peer, "EPRT", "500 what");
      if(refuse == 2)
        ftp_answer(peer, "EPRT", "500 what"), ftp_answer(peer, "PORT", "500 what");
      CURL *easy = to_ftp(ftp_start(peer), "/file");
      WITH(easy, FTPPORT, ports[p]), WITH(easy, TIMEOUT, 5L);
      if(refuse == 3)
        WITH(easy, FTP_USE_EPRT, 0L);
      snprintf(name, sizeof name, "port %zu refuse %d", p, refuse);
      ftp_run(name, easy, peer);
    }
  /* Up, a listing, and back to passive on the same connection. */
  struct ftp_peer *peer = ftp_new();
  peer->listing = "one\r\n";
  CURL *easy = to_ftp(ftp_start(peer), "/file");
  char url[100];
  at_ = 0;
  WITH(easy, FTPPORT, "-"), WITH(easy, UPLOAD, 1L), WITH(easy, READFUNCTION, give);
  go("active upload", easy);
  WITH(easy, UPLOAD, 0L);
  snprintf(url, sizeof url, "ftp://127.0.0.1:%d/dir/", peer->port);
  WITH(easy, URL, url);
  go("active listing", easy);
  WITH(easy, FTPPORT, NULL);
  go("passive listing", easy);
  curl_easy_cleanup(easy);
  ftp_show("active", peer), ftp_show_stored("active", peer), ftp_end(peer);
}

static void passive(void)
{
  static const struct { const char *epsv, *pasv; long use, skip; } kinds[] = {
    {"500 what", NULL, 1, 1}, {"500 what", "500 what", 1, 1}, {NULL, NULL, 0, 1}, {NULL, NULL, 0, 0}, {"229 nonsense", NULL, 1, 1}, {"229 (|||0|)", NULL, 1, 1}, {"229 (|||99999|)", NULL, 1, 1}, {"229 (!!!1!)", NULL, 1, 1}, {"229 (|||1|)", NULL, 1, 1}, {"229 (||1|)", NULL, 1, 1},
    {"200 fine", NULL, 1, 1}, {"500 what", "227 nonsense", 1, 1}, {"500 what", "227 (1,2,3)", 1, 1}, {"500 what", "227 (256,0,0,1,0,1)", 1, 1}, {"500 what", "227 (127,0,0,1,0,1)", 1, 1}, {"500 what", "227 127,0,0,1,0,1", 1, 1}, {"500 what", "227 (127,0,0,1,256,1)", 1, 1}, {"421 bye", NULL, 1, 1}, {"!421 bye", NULL, 1, 1}, {"500 what", "421 bye", 1, 1}};
  char name[64];
  for(size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    struct ftp_peer *peer = ftp_new();
    if(kinds[k].epsv)
      ftp_answer(peer, "EPSV", kinds[k].epsv);
    if(kinds[k].pasv)
      ftp_answer(peer, "PASV", kinds[k].pasv);
    CURL *easy = to_ftp(ftp_start(peer), "/file");
    WITH(easy, FTP_USE_EPSV, kinds[k].use), WITH(easy, FTP_SKIP_PASV_IP, kinds[k].skip), WITH(easy, TIMEOUT, 5L);
    snprintf(name, sizeof name, "passive %zu", k);
    ftp_run(name, easy, peer);
  }
}

static void uploads(void)
{
  static const struct { const char *name; long append, from, size, seeks, crlf, text; const char *refused, *reply; } kinds[] = {
    {"all", 0, 0, 10, 0, 0, 0, NULL, NULL}, {"unknown size", 0, 0, -1, 0, 0, 0, NULL, NULL}, {"short", 0, 0, 12, 0, 0, 0, NULL, NULL}, {"long", 0, 0, 4, 0, 0, 0, NULL, NULL}, {"append", 1, 0, 10, 0, 0, 0, NULL, NULL},
    {"from 4", 0, 4, 10, 0, 0, 0, NULL, NULL}, {"from 4, sought", 0, 4, 10, 1, 0, 0, NULL, NULL}, {"from the end", 0, -1, 10, 0, 0, 0, "SIZE", "213 6"}, {"from the end, nothing there", 0, -1, 10, 0, 0, 0, "SIZE", "550 none"}, {"from the end, all there", 0, -1, 10, 0, 0, 0, "SIZE", "213 10"},
    {"from the end, more there", 0, -1, 10, 0, 0, 0, "SIZE", "213 20"}, {"from 10", 0, 10, 10, 0, 0, 0, NULL, NULL}, {"from 20", 0, 20, 10, 1, 0, 0, NULL, NULL}, {"append and from 4", 1, 4, 10, 1, 0, 0, NULL, NULL}, {"as text", 0, 0, -1, 0, 0, 1, NULL, NULL}, {"line ends", 0, 0, -1, 0, 1, 0, NULL, NULL},
    {"STOR refused", 0, 0, 10, 0, 0, 0, "STOR", "553 no"}, {"STOR refused for now", 0, 0, 10, 0, 0, 0, "STOR", "452 full"}, {"APPE refused", 1, 0, 10, 0, 0, 0, "APPE", "550 no"}, {"STOR ends it", 0, 0, 10, 0, 0, 0, "STOR", "!421 bye"}, {"TYPE refused", 0, 0, 10, 0, 0, 0, "TYPE", "500 what"}};
  char name[64];
  for(size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    struct ftp_peer *peer = ftp_new();
    if(kinds[k].refused)
      ftp_answer(peer, kinds[k].refused, kinds[k].reply);
    CURL *easy = to_ftp(ftp_start(peer), "/file");
    at_ = 0;
    upload = kinds[k].crlf || kinds[k].text ? "one\ntwo\r\nthree" : "0123456789";
    WITH(easy, UPLOAD, 1L), WITH(easy, READFUNCTION, give), WITH(easy, APPEND, kinds[k].append), WITH(easy, RESUME_FROM_LARGE, (curl_off_t)kinds[k].from), WITH(easy, INFILESIZE, kinds[k].size);
    WITH(easy, CRLF, kinds[k].crlf), WITH(easy, TRANSFERTEXT, kinds[k].text), WITH(easy, TIMEOUT, 5L);
    if(kinds[k].seeks)
      WITH(easy, SEEKFUNCTION, seek_to);
    snprintf(name, sizeof name, "upload %s", kinds[k].name);
    CURLcode code = go(name, easy);
    printf("%s sent: %lld of %lld, read to %zu\n", name, size_of(easy, CURLINFO_SIZE_UPLOAD_T), size_of(easy, CURLINFO_CONTENT_LENGTH_UPLOAD_T), at_);
    curl_easy_cleanup(easy);
    ftp_show(name, peer);
    if(!code)
      ftp_show_stored(name, peer);
    ftp_end(peer);
  }
}

static void downloads(void)
{
  static const struct { const char *name, *late, *answers[2][2]; long from, limit, text, ignore; int cut; } kinds[] = {
    {"whole", NULL, {{NULL}}, 0, 0, 0, 0, 0}, {"cut", NULL, {{NULL}}, 0, 0, 0, 0, 4}, {"cut, and said so", "426 cut", {{NULL}}, 0, 0, 0, 0, 4}, {"whole, and denied", "451 sorry", {{NULL}}, 0, 0, 0, 0, 0}, {"late 250", "250 done", {{NULL}}, 0, 0, 0, 0, 0}, {"late 552", "552 full", {{NULL}}, 0, 0, 0, 0, 0},
    {"from 4", NULL, {{NULL}}, 4, 0, 0, 0, 0}, {"from 10", NULL, {{NULL}}, 10, 0, 0, 0, 0}, {"from 11", NULL, {{NULL}}, 11, 0, 0, 0, 0}, {"from -3", NULL, {{NULL}}, -3, 0, 0, 0, 0}, {"from 4, no REST", NULL, {{"REST", "502 can't"}}, 4, 0, 0, 0, 0}, {"from 4, no SIZE", NULL, {{"SIZE", "500 what"}}, 4, 0, 0, 0, 0},
    {"limit 9", NULL, {{NULL}}, 0, 9, 0, 0, 0}, {"limit 10", NULL, {{NULL}}, 0, 10, 0, 0, 0}, {"limit 9, no SIZE", NULL, {{"SIZE", "500 what"}}, 0, 9, 0, 0, 0}, {"as text", NULL, {{NULL}}, 0, 0, 1, 0, 0}, {"size ignored", NULL, {{NULL}}, 0, 0, 0, 1, 0}, {"size too large", NULL, {{"SIZE", "213 20"}}, 0, 0, 0, 0, 0}, {"size too small", NULL, {{"SIZE", "213 4"}}, 0, 0, 0, 0, 0},
    {"size nonsense", NULL, {{"SIZE", "213 x"}}, 0, 0, 0, 0, 0}, {"size 0", NULL, {{"SIZE", "213 0"}}, 0, 0, 0, 0, 0}, {"RETR refused", NULL, {{"RETR", "550 none"}}, 0, 0, 0, 0, 0}, {"RETR refused for now", NULL, {{"RETR", "450 busy"}}, 0, 0, 0, 0, 0}, {"RETR ends it", NULL, {{"RETR", "!421 bye"}}, 0, 0, 0, 0, 0}, {"SIZE refused", NULL, {{"SIZE", "550 none"}}, 0, 0, 0, 0, 0},
    {"TYPE refused", NULL, {{"TYPE", "500 what"}}, 0, 0, 0, 0, 0}, {"PWD refused", NULL, {{"PWD", "500 what"}}, 0, 0, 0, 0, 0}, {"PWD odd", NULL, {{"PWD", "257 no quotes"}}, 0, 0, 0, 0, 0}, {"PWD doubled", NULL, {{"PWD", "257 \"a \"\"b\"\" c\" x"}}, 0, 0, 0, 0, 0}, {"SYST asked", NULL, {{"PWD", "257 \"c:\\dir\""}}, 0, 0, 0, 0, 0}};
  char name[64];
  for(size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    struct ftp_peer *peer = ftp_new();
    peer->late = kinds[k].late, peer->cut_data = kinds[k].cut;
    if(kinds[k].answers[0][0])
      ftp_answer(peer, kinds[k].answers[0][0], kinds[k].answers[0][1]);
    CURL *easy = to_ftp(ftp_start(peer), "/file");
    WITH(easy, RESUME_FROM_LARGE, (curl_off_t)kinds[k].from), WITH(easy, TRANSFERTEXT, kinds[k].text), WITH(easy, IGNORE_CONTENT_LENGTH, kinds[k].ignore), WITH(easy, TIMEOUT, 5L);
    if(kinds[k].limit)
      WITH(easy, MAXFILESIZE, kinds[k].limit);
    snprintf(name, sizeof name, "download %s", kinds[k].name);
    CURLcode code = go(name, easy);
    printf("%s body: ", name);
    print_bytes(first, got);
    if(!code)
      printf("%s entry: %s\n", name, text(easy, CURLINFO_FTP_ENTRY_PATH));
    curl_easy_cleanup(easy);
    ftp_show(name, peer), ftp_end(peer);
  }
}

static void logins(void)
{
  static const struct { const char *name, *greeting, *answers[3][2], *account, *instead, *user; } kinds[] = {
    {"plain", NULL, {{NULL}}, NULL, NULL, NULL}, {"named", NULL, {{NULL}}, NULL, NULL, "me:secret"}, {"named oddly", NULL, {{NULL}}, NULL, NULL, "me:se cret%20"}, {"no password", NULL, {{NULL}}, NULL, NULL, "me"}, {"empty password", NULL, {{NULL}}, NULL, NULL, "me:"}, {"line end in it", NULL, {{NULL}}, NULL, NULL, "me:a\r\nDELE x"},
    {"in at USER", NULL, {{"USER", "230 in"}}, NULL, NULL, NULL}, {"USER refused", NULL, {{"USER", "530 no"}}, NULL, NULL, NULL}, {"another way", NULL, {{"USER", "530 no"}, {"LOGON", "230 in"}}, NULL, "LOGON me", NULL}, {"another way refused", NULL, {{"USER", "530 no"}, {"LOGON", "530 no"}}, NULL, "LOGON me", NULL}, {"PASS refused", NULL, {{"PASS", "530 no"}}, NULL, NULL, NULL},
    {"account wanted", NULL, {{"PASS", "332 account"}}, NULL, NULL, NULL}, {"account given", NULL, {{"PASS", "332 account"}, {"ACCT", "230 in"}}, "books", NULL, NULL}, {"account refused", NULL, {{"PASS", "332 account"}, {"ACCT", "532 no"}}, "books", NULL, NULL}, {"PASS superfluous", NULL, {{"PASS", "202 not needed"}}, NULL, NULL, NULL},
    {"greeting of lines", "220-a\r\n220 b\r\n", {{NULL}}, NULL, NULL, NULL}, {"greeting 120", "120 wait\r\n220 hi", {{NULL}}, NULL, NULL, NULL}, {"greeting 421", "421 busy", {{NULL}}, NULL, NULL, NULL}, {"greeting 421 and end", "!421 busy", {{NULL}}, NULL, NULL, NULL}, {"greeting 530", "530 no", {{NULL}}, NULL, NULL, NULL}, {"greeting of another", "SSH-2.0-x", {{NULL}}, NULL, NULL, NULL}, {"greeting 230", "230 in already", {{NULL}}, NULL, NULL, NULL}};
  char name[64];
  for(size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    struct ftp_peer *peer = ftp_new();
    if(kinds[k].greeting)
      peer->greeting = kinds[k].greeting;
    for(int i = 0; i < 3 && kinds[k].answers[i][0]; i++)
      ftp_answer(peer, kinds[k].answers[i][0], kinds[k].answers[i][1]);
    CURL *easy = to_ftp(ftp_start(peer), "/file");
    WITH(easy, FTP_ACCOUNT, kinds[k].account), WITH(easy, FTP_ALTERNATIVE_TO_USER, kinds[k].instead), WITH(easy, USERPWD, kinds[k].user), WITH(easy, TIMEOUT, 2L);
    snprintf(name, sizeof name, "login %s", kinds[k].name);
    go(name, easy);
    curl_easy_cleanup(easy);
    ftp_show(name, peer), ftp_end(peer);
  }
}

int main(void)
{
  active();
  passive();
  uploads();
  downloads();
  logins();
  return 0;
}
