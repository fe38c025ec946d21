/* How a lock is lost, and how it is not: leases, hitches, silence, data loss, dead owners and waiters, clocks. */

#include "support/scene/locks.h"
#include "support/server/proxy.h"
#include "support/server/redis_server.h"

#include "client/lease.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gh_status settle(const gh_lock* lock)
{
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    return gh_op_poll(&lock->op);
}

static gh_lock* hold(game* from, const char* name, uint64_t lease_us)
{
    gh_lock* lock = lock_begun(from, name, lease_us, 60 * SECOND_US);
    assert_status(settle(lock), GH_HELD);
    return lock;
}

/* ---- told on time ----------------------------------------------------------------------------------------------- */

static void is_told_lost_while_the_server_is_away(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = hold(a, "sword", SECOND_US);
    uint64_t held_us = wait_now_us();
    redis_server_kill9(server);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_HELD);
    assert_status(gh_op_poll(&lock->op), GH_LOST);
    assert_false(gh_client_ready(a->client));
    assert_true(wait_now_us() - held_us > SECOND_US / 3);
}

static void is_told_lost_before_anything_else_after_a_hitch(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = hold(a, "sword", 10 * SECOND_US);
    gh_command* op = GAME_NEW(a, gh_command);
    gh_str ping = gh_str_literal("PING");
    assert_status(gh_command_begin(op, a->client, &ping, 1, NULL), GH_OK);
    game_tick(a); /* sent; the answer comes into the socket during the hitch */
    WAIT_FOR(redis_server_calls(server, "ping") >= 1);
    a->ahead_us += (int64_t)(11 * SECOND_US);
    game_tick(a);
    assert_status(gh_op_poll(&lock->op), GH_LOST);
    assert_int_equal(gh_lock_remaining_us(lock), 0);
}

static void grant_that_is_later_than_its_lease_is_not_reported(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    hold(a, "shield", SECOND_US); /* the script is loaded */
    gh_lock* lock = lock_begun(a, "sword", SECOND_US / 10, 60 * SECOND_US);
    game_tick(a);
    WAIT_FOR(redis_server_integer(server, "EXISTS gh:{lock:sword}:s") == 1); /* granted; the answer is in our socket */
    a->ahead_us += (int64_t)(SECOND_US / 5);
    game_tick(a); /* takes the answer */
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    assert_status(settle(lock), GH_HELD);
    assert_true(gh_lock_remaining_us(lock) > 0);
}

static void grant_that_is_too_late_to_ask_again_is_given_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    hold(a, "shield", SECOND_US);
    gh_lock* lock = lock_begun(a, "sword", SECOND_US, 0);
    game_tick(a);
    WAIT_FOR(redis_server_integer(server, "EXISTS gh:{lock:sword}:s") == 1);
    a->ahead_us += (int64_t)(SECOND_US + SECOND_US / 5);
    assert_status(settle(lock), GH_TIMEOUT);
    GAME_UNTIL(strstr(redis_server_text(server, "GET gh:{lock:sword}:s"), " f ") != NULL);
}

/* ---- others ----------------------------------------------------------------------------------------------------- */

static void release_never_touches_anothers_lock(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_lock* slow = hold(a, "sword", SECOND_US / 5);
    a->asleep = true; /* its lease runs out while it hangs */
    gh_lock* next = hold(b, "sword", 10 * SECOND_US);
    a->asleep = false;
    a->ahead_us -= (int64_t)(10 * SECOND_US); /* and it has not noticed: its clock stands still */
    assert_status(gh_op_poll(&slow->op), GH_HELD);
    gh_lock_release(slow);
    assert_status(settle(slow), GH_LOST);
    assert_status(gh_op_poll(&next->op), GH_HELD);
    gh_lock_release(next);
    assert_status(settle(next), GH_OK);
}

static void dead_owner_is_skipped_when_its_lease_ends(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    hold(a, "sword", SECOND_US / 2);
    gh_lock* waiter = lock_begun(b, "sword", SECOND_US, 30 * SECOND_US);
    GAME_UNTIL(waiter->position == 1);
    game_end(a);
    assert_status(settle(waiter), GH_HELD);
}

