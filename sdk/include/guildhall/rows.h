/* guildhall/rows.h -- rows of a database, kept in the store and refreshed every so often by whichever game
   server has time.

       schedule "item 7", 5 s                                          get "item 7" --> bytes, version, age
              |                                                              ^
              v            due, claimed by one refresher                     |
       [ due: item 7 ] --------------------> your loader -- complete --> [ value ]     due again in 5 s
              ^                                   |
              '------- failed: after a pause -----'      unschedule: all of it goes, at once

       schedule, unschedule   begin --> row of this row --> SENT --> ended
       get                    begin --> SENT --> ended
       refresher              begin --> LOOKING <--> SLEEPING -- end: what was begun is finished --> OK
                                            '------ cancel, drain: what was claimed is given back --> CANCELLED
         each slot            FREE --> TAKEN --> LOADING <-> RENEWING --> FINISHING --> FREE
                                                    '-- lease lost, or too long --> VOID -- complete --> FREE

   TAKEN      claimed for us; the loader was not called yet, because the tick's budget was used up
   LOADING    your loader has it, for as many ticks as it takes; the tick renews the claim
   FINISHING  completed; the store has to know
   VOID       your loader still has it, but its result is not wanted any more

   Keys     rows are spread over 64 shards, XXH3-64(name) mod 64; each shard has a zset of due times, a hash
            of rows, a hash of values. KEYS.md has them all.
   Order    the row that is due for longest is loaded first. At most one refresher in the fleet loads a row at
            a time: a claim whose answer comes when its lease is over calls no loader, a late copy of a claim
            gets nothing, and a load whose lease ends is not wanted any more, which gh_row_complete says.
   Doubt    after a restart or a failover of the server, who is loading asks at once whether the store still
            knows; what was claimed and is not being loaded yet is given back.
   Versions of a row only grow, also when it was unscheduled and scheduled again, unless the store's clock went
            back in between. A refresh that was under way when its row was unscheduled, or whose lease is over,
            stores nothing.
   Late     copies of requests, from links that were given up, undo nothing: once a schedule or an unschedule is
            told as done, no copy of it changes what others have asked for since, whoever and however many they
            are. One that nobody was told of may still be carried out until its timeout_us is over: once, unless
            more than 8 other clients change the row meanwhile; and never later.
   Time     the store's clock decides what is due and how old a value is; age counts from before the loader
            was called.
   Storms   a row is due one period after it was loaded, less up to a tenth by chance; what was missed while
            nobody ran is not made up for. A refresher has at most its slots of rows at once, each tick begins
            at least one and no more than its budget bears.
   Threads  as the client; the loader is called inside gh_tick.   Memory  ops, slots, buffers are yours and
            stay in place.
   Failure  a refresher that dies gives its rows back after its lease. A loader that fails is called again
            after a pause that doubles, and the old value stays, getting older: a get says GH_OLD when it
            is older than max_age_us. The store drops a shard's values 7 days after the last refresh in it.
            When the store loses its data, schedule again. A row that is not as KEYS.md describes it is put off
            for a minute each time, and the others go on: rows.trouble says GH_CORRUPT; unschedule it.

   Use
       static void load(void* context, gh_row_load load, gh_str row) { query_begin(context, row, load); }
       ... when the query is done, any frame later: gh_row_complete(load, GH_OK, bytes);

       gh_rows_config config = gh_rows_config_default();
       config.loader = load, config.slots = slots, config.slot_count = 8;
       config.memory = memory, config.memory_size = sizeof memory;
       gh_rows_begin(&refresher, client, &config);
       gh_row_schedule_begin(&schedule, client, gh_str_literal("item 7"), NULL);
       ...
       gh_row_get_config get = gh_row_get_config_default();
       get.buffer = buffer, get.buffer_size = sizeof buffer;
       gh_row_get_begin(&item, client, gh_str_literal("item 7"), &get);
       ... each frame: gh_tick(...); if (gh_op_poll(&item.op) == GH_OK) show(item.value); */

