/* rows_refresh.c -- refreshers of rows: which shard is looked at next, what is claimed in it, and when it is looked at
   again. What becomes of a row that was claimed, see rows_slots.c. */

#include "base/least.h"
#include "client/refusal.h"
#include "client/waiter.h"
#include "rows_slots.h"
#include "scripts/rows_scripts.h"

#define ROWS_LEASE_US         10000000ull
#define ROWS_LOAD_US          30000000ull
#define ROWS_LOAD_MIN_US      1000ull
#define ROWS_LOAD_MAX_US      3600000000ull
#define ROWS_BACKOFF_MIN_US   1000000ull
#define ROWS_BACKOFF_US       60000000ull
#define ROWS_BACKOFF_LEAST_US 1000ull
#define ROWS_PAUSE_MIN_US     5000ull     /* between two looks at a shard in which something was found, */
#define ROWS_PAUSE_MAX_US     2000000ull  /* doubling up to this while others find it first             */
#define ROWS_HEARTBEAT_US     5000000ull  /* with hints, a shard is looked at this often                */
#define ROWS_POLL_US          1000000ull  /* without them, this often                                   */
#define ROWS_WAIT_US          15000000ull /* how long the store takes us for one who waits              */

static gh_rows* rows_of(gh_op* op)
{
    return (gh_rows*)(void*)op;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static void rows_encode(gh_op* op, gh_request* request)
{
    gh_rows* rows = rows_of(op);
    gh_rows_encode_script(request, op, rows->shard, "dmwiv");
    gh_request_op_id(request, op);
    gh_request_number(request, gh_op_not_after(op));
    gh_request_number(request, rows->claim);
    gh_request_number(request, rows->config.lease_us);
    gh_request_number(request, rows->asked);
    gh_request_number(request, ROWS_WAIT_US);
    gh_rows_encode_letter(request, rows->shard);
    gh_request_number(request, gh_op_sent_twice(op));
}

/* ---- looking ------------------------------------------------------------------------------------------- */

/* The shard whose time comes first; of several, the next one in turn. */
static uint8_t rows_next_shard(const gh_rows* rows)
{
    uint8_t best = (uint8_t)((rows->shard + 1u) % GH_ROWS_SHARDS);
    uint32_t i;
    for (i = 2; i <= GH_ROWS_SHARDS; i++)
    {
        uint8_t shard = (uint8_t)((rows->shard + i) % GH_ROWS_SHARDS);
        if (rows->look_us[shard] < rows->look_us[best]) best = shard;
    }
    return best;
}

static bool rows_are_being_worked_on(const gh_rows* rows)
{
    size_t i;
    for (i = 0; i < rows->config.slot_count; i++)
    {
        uint8_t state = rows->config.slots[i].op.state;
        if (state != ROWS_SLOT_FREE && state != ROWS_SLOT_VOID) return true;
    }
    return false;
}

/* Ends the refresher when it is to be stopped and nothing is under way. */
static void rows_settle(gh_rows* rows)
{
    size_t i;
    if (!rows->ending || rows->op.state == ROWS_LOOKING || rows_are_being_worked_on(rows)) return;
    for (i = 0; i < rows->config.slot_count; i++)
        if (gh_op_is_busy(&rows->config.slots[i].op)) gh_op_end(&rows->config.slots[i].op, GH_IDLE);
    gh_op_end(&rows->op, (gh_status)rows->outcome);
}

/* Looks at the next shard, or sleeps until one has its time, or a slot is free. */
static void rows_look(gh_rows* rows)
{
    size_t room = rows->config.slot_count - rows->loading;
    uint8_t shard = rows_next_shard(rows);
    rows->op.state = ROWS_SLEEPING;
    gh_op_timer(&rows->op, GH_FOREVER);
    if (rows->ending)
    {
        rows_settle(rows);
        return;
    }
    if (room == 0) return;
    if (rows->look_us[shard] > gh_client_now(rows->op.client))
    {
        gh_op_timer(&rows->op, rows->look_us[shard]);
        return;
    }
    rows->shard = shard;
    rows->asked = (uint8_t)(room < GH_ROWS_CLAIM_MAX ? room : GH_ROWS_CLAIM_MAX);
    rows->claim++;
    rows->look_us[shard] = GH_FOREVER; /* a hint that overtakes the answer says otherwise */
    rows->op.state = ROWS_LOOKING;
    gh_op_send(&rows->op, 0);
}

/* When to look at the shard again. A refresher that comes second every time looks more and more seldom, so
   that not all of a fleet look at each row that is due. */
static void rows_plan_look(gh_rows* rows, uint32_t taken, uint64_t due_us, uint64_t store_now_us)
{
    gh_client* client = rows->op.client;
    uint64_t bit = 1ull << rows->shard;
    uint64_t idle_us = gh_client_jitter(client, gh_client_wake_healthy(client) ? ROWS_HEARTBEAT_US : ROWS_POLL_US);
    uint32_t* pause_us = &rows->pause_us[rows->shard];
    uint64_t wait_us = due_us > store_now_us ? due_us - store_now_us : 0;
    if (taken > 0) *pause_us = ROWS_PAUSE_MIN_US;
    else if ((rows->promised & bit) != 0 && *pause_us < ROWS_PAUSE_MAX_US) *pause_us *= 2;
    rows->promised &= ~bit;
    if (due_us != 0 && wait_us < idle_us)
    {
        rows->promised |= bit;
        idle_us = wait_us;
    }
    if (due_us != 0 && wait_us == 0) /* more is due; or something else was, and is out of the way now */
        idle_us = taken == rows->asked ? 0 : ROWS_PAUSE_MIN_US;
    else if (idle_us < *pause_us) idle_us = gh_client_jitter(client, *pause_us);
    rows->look_us[rows->shard] = gh_least(rows->look_us[rows->shard], gh_client_after(client, idle_us));
}

/* Gives each row that was claimed to a slot; an answer that comes when the lease is over gives nothing. */
static uint32_t rows_take(gh_rows* rows, const gh_reply* value, uint64_t lease_end_us)
{
    bool is_ours = lease_end_us > gh_client_now(rows->op.client);
    uint32_t count = 0;
    for (; value != NULL && value->next != NULL; value = value->next->next)
    {
        uint64_t failures = value->next->integer < 0 ? 0 : (uint64_t)value->next->integer;
        if (value->type != GH_REPLY_STRING || value->next->type != GH_REPLY_INTEGER) continue;
        if (is_ours)
            gh_rows_slots_take(rows, value->text, failures > UINT32_MAX ? UINT32_MAX : (uint32_t)failures,
                               lease_end_us);
        else rows->lost++;
        count++;
    }
    return count;
}

static void rows_claimed(gh_rows* rows, const gh_event* event)
{
    const gh_reply* reply = event->reply;
    int64_t code = gh_reply_integer(reply, GH_ROWS_CLAIM_CODE);
    uint64_t now_us = (uint64_t)gh_reply_integer(reply, GH_ROWS_CLAIM_NOW_US);
    uint64_t due_us = (uint64_t)gh_reply_integer(reply, GH_ROWS_CLAIM_DUE_US);
    uint64_t remaining_us = (uint64_t)gh_reply_integer(reply, GH_ROWS_CLAIM_REMAINING_US);
    uint64_t lease_end_us = gh_lease_end(rows->config.lease_us, event->sent_us, remaining_us);
    uint32_t taken;
    taken = rows_take(rows, gh_reply_at(reply, GH_ROWS_CLAIM_ROWS), lease_end_us);
    if (code == GH_ROWS_CLAIM_CORRUPT) rows->trouble = GH_CORRUPT;
    if (taken > 0) rows->late_us = (uint64_t)gh_reply_integer(reply, GH_ROWS_CLAIM_LATE_US);
    if (code == GH_ROWS_CLAIM_STALE) rows->look_us[rows->shard] = gh_client_after(rows->op.client, ROWS_PAUSE_MIN_US);
    else rows_plan_look(rows, taken, due_us, now_us);
    rows_look(rows);
}

static void rows_look_everywhere(gh_rows* rows)
{
    uint32_t i;
    for (i = 0; i < GH_ROWS_SHARDS; i++) rows->look_us[i] = gh_client_now(rows->op.client);
}

static void rows_hint(gh_rows* rows, char letter)
{
    uint32_t shard = (uint32_t)(letter - '0');
    if (letter == 0) rows_look_everywhere(rows); /* hints may have been missed */
    else if (shard < GH_ROWS_SHARDS) rows->look_us[shard] = gh_client_now(rows->op.client);
    if (rows->op.state == ROWS_SLEEPING) rows_look(rows);
}

static void rows_leave(gh_rows* rows, gh_status outcome)
{
    gh_client* client = rows->op.client;
    size_t i;
    rows->ending = true;
    rows->outcome = (int16_t)outcome;
    if (rows->op.state == ROWS_LOOKING) /* its answer may have rows to give back */
        gh_op_timer_after(&rows->op, gh_client_request_timeout(client));
    for (i = 0; outcome == GH_CANCELLED && i < rows->config.slot_count; i++)
    {
        gh_rows_slot* slot = &rows->config.slots[i];
        if (slot->op.state == ROWS_SLOT_TAKEN || slot->op.state == ROWS_SLOT_LOADING ||
            slot->op.state == ROWS_SLOT_RENEWING)
            gh_rows_slot_give_back(slot);
    }
    rows_settle(rows);
}

/* A slot rests. */
static void rows_slot_moved(gh_rows* rows)
{
    if (rows->ending) rows_settle(rows);
    else if (rows->op.state == ROWS_SLEEPING) gh_op_timer_after(&rows->op, 0);
}

static void rows_timer(gh_rows* rows)
{
    if (rows->op.state == ROWS_LOOKING) gh_op_unsend(&rows->op); /* we are leaving, and no answer comes */
    rows_look(rows);
}

static void rows_step(gh_op* op, const gh_event* event)
{
    gh_rows* rows = rows_of(op);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: rows_claimed(rows, event); break;
    case GH_EVENT_FAILED:
        rows->trouble = event->status;
        rows->look_us[rows->shard] = gh_client_after(op->client, gh_client_jitter(op->client, ROWS_PAUSE_MAX_US));
        rows_look(rows);
        break;
    case GH_EVENT_TIMER: rows_timer(rows); break;
    case GH_EVENT_HINT: rows_hint(rows, event->hint); break;
    case GH_EVENT_RESET: rows_hint(rows, 0); break;
    case GH_EVENT_CANCEL:
        if (rows->outcome != GH_CANCELLED) rows_leave(rows, GH_CANCELLED);
        break;
    case GH_EVENT_CLOSE: gh_op_end(op, GH_CANCELLED); break;
    case GH_EVENT_CHILD: rows_slot_moved(rows); break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_DOUBT: break;
    }
}

