/* NULL for every pointer of every function, one after the other, with a living handle where one is needed: an error code or
 * nothing, never a crash, and the handles work afterwards. (tests/abi/handles.c has the handles that are stale or foreign.)
 * covers: curl_easy_escape, curl_easy_unescape, curl_easy_option_by_name, curl_easy_option_by_id, curl_escape, curl_unescape,
 * covers: curl_formadd, curl_formget, curl_formfree, curl_free, curl_getdate, curl_getenv, curl_global_init_mem,
 * covers: curl_global_sslset, curl_global_trace, curl_mime_name, curl_mime_data, curl_mime_data_cb, curl_mime_encoder,
 * covers: curl_mime_filedata, curl_mime_filename, curl_mime_headers, curl_mime_subparts, curl_mime_type, curl_slist_append,
 * covers: curl_slist_free_all, curl_strequal, curl_strnequal, curl_url_dup, curl_url_get, curl_url_set,
 * covers: curl_pushheader_byname, curl_pushheader_bynum, curl_ws_recv, curl_ws_send, curl_ws_start_frame, curl_ws_meta */
#define CURL_DISABLE_DEPRECATION
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-zero-length"
#pragma GCC diagnostic ignored "-Wformat-overflow"
#pragma GCC diagnostic ignored "-Wnonnull"
#include "check.h"
#include <stdarg.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#undef curl_share_setopt

static void easies(CURL *easy)
{
  size_t count = 7;
  char byte[2] = "a";
  struct curl_header *header;
  const struct curl_ws_frame *frame;
  CHECK(curl_easy_setopt(easy, CURLOPT_URL, NULL) == CURLE_OK);
  SAME(curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, NULL), CURLE_UNKNOWN_OPTION);
  SAME(curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, NULL), CURLE_UNKNOWN_OPTION);
  SAME(curl_easy_getinfo(easy, CURLINFO_CERTINFO, NULL), CURLE_UNKNOWN_OPTION);
  SAME(curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, NULL), CURLE_UNKNOWN_OPTION);
  SAME(curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME, NULL), CURLE_UNKNOWN_OPTION);
  SAME(curl_easy_perform(easy), CURLE_URL_MALFORMAT);
  CHECK(curl_easy_recv(easy, NULL, 1, &count) != CURLE_OK);
  CHECK(curl_easy_recv(easy, byte, 1, NULL) != CURLE_OK);
  CHECK(curl_easy_send(easy, NULL, 1, &count) != CURLE_OK);
  CHECK(curl_easy_send(easy, byte, 1, NULL) != CURLE_OK);
  CHECK(curl_easy_header(easy, NULL, 0, CURLH_HEADER, -1, &header) == CURLHE_BAD_ARGUMENT);
  CHECK(curl_easy_header(easy, "a", 0, CURLH_HEADER, -1, NULL) == CURLHE_BAD_ARGUMENT);
  CHECK(curl_easy_header(easy, "a", 0, 0, -1, &header) == CURLHE_BAD_ARGUMENT);
  CHECK(!curl_easy_nextheader(easy, CURLH_HEADER, -1, NULL));
  CHECK(curl_easy_ssls_export(easy, NULL, NULL) != CURLE_OK);
  CHECK(curl_easy_ssls_import(easy, NULL, NULL, 0, NULL, 0) != CURLE_OK);
  SAME(curl_easy_pause(easy, CURLPAUSE_ALL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_easy_upkeep(easy), CURLE_OK);
  CHECK(curl_ws_recv(easy, NULL, 1, NULL, NULL) != CURLE_OK);
  count = 55;
  CHECK(curl_ws_recv(NULL, byte, 1, &count, &frame) != CURLE_OK);
  CHECK(!count && !frame);
  CHECK(curl_ws_send(easy, NULL, 1, NULL, 0, 0) != CURLE_OK);
  CHECK(curl_ws_send(NULL, byte, 1, &count, 0, 0) != CURLE_OK);
  CHECK(curl_ws_start_frame(NULL, 0, 0) != CURLE_OK);
  CHECK(curl_ws_start_frame(easy, 0, 0) != CURLE_OK);
  CHECK(!curl_ws_meta(easy) && !curl_ws_meta(NULL));
  CHECK(curl_easy_strerror((CURLcode)-1) && curl_easy_strerror((CURLcode)9999));
  CHECK(!curl_easy_option_by_name(NULL) && !curl_easy_option_by_name(""));
  CHECK(!curl_easy_option_by_id((CURLoption)-1));
  CHECK(curl_easy_option_next(NULL));
}

