/* chat_change.c -- what changes a chat: create, join, leave, send. */

#include "guildhall/chat.h"

#include "chat_read.h"
#include "client/object.h"
#include "talk/entry.h"
#include "wire/name.h"

#define CHAT_SEND_KEYS      5u
#define CHAT_SEND_NUMBERS   5u
#define CHAT_CREATE_KEYS    4u
#define CHAT_CREATE_NUMBERS 8u

/* What each change begins with. */
static void encode_chat_head(gh_request* request, gh_op* op, uint32_t more_arguments, gh_str chat, const char* parts)
{
    gh_request_marked_script(request, op, more_arguments, gh_chat_kind(), chat, parts);
    gh_request_number(request, gh_op_generation(op));
}

/* ---- a chat -------------------------------------------------------------------------------------------- */

static const gh_bound chat_bounds_rows[] = {
    GH_BOUND_TIMEOUT(gh_chat_config), GH_BOUND(gh_chat_config, keep, 1000, 1, GH_CHAT_KEEP_MAX, GH_INVALID_LIMIT),
    GH_BOUND(gh_chat_config, members_max, 1000, 1, GH_CHAT_MEMBERS_MAX, GH_INVALID_LIMIT)};
static const gh_bounds chat_bounds = GH_BOUNDS(gh_chat_config, chat_bounds_rows);

gh_chat_config gh_chat_config_default(void)
{
    gh_chat_config config;
    gh_bounds_fill(&chat_bounds, &config);
    return config;
}

gh_status gh_chat_init(gh_chat* chat, gh_client* client, gh_str name, const gh_chat_config* config)
{
    return gh_object_init((gh_object*)chat, client, name, &chat_bounds, config, offsetof(gh_chat, config));
}

/* ---- change: create, join, leave ----------------------------------------------------------------------- */

typedef enum chat_change_kind
{
    CHAT_CREATE = 1,
    CHAT_JOIN,
    CHAT_LEAVE
} chat_change_kind;

typedef enum chat_change_state
{
    CHAT_NOTING = 1, /* in the players' own lists, one after the other; before the chat knows       */
    CHAT_QUEUED,     /* in the row of this client's changes to this chat                            */
    CHAT_CHANGING,   /* the chat is asked                                                           */
    CHAT_AFTER       /* it is done: a joiner is noted again, a leaver is taken from its list        */
} chat_change_state;

static gh_chat_change* chat_change_of(gh_op* op)
{
    return (gh_chat_change*)(void*)op;
}

static gh_script* chat_change_script(gh_op* op)
{
    const gh_chat_change* change = chat_change_of(op);
    const gh_script_text* text = &gh_chats_add_lua;
    if (op->state == CHAT_CHANGING)
        text = change->kind == CHAT_CREATE ? &gh_chat_create_lua
               : change->kind == CHAT_JOIN ? &gh_chat_join_lua
                                           : &gh_chat_leave_lua;
    else if (op->state == CHAT_AFTER && change->kind == CHAT_LEAVE) text = &gh_chats_remove_lua;
    return gh_client_script(op->client, text);
}

static void encode_note(gh_op* op, gh_request* request)
{
    const gh_chat_change* change = chat_change_of(op);
    gh_str player = change->kind == CHAT_CREATE ? change->names[change->noted] : gh_name_str(&change->player);
    gh_request_object_script(request, op, gh_str_literal("chats"), player, "lh");
    gh_request_number(request, op->sequence);
    gh_request_str(request, gh_name_str(&change->chat));
}

/* A chat that refuses what is too much is told by the sign. */
static void encode_keep(gh_request* request, const gh_chat_change* change)
{
    char text[1 + GH_DECIMAL_SIZE_MAX];
    char* end = text;
    if (change->refuses) *end++ = '-';
    end = gh_decimal_encode(change->keep, end);
    gh_request_str(request, gh_str_make(text, (size_t)(end - text)));
}

static void encode_create(gh_op* op, gh_request* request)
{
    const gh_chat_change* change = chat_change_of(op);
    uint32_t i;
    const uint32_t more = change->count + (change->first == NULL ? 0 : 2);
    encode_chat_head(request, op, more, gh_name_str(&change->chat), "smv");
    encode_keep(request, change);
    gh_request_number(request, change->members_max);
    gh_request_number(request, change->count);
    for (i = 0; i < change->count; i++) gh_request_str(request, change->names[i]);
    if (change->first != NULL) gh_posts_encode(request, change->first, 1);
}

