/* host_keys URL KEY FOLDER [defer]: what CURLOPT_SSH_KEYFUNCTION and CURLOPT_SSH_HOSTKEYFUNCTION get about a server's key, and what
 * becomes of each of their answers. FOLDER has known_hosts files: known, changed (another key of the same type) and empty. A
 * line for each transfer; those that may write have a copy of their own. With `defer` CURLKHSTAT_DEFER is answered, too. */
#include "facts.h"

static int asked, answer, passed_match, has_known, known_length, found_length, known_type, found_type;
static char known_text[1024], found_bytes[1024];
static const char *folder, *key, *url;

static int judge(CURL *easy, const struct curl_khkey *known, const struct curl_khkey *found, enum curl_khmatch match,
                 void *user) {
  (void)easy;
  asked += user == (void *)&asked;
  passed_match = match;
  has_known = known != NULL;
  known_text[0] = 0;
  if (known) {
    known_length = (int)known->len;
    known_type = known->keytype;
    snprintf(known_text, sizeof known_text, "%s", known->key);
  }
  found_length = (int)found->len;
  found_type = found->keytype;
  memcpy(found_bytes, found->key, found->len < sizeof found_bytes ? found->len : sizeof found_bytes);
  return answer;
}

static int judge_alone(void *user, int type, const char *bytes, size_t length) {
  asked += user == (void *)&asked;
  found_type = type;
  found_length = (int)length;
  memcpy(found_bytes, bytes, length < sizeof found_bytes ? length : sizeof found_bytes);
  return answer;
}

/* Whether this is a key's blob: its type as a text with a length before it. */
static const char *blob_type(void) {
  static char type[64];
  int length = (unsigned char)found_bytes[3];
  snprintf(type, sizeof type, "%.*s", length < 63 ? length : 63, found_bytes + 4);
  return type;
}

static CURL *handle(const char *known) {
  char path[1024];
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(easy, CURLOPT_SSH_PRIVATE_KEYFILE, key);
  if (known) {
    snprintf(path, sizeof path, "%s/%s", folder, known);
    curl_easy_setopt(easy, CURLOPT_SSH_KNOWNHOSTS, path);
  }
  asked = has_known = known_length = known_type = 0;
  passed_match = -1;
  return easy;
}

static void by_file(const char *name, const char *file, int says) {
  CURL *easy = handle(file);
  answer = says;
  curl_easy_setopt(easy, CURLOPT_SSH_KEYFUNCTION, judge);
  curl_easy_setopt(easy, CURLOPT_SSH_KEYDATA, &asked);
  CURLcode code = curl_easy_perform(easy);
  printf("%s=%d asked=%d match=%d known=%d known_length=%d known_type=%d found_type=%d blob=%s\n", name, code, asked,
         passed_match, has_known, known_length, has_known ? known_type : -1, found_type, blob_type());
  if (has_known) printf("%s_text=%s\n", name, known_text);
  curl_easy_cleanup(easy);
}

static void alone(const char *name, int says) {
  CURL *easy = handle(NULL);
  answer = says;
  curl_easy_setopt(easy, CURLOPT_SSH_HOSTKEYFUNCTION, judge_alone);
  curl_easy_setopt(easy, CURLOPT_SSH_HOSTKEYDATA, &asked);
  CURLcode code = curl_easy_perform(easy);
  printf("%s=%d asked=%d found_type=%d blob=%s\n", name, code, asked, found_type, blob_type());
  curl_easy_cleanup(easy);
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  url = argv[1];
  key = argv[2];
  folder = argv[3];
  curl_global_init(CURL_GLOBAL_DEFAULT);
  by_file("known_fine", "known", CURLKHSTAT_FINE);
  by_file("known_reject", "known", CURLKHSTAT_REJECT);
  if (argc > 4) by_file("known_defer", "known", CURLKHSTAT_DEFER);
  by_file("changed_fine", "changed", CURLKHSTAT_FINE);
  by_file("changed_reject", "changed", CURLKHSTAT_REJECT);
  by_file("missing_fine", "empty", CURLKHSTAT_FINE);
  by_file("missing_reject", "empty", CURLKHSTAT_REJECT);
  if (argc > 4) by_file("missing_defer", "empty", CURLKHSTAT_DEFER);
  by_file("missing_nonsense", "empty", 99);
  by_file("missing_add", "empty_to_add", CURLKHSTAT_FINE_ADD_TO_FILE);
  by_file("added_reject", "empty_to_add", CURLKHSTAT_REJECT);
  by_file("changed_replace", "changed_to_replace", CURLKHSTAT_FINE_REPLACE);
  by_file("replaced_reject", "changed_to_replace", CURLKHSTAT_REJECT);
  alone("alone_ok", CURLKHMATCH_OK);
  alone("alone_mismatch", CURLKHMATCH_MISMATCH);
  /* Without a function the file alone decides. */
  CURL *easy = handle("known");
  printf("file_known=%d\n", curl_easy_perform(easy));
  curl_easy_cleanup(easy);
  easy = handle("changed");
  printf("file_changed=%d\n", curl_easy_perform(easy));
  curl_easy_cleanup(easy);
  easy = handle("empty");
  printf("file_missing=%d\n", curl_easy_perform(easy));
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  return 0;
}
