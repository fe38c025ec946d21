/* room.c -- what the client has room for, for those who begin several ops at once. */

#include "client/state.h"

uint32_t gh_client_ops_room(const gh_client* client)
{
    return client->timers.capacity - client->timers.count;
}