static void encode_join_or_leave(gh_op* op, gh_request* request)
{
    const gh_chat_change* change = chat_change_of(op);
    bool joins = change->kind == CHAT_JOIN;
    encode_chat_head(request, op, 0, gh_name_str(&change->chat), joins ? "smv" : "smvh");
    gh_request_str(request, gh_name_str(&change->player));
    if (joins) gh_request_number(request, change->from_start);
}

/* Up to when a note in the player's list is from before the leave, by the clock of the list's node. On a Cluster the
   chat's has another, so there it is when the leave was asked for: then both speak of our clock. */
static uint64_t left_until(const gh_op* op, const gh_chat_change* change)
{
    const bool other_clock = change->left_us != 0 && gh_op_is_clustered(op);
    return other_clock ? gh_op_store_time(op, change->asked_us) : change->left_us;
}

static void chat_change_encode(gh_op* op, gh_request* request)
{
    const gh_chat_change* change = chat_change_of(op);
    if (gh_request_is_sum(request))
    {
        if (change->kind == CHAT_CREATE) encode_create(op, request); /* the others have borrowed nothing */
        return;
    }
    switch ((chat_change_state)op->state)
    {
    case CHAT_NOTING: encode_note(op, request); break;
    case CHAT_CHANGING:
        if (change->kind == CHAT_CREATE) encode_create(op, request);
        else encode_join_or_leave(op, request);
        break;
    case CHAT_AFTER:
        if (change->kind == CHAT_LEAVE)
            gh_chat_encode_remove(op, request, gh_name_str(&change->player), gh_name_str(&change->chat),
                                  left_until(op, change));
        else encode_note(op, request);
        break;
    case CHAT_QUEUED:
        GH_INVARIANT(op->client, false); /* nothing is asked in this one */
        request->full = true;
        break;
    }
}

static void chat_change_end(gh_chat_change* change, gh_status status)
{
    change->op.state = 0;
    gh_op_end(&change->op, status);
    gh_gate_leave(&change->gate);
}

static void chat_change_ask(gh_chat_change* change)
{
    change->op.state = CHAT_CHANGING;
    change->asked_us = gh_client_now(change->op.client);
    gh_op_send(&change->op, 0);
}

/* From here on the sequence counts for the chat's mark, so it must be newer than those that are in the row
 * already. */
static void chat_change_queue(gh_chat_change* change)
{
    change->op.state = CHAT_QUEUED;
    gh_op_renumber(&change->op);
    if (gh_gate_enter(&change->gate, &change->op,
                      gh_gate_object(change->op.client, gh_chat_kind(), gh_name_str(&change->chat))))
        chat_change_ask(change);
}

static void chat_change_noted(gh_chat_change* change, const gh_reply* reply)
{
    const int64_t code = gh_reply_integer(reply, GH_CHATS_ADD_CODE);
    if (code != GH_CHATS_ADD_NOTED)
    {
        const bool is_full = code == GH_CHATS_ADD_FULL;
        chat_change_end(change, is_full ? GH_FULL : gh_op_outcome(&change->op, GH_REASON_UNUSABLE));
        return;
    }
    if (++change->noted < change->count) gh_op_send(&change->op, 0);
    else chat_change_queue(change);
}

/* The chat has spoken. The row goes on while we see to the player's own list. */
static void chat_change_see_to_list(gh_chat_change* change, gh_status outcome)
{
    change->outcome = (int16_t)outcome;
    change->op.state = CHAT_AFTER;
    gh_gate_leave(&change->gate);
    gh_op_send(&change->op, 0);
}

/* The store has a later change of this client's, but our row of changes has sent nothing later. */
static void chat_change_end_old(gh_chat_change* change)
{
    chat_change_end(change, gh_op_outcome(&change->op, GH_REASON_CORRUPT));
}

