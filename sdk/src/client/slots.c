/* slots.c -- the places of the requests that are on the wire. Those of a node are a chain, as the n-th answer of its
   connection is the answer to the n-th request; all nodes take them from one store of places. A place whose op has
   ended stays in its chain, and swallows what comes. */

#include "client/link.h"
#include "client/state.h"

void gh_slots_init(gh_client* client)
{
    uint32_t place = client->config.requests_capacity;
    for (; place > 0; place--)
    {
        gh_slot* slot = &client->slots[place - 1];
        slot->place = place;
        slot->next = client->slots_free;
        client->slots_free = slot;
    }
}

/* Whether one of these may be taken. Where replicas are waited for, the last one is for the question: else a crowd that
   takes each place as soon as it is free would keep it from being asked. */
static bool slots_go_on(const gh_client* client, const gh_slot* first)
{
    return first != NULL && (first->next != NULL || client->config.replicas == NULL);
}

bool gh_slots_have_room(const gh_node* node)
{
    return slots_go_on(node->client, node->client->slots_free);
}

bool gh_slots_have_room_for_two(const gh_node* node)
{
    return gh_slots_have_room(node) && slots_go_on(node->client, node->client->slots_free->next);
}

bool gh_slots_have_room_for(const gh_node* node, const gh_op* op)
{
    return (op->place & GH_PLACE_ASK) != 0 ? gh_slots_have_room_for_two(node) : gh_slots_have_room(node);
}

bool gh_slots_have_room_to_wait(const gh_node* node)
{
    return node->client->slots_free != NULL;
}

gh_slot* gh_slots_add(gh_node* node, gh_slot_purpose purpose, gh_op* op, gh_script* script)
{
    gh_client* client = node->client;
    gh_slot* slot = client->slots_free;
    GH_INVARIANT(client, slot != NULL);
    GH_INVARIANT(client, op == NULL || op->request != GH_REQUEST_SENT);
    client->slots_free = slot->next;
    slot->op = op;
    slot->script = script;
    slot->purpose = (uint16_t)purpose;
    slot->step = 0;
    slot->next = NULL;
    slot->sent_us = client->now_us;
    slot->end_byte = gh_link_written(&node->link);
    if (node->sent_count++ == 0) node->sent = slot;
    else node->sent_last->next = slot;
    node->sent_last = slot;
    if (op != NULL)
    {
        op->place = slot->place;
        op->request = GH_REQUEST_SENT;
    }
    if (purpose == GH_SLOT_DIGEST) node->digests++;
    client->stats.requests++;
    if (++client->slots_used > client->stats.requests_sent_max) client->stats.requests_sent_max = client->slots_used;
    return slot;
}

gh_slot* gh_slots_newest(const gh_node* node)
{
    GH_INVARIANT(node->client, node->sent_count > 0);
    return node->sent_last;
}

bool gh_slots_await_digest(const gh_node* node, const gh_script* script)
{
    const gh_slot* slot = node->digests == 0 ? NULL : node->sent;
    for (; slot != NULL; slot = slot->next)
        if (slot->purpose == GH_SLOT_DIGEST && slot->script == script && slot->op != NULL) return true;
    return false;
}

const gh_slot* gh_slots_oldest(const gh_node* node)
{
    GH_INVARIANT(node->client, node->sent_count > 0);
    return node->sent;
}

const gh_slot* gh_slots_take_oldest(gh_node* node)
{
    gh_client* client = node->client;
    gh_slot* slot = node->sent;
    gh_op* op;
    GH_INVARIANT(client, node->sent_count > 0 && slot != NULL);
    op = slot->op;
    node->sent_count--;
    node->sent = slot->next;
    slot->next = client->slots_free;
    client->slots_free = slot;
    client->slots_used--;
    if (slot->purpose == GH_SLOT_DIGEST) node->digests--;
    if (op == NULL) return slot;
    GH_INVARIANT(client, op->place == slot->place && op->request == GH_REQUEST_SENT);
    op->place = 0;
    op->request = GH_REQUEST_NONE;
    return slot;
}

void gh_slots_turn(gh_node* node)
{
    gh_slot* at = node->sent;
    gh_slot* turned = NULL;
    node->sent_last = at;
    while (at != NULL)
    {
        gh_slot* next = at->next;
        at->next = turned;
        turned = at;
        at = next;
    }
    node->sent = turned;
}

/* By whichever node: it is not the op's own where that was asked out of turn. */
static void forget_loaded(gh_client* client, gh_script* script)
{
    gh_node* node;
    for (node = client->nodes; node < client->nodes_end; node++) gh_script_forget_loaded(node, script);
}

/* A caller's script may be gone by then, so its digest must be asked for again. */
void gh_slots_leave(gh_op* op)
{
    gh_slot* slot = gh_slot_of(op);
    GH_INVARIANT(op->client, slot->op == op);
    slot->op = NULL;
    if (slot->purpose == GH_SLOT_DIGEST) forget_loaded(op->client, slot->script);
    op->place = 0;
    op->request = GH_REQUEST_NONE;
}
