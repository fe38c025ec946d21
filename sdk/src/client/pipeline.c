/* pipeline.c -- the command link's requests: encoded in order, answered in order.

   A ring of slots mirrors what is on the wire, one slot a request. The n-th reply belongs to the n-th slot, so a reply
   can reach no other op; a slot whose op has ended keeps its place and swallows its answer. When the link dies,
   requests that were not sent whole go back to the queue as if nothing had been; those that were go back too, to be
   sent again with the same op id, unless their op said GH_OP_NO_REPEAT. */

#include "client/outcome.h"
#include "client/state.h"
#include "wire/reply_class.h"

#define RETRY_MIN_US        5000ull
#define RETRY_DOUBLINGS_MAX 7u      /* 5 ms .. 640 ms */
#define STRIKES_MAX         5u      /* of one request: NOSCRIPT, answers that cost the link */
#define LOOK_US             1000ull /* an idle stream is looked at once in this time */
#define RECEIVE_BYTES       16384u  /* at once                                       */

bool gh_pipeline_has_room(const gh_client* client)
{
    return client->slot_count < client->config.requests_capacity;
}

gh_slot* gh_pipeline_push(gh_client* client, gh_slot_purpose purpose, gh_op* op, gh_script* script)
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

/* ---- replies ----------------------------------------------------------------------------------------------------- */

gh_script* gh_op_script(gh_op* op)
{
    const gh_op_kind* kind = op->kind;
    if (kind->text != NULL) return gh_client_script(op->client, kind->text);
    return kind->script == NULL ? NULL : kind->script(op);
}

static bool element_fits(char letter, const gh_reply* value, const gh_op* op)
{
    switch (letter)
    {
    case 'q': return value->type == GH_REPLY_INTEGER && value->integer >= 0 && (uint64_t)value->integer == op->sequence;
    case 'i': return value->type == GH_REPLY_INTEGER && value->integer >= 0;
    case 's': return value->type == GH_REPLY_STRING;
    default: return false;
    }
}

static bool shape_fits(const gh_op* op, const gh_reply* reply)
{
    const char* letter = op->shape;
    const gh_reply* value;
    if (letter == NULL) return true;
    if (reply->type != GH_REPLY_ARRAY) return false;
    for (value = reply->first; value != NULL; value = value->next, letter++)
    {
        if (*letter == '*') return true;
        if (!element_fits(*letter, value, op)) return false;
    }
    return *letter == 0 || *letter == '*';
}

/* A reply that carries the op's sequence is the answer to its request, whatever else is wrong with it. */
static bool reply_is_for(const gh_op* op, const gh_reply* reply)
{
    const gh_reply* first = gh_reply_at(reply, 0);
    return op->shape != NULL && op->shape[0] == 'q' && reply->type == GH_REPLY_ARRAY && first != NULL &&
           element_fits('q', first, op);
}

/* The copy that was sent last is answered, and the op fails. */
static void op_answered(gh_op* op, gh_reason reason, const gh_reply* reply)
{
    gh_op_fail(op, gh_outcome(reason, gh_op_knowledge_answered(op), op->kind->effect), reply);
}

/* No answer has come, or none to the op's own request. */
static void op_give_up(gh_op* op, gh_reason reason)
{
    gh_op_fail(op, gh_op_outcome(op, reason), NULL);
}

static void op_retry(gh_op* op)
{
    uint32_t doublings = op->attempts > RETRY_DOUBLINGS_MAX ? RETRY_DOUBLINGS_MAX : op->attempts;
    if (op->attempts < UINT8_MAX) op->attempts++;
    op->client->stats.retries++;
    gh_op_pause(op, gh_client_jitter(op->client, RETRY_MIN_US << doublings));
}

/* NOSCRIPT: the next encoding of the op puts SCRIPT LOAD in front of it. */
static void op_reload(gh_op* op)
{
    gh_script* script = gh_op_script(op);
    if (script == NULL || ++op->strikes > STRIKES_MAX)
    {
        op_answered(op, GH_REASON_REFUSED, NULL); /* a server that forgets scripts as fast as they are loaded */
        return;
    }
    op->client->stats.script_reloads++;
    script->loaded = 0;
    gh_op_requeue(op, true);
}

