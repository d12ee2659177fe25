#ifndef CURLINC_WARMWIRE_H
#define CURLINC_WARMWIRE_H
/* warmwire.h: extensions to curl's API. Written by hand.
 *
 * THE PROCESS-WIDE POOL keeps connections open when their easy handles are cleaned up, and lets the next handle with the
 * same requirements reuse them: host, port, proxy, TLS settings, login, and everything else that could make a difference
 * to the server. A program that creates an easy handle for each request, in one or many threads, then connects only once.
 * The pool holds up to 256 idle connections, each for the default of CURLOPT_MAXAGE_CONN, 118 seconds. All threads may
 * use it. It is empty in a forked child; the parent's connections are not affected.
 *
 * The pool is off unless the environment has WARMWIRE_POOL=process when the first handle is created, or warmwire_pool(1)
 * was called. curl_global_cleanup() closes its connections in an orderly way: QUIT for FTP, close_notify for TLS.
 *
 * Connections made with CURLOPT_OPENSOCKETFUNCTION or similar callbacks never enter the pool: they belong to their
 * handle. A share handle with CURL_LOCK_DATA_CONNECT is searched first.
 *
 * NAMES: warmwire_follow_names() says whether a connection is left when its host's name has moved to other addresses. In a
 * program with the pool it is.
 *
 * ROUND TRIPS: warmwire_ftp_pipeline() and warmwire_smtp_pipeline() choose how commands are pipelined; see below.
 *
 * WEBSOCKETS: warmwire_websocket() enables what curl does not support: compressed messages, and WebSockets over HTTP/2.
 *
 * PROXIES: CURLOPT_PROXY, and the variables in its place, take a list of proxies with spaces between them. The next one is
 * tried when one cannot be reached; the word "direct" stands for none. "auto://" stands for those of GNOME's settings, or
 * else of the environment. WARMWIRE_PROXY sets the proxies of handles that have none. The library has no JavaScript engine:
 * with a PAC file, a transfer fails with CURLE_NOT_BUILT_IN.
 *
 * POLICIES: warmwire_policy() limits what a handle may reach.
 *
 * PRIORITIES: warmwire_priority() says how urgent a request is among others.
 *
 * UPLOADS: warmwire_upload() lets an upload continue after a cut, also in another process.
 *
 * WATCHES: warmwire_watch() polls URLs at a steady pace and reports what has changed.
 *
 * REASONS: warmwire_why() reports the decisions of a transfer and their reasons.
 *
 * The functions here have the symbol version WARMWIRE_1. A program that must also run with another libcurl looks them up
 * with dlsym(). */
#include "curl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Turns the pool on (1) or off (0) for handles created from now on; -1 changes nothing. Turning it off closes its
 * connections. Returns the previous state: 1 on, 0 off. */
CURL_EXTERN int warmwire_pool(int on);

/* An idle connection in the pool. New members are added at the end: `size` is the size of the
 * library's structure. */
struct warmwire_connection {
  size_t size;
  const char *scheme;        /* protocol family: "http" (for https too), "ftp" (for ftps too) */
  const char *host;          /* from the URL, lower case; the proxy's for requests with absolute URLs. No brackets. */
  unsigned int port;
  int tls;                   /* 1 if it is protected by TLS now */
  curl_off_t age_ms;         /* milliseconds since it was opened */
  curl_off_t idle_ms;        /* milliseconds since it was last used */
  unsigned long long uses;   /* number of transfers that used it; warmwire_open() counts as one */
};

/* Receives each connection and the pointer given to warmwire_each(). The connection is valid during the call only.
 * Returning anything other than 0 ends the list. The function may call any function of the library. */
typedef int (*warmwire_each_fn)(const struct warmwire_connection *connection, void *user);

/* Calls `each` for each idle connection, the longest idle first, from a snapshot taken at the start. Returns the number
 * of calls or, if `each` is NULL, the number of idle connections. */
CURL_EXTERN size_t warmwire_each(warmwire_each_fn each, void *user);

/* Closes idle connections of the pool in an orderly way: those to a host and port as warmwire_each() reports them, or
 * all if `host` is NULL. Connections in use are not affected. Returns the number of connections closed. */
