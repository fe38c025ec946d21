/* guildhall/counters.h -- what happened how often, per second, minute, hour and day, in the whole fleet.

       your frame                   gh_tick                        the store, by its own clock
                                                                   open       closed, newest first
       add(hits, 1) --> slot of --> batch of a shard, frozen -->   1 s |45|   |28|17|29|..  the newest n of
       add(hits, 1)    the counter  when it is sent; sent again    5 s |73|   |91|88|..     each precision;
         a few ns                   until it is counted, once      1 d |9120| |8714|..      what is older goes

       gh_counters  init --> RUNNING -- end --> the last batches --> ended
       read, list   begin --> ASKING --> ended

   slice    a precision of 5 s cuts time into slices of 5 s that start at multiples of 5 s since 1970 by the
            store's clock. What is added counts in one slice of each precision. A slice that nobody added to
            is not stored: reads can fill it.
   batch    what was added since the last one, at most every flush_us, of a few counters, each once. Its slices
            are those of the time in the middle between the first add of these and the last one, also when it
            arrives late, as after an outage; so a slice that is over may still grow. More than six counters of a
            shard go in several, one behind the other, and those that are added to all the time take turns.
   cleaning one server of the fleet at a time does it, by a lease; when it dies, another takes over, after three
            rounds, or after six times request_timeout_us if that is longer. A counter that nobody touches vanishes
            with its last sample. Nothing depends on it: reads never show what is too old, and every key has a time
            to live.

   Keys     gh:{counters:<shard>}: :o:<name> hash of open slices, :c:<seconds>:<name> list of closed ones, :k
            zset of the shard's counters, :w hash of each client's last batch; shard = XXH3-64(name) mod 64.
            gh:{counters:clean}:l lease of the cleaner.
   Order    sums do not depend on it.
   Once     an add is counted once in every precision, or not at all and then in gh_counters_stats. What has
            not been flushed dies with the process: flush_us of adds, while the store is there. A batch that
            the server stopped midway (a right that was just taken away) is told as unknown; if it is carried out
            again nevertheless, it counts what is missing. Only there, an add that came late, into slices that
            were closed, may be in some precisions and not in others, and a counter that another client's batch
            has met in between may count twice.
   Writers  as many clients as you like; each leaves 0.1 KB in a shard that it adds to, for some 10 minutes.
   Limits   a sum stays at 2^53 - 1 (or minus that) instead of wrapping, and you are told. The number of
            counters is bounded here (counters_max) and in the fleet (fleet_max); adds to those beyond are
            dropped and counted as dropped.
   Time     flush_us and clean_us are by your clock, everything in the store by its own.
   Threads  as the client.
   Memory   one block of yours; no add, flush or read allocates.
   Cost     an add: some ns. In the store 9 to 12 us a counter and batch with 7 precisions, and 14 KB a
            counter with 120 samples in each.

   Use
       gh_counters_config config = gh_counters_config_default();
       gh_counters* counters;
       gh_counters_init(&counters, client, &config, memory, gh_counters_memory(&config));
       gh_counter hits;
       gh_counters_open(counters, gh_str_literal("hits"), &hits);        once, at start-up
       gh_counters_add(counters, hits, 1);                               whenever; gh_tick does the rest

       gh_counter_read_config want = gh_counter_read_config_default();   anywhere in the fleet
       want.seconds = 5, want.samples = samples, want.sample_count = 120, want.fill_gaps = true;
       gh_counter_read_begin(&read, client, gh_str_literal("hits"), &want);
       ... each frame: gh_tick(...);
       if (gh_op_poll(&read.op) == GH_OK) plot(read.samples, read.count, read.max); */

#ifndef GUILDHALL_COUNTERS_H
#define GUILDHALL_COUNTERS_H

