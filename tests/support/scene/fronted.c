/* fronted.c -- a config for a fleet, and connections that go by a proxy. */

#include "support/scene/fronted.h"

#include "support/server/front.h"
#include "support/server/sentinels.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fronted_way
{
    gh_platform platform; /* its context is this */
    front_way way;
};

static unsigned long fleets, others;

void fronted_print(void)
{
    printf("%lu clients had a fleet, %lu did not: none is at their addresses\n", fleets, others);
}

/* Doors are ports of 127.0.0.1, or unix sockets. */
static gh_address address_of(const char* door)
{
    gh_address address = {0};
    if (strncmp(door, "unix:", 5) == 0)
    {
        address.kind = GH_ADDRESS_UNIX;
        address.path = gh_str_of(door + 5);
        return address;
    }
    address.kind = GH_ADDRESS_IPV4;
    address.host = gh_str_literal("127.0.0.1");
    address.port = (uint16_t)atoi(strrchr(door, ':') + 1);
    return address;
}

static gh_status open_door(void* context, const gh_address* wanted, intptr_t* stream)
{
    const fronted_way* self = context;
    const gh_platform* real = gh_platform_default();
    const char* node;
    for (size_t i = 0; (node = front_node(self->way.front, i)) != NULL; i++)
    {
        if (self->way.doors[i][0] == '\0' || atoi(strrchr(node, ':') + 1) != wanted->port) continue;
        gh_address address = address_of(self->way.doors[i]);
        return real->open(real->context, &address, stream);
    }
    return real->open(real->context, wanted, stream);
}

static const front_way* way_of(const gh_client_config* config)
{
    char text[FRONT_ADDRESS_SIZE];
    snprintf(text, sizeof(text), "%.*s", (int)config->address.size, config->address.bytes);
    return front_find(text);
}

bool fronted_dress(gh_client_config* config)
{
    const front_way* way = way_of(config);
    if (way == NULL) return false;
    config->address = gh_str_of(front_seeds(way->front));
    config->topology = suite_store() == SUITE_CLUSTER ? gh_topology_cluster() : gh_topology_sentinel();
    if (suite_store() == SUITE_SENTINEL) config->sentinel_name = gh_str_literal(SENTINELS_NAME);
    return true;
}

fronted_way* fronted_open(gh_client_config* config)
{
    const front_way* way = way_of(config);
    if (way == NULL)
    {
        others++;
        return NULL;
    }
    fleets++;
    fronted_way* self = calloc(1, sizeof(*self));
    assert_non_null(self);
    self->way = *way;
    self->platform = *gh_platform_default();
    self->platform.context = self;
    self->platform.open = open_door;
    fronted_dress(config);
    return self;
}

const char* fronted_word(size_t node)
{
    static const char* const words[] = {"b", "c", "a"}; /* slots 3300, 7365, 15495 */
    return suite_store() == SUITE_CLUSTER && node < sizeof(words) / sizeof(words[0]) ? words[node] : NULL;
}

const gh_platform* fronted_platform(fronted_way* way, const gh_platform* otherwise)
{
    return way == NULL ? otherwise : &way->platform;
}

void fronted_close(fronted_way* way)
{
    free(way);
}