CURL_EXTERN size_t warmwire_close(const char *host, unsigned int port);

/* Opens `count` new connections at once, before they are needed, and leaves them in the pool. Each goes through name
 * resolution, connect, proxy, TLS and, for FTP, login, as a transfer of `url` with the settings of `like` would (NULL:
 * default settings). Only handles with the same requirements reuse them, so set `like` up like the handles of the coming
 * transfers. `like` is only read and must not be in a transfer. Supports http, https, ftp and ftps; at most 10000 at a
 * time.
 *
 * Blocks until all are open or have failed, at most `timeout_ms` milliseconds each (0: the settings decide).
 * *opened (unless NULL) receives the number opened. Returns CURLE_OK if all were opened, otherwise the first failure:
 * CURLE_FAILED_INIT if the pool is off; CURLE_BAD_FUNCTION_ARGUMENT for a missing URL, a bad handle, a negative time or
 * too large a count; CURLE_UNSUPPORTED_PROTOCOL if connections of this protocol are never kept. */
CURL_EXTERN CURLcode warmwire_open(CURL *like, const char *url, size_t count, long timeout_ms, size_t *opened);

/* How FTP commands are sent once the control connection has transferred a file: */
#define WARMWIRE_FTP_WAIT 0     /* Each command waits for the reply to the previous one, as in curl. */
#define WARMWIRE_FTP_TOGETHER 1 /* curl's commands in curl's order. TYPE, SIZE and RETR are sent together, right after
                                   the SYN of the data connection. From servers that confirm a file late (vsftpd, ProFTPD),
                                   EPSV for the next file is sent before the confirmation, if one file follows another
                                   within a second. The default. */
#define WARMWIRE_FTP_PIPELINE 2 /* Different commands than curl's. SIZE is omitted; the size comes from the reply to RETR.
                                   EPSV for the next file is sent at the end of this one. If the received bytes match the
                                   announced size, the final reply (226) is read later: by the next transfer on that
                                   connection, or when the connection is idle. CURLINFO_RESPONSE_CODE is then that of the
                                   previous reply. Without an announced size, 226 is awaited as usual. */
#define WARMWIRE_FTP_TURNS 3    /* Like PIPELINE, and up to four control connections to a server take turns: while one
                                   transfers a file, another one opens the next data connection. Requires a handle or
                                   multi handle that keeps at least four connections (CURLOPT_MAXCONNECTS) and has no
                                   limit of connections per host. Under TLS only one control connection is used. */

/* Selects one of these levels. -1 selects the one in the environment variable WARMWIRE_FTP (wait, together, pipeline or
 * turns), or else the default. curl_easy_reset() resets to -1, curl_easy_duphandle() copies the level.
 *
 * The level applies to downloads of whole files, without range, resume, CURLOPT_PREQUOTE, CURLOPT_MAXFILESIZE_LARGE,
 * active mode or PRET. With PIPELINE and TURNS, uploads and listings use the passive port requested in advance, too. If
 * anything fails before the first byte arrives, the file is fetched again on a new connection where each command waits.
 * If the server then succeeds, all later transfers to it wait in the same way, as long as the handle's connections last.
 * Returns CURLE_OK, or CURLE_BAD_FUNCTION_ARGUMENT for a bad handle or level. */
CURL_EXTERN CURLcode warmwire_ftp_pipeline(CURL *easy, long level);

/* How SMTP commands are sent: */
#define WARMWIRE_SMTP_WAIT 0     /* Each command waits for the reply to the previous one, as in curl. */
#define WARMWIRE_SMTP_TOGETHER 1 /* If the server supports PIPELINING, MAIL and RCPT are sent together; so is DATA with one
                                    recipient or with CURLOPT_MAIL_RCPT_ALLOWFAILS. If it also supports CHUNKING, a mail of
                                    up to 64 KiB to several recipients is one BDAT after their replies. The default. */

/* Selects one of these levels. -1 selects the one in the environment variable WARMWIRE_SMTP (wait or together), or else
 * the default. curl_easy_reset() resets to -1, curl_easy_duphandle() copies the level. If a recipient is refused that must
 * not fail, nobody receives the mail, as without pipelining. Returns CURLE_OK, or CURLE_BAD_FUNCTION_ARGUMENT for a bad
 * handle or level. */
