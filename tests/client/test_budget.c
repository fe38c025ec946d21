/* The budget of a tick: it bounds the work, loses none of it, and never costs a lease or a deadline. */

#include "support/scene/game.h"
#include "support/server/proxy.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000)

/* Each look at the clock finds it 50 us later: the budget is spent after a few. */
static void make_slow(scripted* world, uint64_t budget_us)
{
    world->budget_us = budget_us;
    world->clock_step_us = 50;
}

/* ---- it bounds the work -------------------------------------------------------------------------------- */

static void replies_are_taken_a_piece_at_a_time(void** state)
{
    (void)state;
    enum
    {
        OPS = 10000
    };
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.ops_capacity = config.requests_capacity = OPS;
    config.out_bytes = 1024 * 1024;
    scripted_start_ready(world, &config);
    gh_command** ops = scripted_keep(world, sizeof(*ops) * OPS);
    world->silent = true;
    for (int i = 0; i < OPS; i++) ops[i] = scripted_ask(world, "A", 3600 * SECOND_US, GH_REPEAT_NEVER);
    scripted_tick(world, MS);
    assert_int_equal(scripted_stats(world).requests_sent, OPS);
    scripted_speak(world);

    make_slow(world, 200);
    uint64_t ticks = scripted_stats(world).ticks;
    uint64_t before = scripted_stats(world).replies;
    uint64_t begin_us = world->clock_us;
    while (scripted_stats(world).requests_sent > 0)
    {
        scripted_tick(world, 100);
        gh_client_stats stats = scripted_stats(world);
        if (stats.replies == before) fail_msg("%s", "a tick without progress");
        assert_true(stats.replies - before <= 16 * 8); /* four looks at the clock, and some at the end */
        assert_true(world->clock_us - begin_us <= 500);
        before = stats.replies;
        begin_us = world->clock_us;
    }
    for (int i = 0; i < OPS; i++) assert_status(gh_op_poll(&ops[i]->op), GH_OK);
    gh_client_stats stats = scripted_stats(world);
    assert_in_range(stats.ticks - ticks, OPS / (16 * 8), OPS / 16);
    assert_in_range(stats.ticks_over_budget, stats.ticks - ticks - 2, stats.ticks - ticks);
    assert_int_equal(stats.links_lost, 0);
}

/* One answer, so large that nobody has room for it: who asked has gone, and what comes is passed over. */
static void long_answer_is_read_a_piece_at_a_time(void** state)
{
    (void)state;
    enum
    {
        SIZE = 8 << 20
    };
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    world->silent = true;
    gh_command* gone = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
    gh_command* last = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
    scripted_tick(world, MS);
    gh_op_detach(&gone->op);
    byte_buffer* replies = &world->streams[gh_client_fd(world->client, GH_LINK_COMMANDS, NULL)].replies;
    buffer_add(replies, "$8388608\r\n", 10);
    memset(buffer_reserve(replies, SIZE), 'x', SIZE);
    replies->size += SIZE;
    buffer_add(replies, "\r\n+OK\r\n", 7);
    make_slow(world, 200);
    for (size_t left = replies->size; left > 0; left = replies->size)
    {
        scripted_tick(world, 100);
        assert_in_range(left - replies->size, 1, 512 * 1024);
    }
    scripted_tick(world, 100);
    assert_status(gh_op_poll(&last->op), GH_OK);
    assert_int_equal(scripted_stats(world).links_lost, 0);
}

static void requests_are_sent_a_piece_at_a_time(void** state)
{
    (void)state;
    enum
    {
        OPS = 5000
    };
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.ops_capacity = config.requests_capacity = OPS;
    config.out_bytes = 1024 * 1024;
    scripted_start_ready(world, &config);
    world->silent = true;
    for (int i = 0; i < OPS; i++) scripted_ask(world, "A", 3600 * SECOND_US, GH_REPEAT_NEVER);
    make_slow(world, 200);
    uint32_t before = 0;
    for (int ticks = 0; before < OPS; ticks++)
    {
        scripted_tick(world, 100);
        uint32_t sent = scripted_stats(world).requests_sent;
        assert_in_range(sent - before, 1, 16 * 8);
        assert_in_range(ticks, 0, OPS / 16);
        before = sent;
    }
}

