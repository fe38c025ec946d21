/* hold.c -- holds made of events, and what is true of fences and losses for locks and permits alike. */

#include "storm/hold.h"

#include "storm/storm.h"
#include "storm/verdict.h"

#include <stdlib.h>

enum
{
    LOOK_BACK = 50
};

/* For each op, its holds: one for each name that it wants. */
typedef struct hold_index
{
    uint32_t* of[2];
} hold_index;

static storm_hold* find(storm_hold* holds, const hold_index* index, const storm_record* event)
{
    for (int i = 0; i < 2; i++)
    {
        uint32_t at = index->of[i][event->about];
        if (at != 0 && holds[at - 1].name == event->object && holds[at - 1].fence == event->b) return &holds[at - 1];
    }
    return NULL;
}

static void add(storm_hold* hold, const storm_record* event, uint32_t index)
{
    const storm_record* op = history_at(event->about);
    hold->from_us = event->begin_us;
    hold->to_us = event->a;
    hold->fence = event->b;
    hold->op = event->about;
    hold->event = index;
    hold->name = event->object;
    hold->asked_us = op->begin_us;
    hold->permits = (uint32_t)op->d;
}

storm_hold* hold_gather(uint8_t system, size_t* count)
{
    size_t most = (size_t)history_count() + 1;
    storm_hold* holds = calloc(most, sizeof holds[0]);
    hold_index index = {{calloc(most, sizeof(uint32_t)), calloc(most, sizeof(uint32_t))}};
    if (holds == NULL || index.of[0] == NULL || index.of[1] == NULL) abort();
    uint32_t at = 0;
    *count = 0;
    for (const storm_record* r; (r = history_next(&at, system)) != NULL;)
    {
        if (r->what == HOLD_GRANTED)
        {
            int place = index.of[0][r->about] == 0 ? 0 : 1;
            add(&holds[(*count)++], r, at);
            index.of[place][r->about] = (uint32_t)*count;
        }
        storm_hold* hold = r->what == HOLD_LEASE || r->what == HOLD_OVER ? find(holds, &index, r) : NULL;
        if (hold == NULL) continue;
        if (r->what == HOLD_LEASE && r->begin_us <= hold->to_us) hold->to_us = r->a;
        if (r->what == HOLD_OVER && r->begin_us < hold->to_us) hold->to_us = r->begin_us;
    }
    free(index.of[0]);
    free(index.of[1]);
    return holds;
}

static int by_name_and_time(const void* left, const void* right)
{
    const storm_hold* x = left;
    const storm_hold* y = right;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return x->from_us < y->from_us ? -1 : x->from_us > y->from_us;
}

static int by_name_and_fence(const void* left, const void* right)
{
    const storm_hold* x = left;
    const storm_hold* y = right;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return x->fence < y->fence ? -1 : x->fence > y->fence;
}

void hold_sort_by_time(storm_hold* holds, size_t count)
{
    qsort(holds, count, sizeof holds[0], by_name_and_time);
}

void hold_sort_by_fence(storm_hold* holds, size_t count)
{
    qsort(holds, count, sizeof holds[0], by_name_and_fence);
}

const storm_hold* hold_of_fence(const storm_hold* holds, size_t count, uint8_t name, uint64_t fence)
{
    storm_hold wanted = {.name = name, .fence = fence};
    return bsearch(&wanted, holds, count, sizeof holds[0], by_name_and_fence);
}

/* Among the holds of one name, the one with the largest fence that was told before this one began to ask. */
static const storm_hold* largest_before(const storm_hold* first, const storm_hold* hold)
{
    const storm_hold* at = hold;
    const storm_hold* largest = NULL;
    while (at > first && at[-1].from_us >= hold->asked_us) at--;
    for (int i = 0; at > first && i < LOOK_BACK; i++)
    {
        at--;
        if (largest == NULL || at->fence > largest->fence) largest = at;
    }
    return largest;
}

void hold_check_fence_order(const storm_hold* holds, size_t count)
{
    size_t first = 0;
    for (size_t i = 0; i < count; i++)
    {
        if (holds[i].name != holds[first].name) first = i;
        const storm_hold* before = largest_before(&holds[first], &holds[i]);
        verdict_cases(1);
        if (before != NULL && before->fence >= holds[i].fence &&
            !excuse_clock_went_back_over_loss(before->asked_us, holds[i].from_us))
            VIOLATION_2(before->event, holds[i].event, "fences go back at name %u", holds[i].name);
    }
}

/* Both were asked at once. */
static bool may_be_of_two_masters(const storm_hold* x, const storm_hold* y)
{
    uint64_t from_us = x->asked_us > y->asked_us ? x->asked_us : y->asked_us;
    uint64_t to_us = x->from_us < y->from_us ? x->from_us : y->from_us;
    return excuse_two_masters(from_us, to_us);
}

void hold_check_fence_distinct(const storm_hold* holds, size_t count)
{
    verdict_cases(count);
    for (size_t i = 1; i < count; i++)
    {
        const storm_hold* x = &holds[i - 1];
        const storm_hold* y = &holds[i];
        uint64_t from_us = x->asked_us < y->asked_us ? x->asked_us : y->asked_us;
        uint64_t to_us = x->from_us > y->from_us ? x->from_us : y->from_us;
        if (x->name == y->name && x->fence == y->fence && !excuse_clock_went_back_over_loss(from_us, to_us) &&
            !may_be_of_two_masters(x, y))
            VIOLATION_2(x->event, y->event, "fence %llu twice", (unsigned long long)y->fence);
    }
}