CURL_EXTERN CURLcode warmwire_smtp_pipeline(CURL *easy, long level);

/* WebSocket extensions that curl does not have; the sum of: */
#define WARMWIRE_WS_PLAIN 0   /* None, as in curl. The default. */
#define WARMWIRE_WS_DEFLATE 1 /* Compresses messages if the server agrees (permessage-deflate, RFC 7692). The application
                                 still sends and receives plain payload. A compressed message is delivered in fragments of
                                 up to 16 KiB, each a frame of its own: CURLWS_CONT means that another follows, and
                                 curl_ws_recv() returns it without waiting, so wait for the socket only after
                                 CURLE_AGAIN. Outgoing data is framed anew. */
#define WARMWIRE_WS_FORGET 2  /* With DEFLATE: compresses each message independently, so that memory (about 350 KiB to
                                 send, 50 KiB to receive) is needed only while a message is in progress. */
#define WARMWIRE_WS_HTTP2 4   /* Uses a stream of an HTTP/2 connection if the server allows it (RFC 8441), beside requests
                                 and other WebSockets on the same connection; otherwise a new HTTP/1.1 connection. For wss,
                                 and for ws with CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE; not with CURLOPT_CONNECT_ONLY. */
#define WARMWIRE_WS_WINDOW(bits) ((long)(bits) << 8) /* With DEFLATE: limits both windows to 2^bits bytes (8 to 15). */

/* Selects extensions. -1 selects those in the environment variable WARMWIRE_WS (deflate, forget and http2, separated by
 * commas), or else the default. curl_easy_reset() resets to -1, curl_easy_duphandle() copies the selection. Nothing is
 * offered in raw mode (CURLWS_RAW_MODE) or if CURLOPT_HTTPHEADER has a Sec-WebSocket-Extensions line. The transfer fails
 * with CURLE_WEIRD_SERVER_REPLY if the server accepts an extension that was not offered, and with CURLE_RECV_ERROR if a
 * message cannot be decompressed. Returns CURLE_OK, or CURLE_BAD_FUNCTION_ARGUMENT for a bad handle or number. */
CURL_EXTERN CURLcode warmwire_websocket(CURL *easy, long bits);

/* Says whether a handle follows names: 1 yes, 0 no. When the answer of the look-up is stale that led to an open connection, the
 * name is looked up again before the next transfer uses that connection. If the name does not resolve any more to the
 * connection's address, the connection is closed and a new one is opened. Transfers in progress on it go on. The transfer waits
 * for the look-up, at most 250 milliseconds. If it fails, is late, or finds no address at all, the connection is used.
 *
 * An answer is stale after its time to live, if the name server gave one, or after CURLOPT_DNS_CACHE_TIMEOUT, 60 seconds by
 * default, whichever comes first. The name is that of the first host on the way: the proxy's, if there is one. Nothing is
 * looked up for addresses in URLs, for those of CURLOPT_RESOLVE, for unix sockets, and for sockets that the application's
 * functions opened or configured.
 *
 * -1 selects the choice in the environment variable WARMWIRE_FOLLOW_NAMES (yes or no), or else the default: yes if the
 * process-wide pool or that of the user is on, otherwise no, as in curl. curl_easy_reset() resets to -1,
 * curl_easy_duphandle() copies the choice. warmwire_why() reports a connection that was left. Returns CURLE_OK, or
 * CURLE_BAD_FUNCTION_ARGUMENT for a bad handle or number. */
CURL_EXTERN CURLcode warmwire_follow_names(CURL *easy, long on);