static void dead_waiters_are_skipped(void** state)
{
    (void)state;
    enum
    {
        DEAD = 300
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* dead = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_lock* owner = hold(a, "sword", 60 * SECOND_US);
    gh_lock* last = NULL;
    for (int i = 0; i < DEAD; i++) last = lock_begun(dead, "sword", SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(last->position == DEAD);
    gh_lock* waiter = lock_begun(b, "sword", SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(waiter->position == DEAD + 1);
    game_end(dead);
    long long before = redis_server_calls(server, "evalsha");
    gh_lock_release(owner);
    assert_status(settle(waiter), GH_HELD);
    assert_in_range(redis_server_calls(server, "evalsha") - before, 2, 8);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{lock:sword}:q"), 0);
}

static void waiter_that_missed_its_turn_stands_at_the_end(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* slow = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_lock* owner = hold(a, "sword", 60 * SECOND_US);
    gh_lock* first = lock_begun(slow, "sword", 60 * SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(first->position == 1);
    gh_lock* second = lock_begun(b, "sword", 60 * SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(second->position == 2);
    slow->asleep = true;
    gh_lock_release(owner);
    assert_status(settle(second), GH_HELD);
    slow->asleep = false;
    GAME_UNTIL(first->position == 1); /* it has asked, and was put into the queue again */
    assert_status(gh_op_poll(&first->op), GH_PENDING);
    gh_lock_release(second);
    assert_status(settle(first), GH_HELD);
    assert_true(first->fence > second->fence);
}

/* The release has dead waiters to drop, more than one call does, so it asks twice; by then another has the lock. */
static void release_that_is_told_to_go_on_is_no_loss(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_lock* lock = hold(a, "shield", SECOND_US);
    gh_lock_release(lock);
    assert_status(settle(lock), GH_OK); /* the script of the release is loaded */
    lock = hold(a, "sword", 60 * SECOND_US);
    redis_server_do(server, "EVAL %s 2 gh:{lock:sword}:s gh:{lock:sword}:q",
                    "for i = 1, 700 do redis.call('ZADD', KEYS[2], i, string.format('%016x:%016x', i, i)) end "
                    "local state = redis.call('GET', KEYS[1]) "
                    "return redis.call('SET', KEYS[1], (string.gsub(state, ' 0$', ' 700')))");
    gh_lock_release(lock);
    game_tick(a); /* sends it; the answer, to call again, waits in the socket */
    WAIT_FOR(strstr(redis_server_text(server, "GET gh:{lock:sword}:s"), " f ") != NULL);
    a->asleep = true;
    assert_true(redis_server_integer(server, "ZCARD gh:{lock:sword}:q") > 0);
    gh_lock* next = hold(b, "sword", 60 * SECOND_US);
    a->asleep = false;
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    long long calls = redis_server_calls(server, "evalsha");
    assert_status(settle(lock), GH_OK);
    assert_int_equal(redis_server_calls(server, "evalsha") - calls, 1);
    assert_status(gh_op_poll(&next->op), GH_HELD);
}

/* ---- data loss and clocks --------------------------------------------------------------------------------------- */

static void fence_grows_after_the_store_lost_its_data(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    uint64_t fence = 0;
    for (int i = 0; i < 3; i++)
    {
        gh_lock* lock = hold(a, "sword", 10 * SECOND_US);
        assert_true(lock->fence > fence);
        fence = lock->fence;
        redis_server_restart_empty(server);
        GAME_UNTIL(gh_op_poll(&lock->op) == GH_LOST);
    }
    assert_true(game_stats(a).store_resets > 0);
}

static void owner_learns_that_the_store_lost_its_data(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_lock* lock = hold(a, "sword", 60 * SECOND_US);
    gh_lock* waiter = lock_begun(b, "sword", 60 * SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(waiter->position == 1);
    redis_server_restart_empty(server);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_HELD);
    assert_status(gh_op_poll(&lock->op), GH_LOST);
    assert_status(settle(waiter), GH_HELD);
}

static void quarantine_holds_grants_back_after_a_loss(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.quarantine_us = SECOND_US;
    game* a = game_start_with(&config);
    gh_lock* lock = lock_begun(a, "sword", 10 * SECOND_US, 60 * SECOND_US);
    assert_status(settle(lock), GH_HELD);
    redis_server_restart_empty(server);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_HELD);
    lock = lock_begun(a, "sword", 10 * SECOND_US, 60 * SECOND_US);
    gh_lock* impatient = lock_begun(a, "shield", 10 * SECOND_US, 0);
    assert_status(settle(impatient), GH_BUSY);
    assert_status(settle(lock), GH_HELD);
    uint64_t birth_us = strtoull(redis_server_text(server, "GET gh:epoch"), NULL, 10);
    assert_true(lock->fence >= birth_us + SECOND_US); /* a fence is at least the store's time of the grant */
}

static void fence_grows_when_the_servers_clock_goes_back(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = hold(a, "sword", 10 * SECOND_US);
    uint64_t fence = lock->fence;
    gh_lock_release(lock);
    assert_status(settle(lock), GH_OK);
    redis_server_shift_clock(server, -3600 * (int64_t)SECOND_US);
    lock = hold(a, "sword", 10 * SECOND_US);
    assert_true(lock->fence > fence);
}

/* Whoever comes until the clock is where it was stands behind those who came before, and in the order of arrival. */
static void waiters_keep_their_order_when_the_servers_clock_goes_back(void** state)
{
    (void)state;
    enum
    {
        WAITERS = 6
    };
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* games[3];
    gh_lock* waiters[WAITERS];
    for (int i = 0; i < 3; i++) games[i] = game_start_ready(redis_server_address(server));
    gh_lock* owner = hold(games[0], "sword", 60 * SECOND_US);
    for (int i = 0; i < WAITERS; i++)
    {
        waiters[i] = lock_begun(games[i % 3], "sword", 60 * SECOND_US, 60 * SECOND_US);
        GAME_UNTIL(waiters[i]->position == (uint32_t)i + 1);
        if (i == 0) redis_server_shift_clock(server, -60 * (int64_t)SECOND_US);
    }
    gh_lock_release(owner);
    for (int i = 0; i < WAITERS; i++)
    {
        assert_status(settle(waiters[i]), GH_HELD);
        for (int j = i + 1; j < WAITERS; j++) assert_status(gh_op_poll(&waiters[j]->op), GH_PENDING);
        gh_lock_release(waiters[i]);
    }
}

static void servers_clock_forward_frees_and_the_owner_learns_it(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_lock* lock = hold(a, "sword", 6 * SECOND_US);
    uint64_t fence = lock->fence;
    redis_server_shift_clock(server, 3600 * (int64_t)SECOND_US);
    gh_lock* other = hold(b, "sword", 6 * SECOND_US);
    assert_true(other->fence > fence); /* whoever checks fences is safe in between */
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_HELD);
    assert_status(gh_op_poll(&lock->op), GH_LOST); /* by the renewal, after a third of the lease */
    assert_status(gh_op_poll(&other->op), GH_HELD);
}

/* A copy of the request was granted anew by a server that had lost the grant: the owner's fence holds nowhere. */
static void grant_of_another_fence_is_not_his(void** state)
{
    enum
    {
        FENCE_END = 33 + 1 + 16 /* behind the token */
    };
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_lock* lock = hold(a, "sword", 6 * SECOND_US);
    redis_server_do(server, "SETRANGE gh:{lock:sword}:s %d %u", FENCE_END - 1, (unsigned)((lock->fence + 1) % 10));
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_HELD);
    assert_int_equal(gh_lock_remaining_us(lock), 0);
    assert_status(settle(lock), GH_LOST); /* by the renewal */
    gh_lock* other = lock_begun(b, "sword", 6 * SECOND_US, 0);
    assert_status(settle(other), GH_HELD); /* it was given back */
    assert_true(other->fence > lock->fence);
}

/* A server that hung carries out in the end what was sent long ago: then nobody waits for it any more. */
static void request_of_the_past_is_granted_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(proxy));
    config.wake = false;
    config.request_timeout_us = SECOND_US / 20;
    game* a = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(a->client));
    assert_status(settle(lock_begun(a, "shield", SECOND_US, SECOND_US)),
                  GH_HELD); /* loads the script, and tells the time */
    proxy_arm(proxy, PROXY_REQUEST, 0, PROXY_HOLD);
    proxy_set_mode(proxy, PROXY_REFUSE);
    gh_lock* lock = lock_begun(a, "sword", 60 * SECOND_US, SECOND_US / 20);
    GAME_UNTIL(lock->lease.op.state == GH_LEASE_LEAVING);
    uint64_t ended_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - ended_us > SECOND_US / 5);
    assert_status(gh_op_poll(&lock->op), GH_PENDING); /* the store may have granted it, and cannot be told */
    long long calls = redis_server_calls(server, "evalsha");
    proxy_release(proxy);
    WAIT_FOR(redis_server_calls(server, "evalsha") > calls);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{lock:sword}:s"), 0);
    proxy_set_mode(proxy, PROXY_PASS);
    assert_status(settle(lock), GH_TIMEOUT);
}

