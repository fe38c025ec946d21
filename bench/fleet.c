/* fleet.c -- a store of many servers beside one server, in the same run: what an op costs, what a tick costs in which
   nothing happens, and how large the client is. With --cluster or --sentinel of bench/run.sh; all other benches have
   one server, as their peers have. */

#include "guildhall/platform.h"
#include "harness/bench.h"

enum
{
    OPS = 64,        /* a tick             */
    OPS_WAITED = 16, /* for replicas, a tick */
    NAME_SIZE = 24,
    PAUSE_US = 300, /* until answers are looked for */
    IDLE_TICKS = 30,
    IDLE_SERIES = 9,
    FRAME_US = 16667,
    REST_TICKS = 200
};

typedef struct one_way
{
    bench_client client;
    int count; /* of ops a tick */
    gh_command ops[OPS];
    char names[OPS][NAME_SIZE];
    gh_str words[OPS][3];
} one_way;

static gh_client_config fleet_config(const bench* self)
{
    gh_client_config config = bench_client_config(self);
    config.address = gh_str_of(self->options.fleet);
    config.topology = gh_topology_cluster();
    if (self->options.sentinel != NULL)
    {
        config.topology = gh_topology_sentinel();
        config.sentinel_name = gh_str_of(self->options.sentinel);
    }
    return config;
}

static bool begin_all(one_way* way)
{
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE;
    for (int i = 0; i < way->count; i++)
    {
        if (gh_command_begin(&way->ops[i], way->client.client, way->words[i], 3, &config) != GH_OK)
        {
            return false;
        }
    }
    return true;
}

/* How many are not over; -1: one has failed. */
static int busy(const one_way* way)
{
    int count = 0;
    for (int i = 0; i < way->count; i++)
    {
        gh_status status = gh_op_poll(&way->ops[i].op);
        if (status < 0)
        {
            fprintf(stderr, "  SET %d ended: %s\n", i, gh_status_text(status));
            return -1;
        }
        count += status == GH_PENDING;
    }
    return count;
}

/* As a side's run. CPU is what begins and ticks took; sleeps between them are a game's own. */
static bool way_run(void* context, uint64_t duration_us, bench_sample* sample)
{
    one_way* way = context;
    uint64_t end_us = bench_now_us() + duration_us;
    uint64_t cpu_ns = 0;
    while (bench_now_us() < end_us)
    {
        uint64_t begun_ns = bench_thread_cpu_ns();
        if (!begin_all(way))
        {
            return false;
        }
        gh_tick(way->client.client, bench_now_us(), 0);
        cpu_ns += bench_thread_cpu_ns() - begun_ns;
        for (int left = way->count; left > 0;)
        {
            bench_sleep_us(PAUSE_US);
            begun_ns = bench_thread_cpu_ns();
            gh_tick(way->client.client, bench_now_us(), 0);
            cpu_ns += bench_thread_cpu_ns() - begun_ns;
            left = busy(way);
            if (left < 0)
            {
                return false;
            }
        }
        sample->cycles += (uint64_t)way->count;
    }
    sample->worst_us = (double)cpu_ns / 1e3; /* of this round; the side has no other use for it */
    return true;
}

static double ns_per_op(const bench_sample* sample)
{
    return sample->worst_us * 1e3 / sample->cycles;
}

static double ns_per_tick(const bench_sample* sample)
{
    return ns_per_op(sample) * OPS_WAITED;
}

static bool way_open(one_way* way, const gh_client_config* config, int count)
{
    way->count = count;
    for (int i = 0; i < count; i++)
    {
        snprintf(way->names[i], NAME_SIZE, "gh:value:%d", i);
        way->words[i][0] = gh_str_literal("SET");
        way->words[i][1] = gh_str_of(way->names[i]);
        way->words[i][2] =
            gh_str_literal("a value of a hundred bytes or so, which is what a game keeps of a player: name, "
                           "level, place, gold");
    }
    return bench_client_open(&way->client, config, gh_platform_default());
}

/* Each tick a frame later than the one before, and nothing asked. */
static bench_series idle_ns(one_way* way)
{
    bench_series series = {.count = 0};
    for (int i = 0; i < REST_TICKS; i++)
    {
        gh_tick(way->client.client, bench_now_us(), 0);
        bench_sleep_us(PAUSE_US);
    }
    for (int i = 0; i < IDLE_SERIES; i++)
    {
        uint64_t now_us = bench_now_us();
        uint64_t begun_ns = bench_thread_cpu_ns();
        for (int t = 0; t < IDLE_TICKS; t++)
        {
            gh_tick(way->client.client, now_us + (uint64_t)t * FRAME_US, 0);
        }
        bench_series_add(&series, (double)(bench_thread_cpu_ns() - begun_ns) / IDLE_TICKS);
        bench_sleep_us(IDLE_TICKS * FRAME_US); /* the clock of the client must not run ahead of the store's */
    }
    return series;
}

