/* Forms of many kinds of parts: files, callbacks with and without length, nested ones, headers of their own; sent twice, and who owns what.
 * covers: curl_mime_filedata, curl_mime_filename, curl_mime_data_cb, curl_mime_subparts, curl_mime_headers, curl_mime_free, curl_mime_addpart, CURLOPT_HTTPHEADER */
#include "peer.h"

static size_t give(char *to, size_t size, size_t count, void *user)
{
  const char **at = user;
  size_t n = strlen(*at) < size * count ? strlen(*at) : size * count;
  memcpy(to, *at, n);
  *at += n;
  return n;
}

static const char *text_at, *whole = "from a callback";
static int sought, freed;
static int back(void *user, curl_off_t offset, int origin) { (void)user; sought++; text_at = whole + offset; return origin == SEEK_SET ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL; }
static void forget(void *user) { (void)user; freed++; }
static size_t stops(char *to, size_t size, size_t count, void *user) { (void)to, (void)size, (void)count, (void)user; return CURL_READFUNC_ABORT; }

static void show(const char *name, struct peer *peer)
{
  char boundaries[4][64];
  int known = 0;
  for(int i = 0; i < peer->rounds && i < 1; i++) {
    printf("%s heard %d:", name, i);
    for(char *at = peer->heard[i], *end = at + peer->heard_length[i]; at < end; at++) {
      if(!strncmp(at, "Content-Length: ", 16)) { /* the length of a boundary is each library's own */
        printf("Content-Length: N");
        at += 15 + strspn(at + 16, "0123456789");
      }
      else if(!strncmp(at, "------------------------", 24)) {
        size_t dashes = strspn(at, "-");
        char id[64];
        snprintf(id, sizeof id, "%.*s", (int)strcspn(at + dashes, "-\r\n; "), at + dashes);
        int which = 0;
        while(which < known && strcmp(boundaries[which], id))
          which++;
        if(which == known && known < 4)
          strcpy(boundaries[known++], id);
        printf("%s<boundary %d>", dashes > 24 ? "--" : "", which);
        at += dashes - 1 + strlen(id);
      }
      else if(!strncmp(at, "127.0.0.1:", 10))
        printf("HOST"), at += 9 + strspn(at + 10, "0123456789");
      else
        printf(*at == '\r' ? "^" : *at == '\n' ? "$" : "%c", *at);
    }
    puts("");
  }
}

static void run(const char *name, int kind)
{
  struct peer *peer = peer_saying(OK_BODY, OK_BODY);
  CURL *easy = to_peer(peer, "/form");
  curl_mime *mime = curl_mime_init(easy), *inner;
  curl_mimepart *part = curl_mime_addpart(mime);
  struct curl_slist *lines = curl_slist_append(curl_slist_append(NULL, "X-Part: yes"), "Content-Type: own/type");
  text_at = whole, sought = freed = 0;
  struct curl_slist *none = curl_slist_append(NULL, "Expect:");
  switch(kind) {
  case 0: printf("file: %d\n", curl_mime_filedata(part, "mime-file.txt")), curl_mime_name(part, "file"); break;
  case 1: curl_mime_filedata(part, "mime-file.txt"), curl_mime_filename(part, "other \"name\".png"), curl_mime_name(part, "f\\\"x"); break;
  case 2: curl_mime_filedata(part, "mime-file.txt"), curl_mime_filename(part, NULL), curl_mime_name(part, "no name"); break;
  case 3: printf("missing: %d\n", curl_mime_filedata(part, "no-such-file")); break;
  case 4: printf("callback: %d\n", curl_mime_data_cb(part, strlen(whole), give, back, forget, &text_at)), curl_mime_name(part, "cb"); break;
  case 5: curl_mime_data_cb(part, -1, give, back, forget, &text_at), curl_mime_name(part, "unknown"); break;
  case 6: curl_mime_data_cb(part, strlen(whole), give, NULL, forget, &text_at); break;
  case 7: curl_mime_data_cb(part, 5, stops, NULL, forget, NULL); break;
  case 8:
    inner = curl_mime_init(easy);
    curl_mime_data(curl_mime_addpart(inner), "inside", CURL_ZERO_TERMINATED);
    curl_mime_data(curl_mime_addpart(inner), "too", CURL_ZERO_TERMINATED);
    printf("nested: %d\n", curl_mime_subparts(part, inner));
    printf("nested twice: %d\n", curl_mime_subparts(curl_mime_addpart(mime), inner));
    curl_mime_type(part, "multipart/mixed");
    curl_mime_name(part, "nest");
    break;
  case 9: curl_mime_data(part, "x", 1), printf("headers: %d\n", curl_mime_headers(part, lines, 0)); break;
  case 10: curl_mime_data(part, "x", 1), curl_mime_type(part, "text/own"), curl_mime_headers(part, lines, 1), lines = NULL; break;
  case 11: curl_mime_data(part, "first", 5), curl_mime_data(part, "second", 6), curl_mime_name(part, "a"), curl_mime_name(part, "b"); break;
  case 12: curl_mime_data(part, "was there", 9), curl_mime_data(part, NULL, 0), curl_mime_name(part, "taken back"); break;
  case 13: break; /* a part without anything */
  case 14: case 15: case 16: case 17: case 18: {
    static const char *types[] = {"Content-Type: multipart/mixed", "content-type: Multipart/Form-Data; a=b", "Content-Type: multipart/form-datax", "Content-Type:multipart/form-data;x", "Content-Type:"};
    none = curl_slist_append(none, types[kind - 14]), curl_mime_data(part, "typed", 5), curl_mime_name(part, "n");
    break;
  }
  case 19: case 20: /* a form within a form, named by its type and by its own header */
    inner = curl_mime_init(easy);
    curl_mime_data(curl_mime_addpart(inner), "inside", CURL_ZERO_TERMINATED);
    curl_mime_subparts(part, inner), curl_mime_name(part, "outer");
    if(kind == 19)
      curl_mime_type(part, "Multipart/form-data");
    else
      curl_mime_headers(part, curl_slist_append(NULL, "Content-Type: multipart/form-data"), 1);
    break;
  default: none = curl_slist_append(none, "Content-Type: multipart/related; x=y"), curl_mime_data(part, "typed", 5); break;
  }
  WITH(easy, HTTPHEADER, none);
  WITH(easy, MIMEPOST, mime);
  go(name, easy);
  go("again", easy);
  printf("%s sought: %d\n", name, sought > 0);
  WITH(easy, MIMEPOST, NULL);
  curl_easy_cleanup(easy);
  curl_mime_free(mime);
  printf("%s freed: %d\n", name, freed);
  curl_slist_free_all(lines), curl_slist_free_all(none);
  show(name, peer);
  peer_end(peer);
}

int main(void)
{
  FILE *file = fopen("mime-file.txt", "w");
  fputs("file's text", file);
  fclose(file);
  for(int kind = 0; kind < 22; kind++) {
    char name[16];
    snprintf(name, sizeof name, "kind %d", kind);
    run(name, kind);
  }
  return 0;
}
