/* What the store has of counters, come late, half done or as nonsense. */

#include "support/faults/counting.h"
#include "support/server/store_script.h"

#include <stdio.h>
#include <string.h>

/* One or two counters of one precision: "hits", and "more" in the same shard's keys. */
static redisReply* flush(redis_server* server, const char* digest, unsigned sequence, const char* not_after,
                         const char* generation, unsigned count)
{
    const char* format = count == 1 ? "EVALSHA %s 4 %s %s %s %s 00000000000000aa %u 0 9 %s %s 1 1 86400 9 5"
                                    : "EVALSHA %s 6 %s %s %s %s %s %s 00000000000000aa %u 0 9 %s %s 2 1 86400 9 5 5";
    const char* marks = stored_shard_key("hits", "w");
    const char* known = stored_shard_key("hits", "k");
    const char* more = counting_text("%s:o:more", counting_text("gh:{counters:%u}", stored_shard("hits")));
    const char* list = counting_text("gh:{counters:%u}:c:86400:more", stored_shard("hits"));
    if (count == 1)
        return redis_server_command(server, format, digest, marks, known, stored_open_key("hits"),
                                    stored_list_key("hits", 86400), sequence, not_after, generation);
    return redis_server_command(server, format, digest, marks, known, stored_open_key("hits"),
                                stored_list_key("hits", 86400), more, list, sequence, not_after, generation);
}

static void must_answer(redisReply* reply, long long code, const char* letters)
{
    assert_string_equal(store_rest(reply, 3), letters);
    long long numbers[2];
    assert_int_equal(redis_server_numbers(reply, numbers, 2), 2);
    assert_int_equal(numbers[1], code);
    freeReplyObject(reply);
}

static void must_fail(redisReply* reply, const char* word)
{
    assert_int_equal(reply->type, REDIS_REPLY_ERROR);
    assert_memory_equal(reply->str, word, strlen(word));
    freeReplyObject(reply);
}

static void older_generation_asks_anew(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    const char* digest = store_script(server, "counters/counters_flush");
    must_answer(flush(server, digest, 1, "0", "1795250000000002", 1), 0, "-");
    must_fail(flush(server, digest, 2, "0", "1795250000000001", 1), "STALE ");
    must_answer(flush(server, digest, 2, "0", "0", 1), 0, "-"); /* who may not know it changes nothing */
    must_answer(flush(server, digest, 3, "0", "1795250000000002", 1), 0, "-");
    assert_int_equal(stored_sum(server, "hits", 86400), 15);
    redis_server_do(server, "HSET %s - 9007199254740991", stored_shard_key("hits", "w"));
    must_fail(flush(server, digest, 4, "0", "1795250000000002", 1), "CORRUPT ");
    assert_int_equal(stored_sum(server, "hits", 86400), 15);
}

static void late_copy_is_not_counted(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    const char* digest = store_script(server, "counters/counters_flush");
    must_answer(flush(server, digest, 1, "1000", "0", 1), 2, "-");
    assert_int_equal(redis_server_keys(server), 0);
    must_answer(flush(server, digest, 2, "0", "0", 1), 0, "-");
    must_answer(flush(server, digest, 2, "1000", "0", 1), 0, "-"); /* it was counted, whenever it is asked */
    must_answer(flush(server, digest, 1, "0", "0", 1), 1, "-");
    assert_int_equal(stored_sum(server, "hits", 86400), 5);
}

/* A client that never pauses keeps its marks, and those of all others. */
static void marks_live_while_batches_come(void** state)
{
    (void)state;
    redis_server* server = server_with_clock();
    const char* digest = store_script(server, "counters/counters_flush");
    uint64_t hour_s = next_hour_s();
    stand_at(server, hour_s); /* the last batch was in the minute before */
    redis_server_do(server, "HSET %s 00000000000000aa %s", stored_shard_key("hits", "w"),
                    counting_text("1 %llu -", (unsigned long long)(hour_s * SECOND_US - SECOND_US / 10)));
    redis_server_do(server, "PEXPIRE %s 60000", stored_shard_key("hits", "w"));
    must_answer(flush(server, digest, 2, "0", "0", 1), 0, "-");
    assert_in_range(redis_server_integer(server, "PTTL %s", stored_shard_key("hits", "w")), 1000000, 1200000);
}

