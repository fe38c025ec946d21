/* permits.c -- permits of a semaphore: taken and given back, and refreshed in batches of 50. */

#include "harness/crew.h"
#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    FEW = 256,
    MANY = 2560,
    LIMIT = 4000,
    BATCH = 50,
    QUIET_WITHIN_US = 20 * 1000 * 1000
};

static const uint64_t refreshed_lease_us = GH_SEMAPHORE_LEASE_MAX_US;

/* --- taking and giving back ----------------------------------------------------------------------------- */

typedef struct cycle_side
{
    bench_crew crew;
    gh_permit* permits;
    gh_semaphore arena;
    gh_permit_config config;
} cycle_side;

static bool begin(bench_crew* crew, size_t i)
{
    cycle_side* self = crew->context;
    gh_status status = gh_permit_begin(&self->permits[i], &self->arena, &self->config);
    return status == GH_OK || bench_crew_complain("gh_permit_begin", i, status) != BENCH_STEP_FAILED;
}

static gh_status poll_permit(const bench_crew* crew, size_t i)
{
    const cycle_side* self = crew->context;
    return gh_op_poll(&self->permits[i].op);
}

static bench_step look(bench_crew* crew, size_t i, gh_status status)
{
    cycle_side* self = crew->context;
    if (status == GH_HELD)
    {
        gh_permit_release(&self->permits[i]);
        return BENCH_STEP_GOES_ON;
    }
    return status == GH_OK ? BENCH_STEP_OVER : bench_crew_complain("permit", i, status);
}

static bool open_cycle(bench* self, cycle_side* side, size_t count)
{
    gh_semaphore_config limits = gh_semaphore_config_default();
    gh_client_config config = bench_client_config(self);
    config.ops_capacity = (uint32_t)count + 16;
    memset(side, 0, sizeof *side);
    side->permits = calloc(count, sizeof *side->permits);
    side->config = gh_permit_config_default();
    side->config.wait_us = 60u * 1000u * 1000u;
    side->crew = (bench_crew){.owner = self, .count = count, .weight = 1.0, .context = side};
    side->crew.begin = begin;
    side->crew.poll = poll_permit;
    side->crew.look = look;
    limits.limit = LIMIT;
    return side->permits != NULL && bench_client_open(&side->crew.client, &config, gh_platform_default()) &&
           gh_semaphore_init(&side->arena, side->crew.client.client, gh_str_literal("arena"), &limits) == GH_OK;
}

static void close_cycle(cycle_side* side)
{
    bench_client_close(&side->crew.client);
    free(side->permits);
}

static void measure_cycles(bench* self)
{
    static cycle_side few;
    static cycle_side many;
    bench_asked_side listing = {self, BENCH_PEER_PYTHON, "permit"};
    bool good = open_cycle(self, &few, FEW);
    if (good && open_cycle(self, &many, MANY))
    {
        bench_side sides[] = {
            {.name = "Guildhall, 256 at once", .run = bench_crew_run, .context = &few.crew},
            {.name = "Guildhall, 2,560 at once", .run = bench_crew_run, .context = &many.crew},
            {.name = "listing (Python)", .run = bench_asked_run, .context = &listing},
        };
        sides[2].missing = bench_peer_missing(self, BENCH_PEER_PYTHON);
        sides[2].lacks = "an end to the race between two who ask at once; clocks that may differ; a queue";
        bench_alternate(self, sides, 3);
        bench_report_rate(self, &(bench_rate){"take and give back, 256 at once", "cycles", &sides[0], &sides[2], 10.0,
                                              "one semaphore; 2 requests a cycle; peer: one at a time"});
        bench_report_slope(self, "the same, 2,560 at once", "cycles", &sides[1], &sides[0]);
        close_cycle(&many);
    }
    else
    {
        bench_report_gap(self, "cycles were not measured, see stderr");
    }
    if (good)
    {
        close_cycle(&few);
    }
}

/* --- refreshing -----------------------------------------------------------------------------------------

   The client is told that a third of the lease has gone by; then all groups refresh at once. The store's
   clock knows nothing of it, and the lease there is an hour. */

typedef struct refresh_side
{
    bench* owner;
    bench_client client;
    size_t groups;
    gh_permit* permits; /* BATCH of each group */
    char (*names)[40];
    uint64_t ahead_us; /* of the real clock   */
} refresh_side;

static uint64_t refresh_now_us(const refresh_side* self)
{
    return bench_now_us() + self->ahead_us;
}

/* Ticks until nothing is on its way; false: it did not come to that. */
static bool settle(refresh_side* self)
{
    uint64_t give_up_us = bench_now_us() + QUIET_WITHIN_US;
    gh_client_stats stats;
    do
    {
        gh_tick(self->client.client, refresh_now_us(self), 0);
        gh_client_get_stats(self->client.client, &stats);
        if (stats.requests_sent + stats.requests_waiting > 0)
        {
            bench_clients_wait(&self->client, 1, 1000);
        }
    } while (stats.requests_sent + stats.requests_waiting > 0 && bench_now_us() < give_up_us);
    return stats.requests_sent + stats.requests_waiting == 0;
}

