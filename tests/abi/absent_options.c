/* Options whose protocol or feature this build lacks, or curl has given up: each answers every sort of value as a curl 8.22 that was
 * built without it does. The handle works afterwards. What is here fails when it is built, so that its options then get tests of
 * what they do. */
#include "check.h"
#undef curl_easy_setopt

/* The code that an option answers with, and the protocol or feature whose coming makes that wrong. */
struct absent {
  CURLoption option;
  CURLcode code;
  const char *until;
  CURLcode to_null; /* which asks for nothing, and is mostly taken */
};

static CURL *easy;

static void is(const struct absent *absent, const char *value, CURLcode code, CURLcode wanted)
{
  if(code != wanted) {
    failures++;
    printf("option %d with %s: %d, not %d\n", absent->option, value, code, wanted);
  }
}

static void answers(const struct absent *absent, const char *value, CURLcode code)
{
  is(absent, value, code, absent->code);
}

static void takes_back(const struct absent *absent)
{
  is(absent, "NULL", curl_easy_setopt(easy, absent->option, NULL), absent->to_null);
}

/* Neither curl_version_info's protocols nor its features name it. */
static void still_absent(const struct absent *absent)
{
  const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
  if(!absent->until)
    return;
  for(const char *const *name = info->protocols; *name; name++)
    CHECK(strcmp(*name, absent->until));
  for(const char *const *name = info->feature_names; *name; name++)
    CHECK(strcmp(*name, absent->until));
}

static void numbers(const struct absent *absent)
{
  answers(absent, "0", curl_easy_setopt(easy, absent->option, 0L));
  answers(absent, "1", curl_easy_setopt(easy, absent->option, 1L));
  answers(absent, "-1", curl_easy_setopt(easy, absent->option, -1L));
  answers(absent, "1024", curl_easy_setopt(easy, absent->option, 1024L));
  answers(absent, "the largest", curl_easy_setopt(easy, absent->option, (long)(~0UL >> 1)));
}

static void texts(const struct absent *absent)
{
  static char huge[9000000];
  memset(huge, 'a', sizeof huge - 1);
  takes_back(absent);
  answers(absent, "nothing", curl_easy_setopt(easy, absent->option, ""));
  answers(absent, "a word", curl_easy_setopt(easy, absent->option, "word"));
  answers(absent, "odd bytes", curl_easy_setopt(easy, absent->option, "\x01\xff\r\n"));
  answers(absent, "9 MB", curl_easy_setopt(easy, absent->option, huge));
}

static void pointers(const struct absent *absent)
{
  struct curl_slist *list = curl_slist_append(NULL, "one");
  takes_back(absent);
  answers(absent, "a list", curl_easy_setopt(easy, absent->option, list));
  curl_slist_free_all(list);
}

static void functions(const struct absent *absent)
{
  takes_back(absent);
  answers(absent, "a function", curl_easy_setopt(easy, absent->option, &functions));
}

/* By the sort of value that the number of the option says. */
static void ask(const struct absent *absent, size_t count)
{
  for(const struct absent *end = absent + count; absent < end; absent++) {
    const struct curl_easyoption *known = curl_easy_option_by_id(absent->option);
    still_absent(absent);
    if(absent->option < CURLOPTTYPE_OBJECTPOINT)
      numbers(absent);
    else if(absent->option >= CURLOPTTYPE_FUNCTIONPOINT)
      functions(absent);
    else if(!known || known->type == CURLOT_STRING)
      texts(absent);
    else
      pointers(absent);
  }
}

#define ASK(list) ask(list, sizeof list / sizeof *list)

/* refuses: CURLOPT_SSL_FALSESTART, CURLOPT_KRBLEVEL, CURLOPT_TLSAUTH_USERNAME, CURLOPT_TLSAUTH_PASSWORD, CURLOPT_TLSAUTH_TYPE,
 * refuses: CURLOPT_PROXY_TLSAUTH_USERNAME, CURLOPT_PROXY_TLSAUTH_PASSWORD, CURLOPT_PROXY_TLSAUTH_TYPE,
 * refuses: CURLOPT_CONV_FROM_NETWORK_FUNCTION, CURLOPT_CONV_FROM_UTF8_FUNCTION, CURLOPT_CONV_TO_NETWORK_FUNCTION */
static void given_up(void)
{
  static const struct absent list[] = {
    {CURLOPT_SSL_FALSESTART, CURLE_NOT_BUILT_IN, NULL, CURLE_OK},
    {CURLOPT_KRBLEVEL, CURLE_NOT_BUILT_IN, NULL, CURLE_OK},
    {CURLOPT_TLSAUTH_USERNAME, CURLE_NOT_BUILT_IN, "TLS-SRP", CURLE_OK},
    {CURLOPT_TLSAUTH_PASSWORD, CURLE_NOT_BUILT_IN, "TLS-SRP", CURLE_OK},
    {CURLOPT_TLSAUTH_TYPE, CURLE_NOT_BUILT_IN, "TLS-SRP", CURLE_OK},
    {CURLOPT_PROXY_TLSAUTH_USERNAME, CURLE_NOT_BUILT_IN, "TLS-SRP", CURLE_OK},
    {CURLOPT_PROXY_TLSAUTH_PASSWORD, CURLE_NOT_BUILT_IN, "TLS-SRP", CURLE_OK},
    {CURLOPT_PROXY_TLSAUTH_TYPE, CURLE_NOT_BUILT_IN, "TLS-SRP", CURLE_OK},
    {CURLOPT_CONV_FROM_NETWORK_FUNCTION, CURLE_UNKNOWN_OPTION, NULL, CURLE_UNKNOWN_OPTION},
    {CURLOPT_CONV_FROM_UTF8_FUNCTION, CURLE_UNKNOWN_OPTION, NULL, CURLE_UNKNOWN_OPTION},
    {CURLOPT_CONV_TO_NETWORK_FUNCTION, CURLE_UNKNOWN_OPTION, NULL, CURLE_UNKNOWN_OPTION},
  };
  ASK(list);
}

int main(void)
{
  struct text body = {NULL, 0};
  easy = curl_easy_init();
  given_up();
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/7"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(body.length, 7);
  curl_easy_cleanup(easy);
  free(body.at);
  return FAILURES;
}
