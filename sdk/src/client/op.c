/* op.c -- ops in their places: queues of requests, heaps of times, chains of listeners. */

#include "client/state.h"

#include "client/refusal.h"

#define SWEEP_LOOK_COST 256u /* between two looks at the clock: 16 ops are told, */
#define SWEEP_TOLD_COST 15u  /* or 256 are passed over                           */

#define HINT_WITHOUT_LETTER 1u

/* ---- queues: a request waits in one of two, in order of arrival -------------------------------------------------- */

static gh_queue* queue_of(gh_op* op)
{
    return (op->flags & GH_OP_URGENT) != 0 ? &op->client->urgent : &op->client->waiting;
}

static void queue_push_back(gh_queue* queue, gh_op* op)
{
    op->next = NULL;
    op->previous = queue->last;
    if (queue->last == NULL) queue->first = op;
    else queue->last->next = op;
    queue->last = op;
    queue->count++;
}

static void queue_push_front(gh_queue* queue, gh_op* op)
{
    op->previous = NULL;
    op->next = queue->first;
    if (queue->first == NULL) queue->last = op;
    else queue->first->previous = op;
    queue->first = op;
    queue->count++;
}

static bool queue_has(const gh_queue* queue, const gh_op* op)
{
    return op->previous != NULL || op->next != NULL || queue->first == op;
}

static void queue_remove(gh_queue* queue, gh_op* op)
{
    GH_INVARIANT(op->client, queue->count > 0 && queue_has(queue, op));
    if (op->previous == NULL) queue->first = op->next;
    else op->previous->next = op->next;
    if (op->next == NULL) queue->last = op->previous;
    else op->next->previous = op->previous;
    op->next = op->previous = NULL;
    queue->count--;
}

void gh_queue_remove(gh_op* op)
{
    queue_remove(queue_of(op), op);
}

gh_op* gh_queue_next(gh_client* client)
{
    return client->urgent.first != NULL ? client->urgent.first : client->waiting.first;
}

/* ---- timers and leases ------------------------------------------------------------------------------------------- */

gh_op* gh_op_of_timer(uint32_t* place)
{
    return (gh_op*)(void*)((char*)place - offsetof(gh_op, timer_index));
}

static gh_op* op_of_lease(uint32_t* place)
{
    return (gh_op*)(void*)((char*)place - offsetof(gh_op, lease_index));
}

static gh_heap* leases_of(const gh_op* op)
{
    return &op->client->leases[(op->flags & GH_OP_ASKED) != 0];
}

/* One place in the heap serves the system's timer and the pause of its request. */
static void op_retime(gh_op* op)
{
    uint64_t due_us = op->due_us;
    GH_INVARIANT(op->client, op->timer_index != 0); /* every busy op is in the heap */
    if (op->request == GH_REQUEST_PAUSED && op->retry_us < due_us) due_us = op->retry_us;
    gh_heap_set(&op->client->timers, &op->timer_index, due_us);
}

void gh_op_timer(gh_op* op, uint64_t due_us)
{
    op->due_us = due_us;
    op_retime(op);
}

void gh_op_lease(gh_op* op, uint64_t due_us)
{
    const uint8_t side = op->client->leases_side == 0 ? 0 : GH_OP_ASKED;
    GH_INVARIANT(op->client, op->timer_index != 0);
    if (due_us == GH_FOREVER)
    {
        gh_heap_remove(leases_of(op), &op->lease_index);
        return;
    }
    if (op->lease_index == 0) op->flags = (uint8_t)((op->flags & ~GH_OP_ASKED) | side);
    gh_heap_set(leases_of(op), &op->lease_index, due_us);
}

static void op_tell(gh_op* op, gh_event_kind kind)
{
    gh_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    op->kind->step(op, &event);
}

void gh_timers_lapse(gh_client* client)
{
    uint32_t side = 0;
    while (side < 2)
    {
        gh_heap* leases = &client->leases[side];
        gh_op* op;
        if (gh_heap_due(leases) > client->now_us)
        {
            side++;
            continue;
        }
        op = op_of_lease(gh_heap_at(leases, 0)->place);
        gh_heap_remove(leases, &op->lease_index);
        op_tell(op, GH_EVENT_LAPSED);
    }
}

