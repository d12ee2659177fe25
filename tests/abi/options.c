/* Every option by its kind: values out of range, NULL, unknown numbers; and looking options up.
 * covers: curl_easy_setopt, curl_easy_option_by_name, curl_easy_option_by_id, curl_easy_option_next, curl_easy_duphandle,
 * covers: curl_easy_reset, CURLOPT_PRIVATE, CURLINFO_PRIVATE */
#define CURL_DISABLE_DEPRECATION
#include "check.h"
#undef curl_easy_setopt

/* What any of the codes that setopt documents is. */
static int documented(CURLcode code)
{
  return code == CURLE_OK || code == CURLE_BAD_FUNCTION_ARGUMENT || code == CURLE_UNKNOWN_OPTION ||
         code == CURLE_NOT_BUILT_IN || code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_SETOPT_OPTION_SYNTAX;
}

int main(void)
{
  CURL *easy = curl_easy_init();
  const struct curl_easyoption *option = NULL;
  int count = 0;
  while((option = curl_easy_option_next(option))) {
    count++;
    const struct curl_easyoption *found = curl_easy_option_by_name(option->name);
    CHECK(found == option);
    found = curl_easy_option_by_id(option->id);
    CHECK(found && !(found->flags & CURLOT_FLAG_ALIAS) && found->id == option->id && found->type == option->type);
    switch(option->type) {
    case CURLOT_LONG:
    case CURLOT_VALUES:
      CHECK(documented(curl_easy_setopt(easy, option->id, -77L)));
      CHECK(documented(curl_easy_setopt(easy, option->id, 0x7fffffffL)));
      CHECK(documented(curl_easy_setopt(easy, option->id, (long)(~0UL >> 1))));
      break;
    case CURLOT_OFF_T:
      CHECK(documented(curl_easy_setopt(easy, option->id, (curl_off_t)-77)));
      CHECK(documented(curl_easy_setopt(easy, option->id, (curl_off_t)(~0ULL >> 1))));
      break;
    default:
      CHECK(documented(curl_easy_setopt(easy, option->id, NULL)));
    }
  }
  CHECK(count > 300);
  CHECK(!curl_easy_option_by_name("NO_SUCH") && !curl_easy_option_by_name(NULL));
  CHECK(!curl_easy_option_by_id((CURLoption)4711));
  option = curl_easy_option_by_name("writedata");
  CHECK(option && option->id == CURLOPT_WRITEDATA && option->type == CURLOT_CBPTR);
  option = curl_easy_option_by_name("FILE");
  CHECK(option && option->flags & CURLOT_FLAG_ALIAS && option->id == CURLOPT_WRITEDATA);
  SAME(curl_easy_setopt(easy, (CURLoption)4711, 1L), CURLE_UNKNOWN_OPTION);
  SAME(curl_easy_setopt(easy, (CURLoption)-1, 1L), CURLE_UNKNOWN_OPTION);

  /* What a build lacks can be taken back, as PHP's pecl_http does with every option before each request. */
  SAME(curl_easy_setopt(easy, CURLOPT_DOH_URL, NULL), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, NULL), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_SSH_KNOWNHOSTS, NULL), CURLE_OK);
  SAME(curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, NULL), CURLE_OK);

  /* A string of 100 MB is refused and changes nothing. */
  size_t size = 100 << 20;
  char *huge = malloc(size + 1);
  memset(huge, 'a', size);
  huge[size] = 0;
  SAME(curl_easy_setopt(easy, CURLOPT_URL, huge), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_setopt(easy, CURLOPT_USERAGENT, huge), CURLE_BAD_FUNCTION_ARGUMENT);
  free(huge);

  /* Numbers that 8.22 refuses, beside the nearest that it takes. */
  static const struct { CURLoption option; long good, bad; } bounds[] = {
    {CURLOPT_FOLLOWLOCATION, CURLFOLLOW_FIRSTONLY, CURLFOLLOW_FIRSTONLY + 1},
    {CURLOPT_FOLLOWLOCATION, 0, -1},
    {CURLOPT_CONNECT_ONLY, 2, 3},
    {CURLOPT_CONNECT_ONLY, 0, -1},
    {CURLOPT_BUFFERSIZE, 1, -1},
    {CURLOPT_UPLOAD_BUFFERSIZE, 1, -1},
    {CURLOPT_RTSP_CLIENT_CSEQ, 0, -1},
    {CURLOPT_RTSP_SERVER_CSEQ, 0, -1},
  };
  for(size_t at = 0; at < sizeof bounds / sizeof *bounds; at++) {
    SAME(curl_easy_setopt(easy, bounds[at].option, bounds[at].good), CURLE_OK);
    SAME(curl_easy_setopt(easy, bounds[at].option, bounds[at].bad), CURLE_BAD_FUNCTION_ARGUMENT);
  }

  /* A copy has the settings; a reset handle has none. */
  char *pointer = NULL;
  curl_easy_reset(easy);
  SAME(curl_easy_setopt(easy, CURLOPT_PRIVATE, "mine"), CURLE_OK);
  CURL *copy = curl_easy_duphandle(easy);
  curl_easy_reset(easy);
  SAME(curl_easy_getinfo(copy, CURLINFO_PRIVATE, &pointer), CURLE_OK);
  SAME_TEXT(pointer, "mine");
  SAME(curl_easy_getinfo(easy, CURLINFO_PRIVATE, &pointer), CURLE_OK);
  CHECK(!pointer);
  curl_easy_cleanup(easy);
  SAME(curl_easy_getinfo(copy, CURLINFO_PRIVATE, &pointer), CURLE_OK);
  SAME_TEXT(pointer, "mine");
  curl_easy_cleanup(copy);
  return FAILURES;
}
