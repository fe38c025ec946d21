/* Bad input for every function of guildhall/semaphore.h, caps, and processes that compete. What an init refuses is in
   test_semaphore_object.c. */

#include "support/scene/permits.h"
#include "support/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_permit_refused(game* a, const gh_semaphore* semaphore, const gh_permit_config* config,
                                  gh_status expected)
{
    gh_permit* permit = GAME_NEW(a, gh_permit);
    gh_permit before = *permit;
    gh_client_stats stats = game_stats(a);
    assert_status(gh_permit_begin(permit, semaphore, config), expected);
    assert_true(gh_status_is_invalid(expected));
    assert_begin_refused(permit, &before, expected);
    assert_int_equal(game_stats(a).ops_begun, stats.ops_begun);
}

static void begin_names_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* permit = GAME_NEW(a, gh_permit);
    gh_semaphore three = semaphore_made(a->client, gh_str_literal("a"), 3);
    gh_semaphore unsaid = semaphore_made(a->client, gh_str_literal("a"), 0);
    gh_permit_config good = permit_config(1, SECOND_US, 0);
    assert_status(gh_permit_begin(NULL, &three, &good), GH_INVALID_OP);
    assert_permit_refused(a, &unsaid, &good, GH_INVALID_LIMIT);
    assert_permit_refused(a, &unsaid, NULL, GH_INVALID_LIMIT);
    const struct
    {
        uint32_t permits;
        uint64_t lease_us, wait_us, hold_us;
        gh_status expected;
    } rows[] = {
        {0, SECOND_US, 0, 0, GH_INVALID_PERMITS},
        {4, SECOND_US, 0, 0, GH_INVALID_PERMITS},
        {UINT32_MAX, SECOND_US, 0, 0, GH_INVALID_PERMITS},
        {1, 0, 0, 0, GH_INVALID_LEASE},
        {1, GH_SEMAPHORE_LEASE_MIN_US - 1, 0, 0, GH_INVALID_LEASE},
        {1, GH_SEMAPHORE_LEASE_MAX_US + 1, 0, 0, GH_INVALID_LEASE},
        {1, UINT64_MAX, 0, 0, GH_INVALID_LEASE},
        {1, SECOND_US, GH_SEMAPHORE_WAIT_MAX_US + 1, 0, GH_INVALID_WAIT},
        {1, SECOND_US, UINT64_MAX, 0, GH_INVALID_WAIT},
        {1, SECOND_US, 0, GH_SEMAPHORE_WAIT_MAX_US + 1, GH_INVALID_HOLD},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        gh_permit_config config = permit_config(rows[i].permits, rows[i].lease_us, rows[i].wait_us);
        config.hold_us = rows[i].hold_us;
        assert_permit_refused(a, &three, &config, rows[i].expected);
    }
    gh_permit_config skipped;
    memset(&skipped, 0, sizeof(skipped));
    assert_permit_refused(a, &three, &skipped, GH_INVALID_CONFIG);
    assert_status(gh_permit_begin(permit, &three, &good), GH_OK);
    assert_status(gh_permit_begin(permit, &three, &good), GH_INVALID_OP);
}

static void ends_of_each_range_work(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    const struct
    {
        uint32_t limit, permits;
        uint64_t lease_us, wait_us;
    } rows[] = {{1, 1, GH_SEMAPHORE_LEASE_MAX_US, 0},
                {GH_SEMAPHORE_LIMIT_MAX, GH_SEMAPHORE_LIMIT_MAX, GH_SEMAPHORE_LEASE_MAX_US, GH_SEMAPHORE_WAIT_MAX_US},
                {GH_SEMAPHORE_LIMIT_MAX, 1, GH_SEMAPHORE_LEASE_MIN_US, GH_SEMAPHORE_WAIT_MAX_US}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        gh_permit* permit = GAME_NEW(a, gh_permit);
        gh_permit_config config = permit_config(rows[i].permits, rows[i].lease_us, rows[i].wait_us);
        static const char* const names[] = {"a", "b", "c"};
        gh_semaphore semaphore = semaphore_made(a->client, gh_str_of(names[i]), rows[i].limit);
        assert_status(gh_permit_begin(permit, &semaphore, &config), GH_OK);
        assert_status(permit_settle(permit), GH_HELD);
        assert_int_equal(semaphore_stored(server, names[i]).used, rows[i].permits);
        gh_permit_release(permit);
        GAME_UNTIL(gh_op_poll(&permit->op) != GH_PENDING);
    }
    assert_int_equal(semaphore_set_limit(a, "a", GH_SEMAPHORE_LIMIT_MAX)->limit, GH_SEMAPHORE_LIMIT_MAX);
    assert_int_equal(semaphore_set_limit(a, "a", 1)->limit, 1);
}

