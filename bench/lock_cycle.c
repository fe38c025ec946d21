/* lock_cycle.c -- take a lock and give it back, 256 locks in flight on one link: how fast, and what it costs the client. */

#include "peer_hiredis.h"
#include "peer_replay.h"
#include "platform.h"

enum
{
    IN_FLIGHT = 256,
    NAME_SIZE = 24,
    COMMANDS_PER_CYCLE = 2
};

/* --- Guildhall ----------------------------------------------------------------------------------------------- */

typedef struct guildhall_side
{
    bench_client client;
    gh_lock locks[IN_FLIGHT];
    char names[IN_FLIGHT][NAME_SIZE];
    gh_lock_config config;
    uint64_t cycles;
    size_t busy;
    bool stopping;
    bool failed;
} guildhall_side;

static bool begin(guildhall_side* self, size_t i)
{
    gh_status status = gh_lock_begin(&self->locks[i], self->client.client, gh_str_of(self->names[i]), &self->config);
    if (status != GH_OK)
    {
        fprintf(stderr, "  gh_lock_begin: %s\n", gh_status_text(status));
        self->failed = true;
        return false;
    }
    self->busy++;
    return true;
}

/* True if the lock asks for another tick. */
static bool look_after(guildhall_side* self, size_t i)
{
    gh_status status = gh_lock_poll(&self->locks[i]);
    if (status == GH_PENDING)
    {
        return false;
    }
    if (status == GH_OK)
    {
        gh_lock_release(&self->locks[i]);
        return true;
    }
    if (status != GH_IDLE)
    {
        fprintf(stderr, "  lock %zu ended: %s\n", i, gh_status_text(status));
        self->failed = true;
        return false;
    }
    if (self->names[i][0] == 0)
    {
        return false;
    }
    self->busy--;
    self->cycles++;
    return !self->stopping && begin(self, i);
}

static bool run_guildhall(void* context, uint64_t duration_us, bench_sample* sample)
{
    guildhall_side* self = context;
    uint64_t end_us = bench_now_us() + duration_us;
    self->cycles = 0;
    self->stopping = false;
    for (size_t i = 0; i < IN_FLIGHT; i++)
    {
        begin(self, i);
    }
    while (self->busy > 0 && !self->failed)
    {
        uint64_t now_us = bench_now_us();
        bool again = false;
        self->stopping = now_us >= end_us;
        gh_tick(self->client.client, now_us, 0);
        for (size_t i = 0; i < IN_FLIGHT; i++)
        {
            again |= look_after(self, i);
        }
        if (!again)
        {
            bench_client_wait(&self->client, 1000);
        }
    }
    sample->cycles = (double)self->cycles;
    return !self->failed;
}

/* --- redis-benchmark ----------------------------------------------------------------------------------------- */

typedef struct ceiling_side
{
    bench* owner;
    bench_lock_scripts scripts;
    double acquire_per_s; /* of the last run: how many requests fill a round */
    double release_per_s;
} ceiling_side;

static uint64_t requests_for(double rate, uint64_t duration_us)
{
    double count = rate <= 0.0 ? 20000.0 : rate * (double)duration_us / 2e6;
    return count < 2000.0 ? 2000u : (uint64_t)count;
}

/* The lease of 0 lets the next acquire, with another token, be granted at once: the same path as in a real cycle.
   A release can be real only once, so the ones after it answer "released before", which is less work for the server. */
static bool run_ceiling(void* context, uint64_t duration_us, bench_sample* sample)
{
    static const char* const keys[] = {"gh:{lock:ceiling}:s", "gh:{lock:ceiling}:q", "gh:{lock:ceiling}:c"};
    ceiling_side* self = context;
    const char* acquire[] = {"EVALSHA", self->scripts.acquire, "3", keys[0], keys[1], keys[2],
                             "5c5c5c5c5c5c5c5c:0000__rand_int__", "4096", "0", "15000000", "200000", "0", "0"};
    const char* release[] = {"EVALSHA", self->scripts.release, "3", keys[0], keys[1], keys[2],
                             "5c5c5c5c5c5c5c5c:0000000000000001", "4096", "200000"};
    self->acquire_per_s = bench_redis_benchmark(self->owner, IN_FLIGHT, requests_for(self->acquire_per_s, duration_us),
                                                1000000000u, acquire, sizeof acquire / sizeof acquire[0]);
    self->release_per_s = bench_redis_benchmark(self->owner, IN_FLIGHT, requests_for(self->release_per_s, duration_us),
                                                0, release, sizeof release / sizeof release[0]);
    if (self->acquire_per_s <= 0.0 || self->release_per_s <= 0.0)
    {
        fprintf(stderr, "  redis-benchmark gave no figure\n");
        return false;
    }
    sample->cycles = 1.0;
    sample->wall_us = 1e6 / self->acquire_per_s + 1e6 / self->release_per_s;
    return true;
}