static void rows_detach(gh_op* op)
{
    gh_rows* rows = rows_of(op);
    size_t i;
    if (!gh_op_is_busy(op)) return;
    gh_op_end(op, GH_CANCELLED);
    for (i = 0; i < rows->config.slot_count; i++) gh_op_detach(&rows->config.slots[i].op);
}

static const gh_op_kind rows_kind = {.name = "rows",
                                     .step = rows_step,
                                     .encode = rows_encode,
                                     .text = &gh_rows_claim_lua,
                                     .effect = GH_OP_CHANGES,
                                     .trees = gh_tree_read,
                                     .detach = rows_detach,
                                     .owner_link = offsetof(gh_rows, next_owner),
                                     .hints_at_once = true};

/* ---- what the caller calls ----------------------------------------------------------------------------- */

static const gh_bound rows_bounds_rows[] = {
    GH_BOUND(gh_rows_config, lease_us, ROWS_LEASE_US, GH_ROWS_LEASE_MIN_US, GH_ROWS_LEASE_MAX_US, GH_INVALID_LEASE),
    GH_BOUND(gh_rows_config, load_us, ROWS_LOAD_US, ROWS_LOAD_MIN_US, ROWS_LOAD_MAX_US, GH_INVALID_TIMEOUT),
    GH_BOUND(gh_rows_config, backoff_min_us, ROWS_BACKOFF_MIN_US, ROWS_BACKOFF_LEAST_US, GH_ROWS_BACKOFF_MAX_US,
             GH_INVALID_ROW_BACKOFF),
    GH_BOUND(gh_rows_config, backoff_max_us, ROWS_BACKOFF_US, ROWS_BACKOFF_LEAST_US, GH_ROWS_BACKOFF_MAX_US,
             GH_INVALID_ROW_BACKOFF)};