static void calls_name_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_semaphore_limit* limit = GAME_NEW(a, gh_semaphore_limit);
    gh_semaphore_look* look = GAME_NEW(a, gh_semaphore_look);
    gh_permit_holder holder;
    gh_semaphore unsaid = semaphore_made(a->client, gh_str_literal("a"), 0);
    assert_status(gh_semaphore_limit_begin(NULL, &unsaid, 1), GH_INVALID_OP);
    assert_status(gh_semaphore_limit_begin(limit, &unsaid, 0), GH_INVALID_LIMIT);
    assert_status(gh_semaphore_limit_begin(limit, &unsaid, GH_SEMAPHORE_LIMIT_MAX + 1), GH_INVALID_LIMIT);
    assert_status(gh_semaphore_look_begin(NULL, &unsaid, NULL, 0), GH_INVALID_OP);
    assert_status(gh_semaphore_look_begin(look, &unsaid, NULL, 1), GH_INVALID_BUFFER);
    assert_status(gh_semaphore_look_begin(look, &unsaid, &holder, GH_SEMAPHORE_HOLDERS_MAX + 1), GH_INVALID_BUFFER);
    assert_int_equal(game_stats(a).ops_begun, 0);
    assert_status(gh_semaphore_limit_begin(limit, &unsaid, 1), GH_OK);
    assert_status(gh_semaphore_limit_begin(limit, &unsaid, 1), GH_INVALID_OP);
    assert_status(gh_semaphore_look_begin(look, &unsaid, NULL, 0), GH_OK);
    assert_status(gh_semaphore_look_begin(look, &unsaid, NULL, 0), GH_INVALID_OP);
    gh_op_cancel(&look->op);
    assert_status(gh_op_poll(&look->op), GH_CANCELLED);
}

static void idle_ops_take_every_call(void** state)
{
    (void)state;
    gh_permit permit = {0};
    gh_semaphore_limit limit = {0};
    gh_semaphore_look look = {0};
    assert_status(gh_op_poll(&permit.op), GH_IDLE);
    gh_permit_release(NULL);
    gh_permit_release(&permit);
    gh_op_cancel(&permit.op);
    assert_int_equal(gh_permit_remaining_us(NULL), 0);
    assert_int_equal(gh_permit_remaining_us(&permit), 0);
    assert_status(gh_op_poll(&limit.op), GH_IDLE);
    gh_op_cancel(&limit.op);
    assert_status(gh_op_poll(&look.op), GH_IDLE);
    gh_op_cancel(&look.op);
    assert_true(sizeof(gh_permit) <= 384 && sizeof(gh_semaphore_limit) <= 256 && sizeof(gh_semaphore_look) <= 256);
}

