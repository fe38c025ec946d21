/* bench.h -- what the files of guildhall_bench share.

       main.c      reads the arguments, walks the table of benches, prints and writes the report
       harness.c   rounds in alternation, clocks, medians
       report.c    the table on the terminal and bench.json
       server.c    the private server: what it counted, scripts, redis-benchmark, machine and versions
       process.c   runs another program
       client.c    a gh_client in memory of its own, and how to wait for its sockets
       kernel_time.c   how much CPU the process spent in send, receive and poll

   A new system adds one file with one function, and one line to the table in main.c. The function measures,
   and hands each figure to bench_report. A peer that cannot run is reported with the reason, never with a
   number. */

#ifndef GUILDHALL_BENCH_H
#define GUILDHALL_BENCH_H

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "guildhall/guildhall.h"

#include <stdio.h>

#define BENCH_ROUNDS_MAX 16
#define BENCH_TEXT_MAX   480

struct bench_server;

typedef struct bench_options
{
    const char* redis;   /* "unix:PATH" or "A.B.C.D:PORT" of a server that is empty and ours to fill */
    const char* out;     /* folder of bench.json                                                     */
    const char* library; /* libguildhall.a, NULL: look where the build puts it                       */
    const char* only;    /* run the benches whose name contains this; NULL: all                      */
    bool quick;
} bench_options;

typedef struct bench
{
    const char* name; /* of the bench that runs now */
    bench_options options;
    struct bench_server* server;
    struct bench_report* report;
    unsigned rounds;
    uint64_t warm_up_us;
    uint64_t round_us;
} bench;

/* --- harness.c: time and rounds ------------------------------------------------------------------------- */

uint64_t bench_now_us(void);
uint64_t bench_now_ns(void);
uint64_t bench_process_cpu_ns(void);
uint64_t bench_thread_cpu_ns(void);
void bench_sleep_us(uint64_t us);

/* Tells on stderr what goes on. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void bench_progress(const bench* self, const char* format, ...);

/* One value a round. */
typedef struct bench_series
{
    double values[BENCH_ROUNDS_MAX];
    size_t count; /* 0: not measured */
} bench_series;

void bench_series_add(bench_series* series, double value);
double bench_series_median(const bench_series* series);
double bench_series_least(const bench_series* series);
double bench_series_most(const bench_series* series);

/* What one round of one side cost. */
typedef struct bench_sample
{
    double wall_us;
    double user_us;      /* getrusage, which samples at the kernel's tick     */
    double outside_us;   /* CPU of the process outside send, receive and poll */
    double kernel_calls; /* those; 0: they could not be watched               */
    double cycles;
    double evalsha_calls; /* counted by the server, unless the side has set it */
    double evalsha_us;    /* the server's time in them                         */
    double heartbeats;    /* set by the side: how many of the calls said only that a waiter lives */
    double worst_us;      /* set by the side: the worst of what its figure says */
} bench_sample;

/* One of those who do the same work. run does it for about duration_us, finishes what it began, and says how
   many cycles that were; a side that knows its own wall time sets it. False: it failed and said why. */
typedef struct bench_side
{
    const char* name;
    bool (*run)(void* context, uint64_t duration_us, bench_sample* sample);
    void* context;
    const char* missing; /* why it cannot run, NULL if it can; set when it fails */
    bool no_warm_up;     /* each run brings its own                              */
    bench_sample samples[BENCH_ROUNDS_MAX];
    size_t sample_count;
} bench_side;

/* A warm-up of each side, then the sides in turn, self->rounds times. */
void bench_alternate(bench* self, bench_side* sides, size_t count);

/* A series made of each sample of a side. */
bench_series bench_side_series(const bench_side* side, double (*value)(const bench_sample* sample));
double bench_cycles_per_s(const bench_sample* sample);

/* --- kernel_time.c -------------------------------------------------------------------------------------- */

typedef struct bench_kernel_time
{
    uint64_t inside_ns;   /* CPU inside send, receive, read, write and poll */
    uint64_t overhead_ns; /* CPU that watching them took, outside of that   */
    uint64_t calls;       /* 0 where calls cannot be watched                */
} bench_kernel_time;

/* Off at first, because it costs two clock readings a call. */
void bench_kernel_time_watch(bool on);
bench_kernel_time bench_kernel_time_read(void);

/* poll, watched as well: headers may turn poll itself into something else. */
struct pollfd;
int bench_poll(struct pollfd* descriptors, size_t count, int timeout_ms);

/* --- report.c ------------------------------------------------------------------------------------------- */

typedef enum bench_goal_kind
{
    BENCH_NO_GOAL = 0,
    BENCH_VALUE_AT_LEAST,
    BENCH_VALUE_AT_MOST,
    BENCH_RATIO_AT_LEAST,
    BENCH_RATIO_AT_MOST
} bench_goal_kind;

