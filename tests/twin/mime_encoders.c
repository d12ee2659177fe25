/* Each encoder of curl_mime_encoder(3) on data of each kind, as a server gets it.
 * covers: curl_mime_encoder, curl_mime_data, curl_mime_type, curl_mime_name, CURLOPT_MIMEPOST */
#include "peer.h"

int main(void)
{
  static const char *encoders[] = {NULL, "8bit", "7bit", "binary", "base64", "quoted-printable", "BASE64", "none", ""};
  static const struct { const char *data; size_t length; } pieces[] = {
    {"", 0}, {"plain", 5}, {"a=b c\td", 7}, {"line one\r\nline two\n", 19}, {"trailing space \r\n", 17}, {"\xc3\xa4\xff\x00z", 5}, {"dots\r\n.\r\n", 9},
    {"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789", 100}};
  for(size_t e = 0; e < sizeof encoders / sizeof *encoders; e++)
    for(size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
      struct peer *peer = peer_saying(OK_CLOSE, NULL);
      CURL *easy = to_peer(peer, "/");
      curl_mime *mime = curl_mime_init(easy);
      curl_mimepart *part = curl_mime_addpart(mime);
      char name[48];
      curl_mime_name(part, "n");
      curl_mime_data(part, pieces[p].data, pieces[p].length);
      snprintf(name, sizeof name, "%s %zu", encoders[e] ? encoders[e] : "NULL", p);
      printf("%s set: %d\n", name, curl_mime_encoder(part, encoders[e]));
      WITH(easy, MIMEPOST, mime);
      go(name, easy);
      /* From the name of the part on: the boundary before it is chance. What was heard of a request that broke off is, too. */
      char *at = !peer->rounds ? NULL : memmem(peer->heard[0], peer->heard_length[0], "Content-Disposition: form-data", 30);
      char *end = at ? memmem(at, peer->heard_length[0] - (at - peer->heard[0]), "\r\n------", 8) : NULL;
      printf("%s heard:", name);
      for(; at && at < (end ? end : peer->heard[0] + peer->heard_length[0]); at++)
        printf(*at == '\r' ? "^" : *at == '\n' ? "$" : *at >= ' ' && *at < 127 ? "%c" : "\\x%02x", (unsigned char)*at);
      puts("");
      curl_easy_cleanup(easy);
      curl_mime_free(mime);
      peer_end(peer);
    }
  return 0;
}
