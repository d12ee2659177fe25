/* FTP and the application's own sockets: in active mode it makes the listening socket, sees and may refuse what is accepted, and closes what it
 * made; a connection for the application alone is logged in; listings with `.` and `..`; a paused description; a last reply without an end.
 * covers: CURLOPT_OPENSOCKETFUNCTION, CURLOPT_SOCKOPTFUNCTION, CURLOPT_CLOSESOCKETFUNCTION, CURLOPT_FTPPORT, CURLOPT_CONNECT_ONLY,
 * covers: CURLOPT_CHUNK_BGN_FUNCTION, CURLOPT_NOBODY, CURLOPT_HEADER, CURLOPT_TIMEOUT, CURLOPT_ERRORBUFFER */
#include "ftp_peer.h"

static int refused_purpose, refused_open, opened, closed;

static curl_socket_t on_open(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
  printf("%s open: purpose %d family %d type %d\n", (char *)user, purpose, address->family == AF_INET, address->socktype == SOCK_STREAM);
  if(++opened == refused_open)
    return CURL_SOCKET_BAD;
  return socket(address->family, address->socktype, address->protocol);
}

static int on_sockopt(void *user, curl_socket_t fd, curlsocktype purpose)
{
  int listens = 0;
  socklen_t length = sizeof listens;
  getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length);
  printf("%s sockopt: purpose %d listens %d\n", (char *)user, purpose, listens);
  return purpose == refused_purpose ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK;
}

static int on_close(void *user, curl_socket_t fd)
{
  (void)user;
  closed++;
  return close(fd);
}

static CURL *watched(struct ftp_peer *peer, const char *name, const char *path)
{
  CURL *easy = to_ftp(peer, path);
  opened = closed = 0;
  WITH(easy, OPENSOCKETFUNCTION, on_open), WITH(easy, OPENSOCKETDATA, (void *)name);
  WITH(easy, SOCKOPTFUNCTION, on_sockopt), WITH(easy, SOCKOPTDATA, (void *)name);
  WITH(easy, CLOSESOCKETFUNCTION, on_close);
  return easy;
}

static void active(const char *name, const char *way, const char *path, int upload)
{
  struct ftp_peer *peer = ftp_start(ftp_new());
  CURL *easy = watched(peer, name, path);
  peer->listing = "-rw-r--r-- 1 u g 10 Jan 1 2000 a\r\n";
  WITH(easy, FTPPORT, way);
  if(upload)
    WITH(easy, POSTFIELDS, NULL), WITH(easy, UPLOAD, 1L), WITH(easy, READFUNCTION, (curl_read_callback)fread), WITH(easy, READDATA, fopen("ca.pem", "r"));
  ftp_run(name, easy, peer);
  printf("%s sockets: opened %d closed %d\n", name, opened, closed);
}

static void logs_in(void)
{
  struct ftp_peer *peer = ftp_start(ftp_new());
  CURL *easy = to_ftp(peer, "/dir/file");
  curl_socket_t fd = CURL_SOCKET_BAD;
  size_t n = 0;
  char reply[64] = "";
  WITH(easy, CONNECT_ONLY, 1L);
  go("connect only", easy);
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
  printf("connect only: socket %d, path %s\n", fd != CURL_SOCKET_BAD, text(easy, CURLINFO_FTP_ENTRY_PATH));
  printf("connect only send: %d %zu\n", curl_easy_send(easy, "NOOP\r\n", 6, &n), n);
  struct pollfd comes = {.fd = fd, .events = POLLIN};
  poll(&comes, 1, 5000);
  printf("connect only receive: %d ", curl_easy_recv(easy, reply, sizeof reply - 1, &n));
  print_bytes(reply, n);
  curl_easy_cleanup(easy);
  ftp_show("connect only", peer), ftp_end(peer);
}

static long chunk_begins(const void *info, void *user, int left)
{
  const struct curl_fileinfo *file = info;
  printf("%s begins: <%s> type %d left %d\n", (char *)user, file->filename, file->filetype, left);
  return CURL_CHUNK_BGN_FUNC_OK;
}