#include "guildhall/client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_COUNTERS_PRECISIONS_MAX 8
#define GH_COUNTERS_SECONDS_MAX 31622400   /* of a slice: 366 days */
#define GH_COUNTERS_SAMPLES_MAX 1000       /* that are kept of a precision, or read at once */
#define GH_COUNTERS_MAX 65536              /* open in one process at once */
#define GH_COUNTERS_FLEET_MAX 6400000
#define GH_COUNTERS_SUM_MAX 9007199254740991 /* 2^53 - 1; the least is minus that */
#define GH_COUNTERS_LIST_MAX 10000         /* names in one page of a list */
#define GH_COUNTERS_OPS 18                 /* places of ops_capacity that one gh_counters takes */

typedef struct gh_counter_precision
{
    uint32_t seconds; /* length of a slice; 1..GH_COUNTERS_SECONDS_MAX */
    uint32_t samples; /* the newest so many slices are kept, the open one too; 1..GH_COUNTERS_SAMPLES_MAX */
} gh_counter_precision;

/* All processes that add to the same counters should have the same precisions. */
typedef struct gh_counters_config
{
    size_t struct_size;       /* set by gh_counters_config_default; leave it */
    /* seconds rising; default 1, 5, 60, 300, 3600, 18000, 86400 s with 120 samples each */
    gh_counter_precision precisions[GH_COUNTERS_PRECISIONS_MAX];
    uint32_t precision_count; /* 1..GH_COUNTERS_PRECISIONS_MAX, default 7 */
    uint32_t counters_max;    /* open at once here, 128 bytes each, and seconds of gh_counters_add_at that
                                 wait; 1..GH_COUNTERS_MAX, default 256 */
    uint32_t fleet_max;       /* in the store, of the whole fleet; 64..GH_COUNTERS_FLEET_MAX, default 65536.
                                 Each shard holds a 64th of it, so it is met as evenly as names spread */
    uint64_t flush_us;        /* an add waits at most this long for its batch; 10 ms..1 h, default 1 s */
    uint64_t clean_us;        /* from round to round of cleaning; 100 ms..1 h, default 60 s. 0: this process
                                 never cleans */
} gh_counters_config;

GH_API gh_counters_config gh_counters_config_default(void);

/* All the counters of one process; lives in your memory. */
typedef struct gh_counters gh_counters;

/* Which counter: take it from gh_counters_open. Zero is none. */
typedef struct gh_counter
{
    uint32_t index;
    uint32_t generation;
} gh_counter;

/* The exact size of the block that gh_counters_init needs; 0 if the config is not valid (gh_counters_init
   says which field). 38 KiB with the defaults. */
GH_API size_t gh_counters_memory(const gh_counters_config* config);

/* Makes counters in your memory, which must be aligned to 16 and stay in place until gh_counters_poll says
   that they have ended. It takes GH_COUNTERS_OPS places of the client's ops_capacity until then.
   GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED; GH_INVALID_MEMORY, _CLIENT, _OUT, _CONFIG, _PRECISION,
   _SAMPLES, _COUNTERS_MAX (counters_max or fleet_max), _FLUSH, _CLEAN. config may be NULL for the
   defaults. Nothing is written unless GH_OK. */
GH_API gh_status gh_counters_init(gh_counters** counters, gh_client* client, const gh_counters_config* config,
                                  void* memory, size_t size);

/* The counter of that name: the same handle as before, if it is open already. Looks into a table: do it
   once and keep the handle. The name is copied.
   GH_OK
   GH_FULL    counters_max are open: *counter is none, and what you add to none is counted as dropped
   GH_CLOSED  the counters are ending; *counter is none
   GH_INVALID_COUNTERS, _NAME, _OUT */
GH_API gh_status gh_counters_open(gh_counters* counters, gh_str name, gh_counter* counter);

/* Adds, here; delta may be negative, 0 changes nothing. Costs some nanoseconds and touches no network.
   GH_OK
   GH_SATURATED  what waits for the next batch stands at GH_COUNTERS_SUM_MAX (or minus that); the rest is
                 lost
   GH_FULL       the counter is none (zero): dropped
   GH_CLOSED     the counters are ending: dropped
   GH_INVALID_COUNTERS, _COUNTER (not of these counters, or closed) */
GH_API gh_status gh_counters_add(gh_counters* counters, gh_counter counter, int64_t delta);

