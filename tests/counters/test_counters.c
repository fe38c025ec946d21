/* Tests of guildhall/counters.h against real servers. The store is looked at by the layout of KEYS.md alone.
 */

#include "support/faults/counting.h"
#include "support/faults/heap.h"

#include <stdio.h>
#include <string.h>

/* ---- the ordinary way ---------------------------------------------------------------------------------- */

/* What is added shows at each precision, and goes in the end. */
static void adds_show_at_every_precision(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    static const uint32_t seconds[] = {1, 5, 60, 300, 3600, 18000, 86400};
    for (int64_t i = 1; i <= 4; i++) counting_add(hits, "hits", i * 10);
    counting_settle(hits);
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++)
    {
        gh_counter_read* read = counting_read(hits->game, "hits", seconds[i], 120, false);
        assert_status(gh_op_poll(&read->op), GH_OK);
        assert_int_equal(read->sum, 100);
        assert_int_equal(stored_sum(server, "hits", seconds[i]), 100);
        for (uint32_t k = 0; k < read->count; k++) assert_int_equal(read->samples[k].time_s % seconds[i], 0);
    }
    gh_counters_stats stats = counting_stats(hits);
    assert_int_equal(stats.added, 4);
    assert_int_equal(stats.counted, 4);
    assert_int_equal(stats.waiting, 0);
    assert_int_equal(stats.oldest_us, 0);
    assert_int_equal(stats.open, 1);
}

static void nobody_knows_of_what_was_never_added_to(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* self = game_start_ready(redis_server_address(server));
    gh_counter_read* read = counting_read(self, "hits", 5, 10, false);
    assert_status(gh_op_poll(&read->op), GH_EMPTY);
    assert_int_equal(read->count, 0);
    read = counting_read(self, "hits", 5, 10, true);
    assert_status(gh_op_poll(&read->op), GH_EMPTY);
    assert_int_equal(read->count, 10);
    for (uint32_t i = 0; i < 10; i++)
    {
        assert_int_equal(read->samples[i].time_s, read->newest_s - 5 * (9 - i));
        assert_int_equal(read->samples[i].sum, 0);
    }
    assert_int_equal(redis_server_keys(server), 1); /* the epoch: reading has written nothing */
}

static void zero_changes_nothing_and_negative_counts_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    counting_add(hits, "hits", 0);
    assert_status(gh_counters_poll(hits->counters), GH_OK);
    counting_add(hits, "hits", 7);
    counting_settle(hits);
    counting_add(hits, "hits", -10);
    counting_settle(hits);
    assert_int_equal(stored_sum(server, "hits", 86400), -3);
    assert_int_equal(counting_stats(hits).added, 2);
    gh_counter_read* read = counting_read(hits->game, "hits", 86400, 3, false);
    assert_int_equal(read->sum, -3);
}

/* Nothing is asked for: what was added goes by itself within flush_us, and an idle process sends nothing. */
static void flushes_by_itself(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_counters_config config = counting_config();
    config.flush_us = SECOND_US / 20;
    config.clean_us = 0;
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), &config);
    for (int i = 0; i < 200; i++)
    {
        char name[16];
        snprintf(name, sizeof(name), "%d", i);
        counting_add(hits, name, i);
    }
    assert_status(gh_counters_poll(hits->counters), GH_PENDING);
    GAME_UNTIL(gh_counters_poll(hits->counters) == GH_OK);
    assert_int_equal(counting_stats(hits).batches,
                     redis_server_calls(server, "evalsha") - 2); /* and the epoch, and the rights */
    assert_in_range(counting_stats(hits).batches, 1, 80);        /* one a shard; more for those that have over six */
    for (int i = 0; i < 100; i++) game_tick_all();
    assert_int_equal(counting_stats(hits).batches, redis_server_calls(server, "evalsha") - 2);
    assert_true(gh_next_deadline(hits->game->client) > game_now_us(hits->game) + SECOND_US / 2);
}

