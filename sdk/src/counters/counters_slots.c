/* counters_slots.c -- slots: the names that are open, and what was added to each and has not been sent. */

#include "base/hash.h"
#include "counters_state.h"
#include "wire/name.h"

#define COUNTERS_CHAIN_MAX 64u /* slots that one look-up walks: more that collide is no accident */

/* ---- names ------------------------------------------------------------------------------------------------------ */

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

/* ---- adds -----------------------------------------------------------------------------------------------------------
 */

uint64_t gh_counters_pace_us(const gh_counters* counters)
{
    return counters->config.flush_us / GH_COUNTERS_SHARDS;
}

/* The round of the shards begins with the first that is dirty. */
static void counters_arm(gh_counters* counters)
{
    if (counters->armed || counters->ended != GH_PENDING) return;
    counters->armed = true;
    counters->visit_us = gh_client_now(counters->control.client);
    gh_op_timer(&counters->control, gh_client_after(counters->control.client, gh_counters_pace_us(counters)));
}

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
    counters_arm(counters);
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

gh_status gh_counters_drop_add(gh_counters* counters, gh_counter counter)
{
    if (counter.generation != 0 && !counters->ending) return gh_op_refused_call(&counters->control, GH_INVALID_COUNTER);
    counters->stats.dropped++;
    return counters->ending ? GH_CLOSED : GH_FULL;
}

gh_status gh_counters_add(gh_counters* counters, gh_counter counter, int64_t delta)
{
    if (!gh_counters_are_valid(counters)) return GH_INVALID_COUNTERS;
    if (counters->ending || gh_counters_slot_of(counters, counter) == NULL)
        return gh_counters_drop_add(counters, counter);
    return delta == 0 ? GH_OK : gh_counters_add_to(counters, counter.index, delta);
}
