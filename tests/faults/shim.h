/* What a program says to the preloaded shim. */
#ifndef SHIM_H
#define SHIM_H
/* From now on the call is counted, and the one with this number fails, if that is not 0; `on`: and all after it. NULL: none. */
void faults_arm(const char *call, long at, int error, int on);
/* How often the armed call has been made. */
long faults_seen(void);
/* The wall clock steps by so much from what it really is, and every clock by so much. */
void faults_step(long wall_seconds, long all_seconds);
#endif
