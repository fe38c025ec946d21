/* Tests of guildhall/semaphore.h against real servers. */

#include "support/scene/keys.h"
#include "support/scene/permits.h"

#include <stdio.h>
#include <string.h>

#define LEASE_US (20 * SECOND_US)

/* ---- the ordinary way ---------------------------------------------------------------------------------- */

static void is_taken_up_to_the_limit_and_given_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* permits[3];
    uint64_t fence = 0;
    for (int i = 0; i < 3; i++)
    {
        permits[i] = permit_hold_one(a, "arena", 3, LEASE_US);
        assert_true(permits[i]->fence > fence);
        assert_int_equal(permits[i]->limit, 3);
        assert_in_range(gh_permit_remaining_us(permits[i]), 1, LEASE_US);
        fence = permits[i]->fence;
        assert_int_equal(semaphore_stored(server, "arena").used, i + 1); /* limit - 1 twice, and the limit */
    }
    long long before = redis_server_calls(server, "evalsha");
    assert_status(permit_settle(permit_want(a, "arena", 3, LEASE_US, 0)), GH_BUSY);
    assert_int_equal(redis_server_calls(server, "evalsha") - before, 1);
    for (int i = 0; i < 3; i++) assert_status(permit_give_back(permits[i]), GH_OK);
    assert_int_equal(gh_permit_remaining_us(permits[0]), 0);
    assert_int_equal(semaphore_stored(server, "arena").used, 0);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{semaphore:arena}:h"), 0);
    semaphore_must_be_sound(server, "arena");
}

/* Three of three, a fourth must fail; after the lease of the three, one more gets in; it is given back, and
   three more get in. */
static void of_three_refuses_a_fourth_until_they_are_over(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* gone = game_start_ready(redis_server_address(server));
    game* a = game_start_ready(redis_server_address(server));
    for (int i = 0; i < 3; i++) permit_hold_one(gone, "testsem", 3, SECOND_US);
    assert_status(permit_settle(permit_want(a, "testsem", 3, SECOND_US, 0)), GH_BUSY);
    game_end(gone); /* without a release */
    assert_status(permit_give_back(permit_hold_one(a, "testsem", 3, SECOND_US)), GH_OK);
    for (int i = 0; i < 3; i++) permit_hold_one(a, "testsem", 3, SECOND_US);
    assert_status(permit_settle(permit_want(a, "testsem", 3, SECOND_US, 0)), GH_BUSY);
}

static void goes_to_waiters_in_order_of_arrival(void** state)
{
    (void)state;
    enum
    {
        WAITERS = 12,
        LIMIT = 2
    };
    redis_server* server = redis_server_start(NULL);
    game* games[3];
    gh_permit* waiter[WAITERS];
    gh_permit* owner[LIMIT];
    for (int i = 0; i < 3; i++) games[i] = game_start_ready(redis_server_address(server));
    for (int i = 0; i < LIMIT; i++) owner[i] = permit_hold_one(games[0], "arena", LIMIT, LEASE_US);
    for (int i = 0; i < WAITERS; i++)
    {
        waiter[i] = permit_want(games[i % 3], "arena", LIMIT, LEASE_US, 60 * SECOND_US);
        GAME_UNTIL(waiter[i]->position == (uint32_t)i + 1);
    }
    uint64_t fence = owner[1]->fence;
    assert_status(permit_give_back(owner[1]), GH_OK);
    for (int i = 0; i < WAITERS; i++) /* one of the two places is handed down the line */
    {
        assert_status(permit_settle(waiter[i]), GH_HELD);
        for (int j = i + 1; j < WAITERS; j++) assert_status(gh_op_poll(&waiter[j]->op), GH_PENDING);
        assert_true(waiter[i]->fence > fence);
        fence = waiter[i]->fence;
        assert_status(permit_give_back(waiter[i]), GH_OK);
    }
    semaphore_must_be_sound(server, "arena");
}

static void many_at_once_are_all_or_none(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_permit* four = permit_want_many(a, "arena", 5, 4);
    assert_status(permit_settle(four), GH_HELD);
    gh_permit* two = permit_want_many(b, "arena", 5, 2);
    GAME_UNTIL(two->position == 1);
    gh_permit* one = permit_want_many(a, "arena", 5, 1); /* there is room for one, but two came first */
    GAME_UNTIL(one->position == 2);
    assert_int_equal(semaphore_stored(server, "arena").held, 4);
    assert_status(permit_give_back(four), GH_OK);
    assert_status(permit_settle(two), GH_HELD);
    assert_status(permit_settle(one), GH_HELD); /* both at one release */
    assert_int_equal(semaphore_stored(server, "arena").held, 3);
    assert_status(permit_give_back(two), GH_OK);
    assert_int_equal(semaphore_stored(server, "arena").held, 1);
    semaphore_must_be_sound(server, "arena");
}

