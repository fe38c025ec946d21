/* Many processes and one lock: what it costs the server, that nobody is in twice, and that whoever checks the fence
   loses nothing when owners hang or die. */

#include "support/scene/game.h"
#include "support/process.h"
#include "support/random.h"
#include "support/server/redis_server.h"

#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what it costs ------------------------------------------------------------------------------------- */

/* All want it at once and give it back at once. Waiters' heartbeats come on top, by the time that it takes. */
static void count_commands(unsigned waiter_count)
{
    redis_server* server = redis_server_start(NULL);
    game* games[4];
    for (int i = 0; i < 4; i++)
    {
        gh_client_config config = game_config(redis_server_address(server));
        config.ops_capacity = 4096;
        games[i] = game_start_with(&config);
        GAME_UNTIL(gh_client_ready(games[i]->client));
    }
    gh_lock* locks = GAME_NEW_ARRAY(games[0], gh_lock, waiter_count);
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 600 * SECOND_US;
    config.hold_us = 1;
    long long before = redis_server_calls(server, "evalsha");
    uint64_t begun_us = wait_now_us();
    for (unsigned i = 0; i < waiter_count; i++)
        assert_status(gh_lock_begin(&locks[i], games[i % 4]->client, gh_str_literal("sword"), &config), GH_OK);
    for (unsigned i = 0; i < waiter_count; i++) GAME_UNTIL(gh_op_poll(&locks[i].op) == GH_OK);

    uint64_t elapsed_us = wait_now_us() - begun_us;
    /* A heartbeat in 2.5 s at most, and the first four. */
    uint64_t heartbeats = (waiter_count / 2 + 40) * elapsed_us / SECOND_US;
    long long calls = redis_server_calls(server, "evalsha") - before;
    assert_in_range(calls, 2 * waiter_count, 4 * waiter_count + heartbeats);
    for (unsigned i = 0; i < waiter_count; i++) assert_true(locks[i].fence > 0);
}

static void grant_costs_the_same_with_ten_waiters(void** state)
{
    (void)state;
    count_commands(10);
}

static void grant_costs_the_same_with_two_thousand_waiters(void** state)
{
    (void)state;
    count_commands(2000);
}

/* ---- nobody is in twice -------------------------------------------------------------------------------- */

typedef struct fleet
{
    char address[128];
    unsigned cycles;
    uint64_t lease_us;
    bool fenced;
} fleet;

static redisContext* connect_plainly(const char* address)
{
    redisContext* context = redisConnectUnix(address + strlen("unix:"));
    CHILD_CHECK(context != NULL && context->err == 0);
    return context;
}

static long long plain_integer(redisContext* context, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply* reply = redisvCommand(context, format, arguments);
    va_end(arguments);
    CHILD_CHECK(reply != NULL && reply->type != REDIS_REPLY_ERROR);
    long long value = reply->type == REDIS_REPLY_INTEGER  ? reply->integer
                      : reply->type == REDIS_REPLY_STRING ? atoll(reply->str)
                                                          : 0;
    freeReplyObject(reply);
    return value;
}

/* The naive purchase: read, think, write, by a connection that knows nothing of the lock. */
static void add_one_by_hand(redisContext* context, uint64_t fence)
{
    long long gold = plain_integer(context, "GET gold");
    wait_briefly();
    plain_integer(context, "SET gold %lld", gold + 1);
    plain_integer(context, "RPUSH history %llu", (unsigned long long)fence);
}

/* The same with a fence: one script that is carried out only while the grant is the current one, and once per grant. */
static gh_status add_one_fenced(game* self, gh_lock* lock)
{
    static gh_script script = {.text = {"if redis.call('GET', KEYS[2]) == ARGV[1] then return 0 end\n"
                                        "redis.call('SET', KEYS[2], ARGV[1])\n"
                                        "redis.call('RPUSH', KEYS[3], ARGV[1])\n"
                                        "return redis.call('INCR', KEYS[1])",
                                        0}};
    static char fence_text[24];
    static gh_command op;
    gh_str keys[3] = {gh_str_literal("{lock:sword}:gold"), gh_str_literal("{lock:sword}:last"),
                      gh_str_literal("{lock:sword}:history")};
    gh_str argument =
        gh_str_make(fence_text, (size_t)snprintf(fence_text, sizeof(fence_text), "%" PRIu64, lock->fence));
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE;
    config.fence = gh_lock_fence(lock);
    config.timeout_us = 60 * SECOND_US;
    script.text.size = strlen(script.text.bytes);
    CHILD_CHECK(gh_script_begin(&op, self->client, &script, keys, 3, &argument, 1, &config) == GH_OK);
    while (gh_op_poll(&op.op) == GH_PENDING) game_tick_all();
    return gh_op_poll(&op.op);
}

static int trade(void* context, int results)
{
    fleet* self = context;
    game_forget_all();
    game* server = game_start(self->address);
    redisContext* plain = connect_plainly(self->address);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = self->lease_us;
    config.wait_us = 3600 * SECOND_US;
    gh_lock* lock = GAME_NEW(server, gh_lock);
    for (unsigned i = 0; i < self->cycles; i++)
    {
        CHILD_CHECK(gh_lock_begin(lock, server->client, gh_str_literal("sword"), &config) == GH_OK);
        while (gh_op_poll(&lock->op) == GH_PENDING) game_tick_all();
        if (gh_op_poll(&lock->op) == GH_HELD)
        {
            char done = 1;
            if (!self->fenced) add_one_by_hand(plain, lock->fence);
            else done = add_one_fenced(server, lock) == GH_OK;
            CHILD_CHECK(write(results, &done, 1) == 1);
        }
        gh_lock_release(lock);
        while (gh_op_poll(&lock->op) == GH_PENDING) game_tick_all();
    }
    redisFree(plain);
    return 0;
}