static void multis(CURLM *multi, CURL *easy)
{
  long ms = 0;
  fd_set set;
  int count = 0;
  unsigned int fds = 0;
  FD_ZERO(&set);
  SAME(curl_multi_add_handle(multi, NULL), CURLM_BAD_EASY_HANDLE);
  SAME(curl_multi_remove_handle(multi, NULL), CURLM_BAD_EASY_HANDLE);
  SAME(curl_multi_remove_handle(multi, easy), CURLM_OK);
  SAME(curl_multi_perform(multi, NULL), CURLM_OK);
  CHECK(curl_multi_fdset(multi, NULL, NULL, NULL, NULL) <= CURLM_LAST);
  CHECK(curl_multi_fdset(multi, &set, &set, &set, NULL) <= CURLM_LAST);
  CHECK(curl_multi_wait(multi, NULL, 3, 0, &count) <= CURLM_LAST);
  CHECK(curl_multi_wait(multi, NULL, 0, 0, NULL) == CURLM_OK);
  CHECK(curl_multi_poll(multi, NULL, 3, 0, NULL) <= CURLM_LAST);
  CHECK(curl_multi_waitfds(multi, NULL, 5, &fds) <= CURLM_LAST);
  CHECK(curl_multi_waitfds(multi, NULL, 0, NULL) != CURLM_OK);
  SAME(curl_multi_timeout(multi, NULL), CURLM_BAD_FUNCTION_ARGUMENT);
  SAME(curl_multi_timeout(multi, &ms), CURLM_OK);
  SAME(curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, NULL), CURLM_OK);
  SAME(curl_multi_socket_action(multi, -7, 99, NULL), CURLM_OK);
  SAME(curl_multi_socket_all(multi, NULL), CURLM_OK);
#undef curl_multi_socket
  SAME(curl_multi_socket(multi, CURL_SOCKET_TIMEOUT, NULL), CURLM_OK);
  CHECK(!curl_multi_info_read(multi, NULL));
  SAME(curl_multi_get_offt(multi, CURLMINFO_XFERS_CURRENT, NULL), CURLM_BAD_FUNCTION_ARGUMENT);
  SAME(curl_multi_assign(multi, -1, NULL), CURLM_BAD_SOCKET);
  CHECK(curl_multi_notify_enable(multi, 4711) != CURLM_OK);
  CHECK(curl_multi_notify_disable(multi, 4711) != CURLM_OK);
  CHECK(curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, NULL) == CURLM_OK);
  CHECK(curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, NULL) == CURLM_OK);
  CHECK(curl_multi_setopt(multi, CURLMOPT_NOTIFYFUNCTION, NULL) == CURLM_OK);
  CHECK(curl_multi_strerror((CURLMcode)-99) && curl_multi_strerror((CURLMcode)9999));
  void *handles = curl_multi_get_handles(multi);
  CHECK(handles);
  curl_free(handles);
  SAME(curl_multi_wakeup(multi), CURLM_OK);
}

