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

uint64_t gh_client_generation(const gh_client* client, uint16_t route)
{
    return gh_node_of(client, route)->store_generation;
}

uint64_t gh_op_generation(const gh_op* op)
{
    return op->client->store_generation_heard;
}

bool gh_op_is_clustered(const gh_op* op)
{
    return gh_op_node(op)->clustered;
}

bool gh_op_watches_epoch(const gh_op* op)
{
    return gh_node_watches_epoch(gh_op_node(op));
}

uint64_t gh_op_quarantine_end(const gh_op* op)
{
    return gh_node_quarantine_end(gh_op_node(op));
}

uint64_t gh_op_store_birth(const gh_op* op)
{
    return gh_op_node(op)->store_birth_us;
}

uint32_t gh_op_link(const gh_op* op)
{
    return gh_op_node(op)->link.generation;
}

size_t gh_client_out_room(const gh_client* client)
{
    return client->config.out_bytes;
}