static double one_line_script_per_s(bench* self)
{
    char digest[41];
    const char* arguments[] = {"EVALSHA", digest, "0"};
    double best = 0.0;
    if (!bench_server_load_text(self, "return 1", digest))
    {
        return 0.0;
    }
    for (int i = 0; i < 3; i++)
    {
        double rate = bench_redis_benchmark(self, IN_FLIGHT, self->options.quick ? 150000 : 500000, 0, arguments, 3);
        best = rate > best ? rate : best;
    }
    return best;
}

/* --- figures ------------------------------------------------------------------------------------------------- */

static double user_ns(const bench_sample* sample)
{
    return sample->user_us * 1e3 / (sample->cycles * COMMANDS_PER_CYCLE);
}

static double outside_ns(const bench_sample* sample)
{
    return sample->outside_us * 1e3 / (sample->cycles * COMMANDS_PER_CYCLE);
}

static double kernel_calls(const bench_sample* sample)
{
    return sample->kernel_calls / (sample->cycles * COMMANDS_PER_CYCLE);
}

static double server_us(const bench_sample* sample)
{
    return sample->evalsha_us / sample->cycles;
}

static double requests(const bench_sample* sample)
{
    return sample->evalsha_calls / sample->cycles;
}

enum
{
    GUILDHALL,
    CEILING,
    REPLAY,
    ASYNCHRONOUS,
    SYNCHRONOUS,
    SIDES
};

static void compare(bench* self, const bench_side* sides, size_t peer, const char* name, const char* unit,
                    double (*value)(const bench_sample* sample), bench_goal_kind kind, double goal, const char* note)
{
    bench_figure figure = bench_figure_make(name, unit);
    figure.ours = bench_side_series(&sides[GUILDHALL], value);
    if (peer != GUILDHALL)
    {
        bench_figure_peer(&figure, &sides[peer], value);
    }
    bench_figure_goal(&figure, kind, goal);
    bench_figure_note(&figure, "%s", note);
    bench_report(self, &figure);
}

static void report_speed(bench* self, const bench_side* sides)
{
    compare(self, sides, CEILING, "256 in flight", "cycles/s", bench_cycles_per_s, BENCH_RATIO_AT_LEAST, 0.95,
            "peer: 1 / (1/acquires per s + 1/releases per s), -c 1 -P 256; its releases are repeats, so cheaper than real");
    compare(self, sides, REPLAY, "the same", "cycles/s", bench_cycles_per_s, BENCH_NO_GOAL, 0.0,
            "peer: real cycles encoded beforehand, 256 requests in flight, answers only counted: all the server has");
    compare(self, sides, ASYNCHRONOUS, "the same", "cycles/s", bench_cycles_per_s, BENCH_NO_GOAL, 0.0,
            "peer: redisAsyncCommandArgv, 256 locks in flight");
    compare(self, sides, SYNCHRONOUS, "the same", "cycles/s", bench_cycles_per_s, BENCH_NO_GOAL, 0.0,
            "peer: redisCommandArgv, one request at a time: what a blocking client gets on one connection");

    bench_figure figure = bench_figure_make("256 in flight, absolute", "cycles/s");
    double one_line = bench_redis_benchmark_installed() ? one_line_script_per_s(self) : 0.0;
    figure.ours = bench_side_series(&sides[GUILDHALL], bench_cycles_per_s);
    bench_figure_goal(&figure, BENCH_VALUE_AT_LEAST, 90000.0);
    bench_figure_note(&figure, "holds where the server does 500,000/s of EVALSHA \"return 1\"; here it does %.0f/s", one_line);
    if (one_line < 500000.0)
    {
        snprintf(figure.goal_moot, sizeof figure.goal_moot, "this server does %.0f/s of a one-line script", one_line);
    }
    bench_report(self, &figure);
}

