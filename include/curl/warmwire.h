#ifndef CURLINC_WARMWIRE_H
#define CURLINC_WARMWIRE_H
/* warmwire.h: what this libcurl has beside curl's API. Written by hand.
 *
 * THE PROCESS-WIDE POOL keeps connections when the handles that opened them are cleaned up, and gives them to the next
 * handle whose demands are the same: host, port, proxy, TLS settings, login and everything else that could make a
 * difference to the server. A program that makes an easy handle for each request, or the same user's many small
 * programs' threads, then pays for connecting once. It holds up to 256 idle connections, each for as long as
 * CURLOPT_MAXAGE_CONN's default of 118 seconds, is safe to use from all threads, and is empty in a forked child (the
 * parent's connections go on undisturbed).
 *
 * It is off unless the environment has WARMWIRE_POOL=process when the first handle is made, or warmwire_pool(1) was
 * called. curl_global_cleanup() closes what it holds, politely: QUIT for FTP, close_notify for TLS.
 *
 * Connections made through CURLOPT_OPENSOCKETFUNCTION and its like never enter it: they are their handle's alone. While
 * a share handle shares CURL_LOCK_DATA_CONNECT, its own pool is used instead.
 *
 * ROUND TRIPS: warmwire_ftp_pipeline() and warmwire_smtp_pipeline() say how much may be done to save some, below.
 *
 * WEBSOCKETS: warmwire_websocket() allows what curl's do not do: compressed messages, and streams of HTTP/2.
 *
 * The functions here carry the symbol version WARMWIRE_1. A program that shall also run on another libcurl finds them
 * by dlsym(). */
#include "curl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Turns the pool on (1) or off (0) for handles made from now on; -1 changes nothing. Turning it off closes what it
 * holds. Returns how it was before: 1 on, 0 off. */
CURL_EXTERN int warmwire_pool(int on);

/* An idle connection in the pool. New members come at the end: `size` is the size of what there is. */
struct warmwire_connection {
  size_t size;
  const char *scheme;        /* protocol family: "http" (for https too), "ftp" (for ftps too) */
  const char *host;          /* of the URL, lower case; of the proxy, where a proxy is asked by URL. No brackets. */
  unsigned int port;
  int tls;                   /* 1 when it is protected by TLS now */
  curl_off_t age_ms;         /* milliseconds since it was opened */
  curl_off_t idle_ms;        /* milliseconds since it was last used */
  unsigned long long uses;   /* how many transfers have used it; opening ahead of need counts as one */
};

/* Gets each connection and the pointer given to warmwire_each(). What it gets is valid during the call only. Anything
 * other than 0 ends the list. It may call any function of the library. */
typedef int (*warmwire_each_fn)(const struct warmwire_connection *connection, void *user);

/* Calls a function for each idle connection, the longest idle first, as they were when it was called. Returns how many
 * were told, or, when `each` is NULL, how many there are. */
CURL_EXTERN size_t warmwire_each(warmwire_each_fn each, void *user);

/* Closes, politely, what is idle in the pool: for one host and port as warmwire_each() tells them, or everything when
 * `host` is NULL. Connections in use are not touched. Returns how many were closed. */
CURL_EXTERN size_t warmwire_close(const char *host, unsigned int port);

/* Opens `count` new connections at once, ahead of need, and leaves them in the pool: name look-up, connect, proxy, TLS
 * and, for FTP, the login, as a transfer of `url` with the settings of `like` would (NULL: default settings). Only a
 * handle that asks for the same thing is given them, so let `like` be set up as the handles of the coming transfers are.
 * `like` is only read and must not be in a transfer. http, https, ftp and ftps; at most 10000 at a time.
 *
 * Blocks until all are open or have failed, at most `timeout_ms` milliseconds each (0: the settings decide).
 * *opened (unless NULL) gets the number that were opened. Returns CURLE_OK when all were, otherwise the first failure,
 * among them CURLE_FAILED_INIT: the pool is off; CURLE_BAD_FUNCTION_ARGUMENT: no URL, a bad handle, a negative time or
 * too many; CURLE_UNSUPPORTED_PROTOCOL: connections of this protocol are not kept. */
CURL_EXTERN CURLcode warmwire_open(CURL *like, const char *url, size_t count, long timeout_ms, size_t *opened);

/* How the commands of a handle's FTP transfers are sent once its control connection has moved a file: */
#define WARMWIRE_FTP_WAIT 0     /* each waits for the reply to the one before, as in curl */
#define WARMWIRE_FTP_TOGETHER 1 /* curl's commands in curl's order; TYPE, SIZE and RETR leave together, behind the SYN of
                                   the data connection. The default. */
