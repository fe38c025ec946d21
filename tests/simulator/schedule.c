/* schedule.c -- draws a fleet, lets it play, and judges. */

#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */

#include "simulator/schedule.h"

#include "simulator/afresh.h"
#include "simulator/crew.h"
#include "simulator/events.h"
#include "simulator/memory.h"
#include "simulator/network.h"
#include "simulator/server.h"
#include "simulator/sight.h"
#include "simulator/trace.h"
#include "storm/judge.h"
#include "storm/nemesis.h"
#include "storm/players.h"
#include "storm/store.h"
#include "storm/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum
{
    BEGIN_US = 1000000000, /* nothing may take the beginning for "never" */
    RECORDS_MAX = 2000000,
    RECORDS_OF_MANY = 90000000,
    PLAY_BEFORE_US = 1000000,
    PLAY_BEHIND_US = 1500000,
    SPEED_FRAME_US = 16667,
    SPEED_TURNS = 8,
    PAGE_SIZE = 4096,
    TOUCHED_SIZE = 256 << 20, /* more than a hundred clients take */
    PACE_OF_A_YEAR = 36,      /* so that its records fit */
    LOOK_US = 10000,
    ANCIENT_ODDS = 24, /* a run with ancient bytes costs two */
    SLEEPS_MOST = 2,
    ARRIVES_US = 1000000, /* and is carried out, on replicas too */
    RUN_CAP_US = 120000000,
    QUIET_CAP_US = 180000000 /* who reads a message a turn, in long turns, has hundreds to read yet */
};

static const uint64_t HOUR_US = UINT64_C(3600000000), DAY_US = UINT64_C(86400000000);

/* ---- drawn ------------------------------------------------------------------------------------------------ */

static storm_store draw_store(random_stream* random)
{
    static const storm_store stores[] = {STORM_ONE,  STORM_ONE,  STORM_ONE,     STORM_ONE,     STORM_ONE,
                                         STORM_PAIR, STORM_PAIR, STORM_CLUSTER, STORM_CLUSTER, STORM_SENTINEL};
    return stores[random_below(random, sizeof stores / sizeof stores[0])];
}

/* One system alone shows what many hide, and many show what none has alone. */
static void draw_systems(random_stream* random)
{
    uint64_t kind = random_below(random, 8);
    uint64_t share = kind < 3 ? 1 : kind < 6 ? 4 : 12; /* of twelve */
    uint64_t one = random_between(random, 1, STORM_SYSTEM_END - 1);
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++) storm.on[i] = i == one || random_below(random, 12) < share;
}

static uint32_t draw_ops(random_stream* random)
{
    uint64_t most = random_one_in(random, 32) ? 2000 : 260;
    return (uint32_t)random_between(random, 50, most);
}

/* Some clients in each process. */
static uint32_t draw_clients(random_stream* random, const schedule_wish* wish, unsigned clients[CREW_PROCESSES_MAX])
{
    uint64_t most = random_one_in(random, 4) ? SCHEDULE_CLIENTS_MOST : 6;
    uint32_t wanted = (uint32_t)random_between(random, SCHEDULE_CLIENTS_LEAST, most);
    uint32_t count = 0;
    if (wish->clients != 0 && wish->clients < wanted) wanted = wish->clients;
    for (storm.players = 0; count < wanted && storm.players < STORM_PLAYERS_MAX; storm.players++)
    {
        unsigned here = (unsigned)random_between(random, 1, STORM_CLIENTS);
        if (storm.players + 1 == STORM_PLAYERS_MAX) here = STORM_CLIENTS;
        clients[storm.players] = here < wanted - count ? here : wanted - count;
        count += clients[storm.players];
    }
    return count;
}

/* A large fleet that does nothing but play. */
static uint32_t make_large(uint32_t wanted, unsigned clients[CREW_PROCESSES_MAX])
{
    storm.players = (wanted + STORM_CLIENTS - 1) / STORM_CLIENTS;
    if (storm.players > CREW_PROCESSES_MAX) storm.players = CREW_PROCESSES_MAX;
    for (unsigned i = 0; i < storm.players; i++) clients[i] = STORM_CLIENTS;
    return storm.players * STORM_CLIENTS;
}