/* It ended behind its first counter: the mark is not there, the counter knows the batch. */
static void repeat_of_a_stopped_batch_counts_what_is_missing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    const char* digest = store_script(server, "counters/counters_flush");
    must_answer(flush(server, digest, 7, "0", "0", 1), 0, "-");
    redis_server_do(server, "DEL %s", stored_shard_key("hits", "w"));
    must_answer(flush(server, digest, 7, "0", "0", 2), 0, "-");
    assert_int_equal(stored_sum(server, "hits", 86400), 5);
    assert_non_null(redis_server_text(server, "HGET gh:{counters:%u}:o:more 86400", stored_shard("hits")));
}

/* The list has a slice that the counter has open still. */
static void half_closed_slice_counts_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    uint64_t slice_s = next_hour_s() / 86400 * 86400 - 86400;
    const char* text = counting_text("%llu 8", (unsigned long long)slice_s);
    redis_server_do(server, "HSET %s 86400 %s", stored_open_key("hits"), text);
    redis_server_do(server, "RPUSH %s %s", stored_list_key("hits", 86400), text);
    assert_int_equal(counting_read(a, "hits", 86400, 9, false)->sum, 8);
    counting* hits = counting_start(a, NULL);
    counting_add(hits, "hits", 5);
    counting_settle(hits);
    assert_int_equal(redis_server_integer(server, "LLEN %s", stored_list_key("hits", 86400)), 1);
    assert_int_equal(counting_read(a, "hits", 86400, 9, false)->sum, 13);
}

/* What cannot be a sum loses the adds of that counter alone, and is told. */
static void nonsense_in_a_counter_is_told_of_it_alone(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    uint64_t slice_s = (next_hour_s() - 3600) / 86400 * 86400;
    static const char* const sums[] = {
        "nan", "inf", "1e400", "1.5", "9007199254740992", "99999999999999999999", "", "x", "0x10", "1e3",
        "5.0", " 5",  "5 ",    "+5"};
    counting* hits = counting_start(a, NULL);
    for (unsigned i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
    {
        const char* text = counting_text("%llu %s", (unsigned long long)slice_s, sums[i]);
        redis_server_do(server, "HSET %s 86400 %s", stored_open_key("hits"), text);
        counting_add(hits, "hits", 5);
        counting_add(hits, "other", 1);
        counting_settle(hits);
        assert_int_equal(counting_stats(hits).refused, i + 1);
        assert_int_equal(counting_stats(hits).counted, i + 1);
        assert_status(counting_stats(hits).last_refusal, GH_CORRUPT);
        assert_string_equal(redis_server_text(server, "HGET %s 86400", stored_open_key("hits")), text);
    }
    redis_server_do(server, "SET %s x", stored_shard_key("hits", "w")); /* all of the shard */
    redis_server_do(server, "DEL %s", stored_open_key("hits"));
    redis_server_do(server, "DEL %s", stored_shard_key("hits", "k"));
    counting_add(hits, "hits", 5);
    counting_add(hits, "other", 1);
    counting_settle(hits);
    assert_int_equal(counting_stats(hits).refused, sizeof(sums) / sizeof(sums[0]) + 1);
    assert_int_equal(game_stats(a).links_lost, 0);
}

static void strange_names_hold_up_no_cleaning(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_counters_config config = counting_config();
    const char* plant = "for i = 1, 1000 do redis.call('ZADD', KEYS[1], -1, 'a b' .. i) end return 1";
    redis_server_do(server, "EVAL %s 1 %s", plant, stored_shard_key("hits", "k"));
    redis_server_do(server, "ZADD %s 1 hits", stored_shard_key("hits", "k"));
    redis_server_do(server, "HSET %s 60 %s", stored_open_key("hits"), "1200 5");
    config.clean_us = SECOND_US / 10;
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), &config);
    GAME_UNTIL(counting_stats(hits).counters_removed == 1);
    GAME_UNTIL(redis_server_integer(server, "EXISTS %s", stored_shard_key("hits", "k")) == 0);
    assert_int_equal(redis_server_integer(server, "EXISTS %s", stored_open_key("hits")), 0);
}

TEST_FILE(counters_store, cmocka_unit_test(older_generation_asks_anew), cmocka_unit_test(late_copy_is_not_counted),
          cmocka_unit_test(marks_live_while_batches_come),
          cmocka_unit_test(repeat_of_a_stopped_batch_counts_what_is_missing),
          cmocka_unit_test(half_closed_slice_counts_once), cmocka_unit_test(nonsense_in_a_counter_is_told_of_it_alone),
          cmocka_unit_test(strange_names_hold_up_no_cleaning));
