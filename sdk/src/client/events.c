/* events.c -- what an op is told, and what its owner is told behind it.

       step of a child --> its status changes, it ends --> its owner is noted --the step is over--> GH_EVENT_CHILD

   Whoever is noted is told when no step is running any more, and no function that the caller has called: so its step
   finds its children at rest, and never runs inside itself. */

#include "client/state.h"

#define HINT_WITHOUT_LETTER 1u

/* ---- owners ------------------------------------------------------------------------------------------------------ */

static gh_op** next_owner(gh_op* owner)
{
    return (gh_op**)(void*)((char*)owner + owner->kind->owner_link);
}

void gh_op_child_moved(gh_op* owner)
{
    gh_client* client = owner->client;
    if (!gh_op_is_busy(owner) || (owner->flags & GH_OP_TOLD_OF) != 0) return;
    GH_INVARIANT(client, owner->kind->owner_link >= sizeof *owner);
    owner->flags |= GH_OP_TOLD_OF;
    *next_owner(owner) = client->owners;
    client->owners = owner;
}

void gh_op_tell_owner(const gh_op* op)
{
    gh_op* owner = op->kind->owner == NULL || !gh_op_is_busy(op) ? NULL : op->kind->owner(op);
    if (owner != NULL) gh_op_child_moved(owner);
}

void gh_owner_forget(gh_op* op)
{
    gh_op** link = &op->client->owners;
    GH_INVARIANT(op->client, (op->flags & GH_OP_TOLD_OF) != 0);
    while (*link != op) link = next_owner(*link);
    *link = *next_owner(op);
    op->flags &= (uint8_t)~GH_OP_TOLD_OF;
}

static void op_tell_child(gh_op* op)
{
    gh_event event;
    memset(&event, 0, sizeof event);
    event.kind = GH_EVENT_CHILD;
    gh_owner_forget(op);
    op->kind->step(op, &event);
}

/* What they do may move children again. */
static void owners_tell(gh_client* client)
{
    while (client->owners != NULL) op_tell_child(client->owners);
}

static inline void step_leave(gh_client* client)
{
    if (client->steps == 1 && client->owners != NULL) owners_tell(client);
    client->steps--;
}

void gh_step_enter(gh_client* client)
{
    client->steps++;
}

void gh_step_leave(gh_client* client)
{
    step_leave(client);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* The op may be gone behind it. */
static void op_step(gh_op* op, const gh_event* event)
{
    gh_client* client = op->client;
    GH_INVARIANT(client, client != NULL && op->kind != NULL);
    client->steps++;
    op->kind->step(op, event);
    step_leave(client);
}

void gh_op_tell(gh_op* op, gh_event_kind kind)
{
    gh_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    op_step(op, &event);
}

static void op_tell_hint(gh_op* op, char letter)
{
    gh_event event;
    memset(&event, 0, sizeof event);
    event.kind = GH_EVENT_HINT;
    event.hint = letter;
    op_step(op, &event);
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
    if (op->request != GH_REQUEST_NONE) return;
    op->hint = 0;
    if ((op->flags & GH_OP_LISTENING) != 0) op_tell_hint(op, kept == HINT_WITHOUT_LETTER ? 0 : (char)kept);
}

void gh_op_deliver(gh_op* op, const gh_event* event)
{
    gh_client* client = op->client;
    client->steps++;
    op->kind->step(op, event);
    if (op->hint != 0) op_tell_kept_hint(op);
    step_leave(client);
}

/* A request that is not sent yet will be answered with the news. */
void gh_op_hint(gh_op* op, char letter)
{
    if (op->request == GH_REQUEST_NONE || op->kind->hints_at_once) op_tell_hint(op, letter);
    else if (op->request == GH_REQUEST_SENT) op_keep_hint(op, letter);
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
