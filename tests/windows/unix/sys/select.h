/* select() is in winsock2.h, which unix.h includes. */
