/* RTSP from both ends: one handle announces and records a stream, another one describes it, plays it and gets what the first
 * sends by UDP; what the server refuses comes as its code.
 * usage: media PUBLISH-URL PLAY-URL */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char body[4096];
static size_t got;
static int media_port;

static size_t take(char *data, size_t size, size_t count, void *user)
{
  (void)user;
  if(got + size * count >= sizeof body)
    return 0;
  memcpy(body + got, data, size * count);
  got += size * count;
  body[got] = 0;
  return size * count;
}

static size_t look(char *data, size_t size, size_t count, void *user)
{
  static const char mark[] = "server_port=";
  char line[512] = "";
  (void)user;
  memcpy(line, data, size * count < sizeof line ? size * count : sizeof line - 1);
  const char *at = strstr(line, mark);
  if(at)
    media_port = atoi(at + strlen(mark));
  return size * count;
}

static CURL *handle(const char *url)
{
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_RTSP_STREAM_URI, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, look);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 10000L);
  return easy;
}

static void ask(CURL *easy, const char *name, long request)
{
  long status = 0, number = 0, received = 0;
  char *session = NULL;
  got = 0;
  body[0] = 0;
  curl_easy_setopt(easy, CURLOPT_RTSP_REQUEST, request);
  CURLcode code = curl_easy_perform(easy);
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(easy, CURLINFO_RTSP_CLIENT_CSEQ, &number);
  curl_easy_getinfo(easy, CURLINFO_RTSP_CSEQ_RECV, &received);
  curl_easy_getinfo(easy, CURLINFO_RTSP_SESSION_ID, &session);
  printf("%s=%d/%ld/%ld/%ld/%d\n", name, code, status, number, received, session != NULL);
}

/* A socket of UDP's and its port. */
static int datagrams(int *port)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if(bind(fd, (struct sockaddr *)&address, length) || getsockname(fd, (struct sockaddr *)&address, &length))
    exit(3);
  *port = ntohs(address.sin_port);
  return fd;
}

int main(int argc, char **argv)
{
  static const char sdp[] = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=twin\r\nt=0 0\r\nm=audio 0 RTP/AVP 96\r\na=rtpmap:96 L8/8000\r\n";
  char transport[100], packet[200], stream[300];
  int port, control;
  if(argc != 3)
    return 2;
  curl_global_init(CURL_GLOBAL_ALL);
  CURL *publisher = handle(argv[1]), *player = handle(argv[2]);

  ask(player, "options", CURL_RTSPREQ_OPTIONS);
  ask(player, "nothing", CURL_RTSPREQ_DESCRIBE);
  ask(publisher, "publisher", CURL_RTSPREQ_OPTIONS);
  curl_easy_setopt(publisher, CURLOPT_POSTFIELDS, sdp);
  ask(publisher, "announce", CURL_RTSPREQ_ANNOUNCE);
  curl_easy_setopt(publisher, CURLOPT_RTSP_TRANSPORT, "RTP/AVP;unicast;mode=record");
  snprintf(stream, sizeof stream, "%s/streamid=0", argv[1]);
  curl_easy_setopt(publisher, CURLOPT_RTSP_STREAM_URI, stream);
  ask(publisher, "setup", CURL_RTSPREQ_SETUP);
  int to = media_port;
  curl_easy_setopt(publisher, CURLOPT_RTSP_STREAM_URI, argv[1]);
  curl_easy_setopt(publisher, CURLOPT_RANGE, "npt=0-");
  ask(publisher, "record", CURL_RTSPREQ_RECORD);
  ask(publisher, "again", CURL_RTSPREQ_ANNOUNCE);

  ask(player, "describe", CURL_RTSPREQ_DESCRIBE);
  printf("described=%d\n", got == strlen(sdp) && !memcmp(body, sdp, got));
  int media = datagrams(&port), reports = datagrams(&control);
  snprintf(transport, sizeof transport, "RTP/AVP;unicast;client_port=%d-%d", port, control);
  curl_easy_setopt(player, CURLOPT_RTSP_TRANSPORT, transport);
  snprintf(stream, sizeof stream, "%s/streamid=0", argv[2]);
  curl_easy_setopt(player, CURLOPT_RTSP_STREAM_URI, stream);
  ask(player, "join", CURL_RTSPREQ_SETUP);
  curl_easy_setopt(player, CURLOPT_RTSP_STREAM_URI, argv[2]);
  curl_easy_setopt(player, CURLOPT_RANGE, "npt=0-");
  ask(player, "play", CURL_RTSPREQ_PLAY);

  struct sockaddr_in server = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(to)};
  struct pollfd wait = {.fd = media, .events = POLLIN};
  int heard = 0;
  for(int tries = 0; !heard && tries < 100; tries++) {
    memset(packet, 0x80, sizeof packet);
    int from = datagrams(&port);
    sendto(from, packet, sizeof packet, 0, (struct sockaddr *)&server, sizeof server);
    heard = poll(&wait, 1, 100) > 0 && recv(media, packet, sizeof packet, 0) == sizeof packet;
    close(from);
  }
  printf("heard=%d\n", heard);
  /* It knows neither of these, and says so. */
  ask(player, "pause", CURL_RTSPREQ_PAUSE);
  ask(player, "parameter", CURL_RTSPREQ_GET_PARAMETER);
  /* A TEARDOWN it leaves without an answer. */
  curl_easy_setopt(player, CURLOPT_TIMEOUT_MS, 1000L);
  ask(player, "teardown", CURL_RTSPREQ_TEARDOWN);
  curl_easy_cleanup(publisher);
  curl_easy_cleanup(player);
  close(media);
  close(reports);
  puts("end=1");
  return 0;
}
