/* guildhall/aggregate.h -- where the events of log files came from: totals by day, country, region and city,
   of all events or of one action, each file counted once.

       "173.194.38.137 2011-10-10 13:55:36 achievement-762"     this process         the store, by day
        |              |
        geo.h: city    day -----> one counter of memory += 1
                                  ... the whole file: 29 M lines a second with a small table,
                                      5 M with 3 M ranges and random addresses
                                  flush: sums of regions, countries --> staged --> added to the day's totals

       start(table) --> COUNTING --add, add, ...--> flush begin --> PREPARING --> LOOKING --> STAGING
            ^                                                                                    |
            '------------------------------------------------ ended <------------- ADDING <-----'

   Once     a file has a name, and is counted once under it, whoever processes it and how often. Its sums are
            first staged beside the totals, then added piece by piece, each with its note in the same step. A
            worker that dies leaves nothing half-counted that the next one to come with this file would not
            finish, even with another table of places.
   Lines    "address date time event", fields parted by blanks or tabs; ended by \n or \r\n. A line that is
            none of that is counted as malformed and left out; empty lines are nothing. An address that the
            table does not know counts for its day, in no country.
   Local    one counter for each place and day, in your memory: 4 bytes x nodes_capacity x days_capacity.
   Keys     gh:{daily:<set>.<day>}: :0 countries, :1 regions, :2 cities, each with its total; :f files, :g
            what is staged.
   Time     days are those of the lines. A flush takes as many ticks as it needs, and ends without progress
            for progress_us.
   Threads  an aggregate belongs to one thread at a time; it needs a client only to flush.
   Memory   one block of yours. While a flush goes on, the aggregate and its table stay in place.
   Failure  every request may be repeated, and is. A flush that ended in any way may be begun again.
   Cost     two requests of up to 8 KiB for each 64 places that had events.

   Use
       gh_aggregate_start(aggregate, table);
       while (gh_file_read_block(&file, &block) == GH_OK) gh_aggregate_add(aggregate, block);     or your own
       gh_aggregate_flush_begin(&flush, client, aggregate, gh_str_literal("logins"), file_name, NULL);
       ... each frame: gh_tick(...); if (gh_op_poll(&flush.op) == GH_OK) next_file();

       gh_aggregate_read_config want = gh_aggregate_read_config_default();        the ten countries of a day
       want.totals = totals, want.total_count = 10, want.text = text, want.text_size = 4000;
       gh_aggregate_read_begin(&read, client, gh_str_of("logins"), gh_str_of("2011-10-10"), &want); */

#ifndef GUILDHALL_AGGREGATE_H
#define GUILDHALL_AGGREGATE_H

#include "guildhall/client.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gh_geo; /* guildhall/geo.h */
typedef struct gh_aggregate gh_aggregate;

#define GH_AGGREGATE_SET_SIZE_MAX 53   /* bytes in the name of a set of totals; any byte may be in it  */
#define GH_AGGREGATE_LINE_MAX 1024     /* bytes in a line; a longer one is malformed                    */
#define GH_AGGREGATE_DAYS_MAX 64
#define GH_AGGREGATE_TOTALS_MAX 10000  /* in one read; the next page begins with `first` behind it         */

typedef struct gh_aggregate_config
{
    size_t struct_size;      /* set by gh_aggregate_config_default; leave it */
    uint32_t nodes_capacity; /* of the table of places, its gh_geo_node_count or more; 1..16777216,
                                default 65,536 */
    uint32_t days_capacity;  /* different days in one file; 1..GH_AGGREGATE_DAYS_MAX, default 3 */
    gh_str action;           /* counts only lines whose event begins so, as "login" or "achievement-"; copied, at most
                                GH_NAME_SIZE_MAX bytes. Empty (default): all. To count by action, give the file to an
                                aggregate for each action, and flush each to a set of its own */
} gh_aggregate_config;

GH_API gh_aggregate_config gh_aggregate_config_default(void);

/* The exact size of the block for this config, in bytes; NULL: the defaults. 0 if the config is not valid, or wants
   more than a program of 32 bits can have. */
GH_API size_t gh_aggregate_memory(const gh_aggregate_config* config);

/* In your memory, aligned to 16. config may be NULL for the defaults.
   GH_OK, GH_INVALID_CONFIG, _CAPACITY, _OUT, _MEMORY. */