/* With the least budget there is, on a machine where every look at the clock takes a second. */
static void each_tick_makes_some_progress(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.wake = true;
    world->budget_us = 1;
    world->clock_step_us = SECOND_US;
    scripted_start_ready(world, &config);
    gh_lock* lock = scripted_want(world, "sword", 10 * SECOND_US, SECOND_US);
    gh_command* last = NULL;
    for (int i = 0; i < 500; i++) last = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&last->op) == GH_OK, MS, SECOND_US);
    SCRIPTED_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY, MS, SECOND_US);
}

static void without_a_budget_nobody_looks_at_the_clock(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.wake = true;
    world->clock_step_us = 1;
    scripted_start_ready(world, &config);
    gh_command* last = NULL;
    for (int i = 0; i < 500; i++) last = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&last->op) == GH_OK, MS, SECOND_US);
    assert_int_equal(world->clock_us, 0);
    assert_int_equal(scripted_stats(world).ticks_over_budget, 0);

    world->budget_us = UINT64_MAX; /* as good as none */
    world->clock_us = UINT64_MAX - 1000;
    for (int i = 0; i < 100; i++) last = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&last->op) == GH_OK, MS, SECOND_US);
    assert_int_equal(scripted_stats(world).ticks_over_budget, 0);
}

static void budget_that_suffices_is_not_over(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    world->budget_us = 10 * SECOND_US;
    world->clock_step_us = 1;
    for (int i = 0; i < 300; i++) scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
    for (int i = 0; i < 100; i++) scripted_tick(world, MS);
    assert_int_equal(scripted_stats(world).ops_ended, 300);
    assert_int_equal(scripted_stats(world).ticks_over_budget, 0);
}

/* ---- what it must not cost ----------------------------------------------------------------------------- */

typedef struct order
{
    const void* lock;
    unsigned replies; /* handed out so far */
    unsigned replies_before_the_loss;
    bool lost;
} order;

static void note_order(void* context, const gh_trace_event* event)
{
    order* self = context;
    if (event->kind == GH_TRACE_REPLY) self->replies++;
    if (event->kind != GH_TRACE_END || event->status != GH_LOST) return;
    self->lost = true;
    self->replies_before_the_loss = self->replies;
}

static void leases_are_told_first_after_a_hitch(void** state)
{
    (void)state;
    const uint64_t budgets[] = {0, 1, 200};
    for (int i = 0; i < 3; i++)
    {
        scripted* world = scripted_new();
        order* seen = SCRIPTED_NEW(world, order);
        gh_client_config config = scripted_config();
        config.hooks.context = seen;
        config.hooks.trace = note_order;
        scripted_start_ready(world, &config);
        gh_lock* locks[20];
        for (int j = 0; j < 20; j++) locks[j] = scripted_want(world, "sword", SECOND_US, SECOND_US);
        SCRIPTED_UNTIL(world, gh_op_poll(&locks[19]->op) == GH_HELD, MS, SECOND_US);
        world->silent = true;
        for (int j = 0; j < 200; j++) scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
        scripted_tick(world, MS);
        seen->replies = 0;
        scripted_speak(world);
        make_slow(world, budgets[i]);
        scripted_tick(world, 5 * SECOND_US);
        for (int j = 0; j < 20; j++) assert_status(gh_op_poll(&locks[j]->op), GH_LOST);
        assert_true(seen->lost);
        assert_int_equal(seen->replies_before_the_loss, 0);
        assert_in_range(seen->replies, 1, 200);
    }
}

static void deadlines_pass_within_a_few_ticks(void** state)
{
    (void)state;
    enum
    {
        OPS = 1000
    };
    scripted* world = scripted_new();
    world->open_status = GH_REFUSED;
    scripted_start(world, NULL);
    scripted_tick(world, 0);
    gh_command* ops[OPS];
    for (int i = 0; i < OPS; i++) ops[i] = scripted_ask(world, "A", 100 * MS, GH_REPEAT_NEVER);
    make_slow(world, 1);
    scripted_tick(world, 100 * MS);
    assert_in_range(scripted_stats(world).ops_ended, 15, 32);
    for (int i = 0; i < OPS / 15 + 2; i++) scripted_tick(world, 1);
    for (int i = 0; i < OPS; i++) assert_status(gh_op_poll(&ops[i]->op), GH_TIMEOUT);
}

