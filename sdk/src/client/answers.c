/* answers.c -- what the answer to an op's request comes to: its step hears of it, the request goes again, or it is
   given up. Whether the link can go on with it, the pipeline is told. */

#include "client/outcome.h"
#include "client/state.h"
#include "client/topology.h"
#include "wire/columns.h"
#include "wire/number.h"
#include "wire/reply_class.h"

#define RETRY_MIN_US        5000ull
#define RETRY_DOUBLINGS_MAX 7u /* 5 ms .. 640 ms                                     */
#define STRIKES_MAX         5u /* of one request: NOSCRIPT, answers that cost the link */

static bool element_fits(char letter, const gh_reply* value, const gh_op* op)
{
    switch (letter)
    {
    case 'q': return value->type == GH_REPLY_INTEGER && value->integer >= 0 && (uint64_t)value->integer == op->sequence;
    case 'n':
    case 'i': return value->type == GH_REPLY_INTEGER && value->integer >= 0;
    case 's': return value->type == GH_REPLY_STRING;
    default: return false;
    }
}

/* What the store's time was is noted of every reply that has it. */
static bool shape_fits(const gh_op* op, const char* shape, const gh_reply* reply)
{
    const char* letter = shape;
    const gh_reply* now = NULL;
    const gh_reply* value;
    if (shape == NULL) return true;
    if (reply->type != GH_REPLY_ARRAY) return false;
    for (value = reply->first; value != NULL && *letter != '*'; value = value->next, letter++)
    {
        if (!element_fits(*letter, value, op)) return false;
        if (*letter == 'n') now = value;
        GH_INVARIANT(op->client, value == reply->first + (letter - shape)); /* for gh_reply_integer */
    }
    if (*letter != 0 && *letter != '*') return false;
    if (now != NULL) gh_op_note_store_time(op, (uint64_t)now->integer);
    return true;
}

/* A reply that carries the op's sequence is the answer to its request, whatever else is wrong with it. */
static bool reply_is_for(const gh_op* op, const char* shape, const gh_reply* reply)
{
    const gh_reply* first = gh_reply_at(reply, 0);
    const gh_str text = reply->text;
    int64_t sequence;
    if (shape != NULL && shape[0] == 't' && reply->type == GH_REPLY_STRING)
        return gh_number_digits(text.bytes, text.bytes + text.size, &sequence) != NULL &&
               (uint64_t)sequence == op->sequence;
    return shape != NULL && shape[0] == 'q' && reply->type == GH_REPLY_ARRAY && first != NULL &&
           element_fits('q', first, op);
}

/* The copy that was sent last is answered, and the op fails. */
static void op_answered(gh_op* op, gh_reason reason, const gh_reply* reply)
{
    gh_op_fail(op, gh_outcome(reason, gh_op_knowledge_answered(op), op->kind->effect), reply);
}

void gh_op_give_up(gh_op* op, gh_reason reason)
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
static void op_reload(gh_node* node, gh_op* op)
{
    gh_script* script = gh_op_script(op);
    if (script == NULL || ++op->strikes > STRIKES_MAX)
    {
        op_answered(op, GH_REASON_REFUSED, NULL); /* a server that forgets scripts as fast as they are loaded */
        return;
    }
    op->client->stats.script_reloads++;
    gh_script_forget_loaded(node, script);
    gh_op_requeue(op, true);
}

