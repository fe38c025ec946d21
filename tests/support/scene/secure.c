/* secure.c -- a gh_tls for a client, with the authority of papers.h and the name that the servers' certificate has. */

#include "support/scene/secure.h"

#include "support/server/doors.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long secured, plain;

void secure_print(void)
{
    printf("%lu clients spoke TLS, %lu did not: nobody does at their addresses\n", secured, plain);
}

#if defined(GH_WITH_TLS)

#include "support/server/papers.h"

#include "guildhall/tls.h"

struct secure_way
{
    gh_platform inner; /* leads to the doors; its context is this */
    gh_tls* tls;
    void* block;
    char door[DOOR_SIZE];
};

bool secure_is_there(void)
{
    return true;
}

/* As tests write it. */
static void write_address(const gh_address* address, char text[DOOR_SIZE])
{
    const int host_size = (int)address->host.size;
    if (address->kind == GH_ADDRESS_UNIX)
        snprintf(text, DOOR_SIZE, "unix:%.*s", (int)address->path.size, address->path.bytes);
    else if (address->kind == GH_ADDRESS_IPV6)
        snprintf(text, DOOR_SIZE, "[%.*s]:%u", host_size, address->host.bytes, address->port);
    else snprintf(text, DOOR_SIZE, "%.*s:%u", host_size, address->host.bytes, address->port);
}

/* Doors are unix sockets and ports of 127.0.0.1. */
static gh_address address_of(const char* door)
{
    gh_address address = {0};
    if (strncmp(door, "unix:", 5) == 0)
    {
        address.kind = GH_ADDRESS_UNIX;
        address.path = gh_str_of(door + 5);
        return address;
    }
    const char* colon = strrchr(door, ':');
    assert_non_null(colon);
    address.kind = GH_ADDRESS_IPV4;
    address.host = gh_str_make(door, (size_t)(colon - door));
    address.port = (uint16_t)atoi(colon + 1);
    return address;
}

/* Who has gone has no door any more: that connection fails as it would have without TLS. */
static gh_status open_door(void* context, const gh_address* wanted, intptr_t* stream)
{
    secure_way* way = context;
    const gh_platform* real = gh_platform_default();
    char text[DOOR_SIZE];
    write_address(wanted, text);
    if (!doors_find(text, way->door)) return real->open(real->context, wanted, stream);
    gh_address address = address_of(way->door);
    return real->open(real->context, &address, stream);
}

static bool has_door(gh_str address)
{
    char text[DOOR_SIZE], door[DOOR_SIZE];
    if (address.size >= sizeof(text)) return false;
    snprintf(text, sizeof(text), "%.*s", (int)address.size, address.bytes);
    return doors_find(text, door);
}

secure_way* secure_open(gh_str address)
{
    if (!suite_tls()) return NULL;
    if (!has_door(address))
    {
        plain++;
        return NULL;
    }
    secured++;
    secure_way* way = calloc(1, sizeof(*way));
    assert_non_null(way);
    way->inner = *gh_platform_default();
    way->inner.context = way;
    way->inner.open = open_door;
    gh_tls_config config = gh_tls_config_default();
    config.credentials.roots = papers_read("root.pem");
    config.server_name = gh_str_literal("localhost");
    config.steps_per_tick = 64;  /* tests of TLS itself look at that */
    config.streams_capacity = 8; /* with those of config.replicas, and of Sentinels */
    size_t size = gh_tls_memory(&config);
    assert_int_equal(posix_memalign(&way->block, 16, size), 0);
    memset(way->block, 0xa5, size);
    assert_int_equal(gh_tls_init(way->block, size, &config, &way->inner, &way->tls), GH_OK);
    return way;
}

const gh_platform* secure_platform(secure_way* way)
{
    return way == NULL ? gh_platform_default() : gh_tls_platform(way->tls);
}

void secure_close(secure_way* way)
{
    if (way == NULL) return;
    gh_tls_shutdown(way->tls);
    free(way->block);
    free(way);
}

#else

bool secure_is_there(void)
{
    return false;
}

secure_way* secure_open(gh_str address)
{
    (void)address;
    return NULL;
}

const gh_platform* secure_platform(secure_way* way)
{
    (void)way;
    return gh_platform_default();
}

void secure_close(secure_way* way)
{
    (void)way;
}

#endif
