/* changes.c -- what happened: ops whose status has changed, oldest change first, until the caller has seen them.

       status changes --> changed, in the tick --the tick ends--> to be seen --gh_client_next--> in neither
                              |                                        |
                              '---------- a begin, a shutdown ---------'

   An op that changes again while it is in either ring stays where it is, and is seen with its last status. */

#include "client/state.h"

static gh_op* op_of_change(gh_ring* link)
{
    return (gh_op*)(void*)((char*)link - offsetof(gh_op, change));
}

void gh_changes_init(gh_client* client)
{
    gh_ring_init(&client->changed);
    gh_ring_init(&client->to_be_seen);
}

void gh_changes_note(gh_client* client, gh_op* op)
{
    if (op->tag != 0 && !gh_ring_has(&op->change)) gh_ring_add(&client->changed, &op->change);
}

void gh_changes_of_tick(gh_client* client)
{
    gh_ring_move_all(&client->changed, &client->to_be_seen);
    GH_INVARIANT(client, gh_ring_is_empty(&client->changed));
}

void gh_changes_forget(gh_client* client)
{
    gh_changes_of_tick(client);
    while (!gh_ring_is_empty(&client->to_be_seen)) gh_ring_remove(client->to_be_seen.next);
}

gh_op* gh_client_next(gh_client* client)
{
    gh_ring* link;
    if (!gh_client_is_one(client) || gh_ring_is_empty(&client->to_be_seen)) return NULL;
    link = client->to_be_seen.next;
    gh_ring_remove(link);
    return op_of_change(link);
}

void gh_op_forget_change(gh_op* op)
{
    gh_ring_remove(&op->change);
}
