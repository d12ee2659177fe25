/* CURLOPT_WILDCARDMATCH: listings of several makes, what the chunk callbacks get about each entry, and what each of their answers and
 * those of an own matching function do.
 * covers: CURLOPT_WILDCARDMATCH, CURLOPT_CHUNK_BGN_FUNCTION, CURLOPT_CHUNK_END_FUNCTION, CURLOPT_CHUNK_DATA, CURLOPT_FNMATCH_FUNCTION, CURLOPT_FNMATCH_DATA,
 * covers: CURLOPT_FTP_FILEMETHOD, CURLOPT_WRITEFUNCTION */
#include "ftp_peer.h"

static long begin_answer, end_answer;
static int match_answer, begins, at_entry;

static long begins_(struct curl_fileinfo *file, const char *name, int left)
{
  printf("%s begins: <%s> type %d size %lld perm %o flags %x left %d user %s group %s time %s target %s\n", name, file->filename, file->filetype, (long long)file->size, file->perm, file->flags & ~0u, left, file->strings.user ? file->strings.user : "-",
         file->strings.group ? file->strings.group : "-", file->strings.time ? file->strings.time : "-", file->filetype == CURLFILETYPE_SYMLINK ? file->strings.target : "-");
  return begins++ == at_entry ? begin_answer : CURL_CHUNK_BGN_FUNC_OK;
}

static long chunk_begins(const void *info, void *user, int left) { return begins_((struct curl_fileinfo *)info, user, left); }

static long chunk_ends(void *user)
{
  printf("%s ends\n", (char *)user);
  return begins - 1 == at_entry ? end_answer : CURL_CHUNK_END_FUNC_OK;
}

static int matches(void *user, const char *pattern, const char *name)
{
  printf("%s matches: %s %s\n", (char *)user, pattern, name);
  return strcmp(name, "b.txt") ? CURL_FNMATCHFUNC_MATCH : match_answer;
}

static const char unix_listing[] = "total 5\r\n-rw-r--r--   1 user group     10 Jan  1  2000 a.txt\r\n-rwxr-sr-t   1 u g 10 Feb 29 12:30 b.txt\r\ndrwxrwxrwx   2 u g 4096 Mar  3 2001 dir.txt\r\nlrwxrwxrwx   1 u g 5 Apr  4 2002 link.txt -> a.txt\r\n-rw-------   1 u g 10 May  5 2003 with space.txt\r\n-rw-r--r--   1 u g 10 Jun 6 2004 other.dat\r\n";
static const char dos_listing[] = "01-01-00  12:00AM                   10 a.txt\r\n02-29-04  01:30PM       <DIR>          dir.txt\r\n03-03-01  11:59PM                   10 b.txt\r\n";

static void run(const char *name, const char *listing, const char *path, int method, int with_match, int how)
{
  struct ftp_peer *peer = ftp_new();
  peer->listing = listing;
  CURL *easy = to_ftp(ftp_start(peer), path);
  begins = 0;
  WITH(easy, WILDCARDMATCH, 1L), WITH(easy, TIMEOUT, 5L), WITH(easy, FTP_FILEMETHOD, (long)method);
  if(how & 1)
    WITH(easy, CHUNK_BGN_FUNCTION, chunk_begins);
  if(how & 2)
    WITH(easy, CHUNK_END_FUNCTION, chunk_ends);
  WITH(easy, CHUNK_DATA, (void *)name);
  if(with_match)
    WITH(easy, FNMATCH_FUNCTION, matches), WITH(easy, FNMATCH_DATA, (void *)name);
  WITH(easy, FTPPORT, "-"); /* 7.88 waits before it connects */
  got = 0, memset(first, 0, sizeof first);
  CURLcode code = curl_easy_perform(easy);
  printf("%s: code %d bytes %zu\n", name, code, got); /* the last reply is no longer known to 7.88 */
  curl_easy_cleanup(easy);
  ftp_show(name, peer), ftp_end(peer);
}

