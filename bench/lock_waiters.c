/* lock_waiters.c -- 10, 1,000 and 10,000 who want one lock: what a grant costs the store, how long the lock
   lies idle between two owners, and how many owners it has in a second; against the listing's way, which is
   to ask every millisecond. */

#include "peers/peer_polling.h"
#include "harness/waiters.h"

enum
{
    CLIENTS = 10, /* of which three die: 2, 5 and 8, so that no two stand behind one another */
    SETTLE_US = 50 * 1000,
    POLLING_MIN_US = 1000 * 1000,
    DRAIN_WITHIN_US = 20 * 1000 * 1000
};

static const double gap_goal_ms = 500.0; /* two claim windows of 200 ms, and a poll of 100 ms */

typedef struct crowd_side
{
    bench* owner;
    size_t count;
} crowd_side;

static void move_until(bench_waiters* waiters, uint64_t end_us)
{
    while (!waiters->failed && bench_now_us() < end_us)
    {
        bench_waiters_move(waiters);
    }
}

/* Everybody alive, and who has let go wants it again: the crowd stays as large as it is. */
static bool run_alive(void* context, uint64_t duration_us, bench_sample* sample)
{
    crowd_side* self = context;
    bench_waiters waiters;
    bool good = bench_waiters_open(self->owner, &waiters, self->count, 1) && bench_waiters_queue(&waiters);
    if (good)
    {
        waiters.again = true;
        bench_waiters_start(&waiters);
        move_until(&waiters, bench_now_us() + SETTLE_US);

        uint64_t calls = bench_server_evalsha(self->owner->server).calls;
        uint64_t begun_us = bench_now_us();
        waiters.grants = waiters.heartbeats = waiters.worst_gap_us = 0;
        move_until(&waiters, begun_us + duration_us);
        sample->wall_us = (double)(bench_now_us() - begun_us);
        sample->evalsha_calls = (double)(bench_server_evalsha(self->owner->server).calls - calls);
        sample->cycles = (double)waiters.grants;
        sample->heartbeats = (double)waiters.heartbeats;
        sample->worst_us = (double)waiters.worst_gap_us;
    }
    good = good && !waiters.failed;
    bench_waiters_close(&waiters);
    return good;
}

/* Three of ten clients die in the queue; the others get the lock once each. All calls count, from the first
   "I want it" to the last release: those of the dead too. */
static bool run_dead(void* context, uint64_t duration_us, bench_sample* sample)
{
    static const size_t dead[] = {2, 5, 8};
    crowd_side* self = context;
    bench_waiters waiters;
    (void)duration_us;
    bool good = bench_waiters_open(self->owner, &waiters, self->count, CLIENTS);
    uint64_t calls = bench_server_evalsha(self->owner->server).calls;
    if (good && bench_waiters_queue(&waiters))
    {
        uint64_t alive = self->count - self->count / CLIENTS * (sizeof dead / sizeof dead[0]);
        uint64_t begun_us = bench_now_us();
        for (size_t i = 0; i < sizeof dead / sizeof dead[0]; i++)
        {
            bench_waiters_kill(&waiters, dead[i]);
        }
        bench_waiters_start(&waiters);
        while (waiters.grants < alive && !waiters.failed && bench_now_us() < begun_us + DRAIN_WITHIN_US)
        {
            bench_waiters_move(&waiters);
        }
        good = waiters.grants == alive;
        if (!good)
        {
            fprintf(stderr, "  %llu of %llu living waiters got the lock\n", (unsigned long long)waiters.grants,
                    (unsigned long long)alive);
        }
        bench_waiters_move(&waiters); /* the last release goes out, and its call is counted */
        sample->wall_us = (double)(bench_now_us() - begun_us);
        sample->evalsha_calls = (double)(bench_server_evalsha(self->owner->server).calls - calls);
        sample->cycles = (double)waiters.grants;
        sample->heartbeats = (double)waiters.heartbeats;
        sample->worst_us = (double)waiters.worst_gap_us;
    }
    good = good && !waiters.failed && sample->cycles > 0.0;
    bench_waiters_close(&waiters);
    return good;
}