/* Binds a handle to the policy in a file: the schemes, hosts, ports and addresses that its transfers may reach. The guide
 * describes the file. Each address is judged when a socket is connected to it, also after redirects, for proxies, for
 * FTP's data connections, alternative services and DNS over HTTPS. A transfer that the policy refuses fails with
 * CURLE_REMOTE_ACCESS_DENIED, and CURLOPT_ERRORBUFFER names the rule; warmwire_why() says at which check, too. A connection that was opened without this policy is
 * not reused. The policy in the environment variable WARMWIRE_POLICY binds all handles; both must allow a transfer.
 *
 * NULL ends the policy of the handle. curl_easy_reset() ends it, too; curl_easy_duphandle() copies it. The file is read at
 * once. Returns CURLE_OK; CURLE_READ_ERROR if the file cannot be read or has an error: then all transfers of the handle
 * fail, and CURLOPT_ERRORBUFFER gives the reason; CURLE_BAD_FUNCTION_ARGUMENT for a bad handle. */
CURL_EXTERN CURLcode warmwire_policy(CURL *easy, const char *file);

/* Sets the priority of a handle's HTTP requests among others of the same client (RFC 9218): servers and proxies may send
 * the more urgent replies first. `urgency` is 0 (first) to 7 (last; 3 is that of a request without priority). With a
 * nonzero `incremental`, the reply can be processed as it arrives, and may share the bandwidth with others of its urgency.
 *
 * The request has the field Priority, unless CURLOPT_HTTPHEADER has a line with that name. While a transfer over HTTP/2 or
 * HTTP/3 is under way, the call changes its priority (PRIORITY_UPDATE) at its next step. An urgency of -1 sends none.
 * curl_easy_reset() resets to -1, curl_easy_duphandle() copies the priority. Returns CURLE_OK, or
 * CURLE_BAD_FUNCTION_ARGUMENT for a bad handle or urgency. */
CURL_EXTERN CURLcode warmwire_priority(CURL *easy, long urgency, int incremental);

/* How uploads continue after a cut: */
#define WARMWIRE_UPLOAD_PLAIN 0  /* They do not, as in curl. The default. */
#define WARMWIRE_UPLOAD_RESUME 1 /* Over FTP by REST and STOR, over SFTP by writing at an offset. At the end, the size of the
                                    server's file is compared with that of the source. */
#define WARMWIRE_UPLOAD_TUS 2    /* Like RESUME. Over HTTP by tus 1.0, for which CURLOPT_URL creates uploads. */
#define WARMWIRE_UPLOAD_IETF 3   /* Like RESUME. Over HTTP by draft-ietf-httpbis-resumable-upload, interop version 6: a PUT, or
                                    the method of CURLOPT_CUSTOMREQUEST. A server that does not know it gets the PUT alone. */
#define WARMWIRE_UPLOAD_S3 4     /* Like RESUME. Over HTTP to Amazon S3 and services like it: a source of more than 8 MiB in parts
                                    of that size, or of larger ones if there were more than 10,000. CURLOPT_URL is that of
                                    the object. CURLOPT_AWS_SIGV4 signs, with the keys in CURLOPT_USERPWD. */
#define WARMWIRE_UPLOAD_VERIFY 16 /* Added to a mode: the server is asked for a checksum of the file at the end, over FTP
                                     (HASH, XSHA256 and the like) and SFTP (check-file). See warmwire_upload_verify(). */