/* Replies without end, and a budget that is always spent: leases are renewed all the same. */
static void renewals_go_on_under_load(void** state)
{
    (void)state;
    enum
    {
        LOCKS = 10,
        LOAD = 900
    };
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.ops_capacity = 4096;
    config.requests_capacity = 4096;
    scripted_start_ready(world, &config);
    gh_lock* locks[LOCKS];
    gh_command* load[LOAD] = {NULL};
    for (int i = 0; i < LOCKS; i++) locks[i] = scripted_want(world, "sword", SECOND_US, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&locks[LOCKS - 1]->op) == GH_HELD, MS, SECOND_US);
    make_slow(world, 200);
    for (int tick = 0; tick < 1000; tick++)
    {
        for (int i = 0; i < LOAD && tick % 10 == 0 && tick < 500; i++)
            if (load[i] == NULL || gh_op_poll(&load[i]->op) != GH_PENDING)
                load[i] = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
        scripted_tick(world, 16 * MS);
        for (int i = 0; i < LOCKS; i++) assert_status(gh_op_poll(&locks[i]->op), GH_HELD);
    }
    assert_true(scripted_stats(world).ticks_over_budget > 100);
}

static void silent_server_is_given_up_on_any_budget(void** state)
{
    (void)state;
    const uint64_t budgets[] = {1, 200, 10000};
    for (int i = 0; i < 3; i++)
    {
        scripted* world = scripted_new();
        gh_client_config config = scripted_config();
        config.wake = true;
        scripted_start_ready(world, &config);
        SCRIPTED_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY, MS, SECOND_US);
        world->silent = true;
        make_slow(world, budgets[i]);
        for (int j = 0; j < 100; j++) scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
        uint64_t begin_us = world->now_us;
        SCRIPTED_UNTIL(world, !gh_client_ready(world->client), 16 * MS, 10 * SECOND_US);
        assert_in_range(world->now_us - begin_us, 2 * SECOND_US, 5 * SECOND_US / 2);
    }
}

/* A server that answers late, and a client that takes its answers slowly: what has arrived counts as
   heard. */
static void answers_that_wait_to_be_taken_are_no_silence(void** state)
{
    (void)state;
    enum
    {
        OPS = 400
    };
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_command* ops[OPS];
    world->silent = true;
    for (int i = 0; i < OPS; i++) ops[i] = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
    scripted_tick(world, MS);
    scripted_tick(world, 1900 * MS);
    scripted_speak(world);
    make_slow(world, 1);
    for (int i = 0; i < 100; i++) scripted_tick(world, 100 * MS); /* 16 answers at a time */
    for (int i = 0; i < OPS; i++) assert_status(gh_op_poll(&ops[i]->op), GH_OK);
    assert_int_equal(scripted_stats(world).links_lost, 0);
}

/* ---- a store that has lost its data ---------------------------------------------------------------------- */

enum
{
    HELD = 10000
};

typedef struct loss
{
    unsigned lost;
    unsigned replies;           /* since the store lost its data */
    unsigned replies_too_early; /* before all leases were told   */
} loss;

static void note_loss(void* context, const gh_trace_event* event)
{
    loss* self = context;
    if (event->kind == GH_TRACE_END && event->status == GH_LOST) self->lost++;
    if (event->kind != GH_TRACE_REPLY) return;
    self->replies++;
    if (self->lost < HELD) self->replies_too_early++;
}

static void end_streams(scripted* world)
{
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++) world->streams[i].ended = true;
}

