/* ask.c -- what a step may ask of the client; its times are in clock.c. */

#include "client/state.h"

uint32_t gh_client_ops_busy(const gh_client* client)
{
    return client->timers.count;
}

uint32_t gh_client_ops_room(const gh_client* client)
{
    return client->timers.capacity - client->timers.count;
}

uint32_t gh_client_reply_bytes(const gh_client* client)
{
    return client->config.reply_bytes;
}

uint32_t gh_client_reply_nodes(const gh_client* client)
{
    return client->config.reply_nodes;
}

bool gh_client_wake_healthy(const gh_client* client)
{
    return client->wake.state == GH_LINK_READY;
}

uint64_t gh_client_request_timeout(const gh_client* client)
{
    return client->config.request_timeout_us;
}

uint64_t gh_client_generation(const gh_client* client)
{
    return client->store_generation;
}

bool gh_client_watches_epoch(const gh_client* client)
{
    return client->config.quarantine_us != 0 && !client->clustered;
}

uint64_t gh_client_quarantine_end(const gh_client* client)
{
    return client->config.quarantine_us == 0 ? 0 : client->store_birth_us + client->config.quarantine_us;
}

uint64_t gh_client_store_birth(const gh_client* client)
{
    return client->store_birth_us;
}

uint32_t gh_client_link(const gh_client* client)
{
    return client->commands.generation;
}

size_t gh_client_out_room(const gh_client* client)
{
    return client->config.out_bytes;
}
