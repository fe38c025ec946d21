/* chat_fetch.c -- reads one chat for all its members on this server.

       ASKING    chat_read.lua: what the members have handled goes out, what they have seen and some messages
   come back. Many members take several requests; messages come with the last, when it is known where to begin
       RANGING   LRANGE: a plain range of the list, for a long backlog. The list may have been cut in the
   meantime; entries say their own ids, so what is not the next one is thrown away and the chat is asked again
       WAITING   nothing new; a hint or a timer makes it ask */

#include "base/least.h"
#include "chat_members.h"
#include "chat_read.h"
#include "client/object.h"
#include "client/question.h"
#include "talk/entry.h"
#include "wire/name.h"

#define CHAT_WAIT_MAX_US  3600000000ull
#define CHAT_REPLY_ROOM   4096u /* of a reply: the figures                                        */
#define CHAT_HEARTBEAT_US 2000000ull
#define CHAT_TOKEN_US     10000000ull /* a reader asks at least this often, or is not hinted            */

#define CHAT_RANGE_MIN 4u /* messages that a plain range brings, or it is not worth its while   */

typedef enum chat_fetch_state
{
    CHAT_ASKING = GH_QUESTION_ASKING,
    CHAT_WAITING = GH_QUESTION_WAITING,
    CHAT_RANGING = GH_QUESTION_OTHER
} chat_fetch_state;

static gh_chat_fetch* chat_fetch_of(gh_op* op)
{
    return (gh_chat_fetch*)(void*)op;
}

