/* A getaddrinfo for LD_PRELOAD: counts calls into the file LOOKUPS; "stuck…" hangs for three seconds, "slow…" for a
 * tenth of one, and both, like "name…", are 127.0.0.1. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int lookup(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
  lookup *real = (lookup *)dlsym(RTLD_NEXT, "getaddrinfo");
  const char *path = getenv("LOOKUPS");
  if (path && node) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char line[300];
    int length = snprintf(line, sizeof line, "%s\n", node);
    if (fd >= 0 && write(fd, line, length) < 0) perror(path);
    if (fd >= 0) close(fd);
  }
  if (node && (!strncmp(node, "stuck", 5) || !strncmp(node, "slow", 4) || !strncmp(node, "name", 4))) {
    usleep(!strncmp(node, "stuck", 5) ? 3000000 : !strncmp(node, "slow", 4) ? 100000 : 0);
    struct addrinfo numeric = hints ? *hints : (struct addrinfo){0};
    numeric.ai_family = AF_INET;
    return real("127.0.0.1", service, &numeric, result);
  }
  return real(node, service, hints, result);
}
