/* gate.c -- rows of ops that change the same object, so that only the first of each row has a request under
 * way. */

#include "base/hash.h"
#include "client/state.h"

uint64_t gh_gate_object(const gh_client* client, gh_str kind, gh_str name)
{
    return gh_hash_seeded(name.bytes, name.size, gh_hash_seeded(kind.bytes, kind.size, client->id));
}

static gh_gate* gate_next_of_object(gh_gate* from, uint64_t object)
{
    while (from != NULL && from->object != object) from = from->next;
    return from;
}

bool gh_gate_enter(gh_gate* gate, gh_op* op, uint64_t object)
{
    gh_gate** link;
    gate->next = NULL;
    gate->op = op;
    gate->object = object;
    GH_INVARIANT(op->client, gh_op_is_busy(op));
    gate->row = &op->client->gates[object & op->client->listener_mask];
    for (link = gate->row; *link != NULL; link = &(*link)->next) continue;
    *link = gate;
    return gh_gate_is_open(gate);
}

bool gh_gate_is_open(const gh_gate* gate)
{
    return gate->op != NULL && gate_next_of_object(*gate->row, gate->object) == gate;
}

gh_gate* gh_gate_first(const gh_client* client, uint64_t object)
{
    return gate_next_of_object(client->gates[object & client->listener_mask], object);
}

void gh_gate_leave(gh_gate* gate)
{
    gh_event event;
    gh_gate** link;
    gh_gate* next;
    bool was_open;
    if (gate->op == NULL) return;
    GH_INVARIANT(gate->op->client, gate->row != NULL && *gate->row != NULL);
    was_open = gh_gate_is_open(gate);
    for (link = gate->row; *link != gate; link = &(*link)->next) GH_INVARIANT(gate->op->client, *link != NULL);
    *link = gate->next;
    next = gate_next_of_object(gate->next, gate->object);
    gate->op = NULL;
    gate->row = NULL;
    gate->next = NULL;
    if (!was_open || next == NULL) return;
    memset(&event, 0, sizeof event);
    event.kind = GH_EVENT_HINT;
    gh_op_deliver(next->op, &event);
}

/* ---- calls --------------------------------------------------------------------------------------------- */

static gh_gate* gate_of(gh_op* op)
{
    return (gh_gate*)(void*)((char*)op + op->kind->gate_at);
}

void gh_gate_call_begin(gh_op* op, gh_client* client, const gh_op_kind* kind, uint64_t timeout_us, uint64_t object)
{
    GH_INVARIANT(client, kind->gate_at >= sizeof *op);
    gh_op_begin(op, client, kind);
    gh_op_timer_after(op, timeout_us);
    if (gh_gate_enter(gate_of(op), op, object)) gh_op_send(op, 0);
}

void gh_gate_call_step(gh_op* op, const gh_event* event)
{
    gh_gate* gate = gate_of(op);
    GH_INVARIANT(op->client, gate->op == op);
    if (event->kind == GH_EVENT_HINT)
    {
        if (!gh_op_is_sending(op) && gh_gate_is_open(gate)) gh_op_send(op, 0);
        return;
    }
    gh_call_step(op, event);
    if (!gh_op_is_busy(op)) gh_gate_leave(gate);
}
