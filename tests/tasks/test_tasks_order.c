/* Tests of guildhall/tasks.h: when a task is handed out, and which one comes first. */

#include "support/scene/desk.h"
#include "support/random.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

#define QUEUE   "mail"
#define KEY     "gh:{tasks:mail}:"
#define HOUR_US (3600 * (int64_t)SECOND_US)

static desk* desk_on(redis_server* server)
{
    return desk_open(game_start_ready(redis_server_address(server)), QUEUE);
}

/* Of four tasks with delays of 0, 0.5, 0 and 1.5 s two are there at once, four after
   2 s. */
static void delayed_tasks_come_when_due(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_on(server);
    gh_task_spec four[4] = {{.id = gh_str_literal("a")},
                            {.id = gh_str_literal("b"), .delay_us = SECOND_US / 2},
                            {.id = gh_str_literal("c")},
                            {.id = gh_str_literal("d"), .delay_us = 3 * SECOND_US / 2}};
    clerk->config.lease_us = 3600 * SECOND_US;
    redis_server_shift_clock(server, 0);
    assert_status(desk_push_all(clerk, four, 4), GH_OK);
    assert_status(desk_take(clerk, 10), GH_OK);
    if (clerk->take.count == 2) assert_string_equal(desk_ids(clerk), "a c"); /* the machine may be slow */
    uint32_t now = clerk->take.count;
    assert_in_range(now, 2, 4);
    redis_server_shift_clock(server, 2 * (int64_t)SECOND_US);
    assert_status(now == 4 ? GH_OK : desk_take(clerk, 10), GH_OK);
    if (now == 2) assert_string_equal(desk_ids(clerk), "b d");
    assert_status(desk_take(clerk, 10), GH_EMPTY);
    assert_int_equal(desk_count(clerk)->handed_out, 4);
}

/* First due first, ahead of all that wait in the class, also when a later look finds earlier ones. */
static void due_tasks_go_before_ready_ones_of_their_class(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_on(server);
    gh_task_spec batch[] = {{.id = gh_str_literal("r1"), .task_class = 1},
                            {.id = gh_str_literal("r2"), .task_class = 1},
                            {.id = gh_str_literal("d30"), .task_class = 1, .delay_us = 30 * SECOND_US},
                            {.id = gh_str_literal("d10"), .task_class = 1, .delay_us = 10 * SECOND_US},
                            {.id = gh_str_literal("d20"), .task_class = 1, .delay_us = 20 * SECOND_US},
                            {.id = gh_str_literal("first"), .task_class = 0},
                            {.id = gh_str_literal("d5"), .task_class = 2, .delay_us = 5 * SECOND_US}};
    clerk->config.lease_us = 3600 * SECOND_US;
    assert_status(desk_push_all(clerk, batch, 7), GH_OK);
    redis_server_shift_clock(server, 25 * (int64_t)SECOND_US);
    desk_take_one(clerk, "first");
    desk_take_one(clerk, "d10");
    redis_server_shift_clock(server, 35 * (int64_t)SECOND_US);
    assert_status(desk_take(clerk, 10), GH_OK);
    assert_string_equal(desk_ids(clerk), "d20 d30 r1 r2 d5");
}

static void ready_tasks_come_in_order_of_arrival(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    gh_task_spec tasks[10];
    char ids[50][8];
    for (size_t i = 0; i < 50; i++)
    {
        snprintf(ids[i], sizeof(ids[i]), "%zu", i);
        tasks[i % 10] = (gh_task_spec){.id = gh_str_of(ids[i])};
        if (i % 10 == 9) assert_status(desk_push_all(clerk, tasks, 10), GH_OK);
    }
    for (size_t at = 0; at < 50;)
    {
        assert_status(desk_take(clerk, 1 + at % 7), GH_OK);
        for (uint32_t i = 0; i < clerk->take.count; i++, at++)
            assert_true(gh_str_equal(clerk->tasks[i].id, gh_str_of(ids[at])));
    }
}