static void assert_fences_increase(redis_server* server, const char* key)
{
    redisReply* reply = redis_server_command(server, "LRANGE %s 0 -1", key);
    uint64_t last = 0;
    assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
    for (size_t i = 0; i < reply->elements; i++)
    {
        uint64_t fence = strtoull(reply->element[i]->str, NULL, 10);
        assert_true(fence > last);
        last = fence;
    }
    freeReplyObject(reply);
}

static void two_processes_are_never_in_at_once(void** state)
{
    (void)state;
    enum
    {
        PROCESSES = 4,
        CYCLES = 100
    };
    redis_server* server = redis_server_start(NULL);
    fleet all = {.cycles = CYCLES, .lease_us = 60 * SECOND_US};
    child_process* children[PROCESSES];
    snprintf(all.address, sizeof(all.address), "%s", redis_server_address(server));
    for (int i = 0; i < PROCESSES; i++) children[i] = child_start(trade, &all);
    for (int i = 0; i < PROCESSES; i++) assert_int_equal(child_wait(children[i]), 0);
    assert_int_equal(redis_server_integer(server, "GET gold"), PROCESSES * CYCLES);
    assert_fences_increase(server, "history");
}

/* Owners freeze for longer than their lease, and die; the last word has the fence. */
static void fence_keeps_the_books_when_owners_hang_and_die(void** state)
{
    (void)state;
    enum
    {
        PROCESSES = 4,
        CYCLES = 60
    };
    redis_server* server = redis_server_start(NULL);
    fleet all = {.cycles = CYCLES, .lease_us = SECOND_US / 5, .fenced = true};
    child_process* children[PROCESSES];
    random_stream random = random_for_test("faults");
    snprintf(all.address, sizeof(all.address), "%s", redis_server_address(server));
    for (int i = 0; i < PROCESSES; i++) children[i] = child_start(trade, &all);

    WAIT_FOR(redis_server_integer(server, "LLEN {lock:sword}:history") > 5);
    for (int i = 0; i < 4; i++)
    {
        child_process* hung = children[random_below(&random, PROCESSES - 1)];
        if (child_has_ended(hung)) continue;
        long long before = redis_server_integer(server, "GET {lock:sword}:gold");
        child_freeze(hung);
        WAIT_FOR(redis_server_integer(server, "GET {lock:sword}:gold") >= before + 3 ||
                 child_has_ended(children[PROCESSES - 1]));
        child_thaw(hung);
    }
    child_kill9(children[PROCESSES - 1]);

    long long done = 0;
    for (int i = 0; i < PROCESSES; i++)
    {
        char each;
        while (child_read(children[i], &each, 1) == 1) done += each;
        if (i < PROCESSES - 1) assert_int_equal(child_wait(children[i]), 0);
    }
    long long gold = redis_server_integer(server, "GET {lock:sword}:gold");
    assert_in_range(gold, done, done + 1); /* the one that was killed may have done one that it could not tell of */
    assert_int_equal(redis_server_integer(server, "LLEN {lock:sword}:history"), gold);
    assert_fences_increase(server, "{lock:sword}:history");
}

/* ---- the ordinary way ---------------------------------------------------------------------------------- */

/* Taken with a lease, a second try that must fail, given back, taken again; then an owner that goes away. */
static void is_refused_while_held_and_had_again_after_the_lease(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* first = GAME_NEW(a, gh_lock);
    gh_lock* second = GAME_NEW(a, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = SECOND_US;
    config.wait_us = 60 * SECOND_US;
    assert_status(gh_lock_begin(first, a->client, gh_str_literal("market"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&first->op) == GH_HELD);
    config.wait_us = SECOND_US / 100;
    assert_status(gh_lock_begin(second, a->client, gh_str_literal("market"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&second->op) != GH_PENDING);
    assert_status(gh_op_poll(&second->op), GH_TIMEOUT);
    gh_lock_release(first);
    GAME_UNTIL(gh_op_poll(&first->op) == GH_OK);
    config.wait_us = 60 * SECOND_US;
    assert_status(gh_lock_begin(second, a->client, gh_str_literal("market"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&second->op) == GH_HELD);
    game_end(a); /* without a release */

    game* b = game_start_ready(redis_server_address(server));
    gh_lock* third = GAME_NEW(b, gh_lock);
    assert_status(gh_lock_begin(third, b->client, gh_str_literal("market"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&third->op) == GH_HELD); /* the lease is over */
}

TEST_FILE(lock_fleet, cmocka_unit_test(grant_costs_the_same_with_ten_waiters),
          cmocka_unit_test(grant_costs_the_same_with_two_thousand_waiters),
          cmocka_unit_test(two_processes_are_never_in_at_once),
          cmocka_unit_test(fence_keeps_the_books_when_owners_hang_and_die),
          cmocka_unit_test(is_refused_while_held_and_had_again_after_the_lease));