static void report_both(bench* self, const char* name, const char* unit, const bench_series* ours,
                        const bench_series* peer, double goal)
{
    bench_figure figure = bench_figure_make(name, unit);
    figure.ours = *ours;
    figure.peer = *peer;
    snprintf(figure.peer_name, sizeof figure.peer_name, "one server");
    bench_figure_goal(&figure, goal > 0.0 ? BENCH_RATIO_AT_MOST : BENCH_NO_GOAL, goal);
    bench_figure_note(&figure, "%s of %s; both on loopback, by TCP",
                      self->options.sentinel == NULL ? "masters" : "a master",
                      self->options.sentinel == NULL ? "a Cluster" : "three Sentinels");
    bench_report(self, &figure);
}

static void measure_both(bench* self, one_way ways[2])
{
    bench_side sides[2] = {{.name = "fleet", .run = way_run, .context = &ways[0]},
                           {.name = "one server", .run = way_run, .context = &ways[1]}};
    bench_alternate(self, sides, 2);
    bench_series ours = bench_side_series(&sides[0], ns_per_op);
    bench_series peer = bench_side_series(&sides[1], ns_per_op);
    report_both(self, "64 ops a tick", "ns/op", &ours, &peer, 1.4);
    ours = idle_ns(&ways[0]);
    peer = idle_ns(&ways[1]);
    report_both(self, "idle tick, a frame later each", "ns/tick", &ours, &peer, 0.0);
}

/* Both on the fleet. What waits goes over a second link of each node, and a WAIT behind it. */
static void measure_waits(bench* self, one_way ways[2])
{
    bench_side sides[2] = {{.name = "replicas waited for", .run = way_run, .context = &ways[0]},
                           {.name = "not waited for", .run = way_run, .context = &ways[1]}};
    bench_alternate(self, sides, 2);
    bench_series waited = bench_side_series(&sides[0], ns_per_tick);
    bench_series plain = bench_side_series(&sides[1], ns_per_tick);
    bench_figure figure = bench_figure_make("16 waits for a replica a tick, more", "ns/tick");
    for (size_t i = 0; i < waited.count && i < plain.count; i++)
    {
        bench_series_add(&figure.ours, waited.values[i] - plain.values[i]);
    }
    bool one_master = self->options.sentinel != NULL;
    bench_figure_goal(&figure, one_master ? BENCH_VALUE_AT_MOST : BENCH_NO_GOAL, one_master ? 20000.0 : 0.0);
    bench_figure_note(&figure, "CPU of begins and ticks, beside the same ops that do not wait; %s",
                      one_master ? "one WAIT" : "a WAIT for each master");
    bench_report(self, &figure);
}

static void report_memory(bench* self)
{
    static const struct
    {
        uint32_t nodes;
        double goal_kb;
    } rows[] = {{3, 400.0}, {32, 550.0}, {100, 850.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    {
        char name[48];
        gh_client_config config = bench_client_config(self);
        config.topology = gh_topology_cluster();
        config.nodes_capacity = rows[i].nodes;
        snprintf(name, sizeof name, "client of a Cluster, %u nodes", rows[i].nodes);
        bench_figure figure = bench_figure_of(name, "bytes", (double)gh_client_memory(&config));
        bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, rows[i].goal_kb * 1000.0);
        bench_figure_note(&figure, "gh_client_memory, defaults but for nodes_capacity");
        bench_report(self, &figure);
    }
}

static void measure_pair(bench* self, const gh_client_config configs[2], int count,
                         void (*measure)(bench* self, one_way ways[2]))
{
    static one_way ways[2];
    bool good = way_open(&ways[0], &configs[0], count);
    good = good && way_open(&ways[1], &configs[1], count);
    if (good)
    {
        measure(self, ways);
    }
    else
    {
        bench_report_gap(self, "not measured, see stderr");
    }
    for (int i = 0; i < 2; i++)
    {
        bench_client_close(&ways[i].client);
    }
}

void bench_fleet(bench* self)
{
    report_memory(self);
    if (self->options.fleet == NULL)
    {
        return; /* there is one server */
    }
    gh_client_config configs[2] = {fleet_config(self), bench_client_config(self)};
    measure_pair(self, configs, OPS, measure_both);
    configs[0] = configs[1] = fleet_config(self);
    configs[0].replicas = gh_replicas_wait();
    configs[0].wait_replicas = 1;
    measure_pair(self, configs, OPS_WAITED, measure_waits);
}