static void strict_classes_never_wait_for_later_ones(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    for (uint32_t task_class = GH_TASKS_CLASSES; task_class-- > 0;)
    {
        char id[3][16];
        for (int i = 0; i < 3; i++)
        {
            snprintf(id[i], sizeof(id[i]), "%u%c", task_class, 'a' + i);
            assert_status(desk_push_class(clerk, id[i], task_class), GH_OK);
        }
    }
    assert_status(desk_take(clerk, 7), GH_OK);
    assert_string_equal(desk_ids(clerk), "0a 0b 0c 1a 1b 1c 2a");
    assert_status(desk_push_class(clerk, "late", 0), GH_OK);
    assert_status(desk_take(clerk, GH_TASKS_BATCH_MAX), GH_OK);
    assert_string_equal(desk_ids(clerk), "late 2b 2c 3a 3b 3c");
}

/* ---- by weight ----------------------------------------------------------------------------------------- */

typedef struct share
{
    long waiting;
    double due; /* what a class should have got while it always had something */
    double given;
} share;

static void push_some(desk* clerk, share* shares, unsigned* serial, random_stream* random, size_t payload_size)
{
    static char payload[GH_TASK_PAYLOAD_SIZE_MAX];
    gh_task_spec tasks[40];
    char ids[40][16];
    size_t count = 1 + random_below(random, 40);
    if (payload_size > 0) count = 1 + count % 4;
    for (size_t i = 0; i < count; i++)
    {
        uint32_t task_class = (uint32_t)random_below(random, GH_TASKS_CLASSES);
        snprintf(ids[i], sizeof(ids[i]), "%u", (*serial)++);
        tasks[i] = (gh_task_spec){
            .id = gh_str_of(ids[i]), .task_class = task_class, .payload = gh_str_make(payload, payload_size)};
        shares[task_class].waiting++;
    }
    assert_status(desk_push_all(clerk, tasks, count), GH_OK);
}

/* What was handed out, task by task, against what each class that had something was due. */
static void settle(const desk* clerk, share* shares, const uint32_t* weights)
{
    for (uint32_t i = 0; i < clerk->take.count; i++)
    {
        uint32_t got = clerk->tasks[i].task_class;
        double sum = 0;
        for (int c = 0; c < GH_TASKS_CLASSES; c++) sum += shares[c].waiting > 0 ? weights[c] : 0;
        for (int c = 0; c < GH_TASKS_CLASSES; c++)
        {
            if (shares[c].waiting > 0) shares[c].due += weights[c] / sum;
            else shares[c].due = shares[c].given = 0;
        }
        assert_true(shares[got].waiting > 0);
        shares[got].waiting--;
        shares[got].given++;
        for (int c = 0; c < GH_TASKS_CLASSES; c++)
            if (shares[c].waiting > 0 && shares[c].due - shares[c].given > 3)
                fail_msg("class %d is %f tasks behind its share", c, shares[c].due - shares[c].given);
    }
}

static bool nothing_waits(const share* shares)
{
    for (int c = 0; c < GH_TASKS_CLASSES; c++)
        if (shares[c].waiting > 0) return false;
    return true;
}

static void check_shares(size_t payload_size, int rounds)
{
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    const uint32_t weights[GH_TASKS_CLASSES] = {8, 4, 2, 1};
    share shares[GH_TASKS_CLASSES] = {{0}};
    unsigned serial = 0;
    random_stream random = random_for_test("shares");
    memcpy(clerk->config.weights, weights, sizeof(weights));
    for (int round = 0; round < rounds; round++)
    {
        if (random_below(&random, 3) > 0) push_some(clerk, shares, &serial, &random, payload_size);
        if (desk_take(clerk, 1 + random_below(&random, 30)) == GH_OK)
        {
            settle(clerk, shares, weights);
            desk_finish_all(clerk);
            if (nothing_waits(shares)) memset(shares, 0, sizeof(shares)); /* a queue that is over owes nothing */
        }
        else
        {
            memset(shares, 0, sizeof(shares));
        }
    }
    assert_true(serial > (unsigned)rounds);
}

