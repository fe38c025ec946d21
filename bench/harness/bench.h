/* bench.h -- what the files of guildhall_bench share.

       main.c --> a bench of the table --> rounds of its sides --> report --> table, bench.json, bench.html
                  lock_cycle.c, ...        harness/rounds.c        report/

   Who stands above uses what stands below, and no other way round:

       main.c          reads the arguments, walks the table of benches, prints and writes the report
       lock_cycle.c, ...   the benches: sides that do the same work, and the figures that come of it
       peers/          which peers are wanted and there, and their sides
       paths/          the hottest paths alone, for a tool that counts instructions
       report/         rate.c     rows of "so many a second": beside a peer, and at ten times the size
                       report.c   collects figures and judges them; report_table.c, report_json.c and page.c
                                  write them
       harness/        crew.h, waiters.h, lock_request.h   many ops at once, many who wait, one cycle taken down
                       rounds.c   rounds in alternation, and what each cost; facts.c: machine and versions
                       tls_way.c  what clients speak TLS through
                       made_nodes.c   servers that are made up in memory, one or a hundred
                       client.c   a gh_client in memory of its own, and how to wait for its sockets
                       talker.c   another program that answers line by line; process.c: runs one
                       server.c   the private server: what it counted, scripts
                       kernel_time.c   how much CPU the process spent in send, receive and poll
                       heap_watch.c    counts calls of the heap
                       series.c, clock.c   medians; what time it is, and how much CPU was spent

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
struct bench_talker;

typedef struct bench_options
{
    const char* redis;   /* "unix:PATH" or "A.B.C.D:PORT" of a server that is empty and ours to fill */
    const char* tls;     /* "A.B.C.D:PORT" where the same server speaks TLS; NULL: clients do not    */
    const char* fleet; /* nodes of a Cluster, or Sentinels, of servers that are empty and ours; NULL: none */
    const char* sentinel; /* what the Sentinels call the master; NULL: it is a Cluster           */
    const char* tls_roots; /* who signed its certificate, as PEM; NULL: none */
    const char* out;     /* folder of bench.json and bench.html                                      */
    const char* library; /* libguildhall.a, NULL: look where the build puts it                       */
    const char* scripts; /* folder of the peers' scripts; NULL: bench/peers                          */
    const char* node;    /* folder in which bullmq is installed; NULL: it is not                     */
    const char* game;    /* the program of the sample game_server; NULL: it is not there             */
    const char* peers;   /* names with commas between; NULL: all                                     */
    const char* only;    /* run the benches whose name contains this; NULL: all                      */
    const char* path;    /* only this path, so many times; see path.h                                */
    const char* count;
    const char* tape;
    bool quick;
} bench_options;

typedef enum bench_peer
{
    BENCH_PEER_HIREDIS,
    BENCH_PEER_REDIS_BENCHMARK,
    BENCH_PEER_PYTHON,
    BENCH_PEER_BULLMQ,
    BENCH_PEER_MEMCPY,
    BENCH_PEERS
} bench_peer;

/* Of the machine and of the versions that take part. */
typedef struct bench_fact
{
    char name[24];
    char value[96];
} bench_fact;

#define BENCH_FACTS 12

typedef struct bench
{
    const char* name; /* of the bench that runs now */
    bench_options options;
    struct bench_server* server;
    struct bench_report* report;
    struct bench_talker* talkers[BENCH_PEERS]; /* of those that are other programs */
    char missing[BENCH_PEERS][160];            /* why one cannot take part         */
    bool looked[BENCH_PEERS];
    uint64_t heap_calls; /* while ops of Guildhall were driven */
    uint64_t heap_ops;   /* so many of them                    */
    bench_fact facts[BENCH_FACTS];
    size_t fact_count;
    unsigned rounds;
    uint64_t warm_up_us;
    uint64_t round_us;
} bench;

/* --- clock.c -------------------------------------------------------------------------------------------- */

uint64_t bench_now_us(void);
uint64_t bench_now_ns(void);
uint64_t bench_process_cpu_ns(void);
uint64_t bench_thread_cpu_ns(void);
double bench_user_us(void); /* of the process, outside the kernel; getrusage, which samples at its tick */
void bench_sleep_us(uint64_t us);

/* --- series.c ------------------------------------------------------------------------------------------- */

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

/* --- rounds.c ------------------------------------------------------------------------------------------- */