static void report_cost(bench* self, const bench_side* sides)
{
    compare(self, sides, ASYNCHRONOUS, "client CPU (user)", "ns/command", user_ns, BENCH_RATIO_AT_MOST, 1.0 / 8.0,
            "getrusage; the kernel samples it at its tick, so short rounds are coarse. All of the process: begin, tick, poll");
    if (bench_side_series(&sides[GUILDHALL], kernel_calls).count > 0 &&
        sides[GUILDHALL].samples[0].kernel_calls > 0.0)
    {
        compare(self, sides, ASYNCHRONOUS, "client CPU outside the kernel", "ns/command", outside_ns,
                BENCH_RATIO_AT_MOST, 1.0 / 8.0,
                "CPU clock of the process less the time in send, receive and poll: the same, finer");
        compare(self, sides, SYNCHRONOUS, "the same", "ns/command", outside_ns, BENCH_NO_GOAL, 0.0,
                "peer: redisCommandArgv, one request at a time");
        compare(self, sides, ASYNCHRONOUS, "system calls", "/command", kernel_calls, BENCH_NO_GOAL, 0.0,
                "send, receive and poll");
    }
    compare(self, sides, REPLAY, "server time", "us/cycle", server_us, BENCH_NO_GOAL, 0.0,
            "time in evalsha by INFO commandstats, parsing and sockets apart");
    compare(self, sides, GUILDHALL, "requests", "/cycle", requests, BENCH_NO_GOAL, 0.0,
            "evalsha calls by INFO commandstats; 2 are needed");
}

static bool open_guildhall(bench* self, guildhall_side* side)
{
    gh_client_config config = bench_client_config(self);
    side->config = gh_lock_config_default();
    for (size_t i = 0; i < IN_FLIGHT; i++)
    {
        snprintf(side->names[i], sizeof side->names[i], "cycle_%zu", i);
    }
    return bench_client_open(&side->client, &config, gh_platform_default());
}

void bench_lock_cycle(bench* self)
{
    static guildhall_side guildhall;
    memset(&guildhall, 0, sizeof guildhall);
    ceiling_side ceiling;
    memset(&ceiling, 0, sizeof ceiling);
    ceiling.owner = self;
    if (!bench_lock_scripts_load(self, &ceiling.scripts) || !open_guildhall(self, &guildhall))
    {
        bench_report_remark(self, "not measured, see stderr");
        return;
    }
    struct bench_replay* replay = bench_replay_open(self, &ceiling.scripts, IN_FLIGHT);
    struct bench_hiredis_async* asynchronous = bench_hiredis_async_open(self, &ceiling.scripts, IN_FLIGHT);
    struct bench_hiredis_sync* synchronous = bench_hiredis_sync_open(self, &ceiling.scripts);

    bench_side sides[SIDES] = {
        {.name = "Guildhall", .run = run_guildhall, .context = &guildhall},
        {.name = "redis-benchmark", .run = run_ceiling, .context = &ceiling},
        {.name = "replay", .run = bench_replay_run, .context = replay},
        {.name = "hiredis async", .run = bench_hiredis_async_run, .context = asynchronous},
        {.name = "hiredis sync", .run = bench_hiredis_sync_run, .context = synchronous},
    };
    sides[CEILING].missing = bench_redis_benchmark_installed() ? NULL : "not installed (package redis-tools)";
    sides[REPLAY].missing = replay != NULL ? NULL : "needs a unix socket";
    sides[ASYNCHRONOUS].missing = asynchronous != NULL ? NULL : "could not connect";
    sides[SYNCHRONOUS].missing = synchronous != NULL ? NULL : "could not connect";
    bench_alternate(self, sides, SIDES);
    report_speed(self, sides);
    report_cost(self, sides);

    bench_hiredis_sync_close(synchronous);
    bench_hiredis_async_close(asynchronous);
    bench_replay_close(replay);
    bench_client_close(&guildhall.client);
}