GH_API gh_status gh_aggregate_init(gh_aggregate** aggregate, const gh_aggregate_config* config, void* memory,
                                   size_t size);

/* ---- counting ------------------------------------------------------------------------------------------ */

/* Forgets all counts and begins a file. The table must be sealed, and stay until the file is flushed. GH_OK;
   GH_FULL (nodes_capacity); GH_INVALID_AGGREGATE (NULL, not initialised, or being flushed), _TABLE. */
GH_API gh_status gh_aggregate_start(gh_aggregate* aggregate, const struct gh_geo* table);

/* Counts the lines of a piece of the file, in order; a line may end in a later piece. GH_OK; GH_FULL: lines
   of more than days_capacity days, or more than 2^32 - 1 lines: the file cannot be flushed, begin it again
   with more; GH_INVALID_AGGREGATE (NULL, not initialised or started, or flushed since), _BUFFER (bytes NULL
   with a size). */
GH_API gh_status gh_aggregate_add(gh_aggregate* aggregate, gh_str bytes);

/* Counts one line, which may have its end or not: as gh_file_read_line gives it. As gh_aggregate_add. */
GH_API gh_status gh_aggregate_add_line(gh_aggregate* aggregate, gh_str line);

typedef struct gh_aggregate_stats
{
    size_t struct_size; /* how much of it the library knows; the rest is 0 */
    uint64_t lines;           /* that were counted                                              */
    uint64_t lines_unknown;   /* of them with an address in no range                            */
    uint64_t lines_malformed; /* left out                                                       */
    uint64_t lines_other;     /* left out: of another action                                    */
    uint32_t days;
} gh_aggregate_stats;

/* What gh_aggregate_get_stats calls: for a struct of that size, as the caller's headers have it. */
GH_API gh_status gh_aggregate_read_stats(const gh_aggregate* aggregate, void* stats, size_t size);

/* Of the present file. GH_OK, GH_INVALID_AGGREGATE, GH_INVALID_OUT. */
static inline gh_status gh_aggregate_get_stats(const gh_aggregate* aggregate, gh_aggregate_stats* stats)
{
    return gh_aggregate_read_stats(aggregate, stats, sizeof *stats);
}

/* How many lines of the present file fell on a day ("2011-10-10") and a node of the table, of any level;
   before the flush. With GH_GEO_NO_NODE: in no range. 0 if the day or the node is none. */
GH_API uint64_t gh_aggregate_count(const gh_aggregate* aggregate, gh_str day, uint32_t node);

/* ---- flush --------------------------------------------------------------------------------------------- */

typedef struct gh_aggregate_flush_config
{
    size_t struct_size;   /* set by gh_aggregate_flush_config_default; leave it */
    uint64_t progress_us; /* end when the store moves nothing for so long; 1 ms..24 h, default 30 s */
    uint64_t keep_us;     /* a day is dropped, and what is staged for it, so long after a flush has last staged or
                             added something; 0 (default): never; 1 h..100 years. The last flush decides */
} gh_aggregate_flush_config;

GH_API gh_aggregate_flush_config gh_aggregate_flush_config_default(void);

typedef struct gh_aggregate_flush
{
    gh_op op;

    /* read-only */
    uint32_t days;      /* in the file                                              */
    uint32_t days_done; /* that are in the totals now                               */
    uint32_t days_new;  /* of them those that were not there before                 */
    uint32_t chunks;    /* of the present day, and how many of them                 */
    uint32_t chunks_staged;
    uint32_t chunks_added;

    /* private */
    gh_aggregate* aggregate;
    gh_name set;
    gh_name file;
    uint64_t progress_us;
    uint64_t keep_us;
    uint64_t moved_us;
    uint32_t day;
    uint32_t node;   /* where the next chunk begins */
    uint32_t passed; /* chunks, on the way there    */
    uint8_t losses;  /* of what was there before    */
    bool added_since;
    bool all_added;
    bool copy_hangs; /* of a request to add, on a dead link */
    bool differs;
    bool cancelled;
} gh_aggregate_flush;

/* Begins to add what was counted to the totals of a set. config may be NULL for the defaults.
   GH_OK; GH_NO_ROOM (ops_capacity); GH_TOO_LARGE (out_bytes must be 16 KiB or more); GH_FULL (an add had answered it);
   GH_CLOSED; GH_INVALID_OP, _CLIENT, _AGGREGATE (not started, or being flushed), _NAME (the set's, or the
   file's), _CONFIG, _TIMEOUT (progress_us), _ABANDONED (keep_us). */
