/* posix.c -- platform.h for Linux, macOS and the BSDs: sockets, CLOCK_MONOTONIC, getrandom or
   /dev/urandom.

   On Windows this file is empty, so that one list of files (and the amalgamation) serves every system.

   Nothing here keeps state: a stream is a descriptor, and what the kernel knows of it is all there is to
   know. */

/* These say which names the system headers show, and only the first include of a translation unit
   listens to them. Where this file is pasted behind others, the block must therefore be repeated at the
   very top. */
#if !defined(_WIN32)
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE /* SO_NOSIGPIPE */
#endif
#endif

#include "guildhall/platform.h"

#if !defined(_WIN32) && !defined(GH_NO_DEFAULT_PLATFORM)

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/random.h>
#endif

#ifndef CLOCK_MONOTONIC
#error "define _POSIX_C_SOURCE as 200809L before the first include of this translation unit"
#endif

/* A peer that went away must be a return value. Without one of these two it would be a signal that ends
   the game. */
#if defined(MSG_NOSIGNAL)
#define GH_POSIX_SEND_FLAGS MSG_NOSIGNAL
#elif defined(SO_NOSIGPIPE)
#define GH_POSIX_SEND_FLAGS 0
#else
#error "this system has neither MSG_NOSIGNAL nor SO_NOSIGPIPE"
#endif

enum
{
    /* A game may live with a profiler that sends signals all the time. A call that they interrupt so
       often in a row is left for the next tick, because the tick must end. */
    GH_POSIX_INTERRUPTIONS_MAX = 8
};

typedef struct posix_endpoint
{
    union
    {
        struct sockaddr any;
        struct sockaddr_un local;
        struct sockaddr_in ipv4;
        struct sockaddr_in6 ipv6;
    } name;
    socklen_t size;
} posix_endpoint;

/* -----------------------------------------------------------------------------------------------------------
   Clock and entropy */

static uint64_t posix_now_us(void* context)
{
    (void)context;
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* fails only for a clock that does not exist */
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

#if defined(__linux__)
/* GRND_NONBLOCK: early after boot the kernel would rather let us wait until its pool is filled. False
   with errno. */
static bool posix_entropy_from_call(unsigned char* bytes, size_t size)
{
    int interruptions = 0;
    while (size > 0)
    {
        ssize_t count = getrandom(bytes, size, GRND_NONBLOCK);
        if (count > 0)
        {
            bytes += count;
            size -= (size_t)count;
        }
        else if (count == 0 || errno != EINTR || ++interruptions > GH_POSIX_INTERRUPTIONS_MAX)
        {
            return false;
        }
    }
    return true;
}
#endif

static bool posix_read_all(int file, unsigned char* bytes, size_t size)
{
    int interruptions = 0;
    while (size > 0)
    {
        ssize_t count = read(file, bytes, size);
        if (count > 0)
        {
            bytes += count;
            size -= (size_t)count;
        }
        else if (count == 0 || errno != EINTR || ++interruptions > GH_POSIX_INTERRUPTIONS_MAX)
        {
            return false;
        }
    }
    return true;
}

static bool posix_entropy_from_file(unsigned char* bytes, size_t size)
{
    int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool filled = posix_read_all(file, bytes, size);
    (void)close(file);
    return filled;
}

static bool posix_entropy(void* context, void* bytes, size_t size)
{
    (void)context;
#if defined(__linux__)
    if (posix_entropy_from_call(bytes, size)) return true;
    /* Only a kernel or a sandbox without the call sends us to the file. A pool that is not filled yet
       does not: the file would then hand out bytes that another machine of the same image may get as
       well. */
    if (errno != ENOSYS && errno != EPERM) return false;
#endif
    return posix_entropy_from_file(bytes, size);
}

/* -----------------------------------------------------------------------------------------------------------
   From gh_address to what connect takes */

static gh_status posix_endpoint_from_path(gh_str path, posix_endpoint* endpoint)
{
    struct sockaddr_un* local = &endpoint->name.local;
    if (path.size == 0 || path.size >= sizeof local->sun_path) return GH_INVALID_ADDRESS;
    /* The kernel would stop at a NUL and connect to another path; on Linux a leading one names no file
       at all. */
    if (memchr(path.bytes, 0, path.size) != NULL) return GH_INVALID_ADDRESS;
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path, path.bytes, path.size);
    endpoint->size = (socklen_t)sizeof *local;
    return GH_OK;
}

/* inet_pton alone decides what a number is: no names, no "127.1", no scope ("fe80::1%eth0"). */
static bool posix_parse_host(int family, gh_str host, void* number)
{
    char text[INET6_ADDRSTRLEN];
    if (host.size == 0 || host.size >= sizeof text) return false;
    if (memchr(host.bytes, 0, host.size) != NULL) return false;
    memcpy(text, host.bytes, host.size);
    text[host.size] = 0;
    return inet_pton(family, text, number) == 1;
}