static void chat_created(gh_chat_change* change, const gh_reply* reply)
{
    change->epoch = (uint64_t)gh_reply_integer(reply, GH_CHAT_CREATE_EPOCH);
    switch (gh_reply_integer(reply, GH_CHAT_CREATE_CODE))
    {
    case GH_CHAT_CREATE_MADE: chat_change_end(change, GH_OK); break;
    case GH_CHAT_CREATE_EXISTS: chat_change_end(change, gh_op_refused(&change->op, GH_EXISTS)); break;
    case GH_CHAT_CREATE_OLD: chat_change_end_old(change); break;
    default: chat_change_end(change, gh_op_outcome(&change->op, GH_REASON_UNUSABLE)); break;
    }
}

static void chat_joined(gh_chat_change* change, const gh_reply* reply)
{
    change->epoch = (uint64_t)gh_reply_integer(reply, GH_CHAT_JOIN_EPOCH);
    change->seen = (uint64_t)gh_reply_integer(reply, GH_CHAT_JOIN_SEEN);
    switch (gh_reply_integer(reply, GH_CHAT_JOIN_CODE))
    {
    case GH_CHAT_JOIN_JOINED:
    case GH_CHAT_JOIN_MEMBER: chat_change_see_to_list(change, GH_OK); break;
    case GH_CHAT_JOIN_GONE: chat_change_end(change, gh_op_refused(&change->op, GH_GONE)); break;
    case GH_CHAT_JOIN_OLD: chat_change_end_old(change); break;
    case GH_CHAT_JOIN_FULL: chat_change_end(change, gh_op_refused(&change->op, GH_FULL)); break;
    default: chat_change_end(change, gh_op_outcome(&change->op, GH_REASON_UNUSABLE)); break;
    }
}

static void chat_left(gh_chat_change* change, const gh_reply* reply)
{
    change->members = (uint32_t)gh_reply_integer(reply, GH_CHAT_LEAVE_MEMBERS);
    switch (gh_reply_integer(reply, GH_CHAT_LEAVE_CODE))
    {
    case GH_CHAT_LEAVE_LEFT:
        change->left_us = (uint64_t)gh_reply_integer(reply, GH_CHAT_LEAVE_LEFT_US);
        chat_change_see_to_list(change, GH_OK);
        break;
    case GH_CHAT_LEAVE_GONE: chat_change_see_to_list(change, gh_op_refused(&change->op, GH_GONE)); break;
    case GH_CHAT_LEAVE_NO_MEMBER: chat_change_see_to_list(change, gh_op_refused(&change->op, GH_NOT_MEMBER)); break;
    case GH_CHAT_LEAVE_OLD: chat_change_end_old(change); break;
    default: chat_change_end(change, gh_op_outcome(&change->op, GH_REASON_UNUSABLE)); break;
    }
}

static void chat_change_reply(gh_chat_change* change, const gh_reply* reply)
{
    switch ((chat_change_state)change->op.state)
    {
    case CHAT_NOTING: chat_change_noted(change, reply); break;
    case CHAT_CHANGING:
        if (change->kind == CHAT_CREATE) chat_created(change, reply);
        else if (change->kind == CHAT_JOIN) chat_joined(change, reply);
        else chat_left(change, reply);
        break;
    case CHAT_AFTER: chat_change_end(change, (gh_status)change->outcome); break;
    case CHAT_QUEUED: break;
    }
}

/* How it ends if a request of its present state ends so. A player's list is only a hint that mends itself: what became
   of it is nobody's outcome, and before the chat was asked nothing is done. */
static gh_status chat_change_judge(const gh_chat_change* change, gh_status status)
{
    if (change->op.state == CHAT_AFTER) return (gh_status)change->outcome;
    return status;
}

/* No answer any more: what does that make of it? */
static void chat_change_give_up(gh_chat_change* change, gh_reason reason)
{
    bool is_asked = change->op.state == CHAT_CHANGING;
    gh_status not_done = reason == GH_REASON_CANCEL ? GH_CANCELLED : GH_TIMEOUT;
    chat_change_end(change, chat_change_judge(change, is_asked ? gh_op_outcome(&change->op, reason) : not_done));
}

static void chat_change_stop(gh_chat_change* change)
{
    if (change->op.state == CHAT_CHANGING && gh_op_maybe_done(&change->op)) return; /* ends with its answer */
    chat_change_give_up(change, GH_REASON_CANCEL);
}

