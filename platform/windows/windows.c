/* windows.c -- platform.h for Windows 7 and later: Winsock 2, QueryPerformanceCounter, BCryptGenRandom.

   Link with ws2_32 and bcrypt. On other systems this file is empty, so that one list of files serves
   every system.

   Unix sockets need Windows 10 1803 and a SDK that has afunix.h; elsewhere such an address is
   GH_REFUSED.

   Winsock wants to be started before its first use in a process. The first open() of any client on any
   thread does it, once (see windows_start). It stays started until the process ends: a WSACleanup after
   the last stream would make the next reconnect load Winsock's libraries again, in the middle of a
   frame. */

#if defined(_WIN32)
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0601
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN /* or windows.h brings the first Winsock, which quarrels with the second */
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#endif

#include "guildhall/platform.h"

#if defined(_WIN32) && !defined(GH_NO_DEFAULT_PLATFORM)

#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>
#include <bcrypt.h>
#include <limits.h>
#if defined(__has_include)
#if __has_include(<afunix.h>)
#include <afunix.h>
#define GH_WINDOWS_HAS_UNIX 1
#endif
#endif

#ifndef WSA_FLAG_NO_HANDLE_INHERIT
#define WSA_FLAG_NO_HANDLE_INHERIT 0x80
#endif

#if defined(_MSC_VER)
#pragma comment(lib, "ws2_32.lib")
#pragma comment(lib, "bcrypt.lib")
#endif

_Static_assert(sizeof(SOCKET) <= sizeof(intptr_t), "a stream must be able to hold a SOCKET");

typedef struct windows_endpoint
{
    union
    {
        struct sockaddr any;
#if defined(GH_WINDOWS_HAS_UNIX)
        struct sockaddr_un local;
#endif
        struct sockaddr_in ipv4;
        struct sockaddr_in6 ipv6;
    } name;
    int size;
} windows_endpoint;

/* -----------------------------------------------------------------------------------------------------------
   Clock and entropy */

static uint64_t windows_now_us(void* context)
{
    (void)context;
    LARGE_INTEGER frequency;
    LARGE_INTEGER counter;
    (void)QueryPerformanceFrequency(&frequency); /* neither can fail since Windows XP */
    (void)QueryPerformanceCounter(&counter);
    uint64_t ticks = (uint64_t)counter.QuadPart;
    uint64_t per_second = (uint64_t)frequency.QuadPart;
    /* In two parts: the product of all ticks and a million would overflow after some weeks. */
    return ticks / per_second * 1000000u + ticks % per_second * 1000000u / per_second;
}

static bool windows_entropy(void* context, void* bytes, size_t size)
{
    (void)context;
    unsigned char* next = bytes;
    while (size > 0)
    {
        ULONG part = size < ULONG_MAX ? (ULONG)size : ULONG_MAX;
        if (BCryptGenRandom(NULL, next, part, BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0) return false;
        next += part;
        size -= part;
    }
    return true;
}

/* -----------------------------------------------------------------------------------------------------------
   From gh_address to what connect takes */

static gh_status windows_endpoint_from_path(gh_str path, windows_endpoint* endpoint)
{
#if defined(GH_WINDOWS_HAS_UNIX)
    struct sockaddr_un* local = &endpoint->name.local;
    if (path.size == 0 || path.size >= sizeof local->sun_path) return GH_INVALID_ADDRESS;
    if (memchr(path.bytes, 0, path.size) != NULL) return GH_INVALID_ADDRESS; /* Windows would stop there */
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path, path.bytes, path.size);
    endpoint->size = (int)sizeof *local;
    return GH_OK;
#else
    (void)path;
    (void)endpoint;
    return GH_REFUSED;
#endif
}

/* inet_pton alone decides what a number is: no names, no "127.1", no scope ("fe80::1%3"). */
static bool windows_parse_host(int family, gh_str host, void* number)
{
    char text[INET6_ADDRSTRLEN];
    if (host.size == 0 || host.size >= sizeof text) return false;
    if (memchr(host.bytes, 0, host.size) != NULL) return false;
    memcpy(text, host.bytes, host.size);
    text[host.size] = 0;
    return inet_pton(family, text, number) == 1;
}