static void any_name_counts(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    static const char odd[GH_NAME_SIZE_MAX] = "{}:%*\r\n\xff";
    gh_counter counter;
    assert_status(gh_counters_open(hits->counters, gh_str_make(odd, sizeof(odd)), &counter), GH_OK);
    assert_status(gh_counters_add(hits->counters, counter, 5), GH_OK);
    counting_settle(hits);
    gh_counter_read* read = counting_read_name(hits->game, gh_str_make(odd, sizeof(odd)), 60, 2, false);
    assert_status(gh_op_poll(&read->op), GH_OK);
    assert_int_equal(read->sum, 5);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Plants samples of the last minutes with redis-cli's means: every third minute is a gap. */
static void plant_minutes(redis_server* server, const char* name, unsigned count, uint64_t now_s)
{
    uint64_t newest_s = now_s - now_s % 60;
    for (unsigned i = count; i > 0; i--)
    {
        uint64_t start_s = newest_s - 60 * (uint64_t)i;
        if (i % 3 == 0) continue;
        redis_server_do(server, "LPUSH %s %s", stored_list_key(name, 60),
                        counting_text("%llu %u", (unsigned long long)start_s, i));
    }
}

static uint64_t store_s(redis_server* server)
{
    redisReply* reply = redis_server_command(server, "TIME");
    uint64_t now_s = strtoull(reply->element[0]->str, NULL, 10);
    freeReplyObject(reply);
    return now_s;
}

static void reads_in_order_with_gaps_or_without(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* self = game_start_ready(redis_server_address(server));
    uint64_t now_s = store_s(server);
    plant_minutes(server, "hits", 10, now_s);
    gh_counter_read* read = counting_read_until(self, "hits", 60, 9, true, now_s - 60);
    assert_status(gh_op_poll(&read->op), GH_OK);
    assert_int_equal(read->newest_s, now_s - now_s % 60 - 60);
    assert_int_equal(read->count, 9); /* minutes 9 to 1 */
    for (uint32_t i = 0; i < 9; i++)
    {
        assert_int_equal(read->samples[i].time_s, read->newest_s - 60 * (8 - i));
        assert_int_equal(read->samples[i].sum, (9 - i) % 3 == 0 ? 0 : 9 - i);
    }
    assert_int_equal(read->stored, 6);
    assert_int_equal(read->sum, 8 + 7 + 5 + 4 + 2 + 1);
    assert_int_equal(read->min, 0);
    assert_int_equal(read->max, 8);
    assert_true(read->average == 3.0);
    assert_true(read->deviation > 2.9 && read->deviation < 2.95); /* sqrt(78 / 9) */

    read = counting_read_until(self, "hits", 60, 9, false, now_s - 60);
    assert_int_equal(read->count, 6);
    assert_int_equal(read->min, 1);
    assert_int_equal(read->samples[0].sum, 8);
    assert_int_equal(read->samples[5].sum, 1);
    read = counting_read_until(self, "hits", 60, 3, false, now_s - 240); /* minutes 6, 5, 4 */
    assert_int_equal(read->count, 2);
    assert_int_equal(read->sum, 9);
}

/* The client's array of values holds 64: a long read takes more than one reply. */
static game* start_with_small_replies(redis_server* server)
{
    gh_client_config config = game_config(redis_server_address(server));
    config.reply_nodes = 64;
    config.reply_bytes = 16 * 1024;
    return game_start_with(&config);
}

static void reads_over_many_requests(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* self = start_with_small_replies(server);
    uint64_t now_s = store_s(server);
    plant_minutes(server, "hits", 1010, now_s);
    gh_counter_read* read = counting_read_until(self, "hits", 60, 1000, false, now_s - 60);
    assert_status(gh_op_poll(&read->op), GH_OK);
    assert_int_equal(read->count, 667);
    uint64_t sum = 0;
    for (uint64_t i = 1000; i > 0; i--) sum += i % 3 == 0 ? 0 : i;
    assert_int_equal(read->sum, sum);
    for (uint32_t i = 1; i < read->count; i++) assert_true(read->samples[i].time_s > read->samples[i - 1].time_s);
    assert_true(redis_server_calls(server, "evalsha") >= 12);
}

/* Slow answers one after the other: none takes as long as timeout_us, all together many times as long. */
static void read_times_out_by_one_answer_not_by_all(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* self = start_with_small_replies(server);
    gh_counter_read* read = GAME_NEW(self, gh_counter_read);
    gh_counter_read_config want = gh_counter_read_config_default();
    uint64_t now_s = store_s(server);
    plant_minutes(server, "hits", 1010, now_s);
    GAME_UNTIL(gh_client_ready(self->client));
    want.until_s = now_s - 60;
    want.sample_count = 1000;
    want.samples = GAME_NEW_ARRAY(self, gh_counter_sample, want.sample_count);
    want.timeout_us = 2 * SECOND_US;
    assert_status(gh_counter_read_begin(read, self->client, gh_str_literal("hits"), &want), GH_OK);
    while (gh_op_poll(&read->op) == GH_PENDING)
    {
        const uint32_t stored = read->stored;
        GAME_UNTIL(read->stored > stored || gh_op_poll(&read->op) != GH_PENDING);
        self->ahead_us += (int64_t)(SECOND_US / 2);
    }
    assert_status(gh_op_poll(&read->op), GH_OK);
    assert_int_equal(read->count, 667);
}

static void what_is_no_slice_is_corrupt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* self = game_start_ready(redis_server_address(server));
    redis_server_do(server, "LPUSH %s nonsense", stored_list_key("hits", 60));
    assert_status(gh_op_poll(&counting_read(self, "hits", 60, 9, false)->op), GH_CORRUPT);
    redis_server_do(server, "SET %s nonsense", stored_open_key("hats"));
    assert_status(gh_op_poll(&counting_read(self, "hats", 60, 9, false)->op), GH_CORRUPT);
    redis_server_do(server, "HSET %s 60 99", stored_open_key("huts"));
    assert_status(gh_op_poll(&counting_read(self, "huts", 60, 9, false)->op), GH_CORRUPT);
}