static void* book; /* of a process that does many runs: the memory of their history */

static void* map_history(uint32_t records)
{
    size_t size = history_size(records);
    void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) abort();
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, size, MADV_HUGEPAGE);
#endif
    return memory;
}

/* A page is cleared when it is first touched. In a campaign that is once for many runs, so it is none of the speed. */
static void touch_pages(char* memory, size_t size)
{
    for (size_t at = 0; at < size; at += PAGE_SIZE) ((volatile char*)memory)[at] = 0;
}

static void open_history(uint32_t records)
{
    history_begin_table(book != NULL && records == RECORDS_MAX ? book : map_history(records), records);
}

/* Where many systems are played by many clients, they are played more slowly, and the weather changes faster: else all
   ops were begun before anything could befall them. */
static void open_crew(const schedule_wish* wish, const unsigned clients[CREW_PROCESSES_MAX], uint32_t count)
{
    unsigned systems = 0;
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++) systems += storm.on[i] ? 1 : 0;
    unsigned crowd = systems * count / 24;
    storm.haste = 1 + crowd < 4 ? 1 + crowd : 4;
    storm.pace = crowd < 4 ? 1 + crowd : 5;
    crew_pace slow = {0};
    if (wish->speed_clients != 0) storm.pace = 1; /* few turns that begin much cost less than many that do not */
    if (wish->days != 0)
    {
        storm.gap_us = HOUR_US;
        storm.pace = PACE_OF_A_YEAR;
    }
    crew_pace fast = {.frame_us = SPEED_FRAME_US, .turns = SPEED_TURNS};
    crew_open(clients, wish->speed_clients == 0 ? slow : fast);
}

/* Some runs have bytes that come minutes late. With so many ops begun, the fleet sleeps until shortly before the next
   of them come, if there are any; what is left comes to a store that nobody uses any more. */
static struct
{
    uint32_t sleeps_at[SLEEPS_MOST];
    unsigned slept;
} ancient;

static void draw_ancient(const schedule_wish* wish, uint32_t ops)
{
    random_stream random = storm_random("ancient", 0, 0, 0);
    bool drawn = random_one_in(&random, ANCIENT_ODDS) && wish->days == 0 && wish->speed_clients == 0;
    storm.ancient = wish->faults == NULL ? drawn : nemesis_is_ancient(wish->faults);
    ancient.slept = 0;
    uint64_t at = 0;
    for (unsigned i = 0; i < SLEEPS_MOST; i++)
    {
        at += random_between(&random, ops / 8, ops * 3 / 4);
        ancient.sleeps_at[i] = (uint32_t)at;
    }
}

static void prepare(const schedule_wish* wish, schedule_result* result, uint32_t* ops)
{
    unsigned clients[CREW_PROCESSES_MAX] = {0};
    memset(&storm, 0, sizeof storm);
    storm.seed = wish->seed;
    storm.store_start_us = SERVER_START_US;
    storm.seconds = 1;
    storm.faults = wish->faults;
    storm.history = wish->history;
    storm.left_out = wish->left_out;
    storm.verbose = wish->verbose;
    random_stream random = storm_random("fleet", 0, 0, 0);
    storm.store = draw_store(&random);
    if (wish->store != 0) storm.store = wish->store;
    storm.losses = storm.store == STORM_PAIR || wish->seed % 3 != 0;
    *ops = draw_ops(&random);
    draw_ancient(wish, *ops);
    if (wish->ops != 0 && (wish->ops < *ops || wish->speed_clients != 0)) *ops = wish->ops;
    result->clients = draw_clients(&random, wish, clients);
    storm.small = !random_one_in(&random, 4);
    draw_systems(&random);
    if (wish->days != 0 && wish->systems == NULL)
        for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
            storm.on[i] = i != STORM_counters && i != STORM_aggregate && i != STORM_files;
    if (wish->days != 0) result->clients = make_large(SCHEDULE_CLIENTS_MOST, clients);
    if (wish->speed_clients != 0)
    {
        result->clients = make_large(wish->speed_clients, clients);
        for (uint8_t i = 1; i < STORM_SYSTEM_END; i++) storm.on[i] = true;
    }
    if (wish->systems != NULL)
    {
        memset(storm.on, 0, sizeof storm.on);
        (void)storm_choose_systems(wish->systems);
    }
    events_open(BEGIN_US);
    open_history(wish->speed_clients == 0 && wish->days == 0 ? RECORDS_MAX : RECORDS_OF_MANY);
    network_open();
    open_crew(wish, clients, result->clients);
    if (wish->trace != NULL) trace_begin();
    if (!wish->print) verdict_be_quiet();
}

