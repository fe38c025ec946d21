/* lock_cycle.c -- take a lock and give it back, 256 and 2,560 locks in flight on one link: how fast, at what
   cost. */

#include "peers/peer_hiredis.h"
#include "peers/peer_hiredis_sync.h"
#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    IN_FLIGHT = 256,
    IN_FLIGHT_MANY = 2560,
    NAME_SIZE = 48,
    COMMANDS_PER_CYCLE = 2
};

/* --- Guildhall ------------------------------------------------------------------------------------------ */

typedef struct guildhall_side
{
    bench* owner;
    bench_client client;
    size_t count;
    gh_lock locks[IN_FLIGHT_MANY];
    char names[IN_FLIGHT_MANY][NAME_SIZE];
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
    self->locks[i].op.user = self; /* until its end was seen */
    self->busy++;
    return true;
}

/* True if the lock asks for another tick. */
static bool look_after(guildhall_side* self, size_t i)
{
    gh_status status = gh_op_poll(&self->locks[i].op);
    if (status == GH_PENDING || self->locks[i].op.user == NULL)
    {
        return false;
    }
    if (status == GH_HELD)
    {
        gh_lock_release(&self->locks[i]);
        return true;
    }
    if (status != GH_OK)
    {
        fprintf(stderr, "  lock %zu ended: %s\n", i, gh_status_text(status));
        self->failed = true;
        return false;
    }
    self->locks[i].op.user = NULL;
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
    bench_client_wake(&self->client);
    bench_heap_begin();
    for (size_t i = 0; i < self->count; i++)
    {
        begin(self, i);
    }
    while (self->busy > 0 && !self->failed)
    {
        uint64_t now_us = bench_now_us();
        bool again = false;
        self->stopping = now_us >= end_us;
        gh_tick(self->client.client, now_us, 0);
        for (size_t i = 0; i < self->count; i++)
        {
            again |= look_after(self, i);
        }
        if (!again)
        {
            bench_clients_wait(&self->client, 1, 1000);
        }
    }
    int64_t calls = bench_heap_end();
    sample->heap_calls = (double)calls;
    self->owner->heap_calls += calls > 0 ? (uint64_t)calls : 0u;
    self->owner->heap_ops += self->cycles;
    sample->cycles = (double)self->cycles;
    return !self->failed;
}

/* --- redis-benchmark ------------------------------------------------------------------------------------ */

/* A lock can be taken and given back only once, so many are prepared, and one in ten of them is drawn: 19 of
   20 requests then go the way of a real one. More locks would be fairer still, but cost the server its
   caches. */
enum
{
    PREPARED = 40000,
    DRAWN = PREPARED / 10,
    CEILING_TRIES = 3,       /* it gives no figure now and then, on a busy machine */
    OTHER_SEQUENCE = 2000000 /* whoever takes a free lock is not the one who had it last */
};

/* redis-benchmark writes 12 random digits in place of its mark, below PREPARED. In a database of their own,
   so that the other sides' keys stay alone. */
static const char drawn_name[BENCH_LOCK_NAME_SIZE + 1] = "n__rand_int__";
static const char prepare_script[] =
    "redis.call('SELECT', 1)\n"
    "for i = 0, tonumber(ARGV[1]) - 1 do\n"
    "    redis.call('SET', string.format('gh:{lock:n%012d}:s', i), ARGV[2], 'PX', 3600000)\n"
    "end\n"
    "return 0\n";
static const char drop_script[] = "redis.call('SELECT', 1)\nredis.call('FLUSHDB')\nreturn 0\n";

typedef struct ceiling_side
{
    bench* owner;
    bench_recording recording;
} ceiling_side;

static double requests_per_s(bench* self, const char* state, const bench_request* request)
{
    if (!bench_server_run(self->server, prepare_script, PREPARED, state))
    {
        return 0.0;
    }
    double rate = bench_redis_benchmark(self, IN_FLIGHT, DRAWN, PREPARED, request->arguments, request->sizes,
                                        (size_t)request->count);
    return bench_server_run(self->server, drop_script, 0, "") ? rate : 0.0;
}

