/* lock_look.c -- a look at who has a lock, since when, and how many wait. */

#include "client/object.h"
#include "guildhall/lock.h"
#include "scripts/lock_scripts.h"
#include "wire/name.h"

static const gh_str lock_look_kind_name = {"lock", 4};

static gh_lock_look* lock_look_of(gh_op* op)
{
    return (gh_lock_look*)(void*)op;
}

static void lock_look_encode(gh_op* op, gh_request* request)
{
    const uint32_t watched = gh_op_watches_epoch(op) ? 1 : 0;
    gh_request_op_script(request, op, watched, watched);
    gh_request_object_keys(request, op->client, lock_look_kind_name, gh_name_str(&lock_look_of(op)->name), "sq");
    if (watched != 0) gh_request_epoch_key(request, op->client);
    gh_request_number(request, op->sequence);
    if (watched != 0) gh_request_number(request, gh_op_store_birth(op));
}

static uint64_t lock_look_left(uint64_t end_us, uint64_t now_us)
{
    return end_us > now_us ? end_us - now_us : 0;
}

static gh_status lock_look_answer(gh_op* op, const gh_event* event)
{
    gh_lock_look* look = lock_look_of(op);
    const gh_reply* reply = event->reply;
    const int64_t code = gh_reply_integer(reply, GH_LOCK_LOOK_CODE);
    const int64_t waiters = gh_reply_integer(reply, GH_LOCK_LOOK_WAITERS);
    const uint64_t fence = (uint64_t)gh_reply_integer(reply, GH_LOCK_LOOK_FENCE);
    uint64_t sequence;
    const uint64_t now_us = (uint64_t)gh_reply_integer(reply, GH_LOCK_LOOK_NOW_US);
    if (code > GH_LOCK_LOOK_NOBODYS || waiters > UINT32_MAX) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    look->waiters = (uint32_t)waiters;
    look->quarantine_us = lock_look_left(gh_op_quarantine_end(op), now_us);
    if (code == GH_LOCK_LOOK_NOBODYS) return GH_GONE;
    if (!gh_token_decode(gh_reply_text(reply, GH_LOCK_LOOK_TOKEN), &look->client, &sequence))
        return gh_op_outcome(op, GH_REASON_CORRUPT);
    look->waiting = code == GH_LOCK_LOOK_KEPT;
    look->fence = look->waiting ? 0 : fence;
    look->since_store_us = fence <= now_us ? fence : 0;
    look->held_us = look->since_store_us == 0 ? 0 : now_us - fence;
    look->remaining_us = (uint64_t)gh_reply_integer(reply, GH_LOCK_LOOK_REMAINING_US);
    return GH_OK;
}

static const gh_op_kind lock_look_kind = {.name = "lock",
                                          .step = gh_call_step,
                                          .encode = lock_look_encode,
                                          .text = &gh_lock_look_lua,
                                          .effect = GH_OP_READS,
                                          .answer = lock_look_answer};

static const gh_bound lock_look_bounds_rows[] = {GH_BOUND_TIMEOUT(gh_lock_look_config)};
static const gh_bounds lock_look_bounds = GH_BOUNDS(gh_lock_look_config, lock_look_bounds_rows);

gh_lock_look_config gh_lock_look_config_default(void)
{
    gh_lock_look_config config;
    gh_bounds_fill(&lock_look_bounds, &config);
    return config;
}

static gh_status lock_look_try(gh_lock_look* op, gh_client* client, gh_str name, const gh_lock_look_config* config)
{
    gh_lock_look_config defaults = gh_lock_look_config_default();
    gh_status status;
    if (config == NULL) config = &defaults;
    status = gh_named_check((gh_op*)op, client, name, &lock_look_bounds, config);
    if (status != GH_OK) return status;
    gh_op_clear(&op->op, sizeof *op);
    gh_name_keep(&op->name, name);
    gh_call_begin(&op->op, client, &lock_look_kind, config->timeout_us, 0);
    return GH_OK;
}

gh_status gh_lock_look_begin(gh_lock_look* op, gh_client* client, gh_str name, const gh_lock_look_config* config)
{
    return gh_op_begun((gh_op*)op, client, lock_look_try(op, client, name, config));
}