/* Ten thousand locks are held, and the connection is gone: the next one is to another store. */
static gh_lock** hold_and_lose(scripted* world, loss* seen)
{
    gh_lock** locks = scripted_keep(world, sizeof(*locks) * HELD);
    gh_client_config config = scripted_config();
    config.ops_capacity = HELD + 1000;
    config.hooks.context = seen;
    config.hooks.trace = note_loss;
    scripted_start_ready(world, &config);
    for (int i = 0; i < HELD; i++) locks[i] = scripted_want(world, "sword", 600 * SECOND_US, 60 * SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&locks[HELD - 1]->op) == GH_HELD, MS, 10 * SECOND_US);
    for (int i = 0; i < HELD; i++) assert_status(gh_op_poll(&locks[i]->op), GH_HELD);
    memset(seen, 0, sizeof(*seen));
    world->store_birth_us++;
    end_streams(world);
    make_slow(world, 200);
    return locks;
}

static void leases_of_a_lost_store_are_told_a_piece_at_a_time(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    loss* seen = SCRIPTED_NEW(world, loss);
    gh_lock** locks = hold_and_lose(world, seen);
    gh_lock* late = NULL;
    gh_command* asked = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    SCRIPTED_UNTIL(world, seen->lost > 0, MS, 10 * SECOND_US);
    unsigned ticks = 1;
    for (unsigned before = seen->lost; seen->lost < HELD; before = seen->lost, ticks++)
    {
        if (ticks == 10) late = scripted_want(world, "bow", 600 * SECOND_US, 60 * SECOND_US);
        scripted_tick(world, MS);
        assert_in_range(seen->lost - before, 16, 16 * 8);
        assert_int_equal(seen->replies, 0);
    }
    assert_in_range(ticks, HELD / (16 * 8), HELD / 16);
    for (int i = 0; i < HELD; i++) assert_status(gh_op_poll(&locks[i]->op), GH_LOST);
    SCRIPTED_UNTIL(world, gh_op_poll(&asked->op) == GH_OK && gh_op_poll(&late->op) == GH_HELD, MS, 10 * SECOND_US);
    assert_int_equal(seen->lost, HELD); /* the late one is of the new store */
    assert_int_equal(seen->replies_too_early, 0);
    assert_int_equal(scripted_stats(world).store_resets, 1);
    assert_int_equal(scripted_stats(world).links_lost, 1);
}

/* While they are told, the new connection dies too, and the store of the next one is a third one. */
static void leases_of_a_lost_store_are_told_once(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    loss* seen = SCRIPTED_NEW(world, loss);
    gh_lock** locks = hold_and_lose(world, seen);
    gh_lock* waiting = scripted_want(world, "bow", 600 * SECOND_US, 60 * SECOND_US);
    SCRIPTED_UNTIL(world, seen->lost > HELD / 4, MS, 10 * SECOND_US);
    assert_true(seen->lost < HELD);
    world->store_birth_us++;
    end_streams(world);
    SCRIPTED_UNTIL(world, gh_op_poll(&waiting->op) == GH_HELD, MS, 60 * SECOND_US);
    for (int i = 0; i < HELD; i++) assert_status(gh_op_poll(&locks[i]->op), GH_LOST);
    assert_int_equal(seen->lost, HELD);
    assert_int_equal(seen->replies_too_early, 0);
    assert_int_equal(scripted_stats(world).ops_busy, 1);
}

/* A drain that begins in the middle finds all told; so does a shutdown. */
static void end_of_the_client_finds_all_leases_told(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
    {
        scripted* world = scripted_new();
        loss* seen = SCRIPTED_NEW(world, loss);
        gh_lock** locks = hold_and_lose(world, seen);
        SCRIPTED_UNTIL(world, seen->lost > HELD / 4, MS, 10 * SECOND_US);
        assert_true(seen->lost < HELD);
        if (i == 0) assert_status(gh_client_drain(world->client, SECOND_US), GH_OK);
        else gh_client_shutdown(world->client);
        for (int j = 0; j < HELD; j++) assert_status(gh_op_poll(&locks[j]->op), GH_LOST);
        assert_int_equal(seen->lost, HELD);
        if (i == 0) assert_true(gh_client_drained(world->client));
    }
}

/* ---- with a real server -------------------------------------------------------------------------------- */