#ifndef GUILDHALL_ROWS_H
#define GUILDHALL_ROWS_H

#include "guildhall/client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_ROWS_SHARDS 64                    /* part of the wire contract                          */
#define GH_ROWS_SLOTS_MAX 256                /* rows that one refresher has at once                */
#define GH_ROWS_CLAIM_MAX 10                 /* rows in one request                                */
#define GH_ROW_SIZE_MAX 8192                 /* bytes of a value                                   */
#define GH_ROWS_PERIOD_MIN_US 100000ull      /* 100 ms                                             */
#define GH_ROWS_PERIOD_MAX_US 86400000000ull /* 24 h                                               */
#define GH_ROWS_AGE_MAX_US 604800000000ull   /* 7 days                                             */
#define GH_ROWS_LEASE_MIN_US 1000000ull      /* 1 s                                                */
#define GH_ROWS_LEASE_MAX_US 3600000000ull   /* 1 h                                                */
#define GH_ROWS_BACKOFF_MAX_US 86400000000ull /* 24 h                                              */

/* Every begin below answers GH_OK; GH_NO_ROOM (ops_capacity); GH_TOO_LARGE (the request would not fit out_bytes);
   GH_CLOSED; GH_INVALID_OP (NULL or busy), _CLIENT, _NAME (of the row: 1..GH_NAME_SIZE_MAX bytes, any), _CONFIG,
   _TIMEOUT; and what stands with it. */

/* ---- schedule ------------------------------------------------------------------------------------------ */

typedef struct gh_row_schedule_config
{
    size_t struct_size;  /* set by gh_row_schedule_config_default; leave it */
    uint64_t period_us;  /* refreshed this often; GH_ROWS_PERIOD_MIN_US.._MAX_US, default 5 s */
    uint64_t max_age_us; /* older than this, a get says GH_OLD; period_us..GH_ROWS_AGE_MAX_US; 0
                            (default): 3 periods */
    uint64_t timeout_us; /* from begin to the end; 1 ms..60 s, default 5 s */
    bool now;            /* refresh it now, whenever it was due; if it is being loaded, once more when that is
                            done */
} gh_row_schedule_config;

GH_API gh_row_schedule_config gh_row_schedule_config_default(void);

typedef struct gh_row_schedule
{
    gh_op op;

    /* private */
    gh_gate gate;
    gh_name row;
    uint64_t period_us;
    uint64_t max_age_us;
    uint64_t seen_us; /* when the store told us to ask again, on its clock */
    bool now;
    bool away; /* unschedule */
} gh_row_schedule;

/* Begins to have the row refreshed: at once if it is new; a row that is scheduled already gets the new
   period, and is due after it at the latest. config may be NULL for the defaults. Besides:
   GH_INVALID_ROW_PERIOD, _ROW_AGE. */
GH_API gh_status gh_row_schedule_begin(gh_row_schedule* op, gh_client* client, gh_str row,
                                       const gh_row_schedule_config* config);

/* Begins to have it refreshed no more; its value goes too. Whatever is being loaded for it is not stored. Of config,
   which may be NULL for the defaults and is checked as above, timeout_us alone matters. */
GH_API gh_status gh_row_unschedule_begin(gh_row_schedule* op, gh_client* client, gh_str row,
                                         const gh_row_schedule_config* config);

/* How it ends:
   GH_OK        done; others may have asked for something else since
   GH_GONE      unschedule: it was not scheduled
   GH_FULL      schedule: 100,000 rows are in the row's shard
   GH_TIMEOUT   not done
   GH_UNKNOWN   sent, no answer: done or not, and not any more when timeout_us is over; or (an unschedule that the
                server stopped) done but for the value; do it again whenever you like
   GH_CANCELLED cancelled before it was sent
   GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- get ----------------------------------------------------------------------------------------------- */

