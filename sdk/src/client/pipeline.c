/* pipeline.c -- the command link's requests: encoded in order, answered in order.

       queue -- encode --> slots.c -- reply --> answers.c, handshake.c, rights.c
         ^                    |
         '---- link lost -----'

   It alone gives up the link: whoever takes a reply answers whether the link can go on. When it dies, requests that
   were not sent whole go back to the queue as if nothing had been; those that were go back too, to be sent again with
   the same op id, unless their op said GH_OP_NO_REPEAT. */

#include "client/encoded.h"
#include "client/lend.h"
#include "client/link.h"
#include "client/state.h"
#include "client/replicas.h"

#define LOOK_US       1000ull /* an idle stream is looked at once in this time */
#define LOOK_MANY_US  8000ull /* of many, one of all in this time: each costs a frame a call of the system */
#define RECEIVE_BYTES 16384u  /* at once                                       */
#define RECEIVES      4u      /* between two looks at the clock                */

/* In less time than this nobody takes a master's place: with a node time-out of a half second a kill takes longer. */
#define LATE_US 250000ull

/* ---- losing the link --------------------------------------------------------------------------------------------- */

void gh_pipeline_lose(gh_node* node, gh_log_level level, const char* why)
{
    gh_client* client = node->client;
    uint64_t sent_bytes = node->link.sent_bytes;
    if (node->link.state == GH_LINK_READY) client->stats.links_lost++;
    gh_node_wake(node);
    node->caught_up = true;
    node->leaving = false;
    node->step = 0;
    gh_link_lose(&node->link, client, level, why);
    if (client->many)
    {
        gh_lend_settle(client, &node->link);
        client->config.topology->lost(node);
    }

    gh_slots_turn(node); /* the last first, each to the front: their order stays */
    while (node->sent_count > 0)
    {
        const gh_slot* slot = gh_slots_take_oldest(node);
        bool sent_whole = slot->end_byte <= sent_bytes;
        if (slot->op == NULL) continue;
        if (slot->purpose == GH_SLOT_OP && sent_whole)
        {
            slot->op->flags |= GH_OP_MAYBE;
            if ((slot->op->flags & GH_OP_NO_REPEAT) != 0)
            {
                gh_op_give_up(slot->op, GH_REASON_LINK);
                continue;
            }
            client->stats.resends++;
        }
        gh_op_requeue(slot->op, true);
    }
}

void gh_pipeline_leave(gh_node* node)
{
    if (!gh_link_is_open(&node->link)) return;
    gh_node_wake(node);
    node->leaving = true;
    if (node->sent_count == 0) gh_pipeline_lose(node, GH_LOG_INFO, "it goes elsewhere");
}

/* The hand-shake was refused for good: whoever waits now is told. Those who come later wait for the next attempt. */
static void refuse_unsent(gh_node* node, gh_reason reason)
{
    uint32_t count = node->urgent.count + node->waiting.count;
    while (count-- > 0)
    {
        gh_op* op = gh_unsent_next(node);
        if (op == NULL) return;
        gh_op_give_up(op, reason);
    }
}

void gh_pipeline_refuse(gh_node* node, gh_reason reason)
{
    refuse_unsent(node, reason);
    if (node->second != NULL) refuse_unsent(node->second, reason); /* which connects only at the side of this one */
}

/* ---- replies ----------------------------------------------------------------------------------------------------- */

/* The hand-shake gives its verdict, and the link is ours. */
static void handshake_take_reply(gh_node* node, uint32_t step, const gh_reply* reply)
{
    const gh_handshake_verdict verdict = gh_handshake_reply(node, step, reply);
    if (verdict.why == NULL) return;
    gh_pipeline_lose(node, verdict.level, verdict.why);
    if (verdict.refused) gh_pipeline_refuse(node, verdict.reason);
}

/* What stands behind it is then sent back to the owner, again and again until its slot has moved. */
static void asking_take_reply(gh_node* node, const gh_reply* reply)
{
    const gh_str part = gh_str_literal("ops wait until their slot has moved: ");
    if (reply->type != GH_REPLY_ERROR) return;
    gh_log_limited(node->client, GH_LOG_REFUSED_OP, GH_LOG_ERROR, &part, 1, reply->text);
}

static gh_taken slot_take_reply(gh_node* node, const gh_slot* slot, const gh_reply* reply)
{
    switch ((gh_slot_purpose)slot->purpose)
    {
    case GH_SLOT_OP:
    case GH_SLOT_DIGEST: return gh_answer_take(node, slot, reply);
    case GH_SLOT_HANDSHAKE: handshake_take_reply(node, slot->step, reply); return GH_TAKEN_DONE;
    case GH_SLOT_RIGHTS: gh_rights_take(node, reply); return GH_TAKEN_DONE;
    case GH_SLOT_WAIT: return node->client->config.replicas->take(node, reply);
    case GH_SLOT_ASKING: asking_take_reply(node, reply); return GH_TAKEN_DONE;
    case GH_SLOT_LOAD: return GH_TAKEN_DONE; /* if it failed, the request behind it answers NOSCRIPT */
    }
    GH_INVARIANT(node->client, false);
    return GH_TAKEN_BROKEN;
}

