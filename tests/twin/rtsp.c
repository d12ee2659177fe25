/* RTSP: what each request says, what a reply may be, sessions and numbers, and packets between messages.
 * covers: CURLOPT_RTSP_REQUEST, CURLOPT_RTSP_SESSION_ID, CURLOPT_RTSP_STREAM_URI, CURLOPT_RTSP_TRANSPORT,
 * covers: CURLOPT_RTSP_CLIENT_CSEQ, CURLOPT_RTSP_SERVER_CSEQ, CURLOPT_INTERLEAVEFUNCTION, CURLOPT_INTERLEAVEDATA,
 * covers: CURLINFO_RTSP_SESSION_ID, CURLINFO_RTSP_CLIENT_CSEQ, CURLINFO_RTSP_SERVER_CSEQ, CURLINFO_RTSP_CSEQ_RECV */
#include "peer.h"

static int packets;

static size_t packet(char *data, size_t size, size_t count, void *user)
{
  size_t length = size * count;
  printf("%s packet of %zu on %d: ", (char *)user, length, data[1]);
  print_bytes(data, length < 40 ? length : 40);
  packets++;
  return length;
}

static size_t refuse(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  return size * count - 1;
}

static struct peer *rtsp_peer(void)
{
  struct peer *peer = peer_new();
  snprintf(peer->url, sizeof peer->url, "rtsp://127.0.0.1:%d/", peer->port);
  return peer;
}

static CURL *rtsp_to(struct peer *peer)
{
  CURL *easy = to_peer(peer, "/media");
  WITH(easy, INTERLEAVEFUNCTION, packet);
  WITH(easy, INTERLEAVEDATA, "rtp");
  return easy;
}

static void infos(const char *name, CURL *easy)
{
  printf("%s: session %s client %ld server %ld received %ld version %ld connects %ld size %lld\n", name,
         text(easy, CURLINFO_RTSP_SESSION_ID), number(easy, CURLINFO_RTSP_CLIENT_CSEQ),
         number(easy, CURLINFO_RTSP_SERVER_CSEQ), number(easy, CURLINFO_RTSP_CSEQ_RECV),
         number(easy, CURLINFO_HTTP_VERSION), number(easy, CURLINFO_NUM_CONNECTS), size_of(easy, CURLINFO_SIZE_DOWNLOAD_T));
}

static void ask(const char *name, CURL *easy, long request)
{
  curl_easy_setopt(easy, CURLOPT_RTSP_REQUEST, request);
  go(name, easy);
  printf("%s body: ", name);
  print_bytes(first, got < sizeof first ? got : sizeof first - 1);
  infos(name, easy);
}

/* A session from its options to its end, on one connection. */
static void session(void)
{
  static const char sdp[] = "RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Type: application/sdp\r\nContent-Length: 5\r\n\r\n$99\r\n";
  struct peer *peer = rtsp_peer();
  peer->says[0] = "RTSP/1.0 200 OK\r\nCSeq: 1\r\nPublic: DESCRIBE, SETUP\r\n\r\n";
  peer->says[1] = sdp;
  peer->says[2] = "RTSP/1.0 200 OK\r\nCSeq: 3\r\nSession: a$-_.+b;timeout=60\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n";
  peer->says[3] = "RTSP/1.0 200 OK\r\nCSeq: 4\r\nSession: a$-_.+b\r\n\r\n";
  peer->says[4] = "RTSP/1.0 200 OK\r\nCSeq: 5\r\nContent-Length: 8\r\n\r\nbarparam";
  peer->says[5] = "RTSP/1.0 204 OK\r\nCSeq: 6\r\n\r\n";
  peer->says[6] = "RTSP/1.0 200 OK\r\nCSeq: 7\r\n\r\n";
  peer->says[7] = "RTSP/1.0 200 OK\r\nCSeq: 8\r\n\r\n";
  peer->says[8] = "RTSP/1.0 200 OK\r\nCSeq: 9\r\n\r\n";
  peer->says[9] = "RTSP/1.0 454 Session Not Found\r\nCSeq: 10\r\n\r\n";
  peer_start(peer);
  CURL *easy = rtsp_to(peer);
  WITH(easy, USERAGENT, "twin/1");
  WITH(easy, REFERER, "http://from.example/");
  ask("options", easy, CURL_RTSPREQ_OPTIONS);
  WITH(easy, RTSP_STREAM_URI, "rtsp://127.0.0.1/media");
  WITH(easy, ACCEPT_ENCODING, "identity");
  WITH(easy, TIMECONDITION, (long)CURL_TIMECOND_IFMODSINCE);
  WITH(easy, TIMEVALUE, 784111777L);
  ask("describe", easy, CURL_RTSPREQ_DESCRIBE);
  WITH(easy, RTSP_TRANSPORT, "RTP/AVP/TCP;unicast;interleaved=0-1");
  ask("setup", easy, CURL_RTSPREQ_SETUP);
  WITH(easy, RANGE, "npt=0-10");
  ask("play", easy, CURL_RTSPREQ_PLAY);
  WITH(easy, RANGE, NULL);
  WITH(easy, POSTFIELDS, "barparam");
  ask("get parameter", easy, CURL_RTSPREQ_GET_PARAMETER);
  WITH(easy, POSTFIELDS, "");
  ask("heartbeat", easy, CURL_RTSPREQ_GET_PARAMETER);
  WITH(easy, POSTFIELDS, "x: y");
  ask("set parameter", easy, CURL_RTSPREQ_SET_PARAMETER);
  ask("announce", easy, CURL_RTSPREQ_ANNOUNCE);
  ask("pause", easy, CURL_RTSPREQ_PAUSE);
  ask("teardown", easy, CURL_RTSPREQ_TEARDOWN);
  curl_easy_cleanup(easy);
  printf("connections: %d\n", peer->connections);
  peer_show(peer, "session");
  peer_end(peer);
}

