/* curl_easy_duphandle(3) of handles in every state: running, paused, removed, connected; with forms, pointers, lists, parsed URLs; and what
 * becomes of a copy when its original changes or goes first.
 * covers: curl_easy_duphandle, CURLOPT_MIMEPOST, CURLOPT_HTTPPOST, CURLOPT_POSTFIELDS, CURLOPT_CURLU, CURLOPT_RESOLVE, CURLOPT_COOKIEJAR, CURLOPT_ERRORBUFFER, CURLINFO_EFFECTIVE_URL */
#define CURL_DISABLE_DEPRECATION
#include "peer.h"

static CURL *copy_inside;
static int inside_left;

static void print_infos(const char *name, CURL *easy)
{
  curl_off_t bytes = -1;
  curl_socket_t fd = -5;
  curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &bytes);
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
  printf("%s: status %ld redirects %ld url %s bytes %ld connects %ld socket %d method %s\n", name, number(easy, CURLINFO_RESPONSE_CODE), number(easy, CURLINFO_REDIRECT_COUNT),
         strncmp(text(easy, CURLINFO_EFFECTIVE_URL), "http://127", 10) ? text(easy, CURLINFO_EFFECTIVE_URL) : strchr(text(easy, CURLINFO_EFFECTIVE_URL) + 17, '/'), (long)bytes,
         number(easy, CURLINFO_NUM_CONNECTS), fd >= 0, text(easy, CURLINFO_EFFECTIVE_METHOD));
}

static size_t copies_itself(char *data, size_t size, size_t count, void *user)
{
  if(inside_left-- > 0) {
    copy_inside = curl_easy_duphandle(user);
    print_infos("copy inside", copy_inside);
  }
  return take(data, size, count, user);
}

static void running(void)
{
  CURLM *multi = curl_multi_init();
  CURL *easy = to("SERVER", "/redirect/1"), *copy;
  print_infos("fresh copy", copy = curl_easy_duphandle(easy));
  curl_easy_cleanup(copy);
  WITH(easy, FOLLOWLOCATION, 1L);
  WITH(easy, WRITEFUNCTION, copies_itself);
  WITH(easy, WRITEDATA, easy);
  inside_left = 1;
  go("copied in its write callback", easy);
  print_infos("original", easy);
  print_infos("copy of it", copy_inside);
  WITH(copy_inside, WRITEDATA, copy_inside);
  go("the copy", copy_inside);
  print_infos("the copy", copy_inside);
  /* Of one that runs in a multi handle: the copy is in none. */
  WITH(easy, URL, at("SERVER", "/delay/50/bytes/9"));
  WITH(easy, REFERER, "http://from/");
  curl_multi_add_handle(multi, easy);
  int left;
  curl_multi_perform(multi, &left);
  copy = curl_easy_duphandle(easy);
  printf("remove the copy: %d\n", curl_multi_remove_handle(multi, copy));
  printf("add the copy: %d\n", curl_multi_add_handle(multi, copy));
  printf("perform it all the same: %d\n", curl_easy_perform(copy));
  got = 0;
  int still = run_all(multi);
  printf("both: running %d bytes %zu codes %d", still, got, code_of(multi, easy));
  printf(" %ld\n", number(copy, CURLINFO_RESPONSE_CODE));
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy); /* before its copy */
  curl_multi_remove_handle(multi, copy);
  go("copy after its original", copy);
  /* Of one that stands still. */
  curl_easy_setopt(copy, CURLOPT_URL, at("SERVER", "/drip/1000/5/bytes/5000"));
  curl_multi_add_handle(multi, copy);
  curl_easy_pause(copy, CURLPAUSE_ALL);
  run_for(multi, 20);
  CURL *moving = curl_easy_duphandle(copy);
  curl_multi_remove_handle(multi, copy);
  go("copy of one that stands", moving);
  curl_easy_cleanup(moving);
  curl_easy_cleanup(copy);
  curl_easy_cleanup(copy_inside);
  curl_multi_cleanup(multi);
}

static size_t gives(char *data, size_t size, size_t count, void *user)
{
  int *left = user;
  (void)size, (void)count;
  if(!*left)
    return 0;
  --*left;
  memcpy(data, "given", 5);
  return 5;
}

static int freed;
static size_t called_for;

static size_t of_part(char *data, size_t size, size_t count, void *user)
{
  size_t n = 10 - called_for < size * count ? 10 - called_for : size * count;
  (void)user;
  memcpy(data, "called for" + called_for, n);
  called_for += n;
  return n;
}

static int to_start(void *user, curl_off_t offset, int origin)
{
  (void)user, (void)origin;
  called_for = offset;
  return CURL_SEEKFUNC_OK;
}

static void of_part_freed(void *user)
{
  freed += user == &freed;
}