/* No digest came for its script. Of the op itself nothing was sent: it goes again, also if it must not be repeated. */
static void op_await_digest_again(gh_op* op)
{
    if (++op->strikes > STRIKES_MAX) op_give_up(op, GH_REASON_REFUSED);
    else gh_op_requeue(op, true);
}

/* The answer cannot be used, and costs the link. The same may come again: then it is given up, before it costs the link
   of all others for ever. */
static void op_strike(gh_op* op)
{
    op->flags |= GH_OP_MAYBE;
    if ((op->flags & GH_OP_NO_REPEAT) != 0 || ++op->strikes > STRIKES_MAX) op_answered(op, GH_REASON_UNUSABLE, NULL);
    else gh_op_requeue(op, true);
}

/* A caller's script may have written before it ran into OOM and the like: only if it may be repeated is it. */
static bool may_retry(gh_op* op)
{
    bool caller_script = op->kind->effect == GH_OP_CALLERS && gh_op_script(op) != NULL;
    return !caller_script || (op->flags & GH_OP_NO_REPEAT) == 0;
}

/* The server stopped a script. What a caller's script had done by then is for the caller to know; where something of
   ours stands behind it, that was stopped before it ran. */
static gh_reason reason_of_stop(gh_op* op)
{
    const gh_script* script = gh_op_script(op);
    if (op->kind->effect != GH_OP_CALLERS) return GH_REASON_HALFWAY;
    if (script != NULL && script->behind != NULL) return GH_REASON_REFUSED;
    return gh_script_is_ours(script) ? GH_REASON_REFUSED : GH_REASON_ERROR;
}

/* A Cluster moves the slot, and the script lost sight of a key in the middle: when the slot has settled, the same
   request mends what it left. */
static bool op_halved(gh_op* op, const gh_reply* reply)
{
    op->client->stats.scripts_halved++;
    gh_log_op(op, GH_LOG_REFUSED_OP, GH_LOG_WARNING, "ended half-way: ", reply->text);
    if ((op->flags & GH_OP_NO_REPEAT) != 0) return false;
    op->flags |= GH_OP_MAYBE;
    op_retry(op);
    return true;
}

/* "STALE the data is of generation N" */
static void note_generation(gh_client* client, gh_str text)
{
    uint64_t number = 0;
    size_t from = text.size;
    while (from > 0 && text.size - from < 16 && text.bytes[from - 1] >= '0' && text.bytes[from - 1] <= '9') from--;
    for (; from < text.size; from++) number = number * 10 + (uint64_t)(text.bytes[from] - '0');
    if (number > client->store_generation_heard && number < UINT64_C(1) << 53) client->store_generation_heard = number;
}

/* The data is of a later generation than the one that we know. The next hand-shake says which, and is told of this one:
   where the store's clock went back over a loss, it does not know it either. */
static bool op_stale(gh_op* op, const gh_reply* reply)
{
    if (op->kind->effect == GH_OP_CALLERS) return false;
    note_generation(op->client, reply->text);
    gh_log_op(op, GH_LOG_REFUSED_OP, GH_LOG_INFO, "asks anew: ", reply->text);
    if (++op->strikes > STRIKES_MAX) return false;
    gh_op_requeue(op, true);
    return true;
}

/* A script of ours looks at every key before it writes to one; any other error of it is not of its own making. */
static void op_take_other_error(gh_op* op, gh_reply_class reply_class, const gh_reply* reply)
{
    bool is_seen_before = reply_class != GH_CLASS_OTHER;
    if (op->kind->effect == GH_OP_CALLERS && reply_class != GH_CLASS_LOCK_CORRUPT)
    {
        op_answered(op, GH_REASON_ERROR, reply);
        return;
    }
    gh_log_op(op, GH_LOG_CORRUPT_KEY, GH_LOG_ERROR, "a key is not as it should be: ", reply->text);
    op_answered(op, is_seen_before ? GH_REASON_CORRUPT : GH_REASON_UNUSABLE, reply);
}

