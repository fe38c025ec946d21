/* An op that was moved while it was busy, as an array moves what is in it when it grows: each function that is given
   the copy says so, to the assertion hook, and does nothing. */

#include "support/scene/game.h"
#include "support/server/redis_server.h"

#include <string.h>

static unsigned told;

static bool count_assertion(void* context, const char* file, int line, const char* expression)
{
    (void)context, (void)file, (void)line;
    assert_non_null(strstr(expression, "self"));
    told++;
    return false;
}

static game* start_told(void)
{
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    game* a;
    config.hooks.assertion = count_assertion;
    told = 0;
    a = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(a->client));
    return a;
}

/* Two locks, of which the second is begun, in an array that has grown meanwhile. */
typedef struct grown
{
    gh_lock* before;
    gh_lock* after;
} grown;

static grown grow(game* a)
{
    grown array;
    array.before = GAME_NEW_ARRAY(a, gh_lock, 2);
    array.after = GAME_NEW_ARRAY(a, gh_lock, 4);
    assert_status(gh_lock_begin(&array.before[1], a->client, gh_str_literal("gate"), NULL), GH_OK);
    memcpy(array.after, array.before, 2 * sizeof(gh_lock));
    return array;
}

static void each_function_tells_of_a_copy(void** state)
{
    (void)state;
    game* a = start_told();
    grown array = grow(a);
    gh_lock* copy = &array.after[1];
    assert_status(gh_op_poll(&copy->op), GH_INVALID_OP);
    assert_int_equal(told, 1);
    gh_op_cancel(&copy->op);
    assert_int_equal(told, 2);
    gh_op_detach(&copy->op);
    assert_int_equal(told, 3);
    gh_lock_release(copy);
    assert_int_equal(told, 4);
    assert_status(gh_lock_begin(copy, a->client, gh_str_literal("gate"), NULL), GH_INVALID_OP);
    assert_true(told > 4);
}

static void op_itself_goes_on(void** state)
{
    (void)state;
    game* a = start_told();
    grown array = grow(a);
    gh_op_cancel(&array.after[1].op);
    gh_op_detach(&array.after[1].op);
    gh_lock_release(&array.after[1]);
    GAME_UNTIL(gh_op_poll(&array.before[1].op) == GH_HELD);
    gh_lock_release(&array.before[1]);
    GAME_UNTIL(gh_op_poll(&array.before[1].op) == GH_OK);
    assert_int_equal(game_stats(a).ops_busy, 0);
}

/* An idle op and one that has ended may be copied, and the copy begun. */
static void what_is_not_busy_may_move(void** state)
{
    (void)state;
    game* a = start_told();
    grown array = grow(a);
    assert_status(gh_op_poll(&array.after[0].op), GH_IDLE);
    gh_lock_release(&array.before[1]);
    GAME_UNTIL(!gh_op_is_busy(&array.before[1].op));
    array.after[1] = array.before[1];
    assert_status(gh_op_poll(&array.after[1].op), gh_op_poll(&array.before[1].op));
    assert_status(gh_lock_begin(&array.after[1], a->client, gh_str_literal("gate"), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&array.after[1].op) == GH_HELD);
    gh_op_detach(&array.after[1].op);
    assert_int_equal(told, 0);
}

/* One with a tag stays in place until its end was handed out: the client still has it in a row. */
static void end_that_was_not_seen_is_not_moved(void** state)
{
    (void)state;
    game* a = start_told();
    gh_lock* locks = GAME_NEW_ARRAY(a, gh_lock, 2);
    locks[0].op.tag = 1;
    assert_status(gh_lock_begin(&locks[0], a->client, gh_str_literal(""), NULL), GH_INVALID_NAME);
    locks[1] = locks[0];
    assert_status(gh_lock_begin(&locks[1], a->client, gh_str_literal("gate"), NULL), GH_INVALID_OP);
    assert_int_equal(told, 1);
    game_tick(a);
    assert_ptr_equal(gh_client_next(a->client), &locks[0].op);
    assert_null(gh_client_next(a->client));
}

TEST_FILE(moved, cmocka_unit_test(each_function_tells_of_a_copy), cmocka_unit_test(op_itself_goes_on),
          cmocka_unit_test(what_is_not_busy_may_move), cmocka_unit_test(end_that_was_not_seen_is_not_moved));