/* ---- capacities and limits ----------------------------------------------------------------------------- */

static void counters_max_is_a_bound_and_what_is_beyond_is_counted(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_counters_config config = counting_config();
    config.counters_max = 3;
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), &config);
    gh_counter counter[4];
    assert_status(gh_counters_open(hits->counters, gh_str_literal("a"), &counter[0]), GH_OK);
    assert_status(gh_counters_open(hits->counters, gh_str_literal("b"), &counter[1]), GH_OK);
    assert_status(gh_counters_open(hits->counters, gh_str_literal("c"), &counter[2]), GH_OK);
    assert_status(gh_counters_open(hits->counters, gh_str_literal("d"), &counter[3]), GH_FULL);
    assert_status(gh_counters_open(hits->counters, gh_str_literal("b"), &counter[3]), GH_OK);
    assert_int_equal(counter[3].index, counter[1].index);
    assert_status(gh_counters_open(hits->counters, gh_str_literal("d"), &counter[3]), GH_FULL);
    assert_status(gh_counters_add(hits->counters, counter[3], 1), GH_FULL);
    assert_status(gh_counters_add(hits->counters, counter[3], 1), GH_FULL);
    assert_int_equal(counting_stats(hits).dropped, 2);

    assert_status(gh_counters_add(hits->counters, counter[0], 4), GH_OK);
    assert_status(gh_counters_close(hits->counters, counter[0]), GH_OK);
    assert_status(gh_counters_add(hits->counters, counter[0], 4), GH_INVALID_COUNTER);
    assert_status(gh_counters_close(hits->counters, counter[0]), GH_INVALID_COUNTER);
    assert_status(gh_counters_open(hits->counters, gh_str_literal("d"), &counter[3]), GH_FULL); /* a waits */
    counting_settle(hits);
    assert_int_equal(stored_sum(server, "a", 60), 4);
    assert_status(gh_counters_open(hits->counters, gh_str_literal("d"), &counter[3]), GH_OK);
    assert_status(gh_counters_add(hits->counters, counter[3], 9), GH_OK);
    assert_status(gh_counters_add(hits->counters, counter[0], 4), GH_INVALID_COUNTER); /* the same place */
    counting_settle(hits);
    assert_int_equal(stored_sum(server, "d", 60), 9);
    assert_int_equal(stored_sum(server, "a", 60), 4);
    assert_int_equal(counting_stats(hits).open, 3);
}

