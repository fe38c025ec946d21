/* Tests of guildhall/command.h against real servers: commands and scripts that a lock's fence guards. */

#include "support/command.h"
#include "support/server/redis_server.h"

#include <string.h>

static const char count_and_echo[] = "redis.call('INCR', KEYS[1]) return {#KEYS, #ARGV, KEYS[1], ARGV[1]}";
static const char count_once[] = "return redis.call('INCR', KEYS[1])";

static void current_fence_lets_it_pass(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = command_lock(a, "sw\n{o}r:d\xff", 60 * SECOND_US);
    gh_command_config config = fenced_config(a, gh_lock_fence(lock));
    gh_command* command = say(a, &config, "SET gold 100");
    assert_ends(command, GH_OK);
    assert_string_equal(reply_text(a, command), "OK");
    assert_string_equal(redis_server_text(server, "GET gold"), "100");
    command = say(a, &config, "INCRBY gold 5");
    assert_ends(command, GH_OK);
    assert_int_equal(gh_command_reply(command)->integer, 105);
    command = run_script(a, &config, script_new(a, count_and_echo), "count other", "x y z");
    assert_ends(command, GH_OK);
    assert_int_equal(gh_reply_at(gh_command_reply(command), 0)->integer, 2);
    assert_int_equal(gh_reply_at(gh_command_reply(command), 1)->integer, 3);
    assert_true(gh_str_equal(gh_reply_at(gh_command_reply(command), 2)->text, gh_str_literal("count")));
    assert_true(gh_str_equal(gh_reply_at(gh_command_reply(command), 3)->text, gh_str_literal("x")));
    assert_ends(say(a, &config, "LPUSH gold x"), GH_ERROR); /* the command's own error stays its own */
    assert_status(gh_op_poll(&lock->op), GH_HELD);
}

/* Whoever may not read the lock's key any more is not told that the lock is broken. */
static void right_to_read_the_lock_is_not_the_lock(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_command_config config = fenced_config(a, gh_lock_fence(command_lock(a, "sword", 60 * SECOND_US)));
    gh_script* script = script_new(a, count_once);
    assert_ends(say(a, &config, "INCR count"), GH_OK);
    assert_ends(run_script(a, &config, script, "count", ""), GH_OK);
    redis_server_do(server, "ACL SETUSER default -get");
    gh_status by_command = settle_command(say(a, &config, "INCR count"));
    assert_status(by_command, GH_REFUSED);
    gh_status by_script = settle_command(run_script(a, &config, script, "count", ""));
    assert_true(by_script == GH_REFUSED || by_script == GH_ERROR);
    redis_server_do(server, "ACL SETUSER default +get");
    assert_int_equal(redis_server_integer(server, "GET count"), 2);
}

/* Neither a command nor a script with that fence may write. */
static void expect_fenced(game* a, redis_server* server, gh_fence fence, const char* why)
{
    gh_command_config config = fenced_config(a, fence);
    long long keys = redis_server_keys(server);
    gh_command* command = say(a, &config, "SET fenced-out 1");
    gh_command* script = run_script(a, &config, script_new(a, count_once), "fenced-out", "");
    gh_status by_command = settle_command(command);
    gh_status by_script = settle_command(script);
    if (by_command != GH_FENCED || by_script != GH_FENCED)
        fail_msg("%s: the command ends %s, the script %s", why, gh_status_name(by_command), gh_status_name(by_script));
    assert_null(gh_command_reply(command));
    assert_int_equal(redis_server_integer(server, "EXISTS fenced-out"), 0);
    assert_int_equal(redis_server_keys(server), keys);
}

static void other_fences_stop_it(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = command_lock(a, "sword", 60 * SECOND_US);
    gh_fence fence = gh_lock_fence(lock);
    gh_fence wrong = fence;
    wrong.fence++;
    expect_fenced(a, server, wrong, "one more");
    wrong.fence = fence.fence - 1;
    expect_fenced(a, server, wrong, "one less");
    wrong.fence = UINT64_MAX;
    expect_fenced(a, server, wrong, "the largest");
    wrong = fence;
    wrong.name = gh_str_literal("shield");
    expect_fenced(a, server, wrong, "another lock's, that nobody ever took");
    command_lock(a, "shield", 60 * SECOND_US);
    expect_fenced(a, server, wrong, "another lock's, that is held");

    gh_lock_release(lock);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_OK);
    expect_fenced(a, server, fence, "a released lock's");
    gh_lock* again = command_lock(a, "sword", 60 * SECOND_US);
    assert_true(again->fence > fence.fence);
    expect_fenced(a, server, fence, "an earlier grant's");
    redis_server_do(server, "DEL gh:{lock:sword}:s");
    expect_fenced(a, server, gh_lock_fence(again), "a lock's that the store lost");
}

