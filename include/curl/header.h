/* header.h: made by `cargo xtask headers`; change crates/tables or xtask/headers instead. */
#ifndef CURLINC_HEADER_H
#define CURLINC_HEADER_H
/* Response headers, by name or in order. */
#ifdef __cplusplus
extern "C" {
#endif

struct curl_header {
  char *name;
  char *value;
  size_t amount;
  size_t index;
  unsigned int origin;
  void *anchor;
};

#define CURLH_HEADER 1
#define CURLH_TRAILER 2
#define CURLH_CONNECT 4
#define CURLH_1XX 8
#define CURLH_PSEUDO 16

typedef enum {
  CURLHE_OK = 0,
  CURLHE_BADINDEX = 1,
  CURLHE_MISSING = 2,
  CURLHE_NOHEADERS = 3,
  CURLHE_NOREQUEST = 4,
  CURLHE_OUT_OF_MEMORY = 5,
  CURLHE_BAD_ARGUMENT = 6,
  CURLHE_NOT_BUILT_IN = 7
} CURLHcode;

CURL_EXTERN CURLHcode curl_easy_header(CURL *easy, const char *name, size_t index, unsigned int origin,
                                       int request, struct curl_header **hout);
CURL_EXTERN struct curl_header *curl_easy_nextheader(CURL *easy, unsigned int origin, int request,
                                                     struct curl_header *prev);

#ifdef __cplusplus
}
#endif
#endif
