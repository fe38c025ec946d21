/* Bad input for every function of guildhall/lock.h: its own status each, nothing is changed. Names of every kind. */

#include "support/scene/game.h"
#include "support/random.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_refused(game* a, gh_lock* lock, gh_str name, const gh_lock_config* config, gh_status expected)
{
    gh_lock before = *lock;
    gh_client_stats stats = game_stats(a);
    assert_status(gh_lock_begin(lock, a->client, name, config), expected);
    assert_true(gh_status_is_invalid(expected));
    assert_begin_refused(lock, &before, expected);
    assert_int_equal(game_stats(a).ops_begun, stats.ops_begun);
}

static void begin_names_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = GAME_NEW(a, gh_lock);
    char bytes[GH_NAME_SIZE_MAX + 1];
    memset(bytes, 'x', sizeof(bytes));

    assert_status(gh_lock_begin(NULL, a->client, gh_str_literal("a"), NULL), GH_INVALID_OP);
    assert_status(gh_lock_begin(lock, NULL, gh_str_literal("a"), NULL), GH_INVALID_CLIENT);
    assert_refused(a, lock, gh_str_literal(""), NULL, GH_INVALID_NAME);
    assert_refused(a, lock, gh_str_make(NULL, 3), NULL, GH_INVALID_NAME);
    assert_refused(a, lock, gh_str_make(bytes, sizeof(bytes)), NULL, GH_INVALID_NAME);
    assert_refused(a, lock, gh_str_make(bytes, SIZE_MAX), NULL, GH_INVALID_NAME);

    const struct
    {
        uint64_t lease_us, wait_us, hold_us;
        gh_status expected;
    } rows[] = {
        {GH_LOCK_LEASE_MIN_US - 1, 0, 0, GH_INVALID_LEASE},       {0, 0, 0, GH_INVALID_LEASE},
        {GH_LOCK_LEASE_MAX_US + 1, 0, 0, GH_INVALID_LEASE},       {UINT64_MAX, 0, 0, GH_INVALID_LEASE},
        {SECOND_US, GH_LOCK_WAIT_MAX_US + 1, 0, GH_INVALID_WAIT}, {SECOND_US, UINT64_MAX, 0, GH_INVALID_WAIT},
        {SECOND_US, 0, GH_LOCK_WAIT_MAX_US + 1, GH_INVALID_HOLD}, {SECOND_US, 0, UINT64_MAX, GH_INVALID_HOLD},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        gh_lock_config config = gh_lock_config_default();
        config.lease_us = rows[i].lease_us;
        config.wait_us = rows[i].wait_us;
        config.hold_us = rows[i].hold_us;
        assert_refused(a, lock, gh_str_literal("a"), &config, rows[i].expected);
    }
    gh_lock_config skipped;
    memset(&skipped, 0, sizeof(skipped));
    assert_refused(a, lock, gh_str_literal("a"), &skipped, GH_INVALID_CONFIG);

    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("a"), NULL), GH_OK);
    assert_refused(a, lock, gh_str_literal("a"), NULL, GH_INVALID_OP);
}

static void ends_of_each_range_work(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    const uint64_t leases[] = {GH_LOCK_LEASE_MIN_US, GH_LOCK_LEASE_MAX_US};
    const uint64_t waits[] = {GH_LOCK_WAIT_MAX_US, 60 * SECOND_US};
    for (int i = 0; i < 2; i++)
    {
        gh_lock* lock = GAME_NEW(a, gh_lock);
        gh_lock_config config = gh_lock_config_default();
        config.lease_us = leases[i];
        config.wait_us = waits[i];
        config.hold_us = i == 0 ? 0 : GH_LOCK_WAIT_MAX_US;
        assert_status(gh_lock_begin(lock, a->client, gh_str_literal("a"), &config), GH_OK);
        GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
        assert_status(gh_op_poll(&lock->op), GH_HELD);
        gh_lock_release(lock);
        GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    }
}

