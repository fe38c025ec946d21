/* listeners.c -- ops that a hint can name: chains, found by sequence, which is dense, so its low bits spread better
   than any hash would. */

#include "client/state.h"

void gh_op_listen(gh_op* op)
{
    gh_op** chain = &op->client->listeners[op->sequence & op->client->listener_mask];
    if ((op->flags & GH_OP_LISTENING) != 0) return;
    op->flags |= GH_OP_LISTENING;
    op->wake_next = *chain;
    *chain = op;
}

void gh_op_unlisten(gh_op* op)
{
    gh_op** link = &op->client->listeners[op->sequence & op->client->listener_mask];
    if ((op->flags & GH_OP_LISTENING) == 0) return;
    op->flags &= (uint8_t)~GH_OP_LISTENING;
    while (*link != op) link = &(*link)->wake_next;
    *link = op->wake_next;
    if (op->client->next_listener == op) op->client->next_listener = op->wake_next;
    op->wake_next = NULL;
}

void gh_listeners_hint(gh_client* client, uint64_t sequence, char letter)
{
    gh_op* op = client->listeners[sequence & client->listener_mask];
    while (op != NULL && op->sequence != sequence) op = op->wake_next;
    if (op != NULL) gh_op_hint(op, letter);
}

/* Hints may have been missed: let everybody ask. When one is told, any of them may leave its chain, but none joins. */
void gh_listeners_hint_all(gh_client* client)
{
    uint32_t i;
    for (i = 0; i <= client->listener_mask; i++)
    {
        gh_op* op = client->listeners[i];
        while (op != NULL)
        {
            client->next_listener = op->wake_next;
            gh_op_hint(op, 0);
            op = client->next_listener;
        }
    }
}
