/* What the programs of tests/abi use of Unix, by means of Windows': included before anything else when they are built for it.
 * Descriptors are ints here as there: Windows' sockets are small numbers, though a SOCKET is wider. */
#ifndef WINDOWS_UNIX_H
#define WINDOWS_UNIX_H
#include <winsock2.h>
#include <ws2tcpip.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MSG_NOSIGNAL 0
#define MSG_MORE 0
#define MSG_DONTWAIT 0x40000000
#define SHUT_WR SD_SEND
#define SHUT_RDWR SD_BOTH
typedef unsigned long nfds_t;
#define poll WSAPoll

/* Sockets are a program's own before the library has made any. */
__attribute__((constructor)) static void unix_begin(void)
{
  WSADATA data;
  WSAStartup(MAKEWORD(2, 2), &data);
}

static inline int unix_close(int fd) { return closesocket((SOCKET)fd) ? _close(fd) : 0; }
#define close unix_close

static inline int unix_write(int fd, const void *data, size_t length)
{
  int sent = send((SOCKET)fd, (const char *)data, (int)length, 0);
  return sent == SOCKET_ERROR && WSAGetLastError() == WSAENOTSOCK ? _write(fd, data, (unsigned)length) : sent;
}
#define write unix_write

static inline int unix_send(int fd, const void *data, size_t length, int flags)
{
  return send((SOCKET)fd, (const char *)data, (int)length, flags);
}
#define send unix_send

/* MSG_WAITALL is implemented here: Wine's sockets never block beneath, and return what has been received. So is MSG_DONTWAIT, which
 * Windows does not have. */
static inline int unix_recv(int fd, void *data, size_t length, int flags)
{
  int all = flags & MSG_WAITALL, done = 0, got;
  WSAPOLLFD ready = {.fd = (SOCKET)fd, .events = POLLIN, .revents = 0};
  if(flags & MSG_DONTWAIT && !WSAPoll(&ready, 1, 0)) {
    errno = EAGAIN;
    return -1;
  }
  flags &= ~MSG_DONTWAIT;
  do {
    got = recv((SOCKET)fd, (char *)data + done, (int)length - done, flags & ~MSG_WAITALL);
    done += got > 0 ? got : 0;
  } while(all && got > 0 && done < (int)length);
  return done ? done : got;
}
#define recv unix_recv

/* A time is a number of milliseconds. */
static inline int unix_setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
  if(level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO)) {
    const struct timeval *time = (const struct timeval *)value;
    DWORD ms = (DWORD)(time->tv_sec * 1000 + time->tv_usec / 1000);
    return setsockopt((SOCKET)fd, level, name, (const char *)&ms, sizeof ms);
  }
  return setsockopt((SOCKET)fd, level, name, (const char *)value, length);
}
#define setsockopt unix_setsockopt

static inline int unix_getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
  return getsockopt((SOCKET)fd, level, name, (char *)value, length);
}
#define getsockopt unix_getsockopt

/* Whether there is such a socket. */
#define F_GETFD 1
static inline int fcntl(int fd, int what)
{
  int kind;
  socklen_t length = sizeof kind;
  (void)what;
  return unix_getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &length);
}

#ifndef TCP_KEEPCNT
#define TCP_KEEPIDLE 3
#define TCP_KEEPCNT 16
#define TCP_KEEPINTVL 17
#endif

/* rename() takes the place of an existing file. */
static inline int unix_rename(const char *from, const char *to)
{
  return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? 0 : -1;
}
#define rename unix_rename

static inline int pipe(int ends[2]) { return _pipe(ends, 4096, _O_BINARY); }

static inline int setenv(const char *name, const char *value, int over)
{
  return over || !getenv(name) ? _putenv_s(name, value) : 0;
}
static inline int unsetenv(const char *name) { return _putenv_s(name, ""); }

/* Who runs the program has a limit of its own. */
static inline unsigned alarm(unsigned seconds) { return seconds; }

/* The C library's name, which a program has for a function of its own. */
#define tell unix_tell

/* Extensions of the GNU C library. */
static inline void *memmem(const void *in, size_t size, const void *what, size_t length)
{
  const char *at = (const char *)in;
  for(; size >= length; at++, size--)
    if(!memcmp(at, what, length))
      return (void *)at;
  return NULL;
}
static inline char *strcasestr(const char *in, const char *what)
{
  for(; *in; in++)
    if(!_strnicmp(in, what, strlen(what)))
      return (char *)in;
  return NULL;
}

static inline int rand_r(unsigned *seed)
{
  *seed = *seed * 1103515245u + 12345u;
  return (int)(*seed >> 16 & RAND_MAX);
}
#endif