static void idle_ops_take_every_call(void** state)
{
    (void)state;
    gh_lock lock = {0};
    gh_lock_set set = {0};
    assert_status(gh_op_poll(&lock.op), GH_IDLE);
    gh_lock_release(NULL);
    gh_lock_release(&lock);
    gh_op_cancel(&lock.op);
    assert_int_equal(gh_lock_remaining_us(NULL), 0);
    assert_int_equal(gh_lock_remaining_us(&lock), 0);
    assert_int_equal(gh_lock_fence(NULL).fence, 0);
    assert_int_equal(gh_lock_fence(&lock).fence, 0);
    assert_status(gh_op_poll(&set.op), GH_IDLE);
    gh_lock_set_release(NULL);
    gh_lock_set_release(&set);
    gh_op_cancel(&set.op);
}

static void set_begin_names_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock_set* set = GAME_NEW(a, gh_lock_set);
    gh_lock* locks = GAME_NEW_ARRAY(a, gh_lock, GH_LOCK_SET_MAX + 1);
    gh_str names[GH_LOCK_SET_MAX + 1];
    static char texts[GH_LOCK_SET_MAX + 1][16];
    for (int i = 0; i <= GH_LOCK_SET_MAX; i++)
    {
        snprintf(texts[i], sizeof(texts[i]), "n%d", i);
        names[i] = gh_str_of(texts[i]);
    }
    gh_lock_config config = gh_lock_config_default();
    config.hold_us = 1;
    gh_lock_config skipped;
    memset(&skipped, 0, sizeof(skipped));
    gh_str twice[2] = {gh_str_literal("a"), gh_str_literal("a")};
    gh_str invalid[2] = {gh_str_literal("a"), gh_str_literal("")};

    assert_status(gh_lock_set_begin(NULL, a->client, locks, names, 2, NULL), GH_INVALID_OP);
    assert_status(gh_lock_set_begin(set, NULL, locks, names, 2, NULL), GH_INVALID_CLIENT);
    assert_status(gh_lock_set_begin(set, a->client, NULL, names, 2, NULL), GH_INVALID_OP);
    assert_status(gh_lock_set_begin(set, a->client, locks, NULL, 2, NULL), GH_INVALID_NAMES);
    assert_status(gh_lock_set_begin(set, a->client, locks, names, 0, NULL), GH_INVALID_NAMES);
    assert_status(gh_lock_set_begin(set, a->client, locks, names, GH_LOCK_SET_MAX + 1, NULL), GH_INVALID_NAMES);
    assert_status(gh_lock_set_begin(set, a->client, locks, twice, 2, NULL), GH_INVALID_NAMES);
    assert_status(gh_lock_set_begin(set, a->client, locks, invalid, 2, NULL), GH_INVALID_NAME);
    assert_status(gh_lock_set_begin(set, a->client, locks, names, 2, &config), GH_INVALID_HOLD);
    assert_status(gh_lock_set_begin(set, a->client, locks, names, 2, &skipped), GH_INVALID_CONFIG);
    assert_int_equal(game_stats(a).ops_begun, 0);

    assert_status(gh_lock_set_begin(set, a->client, locks, names, GH_LOCK_SET_MAX, NULL), GH_OK);
    assert_status(gh_lock_set_begin(set, a->client, locks, names, 2, NULL), GH_INVALID_OP);
    GAME_UNTIL(gh_op_poll(&set->op) != GH_PENDING);
    assert_status(gh_op_poll(&set->op), GH_HELD);
}

