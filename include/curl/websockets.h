/* websockets.h: made by `cargo xtask headers`; change crates/tables or xtask/headers instead. */
#ifndef CURLINC_WEBSOCKETS_H
#define CURLINC_WEBSOCKETS_H
/* WebSocket frames. */
#ifdef __cplusplus
extern "C" {
#endif

struct curl_ws_frame {
  int age;
  int flags;
  curl_off_t offset;
  curl_off_t bytesleft;
  size_t len;
};

#define CURLWS_RAW_MODE 1
#define CURLWS_TEXT 1
#define CURLWS_BINARY 2
#define CURLWS_NOAUTOPONG 2
#define CURLWS_CONT 4
#define CURLWS_CLOSE 8
#define CURLWS_PING 16
#define CURLWS_OFFSET 32
#define CURLWS_PONG 64

CURL_EXTERN CURLcode curl_ws_recv(CURL *curl, void *buffer, size_t buflen, size_t *recv,
                                  const struct curl_ws_frame **metap);
CURL_EXTERN CURLcode curl_ws_send(CURL *curl, const void *buffer, size_t buflen, size_t *sent,
                                  curl_off_t fragsize, unsigned int flags);
CURL_EXTERN CURLcode curl_ws_start_frame(CURL *curl, unsigned int flags, curl_off_t frame_len);
CURL_EXTERN const struct curl_ws_frame *curl_ws_meta(CURL *curl);

#ifdef __cplusplus
}
#endif
#endif
