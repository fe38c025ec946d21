/* net.h -- the sockets of some engine, as an engine has them: numbers of its own, nothing that blocks. Guildhall knows
   nothing of it; engine_platform.c stands between the two. */

#ifndef ENGINE_NET_H
#define ENGINE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum
{
    NET_NONE = -1 /* no connection */
};

typedef enum net_state
{
    NET_DIALING,
    NET_OPEN,
    NET_FAILED
} net_state;

/* A numeric IPv4 address, or the path of a unix socket with port 0. NET_NONE: it cannot even be tried. */
int net_dial(const char* host, uint16_t port);
net_state net_look(int connection);

/* Bytes moved; 0: none just now; -1: the connection is over. */
int net_write(int connection, const void* bytes, size_t size);
int net_read(int connection, void* bytes, size_t size);
void net_hang_up(int connection);

uint64_t engine_time_us(void);
bool engine_random(void* bytes, size_t size);

#endif
