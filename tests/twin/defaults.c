/* What a callback gets as its data when nobody said, after NULL, after curl_easy_reset(3) and in a copy; and the functions
 * that stand in when none is set.
 * covers: CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_HEADERDATA, CURLOPT_SEEKDATA, CURLOPT_DEBUGDATA, CURLOPT_XFERINFODATA,
 * covers: CURLOPT_SOCKOPTDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_CLOSESOCKETDATA, CURLOPT_PREREQDATA,
 * covers: CURLOPT_RESOLVER_START_DATA, curl_formget, CURLOPT_READFUNCTION */
#include "twin.h"
#include <fcntl.h>
#include <sys/socket.h>

static char marked;

static const char *name_of(void *data)
{
  return data == stdout ? "stdout" : data == stdin ? "stdin" : data == stderr ? "stderr" : data == &marked ? "own" : data ? "other" : "NULL";
}

/* Which callback got what first; they come in no fixed order. */
static struct {
  const char *what, *data;
} first_calls[16];

static void note(int which, const char *what, void *data)
{
  if(!first_calls[which].what)
    first_calls[which].what = what, first_calls[which].data = name_of(data);
}

static size_t writes(char *at, size_t size, size_t count, void *data) { return (void)at, note(0, "write", data), size * count; }
static size_t heads(char *at, size_t size, size_t count, void *data) { return (void)at, note(1, "header", data), size * count; }
static size_t body;
static size_t reads(char *at, size_t size, size_t count, void *data)
{
  (void)size, (void)count;
  note(2, "read", data);
  if(!body)
    return 0;
  body = 0;
  memcpy(at, "body", 4);
  return 4;
}
static int seeks(void *data, curl_off_t offset, int origin) { return (void)offset, (void)origin, note(3, "seek", data), body = 1, CURL_SEEKFUNC_OK; }
static int debugs(CURL *easy, curl_infotype kind, char *at, size_t size, void *data) { return (void)easy, (void)kind, (void)at, (void)size, note(4, "debug", data), 0; }
static int moves(void *data, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) { return (void)a, (void)b, (void)c, (void)d, note(5, "xferinfo", data), 0; }
static int old_moves(void *data, double a, double b, double c, double d) { return (void)a, (void)b, (void)c, (void)d, note(6, "progress", data), 0; }
static int options(void *data, curl_socket_t fd, curlsocktype kind) { return (void)fd, (void)kind, note(7, "sockopt", data), CURL_SOCKOPT_OK; }
static curl_socket_t opens(void *data, curlsocktype kind, struct curl_sockaddr *to) { return (void)kind, note(8, "open", data), socket(to->family, to->socktype, to->protocol); }
static int closes(void *data, curl_socket_t fd) { return note(9, "close", data), close(fd); }
static int before(void *data, char *a, char *b, int c, int d) { return (void)a, (void)b, (void)c, (void)d, note(10, "prereq", data), CURL_PREREQFUNC_OK; }
static int starts(void *state, void *unused, void *data) { return (void)state, (void)unused, note(11, "resolver", data), 0; }

/* Every function, with the data that it has. */
static void all(const char *name, CURL *easy)
{
  struct curl_slist *chunked = curl_slist_append(NULL, "Transfer-Encoding: chunked");
  memset(first_calls, 0, sizeof first_calls);
  body = 1;
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/echo"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, writes);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, heads);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, reads);
  curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seeks);
  curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, debugs);
  curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, moves);
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, options);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, opens);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, closes);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before);
  curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, starts);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, chunked);
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  printf("%s: code %d\n", name, curl_easy_perform(easy));
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, NULL);
  curl_easy_setopt(easy, CURLOPT_PROGRESSFUNCTION, old_moves);
  body = 1;
  printf("%s: code %d\n", name, curl_easy_perform(easy));
  for(int i = 0; i < 16; i++)
    if(first_calls[i].what)
      printf("%s, %s: %s\n", name, first_calls[i].what, first_calls[i].data);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
  curl_slist_free_all(chunked);
}

