/* gh_next_deadline and gh_client_fd: who sleeps until the one or the other misses nothing, and is not
   woken for nothing. */

#include "client/op.h"
#include "support/scene/game.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"
#include "support/scene/sleeper.h"

#include <string.h>

#define MS UINT64_C(1000)

/* ---- a sleeper in a scripted world --------------------------------------------------------------------- */

static scripted* sleeper_start(bool wake)
{
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.wake = wake;
    scripted_start(world, &config);
    SLEEP_UNTIL(world, gh_client_ready(world->client), 20, 20 * MS);
    return world;
}

static void sleeper_takes_and_gives_back_a_lock(void** state)
{
    (void)state;
    scripted* world = sleeper_start(true);
    gh_lock* lock = scripted_want(world, "sword", 10 * SECOND_US, 5 * SECOND_US);
    SLEEP_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, 100, 20 * MS);
    gh_lock_release(lock);
    SLEEP_UNTIL(world, gh_op_poll(&lock->op) == GH_OK, 100, 20 * MS);
}

static void idle_client_sleeps(void** state)
{
    (void)state;
    scripted* world = sleeper_start(false);
    assert_int_equal(gh_next_deadline(world->client), GH_FOREVER);
    assert_int_equal(scripted_stats(world).links_ready, 1);
}

/* What is readable must be read in the tick that it causes: else poll() returns at once, for as long as it
   is not. */
static void readable_link_is_read_in_the_next_tick(void** state)
{
    (void)state;
    scripted* world = sleeper_start(true);
    uint64_t begin_us = world->now_us;
    SLEEP_UNTIL(world, world->now_us - begin_us >= 3600 * SECOND_US, 3000, 3700 * SECOND_US);
    assert_int_equal(gh_client_link_state(world->client, GH_LINK_WAKE), GH_LINK_READY);
    assert_int_equal(scripted_stats(world).links_ready, 1);
}

static void held_lock_is_renewed_by_a_sleeper(void** state)
{
    (void)state;
    scripted* world = sleeper_start(false);
    gh_lock* lock = scripted_want(world, "sword", 3 * SECOND_US, SECOND_US);
    SLEEP_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, 100, SECOND_US);
    uint64_t begin_us = world->now_us;
    while (world->now_us - begin_us < 60 * SECOND_US)
    {
        assert_status(gh_op_poll(&lock->op), GH_HELD);
        assert_true(gh_next_deadline(world->client) <= world->now_us + gh_lock_remaining_us(lock));
        sleeper_tick(world);
    }
    assert_in_range(scripted_stats(world).ticks, 60, 2000);
}

static void lost_lease_wakes_a_sleeper(void** state)
{
    (void)state;
    scripted* world = sleeper_start(true);
    gh_lock* lock = scripted_want(world, "sword", SECOND_US, SECOND_US);
    SLEEP_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, 100, SECOND_US);
    world->silent = true;
    uint64_t end_us = world->now_us + gh_lock_remaining_us(lock);
    SLEEP_UNTIL(world, gh_op_poll(&lock->op) == GH_LOST, 100, SECOND_US);
    assert_in_range(world->now_us, end_us, end_us + MS);
}

static void deadline_of_an_op_wakes_a_sleeper(void** state)
{
    (void)state;
    scripted* world = sleeper_start(false);
    world->silent = true;
    gh_command* op = scripted_ask(world, "A", 300 * MS, GH_REPEAT_SAFE);
    uint64_t begin_us = world->now_us;
    SLEEP_UNTIL(world, gh_op_poll(&op->op) == GH_UNKNOWN, 20, SECOND_US);
    assert_in_range(world->now_us - begin_us, 300 * MS, 301 * MS);
}

static bool busy_at_first(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    unsigned* left = world->context;
    const char text[] = "-BUSY Redis is busy running a script\r\n";
    (void)count;
    if (!gh_str_equal(words[0], gh_str_literal("A")) || *left == 0) return false;
    --*left;
    buffer_add(reply, text, sizeof(text) - 1);
    return true;
}