/* Tells on stderr what goes on. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void bench_progress(const bench* self, const char* format, ...);

/* What one round of one side cost. */
typedef struct bench_sample
{
    double wall_us;
    double user_us;      /* as bench_user_us has it                           */
    double outside_us;   /* CPU of the process outside send, receive and poll */
    double kernel_calls; /* those; 0: they could not be watched               */
    double cpu_us;       /* of the process, kernel included                   */
    double server_us;    /* CPU of the server's process                       */
    double heap_calls;   /* counted by those sides that watch the heap        */
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
    const char* lacks;   /* what it does not promise although Guildhall does; NULL: nothing */
    bool no_warm_up;     /* each run brings its own                              */
    bench_sample samples[BENCH_ROUNDS_MAX];
    size_t sample_count;
} bench_side;

/* Why a side is missing that was begun. */
extern const char bench_side_failed[];

/* A warm-up of each side, then the sides in turn, self->rounds times. */
void bench_alternate(bench* self, bench_side* sides, size_t count);

/* A series made of each sample of a side. */
bench_series bench_side_series(const bench_side* side, double (*value)(const bench_sample* sample));
double bench_cycles_per_s(const bench_sample* sample);
double bench_cycles_per_cpu_s(const bench_sample* sample); /* for work that only computes */
double bench_ns_per_cycle(const bench_sample* sample);     /* CPU of the process          */

/* --- heap_watch.c --------------------------------------------------------------------------------------- */

/* On this thread, between begin and end. -1: this build cannot count them. */
void bench_heap_begin(void);
int64_t bench_heap_end(void);

/* --- peers.c -------------------------------------------------------------------------------------------- */

/* NULL: it is wanted and there. Else why not, in words for the report. */
const char* bench_peer_missing(bench* self, bench_peer peer);

/* False: a name in the list is not that of a peer, which was said on stderr. */
bool bench_peers_check(const char* list);

/* A side whose work is done by the program of a peer, asked by one line: "<work> <seconds>". */
typedef struct bench_asked_side
{
    bench* owner;
    bench_peer peer;
    const char* work;
} bench_asked_side;

bool bench_asked_run(void* asked_side, uint64_t duration_us, bench_sample* sample);

/* What the programs have stored is not needed any more. */
void bench_peers_forget(bench* self);
void bench_peers_close(bench* self);

/* --- facts.c -------------------------------------------------------------------------------------------- */

void bench_find_facts(bench* self);

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
    char cost[BENCH_TEXT_MAX]; /* CPU, requests, heap calls an operation               */
    char lacks[BENCH_TEXT_MAX]; /* what the peer does not promise                      */
    char limit[BENCH_TEXT_MAX]; /* the measured limit, shown where the goal is missed */
    bool slope;                 /* the peer is Guildhall itself, at a tenth of the size */
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

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void bench_figure_limit(bench_figure* figure, const char* format, ...);

/* Takes a copy. */
void bench_report(bench* self, const bench_figure* figure);

/* How often a value came: bars in powers of two of a microsecond, for the page. */
#define BENCH_BARS 14
typedef struct bench_histogram
{
    char bench[32]; /* filled by bench_report_histogram */
    char name[64];
    uint64_t counts[BENCH_BARS]; /* [0]: below 1 us, [i]: 2^(i-1) to 2^i us; the last: and more */
    double mark_us;              /* a line in the plot; 0: none             */
} bench_histogram;

void bench_histogram_add(bench_histogram* histogram, uint64_t ns);
void bench_report_histogram(bench* self, const bench_histogram* histogram);

/* A line of its own in place of figures: why something is not measured, and need not be. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void bench_report_remark(bench* self, const char* format, ...);

/* The same of what should have been measured: guildhall_bench fails. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void bench_report_gap(bench* self, const char* format, ...);

struct bench_report* bench_report_open(void);
void bench_report_print(const bench* self, FILE* file);
bool bench_report_is_whole(const bench* self, FILE* file); /* what was not measured is named; peers may be away */
bool bench_report_write(const bench* self);      /* to <out>/bench.json */
bool bench_report_write_page(const bench* self); /* to <out>/bench.html */
void bench_report_close(struct bench_report* report);

/* --- rate.c --------------------------------------------------------------------------------------------- */

/* What a row of "so many a second" says. */
typedef struct bench_rate
{
    const char* name;
    const char* unit; /* of what is counted, as "sends" */
    const bench_side* ours;
    const bench_side* peer; /* NULL: none                      */
    double goal;            /* ratio, at least; 0: none        */
    const char* note;
} bench_rate;

void bench_report_rate(bench* self, const bench_rate* rate);

/* The same work at ten times the size: large beside small. */
void bench_report_slope(bench* self, const char* name, const char* unit, const bench_side* large,
                        const bench_side* small);

