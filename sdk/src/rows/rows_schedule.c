/* rows_schedule.c -- rows as their readers see them: schedule, unschedule, get. */

#include "guildhall/rows.h"

#include "client/object.h"
#include "rows_shard.h"
#include "scripts/rows_scripts.h"

#define ROWS_REPLY_ROOM 256u /* of a reply: the figures */

/* ---- schedule ------------------------------------------------------------------------------------------ */

static gh_row_schedule* row_schedule_of(gh_op* op)
{
    return (gh_row_schedule*)(void*)op;
}

static gh_script* row_schedule_script(gh_op* op)
{
    bool away = row_schedule_of(op)->away;
    return gh_client_script(op->client, away ? &gh_rows_unschedule_lua : &gh_rows_schedule_lua);
}

static void row_schedule_encode(gh_op* op, gh_request* request)
{
    const gh_row_schedule* schedule = row_schedule_of(op);
    uint8_t shard = gh_rows_shard_of(gh_name_str(&schedule->row));
    gh_rows_encode_script(request, op, shard, schedule->away ? "dmtv" : "dmti");
    gh_request_op_id(request, op);
    gh_request_number(request, gh_op_not_after_its_end(op));
    gh_request_str(request, gh_name_str(&schedule->row));
    if (!schedule->away)
    {
        gh_request_number(request, schedule->period_us);
        gh_request_number(request, schedule->max_age_us);
        gh_request_number(request, schedule->now);
        gh_rows_encode_letter(request, shard);
    }
    gh_request_number(request, schedule->seen_us);
}

static gh_status row_schedule_answer(gh_op* op, const gh_event* event)
{
    gh_row_schedule* schedule = row_schedule_of(op);
    const int64_t code = gh_reply_integer(event->reply, GH_ROWS_CHANGE_CODE);
    switch (code)
    {
    case GH_ROWS_CHANGE_DONE:
    case GH_ROWS_CHANGE_OLDER: return GH_OK;
    case GH_ROWS_CHANGE_NOT_THERE: return GH_GONE;
    case GH_ROWS_CHANGE_FULL: return gh_op_refused(op, GH_FULL);
    case GH_ROWS_CHANGE_STALE: /* we know the store's time better now, and our own timer ends this */
    case GH_ROWS_CHANGE_AGAIN:
        if (code == GH_ROWS_CHANGE_AGAIN)
            schedule->seen_us = (uint64_t)gh_reply_integer(event->reply, GH_ROWS_CHANGE_NOW_US);
        gh_op_send(op, op->flags & GH_OP_MAYBE);
        return GH_PENDING;
    default: return GH_CORRUPT;
    }
}

static const gh_op_kind row_schedule_kind = {.name = "rows",
                                             .step = gh_gate_call_step,
                                             .gate_at = offsetof(gh_row_schedule, gate),
                                             .encode = row_schedule_encode,
                                             .script = row_schedule_script,
                                             .effect = GH_OP_CHANGES,
                                             .answer = row_schedule_answer};

static const gh_bound row_schedule_bounds_rows[] = {
    GH_BOUND_TIMEOUT(gh_row_schedule_config),
    GH_BOUND(gh_row_schedule_config, period_us, 5000000, GH_ROWS_PERIOD_MIN_US, GH_ROWS_PERIOD_MAX_US,
             GH_INVALID_ROW_PERIOD),
    GH_BOUND(gh_row_schedule_config, max_age_us, 0, 0, GH_ROWS_AGE_MAX_US, GH_INVALID_ROW_AGE)};
static const gh_bounds row_schedule_bounds = GH_BOUNDS(gh_row_schedule_config, row_schedule_bounds_rows);

gh_row_schedule_config gh_row_schedule_config_default(void)
{
    gh_row_schedule_config config;
    gh_bounds_fill(&row_schedule_bounds, &config);
    return config;
}

static gh_status row_schedule_try(gh_row_schedule* op, gh_client* client, gh_str row,
                                  const gh_row_schedule_config* config, bool away)
{
    gh_row_schedule_config defaults = gh_row_schedule_config_default();
    gh_status status;
    if (config == NULL) config = &defaults;
    status = gh_named_check((gh_op*)op, client, row, &row_schedule_bounds, config);
    if (status != GH_OK) return status;
    if (config->max_age_us != 0 && config->max_age_us < config->period_us) return GH_INVALID_ROW_AGE;
    gh_name_keep(&op->row, row);
    op->period_us = config->period_us;
    op->max_age_us = config->max_age_us == 0 ? 3 * config->period_us : config->max_age_us;
    op->seen_us = 0;
    op->now = config->now;
    op->away = away;
    gh_gate_call_begin(&op->op, client, &row_schedule_kind, config->timeout_us,
                       gh_gate_object(client, gh_str_literal("rows"), row));
    return GH_OK;
}

