/* rows_slots.c -- the slots of a refresher: each has one row, from its claim on until the store has heard what became
   of it, and until its loader has come to its end. */

#include "client/waiter.h"
#include "rows_slots.h"
#include "scripts/rows_scripts.h"

#define ROWS_CLAIM_TEXT_SIZE (GH_TOKEN_SIZE + 1 + GH_DECIMAL_SIZE_MAX) /* "<client>:<sequence>.<number>" */
#define ROWS_JITTER          1023u

static gh_rows_slot* rows_slot_of(gh_op* op)
{
    return (gh_rows_slot*)(void*)op;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static gh_script* rows_slot_script(gh_op* op)
{
    bool renews = op->state == ROWS_SLOT_RENEWING;
    return gh_client_script(op->client, renews ? &gh_rows_renew_lua : &gh_rows_finish_lua);
}

static void encode_rows_claim_text(gh_request* request, const gh_rows_slot* slot)
{
    char text[ROWS_CLAIM_TEXT_SIZE];
    char* end = gh_token_encode(gh_client_id(slot->op.client), slot->rows->op.sequence, text);
    *end++ = '.';
    end = gh_decimal_encode(slot->claim, end);
    gh_request_str(request, gh_str_make(text, (size_t)(end - text)));
}

static void rows_slot_encode(gh_op* op, gh_request* request)
{
    const gh_rows_slot* slot = rows_slot_of(op);
    bool renews = op->state == ROWS_SLOT_RENEWING;
    gh_rows_encode_script(request, op, slot->shard, renews ? "dm" : "dmvi");
    encode_rows_claim_text(request, slot);
    gh_request_number(request, op->sequence);
    gh_request_str(request, gh_str_make(slot->row, slot->row_size));
    if (renews)
    {
        gh_request_number(request, slot->rows->config.lease_us);
        gh_request_number(request, gh_op_store_time(op, slot->lease_end_us));
        return;
    }
    gh_request_str(request, gh_str_make(&slot->outcome, 1));
    gh_request_number(request, slot->pause_us);
    gh_request_str(request, gh_str_make(slot->memory, slot->value_size));
    gh_rows_encode_letter(request, slot->shard);
    gh_request_number(request, slot->rows->config.lease_us);
}

/* ---- states -------------------------------------------------------------------------------------------- */

/* There may be room for another row now, or an end to be made: the refresher looks. */
static void rows_slot_rest(gh_rows_slot* slot, rows_slot_state state)
{
    gh_rows* rows = slot->rows;
    GH_INVARIANT(slot->op.client, state == ROWS_SLOT_FREE || state == ROWS_SLOT_VOID);
    GH_INVARIANT(slot->op.client, slot->op.state == ROWS_SLOT_FREE || rows->loading > 0);
    if (state == ROWS_SLOT_FREE && slot->op.state != ROWS_SLOT_FREE) rows->loading--;
    slot->op.state = (uint8_t)state;
    gh_op_unsend(&slot->op);
    gh_op_timer(&slot->op, GH_FOREVER);
    gh_op_lease(&slot->op, GH_FOREVER);
    gh_op_tell_owner(&slot->op);
}

/* Over for the store; a loader that has not come to its end keeps the slot. */
static void rows_slot_over(gh_rows_slot* slot)
{
    rows_slot_rest(slot, slot->loading ? ROWS_SLOT_VOID : ROWS_SLOT_FREE);
}

static void rows_slot_lose(gh_rows_slot* slot)
{
    slot->rows->lost++;
    rows_slot_over(slot);
}

/* Says what became of it, until the store has heard it, or would not listen any more. */
static void rows_slot_finish(gh_rows_slot* slot, char outcome, uint64_t pause_us)
{
    gh_client* client = slot->op.client;
    uint64_t end_us = gh_client_after(client, gh_client_request_timeout(client));
    if (!slot->rows->ending && slot->lease_end_us > end_us) end_us = slot->lease_end_us;
    GH_INVARIANT(client, slot->op.state != ROWS_SLOT_FREE && slot->op.state != ROWS_SLOT_VOID);
    slot->outcome = outcome;
    slot->pause_us = pause_us;
    if (outcome != 'v') slot->value_size = 0;
    slot->op.state = ROWS_SLOT_FINISHING;
    gh_op_lease(&slot->op, GH_FOREVER);
    gh_op_timer(&slot->op, end_us);
    gh_op_send(&slot->op, GH_OP_URGENT);
}

void gh_rows_slot_give_back(gh_rows_slot* slot)
{
    rows_slot_finish(slot, 'b', 0);
}

/* After a pause that doubles with each failure in a row. */
static void rows_slot_fail(gh_rows_slot* slot)
{
    const gh_rows_config* config = &slot->rows->config;
    uint64_t pause_us = config->backoff_min_us;
    uint32_t i;
    for (i = 0; i < slot->failures && pause_us < config->backoff_max_us; i++) pause_us *= 2;
    if (pause_us > config->backoff_max_us) pause_us = config->backoff_max_us;
    slot->rows->failed++;
    rows_slot_finish(slot, 'f', gh_client_jitter(slot->op.client, pause_us));
}

/* The next thing that LOADING does by itself: renew, or have taken too long. */
static void rows_slot_plan(gh_rows_slot* slot, uint64_t renew_us)
{
    slot->op.state = ROWS_SLOT_LOADING;
    gh_op_lease(&slot->op, slot->lease_end_us);
    gh_op_timer(&slot->op, renew_us < slot->void_us ? renew_us : slot->void_us);
}

static uint64_t rows_slot_renewal(const gh_rows_slot* slot)
{
    return gh_lease_renewal(slot->op.client, slot->rows->config.lease_us, slot->lease_end_us);
}

/* Calls the loader, which may complete the load, or end the refresher: nothing may follow. */
static void rows_slot_load(gh_rows_slot* slot)
{
    gh_rows* rows = slot->rows;
    gh_client* client = slot->op.client;
    gh_row_load load;
    if (rows->begun_us == gh_client_now(client) && !gh_client_budget_left(client))
    {
        gh_op_timer_after(&slot->op, 1); /* in the next tick */
        return;
    }
    rows->begun_us = gh_client_now(client);
    slot->void_us = gh_client_after(client, rows->config.load_us);
    slot->loading = true;
    load.slot = slot;
    load.ticket = ++slot->ticket;
    rows_slot_plan(slot, rows_slot_renewal(slot));
    rows->config.loader(rows->config.context, load, gh_str_make(slot->row, slot->row_size));
}

static void rows_slot_renew(gh_rows_slot* slot)
{
    slot->op.state = ROWS_SLOT_RENEWING;
    gh_op_timer(&slot->op, slot->void_us);
    gh_op_send(&slot->op, GH_OP_URGENT);
}

/* The store may have forgotten the claim. What is being loaded asks at once, what is not is not begun. */
static void rows_slot_doubt(gh_rows_slot* slot)
{
    if (slot->op.state == ROWS_SLOT_TAKEN) gh_rows_slot_give_back(slot);
    if (slot->op.state == ROWS_SLOT_LOADING) rows_slot_renew(slot);
}

static void rows_slot_timer(gh_rows_slot* slot)
{
    switch ((rows_slot_state)slot->op.state)
    {
    case ROWS_SLOT_TAKEN: rows_slot_load(slot); break;
    case ROWS_SLOT_LOADING:
    case ROWS_SLOT_RENEWING:
        if (gh_client_now(slot->op.client) >= slot->void_us)
        {
            rows_slot_fail(slot);
            break;
        }
        rows_slot_renew(slot);
        break;
    case ROWS_SLOT_FINISHING: rows_slot_lose(slot); break;
    case ROWS_SLOT_FREE:
    case ROWS_SLOT_VOID: break;
    }
}

/* Who has finished a row knows when it is due again: the refresher, which hears of it, chooses anew. */
static void rows_slot_note_due(gh_rows_slot* slot, uint64_t due_us, uint64_t store_now_us)
{
    gh_rows* rows = slot->rows;
    uint64_t look_us = gh_client_after(rows->op.client, due_us > store_now_us ? due_us - store_now_us : 0);
    if (due_us == 0 || look_us >= rows->look_us[slot->shard]) return;
    rows->look_us[slot->shard] = look_us;
    rows->promised |= 1ull << slot->shard;
}

static void rows_slot_reply(gh_rows_slot* slot, const gh_event* event)
{
    uint64_t now_us = (uint64_t)gh_reply_integer(event->reply, GH_ROWS_FINISH_NOW_US);
    uint64_t due_us = (uint64_t)gh_reply_integer(event->reply, GH_ROWS_FINISH_DUE_US);
    int64_t code = gh_reply_integer(event->reply, GH_ROWS_FINISH_CODE);
    if (code == GH_ROWS_RENEW_STALE) /* we know the store's time better now, and our lease ends by itself */
    {
        rows_slot_renew(slot);
    }
    else if (code != GH_ROWS_FINISH_DONE)
    {
        rows_slot_lose(slot);
    }
    else if (slot->op.state == ROWS_SLOT_RENEWING)
    {
        slot->lease_end_us = gh_lease_end(slot->rows->config.lease_us, event->sent_us, slot->rows->config.lease_us);
        rows_slot_plan(slot, rows_slot_renewal(slot));
    }
    else
    {
        if (slot->outcome == 'v' || slot->outcome == 'n') slot->rows->stored++;
        rows_slot_note_due(slot, due_us, now_us);
        rows_slot_over(slot);
    }
}

static void rows_slot_failed(gh_rows_slot* slot, gh_status status)
{
    slot->rows->trouble = status;
    if (slot->op.state == ROWS_SLOT_RENEWING)
        rows_slot_plan(slot, gh_client_after(slot->op.client, slot->rows->config.lease_us / 10));
    else rows_slot_lose(slot);
}

static void rows_slot_step(gh_op* op, const gh_event* event)
{
    gh_rows_slot* slot = rows_slot_of(op);
    bool has_claim = op->state != ROWS_SLOT_FREE && op->state != ROWS_SLOT_VOID;
    switch (event->kind)
    {
    case GH_EVENT_REPLY: rows_slot_reply(slot, event); break;
    case GH_EVENT_FAILED: rows_slot_failed(slot, event->status); break;
    case GH_EVENT_TIMER: rows_slot_timer(slot); break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_RESET:
        if (has_claim) rows_slot_lose(slot);
        break;
    case GH_EVENT_CLOSE: gh_op_end(op, GH_CANCELLED); break;
    case GH_EVENT_DOUBT: rows_slot_doubt(slot); break;
    case GH_EVENT_CANCEL: /* the refresher takes care of its slots */
    case GH_EVENT_HINT:
    case GH_EVENT_CHILD: break;
    }
}

static gh_op* rows_slot_owner(const gh_op* op)
{
    return &((const gh_rows_slot*)(const void*)op)->rows->op;
}

static const gh_op_kind rows_slot_kind = {.name = "rows",
                                          .owner = rows_slot_owner,
                                          .step = rows_slot_step,
                                          .encode = rows_slot_encode,
                                          .script = rows_slot_script,
                                          .effect = GH_OP_CHANGES};

/* ---- begin, take --------------------------------------------------------------------------------------- */

void gh_rows_slots_begin(gh_rows* rows, gh_client* client)
{
    size_t each = rows->config.memory_size / rows->config.slot_count;
    size_t i;
    if (each > GH_ROW_SIZE_MAX) each = GH_ROW_SIZE_MAX;
    for (i = 0; i < rows->config.slot_count; i++)
    {
        gh_rows_slot* slot = &rows->config.slots[i];
        uint64_t ticket = slot->ticket; /* goes on, so that loads of an earlier refresher stay void */
        memset(slot, 0, sizeof *slot);
        slot->ticket = ticket;
        slot->rows = rows;
        slot->memory = rows->config.memory == NULL ? NULL : (char*)rows->config.memory + i * each;
        slot->memory_size = (uint32_t)each;
        gh_op_begin(&slot->op, client, &rows_slot_kind);
        slot->op.state = ROWS_SLOT_FREE;
    }
}

static gh_rows_slot* rows_free_slot(const gh_rows* rows)
{
    size_t i;
    for (i = 0; i < rows->config.slot_count; i++)
        if (rows->config.slots[i].op.state == ROWS_SLOT_FREE) return &rows->config.slots[i];
    return NULL;
}

void gh_rows_slots_take(gh_rows* rows, gh_str row, uint32_t failures, uint64_t lease_end_us)
{
    gh_rows_slot* slot = rows_free_slot(rows);
    if (slot == NULL || row.size == 0 || row.size > GH_NAME_SIZE_MAX) return; /* it is due again after the lease */
    memcpy(slot->row, row.bytes, row.size);
    slot->row_size = (uint8_t)row.size;
    slot->shard = rows->shard;
    slot->claim = rows->claim;
    slot->failures = failures;
    slot->lease_end_us = lease_end_us;
    slot->value_size = 0;
    slot->op.state = ROWS_SLOT_TAKEN;
    rows->loading++;
    gh_op_lease_from(&slot->op, &rows->op, lease_end_us);
    gh_op_timer_after(&slot->op, 0);
    if (rows->ending) gh_rows_slot_give_back(slot);
}

/* ---- what the loader calls ----------------------------------------------------------------------------- */

static bool row_load_is_open(gh_row_load load)
{
    return load.slot != NULL && load.slot->loading && load.slot->ticket == load.ticket;
}

bool gh_row_load_is_wanted(gh_row_load load)
{
    if (!row_load_is_open(load) || !gh_op_is_busy(&load.slot->op)) return false;
    return load.slot->op.state == ROWS_SLOT_LOADING || load.slot->op.state == ROWS_SLOT_RENEWING;
}

static gh_status row_store(gh_rows_slot* slot, gh_status outcome, gh_str value)
{
    uint64_t spread = gh_client_jitter(slot->op.client, 2 * ROWS_JITTER) - ROWS_JITTER;
    if (outcome == GH_EMPTY)
    {
        rows_slot_finish(slot, 'n', spread);
        return GH_OK;
    }
    if (outcome != GH_OK || value.size > slot->memory_size)
    {
        rows_slot_fail(slot);
        return outcome == GH_OK ? GH_TOO_SMALL : GH_OK;
    }
    if (value.size > 0) memcpy(slot->memory, value.bytes, value.size);
    slot->value_size = (uint32_t)value.size;
    rows_slot_finish(slot, 'v', spread);
    return GH_OK;
}

/* The loader of a row that was given up before has come to its end. */
static void row_let_go(gh_rows_slot* slot)
{
    gh_client* client = slot->op.client;
    gh_step_enter(client);
    rows_slot_rest(slot, ROWS_SLOT_FREE);
    gh_step_leave(client);
}

gh_status gh_row_complete(gh_row_load load, gh_status outcome, gh_str value)
{
    bool is_wanted = gh_row_load_is_wanted(load);
    if (!row_load_is_open(load)) return GH_INVALID_ROW_LOAD;
    if (outcome == GH_OK && (value.size > GH_ROW_SIZE_MAX || (value.bytes == NULL && value.size > 0)))
        return gh_op_refused_call(&load.slot->op, GH_INVALID_ROW_VALUE);
    load.slot->loading = false;
    if (is_wanted) return row_store(load.slot, outcome, value);
    if (gh_op_is_busy(&load.slot->op) && load.slot->op.state == ROWS_SLOT_VOID) row_let_go(load.slot);
    return GH_LOST;
}
