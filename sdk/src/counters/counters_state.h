/* counters_state.h -- what the files of the counters share.

       counters_life.c   begin and end; the control op, which owns those of the lanes and the cleaner
       counters_batch.c  what was added becomes batches, and what becomes of them
       counters_clean.c  the cleaner
       counters_dated.c  adds at a given time
       counters_slots.c  slots: names
       counters_add.c    adds
       counters_read.c   reads; knows nothing of the rest
       counters_list.c   lists; nor does this */

#ifndef GH_COUNTERS_STATE_H
#define GH_COUNTERS_STATE_H

#include "client/op.h"
#include "guildhall/counters.h"
#include "wire/name.h"

#define GH_COUNTERS_MAGIC         0x6768636f756e7473ull
#define GH_COUNTERS_SHARDS        64u /* part of the wire contract */
#define GH_COUNTERS_LANES         16u /* batches under way at once */
#define GH_COUNTERS_BATCH_MAX     6u  /* counters in one           */
#define GH_COUNTERS_LATE_MAX      2u  /* in one that is late: its slices have to be looked for */
#define GH_COUNTERS_LATE_US       2000000ull
#define GH_COUNTERS_CLEAN_MAX     8u    /* counters in one request   */
#define GH_COUNTERS_ROOM          2048u /* bytes of a request for digest, shared keys, precisions */
#define GH_COUNTERS_NONE          UINT32_MAX
#define GH_COUNTERS_NAME_SIZE_MAX (3u * GH_NAME_SIZE_MAX) /* as it stands in keys */

enum
{
    GH_COUNTER_OPEN = 1 << 0,  /* has a handle                                      */
    GH_COUNTER_DIRTY = 1 << 1, /* in the row of its shard: live has not been sent   */
    GH_COUNTER_FROZEN = 1 << 2 /* in a batch                                        */
};

typedef struct gh_counters_slot
{
    int64_t live;   /* added since the last batch        */
    int64_t frozen; /* in the batch that is under way    */
    uint64_t live_adds;
    uint64_t frozen_adds;
    uint32_t generation;
    uint32_t next_named; /* in the table of names, or among those that are free */
    uint32_t next_dirty;
    uint32_t next_frozen;
    uint32_t at_s;  /* of a place without a name in the table: the second that its adds were given; 0: of no time */
    uint32_t dated; /* the place that took the last add of this counter with a time, perhaps over by now; or none   */
    uint32_t since; /* when it began to wait, by the client's clock in units of 1,024 us; wraps after 50 days       */
    uint8_t shard;
    uint8_t flags;
    uint8_t name_size;
    char name[GH_NAME_SIZE_MAX];
} gh_counters_slot;

/* Slots that wait, in the order in which they were first added to; when that was of the first, and when the last add
   of all came, by the client's clock. */
typedef struct gh_counters_shard
{
    uint32_t first;
    uint32_t last;
    uint64_t first_us;
    uint64_t last_us;
} gh_counters_shard;

/* One batch at a time. Its op is busy all the while, so that a drain cannot keep the last batches from being
 * sent. */
typedef struct gh_counters_lane
{
    gh_op op;
    gh_gate gate;
    gh_counters* counters;
    uint64_t first_us; /* of the adds in the batch */
    uint64_t last_us;
    uint32_t first; /* slot; GH_COUNTERS_NONE: no batch */
    uint32_t count;
    uint32_t shard;
} gh_counters_lane;

typedef struct gh_counters_cleaning
{
    gh_op op;
    uint64_t round_us;     /* when this round began  */
    uint64_t lease_end_us; /* by the client's clock  */
    uint32_t shard;        /* of this round; GH_COUNTERS_SHARDS: the round is over */
    uint32_t count;        /* counters to clean with the next request */
    uint32_t asked_on;     /* times, about what should not be in this shard */
    bool owner;
    bool over; /* the last word has been said */
    uint8_t name_sizes[GH_COUNTERS_CLEAN_MAX];
    char names[GH_COUNTERS_CLEAN_MAX][GH_COUNTERS_NAME_SIZE_MAX];
} gh_counters_cleaning;

typedef struct gh_counters_part
{
    char text[2 + GH_DECIMAL_SIZE_MAX]; /* "c:<seconds>" */
    uint32_t size;
} gh_counters_part;

struct gh_counters
{
    uint64_t magic;
    uint64_t seed; /* of the hash of names */
    gh_counters_config config;
    gh_counters_part parts[GH_COUNTERS_PRECISIONS_MAX];
    gh_op control; /* its timer brings shard after shard; busy as long as there is a client */
    gh_op* next_owner;
    gh_counters_cleaning cleaning;
    gh_counters_lane lanes[GH_COUNTERS_LANES];
    gh_counters_shard shards[GH_COUNTERS_SHARDS];
    uint64_t dirty; /* a bit a shard: something waits      */
    uint64_t due;   /* it shall be sent                    */
    uint64_t busy;  /* a batch of it is under way          */
    uint64_t visit_us;
    uint32_t visit;  /* shard that the timer brings next   */
    uint32_t cursor; /* shard that gets the next free lane */
    bool armed;      /* the timer runs                     */
    bool ending;
    gh_status ended; /* GH_PENDING: not yet                */

    gh_counters_slot* slots;
    uint32_t* names; /* heads of chains of slots, by the hash of the name */
    uint32_t name_mask;
    uint32_t free_first;
    gh_counters_stats stats;
};

static inline gh_str gh_counters_kind(void)
{
    return gh_str_literal("counters");
}

static inline bool gh_counters_are_valid(const gh_counters* counters)
{
    return counters != NULL && counters->magic == GH_COUNTERS_MAGIC;
}

/* When a slot began to wait, by the client's clock, or up to a millisecond before. */
static inline uint64_t gh_counters_since_us(const gh_counters_slot* slot, uint64_t now_us)
{
    const uint64_t now = now_us >> 10;
    return (now - (uint32_t)((uint32_t)now - slot->since)) << 10;
}

/* counters_slots.c */
void gh_counters_free_slot(gh_counters* counters, uint32_t index);

/* counters_add.c */
void gh_counters_mark_dirty(gh_counters* counters, uint32_t index, uint64_t added_us);
gh_counters_slot* gh_counters_slot_of(const gh_counters* counters, gh_counter counter); /* NULL: it is not open */
/* The outcome of an add where that is NULL, or nothing is taken any more. A counter of nothing is one for which there
   was no place. */
gh_status gh_counters_drop_add(gh_counters* counters, gh_counter counter);
gh_status gh_counters_add_to(gh_counters* counters, uint32_t index, int64_t delta);
uint64_t gh_counters_pace_us(const gh_counters* counters); /* from one shard to the next */

/* counters_batch.c */
extern const gh_op_kind gh_counters_lane_kind;
void gh_counters_visit(gh_counters* self); /* the control op's timer has come */
void gh_counters_serve(gh_counters* counters);
void gh_counters_abandon_batch(gh_counters_lane* lane);

/* counters_clean.c */
void gh_counters_clean_begin(gh_counters* counters);
void gh_counters_clean_end(gh_counters* counters);

/* What the keys and the number of one counter take at most on the wire. */
size_t gh_counters_keys_size(const gh_counters* counters, size_t encoded_size);

/* "<precisions> { <seconds> <samples> }" as arguments, and the keys of one counter: open slices, then each
 * list. */
void gh_counters_encode_precisions(gh_request* request, const gh_counters* counters);
void gh_counters_encode_keys(gh_request* request, const gh_counters* counters, uint32_t shard,
                             gh_str encoded_name);

#endif