/* ---- doubt: whoever has a lease asks, the one that ends first before the others ---------------------------------- */

/* From one heap of leases into the other. */
static gh_op* lease_change_side(gh_client* client, uint32_t from)
{
    gh_heap* leases = &client->leases[from];
    gh_op* op = op_of_lease(gh_heap_at(leases, 0)->place);
    uint64_t due_us = gh_heap_due(leases);
    gh_heap_remove(leases, &op->lease_index);
    op->flags ^= GH_OP_ASKED;
    gh_heap_set(leases_of(op), &op->lease_index, due_us);
    return op;
}

/* What was told of an earlier doubt, and what was not, is to be told of this one. */
void gh_doubt_begin(gh_client* client)
{
    uint32_t untold = 1 - client->leases_side;
    GH_INVARIANT(client, client->leases_side <= 1);
    while (client->leases[untold].count > 0) lease_change_side(client, untold);
    client->leases_side = untold;
}

void gh_doubt_on(gh_client* client)
{
    uint32_t untold = 1 - client->leases_side;
    uint32_t told = 0;
    if (client->commands.state != GH_LINK_READY || client->sweep_left > 0) return;
    while (client->leases[untold].count > 0)
    {
        op_tell(lease_change_side(client, untold), GH_EVENT_DOUBT);
        if ((++told & 15) == 0 && !gh_client_budget_left(client)) return;
    }
}