/* Lets uploads of a handle (CURLOPT_UPLOAD) continue. A transfer that is cut fails as usual. The next transfer of the handle
 * asks the server how much it has, and sends the rest, if CURLOPT_URL and CURLOPT_INFILESIZE_LARGE are the same; the source
 * must be, too. Set CURLOPT_SEEKFUNCTION, unless the data comes from a FILE that can seek. When to try again is decided by
 * the application. Call this function again before another source is sent to the same URL.
 *
 * `begun` is a string that warmwire_upload_place() returned earlier, perhaps in another process: the server has a part of the
 * source there. Use it only with the URL, the user and the source that it belongs to. NULL: nothing has begun.
 *
 * An upload over HTTP is a series of requests, each of which but the first counts as a redirect for CURLINFO_REDIRECT_COUNT.
 * The body of the last reply alone is delivered. A server that refuses or is busy fails the transfer with
 * CURLE_HTTP_RETURNED_ERROR. TUS and S3 need CURLOPT_INFILESIZE_LARGE. By TUS, a CURLOPT_HTTPHEADER line "Upload-Metadata:
 * ..." names the file. If the server's answers contradict the source, the transfer fails with CURLE_RANGE_ERROR, and the next
 * one begins anew. If a file over FTP or SFTP is short at its end, the transfer fails with CURLE_PARTIAL_FILE, and the next
 * one continues.
 *
 * By S3 no reply is delivered; CURLOPT_ERRORBUFFER has the service's error. The source is sought before each part. Of the
 * CURLOPT_HTTPHEADER lines, those that describe the object (Content-Type, x-amz-meta-..., x-amz-acl and the like) go with the
 * request that begins the upload, If-Match and If-None-Match with the one that completes it, and a key of your own
 * (x-amz-server-side-encryption-customer-...), x-amz-security-token and x-amz-request-payer with all. The ETag of each part is
 * compared with the MD5 digest of its bytes; a part that is wrong again and again fails the transfer with CURLE_RANGE_ERROR,
 * and the service is asked to remove the parts. Other parts that nobody continues remain: a lifecycle rule of the bucket
 * removes them.
 *
 * curl_easy_reset() sets PLAIN; curl_easy_duphandle() copies the mode, but not the part. Returns CURLE_OK, or
 * CURLE_BAD_FUNCTION_ARGUMENT for a bad handle or mode. */
CURL_EXTERN CURLcode warmwire_upload(CURL *easy, long mode, const char *begun);

/* Stores in *place a string that names the part at the server, to be freed with curl_free(), or NULL if there is none. There
 * is one from when the server has accepted the upload until the upload is complete; for an upload by S3 of one part there is
 * none. It has no login, but the URL of an upload over HTTP may be a secret. May be called in callbacks: an upload by TUS or
 * S3 has it at the first call of CURLOPT_READFUNCTION, one by IETF in CURLOPT_HEADERFUNCTION at the end of a head with status
 * 104. Returns CURLE_OK; CURLE_BAD_FUNCTION_ARGUMENT for a bad handle or a NULL `place`; CURLE_OUT_OF_MEMORY. */
CURL_EXTERN CURLcode warmwire_upload_place(CURL *easy, char **place);

/* Compares a file, the source of the handle's last upload, with the checksum that the server has of it. To be called once
 * after a transfer by a mode with WARMWIRE_UPLOAD_VERIFY that returned CURLE_OK. Reads the whole file. Stores 1 in *compared
 * if there was a checksum, else 0; `compared` may be NULL. After an upload by S3 the file is not read: the ETags were compared
 * as it was sent. Returns CURLE_OK if the file is the same or there was no checksum; CURLE_RANGE_ERROR if it differs: the next
 * upload sends all of it; CURLE_FILE_COULDNT_READ_FILE; CURLE_BAD_FUNCTION_ARGUMENT for a bad handle or a NULL `file`. After a
 * failure, CURLOPT_ERRORBUFFER has the reason. */
CURL_EXTERN CURLcode warmwire_upload_verify(CURL *easy, const char *file, long *compared);

/* Modes of warmwire_why(): */
#define WARMWIRE_WHY_OFF 0  /* Keeps no reasons. The default. */
#define WARMWIRE_WHY_ON 1   /* Keeps the reasons of each transfer until the next one starts. */
#define WARMWIRE_WHY_TEXT 2 /* Returns them as text, a line for each decision. */
#define WARMWIRE_WHY_JSON 3 /* Returns them as one JSON object; the guide describes it. */
#define WARMWIRE_WHY_CERTIFICATES 4 /* As ON, with each check of the certificates of servers and proxies. */
#define WARMWIRE_WHY_CERTIFICATES_TEXT 5 /* Returns these checks alone as text; empty if there were none. */
#define WARMWIRE_WHY_CERTIFICATES_JSON 6 /* Returns these checks alone as one JSON array. */

