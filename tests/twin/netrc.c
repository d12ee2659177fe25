/* Which name and password a server receives: netrc files of every shape and in every mode, against the URL, USERPWD, USERNAME and PASSWORD,
 * and after redirects.
 * covers: CURLOPT_NETRC, CURLOPT_NETRC_FILE, CURLOPT_USERPWD, CURLOPT_USERNAME, CURLOPT_PASSWORD, CURLOPT_UNRESTRICTED_AUTH, CURLOPT_CONNECT_TO,
 * covers: CURLOPT_XOAUTH2_BEARER, CURLOPT_LOGIN_OPTIONS */
#include "peer.h"

/* What Authorization said, decoded. */
static void print_login(const char *name, struct peer *peer)
{
  for(int i = 0; i < peer->rounds; i++) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *line = strcasestr(peer->heard[i], "\r\nAuthorization: "), text_[256];
    int bits = 0, room = 0, n = 0;
    printf("%s round %d:", name, i);
    if(line && !strncmp(line + 17, "Basic ", 6)) {
      for(char *c = line + 23; *c > ' ' && *c != '=' && n < 255; c++) {
        bits = bits << 6 | (int)(strchr(digits, *c) - digits), room += 6;
        if(room >= 8)
          text_[n++] = (char)(bits >> (room -= 8));
      }
      printf(" ");
      print_bytes(text_, n);
    }
    else
      printf(" %.*s\n", line ? (int)strcspn(line + 2, "\r") : 7, line ? line + 2 : "nothing");
  }
}

static void run(const char *name, const char *url, long mode, const char *file, const char *userpwd, const char *user, const char *password)
{
  struct peer *peer = peer_saying(OK_CLOSE, NULL);
  CURL *easy = to_peer(peer, "/");
  char to[64], error[CURL_ERROR_SIZE] = "";
  snprintf(to, sizeof to, "::127.0.0.1:%d", peer->port);
  struct curl_slist *lead = curl_slist_append(NULL, to);
  WITH(easy, CONNECT_TO, lead);
  WITH(easy, URL, url);
  WITH(easy, NETRC, mode);
  WITH(easy, NETRC_FILE, file);
  WITH(easy, ERRORBUFFER, error);
  if(userpwd)
    WITH(easy, USERPWD, userpwd);
  if(user)
    WITH(easy, USERNAME, user);
  if(password)
    WITH(easy, PASSWORD, password);
  go(name, easy);
  printf("%s says: %d\n", name, *error != 0);
  print_login(name, peer);
  curl_easy_cleanup(easy);
  curl_slist_free_all(lead);
  peer_end(peer);
}

