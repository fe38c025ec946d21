/* proxy.h -- a bad network between the code under test and a server, good to the byte.

       client --- requests ---> proxy ---> server
              <--- replies ----       <---

   It passes bytes on as they come until something is armed. It runs on a thread of its own; all functions may
   be called at any time from the thread of the tests, and hold when they return. Ended by itself after the
   test.

   Connections are numbered 1, 2, ... in the order in which they were made. */

#ifndef GUILDHALL_TESTS_PROXY_H
#define GUILDHALL_TESTS_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum proxy_direction
{
    PROXY_REQUEST = 0, /* client to server */
    PROXY_REPLY = 1    /* server to client */
} proxy_direction;

typedef enum proxy_how
{
    PROXY_FIN, /* closes both sides in the ordinary way                                                */
    PROXY_RST, /* resets both sides on TCP; closes them on unix sockets                                */
    PROXY_HOLD /* keeps the bytes of that direction of that connection until proxy_release, also when the
                  client closes meanwhile: a request that is released then is a zombie                 */
} proxy_how;

typedef enum proxy_entrance
{
    PROXY_UNIX,
    PROXY_TCP
} proxy_entrance;

typedef enum proxy_mode
{
    PROXY_PASS,   /* new connections are passed on to the server                                   */
    PROXY_REFUSE, /* nobody listens: connecting fails                                              */
    PROXY_CLOSE,  /* new connections are accepted and closed                                       */
    PROXY_SWALLOW /* new connections are accepted, read from, and never answered; no server behind */
} proxy_mode;

#define PROXY_ANY_CONNECTION 0u

typedef struct chaos_proxy chaos_proxy;

/* Stands in front of that address ("unix:/path" or "127.0.0.1:PORT"), which need not be there yet. */
chaos_proxy* proxy_start(const char* server_address, proxy_entrance entrance);
void proxy_end(chaos_proxy* proxy);

/* What the client connects to. Valid until the end. */
const char* proxy_address(const chaos_proxy* proxy);

/* For connections from now on: another server, another behaviour. The start is PROXY_PASS. */
void proxy_set_server(chaos_proxy* proxy, const char* server_address);
void proxy_set_mode(chaos_proxy* proxy, proxy_mode mode);

/* Counts from now on: exactly `bytes` more bytes are passed on in that direction, then it happens, once.
   With 0 it happens when the next byte arrives, which is not passed on; otherwise as soon as the last of them
   was passed on. Armed several times, each begins to count when the one before has happened, up to 16 in the
   queue. The second form counts the bytes of one connection alone; the first those of all together. */
void proxy_arm(chaos_proxy* proxy, proxy_direction direction, uint64_t bytes, proxy_how how);
void proxy_arm_connection(chaos_proxy* proxy, uint64_t connection, proxy_direction direction, uint64_t bytes,
                          proxy_how how);

/* Forgets what is armed and has not happened. */
void proxy_disarm(chaos_proxy* proxy);

/* How many of the armed things have happened since the start. */
uint64_t proxy_fired(chaos_proxy* proxy);

/* Lets go of everything that is held back. */
void proxy_release(chaos_proxy* proxy);

/* Does it to all connections now. */
void proxy_cut_now(chaos_proxy* proxy, proxy_how how);

/* Passes on at most `size` bytes at a time in that direction, at least pause_us apart. From a unix socket
   entrance the next piece leaves only when the one before was read, so each read sees one piece. Size 0: no
   limit again. */
void proxy_chop(chaos_proxy* proxy, proxy_direction direction, size_t size, uint64_t pause_us);

/* Sets the byte counts to zero; proxy_bytes tells what was passed on since then, over all connections, and
   proxy_connection_bytes on one of them (the newest 64 are remembered, 0 for others). Read after the
   operation's reply was seen, they are exact: they are counted before the receiver can know of the bytes. */
void proxy_mark(chaos_proxy* proxy);
uint64_t proxy_bytes(chaos_proxy* proxy, proxy_direction direction);
uint64_t proxy_connection_bytes(chaos_proxy* proxy, uint64_t connection, proxy_direction direction);

/* How many connections were accepted since the start (the number of the newest), and how many are open. */
uint64_t proxy_connections(chaos_proxy* proxy);
size_t proxy_open_connections(chaos_proxy* proxy);

#endif