typedef struct gh_row_get_config
{
    size_t struct_size;  /* set by gh_row_get_config_default; leave it */
    void* buffer;        /* the value comes here; NULL with a size of 0: only version and age */
    size_t buffer_size;
    uint64_t version;    /* that you have already: if the row still has it, no bytes come, and the buffer is
                            left alone, so that it can be a copy of yours; 0 (default): none */
    uint64_t max_age_us; /* instead of the one that it was scheduled with; 0 (default): that one */
    uint64_t timeout_us; /* 1 ms..60 s, default 5 s */
} gh_row_get_config;

GH_API gh_row_get_config gh_row_get_config_default(void);

typedef struct gh_row_get
{
    gh_op op;

    /* read-only, after GH_OK, GH_OLD, GH_SAME, GH_EMPTY and GH_TOO_SMALL */
    gh_str value;        /* in your buffer, until the next begin; empty after GH_SAME */
    uint64_t version;    /* larger for each refresh */
    uint64_t age_us;     /* since before it was loaded */
    size_t value_size;   /* of the stored value, also if it did not come */

    /* private */
    gh_name row;
    char* buffer;
    size_t buffer_size;
    uint64_t known_version;
    uint64_t max_age_us;
} gh_row_get;

/* Begins to read a row. It writes nothing to the store and never waits for a refresh. config may not be NULL:
   it has the buffer. Besides: GH_INVALID_BUFFER (NULL with a size), _ROW_AGE (max_age_us over
   GH_ROWS_AGE_MAX_US). */
GH_API gh_status gh_row_get_begin(gh_row_get* op, gh_client* client, gh_str row, const gh_row_get_config* config);

/* How it ends:
   GH_OK         here it is, and not too old
   GH_OLD        here it is, older than its max_age_us: no refresher runs, or its loader fails. Also when the
                 version is the same, or the buffer too small: compare version, and value_size with value.size
   GH_SAME       the version is the one that you gave, and it is not too old
   GH_EMPTY      the loader said that there is no such row
   GH_GONE       not scheduled, or not loaded yet
   GH_TOO_SMALL  the value needs a buffer of value_size bytes (or is larger than the client's reply_bytes)
   GH_TIMEOUT, GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

/* ---- refresh ------------------------------------------------------------------------------------------- */

struct gh_rows_slot;

/* One call of your loader. Copy it where you like; complete it exactly once. */
typedef struct gh_row_load
{
    struct gh_rows_slot* slot;
    uint64_t ticket;
} gh_row_load;

/* Begins to load the row. Called inside gh_tick; row stays in place until the load is completed. Complete it
   here or later; the loader may begin ops on the same client, and must not call gh_tick. */
typedef void (*gh_row_loader)(void* context, gh_row_load load, gh_str row);

typedef struct gh_rows_slot
{
    gh_op op;

    /* private */
    struct gh_rows* rows;
    uint64_t ticket;
    uint64_t claim;
    uint64_t lease_end_us;
    uint64_t void_us; /* when the loader has taken too long */
    uint64_t pause_us;
    char* memory;
    uint32_t memory_size;
    uint32_t value_size;
    uint32_t failures;
    uint8_t row_size;
    uint8_t shard;
    char outcome;  /* as rows_finish.lua wants it */
    bool loading;  /* the loader has it           */
    char row[GH_NAME_SIZE_MAX];
} gh_rows_slot;

typedef struct gh_rows_config
{
    size_t struct_size;      /* set by gh_rows_config_default; leave it */
    gh_row_loader loader;    /* required */
    void* context;           /* handed to it */
    gh_rows_slot* slots;     /* 1..GH_ROWS_SLOTS_MAX, zeroed; in place until the refresher has ended and every
                                load is completed. Each counts as an op of the client all the time */
    size_t slot_count;
    void* memory;            /* divided among the slots: values are copied here when they are completed.
                                GH_ROW_SIZE_MAX for each slot is enough for all values */
    size_t memory_size;
    uint64_t lease_us;       /* others get a row this long after we vanish; GH_ROWS_LEASE_MIN_US.._MAX_US,
                                default 10 s */
    uint64_t load_us;        /* a load that takes longer than this has failed; 1 ms..1 h, default 30 s */
    uint64_t backoff_min_us; /* after a failed load; doubles with each, up to the maximum, and is drawn from
                                its upper half */
    uint64_t backoff_max_us; /* 1 ms..GH_ROWS_BACKOFF_MAX_US, default 1 s and 1 min */
} gh_rows_config;

