/* counters_clean.c -- the cleaner: one server of the fleet at a time, by a lease, goes round the shards.

       WAITING -- timer --> LEASING -- ours --> CLEANING shard 0, 1, ... 63 --> WAITING
          ^                    |   ^               |
          '---- another's -----'   '-- half of the lease is over, or all of it

   The lease saves work and decides nothing: cleaning is harmless when two do it. */

#include "counters_state.h"
#include "scripts/counters_scripts.h"
#include "wire/name.h"

#define COUNTERS_CLEAN_LEASES  3u         /* rounds that a dead cleaner's lease outlives it by */
#define COUNTERS_CLEAN_ANSWERS 6u         /* that it has time for in any case, slow as they may be */
#define COUNTERS_CLEAN_LAST_US 1000000ull /* for giving the lease back                         */

enum
{
    COUNTERS_CLEAN_WAITING = 1,
    COUNTERS_CLEAN_LEASING,
    COUNTERS_CLEAN_CLEANING,
    COUNTERS_CLEAN_LEAVING
};

#define COUNTERS_CLEAN_ON_MAX 32u /* times that a shard is asked on in a round */

static gh_counters* counters_of_cleaning(const gh_op* op)
{
    return (gh_counters*)(uintptr_t)((const char*)op - offsetof(gh_counters, cleaning) -
                                     offsetof(gh_counters_cleaning, op));
}

/* The answer to the lease, the text of a script, one shard and the lease again come before it is over: else no round
   would ever end. */