static gh_status windows_endpoint_from_ipv4(gh_str host, uint16_t port, windows_endpoint* endpoint)
{
    struct sockaddr_in* ipv4 = &endpoint->name.ipv4;
    if (!windows_parse_host(AF_INET, host, &ipv4->sin_addr)) return GH_INVALID_ADDRESS;
    ipv4->sin_family = AF_INET;
    ipv4->sin_port = htons(port);
    endpoint->size = (int)sizeof *ipv4;
    return GH_OK;
}

static gh_status windows_endpoint_from_ipv6(gh_str host, uint16_t port, windows_endpoint* endpoint)
{
    struct sockaddr_in6* ipv6 = &endpoint->name.ipv6;
    if (!windows_parse_host(AF_INET6, host, &ipv6->sin6_addr)) return GH_INVALID_ADDRESS;
    ipv6->sin6_family = AF_INET6;
    ipv6->sin6_port = htons(port);
    endpoint->size = (int)sizeof *ipv6;
    return GH_OK;
}

static gh_status windows_endpoint_from(const gh_address* address, windows_endpoint* endpoint)
{
    memset(endpoint, 0, sizeof *endpoint);
    switch (address->kind)
    {
    case GH_ADDRESS_UNIX: return windows_endpoint_from_path(address->path, endpoint);
    case GH_ADDRESS_IPV4: return windows_endpoint_from_ipv4(address->host, address->port, endpoint);
    case GH_ADDRESS_IPV6: return windows_endpoint_from_ipv6(address->host, address->port, endpoint);
    }
    return GH_INVALID_ADDRESS;
}

/* -----------------------------------------------------------------------------------------------------------
   Sockets */

static BOOL CALLBACK windows_start_once(PINIT_ONCE once, PVOID parameter, PVOID* result)
{
    (void)once;
    (void)parameter;
    (void)result;
    WSADATA data;
    return WSAStartup(MAKEWORD(2, 2), &data) == 0;
}

/* The one variable of the process that Guildhall keeps on Windows. A start that failed leaves it as it
   was, so that the next open tries again. */
static bool windows_start(void)
{
    static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
    return InitOnceExecuteOnce(&once, windows_start_once, NULL, NULL) != FALSE;
}

/* Not inherited: a crash reporter that the game starts would keep the connection open. */
static SOCKET windows_socket(int family)
{
    int protocol = family == AF_INET || family == AF_INET6 ? IPPROTO_TCP : 0;
    DWORD flags = WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT;
    return WSASocketW(family, SOCK_STREAM, protocol, NULL, 0, flags);
}

static bool windows_set_options(SOCKET handle, int family)
{
    u_long non_blocking = 1;
    if (ioctlsocket(handle, (long)FIONBIO, &non_blocking) != 0) return false;
    if (family != AF_INET && family != AF_INET6) return true;
    /* A connection without these two is slower to answer and slower to be found dead, but it works. */
    const BOOL on = TRUE;
    (void)setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, (const char*)&on, (int)sizeof on);
    (void)setsockopt(handle, SOL_SOCKET, SO_KEEPALIVE, (const char*)&on, (int)sizeof on);
    return true;
}

static bool windows_same_endpoint(const windows_endpoint* a, const windows_endpoint* b)
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
static gh_status windows_settled(SOCKET handle)
{
    windows_endpoint own;
    windows_endpoint peer;
    memset(&own, 0, sizeof own);
    memset(&peer, 0, sizeof peer);
    own.size = peer.size = (int)sizeof own.name;
    if (getpeername(handle, &peer.name.any, &peer.size) != 0) return GH_REFUSED;
    if (getsockname(handle, &own.name.any, &own.size) != 0) return GH_REFUSED;
    if (!windows_same_endpoint(&own, &peer)) return GH_OK;
    WSASetLastError(WSAECONNREFUSED); /* what it should have said */
    return GH_REFUSED;
}

static gh_status windows_connect(SOCKET handle, const windows_endpoint* endpoint)
{
    if (connect(handle, &endpoint->name.any, endpoint->size) == 0) return windows_settled(handle);
    return WSAGetLastError() == WSAEWOULDBLOCK ? GH_PENDING : GH_REFUSED;
}