static void weighted_classes_get_their_share_less_three(void** state)
{
    (void)state;
    check_shares(0, 600);
}

/* Here an answer holds only a few of the tasks that were asked for. */
static void weighted_shares_hold_for_large_payloads(void** state)
{
    (void)state;
    check_shares(GH_TASK_PAYLOAD_SIZE_MAX, 300);
}

/* ---- the store's clock --------------------------------------------------------------------------------- */

static void clocks_an_hour_apart_change_nothing(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* early = game_start(redis_server_address(server));
    game* late = game_start(redis_server_address(server));
    early->ahead_us = HOUR_US;
    late->ahead_us = 2 * HOUR_US;
    desk* pusher = desk_open(early, QUEUE);
    desk* taker = desk_open(late, QUEUE);
    assert_status(desk_push_delayed(pusher, "a", 600 * SECOND_US), GH_OK);
    assert_status(desk_take(taker, 1), GH_EMPTY);
    early->ahead_us += HOUR_US; /* a clock that jumps */
    game_tick(early);
    assert_status(desk_take(pusher, 1), GH_EMPTY);
    assert_in_range(pusher->take.next_us, 500 * SECOND_US, 600 * SECOND_US);
    redis_server_shift_clock(server, 601 * (int64_t)SECOND_US);
    desk_take_one(taker, "a");
    assert_status(desk_take(pusher, 1), GH_EMPTY);
    assert_status(desk_finish(taker, &taker->tasks[0], GH_TASK_ACTION_DONE), GH_OK);
}