/* The cost of one cycle of a side, as text; and which process' CPU bounds how many there can be. */
void bench_figure_cost(bench_figure* figure, const bench_side* side);
void bench_figure_limit_by_cpu(bench_figure* figure, const bench_side* side);

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
double bench_server_cpu_us(struct bench_server* server); /* of its process, kernel included */
bool bench_server_info(struct bench_server* server, const char* section, const char* field, char* out,
                       size_t capacity);
bool bench_server_flush(struct bench_server* server);
int64_t bench_server_key_count(struct bench_server* server);
int64_t bench_server_memory_usage(struct bench_server* server, const char* key); /* bytes; -1: no such key */

/* Of all keys of that form together, every element counted. */
int64_t bench_server_memory_of(struct bench_server* server, const char* pattern);

/* Of the scripts in the slow log, the longest, in us; 0: there is none. And a script that does nothing. */
double bench_server_longest_script(struct bench_server* server);
double bench_server_one_line_us(struct bench_server* server);

/* A PING there and back, one at a time. */
double bench_server_round_trip_us(struct bench_server* server);

/* Any command that wants no more than a format of hiredis; false: it answered an error, which was said. */
bool bench_server_do(struct bench_server* server, const char* format, ...);

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

/* --- talker.c ------------------------------------------------------------------------------------------- */

/* A program that answers each line of its input with a line; NULL: it could not be started. It ends with its
   input. */
struct bench_talker* bench_talker_open(char* const* arguments);
void bench_talker_close(struct bench_talker* talker);

/* False: no answer within the time, or it has ended. */
bool bench_talker_ask(struct bench_talker* talker, const char* question, char* answer, size_t capacity,
                      uint64_t within_us);

/* --- peer_redis_benchmark.c ----------------------------------------------------------------------------- */

/* Requests per second by redis-benchmark: one connection, depth requests in flight, count requests, the
   command given by arguments; __rand_int__ in them is drawn below random_below if that is not 0. The keys are
   those of database 1. 0: could not be run. */
double bench_redis_benchmark(bench* self, unsigned depth, uint64_t count, uint64_t random_below,
                             const char* const* arguments, const size_t* sizes, size_t argument_count);
bool bench_redis_benchmark_installed(void);

/* --- tls_way.c ------------------------------------------------------------------------------------------ */

typedef struct bench_tls
{
    struct gh_tls* tls;
    void* block;
} bench_tls;

/* Once, at the start. False: said why on stderr. */
bool bench_tls_begin(const bench_options* options);

/* What a client is given that would be given this platform: with --tls one around it, if it is the default one. NULL:
   said why on stderr. */
const struct gh_platform* bench_tls_open(bench_tls* self, const struct gh_platform* platform);
void bench_tls_close(bench_tls* self);

/* --- client.c ------------------------------------------------------------------------------------------- */

typedef struct bench_client
{
    gh_client* client;
    void* memory;
    size_t size;
    bench_tls tls;
} bench_client;

/* The defaults with the server's address, by TLS if that is wanted. */
gh_client_config bench_client_config(const bench* self);

/* Makes a client and ticks it until it is ready, without a look at its sockets. False: said why on stderr. */
bool bench_client_open(bench_client* self, const gh_client_config* config,
                       const struct gh_platform* platform);
void bench_client_close(bench_client* self);

/* Tells a client what time it is, after a while in which nobody ticked it: what is begun next counts its time
   from there. */
void bench_client_wake(bench_client* self);

/* Sleeps until a socket of one of the clients has something for it or one has something to do, at most so
   long. Once a client's sockets have been asked for, each of its ticks looks at them; a game that ticks once
   a frame does not ask. */
void bench_clients_wait(const bench_client* clients, size_t count, uint64_t at_most_us);

/* --- the benches, one function each --------------------------------------------------------------------- */

void bench_lock_cycle(bench* self);
void bench_lock_waiters(bench* self);
void bench_tick_idle(bench* self);
void bench_tick_worst(bench* self);
void bench_permits(bench* self);
void bench_tasks(bench* self);
void bench_chat(bench* self);
void bench_guild(bench* self);
void bench_contacts(bench* self);
void bench_counters(bench* self);
void bench_geo(bench* self);
void bench_aggregate(bench* self);
void bench_files(bench* self);
void bench_memory(bench* self);
void bench_stored(bench* self);
void bench_scripts(bench* self);
void bench_game_server(bench* self);
void bench_fleet(bench* self);
void bench_nodes(bench* self);
void bench_heap(bench* self);

#endif
