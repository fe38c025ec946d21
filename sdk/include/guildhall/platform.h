/* guildhall/platform.h -- all that Guildhall asks of an operating system: a clock, entropy, non-blocking streams.

   Guildhall calls an operating system through this table and in no other way, so an engine with its own sockets, or a
   test with virtual time, hands in its own table. No function here may block.

   Threads  every function is called on the thread that calls gh_tick (entropy: gh_client_init).
   Memory   nothing is allocated; a stream is whatever fits into an intptr_t: a descriptor, a SOCKET, an index, a
            pointer, of which some are below zero. -1 is what gh_client_fd says where there is none. */

#ifndef GUILDHALL_PLATFORM_H
#define GUILDHALL_PLATFORM_H

#include "guildhall/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gh_address_kind
{
    GH_ADDRESS_UNIX = 1, /* path        */
    GH_ADDRESS_IPV4,     /* host, port  */
    GH_ADDRESS_IPV6      /* host, port  */
} gh_address_kind;

/* A parsed address; the strings are views and live as long as the client. Hosts are numeric, always. */
typedef struct gh_address
{
    gh_address_kind kind;
    gh_str path;   /* GH_ADDRESS_UNIX: 1..100 bytes, no NUL   */
    gh_str host;   /* without brackets                        */
    uint16_t port; /* 1..65535                                */
    gh_str name;   /* the host's name, if a resolver has made the number of it, or a Cluster's node announces it; else
                      empty. TLS looks at it */
} gh_address;

/* What send and receive return besides a count of bytes. */
enum
{
    GH_STREAM_WOULD_BLOCK = 0, /* nothing moved now; try at the next tick      */
    GH_STREAM_CLOSED = -1      /* the peer closed it, or it failed; close it   */
};

typedef struct gh_platform
{
    void* context; /* handed to each function */

    /* Monotonic microseconds. Used inside a tick that has a budget, to see how much of it is spent, and by
       gh_client_tick for what time it is; gh_tick is told that by its caller. */
    uint64_t (*now_us)(void* context);

    /* Fills the bytes from the operating system's generator. False if it cannot. */
    bool (*entropy)(void* context, void* bytes, size_t size);

    /* Begins to connect. GH_OK: connected. GH_PENDING: ask connected(). Else it failed and there is no stream:
       GH_INVALID_ADDRESS (the host is not a number after all) or GH_REFUSED. */
    gh_status (*open)(void* context, const gh_address* address, intptr_t* stream);

    /* GH_OK, GH_PENDING, or GH_REFUSED: close it then. */
    gh_status (*connected)(void* context, intptr_t stream);

    /* Bytes moved (1..size), GH_STREAM_WOULD_BLOCK or GH_STREAM_CLOSED. Must not raise SIGPIPE. */
    int64_t (*send)(void* context, intptr_t stream, const void* bytes, size_t size);
    int64_t (*receive)(void* context, intptr_t stream, void* bytes, size_t size);

    void (*close)(void* context, intptr_t stream);

    /* Why the last open, connected, send or receive on this thread failed, asked at once after it and before close: the
       operating system's number, and in *text a few words for it (static; NULL: none but the number). 0: no reason, the
       peer has ended the connection in good order. For the log alone. May be NULL. */
    int (*reason)(void* context, const char** text);
} gh_platform;

/* The table for this operating system (platform/posix or platform/windows). Static; never NULL. Define
   GH_NO_DEFAULT_PLATFORM, also where Guildhall is compiled, where there is none of them: samples/engine_platform. */
#if !defined(GH_NO_DEFAULT_PLATFORM)
GH_API const gh_platform* gh_platform_default(void);
#endif

#ifdef __cplusplus
}
#endif

#endif