/* The owner sleeps past its lease. It does not know yet, its fence does. */
static void sleeper_is_stopped(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* sleeper = game_start_ready(redis_server_address(server));
    game* other = game_start_ready(redis_server_address(server));
    gh_lock* lock = command_lock(sleeper, "sword", SECOND_US / 5);
    gh_fence fence = gh_lock_fence(lock);
    sleeper->asleep = true;
    gh_lock* next = command_lock(other, "sword", 60 * SECOND_US);
    expect_fenced(other, server, fence, "a sleeper's");
    gh_command_config config = fenced_config(other, gh_lock_fence(next));
    assert_ends(say(other, &config, "SET gold 1"), GH_OK);

    /* What it has begun before it wakes goes out with its old fence. */
    config = fenced_config(sleeper, fence);
    gh_command* late = say(sleeper, &config, "SET gold 2");
    sleeper->asleep = false;
    assert_ends(late, GH_FENCED);
    assert_status(gh_op_poll(&lock->op), GH_LOST);
    assert_string_equal(redis_server_text(server, "GET gold"), "1");
}

/* Nobody else wants it, but by the store's clock the lease is over. */
static void lease_that_is_over_stops_it(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* sleeper = game_start_ready(redis_server_address(server));
    game* other = game_start_ready(redis_server_address(server));
    gh_fence fence = gh_lock_fence(command_lock(sleeper, "sword", SECOND_US / 10));
    sleeper->asleep = true;
    uint64_t begun_us = wait_now_us();
    gh_command_config config = fenced_config(other, fence);
    GAME_UNTIL(settle_command(say(other, &config, "SET gold 1")) == GH_FENCED);
    assert_true(wait_now_us() - begun_us < 10 * SECOND_US);
    expect_fenced(other, server, fence, "a lease's that is over");
}

/* gh_lock_fence of what is not held must never turn into "no condition". */
static void fence_of_a_lock_that_is_not_held_is_refused(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_str words[] = {gh_str_literal("SET"), gh_str_literal("gold"), gh_str_literal("1")};
    gh_command* command = GAME_NEW(a, gh_command);
    gh_lock* lock = GAME_NEW(a, gh_lock);
    gh_script* script = script_new(a, count_once);
    for (int i = 0; i < 3; i++) /* never begun; being asked for; released */
    {
        gh_command_config config = fenced_config(a, gh_lock_fence(lock));
        assert_status(gh_command_begin(command, a->client, words, 3, &config), GH_INVALID_FENCE);
        assert_status(gh_script_begin(command, a->client, script, words, 1, NULL, 0, &config), GH_INVALID_FENCE);
        if (i == 0) assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), NULL), GH_OK);
        if (i != 1) continue;
        GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
        gh_lock_release(lock);
        GAME_UNTIL(gh_op_poll(&lock->op) == GH_OK);
    }
    assert_int_equal(redis_server_integer(server, "EXISTS gold"), 0);
}

/* A script runs behind the fence check always or never. The other way is refused, before the text was sent
   too. */
static void script_is_fenced_always_or_never(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = command_lock(a, "sword", 60 * SECOND_US);
    gh_fence none = {{NULL, 0}, 0};
    gh_str key = gh_str_literal("count");
    for (int first = 0; first < 2; first++)
    {
        gh_command_config config = fenced_config(a, first == 0 ? none : gh_lock_fence(lock));
        gh_command_config other_way = fenced_config(a, first == 0 ? gh_lock_fence(lock) : none);
        gh_script* script = script_new(a, "redis.call('INCR', KEYS[1]) return 'once'");
        gh_command* refused = GAME_NEW(a, gh_command);
        gh_command* command = run_script(a, &config, script, "count", "");
        assert_status(gh_script_begin(refused, a->client, script, &key, 1, NULL, 0, &other_way), GH_INVALID_FENCE);
        assert_ends(command, GH_OK);
        assert_status(gh_script_begin(refused, a->client, script, &key, 1, NULL, 0, &other_way), GH_INVALID_FENCE);
        assert_int_equal(redis_server_integer(server, "GET count"), first + 1);
    }
}

/* A key of the lock that is not of Guildhall's making: nothing is written, and the op tells so. */
static void foreign_lock_key_is_corrupt(void** state)
{
    (void)state;
    static const char* const plants[] = {"LPUSH gh:{lock:sword}:s x", "HSET gh:{lock:sword}:s f v",
                                         "SET gh:{lock:sword}:s hello"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_fence fence = {gh_str_literal("sword"), 1};
    for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++)
    {
        gh_command_config config = fenced_config(a, fence);
        redis_server_do(server, "DEL gh:{lock:sword}:s");
        redis_server_do(server, plants[i]);
        assert_ends(say(a, &config, "SET gold 1"), GH_CORRUPT);
        assert_ends(run_script(a, &config, script_new(a, count_once), "gold", ""), GH_CORRUPT);
        assert_int_equal(redis_server_integer(server, "EXISTS gold"), 0);
    }
}

TEST_FILE(command_fence, cmocka_unit_test(current_fence_lets_it_pass),
          cmocka_unit_test(right_to_read_the_lock_is_not_the_lock), cmocka_unit_test(other_fences_stop_it),
          cmocka_unit_test(sleeper_is_stopped), cmocka_unit_test(lease_that_is_over_stops_it),
          cmocka_unit_test(fence_of_a_lock_that_is_not_held_is_refused),
          cmocka_unit_test(script_is_fenced_always_or_never), cmocka_unit_test(foreign_lock_key_is_corrupt));
