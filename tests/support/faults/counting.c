/* counting.c -- counters begun, and their keys read over a connection of the test. */

#include "support/faults/counting.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

redis_server* server_with_clock(void)
{
    redis_server_options options = {.clock = true};
    return redis_server_start(&options);
}

static uint64_t true_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * SECOND_US + (uint64_t)now.tv_nsec / 1000;
}

void stand_at(redis_server* server, uint64_t second)
{
    redis_server_shift_clock(server, (int64_t)(second * SECOND_US + SECOND_US / 10) - (int64_t)true_us());
}

uint64_t next_hour_s(void)
{
    return (true_us() / SECOND_US / 3600 + 1) * 3600;
}

gh_counters_config counting_config(void)
{
    gh_counters_config config = gh_counters_config_default();
    config.flush_us = 3600 * SECOND_US;
    config.clean_us = 0;
    return config;
}

counting* counting_start(game* owner, const gh_counters_config* config)
{
    gh_counters_config defaults = counting_config();
    if (config == NULL) config = &defaults;
    counting* self = GAME_NEW(owner, counting);
    size_t size = gh_counters_memory(config);
    assert_true(size > 0);
    char* memory = GAME_NEW_ARRAY(owner, char, size + 16);
    memory += (16 - ((uintptr_t)memory & 15)) & 15;
    memset(memory, 0xa5, size);
    self->game = owner;
    assert_status(gh_counters_init(&self->counters, owner->client, config, memory, size), GH_OK);
    return self;
}

gh_counter counting_open(counting* self, const char* name)
{
    gh_counter counter;
    assert_status(gh_counters_open(self->counters, gh_str_of(name), &counter), GH_OK);
    return counter;
}

void counting_add(counting* self, const char* name, int64_t delta)
{
    assert_status(gh_counters_add(self->counters, counting_open(self, name), delta), GH_OK);
}

void counting_settle(counting* self)
{
    assert_status(gh_counters_flush(self->counters), GH_OK);
    GAME_UNTIL(gh_counters_poll(self->counters) != GH_PENDING);
    assert_status(gh_counters_poll(self->counters), GH_OK);
}

gh_counters_stats counting_stats(const counting* self)
{
    gh_counters_stats stats;
    assert_status(gh_counters_get_stats(self->counters, &stats), GH_OK);
    assert_int_equal(stats.added, stats.counted + stats.waiting + stats.unknown + stats.refused);
    return stats;
}

static gh_counter_read* read_over(game* from, gh_str name, uint32_t seconds, uint32_t count, bool fill,
                                  uint64_t until_s)
{
    gh_counter_read* read = GAME_NEW(from, gh_counter_read);
    gh_counter_read_config config = gh_counter_read_config_default();
    config.seconds = seconds;
    config.samples = GAME_NEW_ARRAY(from, gh_counter_sample, count);
    config.sample_count = count;
    config.fill_gaps = fill;
    config.until_s = until_s;
    assert_status(gh_counter_read_begin(read, from->client, name, &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&read->op) != GH_PENDING);
    return read;
}

gh_counter_read* counting_read(game* from, const char* name, uint32_t seconds, uint32_t count, bool fill)
{
    return read_over(from, gh_str_of(name), seconds, count, fill, 0);
}

gh_counter_read* counting_read_until(game* from, const char* name, uint32_t seconds, uint32_t count, bool fill,
                                     uint64_t until_s)
{
    return read_over(from, gh_str_of(name), seconds, count, fill, until_s);
}

gh_counter_read* counting_read_name(game* from, gh_str name, uint32_t seconds, uint32_t count, bool fill)
{
    return read_over(from, name, seconds, count, fill, 0);
}

const char* counting_text(const char* format, ...)
{
    static char texts[8][128];
    static unsigned turn;
    char* text = texts[turn++ % 8];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(texts[0]), format, arguments);
    va_end(arguments);
    return text;
}

unsigned stored_shard(const char* name)
{
    return (unsigned)(XXH3_64bits(name, strlen(name)) % 64);
}

const char* stored_open_key(const char* name)
{
    return counting_text("gh:{counters:%u}:o:%s", stored_shard(name), name);
}

const char* stored_list_key(const char* name, unsigned seconds)
{
    return counting_text("gh:{counters:%u}:c:%u:%s", stored_shard(name), seconds, name);
}

const char* stored_shard_key(const char* name, const char* part)
{
    return counting_text("gh:{counters:%u}:%s", stored_shard(name), part);
}

typedef struct stored_walk
{
    unsigned seconds;
    uint64_t before_s; /* the next slice must start before this one */
    uint64_t wanted_s; /* 0: all                                    */
    int64_t sum;
} stored_walk;

static void walk_slice(stored_walk* walk, const char* text)
{
    uint64_t start_s;
    int64_t sum;
    int size = 0;
    assert_int_equal(sscanf(text, "%" SCNu64 " %" SCNd64 "%n", &start_s, &sum, &size), 2);
    assert_int_equal(text[size], 0);
    assert_int_equal(start_s % walk->seconds, 0);
    if (start_s >= walk->before_s) fail_msg("the slice %s is out of order", text);
    walk->before_s = start_s;
    if (walk->wanted_s == 0 || walk->wanted_s == start_s) walk->sum += sum;
}

int64_t stored_slice(redis_server* server, const char* name, unsigned seconds, uint64_t start_s)
{
    stored_walk walk = {.seconds = seconds, .before_s = UINT64_MAX, .wanted_s = start_s};
    const char* open = redis_server_text(server, "HGET %s %u", stored_open_key(name), seconds);
    if (open != NULL) walk_slice(&walk, open);
    redisReply* closed = redis_server_command(server, "LRANGE %s 0 -1", stored_list_key(name, seconds));
    for (size_t i = 0; i < closed->elements; i++) walk_slice(&walk, closed->element[i]->str);
    freeReplyObject(closed);
    return walk.sum;
}

int64_t stored_sum(redis_server* server, const char* name, unsigned seconds)
{
    return stored_slice(server, name, seconds, 0);
}