/* One a shard: the second of a shard is refused, the first goes on. */
static void fleet_max_is_a_bound_and_what_is_beyond_is_counted(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_counters_config config = counting_config();
    config.fleet_max = 64;
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), &config);
    char second[16] = "";
    for (unsigned i = 0; second[0] == 0 || stored_shard(second) != stored_shard("hits"); i++)
        snprintf(second, sizeof(second), "other%u", i);
    counting_add(hits, "hits", 1);
    counting_settle(hits);
    counting_add(hits, second, 5);
    counting_add(hits, "hits", 2);
    counting_settle(hits);
    assert_int_equal(stored_sum(server, "hits", 60), 3);
    assert_int_equal(redis_server_integer(server, "EXISTS %s", stored_open_key(second)), 0);
    gh_counters_stats stats = counting_stats(hits);
    assert_int_equal(stats.counted, 2);
    assert_int_equal(stats.refused, 1);
    assert_status(stats.last_refusal, GH_FULL);
    assert_int_equal(redis_server_integer(server, "ZCARD %s", stored_shard_key("hits", "k")), 1);
}

static void sum_that_is_too_large_stays_at_the_limit_here(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    gh_counter up = counting_open(hits, "up");
    gh_counter down = counting_open(hits, "down");
    assert_status(gh_counters_add(hits->counters, up, GH_COUNTERS_SUM_MAX - 1), GH_OK);
    assert_status(gh_counters_add(hits->counters, up, 1), GH_OK);
    assert_status(gh_counters_add(hits->counters, up, 1), GH_SATURATED);
    assert_status(gh_counters_add(hits->counters, up, INT64_MAX), GH_SATURATED);
    assert_status(gh_counters_add(hits->counters, down, -GH_COUNTERS_SUM_MAX), GH_OK);
    assert_status(gh_counters_add(hits->counters, down, -1), GH_SATURATED);
    assert_status(gh_counters_add(hits->counters, down, INT64_MIN), GH_SATURATED);
    counting_settle(hits);
    assert_int_equal(stored_sum(server, "up", 86400), GH_COUNTERS_SUM_MAX);
    assert_int_equal(stored_sum(server, "down", 86400), -GH_COUNTERS_SUM_MAX);
    assert_int_equal(counting_stats(hits).saturated, 4);
}

static void sum_that_is_too_large_stays_at_the_limit_in_the_store(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    for (int i = 0; i < 2; i++)
    {
        counting_add(hits, "up", GH_COUNTERS_SUM_MAX - 1);
        counting_add(hits, "down", -GH_COUNTERS_SUM_MAX + 1);
        counting_settle(hits);
    }
    assert_int_equal(stored_sum(server, "up", 86400), GH_COUNTERS_SUM_MAX);
    assert_int_equal(stored_sum(server, "down", 86400), -GH_COUNTERS_SUM_MAX);
    assert_int_equal(counting_stats(hits).saturated, 2);
    assert_int_equal(counting_stats(hits).counted, 4);
    gh_counter_read* read = counting_read(hits->game, "up", 86400, 2, false);
    assert_int_equal(read->max, GH_COUNTERS_SUM_MAX);
    counting_add(hits, "up", -1);
    counting_settle(hits);
    assert_int_equal(stored_sum(server, "up", 86400), GH_COUNTERS_SUM_MAX - 1);
}

static void key_that_is_not_ours_harms_one_counter_alone(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), NULL);
    redis_server_do(server, "SET %s nonsense", stored_open_key("one"));
    redis_server_do(server, "HSET %s 60 nonsense", stored_open_key("two"));
    redis_server_do(server, "HSET %s 1 %s", stored_open_key("three"), "1000000000 5");
    redis_server_do(server, "SET %s nonsense", stored_list_key("three", 1));
    for (int i = 0; i < 100; i++) counting_add(hits, counting_text("%d", i), 1);
    counting_add(hits, "one", 1);
    counting_add(hits, "two", 1);
    counting_add(hits, "three", 1);
    counting_settle(hits);
    for (int i = 0; i < 100; i++) assert_int_equal(stored_sum(server, counting_text("%d", i), 60), 1);
    gh_counters_stats stats = counting_stats(hits);
    assert_int_equal(stats.refused, 3);
    assert_int_equal(stats.counted, 100);
    assert_status(stats.last_refusal, GH_CORRUPT);
    assert_string_equal(redis_server_text(server, "HGET %s 1", stored_open_key("three")), "1000000000 5");
}

