/* counters_dated.c -- adds at a given time.

   A batch has one time, so what was given a time waits in a place of its own, one a second and counter: it has the
   counter's name but no handle, and is free again when its batch is settled. */

#include "counters_state.h"

/* Nothing is kept of what was before this second; 0 while the store's clock is not known: its script sees to it. */
static uint64_t counters_oldest_s(const gh_counters* self)
{
    uint64_t now_s = gh_op_store_time(&self->control, gh_client_now(self->control.client)) / 1000000;
    uint64_t longest_s = 0;
    uint32_t i;
    for (i = 0; i < self->config.precision_count; i++)
    {
        const gh_counter_precision* precision = &self->config.precisions[i];
        uint64_t kept_s = (uint64_t)precision->seconds * precision->samples;
        if (kept_s > longest_s) longest_s = kept_s;
    }
    return now_s > longest_s ? now_s - longest_s : 0;
}

/* The place of that second, or GH_COUNTERS_NONE. That of the last add alone is looked at: logs are in order. */
static uint32_t counters_place_of(const gh_counters* self, const gh_counters_slot* slot, uint32_t at_s)
{
    const gh_counters_slot* place;
    if (slot->dated == GH_COUNTERS_NONE) return GH_COUNTERS_NONE;
    place = &self->slots[slot->dated];
    if (place->at_s != at_s || (place->flags & GH_COUNTER_DIRTY) == 0) return GH_COUNTERS_NONE;
    return gh_str_equal(gh_str_make(place->name, place->name_size), gh_str_make(slot->name, slot->name_size))
               ? slot->dated
               : GH_COUNTERS_NONE;
}

static uint32_t counters_take_place(gh_counters* self, gh_counters_slot* slot, uint32_t at_s)
{
    uint32_t index = self->free_first;
    gh_counters_slot* place;
    if (index == GH_COUNTERS_NONE) return index;
    place = &self->slots[index];
    self->free_first = place->next_named;
    memcpy(place->name, slot->name, slot->name_size);
    place->name_size = slot->name_size;
    place->shard = slot->shard;
    place->at_s = at_s;
    slot->dated = index;
    return index;
}

gh_status gh_counters_add_at(gh_counters* counters, gh_counter counter, int64_t delta, uint64_t time_store_us)
{
    uint64_t at_s = time_store_us / 1000000;
    gh_counters_slot* slot;
    uint32_t index;
    if (!gh_counters_are_valid(counters)) return GH_INVALID_COUNTERS;
    slot = gh_counters_slot_of(counters, counter);
    if (slot == NULL || counters->ending) return gh_counters_drop_add(counters, counter);
    if (at_s > UINT32_MAX) at_s = UINT32_MAX; /* later than now is now */
    if (at_s == 0 || at_s < counters_oldest_s(counters))
    {
        counters->stats.dropped++;
        return GH_GONE;
    }
    if (delta == 0) return GH_OK;
    index = counters_place_of(counters, slot, (uint32_t)at_s);
    if (index == GH_COUNTERS_NONE) index = counters_take_place(counters, slot, (uint32_t)at_s);
    return index == GH_COUNTERS_NONE ? GH_NO_ROOM : gh_counters_add_to(counters, index, delta);
}
