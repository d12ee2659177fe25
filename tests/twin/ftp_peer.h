/* An FTP server of the program's own: passive and active data connections, one file whatever its name, and any command's reply replaced. */
#ifndef FTP_PEER_H
#define FTP_PEER_H
#include "twin.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/socket.h>

struct ftp_peer {
  int listener, port, threads, data_connections;
  const char *answers[24][2]; /* start of a command, reply in place of what is done; one that begins with '!' ends the connection */
  const char *content, *listing, *greeting;
  const char *late; /* the reply after the data, in place of 226 */
  char stored[4096], log[16384];
  int stored_length, cut_data;
  pthread_t thread, sessions[16];
  pthread_mutex_t lock;
};

struct ftp_session { struct ftp_peer *peer; int fd, data_listener, data_fd; struct sockaddr_in active; long rest; };

static int ftp_listen(int *port)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if(bind(fd, (struct sockaddr *)&address, length) || listen(fd, 16))
    perror("ftp peer");
  getsockname(fd, (struct sockaddr *)&address, &length);
  *port = ntohs(address.sin_port);
  return fd;
}

__attribute__((format(printf, 2, 3))) static void ftp_say(struct ftp_session *session, const char *format, ...)
{
  char line[2048];
  va_list values;
  va_start(values, format);
  int n = vsnprintf(line, sizeof line - 2, format, values);
  va_end(values);
  strcpy(line + n, "\r\n");
  (void)!send(session->fd, line, n + 2, MSG_NOSIGNAL);
}

/* The log, without what chance says: QUIT comes at the same time as what the next connection says, and ports are the system's. */
static void ftp_note(struct ftp_peer *peer, const char *line)
{
  char port[32], *to = peer->log + strlen(peer->log), *place;
  if(!strcmp(line, "QUIT") || !strcmp(line, "ABOR"))
    return;
  pthread_mutex_lock(&peer->lock);
  to = peer->log + strlen(peer->log);
  size_t room = sizeof peer->log - (to - peer->log);
  if(!strncmp(line, "PORT ", 5) || !strncmp(line, "EPRT ", 5)) {
    const char *end = line;
    for(int parts = 0; *end && parts < (*line == 'P' ? 4 : 3); end++)
      parts += *end == ',' || *end == '|';
    snprintf(to, room, " [%.*s PORT]", (int)(end - line - 1), line);
  }
  else
    snprintf(to, room, " [%s]", line);
  snprintf(port, sizeof port, ":%d", peer->port);
  if((place = strstr(to, port)))
    memmove(place, place + strlen(port), strlen(place + strlen(port)) + 1);
  pthread_mutex_unlock(&peer->lock);
}

static int ftp_data(struct ftp_session *session)
{
  int fd = -1;
  if(session->active.sin_port) {
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if(connect(fd, (struct sockaddr *)&session->active, sizeof session->active))
      close(fd), fd = -1;
  }
  else if(session->data_listener >= 0) {
    struct pollfd comes = {.fd = session->data_listener, .events = POLLIN};
    fd = poll(&comes, 1, 5000) == 1 ? accept(session->data_listener, NULL, NULL) : -1;
    close(session->data_listener), session->data_listener = -1;
  }
  session->active.sin_port = 0;
  if(fd >= 0)
    __atomic_add_fetch(&session->peer->data_connections, 1, __ATOMIC_SEQ_CST);
  return fd;
}

/* RETR, LIST, NLST, STOR, APPE. */
static void ftp_transfer(struct ftp_session *session, const char *command)
{
  struct ftp_peer *peer = session->peer;
  int up = !strncmp(command, "STOR", 4) || !strncmp(command, "APPE", 4);
  const char *what = *command == 'R' ? peer->content : peer->listing ? peer->listing : "";
  ftp_say(session, "150 here");
  int fd = ftp_data(session);
  if(fd < 0) {
    ftp_say(session, "425 nobody there");
    return;
  }
  if(up) {
    ssize_t n;
    while((n = recv(fd, peer->stored + peer->stored_length, sizeof peer->stored - 1 - peer->stored_length, 0)) > 0)
      peer->stored_length += (int)n;
  }
  else {
    long length = (long)strlen(what), from = *command == 'R' && session->rest < length ? session->rest : 0;
    (void)!send(fd, what + from, peer->cut_data ? peer->cut_data : length - from, MSG_NOSIGNAL);
  }
  shutdown(fd, SHUT_WR);
  close(fd);
  session->rest = 0;
  ftp_say(session, "%s", peer->late ? peer->late : "226 done");
}

static void ftp_address(struct ftp_session *session, const char *command)
{
  int port = 0, high = 0, low = 0;
  char ip[64] = "";
  if(*command == 'E')
    sscanf(command, "EPRT |%*d|%63[^|]|%d|", ip, &port);
  else if(sscanf(command, "PORT %*d,%*d,%*d,%*d,%d,%d", &high, &low) == 2)
    port = high << 8 | low;
  session->active = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
  ftp_say(session, "200 there then");
}