/* False: the link must be given up, and the op waits for the next one. */
static bool op_take_error(gh_op* op, const gh_reply* reply)
{
    gh_reply_class reply_class = gh_reply_classify(reply->text);
    switch (reply_class)
    {
    case GH_CLASS_HEALTH:
        gh_log_op(op, GH_LOG_NO_WRITES, GH_LOG_WARNING, "the server takes no writes: ", reply->text);
        if (!may_retry(op)) break;
        op_retry(op);
        return true;
    case GH_CLASS_RETRY: op_retry(op); return true;
    case GH_CLASS_NOSCRIPT: op_reload(op); return true;
    case GH_CLASS_LOGIN:
    case GH_CLASS_RECONNECT: gh_op_requeue(op, true); return false;
    case GH_CLASS_STALE:
        if (op_stale(op, reply)) return false;
        break;
    case GH_CLASS_HALF:
        if (!op_halved(op, reply)) op_answered(op, GH_REASON_HALFWAY, reply);
        return true;
    case GH_CLASS_FENCED: op_answered(op, GH_REASON_FENCED, reply); return true;
    case GH_CLASS_STOPPED:
        gh_rights_doubt(op->client);
        gh_log_op(op, GH_LOG_REFUSED_OP, GH_LOG_ERROR, "refused: ", reply->text);
        op_answered(op, reason_of_stop(op), reply);
        return true;
    case GH_CLASS_REFUSED:
        gh_log_op(op, GH_LOG_REFUSED_OP, GH_LOG_ERROR, "refused: ", reply->text);
        op_answered(op, GH_REASON_REFUSED, reply);
        return true;
    case GH_CLASS_LOCK_CORRUPT:
    case GH_CLASS_CORRUPT:
    case GH_CLASS_WRONGTYPE:
    case GH_CLASS_OTHER: break;
    }
    op_take_other_error(op, reply_class, reply);
    return true;
}

/* What a reply came to. Anything but DONE gives up the link. */
typedef enum pipeline_taken
{
    TAKEN_DONE,
    TAKEN_BROKEN, /* the reply has another shape than was asked for */
    TAKEN_MOVED   /* this server, or this connection, is not the one: no more is asked of it */
} pipeline_taken;

static pipeline_taken op_take_reply(gh_op* op, const gh_reply* reply, uint64_t sent_us)
{
    gh_event event;
    op->slot = 0;
    op->request = GH_REQUEST_NONE;
    if (reply->type == GH_REPLY_ERROR) return op_take_error(op, reply) ? TAKEN_DONE : TAKEN_MOVED;
    if (!shape_fits(op, reply))
    {
        if (reply_is_for(op, reply))
        {
            gh_log_op(op, GH_LOG_CORRUPT_KEY, GH_LOG_ERROR, "an answer that cannot be", gh_str_make(NULL, 0));
            op_answered(op, GH_REASON_UNUSABLE, reply);
            return TAKEN_DONE;
        }
        op_strike(op);
        return TAKEN_BROKEN;
    }
    memset(&event, 0, sizeof event);
    event.kind = GH_EVENT_REPLY;
    event.reply = reply;
    event.sent_us = sent_us;
    gh_op_deliver(op, &event);
    return TAKEN_DONE;
}

/* The answer to a SCRIPT LOAD that op waits for. */
static pipeline_taken digest_take_reply(gh_client* client, gh_op* op, gh_script* script, const gh_reply* reply)
{
    if (op != NULL)
    {
        op->slot = 0;
        op->request = GH_REQUEST_NONE;
    }
    if (reply->type == GH_REPLY_ERROR)
    {
        if (op == NULL) return TAKEN_DONE;
        script->loaded = 0;
        return op_take_error(op, reply) ? TAKEN_DONE : TAKEN_MOVED;
    }
    if (op == NULL) return TAKEN_DONE; /* the script may be gone with it: its owner was told that the op is over */
    gh_script_note_digest(client, script, reply);
    if (!script->known)
    {
        op_await_digest_again(op);
        return TAKEN_BROKEN;
    }
    gh_op_requeue(op, true);
    return TAKEN_DONE;
}

static pipeline_taken slot_take_reply(gh_client* client, const gh_slot* slot, const gh_reply* reply)
{
    switch ((gh_slot_purpose)slot->purpose)
    {
    case GH_SLOT_OP:
        if (slot->op != NULL) return op_take_reply(slot->op, reply, slot->sent_us);
        client->stats.replies_late++;
        return TAKEN_DONE;
    case GH_SLOT_DIGEST: return digest_take_reply(client, slot->op, slot->script, reply);
    case GH_SLOT_HANDSHAKE: gh_handshake_reply(client, slot->step, reply); return TAKEN_DONE;
    case GH_SLOT_RIGHTS: gh_rights_take(client, reply); return TAKEN_DONE;
    case GH_SLOT_LOAD: return TAKEN_DONE; /* if it failed, the request behind it answers NOSCRIPT */
    }
    return TAKEN_BROKEN;
}