static void chat_change_step(gh_op* op, const gh_event* event)
{
    gh_chat_change* change = chat_change_of(op);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: chat_change_reply(change, event->reply); break;
    case GH_EVENT_FAILED: chat_change_end(change, chat_change_judge(change, event->status)); break;
    case GH_EVENT_HINT:
        if (op->state == CHAT_QUEUED) chat_change_ask(change);
        break;
    case GH_EVENT_TIMER: chat_change_give_up(change, GH_REASON_DEADLINE); break;
    case GH_EVENT_CANCEL: chat_change_stop(change); break;
    case GH_EVENT_CLOSE: chat_change_give_up(change, GH_REASON_CANCEL); break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_RESET:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
}

static const gh_op_kind chat_change_op_kind = {.name = "chat",
                                               .borrows = true,
                                               .step = chat_change_step,
                                               .encode = chat_change_encode,
                                               .script = chat_change_script,
                                               .effect = GH_OP_CHANGES};

static bool chat_is_among(gh_str name, const gh_str* names, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (gh_str_equal(name, names[i])) return true;
    return false;
}

static size_t chat_room(const gh_chat* chat, uint32_t keys, uint32_t numbers)
{
    return gh_object_script_room(&chat->object, gh_chat_kind(), keys, numbers);
}

static gh_status check_chat_create(const gh_chat* chat, const gh_str* members, size_t count, const gh_post* first)
{
    const size_t room = chat_room(chat, CHAT_CREATE_KEYS, CHAT_CREATE_NUMBERS);
    size_t size = 0;
    size_t i;
    gh_status status;
    if (members == NULL || count == 0 || count > GH_CHAT_CREATE_MAX) return GH_INVALID_MEMBERS;
    for (i = 0; i < count; i++)
    {
        if (!gh_name_is_valid(members[i]) || chat_is_among(members[i], members, i)) return GH_INVALID_MEMBERS;
        size += gh_request_str_size(members[i].size);
    }
    if (size > room) return GH_TOO_LARGE;
    if (first == NULL) return GH_OK;
    status = gh_posts_check(first, 1, room - size);
    if (status != GH_OK || first->sender.size == 0) return status;
    return chat_is_among(first->sender, members, count) ? GH_OK : GH_INVALID_MEMBERS;
}

static void chat_change_begin(gh_chat_change* op, const gh_chat* chat, chat_change_kind kind)
{
    gh_client* client = chat->object.client;
    op->epoch = 0;
    op->seen = 0;
    op->members = 0;
    op->kind = kind;
    op->chat = chat->object.name;
    op->gate.op = NULL;
    op->left_us = 0;
    op->noted = 0;
    op->keep = chat->config.keep;
    op->refuses = chat->config.refuse_when_full;
    op->members_max = chat->config.members_max;
    op->outcome = GH_OK;
    gh_op_begin(&op->op, client, &chat_change_op_kind);
    gh_op_timer_after(&op->op, chat->config.timeout_us);
    if (kind == CHAT_LEAVE)
    {
        chat_change_queue(op);
        return;
    }
    op->op.state = CHAT_NOTING;
    gh_op_send(&op->op, 0);
}

static gh_status chat_create_try(gh_chat_change* op, const gh_chat* chat, const gh_str* members, size_t count,
                                 const gh_post* first)
{
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)chat);
    if (status != GH_OK) return status;
    status = check_chat_create(chat, members, count, first);
    if (status != GH_OK) return status;
    if (chat->config.members_max < count) return GH_INVALID_LIMIT;
    op->names = members;
    op->count = (uint32_t)count;
    op->first = first;
    chat_change_begin(op, chat, CHAT_CREATE);
    return GH_OK;
}

gh_status gh_chat_create_begin(gh_chat_change* op, const gh_chat* chat, const gh_str* members, size_t count,
                               const gh_post* first)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)chat, chat_create_try(op, chat, members, count, first));
}

static gh_status chat_change_one(gh_chat_change* op, const gh_chat* chat, chat_change_kind kind, gh_str player,
                                 gh_chat_from from)
{
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)chat);
    if (status != GH_OK) return status;
    if (!gh_name_is_valid(player)) return GH_INVALID_MEMBERS;
    if (from != GH_CHAT_FROM_NOW && from != GH_CHAT_FROM_START) return GH_INVALID_FROM;
    gh_name_keep(&op->player, player);
    op->count = 1;
    op->from_start = from == GH_CHAT_FROM_START;
    chat_change_begin(op, chat, kind);
    return GH_OK;
}