int main(void)
{
  char name[64];
  static const char *patterns[] = {"/*.txt", "/dir/*.txt", "/*", "/a.txt", "/none*", "/[ab].txt", "/[!a]*.txt", "/?.txt", "/*.t?t", "/[[:alpha:]].txt", "/[", "/\\*", "/dir/", "/dir*/a.txt", "//*.txt", "/a%2a"};
  begin_answer = end_answer = 0, at_entry = -1;
  for(size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
    snprintf(name, sizeof name, "pattern %zu", p);
    run(name, unix_listing, patterns[p], 0, 0, 3);
  }
  for(int method = 1; method < 4; method++) {
    snprintf(name, sizeof name, "method %d", method);
    run(name, unix_listing, "/dir/*.txt", method, 0, 3);
  }
  for(int how = 0; how < 4; how++) {
    snprintf(name, sizeof name, "callbacks %d", how);
    run(name, unix_listing, "/*.txt", 0, 0, how);
  }
  static const long answers[] = {CURL_CHUNK_BGN_FUNC_OK, CURL_CHUNK_BGN_FUNC_FAIL, CURL_CHUNK_BGN_FUNC_SKIP, 77};
  for(at_entry = 0; at_entry < 2; at_entry++)
    for(int a = 0; a < 4; a++) {
      begin_answer = answers[a], end_answer = CURL_CHUNK_END_FUNC_OK;
      snprintf(name, sizeof name, "entry %d begin says %ld", at_entry, begin_answer);
      run(name, unix_listing, "/*.txt", 0, 0, 3);
    }
  for(at_entry = 0; at_entry < 2; at_entry++)
    for(end_answer = 1; end_answer < 3; end_answer++) {
      begin_answer = CURL_CHUNK_BGN_FUNC_OK;
      snprintf(name, sizeof name, "entry %d end says %ld", at_entry, end_answer);
      run(name, unix_listing, "/*.txt", 0, 0, 3);
    }
  at_entry = -1, end_answer = 0;
  static const int match_answers[] = {CURL_FNMATCHFUNC_MATCH, CURL_FNMATCHFUNC_NOMATCH, CURL_FNMATCHFUNC_FAIL, 77};
  for(int m = 0; m < 4; m++) {
    match_answer = match_answers[m];
    snprintf(name, sizeof name, "match says %d", match_answer);
    run(name, unix_listing, "/x*", 0, 1, 3);
  }
  static const char *listings[] = {dos_listing, "", "garbage\r\n", "total 0\r\n", "-rw-r--r-- 1 u g 10 Jan 1 2000 a.txt\n-rw-r--r-- 1 u g 10 Jan 1 2000 b.txt\n", "-rw-r--r-- 1 u g 10 Jan 1 2000 last.txt", "-rw-r--r--+ 1 u g 10 Jan 1 2000 a.txt\r\n", "?rw-r--r-- 1 u g 10 Jan 1 2000 a.txt\r\n", "-rw-r--r-- 1 u g x Jan 1 2000 a.txt\r\n",
                                   "crw-r--r-- 1 u g 1, 3 Jan 1 2000 a.txt\r\n", "-rw-r--r-- 1 u g 99999999999999999999 Jan 1 2000 a.txt\r\n", "drwxr-xr-x 2 u g 10 Jan 1 2000 .\r\ndrwxr-xr-x 2 u g 10 Jan 1 2000 ..\r\n-rw-r--r-- 1 u g 10 Jan 1 2000 a.txt\r\n", "-rw-r--r-- 1 u g 10 Jan 1 2000 ../up.txt\r\n", "13-45-00  12:00AM  10 odd.txt\r\n", "a.txt\r\nb.txt\r\n"};
  for(size_t l = 0; l < sizeof listings / sizeof *listings; l++) {
    snprintf(name, sizeof name, "listing %zu", l);
    run(name, listings[l], "/*.txt", 0, 0, 3);
  }
  return 0;
}
