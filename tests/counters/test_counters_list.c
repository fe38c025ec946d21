/* The list of the counters that there are: each once, page by page, whatever else lies in the shards; bad input; every
   fault of support/fault.h. */

#include "support/faults/counting.h"
#include "support/faults/fault.h"

#include <stdlib.h>
#include <string.h>

#define COUNTERS 300

typedef struct listing
{
    gh_counters_list list;
    gh_name names[COUNTERS + 1];
} listing;

static gh_status list_page(game* from, listing* self, uint32_t count, uint64_t after)
{
    gh_counters_list_config config = gh_counters_list_config_default();
    config.names = self->names;
    config.name_count = count;
    config.after = after;
    assert_status(gh_counters_list_begin(&self->list, from->client, &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->list.op) != GH_PENDING);
    return gh_op_poll(&self->list.op);
}

static void each_counter_is_on_one_page(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_counters_config config = counting_config();
    config.counters_max = 512;
    game* a = game_start_ready(redis_server_address(server));
    listing* self = GAME_NEW(a, listing);
    assert_status(list_page(a, self, 10, 0), GH_EMPTY);
    assert_int_equal(self->list.count, 0);
    assert_int_equal(self->list.next, 0);
    counting* hits = counting_start(a, &config);
    for (int i = 0; i < COUNTERS; i++) counting_add(hits, counting_text("%d {}:%%%c", i, i % 256), 1);
    counting_settle(hits);
    static const uint32_t pages[] = {1, 7, 150, COUNTERS, COUNTERS + 1};
    for (size_t p = 0; p < sizeof(pages) / sizeof(pages[0]); p++)
    {
        bool seen[COUNTERS] = {false};
        uint32_t count = 0;
        uint64_t after = 0;
        do
        {
            gh_status status = list_page(a, self, pages[p], after);
            assert_true(status == GH_OK || (status == GH_EMPTY && self->list.next == 0));
            assert_true(self->list.count == pages[p] || self->list.next == 0);
            for (uint32_t i = 0; i < self->list.count; i++, count++)
            {
                char name[GH_NAME_SIZE_MAX + 1] = "";
                memcpy(name, self->names[i].bytes, self->names[i].size);
                int number = atoi(name);
                assert_in_range(number, 0, COUNTERS - 1);
                assert_string_equal(name, counting_text("%d {}:%%%c", number, number % 256));
                assert_false(seen[number]);
                seen[number] = true;
            }
            after = self->list.next;
        } while (after != 0);
        assert_int_equal(count, COUNTERS);
    }
}

/* However many of them there are, and however few names are wanted yet. */
static void crowd_of_no_names_takes_few_requests(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    listing* self = GAME_NEW(a, listing);
    const char* key = stored_shard_key("hits", "k");
    redis_server_do(server, "ZADD %s 5 hits", key);
    redis_server_do(server, "EVAL %s 1 %s", "for i = 1, 6000 do redis.call('ZADD', KEYS[1], 1, '%g' .. i) end", key);
    uint64_t before = game_stats(a).requests;
    assert_status(list_page(a, self, 2, 0), GH_OK);
    assert_int_equal(self->list.count, 1);
    assert_true(game_stats(a).requests - before < 300); /* 64 shards, and 6000 that are passed over by 64 or more */
}

/* What is no name of a counter of this shard is passed over; a key of another type is CORRUPT. */
static void what_is_no_name_is_passed_over(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    listing* self = GAME_NEW(a, listing);
    const char* key = stored_shard_key("hits", "k");
    char longest[300];
    memset(longest, 'x', sizeof(longest));
    static const char* const bad[] = {"%", "%4", "%4g", "%61", "a b", "%2F", "misses", ""};
    for (int i = 0; i < 8; i++) redis_server_do(server, "ZADD %s 0 %b", key, bad[i], strlen(bad[i]));
    redis_server_do(server, "ZADD %s 0 %b", key, longest, (size_t)65);
    assert_status(list_page(a, self, 10, 0), GH_EMPTY);
    redis_server_do(server, "ZADD %s 5 hits", key);
    assert_status(list_page(a, self, 1, 0), GH_OK);
    assert_int_equal(self->list.count, 1);
    assert_true(gh_str_equal(gh_name_str(&self->names[0]), gh_str_literal("hits")));
    redis_server_do(server, "SET %s x", key);
    assert_status(list_page(a, self, 10, 0), GH_CORRUPT);
}

