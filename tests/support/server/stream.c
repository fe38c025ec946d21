/* stream.c -- sockets with their addresses, made and connected. */

#include "support/server/stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define OWN_PORTS_BEGIN 10000
#define SLICE_PORTS     110 /* so that all are below those that Cluster nodes add for their bus */
#define SLICES          88

static bool unix_address(const char* path, struct sockaddr_un* address)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof(address->sun_path)) return false;
    memcpy(address->sun_path, path, strlen(path) + 1);
    return true;
}

static int connect_unix(const char* path)
{
    struct sockaddr_un address;
    errno = ENAMETOOLONG;
    if (!unix_address(path, &address)) return -1;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    if (connect(descriptor, (struct sockaddr*)&address, sizeof(address)) == 0) return descriptor;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

static int connect_tcp(const char* address)
{
    char host[128];
    const char* colon = strrchr(address, ':');
    errno = EINVAL;
    if (colon == NULL) return -1;
    bool brackets = address[0] == '[' && colon > address + 1 && colon[-1] == ']';
    size_t size = (size_t)(colon - address) - (brackets ? 2 : 0);
    if (size >= sizeof(host)) return -1;
    memcpy(host, address + (brackets ? 1 : 0), size);
    host[size] = '\0';

    struct addrinfo wanted;
    struct addrinfo* found = NULL;
    memset(&wanted, 0, sizeof(wanted));
    wanted.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, colon + 1, &wanted, &found) != 0) return -1;
    int descriptor = -1;
    for (struct addrinfo* each = found; each != NULL && descriptor < 0; each = each->ai_next)
    {
        descriptor = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (descriptor >= 0 && connect(descriptor, each->ai_addr, each->ai_addrlen) != 0)
        {
            int reason = errno;
            close(descriptor);
            descriptor = -1;
            errno = reason;
        }
    }
    freeaddrinfo(found);
    int on = 1;
    if (descriptor >= 0) setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return descriptor;
}

int stream_connect(const char* address)
{
    return strncmp(address, "unix:", 5) == 0 ? connect_unix(address + 5) : connect_tcp(address);
}

static int listen_on(int descriptor, const struct sockaddr* address, socklen_t size)
{
    if (descriptor < 0) return -1;
    if (bind(descriptor, address, size) == 0 && listen(descriptor, 64) == 0)
    {
        stream_set_nonblocking(descriptor);
        return descriptor;
    }
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

int stream_listen_unix(const char* path)
{
    struct sockaddr_un address;
    errno = ENAMETOOLONG;
    if (!unix_address(path, &address)) return -1;
    unlink(path);
    return listen_on(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), (struct sockaddr*)&address, sizeof(address));
}

static int listen_at(bool six, uint16_t* port)
{
    struct sockaddr_in four_address;
    struct sockaddr_in6 six_address;
    memset(&four_address, 0, sizeof(four_address));
    memset(&six_address, 0, sizeof(six_address));
    four_address.sin_family = AF_INET;
    four_address.sin_port = htons(*port);
    four_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    six_address.sin6_family = AF_INET6;
    six_address.sin6_port = htons(*port);
    six_address.sin6_addr = in6addr_loopback;

    int on = 1;
    int descriptor = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    descriptor = six ? listen_on(descriptor, (struct sockaddr*)&six_address, sizeof(six_address))
                     : listen_on(descriptor, (struct sockaddr*)&four_address, sizeof(four_address));
    if (descriptor < 0) return -1;

    socklen_t size = six ? sizeof(six_address) : sizeof(four_address);
    getsockname(descriptor, six ? (struct sockaddr*)&six_address : (struct sockaddr*)&four_address, &size);
    *port = ntohs(six ? six_address.sin6_port : four_address.sin_port);
    return descriptor;
}

/* True if the slice is this process' until it ends: a name in the kernel that only one can have, and that goes with it.
   Servers do not inherit it. */
static bool claim_slice(unsigned slice)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int size = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "guildhall ports %u", slice);
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
    if (descriptor >= 0 && bind(descriptor, (struct sockaddr*)&name, length) == 0) return true;
    if (descriptor >= 0) close(descriptor);
    return false;
}

static unsigned find_slice(void)
{
    unsigned first = (unsigned)getpid() % SLICES;
    for (unsigned i = 0; i < SLICES; i++)
        if (claim_slice((first + i) % SLICES)) return (first + i) % SLICES;
    return first;
}

/* Each process draws from ports of its own, in turn and below those that the kernel gives to connections: a port whose
   server is away for a moment must not become that of another run which happens at the same time. */
static uint16_t next_own_port(void)
{
    static unsigned turn, slice;
    static pid_t owner; /* who is forked has a slice of its own */
    if (owner != getpid()) slice = find_slice();
    owner = getpid();
    return (uint16_t)(OWN_PORTS_BEGIN + slice * SLICE_PORTS + turn++ % SLICE_PORTS);
}

int stream_listen_tcp(bool six, uint16_t* port)
{
    if (*port != 0) return listen_at(six, port);
    for (int i = 0; i < SLICE_PORTS; i++)
    {
        *port = next_own_port();
        int descriptor = listen_at(six, port);
        if (descriptor >= 0) return descriptor;
    }
    *port = 0;
    return listen_at(six, port);
}

void stream_set_nonblocking(int descriptor)
{
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

bool stream_is_unix(int descriptor)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    return getsockname(descriptor, (struct sockaddr*)&address, &size) == 0 && address.ss_family == AF_UNIX;
}
