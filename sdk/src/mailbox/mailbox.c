/* mailbox.c -- mailboxes: push, fetch, commit. */

#include "guildhall/mailbox.h"

#include "base/least.h"
#include "client/object.h"
#include "client/question.h"
#include "scripts/mailbox_scripts.h"
#include "talk/entry.h"
#include "talk/epochs.h"
#include "wire/name.h"

#define MAILBOX_WAIT_MAX_US  3600000000ull
#define MAILBOX_ID_MAX       (1ull << 53)
#define MAILBOX_KEYS         4u    /* of a push                                                    */
#define MAILBOX_NUMBERS      6u    /* of a push                                                    */
#define MAILBOX_REPLY_ROOM   2560u /* of a reply: the figures                                      */
#define MAILBOX_PAGE         512u  /* messages in one reply at most                                 */
#define MAILBOX_HEARTBEAT_US 5000000ull
#define MAILBOX_TOKEN_US     10000000ull /* a reader asks at least this often, or is not hinted          */

static const gh_str mailbox_kind_name = {"mailbox", 7};

/* ---- a mailbox ----------------------------------------------------------------------------------------- */

static const gh_bound mailbox_bounds_rows[] = {
    GH_BOUND_TIMEOUT(gh_mailbox_config),
    GH_BOUND(gh_mailbox_config, capacity, 1000, 1, GH_MAILBOX_CAPACITY_MAX, GH_INVALID_LIMIT)};
static const gh_bounds mailbox_bounds = GH_BOUNDS(gh_mailbox_config, mailbox_bounds_rows);

gh_mailbox_config gh_mailbox_config_default(void)
{
    gh_mailbox_config config;
    gh_bounds_fill(&mailbox_bounds, &config);
    return config;
}

gh_status gh_mailbox_init(gh_mailbox* mailbox, gh_client* client, gh_str name, const gh_mailbox_config* config)
{
    return gh_object_init((gh_object*)mailbox, client, name, &mailbox_bounds, config, offsetof(gh_mailbox, config));
}

/* ---- push ---------------------------------------------------------------------------------------------- */

static gh_mailbox_push* mailbox_push_of(gh_op* op)
{
    return (gh_mailbox_push*)(void*)op;
}

static void mailbox_push_encode(gh_op* op, gh_request* request)
{
    const gh_mailbox_push* push = mailbox_push_of(op);
    gh_request_marked_script(request, op, 2 * push->count, mailbox_kind_name, gh_name_str(&push->name), "smh");
    gh_request_number(request, push->capacity);
    gh_request_number(request, gh_op_generation(op));
    gh_posts_encode(request, push->posts, push->count);
}

static gh_status mailbox_push_answer(gh_op* op, const gh_event* event)
{
    gh_mailbox_push* push = mailbox_push_of(op);
    uint64_t first_id = (uint64_t)gh_reply_integer(event->reply, GH_MAILBOX_PUSH_FIRST_ID);
    uint32_t i;
    switch (gh_reply_integer(event->reply, GH_MAILBOX_PUSH_CODE))
    {
    case GH_MAILBOX_PUSH_TAKEN: break;
    case GH_MAILBOX_PUSH_FULL: return gh_op_refused(op, GH_FULL);
    case GH_MAILBOX_PUSH_OLD:
        return gh_op_outcome(op, GH_REASON_CORRUPT); /* our row of pushes has sent nothing later */
    default: return gh_op_outcome(op, GH_REASON_UNUSABLE);
    }
    push->epoch = (uint64_t)gh_reply_integer(event->reply, GH_MAILBOX_PUSH_EPOCH);
    for (i = 0; i < push->count; i++)
    {
        push->posts[i].id = first_id + i;
        push->posts[i].status = GH_OK;
    }
    return GH_OK;
}

