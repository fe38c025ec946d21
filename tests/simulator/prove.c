/* prove.c -- runs that must be the same, and runs that must fail. */

#include "simulator/prove.h"

#include "simulator/campaign.h"
#include "simulator/server.h"

#include <stdio.h>

enum
{
    SAME_SEEDS = 12,
    PLANTED_SEEDS = 200
};

static struct
{
    unsigned passed;
    unsigned failed;
} counts;

static void tell(bool good, const char* what)
{
    if (good) counts.passed++;
    else counts.failed++;
    printf("  %-6s %s\n", good ? "ok" : "FAILED", what);
}

static void run_seed(uint64_t seed, schedule_result* result)
{
    schedule_wish wish = {.seed = seed};
    campaign_one(&wish, result);
}

static void prove_same(void)
{
    bool same = true, different = true, lively = true;
    uint64_t last = 0, alone = 0;
    schedule_wish wish = {0};
    for (uint64_t seed = 1; seed <= SAME_SEEDS; seed++)
    {
        schedule_result first, second;
        run_seed(seed, &first);
        run_seed(seed, &second);
        same = same && first.digest == second.digest && first.records == second.records;
        different = different && first.digest != last;
        lively = lively && first.ops > 0 && first.requests > first.ops;
        last = first.digest;
        alone += first.digest * (seed * 2 + 1);
    }
    tell(same, "the same seed gives the same history, byte for byte");
    tell(campaign_run(&wish, 1, SAME_SEEDS, 1, NULL).digest == alone, "it does in a process that did others before");
    tell(different, "another seed gives another history");
    tell(lively, "in each there are ops, and requests of them");
}

/* What a script might forget, or do twice. */
static const struct
{
    server_plant plant;
    const char* system;
    const char* what;
} plants[] = {
    {{"lock_acquire", "redis.call('DEL', KEYS[1])"}, "lock", "a lock that forgets its owner is caught"},
    {{"semaphore_acquire", "redis.call('DEL', KEYS[1])"},
     "semaphore",
     "a semaphore that forgets its permits is caught"},
    {{"mailbox_push", "redis.call('DEL', KEYS[1])"}, "mailbox", "a mailbox that forgets its messages is caught"},
    {{"counters_flush", "redis.call('DEL', KEYS[1])"}, "counters", "a counter that begins anew is caught"},
};

static bool is_caught(const server_plant* plant, const char* system)
{
    schedule_result result = {0};
    server_set_plant(plant);
    for (uint64_t seed = 1; seed <= PLANTED_SEEDS && result.broken == 0; seed++)
    {
        schedule_wish wish = {.seed = seed, .systems = system};
        campaign_one(&wish, &result);
    }
    server_set_plant(NULL);
    return result.broken != 0;
}

unsigned prove(void)
{
    prove_same();
    for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++)
        tell(is_caught(&plants[i].plant, plants[i].system), plants[i].what);
    printf("%u passed, %u failed\n", counts.passed, counts.failed);
    return counts.failed;
}