static void pause_before_a_retry_wakes_a_sleeper(void** state)
{
    (void)state;
    scripted* world = sleeper_start(false);
    unsigned left = 5;
    world->context = &left;
    world->answer = busy_at_first;
    gh_command* op = scripted_ask(world, "A", 10 * SECOND_US, GH_REPEAT_NEVER);
    SLEEP_UNTIL(world, gh_op_poll(&op->op) == GH_OK, 200, SECOND_US);
    world->answer = NULL;
    assert_int_equal(scripted_stats(world).retries, 5);
}

static void attempts_to_connect_wake_a_sleeper(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->open_status = GH_REFUSED;
    scripted_start(world, NULL);
    uint64_t begin_us = world->now_us;
    SLEEP_UNTIL(world, world->now_us - begin_us > 60 * SECOND_US, 300, 70 * SECOND_US);
    assert_in_range(world->opens, 60, 128);

    world->open_status = world->connected_status = GH_PENDING;
    SLEEP_UNTIL(world, gh_client_fd(world->client, GH_LINK_COMMANDS, NULL) >= 0, 20, 2 * SECOND_US);
    bool want_write = false;
    gh_client_fd(world->client, GH_LINK_COMMANDS, &want_write);
    assert_true(want_write);
    begin_us = world->now_us;
    SLEEP_UNTIL(world, gh_client_fd(world->client, GH_LINK_COMMANDS, NULL) < 0, 20, 3 * SECOND_US);
    assert_in_range(world->now_us - begin_us, 2 * SECOND_US, 2 * SECOND_US + MS);
}

static void silent_server_wakes_a_sleeper(void** state)
{
    (void)state;
    scripted* world = sleeper_start(false);
    world->silent = true;
    scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    uint64_t begin_us = world->now_us;
    SLEEP_UNTIL(world, !gh_client_ready(world->client), 20, 3 * SECOND_US);
    assert_in_range(world->now_us - begin_us, 2 * SECOND_US, 2 * SECOND_US + MS);
}

/* ---- what must be done now ----------------------------------------------------------------------------- */

static void op_begun_behind_a_sent_one_is_due_now(void** state)
{
    (void)state;
    scripted* world = sleeper_start(false);
    world->silent = true;
    scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    sleeper_tick(world);
    assert_true(gh_next_deadline(world->client) > world->now_us);
    uint64_t requests = scripted_stats(world).requests;
    scripted_ask(world, "B", 60 * SECOND_US, GH_REPEAT_SAFE);
    assert_true(gh_next_deadline(world->client) <= world->now_us);
    sleeper_tick(world);
    assert_int_equal(scripted_stats(world).requests, requests + 1);
    assert_true(gh_next_deadline(world->client) > world->now_us);
}

/* With every place among the requests taken there is nothing to send: no reason to be awake. */
static void op_without_a_place_on_the_wire_is_not_due(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.requests_capacity = 8;
    scripted_start_ready(world, &config);
    world->silent = true;
    for (int i = 0; i < 20; i++) scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    scripted_tick(world, MS);
    assert_int_equal(scripted_stats(world).requests_sent, 8);
    assert_int_equal(scripted_stats(world).requests_waiting, 12);
    assert_true(gh_next_deadline(world->client) > world->now_us + SECOND_US);
}

/* A tick of no budget leaves replies behind, in places where no poll() sees them. */
static void work_left_for_lack_of_budget_is_due_now(void** state)
{
    (void)state;
    enum
    {
        OPS = 300
    };
    scripted* world = sleeper_start(false);
    gh_command* ops[OPS];
    world->silent = true;
    for (int i = 0; i < OPS; i++) ops[i] = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    scripted_tick(world, MS);
    scripted_speak(world);
    world->budget_us = 1;
    world->clock_step_us = 1000;
    SLEEP_UNTIL(world, gh_op_poll(&ops[OPS - 1]->op) == GH_OK, 100, 20 * MS);
    for (int i = 0; i < OPS; i++) assert_status(gh_op_poll(&ops[i]->op), GH_OK);
    assert_in_range(scripted_stats(world).ticks_over_budget, 10, 100);
}

