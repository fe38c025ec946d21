/* Tests of guildhall/lock.h against real servers. */

#include "support/scene/locks.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

static gh_lock_config lock_config(uint64_t lease_us, uint64_t wait_us)
{
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = lease_us;
    config.wait_us = wait_us;
    return config;
}

static gh_status settle(const gh_lock* lock)
{
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    return gh_op_poll(&lock->op);
}

static gh_lock* hold_lock(game* from, const char* name, uint64_t lease_us)
{
    gh_lock* lock = lock_begun(from, name, lease_us, 5 * SECOND_US);
    assert_status(settle(lock), GH_HELD);
    return lock;
}

static gh_status give_back(gh_lock* lock)
{
    gh_lock_release(lock);
    return settle(lock);
}

/* ---- the ordinary way ----------------------------------------------------------------------------------------- */

static void is_taken_and_given_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_lock* lock = hold_lock(a, "sword", 10 * SECOND_US);
    assert_true(lock->fence > 0);
    assert_in_range(gh_lock_remaining_us(lock), 1, 10 * SECOND_US);
    assert_in_range(gh_lock_end_us(lock), game_now_us(a) - SECOND_US, game_now_us(a) + 10 * SECOND_US);
    uint64_t fence = lock->fence;
    assert_status(give_back(lock), GH_OK);
    assert_int_equal(gh_lock_remaining_us(lock), 0);
    assert_int_equal(gh_lock_end_us(lock), 0);
    assert_int_equal(gh_lock_end_us(NULL), 0);
    assert_int_equal(gh_lock_fence(lock).fence, 0);
    assert_true(hold_lock(a, "sword", 10 * SECOND_US)->fence > fence);
}

static void goes_to_waiters_in_order_of_arrival(void** state)
{
    (void)state;
    enum
    {
        WAITERS = 20
    };
    redis_server* server = redis_server_start(NULL);
    game* games[3];
    gh_lock* waiter[WAITERS];
    for (int i = 0; i < 3; i++) games[i] = game_start_ready(redis_server_address(server));
    gh_lock* owner = hold_lock(games[0], "sword", 20 * SECOND_US);
    for (int i = 0; i < WAITERS; i++)
    {
        waiter[i] = lock_begun(games[i % 3], "sword", 20 * SECOND_US, 60 * SECOND_US);
        GAME_UNTIL(waiter[i]->position == (uint32_t)i + 1);
    }
    uint64_t fence = owner->fence;
    assert_status(give_back(owner), GH_OK);
    for (int i = 0; i < WAITERS; i++)
    {
        assert_status(settle(waiter[i]), GH_HELD);
        for (int j = i + 1; j < WAITERS; j++) assert_status(gh_op_poll(&waiter[j]->op), GH_PENDING);
        assert_true(waiter[i]->fence > fence);
        fence = waiter[i]->fence;
        assert_status(give_back(waiter[i]), GH_OK);
    }
}

static void wait_of_zero_asks_exactly_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* owner = hold_lock(a, "sword", 10 * SECOND_US);
    long long before = redis_server_calls(server, "evalsha");
    gh_lock* lock = lock_begun(a, "sword", 10 * SECOND_US, 0);
    assert_status(settle(lock), GH_BUSY);
    assert_int_equal(redis_server_calls(server, "evalsha") - before, 1);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{lock:sword}:q"), 0);
    assert_status(give_back(owner), GH_OK);
    lock = lock_begun(a, "sword", 10 * SECOND_US, 0);
    assert_status(settle(lock), GH_HELD);
}

static void waiter_gives_up_in_time(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_lock* owner = hold_lock(a, "sword", 10 * SECOND_US);
    gh_lock* waiter = lock_begun(b, "sword", 10 * SECOND_US, SECOND_US / 10);
    assert_status(settle(waiter), GH_TIMEOUT);
    assert_status(gh_op_poll(&owner->op), GH_HELD);
    GAME_UNTIL(redis_server_integer(server, "ZCARD gh:{lock:sword}:q") == 0);
}

static void lease_is_renewed_in_the_tick(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = hold_lock(a, "sword", 3 * SECOND_US);
    uint64_t taken_us = wait_now_us();
    uint64_t fence = lock->fence;
    GAME_UNTIL(wait_now_us() - taken_us > 4 * SECOND_US || gh_op_poll(&lock->op) != GH_HELD);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    assert_int_equal(lock->fence, fence);
    assert_status(give_back(lock), GH_OK);
}

static void hold_ends_by_itself(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = GAME_NEW(a, gh_lock);
    gh_lock_config config = lock_config(10 * SECOND_US, SECOND_US);
    config.hold_us = 1;
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_OK);
    assert_true(lock->fence > 0);
    assert_status(settle(lock_begun(a, "sword", SECOND_US, 0)), GH_HELD);
}

TEST_FILE(lock, cmocka_unit_test(is_taken_and_given_back), cmocka_unit_test(goes_to_waiters_in_order_of_arrival),
          cmocka_unit_test(wait_of_zero_asks_exactly_once), cmocka_unit_test(waiter_gives_up_in_time),
          cmocka_unit_test(lease_is_renewed_in_the_tick), cmocka_unit_test(hold_ends_by_itself));