/* Keeps and returns the reasons of a handle's transfers: why the connection was new or reused and which option differed,
 * name look-ups, addresses, refusals by a policy, proxy, TLS, HTTP version, redirects, authentication, cookies, repetitions,
 * and where the time went. The text never contains secrets. CERTIFICATES also keeps how each certificate was judged, and makes
 * each TLS handshake a full one: a resumed session brings no certificates. With the modes that return something, *text
 * receives a string to be freed with curl_free(); otherwise `text` may be NULL, and *text becomes NULL. curl_easy_reset()
 * turns it off, curl_easy_duphandle() copies the mode. Returns CURLE_OK; CURLE_BAD_FUNCTION_ARGUMENT for a bad handle or
 * number, for a mode that returns something without `text`, or if no reasons are kept; CURLE_OUT_OF_MEMORY. */
CURL_EXTERN CURLcode warmwire_why(CURL *easy, long what, char **text);

/* A watcher polls URLs at a steady pace on kept connections, and reports what has changed. FTP is asked by MDTM and SIZE,
 * HTTP by a conditional GET, SFTP by the attributes of the file. A mailbox (IMAP) and an event stream (text/event-stream)
 * report by themselves. A server that hangs holds up no other one, and one that fails is asked less often.
 *
 * Any thread may use a watcher, but only one at a time; warmwire_watch_stop() alone may be called beside another call. */
typedef struct warmwire_watcher WARMWIRE_WATCHER;

/* Settings of a watcher. Set all members to 0 first, then `size` and `interval_ms`. New members are added at the end. */
struct warmwire_watch_options {
  size_t size;               /* sizeof(struct warmwire_watch_options) */
  curl_off_t interval_ms;    /* time between two polls of a URL, in milliseconds; more than 0 */
  curl_off_t deadline_ms;    /* longest time of a poll; 0: ten intervals, at least 5 and at most 60 seconds */
  int contents;              /* 1: changes come with the new content, which then decides whether something has changed */
  int per_server;            /* most simultaneous polls of one server; 0: 4 */
  curl_off_t content_limit;  /* largest content, in bytes; a larger one is a failure. 0: 64 MiB */
};

/* Creates a watcher without URLs, to be freed with warmwire_watch_free(). Returns NULL for options that are NULL, without an
 * interval, or negative, and if there is no memory. */
CURL_EXTERN WARMWIRE_WATCHER *warmwire_watch(const struct warmwire_watch_options *options);

/* Watches a URL with the settings of `like` (NULL: default settings, and redirects are followed): login, TLS, proxy, header
 * lines. `like` is only read, must not be in a transfer, and may be cleaned up afterwards; its callbacks are not used.
 * `deadline_ms` replaces its CURLOPT_TIMEOUT_MS. *index (unless NULL) receives the number of the URL, counted from 0.
 * Returns CURLE_OK; CURLE_URL_MALFORMAT or CURLE_UNSUPPORTED_PROTOCOL for a wrong URL, which is not watched;
 * CURLE_BAD_FUNCTION_ARGUMENT for a missing URL or a bad handle; CURLE_RECURSIVE_API_CALL from the callback of
 * warmwire_watch_run() and while another thread is in a call. */
CURL_EXTERN CURLcode warmwire_watch_add(WARMWIRE_WATCHER *watcher, const char *url, CURL *like, size_t *index);

/* Kinds of changes: */
#define WARMWIRE_CHANGE_FIRST 0     /* The first poll was answered; later ones are compared with it. */
#define WARMWIRE_CHANGE_CHANGED 1   /* The content, or its time, size or ETag differ. */
#define WARMWIRE_CHANGE_GONE 2      /* The file does not exist any more. */
#define WARMWIRE_CHANGE_APPEARED 3  /* The file exists again, or now. */
#define WARMWIRE_CHANGE_MESSAGE 4   /* An event of an event stream, or a line about a mailbox. */
#define WARMWIRE_CHANGE_FAILED 5    /* A poll failed after one that did not. Further failures are no changes. */
#define WARMWIRE_CHANGE_RECOVERED 6 /* A poll was answered after one that failed. */