static void look_begin_names_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock_look* look = GAME_NEW(a, gh_lock_look);
    gh_lock_look_config config = gh_lock_look_config_default();
    gh_str name = gh_str_literal("a");
    char bytes[GH_NAME_SIZE_MAX + 1];
    memset(bytes, 'x', sizeof(bytes));
    assert_status(gh_lock_look_begin(NULL, a->client, name, NULL), GH_INVALID_OP);
    assert_status(gh_lock_look_begin(look, NULL, name, NULL), GH_INVALID_CLIENT);
    assert_status(gh_lock_look_begin(look, a->client, gh_str_literal(""), NULL), GH_INVALID_NAME);
    assert_status(gh_lock_look_begin(look, a->client, gh_str_make(bytes, sizeof(bytes)), NULL), GH_INVALID_NAME);
    config.struct_size = 0;
    assert_status(gh_lock_look_begin(look, a->client, name, &config), GH_INVALID_CONFIG);
    const uint64_t wrong[] = {0, 999, 60 * SECOND_US + 1, UINT64_MAX};
    for (int i = 0; i < 4; i++)
    {
        config = gh_lock_look_config_default();
        config.timeout_us = wrong[i];
        assert_status(gh_lock_look_begin(look, a->client, name, &config), GH_INVALID_TIMEOUT);
        assert_status(gh_op_poll(&look->op), GH_INVALID_TIMEOUT);
    }
    assert_int_equal(game_stats(a).ops_begun, 0);
    const uint64_t right[] = {1000, 60 * SECOND_US};
    for (int i = 0; i < 2; i++)
    {
        config.timeout_us = right[i];
        assert_status(gh_lock_look_begin(look, a->client, name, &config), GH_OK);
        assert_status(gh_lock_look_begin(look, a->client, name, NULL), GH_INVALID_OP);
        gh_op_cancel(&look->op);
        assert_status(gh_op_poll(&look->op), GH_CANCELLED);
    }
    assert_true(sizeof(gh_lock_look) <= 256);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void nasty_names_are_names_like_others(void** state)
{
    (void)state;
    static const gh_str names[] = {{"{", 1},
                                   {"}", 1},
                                   {"a}:s", 4},
                                   {"a:b", 3},
                                   {"a%3ab", 5},
                                   {"a\0b", 3},
                                   {"a", 1},
                                   {"a\r\n", 3},
                                   {"*3\r\n$3\r\nDEL\r\n", 13},
                                   {"'; FLUSHALL", 11},
                                   {"\xff\xfe\xc0", 3},
                                   {"%", 1},
                                   {"%%", 2},
                                   {" ", 1},
                                   {"A", 1}};
    enum
    {
        COUNT = sizeof(names) / sizeof(names[0])
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* locks = GAME_NEW_ARRAY(a, gh_lock, COUNT);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = 60 * SECOND_US;
    config.wait_us = 0; /* were two of them one key, one would be busy */
    for (int i = 0; i < COUNT; i++) assert_status(gh_lock_begin(&locks[i], a->client, names[i], &config), GH_OK);
    for (int i = 0; i < COUNT; i++)
    {
        GAME_UNTIL(gh_op_poll(&locks[i].op) != GH_PENDING);
        assert_status(gh_op_poll(&locks[i].op), GH_HELD);
    }
    assert_int_equal(redis_server_keys(server), COUNT + 1); /* and the epoch */
}

static void longest_name_of_the_worst_bytes_works(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = GAME_NEW(a, gh_lock);
    static char bytes[GH_NAME_SIZE_MAX];
    char tag[GH_LOCK_TAG_SIZE_MAX];
    memset(bytes, 0xff, sizeof(bytes));
    assert_status(gh_lock_begin(lock, a->client, gh_str_make(bytes, sizeof(bytes)), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    size_t size = gh_lock_tag(a->client, gh_str_make(bytes, sizeof(bytes)), tag, sizeof(tag));
    assert_int_equal(size, 3 + 7 + 3 * GH_NAME_SIZE_MAX);
    assert_int_equal(redis_server_integer(server, "EXISTS %s:s", tag), 1);
}

static void tag_is_written_whole_or_not_at_all(void** state)
{
    (void)state;
    gh_client_config config = game_config("unix:/nowhere");
    config.prefix = gh_str_literal("eu-2");
    game* a = game_start_with(&config);
    char out[64];
    gh_str name = gh_str_literal("a:b");
    const char* expected = "eu-2:{lock:a%3ab}";
    size_t length = strlen(expected);
    for (size_t capacity = 0; capacity < sizeof(out); capacity++)
    {
        memset(out, '#', sizeof(out));
        size_t size = gh_lock_tag(a->client, name, out, capacity);
        assert_int_equal(size, capacity <= length ? 0 : length);
        if (size > 0) assert_string_equal(out, expected);
        for (size_t i = size == 0 ? 0 : size + 1; i < sizeof(out); i++) assert_int_equal(out[i], '#');
    }
    assert_int_equal(gh_lock_tag(a->client, gh_str_literal(""), out, sizeof(out)), 0);
    assert_int_equal(gh_lock_tag(a->client, name, NULL, 0), 0);
    assert_int_equal(gh_lock_tag(NULL, name, out, sizeof(out)), 0);
}

/* ---- caps -------------------------------------------------------------------------------------------------------- */

static void waiters_are_refused_past_their_cap(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* owner = GAME_NEW(a, gh_lock);
    assert_status(gh_lock_begin(owner, a->client, gh_str_literal("sword"), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&owner->op) == GH_HELD);
    redis_server_do(server, "EVAL %s 2 gh:{lock:sword}:s gh:{lock:sword}:q",
                    "for i = 1, 99998 do redis.call('ZADD', KEYS[2], i, string.format('%016x:%016x', i, i)) end "
                    "local state = redis.call('GET', KEYS[1]) "
                    "return redis.call('SET', KEYS[1], (string.gsub(state, ' 0$', ' 99998')))");
    for (unsigned waiting = 99998; waiting <= 100000; waiting++)
    {
        gh_lock* waiter = GAME_NEW(a, gh_lock);
        assert_status(gh_lock_begin(waiter, a->client, gh_str_literal("sword"), NULL), GH_OK);
        GAME_UNTIL(gh_op_poll(&waiter->op) != GH_PENDING || waiter->position > 0);
        assert_status(gh_op_poll(&waiter->op), waiting < 100000 ? GH_PENDING : GH_FULL);
    }
    /* Of so many dead ones a call passes over some hundred; one more, which no waiter is, and it looks at none. */
    redis_server_do(server, "ZADD gh:{lock:sword}:q 0 0000000000000001:0000000000000000");
    gh_lock_release(owner);
    GAME_UNTIL(gh_op_poll(&owner->op) == GH_OK);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{lock:sword}:q"), 100001);
    redis_server_do(server, "SET gh:{lock:sword}:s %s", "- 5 0 f 100001");
    assert_status(gh_lock_begin(owner, a->client, gh_str_literal("sword"), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&owner->op) != GH_PENDING);
    assert_status(gh_op_poll(&owner->op), GH_CORRUPT);
}

static void ops_are_refused_past_the_clients_capacity(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.ops_capacity = 3;
    game* a = game_start_with(&config);
    gh_lock* locks = GAME_NEW_ARRAY(a, gh_lock, 4);
    gh_str name = gh_str_literal("sword");
    for (int i = 0; i < 3; i++) assert_status(gh_lock_begin(&locks[i], a->client, name, NULL), GH_OK);
    assert_status(gh_lock_begin(&locks[3], a->client, name, NULL), GH_NO_ROOM);
    assert_status(gh_op_poll(&locks[3].op), GH_NO_ROOM);
    GAME_UNTIL(gh_op_poll(&locks[0].op) == GH_HELD);
    gh_lock_release(&locks[0]);
    GAME_UNTIL(gh_op_poll(&locks[0].op) == GH_OK);
    assert_status(gh_lock_begin(&locks[3], a->client, name, NULL), GH_OK);
}

TEST_FILE(lock_input, cmocka_unit_test(begin_names_the_field), cmocka_unit_test(ends_of_each_range_work),
          cmocka_unit_test(look_begin_names_the_field), cmocka_unit_test(idle_ops_take_every_call),
          cmocka_unit_test(set_begin_names_the_field), cmocka_unit_test(nasty_names_are_names_like_others),
          cmocka_unit_test(longest_name_of_the_worst_bytes_works), cmocka_unit_test(tag_is_written_whole_or_not_at_all),
          cmocka_unit_test(waiters_are_refused_past_their_cap),
          cmocka_unit_test(ops_are_refused_past_the_clients_capacity));