/* What is uploaded is no POST. */
static void uploads(void)
{
  FILE *file = tmpfile();
  fputs("v=0\r\ns=x\r\n", file);
  rewind(file);
  struct peer *peer = rtsp_peer();
  peer->says[0] = "RTSP/1.0 200 OK\r\nCSeq: 41\r\n\r\n";
  peer->says[1] = "RTSP/1.0 200 OK\r\nCSeq: 42\r\n\r\n";
  peer_start(peer);
  CURL *easy = rtsp_to(peer);
  WITH(easy, RTSP_SESSION_ID, "mine");
  WITH(easy, RTSP_CLIENT_CSEQ, 41L);
  WITH(easy, RTSP_SERVER_CSEQ, 7L);
  WITH(easy, UPLOAD, 1L);
  WITH(easy, READDATA, file);
  WITH(easy, INFILESIZE, 10L);
  ask("announce file", easy, CURL_RTSPREQ_ANNOUNCE);
  WITH(easy, UPLOAD, 0L);
  struct curl_slist *own = curl_slist_append(NULL, "X-Own: 1");
  own = curl_slist_append(own, "User-Agent: own");
  WITH(easy, RTSPHEADER, own);
  WITH(easy, USERAGENT, "not me");
  WITH(easy, USERPWD, "user:secret");
  ask("record", easy, CURL_RTSPREQ_RECORD);
  curl_easy_cleanup(easy);
  curl_slist_free_all(own);
  peer_show(peer, "uploads");
  peer_end(peer);
  fclose(file);
}

/* What is not even asked. */
static void refusals(void)
{
  static const char *const lines[] = {"CSeq: 5", "Session: 5"};
  struct peer *peer = peer_start(rtsp_peer());
  CURL *easy = rtsp_to(peer);
  WITH(easy, RTSP_REQUEST, CURL_RTSPREQ_SETUP);
  go("setup without transport", easy);
  WITH(easy, RTSP_REQUEST, CURL_RTSPREQ_GET_PARAMETER);
  go("get parameter without session", easy);
  WITH(easy, RTSP_REQUEST, CURL_RTSPREQ_RECORD);
  go("record without session", easy);
  WITH(easy, RTSP_REQUEST, CURL_RTSPREQ_OPTIONS);
  for(int i = 0; i < 2; i++) {
    struct curl_slist *own = curl_slist_append(NULL, lines[i]);
    WITH(easy, HTTPHEADER, own);
    go(lines[i], easy);
    WITH(easy, HTTPHEADER, NULL);
    curl_slist_free_all(own);
  }
  printf("no requests: %d %d %d\n", curl_easy_setopt(easy, CURLOPT_RTSP_REQUEST, 0L),
         curl_easy_setopt(easy, CURLOPT_RTSP_REQUEST, 12L), curl_easy_setopt(easy, CURLOPT_RTSP_REQUEST, -1L));
  printf("asked: %d\n", peer->rounds);
  curl_easy_cleanup(easy);
  peer_end(peer);
}

/* Replies that are not what was asked for. */
static void odd_replies(void)
{
  static const char *const says[] = {
    "!RTSP/1.0 200 OK\r\nCSeq: 2\r\n\r\n", "!RTSP/1.0 200 OK\r\n\r\n", "!RTSP/1.0 200 OK\r\nCSeq: x\r\n\r\n",
    "!RTSP/1.0 200 OK\r\nCSeq: 1\r\nSession:\r\n\r\n", "!RTSP/1.0 200 OK\r\nCSeq: 1\r\nSession: other\r\n\r\n",
    "!RTSP/1.0 200 OK\r\nCSeq: 1\r\nSession: wanted;timeout=1\r\n\r\n", "!RTSP/1.0 404 Not Found\r\nCSeq: 1\r\n\r\n",
    "!RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 10\r\n\r\nshort", "!RTSP/1.0 200 OK\r\nCSeq: 1", "!",
    "!RTSP/1.0 200 OK\r\nCSeq: 1\r\nConnection: close\r\n\r\n", "!RTSP/1.0 100 Continue\r\n\r\nRTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n",
  };
  char name[32];
  for(int i = 0; i < (int)(sizeof says / sizeof *says); i++) {
    struct peer *peer = rtsp_peer();
    peer->says[0] = says[i];
    peer_start(peer);
    CURL *easy = rtsp_to(peer);
    WITH(easy, RTSP_SESSION_ID, "wanted");
    snprintf(name, sizeof name, "odd %d", i);
    ask(name, easy, CURL_RTSPREQ_DESCRIBE);
    curl_easy_cleanup(easy);
    peer_end(peer);
  }
}

