/* requests.c -- an op's request: it waits in one of two queues, urgent or not, in order of arrival; it is on the wire;
   or it is paused.

       NONE --send--> QUEUED --encoded--> SENT --answered--> NONE
                       ^  ^                | '--answered--> AWAITED --replicas have it, or time is up--> NONE
                       |  '-- link lost ---+
                       '---- PAUSED <------'      an answer that passes: LOADING, BUSY, OOM */

#include "client/state.h"
#include "client/replicas.h"

static gh_unsent* unsent_at(gh_node* node, const gh_op* op)
{
    return (op->flags & GH_OP_URGENT) != 0 ? &node->urgent : &node->waiting;
}

static gh_unsent* unsent_of(const gh_op* op)
{
    return unsent_at(gh_queue_node(op), op);
}

static void unsent_push_back(gh_unsent* queue, gh_op* op)
{
    op->next = NULL;
    op->previous = queue->last;
    if (queue->last == NULL) queue->first = op;
    else queue->last->next = op;
    queue->last = op;
    queue->count++;
}

static void unsent_push_front(gh_unsent* queue, gh_op* op)
{
    op->previous = NULL;
    op->next = queue->first;
    if (queue->first == NULL) queue->last = op;
    else queue->first->previous = op;
    queue->first = op;
    queue->count++;
}

static bool unsent_has(const gh_unsent* queue, const gh_op* op)
{
    return op->previous != NULL || op->next != NULL || queue->first == op;
}

static void unsent_remove(gh_unsent* queue, gh_op* op)
{
    GH_INVARIANT(op->client, queue->count > 0 && unsent_has(queue, op));
    if (op->previous == NULL) queue->first = op->next;
    else op->previous->next = op->next;
    if (op->next == NULL) queue->last = op->previous;
    else op->next->previous = op->previous;
    op->next = op->previous = NULL;
    op->place = 0;
    queue->count--;
}

void gh_unsent_remove(gh_node* node, gh_op* op)
{
    unsent_remove(unsent_at(node, op), op);
}

gh_op* gh_unsent_next(const gh_node* node)
{
    return node->urgent.first != NULL ? node->urgent.first : node->waiting.first;
}

static bool answer_is_flat(gh_op* op)
{
    const char* shape = gh_answer_shape(op->kind, gh_op_script(op));
    return shape != NULL && memchr(shape, '*', strlen(shape)) == NULL;
}

void gh_op_send(gh_op* op, int flags)
{
    const uint8_t sending_flags = GH_OP_URGENT | GH_OP_MAYBE | GH_OP_NO_REPEAT;
    GH_INVARIANT(op->client, op->kind->encode != NULL);
    GH_INVARIANT(op->client, (flags & ~sending_flags) == 0);
    GH_INVARIANT(op->client, op->kind->trees != NULL || answer_is_flat(op));
    gh_op_unsend(op);
    op->attempts = op->strikes = 0;
    op->flags = (uint8_t)((op->flags & ~sending_flags) | flags);
    if (op->client->many) op->client->config.topology->route(op);
    gh_op_requeue(op, false);
}

uint32_t gh_op_place_at(const gh_op* op, uint32_t place)
{
    const struct gh_replicas* replicas = op->client->config.replicas;
    return replicas == NULL ? place : replicas->place(op, place);
}

static uint32_t place_of_many(const gh_op* op)
{
    return gh_op_place_at(op, op->client->config.topology->place(op->client, op->route));
}

void gh_op_requeue(gh_op* op, bool front)
{
    gh_op_requeue_at(op, op->client->many ? place_of_many(op) : 0, front);
}

static void wake_for(gh_node* node)
{
    gh_node_wake(node);
    if (node->main != NULL) gh_node_wake(node->main); /* beside which it connects */
}

void gh_op_requeue_at(gh_op* op, uint32_t place, bool front)
{
    bool was_paused = op->request == GH_REQUEST_PAUSED;
    GH_INVARIANT(op->client, op->request != GH_REQUEST_SENT && op->place == 0);
    op->request = GH_REQUEST_QUEUED;
    op->place = place;
    GH_INVARIANT(op->client, !unsent_has(unsent_of(op), op));
    if (was_paused) gh_op_retime(op);
    if (op->client->many) wake_for(gh_queue_node(op));
    if (front) unsent_push_front(unsent_of(op), op);
    else unsent_push_back(unsent_of(op), op);
}

void gh_op_pause(gh_op* op, uint64_t pause_us)
{
    GH_INVARIANT(op->client, op->request == GH_REQUEST_NONE);
    op->request = GH_REQUEST_PAUSED;
    op->retry_us = gh_client_after(op->client, pause_us);
    gh_op_retime(op);
}

void gh_op_unsend(gh_op* op)
{
    const uint8_t was = op->request;
    if (was == GH_REQUEST_NONE) return;
    if (was == GH_REQUEST_SENT) gh_slots_leave(op);
    op->request = GH_REQUEST_NONE;
    if (was == GH_REQUEST_QUEUED) unsent_remove(unsent_of(op), op);
    if (was == GH_REQUEST_AWAITED) unsent_remove(&gh_queue_node(op)->awaited, op);
    if (was >= GH_REQUEST_PAUSED) gh_op_retime(op);
}

/* ---- answered, and not on the replicas yet ----------------------------------------------------------------------- */

void gh_op_await(gh_op* op, gh_node* node, uint64_t wait_us)
{
    gh_op_unsend(op);
    op->request = GH_REQUEST_AWAITED;
    op->place = (uint32_t)(node - node->client->nodes);
    op->retry_us = gh_client_after(op->client, wait_us);
    unsent_push_back(&node->awaited, op);
    gh_op_retime(op);
}

gh_op* gh_awaited_take(gh_node* node)
{
    gh_op* op = node->awaited.first;
    if (op != NULL) gh_op_unsend(op);
    return op;
}

bool gh_op_is_sending(const gh_op* op)
{
    return op->request != GH_REQUEST_NONE;
}

bool gh_op_maybe_done(const gh_op* op)
{
    if ((op->flags & GH_OP_MAYBE) != 0) return true;
    /* While only its script's text is on the wire, nothing has been asked for. */
    return op->request == GH_REQUEST_SENT && gh_slot_of(op)->purpose == GH_SLOT_OP;
}

bool gh_op_sent_twice(const gh_op* op)
{
    return (op->flags & GH_OP_MAYBE) != 0;
}

/* All of a queue, from its front to its back, so that those who stay keep their order. */
static void rehome_queue(gh_unsent* queue)
{
    uint32_t count = queue->count;
    while (count-- > 0)
    {
        gh_op* op = queue->first;
        const uint32_t place = op->place;
        unsent_remove(queue, op);
        op->request = GH_REQUEST_NONE;
        if ((place & GH_PLACE_ASK) != 0) gh_op_requeue_at(op, place, false);
        else gh_op_requeue(op, false);
    }
}

void gh_unsent_rehome(gh_client* client)
{
    gh_node* node;
    for (node = client->nodes; node < client->nodes_end; node++)
    {
        rehome_queue(&node->urgent);
        rehome_queue(&node->waiting);
    }
}

void gh_unsent_replace(const gh_op* from, gh_op* to)
{
    gh_unsent* queue = unsent_of(to);
    if (queue->first == from) queue->first = to;
    if (queue->last == from) queue->last = to;
    if (to->previous != NULL) to->previous->next = to;
    if (to->next != NULL) to->next->previous = to;
}