static void foreign_key_is_corrupt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_do(server, "SET gh:{lock:sword}:s nonsense");
    assert_status(settle(lock_begun(a, "sword", SECOND_US, SECOND_US)), GH_CORRUPT);
    redis_server_do(server, "RPUSH gh:{lock:shield}:s nonsense");
    assert_status(settle(lock_begun(a, "shield", SECOND_US, SECOND_US)), GH_CORRUPT);
    assert_string_equal(redis_server_text(server, "GET gh:{lock:sword}:s"), "nonsense");
}

TEST_FILE(lock_loss, cmocka_unit_test(is_told_lost_while_the_server_is_away),
          cmocka_unit_test(is_told_lost_before_anything_else_after_a_hitch),
          cmocka_unit_test(grant_that_is_later_than_its_lease_is_not_reported),
          cmocka_unit_test(grant_that_is_too_late_to_ask_again_is_given_back),
          cmocka_unit_test(release_never_touches_anothers_lock),
          cmocka_unit_test(dead_owner_is_skipped_when_its_lease_ends), cmocka_unit_test(dead_waiters_are_skipped),
          cmocka_unit_test(waiter_that_missed_its_turn_stands_at_the_end),
          cmocka_unit_test(release_that_is_told_to_go_on_is_no_loss),
          cmocka_unit_test(fence_grows_after_the_store_lost_its_data),
          cmocka_unit_test(owner_learns_that_the_store_lost_its_data),
          cmocka_unit_test(quarantine_holds_grants_back_after_a_loss),
          cmocka_unit_test(fence_grows_when_the_servers_clock_goes_back),
          cmocka_unit_test(waiters_keep_their_order_when_the_servers_clock_goes_back),
          cmocka_unit_test(servers_clock_forward_frees_and_the_owner_learns_it),
          cmocka_unit_test(grant_of_another_fence_is_not_his), cmocka_unit_test(request_of_the_past_is_granted_nothing),
          cmocka_unit_test(foreign_key_is_corrupt));