static bool all_held(const refresh_side* self)
{
    for (size_t i = 0; i < self->groups * BATCH; i++)
    {
        if (gh_op_poll(&self->permits[i].op) != GH_HELD)
        {
            fprintf(stderr, "  permit %zu: %s\n", i, gh_status_text(gh_op_poll(&self->permits[i].op)));
            return false;
        }
    }
    return true;
}

static bool run_refresh(void* context, uint64_t duration_us, bench_sample* sample)
{
    refresh_side* self = context;
    uint64_t end_us = bench_now_us() + duration_us;
    double refreshed = 0.0;
    bool good = true;
    gh_tick(self->client.client, refresh_now_us(self), 0);
    bench_heap_begin();
    while (good && bench_now_us() < end_us)
    {
        self->ahead_us += refreshed_lease_us / 3 + 1000000;
        good = settle(self);
        refreshed += (double)(self->groups * BATCH);
    }
    sample->heap_calls = (double)bench_heap_end();
    sample->cycles = refreshed;
    return good && all_held(self);
}

static bool open_refresh(bench* self, refresh_side* side, size_t groups)
{
    gh_client_config config = bench_client_config(self);
    gh_semaphore_config limits = gh_semaphore_config_default();
    gh_permit_config want = gh_permit_config_default();
    memset(side, 0, sizeof *side);
    config.ops_capacity = (uint32_t)(groups * BATCH) + 16;
    limits.limit = BATCH;
    want.lease_us = refreshed_lease_us;
    want.wait_us = 60u * 1000u * 1000u;
    side->owner = self;
    side->groups = groups;
    side->permits = calloc(groups * BATCH, sizeof *side->permits);
    side->names = calloc(groups, sizeof *side->names);
    if (side->permits == NULL || side->names == NULL ||
        !bench_client_open(&side->client, &config, gh_platform_default()))
    {
        return false;
    }
    for (size_t i = 0; i < groups * BATCH; i++)
    {
        char* name = side->names[i / BATCH];
        snprintf(name, sizeof side->names[0], "group_%zu_%zu", groups, i / BATCH);
        gh_semaphore group;
        gh_semaphore_init(&group, side->client.client, gh_str_of(name), &limits);
        gh_permit_begin(&side->permits[i], &group, &want);
    }
    return settle(side) && all_held(side);
}

static void close_refresh(refresh_side* side)
{
    bench_client_close(&side->client);
    free(side->permits);
    free(side->names);
}

static double per_request(const bench_sample* sample)
{
    return sample->cycles / sample->evalsha_calls;
}

static void report_refresh(bench* self, const bench_side* sides)
{
    bench_report_rate(self, &(bench_rate){"refresh, 100 groups of 50", "permits", &sides[0], &sides[2], 10.0,
                                          "a third of the lease goes by again and again, by the client's clock"});
    bench_figure figure = bench_figure_make("refresh, absolute", "permits/s");
    figure.ours = bench_side_series(&sides[0], bench_cycles_per_s);
    bench_figure_goal(&figure, BENCH_VALUE_AT_LEAST, 500000.0);
    bench_figure_cost(&figure, &sides[0]);
    bench_figure_limit_by_cpu(&figure, &sides[0]);
    bench_report(self, &figure);
    bench_report_slope(self, "the same, 1,000 groups", "permits", &sides[1], &sides[0]);
    figure = bench_figure_make("permits in a request", "");
    figure.ours = bench_side_series(&sides[0], per_request);
    bench_report(self, &figure);
}

static void measure_refresh(bench* self)
{
    refresh_side few;
    refresh_side many;
    bench_asked_side listing = {self, BENCH_PEER_PYTHON, "refresh"};
    bool good = open_refresh(self, &few, 100);
    bool good_many = good && open_refresh(self, &many, 1000);
    if (good_many)
    {
        bench_side sides[] = {
            {.name = "Guildhall, 100 groups", .run = run_refresh, .context = &few},
            {.name = "Guildhall, 1,000 groups", .run = run_refresh, .context = &many},
            {.name = "listing (Python)", .run = bench_asked_run, .context = &listing},
        };
        sides[2].missing = bench_peer_missing(self, BENCH_PEER_PYTHON);
        sides[2].lacks = "a refresh that never revives a permit which has run out in between";
        bench_alternate(self, sides, 3);
        report_refresh(self, sides);
        close_refresh(&many);
    }
    else
    {
        bench_report_gap(self, "refreshing was not measured, see stderr");
    }
    if (good)
    {
        close_refresh(&few);
    }
}

void bench_permits(bench* self)
{
    measure_cycles(self);
    measure_refresh(self);
}