static const gh_op_kind mailbox_push_kind = {.name = "mailbox",
                                             .borrows = true,
                                             .step = gh_gate_call_step,
                                             .gate_at = offsetof(gh_mailbox_push, gate),
                                             .encode = mailbox_push_encode,
                                             .text = &gh_mailbox_push_lua,
                                             .effect = GH_OP_CHANGES,
                                             .answer = mailbox_push_answer};

static gh_status mailbox_push_try(gh_mailbox_push* op, const gh_mailbox* mailbox, gh_post* posts, size_t count)
{
    gh_client* client;
    size_t room;
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)mailbox);
    if (status != GH_OK) return status;
    client = mailbox->object.client;
    room = gh_object_script_room(&mailbox->object, mailbox_kind_name, MAILBOX_KEYS, MAILBOX_NUMBERS);
    status = gh_posts_begin(posts, count, room);
    if (status != GH_OK) return status;
    op->epoch = 0;
    op->name = mailbox->object.name;
    op->posts = posts;
    op->count = (uint32_t)count;
    op->capacity = mailbox->config.capacity;
    gh_gate_call_begin(&op->op, client, &mailbox_push_kind, mailbox->config.timeout_us,
                       gh_gate_object(client, mailbox_kind_name, gh_name_str(&op->name)));
    return GH_OK;
}

gh_status gh_mailbox_push_begin(gh_mailbox_push* op, const gh_mailbox* mailbox, gh_post* posts, size_t count)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)mailbox, mailbox_push_try(op, mailbox, posts, count));
}

/* ---- fetch --------------------------------------------------------------------------------------------- */

static gh_mailbox_fetch* mailbox_fetch_of(gh_op* op)
{
    return (gh_mailbox_fetch*)(void*)op;
}

/* The page in the caller's buffer, as far as it is filled. */
static gh_page mailbox_page(const gh_mailbox_fetch* fetch)
{
    return gh_page_make(fetch->messages, fetch->buffer_size, fetch->buffer_tail, fetch->count);
}

static void mailbox_fetch_encode(gh_op* op, gh_request* request)
{
    const gh_mailbox_fetch* fetch = mailbox_fetch_of(op);
    gh_page page = mailbox_page(fetch);
    uint64_t reply_room = gh_client_reply_bytes(op->client) - MAILBOX_REPLY_ROOM;
    uint64_t count =
        gh_least(fetch->messages_max - fetch->count, gh_client_reply_nodes(op->client) - GH_MAILBOX_FETCH_ENTRIES - 1);
    uint64_t fitting = gh_page_room(&page) / sizeof(gh_message);
    bool waits = fetch->wait_end_us > gh_client_now(op->client) && fetch->count == 0;
    if (fitting == 0) fitting = 1; /* to learn what it needs */
    if (count > MAILBOX_PAGE) count = MAILBOX_PAGE;
    gh_request_object_script(request, op, mailbox_kind_name, gh_name_str(&fetch->name), "smh");
    gh_request_op_id(request, op);
    gh_request_number(request, fetch->after);
    gh_request_number(request, gh_least(count, fitting));
    gh_request_number(request, gh_least(gh_least(reply_room, GH_ENTRY_PAGE_MAX), gh_page_room(&page)));
    gh_request_number(request, fetch->newest);
    gh_request_number(request, waits ? MAILBOX_TOKEN_US : 0);
    gh_request_number(request, gh_least(reply_room, page.size));
}

static gh_status mailbox_ask(gh_op* op)
{
    const gh_mailbox_fetch* fetch = mailbox_fetch_of(op);
    return gh_question_ask(op, fetch->timeout_us, fetch->wait_end_us > 0, 0);
}

/* Of the newest, those that the page holds: each takes more there than in the reply. What is no message is
   told where they are copied. */
static const gh_reply* mailbox_newest(const gh_mailbox_fetch* fetch, const gh_reply* entries)
{
    gh_page page = mailbox_page(fetch);
    const gh_reply* entry;
    gh_message message;
    size_t size = 0;
    for (entry = entries; entry != NULL && gh_entry_parse(entry->text, &message); entry = entry->next)
        size += gh_page_cost(&page, &message);
    for (; entries != NULL && entries->next != NULL && size > gh_page_room(&page); entries = entries->next)
    {
        if (!gh_entry_parse(entries->text, &message)) break;
        size -= gh_page_cost(&page, &message);
    }
    return entries;
}