static void one_release_serves_all_that_fit(void** state)
{
    (void)state;
    enum
    {
        WAITERS = 80
    }; /* more than one call serves */
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_permit* all = permit_want_many(a, "arena", WAITERS, WAITERS);
    assert_status(permit_settle(all), GH_HELD);
    gh_permit* waiter[WAITERS];
    for (int i = 0; i < WAITERS; i++) waiter[i] = permit_want(b, "arena", WAITERS, LEASE_US, 60 * SECOND_US);
    GAME_UNTIL(semaphore_stored(server, "arena").queued == WAITERS);
    long long before = redis_server_calls(server, "evalsha");
    uint64_t begun_us = wait_now_us();
    assert_status(permit_give_back(all), GH_OK);
    for (int i = 0; i < WAITERS; i++) assert_status(permit_settle(waiter[i]), GH_HELD);
    uint64_t heartbeats = WAITERS * (wait_now_us() - begun_us) / SECOND_US; /* on a slow machine */
    assert_in_range(redis_server_calls(server, "evalsha") - before, WAITERS + 3, WAITERS + 12 + heartbeats);
    assert_int_equal(semaphore_stored(server, "arena").held, WAITERS);
    semaphore_must_be_sound(server, "arena");
}

static void hold_ends_by_itself(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* permit = GAME_NEW(a, gh_permit);
    gh_permit_config config = permit_config(1, LEASE_US, SECOND_US);
    config.hold_us = 1;
    assert_status(gh_permit_begin(permit, ON_SEMAPHORE(a->client, gh_str_literal("arena"), 1), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&permit->op) == GH_OK);
    assert_true(permit->fence > 0);
    assert_status(permit_settle(permit_want(a, "arena", 1, SECOND_US, 0)), GH_HELD);
}

static void waiter_gives_up_in_time(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_permit* owner = permit_hold_one(a, "arena", 1, LEASE_US);
    assert_status(permit_settle(permit_want(b, "arena", 1, LEASE_US, SECOND_US / 10)), GH_TIMEOUT);
    assert_status(gh_op_poll(&owner->op), GH_HELD);
    GAME_UNTIL(semaphore_stored(server, "arena").queued == 0);
    semaphore_must_be_sound(server, "arena");
}

/* ---- the limit ----------------------------------------------------------------------------------------- */

static void lowering_the_limit_takes_nothing_away(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* held[4];
    for (int i = 0; i < 4; i++) held[i] = permit_hold_one(a, "arena", 4, LEASE_US);
    gh_semaphore_limit* limit = semaphore_set_limit(a, "arena", 2);
    assert_int_equal(limit->limit, 2);
    assert_int_equal(limit->used, 4);
    for (int i = 0; i < 2; i++) /* 3 and 2 are held after these: nobody gets in */
    {
        assert_status(gh_op_poll(&held[i]->op), GH_HELD);
        assert_status(permit_give_back(held[i]), GH_OK);
        assert_status(permit_settle(permit_want(a, "arena", 4, LEASE_US, 0)), GH_BUSY);
    }
    assert_status(permit_give_back(held[2]), GH_OK);
    gh_permit* next = permit_want(a, "arena", 4, LEASE_US, 0); /* another limit in a config changes nothing */
    assert_status(permit_settle(next), GH_HELD);
    assert_int_equal(next->limit, 2);
    assert_status(permit_settle(permit_want(a, "arena", 4, LEASE_US, 0)), GH_BUSY);
    assert_status(gh_op_poll(&held[3]->op), GH_HELD);
}