static void fence_grows_when_the_clock_goes_back(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_on(server);
    uint64_t fence = 0;
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    for (int i = 0; i < 4; i++)
    {
        gh_task* task = desk_take_one(clerk, "a");
        assert_true(task->fence > fence);
        fence = task->fence;
        assert_status(desk_finish(clerk, task, GH_TASK_ACTION_GIVE_BACK), GH_OK);
        redis_server_shift_clock(server, -(i + 1) * (int64_t)SECOND_US);
        redis_server_do(server, "ZADD " KEY "d0 1 a"); /* due whatever the clock says */
    }
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

static gh_tasks_take* begin_wait(desk* self, uint64_t wait_us)
{
    self->config.wait_us = wait_us;
    assert_status(
        gh_tasks_take_begin(&self->take, desk_queue(self), self->tasks, 1, self->memory, sizeof(self->memory)), GH_OK);
    return &self->take;
}

static void waiting_taker_is_woken_by_a_push(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* taker = desk_on(server);
    desk* pusher = desk_on(server);
    GAME_UNTIL(gh_client_link_state(taker->owner->client, GH_LINK_WAKE) == GH_LINK_READY);
    for (int i = 0; i < 20; i++)
    {
        char id[16];
        snprintf(id, sizeof(id), "%d", i);
        gh_tasks_take* take = begin_wait(taker, 60 * SECOND_US);
        GAME_UNTIL(redis_server_integer(server, "ZCARD " KEY "i") == 1);
        assert_status(desk_push(pusher, id, ""), GH_OK);
        GAME_UNTIL(gh_op_poll(&take->op) != GH_PENDING);
        assert_status(gh_op_poll(&take->op), GH_OK);
    }
    assert_in_range(game_stats(taker->owner).hints, 10, 40);
}

/* One step of a game that has this time, until all that it has sent is answered. */
static void step_at(game* self, uint64_t now_us)
{
    assert_status(gh_tick(self->client, now_us, 0), GH_OK);
    for (uint64_t end_us = wait_cap_us(); game_stats(self).requests_sent + game_stats(self).requests_waiting > 0;)
    {
        if (wait_now_us() > end_us) fail_msg("no answer came");
        wait_briefly();
        assert_status(gh_tick(self->client, now_us, 0), GH_OK);
    }
}

/* Without hints: 1 ms after the first question, then twice as long each time, up to 100 ms. */
static void pause_adapts_up_to_100_ms(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* alone = game_start_deaf(redis_server_address(server));
    GAME_UNTIL(gh_client_ready(alone->client));
    desk* taker = desk_open(alone, QUEUE);
    assert_status(desk_take(taker, 1), GH_EMPTY);
    alone->asleep = true; /* its time goes on below, a millisecond a step */
    uint64_t now_us = game_now_us(alone) + SECOND_US;
    uint64_t asked_us[64];
    size_t count = 0;
    step_at(alone, now_us);
    long long calls = redis_server_calls(server, "evalsha");
    gh_tasks_take* take = begin_wait(taker, SECOND_US);
    for (; gh_op_poll(&take->op) == GH_PENDING; now_us += 1000)
    {
        step_at(alone, now_us);
        long long before = calls;
        calls = redis_server_calls(server, "evalsha");
        assert_in_range(calls - before, 0, 1);
        if (calls > before) asked_us[count++] = now_us;
        assert_in_range(count, 0, 63);
    }
    assert_status(gh_op_poll(&take->op), GH_EMPTY);
    assert_in_range(count, 14, 18);
    uint64_t expected_us = 1000;
    for (size_t i = 1; i + 1 < count; i++) /* the last question may be that of the end */
    {
        assert_in_range(asked_us[i] - asked_us[i - 1], expected_us, expected_us + 2000);
        expected_us = expected_us * 2 < 100000 ? expected_us * 2 : 100000;
    }
}

static void waiting_taker_asks_when_the_next_is_due(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* taker = desk_on(server);
    assert_status(desk_push_delayed(taker, "a", SECOND_US / 2), GH_OK);
    assert_status(desk_take(taker, 1), GH_EMPTY);
    uint64_t next_us = taker->take.next_us;
    uint64_t asked_us = wait_now_us();
    gh_tasks_take* take = begin_wait(taker, 60 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&take->op) != GH_PENDING);
    assert_status(gh_op_poll(&take->op), GH_OK);
    assert_true(wait_now_us() - asked_us + SECOND_US / 100 >= next_us); /* not early */
}

static void dead_sleepers_are_forgotten(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* taker = desk_on(server);
    for (int i = 0; i < 10; i++) redis_server_do(server, "ZADD " KEY "i 1000 00000000000000aa:00000000000000%02x", i);
    long long asleep = 10;                      /* of these */
    for (int i = 0; i < 200 && asleep > 0; i++) /* a few go with each question that is in time */
    {
        gh_tasks_take* take = begin_wait(taker, SECOND_US / 50);
        GAME_UNTIL(gh_op_poll(&take->op) != GH_PENDING);
        asleep = redis_server_integer(server, "ZCOUNT " KEY "i 0 1000");
    }
    assert_int_equal(asleep, 0);
}

TEST_FILE(tasks_order, cmocka_unit_test(delayed_tasks_come_when_due),
          cmocka_unit_test(due_tasks_go_before_ready_ones_of_their_class),
          cmocka_unit_test(ready_tasks_come_in_order_of_arrival),
          cmocka_unit_test(strict_classes_never_wait_for_later_ones),
          cmocka_unit_test(weighted_classes_get_their_share_less_three),
          cmocka_unit_test(weighted_shares_hold_for_large_payloads),
          cmocka_unit_test(clocks_an_hour_apart_change_nothing), cmocka_unit_test(fence_grows_when_the_clock_goes_back),
          cmocka_unit_test(waiting_taker_is_woken_by_a_push), cmocka_unit_test(pause_adapts_up_to_100_ms),
          cmocka_unit_test(waiting_taker_asks_when_the_next_is_due), cmocka_unit_test(dead_sleepers_are_forgotten));