static void bodies(void)
{
  struct curl_slist *plain = curl_slist_append(NULL, "Expect:");
  char fields[] = "pointer=1";
  int left = 1;
  CURL *easy = to("SERVER", "/body"), *copy;
  WITH(easy, POSTFIELDS, fields);
  copy = curl_easy_duphandle(easy);
  strcpy(fields, "changed=2");
  go("postfields", copy);
  printf("sent: %s\n", first);
  WITH(easy, POSTFIELDSIZE, 3L);
  CURL *third = curl_easy_duphandle(easy);
  go("postfieldsize", third);
  printf("sent: %s\n", first);
  curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, "own copy");
  curl_easy_cleanup(third);
  third = curl_easy_duphandle(easy);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
  go("copypostfields", third);
  printf("sent: %s\n", first);
  curl_easy_cleanup(third);
  /* A form of the old kind, and a mime that goes first. */
  struct curl_httppost *head = NULL, *tail = NULL;
  curl_formadd(&head, &tail, CURLFORM_COPYNAME, "old", CURLFORM_COPYCONTENTS, "form", CURLFORM_END);
  struct peer *peer = peer_new();
  for(int i = 0; i < 8; i++)
    peer->says[i] = OK_BODY;
  peer_start(peer);
  curl_easy_cleanup(easy);
  easy = to_peer(peer, "/");
  WITH(easy, HTTPPOST, head);
  third = curl_easy_duphandle(easy);
  go("old form", third);
  WITH(easy, HTTPPOST, NULL);
  go("old form taken back", third);
  printf("fields: %d %d\n", strstr(peer->heard[0], "name=\"old\"\r\n\r\nform") != NULL, strstr(peer->heard[1], "name=\"old\"\r\n\r\nform") != NULL);
  curl_easy_cleanup(third);
  curl_mime *mime = curl_mime_init(easy), *sub = curl_mime_init(easy);
  curl_mimepart *part = curl_mime_addpart(mime);
  curl_mime_name(part, "outer");
  curl_mime_type(part, "text/x-own");
  curl_mime_data(part, "one\0two", 7);
  curl_mime_headers(part, curl_slist_append(NULL, "X-Part: yes"), 1);
  part = curl_mime_addpart(sub);
  curl_mime_name(part, "inner");
  curl_mime_filename(part, "file.txt");
  curl_mime_encoder(part, "base64");
  curl_mime_data(part, "deep", CURL_ZERO_TERMINATED);
  part = curl_mime_addpart(mime);
  curl_mime_subparts(part, sub);
  curl_mime_data_cb(curl_mime_addpart(mime), 10, of_part, to_start, of_part_freed, &freed);
  WITH(easy, MIMEPOST, mime);
  third = curl_easy_duphandle(easy);
  CURL *fourth = curl_easy_duphandle(third);
  curl_mime_data(curl_mime_addpart(mime), "added later", CURL_ZERO_TERMINATED);
  WITH(easy, MIMEPOST, NULL);
  curl_mime_free(mime);
  curl_easy_cleanup(easy);
  printf("freed: %d\n", freed);
  go("mime that went first", third);
  go("mime that went first, again", third);
  curl_easy_cleanup(third);
  called_for = 0;
  go("copy of the copy", fourth);
  curl_easy_setopt(fourth, CURLOPT_MIMEPOST, NULL);
  printf("freed: %d\n", freed);
  curl_easy_cleanup(fourth);
  printf("freed: %d\n", freed);
  for(int i = 2; i < 5; i++) {
    static const char *const pieces[] = {"X-Part: yes\r\n", "text/x-own", "name=\"inner\"; filename=\"file.txt\"", "ZGVlcA==", "called for", "added later"};
    char *heard = peer->heard[i];
    int length = peer->heard_length[i];
    printf("parts %d: %d", i, memmem(heard, length, "one\0two", 7) != NULL);
    for(size_t piece = 0; piece < sizeof pieces / sizeof *pieces; piece++)
      printf(" %d", memmem(heard, length, pieces[piece], strlen(pieces[piece])) != NULL);
    puts("");
  }
  peer_end(peer);
  curl_formfree(head);
  /* The read callback and its pointer are the same. */
  easy = to("SERVER", "/body");
  WITH(easy, UPLOAD, 1L);
  WITH(easy, READFUNCTION, gives);
  WITH(easy, READDATA, &left);
  WITH(easy, INFILESIZE, 5L);
  WITH(easy, HTTPHEADER, plain);
  third = curl_easy_duphandle(easy);
  curl_easy_cleanup(easy);
  go("upload", third);
  printf("sent: %s, left %d\n", first, left);
  curl_easy_cleanup(third);
  curl_slist_free_all(plain);
  curl_easy_cleanup(copy);
}

