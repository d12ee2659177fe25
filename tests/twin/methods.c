/* Which method and body each hop gets: what options set one after the other leave, CUSTOMREQUEST on top of each, challenges and redirects
 * in between, and a second transfer of the handle afterwards.
 * covers: CURLOPT_CUSTOMREQUEST, CURLOPT_NOBODY, CURLOPT_UPLOAD, CURLOPT_POST, CURLOPT_HTTPGET, CURLOPT_MIMEPOST, CURLOPT_POSTFIELDS, CURLOPT_COPYPOSTFIELDS,
 * covers: CURLOPT_POSTFIELDSIZE, CURLOPT_POSTREDIR, CURLOPT_FOLLOWLOCATION, CURLINFO_EFFECTIVE_METHOD, CURLOPT_PUT, CURLOPT_HTTPPOST */
#include "peer.h"

static size_t left_;

static size_t give(char *to, size_t size, size_t count, void *user)
{
  size_t n = left_ < size * count ? left_ : size * count;
  (void)user;
  memset(to, 'u', n);
  left_ -= n;
  return n;
}

static int seek_to(void *user, curl_off_t offset, int origin) { (void)user, (void)origin; left_ = 3 - offset; return CURL_SEEKFUNC_OK; }

/* Steps, a letter each. */
static void set(CURL *easy, const char *steps, curl_mime **mime)
{
  for(; *steps; steps++)
    switch(*steps) {
    case 'g': WITH(easy, HTTPGET, 1L); break;
    case 'G': WITH(easy, HTTPGET, 0L); break;
    case 'p': WITH(easy, POST, 1L); break;
    case 'P': WITH(easy, POST, 0L); break;
    case 'f': WITH(easy, POSTFIELDS, "fields"); break;
    case 'F': WITH(easy, POSTFIELDS, NULL); break;
    case 'c': WITH(easy, COPYPOSTFIELDS, "copied"); break;
    case 's': WITH(easy, POSTFIELDSIZE, 3L); break;
    case 'S': WITH(easy, POSTFIELDSIZE, -1L); break;
    case 'n': WITH(easy, NOBODY, 1L); break;
    case 'N': WITH(easy, NOBODY, 0L); break;
    case 'u': WITH(easy, UPLOAD, 1L); break;
    case 'U': WITH(easy, UPLOAD, 0L); break;
    case 't': WITH(easy, PUT, 1L); break;
    case 'T': WITH(easy, PUT, 0L); break;
    case 'i': WITH(easy, INFILESIZE, 3L); break;
    case 'x': WITH(easy, CUSTOMREQUEST, "OWN"); break;
    case 'X': WITH(easy, CUSTOMREQUEST, NULL); break;
    case 'e': WITH(easy, CUSTOMREQUEST, ""); break;
    case 'h': WITH(easy, CUSTOMREQUEST, "HEAD"); break;
    case 'm':
      if(!*mime) {
        *mime = curl_mime_init(easy);
        curl_mime_data(curl_mime_addpart(*mime), "m", 1);
      }
      WITH(easy, MIMEPOST, *mime);
      break;
    case 'M': WITH(easy, MIMEPOST, NULL); break;
    case 'H': WITH(easy, HTTPPOST, NULL); break;
    }
}

/* Request line and body of each round; a form's body is only counted. */
static void print_requests(const char *name, CURL *easy, struct peer *peer)
{
  printf("%s method: %s\n", name, text(easy, CURLINFO_EFFECTIVE_METHOD));
  for(int i = 0; i < peer->rounds; i++) {
    char *heard = peer->heard[i], *body = strstr(heard, "\r\n\r\n"), *length = strcasestr(heard, "\r\nContent-Length"), *type = strcasestr(heard, "\r\nContent-Type");
    int form = type && strstr(type, "form-data") && body && strstr(body, "--------"); /* its length and boundary are each library's own */
    printf("%s round %d: %.*s |%.*s |%.*s |%s ", name, i, (int)strcspn(heard, "\r"), heard, length && !form ? (int)strcspn(length + 2, "\r") : 0, length ? length + 2 : "",
           type ? (int)strcspn(type + 2, "\r;") : 0, type ? type + 2 : "", strstr(heard, "Transfer-Encoding: chunked") ? "chunked" : "");
    if(form)
      puts("a form");
    else
      print_bytes(body ? body + 4 : "", body ? strlen(body + 4) : 0);
  }
}

