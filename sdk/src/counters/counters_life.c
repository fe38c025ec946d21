/* counters_life.c -- counters in the caller's memory from their begin to their end, and their control op: it is busy as
   long as there is a client, its timer brings shard after shard, and it owns the lanes and the cleaner. */

#include "guildhall/counters.h"

#include "base/arena.h"
#include "base/sized.h"
#include "client/refusal.h"
#include "counters_state.h"
#include "wire/name.h"

#define COUNTERS_FLUSH_MIN_US  10000ull
#define COUNTERS_CLEAN_MIN_US  100000ull
#define COUNTERS_PERIOD_MAX_US 3600000000ull

static const gh_bound counters_rows[] = {
    GH_BOUND(gh_counters_config, precision_count, 7, 1, GH_COUNTERS_PRECISIONS_MAX, GH_INVALID_PRECISION),
    GH_BOUND(gh_counters_config, counters_max, 256, 1, GH_COUNTERS_MAX, GH_INVALID_COUNTERS_MAX),
    GH_BOUND(gh_counters_config, fleet_max, 65536, GH_COUNTERS_SHARDS, GH_COUNTERS_FLEET_MAX, GH_INVALID_COUNTERS_MAX),
    GH_BOUND(gh_counters_config, flush_us, 1000000, COUNTERS_FLUSH_MIN_US, COUNTERS_PERIOD_MAX_US, GH_INVALID_FLUSH),
    GH_BOUND_OR_0(gh_counters_config, clean_us, 60000000, COUNTERS_CLEAN_MIN_US, COUNTERS_PERIOD_MAX_US,
                  GH_INVALID_CLEAN)};
static const gh_bounds counters_bounds = GH_BOUNDS(gh_counters_config, counters_rows);

gh_counters_config gh_counters_config_default(void)
{
    static const uint32_t seconds[] = {1, 5, 60, 300, 3600, 18000, 86400};
    gh_counters_config config;
    uint32_t i;
    gh_bounds_fill(&counters_bounds, &config);
    for (i = 0; i < config.precision_count; i++)
    {
        config.precisions[i].seconds = seconds[i];
        config.precisions[i].samples = 120;
    }
    return config;
}

static gh_status counters_check_precisions(const gh_counters_config* config)
{
    uint32_t before = 0;
    uint32_t i;
    for (i = 0; i < config->precision_count; i++)
    {
        const gh_counter_precision* precision = &config->precisions[i];
        if (precision->seconds <= before || precision->seconds > GH_COUNTERS_SECONDS_MAX) return GH_INVALID_PRECISION;
        if (precision->samples == 0 || precision->samples > GH_COUNTERS_SAMPLES_MAX) return GH_INVALID_SAMPLES;
        before = precision->seconds;
    }
    return GH_OK;
}

static gh_status counters_check_config(const gh_counters_config* config, gh_client* client)
{
    gh_status status = gh_refusal_check(&counters_bounds, config, client);
    return status == GH_OK ? counters_check_precisions(config) : status;
}

/* Measures when the arena has no base, else cuts. */
static void* counters_cut(gh_arena* arena, const void* settings)
{
    const gh_counters_config* config = (const gh_counters_config*)settings;
    uint32_t chains = 1;
    gh_counters* self = (gh_counters*)gh_arena_take(arena, sizeof *self);
    gh_counters_slot* slots;
    uint32_t* names;
    while (chains < config->counters_max) chains *= 2;
    slots = (gh_counters_slot*)gh_arena_take(arena, sizeof *slots * config->counters_max);
    names = (uint32_t*)gh_arena_take(arena, sizeof *names * chains);
    if (self == NULL) return NULL;
    self->config = *config;
    self->slots = slots;
    self->names = names;
    self->name_mask = chains - 1;
    return self;
}

