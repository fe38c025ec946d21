/* counters_slots.c -- slots: the names that are open. */

#include "base/hash.h"
#include "counters_state.h"
#include "wire/name.h"

#define COUNTERS_CHAIN_MAX 64u /* slots that one look-up walks: more that collide is no accident */

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