/* ---- played ----------------------------------------------------------------------------------------------- */

static bool has_weather;

static void let_play(void* context, uint64_t plays)
{
    (void)context;
    crew_let_play(plays != 0);
    if (plays != 0) witness_begin();
    else witness_sleep();
}

/* Of a year: ops are begun around a fault, and then whoever has nothing to do sleeps. */
static void rest_until(uint64_t next_us)
{
    if (next_us < history_now() + PLAY_BEHIND_US + PLAY_BEFORE_US) return;
    events_at(history_now() + PLAY_BEHIND_US, let_play, NULL, 0);
    events_at(next_us - PLAY_BEFORE_US, let_play, NULL, 1);
}

static void weather(void* context, uint64_t x)
{
    (void)context;
    (void)x;
    if (!has_weather) return;
    uint64_t next_us = nemesis_turn(history_now());
    events_at(next_us, weather, NULL, 0);
    if (storm.gap_us != 0) rest_until(next_us);
}

/* How many of them were played to their end. */
static uint32_t play_for_days(uint32_t days)
{
    uint32_t day = 0;
    has_weather = true;
    nemesis_start(history_now());
    weather(NULL, 0);
    for (uint32_t seen = 0; day < days && !history_is_full(); day++)
    {
        events_run(history_now() + DAY_US);
        printf("day %u: %u faults, %u records\n", day + 1, nemesis_struck(), history_count() - seen);
        (void)fflush(stdout);
        seen = history_count();
    }
    has_weather = false;
    return history_is_full() ? day - 1 : day;
}

static void judge_days(uint32_t wanted, uint32_t played)
{
    verdict_begin("so many days were played as were to be");
    verdict_cases(wanted);
    if (played < wanted) VIOLATION("only %u were: the history is full", played);
}

/* Everything but the ops goes on: what was begun ends, faults heal, those who sleep do what they must. */
static uint64_t sleep_until(uint64_t wake_us)
{
    uint64_t for_us = wake_us - history_now();
    nemesis_put_off(for_us);
    let_play(NULL, 0);
    events_run(wake_us);
    let_play(NULL, 1);
    return for_us;
}

/* How long the fleet has slept: 0 if there is nothing to wait for. */
static uint64_t sleep_over(uint32_t begun)
{
    if (!storm.ancient || ancient.slept == SLEEPS_MOST || begun < ancient.sleeps_at[ancient.slept]) return 0;
    random_stream random = storm_random("sleep", ancient.slept++, 0, 0);
    uint64_t due_us = network_next_ancient_us(), before_us = random_below(&random, PLAY_BEFORE_US);
    return due_us == UINT64_MAX || due_us <= history_now() + before_us ? 0 : sleep_until(due_us - before_us);
}