/* Copies the entries of a reply. GH_OK; GH_FULL: the rest does not fit; GH_CORRUPT: not entries, or not in a
 * row. */
static gh_status mailbox_keep(gh_mailbox_fetch* fetch, const gh_reply* entry, const gh_epochs* epochs)
{
    gh_page page = mailbox_page(fetch);
    gh_status status = GH_OK;
    for (; entry != NULL && status == GH_OK; entry = entry->next)
    {
        gh_message message;
        if (entry->type != GH_REPLY_STRING || !gh_entry_parse(entry->text, &message) || message.id <= fetch->after ||
            (page.count > 0 && message.id != fetch->after + 1))
            return GH_CORRUPT;
        if (!gh_page_add(&page, &message, gh_epochs_of(epochs, message.id)))
        {
            fetch->buffer_needed = (uint32_t)gh_page_whole(&message);
            status = GH_FULL;
            break;
        }
        fetch->after = message.id;
    }
    fetch->buffer_tail = page.tail;
    fetch->count = page.count;
    return status;
}

/* False: no mailbox can be like that. */
static bool mailbox_note_figures(gh_mailbox_fetch* fetch, const gh_reply* reply, const gh_epochs* epochs)
{
    uint64_t first_id = (uint64_t)gh_reply_integer(reply, GH_MAILBOX_FETCH_FIRST_ID);
    uint64_t last_id = (uint64_t)gh_reply_integer(reply, GH_MAILBOX_FETCH_LAST_ID);
    uint64_t now_us = (uint64_t)gh_reply_integer(reply, GH_MAILBOX_FETCH_NOW_US);
    uint64_t oldest_ms = (uint64_t)gh_reply_integer(reply, GH_MAILBOX_FETCH_OLDEST_MS);
    uint64_t read_us = (uint64_t)gh_reply_integer(reply, GH_MAILBOX_FETCH_READ_US);
    if (first_id == 0 || first_id > last_id + 1 || last_id >= MAILBOX_ID_MAX || oldest_ms > MAILBOX_ID_MAX / 1000 ||
        read_us >= MAILBOX_ID_MAX || epochs->present >= MAILBOX_ID_MAX || !gh_epochs_are_valid(epochs, last_id))
        return false;
    fetch->last_id = last_id;
    fetch->unread = last_id + 1 - first_id;
    fetch->oldest_age_us = oldest_ms == 0 || oldest_ms * 1000 > now_us ? 0 : now_us - oldest_ms * 1000;
    fetch->read_store_us = read_us;
    return true;
}

/* True: some of what was read, or of what the caller has read before, is not there any more. It is read again from the
   last that is. */
static bool mailbox_restarted(gh_mailbox_fetch* fetch, const gh_epochs* epochs)
{
    uint64_t known = fetch->epoch;
    uint64_t most = gh_epochs_least(epochs, known, UINT64_MAX);
    fetch->epoch = epochs->present;
    if (known == 0 || fetch->after <= most) return false;
    if (fetch->start > most) fetch->start = most;
    fetch->after = fetch->start;
    fetch->count = 0;
    fetch->buffer_tail = 0;
    return true;
}

/* True: somebody has committed what would come next while we read. What is behind that is for the next fetch. */
static bool mailbox_was_cut(const gh_mailbox_fetch* fetch)
{
    return fetch->count > 0 && fetch->last_id - fetch->unread > fetch->after;
}

