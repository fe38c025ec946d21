/* counters.c -- counters in the caller's memory: opening, adding, closing, and the end of them all. */

#include "guildhall/counters.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/sized.h"
#include "client/refusal.h"
#include "counters_state.h"
#include "wire/name.h"

#define COUNTERS_MAGIC         0x6768636f756e7473ull
#define COUNTERS_CHAIN_MAX     64u /* slots that one look-up walks: more that collide is no accident */
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
static gh_counters* counters_carve(gh_arena* arena, const gh_counters_config* config)
{
    uint32_t chains = 1;
    gh_counters* self = (gh_counters*)gh_arena_take(arena, sizeof *self);
    gh_counters_slot* slots;
    uint32_t* names;
    while (chains < config->counters_max) chains *= 2;
    slots = (gh_counters_slot*)gh_arena_take(arena, sizeof *slots * config->counters_max);
    names = (uint32_t*)gh_arena_take(arena, sizeof *names * chains);
    if (self == NULL) return NULL;
    self->slots = slots;
    self->names = names;
    self->name_mask = chains - 1;
    return self;
}

size_t gh_counters_memory(const gh_counters_config* config)
{
    gh_counters_config defaults = gh_counters_config_default();
    gh_arena arena = gh_arena_make(NULL, 0);
    if (config == NULL) config = &defaults;
    if (counters_check_config(config, NULL) != GH_OK) return 0;
    counters_carve(&arena, config);
    return arena.used;
}

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
    gh_op_begin(&self->control, client, &gh_counters_control_kind);
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
    gh_counters_config defaults = gh_counters_config_default();
    gh_arena arena = gh_arena_make(memory, size);
    gh_op none;
    gh_counters* self;
    gh_status status;
    memset(&none, 0, sizeof none);
    status = gh_op_check(&none, client);
    if (status != GH_OK) return status;
    if (counters == NULL) return GH_INVALID_OUT;
    if (config == NULL) config = &defaults;
    status = counters_check_config(config, client);
    if (status != GH_OK) return status;
    if (!gh_arena_fits(memory, size, gh_counters_memory(config))) return GH_INVALID_MEMORY;
    if (gh_client_ops_room(client) < GH_COUNTERS_OPS) return GH_NO_ROOM;
    self = counters_carve(&arena, config);
    self->magic = COUNTERS_MAGIC;
    self->seed = gh_client_id(client);
    self->config = *config;
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

bool gh_counters_are_valid(const gh_counters* counters)
{
    return counters != NULL && counters->magic == COUNTERS_MAGIC;
}

/* ---- names --------------------------------------------------------------------------------------------- */

static uint32_t* counters_chain(const gh_counters* self, gh_str name)
{
    return &self->names[gh_hash_seeded(name.bytes, name.size, self->seed) & self->name_mask];
}

static gh_str counters_name_of(const gh_counters_slot* slot)
{
    return gh_str_make(slot->name, slot->name_size);
}

/* The slot of that name, or GH_COUNTERS_NONE; and how many were looked at. */
static uint32_t counters_find(const gh_counters* self, gh_str name, uint32_t* walked)
{
    uint32_t index = *counters_chain(self, name);
    for (*walked = 0; index != GH_COUNTERS_NONE && *walked < COUNTERS_CHAIN_MAX; (*walked)++)
    {
        if (gh_str_equal(counters_name_of(&self->slots[index]), name)) return index;
        index = self->slots[index].next_named;
    }
    return GH_COUNTERS_NONE;
}

static void counters_take_slot(gh_counters* self, uint32_t index, gh_str name)
{
    gh_counters_slot* slot = &self->slots[index];
    uint32_t* chain = counters_chain(self, name);
    self->free_first = slot->next_named;
    memcpy(slot->name, name.bytes, name.size);
    slot->name_size = (uint8_t)name.size;
    slot->shard = (uint8_t)gh_hash_shard(name.bytes, name.size, GH_COUNTERS_SHARDS);
    slot->flags = GH_COUNTER_OPEN;
    slot->at_s = 0;
    slot->dated = GH_COUNTERS_NONE;
    slot->next_named = *chain;
    *chain = index;
    self->stats.open++;
}

gh_status gh_counters_open(gh_counters* counters, gh_str name, gh_counter* counter)
{
    uint32_t walked;
    uint32_t index;
    if (counter != NULL) counter->index = counter->generation = 0;
    if (!gh_counters_are_valid(counters)) return GH_INVALID_COUNTERS;
    if (counter == NULL) return gh_op_refused_call(&counters->control, GH_INVALID_OUT);
    if (!gh_name_is_valid(name)) return gh_op_refused_call(&counters->control, GH_INVALID_NAME);
    if (counters->ending) return GH_CLOSED;
    index = counters_find(counters, name, &walked);
    if (index == GH_COUNTERS_NONE)
    {
        index = counters->free_first;
        if (index == GH_COUNTERS_NONE || walked == COUNTERS_CHAIN_MAX) return GH_FULL;
        counters_take_slot(counters, index, name);
    }
    counter->index = index;
    counter->generation = counters->slots[index].generation;
    return GH_OK;
}