static bool run_polling(void* context, uint64_t duration_us, bench_sample* sample)
{
    crowd_side* self = context;
    /* A large crowd that polls has so few grants that it needs time to show them. */
    uint64_t least_us = self->owner->options.quick ? POLLING_MIN_US / 3 : POLLING_MIN_US;
    uint64_t long_us = duration_us < least_us ? least_us : duration_us;
    return bench_polling_run(self->owner, self->count, long_us, sample);
}

/* --- figures -------------------------------------------------------------------------------------------- */

static double calls_per_grant(const bench_sample* sample)
{
    return (sample->evalsha_calls - sample->heartbeats) / sample->cycles;
}

static double worst_ms(const bench_sample* sample)
{
    return sample->worst_us / 1e3;
}

enum
{
    ALIVE,
    DEAD,
    POLLING,
    SIDES
};

static void report_one(bench* self, size_t count, const char* what, const char* unit, const bench_side* side,
                       double (*value)(const bench_sample* sample), bench_goal_kind kind, double goal, const char* note)
{
    char name[64];
    snprintf(name, sizeof name, "%zu waiters: %s", count, what);
    bench_figure figure = bench_figure_make(name, unit);
    figure.ours = bench_side_series(side, value);
    bench_figure_goal(&figure, kind, goal);
    bench_figure_note(&figure, "%s", note);
    bench_report(self, &figure);
}

static void report_rate(bench* self, size_t count, const bench_side* sides)
{
    char name[64];
    snprintf(name, sizeof name, "%zu waiters: grants", count);
    bench_figure figure = bench_figure_make(name, "/s");
    figure.ours = bench_side_series(&sides[ALIVE], bench_cycles_per_s);
    bench_figure_peer(&figure, &sides[POLLING], bench_cycles_per_s);
    bench_figure_goal(&figure, BENCH_RATIO_AT_LEAST, 50.0);
    bench_figure_note(&figure, "peer: SETNX every 1 ms, release by WATCH, GET, MULTI; in C, %zu connections",
                      bench_polling_connections(count));
    bench_figure_limit(&figure,
                       "a grant is a release, a hint and a claim, one after the other: two round trips at least, "
                       "and one of a PING alone takes %.0f us here; with few waiters polling finds the lock as fast",
                       bench_server_round_trip_us(self->server));
    bench_report(self, &figure);
}

static void report_all(bench* self, size_t count, const bench_side* sides)
{
    report_one(self, count, "evalsha calls", "/grant", &sides[ALIVE], calls_per_grant, BENCH_VALUE_AT_MOST, 3.2,
               "by INFO commandstats, heartbeats apart");
    report_one(self, count, "calls, 30 % dead", "/grant", &sides[DEAD], calls_per_grant, BENCH_VALUE_AT_MOST, 3.6,
               "the same from the first request to the last release; 3 of 10 clients die in the queue");
    report_one(self, count, "worst gap", "ms", &sides[ALIVE], worst_ms, BENCH_VALUE_AT_MOST, gap_goal_ms,
               "from a release to the next owner's knowing");
    report_one(self, count, "worst gap, 30 % dead", "ms", &sides[DEAD], worst_ms, BENCH_VALUE_AT_MOST, gap_goal_ms,
               "the goal is two claim windows and a poll");
    report_rate(self, count, sides);
}

void bench_lock_waiters(bench* self)
{
    static const size_t counts[] = {10, 1000, 10000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    {
        crowd_side crowd = {self, counts[i]};
        bench_side sides[SIDES] = {
            {.name = "Guildhall, all alive", .run = run_alive, .context = &crowd, .no_warm_up = true},
            {.name = "Guildhall, 30 % dead", .run = run_dead, .context = &crowd, .no_warm_up = true},
            {.name = "polling", .run = run_polling, .context = &crowd, .no_warm_up = true},
        };
        unsigned rounds = self->rounds;
        bench_progress(self, "%zu waiters", counts[i]);
        self->rounds = self->options.quick && counts[i] >= 1000 ? 1 : rounds; /* they take long to line up */
        bench_alternate(self, sides, SIDES);
        self->rounds = rounds;
        report_all(self, counts[i], sides);
    }
}
