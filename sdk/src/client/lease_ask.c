/* lease_ask.c -- what a lease asks of the store in each of its states, and which copies of that may come late. */

#include "client/lease.h"
#include "client/state.h"
#include "client/waiter.h"

/* The copy that was sent last has become one of those that may come late. */
static void lease_note_late(gh_lease* lease)
{
    if (lease->asked_us > lease->late_us) lease->late_us = lease->asked_us;
}

/* From here on the clock counts of the node that it is written for. What is known of two clocks is when an answer was
   read: a time that is taken from one to the other and back may come back smaller, and a copy would be later than the
   latest. So it is not: no copy of before may come later than one that is sent now. */
static void lease_turn_to(gh_lease* lease, gh_node* node)
{
    const gh_node* server = gh_node_server(node);
    const uint32_t number = (uint32_t)(server - lease->op.client->nodes);
    if (lease->node == number) return;
    lease->node = number;
    if (lease->late_us != 0) lease->late_us = gh_node_not_after(server);
    if (lease->asked_us != 0) lease->asked_us = gh_node_not_after(server);
}

gh_script* gh_lease_script(gh_op* op)
{
    const gh_lease_row* row = gh_lease_row_of(gh_lease_of(op));
    const gh_script_text* text = op->state == GH_LEASE_ASKING      ? row->acquire
                                 : op->state >= GH_LEASE_RETURNING ? row->release
                                                                   : row->renew;
    return gh_client_script(op->client, text);
}

static void encode_keys(const gh_lease* lease, gh_request* request)
{
    const gh_lease_row* row = gh_lease_row_of(lease);
    gh_request_object_keys(request, lease->op.client, row->object, gh_name_str(&lease->name), row->parts);
}

static void encode_acquire(gh_lease* lease, gh_request* request)
{
    const gh_lease_row* row = gh_lease_row_of(lease);
    gh_client* client = lease->op.client;
    gh_node* node = gh_op_node(&lease->op);
    const uint32_t watched = gh_node_watches_epoch(node) ? 1 : 0;
    const uint64_t not_after_us = gh_node_not_after(node);
    gh_request_op_script(request, &lease->op, watched, watched);
    encode_keys(lease, request);
    if (watched != 0) gh_request_epoch_key(request, client);
    gh_request_op_id(request, &lease->op);
    gh_request_number(request, lease->lease_us);
    gh_request_number(request, lease->ask_once ? 0 : gh_waiter_patience(client));
    gh_request_number(request, gh_waiter_window(client));
    gh_request_number(request, not_after_us);
    gh_request_number(request, gh_node_quarantine_end(node));
    if (row->encode_numbers != NULL) row->encode_numbers(lease, request);
    if (watched != 0) gh_request_number(request, node->store_birth_us);
    if (request->full) return;
    if (gh_op_sent_twice(&lease->op)) lease_note_late(lease);
    lease_turn_to(lease, node);
    lease->asked_us = not_after_us;
    lease->link = node->link.generation;
}

static void encode_release(gh_lease* lease, gh_request* request)
{
    const gh_lease_row* row = gh_lease_row_of(lease);
    uint32_t late;
    if (lease->unanswered && lease->link != gh_op_link(&lease->op)) lease_note_late(lease); /* this overtakes it */
    if (!gh_request_is_route(request)) lease_turn_to(lease, gh_op_node(&lease->op));
    late = gh_lease_is_late(lease);
    gh_request_op_script(request, &lease->op, 0, late);
    encode_keys(lease, request);
    gh_request_op_id(request, &lease->op);
    gh_request_number(request, GH_CLAIM_WINDOW_US);
    if (row->encode_numbers != NULL) row->encode_numbers(lease, request);
    if (late != 0) gh_request_number(request, lease->late_us);
}

void gh_lease_encode(gh_op* op, gh_request* request)
{
    gh_lease* lease = gh_lease_of(op);
    switch ((gh_lease_state)op->state)
    {
    case GH_LEASE_ASKING: encode_acquire(lease, request); break;
    case GH_LEASE_RENEWING: gh_lease_row_of(lease)->encode_renew(lease, request); break;
    case GH_LEASE_RETURNING:
    case GH_LEASE_LEAVING: encode_release(lease, request); break;
    case GH_LEASE_WAITING:
    case GH_LEASE_SYNCING:
    case GH_LEASE_HELD:
        GH_INVARIANT(op->client, false); /* nothing is asked in these */
        request->full = true;
        break;
    }
}
