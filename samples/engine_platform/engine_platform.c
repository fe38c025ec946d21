/* engine_platform.c -- the table of platform.h over net.h: this is all that Guildhall needs of a new system. */

#include "engine_platform.h"

#include "net.h"

#include <string.h>

enum
{
    HOST_SIZE = 101 /* of a gh_address: at most 100 bytes, and a zero */
};

static uint64_t platform_now_us(void* context)
{
    (void)context;
    return engine_time_us();
}

static bool platform_entropy(void* context, void* bytes, size_t size)
{
    (void)context;
    return engine_random(bytes, size);
}

/* Views become texts that end with a zero, as this engine wants them. */
static gh_status platform_open(void* context, const gh_address* address, intptr_t* stream)
{
    (void)context;
    char host[HOST_SIZE];
    gh_str text = address->kind == GH_ADDRESS_UNIX ? address->path : address->host;
    if (address->kind == GH_ADDRESS_IPV6 || text.size >= sizeof(host)) return GH_INVALID_ADDRESS; /* it has none */
    memcpy(host, text.bytes, text.size);
    host[text.size] = 0;
    int connection = net_dial(host, address->kind == GH_ADDRESS_UNIX ? 0 : address->port);
    if (connection == NET_NONE) return GH_REFUSED;
    *stream = connection;
    return GH_PENDING;
}

static gh_status platform_connected(void* context, intptr_t stream)
{
    (void)context;
    switch (net_look((int)stream))
    {
    case NET_DIALING: return GH_PENDING;
    case NET_OPEN: return GH_OK;
    case NET_FAILED: break;
    }
    return GH_REFUSED;
}

/* What net.h says is what platform.h wants: a count, 0 for later, -1 for the end. */
static int64_t platform_send(void* context, intptr_t stream, const void* bytes, size_t size)
{
    (void)context;
    return net_write((int)stream, bytes, size);
}

static int64_t platform_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    (void)context;
    return net_read((int)stream, bytes, size);
}

static void platform_close(void* context, intptr_t stream)
{
    (void)context;
    net_hang_up((int)stream);
}

const gh_platform* engine_platform(void)
{
    static const gh_platform platform = {
        .now_us = platform_now_us,
        .entropy = platform_entropy,
        .open = platform_open,
        .connected = platform_connected,
        .send = platform_send,
        .receive = platform_receive,
        .close = platform_close,
    };
    return &platform;
}