/* Hands one reply to the slot that it belongs to. False: the link is lost. */
static bool pipeline_take(gh_node* node, const gh_reply* reply)
{
    gh_client* client = node->client;
    uint32_t generation = node->link.generation;
    const gh_slot* slot;
    gh_op* op;
    gh_taken result;
    bool late;
    if (node->sent_count == 0)
    {
        if (reply->type == GH_REPLY_ERROR) /* "-ERR max number of clients reached" comes unasked */
        {
            const gh_str part = gh_str_literal("the server closes: ");
            gh_log_limited(client, GH_LOG_HANDSHAKE, GH_LOG_WARNING, &part, 1, reply->text);
            gh_pipeline_lose(node, GH_LOG_WARNING, "the server closes with an error");
            return false;
        }
        client->stats.protocol_errors++;
        gh_pipeline_lose(node, GH_LOG_ERROR, "a reply that nobody asked for");
        return false;
    }
    slot = gh_slots_take_oldest(node);
    client->stats.replies++;
    client->stats.round_trip_us = client->now_us - slot->sent_us;
    op = slot->op;
    late = client->many && client->stats.round_trip_us > LATE_US;
    if (late) client->config.topology->late(node);
    if (slot->op != NULL && slot->purpose == GH_SLOT_OP)
        gh_trace(client, GH_TRACE_REPLY, slot->op, client->now_us - slot->sent_us, GH_PENDING);

    result = slot_take_reply(node, slot, reply);
    if (late && op != NULL) gh_doubt_stray(node, op);
    if (result == GH_TAKEN_BROKEN)
    {
        client->stats.protocol_errors++;
        gh_pipeline_lose(node, GH_LOG_ERROR, "a reply of another shape than was asked for");
    }
    if (result == GH_TAKEN_MOVED) node->leaving = true;
    if (node->leaving && node->sent_count == 0)
        gh_pipeline_lose(node, GH_LOG_WARNING, "the server does not take writes or logins any more");
    return node->link.has_stream && node->link.generation == generation;
}

/* The answer to the oldest request cannot be read. GH_TOO_SMALL: it was carried out, and asking again will not help. */
static void pipeline_break(gh_node* node, gh_status why)
{
    const gh_slot* slot = node->sent_count == 0 ? NULL : gh_slots_oldest(node);
    if (slot == NULL || slot->purpose != GH_SLOT_OP || slot->op == NULL) return;
    gh_answer_take_unread(gh_slots_take_oldest(node)->op, why);
}

/* True if the answer to the oldest request is read on without what has no room. Nobody waits for that of an op which
   has ended, so it costs the link of the others nothing. */
static bool pipeline_cut(gh_node* node)
{
    const gh_slot* slot;
    if (node->sent_count == 0) return false;
    slot = gh_slots_oldest(node);
    return slot->purpose == GH_SLOT_OP && (slot->op == NULL || slot->op->kind->cuts_long) &&
           gh_inbox_cut(&node->link.inbox);
}

/* Replies from what was received, until it is used up. False: the link is lost, or the budget is. What a new store says
   is not read before all ops know that the old one is gone. */
static bool pipeline_read(gh_node* node)
{
    gh_client* client = node->client;
    uint32_t taken_count = 0;
    for (;;)
    {
        const gh_reply* reply = NULL;
        switch (gh_link_next(&node->link, client, &reply))
        {
        case GH_READ_MORE: return true;
        case GH_READ_REPLY:
            if (!pipeline_take(node, reply)) return false;
            if (client->sweep_left > 0) return false;
            if ((++taken_count & 15) == 0 && !gh_client_budget_left(client)) return false;
            break;
        case GH_READ_BROKEN:
            client->stats.protocol_errors++;
            pipeline_break(node, GH_UNKNOWN);
            gh_pipeline_lose(node, GH_LOG_ERROR, "not RESP2, or nested deeper than seven levels");
            return false;
        case GH_READ_TOO_LARGE:
            if (pipeline_cut(node)) break;
            client->stats.protocol_errors++;
            pipeline_break(node, GH_TOO_SMALL);
            gh_pipeline_lose(node, GH_LOG_ERROR, "a reply over reply_bytes or reply_nodes");
            return false;
        }
    }
}

/* Nothing is awaited, and the stream was looked at a moment ago. */
static bool is_idle(const gh_node* node)
{
    return node->sent_count == 0 && node->link.state == GH_LINK_READY && node->client->now_us < node->link.look_us &&
           !node->client->watched;
}