gh_status gh_chat_join_begin(gh_chat_change* op, const gh_chat* chat, gh_str player, gh_chat_from from)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)chat, chat_change_one(op, chat, CHAT_JOIN, player, from));
}

gh_status gh_chat_leave_begin(gh_chat_change* op, const gh_chat* chat, gh_str player)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)chat,
                           chat_change_one(op, chat, CHAT_LEAVE, player, GH_CHAT_FROM_NOW));
}

/* ---- send ---------------------------------------------------------------------------------------------- */

static gh_chat_send* chat_send_of(gh_op* op)
{
    return (gh_chat_send*)(void*)op;
}

static void chat_send_encode(gh_op* op, gh_request* request)
{
    const gh_chat_send* send = chat_send_of(op);
    encode_chat_head(request, op, 2 * send->count, gh_name_str(&send->chat), "smvh");
    gh_posts_encode(request, send->posts, send->count);
}

/* codes: "-" if all were taken, else one for each. A post that an earlier copy may have stored, in a store that has
   forgotten it since with its sender's membership, may have been read. */
static gh_status chat_sent(gh_chat_send* send, uint64_t id, gh_str codes)
{
    gh_status refused = gh_op_refused(&send->op, GH_NOT_MEMBER);
    bool all = gh_str_equal(codes, gh_str_literal("-"));
    uint32_t accepted = 0;
    uint32_t i;
    if (!all && codes.size != send->count) return gh_op_outcome(&send->op, GH_REASON_UNUSABLE);
    for (i = 0; i < send->count; i++)
    {
        bool is_taken = all || codes.bytes[i] == GH_CHAT_SEND_SAID;
        send->posts[i].status = is_taken ? GH_OK : refused;
        send->posts[i].id = is_taken ? id++ : 0;
        if (is_taken) accepted++;
    }
    return accepted > 0 ? GH_OK : refused;
}

static gh_status chat_send_answer(gh_op* op, const gh_event* event)
{
    gh_chat_send* send = chat_send_of(op);
    const gh_reply* reply = event->reply;
    const uint64_t first_id = (uint64_t)gh_reply_integer(reply, GH_CHAT_SEND_FIRST_ID);
    switch (gh_reply_integer(reply, GH_CHAT_SEND_CODE))
    {
    case GH_CHAT_SEND_TAKEN: break;
    case GH_CHAT_SEND_GONE: return gh_op_refused(op, GH_GONE);
    case GH_CHAT_SEND_FULL: return gh_op_refused(op, GH_FULL);
    case GH_CHAT_SEND_OLD: return gh_op_outcome(op, GH_REASON_CORRUPT); /* our row of changes has sent nothing later */
    default: return gh_op_outcome(op, GH_REASON_UNUSABLE);
    }
    send->epoch = (uint64_t)gh_reply_integer(reply, GH_CHAT_SEND_EPOCH);
    return chat_sent(send, first_id, gh_reply_text(reply, GH_CHAT_SEND_CODES));
}

static const gh_op_kind chat_send_kind = {.name = "chat",
                                          .borrows = true,
                                          .step = gh_gate_call_step,
                                          .gate_at = offsetof(gh_chat_send, gate),
                                          .encode = chat_send_encode,
                                          .text = &gh_chat_send_lua,
                                          .effect = GH_OP_CHANGES,
                                          .answer = chat_send_answer};

static gh_status chat_send_try(gh_chat_send* op, const gh_chat* chat, gh_post* posts, size_t count)
{
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)chat);
    gh_client* client;
    if (status != GH_OK) return status;
    client = chat->object.client;
    status = gh_posts_begin(posts, count, chat_room(chat, CHAT_SEND_KEYS, CHAT_SEND_NUMBERS));
    if (status != GH_OK) return status;
    op->epoch = 0;
    op->chat = chat->object.name;
    op->posts = posts;
    op->count = (uint32_t)count;
    gh_gate_call_begin(&op->op, client, &chat_send_kind, chat->config.timeout_us,
                       gh_gate_object(client, gh_chat_kind(), gh_name_str(&op->chat)));
    return GH_OK;
}

gh_status gh_chat_send_begin(gh_chat_send* op, const gh_chat* chat, gh_post* posts, size_t count)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)chat, chat_send_try(op, chat, posts, count));
}
