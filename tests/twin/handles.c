/* What fresh handles answer: every info before a transfer, defaults, refused values. */
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>
#include <stdio.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo

static void infos(const char *when, CURL *easy)
{
  for(int number = 1; number < 72; number++) {
    char *text = NULL;
    long integer = -9;
    double real = -9;
    curl_off_t offset = -9;
    struct curl_slist *list = NULL;
    curl_socket_t sock = -9;
    int code = curl_easy_getinfo(easy, CURLINFO_STRING + number, &text);
    if(code != CURLE_UNKNOWN_OPTION)
      printf("%s text %d: %d %s\n", when, number, code, text ? text : "NULL");
    code = curl_easy_getinfo(easy, CURLINFO_LONG + number, &integer);
    if(code != CURLE_UNKNOWN_OPTION)
      printf("%s long %d: %d %ld\n", when, number, code, integer);
    code = curl_easy_getinfo(easy, CURLINFO_DOUBLE + number, &real);
    if(code != CURLE_UNKNOWN_OPTION)
      printf("%s double %d: %d %f\n", when, number, code, real);
    code = curl_easy_getinfo(easy, CURLINFO_OFF_T + number, &offset);
    if(code != CURLE_UNKNOWN_OPTION)
      printf("%s offset %d: %d %lld\n", when, number, code, (long long)offset);
    code = curl_easy_getinfo(easy, CURLINFO_SOCKET + number, &sock);
    if(code != CURLE_UNKNOWN_OPTION)
      printf("%s socket %d: %d %d\n", when, number, code, sock);
    if(number == 28) {
      code = curl_easy_getinfo(easy, CURLINFO_SLIST + number, &list);
      printf("%s list %d: %d %s\n", when, number, code, list ? list->data : "NULL");
    }
  }
  printf("%s null: %d\n", when, curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, NULL));
  printf("%s none: %d\n", when, curl_easy_getinfo(easy, (CURLINFO)0, NULL));
}

int main(void)
{
  CURL *easy = curl_easy_init();
  CURLM *multi = curl_multi_init();
  int running = -1, queued = -1;
  long timeout = -9;
  infos("fresh", easy);
  printf("perform without a URL: %d\n", curl_easy_perform(easy));
  curl_easy_setopt(easy, CURLOPT_URL, "nonsense://x/");
  printf("perform an unknown scheme: %d\n", curl_easy_perform(easy));
  curl_easy_setopt(easy, CURLOPT_URL, "http://[bad/");
  printf("perform a bad URL: %d\n", curl_easy_perform(easy));
  printf("pause idle: %d\n", curl_easy_pause(easy, CURLPAUSE_ALL));
  printf("upkeep: %d\n", curl_easy_upkeep(easy));
  printf("multi perform: %d %d\n", curl_multi_perform(multi, &running), running);
  printf("multi timeout: %d %ld\n", curl_multi_timeout(multi, &timeout), timeout);
  printf("multi remove a stranger: %d\n", curl_multi_remove_handle(multi, easy));
  printf("multi messages: %d %d\n", !!curl_multi_info_read(multi, &queued), queued);
  printf("multi socket: %d\n", curl_multi_assign(multi, 77, NULL));
  printf("multi option: %d\n", curl_multi_setopt(multi, (CURLMoption)4711, 1L));
  printf("option: %d\n", curl_easy_setopt(easy, (CURLoption)4711, 1L));
#define REFUSED(option, value) printf(#option " " #value ": %d\n", curl_easy_setopt(easy, CURLOPT_##option, value))
  REFUSED(TIMEOUT, -1L);
  REFUSED(CONNECTTIMEOUT, -1L);
  REFUSED(PORT, 65536L);
  REFUSED(PORT, -1L);
  REFUSED(PROXYPORT, 65536L);
  REFUSED(LOCALPORT, 65536L);
  REFUSED(MAXREDIRS, -2L);
  REFUSED(MAXREDIRS, -1L);
  REFUSED(POSTFIELDSIZE, -2L);
  REFUSED(POSTFIELDSIZE_LARGE, (curl_off_t)-2);
  REFUSED(INFILESIZE, -2L);
  REFUSED(RESUME_FROM, -2L);
  REFUSED(MAXFILESIZE, -1L);
  REFUSED(MAX_SEND_SPEED_LARGE, (curl_off_t)-1);
  REFUSED(LOW_SPEED_LIMIT, -1L);
  REFUSED(LOW_SPEED_TIME, -1L);
  REFUSED(DNS_CACHE_TIMEOUT, -2L);
  REFUSED(HTTP_VERSION, 99L);
  REFUSED(TIMECONDITION, 99L);
  REFUSED(NETRC, 99L);
  REFUSED(IPRESOLVE, 99L);
  REFUSED(USE_SSL, 99L);
  REFUSED(SSLVERSION, 99L);
  REFUSED(PROXYTYPE, 99L);
  REFUSED(HTTPAUTH, 0L);
  REFUSED(EXPECT_100_TIMEOUT_MS, -1L);
  REFUSED(MAXCONNECTS, -1L);
  REFUSED(PROTOCOLS_STR, "http,nonsense");
  REFUSED(PROTOCOLS_STR, "");
  REFUSED(PROTOCOLS_STR, "all");
  REFUSED(BUFFERSIZE, 1L);
  REFUSED(BUFFERSIZE, -1L);
  REFUSED(SSL_VERIFYHOST, 1L);
  REFUSED(ACCEPT_ENCODING, "");
  REFUSED(COOKIELIST, "ALL");
  REFUSED(RESOLVE, NULL);
  printf("multi cleanup: %d\n", curl_multi_cleanup(multi));
  curl_easy_cleanup(easy);
  return 0;
}
