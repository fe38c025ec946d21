/* Several names at once. */

#include "support/scene/game.h"
#include "support/server/redis_server.h"

typedef struct held_names
{
    gh_lock_set set;
    gh_lock locks[3];
} held_names;

static held_names* want_names(game* from, const gh_str* names, size_t count, uint64_t wait_us)
{
    held_names* wanted = GAME_NEW(from, held_names);
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = wait_us;
    assert_status(gh_lock_set_begin(&wanted->set, from->client, wanted->locks, names, count, &config), GH_OK);
    return wanted;
}

static gh_status settle(const held_names* wanted)
{
    GAME_UNTIL(gh_op_poll(&wanted->set.op) != GH_PENDING);
    return gh_op_poll(&wanted->set.op);
}

static const gh_str unsorted[3] = {{"c", 1}, {"a", 1}, {"b", 1}};
static const gh_str reversed[3] = {{"b", 1}, {"c", 1}, {"a", 1}};

static void all_are_taken_and_given_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    held_names* wanted = want_names(a, unsorted, 3, SECOND_US);
    assert_status(settle(wanted), GH_HELD);
    for (int i = 0; i < 3; i++)
    {
        gh_fence fence = gh_lock_fence(&wanted->locks[i]);
        assert_true(gh_str_equal(fence.name, unsorted[i]));
        assert_status(gh_op_poll(&wanted->locks[i].op), GH_HELD);
        assert_true(wanted->locks[i].fence > 0);
    }
    gh_lock_set_release(&wanted->set);
    assert_status(settle(wanted), GH_OK);
    assert_status(settle(want_names(a, unsorted, 3, 0)), GH_HELD);
}

static void one_that_is_busy_gives_the_others_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_str last = gh_str_literal("c");
    held_names* owner = want_names(b, &last, 1, SECOND_US);
    assert_status(settle(owner), GH_HELD);
    held_names* once = want_names(a, unsorted, 3, 0);
    assert_status(settle(once), GH_BUSY);
    held_names* patient = want_names(a, unsorted, 3, SECOND_US / 5);
    assert_status(settle(patient), GH_TIMEOUT);
    assert_status(settle(want_names(b, unsorted + 1, 2, 0)), GH_HELD); /* "a" and "b" are free again */
}

static void two_in_opposite_order_do_not_wait_for_each_other(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* games[2];
    const gh_str* names[2] = {unsorted, reversed};
    held_names* wanted[2];
    for (int i = 0; i < 2; i++) games[i] = game_start_ready(redis_server_address(server));
    for (int round = 0; round < 20; round++)
    {
        for (int i = 0; i < 2; i++) wanted[i] = want_names(games[i], names[i], 3, 60 * SECOND_US);
        for (int done = 0; done < 2; done++)
        {
            GAME_UNTIL(gh_op_poll(&wanted[0]->set.op) == GH_HELD || gh_op_poll(&wanted[1]->set.op) == GH_HELD);
            held_names* first = gh_op_poll(&wanted[0]->set.op) == GH_HELD ? wanted[0] : wanted[1];
            assert_true(gh_op_poll(&wanted[0]->set.op) != gh_op_poll(&wanted[1]->set.op));
            gh_lock_set_release(&first->set);
            assert_status(settle(first), GH_OK);
        }
    }
}

static void one_that_is_lost_loses_all(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    held_names* wanted = GAME_NEW(a, held_names);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = SECOND_US;
    assert_status(gh_lock_set_begin(&wanted->set, a->client, wanted->locks, unsorted, 3, &config), GH_OK);
    assert_status(settle(wanted), GH_HELD);
    redis_server_do(server, "DEL gh:{lock:b}:s"); /* the next renewal finds out */
    GAME_UNTIL(gh_op_poll(&wanted->set.op) != GH_HELD);
    assert_status(settle(wanted), GH_LOST);
    for (int i = 0; i < 3; i++) assert_true(gh_op_poll(&wanted->locks[i].op) != GH_HELD);
    assert_status(settle(want_names(a, unsorted, 3, 0)), GH_HELD);
}

static void cancel_gives_back_what_was_taken(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_str last = gh_str_literal("c");
    held_names* owner = want_names(b, &last, 1, SECOND_US);
    assert_status(settle(owner), GH_HELD);
    held_names* waiting = want_names(a, unsorted, 3, 60 * SECOND_US);
    GAME_UNTIL(waiting->locks[0].position == 1); /* "c" */
    gh_op_cancel(&waiting->set.op);
    assert_status(settle(waiting), GH_CANCELLED);
    assert_status(settle(want_names(b, unsorted + 1, 2, 0)), GH_HELD);
    held_names* held = owner;
    gh_op_cancel(&held->set.op);
    assert_status(settle(held), GH_CANCELLED);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{lock:c}:q"), 0);
}

/* Whoever detaches one has its memory at once, and the set gives back what is its own. */
static void one_that_is_detached_serves_another_name(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    held_names* wanted = want_names(a, unsorted, 3, SECOND_US);
    gh_lock* reused = &wanted->locks[2]; /* "b" */
    assert_status(settle(wanted), GH_HELD);
    gh_op_detach(&reused->op);
    assert_status(gh_lock_begin(reused, a->client, gh_str_literal("d"), NULL), GH_OK);
    assert_status(settle(wanted), GH_OK);
    GAME_UNTIL(gh_op_poll(&reused->op) != GH_PENDING);
    assert_status(gh_op_poll(&reused->op), GH_HELD);
    assert_status(settle(want_names(b, unsorted, 3, SECOND_US)), GH_HELD);
    assert_status(gh_op_poll(&reused->op), GH_HELD);
}

TEST_FILE(lock_set, cmocka_unit_test(all_are_taken_and_given_back),
          cmocka_unit_test(one_that_is_busy_gives_the_others_back),
          cmocka_unit_test(two_in_opposite_order_do_not_wait_for_each_other),
          cmocka_unit_test(one_that_is_lost_loses_all), cmocka_unit_test(cancel_gives_back_what_was_taken),
          cmocka_unit_test(one_that_is_detached_serves_another_name));