static void strings(CURL *easy)
{
  int length = 5;
  CHECK(!curl_easy_escape(easy, NULL, 0) && !curl_easy_escape(easy, "a", -1) && !curl_escape(NULL, 4));
  CHECK(!curl_easy_unescape(easy, NULL, 0, &length) && !curl_unescape(NULL, 4));
  char *text = curl_easy_unescape(NULL, "a%00", 0, NULL);
  CHECK(text);
  curl_free(text);
  text = curl_easy_escape(NULL, "", 0);
  SAME_TEXT(text, "");
  curl_free(text);
  curl_free(NULL);
  CHECK(curl_getdate(NULL, NULL) == -1 && curl_getdate("", NULL) == -1);
  CHECK(!curl_getenv(NULL) && !curl_getenv(""));
  CHECK(curl_strequal(NULL, NULL) && !curl_strequal("a", NULL) && !curl_strequal(NULL, "a"));
  CHECK(curl_strnequal(NULL, NULL, 3) && !curl_strnequal("a", NULL, 3) && !curl_strnequal(NULL, "a", 3));
  CHECK(!curl_slist_append(NULL, NULL));
  struct curl_slist *list = curl_slist_append(NULL, "one");
  CHECK(!curl_slist_append(list, NULL));
  curl_slist_free_all(list);
  curl_slist_free_all(NULL);
  CHECK(curl_version() && curl_version_info((CURLversion)-1) && curl_version_info((CURLversion)999));
  CHECK(curl_share_strerror((CURLSHcode)-1) && curl_url_strerror((CURLUcode)-1) && curl_url_strerror((CURLUcode)999));
  CHECK(!curl_pushheader_byname(NULL, "a") && !curl_pushheader_byname(NULL, NULL) && !curl_pushheader_bynum(NULL, 0));
}

static void with_list(int dummy, ...)
{
  char room[8] = "before";
  va_list arguments;
  va_start(arguments, dummy);
  SAME(curl_mvprintf("", arguments), 0);
  SAME(curl_mvfprintf(stdout, "", arguments), 0);
  SAME(curl_mvsprintf(room, "", arguments), 0);
  SAME(curl_mvsnprintf(NULL, 0, "x", arguments), 0);
  char *text = curl_mvaprintf("", arguments);
  SAME_TEXT(text, "");
  curl_free(text);
  va_end(arguments);
}

/* printf functions: NULL for a string says so, and a buffer of no length is not written to. */
static void printfs(void)
{
  char room[32] = "before";
  char *text = curl_maprintf("%s %s", NULL, "x");
  SAME_TEXT(text, "(nil) x");
  curl_free(text);
  text = curl_maprintf("%p", NULL);
  SAME_TEXT(text, "(nil)");
  curl_free(text);
  curl_msnprintf(NULL, 0, "%s", "abc");
  curl_msnprintf(room, 0, "%s", "abc");
  SAME_TEXT(room, "before");
  curl_msnprintf(room, 1, "%s", "abc");
  SAME_TEXT(room, "");
  SAME(curl_msprintf(room, "%.3s", NULL), 0 + (int)strlen(room));
  SAME(curl_mprintf("%n", (void *)0), 0);
  SAME(curl_mfprintf(stdout, ""), 0);
  with_list(0);
}

static size_t read_nothing(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)size, (void)count, (void)user;
  return 0;
}

static size_t take_form(void *user, const char *data, size_t length)
{
  (void)user, (void)data;
  return length;
}

