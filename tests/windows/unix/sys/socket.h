/* sys/socket.h: all of it is in unix.h. */
#include <unix.h>