static void lists_that_are_refused(void** state)
{
    (void)state;
    game* a = game_start("unix:/nowhere");
    listing* self = GAME_NEW(a, listing);
    gh_counters_list_config good = gh_counters_list_config_default();
    good.names = self->names;
    assert_true(sizeof(self->list) <= 384);
    assert_status(gh_counters_list_begin(NULL, a->client, &good), GH_INVALID_OP);
    assert_status(gh_counters_list_begin(&self->list, NULL, &good), GH_INVALID_CLIENT);
    assert_status(gh_counters_list_begin(&self->list, a->client, NULL), GH_INVALID_CONFIG);
    gh_counters_list_config bad = good;
    bad.struct_size--;
    assert_status(gh_counters_list_begin(&self->list, a->client, &bad), GH_INVALID_CONFIG);
    bad = good, bad.timeout_us = 999;
    assert_status(gh_counters_list_begin(&self->list, a->client, &bad), GH_INVALID_TIMEOUT);
    bad = good, bad.timeout_us = 60 * SECOND_US + 1;
    assert_status(gh_counters_list_begin(&self->list, a->client, &bad), GH_INVALID_TIMEOUT);
    bad = good, bad.name_count = 0;
    assert_status(gh_counters_list_begin(&self->list, a->client, &bad), GH_INVALID_LIMIT);
    bad = good, bad.name_count = GH_COUNTERS_LIST_MAX + 1;
    assert_status(gh_counters_list_begin(&self->list, a->client, &bad), GH_INVALID_LIMIT);
    bad = good, bad.after = UINT64_C(64) << 32;
    assert_status(gh_counters_list_begin(&self->list, a->client, &bad), GH_INVALID_LIMIT);
    bad = good, bad.names = NULL;
    assert_status(gh_counters_list_begin(&self->list, a->client, &bad), GH_INVALID_OUT);
    assert_status(gh_counters_list_begin(&self->list, a->client, &good), GH_OK);
    assert_status(gh_counters_list_begin(&self->list, a->client, &good), GH_INVALID_OP);
    gh_op_cancel(&self->list.op);
    assert_status(gh_op_poll(&self->list.op), GH_CANCELLED);
}

/* ---- faults: the last two shards ------------------------------------------------------------------------- */

static void prepare_list(fault_scene* scene)
{
    const char* names[] = {"", ""};
    for (int i = 0; *names[0] == 0 || *names[1] == 0; i++)
    {
        const char* name = counting_text("%d", i);
        unsigned shard = stored_shard(name);
        if (shard < 62 || *names[shard - 62] != 0) continue;
        names[shard - 62] = name;
        redis_server_do(scene->server, "ZADD %s 0 %s", stored_shard_key(name, "k"), name);
    }
}

static void begin_list(fault_scene* scene)
{
    listing* self = scene->op;
    gh_counters_list_config config = gh_counters_list_config_default();
    config.names = self->names;
    config.after = UINT64_C(62) << 32;
    assert_status(gh_counters_list_begin(&self->list, scene->game->client, &config), GH_OK);
}

static void audit_list(fault_scene* scene, gh_status status)
{
    listing* self = scene->op;
    if (status == GH_OK) assert_int_equal(self->list.count, 2);
    assert_int_not_equal(status, GH_EMPTY);
}

static const fault_operation list = {"list", sizeof(listing), 0,         0, prepare_list, begin_list, fault_poll_op,
                                     NULL,   fault_cancel_op, audit_list};

/* Plain commands, not scripts: there is nothing to flush. */
FAULT_TEST(list, cut_at_every_byte)
FAULT_TEST(list, link_lost_at_every_tick)
FAULT_TEST(list, cancelled_at_every_tick)
FAULT_TEST(list, server_killed)
FAULT_TEST(list, server_frozen)
FAULT_TEST(list, small_client)
FAULT_TEST(list, one_slot)
FAULT_TEST(list, no_heap)

TEST_FILE(counters_list, cmocka_unit_test(each_counter_is_on_one_page),
          cmocka_unit_test(crowd_of_no_names_takes_few_requests), cmocka_unit_test(what_is_no_name_is_passed_over),
          cmocka_unit_test(lists_that_are_refused), cmocka_unit_test(list_cut_at_every_byte),
          cmocka_unit_test(list_link_lost_at_every_tick), cmocka_unit_test(list_cancelled_at_every_tick),
          cmocka_unit_test(list_server_killed), cmocka_unit_test(list_server_frozen),
          cmocka_unit_test(list_small_client), cmocka_unit_test(list_one_slot), cmocka_unit_test(list_no_heap));
