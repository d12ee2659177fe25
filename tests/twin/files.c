/* file: ranges, uploads, appending, resuming, NOBODY, folders, and what the infos say.
 * covers: CURLOPT_RANGE, CURLOPT_RESUME_FROM, CURLOPT_RESUME_FROM_LARGE, CURLOPT_APPEND, CURLOPT_UPLOAD, CURLOPT_NOBODY, CURLOPT_NEW_FILE_PERMS, CURLOPT_TIMECONDITION */
#include "twin.h"
#include <sys/stat.h>
#include <utime.h>

static char url[600], folder[400];

static const char *file(const char *name) { return snprintf(url, sizeof url, "file://%s/%s", folder, name), url; }

static size_t give(char *to, size_t size, size_t count, void *user)
{
  const char **text = user;
  size_t n = strlen(*text) < size * count ? strlen(*text) : size * count;
  memcpy(to, *text, n);
  *text += n;
  return n;
}

static size_t header(char *data, size_t size, size_t count, void *user)
{
  (void)user;
  if(*data != '\r')
    printf("header: %.*s\n", (int)strcspn(data, "\r\n"), data);
  return size * count;
}

static void show(const char *name)
{
  char text[200] = "", path[600];
  struct stat status = {0};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *in = fopen(path, "r");
  if(in)
    text[fread(text, 1, sizeof text - 1, in)] = 0, fclose(in);
  stat(path, &status);
  printf("%s has: %s, mode %o\n", name, in ? text : "(nothing)", (unsigned)status.st_mode & 0777);
}

static CURL *handle(const char *name)
{
  CURL *easy = curl_easy_init();
  WITH(easy, URL, file(name));
  WITH(easy, WRITEFUNCTION, take);
  WITH(easy, HEADERFUNCTION, header);
  return easy;
}

int main(void)
{
  umask(022);
  (void)!getcwd(folder, sizeof folder);
  FILE *out = fopen("files-source.txt", "w");
  fputs("0123456789", out);
  fclose(out);
  struct utimbuf when = {784111777, 784111777};
  utime("files-source.txt", &when);
  static const char *ranges[] = {NULL, "0-0", "2-5", "5-", "-3", "-20", "8-20", "10-", "20-30", "5-2", "x", "1-2,4-5", "-"};
  for(size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    CURL *easy = handle("files-source.txt");
    char name[32];
    curl_off_t length = -7;
    WITH(easy, RANGE, ranges[i]);
    snprintf(name, sizeof name, "range %s", ranges[i] ? ranges[i] : "none");
    go(name, easy);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    printf("%s body: %s, length %lld\n", name, first, (long long)length);
    curl_easy_cleanup(easy);
  }
  static const curl_off_t offsets[] = {0, 3, 10, 11, -2, -20};
  for(size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    CURL *easy = handle("files-source.txt");
    char name[32];
    printf("set: %d\n", curl_easy_setopt(easy, CURLOPT_RESUME_FROM_LARGE, offsets[i]));
    snprintf(name, sizeof name, "from %lld", (long long)offsets[i]);
    go(name, easy);
    printf("%s body: %s\n", name, first);
    curl_easy_cleanup(easy);
  }
  CURL *easy = handle("files-source.txt");
  WITH(easy, NOBODY, 1L);
  WITH(easy, FILETIME, 1L);
  go("no body", easy);
  printf("body: %s; time %ld scheme %s type %s code %ld\n", first, number(easy, CURLINFO_FILETIME), text(easy, CURLINFO_EFFECTIVE_METHOD), text(easy, CURLINFO_CONTENT_TYPE),
         number(easy, CURLINFO_RESPONSE_CODE));
  WITH(easy, NOBODY, 0L);
  WITH(easy, HEADER, 1L);
  go("with headers", easy);
  printf("first line: %.*s\n", (int)strcspn(first, "\r\n"), first);
  WITH(easy, HEADER, 0L);
  WITH(easy, TIMECONDITION, (long)CURL_TIMECOND_IFMODSINCE);
  WITH(easy, TIMEVALUE, 900000000L);
  go("not newer", easy);
  printf("unmet: %ld\n", number(easy, CURLINFO_CONDITION_UNMET));
  curl_easy_cleanup(easy);
  static const struct { const char *name, *what; long append, offset, size; int perms; } uploads[] = {
    {"files-new.txt", "first", 0, 0, -1, 0}, {"files-new.txt", "second, longer", 0, 0, -1, 0}, {"files-new.txt", " and more", 1, 0, -1, 0}, {"files-new.txt", "sec|rest", 0, 3, -1, 0},
    {"files-sized.txt", "four+more", 0, 0, 4, 0}, {"files-mode.txt", "x", 0, 0, -1, 0600}, {"no/such/folder/x", "x", 0, 0, -1, 0}, {"", "x", 0, 0, -1, 0}};
  for(size_t i = 0; i < sizeof uploads / sizeof *uploads; i++) {
    const char *what = uploads[i].what;
    char name[32];
    easy = handle(uploads[i].name);
    WITH(easy, UPLOAD, 1L);
    WITH(easy, READFUNCTION, give);
    WITH(easy, READDATA, &what);
    WITH(easy, APPEND, uploads[i].append);
    if(uploads[i].offset)
      WITH(easy, RESUME_FROM, uploads[i].offset);
    if(uploads[i].size > 0)
      WITH(easy, INFILESIZE, uploads[i].size);
    if(uploads[i].perms)
      WITH(easy, NEW_FILE_PERMS, (long)uploads[i].perms);
    snprintf(name, sizeof name, "upload %zu", i);
    go(name, easy);
    show(uploads[i].name);
    curl_easy_cleanup(easy);
  }
  static const char *odd[] = {"file://localhost/etc/hostname", "file:///etc/no-such", "file:///tmp/", "file://%2fetc%2fhostname", "file:///etc/%68ostname", "file:///etc/hostname%00x", "file:///etc/hostname?x", "file:///etc/hostname#x",
                              "file:/etc/hostname", "file:etc/hostname", "FILE:///etc/hostname", "file://127.0.0.1/etc/hostname", "file://elsewhere/etc/hostname"};
  for(size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    char name[32];
    easy = handle("x");
    WITH(easy, HEADERFUNCTION, NULL);
    WITH(easy, URL, odd[i]);
    snprintf(name, sizeof name, "odd %zu", i);
    CURLcode code = curl_easy_perform(easy);
    printf("%s: %d\n", name, code);
    curl_easy_cleanup(easy);
  }
  return 0;
}