static void dots(const char *name, const char *listing)
{
  struct ftp_peer *peer = ftp_new();
  peer->listing = listing;
  CURL *easy = to_ftp(ftp_start(peer), "/*");
  WITH(easy, WILDCARDMATCH, 1L), WITH(easy, CHUNK_BGN_FUNCTION, chunk_begins), WITH(easy, CHUNK_DATA, (void *)name), WITH(easy, FTPPORT, "-");
  printf("%s: code %d\n", name, curl_easy_perform(easy));
  curl_easy_cleanup(easy);
  ftp_show(name, peer), ftp_end(peer);
}

static char lines[512];
static int pauses;

static size_t pausing(char *data, size_t size, size_t count, void *user)
{
  int *paused = user;
  if(++pauses % 2) {
    *paused = 1;
    return CURL_WRITEFUNC_PAUSE;
  }
  strncat(lines, data, size * count);
  return size * count;
}

static void described(void)
{
  struct ftp_peer *peer = ftp_start(ftp_new());
  CURL *easy = to_ftp(peer, "/file");
  CURLM *multi = curl_multi_init();
  int paused = 0, running = 1, left;
  ftp_answer(peer, "MDTM", "213 20000101000000");
  ftp_answer(peer, "REST", "350 from there");
  WITH(easy, NOBODY, 1L), WITH(easy, HEADER, 1L), WITH(easy, FILETIME, 1L), WITH(easy, WRITEFUNCTION, pausing), WITH(easy, WRITEDATA, &paused);
  curl_multi_add_handle(multi, easy);
  for(int turn = 0; running && turn < 300; turn++) {
    curl_multi_perform(multi, &running);
    if(paused)
      paused = 0, curl_easy_pause(easy, CURLPAUSE_CONT);
    curl_multi_poll(multi, NULL, 0, 20, NULL);
  }
  CURLMsg *message = curl_multi_info_read(multi, &left);
  printf("described: code %d\n", message ? (int)message->data.result : -1);
  printf("described lines: ");
  print_bytes(lines, strlen(lines));
  curl_multi_remove_handle(multi, easy);
  curl_multi_cleanup(multi), curl_easy_cleanup(easy);
  ftp_show("described", peer), ftp_end(peer);
}

static void endless(const char *name, const char *late, int up)
{
  struct ftp_peer *peer = ftp_new();
  char error[CURL_ERROR_SIZE] = "";
  peer->late = late;
  CURL *easy = to_ftp(ftp_start(peer), "/file");
  WITH(easy, TIMEOUT, 1L), WITH(easy, ERRORBUFFER, error);
  if(up)
    WITH(easy, UPLOAD, 1L), WITH(easy, READFUNCTION, (curl_read_callback)fread), WITH(easy, READDATA, fopen("ca.pem", "r"));
  printf("%s: code %d\n", name, curl_easy_perform(easy));
  printf("%s says: %s\n", name, error);
  curl_easy_cleanup(easy);
  ftp_end(peer);
}

int main(void)
{
  refused_purpose = -1;
  active("active get", "-", "/file", 0);
  active("active list", "127.0.0.1", "/", 0);
  active("active put", "-", "/new", 1);
  for(refused_open = 1; refused_open < 3; refused_open++) {
    char name[32];
    snprintf(name, sizeof name, "open %d refused", refused_open);
    active(name, "-", "/file", 0);
  }
  refused_open = 0;
  for(refused_purpose = 0; refused_purpose < 2; refused_purpose++) {
    char name[32];
    snprintf(name, sizeof name, "purpose %d refused", refused_purpose);
    active(name, "-", "/file", 0);
  }
  logs_in();
  dots("dots first", "drwxr-xr-x 2 u g 10 Jan 1 2000 .\r\ndrwxr-xr-x 2 u g 10 Jan 1 2000 ..\r\n-rw-r--r-- 1 u g 10 Jan 1 2000 a.txt\r\n");
  dots("dots of DOS", "01-01-00  12:00AM       <DIR>          .\r\n01-01-00  12:00AM       <DIR>          ..\r\n01-01-00  12:00AM                   10 a.txt\r\n");
  described();
  endless("endless reply", "226-goes on", 0);
  endless("endless reply to an upload", "226-goes on", 1);
  return 0;
}
