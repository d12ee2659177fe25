/* Every number that could be an info, asked of fresh handles and after transfers of several kinds. What changes from run to run (times,
 * speeds, ports, addresses of handles) counts by its sign alone. A key is the type of the info, its number, and when it was asked.
 * covers: curl_easy_getinfo */
#include "twin.h"

enum kind { TEXT = CURLINFO_STRING, NUMBER = CURLINFO_LONG, FRACTION = CURLINFO_DOUBLE, LIST = CURLINFO_SLIST, SOCKET = CURLINFO_SOCKET,
            OFFSET = CURLINFO_OFF_T };

/* Of headers newer than the distribution's. */
#define QUEUE_TIME_T (CURLINFO_OFF_T + 65)
#define POSTTRANSFER_TIME_T (CURLINFO_OFF_T + 67)

/* Infos whose value is chance. */
static int is_chance(int id)
{
  static const int all[] = {
    CURLINFO_TOTAL_TIME, CURLINFO_NAMELOOKUP_TIME, CURLINFO_CONNECT_TIME, CURLINFO_PRETRANSFER_TIME, CURLINFO_SPEED_UPLOAD,
    CURLINFO_SPEED_DOWNLOAD, CURLINFO_STARTTRANSFER_TIME, CURLINFO_REDIRECT_TIME, CURLINFO_APPCONNECT_TIME, CURLINFO_TOTAL_TIME_T,
    CURLINFO_NAMELOOKUP_TIME_T, CURLINFO_CONNECT_TIME_T, CURLINFO_PRETRANSFER_TIME_T, CURLINFO_STARTTRANSFER_TIME_T,
    CURLINFO_REDIRECT_TIME_T, CURLINFO_APPCONNECT_TIME_T, CURLINFO_SPEED_DOWNLOAD_T, CURLINFO_SPEED_UPLOAD_T, QUEUE_TIME_T,
    POSTTRANSFER_TIME_T, CURLINFO_PRIMARY_PORT, CURLINFO_LOCAL_PORT, CURLINFO_LASTSOCKET, CURLINFO_ACTIVESOCKET};
  for(size_t i = 0; i < sizeof all / sizeof *all; i++)
    if(all[i] == id)
      return 1;
  return 0;
}

static const char *sign(double value) { return value > 0 ? "more" : value < 0 ? "less" : "none"; }

/* Where a busy machine decides: 7.88 counts a reply twice that it has read together with the one before it, as the end of a listing with
 * its beginning. */
static int is_chance_when(int id, const char *when)
{
  return is_chance(id) || (id == CURLINFO_HEADER_SIZE && !strcmp(when, "ftp, listing"));
}

/* A text without the ports of this run. */
static const char *without_ports(const char *text)
{
  static char out[600];
  size_t at = 0;
  for(; text && *text && at < sizeof out - 8; text++) {
    out[at++] = *text;
    if(*text == ':' && text[1] >= '0' && text[1] <= '9') {
      memcpy(out + at, "PORT", 4);
      at += 4;
      while(text[1] >= '0' && text[1] <= '9')
        text++;
    }
  }
  out[at] = 0;
  return text ? out : "no text";
}

static void ask(const char *when, CURL *easy, enum kind kind, int number)
{
  union { char *text; long number; double fraction; struct curl_slist *list; curl_socket_t socket; curl_off_t offset; void *spare[4]; } value;
  int id = (int)kind + number;
  memset(&value, 0x55, sizeof value);
  CURLcode code = curl_easy_getinfo(easy, (CURLINFO)id, &value);
  if(code == CURLE_UNKNOWN_OPTION || code == CURLE_BAD_FUNCTION_ARGUMENT) {
    if(!strcmp(when, "fresh")) /* and so everywhere */
      printf("%x.%d %s: %d\n", kind >> 20, number, when, code);
    return;
  }
  printf("%x.%d %s: %d ", kind >> 20, number, when, code);
  switch(kind) {
  case TEXT:
    if(id == CURLINFO_SCHEME && value.text) { /* 8 has schemes in lower case. */
      for(const char *at = value.text; *at; at++)
        putchar(*at | 32);
      printf("\n");
    }
    else
      printf("%s\n", id == CURLINFO_PRIVATE ? (value.text ? "set" : "none") : without_ports(value.text));
    break;
  case NUMBER:
    is_chance_when(id, when) ? printf("%s\n", sign((double)value.number)) : printf("%ld\n", value.number);
    break;
  case FRACTION:
    is_chance(id) ? printf("%s\n", sign(value.fraction)) : printf("%.0f\n", value.fraction);
    break;
  case LIST:
    printf("%s\n", value.list ? "something" : "nothing");
    if(value.list && (id == (int)CURLINFO_COOKIELIST || id == (int)CURLINFO_SSL_ENGINES))
      curl_slist_free_all(value.list);
    break;
  case SOCKET:
    printf("%s\n", value.socket == CURL_SOCKET_BAD ? "none" : "one");
    break;
  case OFFSET:
    is_chance(id) ? printf("%s\n", sign((double)value.offset)) : printf("%lld\n", (long long)value.offset);
    break;
  }
}

