/* slots.c -- the places of the requests that are on the wire. Those of a node are a chain, as the n-th answer of its
   connection is the answer to the n-th request; all nodes take them from one store of places. A place whose op has
   ended stays in its chain, and swallows what comes. */

#include "client/link.h"
#include "client/state.h"

void gh_slots_init(gh_client* client)
{
    uint32_t i;
    for (i = 0; i < client->config.requests_capacity; i++)
        client->slots[i].next = i + 1 < client->config.requests_capacity ? i + 2 : 0;
    client->slots_free = 1;
}

bool gh_slots_have_room(const gh_node* node)
{
    return node->client->slots_free != 0;
}

gh_slot* gh_slots_add(gh_node* node, gh_slot_purpose purpose, gh_op* op, gh_script* script)
{
    gh_client* client = node->client;
    const uint32_t place = client->slots_free;
    gh_slot* slot = &client->slots[place - 1];
    GH_INVARIANT(client, place != 0);
    GH_INVARIANT(client, op == NULL || op->request != GH_REQUEST_SENT);
    client->slots_free = slot->next;
    slot->op = op;
    slot->script = script;
    slot->purpose = (uint16_t)purpose;
    slot->step = 0;
    slot->next = 0;
    slot->sent_us = client->now_us;
    slot->end_byte = gh_link_written(&node->link);
    if (node->sent_count++ == 0) node->sent_first = place;
    else client->slots[node->sent_last - 1].next = place;
    node->sent_last = place;
    if (op != NULL)
    {
        op->place = place;
        op->request = GH_REQUEST_SENT;
    }
    client->stats.requests++;
    if (++client->slots_used > client->stats.requests_sent_max) client->stats.requests_sent_max = client->slots_used;
    return slot;
}

gh_slot* gh_slots_newest(const gh_node* node)
{
    GH_INVARIANT(node->client, node->sent_count > 0);
    return &node->client->slots[node->sent_last - 1];
}

const gh_slot* gh_slots_oldest(const gh_node* node)
{
    GH_INVARIANT(node->client, node->sent_count > 0);
    return &node->client->slots[node->sent_first - 1];
}

const gh_slot* gh_slots_take_oldest(gh_node* node)
{
    gh_client* client = node->client;
    const uint32_t place = node->sent_first;
    gh_slot* slot = &client->slots[place - 1];
    gh_op* op = slot->op;
    GH_INVARIANT(client, node->sent_count > 0);
    node->sent_count--;
    node->sent_first = slot->next;
    slot->next = client->slots_free;
    client->slots_free = place;
    client->slots_used--;
    if (op == NULL) return slot;
    GH_INVARIANT(client, op->place == place && op->request == GH_REQUEST_SENT);
    op->place = 0;
    op->request = GH_REQUEST_NONE;
    return slot;
}

void gh_slots_turn(gh_node* node)
{
    gh_slot* slots = node->client->slots;
    uint32_t at = node->sent_first;
    uint32_t turned = 0;
    node->sent_last = at;
    while (at != 0)
    {
        const uint32_t next = slots[at - 1].next;
        slots[at - 1].next = turned;
        turned = at;
        at = next;
    }
    node->sent_first = turned;
}

/* A caller's script may be gone by then, so its digest must be asked for again. */
void gh_slots_leave(gh_op* op)
{
    gh_slot* slot = gh_slot_of(op);
    GH_INVARIANT(op->client, slot->op == op);
    slot->op = NULL;
    if (slot->purpose == GH_SLOT_DIGEST) gh_script_forget_loaded(gh_op_node(op), slot->script);
    op->place = 0;
    op->request = GH_REQUEST_NONE;
}