#define SETUP_REPLY "RTSP/1.0 200 OK\r\nCSeq: 1\r\nSession: s\r\nTransport: RTP/AVP/TCP;interleaved=0-1\r\n\r\n"

static void say(struct peer *peer, int round, const char *bytes, int length)
{
  peer->says[round] = bytes, peer->lengths[round] = length;
}
#define SAY(peer, round, bytes) say(peer, round, bytes, sizeof bytes - 1)

/* Packets before, between and behind messages, and when nothing else is awaited. */
static void interleaved(void)
{
  struct peer *peer = rtsp_peer();
  SAY(peer, 0, SETUP_REPLY);
  SAY(peer, 1, "$\0\0\5early" "RTSP/1.0 200 OK\r\nCSeq: 2\r\n\r\n$\1\0\6behind");
  SAY(peer, 2, "RTSP/1.0 200 OK\r\nCSeq: 3\r\nContent-Length: 4\r\n\r\nbody$\0\0\4last");
  peer_start(peer);
  CURL *easy = rtsp_to(peer);
  WITH(easy, RTSP_TRANSPORT, "x");
  ask("rtp setup", easy, CURL_RTSPREQ_SETUP);
  ask("rtp play", easy, CURL_RTSPREQ_PLAY);
  ask("rtp describe", easy, CURL_RTSPREQ_DESCRIBE);
  curl_easy_cleanup(easy);
  peer_end(peer);

  peer = rtsp_peer();
  SAY(peer, 0, SETUP_REPLY "$\0\0\4abcd");
  peer_start(peer);
  easy = rtsp_to(peer);
  WITH(easy, RTSP_TRANSPORT, "x");
  WITH(easy, INTERLEAVEFUNCTION, refuse);
  ask("rtp refused", easy, CURL_RTSPREQ_SETUP);
  curl_easy_cleanup(easy);
  peer_end(peer);

  peer = rtsp_peer();
  SAY(peer, 0, SETUP_REPLY "$\0\0\4abcd");
  peer_start(peer);
  easy = rtsp_to(peer);
  WITH(easy, RTSP_TRANSPORT, "x");
  WITH(easy, INTERLEAVEFUNCTION, NULL);
  ask("rtp to the write function", easy, CURL_RTSPREQ_SETUP);
  curl_easy_cleanup(easy);
  peer_end(peer);
}

/* One connection on which each byte of `go` is worth one piece of `says`. */
struct pieces { int listener, go[2]; const char *says[5]; int lengths[5]; };

static void *serve_pieces(void *user)
{
  struct pieces *all = user;
  char room[4096];
  int fd = accept(all->listener, NULL, NULL);
  for(int i = 0; i < 5 && read(all->go[0], room, 1) == 1; i++) {
    if(i < 1)
      (void)!recv(fd, room, sizeof room, 0);
    (void)!send(fd, all->says[i], all->lengths[i], MSG_NOSIGNAL);
  }
  close(fd);
  return NULL;
}

static void piece(struct pieces *all, int number, const char *bytes, int length)
{
  all->says[number] = bytes, all->lengths[number] = length;
}
#define PIECE(number, bytes) piece(&all, number, bytes, sizeof bytes - 1)

/* Packets alone: as many as one read brings, and the rest of the last; then the end. */
static void receiving(void)
{
  struct peer *listener = rtsp_peer();
  struct pieces all = {.listener = listener->listener};
  pthread_t thread;
  PIECE(0, SETUP_REPLY);
  PIECE(1, "$\0\0\4abcd$\1\0\2xy");
  PIECE(2, "$\1\0\6in t");
  PIECE(3, "wo");
  PIECE(4, "$\0\0\1");
  if(pipe(all.go))
    perror("pipe");
  pthread_create(&thread, NULL, serve_pieces, &all);
  CURL *easy = rtsp_to(listener);
  WITH(easy, RTSP_TRANSPORT, "x");
  (void)!write(all.go[1], "1", 1);
  ask("receive setup", easy, CURL_RTSPREQ_SETUP);
  (void)!write(all.go[1], "1", 1);
  ask("receive two", easy, CURL_RTSPREQ_RECEIVE);
  (void)!write(all.go[1], "12", 2);
  ask("receive halves", easy, CURL_RTSPREQ_RECEIVE);
  (void)!write(all.go[1], "1", 1);
  ask("receive the end", easy, CURL_RTSPREQ_RECEIVE);
  curl_easy_cleanup(easy);
  pthread_join(thread, NULL);
  close(listener->listener);
  free(listener);
  printf("packets: %d\n", packets);
}

int main(void)
{
  setvbuf(stdout, NULL, _IONBF, 0);
  session();
  uploads();
  refusals();
  odd_replies();
  interleaved();
  receiving();
  return 0;
}