static void pipeline_receive(gh_node* node)
{
    gh_client* client = node->client;
    gh_link* link = &node->link;
    gh_moved moved = GH_MOVED_MORE;
    uint32_t receives = 0;
    while (pipeline_read(node))
    {
        if (moved != GH_MOVED_MORE)
        {
            node->caught_up = true;
            return;
        }
        if (receives++ == RECEIVES) /* of an answer that is long */
        {
            if (!gh_client_budget_left(client)) return;
            receives = 1;
        }
        moved = gh_link_receive(link, client, RECEIVE_BYTES);
        if (moved == GH_MOVED_LOST)
        {
            gh_pipeline_lose(node, GH_LOG_WARNING, "closed by the server");
            return;
        }
        if (moved != GH_MOVED_NOTHING) client->wake.look_us = client->now_us; /* a hint often comes with an answer */
    }
}

void gh_pipeline_receive(gh_node* node)
{
    gh_client* client = node->client;
    if (is_idle(node)) return;
    node->caught_up = false;
    node->link.look_us =
        client->now_us + (client->many ? gh_client_jitter(client, LOOK_MANY_US * client->servers) : LOOK_US);
    if (client->many && !gh_lend_in(client, &node->link)) return; /* when another link has read its reply to the end */
    client->reading = node;
    if (client->sweep_left == 0) pipeline_receive(node);
    if (!client->many) return;
    if (node->caught_up && gh_lend_is_held_up(client, &node->link))
        gh_pipeline_lose(node, GH_LOG_WARNING, "others wait for the end of its answer");
    gh_lend_settle(client, &node->link);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

typedef enum pipeline_encoded
{
    ENCODED_DONE, /* this op is dealt with; go on with the next */
    ENCODED_FULL  /* no room for it now                         */
} pipeline_encoded;

/* A caller's script knows of one connection that has it. Whom another server has told that it has not, brings it there,
   whatever ops for others have made it know meanwhile; and once, though the op finds no room behind it. */
static bool brings_script(const gh_node* node, const gh_op* op, const gh_script* script)
{
    return script->number == 0 && op->strikes > 0 && script->loaded != node->link.generation;
}

/* Loads the op's script first, where that is needed. GH_OK: encode the op. GH_PENDING: it waits. GH_FULL: no room, or
   an answer must come first. GH_REFUSED: the script lacks a right. */
static gh_status encode_script(gh_node* node, gh_op* op, gh_script* script)
{
    bool has_all_rights = node->rights_known && node->rights_missing == 0;
    gh_status right = script == NULL || has_all_rights ? GH_OK : gh_rights_check(node, op, script);
    if (right != GH_OK) return right;
    if (script == NULL) return GH_OK;
    /* Another op has had it loaded here and waits for the digest. All wait for that round trip: it comes once in the
       life of a script, and so requests keep their order. Of many nodes another may have said the digest meanwhile. */
    if (gh_slots_await_digest(node, script))
    {
        node->held_back = true;
        return GH_FULL;
    }
    if (script->known && gh_script_is_loaded(node, script) && !brings_script(node, op, script)) return GH_OK;
    if (script->known) return gh_script_encode_load(node, script, GH_SLOT_LOAD, NULL) ? GH_OK : GH_FULL;
    gh_unsent_remove(node, op);
    if (gh_script_encode_load(node, script, GH_SLOT_DIGEST, op)) return GH_PENDING;
    gh_op_requeue(op, true);
    return GH_FULL;
}

/* The rooms that begins leave of out_bytes have more than this to spare. */
static void encode_asking(gh_request* request)
{
    gh_request_array(request, 1);
    gh_request_str(request, gh_str_literal("ASKING"));
}

static pipeline_encoded encode_op(gh_node* node, gh_op* op)
{
    gh_client* client = node->client;
    gh_link* link = &node->link;
    gh_script* script = gh_op_script(op);
    gh_request request;
    const char* first;
    gh_status loaded;
    bool asks;
    if (!gh_slots_have_room(node)) return ENCODED_FULL;
    if (op->borrowed != 0) gh_borrowed_check(op);
    loaded = encode_script(node, op, script);
    if (loaded == GH_PENDING) return ENCODED_DONE;
    if (loaded == GH_REFUSED)
    {
        gh_op_give_up(op, GH_REASON_REFUSED);
        return ENCODED_DONE;
    }
    if (loaded == GH_OK && gh_slots_have_room(node))
    {
        request = gh_link_request(link);
        asks = (op->place & GH_PLACE_ASK) != 0;
        if (!gh_slots_have_room_for(node, op)) return ENCODED_FULL;
        if (asks) encode_asking(&request);
        first = request.at;
        request.script = script;
        request.phantom = node->clustered && script != NULL && gh_script_wants_phantom(script) ? node->phantom : 0;
        op->kind->encode(op, &request);
        GH_INVARIANT(client, gh_encoded_as_announced(script, &request, first));
        if (gh_link_commit(link, &request))
        {
            GH_INVARIANT(client, request.phantom == 0 || request.keys_left == 0); /* as many as were announced */
            gh_unsent_remove(node, op);
            if (asks) gh_slots_add(node, GH_SLOT_ASKING, NULL, NULL);
            gh_slots_add(node, GH_SLOT_OP, op, script);
            gh_trace(client, GH_TRACE_SENT, op, 0, GH_PENDING);
            return ENCODED_DONE;
        }
    }
    if (gh_link_unsent(link) > 0 || node->held_back || !gh_slots_have_room(node)) return ENCODED_FULL;
    gh_op_give_up(op, GH_REASON_NO_ROOM); /* nothing is in the way, and still it does not fit: it never will */
    return ENCODED_DONE;
}

/* No more than a send takes: what is encoded ahead of the socket can be overtaken by nothing urgent. */
static void encode_queue(gh_node* node)
{
    uint32_t count = 0;
    gh_op* op;
    node->held_back = false;
    while (gh_link_unsent(&node->link) < GH_FLUSH_BYTES && (op = gh_unsent_next(node)) != NULL)
    {
        if (encode_op(node, op) == ENCODED_FULL) return;
        if ((++count & 15) == 0 && !gh_client_budget_left(node->client)) return;
    }
}

/* The last piece went, and not all is said:
   the buffer was larger than a piece, or too small for this tick's requests. */
static bool pipeline_has_more_to_send(const gh_node* node, gh_moved moved)
{
    if (moved != GH_MOVED_SOME) return moved == GH_MOVED_MORE;
    return node->link.state == GH_LINK_READY && !node->leaving && gh_unsent_next(node) != NULL &&
           gh_slots_have_room(node);
}

static void pipeline_send(gh_node* node)
{
    gh_client* client = node->client;
    gh_link* link = &node->link;
    gh_moved moved;
    do
    {
        if (link->state == GH_LINK_HANDSHAKE) gh_handshake_encode(node);
        if (link->state == GH_LINK_READY && !node->leaving) encode_queue(node);
        if (!link->has_stream) return;
        client->stats.out_bytes_used = gh_link_unsent(link);
        if (client->stats.out_bytes_used > client->stats.out_bytes_used_max)
            client->stats.out_bytes_used_max = client->stats.out_bytes_used;
        moved = gh_link_flush(link, client);
        if (moved == GH_MOVED_LOST)
        {
            gh_pipeline_lose(node, GH_LOG_WARNING, "closed by the server");
            return;
        }
    } while (pipeline_has_more_to_send(node, moved) && gh_client_budget_left(client));
}

/* Behind all that was sent in this tick. */
static void pipeline_ask_replicas(gh_node* node)
{
    if (node->link.state != GH_LINK_READY || gh_link_unsent(&node->link) > 0) return;
    node->client->config.replicas->ask(node);
    if (gh_link_flush(&node->link, node->client) == GH_MOVED_LOST)
        gh_pipeline_lose(node, GH_LOG_WARNING, "closed by the server");
}

/* Nothing is to be said, and all that was said has left. */
static bool has_nothing_to_say(const gh_node* node)
{
    return node->link.state == GH_LINK_READY && !gh_node_has_unsent(node) && gh_link_unsent(&node->link) == 0 &&
           node->main == NULL;
}

void gh_pipeline_send(gh_node* node)
{
    gh_client* client = node->client;
    if (has_nothing_to_say(node))
    {
        node->held_back = false;
        client->stats.out_bytes_used = 0;
        return;
    }
    if (client->many && !gh_lend_out(client, &node->link)) return;
    pipeline_send(node);
    if (node->main != NULL) pipeline_ask_replicas(node);
    if (client->many) gh_lend_settle(client, &node->link);
}

/* ---- a peer that is too silent ------------------------------------------------------------------------------------
 */

void gh_pipeline_check_age(gh_node* node)
{
    const gh_client* client = node->client;
    const gh_link* link = &node->link;
    if (!node->caught_up) return; /* answers may be here, unread */
    if (link->state == GH_LINK_HANDSHAKE && client->now_us >= link->due_us)
        gh_pipeline_lose(node, GH_LOG_WARNING, "no end of the hand-shake in time");
    else if (link->state == GH_LINK_READY && node->sent_count > 0 &&
             client->now_us - gh_slots_oldest(node)->sent_us >= client->config.request_timeout_us)
        gh_pipeline_lose(node, GH_LOG_WARNING, "no answer in time");
}