static bool run_ceiling(void* context, uint64_t duration_us, bench_sample* sample)
{
    ceiling_side* self = context;
    bench_request acquire;
    bench_request release;
    (void)duration_us;
    bench_request_copy(&acquire, &self->recording.acquire, drawn_name);
    bench_request_copy(&release, &self->recording.release, drawn_name);
    bench_request_next(&acquire, OTHER_SEQUENCE);
    double acquires = 0.0;
    double releases = 0.0;
    for (int i = 0; i < CEILING_TRIES && acquires <= 0.0; i++)
    {
        acquires = requests_per_s(self->owner, self->recording.free, &acquire);
    }
    for (int i = 0; i < CEILING_TRIES && releases <= 0.0; i++)
    {
        releases = requests_per_s(self->owner, self->recording.held, &release);
    }
    if (acquires <= 0.0 || releases <= 0.0)
    {
        fprintf(stderr, "  redis-benchmark gave no figure\n");
        return false;
    }
    sample->cycles = 1.0;
    sample->wall_us = 1e6 / acquires + 1e6 / releases;
    return true;
}

static double one_line_script_per_s(bench* self)
{
    char digest[41];
    const char* const arguments[] = {"EVALSHA", digest, "0"};
    const size_t sizes[] = {7, 40, 1};
    double best = 0.0;
    if (!bench_server_load(self->server, "return 1", digest))
    {
        return 0.0;
    }
    for (int i = 0; i < 3; i++)
    {
        double rate =
            bench_redis_benchmark(self, IN_FLIGHT, self->options.quick ? 150000 : 500000, 0, arguments, sizes, 3);
        best = rate > best ? rate : best;
    }
    return best;
}

/* --- figures -------------------------------------------------------------------------------------------- */

static double request_bytes; /* of the two commands of a cycle, on average */

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
    ASYNCHRONOUS,
    GUILDHALL_MANY,
    SYNCHRONOUS,
    LISTING,
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
    if (value == bench_cycles_per_s)
    {
        bench_figure_limit_by_cpu(&figure, &sides[GUILDHALL]);
    }
    else if (value == outside_ns)
    {
        bench_figure_limit(&figure,
                           "finding the replies' ends with hiredis' reader alone, nothing built, takes %.0f ns a "
                           "reply; the commands have %.0f bytes to write",
                           bench_hiredis_reader_ns(), request_bytes);
    }
    bench_report(self, &figure);
}

static void report_speed(bench* self, const bench_side* sides)
{
    compare(self, sides, CEILING, "256 in flight", "cycles/s", bench_cycles_per_s, BENCH_RATIO_AT_LEAST, 0.95,
            "peer: 1 / (1/acquires per s + 1/releases per s), each with -c 1 -P 256");
    compare(self, sides, ASYNCHRONOUS, "the same", "cycles/s", bench_cycles_per_s, BENCH_NO_GOAL, 0.0,
            "peer: redisAsyncCommandArgv, 256 locks in flight");
    compare(self, sides, SYNCHRONOUS, "the same", "cycles/s", bench_cycles_per_s, BENCH_NO_GOAL, 0.0,
            "peer: redisCommandArgv, the same scripts, one at a time");
    compare(self, sides, LISTING, "the same", "cycles/s", bench_cycles_per_s, BENCH_NO_GOAL, 0.0,
            "peer: SETNX, then WATCH, GET, MULTI, DEL, EXEC, one at a time");
    bench_report_slope(self, "2,560 in flight", "cycles", &sides[GUILDHALL_MANY], &sides[GUILDHALL]);

    bench_figure figure = bench_figure_make("256 in flight, absolute", "cycles/s");
    double one_line = bench_redis_benchmark_installed() ? one_line_script_per_s(self) : 0.0;
    figure.ours = bench_side_series(&sides[GUILDHALL], bench_cycles_per_s);
    bench_figure_goal(&figure, BENCH_VALUE_AT_LEAST, 90000.0);
    bench_figure_note(&figure, "holds where the server does 500,000/s of EVALSHA \"return 1\"; here it does %.0f/s",
                      one_line);
    bench_figure_limit_by_cpu(&figure, &sides[GUILDHALL]);
    if (one_line < 500000.0)
    {
        snprintf(figure.goal_moot, sizeof figure.goal_moot, "%s",
                 one_line > 0.0 ? "this server is slower" : "how fast the server is was not measured");
    }
    bench_report(self, &figure);
}