gh_status gh_row_schedule_begin(gh_row_schedule* op, gh_client* client, gh_str row,
                                const gh_row_schedule_config* config)
{
    return gh_op_begun((gh_op*)op, client, row_schedule_try(op, client, row, config, false));
}

gh_status gh_row_unschedule_begin(gh_row_schedule* op, gh_client* client, gh_str row,
                                  const gh_row_schedule_config* config)
{
    return gh_op_begun((gh_op*)op, client, row_schedule_try(op, client, row, config, true));
}

/* ---- get ----------------------------------------------------------------------------------------------- */

static gh_row_get* row_get_of(gh_op* op)
{
    return (gh_row_get*)(void*)op;
}

static void row_get_encode(gh_op* op, gh_request* request)
{
    const gh_row_get* get = row_get_of(op);
    uint32_t room = gh_client_reply_bytes(op->client) - ROWS_REPLY_ROOM;
    gh_rows_encode_script(request, op, gh_rows_shard_of(gh_name_str(&get->row)), "v");
    gh_request_number(request, op->sequence);
    gh_request_str(request, gh_name_str(&get->row));
    gh_request_number(request, get->known_version);
    gh_request_number(request, get->buffer_size < room ? get->buffer_size : room);
}

static gh_status row_get_answer(gh_op* op, const gh_event* event)
{
    gh_row_get* get = row_get_of(op);
    const gh_reply* reply = event->reply;
    gh_str bytes = gh_reply_text(reply, GH_ROWS_GET_BYTES);
    uint64_t max_age_us = get->max_age_us;
    bool is_old;
    if (max_age_us == 0) max_age_us = (uint64_t)gh_reply_integer(reply, GH_ROWS_GET_MAX_AGE_US);
    get->version = (uint64_t)gh_reply_integer(reply, GH_ROWS_GET_VERSION);
    get->age_us = (uint64_t)gh_reply_integer(reply, GH_ROWS_GET_AGE_US);
    get->value_size = (size_t)gh_reply_integer(reply, GH_ROWS_GET_SIZE);
    is_old = get->age_us > max_age_us;
    switch (gh_reply_integer(reply, GH_ROWS_GET_CODE))
    {
    case GH_ROWS_GET_VALUE:
        if (bytes.size > get->buffer_size || bytes.size != get->value_size) return GH_CORRUPT;
        if (bytes.size > 0) memcpy(get->buffer, bytes.bytes, bytes.size);
        get->value = gh_str_make(get->buffer, bytes.size);
        return is_old ? GH_OLD : GH_OK;
    case GH_ROWS_GET_ABSENT: return GH_EMPTY;
    case GH_ROWS_GET_NOTHING: return GH_GONE;
    case GH_ROWS_GET_SAME: return is_old ? GH_OLD : GH_SAME;
    case GH_ROWS_GET_TOO_SMALL: return is_old ? GH_OLD : GH_TOO_SMALL;
    default: return GH_CORRUPT;
    }
}

static const gh_op_kind row_get_kind = {.name = "rows",
                                        .step = gh_call_step,
                                        .encode = row_get_encode,
                                        .text = &gh_rows_get_lua,
                                        .effect = GH_OP_READS,
                                        .answer = row_get_answer};

static const gh_bound row_get_bounds_rows[] = {
    GH_BOUND(gh_row_get_config, max_age_us, 0, 0, GH_ROWS_AGE_MAX_US, GH_INVALID_ROW_AGE),
    GH_BOUND_TIMEOUT(gh_row_get_config)};
static const gh_bounds row_get_bounds = GH_BOUNDS(gh_row_get_config, row_get_bounds_rows);

gh_row_get_config gh_row_get_config_default(void)
{
    gh_row_get_config config;
    gh_bounds_fill(&row_get_bounds, &config);
    return config;
}

static gh_status row_get_try(gh_row_get* op, gh_client* client, gh_str row, const gh_row_get_config* config)
{
    gh_status status = gh_named_check((gh_op*)op, client, row, &row_get_bounds, config);
    if (status != GH_OK) return status;
    if (config->buffer == NULL && config->buffer_size > 0) return GH_INVALID_BUFFER;
    op->value = gh_str_make(NULL, 0);
    op->version = op->age_us = 0;
    op->value_size = 0;
    gh_name_keep(&op->row, row);
    op->buffer = (char*)config->buffer;
    op->buffer_size = config->buffer_size;
    op->known_version = config->version;
    op->max_age_us = config->max_age_us;
    gh_call_begin(&op->op, client, &row_get_kind, config->timeout_us, 0);
    return GH_OK;
}

gh_status gh_row_get_begin(gh_row_get* op, gh_client* client, gh_str row, const gh_row_get_config* config)
{
    return gh_op_begun((gh_op*)op, client, row_get_try(op, client, row, config));
}