void gh_timers_fire(gh_client* client)
{
    uint32_t fired = 0;
    while (gh_heap_due(&client->timers) <= client->now_us)
    {
        gh_op* op = gh_op_of_timer(gh_heap_at(&client->timers, 0)->place);
        if ((++fired & 15) == 0 && !gh_client_budget_left(client)) return;
        if (op->due_us <= client->now_us)
        {
            op->due_us = GH_FOREVER;
            op_retime(op);
            op_tell(op, GH_EVENT_TIMER);
        }
        else
        {
            gh_op_requeue(op, false);
        }
    }
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

void gh_op_send(gh_op* op, const char* shape, int flags)
{
    const uint8_t sending_flags = GH_OP_URGENT | GH_OP_MAYBE | GH_OP_NO_REPEAT;
    GH_INVARIANT(op->client, op->kind->encode != NULL);
    GH_INVARIANT(op->client, (flags & ~sending_flags) == 0);
    gh_op_unsend(op);
    op->shape = shape;
    op->attempts = op->strikes = 0;
    op->flags = (uint8_t)((op->flags & ~sending_flags) | flags);
    gh_op_requeue(op, false);
}

void gh_op_requeue(gh_op* op, bool front)
{
    bool was_paused = op->request == GH_REQUEST_PAUSED;
    GH_INVARIANT(op->client, !queue_has(queue_of(op), op));
    GH_INVARIANT(op->client, op->slot == 0);
    op->request = GH_REQUEST_QUEUED;
    if (was_paused) op_retime(op);
    if (front) queue_push_front(queue_of(op), op);
    else queue_push_back(queue_of(op), op);
}

void gh_op_pause(gh_op* op, uint64_t pause_us)
{
    GH_INVARIANT(op->client, op->request == GH_REQUEST_NONE);
    op->request = GH_REQUEST_PAUSED;
    op->retry_us = gh_client_after(op->client, pause_us);
    op_retime(op);
}

/* The answer will be swallowed. A caller's script may be gone by then, so its digest must be asked for again. */
static void leave_slot(gh_slot* slot)
{
    slot->op = NULL;
    if (slot->purpose == GH_SLOT_DIGEST) slot->script->loaded = 0;
}

void gh_op_unsend(gh_op* op)
{
    uint8_t was = op->request;
    op->request = GH_REQUEST_NONE;
    if (was == GH_REQUEST_QUEUED) queue_remove(queue_of(op), op);
    if (was == GH_REQUEST_PAUSED) op_retime(op);
    GH_INVARIANT(op->client, (was == GH_REQUEST_SENT) == (op->slot != 0));
    GH_INVARIANT(op->client, was != GH_REQUEST_SENT || op->client->slots[op->slot - 1].op == op);
    if (was == GH_REQUEST_SENT) leave_slot(&op->client->slots[op->slot - 1]);
    op->slot = 0;
}

bool gh_op_is_sending(const gh_op* op)
{
    return op->request != GH_REQUEST_NONE;
}

bool gh_op_maybe_done(const gh_op* op)
{
    if ((op->flags & GH_OP_MAYBE) != 0) return true;
    /* While only its script's text is on the wire, nothing has been asked for. */
    return op->request == GH_REQUEST_SENT && op->client->slots[op->slot - 1].purpose == GH_SLOT_OP;
}

bool gh_op_sent_twice(const gh_op* op)
{
    return (op->flags & GH_OP_MAYBE) != 0;
}

/* ---- what owners call: an op knows where it was begun, so that no copy of it is taken for it --------------------- */

static bool op_is_copy(const gh_op* op)
{
    return op != NULL && op->self != op && (gh_op_is_busy(op) || gh_ring_has(&op->change));
}

gh_status gh_op_was_moved(const gh_op* op)
{
    if (gh_client_is_one(op->client)) GH_ASSERT(op->client, op->self == op);
    return GH_INVALID_OP;
}

bool gh_op_is_at_work(const gh_op* op)
{
    if (!gh_op_is_busy(op)) return false;
    if (op->self == op) return true;
    gh_op_was_moved(op);
    return false;
}

void gh_op_cancel(gh_op* op)
{
    if (gh_op_is_at_work(op)) op_tell(op, GH_EVENT_CANCEL);
}

void gh_op_detach(gh_op* op)
{
    if (op == NULL) return;
    if (op_is_copy(op))
    {
        gh_op_was_moved(op);
        return;
    }
    op->tag = 0;
    gh_op_forget_change(op);
    if (op->kind != NULL && op->kind->detach != NULL) op->kind->detach(op);
    else gh_op_close(op);
}

void gh_op_close(gh_op* op)
{
    if (gh_op_is_busy(op)) op_tell(op, GH_EVENT_CLOSE);
}

static void op_tell_hint(gh_op* op, char letter)
{
    gh_event event;
    memset(&event, 0, sizeof event);
    event.kind = GH_EVENT_HINT;
    event.hint = letter;
    op->kind->step(op, &event);
}

/* What hints at several things hints at all. */
static void op_keep_hint(gh_op* op, char letter)
{
    const uint8_t kept = letter == 0 ? HINT_WITHOUT_LETTER : (uint8_t)letter;
    op->hint = op->hint == 0 || op->hint == kept ? kept : HINT_WITHOUT_LETTER;
}

/* Behind an answer. One that has led to the next request leaves the hint where it is. */
static void op_tell_kept_hint(gh_op* op)
{
    const uint8_t kept = op->hint;
    if (kept == 0 || op->request != GH_REQUEST_NONE) return;
    op->hint = 0;
    if ((op->flags & GH_OP_LISTENING) != 0) op_tell_hint(op, kept == HINT_WITHOUT_LETTER ? 0 : (char)kept);
}

void gh_op_deliver(gh_op* op, const gh_event* event)
{
    op->kind->step(op, event);
    op_tell_kept_hint(op);
}

void gh_op_fail(gh_op* op, gh_status status, const gh_reply* reply)
{
    gh_event event;
    memset(&event, 0, sizeof event);
    event.kind = GH_EVENT_FAILED;
    event.status = status;
    event.reply = reply;
    gh_op_unsend(op);
    gh_op_deliver(op, &event);
}

/* ---- sweeps: every op that is busy when one begins gets its event once ------------------------------------------- */

/* Marks alternate, so that no op has to be touched before it is its turn: GH_OP_SWEPT set is "had it" in one sweep and
   "did not" in the next. Each sweep is ended before the next begins, so all marks are equal in between. */
static void sweep_begin(gh_client* client, gh_event_kind kind)
{
    GH_INVARIANT(client, client->sweep_left == 0);
    client->sweep_mark ^= GH_OP_SWEPT;
    client->sweep_kind = (uint8_t)kind;
    client->sweep_left = client->timers.count;
    client->sweep_at = 0;
}

static bool sweep_has(const gh_client* client, const gh_op* op)
{
    return (op->flags & GH_OP_SWEPT) == client->sweep_mark;
}

static void sweep_mark(gh_client* client, gh_op* op)
{
    GH_INVARIANT(client, client->sweep_left > 0);
    op->flags ^= GH_OP_SWEPT;
    client->sweep_left--;
}

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

gh_status gh_op_check(const gh_op* op, const gh_client* client)
{
    if (!gh_client_is_one(client)) return GH_INVALID_CLIENT;
    if (op_is_copy(op))
    {
        GH_ASSERT(client, op->self == op);
        return GH_INVALID_OP;
    }
    if (op == NULL || gh_op_is_busy(op)) return GH_INVALID_OP;
    if (client->draining) return GH_CLOSED;
    if (client->timers.count == client->timers.capacity) return GH_NO_ROOM;
    return GH_OK;
}

void gh_op_set_status(gh_op* op, gh_status status)
{
    GH_INVARIANT(op->client, status == GH_PENDING || status == GH_HELD); /* any other is an end */
    if (op->status == status) return;
    op->status = status;
    gh_changes_note(op->client, op);
}

void gh_op_forget_change(gh_op* op)
{
    gh_ring_remove(&op->change);
}

void gh_op_clear(gh_op* op, size_t size)
{
    void* user = op->user;
    uint32_t tag = op->tag;
    gh_ring_remove(&op->change);
    memset(op, 0, size);
    op->user = user;
    op->tag = tag;
}

void gh_op_begin(gh_op* op, gh_client* client, const gh_op_kind* kind)
{
    GH_INVARIANT(client, kind->name != NULL && kind->step != NULL);
    GH_INVARIANT(client, client->timers.count < client->timers.capacity);
    gh_op_clear(op, sizeof *op);
    op->kind = kind;
    op->client = client;
    op->self = op;
    op->status = GH_PENDING;
    op->due_us = GH_FOREVER;
    op->flags = client->sweep_mark; /* a sweep under way is not for those who come now */
    gh_op_renumber(op);
    gh_heap_set(&client->timers, &op->timer_index, GH_FOREVER);
    client->stats.ops_begun++;
    if (client->timers.count > client->stats.ops_busy_max) client->stats.ops_busy_max = client->timers.count;
    gh_trace(client, GH_TRACE_BEGIN, op, 0, GH_PENDING);
}

gh_status gh_op_refused_call(const gh_op* op, gh_status status)
{
    if (gh_op_is_busy(op)) gh_refusal_note(op->client, status);
    return status;
}

gh_status gh_op_begun(gh_op* op, gh_client* client, gh_status status)
{
    static const gh_op_kind refused = {.name = "refused"};
    if (status == GH_OK) return status;
    gh_refusal_note(client, status);
    if (op == NULL || gh_op_is_busy(op) || op_is_copy(op)) return status;
    gh_op_clear(op, sizeof *op);
    op->kind = &refused;
    op->self = op;
    op->status = status;
    if (status != GH_INVALID_CLIENT) gh_changes_note(client, op);
    return status;
}

void gh_op_renumber(gh_op* op)
{
    bool listening = (op->flags & GH_OP_LISTENING) != 0;
    if (listening) gh_op_unlisten(op);
    op->sequence = ++op->client->sequence;
    if (listening) gh_op_listen(op);
}

void gh_op_end(gh_op* op, gh_status status)
{
    gh_client* client = op->client;
    if (!gh_op_is_busy(op)) return;
    GH_INVARIANT(client, status != GH_PENDING && status != GH_HELD);
    GH_INVARIANT(client, op->self == op);
    if (!sweep_has(client, op)) sweep_mark(client, op);
    gh_op_unsend(op);
    gh_op_unlisten(op);
    gh_heap_remove(leases_of(op), &op->lease_index);
    gh_heap_remove(&client->timers, &op->timer_index);
    op->client = NULL;
    op->status = status;
    gh_changes_note(client, op);
    if ((op->flags & GH_OP_DETACHED) != 0) gh_detached_give_back(client, op);
    client->stats.ops_ended++;
    if (status == GH_UNKNOWN) client->stats.ops_unknown++;
    gh_trace(client, GH_TRACE_END, op, 0, status);
}

/* Round and round through the heap, because steps move ops in it: whoever comes into the place of one that ended, is
   next; whoever was moved behind us, in the next round. */
void gh_op_sweep_on(gh_client* client, bool bounded)
{
    uint32_t cost = 0;
    while (client->sweep_left > 0)
    {
        gh_op* op;
        GH_INVARIANT(client, client->sweep_left <= client->timers.count);
        if (client->sweep_at >= client->timers.count) client->sweep_at = 0;
        op = gh_op_of_timer(gh_heap_at(&client->timers, client->sweep_at)->place);
        cost++;
        if (sweep_has(client, op))
        {
            client->sweep_at++;
        }
        else
        {
            sweep_mark(client, op);
            op_tell(op, (gh_event_kind)client->sweep_kind);
            cost += SWEEP_TOLD_COST;
        }
        if (bounded && cost >= SWEEP_LOOK_COST)
        {
            cost = 0;
            if (!gh_client_budget_left(client)) return;
        }
    }
}

void gh_op_sweep_begin(gh_client* client, gh_event_kind kind)
{
    gh_op_sweep_on(client, false);
    sweep_begin(client, kind);
}

void gh_op_sweep(gh_client* client, gh_event_kind kind)
{
    gh_op_sweep_begin(client, kind);
    gh_op_sweep_on(client, false);
}

/* ---- an op that moves to another place --------------------------------------------------------------------------- */

static void queue_replace(gh_queue* queue, gh_op* from, gh_op* to)
{
    if (queue->first == from) queue->first = to;
    if (queue->last == from) queue->last = to;
    if (to->previous != NULL) to->previous->next = to;
    if (to->next != NULL) to->next->previous = to;
}

static void listener_replace(gh_client* client, gh_op* from, gh_op* to)
{
    gh_op** link = &client->listeners[from->sequence & client->listener_mask];
    while (*link != from) link = &(*link)->wake_next;
    *link = to;
    if (client->next_listener == from) client->next_listener = to;
}

/* Whatever of the client's points to it. An op that is in a gate's row, or that has changed and was not seen, stays. */
void gh_op_move(gh_op* from, gh_op* to, size_t size)
{
    gh_client* client = from->client;
    GH_INVARIANT(client, size >= sizeof *from && size <= GH_OP_SIZE_MAX);
    GH_INVARIANT(client, !gh_ring_has(&from->change) && from->self == from);
    memcpy(to, from, size);
    to->self = to;
    gh_heap_at(&client->timers, to->timer_index - 1)->place = &to->timer_index;
    if (to->lease_index != 0) gh_heap_at(leases_of(to), to->lease_index - 1)->place = &to->lease_index;
    if (to->request == GH_REQUEST_QUEUED) queue_replace(queue_of(to), from, to);
    if (to->request == GH_REQUEST_SENT) client->slots[to->slot - 1].op = to;
    if ((to->flags & GH_OP_LISTENING) != 0) listener_replace(client, from, to);
    memset(from, 0, sizeof *from);
}

/* ---- listeners: found by sequence, which is dense, so its low bits spread better than any hash would ------------- */

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

/* A request that is not sent yet will be answered with the news. */
void gh_op_hint(gh_op* op, char letter)
{
    if (op->request == GH_REQUEST_NONE || op->kind->hints_at_once) op_tell_hint(op, letter);
    else if (op->request == GH_REQUEST_SENT) op_keep_hint(op, letter);
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

/* ---- what a step may ask of the client --------------------------------------------------------------------------- */

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

gh_script* gh_client_script(gh_client* client, const gh_script_text* text)
{
    gh_script* script = &client->scripts[text->id];
    script->own = text;
    return script;
}
