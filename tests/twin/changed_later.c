/* What an application changes between curl_easy_setopt and the transfer that uses it: lists that grow, forms that are freed, bytes
 * that come to an empty body; and what is read only then: standard input, and a read function under a size that chunks override.
 * covers: CURLOPT_HTTPHEADER, CURLOPT_PROXYHEADER, CURLOPT_QUOTE, CURLOPT_POSTQUOTE, CURLOPT_RESOLVE, CURLOPT_CONNECT_TO, CURLOPT_MIMEPOST, CURLOPT_HTTPPOST, CURLOPT_POSTFIELDSIZE, curl_mime_free, curl_mime_subparts, curl_formadd */
#include "peer.h"

static const char fine[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

static struct peer *patient(void)
{
  struct peer *peer = peer_new();
  for(int i = 0; i < ROUNDS; i++)
    peer->says[i] = fine;
  return peer_start(peer);
}

/* The lines of each request, without what hangs on the length of a boundary. */
static void show(const char *name, struct peer *peer)
{
  for(int i = 0; i < peer->rounds; i++) {
    char *rest = peer->heard[i];
    printf("%s heard %d:", name, i);
    for(char *line; (line = strsep(&rest, "\n"));) {
      char *boundary = strstr(line, "boundary=");
      line[strcspn(line, "\r")] = 0;
      if(boundary)
        *boundary = 0;
      int framing = !strncmp(line, "--", 2) || strspn(line, "0123456789abcdef") == strlen(line);
      int length = !strncmp(line, "Content-Length: ", 16) && strcmp(line + 16, "0");
      if(!framing && !length && strncmp(line, "Host:", 5))
        printf(" %s |", line);
    }
    puts("");
  }
  peer_end(peer);
}

static void lists(void)
{
  struct peer *peer = patient();
  CURL *easy = to_peer(peer, "/lists");
  struct curl_slist *list = curl_slist_append(NULL, "X-First: 1");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
  curl_slist_append(list, "X-Second: 2");
  go("grown before", easy);
  go("unchanged", easy);
  curl_slist_append(list, "X-Third: 3");
  go("grown between", easy);
  CURL *copy = curl_easy_duphandle(easy);
  curl_slist_append(list, "X-Fourth: 4");
  go("copied handle", copy);
  CURLM *multi = curl_multi_init();
  int running = 1;
  curl_slist_append(list, "X-Fifth: 5");
  curl_multi_add_handle(multi, easy);
  while(running && !curl_multi_perform(multi, &running))
    curl_multi_poll(multi, NULL, 0, 1000, NULL);
  curl_multi_remove_handle(multi, easy);
  curl_multi_cleanup(multi);
  curl_easy_reset(easy);
  curl_easy_setopt(easy, CURLOPT_URL, peer->url);
  go("reset", easy);
  curl_easy_cleanup(easy);
  curl_easy_cleanup(copy);
  curl_slist_free_all(list);
  show("lists", peer);
}

static void ways(void)
{
  struct peer *peer = patient();
  char entry[128];
  CURL *easy = to("SERVER", "/");
  struct curl_slist *named = curl_slist_append(NULL, "other.test:1:127.0.0.1"), *elsewhere = curl_slist_append(NULL, "x:1:y:2");
  curl_easy_setopt(easy, CURLOPT_RESOLVE, named);
  snprintf(entry, sizeof entry, "name.test:%d:127.0.0.1", peer->port);
  curl_slist_append(named, entry);
  snprintf(entry, sizeof entry, "http://name.test:%d/resolved", peer->port);
  curl_easy_setopt(easy, CURLOPT_URL, entry);
  go("resolve grown", easy);
  curl_slist_free_all(named); /* it has been read */
  go("resolve freed", easy);
  curl_easy_setopt(easy, CURLOPT_RESOLVE, NULL);
  curl_easy_setopt(easy, CURLOPT_CONNECT_TO, elsewhere);
  snprintf(entry, sizeof entry, "far.test:80:127.0.0.1:%d", peer->port);
  curl_slist_append(elsewhere, entry);
  curl_easy_setopt(easy, CURLOPT_URL, "http://far.test/connected");
  go("connect-to grown", easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(elsewhere);
  show("ways", peer);

  struct curl_slist *proxy_lines = curl_slist_append(NULL, "X-Proxy: 1");
  easy = to("SERVER", "/body");
  curl_easy_setopt(easy, CURLOPT_PROXY, at("PROXY", ""));
  curl_easy_setopt(easy, CURLOPT_PROXYHEADER, proxy_lines);
  curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
  curl_slist_append(proxy_lines, "X-Later: 2");
  go("proxy lines grown", easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(proxy_lines);
}

static void commands(void)
{
  CURL *easy = to("FTP", "/dir/file");
  struct curl_slist *before = curl_slist_append(NULL, "NOOP"), *after = curl_slist_append(NULL, "NOOP");
  curl_easy_setopt(easy, CURLOPT_QUOTE, before);
  curl_easy_setopt(easy, CURLOPT_POSTQUOTE, after);
  curl_slist_append(before, "SYST");
  curl_slist_append(after, "SYST");
  go("commands grown", easy);
  /* Lists that a transfer has no use for may be gone. */
  curl_slist_free_all(before);
  curl_slist_free_all(after);
  curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/"));
  go("commands of no use", easy);
  curl_easy_cleanup(easy);
}

static curl_mime *form_of(CURL *easy, const char *name)
{
  curl_mime *mime = curl_mime_init(easy);
  curl_mime_name(curl_mime_addpart(mime), name);
  return mime;
}

static void forms(void)
{
  struct peer *peer = patient();
  CURL *easy = to_peer(peer, "/forms");
  curl_mime *mime = form_of(easy, "one");
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, mime);
  CURL *copy = curl_easy_duphandle(easy);
  curl_mime_free(mime);
  go("form freed", easy);
  go("form copied", copy);
  curl_mime *next = form_of(easy, "two"); /* perhaps where the first one was */
  go("form freed and another made", easy);
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, next);
  go("form set", easy);
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, NULL);
  go("form NULL", easy);
  curl_mime_free(next);
  next = form_of(easy, "three");
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, next);
  go("form after none", easy);
  curl_mime_free(next);
  curl_mime *outer = form_of(easy, "outer"), *inner = form_of(easy, "inner");
  curl_mime_subparts(curl_mime_addpart(outer), inner);
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, outer);
  curl_mime_free(inner);
  go("subparts freed", easy);
  curl_mime_free(outer);
  curl_easy_cleanup(easy);
  curl_easy_cleanup(copy);
  show("forms", peer);
}