/* The same for what happened at time_store_us, microseconds since 1970 by the store's clock; later than now is now. It
   counts in the slices of that time, as far back as each precision keeps them: seconds times samples. Adds of one
   second wait in one place, which takes one of counters_max until it is flushed; each second is a batch of its own, so
   give what lies far apart slowly. Adds of one counter in the order of their times take the fewest places.
   GH_OK, GH_SATURATED, GH_FULL, GH_CLOSED, GH_INVALID_COUNTERS, _COUNTER as above
   GH_GONE    no precision keeps that time any more: dropped
   GH_NO_ROOM no place is free: nothing was added. Try when something was flushed, or raise counters_max */
GH_API gh_status gh_counters_add_at(gh_counters* counters, gh_counter counter, int64_t delta, uint64_t time_store_us);

/* Gives the place of a counter back; what was added to it is still flushed. The handle is worth nothing
   from now on.
   GH_OK; GH_INVALID_COUNTERS, _COUNTER. */
GH_API gh_status gh_counters_close(gh_counters* counters, gh_counter counter);

/* Flushes everything that was added, as soon as the link allows, without waiting for flush_us. Poll for
   GH_OK.
   GH_OK; GH_INVALID_COUNTERS. */
GH_API gh_status gh_counters_flush(gh_counters* counters);

/* GH_OK       everything that was added so far has had its answer: counted, or counted as dropped or
               unknown in the stats
   GH_PENDING  something waits for its batch, or a batch for its answer; or the counters are ending
   GH_IDLE     ended after gh_counters_end or a drain: everything was flushed. The memory is yours again
   GH_CANCELLED the client was shut down before that; the stats say what was lost. The memory is yours again
   GH_INVALID_COUNTERS */
GH_API gh_status gh_counters_poll(const gh_counters* counters);

/* Flushes what there is and ends; nothing can be added any more. Ends at once where there is nothing to
   flush; poll says. A drain of the client does the same. NULL is allowed. */
GH_API void gh_counters_end(gh_counters* counters);

/* Counts of adds grow from gh_counters_init on; added = counted + waiting + unknown + refused. */
typedef struct gh_counters_stats
{
    size_t struct_size; /* how much of it the library knows; the rest is 0 */
    uint64_t added;        /* calls of gh_counters_add that were taken */
    uint64_t counted;      /* of these: in the store */
    uint64_t waiting;      /* here, or under way */
    uint64_t unknown;      /* sent, and no answer for 5 minutes or until the client was shut down, or the
                              server stopped the script: counted once or not at all */
    uint64_t refused;      /* not taken by the store, and not counted: fleet_max, a key that is not of its form,
                              an ACL; or the client was shut down before they were sent. A counter with such a
                              key loses its own adds alone; a shard's :w with one those of all its counters, until
                              somebody deletes it. The other shards go on */
    uint64_t dropped;      /* never taken: added to none because counters_max were open, or while ending, or
                              given a time that nothing is kept of */
    uint64_t saturated;    /* times that a sum, here or in the store, was held at its limit */
    uint64_t oldest_us;    /* how long the oldest add has waited; 0: none does */
    uint64_t batches;      /* that were answered */
    uint32_t open;         /* counters, of counters_max */
    gh_status last_refusal; /* why: GH_FULL (fleet_max), GH_CORRUPT, GH_REFUSED; GH_OK: none were refused */

    /* of the cleaning by this process */
    bool cleaner;          /* it is the one that cleans */
    uint64_t rounds;       /* over all shards */
    uint64_t samples_removed;
    uint64_t counters_removed;
} gh_counters_stats;

/* What gh_counters_get_stats calls: for a struct of that size, as the caller's headers have it. */
GH_API gh_status gh_counters_read_stats(const gh_counters* counters, void* stats, size_t size);

/* GH_OK, GH_INVALID_COUNTERS, GH_INVALID_OUT. */
static inline gh_status gh_counters_get_stats(const gh_counters* counters, gh_counters_stats* stats)
{
    return gh_counters_read_stats(counters, stats, sizeof *stats);
}

/* ---- read ---------------------------------------------------------------------------------------------- */

