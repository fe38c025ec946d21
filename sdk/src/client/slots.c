/* slots.c -- the places of the requests that are on the wire: a ring, as the n-th answer is the answer to the n-th
   request. A place whose op has ended stays, and swallows what comes. */

#include "client/link.h"
#include "client/state.h"

bool gh_slots_have_room(const gh_client* client)
{
    return client->slot_count < client->config.requests_capacity;
}

gh_slot* gh_slots_add(gh_client* client, gh_slot_purpose purpose, gh_op* op, gh_script* script)
{
    uint32_t at = (client->slot_head + client->slot_count++) % client->config.requests_capacity;
    gh_slot* slot = &client->slots[at];
    GH_INVARIANT(client, client->slot_count <= client->config.requests_capacity);
    GH_INVARIANT(client, op == NULL || op->slot == 0);
    slot->op = op;
    slot->script = script;
    slot->purpose = (uint16_t)purpose;
    slot->step = 0;
    slot->sent_us = client->now_us;
    slot->end_byte = gh_link_written(&client->commands);
    if (op != NULL)
    {
        op->slot = at + 1;
        op->request = GH_REQUEST_SENT;
    }
    client->stats.requests++;
    if (client->slot_count > client->stats.requests_sent_max) client->stats.requests_sent_max = client->slot_count;
    return slot;
}

gh_slot* gh_slots_newest(const gh_client* client)
{
    GH_INVARIANT(client, client->slot_count > 0);
    return &client->slots[(client->slot_head + client->slot_count - 1) % client->config.requests_capacity];
}

static const gh_slot* slot_give(const gh_slot* slot)
{
    gh_op* op = slot->op;
    if (op == NULL) return slot;
    GH_INVARIANT(op->client, slot == &op->client->slots[op->slot - 1]);
    GH_INVARIANT(op->client, op->request == GH_REQUEST_SENT);
    op->slot = 0;
    op->request = GH_REQUEST_NONE;
    return slot;
}

const gh_slot* gh_slots_take_oldest(gh_client* client)
{
    const gh_slot* slot = &client->slots[client->slot_head];
    GH_INVARIANT(client, client->slot_count > 0);
    client->slot_head = client->slot_head + 1 == client->config.requests_capacity ? 0 : client->slot_head + 1;
    client->slot_count--;
    return slot_give(slot);
}

const gh_slot* gh_slots_take_newest(gh_client* client)
{
    const gh_slot* slot = gh_slots_newest(client);
    client->slot_count--;
    return slot_give(slot);
}

/* A caller's script may be gone by then, so its digest must be asked for again. */
void gh_slots_leave(gh_op* op)
{
    gh_slot* slot = &op->client->slots[op->slot - 1];
    GH_INVARIANT(op->client, op->request == GH_REQUEST_SENT && slot->op == op);
    slot->op = NULL;
    if (slot->purpose == GH_SLOT_DIGEST) slot->script->loaded = 0;
    op->slot = 0;
    op->request = GH_REQUEST_NONE;
}