static gh_status posix_endpoint_from_ipv4(gh_str host, uint16_t port, posix_endpoint* endpoint)
{
    struct sockaddr_in* ipv4 = &endpoint->name.ipv4;
    if (!posix_parse_host(AF_INET, host, &ipv4->sin_addr)) return GH_INVALID_ADDRESS;
    ipv4->sin_family = AF_INET;
    ipv4->sin_port = htons(port);
    endpoint->size = (socklen_t)sizeof *ipv4;
    return GH_OK;
}

static gh_status posix_endpoint_from_ipv6(gh_str host, uint16_t port, posix_endpoint* endpoint)
{
    struct sockaddr_in6* ipv6 = &endpoint->name.ipv6;
    if (!posix_parse_host(AF_INET6, host, &ipv6->sin6_addr)) return GH_INVALID_ADDRESS;
    ipv6->sin6_family = AF_INET6;
    ipv6->sin6_port = htons(port);
    endpoint->size = (socklen_t)sizeof *ipv6;
    return GH_OK;
}

static gh_status posix_endpoint_from(const gh_address* address, posix_endpoint* endpoint)
{
    memset(endpoint, 0, sizeof *endpoint);
    switch (address->kind)
    {
    case GH_ADDRESS_UNIX: return posix_endpoint_from_path(address->path, endpoint);
    case GH_ADDRESS_IPV4: return posix_endpoint_from_ipv4(address->host, address->port, endpoint);
    case GH_ADDRESS_IPV6: return posix_endpoint_from_ipv6(address->host, address->port, endpoint);
    }
    return GH_INVALID_ADDRESS;
}

/* -----------------------------------------------------------------------------------------------------------
   Sockets */

/* Without CLOEXEC a crash reporter that the game starts would inherit the connection and keep it open. */
static int posix_socket(int family)
{
#if defined(SOCK_CLOEXEC) && defined(SOCK_NONBLOCK)
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    int descriptor = socket(family, SOCK_STREAM, 0);
    if (descriptor < 0) return descriptor;
    bool private = fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0;
    bool non_blocking = fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0;
    if (private && non_blocking) return descriptor;
    (void)close(descriptor);
    return -1;
#endif
}

static bool posix_set_options(int descriptor, int family)
{
    const int on = 1;
#if defined(SO_NOSIGPIPE)
    if (setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on) != 0) return false;
#endif
    if (family == AF_UNIX) return true;
    /* A connection without these two is slower to answer and slower to be found dead, but it works. */
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    return true;
}

static bool posix_same_endpoint(const posix_endpoint* a, const posix_endpoint* b)
{
    if (a->name.any.sa_family != b->name.any.sa_family) return false;
    if (a->name.any.sa_family == AF_INET)
    {
        return a->name.ipv4.sin_port == b->name.ipv4.sin_port &&
               a->name.ipv4.sin_addr.s_addr == b->name.ipv4.sin_addr.s_addr;
    }
    if (a->name.any.sa_family == AF_INET6)
    {
        return a->name.ipv6.sin6_port == b->name.ipv6.sin6_port &&
               memcmp(&a->name.ipv6.sin6_addr, &b->name.ipv6.sin6_addr, sizeof a->name.ipv6.sin6_addr) == 0;
    }
    return false;
}

/* The socket says that it is connected; to whom? While no server listens on a port of this machine, TCP
   may draw that very port for our own end and then connect the socket to itself. Such a link would echo
   our requests, and it would keep the server from getting its port back. */
static gh_status posix_settled(int descriptor)
{
    posix_endpoint own;
    posix_endpoint peer;
    memset(&own, 0, sizeof own);
    memset(&peer, 0, sizeof peer);
    own.size = peer.size = (socklen_t)sizeof own.name;
    if (getpeername(descriptor, &peer.name.any, &peer.size) != 0) return GH_REFUSED;
    if (getsockname(descriptor, &own.name.any, &own.size) != 0) return GH_REFUSED;
    if (!posix_same_endpoint(&own, &peer)) return GH_OK;
    errno = ECONNREFUSED; /* what it should have said */
    return GH_REFUSED;
}

static gh_status posix_connect(int descriptor, const posix_endpoint* endpoint)
{
    if (connect(descriptor, &endpoint->name.any, endpoint->size) == 0) return posix_settled(descriptor);
    /* EINTR: the attempt goes on by itself, and a second connect would only be told EALREADY. EAGAIN is not
       in this list: a unix socket says it when the server's backlog is full. Nothing is under way then, and
       the caller has to try again with a new stream. */
    return errno == EINPROGRESS || errno == EINTR ? GH_PENDING : GH_REFUSED;
}