static void run(const char *name, const char *steps, const char *first_says, const char *second_says, long postredir, long follow, const char *steps_again)
{
  struct peer *peer = peer_new();
  peer->says[0] = first_says;
  peer->says[1] = second_says;
  for(int i = 2; i < 6; i++)
    peer->says[i] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  peer_start(peer);
  curl_mime *mime = NULL;
  struct curl_slist *none = curl_slist_append(NULL, "Expect:");
  CURL *easy = to_peer(peer, "/m");
  left_ = 3;
  WITH(easy, TIMEOUT, 4L);
  WITH(easy, HTTPHEADER, none);
  WITH(easy, READFUNCTION, give);
  WITH(easy, SEEKFUNCTION, seek_to);
  WITH(easy, FOLLOWLOCATION, follow);
  WITH(easy, POSTREDIR, postredir);
  WITH(easy, USERPWD, "me:pw");
  WITH(easy, HTTPAUTH, CURLAUTH_ANY);
  set(easy, steps, &mime);
  go(name, easy);
  if(steps_again) {
    left_ = 3;
    set(easy, steps_again, &mime);
    go(name, easy);
  }
  print_requests(name, easy, peer);
  curl_easy_cleanup(easy);
  curl_mime_free(mime);
  curl_slist_free_all(none);
  peer_end(peer);
}

int main(void)
{
  static const char *none = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", *who = "HTTP/1.1 401 W\r\nWWW-Authenticate: Basic realm=r\r\nContent-Length: 0\r\n\r\n";
  static const char *steps[] = {"", "g", "G", "p", "f", "fF", "pF", "c", "fs", "sf", "cs", "sc", "fS", "n", "nN", "ui", "uiU", "uiN", "uin", "uinN", "fn", "fnN", "nf", "fnP", "fP", "fg", "fgp", "fgf", "fui", "uif", "uig", "uiP", "ng", "nG",
                                "m", "mM", "mf", "fm", "mg", "mn", "mui", "ti", "tiT", "tin", "x", "xX", "xf", "xn", "xui", "xm", "e", "ef", "h", "hn", "hf", "nui", "np", "nPp", "mH", "fH", "fGP", "uiup", "uit", "nfN", "uiff", "nuiU", "fUN", "pU", "pN", "xfn", "xnf", "xnui", "xnm", "nm", "nmN", "nc", "ncN", "fnf", "nfg", "nfu"};
  char name[64];
  for(size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    snprintf(name, sizeof name, "steps %s", steps[i]), run(name, steps[i], none, none, 0, 0, NULL);
  static const char *kinds[] = {"", "f", "ui", "n", "m", "x", "xf", "xui", "xn", "xm", "h", "hn"};
  static const int statuses[] = {301, 302, 303, 307, 308};
  for(size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    snprintf(name, sizeof name, "challenged %s", kinds[k]);
    run(name, kinds[k], who, none, 0, 0, NULL);
    for(size_t s = 0; s < sizeof statuses / sizeof *statuses; s++)
      for(int kept = 0; kept < (*kinds[k] == 'f' || !strcmp(kinds[k], "xf") || *kinds[k] == 'm' ? 3 : 1); kept++) {
        char moved[120];
        snprintf(moved, sizeof moved, "HTTP/1.1 %d M\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n", statuses[s]);
        snprintf(name, sizeof name, "moved %d %s kept %d", statuses[s], kinds[k], kept);
        run(name, kinds[k], moved, none, kept == 2 ? CURL_REDIR_POST_ALL : kept ? CURL_REDIR_POST_302 : 0, 1, NULL);
      }
    snprintf(name, sizeof name, "moved, then challenged %s", kinds[k]);
    run(name, kinds[k], "HTTP/1.1 302 M\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n", who, 0, 1, NULL);
    snprintf(name, sizeof name, "moved, then again %s", kinds[k]);
    run(name, kinds[k], "HTTP/1.1 303 M\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n", none, 0, 1, "");
    snprintf(name, sizeof name, "then a GET %s", kinds[k]);
    run(name, kinds[k], none, none, 0, 1, "g");
    snprintf(name, sizeof name, "then a POST %s", kinds[k]);
    run(name, kinds[k], none, none, 0, 1, "f");
  }
  return 0;
}