static gh_page chat_page(const gh_chat_fetch* fetch)
{
    return gh_page_make(fetch->messages, fetch->buffer_size, fetch->buffer_tail, fetch->count);
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static gh_script* chat_fetch_script(gh_op* op)
{
    return op->state == CHAT_RANGING ? NULL : gh_chat_read_script(op);
}

static uint32_t messages_wanted(const gh_chat_fetch* fetch)
{
    gh_page page = chat_page(fetch);
    uint64_t fitting = gh_page_room(&page) / sizeof(gh_message);
    uint64_t wanted = fetch->messages_max - fetch->count;
    if (fitting == 0) fitting = 1; /* to learn what it needs */
    return (uint32_t)gh_least(wanted, fitting);
}

static void encode_ask(gh_op* op, gh_request* request)
{
    gh_chat_fetch* fetch = chat_fetch_of(op);
    gh_chat_question question;
    uint32_t values = gh_client_reply_nodes(op->client) - GH_CHAT_READ_SEEN - 1 - fetch->page_count;
    memset(&question, 0, sizeof question);
    question.chat = gh_name_str(&fetch->chat);
    question.epoch = fetch->epoch;
    question.after = fetch->after;
    question.from_least = fetch->from_least;
    question.pairs = fetch->page_count;
    if (fetch->wants_messages)
    {
        gh_page page = chat_page(fetch);
        question.count = (uint32_t)gh_least(gh_least(messages_wanted(fetch), GH_CHAT_INLINE_MAX), values);
        question.room = (size_t)gh_least(gh_client_reply_bytes(op->client) - CHAT_REPLY_ROOM, page.size);
        question.bytes = (size_t)gh_least(gh_least(question.room, GH_ENTRY_PAGE_MAX), gh_page_room(&page));
        if (fetch->count == 0 && fetch->wait_end_us > gh_client_now(op->client)) question.wait_us = CHAT_TOKEN_US;
    }
    gh_chat_encode_read(op, request, &question);
    gh_chat_members_encode(fetch, request);
}

/* Messages that a reply holds even if all are as large as the largest. */
static uint64_t chat_range_most(const gh_chat_fetch* fetch)
{
    return (gh_client_reply_bytes(fetch->op.client) - 1) / ((uint64_t)fetch->largest + 1);
}

/* True if a plain range is the shortest way: not where one large message makes it a short one, or is not wanted at
   all. */
static bool chat_may_range(const gh_chat_fetch* fetch)
{
    return !fetch->mixed && fetch->largest <= fetch->buffer_size && chat_range_most(fetch) >= CHAT_RANGE_MIN;
}

/* No more than is known to be there, than the reader can take, and than fits. */
static void encode_range(gh_op* op, gh_request* request)
{
    const gh_chat_fetch* fetch = chat_fetch_of(op);
    uint64_t from = fetch->after + 1 - fetch->first_id;
    uint64_t count = gh_least(messages_wanted(fetch), fetch->horizon - fetch->after);
    count = gh_least(count, gh_client_reply_nodes(op->client) - 2);
    count = gh_least(count, chat_range_most(fetch));
    gh_request_array(request, 4);
    gh_request_str(request, gh_str_literal("LRANGE"));
    gh_request_object_keys(request, op->client, gh_chat_kind(), gh_name_str(&fetch->chat), "m");
    gh_request_number(request, from);
    gh_request_number(request, from + (count > 0 ? count - 1 : 0));
}

static void chat_fetch_encode(gh_op* op, gh_request* request)
{
    if (gh_request_is_sum(request))
    {
        gh_chat_members_sum(chat_fetch_of(op), request);
        return;
    }
    switch ((chat_fetch_state)op->state)
    {
    case CHAT_ASKING: encode_ask(op, request); break;
    case CHAT_RANGING: encode_range(op, request); break;
    case CHAT_WAITING:
        GH_INVARIANT(op->client, false); /* nothing is asked in this one */
        request->full = true;
        break;
    }
}

/* ---- ways from state to state -------------------------------------------------------------------------- */

static gh_status chat_ask(gh_chat_fetch* fetch)
{
    gh_chat_members_plan(fetch);
    fetch->after = gh_chat_members_after(fetch);
    if (fetch->count > 0) fetch->after = fetch->messages[fetch->count - 1].id; /* on, in the same fetch */
    if (fetch->after == GH_CHAT_ID_MAX) fetch->after = 0;
    return gh_question_ask(&fetch->op, fetch->timeout_us, fetch->wait_end_us > 0, 0);
}

/* From the first member on: who has left meanwhile must not be served. So what is said after the first answer is for
   the next time. */
static gh_status chat_ask_all(gh_op* op)
{
    gh_chat_fetch* fetch = chat_fetch_of(op);
    gh_chat_member* member;
    for (member = fetch->members; member != NULL; member = member->next) member->fresh = false;
    fetch->horizon = UINT64_MAX;
    return chat_ask(fetch);
}

static gh_status chat_range(gh_chat_fetch* fetch)
{
    fetch->op.state = CHAT_RANGING;
    gh_op_timer_after(&fetch->op, fetch->timeout_us);
    gh_op_send(&fetch->op, 0);
    return GH_PENDING;
}

/* Every member is told which of the messages are new to it; who is none, that none is. */
static void chat_fetch_end(gh_chat_fetch* fetch, gh_status status)
{
    gh_chat_member* member;
    uint64_t last_given = 0;
    if (status != GH_OK) fetch->count = 0;
    if (status == GH_OK || status == GH_EMPTY || status == GH_TOO_SMALL) fetch->untold = false;
    if (fetch->count > 0) last_given = fetch->messages[fetch->count - 1].id;
    for (member = fetch->members; member != NULL; member = member->next)
    {
        member->from = member->status == GH_OK ? member->given : UINT64_MAX;
        member->told = !fetch->untold;
        if (member->status == GH_OK && member->known && member->given < last_given) member->given = last_given;
    }
    gh_op_end(&fetch->op, status);
}

/* What has been read already is worth more than the reason why there is no more. */
static gh_status chat_no_more(const gh_chat_fetch* fetch, gh_status status)
{
    return fetch->count > 0 ? GH_OK : status;
}

/* ---- replies ------------------------------------------------------------------------------------------- */

/* Copies entries. GH_OK; GH_FULL: the rest does not fit; GH_CORRUPT: not an entry; GH_LOST: not the next one.
   Entries of before_us or later are not taken: when the range was asked for, they were not known, so they are
   of another chat. */
static gh_status chat_keep(gh_chat_fetch* fetch, const gh_reply* entry, uint64_t before_us, const gh_epochs* epochs)
{
    gh_page page = chat_page(fetch);
    gh_status status = GH_OK;
    for (; entry != NULL && status == GH_OK; entry = entry->next)
    {
        gh_message message;
        if (entry->type == GH_REPLY_NIL)
            status = GH_LOST; /* cut out: of a list that was cut meanwhile, a range finds other, larger ones */
        else if (entry->type != GH_REPLY_STRING || !gh_entry_parse(entry->text, &message)) status = GH_CORRUPT;
        else if (message.id != fetch->after + 1 || message.time_us >= before_us) status = GH_LOST;
        else if (message.id > fetch->horizon) break;
        else if (page.count == fetch->messages_max || !gh_page_add(&page, &message, gh_epochs_of(epochs, message.id)))
            status = GH_FULL;
        else fetch->after = message.id;
        if (status == GH_FULL) fetch->buffer_needed = (uint32_t)gh_page_whole(&message);
    }
    fetch->buffer_tail = page.tail;
    fetch->count = page.count;
    return status;
}

/* Messages have come, or none were there; what next? */
static gh_status chat_go_on(gh_chat_fetch* fetch, gh_status kept)
{
    bool more = fetch->after < fetch->horizon;
    if (kept == GH_CORRUPT) return chat_no_more(fetch, gh_op_outcome(&fetch->op, GH_REASON_CORRUPT));
    if (kept == GH_FULL) return chat_no_more(fetch, GH_TOO_SMALL);
    if (more && fetch->messages_max == 0) return GH_OK;
    if (fetch->count > 0 && (!more || fetch->count == fetch->messages_max)) return GH_OK;
    if (more && kept == GH_OK && chat_may_range(fetch) && fetch->horizon - fetch->after > GH_CHAT_INLINE_MAX)
        return chat_range(fetch);
    if (more) return chat_ask(fetch);
    if (fetch->after < fetch->last_id) return chat_ask_all(&fetch->op);
    if (fetch->wait_end_us <= gh_client_now(fetch->op.client)) return GH_EMPTY;
    return gh_question_wait(&fetch->op, &fetch->polls, CHAT_HEARTBEAT_US, fetch->wait_end_us);
}

/* True: the ids go on in a new epoch, perhaps from before what we know; or the chat was made anew, so that nothing
   that is known of its members holds. */
static bool chat_was_renewed(gh_chat_fetch* fetch, const gh_epochs* epochs)
{
    uint64_t known = fetch->epoch;
    fetch->epoch = epochs->present;
    fetch->mixed = epochs->ended.size > 0;
    if (known == 0 || known == epochs->present) return false;
    fetch->count = 0;
    fetch->buffer_tail = 0;
    if (gh_epochs_have(epochs, known))
    {
        gh_chat_members_rebase(fetch, gh_epochs_least(epochs, known, UINT64_MAX));
        return true;
    }
    fetch->renewed = true;
    gh_chat_members_forget(fetch);
    return true;
}

static gh_status chat_gone(gh_chat_fetch* fetch)
{
    gh_chat_member* member;
    for (member = fetch->members; member != NULL; member = member->next)
    {
        member->status = GH_GONE;
        member->known = false;
    }
    return chat_no_more(fetch, GH_GONE);
}

/* The members are as the answer says; values are the messages that came with it. */
static gh_status chat_take_values(gh_chat_fetch* fetch, const gh_reply* values, const gh_epochs* epochs)
{
    const uint64_t least = gh_chat_members_after(fetch);
    gh_status kept;
    if (fetch->from_least) fetch->after = least;
    if (fetch->count == 0 && least < fetch->after) return chat_ask(fetch); /* somebody has joined who is behind that */
    if (fetch->after < fetch->first_id - 1)
    {
        if (fetch->count > 0) return GH_OK; /* cut while we read: the gap is told by the next fetch */
        fetch->after = fetch->first_id - 1;
    }
    if (values == NULL && fetch->count > 0) return GH_OK; /* the next has no room in what is left of this page */
    kept = chat_keep(fetch, values, UINT64_MAX, epochs);
    return chat_go_on(fetch, kept == GH_LOST ? GH_CORRUPT : kept);
}

static gh_status chat_asked(gh_chat_fetch* fetch, const gh_event* event)
{
    const gh_reply* reply = event->reply;
    const gh_reply* values = NULL;
    gh_chat_figures figures;
    if (gh_reply_integer(reply, GH_CHAT_READ_CODE) == GH_CHAT_READ_GONE) return chat_gone(fetch);
    if (!gh_chat_read_figures(reply, &figures))
        return chat_no_more(fetch, gh_op_outcome(&fetch->op, GH_REASON_UNUSABLE));
    if (chat_was_renewed(fetch, &figures.epochs)) return chat_ask_all(&fetch->op);
    fetch->first_id = figures.first_id;
    fetch->last_id = figures.last_id;
    fetch->asked_us = figures.now_us / 1000 * 1000;
    fetch->largest = figures.largest;
    fetch->link = event->link;
    if (fetch->horizon > fetch->last_id) fetch->horizon = fetch->last_id;
    if (!gh_chat_members_take(fetch, gh_reply_at(reply, GH_CHAT_READ_SEEN), &values))
        return chat_no_more(fetch, gh_op_outcome(&fetch->op, GH_REASON_UNUSABLE));
    if (!fetch->wants_messages) return chat_ask(fetch);
    if (!gh_chat_members_update(fetch)) return chat_no_more(fetch, GH_NOT_MEMBER);
    return chat_take_values(fetch, values, &figures.epochs);
}

static gh_status chat_ranged(gh_chat_fetch* fetch, const gh_event* event)
{
    uint64_t before = fetch->after;
    gh_epochs epochs = {{NULL, 0}, fetch->epoch};
    gh_status kept;
    if (event->link != fetch->link) return chat_ask(fetch); /* perhaps of an older store */
    kept = chat_keep(fetch, event->reply->first, fetch->asked_us, &epochs);
    if (kept == GH_OK && fetch->after == before) kept = GH_LOST; /* the list is shorter than it was */
    return chat_go_on(fetch, kept);
}

static gh_status chat_fetch_answer(gh_op* op, const gh_event* event)
{
    gh_chat_fetch* fetch = chat_fetch_of(op);
    return op->state == CHAT_RANGING ? chat_ranged(fetch, event) : chat_asked(fetch, event);
}

static void chat_fetch_step(gh_op* op, const gh_event* event)
{
    gh_chat_fetch* fetch = chat_fetch_of(op);
    gh_status status = gh_question_verdict(op, event, fetch->wait_end_us, chat_ask_all);
    if (event->kind == GH_EVENT_FAILED || event->kind == GH_EVENT_TIMER) status = chat_no_more(fetch, status);
    if (status != GH_PENDING) chat_fetch_end(fetch, status);
}

static const gh_op_kind chat_fetch_kind = {.name = "chat",
                                           .borrows = true,
                                           .step = chat_fetch_step,
                                           .encode = chat_fetch_encode,
                                           .script = chat_fetch_script,
                                           .answers_array = true,
                                           .effect = GH_OP_READS,
                                           .answer = chat_fetch_answer,
                                           .trees = gh_tree_read,
                                           .cuts_long = true};

/* ---- what the caller calls ----------------------------------------------------------------------------- */

static const gh_bound chat_fetch_bounds_rows[] = {
    GH_BOUND(gh_chat_fetch_config, wait_us, 0, 0, CHAT_WAIT_MAX_US, GH_INVALID_WAIT),
    GH_BOUND(gh_chat_fetch_config, messages_max, 64, 0, GH_CHAT_FETCH_MAX, GH_INVALID_LIMIT)};
static const gh_bounds chat_fetch_bounds = GH_BOUNDS(gh_chat_fetch_config, chat_fetch_bounds_rows);

gh_chat_fetch_config gh_chat_fetch_config_default(void)
{
    gh_chat_fetch_config config;
    gh_bounds_fill(&chat_fetch_bounds, &config);
    return config;
}

static gh_status check_chat_fetch(const gh_chat_fetch_config* config, gh_client* client)
{
    gh_status status = gh_refusal_check(&chat_fetch_bounds, config, client);
    return status == GH_OK ? gh_page_check(config->buffer, config->buffer_size, config->messages_max) : status;
}

gh_status gh_chat_fetch_start(gh_chat_fetch* op, const gh_chat* chat, gh_chat_member* first,
                              const gh_chat_fetch_config* config)
{
    gh_client* client = chat->object.client;
    gh_chat_member* member;
    gh_status status = gh_op_check(&op->op, client);
    if (status != GH_OK) return status;
    if (!gh_str_equal(gh_name_str(&op->chat), gh_name_str(&chat->object.name)))
    {
        op->epoch = 0; /* it knew another chat */
        op->untold = false;
    }
    op->messages = (const gh_message*)config->buffer;
    op->count = 0;
    op->buffer_needed = 0;
    op->renewed = op->renewed && op->untold;
    op->mixed = false;
    op->polls = 0;
    op->chat = chat->object.name;
    op->members = first;
    op->wait_end_us = config->wait_us == 0 ? 0 : gh_client_after(client, config->wait_us);
    op->timeout_us = (uint32_t)chat->config.timeout_us;
    op->buffer_size = config->buffer_size > UINT32_MAX ? UINT32_MAX : (uint32_t)config->buffer_size;
    op->buffer_tail = 0;
    op->messages_max = config->messages_max;
    for (member = first; member != NULL; member = member->next)
    {
        if (member->told) member->missed = 0;
        member->told = false;
    }
    op->untold = true;
    gh_op_begin(&op->op, client, &chat_fetch_kind);
    chat_ask_all(&op->op);
    return GH_OK;
}

static gh_status chat_fetch_try(gh_chat_fetch* op, const gh_chat* chat, gh_chat_member* members, size_t count,
                                const gh_chat_fetch_config* config)
{
    size_t i;
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)chat);
    if (status != GH_OK) return status;
    if (members == NULL || count == 0 || count > GH_CHAT_MEMBERS_MAX) return GH_INVALID_MEMBERS;
    for (i = 0; i < count; i++)
    {
        if (!gh_name_is_valid(members[i].name)) return GH_INVALID_MEMBERS;
        if (members[i].handled >= GH_CHAT_ID_MAX) return GH_INVALID_ID;
        if (members[i].handled_epoch >= GH_CHAT_ID_MAX) return GH_INVALID_EPOCH;
    }
    status = check_chat_fetch(config, chat->object.client);
    if (status != GH_OK) return status;
    for (i = 0; i < count; i++) members[i].next = i + 1 < count ? &members[i + 1] : NULL;
    return gh_chat_fetch_start(op, chat, members, config);
}

gh_status gh_chat_fetch_begin(gh_chat_fetch* op, const gh_chat* chat, gh_chat_member* members, size_t count,
                              const gh_chat_fetch_config* config)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)chat, chat_fetch_try(op, chat, members, count, config));
}