/* The oldest request leaves the ring; it must be there. */
static gh_slot slot_pop(gh_client* client)
{
    gh_slot slot = client->slots[client->slot_head];
    GH_INVARIANT(client, client->slot_count > 0);
    GH_INVARIANT(client, slot.op == NULL || slot.op->slot == client->slot_head + 1);
    GH_INVARIANT(client, slot.op == NULL || slot.op->request == GH_REQUEST_SENT);
    client->slot_head = (client->slot_head + 1) % client->config.requests_capacity;
    client->slot_count--;
    return slot;
}

/* Hands one reply to the slot that it belongs to. False: the link is lost. */
static bool pipeline_take(gh_client* client, const gh_reply* reply)
{
    uint32_t generation = client->commands.generation;
    gh_slot slot;
    pipeline_taken result;
    if (client->slot_count == 0)
    {
        if (reply->type == GH_REPLY_ERROR) /* "-ERR max number of clients reached" comes unasked */
        {
            const gh_str part = gh_str_literal("the server closes: ");
            gh_log_limited(client, GH_LOG_HANDSHAKE, GH_LOG_WARNING, &part, 1, reply->text);
            gh_pipeline_lose(client, GH_LOG_WARNING, "the server closes with an error");
            return false;
        }
        client->stats.protocol_errors++;
        gh_pipeline_lose(client, GH_LOG_ERROR, "a reply that nobody asked for");
        return false;
    }
    slot = slot_pop(client);
    client->stats.replies++;
    client->stats.round_trip_us = client->now_us - slot.sent_us;
    if (slot.op != NULL && slot.purpose == GH_SLOT_OP)
        gh_trace(client, GH_TRACE_REPLY, slot.op, client->now_us - slot.sent_us, GH_PENDING);

    result = slot_take_reply(client, &slot, reply);
    if (result == TAKEN_BROKEN)
    {
        client->stats.protocol_errors++;
        gh_pipeline_lose(client, GH_LOG_ERROR, "a reply of another shape than was asked for");
    }
    if (result == TAKEN_MOVED) client->leaving = true;
    if (client->leaving && client->slot_count == 0)
        gh_pipeline_lose(client, GH_LOG_WARNING, "the server does not take writes or logins any more");
    return client->commands.stream >= 0 && client->commands.generation == generation;
}

/* The answer to the oldest request cannot be read. GH_TOO_SMALL: it was carried out, and asking again will not help. */
static void pipeline_break(gh_client* client, gh_status why)
{
    gh_slot slot;
    if (client->slot_count == 0) return;
    slot = client->slots[client->slot_head];
    if (slot.purpose != GH_SLOT_OP || slot.op == NULL) return;
    slot_pop(client);
    slot.op->slot = 0;
    slot.op->request = GH_REQUEST_NONE;
    if (why != GH_TOO_SMALL) op_strike(slot.op);
    else if (slot.op->kind->effect == GH_OP_CALLERS) gh_op_fail(slot.op, GH_TOO_SMALL, NULL);
    else op_answered(slot.op, GH_REASON_TOO_LARGE, NULL);
}

/* True if the answer to the oldest request is read on without what has no room. Nobody waits for that of an op which
   has ended, so it costs the link of the others nothing. */
static bool pipeline_cut(gh_client* client)
{
    gh_slot slot;
    if (client->slot_count == 0) return false;
    slot = client->slots[client->slot_head];
    return slot.purpose == GH_SLOT_OP && (slot.op == NULL || slot.op->kind->cuts_long) &&
           gh_inbox_cut(&client->commands.inbox);
}

/* Replies from what was received, until it is used up. False: the link is lost, or the budget is. What a new store says
   is not read before all ops know that the old one is gone. */