typedef struct gh_counter_sample
{
    uint64_t time_s; /* when the slice began, seconds since 1970 */
    int64_t sum;
} gh_counter_sample;

typedef struct gh_counter_read_config
{
    size_t struct_size;         /* set by gh_counter_read_config_default; leave it */
    uint64_t timeout_us;        /* the longest time without an answer; 1 ms..60 s, default 5 s */
    uint32_t seconds;           /* which precision; default 60 */
    uint32_t sample_count;      /* room in samples, and how far back, in slices; 1..GH_COUNTERS_SAMPLES_MAX */
    gh_counter_sample* samples; /* they come here */
    uint64_t until_s;           /* the slice that holds this second is the newest; 0 (default): now */
    bool fill_gaps;             /* all sample_count slices, with 0 where none is stored; default false */
} gh_counter_read_config;

GH_API gh_counter_read_config gh_counter_read_config_default(void);

typedef struct gh_counter_read
{
    gh_op op;

    /* read-only, after GH_OK and GH_EMPTY */
    gh_counter_sample* samples; /* the oldest first; what has not been flushed is not in */
    uint32_t count;
    uint32_t stored;            /* of these: not filled in */
    uint64_t newest_s;          /* start of the newest slice of the time that was read, stored or not */
    int64_t sum;                /* of the samples; held at GH_COUNTERS_SUM_MAX, as each of them */
    int64_t min;                /* the least sample, the greatest, filled ones included */
    int64_t max;
    double average;
    double deviation;           /* standard deviation of the samples */

    /* private */
    gh_name name;
    uint64_t timeout_us;
    uint64_t until_s;
    uint64_t before_s;
    uint32_t seconds;
    uint32_t sample_count;
    bool fill_gaps;
} gh_counter_read;

/* Begins to read. It writes nothing.
   GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED; GH_INVALID_OP, _CLIENT, _NAME, _CONFIG, _TIMEOUT, _PRECISION,
   _SAMPLES (NULL, or sample_count). config may not be NULL: it has the samples. */
GH_API gh_status gh_counter_read_begin(gh_counter_read* read, gh_client* client, gh_str name,
                                       const gh_counter_read_config* config);

/* How it ends:
   GH_OK        count samples are there
   GH_EMPTY     none is stored in that time: no such counter, or not at that precision. With fill_gaps they
                are all 0
   GH_TIMEOUT   no answer
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- list ---------------------------------------------------------------------------------------------- */

typedef struct gh_counters_list_config
{
    size_t struct_size;  /* set by gh_counters_list_config_default; leave it */
    uint64_t timeout_us; /* from begin to the end; 1 ms..60 s, default 5 s */
    gh_name* names;      /* they come here */
    uint32_t name_count; /* room in names; 1..GH_COUNTERS_LIST_MAX, default 100 */
    uint64_t after;      /* `next` of the page before; 0 (default): from the first */
} gh_counters_list_config;

GH_API gh_counters_list_config gh_counters_list_config_default(void);

typedef struct gh_counters_list
{
    gh_op op;

    /* read-only, after GH_OK and GH_EMPTY */
    gh_name* names; /* see gh_name_str */
    uint32_t count;
    uint64_t next;  /* where the next page begins, which may be empty; 0: this was the last */

    /* private */
    uint32_t name_count;
    uint32_t shard;
    uint32_t place; /* in the shard */
} gh_counters_list;

/* Begins to list the counters that the fleet has, a page at a time, in no order that says anything. It writes nothing,
   and asks once for each of the 64 shards or more. A page is what there is while it is read: a counter that comes,
   goes, or is looked at by the cleaner between two requests may be on no page or on two.
   GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED; GH_INVALID_OP, _CLIENT, _CONFIG, _TIMEOUT, _LIMIT (name_count, after),
   _OUT (names). config may not be NULL: it has the names. */
GH_API gh_status gh_counters_list_begin(gh_counters_list* op, gh_client* client, const gh_counters_list_config* config);

/* How it ends:
   GH_OK        count names are there
   GH_EMPTY     there is none, or none any more
   GH_TIMEOUT, GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

#ifdef __cplusplus
}
#endif

#endif