static void report_cost(bench* self, const bench_side* sides)
{
    bool watched = sides[GUILDHALL].sample_count > 0 && sides[GUILDHALL].samples[0].kernel_calls > 0.0;
    if (watched)
    {
        compare(self, sides, ASYNCHRONOUS, "client CPU (user)", "ns/command", outside_ns, BENCH_RATIO_AT_MOST,
                1.0 / 8.0, "CPU of the process outside send, receive and poll: begin, tick and poll of all locks");
    }
    compare(self, sides, ASYNCHRONOUS, "the same by getrusage", "ns/command", user_ns,
            watched ? BENCH_NO_GOAL : BENCH_RATIO_AT_MOST, watched ? 0.0 : 1.0 / 8.0,
            "the kernel samples it, so short rounds are coarse");
    if (watched)
    {
        compare(self, sides, ASYNCHRONOUS, "system calls", "/command", kernel_calls, BENCH_NO_GOAL, 0.0, "");
    }
    compare(self, sides, ASYNCHRONOUS, "server time", "us/cycle", server_us, BENCH_NO_GOAL, 0.0,
            "in evalsha by INFO commandstats, parsing and sockets apart");
    compare(self, sides, GUILDHALL, "requests", "/cycle", requests, BENCH_NO_GOAL, 0.0,
            "evalsha calls by INFO commandstats; 2 are needed");
}

static bool open_guildhall(bench* self, guildhall_side* side, size_t count)
{
    gh_client_config config = bench_client_config(self);
    memset(side, 0, sizeof *side);
    side->owner = self;
    side->count = count;
    config.ops_capacity = IN_FLIGHT_MANY + 16;
    side->config = gh_lock_config_default();
    for (size_t i = 0; i < count; i++)
    {
        snprintf(side->names[i], sizeof side->names[i], "cycle_%zu_%zu", count, i);
    }
    return bench_client_open(&side->client, &config, gh_platform_default());
}

static void measure(bench* self, guildhall_side* few, guildhall_side* many, ceiling_side* ceiling)
{
    struct bench_hiredis_async* asynchronous = bench_hiredis_async_open(self, &ceiling->recording, IN_FLIGHT);
    struct bench_hiredis_sync* synchronous = bench_hiredis_sync_open(self, &ceiling->recording);
    bench_asked_side listing = {self, BENCH_PEER_PYTHON, "lock"};
    request_bytes =
        (double)(bench_request_size(&ceiling->recording.acquire) + bench_request_size(&ceiling->recording.release)) /
        COMMANDS_PER_CYCLE;
    bench_side sides[SIDES] = {
        [GUILDHALL] = {.name = "256 in flight", .run = run_guildhall, .context = few},
        [CEILING] = {.name = "redis-benchmark", .run = run_ceiling, .context = ceiling},
        [ASYNCHRONOUS] = {.name = "hiredis async", .run = bench_hiredis_async_run, .context = asynchronous},
        [GUILDHALL_MANY] = {.name = "Guildhall, 2,560", .run = run_guildhall, .context = many},
        [SYNCHRONOUS] = {.name = "hiredis sync", .run = bench_hiredis_sync_run, .context = synchronous},
        [LISTING] = {.name = "listing (Python)", .run = bench_asked_run, .context = &listing},
    };
    sides[CEILING].missing = bench_peer_missing(self, BENCH_PEER_REDIS_BENCHMARK);
    sides[LISTING].missing = bench_peer_missing(self, BENCH_PEER_PYTHON);
    sides[ASYNCHRONOUS].missing =
        asynchronous != NULL ? bench_peer_missing(self, BENCH_PEER_HIREDIS) : "could not connect";
    sides[SYNCHRONOUS].missing =
        synchronous != NULL ? bench_peer_missing(self, BENCH_PEER_HIREDIS) : "could not connect";
    sides[ASYNCHRONOUS].lacks = sides[SYNCHRONOUS].lacks =
        "coming back after a lost link, repeats, deadlines, renewal, memory that is bounded";
    sides[LISTING].lacks = "a lease, a fence, an order: a holder that dies keeps the lock for ever";
    bench_alternate(self, sides, SIDES);
    report_speed(self, sides);
    report_cost(self, sides);
    bench_hiredis_async_close(asynchronous);
    bench_hiredis_sync_close(synchronous);
}

void bench_lock_cycle(bench* self)
{
    static guildhall_side few;
    static guildhall_side many;
    static ceiling_side ceiling;
    memset(&ceiling, 0, sizeof ceiling);
    ceiling.owner = self;
    bool good = bench_record_lock(self, &ceiling.recording) && open_guildhall(self, &few, IN_FLIGHT);
    if (open_guildhall(self, &many, IN_FLIGHT_MANY) && good)
    {
        measure(self, &few, &many, &ceiling);
    }
    else
    {
        bench_report_gap(self, "not measured, see stderr");
    }
    bench_client_close(&few.client);
    bench_client_close(&many.client);
}
