/* FTP's options, one transfer each: the commands that the server saw are compared.
 * covers: CURLOPT_FTPPORT, CURLOPT_FTP_USE_EPRT, CURLOPT_FTP_USE_EPSV, CURLOPT_QUOTE, CURLOPT_PREQUOTE,
 * covers: CURLOPT_POSTQUOTE, CURLOPT_APPEND, CURLOPT_TRANSFERTEXT, CURLOPT_CRLF, CURLOPT_PUT,
 * covers: CURLOPT_FTP_CREATE_MISSING_DIRS, CURLOPT_USE_SSL, CURLOPT_FTPSSLAUTH, CURLOPT_FTP_SSL_CCC, CURLOPT_FTP_ACCOUNT,
 * covers: CURLOPT_FTP_ALTERNATIVE_TO_USER, CURLOPT_FTP_SKIP_PASV_IP, CURLOPT_FTP_FILEMETHOD, CURLOPT_FTP_USE_PRET,
 * covers: CURLOPT_ACCEPTTIMEOUT_MS, CURLOPT_SERVER_RESPONSE_TIMEOUT, CURLOPT_DIRLISTONLY, CURLINFO_FTP_ENTRY_PATH,
 * covers: CURLOPT_WILDCARDMATCH, CURLOPT_CHUNK_BGN_FUNCTION, CURLOPT_CHUNK_END_FUNCTION, CURLOPT_CHUNK_DATA,
 * covers: CURLOPT_FNMATCH_FUNCTION, CURLOPT_FNMATCH_DATA, CURLOPT_PROXY_TRANSFER_MODE, CURLOPT_NOBODY, CURLOPT_FILETIME,
 * covers: CURLOPT_RANGE, CURLOPT_RESUME_FROM, CURLOPT_USERPWD */
#include "twin.h"
#include <arpa/inet.h>
#include <sys/socket.h>

static struct curl_slist *list(const char *one, const char *two)
{
  struct curl_slist *first = curl_slist_append(NULL, one);
  return two ? curl_slist_append(first, two) : first;
}

static const char upload[] = "one\ntwo\n";
static size_t sent;

static size_t give(char *to, size_t size, size_t count, void *user)
{
  size_t left = sizeof upload - 1 - sent, n = size * count < left ? size * count : left;
  (void)user;
  memcpy(to, upload + sent, n);
  sent += n;
  return n;
}

static CURL *up(const char *path)
{
  CURL *easy = to("FTP", path);
  sent = 0;
  WITH(easy, UPLOAD, 1L);
  WITH(easy, READFUNCTION, give);
  return easy;
}

static void commands(void)
{
  CURL *easy = to("FTP", "/dir/file");
  struct curl_slist *before = list("NOOP", "*NOSUCH"), *then = list("NOOP 2", NULL), *after = list("NOOP 3", NULL);
  struct curl_slist *wrong = list("NOSUCH", NULL);
  WITH(easy, QUOTE, before);
  WITH(easy, PREQUOTE, then);
  WITH(easy, POSTQUOTE, after);
  go("quoted", easy);
  printf("entry path: %s\n", text(easy, CURLINFO_FTP_ENTRY_PATH));
  WITH(easy, QUOTE, wrong);
  go("refused quote", easy);
  WITH(easy, QUOTE, NULL);
  WITH(easy, PREQUOTE, NULL);
  WITH(easy, POSTQUOTE, NULL);
  go("no quotes", easy);
  curl_slist_free_all(before), curl_slist_free_all(then), curl_slist_free_all(after), curl_slist_free_all(wrong);
  curl_easy_cleanup(easy);
}

static void uploads(void)
{
  CURL *easy = up("/dir/new");
  go("upload", easy);
  curl_easy_cleanup(easy);
  easy = up("/dir/new");
  WITH(easy, APPEND, 1L);
  go("append", easy);
  curl_easy_cleanup(easy);
  easy = up("/dir/new.txt");
  WITH(easy, CRLF, 1L);
  go("with CRLF", easy);
  printf("bytes sent: %ld\n", (long)sent);
  WITH(easy, UPLOAD, 0L);
  go("read back", easy);
  printf("content: %s\n", strstr(first, "one\r\ntwo\r\n") ? "CRLF" : first);
  curl_easy_cleanup(easy);
  easy = up("/dir/put");
  WITH(easy, UPLOAD, 0L);
  WITH(easy, PUT, 1L);
  go("the old name", easy);
  curl_easy_cleanup(easy);
  easy = up("/none/such/new");
  go("missing folders", easy);
  sent = 0;
  WITH(easy, FTP_CREATE_MISSING_DIRS, (long)CURLFTP_CREATE_DIR);
  go("folders made", easy);
  sent = 0;
  WITH(easy, URL, at("FTP", "/again/such/new"));
  WITH(easy, FTP_CREATE_MISSING_DIRS, (long)CURLFTP_CREATE_DIR_RETRY);
  go("folders made and entered", easy);
  printf("set to 3: %d\n", curl_easy_setopt(easy, CURLOPT_FTP_CREATE_MISSING_DIRS, 3L));
  curl_easy_cleanup(easy);
}