static const gh_bounds rows_bounds = GH_BOUNDS(gh_rows_config, rows_bounds_rows);

gh_rows_config gh_rows_config_default(void)
{
    gh_rows_config config;
    gh_bounds_fill(&rows_bounds, &config);
    return config;
}

static gh_status rows_check_slots(const gh_rows_config* config)
{
    size_t i;
    if (config->slots == NULL || config->slot_count == 0 || config->slot_count > GH_ROWS_SLOTS_MAX)
        return GH_INVALID_ROW_SLOTS;
    for (i = 0; i < config->slot_count; i++)
        if (gh_op_is_busy(&config->slots[i].op)) return GH_INVALID_ROW_SLOTS;
    return config->memory == NULL && config->memory_size > 0 ? GH_INVALID_BUFFER : GH_OK;
}

static gh_status rows_check(const gh_rows_config* config, gh_client* client)
{
    gh_status status = gh_refusal_check(&rows_bounds, config, client);
    if (status != GH_OK) return status;
    if (config->loader == NULL) return GH_INVALID_ROW_LOADER;
    if (config->backoff_min_us > config->backoff_max_us) return GH_INVALID_ROW_BACKOFF;
    return rows_check_slots(config);
}

static gh_status rows_try(gh_rows* op, gh_client* client, const gh_rows_config* config)
{
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    uint32_t i;
    if (status != GH_OK) return status;
    status = rows_check(config, client);
    if (status != GH_OK) return status;
    if (gh_client_ops_room(client) < 1 + config->slot_count) return GH_NO_ROOM;
    gh_op_clear(&op->op, sizeof *op);
    op->config = *config;
    op->outcome = GH_OK;
    op->begun_us = GH_FOREVER;
    op->shard = (uint8_t)(gh_client_id(client) % GH_ROWS_SHARDS); /* not all of a fleet begin at the same one */
    gh_op_begin(&op->op, client, &rows_kind);
    gh_rows_slots_begin(op, client);
    for (i = 0; i < GH_ROWS_SHARDS; i++) op->pause_us[i] = ROWS_PAUSE_MIN_US;
    rows_look_everywhere(op);
    gh_op_listen(&op->op);
    rows_look(op);
    return GH_OK;
}

gh_status gh_rows_begin(gh_rows* op, gh_client* client, const gh_rows_config* config)
{
    return gh_op_begun((gh_op*)op, client, rows_try(op, client, config));
}

static bool rows_are_busy(const gh_rows* rows)
{
    return rows != NULL && gh_op_is_at_work(&rows->op);
}

void gh_rows_end(gh_rows* op)
{
    if (rows_are_busy(op) && !op->ending) rows_leave(op, GH_OK);
}
