/* counters_add.c -- what was added to each counter and has not been sent. */

#include "counters_state.h"

gh_counters_slot* gh_counters_slot_of(const gh_counters* counters, gh_counter counter)
{
    gh_counters_slot* slot;
    if (counter.index >= counters->config.counters_max) return NULL;
    slot = &counters->slots[counter.index];
    return slot->generation == counter.generation && (slot->flags & GH_COUNTER_OPEN) != 0 ? slot : NULL;
}

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
    gh_op_timer_after(&counters->control, gh_counters_pace_us(counters));
}

/* Puts the slot into the row of its shard. */
void gh_counters_mark_dirty(gh_counters* counters, uint32_t index, uint64_t added_us)
{
    gh_counters_slot* slot = &counters->slots[index];
    gh_counters_shard* shard = &counters->shards[slot->shard];
    if ((slot->flags & GH_COUNTER_DIRTY) != 0) return;
    slot->flags |= GH_COUNTER_DIRTY;
    slot->since = (uint32_t)(added_us >> 10);
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