static void raising_the_limit_serves_waiters_at_once(void** state)
{
    (void)state;
    enum
    {
        WAITERS = 100
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_permit* waiter[WAITERS];
    permit_hold_one(a, "arena", 1, LEASE_US);
    for (int i = 0; i < WAITERS; i++) waiter[i] = permit_want(b, "arena", 1, LEASE_US, 60 * SECOND_US);
    GAME_UNTIL(semaphore_stored(server, "arena").queued == WAITERS);
    semaphore_set_limit(a, "arena", 1 + WAITERS / 2);
    for (int i = 0; i < WAITERS / 2; i++) assert_status(permit_settle(waiter[i]), GH_HELD);
    assert_int_equal(semaphore_stored(server, "arena").held, 1 + WAITERS / 2);
    for (int i = WAITERS / 2; i < WAITERS; i++) assert_status(gh_op_poll(&waiter[i]->op), GH_PENDING);
    semaphore_must_be_sound(server, "arena");
}

static void waiters_over_the_limit_are_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* owner = permit_want_many(a, "arena", 4, 2);
    assert_status(permit_settle(owner), GH_HELD);
    gh_permit* large = permit_want_many(a, "arena", 4, 4);
    GAME_UNTIL(large->position == 1);
    gh_permit* small = permit_want_many(a, "arena", 4, 1);
    GAME_UNTIL(small->position == 2);
    semaphore_set_limit(a, "arena", 3);
    assert_status(permit_settle(large), GH_TOO_LARGE);
    assert_int_equal(large->limit, 3);
    assert_status(permit_settle(small), GH_HELD); /* it stood behind the large one */
    assert_status(permit_settle(permit_want_many(a, "arena", 4, 4)), GH_TOO_LARGE);
    semaphore_must_be_sound(server, "arena");
}

static void limit_that_was_set_outlives_the_callers_configs(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    semaphore_set_limit(a, "arena", 2);
    permit_hold_one(a, "arena", 1, LEASE_US);
    permit_hold_one(a, "arena", 1, LEASE_US);
    assert_in_range(redis_server_integer(server, "TTL gh:{semaphore:arena}:s"), 29 * 86400, 30 * 86400);
    permit_hold_one(a, "gate", 1, LEASE_US);
    assert_in_range(redis_server_integer(server, "TTL gh:{semaphore:gate}:s"), 3600, 7200);
}

/* ---- looking ------------------------------------------------------------------------------------------- */