static int compare_times(const void* a, const void* b)
{
    uint64_t first = *(const uint64_t*)a;
    uint64_t second = *(const uint64_t*)b;
    return (first > second) - (first < second);
}

/* All ten thousand answers lie in the socket when the first tick with a budget comes. */
static void ten_thousand_replies_of_a_real_server(void** state)
{
    (void)state;
    enum
    {
        OPS = 10000
    };
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(proxy));
    config.ops_capacity = config.requests_capacity = OPS;
    config.out_bytes = 1024 * 1024;
    config.request_timeout_us = 60 * SECOND_US;
    config.wake = false;
    game* a = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(a->client));
    gh_command* ops = GAME_NEW_ARRAY(a, gh_command, OPS);
    uint64_t* times_ns = GAME_NEW_ARRAY(a, uint64_t, OPS);
    const gh_str words[2] = {gh_str_literal("INCR"), gh_str_literal("c")};
    gh_command_config ask = gh_command_config_default();
    ask.timeout_us = 120 * SECOND_US;
    for (int i = 0; i < OPS; i++) assert_status(gh_command_begin(&ops[i], a->client, words, 2, &ask), GH_OK);
    proxy_arm(proxy, PROXY_REPLY, 0, PROXY_HOLD);
    GAME_UNTIL(game_stats(a).requests_sent == OPS && redis_server_integer(server, "EXISTS c") == 1 &&
               redis_server_integer(server, "GET c") == OPS);
    assert_status(gh_op_poll(&ops[0].op), GH_PENDING);
    proxy_mark(proxy);
    proxy_release(proxy);
    uint64_t answer_bytes = 0;
    for (int i = 1; i <= OPS; i++) answer_bytes += (uint64_t)snprintf(NULL, 0, ":%d\r\n", i);
    WAIT_FOR(proxy_bytes(proxy, PROXY_REPLY) == answer_bytes);

    size_t ticks = 0;
    for (; gh_op_poll(&ops[OPS - 1].op) == GH_PENDING; ticks++)
    {
        uint64_t before = game_stats(a).replies;
        uint64_t begin_ns = thread_time_ns(); /* the machine may do other things in the middle of a tick */
        assert_true(ticks < OPS);
        assert_status(gh_tick(a->client, game_now_us(a), 200), GH_OK);
        times_ns[ticks] = thread_time_ns() - begin_ns;
        assert_true(game_stats(a).replies > before);
    }
    for (int i = 0; i < OPS; i++)
    {
        assert_status(gh_op_poll(&ops[i].op), GH_OK);
        assert_int_equal(gh_command_reply(&ops[i])->integer, i + 1);
    }
    assert_in_range(ticks, 2, OPS); /* no machine does it in one */
    assert_in_range(game_stats(a).ticks_over_budget, 1, ticks);
    qsort(times_ns, ticks, sizeof(*times_ns), compare_times);
    assert_true(times_ns[ticks / 2] < 1000 * MS); /* half of them keep near to 200 us */
}

TEST_FILE(budget, cmocka_unit_test(replies_are_taken_a_piece_at_a_time),
          cmocka_unit_test(long_answer_is_read_a_piece_at_a_time),
          cmocka_unit_test(requests_are_sent_a_piece_at_a_time),
          cmocka_unit_test(leases_of_a_lost_store_are_told_a_piece_at_a_time),
          cmocka_unit_test(leases_of_a_lost_store_are_told_once),
          cmocka_unit_test(end_of_the_client_finds_all_leases_told), cmocka_unit_test(each_tick_makes_some_progress),
          cmocka_unit_test(without_a_budget_nobody_looks_at_the_clock),
          cmocka_unit_test(budget_that_suffices_is_not_over), cmocka_unit_test(leases_are_told_first_after_a_hitch),
          cmocka_unit_test(deadlines_pass_within_a_few_ticks), cmocka_unit_test(renewals_go_on_under_load),
          cmocka_unit_test(silent_server_is_given_up_on_any_budget),
          cmocka_unit_test(answers_that_wait_to_be_taken_are_no_silence),
          cmocka_unit_test(ten_thousand_replies_of_a_real_server));