GH_API gh_rows_config gh_rows_config_default(void);

typedef struct gh_rows
{
    gh_op op;

    /* read-only */
    uint32_t loading;  /* slots that are not free */
    uint64_t stored;   /* loads whose value (or absence) was stored */
    uint64_t failed;   /* that failed, took too long, or did not fit */
    uint64_t lost;     /* claims that were over: their answer came too late, their lease ended, or their row was
                          unscheduled meanwhile; and loads of which it is not known whether they were stored */
    uint64_t late_us;  /* how long the first row of the last claim was due: grows when there are too few
                          refreshers */
    gh_status trouble; /* the last answer of the store that was no good, GH_OK if there was none */

    /* private */
    struct gh_op* next_owner;
    gh_rows_config config;
    uint64_t look_us[GH_ROWS_SHARDS];  /* when each shard is to be looked at                     */
    uint32_t pause_us[GH_ROWS_SHARDS]; /* least pause: grows while others are faster             */
    uint64_t promised;                 /* a bit for each shard that said when a row is due        */
    uint64_t claim;                    /* number of the current or last one                      */
    uint64_t begun_us;                 /* the tick in which a loader was called last             */
    uint8_t shard;                     /* of the current or last claim                           */
    uint8_t asked;                     /* how many rows it asked for                             */
    int16_t outcome;                   /* what poll says when it has ended                       */
    bool ending;
} gh_rows;

/* Begins to refresh rows, of all shards, until gh_rows_end. Besides: GH_NO_ROOM (the slots do not fit
   ops_capacity), GH_INVALID_ROW_LOADER, _ROW_SLOTS (NULL, none, too many, or busy), _BUFFER (memory is NULL
   with a size), _LEASE, _TIMEOUT (load_us), _ROW_BACKOFF. */
GH_API gh_status gh_rows_begin(gh_rows* op, gh_client* client, const gh_rows_config* config);

/* How it ends:
   GH_IDLE      never begun
   GH_OK        ended by gh_rows_end
   GH_PENDING   refreshing
   GH_CANCELLED cancelled, or the client was closed */

/* Asks it to end: it claims nothing any more, and ends GH_OK when all loads are completed and stored (or have taken
   longer than load_us). Nothing happens to one that is not busy, or is NULL. */
GH_API void gh_rows_end(gh_rows* op);

/* gh_op_cancel gives back at once what was claimed; loads that are not completed are void. What a claim got whose
   answer does not come in time is due again after its lease. */

/* Ends a load. outcome GH_OK: value is the row; it is copied. GH_EMPTY: there is no such row; that is stored
   too. Anything else: it failed, and the row is tried again after the back-off. May be called inside the
   loader, or any time later, between or inside ticks.
   GH_OK: taken, and on its way to the store: stored or failed will count it; lost instead, if the claim is over
   when it gets there (after a frame of a whole lease, say), and then nothing was stored;
   GH_LOST: its result is not wanted any more (unscheduled, lease lost, took too long, cancelled);
   GH_TOO_SMALL: the value does not fit the slot's memory, which counts as failed; GH_INVALID_ROW_LOAD:
   completed before, or no load at all; GH_INVALID_ROW_VALUE: over GH_ROW_SIZE_MAX, or NULL with a size:
   nothing has happened, complete it again. */
GH_API gh_status gh_row_complete(gh_row_load load, gh_status outcome, gh_str value);

/* False once the result is not wanted any more, for loaders that take long. */
GH_API bool gh_row_load_is_wanted(gh_row_load load);

#ifdef __cplusplus
}
#endif

#endif