typedef struct bench_figure
{
    char bench[32]; /* filled by bench_report */
    char figure[64];
    char unit[16];
    bench_series ours;
    char peer_name[32]; /* empty: there is no peer                   */
    bench_series peer;  /* empty with a name: peer_missing says why  */
    char peer_missing[128];
    bench_goal_kind goal_kind;
    double goal;
    char goal_moot[96];        /* why the goal does not apply here; empty: it does */
    char note[BENCH_TEXT_MAX]; /* what is measured, in one line */
} bench_figure;

bench_figure bench_figure_make(const char* figure, const char* unit);
bench_figure bench_figure_of(const char* figure, const char* unit, double value);
void bench_figure_peer(bench_figure* figure, const bench_side* side,
                       double (*value)(const bench_sample* sample));
void bench_figure_goal(bench_figure* figure, bench_goal_kind kind, double goal);

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void bench_figure_note(bench_figure* figure, const char* format, ...);

/* Takes a copy. */
void bench_report(bench* self, const bench_figure* figure);

/* A line of its own in place of figures: why something was not measured. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void bench_report_remark(bench* self, const char* format, ...);

struct bench_report* bench_report_open(void);
void bench_report_print(const bench* self, FILE* file);
bool bench_report_write(const bench* self); /* to <out>/bench.json */
void bench_report_close(struct bench_report* report);

/* --- server.c ------------------------------------------------------------------------------------------- */

typedef struct bench_calls
{
    uint64_t calls;
    uint64_t us;
} bench_calls;

struct bench_server* bench_server_open(const char* address);
void bench_server_close(struct bench_server* server);
const char* bench_server_path(const struct bench_server* server); /* NULL if it is not a unix socket */
const char* bench_server_host(const struct bench_server* server);
int bench_server_port(const struct bench_server* server);

/* From INFO; 0 if there is no such line. */
bench_calls bench_server_evalsha(struct bench_server* server);
bool bench_server_flush(struct bench_server* server);
int64_t bench_server_key_count(struct bench_server* server);
int64_t bench_server_memory_usage(struct bench_server* server, const char* key); /* bytes; -1: no such key */

/* The value of a string key, cut at capacity. */
bool bench_server_get(struct bench_server* server, const char* key, char* out, size_t capacity);

/* Loads a script and gives its digest. */
bool bench_server_load(struct bench_server* server, const char* text, char digest[41]);

/* Runs a script that has no keys and two arguments. */
bool bench_server_run(struct bench_server* server, const char* text, long number, const char* word);

/* --- process.c ------------------------------------------------------------------------------------------ */

/* Runs a program (arguments as for execvp) to its end; output is what it printed, cut at capacity. False: it
   could not be started or did not end well. */
bool bench_program(char* const* arguments, char* output, size_t capacity);

/* --- peer_redis_benchmark.c ----------------------------------------------------------------------------- */

/* Requests per second by redis-benchmark: one connection, depth requests in flight, count requests, the
   command given by arguments; __rand_int__ in them is drawn below random_below if that is not 0. The keys are
   those of database 1. 0: could not be run. */
double bench_redis_benchmark(bench* self, unsigned depth, uint64_t count, uint64_t random_below,
                             const char* const* arguments, const size_t* sizes, size_t argument_count);
bool bench_redis_benchmark_installed(void);

/* Machine and versions, as lines of name and value. */
typedef struct bench_fact
{
    char name[24];
    char value[96];
} bench_fact;

#define BENCH_FACTS 7
void bench_facts(const bench* self, bench_fact facts[BENCH_FACTS]);

/* --- client.c ------------------------------------------------------------------------------------------- */

typedef struct bench_client
{
    gh_client* client;
    void* memory;
    size_t size;
} bench_client;

/* The defaults with the server's address. */
gh_client_config bench_client_config(const bench* self);

/* Makes a client and ticks it until it is ready, without a look at its sockets. False: said why on stderr. */
bool bench_client_open(bench_client* self, const gh_client_config* config,
                       const struct gh_platform* platform);
void bench_client_close(bench_client* self);

/* Sleeps until a socket of one of the clients has something for it or one has something to do, at most so
   long. Once a client's sockets have been asked for, each of its ticks looks at them; a game that ticks once
   a frame does not ask. */
void bench_clients_wait(const bench_client* clients, size_t count, uint64_t at_most_us);

/* --- the benches, one function each --------------------------------------------------------------------- */

void bench_lock_cycle(bench* self);
void bench_lock_waiters(bench* self);
void bench_tick_idle(bench* self);
void bench_tick_worst(bench* self);
void bench_memory(bench* self);

#endif
