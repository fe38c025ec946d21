/* counting.h -- counters of the tests, and what the store has of them by the layout of sdk/KEYS.md. */

#ifndef GUILDHALL_TESTS_COUNTING_H
#define GUILDHALL_TESTS_COUNTING_H

#include "support/scene/game.h"
#include "support/server/redis_server.h"

#include <stdlib.h>

typedef struct counting
{
    game* game;
    gh_counters* counters;
} counting;

/* A server whose clock stand_at sets, to a tenth of a second behind the start of that second. */
redis_server* server_with_clock(void);
void stand_at(redis_server* server, uint64_t second);

/* The start of an hour that is still to come. */
uint64_t next_hour_s(void);

/* The defaults, but it flushes only when asked to, and never cleans. */
gh_counters_config counting_config(void);

/* NULL: counting_config. Lives as long as the game. */
counting* counting_start(game* owner, const gh_counters_config* config);

gh_counter counting_open(counting* self, const char* name);
void counting_add(counting* self, const char* name, int64_t delta);

/* Flushes, and ticks until all is answered. */
void counting_settle(counting* self);
gh_counters_stats counting_stats(const counting* self);

/* A read that is over. */
gh_counter_read* counting_read(game* from, const char* name, uint32_t seconds, uint32_t count, bool fill);
gh_counter_read* counting_read_until(game* from, const char* name, uint32_t seconds, uint32_t count, bool fill,
                                     uint64_t until_s);
gh_counter_read* counting_read_name(game* from, gh_str name, uint32_t seconds, uint32_t count, bool fill);

/* A text made by printf; good for the next eight calls of this and of the keys below. */
const char* counting_text(const char* format, ...);

/* Keys of counters whose names need no encoding. */
unsigned stored_shard(const char* name);
const char* stored_open_key(const char* name);
const char* stored_list_key(const char* name, unsigned seconds);
const char* stored_shard_key(const char* name, const char* part);

/* The sum of all slices of one precision, each of which must be of its form and in its place. */
int64_t stored_sum(redis_server* server, const char* name, unsigned seconds);

/* Of the slice that starts then; 0 if it is not there. */
int64_t stored_slice(redis_server* server, const char* name, unsigned seconds, uint64_t start_s);

#endif