static void standard_input(void)
{
  struct peer *peer = patient();
  struct curl_httppost *form = NULL, *last = NULL;
  FILE *file = fopen("stdin.txt", "w");
  fputs("what stands in standard input", file);
  fclose(file);
  if(!freopen("stdin.txt", "r", stdin))
    perror("stdin.txt");
  struct curl_slist *list = curl_slist_append(NULL, "Expect:");
  curl_formadd(&form, &last, CURLFORM_COPYNAME, "first", CURLFORM_FILE, "-", CURLFORM_END);
  curl_formadd(&form, &last, CURLFORM_COPYNAME, "named", CURLFORM_FILE, "-", CURLFORM_FILENAME, "name", CURLFORM_END);
  curl_formadd(&form, &last, CURLFORM_COPYNAME, "content", CURLFORM_FILECONTENT, "-", CURLFORM_END);
  CURL *easy = to_peer(peer, "/stdin");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(easy, CURLOPT_HTTPPOST, form);
  go("standard input", easy);
  go("standard input at its end", easy);
  curl_easy_cleanup(easy);
  curl_formfree(form);
  curl_slist_free_all(list);
  show("stdin", peer);
}

static size_t say(char *data, size_t size, size_t count, void *user)
{
  int *said = user;
  (void)size, (void)count;
  if((*said)++)
    return 0;
  memcpy(data, "words", 5);
  return 5;
}

static void sizes(void)
{
  struct peer *peer = patient();
  CURL *easy = to_peer(peer, "/sizes");
  struct curl_slist *list = curl_slist_append(NULL, "Transfer-Encoding: chunked");
  int said;
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, say);
  curl_easy_setopt(easy, CURLOPT_READDATA, &said);
  for(long size = 3; size < 9; size += 2) {
    said = 0;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, size);
    go("chunks whatever the size", easy);
  }
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "something");
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 4L);
  go("chunks of fields", easy);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, -1L);
  char fields[8] = "";
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, fields);
  go("no fields", easy);
  strcpy(fields, "now");
  go("fields in the same place", easy);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "");
  go("no fields again", easy);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "other");
  go("other fields", easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(list);
  show("sizes", peer);
}

/* A label of more than 63 letters is looked up by nobody. */
#define LONG "AVeryLongNameAVeryLongNameAVeryLongNameAVeryLongNameAVeryLongNameA"

static void names(void)
{
  char said[CURL_ERROR_SIZE] = "";
  CURL *easy = to("SERVER", "/");
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, said);
  curl_easy_setopt(easy, CURLOPT_URL, "http://" LONG ".Test/");
  go("unknown host", easy);
  printf("unknown host says: %s\n", said);
  curl_easy_setopt(easy, CURLOPT_PROXY, "http://" LONG ".Proxy/");
  go("unknown proxy", easy);
  printf("unknown proxy says: %s\n", said);
  struct peer *proxy = patient();
  curl_easy_setopt(easy, CURLOPT_PROXY, proxy->url);
  curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
  curl_easy_setopt(easy, CURLOPT_URL, "http://Origin.Example/");
  go("tunnel", easy);
  curl_easy_cleanup(easy);
  peer_show(proxy, "tunnel");
  peer_end(proxy);
}

int main(void)
{
  lists();
  ways();
  commands();
  forms();
  standard_input();
  sizes();
  names();
  return 0;
}