static uint64_t counters_clean_lease_us(const gh_counters* self)
{
    const uint64_t rounds_us = COUNTERS_CLEAN_LEASES * self->config.clean_us;
    const uint64_t answers_us = COUNTERS_CLEAN_ANSWERS * gh_client_request_timeout(self->cleaning.op.client);
    return rounds_us > answers_us ? rounds_us : answers_us;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static gh_script* counters_clean_script(gh_op* op)
{
    return gh_client_script(op->client,
                            op->state == COUNTERS_CLEAN_CLEANING ? &gh_counters_clean_lua : &gh_counters_lease_lua);
}

static void counters_clean_encode_lease(gh_op* op, gh_request* request)
{
    const gh_counters* self = counters_of_cleaning(op);
    char client[GH_HEX_SIZE];
    gh_hex_encode(gh_client_id(op->client), client);
    gh_request_object_script(request, op, gh_counters_kind(), gh_str_literal("clean"), "l");
    gh_request_str(request, gh_str_make(client, sizeof client));
    gh_request_number(request, op->sequence);
    gh_request_number(request, op->state == COUNTERS_CLEAN_LEAVING ? 0 : counters_clean_lease_us(self) / 1000);
    gh_request_number(request, gh_op_not_after(op));
}

static void counters_clean_encode_shard(gh_op* op, gh_request* request)
{
    const gh_counters* self = counters_of_cleaning(op);
    const gh_counters_cleaning* cleaning = &self->cleaning;
    const gh_str none = gh_str_make(NULL, 0);
    uint32_t precisions = self->config.precision_count;
    uint64_t pace_s = (self->config.clean_us + 999999) / 1000000;
    uint32_t i;
    gh_request_op_script(request, op, cleaning->count * (1 + precisions), 2 * precisions);
    gh_request_shard_key(request, op->client, gh_counters_kind(), cleaning->shard, gh_str_literal("k"), none);
    if (gh_request_is_route(request)) return;
    for (i = 0; i < cleaning->count; i++)
        gh_counters_encode_keys(request, self, cleaning->shard,
                                gh_str_make(cleaning->names[i], cleaning->name_sizes[i]));
    gh_request_number(request, op->sequence);
    gh_request_number(request, pace_s);
    gh_request_number(request, GH_COUNTERS_CLEAN_MAX);
    gh_request_number(request, cleaning->count);
    gh_counters_encode_precisions(request, self);
}

static void counters_clean_encode(gh_op* op, gh_request* request)
{
    if (op->state == COUNTERS_CLEAN_CLEANING) counters_clean_encode_shard(op, request);
    else counters_clean_encode_lease(op, request);
}

/* ---- moves --------------------------------------------------------------------------------------------- */

static void counters_clean_wait(gh_counters* self, uint64_t pause_us)
{
    gh_op* op = &self->cleaning.op;
    op->state = COUNTERS_CLEAN_WAITING;
    gh_op_timer_after(op, pause_us);
}

static void counters_clean_ask_lease(gh_counters* self)
{
    gh_op* op = &self->cleaning.op;
    op->state = COUNTERS_CLEAN_LEASING;
    gh_op_renumber(op);
    gh_op_send(op, 0);
}

static void counters_clean_not_ours(gh_counters* self)
{
    self->cleaning.owner = false;
    gh_op_lease(&self->cleaning.op, GH_FOREVER);
}

/* The next piece of the round, or the lease first if half of it is over. */
static void counters_clean_go_on(gh_counters* self)
{
    gh_counters_cleaning* cleaning = &self->cleaning;
    uint64_t now_us = gh_client_now(self->control.client);
    uint64_t round_end_us = cleaning->round_us + self->config.clean_us;
    if (cleaning->shard == GH_COUNTERS_SHARDS)
    {
        self->stats.rounds++;
        counters_clean_wait(self, round_end_us > now_us ? round_end_us - now_us : 1);
    }
    else if (now_us + counters_clean_lease_us(self) / 2 > cleaning->lease_end_us)
    {
        counters_clean_ask_lease(self);
    }
    else
    {
        cleaning->op.state = COUNTERS_CLEAN_CLEANING;
        gh_op_renumber(&cleaning->op);
        gh_op_send(&cleaning->op, 0);
    }
}

static void counters_clean_take_lease(gh_counters* self, const gh_event* event)
{
    gh_counters_cleaning* cleaning = &self->cleaning;
    const int64_t code = gh_reply_integer(event->reply, GH_COUNTERS_LEASE_CODE);
    if (code == GH_COUNTERS_LEASE_STALE) /* now we know the store's time better */
    {
        counters_clean_ask_lease(self);
        return;
    }
    if (code != GH_COUNTERS_LEASE_YOURS)
    {
        uint64_t remaining_us = (uint64_t)gh_reply_integer(event->reply, GH_COUNTERS_LEASE_REMAINING_MS) * 1000;
        uint64_t longest_us = counters_clean_lease_us(self);
        counters_clean_not_ours(self);
        if (remaining_us > longest_us) remaining_us = longest_us; /* another's config, or a key by hand */
        counters_clean_wait(self, remaining_us + gh_client_jitter(self->control.client, self->config.clean_us));
        return;
    }
    /* From the send, and a little less than the store's: clocks do not run alike. */
    cleaning->lease_end_us = event->sent_us + counters_clean_lease_us(self) - counters_clean_lease_us(self) / 16;
    gh_op_lease(&cleaning->op, cleaning->lease_end_us);
    if (!cleaning->owner || cleaning->shard == GH_COUNTERS_SHARDS)
    {
        cleaning->owner = true;
        cleaning->shard = cleaning->count = cleaning->asked_on = 0;
        cleaning->round_us = gh_client_now(self->control.client);
    }
    counters_clean_go_on(self);
}

static void counters_clean_next_shard(gh_counters_cleaning* cleaning)
{
    cleaning->shard++;
    cleaning->count = cleaning->asked_on = 0;
}

/* How the name of a counter can stand in its keys; or one by another hand, whose keys are cleaned like others. What
   holds anything else is never made a key of. */
static bool counters_clean_is_name(const gh_reply* reply)
{
    uint32_t i;
    if (reply->type != GH_REPLY_STRING || reply->text.size == 0 || reply->text.size > GH_COUNTERS_NAME_SIZE_MAX)
        return false;
    for (i = 0; i < reply->text.size; i++)
        if (reply->text.bytes[i] != '%' && !gh_name_is_plain(gh_str_make(reply->text.bytes + i, 1))) return false;
    return true;
}

static void counters_clean_take_shard(gh_counters* self, const gh_reply* reply)
{
    gh_counters_cleaning* cleaning = &self->cleaning;
    size_t room = gh_client_out_room(self->control.client) - GH_COUNTERS_ROOM;
    const bool more = gh_reply_integer(reply, GH_COUNTERS_CLEAN_CODE) == GH_COUNTERS_CLEAN_MORE;
    const gh_reply* name = gh_reply_at(reply, GH_COUNTERS_CLEAN_DUE);
    self->stats.counters_removed += (uint64_t)gh_reply_integer(reply, GH_COUNTERS_CLEAN_COUNTERS);
    self->stats.samples_removed += (uint64_t)gh_reply_integer(reply, GH_COUNTERS_CLEAN_SAMPLES);
    cleaning->count = 0;
    for (; name != NULL && cleaning->count < GH_COUNTERS_CLEAN_MAX; name = name->next)
    {
        size_t size = gh_counters_keys_size(self, name->text.size);
        if (!counters_clean_is_name(name)) continue;
        if (size > room) break; /* it is due again in the next answer */
        room -= size;
        memcpy(cleaning->names[cleaning->count], name->text.bytes, name->text.size);
        cleaning->name_sizes[cleaning->count++] = (uint8_t)name->text.size;
    }
    cleaning->asked_on += more;
    if (cleaning->asked_on == COUNTERS_CLEAN_ON_MAX)
        counters_clean_next_shard(cleaning); /* the rest in the next rounds */
    else if (cleaning->count == 0 && !more) counters_clean_next_shard(cleaning);
    counters_clean_go_on(self);
}

static void counters_clean_take_reply(gh_counters* self, const gh_event* event)
{
    switch (self->cleaning.op.state)
    {
    case COUNTERS_CLEAN_LEASING: counters_clean_take_lease(self, event); break;
    case COUNTERS_CLEAN_CLEANING: counters_clean_take_shard(self, event->reply); break;
    default: break;
    }
}

static void counters_clean_leave(gh_counters* self)
{
    counters_clean_not_ours(self);
    self->cleaning.over = true;
    gh_op_unsend(&self->cleaning.op);
    gh_op_timer(&self->cleaning.op, GH_FOREVER);
    gh_op_tell_owner(&self->cleaning.op);
}

/* One shard that is not of its form must not keep the others from being cleaned. */
static void counters_clean_fail(gh_counters* self, gh_status status)
{
    gh_counters_cleaning* cleaning = &self->cleaning;
    if (cleaning->op.state == COUNTERS_CLEAN_CLEANING && status == GH_CORRUPT)
    {
        counters_clean_next_shard(cleaning);
        counters_clean_go_on(self);
        return;
    }
    counters_clean_not_ours(self);
    counters_clean_wait(self, self->config.clean_us);
}

static void counters_clean_step(gh_op* op, const gh_event* event)
{
    gh_counters* self = counters_of_cleaning(op);
    if (op->state == COUNTERS_CLEAN_LEAVING)
    {
        if (event->kind == GH_EVENT_REPLY || event->kind == GH_EVENT_FAILED || event->kind == GH_EVENT_TIMER)
            counters_clean_leave(self);
        return;
    }
    switch (event->kind)
    {
    case GH_EVENT_REPLY: counters_clean_take_reply(self, event); break;
    case GH_EVENT_TIMER: counters_clean_ask_lease(self); break;
    case GH_EVENT_FAILED: counters_clean_fail(self, event->status); break;
    case GH_EVENT_LAPSED:
        counters_clean_not_ours(self);
        if (op->state != COUNTERS_CLEAN_WAITING) counters_clean_ask_lease(self);
        break;
    case GH_EVENT_CANCEL: /* the control op is told as well, and sees to it */
    case GH_EVENT_CLOSE:
    case GH_EVENT_HINT:
    case GH_EVENT_RESET:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
}

static gh_op* counters_clean_owner(const gh_op* op)
{
    return &counters_of_cleaning(op)->control;
}

static const gh_op_kind gh_counters_clean_kind = {.name = "counters",
                                                  .owner = counters_clean_owner,
                                                  .step = counters_clean_step,
                                                  .encode = counters_clean_encode,
                                                  .script = counters_clean_script,
                                                  .effect = GH_OP_READS,
                                                  .trees = gh_tree_read};

/* The first question comes at some time in the first round, so that a fleet that starts together does not ask
 * together. */
void gh_counters_clean_begin(gh_counters* counters)
{
    counters->cleaning.over = counters->config.clean_us == 0;
    if (counters->cleaning.over) return;
    gh_op_begin(&counters->cleaning.op, counters->control.client, &gh_counters_clean_kind);
    counters_clean_wait(counters, gh_client_jitter(counters->control.client, counters->config.clean_us));
}

void gh_counters_clean_end(gh_counters* counters)
{
    gh_op* op = &counters->cleaning.op;
    if (counters->cleaning.over) return;
    if (!counters->cleaning.owner)
    {
        counters_clean_leave(counters);
        return;
    }
    counters_clean_not_ours(counters);
    op->state = COUNTERS_CLEAN_LEAVING;
    gh_op_renumber(op);
    gh_op_send(op, 0);
    gh_op_timer_after(op, COUNTERS_CLEAN_LAST_US);
}