/* A change. New members are added at the end; `size` is the size of the library's structure. */
struct warmwire_change {
  size_t size;
  size_t index;              /* number of the URL, from warmwire_watch_add() */
  const char *url;           /* as it was given */
  int kind;                  /* WARMWIRE_CHANGE_... */
  CURLcode code;             /* FAILED: why; otherwise CURLE_OK */
  const char *error;         /* FAILED: the reason in words; otherwise NULL */
  curl_off_t time_ms;        /* when the answer arrived, milliseconds since 1970 */
  curl_off_t latency_us;     /* how long the poll took, in microseconds; 0 for a message */
  curl_off_t modified;       /* time of the file, seconds since 1970; -1 if the server does not say it */
  curl_off_t length;         /* size of the file in bytes; -1 if the server does not say it */
  const char *etag;          /* NULL if there is none */
  const char *body;          /* the content with a zero byte behind it; NULL if it was not fetched */
  size_t body_size;
  const char *message_type;  /* MESSAGE: type of the event, or "mailbox"; otherwise NULL */
  const char *message;       /* MESSAGE: its data with a zero byte behind it; otherwise NULL */
  size_t message_size;
  const char *message_id;    /* MESSAGE: ID of the event; otherwise NULL */
};

/* Receives each change and the pointer given to warmwire_watch_run(). The change is valid during the call only. Returning
 * anything other than 0 ends the run. The function may call warmwire_watch_status() and warmwire_watch_stop() on this
 * watcher, and any function on other handles. */
typedef int (*warmwire_change_fn)(const struct warmwire_change *change, void *user);

/* Runs the polls and calls `changed` for each change. Changes that were not delivered wait for the next run; so call it again
 * and again, and soon: nothing is polled in between.
 *
 * Returns CURLE_OK when `timeout_ms` milliseconds are over (0: at once; -1: never), after warmwire_watch_stop(), and when a
 * signal has arrived; CURLE_ABORTED_BY_CALLBACK if `changed` has returned something other than 0;
 * CURLE_BAD_FUNCTION_ARGUMENT without a callback or URL, for a smaller time or a bad handle; CURLE_RECURSIVE_API_CALL from
 * inside `changed` and while another thread is in a call; CURLE_UNRECOVERABLE_POLL if the system cannot wait. */
CURL_EXTERN CURLcode warmwire_watch_run(WARMWIRE_WATCHER *watcher, long timeout_ms, warmwire_change_fn changed,
                                        void *user);

/* Ends the run that is in progress, or else the next one. Any thread may call it, but no signal handler. Returns CURLE_OK, or
 * CURLE_BAD_FUNCTION_ARGUMENT for a bad handle. */
CURL_EXTERN CURLcode warmwire_watch_stop(WARMWIRE_WATCHER *watcher);

/* The state of a URL. New members are added at the end. */
struct warmwire_watched {
  size_t size;               /* set it to sizeof(struct warmwire_watched) */
  int exists;                /* 1: the file exists, 0: it does not, -1: no poll was answered yet */
  int streams;               /* 1: the server reports by itself now */
  CURLcode code;             /* of the last poll, if it failed; otherwise CURLE_OK */
  curl_off_t age_ms;         /* milliseconds since the last answer; -1: none */
  curl_off_t changed_ms;     /* milliseconds since the last change; -1: none */
  unsigned long long in_time; /* intervals that ended with an answer */
  unsigned long long missed;  /* intervals that ended without one */
  curl_off_t p50_us;         /* half of the last thousand polls took at most so many microseconds; -1: none */
  curl_off_t p99_us;         /* 99 of 100 of them took at most so many */
};

/* Reads the state of a URL. Returns CURLE_OK; CURLE_BAD_FUNCTION_ARGUMENT for an unknown number, a missing structure or a bad
 * handle; CURLE_RECURSIVE_API_CALL while another thread is in a call. */
CURL_EXTERN CURLcode warmwire_watch_status(WARMWIRE_WATCHER *watcher, size_t index, struct warmwire_watched *watched);

/* Closes the connections and frees the watcher. Returns CURLE_OK; CURLE_BAD_FUNCTION_ARGUMENT for NULL, and for a watcher that
 * was freed already; CURLE_RECURSIVE_API_CALL from inside the callback and while another thread is in a call: then nothing is
 * freed. */
CURL_EXTERN CURLcode warmwire_watch_free(WARMWIRE_WATCHER *watcher);

#ifdef __cplusplus
}
#endif

#endif /* CURLINC_WARMWIRE_H */