/* Its place is free again once nothing of it waits. */
void gh_counters_free_slot(gh_counters* counters, uint32_t index)
{
    gh_counters_slot* slot = &counters->slots[index];
    if (slot->flags != 0) return;
    slot->next_named = counters->free_first;
    counters->free_first = index;
}

gh_counters_slot* gh_counters_slot_of(const gh_counters* counters, gh_counter counter)
{
    gh_counters_slot* slot;
    if (counter.index >= counters->config.counters_max) return NULL;
    slot = &counters->slots[counter.index];
    return slot->generation == counter.generation && (slot->flags & GH_COUNTER_OPEN) != 0 ? slot : NULL;
}

gh_status gh_counters_close(gh_counters* counters, gh_counter counter)
{
    gh_counters_slot* slot;
    uint32_t* link;
    if (!gh_counters_are_valid(counters)) return GH_INVALID_COUNTERS;
    slot = gh_counters_slot_of(counters, counter);
    if (slot == NULL) return gh_op_refused_call(&counters->control, GH_INVALID_COUNTER);
    link = counters_chain(counters, counters_name_of(slot));
    while (*link != counter.index && *link != GH_COUNTERS_NONE) link = &counters->slots[*link].next_named;
    if (*link == counter.index) *link = slot->next_named;
    slot->generation = slot->generation == UINT32_MAX ? 1 : slot->generation + 1;
    slot->flags &= (uint8_t)~GH_COUNTER_OPEN;
    counters->stats.open--;
    gh_counters_free_slot(counters, counter.index);
    return GH_OK;
}

/* ---- adds ---------------------------------------------------------------------------------------------- */

/* Puts the slot into the row of its shard. */
void gh_counters_mark_dirty(gh_counters* counters, uint32_t index, uint64_t added_us)
{
    gh_counters_slot* slot = &counters->slots[index];
    gh_counters_shard* shard = &counters->shards[slot->shard];
    if ((slot->flags & GH_COUNTER_DIRTY) != 0) return;
    slot->flags |= GH_COUNTER_DIRTY;
    slot->next_dirty = GH_COUNTERS_NONE;
    if (shard->first == GH_COUNTERS_NONE)
    {
        shard->first = index;
        shard->first_us = shard->last_us = added_us;
    }
    else
    {
        counters->slots[shard->last].next_dirty = index;
    }
    shard->last = index;
    counters->dirty |= 1ull << slot->shard;
    gh_counters_arm(counters);
}

/* To what waits in a place. */
gh_status gh_counters_add_to(gh_counters* counters, uint32_t index, int64_t delta)
{
    gh_counters_slot* slot = &counters->slots[index];
    uint64_t now_us = gh_client_now(counters->control.client);
    if ((slot->flags & GH_COUNTER_DIRTY) == 0) gh_counters_mark_dirty(counters, index, now_us);
    counters->shards[slot->shard].last_us = now_us;
    counters->stats.added++;
    slot->live_adds++;
    if (delta <= GH_COUNTERS_SUM_MAX - slot->live && delta >= -GH_COUNTERS_SUM_MAX - slot->live)
    {
        slot->live += delta;
        return GH_OK;
    }
    slot->live = delta > 0 ? GH_COUNTERS_SUM_MAX : -GH_COUNTERS_SUM_MAX;
    counters->stats.saturated++;
    return GH_SATURATED;
}

gh_status gh_counters_add(gh_counters* counters, gh_counter counter, int64_t delta)
{
    if (!gh_counters_are_valid(counters)) return GH_INVALID_COUNTERS;
    if (counter.generation == 0 || counters->ending)
    {
        counters->stats.dropped++;
        return counters->ending ? GH_CLOSED : GH_FULL;
    }
    if (gh_counters_slot_of(counters, counter) == NULL)
        return gh_op_refused_call(&counters->control, GH_INVALID_COUNTER);
    return delta == 0 ? GH_OK : gh_counters_add_to(counters, counter.index, delta);
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

void gh_counters_end_if_over(gh_counters* counters)
{
    if (!counters->ending || counters->ended != GH_PENDING) return;
    if ((counters->dirty | counters->busy) == 0 && counters->cleaning.over) counters_end_ops(counters, GH_IDLE);
}

void gh_counters_end(gh_counters* counters)
{
    if (!gh_counters_are_valid(counters) || counters->ending) return;
    counters->ending = true;
    gh_counters_clean_end(counters);
    gh_counters_flush(counters);
    gh_counters_end_if_over(counters);
}

/* The client closes: what has no answer is lost, and counted as lost. */
void gh_counters_abandon(gh_counters* counters)
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