static gh_status mailbox_fetched(gh_op* op, const gh_event* event)
{
    gh_mailbox_fetch* fetch = mailbox_fetch_of(op);
    const gh_reply* entries = gh_reply_at(event->reply, GH_MAILBOX_FETCH_ENTRIES);
    gh_epochs epochs;
    gh_status status;
    epochs.present = (uint64_t)gh_reply_integer(event->reply, GH_MAILBOX_FETCH_EPOCH);
    epochs.ended = gh_reply_text(event->reply, GH_MAILBOX_FETCH_EPOCHS);
    if (!mailbox_note_figures(fetch, event->reply, &epochs)) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    if (mailbox_restarted(fetch, &epochs)) return mailbox_ask(op);
    if (mailbox_was_cut(fetch)) return GH_OK;
    if (fetch->newest) entries = mailbox_newest(fetch, entries);
    status = mailbox_keep(fetch, entries, &epochs);
    if (status == GH_CORRUPT) return gh_op_outcome(op, GH_REASON_CORRUPT);
    if (fetch->messages_max == 0 && fetch->last_id > fetch->after && fetch->unread > 0) return GH_OK;
    if (status == GH_FULL && fetch->count == 0) return GH_TOO_SMALL;
    if (status == GH_OK && entries != NULL && !fetch->newest && fetch->count < fetch->messages_max &&
        fetch->after < fetch->last_id)
        return mailbox_ask(op);
    if (fetch->count > 0) return GH_OK;
    if (fetch->wait_end_us <= gh_client_now(op->client)) return GH_EMPTY;
    return gh_question_wait(op, &fetch->polls, MAILBOX_HEARTBEAT_US, fetch->wait_end_us);
}

/* What has been read already is worth more than the reason why there is no more. */
static void mailbox_fetch_step(gh_op* op, const gh_event* event)
{
    const gh_mailbox_fetch* fetch = mailbox_fetch_of(op);
    const bool no_more = event->kind == GH_EVENT_FAILED || event->kind == GH_EVENT_TIMER;
    gh_status status = gh_question_verdict(op, event, fetch->wait_end_us, mailbox_ask);
    if (no_more && fetch->count > 0) status = GH_OK;
    if (status != GH_PENDING) gh_op_end(op, status);
}

static const gh_op_kind mailbox_fetch_kind = {.name = "mailbox",
                                              .step = mailbox_fetch_step,
                                              .encode = mailbox_fetch_encode,
                                              .text = &gh_mailbox_fetch_lua,
                                              .effect = GH_OP_READS,
                                              .answer = mailbox_fetched,
                                              .trees = gh_tree_read};

static const gh_bound mailbox_fetch_bounds_rows[] = {
    GH_BOUND(gh_mailbox_fetch_config, wait_us, 0, 0, MAILBOX_WAIT_MAX_US, GH_INVALID_WAIT),
    GH_BOUND(gh_mailbox_fetch_config, after, 0, 0, MAILBOX_ID_MAX - 1, GH_INVALID_ID),
    GH_BOUND(gh_mailbox_fetch_config, messages_max, 64, 0, GH_MAILBOX_FETCH_MAX, GH_INVALID_LIMIT)};
static const gh_bounds mailbox_fetch_bounds = GH_BOUNDS(gh_mailbox_fetch_config, mailbox_fetch_bounds_rows);

gh_mailbox_fetch_config gh_mailbox_fetch_config_default(void)
{
    gh_mailbox_fetch_config config;
    gh_bounds_fill(&mailbox_fetch_bounds, &config);
    return config;
}

static gh_status mailbox_check_fetch(const gh_mailbox_fetch_config* config, gh_client* client)
{
    gh_status status = gh_refusal_check(&mailbox_fetch_bounds, config, client);
    if (status != GH_OK) return status;
    if (config->after > 0 && config->epoch == 0) return GH_INVALID_EPOCH;
    return gh_page_check(config->buffer, config->buffer_size, config->messages_max);
}