size_t gh_counters_memory(const gh_counters_config* config)
{
    const gh_counters_config usual = gh_counters_config_default();
    if (config == NULL) config = &usual;
    return counters_check_config(config, NULL) == GH_OK ? gh_arena_measure(counters_cut, config) : 0;
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static void counters_end_op(gh_op* op, gh_status status)
{
    if (gh_op_is_busy(op)) gh_op_end(op, status);
}

static void counters_end_ops(gh_counters* self, gh_status status)
{
    uint32_t i;
    self->ended = status;
    counters_end_op(&self->control, status);
    counters_end_op(&self->cleaning.op, status);
    for (i = 0; i < GH_COUNTERS_LANES; i++) counters_end_op(&self->lanes[i].op, status);
}

static void counters_end_if_over(gh_counters* counters)
{
    if (!counters->ending || counters->ended != GH_PENDING) return;
    if ((counters->dirty | counters->busy) == 0 && counters->cleaning.over) counters_end_ops(counters, GH_IDLE);
}

void gh_counters_end(gh_counters* counters)
{
    gh_client* client;
    if (!gh_counters_are_valid(counters) || counters->ending) return;
    client = counters->control.client;
    counters->ending = true;
    gh_step_enter(client);
    gh_counters_clean_end(counters);
    gh_counters_flush(counters);
    counters_end_if_over(counters);
    gh_step_leave(client);
}

/* The client closes: what has no answer is lost, and counted as lost. */
static void counters_abandon(gh_counters* counters)
{
    uint32_t i;
    if (counters->ended != GH_PENDING) return;
    counters->ending = true;
    for (i = 0; i < GH_COUNTERS_LANES; i++) gh_counters_abandon_batch(&counters->lanes[i]);
    for (i = 0; i < counters->config.counters_max; i++)
    {
        counters->stats.refused += counters->slots[i].live_adds;
        counters->slots[i].live_adds = 0;
    }
    counters->dirty = counters->busy = counters->due = 0;
    counters_end_ops(counters, GH_CANCELLED);
}

static void counters_control_step(gh_op* op, const gh_event* event)
{
    gh_counters* self = (gh_counters*)(void*)((char*)op - offsetof(gh_counters, control));
    switch (event->kind)
    {
    case GH_EVENT_TIMER: gh_counters_visit(self); break;
    case GH_EVENT_CHILD: counters_end_if_over(self); break;
    case GH_EVENT_CANCEL: gh_counters_end(self); break;
    case GH_EVENT_CLOSE: counters_abandon(self); break;
    case GH_EVENT_REPLY:
    case GH_EVENT_FAILED:
    case GH_EVENT_HINT:
    case GH_EVENT_LAPSED:
    case GH_EVENT_RESET:
    case GH_EVENT_DOUBT: break;
    }
}

static const gh_op_kind counters_control_kind = {.name = "counters",
                                                 .step = counters_control_step,
                                                 .effect = GH_OP_READS,
                                                 .owner_link = offsetof(gh_counters, next_owner) -
                                                               offsetof(gh_counters, control)};

/* ---- the begin --------------------------------------------------------------------------------------------- */

static void counters_fill(gh_counters* self)
{
    uint32_t i;
    for (i = 0; i <= self->name_mask; i++) self->names[i] = GH_COUNTERS_NONE;
    for (i = 0; i < GH_COUNTERS_SHARDS; i++) self->shards[i].first = self->shards[i].last = GH_COUNTERS_NONE;
    for (i = 0; i < self->config.counters_max; i++)
    {
        self->slots[i].generation = 1;
        self->slots[i].next_named = i + 1 < self->config.counters_max ? i + 1 : GH_COUNTERS_NONE;
    }
    for (i = 0; i < self->config.precision_count; i++)
    {
        gh_counters_part* part = &self->parts[i];
        memcpy(part->text, "c:", 2);
        part->size = (uint32_t)(gh_decimal_encode(self->config.precisions[i].seconds, part->text + 2) - part->text);
    }
}

static void counters_begin_ops(gh_counters* self, gh_client* client)
{
    uint32_t i;
    gh_op_begin(&self->control, client, &counters_control_kind);
    for (i = 0; i < GH_COUNTERS_LANES; i++)
    {
        self->lanes[i].counters = self;
        self->lanes[i].first = GH_COUNTERS_NONE;
        gh_op_begin(&self->lanes[i].op, client, &gh_counters_lane_kind);
    }
    gh_counters_clean_begin(self);
}

static gh_status counters_try(gh_counters** counters, gh_client* client, const gh_counters_config* config, void* memory,
                              size_t size)
{
    const gh_counters_config usual = gh_counters_config_default();
    gh_op none;
    gh_counters* self;
    gh_status status;
    memset(&none, 0, sizeof none);
    status = gh_op_check(&none, client);
    if (status != GH_OK) return status;
    if (counters == NULL) return GH_INVALID_OUT;
    if (config == NULL) config = &usual;
    status = counters_check_config(config, client);
    if (status != GH_OK) return status;
    if (!gh_arena_fits(memory, size, gh_arena_measure(counters_cut, config))) return GH_INVALID_MEMORY;
    if (gh_client_ops_room(client) < GH_COUNTERS_OPS) return GH_NO_ROOM;
    self = (gh_counters*)gh_arena_cut_from(memory, size, counters_cut, config);
    self->magic = GH_COUNTERS_MAGIC;
    self->seed = gh_client_id(client);
    self->ended = GH_PENDING;
    counters_fill(self);
    counters_begin_ops(self, client);
    *counters = self;
    return GH_OK;
}

gh_status gh_counters_init(gh_counters** counters, gh_client* client, const gh_counters_config* config, void* memory,
                           size_t size)
{
    gh_status status = counters_try(counters, client, config, memory, size);
    gh_refusal_note(client, status);
    return status;
}

gh_status gh_counters_flush(gh_counters* counters)
{
    if (!gh_counters_are_valid(counters)) return GH_INVALID_COUNTERS;
    counters->due |= counters->dirty;
    gh_counters_serve(counters);
    return GH_OK;
}

gh_status gh_counters_poll(const gh_counters* counters)
{
    if (!gh_counters_are_valid(counters)) return GH_INVALID_COUNTERS;
    if (counters->ended != GH_PENDING) return counters->ended;
    return counters->ending || (counters->dirty | counters->busy) != 0 ? GH_PENDING : GH_OK;
}

/* When the oldest add came that has no answer yet. */
static uint64_t counters_oldest_us(const gh_counters* self)
{
    uint64_t oldest_us = GH_FOREVER;
    uint32_t i;
    for (i = 0; i < GH_COUNTERS_SHARDS; i++)
        if ((self->dirty >> i & 1) != 0 && self->shards[i].first_us < oldest_us) oldest_us = self->shards[i].first_us;
    for (i = 0; i < GH_COUNTERS_LANES; i++)
        if (self->lanes[i].first != GH_COUNTERS_NONE && self->lanes[i].first_us < oldest_us)
            oldest_us = self->lanes[i].first_us;
    return oldest_us;
}

gh_status gh_counters_read_stats(const gh_counters* counters, void* stats, size_t size)
{
    gh_counters_stats known;
    uint64_t oldest_us;
    if (!gh_counters_are_valid(counters)) return GH_INVALID_COUNTERS;
    if (stats == NULL) return GH_INVALID_OUT;
    known = counters->stats;
    known.waiting = known.added - known.counted - known.unknown - known.refused;
    known.cleaner = counters->ended == GH_PENDING && counters->cleaning.owner;
    oldest_us = counters->ended == GH_PENDING ? counters_oldest_us(counters) : GH_FOREVER;
    known.oldest_us = oldest_us == GH_FOREVER ? 0 : gh_client_now(counters->control.client) - oldest_us;
    gh_sized_give(stats, size, &known, sizeof known);
    return GH_OK;
}