static void waiters_are_refused_past_their_cap(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* owner = permit_hold_one(a, "arena", 1, 60 * SECOND_US);
    redis_server_do(server, "EVAL %s 3 gh:{semaphore:arena}:s gh:{semaphore:arena}:q gh:{semaphore:arena}:c",
                    "redis.call('HSET', KEYS[3], '00000000000000ff', '9000000000000000') "
                    "for i = 1, 99998 do redis.call('ZADD', KEYS[2], i + 1e15 + 1e15, "
                    "'00000000000000ff:' .. string.format('%016x', i) .. ' 1') end "
                    "local state = redis.call('GET', KEYS[1]) "
                    "return redis.call('SET', KEYS[1], (string.gsub(state, ' 0 %-$', ' 99998 -')))");
    gh_permit* first = permit_want(a, "arena", 1, SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(first->position > 0);
    for (unsigned waiting = 99999; waiting <= 100001; waiting++)
    {
        gh_permit* waiter = permit_want(a, "arena", 1, SECOND_US, 60 * SECOND_US);
        GAME_UNTIL(gh_op_poll(&waiter->op) != GH_PENDING || waiter->position > 0);
        assert_status(gh_op_poll(&waiter->op), waiting < 100000 ? GH_PENDING : GH_FULL);
    }
    /* Some more, which no waiters are: where the first few are dead, a call looks at no others. */
    redis_server_do(server, "DEL gh:{semaphore:arena}:c");
    redis_server_do(server, "ZADD gh:{semaphore:arena}:q 1 a 2 b 3 c 4 d 5 e 6 f 7 g 8 h 9 i 9 j 9 k 9 l");
    gh_permit_release(owner);
    GAME_UNTIL(gh_op_poll(&owner->op) == GH_OK);
    gh_semaphore_limit* raise = GAME_NEW(a, gh_semaphore_limit);
    assert_status(gh_semaphore_limit_begin(raise, ON_SEMAPHORE(a->client, gh_str_literal("arena"), 0), 2), GH_OK);
    GAME_UNTIL(gh_op_poll(&raise->op) != GH_PENDING);
    assert_status(gh_op_poll(&raise->op), GH_CORRUPT);
    assert_string_equal(redis_server_text(server, "EVAL %s 1 gh:{semaphore:arena}:s",
                                          "return string.match(redis.call('GET', KEYS[1]), '^%d+')"),
                        "1");
    assert_true(redis_server_integer(server, "ZCARD gh:{semaphore:arena}:q") > 99990);
}

static void drain_gives_everything_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* held[5];
    for (int i = 0; i < 5; i++) held[i] = permit_hold_one(a, "arena", 5, 60 * SECOND_US);
    gh_permit* waiter = permit_want(a, "arena", 5, 60 * SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(waiter->position == 1);
    assert_status(gh_client_drain(a->client, 10 * SECOND_US), GH_OK);
    GAME_UNTIL(gh_client_drained(a->client));
    for (int i = 0; i < 5; i++) assert_status(gh_op_poll(&held[i]->op), GH_CANCELLED);
    assert_status(gh_op_poll(&waiter->op), GH_CANCELLED);
    stored_semaphore now = semaphore_stored(server, "arena");
    assert_int_equal(now.queued, 0);
    assert_int_equal(now.held, now.turns); /* at most a turn that was kept for the waiter on its way out */
}

/* ---- processes that compete ---------------------------------------------------------------------------- */

#define FLEET_LIMIT 3

typedef struct permit_fleet
{
    char address[128];
    unsigned cycles;
} permit_fleet;

typedef struct hold_record
{
    uint64_t from_us; /* both definite: after the grant was seen, before the release was asked for */
    uint64_t to_us;
    uint64_t fence;
    uint32_t permits;
} hold_record;

static int visit_the_arena(void* context, int results)
{
    permit_fleet* self = context;
    game_forget_all();
    game* server = game_start(self->address);
    gh_permit* permit = GAME_NEW(server, gh_permit);
    for (unsigned i = 0; i < self->cycles; i++)
    {
        gh_permit_config config = permit_config(1 + i % 2, 60 * SECOND_US, 3600 * SECOND_US);
        hold_record record = {.permits = config.permits};
        gh_semaphore arena = semaphore_made(server->client, gh_str_literal("arena"), FLEET_LIMIT);
        CHILD_CHECK(gh_permit_begin(permit, &arena, &config) == GH_OK);
        while (gh_op_poll(&permit->op) == GH_PENDING) game_tick_all();
        CHILD_CHECK(gh_op_poll(&permit->op) == GH_HELD);
        record.from_us = wait_now_us();
        record.fence = permit->fence;
        game_tick_all();
        record.to_us = wait_now_us();
        gh_permit_release(permit);
        while (gh_op_poll(&permit->op) == GH_PENDING) game_tick_all();
        CHILD_CHECK(gh_op_poll(&permit->op) == GH_OK);
        CHILD_CHECK(write(results, &record, sizeof(record)) == sizeof(record));
    }
    return 0;
}

static void never_more_than_the_limit_in_a_fleet(void** state)
{
    (void)state;
    enum
    {
        PROCESSES = 6,
        CYCLES = 60,
        RECORDS = PROCESSES * CYCLES
    };
    static hold_record records[RECORDS];
    redis_server* server = redis_server_start(NULL);
    permit_fleet fleet = {.cycles = CYCLES};
    child_process* children[PROCESSES];
    snprintf(fleet.address, sizeof(fleet.address), "%s", redis_server_address(server));
    for (int i = 0; i < PROCESSES; i++) children[i] = child_start(visit_the_arena, &fleet);
    for (int i = 0; i < PROCESSES; i++)
        assert_int_equal(child_read(children[i], &records[i * CYCLES], CYCLES * sizeof(hold_record)),
                         CYCLES * sizeof(hold_record));
    for (int i = 0; i < PROCESSES; i++) assert_int_equal(child_wait(children[i]), 0);

    uint32_t most = 0;
    for (int i = 0; i < RECORDS; i++) /* how many are in when this one comes in */
    {
        uint32_t inside = 0;
        for (int j = 0; j < RECORDS; j++)
        {
            if (records[j].from_us <= records[i].from_us && records[i].from_us < records[j].to_us)
                inside += records[j].permits;
            if (i != j) assert_true(records[i].fence != records[j].fence);
        }
        if (inside > most) most = inside;
    }
    assert_in_range(most, 2, FLEET_LIMIT);
    stored_semaphore now = semaphore_stored(server, "arena");
    assert_int_equal(now.used, 0); /* granted = released + expired + held at the end */
    semaphore_must_be_sound(server, "arena");
}

TEST_FILE(semaphore_input, cmocka_unit_test(begin_names_the_field), cmocka_unit_test(ends_of_each_range_work),
          cmocka_unit_test(calls_name_the_field), cmocka_unit_test(idle_ops_take_every_call),
          cmocka_unit_test(waiters_are_refused_past_their_cap), cmocka_unit_test(drain_gives_everything_back),
          cmocka_unit_test(never_more_than_the_limit_in_a_fleet));