static gh_status mailbox_fetch_try(gh_mailbox_fetch* op, const gh_mailbox* mailbox,
                                   const gh_mailbox_fetch_config* config)
{
    gh_client* client;
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)mailbox);
    if (status != GH_OK) return status;
    client = mailbox->object.client;
    status = mailbox_check_fetch(config, client);
    if (status != GH_OK) return status;
    gh_op_clear(&op->op, sizeof *op);
    op->messages = (const gh_message*)config->buffer;
    op->buffer_size = config->buffer_size > UINT32_MAX ? UINT32_MAX : (uint32_t)config->buffer_size;
    op->epoch = config->epoch;
    op->name = mailbox->object.name;
    op->after = config->after;
    op->start = config->after;
    op->timeout_us = mailbox->config.timeout_us;
    op->wait_end_us = config->wait_us == 0 ? 0 : gh_client_after(client, config->wait_us);
    op->messages_max = config->messages_max;
    op->newest = config->newest;
    gh_op_begin(&op->op, client, &mailbox_fetch_kind);
    mailbox_ask(&op->op);
    return GH_OK;
}

gh_status gh_mailbox_fetch_begin(gh_mailbox_fetch* op, const gh_mailbox* mailbox, const gh_mailbox_fetch_config* config)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)mailbox, mailbox_fetch_try(op, mailbox, config));
}

/* ---- commit -------------------------------------------------------------------------------------------- */

static gh_mailbox_commit* mailbox_commit_of(gh_op* op)
{
    return (gh_mailbox_commit*)(void*)op;
}

static void mailbox_commit_encode(gh_op* op, gh_request* request)
{
    const gh_mailbox_commit* commit = mailbox_commit_of(op);
    gh_request_object_script(request, op, mailbox_kind_name, gh_name_str(&commit->name), "sm");
    gh_request_number(request, op->sequence);
    gh_request_number(request, commit->epoch);
    gh_request_number(request, commit->id);
}

static gh_status mailbox_commit_answer(gh_op* op, const gh_event* event)
{
    gh_mailbox_commit* commit = mailbox_commit_of(op);
    uint64_t first_id = (uint64_t)gh_reply_integer(event->reply, GH_MAILBOX_COMMIT_FIRST_ID);
    uint64_t last_id = (uint64_t)gh_reply_integer(event->reply, GH_MAILBOX_COMMIT_LAST_ID);
    if (first_id > last_id + 1) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    commit->unread = last_id + 1 - first_id;
    switch (gh_reply_integer(event->reply, GH_MAILBOX_COMMIT_CODE))
    {
    case GH_MAILBOX_COMMIT_DONE: return GH_OK;
    case GH_MAILBOX_COMMIT_NOT_THERE: return GH_RESTARTED; /* no copy of this will ever find that message */
    case GH_MAILBOX_COMMIT_MORE: gh_op_send(op, GH_OP_MAYBE); return GH_PENDING;
    default: return gh_op_outcome(op, GH_REASON_UNUSABLE);
    }
}

static const gh_op_kind mailbox_commit_kind = {.name = "mailbox",
                                               .step = gh_call_step,
                                               .encode = mailbox_commit_encode,
                                               .text = &gh_mailbox_commit_lua,
                                               .effect = GH_OP_CHANGES,
                                               .answer = mailbox_commit_answer};

static gh_status mailbox_commit_try(gh_mailbox_commit* op, const gh_mailbox* mailbox, uint64_t epoch, uint64_t id)
{
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)mailbox);
    if (status != GH_OK) return status;
    if (epoch == 0 || epoch >= MAILBOX_ID_MAX) return GH_INVALID_EPOCH;
    if (id == 0 || id >= MAILBOX_ID_MAX) return GH_INVALID_ID;
    op->unread = 0;
    op->name = mailbox->object.name;
    op->epoch = epoch;
    op->id = id;
    gh_call_begin(&op->op, mailbox->object.client, &mailbox_commit_kind, mailbox->config.timeout_us, 0);
    return GH_OK;
}

gh_status gh_mailbox_commit_begin(gh_mailbox_commit* op, const gh_mailbox* mailbox, uint64_t epoch, uint64_t id)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)mailbox, mailbox_commit_try(op, mailbox, epoch, id));
}