/* No digest came for its script. Of the op itself nothing was sent: it goes again, also if it must not be repeated. */
static void op_await_digest_again(gh_op* op)
{
    if (++op->strikes > STRIKES_MAX) gh_op_give_up(op, GH_REASON_REFUSED);
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

/* The number that an error ends with: "STALE the data is of generation N". */
static uint64_t number_behind(gh_str text)
{
    uint64_t number = 0;
    size_t from = text.size;
    while (from > 0 && text.size - from < 16 && text.bytes[from - 1] >= '0' && text.bytes[from - 1] <= '9') from--;
    for (; from < text.size; from++) number = number * 10 + (uint64_t)(text.bytes[from] - '0');
    return number;
}

/* The data is of a later generation than the one that we know. The next hand-shake is told of it: where the store's
   clock went back over a loss, the server does not know it either. */
static bool op_stale(gh_op* op, const gh_reply* reply)
{
    if (op->kind->effect == GH_OP_CALLERS) return false;
    gh_client_hear_generation(op->client, number_behind(reply->text), gh_op_store_time(op, gh_client_now(op->client)));
    gh_log_op(op, GH_LOG_REFUSED_OP, GH_LOG_INFO, "asks anew: ", reply->text);
    if (++op->strikes > STRIKES_MAX) return false;
    gh_op_requeue(op, true);
    return true;
}

/* "LATE the request comes too late, it is N": of a link that is ready, so we had the store's clock wrong. */
static bool op_late(gh_op* op, const gh_reply* reply)
{
    const uint64_t now_us = number_behind(reply->text);
    if (op->kind->effect == GH_OP_CALLERS || now_us == 0) return false;
    gh_op_note_store_time(op, now_us);
    op_retry(op);
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

static bool op_goes_elsewhere(gh_node* node, gh_op* op, gh_reply_class reply_class, gh_str error)
{
    if (!op->client->many_servers || (reply_class != GH_CLASS_SLOT && reply_class != GH_CLASS_MOVED)) return false;
    op->client->config.topology->redirect(node, op, error);
    return true;
}

/* A caller's script may answer any words, also those that a server's begin with: such an error is an answer. */
static gh_reply_class class_of_error(const gh_op* op, gh_str error)
{
    const bool is_answer = op->kind->is_servers != NULL && !op->kind->is_servers(error);
    return is_answer ? GH_CLASS_OTHER : gh_reply_classify(error);
}

/* False: the link must be given up, and the op waits for the next one. */
static bool op_take_error(gh_node* node, gh_op* op, const gh_reply* reply)
{
    gh_reply_class reply_class = class_of_error(op, reply->text);
    if (op_goes_elsewhere(node, op, reply_class, reply->text)) return true;
    switch (reply_class)
    {
    case GH_CLASS_HEALTH:
        gh_log_op(op, GH_LOG_NO_WRITES, GH_LOG_WARNING, "the server takes no writes: ", reply->text);
        if (!may_retry(op)) break;
        op_retry(op);
        return true;
    case GH_CLASS_RETRY:
    case GH_CLASS_SLOT: op_retry(op); return true;
    case GH_CLASS_NOSCRIPT: op_reload(node, op); return true;
    case GH_CLASS_LOGIN:
    case GH_CLASS_RECONNECT: gh_op_requeue(op, true); return false;
    case GH_CLASS_STALE:
        if (op_stale(op, reply)) return false;
        break;
    case GH_CLASS_LATE:
        if (op_late(op, reply)) return true;
        break;
    case GH_CLASS_HALF:
        if (!op_halved(op, reply)) op_answered(op, GH_REASON_HALFWAY, reply);
        return true;
    case GH_CLASS_FENCED: op_answered(op, GH_REASON_FENCED, reply); return true;
    case GH_CLASS_STOPPED:
        gh_rights_doubt(node);
        gh_log_op(op, GH_LOG_REFUSED_OP, GH_LOG_ERROR, "refused: ", reply->text);
        op_answered(op, reason_of_stop(op), reply);
        return true;
    case GH_CLASS_MOVED:
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

static gh_taken op_take_odd_shape(gh_op* op, const char* shape, const gh_reply* reply)
{
    if (reply_is_for(op, shape, reply))
    {
        gh_log_op(op, GH_LOG_CORRUPT_KEY, GH_LOG_ERROR, "an answer that cannot be", gh_str_make(NULL, 0));
        op_answered(op, GH_REASON_UNUSABLE, reply);
        return GH_TAKEN_DONE;
    }
    op_strike(op);
    return GH_TAKEN_BROKEN;
}

static gh_taken op_take_reply(gh_node* node, gh_op* op, const gh_slot* slot, const gh_reply* reply)
{
    const char* shape = gh_answer_shape(op->kind, slot->script);
    gh_event event;
    if (reply->type == GH_REPLY_ERROR) return op_take_error(node, op, reply) ? GH_TAKEN_DONE : GH_TAKEN_MOVED;
    if (shape != NULL && *shape == 't' && gh_columns_read(&op->client->reader.values, shape + 1)) shape++;
    if (!shape_fits(op, shape, reply)) return op_take_odd_shape(op, shape, reply);
    memset(&event, 0, sizeof event);
    event.kind = GH_EVENT_REPLY;
    event.reply = reply;
    event.sent_us = slot->sent_us;
    event.generation = node->store_generation;
    event.link = node->link.generation;
    gh_op_deliver(op, &event);
    return GH_TAKEN_DONE;
}

/* The answer to a SCRIPT LOAD that op waits for. */
static gh_taken digest_take_reply(gh_node* node, gh_op* op, gh_script* script, const gh_reply* reply)
{
    if (reply->type == GH_REPLY_ERROR)
    {
        if (op == NULL) return GH_TAKEN_DONE;
        gh_script_forget_loaded(node, script);
        return op_take_error(node, op, reply) ? GH_TAKEN_DONE : GH_TAKEN_MOVED;
    }
    if (op == NULL) return GH_TAKEN_DONE; /* the script may be gone with it: its owner was told that the op is over */
    gh_script_note_digest(node, script, reply);
    if (!script->known)
    {
        op_await_digest_again(op);
        return GH_TAKEN_BROKEN;
    }
    gh_op_requeue(op, true);
    return GH_TAKEN_DONE;
}

gh_taken gh_answer_take(gh_node* node, const gh_slot* slot, const gh_reply* reply)
{
    if (slot->purpose == GH_SLOT_DIGEST) return digest_take_reply(node, slot->op, slot->script, reply);
    if (slot->op != NULL) return op_take_reply(node, slot->op, slot, reply);
    node->client->stats.replies_late++;
    return GH_TAKEN_DONE;
}

void gh_answer_take_unread(gh_op* op, gh_status why)
{
    if (why != GH_TOO_SMALL) op_strike(op);
    else if (op->kind->effect == GH_OP_CALLERS) gh_op_fail(op, GH_TOO_SMALL, NULL);
    else op_answered(op, GH_REASON_TOO_LARGE, NULL);
}