/* Whether the connection goes on. */
static int ftp_serve(struct ftp_session *session, const char *command)
{
  struct ftp_peer *peer = session->peer;
  int port;
  for(int i = 0; i < 24 && peer->answers[i][0]; i++)
    if(!strncmp(command, peer->answers[i][0], strlen(peer->answers[i][0]))) {
      const char *answer = peer->answers[i][1];
      ftp_say(session, "%s", answer + (*answer == '!'));
      return *answer != '!';
    }
#define IS(name) !strncmp(command, name, sizeof name - 1)
  if(IS("USER")) ftp_say(session, "331 and the password");
  else if(IS("PASS")) ftp_say(session, "230 in");
  else if(IS("PWD")) ftp_say(session, "257 \"/home\" is here");
  else if(IS("SYST")) ftp_say(session, "215 UNIX Type: L8");
  else if(IS("CWD")) ftp_say(session, "250 there");
  else if(IS("MKD")) ftp_say(session, "257 made");
  else if(IS("TYPE") || IS("NOOP") || IS("SITE") || IS("DELE") || IS("RNTO")) ftp_say(session, "200 fine");
  else if(IS("ABOR")) ftp_say(session, "226 stopped");
  else if(IS("RNFR")) ftp_say(session, "350 to what");
  else if(IS("SIZE")) ftp_say(session, "213 %zu", strlen(peer->content));
  else if(IS("MDTM")) ftp_say(session, "213 19941106084937");
  else if(IS("REST")) session->rest = atol(command + 5), ftp_say(session, "350 from there");
  else if(IS("EPSV")) close(session->data_listener), session->data_listener = ftp_listen(&port), ftp_say(session, "229 come (|||%d|)", port);
  else if(IS("PASV")) close(session->data_listener), session->data_listener = ftp_listen(&port), ftp_say(session, "227 come (127,0,0,1,%d,%d)", port >> 8, port & 255);
  else if(IS("EPRT") || IS("PORT")) ftp_address(session, command);
  else if(IS("RETR") || IS("LIST") || IS("NLST") || IS("STOR") || IS("APPE")) ftp_transfer(session, command);
  else if(IS("QUIT")) { ftp_say(session, "221 bye"); return 0; }
  else ftp_say(session, "500 what");
#undef IS
  return 1;
}

static void *ftp_session(void *user)
{
  struct ftp_session *session = user;
  char buffer[4096];
  size_t at = 0;
  int go_on = *session->peer->greeting != '!';
  ftp_say(session, "%s", session->peer->greeting + !go_on);
  while(go_on) {
    ssize_t n = recv(session->fd, buffer + at, sizeof buffer - 1 - at, 0);
    char *end;
    if(n <= 0)
      break;
    buffer[at += n] = 0;
    while(go_on && (end = strstr(buffer, "\r\n"))) {
      *end = 0;
      ftp_note(session->peer, buffer);
      go_on = ftp_serve(session, buffer);
      memmove(buffer, end + 2, (at -= end + 2 - buffer) + 1);
    }
  }
  shutdown(session->fd, SHUT_RDWR);
  close(session->fd), close(session->data_listener);
  free(session);
  return NULL;
}

static void *ftp_accepts(void *user)
{
  struct ftp_peer *peer = user;
  int fd;
  while(peer->threads < 16 && (fd = accept(peer->listener, NULL, NULL)) >= 0) {
    struct ftp_session *session = calloc(1, sizeof *session);
    struct timeval limit = {.tv_sec = 10};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    *session = (struct ftp_session){.peer = peer, .fd = fd, .data_listener = -1};
    pthread_create(&peer->sessions[peer->threads++], NULL, ftp_session, session);
  }
  return NULL;
}

static struct ftp_peer *ftp_new(void)
{
  struct ftp_peer *peer = calloc(1, sizeof *peer);
  peer->content = "0123456789", peer->greeting = "220 hi";
  pthread_mutex_init(&peer->lock, NULL);
  peer->listener = ftp_listen(&peer->port);
  return peer;
}

static struct ftp_peer *ftp_start(struct ftp_peer *peer)
{
  pthread_create(&peer->thread, NULL, ftp_accepts, peer);
  return peer;
}

static void ftp_answer(struct ftp_peer *peer, const char *command, const char *reply)
{
  int i = 0;
  while(peer->answers[i][0])
    i++;
  peer->answers[i][0] = command, peer->answers[i][1] = reply;
}

static CURL *to_ftp(struct ftp_peer *peer, const char *path)
{
  char url[512];
  CURL *easy = to("SERVER", "/");
  snprintf(url, sizeof url, "ftp://127.0.0.1:%d%s", peer->port, path);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  return easy;
}

/* What was asked, after the transfers of this name. */
static void ftp_show(const char *name, struct ftp_peer *peer)
{
  pthread_mutex_lock(&peer->lock);
  printf("%s asked:%s\n", name, peer->log);
  pthread_mutex_unlock(&peer->lock);
}

/* What came of an upload that went well; of one that did not, that is chance. */
static void ftp_show_stored(const char *name, struct ftp_peer *peer)
{
  if(peer->stored_length) {
    printf("%s stored: ", name);
    print_bytes(peer->stored, peer->stored_length);
  }
}

static void ftp_end(struct ftp_peer *peer)
{
  shutdown(peer->listener, SHUT_RDWR);
  pthread_join(peer->thread, NULL);
  for(int i = 0; i < peer->threads; i++)
    pthread_join(peer->sessions[i], NULL);
  close(peer->listener);
  pthread_mutex_destroy(&peer->lock);
  free(peer);
}

static CURLcode ftp_run(const char *name, CURL *easy, struct ftp_peer *peer)
{
  CURLcode code = go(name, easy);
  printf("%s body: ", name);
  print_bytes(first, got < sizeof first ? got : sizeof first - 1);
  curl_easy_cleanup(easy);
  ftp_show(name, peer);
  if(!code)
    ftp_show_stored(name, peer);
  ftp_end(peer);
  return code;
}
#endif
