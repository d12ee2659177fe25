/* options.h: made by `cargo xtask headers`; change crates/tables or xtask/headers instead. */
#ifndef CURLINC_OPTIONS_H
#define CURLINC_OPTIONS_H
/* The table of easy options, for programs that set them by name. */
#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CURLOT_LONG = 0,
  CURLOT_VALUES = 1,
  CURLOT_OFF_T = 2,
  CURLOT_OBJECT = 3,
  CURLOT_STRING = 4,
  CURLOT_SLIST = 5,
  CURLOT_CBPTR = 6,
  CURLOT_BLOB = 7,
  CURLOT_FUNCTION = 8
} curl_easytype;

#define CURLOT_FLAG_ALIAS 1

struct curl_easyoption {
  const char *name;
  CURLoption id;
  curl_easytype type;
  unsigned int flags;
};

CURL_EXTERN const struct curl_easyoption *curl_easy_option_by_name(const char *name);
CURL_EXTERN const struct curl_easyoption *curl_easy_option_by_id(CURLoption id);
CURL_EXTERN const struct curl_easyoption *curl_easy_option_next(const struct curl_easyoption *prev);

#ifdef __cplusplus
}
#endif
#endif
