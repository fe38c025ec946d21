/* campaign.h -- many runs. Each process does some, one after the other, and begins as a copy of one in which all is
   prepared; where one dies, the next one goes on behind the run that ended it. */

#ifndef GUILDHALL_TESTS_SIMULATOR_CAMPAIGN_H
#define GUILDHALL_TESTS_SIMULATOR_CAMPAIGN_H

#include "simulator/schedule.h"

typedef struct campaign_sum
{
    uint64_t runs;
    uint64_t failed;
    uint64_t ops;
    uint64_t faults;
    uint64_t requests;
    uint64_t virtual_us;
    uint64_t digest; /* of all runs: the sum of each one's times (2 * seed + 1) */
} campaign_sum;

/* One run in a process of its own. What breaks it is in result->promise: also a crash, and a run that does not end. */
void campaign_one(const schedule_wish* wish, schedule_result* result);

/* The seeds first .. last, so many at once. Each that fails is told to that function, when nothing else runs; without
   it, no other is begun once one has failed. */
campaign_sum campaign_run(const schedule_wish* wish, uint64_t first, uint64_t last, unsigned jobs,
                          void (*failed)(const schedule_wish* wish, const schedule_result* result));

/* Of the last campaign, the smallest seed that failed, and how: however many ran at once, it is the same. 0: none. */
uint64_t campaign_smallest_failed(const schedule_result** result);

#endif
