/* aggregate_room.h -- what the files of aggregate.h share: the block of memory behind an aggregate.

   counts is a table of days x nodes. While lines are counted, only nodes of cities have counts; the flush
   adds them up into those of their regions and countries. */

#ifndef GH_AGGREGATE_ROOM_H
#define GH_AGGREGATE_ROOM_H

#include "base/arena.h"
#include "base/hash.h"
#include "client/op.h"
#include "guildhall/aggregate.h"
#include "guildhall/geo.h"
#include "wire/name.h"

#define GH_AGGREGATE_MAGIC 0x6768616767726531ull
#define GH_AGGREGATE_DAY_SIZE 10u       /* "2011-10-10" */
#define GH_AGGREGATE_PIECE_BYTES 8192u
#define GH_AGGREGATE_PIECE_LINES 64u   /* one script adds them in less than 500 us */

typedef struct aggregate_day
{
    char text[GH_AGGREGATE_DAY_SIZE];
    bool summed;     /* regions and countries have their sums       */
    bool prepared;   /* digest and pieces are known                 */
    bool is_there;   /* it is in the totals, as the last look found */
    bool is_new;     /* this flush has added it                     */
    uint32_t unknown;
    uint32_t pieces;
    uint32_t summing; /* nodes from here on have given to their parents */
    gh_digest digest;
} aggregate_day;

struct gh_aggregate
{
    uint64_t magic;
    gh_aggregate_config config;
    const gh_geo* table;
    uint32_t* counts;
    char* piece;
    gh_digest_stream* stream;
    aggregate_day* days;
    aggregate_day* last_day; /* of the line before: the next one is of the same, most of the time */
    uint32_t* last_counts;
    uint32_t nodes;
    uint32_t day_count;
    uint32_t carry_size;
    bool full;
    bool flushed; /* takes no more lines */
    bool busy;    /* a flush goes on     */
    bool skipping; /* in the middle of a line that is too long */
    uint64_t lines;
    uint64_t lines_unknown;
    uint64_t lines_malformed;
    uint64_t lines_other;
    gh_name action; /* size 0: all */
    char carry[GH_AGGREGATE_LINE_MAX + 1]; /* with a \r; the beginning of a line that ends in a later piece */
};

static inline bool gh_aggregate_is_one(const gh_aggregate* aggregate)
{
    return aggregate != NULL && aggregate->magic == GH_AGGREGATE_MAGIC;
}

static inline uint32_t* gh_aggregate_counts_of(const gh_aggregate* aggregate, const aggregate_day* day)
{
    return aggregate->counts + (size_t)(day - aggregate->days) * aggregate->config.nodes_capacity;
}

static inline gh_str gh_aggregate_kind(void)
{
    return gh_str_literal("daily");
}

/* aggregate_lines.c: true for a date that exists, from 2000 to 2099, as "2011-10-10" */
bool gh_aggregate_is_day(const char* text);

/* aggregate_lines.c: the last line, if it has no end */
void gh_aggregate_end_lines(gh_aggregate* aggregate);

/* Writes the keys "gh:{daily:<set>.<day>}:<part>" for each letter of parts. */
void gh_aggregate_encode_keys(gh_request* request, const gh_op* op, gh_str set, const char* day,
                              const char* parts);

#endif
