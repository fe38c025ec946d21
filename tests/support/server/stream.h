/* stream.h -- connecting and listening on unix sockets and on loopback TCP.

   An address is text: "unix:/path", "127.0.0.1:6390" or "[::1]:6390". All descriptors are close-on-exec. */

#ifndef GUILDHALL_TESTS_STREAM_H
#define GUILDHALL_TESTS_STREAM_H

#include <stdbool.h>
#include <stdint.h>

/* A connected, blocking descriptor, or -1 with errno set. Names such as "localhost" are looked up. */
int stream_connect(const char* address);

/* A listening, non-blocking descriptor; a socket file that is in the way is replaced. -1 on failure. */
int stream_listen_unix(const char* path);

/* The same on 127.0.0.1, or on ::1. Port 0 takes a free one; *port tells which. */
int stream_listen_tcp(bool six, uint16_t* port);

void stream_set_nonblocking(int descriptor);

/* True for a unix socket. */
bool stream_is_unix(int descriptor);

#endif