int main(void)
{
  static const char *files[] = {
    "machine a.example login u password p\n", "machine a.example login u\n", "machine a.example password p\n", "machine a.example\n", "machine b.example login u password p\n", "default login d password e\n",
    "default login d password e\nmachine a.example login u password p\n", "machine a.example login u password p\ndefault login d password e\n", "machine b.example login x password y\nmachine a.example login u password p", "machine a.example login u1 password p1\nmachine a.example login u2 password p2\n",
    "machine\na.example\nlogin\nu\npassword\np\n", "  machine\ta.example\tlogin\tu\tpassword\tp\t\n", "MACHINE a.example LOGIN u PASSWORD p\n", "machine A.EXAMPLE login u password p\n", "machine a.example login \"u v\" password \"p \\\"q\\\" \\n \\t \\\\\"\n", "machine a.example login \"u\n",
    "machine a.example login u password \"\"\n", "machine a.example login \"\" password p\n", "# machine a.example login no password no\nmachine a.example login u password p\n", "machine a.example login u # comment\npassword p\n", "machine a.example login u#x password p#y\n", "machine a.example #login no\nlogin u password p\n",
    "machine a.example account acc login u password p\n", "machine a.example password p login u\n", "machine a.example login u password p macdef init\ncd /x\nmachine a.example login no password no\n\n", "macdef x\nmachine a.example login no password no\n\nmachine a.example login u password p\n", "macdef x\nmachine a.example login u password p\n",
    "machine a.example login u password p\r\n", "machine a.example\r\nlogin u\r\npassword p\r\n", "\xef\xbb\xbfmachine a.example login u password p\n", "machine a.example login u login v password p\n", "machine a.example login u password p password q\n", "machine a.example login u password\n", "machine\n", "machine a.example login\n",
    "machine a.example unknown word login u password p\n", "garbage\nmachine a.example login u password p\n", "machine a.example login u password p\nmachine a.example login u password q\n", "machine a.example default login u password p\n", "machine a.example login password password machine\n", "", "\n\n", "machine a.example login u%40x password p:q\n",
    "machine a.example login me password mine\nmachine a.example login u password p\n", "machine a.example password alone\nmachine a.example login u password p\n", "default login me password e\n"};
  char name[64];
  for(size_t i = 0; i < sizeof files / sizeof *files; i++) {
    write_file("netrc-file", files[i]);
    static const char *urls[] = {"http://a.example/", "http://u@a.example/", "http://me@a.example/", "http://me:pw@a.example/", "http://:pw@a.example/"};
    for(int u = 0; u < (i < 10 ? 5 : 2); u++)
      for(long mode = 1; mode < 3; mode++) {
        snprintf(name, sizeof name, u < 2 ? "file %zu url %d mode %ld" : "another in the URL, %zu url %d mode %ld", i, u, mode);
        run(name, urls[u], mode, "netrc-file", NULL, NULL, NULL);
      }
    if(i < 10 || i > 42) {
      snprintf(name, sizeof name, "file %zu userpwd", i), run(name, urls[0], 1, "netrc-file", "me:pw", NULL, NULL);
      snprintf(name, sizeof name, "file %zu userpwd, required", i), run(name, urls[0], 2, "netrc-file", "me:pw", NULL, NULL);
      snprintf(name, sizeof name, "file %zu userpwd without password", i), run(name, urls[0], 1, "netrc-file", "u", NULL, NULL);
      snprintf(name, sizeof name, "file %zu userpwd with an empty one", i), run(name, urls[0], 1, "netrc-file", "u:", NULL, NULL);
      snprintf(name, sizeof name, "file %zu user", i), run(name, urls[0], 1, "netrc-file", NULL, "u", NULL);
      snprintf(name, sizeof name, "file %zu other user", i), run(name, urls[0], 1, "netrc-file", NULL, "me", NULL);
      snprintf(name, sizeof name, "file %zu password", i), run(name, urls[0], 1, "netrc-file", NULL, NULL, "pw");
      snprintf(name, sizeof name, "file %zu URL and userpwd", i), run(name, urls[2], 1, "netrc-file", "u:x", NULL, NULL);
      snprintf(name, sizeof name, "file %zu ignored", i), run(name, urls[1], 0, "netrc-file", NULL, NULL, NULL);
    }
  }
  run("a folder", "http://a.example/", 2, ".", NULL, NULL, NULL);
  run("no file", "http://a.example/", 1, "no-such-netrc", NULL, NULL, NULL);
  run("no file, required", "http://a.example/", 2, "no-such-netrc", NULL, NULL, NULL);
  char *long_file = malloc(60000);
  static const int sizes[] = {100, 3000, 4080};
  for(int i = 0; i < 3; i++) {
    sprintf(long_file, "machine a.example login u password %0*d\n", sizes[i], 0);
    write_file("netrc-file", long_file);
    struct peer *peer = peer_saying(OK_CLOSE, NULL);
    CURL *easy = to_peer(peer, "/");
    WITH(easy, NETRC, 1L), WITH(easy, NETRC_FILE, "netrc-file");
    snprintf(name, sizeof name, "size %d", sizes[i]);
    go(name, easy);
    curl_easy_cleanup(easy), peer_end(peer);
    snprintf(name, sizeof name, "size %d of another", sizes[i]);
    run(name, "http://b.example/", 1, "netrc-file", NULL, NULL, NULL);
  }
  free(long_file);

  /* The default place. */
  write_file(".netrc", "machine a.example login home password h\n");
  setenv("HOME", ".", 1);
  run("at home", "http://a.example/", 1, NULL, NULL, NULL, NULL);
  setenv("HOME", "/nowhere", 1);
  run("not at home", "http://a.example/", 1, NULL, NULL, NULL, NULL);
  unlink(".netrc");

  /* Redirects: each host has its own entry, and passwords stay at home. */
  static const char *entries[] = {"machine a.example login a password 1\nmachine b.example login b password 2\n", "machine a.example login a password 1\n", "machine b.example login b password 2\n", "default login d password 3\n"};
  static const char *places[] = {"http://b.example/", "/same", "http://a.example:81/", "http://c.example/"};
  for(int e = 0; e < 4; e++)
    for(int p = 0; p < 4; p++)
      for(long free_ = 0; free_ < 2; free_++) {
        char moved[200], to[64];
        struct peer *peer = peer_new();
        snprintf(moved, sizeof moved, "HTTP/1.1 302 M\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", places[p]);
        peer->says[0] = moved;
        peer->says[1] = "HTTP/1.1 302 M\r\nLocation: http://a.example/back\r\nContent-Length: 0\r\n\r\n";
        peer->says[2] = OK_CLOSE;
        peer_start(peer);
        write_file("netrc-file", entries[e]);
        snprintf(to, sizeof to, "::127.0.0.1:%d", peer->port);
        struct curl_slist *lead = curl_slist_append(NULL, to);
        CURL *easy = to_peer(peer, "/");
        WITH(easy, CONNECT_TO, lead), WITH(easy, URL, "http://a.example/");
        WITH(easy, NETRC, 1L), WITH(easy, NETRC_FILE, "netrc-file");
        WITH(easy, FOLLOWLOCATION, 1L), WITH(easy, UNRESTRICTED_AUTH, free_);
        snprintf(name, sizeof name, "entries %d place %d %ld", e, p, free_);
        go(name, easy);
        print_login(name, peer);
        curl_easy_cleanup(easy), curl_slist_free_all(lead);
        peer_end(peer);
      }
  unlink("netrc-file");
  return 0;
}