static void ops_left_in_the_queue_for_lack_of_budget_are_due_now(void** state)
{
    (void)state;
    enum
    {
        OPS = 300
    };
    scripted* world = sleeper_start(false);
    world->silent = true;
    for (int i = 0; i < OPS; i++) scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    world->budget_us = 1;
    world->clock_step_us = 1000;
    SLEEP_UNTIL(world, scripted_stats(world).requests_sent == OPS, 100, 20 * MS);
}

static void unsent_bytes_want_to_be_written(void** state)
{
    (void)state;
    scripted* world = sleeper_start(false);
    bool want_write = true;
    gh_client_fd(world->client, GH_LINK_COMMANDS, &want_write);
    assert_false(want_write);
    world->send_max = 0;
    gh_command* op = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    scripted_tick(world, MS);
    gh_client_fd(world->client, GH_LINK_COMMANDS, &want_write);
    assert_true(want_write);
    world->send_max = 1;
    SLEEP_UNTIL(world, gh_op_poll(&op->op) == GH_OK, 30, 10 * MS);
    gh_client_fd(world->client, GH_LINK_COMMANDS, &want_write);
    assert_false(want_write);
}

static void end_of_a_drain_wakes_a_sleeper(void** state)
{
    (void)state;
    scripted* world = sleeper_start(false);
    world->silent = true;
    gh_command* op = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    scripted_tick(world, MS);
    assert_status(gh_client_drain(world->client, 50 * MS), GH_OK);
    uint64_t begin_us = world->now_us;
    SLEEP_UNTIL(world, gh_client_drained(world->client), 20, 3 * SECOND_US);
    assert_in_range(world->now_us - begin_us, 50 * MS, 51 * MS);
    assert_status(gh_op_poll(&op->op), GH_UNKNOWN);
}

static void kept_step(gh_op* op, const gh_event* event)
{
    if (event->kind == GH_EVENT_CLOSE) gh_op_end(op, GH_CANCELLED);
}

/* As a row that its loader keeps: busy, without a time of its own. */
static const gh_op_kind kept_kind = {.name = "kept", .step = kept_step, .effect = GH_OP_READS};

static void drain_without_an_end_wakes_nobody(void** state)
{
    (void)state;
    scripted* world = sleeper_start(false);
    gh_op* op = SCRIPTED_NEW(world, gh_op);
    gh_op_begin(op, world->client, &kept_kind);
    scripted_tick(world, MS);
    assert_status(gh_client_drain(world->client, GH_FOREVER), GH_OK);
    assert_int_equal(gh_next_deadline(world->client), GH_FOREVER);
    scripted_tick(world, 3600 * SECOND_US);
    assert_int_equal(gh_next_deadline(world->client), GH_FOREVER);
    assert_true(gh_op_is_busy(op));
}

/* A budget so small that every look at the clock finds it spent, and nothing to do: no reason to be awake,
   and no work that was left. */
static void budget_that_is_spent_on_nothing_wakes_nobody(void** state)
{
    (void)state;
    scripted* world = sleeper_start(true);
    SLEEP_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY, 100, SECOND_US);
    world->budget_us = 1;
    world->clock_step_us = 1000;
    uint64_t begin_us = world->now_us;
    uint64_t over = scripted_stats(world).ticks_over_budget;
    SLEEP_UNTIL(world, world->now_us - begin_us >= 600 * SECOND_US, 500, 700 * SECOND_US);
    assert_int_equal(scripted_stats(world).ticks_over_budget, over);
}

/* ---- with poll() and a real server --------------------------------------------------------------------- */