static gh_semaphore_look* look(game* from, const char* name, gh_permit_holder* holders, size_t most, gh_status expected)
{
    gh_semaphore_look* op = GAME_NEW(from, gh_semaphore_look);
    assert_status(gh_semaphore_look_begin(op, ON_SEMAPHORE(from->client, gh_str_of(name), 0), holders, most), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    assert_status(gh_op_poll(&op->op), expected);
    return op;
}

static void look_tells_who_holds_what(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_permit_holder* holders = GAME_NEW_ARRAY(a, gh_permit_holder, GH_SEMAPHORE_HOLDERS_MAX);
    look(a, "arena", holders, GH_SEMAPHORE_HOLDERS_MAX, GH_GONE);
    permit_hold_one(a, "arena", 5, 5 * SECOND_US);
    assert_status(permit_settle(permit_want_many(b, "arena", 5, 3)), GH_HELD);
    gh_permit* waiter = permit_want_many(a, "arena", 5, 2);
    GAME_UNTIL(waiter->position == 1);
    gh_semaphore_look* op = look(a, "arena", holders, GH_SEMAPHORE_HOLDERS_MAX, GH_OK);
    assert_int_equal(op->limit, 5);
    assert_int_equal(op->used, 4);
    assert_int_equal(op->waiters, 1);
    assert_int_equal(op->count, 2);
    assert_int_equal(holders[0].client, gh_client_id(b->client)); /* its lease ends last */
    assert_int_equal(holders[0].permits, 3);
    assert_false(holders[0].waiting);
    assert_in_range(holders[0].remaining_us, 5 * SECOND_US, 60 * SECOND_US);
    assert_int_equal(holders[1].client, gh_client_id(a->client));
    assert_in_range(holders[1].remaining_us, 1, 5 * SECOND_US);
    assert_int_equal(look(a, "arena", holders, 1, GH_OK)->count, 1);
    assert_int_equal(look(a, "arena", NULL, 0, GH_OK)->used, 4);
}

/* Leases that are over and that nobody has cleared away are not in use, however many they are. */
static void look_counts_none_that_is_over(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    permit_hold_one(a, "arena", 1000, 60 * SECOND_US);
    redis_server_do(server, "SET gh:{semaphore:arena}:s %s", "1000 751 1 0 -"); /* 250 of 3, and that one */
    for (unsigned i = 0; i < 250; i++)
    {
        char member[64];
        snprintf(member, sizeof(member), "00000000000000aa:%016x 3", i + 1);
        redis_server_do(server, "ZADD gh:{semaphore:arena}:h %s %s", i < 200 ? "1000000" : "9007199254740990", member);
    }
    assert_int_equal(look(a, "arena", NULL, 0, GH_OK)->used, 50 * 3 + 1);

    redis_server_do(server, "SET gh:{semaphore:arena}:s %s", "1000 911 1 0 -");
    for (unsigned i = 0; i < 160; i++)
    {
        char member[64];
        snprintf(member, sizeof(member), "00000000000000bb:%016x 1", i + 1);
        redis_server_do(server, "ZADD gh:{semaphore:arena}:h %s %s", i < 40 ? "1000001" : "9007199254740990", member);
    }
    /* Of 240 that are over, 140 are taken to be of one permit each: more are counted than are used, never fewer. */
    assert_in_range(look(a, "arena", NULL, 0, GH_OK)->used, 50 * 3 + 120 + 1, 911 - 3 * 100 - 140);
}

/* ---- the page of keys ---------------------------------------------------------------------------------- */

static void keys_are_on_the_page(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    permit_hold_one(a, "arena", 1, LEASE_US);
    gh_permit* waiter = permit_want(a, "arena", 1, LEASE_US, 60 * SECOND_US);
    GAME_UNTIL(waiter->position == 1);
    semaphore_set_limit(a, "arena", 1);
    semaphore_set_limit(b, "arena", 1);
    keys_must_be_on_the_page(server, "gh:{semaphore:");
}

/* Of the one who holds a permit, the look tells what its member of the zset says, or that it says nothing. */
static void holder_of_another_form_is_corrupt(void** state)
{
    (void)state;
    static const char* const members[] = {
        "00000000000000aa-00000000000000bb 1",  "00000000000000aa 00000000000000bb 1",
        "00000000000000aa:00000000000000bb:1",  "00000000000000aa:00000000000000bb1",
        "00000000000000aa:00000000000000bb",    "00000000000000aa:00000000000000bb ",
        "00000000000000AA:00000000000000bb 1",  "00000000000000aa:00000000000000bb x",
        "00000000000000aa:00000000000000bb -1", "00000000000000aa:00000000000000bb 1000001"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    permit_hold_one(a, "arena", 2, 60 * SECOND_US);
    gh_semaphore_look* look = GAME_NEW(a, gh_semaphore_look);
    gh_permit_holder holders[2];
    for (size_t i = 0; i <= sizeof members / sizeof members[0]; i++)
    {
        const char* member = i == 0 ? "00000000000000aa:00000000000000bb 1" : members[i - 1];
        redis_server_do(server, "ZADD gh:{semaphore:arena}:h 9007199254740991 %s", member);
        assert_status(gh_semaphore_look_begin(look, ON_SEMAPHORE(a->client, gh_str_literal("arena"), 0), holders, 2),
                      GH_OK);
        GAME_UNTIL(gh_op_poll(&look->op) != GH_PENDING);
        if (gh_op_poll(&look->op) != (i == 0 ? GH_OK : GH_CORRUPT))
            fail_msg("\"%s\" ends %s", member, gh_status_name(gh_op_poll(&look->op)));
        redis_server_do(server, "ZREM gh:{semaphore:arena}:h %s", member);
    }
    assert_int_equal(game_stats(a).links_lost, 0);
}

TEST_FILE(semaphore, cmocka_unit_test(holder_of_another_form_is_corrupt),
          cmocka_unit_test(is_taken_up_to_the_limit_and_given_back),
          cmocka_unit_test(of_three_refuses_a_fourth_until_they_are_over),
          cmocka_unit_test(goes_to_waiters_in_order_of_arrival), cmocka_unit_test(many_at_once_are_all_or_none),
          cmocka_unit_test(one_release_serves_all_that_fit), cmocka_unit_test(hold_ends_by_itself),
          cmocka_unit_test(waiter_gives_up_in_time), cmocka_unit_test(lowering_the_limit_takes_nothing_away),
          cmocka_unit_test(raising_the_limit_serves_waiters_at_once), cmocka_unit_test(waiters_over_the_limit_are_told),
          cmocka_unit_test(limit_that_was_set_outlives_the_callers_configs),
          cmocka_unit_test(look_tells_who_holds_what), cmocka_unit_test(look_counts_none_that_is_over),
          cmocka_unit_test(keys_are_on_the_page));