static gh_status posix_stream_open(void* context, const gh_address* address, intptr_t* stream)
{
    (void)context;
    posix_endpoint endpoint;
    gh_status status = posix_endpoint_from(address, &endpoint);
    if (status != GH_OK) return status;

    int family = endpoint.name.any.sa_family;
    int descriptor = posix_socket(family);
    if (descriptor < 0) return GH_REFUSED;

    status = posix_set_options(descriptor, family) ? posix_connect(descriptor, &endpoint) : GH_REFUSED;
    if (status == GH_REFUSED)
    {
        int reason = errno;
        (void)close(descriptor);
        errno = reason;
        return status;
    }
    *stream = descriptor;
    return status;
}

static gh_status posix_stream_connected(void* context, intptr_t stream)
{
    (void)context;
    struct pollfd waiting = {0};
    waiting.fd = (int)stream;
    waiting.events = POLLOUT;
    int ready = poll(&waiting, 1, 0);
    if (ready == 0 || (ready < 0 && errno == EINTR)) return GH_PENDING;
    if (ready < 0) return GH_REFUSED;

    int error = 0;
    socklen_t size = (socklen_t)sizeof error;
    if (getsockopt((int)stream, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return GH_REFUSED;
    if (error == 0) return posix_settled((int)stream);
    errno = error;
    return GH_REFUSED;
}

/* ENOBUFS is how some systems say that the buffers are full; the time-out of the oldest request bounds
   the wait. */
static int64_t posix_nothing_moved(int error)
{
    bool later = error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS || error == EINTR;
    return later ? GH_STREAM_WOULD_BLOCK : GH_STREAM_CLOSED;
}

static int64_t posix_stream_send(void* context, intptr_t stream, const void* bytes, size_t size)
{
    (void)context;
    if (size == 0) return GH_STREAM_WOULD_BLOCK;
    for (int i = 0; i <= GH_POSIX_INTERRUPTIONS_MAX; i++)
    {
        ssize_t count = send((int)stream, bytes, size, GH_POSIX_SEND_FLAGS);
        if (count >= 0) return count;
        if (errno != EINTR) return posix_nothing_moved(errno);
    }
    return GH_STREAM_WOULD_BLOCK;
}

static int64_t posix_stream_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    (void)context;
    if (size == 0) return GH_STREAM_WOULD_BLOCK; /* recv would return 0, which means something else */
    for (int i = 0; i <= GH_POSIX_INTERRUPTIONS_MAX; i++)
    {
        ssize_t count = recv((int)stream, bytes, size, 0);
        if (count > 0) return count;
        if (count == 0)
        {
            errno = 0; /* the peer's orderly end */
            return GH_STREAM_CLOSED;
        }
        if (errno != EINTR) return posix_nothing_moved(errno);
    }
    return GH_STREAM_WOULD_BLOCK;
}

/* Never repeated, not after EINTR either: the descriptor is gone by then, and may already be another
   thread's. */
static void posix_stream_close(void* context, intptr_t stream)
{
    (void)context;
    (void)close((int)stream);
}

/* strerror has its words from a locale, and may share its memory with other threads. */
static const char* posix_words(int error)
{
    switch (error)
    {
    case EACCES:
    case EPERM: return "permission denied";
    case EADDRNOTAVAIL: return "no local address or port is left for it";
    case EAFNOSUPPORT: return "this kind of address is not supported";
    case EAGAIN: return "the server's backlog is full";
    case ECONNABORTED: return "connection aborted";
    case ECONNREFUSED: return "connection refused";
    case ECONNRESET: return "connection reset by the peer";
    case EHOSTUNREACH: return "no route to the host";
    case EMFILE: return "this process has too many open files";
    case ENETDOWN: return "the network is down";
    case ENETUNREACH: return "the network is not reachable";
    case ENFILE: return "this machine has too many open files";
    case ENOBUFS:
    case ENOMEM: return "the kernel is out of memory";
    case ENOENT: return "no such file";
    case ENOTDIR: return "a part of the path is no folder";
    case ENOTSOCK: return "the file is no socket";
    case EPIPE: return "the peer has gone";
    case EPROTOTYPE: return "a socket of another kind";
    case ETIMEDOUT: return "no answer of the host in time";
    default: return NULL;
    }
}

static int posix_reason(void* context, const char** text)
{
    int error = errno;
    (void)context;
    *text = posix_words(error);
    return error;
}

const gh_platform* gh_platform_default(void)
{
    static const gh_platform platform = {
        .context = NULL,
        .now_us = posix_now_us,
        .entropy = posix_entropy,
        .open = posix_stream_open,
        .connected = posix_stream_connected,
        .send = posix_stream_send,
        .receive = posix_stream_receive,
        .close = posix_stream_close,
        .reason = posix_reason,
    };
    return &platform;
}

#endif
