/* starts COUNT PROGRAM ARGUMENT...: starts a program so many times, one after the other, its output thrown away; prints
 * microseconds of CPU and of wall time, the median of all starts. */
#define _GNU_SOURCE
#include "measure.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int count = atoi(argv[1]);
  double *cpu = calloc(count + 1, sizeof *cpu), *wall = calloc(count + 1, sizeof *wall);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  for (int i = 0; i < count; i++) {
    struct rusage usage;
    pid_t child;
    int status;
    double start = wall_us();
    if (posix_spawnp(&child, argv[2], &actions, NULL, argv + 2, environ)) return perror(argv[2]), 1;
    wait4(child, &status, 0, &usage);
    if (status) return fprintf(stderr, "%s: status %d\n", argv[2], status), 1;
    wall[i] = wall_us() - start;
    cpu[i] = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
  }
  qsort(cpu, count, sizeof *cpu, compare);
  qsort(wall, count, sizeof *wall, compare);
  printf("%.3f %.3f 0\n", cpu[count / 2], wall[count / 2]);
  return 0;
}
