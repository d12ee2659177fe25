/* multi.h: made by `cargo xtask headers`; change crates/tables or xtask/headers instead. */
#ifndef CURLINC_MULTI_H
#define CURLINC_MULTI_H
/* Multi handles: many transfers on the caller's thread. */
#include "curl.h"
#ifdef __cplusplus
extern "C" {
#endif

#if defined(BUILDING_LIBCURL) || defined(CURL_STRICTER)
typedef struct Curl_multi CURLM;
#else
typedef void CURLM;
#endif

typedef enum {
  CURLM_CALL_MULTI_PERFORM = -1,
  CURLM_OK = 0,
  CURLM_BAD_HANDLE = 1,
  CURLM_BAD_EASY_HANDLE = 2,
  CURLM_OUT_OF_MEMORY = 3,
  CURLM_INTERNAL_ERROR = 4,
  CURLM_BAD_SOCKET = 5,
  CURLM_UNKNOWN_OPTION = 6,
  CURLM_ADDED_ALREADY = 7,
  CURLM_RECURSIVE_API_CALL = 8,
  CURLM_WAKEUP_FAILURE = 9,
  CURLM_BAD_FUNCTION_ARGUMENT = 10,
  CURLM_ABORTED_BY_CALLBACK = 11,
  CURLM_UNRECOVERABLE_POLL = 12,
  CURLM_LAST = 13
} CURLMcode;
#define CURLM_CALL_MULTI_SOCKET CURLM_CALL_MULTI_PERFORM
#define CURLPIPE_NOTHING 0L
#define CURLPIPE_HTTP1 1L
#define CURLPIPE_MULTIPLEX 2L

typedef enum {
  CURLMSG_NONE = 0,
  CURLMSG_DONE = 1,
  CURLMSG_LAST = 2
} CURLMSG;

/* A message about a transfer, read with curl_multi_info_read; `whatever` keeps the union pointer sized. */
struct CURLMsg {
  CURLMSG msg;
  CURL *easy_handle;
  union {
    void *whatever;
    CURLcode result;
  } data;
};
typedef struct CURLMsg CURLMsg;

#define CURL_WAIT_POLLIN 1
#define CURL_WAIT_POLLPRI 2
#define CURL_WAIT_POLLOUT 4

/* A descriptor that curl_multi_poll waits for besides its own. */
struct curl_waitfd {
  curl_socket_t fd;
  short events;
  short revents;
};

CURL_EXTERN CURLM *curl_multi_init(void);
CURL_EXTERN CURLMcode curl_multi_add_handle(CURLM *multi_handle, CURL *curl_handle);
CURL_EXTERN CURLMcode curl_multi_remove_handle(CURLM *multi_handle, CURL *curl_handle);
CURL_EXTERN CURLMcode curl_multi_fdset(CURLM *multi_handle, fd_set *read_fd_set, fd_set *write_fd_set,
                                       fd_set *exc_fd_set, int *max_fd);
CURL_EXTERN CURLMcode curl_multi_wait(CURLM *multi_handle, struct curl_waitfd extra_fds[],
                                      unsigned int extra_nfds, int timeout_ms, int *ret);
CURL_EXTERN CURLMcode curl_multi_poll(CURLM *multi_handle, struct curl_waitfd extra_fds[],
                                      unsigned int extra_nfds, int timeout_ms, int *ret);
CURL_EXTERN CURLMcode curl_multi_wakeup(CURLM *multi_handle);
CURL_EXTERN CURLMcode curl_multi_perform(CURLM *multi_handle, int *running_handles);
CURL_EXTERN CURLMcode curl_multi_cleanup(CURLM *multi_handle);
CURL_EXTERN CURLMsg *curl_multi_info_read(CURLM *multi_handle, int *msgs_in_queue);
CURL_EXTERN const char *curl_multi_strerror(CURLMcode code);

/* What the socket callback shall watch, and what curl_multi_socket_action shall take as having happened. */
#define CURL_POLL_NONE 0
#define CURL_POLL_IN 1
#define CURL_POLL_OUT 2
#define CURL_POLL_INOUT 3
#define CURL_POLL_REMOVE 4
#define CURL_SOCKET_TIMEOUT (-1)
#define CURL_CSELECT_IN 1
#define CURL_CSELECT_OUT 2
#define CURL_CSELECT_ERR 4

typedef int (*curl_socket_callback)(CURL *easy, curl_socket_t s, int what, void *userp, void *socketp);
typedef int (*curl_multi_timer_callback)(CURLM *multi, long timeout_ms, void *userp);

CURL_EXTERN CURLMcode curl_multi_socket(CURLM *multi_handle, curl_socket_t s, int *running_handles);
CURL_EXTERN CURLMcode curl_multi_socket_action(CURLM *multi_handle, curl_socket_t s, int ev_bitmask,
                                               int *running_handles);
CURL_EXTERN CURLMcode curl_multi_socket_all(CURLM *multi_handle, int *running_handles);
#ifndef CURL_ALLOW_OLD_MULTI_SOCKET
#define curl_multi_socket(multi, s, running) curl_multi_socket_action(multi, s, 0, running)
#endif
CURL_EXTERN CURLMcode curl_multi_timeout(CURLM *multi_handle, long *milliseconds);

typedef enum {
  CURLMOPT_SOCKETFUNCTION = 20001,
  CURLMOPT_SOCKETDATA = 10002,
  CURLMOPT_PIPELINING = 3,
  CURLMOPT_TIMERFUNCTION = 20004,
  CURLMOPT_TIMERDATA = 10005,
  CURLMOPT_MAXCONNECTS = 6,
  CURLMOPT_MAX_HOST_CONNECTIONS = 7,
  CURLMOPT_MAX_PIPELINE_LENGTH = 8,
  CURLMOPT_CONTENT_LENGTH_PENALTY_SIZE = 30009,
  CURLMOPT_CHUNK_LENGTH_PENALTY_SIZE = 30010,
  CURLMOPT_PIPELINING_SITE_BL = 10011,
  CURLMOPT_PIPELINING_SERVER_BL = 10012,
  CURLMOPT_MAX_TOTAL_CONNECTIONS = 13,
  CURLMOPT_PUSHFUNCTION = 20014,
  CURLMOPT_PUSHDATA = 10015,
  CURLMOPT_MAX_CONCURRENT_STREAMS = 16,
  CURLMOPT_NETWORK_CHANGED = 17,
  CURLMOPT_NOTIFYFUNCTION = 20018,
  CURLMOPT_NOTIFYDATA = 10019,
  CURLMOPT_RESOLVE_THREADS_MAX = 20,
  CURLMOPT_QUICK_EXIT = 21,
  CURLMOPT_LASTENTRY = 22
} CURLMoption;

#define CURLMNWC_CLEAR_ALL 1L
#define CURLMNWC_CLEAR_CONNS 2L
#define CURLMNWC_CLEAR_DNS 4L

CURL_EXTERN CURLMcode curl_multi_setopt(CURLM *multi_handle, CURLMoption option, ...);
CURL_EXTERN CURLMcode curl_multi_assign(CURLM *multi_handle, curl_socket_t sockfd, void *sockp);
CURL_EXTERN CURL **curl_multi_get_handles(CURLM *multi_handle);

typedef enum {
  CURLMINFO_NONE = 0,
  CURLMINFO_XFERS_CURRENT = 1,
  CURLMINFO_XFERS_RUNNING = 2,
  CURLMINFO_XFERS_PENDING = 3,
  CURLMINFO_XFERS_DONE = 4,
  CURLMINFO_XFERS_ADDED = 5,
  CURLMINFO_LASTENTRY = 6
} CURLMinfo_offt;

CURL_EXTERN CURLMcode curl_multi_get_offt(CURLM *multi_handle, CURLMinfo_offt info, curl_off_t *pvalue);

/* Server push. */
#define CURL_PUSH_OK 0
#define CURL_PUSH_DENY 1
#define CURL_PUSH_ERROROUT 2
struct curl_pushheaders;
CURL_EXTERN char *curl_pushheader_bynum(struct curl_pushheaders *h, size_t num);
CURL_EXTERN char *curl_pushheader_byname(struct curl_pushheaders *h, const char *name);
typedef int (*curl_push_callback)(CURL *parent, CURL *easy, size_t num_headers,
                                  struct curl_pushheaders *headers, void *userp);

CURL_EXTERN CURLMcode curl_multi_waitfds(CURLM *multi, struct curl_waitfd *ufds, unsigned int size,
                                         unsigned int *fd_count);

/* Notifications. */
#define CURLMNOTIFY_INFO_READ 0
#define CURLMNOTIFY_EASY_DONE 1
typedef void (*curl_notify_callback)(CURLM *multi, unsigned int notification, CURL *easy, void *user_data);
CURL_EXTERN CURLMcode curl_multi_notify_disable(CURLM *multi, unsigned int notification);
CURL_EXTERN CURLMcode curl_multi_notify_enable(CURLM *multi, unsigned int notification);

#ifdef __cplusplus
}
#endif
#endif