static void play(uint32_t ops, bool good_weather)
{
    uint64_t end_us = history_now() + RUN_CAP_US;
    uint32_t begun = 0;
    has_weather = !good_weather;
    if (has_weather) nemesis_start(history_now());
    weather(NULL, 0);
    for (uint32_t seen = 0; begun < ops && history_now() < end_us && !history_is_full();)
    {
        events_run(history_now() + LOOK_US);
        for (; seen < history_count(); seen++)
        {
            const storm_record* r = history_at(seen + 1);
            if (!r->is_event && r->system != STORM_CORE) begun++;
        }
        end_us += sleep_over(begun);
    }
    has_weather = false; /* also while its last faults heal */
}

/* ---- judged ----------------------------------------------------------------------------------------------- */

static void count_up(schedule_result* result)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 1; i <= history_count(); i++)
    {
        const storm_record* r = history_at(i);
        const unsigned char* bytes = (const unsigned char*)r;
        if (!r->is_event && r->system != STORM_CORE) result->ops++;
        for (size_t k = 0; k < sizeof *r; k += sizeof(uint64_t))
        {
            uint64_t word;
            memcpy(&word, bytes + k, sizeof word);
            hash = (hash ^ word) * UINT64_C(0x100000001b3);
            hash ^= hash >> 29;
        }
    }
    result->records = history_count();
    result->digest = hash;
}

static double processor_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void sum_up(schedule_result* result)
{
    count_up(result);
    result->requests = server_requests();
    result->virtual_us = history_now() - BEGIN_US;
    storm.seconds = 1 + (unsigned)(result->virtual_us / 1000000);
    result->finished = true;
}

static void judge(const schedule_wish* wish, schedule_result* result, const storm_end* end, uint32_t days)
{
    result->faults = nemesis_struck();
    result->drawn = nemesis_drawn();
    if (wish->print) judge_print_ops();
    if (wish->print) nemesis_print();
    judge_write_history();
    if (wish->trace != NULL) trace_write(wish->trace);
    (void)judge_all(end);
    if (wish->days != 0) judge_days(wish->days, days);
    result->broken = verdict_end();
    const char* promise = verdict_first_broken();
    if (promise != NULL) (void)snprintf(result->promise, sizeof result->promise, "%s", promise);
}

/* To a store that nobody uses any more. */
static void await_ancient(void)
{
    uint64_t due_us;
    witness_sleep();
    while ((due_us = network_next_ancient_us()) != UINT64_MAX && due_us > history_now()) events_run(due_us);
    events_run(history_now() + ARRIVES_US);
}

/* To the end of all ops, and what the store has then. */
static storm_end come_to_rest(void)
{
    nemesis_heal();
    storm_set_stage(STAGE_CALM);
    storm_end end = {.all_ended = players_wait(QUIET_CAP_US), .cap_s = QUIET_CAP_US / 1000000};
    if (storm.ancient) await_ancient();
    storm_set_stage(STAGE_STOP);
    audit_run();
    return end;
}

/* Of the heap, what was never given out; of the history, what is behind the records that are there. */
static void touch_ahead(void)
{
    if (memory_begin() != NULL) touch_pages(memory_begin() + memory_used(), TOUCHED_SIZE);
    touch_pages((char*)history_at(history_count() + 2), TOUCHED_SIZE);
}

void schedule_run(const schedule_wish* wish, schedule_result* result)
{
    uint32_t ops = 0, days = 0;
    bool for_speed = wish->speed_clients != 0;
    memset(result, 0, sizeof *result);
    prepare(wish, result, &ops);
    store_start();
    if (for_speed) touch_ahead();
    else witness_begin();
    players_start();
    double begin_s = processor_s();
    if (wish->days != 0) days = play_for_days(wish->days);
    else play(ops, for_speed);
    result->played_s = processor_s() - begin_s;
    storm_end end = {.all_ended = true};
    if (!for_speed) end = come_to_rest();
    sum_up(result);
    if (!for_speed) judge(wish, result, &end, days);
}

/* ---- many of them ----------------------------------------------------------------------------------------- */

void schedule_begin_many(void)
{
    book = map_history(RECORDS_MAX);
    afresh_note();
}

void schedule_forget(void)
{
    memset(book, 0, history_size(history_count()));
    afresh_put_back();
}