static unsigned timers_ran; /* sleeps that ended by their time */

static void poll_and_tick(game** games, int count)
{
    if (sleeper_poll(games, count, 5 * SECOND_US)) timers_ran++;
    for (int i = 0; i < count; i++) game_tick(games[i]);
}

#define POLL_UNTIL(games, count, condition)                                                                            \
    do                                                                                                                 \
    {                                                                                                                  \
        uint64_t poll_end_us = wait_cap_us();                                                                          \
        while (!(condition))                                                                                           \
        {                                                                                                              \
            if (wait_now_us() >= poll_end_us) fail_msg("waited too long for: %s", #condition);                         \
            poll_and_tick((games), (count));                                                                           \
        }                                                                                                              \
    } while (0)

static void poll_loop_hands_a_lock_over(void** state)
{
    (void)state;
    enum
    {
        ROUNDS = 50
    };
    redis_server* server = redis_server_start(NULL);
    game* games[2];
    gh_lock* locks[2];
    gh_lock_config want = gh_lock_config_default();
    for (int i = 0; i < 2; i++)
    {
        games[i] = game_start(redis_server_address(server));
        locks[i] = GAME_NEW(games[i], gh_lock);
    }
    POLL_UNTIL(games, 2,
               gh_client_link_state(games[0]->client, GH_LINK_WAKE) == GH_LINK_READY &&
                   gh_client_link_state(games[1]->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_status(gh_lock_begin(locks[0], games[0]->client, gh_str_literal("sword"), &want), GH_OK);
    POLL_UNTIL(games, 2, gh_op_poll(&locks[0]->op) == GH_HELD);
    uint64_t ticks = game_stats(games[0]).ticks;
    timers_ran = 0;
    for (int round = 0; round < ROUNDS; round++)
    {
        gh_lock* mine = locks[round % 2];
        gh_lock* other = locks[(round + 1) % 2];
        assert_status(gh_lock_begin(other, games[(round + 1) % 2]->client, gh_str_literal("sword"), &want), GH_OK);
        POLL_UNTIL(games, 2, other->position == 1);
        gh_lock_release(mine);
        POLL_UNTIL(games, 2, gh_op_poll(&mine->op) == GH_OK && gh_op_poll(&other->op) == GH_HELD);
    }
    assert_in_range(timers_ran, 0,
                    ROUNDS / 2); /* it was hints that woke them; without those it takes a timer each time */
    assert_in_range(game_stats(games[0]).ticks - ticks, ROUNDS * 3, ROUNDS * 40);
}

TEST_FILE(deadline, cmocka_unit_test(sleeper_takes_and_gives_back_a_lock), cmocka_unit_test(idle_client_sleeps),
          cmocka_unit_test(readable_link_is_read_in_the_next_tick), cmocka_unit_test(held_lock_is_renewed_by_a_sleeper),
          cmocka_unit_test(lost_lease_wakes_a_sleeper), cmocka_unit_test(deadline_of_an_op_wakes_a_sleeper),
          cmocka_unit_test(pause_before_a_retry_wakes_a_sleeper), cmocka_unit_test(attempts_to_connect_wake_a_sleeper),
          cmocka_unit_test(silent_server_wakes_a_sleeper), cmocka_unit_test(op_begun_behind_a_sent_one_is_due_now),
          cmocka_unit_test(op_without_a_place_on_the_wire_is_not_due),
          cmocka_unit_test(work_left_for_lack_of_budget_is_due_now),
          cmocka_unit_test(ops_left_in_the_queue_for_lack_of_budget_are_due_now),
          cmocka_unit_test(unsent_bytes_want_to_be_written), cmocka_unit_test(end_of_a_drain_wakes_a_sleeper),
          cmocka_unit_test(drain_without_an_end_wakes_nobody),
          cmocka_unit_test(budget_that_is_spent_on_nothing_wakes_nobody),
          cmocka_unit_test(poll_loop_hands_a_lock_over));