static void each(CURL *easy, void *data)
{
  const CURLoption kinds[] = {CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_HEADERDATA, CURLOPT_SEEKDATA, CURLOPT_DEBUGDATA, CURLOPT_XFERINFODATA,
    CURLOPT_SOCKOPTDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_CLOSESOCKETDATA, CURLOPT_PREREQDATA, CURLOPT_RESOLVER_START_DATA};
  for(size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    curl_easy_setopt(easy, kinds[i], data);
}

/* fwrite and fread, set as functions without data, and not set at all; the header's line through the write function. */
static void by_files(const char *name, void *write, void *read, int data)
{
  char got[4096] = "";
  fflush(stdout);
  int out = dup(1), in = dup(0), file = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600), from = open("in", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if(pwrite(from, "from stdin", 10, 0) != 10)
    printf("no file\n");
  dup2(file, 1);
  dup2(from, 0);
  rewind(stdin);
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/echo"));
  if(write)
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write);
  if(read)
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, read);
  if(data)
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, stdout);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 10L);
  CURLcode code = curl_easy_perform(easy), again = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, NULL);
  curl_easy_cleanup(easy);
  fflush(stdout);
  dup2(out, 1);
  dup2(in, 0);
  clearerr(stdin);
  ssize_t size = pread(file, got, sizeof got - 1, 0);
  got[size < 0 ? 0 : size] = 0;
  printf("%s: %d %d, heads %d, body %d\n", name, code, again, strncmp(got, "HTTP/1.1 200", 12) == 0, strstr(got, "from stdin") != NULL);
  close(out), close(in), close(file), close(from);
}

static size_t append(void *user, const char *at, size_t size)
{
  return (void)user, fwrite(at, 1, size, stdout);
}

static void form(void)
{
  struct curl_httppost *first = NULL, *last = NULL;
  curl_formadd(&first, &last, CURLFORM_COPYNAME, "a", CURLFORM_COPYCONTENTS, "text", CURLFORM_END);
  curl_formadd(&first, &last, CURLFORM_COPYNAME, "b", CURLFORM_STREAM, &marked, CURLFORM_CONTENTSLENGTH, 77L, CURLFORM_FILENAME, "f", CURLFORM_END);
  curl_formadd(&first, &last, CURLFORM_COPYNAME, "c", CURLFORM_STREAM, &marked, CURLFORM_END);
  char got[4096];
  fflush(stdout);
  FILE *file = fopen("form", "w+");
  int out = dup(1);
  dup2(fileno(file), 1);
  int code = curl_formget(first, NULL, append);
  fflush(stdout);
  dup2(out, 1);
  close(out);
  ssize_t size = pread(fileno(file), got, sizeof got - 1, 0);
  got[size < 0 ? 0 : size] = 0;
  fclose(file);
  printf("formget: %d\n", code);
  for(char *line = strtok(got, "\r\n"); line; line = strtok(NULL, "\r\n"))
    if(line[0] != '-' && !strstr(line, "boundary"))
      printf("formget line: %s\n", line);
  curl_formfree(first);
}

int main(void)
{
  CURL *easy = curl_easy_init();
  all("never set", easy);
  each(easy, &marked);
  all("own", easy);
  CURL *copy = curl_easy_duphandle(easy);
  all("copy", copy);
  curl_easy_cleanup(copy);
  each(easy, NULL);
  all("NULL", easy);
  curl_easy_reset(easy);
  all("after reset", easy);
  curl_easy_cleanup(easy);
  by_files("nothing set", NULL, NULL, 0);
  by_files("fwrite", (void *)fwrite, NULL, 0);
  by_files("fwrite and fread", (void *)fwrite, (void *)fread, 0);
  by_files("heads too", (void *)fwrite, (void *)fread, 1);
  by_files("heads too, nothing set", NULL, NULL, 1);
  form();
  return 0;
}