static void forms(CURL *easy)
{
  struct curl_httppost *first = NULL, *last = NULL;
  CHECK(curl_formadd(&first, &last, CURLFORM_END) != CURL_FORMADD_OK);
  CHECK(curl_formadd(&first, &last, CURLFORM_COPYNAME, NULL, CURLFORM_END) != CURL_FORMADD_OK);
  CHECK(curl_formadd(&first, &last, CURLFORM_PTRNAME, NULL, CURLFORM_END) != CURL_FORMADD_OK);
  CHECK(curl_formadd(&first, &last, CURLFORM_COPYNAME, "a", CURLFORM_FILE, NULL, CURLFORM_END) != CURL_FORMADD_OK);
  CHECK(curl_formadd(&first, &last, CURLFORM_ARRAY, NULL, CURLFORM_END) != CURL_FORMADD_OK);
  CHECK(curl_formadd(&first, &last, 4711, CURLFORM_END) == CURL_FORMADD_UNKNOWN_OPTION);
  CHECK(!first && !last);
  SAME(curl_formget(NULL, NULL, take_form), 0);
  curl_formfree(NULL);

  curl_mime *mime = curl_mime_init(easy);
  curl_mimepart *part = curl_mime_addpart(mime);
  CHECK(!curl_mime_addpart(NULL));
  SAME(curl_mime_name(part, NULL), CURLE_OK);
  SAME(curl_mime_name(NULL, "a"), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_data(part, NULL, 5), CURLE_OK);
  SAME(curl_mime_data(NULL, "a", 1), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_data_cb(part, 5, NULL, NULL, NULL, NULL), CURLE_OK);
  SAME(curl_mime_data_cb(NULL, 5, read_nothing, NULL, NULL, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_encoder(part, NULL), CURLE_OK);
  SAME(curl_mime_encoder(part, "no such"), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_encoder(NULL, "base64"), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_filedata(part, NULL), CURLE_OK);
  SAME(curl_mime_filedata(NULL, "a"), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_filename(part, NULL), CURLE_OK);
  SAME(curl_mime_filename(NULL, "a"), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_headers(part, NULL, 1), CURLE_OK);
  SAME(curl_mime_headers(NULL, NULL, 0), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_subparts(part, NULL), CURLE_OK);
  SAME(curl_mime_subparts(NULL, NULL), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_subparts(part, mime), CURLE_BAD_FUNCTION_ARGUMENT); /* of itself */
  SAME(curl_mime_type(part, NULL), CURLE_OK);
  SAME(curl_mime_type(NULL, "a/b"), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_mime_free(mime);
  curl_mime_free(NULL);
}

static void urls(void)
{
  CURLU *url = curl_url();
  char *text = (char *)1;
  SAME(curl_url_set(url, CURLUPART_URL, NULL, 0), CURLUE_OK);
  SAME(curl_url_set(url, (CURLUPart)-1, "a", 0), CURLUE_UNKNOWN_PART);
  SAME(curl_url_set(url, (CURLUPart)99, "a", ~0u), CURLUE_UNKNOWN_PART);
  SAME(curl_url_get(url, CURLUPART_URL, NULL, 0), CURLUE_BAD_PARTPOINTER);
  CHECK(curl_url_get(url, (CURLUPart)99, &text, 0) == CURLUE_UNKNOWN_PART && !text);
  CHECK(curl_url_get(url, CURLUPART_URL, &text, ~0u) != CURLUE_BAD_HANDLE);
  if(text)
    curl_free(text);
  CURLU *copy = curl_url_dup(url);
  CHECK(copy);
  curl_url_cleanup(copy);
  curl_url_cleanup(url);
  curl_url_cleanup(NULL);
}

static void shares(void)
{
  CURLSH *share = curl_share_init();
  SAME(curl_share_setopt(share, CURLSHOPT_LOCKFUNC, NULL), CURLSHE_OK);
  SAME(curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, NULL), CURLSHE_OK);
  SAME(curl_share_setopt(share, CURLSHOPT_USERDATA, NULL), CURLSHE_OK);
  CHECK(curl_share_setopt(share, (CURLSHoption)-1, NULL) == CURLSHE_BAD_OPTION);
  SAME(curl_share_cleanup(share), CURLSHE_OK);
}

static void process_wide(void)
{
  SAME(curl_global_init_mem(CURL_GLOBAL_DEFAULT, NULL, NULL, NULL, NULL, NULL), CURLE_FAILED_INIT);
  CHECK(curl_global_trace(NULL) == CURLE_OK);
  CHECK(curl_global_trace("") == CURLE_OK);
  curl_global_sslset((curl_sslbackend)99, NULL, NULL);
  SAME(curl_global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
  SAME(curl_global_init(~0L), CURLE_OK);
  curl_global_cleanup();
}

int main(void)
{
  process_wide();
  CURL *easy = curl_easy_init();
  CURLM *multi = curl_multi_init();
  easies(easy);
  multis(multi, easy);
  strings(easy);
  printfs();
  forms(easy);
  urls();
  shares();
  struct text body = {0};
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(body.length, 10);
  free(body.at);
  SAME(curl_multi_cleanup(multi), CURLM_OK);
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  curl_global_cleanup(); /* once too often */
  return FAILURES;
}