static void downloads(void)
{
  static const long methods[] = {CURLFTPMETHOD_DEFAULT, CURLFTPMETHOD_MULTICWD, CURLFTPMETHOD_NOCWD,
                                 CURLFTPMETHOD_SINGLECWD};
  for(int i = 0; i < 4; i++) {
    CURL *easy = to("FTP", "/dir/deep/down");
    WITH(easy, FTP_FILEMETHOD, methods[i]);
    go("file method", easy);
    curl_easy_cleanup(easy);
  }
  CURL *easy = to("FTP", "/dir/");
  WITH(easy, DIRLISTONLY, 1L);
  go("names", easy);
  WITH(easy, DIRLISTONLY, 0L);
  go("list", easy);
  WITH(easy, URL, at("FTP", "/dir/other.txt"));
  WITH(easy, TRANSFERTEXT, 1L);
  go("as text", easy);
  WITH(easy, TRANSFERTEXT, 0L);
  WITH(easy, RANGE, "10-19");
  go("range", easy);
  WITH(easy, RANGE, NULL);
  WITH(easy, RESUME_FROM, 20L);
  go("resumed", easy);
  WITH(easy, RESUME_FROM, 0L);
  WITH(easy, NOBODY, 1L);
  WITH(easy, FILETIME, 1L);
  go("no body", easy);
  printf("file time: %ld\n", number(easy, CURLINFO_FILETIME));
  curl_easy_cleanup(easy);
  easy = to("FTP", "/top");
  WITH(easy, FTP_USE_EPSV, 0L);
  WITH(easy, USERPWD, "me:secret");
  go("without EPSV", easy);
  WITH(easy, FTP_USE_PRET, 1L);
  go("with PRET", easy);
  curl_easy_cleanup(easy);
  easy = to("FTP", "/top");
  WITH(easy, PASSWORD, "alone"); /* goes with the user that nobody named */
  go("password alone", easy);
  curl_easy_cleanup(easy);
}

static void active(void)
{
  CURL *easy = to("FTP_ACTIVE", "/top");
  WITH(easy, FTPPORT, "127.0.0.1");
  WITH(easy, ACCEPTTIMEOUT_MS, 300L);
  double start = now_s();
  go("nobody comes", easy);
  printf("soon: %d\n", now_s() - start < 5);
  curl_easy_cleanup(easy);
  easy = to("FTP_ACTIVE", "/top");
  WITH(easy, FTPPORT, "127.0.0.1");
  WITH(easy, ACCEPTTIMEOUT_MS, 300L);
  WITH(easy, FTP_USE_EPRT, 0L);
  go("without EPRT", easy);
  curl_easy_cleanup(easy);
  easy = to("FTP", "/top");
  WITH(easy, FTPPORT, "-");
  go("both refused", easy);
  curl_easy_cleanup(easy);
}

static void logins(void)
{
  CURL *easy = to("FTP_ACCOUNT", "/top");
  go("no account", easy);
  WITH(easy, FTP_ACCOUNT, "books");
  go("account", easy);
  curl_easy_cleanup(easy);
  easy = to("FTP_STRANGE", "/top");
  go("refused user", easy);
  WITH(easy, FTP_ALTERNATIVE_TO_USER, "LOGON me");
  go("another way in", easy);
  curl_easy_cleanup(easy);
  easy = to("FTP", "/top");
  WITH(easy, USE_SSL, (long)CURLUSESSL_TRY);
  go("TLS tried", easy);
  curl_easy_cleanup(easy);
  easy = to("FTP", "/top");
  WITH(easy, USE_SSL, (long)CURLUSESSL_ALL);
  WITH(easy, FTPSSLAUTH, (long)CURLFTPAUTH_TLS);
  WITH(easy, FTP_SSL_CCC, (long)CURLFTPSSL_CCC_ACTIVE);
  go("TLS demanded", easy);
  printf("ranges: %d %d %d\n", curl_easy_setopt(easy, CURLOPT_USE_SSL, 9L), curl_easy_setopt(easy, CURLOPT_FTPSSLAUTH, 9L),
         curl_easy_setopt(easy, CURLOPT_FTP_SSL_CCC, 9L));
  curl_easy_cleanup(easy);
}