#define WARMWIRE_FTP_PIPELINE 2 /* Other commands than curl's: SIZE is left out, the size is taken from the reply to RETR. The
                                   EPSV for the next file is sent at the end of this one. When the file came whole by the
                                   size told, the reply after it (226) is read later, by the next transfer on that connection or when
                                   nobody listens; CURLINFO_RESPONSE_CODE is then that of the reply before. Where no size was
                                   told, 226 is waited for as ever. */
#define WARMWIRE_FTP_TURNS 3    /* The same, and up to four control connections to a server take turns: while one moves a file,
                                   another's next data connection is opened. It takes a handle or multi handle that keeps at
                                   least four connections (CURLOPT_MAXCONNECTS) and no limit of connections per host; under TLS there is but one. */

/* Chooses one of them; -1 is what the environment's WARMWIRE_FTP asks for (wait, together, pipeline or turns), else the
 * default. curl_easy_reset() chooses -1, curl_easy_duphandle() copies.
 *
 * Only whole files to fetch, without range, resume, CURLOPT_PREQUOTE, CURLOPT_MAXFILESIZE_LARGE, active mode or PRET, are
 * fetched this way; with PIPELINE and TURNS stored files and listings use the passive port asked for ahead, too. When
 * anything goes wrong before the first byte has come, the file is fetched once more over a new connection on which every
 * command waits; a server that then has no objection is treated so for as long as the handle's connections last.
 * Returns CURLE_OK, or CURLE_BAD_FUNCTION_ARGUMENT for a bad handle or level. */
CURL_EXTERN CURLcode warmwire_ftp_pipeline(CURL *easy, long level);

/* How the commands of a handle's mails (SMTP) are sent: */
#define WARMWIRE_SMTP_WAIT 0     /* each waits for the reply to the one before, as in curl */
#define WARMWIRE_SMTP_TOGETHER 1 /* Where the server offers PIPELINING, MAIL and RCPT leave together; with one recipient, or with
                                    CURLOPT_MAIL_RCPT_ALLOWFAILS, DATA does, too. Where it offers CHUNKING as well, a mail of up to
                                    64 KiB for several is one BDAT behind their replies. The default. */

/* Chooses one of them; -1 is what the environment's WARMWIRE_SMTP asks for (wait or together), else the default.
 * curl_easy_reset() chooses -1, curl_easy_duphandle() copies. When a recipient is refused that must not be, nothing is
 * delivered to anybody, as without. Returns CURLE_OK, or CURLE_BAD_FUNCTION_ARGUMENT for a bad handle or level. */
CURL_EXTERN CURLcode warmwire_smtp_pipeline(CURL *easy, long level);

/* What a handle's WebSockets may try, beyond curl's; the sum of: */
#define WARMWIRE_WS_PLAIN 0   /* nothing, as in curl. The default. */
#define WARMWIRE_WS_DEFLATE 1 /* Messages are compressed where the server agrees (permessage-deflate, RFC 7692). The application
                                 sends and gets plain payload all the same. A message that came compressed is told in
                                 fragments of up to 16 KiB, each a frame of its own: CURLWS_CONT says that another follows, and
                                 curl_ws_recv() has it at once, so wait for the socket after CURLE_AGAIN only. What is sent is
                                 framed anew. */
#define WARMWIRE_WS_FORGET 2  /* With DEFLATE: each message is compressed by itself, so that memory (some 350 KiB for sending,
                                 50 for receiving) is taken only while one is under way. */
#define WARMWIRE_WS_HTTP2 4   /* A stream of HTTP/2 carries the frames where the server allows that (RFC 8441), beside requests
                                 and other WebSockets on the same connection; else a new connection of HTTP/1.1 does. For wss, and
                                 for ws with CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE; not with CURLOPT_CONNECT_ONLY. */
#define WARMWIRE_WS_WINDOW(bits) ((long)(bits) << 8) /* With DEFLATE: both sides look back 2^bits bytes (8 to 15) at most. */

/* Chooses; -1 is what the environment's WARMWIRE_WS asks for (of deflate, forget and http2, those that it names, with commas
 * between), else the default. curl_easy_reset() chooses -1, curl_easy_duphandle() copies. Nothing is offered in raw mode
 * (CURLWS_RAW_MODE) or when CURLOPT_HTTPHEADER has a line for Sec-WebSocket-Extensions. A server that accepts what was not offered
 * ends the transfer with CURLE_WEIRD_SERVER_REPLY, one that sends what cannot be decompressed with CURLE_RECV_ERROR.
 * Returns CURLE_OK, or CURLE_BAD_FUNCTION_ARGUMENT for a bad handle or number. */
CURL_EXTERN CURLcode warmwire_websocket(CURL *easy, long bits);

#ifdef __cplusplus
}
#endif

#endif /* CURLINC_WARMWIRE_H */