static void every_size_of_memory(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* self = game_start_ready(redis_server_address(server));
    gh_counters_config config = counting_config();
    config.counters_max = 2;
    size_t size = gh_counters_memory(&config);
    char* memory = GAME_NEW_ARRAY(self, char, size + 32);
    gh_counters* counters = NULL;
    memory += (16 - ((uintptr_t)memory & 15)) & 15;
    memset(memory, 0xa5, size);
    for (size_t n = 0; n < size; n++)
        assert_status(gh_counters_init(&counters, self->client, &config, memory, n), GH_INVALID_MEMORY);
    for (size_t i = 0; i < size; i++) assert_int_equal((unsigned char)memory[i], 0xa5);
    for (size_t i = 1; i < 16; i++)
        assert_status(gh_counters_init(&counters, self->client, &config, memory + i, size), GH_INVALID_MEMORY);
    assert_null(counters);
    assert_status(gh_counters_init(&counters, self->client, &config, memory, size), GH_OK);
    assert_true(gh_counters_memory(NULL) <= 48 * 1024);
}

static void takes_its_places_of_the_client_and_gives_them_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config client_config = game_config(redis_server_address(server));
    client_config.ops_capacity = GH_COUNTERS_OPS;
    game* self = game_start_with(&client_config);
    gh_counter_read read = {0};
    gh_counter_sample sample;
    gh_counter_read_config want = gh_counter_read_config_default();
    want.samples = &sample;
    want.sample_count = 1;
    gh_counters_config config = counting_config();
    config.clean_us = SECOND_US;
    counting* hits = counting_start(self, &config);
    assert_status(gh_counter_read_begin(&read, self->client, gh_str_literal("hits"), &want), GH_NO_ROOM);
    char* memory = GAME_NEW_ARRAY(self, char, gh_counters_memory(&config));
    gh_counters* more = NULL;
    assert_status(gh_counters_init(&more, self->client, &config, memory, gh_counters_memory(&config)), GH_NO_ROOM);
    gh_counters_end(hits->counters);
    GAME_UNTIL(gh_counters_poll(hits->counters) == GH_IDLE);
    assert_int_equal(game_stats(self).ops_begun, game_stats(self).ops_ended);
    assert_status(gh_counters_init(&more, self->client, &config, memory, gh_counters_memory(&config)), GH_OK);
}

static void never_calls_the_heap(void** state)
{
    (void)state;
    assert_true(heap_watch_works());
    redis_server* server = redis_server_start(NULL);
    game* self = game_start_ready(redis_server_address(server));
    gh_counters_config config = counting_config();
    counting* hits = counting_start(self, &config);
    gh_counter_read* read = GAME_NEW(self, gh_counter_read);
    gh_counter_sample samples[8];
    gh_counter_read_config want = gh_counter_read_config_default();
    want.samples = samples;
    want.sample_count = 8;
    heap_watch_begin();
    for (int round = 0; round < 3; round++)
    {
        for (int i = 0; i < 100; i++) counting_add(hits, counting_text("%d", i), 1);
        counting_settle(hits);
        assert_status(gh_counter_read_begin(read, self->client, gh_str_literal("7"), &want), GH_OK);
        GAME_UNTIL(gh_op_poll(&read->op) != GH_PENDING);
    }
    assert_int_equal(heap_watch_end().total, 0);
    assert_int_equal(read->sum, 3);
}

TEST_FILE(counters, cmocka_unit_test(adds_show_at_every_precision),
          cmocka_unit_test(nobody_knows_of_what_was_never_added_to),
          cmocka_unit_test(zero_changes_nothing_and_negative_counts_back), cmocka_unit_test(flushes_by_itself),
          cmocka_unit_test(any_name_counts), cmocka_unit_test(reads_in_order_with_gaps_or_without),
          cmocka_unit_test(reads_over_many_requests), cmocka_unit_test(read_times_out_by_one_answer_not_by_all),
          cmocka_unit_test(what_is_no_slice_is_corrupt),
          cmocka_unit_test(counters_max_is_a_bound_and_what_is_beyond_is_counted),
          cmocka_unit_test(fleet_max_is_a_bound_and_what_is_beyond_is_counted),
          cmocka_unit_test(sum_that_is_too_large_stays_at_the_limit_here),
          cmocka_unit_test(sum_that_is_too_large_stays_at_the_limit_in_the_store),
          cmocka_unit_test(key_that_is_not_ours_harms_one_counter_alone), cmocka_unit_test(every_size_of_memory),
          cmocka_unit_test(takes_its_places_of_the_client_and_gives_them_back), cmocka_unit_test(never_calls_the_heap));