static bool pipeline_read(gh_client* client)
{
    uint32_t taken_count = 0;
    for (;;)
    {
        const gh_reply* reply = NULL;
        switch (gh_link_next(&client->commands, client, &reply))
        {
        case GH_READ_MORE: return true;
        case GH_READ_REPLY:
            if (!pipeline_take(client, reply)) return false;
            if (client->sweep_left > 0) return false;
            if ((++taken_count & 15) == 0 && !gh_client_budget_left(client)) return false;
            break;
        case GH_READ_BROKEN:
            client->stats.protocol_errors++;
            pipeline_break(client, GH_UNKNOWN);
            gh_pipeline_lose(client, GH_LOG_ERROR, "not RESP2, or nested deeper than seven levels");
            return false;
        case GH_READ_TOO_LARGE:
            if (pipeline_cut(client)) break;
            client->stats.protocol_errors++;
            pipeline_break(client, GH_TOO_SMALL);
            gh_pipeline_lose(client, GH_LOG_ERROR, "a reply over reply_bytes or reply_nodes");
            return false;
        }
    }
}

void gh_pipeline_receive(gh_client* client)
{
    gh_link* link = &client->commands;
    gh_moved moved = GH_MOVED_MORE;
    if (link->state != GH_LINK_READY && link->state != GH_LINK_HANDSHAKE) return;
    if (client->slot_count == 0 && link->state == GH_LINK_READY && client->now_us < link->look_us && !client->watched)
        return;
    link->look_us = client->now_us + LOOK_US;
    client->caught_up = false;
    if (client->sweep_left > 0) return;
    while (pipeline_read(client))
    {
        if (moved != GH_MOVED_MORE)
        {
            client->caught_up = true;
            return;
        }
        moved = gh_link_receive(link, client, RECEIVE_BYTES);
        if (moved == GH_MOVED_LOST)
        {
            gh_pipeline_lose(client, GH_LOG_WARNING, "closed by the server");
            return;
        }
        if (moved != GH_MOVED_NOTHING) client->wake.look_us = client->now_us; /* a hint often comes with an answer */
    }
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

typedef enum pipeline_encoded
{
    ENCODED_DONE, /* this op is dealt with; go on with the next */
    ENCODED_FULL  /* no room for it now                         */
} pipeline_encoded;

/* Loads the op's script first, where that is needed. GH_OK: encode the op. GH_PENDING: it waits. GH_FULL: no room, or
   an answer must come first. GH_REFUSED: the script lacks a right. */
static gh_status encode_script(gh_client* client, gh_op* op)
{
    gh_script* script = gh_op_script(op);
    bool has_all_rights = client->rights_known && client->rights_missing == 0;
    gh_status right = script == NULL || has_all_rights ? GH_OK : gh_rights_check(client, op, script);
    if (right != GH_OK) return right;
    if (script == NULL || (script->known && script->loaded == client->commands.generation)) return GH_OK;
    if (script->known) return gh_script_encode_load(client, script, GH_SLOT_LOAD, NULL) ? GH_OK : GH_FULL;
    /* Another op has had it loaded and waits for the digest. All wait for that round trip: it comes once in the life of
       a script, and so requests keep their order. */
    if (script->loaded == client->commands.generation)
    {
        client->held_back = true;
        return GH_FULL;
    }
    gh_queue_remove(op);
    if (gh_script_encode_load(client, script, GH_SLOT_DIGEST, op)) return GH_PENDING;
    gh_op_requeue(op, true);
    return GH_FULL;
}

static pipeline_encoded encode_op(gh_client* client, gh_op* op)
{
    gh_link* link = &client->commands;
    gh_request request;
    gh_status script;
    if (!gh_pipeline_has_room(client)) return ENCODED_FULL;
    script = encode_script(client, op);
    if (script == GH_PENDING) return ENCODED_DONE;
    if (script == GH_REFUSED)
    {
        op_give_up(op, GH_REASON_REFUSED);
        return ENCODED_DONE;
    }
    if (script == GH_OK && gh_pipeline_has_room(client))
    {
        request = gh_link_request(link);
        request.phantom = client->clustered && gh_script_wants_phantom(client, gh_op_script(op));
        op->kind->encode(op, &request);
        if (gh_link_commit(link, &request))
        {
            GH_INVARIANT(client, !request.phantom || request.keys_left == 0); /* as many as were announced */
            gh_queue_remove(op);
            gh_pipeline_push(client, GH_SLOT_OP, op, NULL);
            gh_trace(client, GH_TRACE_SENT, op, 0, GH_PENDING);
            return ENCODED_DONE;
        }
    }
    if (gh_link_unsent(link) > 0 || client->held_back || !gh_pipeline_has_room(client)) return ENCODED_FULL;
    op_give_up(op, GH_REASON_NO_ROOM); /* nothing is in the way, and still it does not fit: it never will */
    return ENCODED_DONE;
}

/* No more than a send takes: what is encoded ahead of the socket can be overtaken by nothing urgent. */
static void encode_queue(gh_client* client)
{
    uint32_t count = 0;
    gh_op* op;
    client->held_back = false;
    while (gh_link_unsent(&client->commands) < GH_FLUSH_BYTES && (op = gh_queue_next(client)) != NULL)
    {
        if (encode_op(client, op) == ENCODED_FULL) return;
        if ((++count & 15) == 0 && !gh_client_budget_left(client)) return;
    }
}

/* The last piece went, and not all is said:
   the buffer was larger than a piece, or too small for this tick's requests. */
static bool pipeline_has_more_to_send(gh_client* client, gh_moved moved)
{
    if (moved != GH_MOVED_SOME) return moved == GH_MOVED_MORE;
    return client->commands.state == GH_LINK_READY && !client->leaving && gh_queue_next(client) != NULL &&
           gh_pipeline_has_room(client);
}

void gh_pipeline_send(gh_client* client)
{
    gh_link* link = &client->commands;
    gh_moved moved;
    do
    {
        if (link->state == GH_LINK_HANDSHAKE) gh_handshake_encode(client);
        if (link->state == GH_LINK_READY && !client->leaving) encode_queue(client);
        if (link->stream < 0) return;
        client->stats.out_bytes_used = gh_link_unsent(link);
        if (client->stats.out_bytes_used > client->stats.out_bytes_used_max)
            client->stats.out_bytes_used_max = client->stats.out_bytes_used;
        moved = gh_link_flush(link, client);
        if (moved == GH_MOVED_LOST)
        {
            gh_pipeline_lose(client, GH_LOG_WARNING, "closed by the server");
            return;
        }
    } while (pipeline_has_more_to_send(client, moved) && gh_client_budget_left(client));
}

/* ---- losing the link --------------------------------------------------------------------------------------------- */

void gh_pipeline_lose(gh_client* client, gh_log_level level, const char* why)
{
    uint64_t sent_bytes = client->commands.sent_bytes;
    uint32_t head = client->slot_head;
    uint32_t count = client->slot_count;
    GH_INVARIANT(client, count <= client->config.requests_capacity);
    if (client->commands.state == GH_LINK_READY) client->stats.links_lost++;
    client->slot_head = client->slot_count = 0;
    client->caught_up = true;
    client->leaving = false;
    client->step = 0;
    gh_link_lose(&client->commands, client, level, why);

    while (count-- > 0) /* the last first, each to the front: their order stays */
    {
        gh_slot slot = client->slots[(head + count) % client->config.requests_capacity];
        bool sent_whole = slot.end_byte <= sent_bytes;
        if (slot.op == NULL) continue;
        GH_INVARIANT(client, slot.op->request == GH_REQUEST_SENT);
        slot.op->slot = 0;
        slot.op->request = GH_REQUEST_NONE;
        if (slot.purpose == GH_SLOT_OP && sent_whole)
        {
            slot.op->flags |= GH_OP_MAYBE;
            if ((slot.op->flags & GH_OP_NO_REPEAT) != 0)
            {
                op_give_up(slot.op, GH_REASON_LINK);
                continue;
            }
            client->stats.resends++;
        }
        gh_op_requeue(slot.op, true);
    }
}

/* The hand-shake was refused for good: whoever waits now is told. Those who come later wait for the next attempt. */
void gh_pipeline_refuse(gh_client* client, gh_reason reason)
{
    uint32_t count = client->urgent.count + client->waiting.count;
    while (count-- > 0)
    {
        gh_op* op = gh_queue_next(client);
        if (op == NULL) return;
        op_give_up(op, reason);
    }
}

void gh_pipeline_check_age(gh_client* client)
{
    const gh_link* link = &client->commands;
    if (!client->caught_up) return; /* answers may be here, unread */
    if (link->state == GH_LINK_HANDSHAKE && client->now_us >= link->due_us)
        gh_pipeline_lose(client, GH_LOG_WARNING, "no end of the hand-shake in time");
    else if (link->state == GH_LINK_READY && client->slot_count > 0 &&
             client->now_us - client->slots[client->slot_head].sent_us >= client->config.request_timeout_us)
        gh_pipeline_lose(client, GH_LOG_WARNING, "no answer in time");
}