static gh_status windows_stream_open(void* context, const gh_address* address, intptr_t* stream)
{
    (void)context;
    if (!windows_start()) return GH_REFUSED; /* first: inet_pton needs Winsock, too */
    windows_endpoint endpoint;
    gh_status status = windows_endpoint_from(address, &endpoint);
    if (status != GH_OK) return status;

    int family = endpoint.name.any.sa_family;
    SOCKET handle = windows_socket(family);
    if (handle == INVALID_SOCKET) return GH_REFUSED;

    status = windows_set_options(handle, family) ? windows_connect(handle, &endpoint) : GH_REFUSED;
    if (status == GH_REFUSED)
    {
        int reason = WSAGetLastError();
        (void)closesocket(handle);
        WSASetLastError(reason);
        return status;
    }
    *stream = (intptr_t)handle;
    return status;
}

/* select, not WSAPoll: before Windows 10 2004 the latter never reports a connect that failed. One socket
   always fits into an fd_set here, whatever its number is. */
static gh_status windows_stream_connected(void* context, intptr_t stream)
{
    (void)context;
    SOCKET handle = (SOCKET)stream;
    fd_set writable = {.fd_count = 1, .fd_array = {handle}};
    fd_set failed = {.fd_count = 1, .fd_array = {handle}};
    struct timeval no_wait = {0, 0};
    int ready = select(0, NULL, &writable, &failed, &no_wait);
    if (ready == 0) return GH_PENDING;
    if (ready == SOCKET_ERROR) return GH_REFUSED;

    int error = 0;
    int size = (int)sizeof error;
    if (getsockopt(handle, SOL_SOCKET, SO_ERROR, (char*)&error, &size) != 0) return GH_REFUSED;
    if (failed.fd_count == 0 && error == 0) return windows_settled(handle);
    WSASetLastError(error);
    return GH_REFUSED;
}

/* WSAENOBUFS is said of a large send when memory is short; the time-out of the oldest request bounds the
   wait. */
static int64_t windows_nothing_moved(int error)
{
    bool later = error == WSAEWOULDBLOCK || error == WSAENOBUFS || error == WSAEINTR;
    return later ? GH_STREAM_WOULD_BLOCK : GH_STREAM_CLOSED;
}

static int windows_part(size_t size)
{
    return size < INT_MAX ? (int)size : INT_MAX;
}

static int64_t windows_stream_send(void* context, intptr_t stream, const void* bytes, size_t size)
{
    (void)context;
    if (size == 0) return GH_STREAM_WOULD_BLOCK;
    int count = send((SOCKET)stream, bytes, windows_part(size), 0);
    return count >= 0 ? count : windows_nothing_moved(WSAGetLastError());
}

static int64_t windows_stream_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    (void)context;
    if (size == 0) return GH_STREAM_WOULD_BLOCK; /* recv would return 0, which means something else */
    int count = recv((SOCKET)stream, bytes, windows_part(size), 0);
    if (count > 0) return count;
    if (count == 0)
    {
        WSASetLastError(0); /* the peer's orderly end */
        return GH_STREAM_CLOSED;
    }
    return windows_nothing_moved(WSAGetLastError());
}

static void windows_stream_close(void* context, intptr_t stream)
{
    (void)context;
    (void)closesocket((SOCKET)stream);
}

/* FormatMessage has its words from the user's language. */
static const char* windows_words(int error)
{
    switch (error)
    {
    case WSAEACCES: return "permission denied";
    case WSAEADDRNOTAVAIL: return "no local address or port is left for it";
    case WSAEAFNOSUPPORT: return "this kind of address is not supported";
    case WSAECONNABORTED: return "connection aborted";
    case WSAECONNREFUSED: return "connection refused";
    case WSAECONNRESET: return "connection reset by the peer";
    case WSAEHOSTUNREACH: return "no route to the host";
    case WSAEMFILE: return "this process has too many open sockets";
    case WSAENETDOWN: return "the network is down";
    case WSAENETRESET: return "the network has dropped the connection";
    case WSAENETUNREACH: return "the network is not reachable";
    case WSAENOBUFS: return "the system is out of memory";
    case WSAETIMEDOUT: return "no answer of the host in time";
    default: return NULL;
    }
}

static int windows_reason(void* context, const char** text)
{
    int error = WSAGetLastError();
    (void)context;
    *text = windows_words(error);
    return error;
}

const gh_platform* gh_platform_default(void)
{
    static const gh_platform platform = {
        .context = NULL,
        .now_us = windows_now_us,
        .entropy = windows_entropy,
        .open = windows_stream_open,
        .connected = windows_stream_connected,
        .send = windows_stream_send,
        .receive = windows_stream_receive,
        .close = windows_stream_close,
        .reason = windows_reason,
    };
    return &platform;
}

#endif