GH_API gh_status gh_aggregate_flush_begin(gh_aggregate_flush* op, gh_client* client, gh_aggregate* aggregate,
                                          gh_str set, gh_str file, const gh_aggregate_flush_config* config);

/* How it ends:
   GH_OK        the file is in the totals
   GH_EXISTS    the file was in the totals already: nothing was added
   GH_DIFFERS   a file of that name was counted, or is being counted, with other sums: nothing was added but
                the days_new days before that one. It is another file, or the table of places is another one
   GH_TIMEOUT, GH_CANCELLED   not all is in the totals: begin again, with this aggregate or from the file
   GH_UNKNOWN   as GH_TIMEOUT, while a piece was on its way, or after the link was lost with one that the store may add
                yet, or the store kept losing what it had, or all days were added and it was not seen whether they are
                still there: begin again to make sure
   A store that loses its data while the flush goes on (FLUSHALL, a restart without a file): the flush finds it,
   stages and adds again what is not there, and ends GH_OK when the whole file is in the totals that are there.
   GH_REFUSED, GH_CORRUPT   as GH_TIMEOUT, with a reason: see gh_status_text
   gh_op_cancel stops it where it is; a piece that is on its way is waited for, unless it ends GH_UNKNOWN whatever the
   answer is. What is staged completely will be finished by whoever comes next with this file. */

/* ---- read ---------------------------------------------------------------------------------------------- */

typedef enum gh_aggregate_level
{
    GH_AGGREGATE_COUNTRY = 0,
    GH_AGGREGATE_REGION,
    GH_AGGREGATE_CITY
} gh_aggregate_level;

typedef struct gh_aggregate_total
{
    gh_str country; /* empty, with level country: addresses in no range, or in one whose country is empty */
    gh_str region;
    gh_str city;
    uint64_t count;
} gh_aggregate_total;

typedef struct gh_aggregate_read_config
{
    size_t struct_size;        /* set by gh_aggregate_read_config_default; leave it */
    gh_aggregate_level level;  /* default GH_AGGREGATE_COUNTRY */
    uint64_t timeout_us;       /* the longest time without an answer; 1 ms..60 s, default 5 s */
    uint32_t first;            /* passes over so many: 0 (default) begins with the largest, and the place behind a
                                  page with the next one. Any number */
    gh_aggregate_total* totals; /* the largest from there on come here; 1..GH_AGGREGATE_TOTALS_MAX */
    size_t total_count;
    char* text;                /* their names come here */
    size_t text_size;
} gh_aggregate_read_config;

GH_API gh_aggregate_read_config gh_aggregate_read_config_default(void);

typedef struct gh_aggregate_read
{
    gh_op op;

    /* read-only, after GH_OK and GH_TOO_SMALL */
    const gh_aggregate_total* totals; /* the largest first */
    uint32_t count;

    /* private */
    uint32_t capacity;
    uint32_t first;
    gh_name set;
    gh_aggregate_total* out;
    char* text;
    size_t text_size;
    size_t text_used;
    uint64_t timeout_us;
    char day[10];
    uint8_t level;
} gh_aggregate_read;

/* Begins to read the largest totals of a day, or the page of them that begins at config's first. GH_OK; GH_NO_ROOM
   (ops_capacity); GH_CLOSED; GH_INVALID_OP, _CLIENT, _NAME (the set's), _DAY, _CONFIG, _LEVEL, _TIMEOUT, _TOTALS
   (totals, total_count, text, text_size). config may not be NULL: it has the room. */
GH_API gh_status gh_aggregate_read_begin(gh_aggregate_read* op, gh_client* client, gh_str set, gh_str day,
                                         const gh_aggregate_read_config* config);

/* How it ends:
   GH_OK        count totals, fewer than total_count if there are no more. Totals may grow between the pages
                of a long read: one may then stand on two of them or on none
   GH_EMPTY     nothing was counted on that day, or no more than first
   GH_TOO_SMALL text_size was too small for the names of all; the first count are there
   GH_TIMEOUT   no answer
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text */

#ifdef __cplusplus
}
#endif

#endif