static void all(const char *when, CURL *easy)
{
  static const enum kind kinds[] = {TEXT, NUMBER, FRACTION, LIST, SOCKET, OFFSET};
  for(size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
    for(int number = 0; number < 75; number++)
      ask(when, easy, kinds[kind], number);
}

static void run(const char *name, CURL *easy)
{
  go(name, easy);
  all(name, easy);
  curl_easy_cleanup(easy);
}

static CURL *with(CURL *easy, CURLoption option, long value)
{
  curl_easy_setopt(easy, option, value);
  return easy;
}

static CURL *with_text(CURL *easy, CURLoption option, const char *value)
{
  curl_easy_setopt(easy, option, value);
  return easy;
}

int main(void)
{
  CURL *easy = curl_easy_init();
  all("fresh", easy);
  run("no url", easy);
  run("get", to("SERVER", "/bytes/10"));
  run("get, no such page", to("SERVER", "/status/404"));
  run("get, failing", with(to("SERVER", "/status/404"), CURLOPT_FAILONERROR, 1L));
  run("head", with(to("SERVER", "/bytes/10"), CURLOPT_NOBODY, 1L));
  run("post", with_text(to("SERVER", "/body"), CURLOPT_POSTFIELDS, "a=b"));
  run("redirect", to("SERVER", "/redirect/2"));
  run("redirects", with(to("SERVER", "/redirect/2"), CURLOPT_FOLLOWLOCATION, 1L));
  run("too many redirects", with(with(to("SERVER", "/redirect/3"), CURLOPT_FOLLOWLOCATION, 1L), CURLOPT_MAXREDIRS, 1L));
  run("chunks", to("SERVER", "/chunked/100/30"));
  run("cut", to("SERVER", "/cut/200/bytes/5000"));
  run("basic", with_text(to("SERVER", "/basic/user/secret"), CURLOPT_USERPWD, "user:secret"));
  run("wrong login", with_text(to("SERVER", "/basic/user/secret"), CURLOPT_USERPWD, "user:wrong"));
  run("cookies", with_text(to("SERVER", "/cookies/set/a/b"), CURLOPT_COOKIEFILE, ""));
  run("file time", with(to("SERVER", "/last/bytes/100"), CURLOPT_FILETIME, 1L));
  run("proxy", with_text(to("SERVER", "/bytes/10"), CURLOPT_PROXY, at("PROXY", "")));
  run("refused", with_text(to("NOBODY", "/"), CURLOPT_URL, "http://127.0.0.1:9/"));
  run("bad certificate", to("TLS", "/bytes/10"));
  run("unverified", with(with(to("TLS", "/bytes/10"), CURLOPT_SSL_VERIFYPEER, 0L), CURLOPT_SSL_VERIFYHOST, 0L));
  run("verified", with_text(to("TLS", "/bytes/10"), CURLOPT_CAINFO, "ca.pem"));
  run("certificates", with(with_text(to("TLS", "/bytes/10"), CURLOPT_CAINFO, "ca.pem"), CURLOPT_CERTINFO, 1L));
  run("ftp", to("FTP", "/file"));
  run("ftp, no such file", to("FTP", "/none"));
  run("ftp, listing", to("FTP", "/"));
  run("connect only", with(to("SERVER", "/"), CURLOPT_CONNECT_ONLY, 1L));
  run("malformed", with_text(to("SERVER", "/"), CURLOPT_URL, "http://[::1"));
  easy = to("SERVER", "/bytes/10");
  go("first", easy);
  go("again", easy);
  all("kept", easy);
  curl_easy_reset(easy);
  all("reset", easy);
  curl_easy_cleanup(easy);
  return 0;
}