static curl_socket_t show(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
  struct sockaddr_in *in = (struct sockaddr_in *)&address->addr;
  (void)purpose;
  ++*(int *)user;
  if(*(int *)user == 2)
    printf("data to: %s\n", inet_ntoa(in->sin_addr));
  return *(int *)user == 2 ? CURL_SOCKET_BAD : socket(address->family, address->socktype, address->protocol);
}

static void odd_servers(void)
{
  for(long skip = 0; skip < 2; skip++) {
    int opened = 0;
    CURL *easy = to("FTP_LIAR", "/top");
    WITH(easy, FTP_USE_EPSV, 0L);
    WITH(easy, FTP_SKIP_PASV_IP, skip);
    WITH(easy, OPENSOCKETFUNCTION, show);
    WITH(easy, OPENSOCKETDATA, &opened);
    go("another address in the reply", easy);
    curl_easy_cleanup(easy);
  }
  CURL *easy = to("FTP_SILENT", "/top");
  WITH(easy, SERVER_RESPONSE_TIMEOUT, 1L);
  double start = now_s();
  go("no answer", easy);
  printf("soon: %d\n", now_s() - start < 6);
  curl_easy_cleanup(easy);
  easy = to("FTP", "/top");
  WITH(easy, URL, "ftp://ftp.example/dir/file");
  WITH(easy, PROXY, at("PROXY", ""));
  WITH(easy, TRANSFERTEXT, 1L);
  WITH(easy, PROXY_TRANSFER_MODE, 1L);
  go("by HTTP proxy, as text", easy);
  curl_easy_cleanup(easy);
}

static int endings;

static long begin(const void *info, void *user, int remaining)
{
  const struct curl_fileinfo *file = info;
  printf("begin: %s type %d size %ld perm %o flags %x left %d user %s\n", file->filename, file->filetype, (long)file->size,
         file->perm, file->flags, remaining, (char *)user);
  printf("listed: %s %s %s %s\n", file->strings.time ? file->strings.time : "-", file->strings.perm, file->strings.user,
         file->strings.group);
  return strcmp(file->filename, "other.txt") ? CURL_CHUNK_BGN_FUNC_OK : CURL_CHUNK_BGN_FUNC_SKIP;
}

static long end(void *user)
{
  (void)user;
  endings++;
  return CURL_CHUNK_END_FUNC_OK;
}

static int match(void *user, const char *pattern, const char *name)
{
  printf("match: %s %s %s\n", (char *)user, pattern, name);
  return name[0] == 'o' ? CURL_FNMATCHFUNC_MATCH : CURL_FNMATCHFUNC_NOMATCH;
}

static int fail(void *user, const char *pattern, const char *name)
{
  (void)user, (void)pattern, (void)name;
  return CURL_FNMATCHFUNC_FAIL;
}

static CURL *wild(const char *path)
{
  CURL *easy = to("FTP", path);
  WITH(easy, WILDCARDMATCH, 1L);
  return easy;
}

static void wildcards(void)
{
  CURL *easy = wild("/dir/*");
  WITH(easy, CHUNK_BGN_FUNCTION, begin);
  WITH(easy, CHUNK_END_FUNCTION, end);
  WITH(easy, CHUNK_DATA, "mine");
  go("wildcard", easy);
  printf("ended: %d\n", endings);
  curl_easy_cleanup(easy);
  easy = wild("/dir/*");
  WITH(easy, FNMATCH_FUNCTION, match);
  WITH(easy, FNMATCH_DATA, "yours");
  go("own match", easy);
  curl_easy_cleanup(easy);
  easy = wild("/dir/*");
  WITH(easy, FNMATCH_FUNCTION, fail);
  go("failing match", easy);
  curl_easy_cleanup(easy);
  easy = wild("/dir/z*");
  go("nothing matches", easy);
  curl_easy_cleanup(easy);
}

int main(void)
{
  commands();
  uploads();
  downloads();
  active();
  logins();
  odd_servers();
  wildcards();
  return 0;
}