static void pointers(void)
{
  char error[CURL_ERROR_SIZE] = "";
  CURLU *url = curl_url();
  CURL *easy = to("SERVER", "/body"), *copy;
  /* The parsed URL is the application's, and both look at it. */
  curl_url_set(url, CURLUPART_URL, at("SERVER", "/status/201"), 0);
  WITH(easy, CURLU, url);
  copy = curl_easy_duphandle(easy);
  go("copy by CURLU", copy);
  curl_url_set(url, CURLUPART_PATH, "/status/202", 0);
  go("copy by CURLU changed", copy);
  go("original by CURLU changed", easy);
  curl_easy_setopt(copy, CURLOPT_CURLU, NULL);
  curl_easy_setopt(copy, CURLOPT_URL, at("SERVER", "/status/203"));
  go("copy by URL", copy);
  go("original by CURLU", easy);
  curl_easy_cleanup(copy);
  curl_easy_cleanup(easy);
  curl_url_cleanup(url);
  /* The error buffer too. */
  easy = curl_easy_init();
  WITH(easy, URL, "http://127.0.0.1:1/");
  WITH(easy, ERRORBUFFER, error);
  copy = curl_easy_duphandle(easy);
  printf("refused: %d", curl_easy_perform(copy));
  printf(", message %d", *error != 0);
  *error = 0;
  copy = (curl_easy_cleanup(copy), curl_easy_duphandle(easy));
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
  curl_easy_perform(easy);
  printf(", original's %d", *error != 0);
  curl_easy_perform(copy);
  printf(", copy's %d\n", *error != 0);
  curl_easy_cleanup(copy);
  curl_easy_cleanup(easy);
  /* Lists. */
  char pin[128], way[128];
  snprintf(pin, sizeof pin, "copied.example:%s:127.0.0.1", port_of("SERVER"));
  snprintf(way, sizeof way, "led.example:80:127.0.0.1:%s", port_of("SERVER"));
  struct curl_slist *pins = curl_slist_append(NULL, pin), *ways = curl_slist_append(NULL, way), *lines = curl_slist_append(NULL, "X-List: 1");
  char name_url[128];
  snprintf(name_url, sizeof name_url, "http://copied.example:%s/body", port_of("SERVER"));
  easy = to("SERVER", "/body");
  WITH(easy, RESOLVE, pins);
  WITH(easy, CONNECT_TO, ways);
  WITH(easy, HTTPHEADER, lines);
  WITH(easy, URL, name_url);
  copy = curl_easy_duphandle(easy);
  curl_easy_cleanup(easy);
  go("pinned", copy);
  WITH(copy, URL, "http://led.example/body");
  go("led", copy);
  easy = curl_easy_duphandle(copy);
  curl_easy_cleanup(copy);
  WITH(easy, URL, name_url);
  WITH(easy, HTTPHEADER, NULL);
  go("pinned, the copy's copy", easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(pins), curl_slist_free_all(ways), curl_slist_free_all(lines);
}

static size_t lines_of(const char *name)
{
  size_t lines = 0;
  FILE *file = fopen(name, "r");
  for(int c; file && (c = getc(file)) != EOF;)
    lines += c == '\n';
  if(file)
    fclose(file);
  return lines;
}

static void jars(void)
{
  CURL *easy = to("SERVER", "/cookies/set/a/1"), *copy;
  unlink("jar.txt");
  WITH(easy, COOKIEJAR, "jar.txt");
  go("sets a cookie", easy);
  copy = curl_easy_duphandle(easy);
  WITH(copy, URL, at("SERVER", "/cookies/set/b/2"));
  go("copy sets another", copy);
  curl_easy_cleanup(copy);
  printf("the copy's jar: %zu lines\n", lines_of("jar.txt"));
  curl_easy_cleanup(easy);
  printf("the original's jar: %zu lines\n", lines_of("jar.txt"));
  /* A file that was named and not read yet. */
  FILE *file = fopen("cookies.txt", "w");
  fputs("127.0.0.1\tFALSE\t/\tFALSE\t0\tfile\tyes\n", file);
  fclose(file);
  easy = to("SERVER", "/cookies");
  WITH(easy, COOKIEFILE, "cookies.txt");
  WITH(easy, COOKIE, "own=1");
  copy = curl_easy_duphandle(easy);
  unlink("cookies.txt");
  go("file gone", copy);
  printf("cookies: %s\n", first);
  WITH(easy, COOKIELIST, "RELOAD");
  go("reload", easy);
  printf("cookies: %s\n", first);
  curl_easy_cleanup(easy);
  curl_easy_cleanup(copy);
}

static void connected(void)
{
  CURL *easy = to("PROXY", "/"), *copy;
  size_t n;
  WITH(easy, CONNECT_ONLY, 1L);
  go("connect only", easy);
  print_infos("connected", easy);
  copy = curl_easy_duphandle(easy);
  print_infos("copy of one that is connected", copy);
  printf("send: %d", curl_easy_send(copy, "x", 1, &n));
  printf(", recv: %d\n", curl_easy_recv(copy, first, 1, &n));
  go("it connects for itself", copy);
  print_infos("it", copy);
  curl_easy_cleanup(easy);
  printf("send: %d\n", curl_easy_send(copy, "x", 1, &n));
  curl_easy_cleanup(copy);
}

int main(void)
{
  running();
  bodies();
  pointers();
  jars();
  connected();
  return 0;
}
