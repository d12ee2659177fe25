/* System calls that fail on request, for LD_PRELOAD. A program arms one by faults_arm (found with dlsym), a tool by its
 * environment: FAULT=call:n:errno fails the n-th such call, FAULT=call:n:errno:on that one and all after it. Numbers alone,
 * since who arms knows the names. Names that begin with "fault." are looked up as 127.0.0.1, and time may step. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "shim.h"

static const char *armed;
static long fails_at, seen;
static int fails_with, goes_on;
static long stepped_wall, stepped_both;

void faults_arm(const char *call, long at, int error, int on)
{
  __atomic_store_n(&armed, NULL, __ATOMIC_SEQ_CST);
  seen = 0, fails_at = at, fails_with = error, goes_on = on;
  __atomic_store_n(&armed, call, __ATOMIC_SEQ_CST);
}

long faults_seen(void) { return __atomic_load_n(&seen, __ATOMIC_SEQ_CST); }

void faults_step(long wall_seconds, long all_seconds)
{
  __atomic_store_n(&stepped_wall, wall_seconds, __ATOMIC_SEQ_CST);
  __atomic_store_n(&stepped_both, all_seconds, __ATOMIC_SEQ_CST);
}

__attribute__((constructor)) static void from_environment(void)
{
  static char text[100];
  const char *fault = getenv("FAULT");
  char *at = fault && strlen(fault) < sizeof text ? strchr(strcpy(text, fault), ':') : NULL;
  if(!at)
    return;
  *at++ = 0;
  char *with = strchr(at, ':'), *on = with ? strchr(with + 1, ':') : NULL;
  if(with)
    faults_arm(text, atol(at), atoi(with + 1), on != NULL);
}

/* The errno to fail with, or 0. */
static int fault(const char *call)
{
  const char *name = __atomic_load_n(&armed, __ATOMIC_SEQ_CST);
  if(!name || strcmp(name, call))
    return 0;
  long n = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
  return fails_at && (n == fails_at || (goes_on && n > fails_at)) ? fails_with : 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAILING(call)                                                                                  \
  do {                                                                                                 \
    int error_ = fault(call);                                                                          \
    if(error_) {                                                                                       \
      errno = error_;                                                                                  \
      return -1;                                                                                       \
    }                                                                                                  \
  } while(0)
#define WRAPPED(type, name, call, parameters, arguments)                                               \
  type name parameters                                                                                 \
  {                                                                                                    \
    FAILING(call);                                                                                     \
    return REAL(name) arguments;                                                                       \
  }

WRAPPED(int, socket, "socket", (int family, int kind, int protocol), (family, kind, protocol))
WRAPPED(int, connect, "connect", (int fd, const struct sockaddr *to, socklen_t size), (fd, to, size))
WRAPPED(int, bind, "bind", (int fd, const struct sockaddr *to, socklen_t size), (fd, to, size))
WRAPPED(int, listen, "listen", (int fd, int backlog), (fd, backlog))
WRAPPED(int, accept4, "accept4", (int fd, struct sockaddr *from, socklen_t *size, int flags), (fd, from, size, flags))
/* What the other side has ended is dead for every call that follows. */
#define TALKING(call)                                                                                  \
  do {                                                                                                 \
    int error_ = fault(call);                                                                          \
    if(error_ == EPIPE || error_ == ECONNRESET || error_ == ETIMEDOUT || error_ == ENOTCONN)                                 \
      REAL(shutdown)(fd, SHUT_RDWR);                                                                   \
    if(error_) {                                                                                       \
      errno = error_;                                                                                  \
      return -1;                                                                                       \
    }                                                                                                  \
  } while(0)
#define TALKS(type, name, call, parameters, arguments)                                                 \
  type name parameters                                                                                 \
  {                                                                                                    \
    TALKING(call);                                                                                     \
    return REAL(name) arguments;                                                                       \
  }

TALKS(ssize_t, send, "send", (int fd, const void *data, size_t size, int flags), (fd, data, size, flags))
TALKS(ssize_t, sendmsg, "send", (int fd, const struct msghdr *message, int flags), (fd, message, flags))
TALKS(ssize_t, sendto, "send",
  (int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length),
  (fd, data, size, flags, to, length))
TALKS(ssize_t, recv, "recv", (int fd, void *data, size_t size, int flags), (fd, data, size, flags))
TALKS(ssize_t, recvmsg, "recv", (int fd, struct msghdr *message, int flags), (fd, message, flags))
TALKS(ssize_t, recvfrom, "recv",
  (int fd, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *length),
  (fd, data, size, flags, from, length))
TALKS(int, recvmmsg, "recv",
  (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *limit),
  (fd, messages, count, flags, limit))
WRAPPED(int, getsockopt, "getsockopt", (int fd, int level, int name, void *value, socklen_t *size), (fd, level, name, value, size))
WRAPPED(int, setsockopt, "setsockopt", (int fd, int level, int name, const void *value, socklen_t size), (fd, level, name, value, size))
WRAPPED(int, getsockname, "getsockname", (int fd, struct sockaddr *name, socklen_t *size), (fd, name, size))
WRAPPED(int, getpeername, "getpeername", (int fd, struct sockaddr *name, socklen_t *size), (fd, name, size))
TALKS(int, shutdown, "shutdown", (int fd, int how), (fd, how))
WRAPPED(int, poll, "poll", (struct pollfd *set, nfds_t count, int limit), (set, count, limit))
WRAPPED(int, ppoll, "poll",
  (struct pollfd *set, nfds_t count, const struct timespec *limit, const sigset_t *mask), (set, count, limit, mask))
WRAPPED(int, epoll_create1, "epoll_create1", (int flags), (flags))
WRAPPED(int, epoll_ctl, "epoll_ctl", (int epoll, int what, int fd, struct epoll_event *event), (epoll, what, fd, event))
WRAPPED(int, epoll_wait, "epoll_wait", (int epoll, struct epoll_event *events, int most, int limit), (epoll, events, most, limit))
WRAPPED(int, eventfd, "eventfd", (unsigned value, int flags), (value, flags))
WRAPPED(ssize_t, read, "read", (int fd, void *data, size_t size), (fd, data, size))
WRAPPED(ssize_t, write, "write", (int fd, const void *data, size_t size), (fd, data, size))
WRAPPED(ssize_t, writev, "write", (int fd, const struct iovec *pieces, int count), (fd, pieces, count))
WRAPPED(int, rename, "rename", (const char *from, const char *to), (from, to))
WRAPPED(int, fchmod, "fchmod", (int fd, mode_t mode), (fd, mode))
WRAPPED(int, fstat64, "stat", (int fd, struct stat64 *facts), (fd, facts))
WRAPPED(int, stat64, "stat", (const char *path, struct stat64 *facts), (path, facts))
WRAPPED(int, statx, "stat",
  (int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict facts),
  (folder, path, flags, mask, facts))

#define OPENS(name)                                                                                    \
  int name(const char *path, int flags, ...)                                                           \
  {                                                                                                    \
    va_list more;                                                                                      \
    va_start(more, flags);                                                                             \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                            \
    va_end(more);                                                                                      \
    FAILING("open");                                                                                   \
    return REAL(name)(path, flags, mode);                                                              \
  }
OPENS(open)
OPENS(open64)

int fcntl(int fd, int what, ...)
{
  va_list more;
  va_start(more, what);
  void *value = va_arg(more, void *);
  va_end(more);
  FAILING("fcntl");
  return REAL(fcntl)(fd, what, value);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*body)(void *), void *with)
{
  int error = fault("pthread_create");
  return error ? error : REAL(pthread_create)(thread, how, body, with);
}

/* Fails with one of EAI_*, which are negative: -EAI is what is armed. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
  int error = fault("getaddrinfo");
  if(error)
    return -error;
  if(node && !strncmp(node, "fault.", 6)) {
    struct addrinfo numeric = hints ? *hints : (struct addrinfo){0};
    numeric.ai_family = AF_INET;
    return hints && hints->ai_family == AF_INET6 ? EAI_NONAME
                                                 : REAL(getaddrinfo)("127.0.0.1", service, &numeric, result);
  }
  return REAL(getaddrinfo)(node, service, hints, result);
}

int clock_gettime(clockid_t which, struct timespec *now)
{
  int outcome = REAL(clock_gettime)(which, now);
  now->tv_sec += stepped_both + (which == CLOCK_REALTIME ? stepped_wall : 0);
  return outcome;
}
