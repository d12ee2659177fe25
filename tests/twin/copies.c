/* curl_easy_duphandle(3) and curl_easy_reset(3): what goes along and what does not, for every kind of state.
 * covers: curl_easy_duphandle, curl_easy_reset, CURLOPT_COPYPOSTFIELDS, CURLOPT_MIMEPOST, CURLOPT_HTTPHEADER, CURLOPT_COOKIEFILE,
 * covers: CURLOPT_SHARE, CURLOPT_PRIVATE, CURLINFO_COOKIELIST, CURLINFO_PRIVATE */
#include "peer.h"

static void cookies(const char *name, CURL *easy)
{
  struct curl_slist *list = NULL;
  int count = 0;
  CURLcode code = curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &list);
  for(struct curl_slist *item = list; item; item = item->next)
    count++;
  printf("%s cookies: %d %d\n", name, code, count);
  curl_slist_free_all(list);
}

static void infos(const char *name, CURL *easy)
{
  curl_off_t bytes = -1;
  curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &bytes);
  printf("%s infos: %ld %ld %ld %s %s\n", name, number(easy, CURLINFO_RESPONSE_CODE), number(easy, CURLINFO_NUM_CONNECTS), (long)bytes,
         text(easy, CURLINFO_PRIVATE), text(easy, CURLINFO_CONTENT_TYPE));
}

int main(void)
{
  struct curl_slist *lines = curl_slist_append(NULL, "X-List: one");
  CURLSH *share = curl_share_init();
  curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
  for(int shared = 0; shared < 2; shared++) {
    CURL *easy = to("SERVER", "/echo"), *copy;
    if(shared)
      WITH(easy, SHARE, share);
    WITH(easy, COOKIEFILE, "");
    WITH(easy, COOKIELIST, "Set-Cookie: c=1; domain=127.0.0.1");
    WITH(easy, HTTPHEADER, lines);
    WITH(easy, USERPWD, "u:p");
    WITH(easy, POSTFIELDSIZE, 4L);
    WITH(easy, COPYPOSTFIELDS, "bo\0dy");
    WITH(easy, PRIVATE, "mine");
    go("original", easy);
    copy = curl_easy_duphandle(easy);
    infos("copy", copy);
    cookies("copy", copy);
    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, "changed");
    curl_easy_setopt(easy, CURLOPT_COOKIELIST, "ALL");
    go("copy", copy);
    infos("copy after", copy);
    cookies("original", easy);
    cookies("copy", copy);
    CURL *third = curl_easy_duphandle(copy);
    curl_easy_cleanup(copy);
    go("copy of the copy", third);
    curl_easy_cleanup(third);

    curl_easy_setopt(easy, CURLOPT_COOKIELIST, "Set-Cookie: d=1; domain=127.0.0.1");
    infos("before reset", easy);
    curl_easy_reset(easy);
    infos("after reset", easy);
    cookies("after reset", easy);
    go("no URL", easy);
    curl_easy_setopt(easy, CURLOPT_URL, at("SERVER", "/echo"));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    go("after reset", easy);
    printf("connections: %ld\n", number(easy, CURLINFO_NUM_CONNECTS));
    printf("share still used: %d\n", curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS));
    curl_easy_cleanup(easy);
  }
  /* A mime structure goes along as it is then. */
  struct peer *peer = peer_saying(OK_BODY, OK_BODY);
  peer->says[2] = OK_BODY;
  CURL *easy = to_peer(peer, "/"), *copy;
  curl_mime *mime = curl_mime_init(easy);
  curl_mimepart *part = curl_mime_addpart(mime);
  curl_mime_name(part, "field");
  curl_mime_data(part, "value", CURL_ZERO_TERMINATED);
  WITH(easy, MIMEPOST, mime);
  copy = curl_easy_duphandle(easy);
  go("mime", copy);
  curl_easy_cleanup(copy);
  go("mime again", easy);
  printf("sent: %d %d\n", strstr(peer->heard[0], "name=\"field\"") != NULL, strstr(peer->heard[1], "value") != NULL);
  curl_easy_cleanup(easy);
  curl_mime_free(mime);
  peer_end(peer);
  printf("share: %d\n", curl_share_cleanup(share));
  curl_slist_free_all(lines);
  return 0;
}
