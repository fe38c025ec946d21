/* Tests of gh_task_spec.unique: how long an id is taken, apart from how long what became of its task is kept. */

#include "support/scene/desk.h"
#include "support/random.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

#define QUEUE "arena"
#define KEY   "gh:{tasks:arena}:"

static desk* desk_on(redis_server* server)
{
    return desk_open(game_start_ready(redis_server_address(server)), QUEUE);
}

static gh_status push_like(desk* self, gh_task_spec task)
{
    task.handler = gh_str_literal("work");
    task.unique = GH_TASK_UNIQUE_WHILE_ACTIVE;
    gh_status status = desk_push_all(self, &task, 1);
    if (status != GH_OK) assert_status(status, task.status);
    return task.status;
}

static void take_and_finish(desk* self, const char* id, gh_task_action action)
{
    assert_status(desk_finish(self, desk_take_one(self, id), action), GH_OK);
}

/* Nothing of the queue is left behind that stands in the way of anybody. */
static void assert_drained(desk* self)
{
    assert_status(desk_take(self, 10), GH_EMPTY);
    const gh_tasks_count* count = desk_count(self);
    assert_int_equal(count->stored, 0);
    for (int i = 0; i < GH_TASKS_CLASSES; i++)
    {
        assert_int_equal(count->ready[i], 0);
        assert_int_equal(count->delayed[i], 0);
        assert_int_equal(count->groups[i], 0);
    }
}

/* ---- what is over ---------------------------------------------------------------------------------------- */

static void id_of_a_task_that_is_done_is_free_at_once(void** state)
{
    (void)state;
    desk* self = desk_on(redis_server_start(NULL));
    assert_status(desk_push_active(self, "jo", "first"), GH_OK);
    gh_task* task = desk_take_one(self, "jo");
    uint64_t fence = task->fence;
    task->result = gh_str_literal("won");
    assert_status(desk_finish(self, task, GH_TASK_ACTION_DONE), GH_OK);
    assert_int_equal(desk_look(self, "jo"), GH_TASK_STATE_DONE); /* its result is kept all the same */
    assert_true(gh_str_equal(self->look.text, gh_str_literal("won")));
    assert_status(desk_push(self, "jo", "second"), GH_EXISTS); /* for those who ask in that way */
    assert_status(desk_push_active(self, "jo", "second"), GH_OK);
    assert_int_equal(desk_look(self, "jo"), GH_TASK_STATE_READY);
    assert_int_equal(desk_count(self)->remembered, 0); /* the new one has replaced it */
    task = desk_take_one(self, "jo");
    assert_true(gh_str_equal(task->payload, gh_str_literal("second")));
    assert_int_equal(task->attempt, 1);
    assert_true(task->fence > fence);
    desk_finish_all(self);
    assert_drained(self);
}

/* Whatever state it was in before it was done, and wherever the new one goes. */
static void new_task_goes_where_it_says(void** state)
{
    (void)state;
    desk* self = desk_on(redis_server_start(NULL));
    self->config.backoff_min_us = self->config.backoff_max_us = 1000;
    const gh_task_spec specs[] = {{.id = gh_str_literal("jo")},
                                  {.id = gh_str_literal("jo"), .task_class = 2},
                                  {.id = gh_str_literal("jo"), .group = gh_str_literal("elves"), .task_class = 1},
                                  {.id = gh_str_literal("jo"), .delay_us = 20000}};
    for (size_t i = 0; i < 4; i++)
    {
        for (size_t k = 0; k < 4; k++)
        {
            assert_status(push_like(self, specs[i]), GH_OK);
            self->config.wait_us = SECOND_US;
            assert_status(desk_finish(self, desk_take_one(self, "jo"), GH_TASK_ACTION_RETRY), GH_OK);
            assert_status(push_like(self, specs[i]), GH_EXISTS);
            take_and_finish(self, "jo", GH_TASK_ACTION_DONE);
            assert_status(push_like(self, specs[k]), GH_OK);
            self->config.wait_us = 0;
            if (k == 3) assert_status(desk_take(self, 1), GH_EMPTY);
            self->config.wait_us = SECOND_US;
            gh_task* task = desk_take_one(self, "jo");
            assert_int_equal(task->attempt, 1);
            assert_int_equal(task->task_class, specs[k].task_class);
            assert_true(gh_str_equal(task->group, specs[k].group));
            desk_finish_all(self);
            self->config.wait_us = 0;
            assert_drained(self);
        }
    }
}

static void id_is_taken_while_its_task_is_active(void** state)
{
    (void)state;
    desk* self = desk_on(redis_server_start(NULL));
    self->config.backoff_min_us = self->config.backoff_max_us = 3600 * SECOND_US;
    assert_status(desk_push_active(self, "ready", ""), GH_OK);
    assert_status(desk_push_active(self, "ready", ""), GH_EXISTS);
    assert_status(desk_push_active(self, "ready", "other"), GH_DIFFERS);
    gh_task* task = desk_take_one(self, "ready");
    assert_status(desk_push_active(self, "ready", ""), GH_EXISTS); /* runs */
    assert_status(desk_cancel(self, "ready"), GH_RUNNING);
    assert_status(desk_push_active(self, "ready", ""), GH_EXISTS); /* runs, and is to be cancelled */
    assert_status(desk_finish(self, task, GH_TASK_ACTION_RETRY), GH_CANCELLED);
    assert_status(desk_push_active(self, "ready", ""), GH_OK);
    assert_status(desk_finish(self, desk_take_one(self, "ready"), GH_TASK_ACTION_RETRY), GH_OK);
    assert_int_equal(desk_look(self, "ready"), GH_TASK_STATE_RETRYING);
    assert_status(desk_push_active(self, "ready", ""), GH_EXISTS);
    assert_status(desk_push_delayed(self, "later", 3600 * SECOND_US), GH_OK);
    assert_status(desk_push_active(self, "later", ""), GH_EXISTS);
}

/* Two of one id in one request, and one of each kind. */
static void one_request_has_both_kinds(void** state)
{
    (void)state;
    desk* self = desk_on(redis_server_start(NULL));
    for (const char* id = "ab"; *id != 0; id++) assert_status(desk_push(self, (char[2]){*id, 0}, ""), GH_OK);
    assert_status(desk_take(self, 2), GH_OK);
    desk_finish_all(self);
    gh_task_spec specs[] = {{.id = gh_str_literal("a"), .unique = GH_TASK_UNIQUE_WHILE_ACTIVE},
                            {.id = gh_str_literal("b")},
                            {.id = gh_str_literal("a"), .unique = GH_TASK_UNIQUE_WHILE_ACTIVE},
                            {.unique = GH_TASK_UNIQUE_WHILE_ACTIVE},
                            {.id = gh_str_literal("c"), .unique = GH_TASK_UNIQUE_WHILE_ACTIVE, .task_class = 3}};
    for (int i = 0; i < 5; i++) specs[i].handler = gh_str_literal("work");
    assert_status(desk_push_all(self, specs, 5), GH_OK);
    const gh_status expected[] = {GH_OK, GH_EXISTS, GH_EXISTS, GH_OK, GH_OK};
    for (int i = 0; i < 5; i++) assert_status(specs[i].status, expected[i]);
    assert_int_equal(desk_count(self)->stored, 3);
    assert_status(desk_take(self, 5), GH_OK);
    assert_int_equal(self->take.count, 3);
}

/* ---- dead letters ---------------------------------------------------------------------------------------- */

static void dead_letter_is_replaced(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* self = desk_on(server);
    const char* const groups[] = {"", "elves"};
    self->config.capacity = 1;
    for (int i = 0; i < 2; i++)
    {
        assert_status(desk_push_active(self, "jo", "first"), GH_OK);
        gh_task* task = desk_take_one(self, "jo");
        uint64_t fence = task->fence;
        assert_status(desk_finish(self, task, GH_TASK_ACTION_FAIL), GH_OK);
        assert_int_equal(desk_look(self, "jo"), GH_TASK_STATE_DEAD);
        assert_status(desk_push(self, "jo", "first"), GH_EXISTS);
        gh_task_spec anew = {
            .id = gh_str_literal("jo"), .payload = gh_str_literal("second"), .group = gh_str_of(groups[i])};
        assert_status(push_like(self, anew), GH_OK); /* the queue is full, but of what it replaces */
        assert_int_equal(desk_count(self)->dead, 0);
        assert_int_equal(redis_server_integer(server, "ZCARD " KEY "x"), 0);
        assert_int_equal(desk_look(self, "jo"), GH_TASK_STATE_READY);
        task = desk_take_one(self, "jo");
        assert_true(gh_str_equal(task->payload, gh_str_literal("second")));
        assert_int_equal(task->attempt, 1);
        assert_true(task->fence > fence);
        desk_finish_all(self);
    }
    assert_drained(self);
}

static void letter_of_another_form_is_corrupt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* self = desk_on(server);
    const char* const marks[] = {"X", "X 1 99999999999999999 a", "x 1 1 a", "nonsense"};
    assert_status(desk_push_active(self, "jo", "first"), GH_OK);
    take_and_finish(self, "jo", GH_TASK_ACTION_FAIL);
    for (int i = 0; i < 4; i++)
    {
        gh_task_spec anew = {.id = gh_str_literal("jo"), .unique = GH_TASK_UNIQUE_WHILE_ACTIVE};
        redis_server_do(server, "HSET " KEY "m jo %s", marks[i]);
        assert_status(desk_push_all(self, &anew, 1), GH_CORRUPT);
    }
    redis_server_do(server, "HSET " KEY "m jo %s", "X 1 0 - "); /* a fence that no hand-out has */
    assert_status(desk_push_active(self, "jo", ""), GH_OK);
    assert_int_equal(desk_take_one(self, "jo")->attempt, 1);
}

static void dead_letter_that_is_replaced_by_a_delayed_task_waits(void** state)
{
    (void)state;
    desk* self = desk_on(redis_server_start(NULL));
    assert_status(desk_push_active(self, "jo", ""), GH_OK);
    take_and_finish(self, "jo", GH_TASK_ACTION_FAIL);
    gh_task_spec anew = {.id = gh_str_literal("jo"), .delay_us = 50000, .task_class = 1};
    assert_status(push_like(self, anew), GH_OK);
    assert_int_equal(desk_look(self, "jo"), GH_TASK_STATE_DELAYED);
    assert_status(desk_take(self, 1), GH_EMPTY);
    self->config.wait_us = SECOND_US;
    assert_int_equal(desk_take_one(self, "jo")->attempt, 1);
}

/* ---- what was cancelled -------------------------------------------------------------------------------- */

/* It goes to the end of the line like any other, and is handed out once. */
static void cancelled_id_is_free_at_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* self = desk_on(server);
    assert_status(desk_push_active(self, "jo", ""), GH_OK);
    assert_status(desk_cancel(self, "jo"), GH_OK); /* the queue is empty now */
    assert_status(desk_push_active(self, "jo", ""), GH_OK);
    assert_status(desk_push_active(self, "jeff", ""), GH_OK);
    assert_status(desk_push_active(self, "jenny", ""), GH_OK);
    for (int i = 0; i < 3; i++)
    {
        assert_status(desk_cancel(self, "jo"), GH_OK);
        assert_status(desk_push(self, "jo", ""), GH_EXISTS);
        assert_status(desk_push_active(self, "jo", ""), GH_OK);
    }
    assert_int_equal(redis_server_integer(server, "LLEN " KEY "r0"), 3); /* no place is left over */
    assert_status(desk_take(self, 10), GH_OK);
    assert_string_equal(desk_ids(self), "jeff jenny jo");
    desk_finish_all(self);
    assert_drained(self);
}

/* A place that it had left would hand it out early, or in another class. */
static void cancelled_id_goes_where_it_says(void** state)
{
    (void)state;
    desk* self = desk_on(redis_server_start(NULL));
    assert_status(desk_push(self, "other", ""), GH_OK);
    assert_status(desk_push_active(self, "jo", ""), GH_OK);
    assert_status(desk_cancel(self, "jo"), GH_OK);
    assert_status(push_like(self, (gh_task_spec){.id = gh_str_literal("jo"), .delay_us = 3600 * SECOND_US}), GH_OK);
    assert_status(desk_take(self, 10), GH_OK);
    assert_string_equal(desk_ids(self), "other");
    desk_finish_all(self);
    assert_status(desk_take(self, 10), GH_EMPTY);
    assert_int_equal(desk_look(self, "jo"), GH_TASK_STATE_DELAYED);
    assert_status(desk_cancel(self, "jo"), GH_OK);
    assert_status(push_like(self, (gh_task_spec){.id = gh_str_literal("jo"), .task_class = 3}), GH_OK);
    assert_status(desk_push_class(self, "third", 2), GH_OK);
    assert_status(desk_take(self, 10), GH_OK);
    assert_string_equal(desk_ids(self), "third jo");
}

enum
{
    FAR = 512, /* so many are looked at, half of them at each end */
    LINE = FAR + 100
};

/* What lies in the middle of a long line is not looked for: there the id is taken until its turn would come. */
static void cancelled_id_far_from_both_ends_waits_for_its_turn(void** state)
{
    (void)state;
    static char ids[LINE][8];
    static gh_task_spec specs[GH_TASKS_BATCH_MAX];
    desk* self = desk_on(redis_server_start(NULL));
    for (int from = 0; from < LINE; from += GH_TASKS_BATCH_MAX)
    {
        int count = LINE - from < GH_TASKS_BATCH_MAX ? LINE - from : GH_TASKS_BATCH_MAX;
        for (int i = 0; i < count; i++)
        {
            snprintf(ids[from + i], sizeof ids[0], "%d", from + i);
            specs[i] = (gh_task_spec){.id = gh_str_of(ids[from + i]), .handler = gh_str_literal("work")};
        }
        assert_status(desk_push_all(self, specs, (size_t)count), GH_OK);
    }
    const int at[] = {0, FAR / 2 - 1, FAR / 2, LINE - FAR / 2 - 1, LINE - FAR / 2, LINE - 1};
    const gh_status expected[] = {GH_OK, GH_OK, GH_EXISTS, GH_EXISTS, GH_OK, GH_OK};
    for (int i = 0; i < 6; i++) assert_status(desk_cancel(self, ids[at[i]]), GH_OK);
    static gh_task_spec again[6];
    for (int i = 0; i < 6; i++)
        again[i] = (gh_task_spec){
            .id = gh_str_of(ids[at[i]]), .handler = gh_str_literal("work"), .unique = GH_TASK_UNIQUE_WHILE_ACTIVE};
    assert_status(desk_push_all(self, again, 6), GH_OK);
    for (int i = 0; i < 6; i++) assert_status(again[i].status, expected[i]);
    int taken = 0;
    while (desk_take(self, GH_TASKS_BATCH_MAX) == GH_OK)
    {
        taken += (int)self->take.count;
        desk_finish_all(self);
    }
    assert_int_equal(taken, LINE - 2);
    for (int i = 2; i < 4; i++) assert_status(desk_push_active(self, ids[at[i]], ""), GH_OK);
    assert_status(desk_take(self, 10), GH_OK);
    assert_int_equal(self->take.count, 2);
    desk_finish_all(self);
    assert_drained(self);
}

/* A cancel that would have to read too much leaves places in the lines of groups, too; those are not looked for. */
static void cancelled_id_in_a_line_waits_for_its_turn(void** state)
{
    (void)state;
    enum
    {
        HALF = 9,
        SIZE = 4000
    };
    static char payload[SIZE];
    static char ids[2 * HALF][4];
    static gh_task_spec specs[2 * HALF];
    static gh_task_ref refs[2 * HALF];
    desk* self = desk_on(redis_server_start(NULL));
    memset(payload, 'x', sizeof payload);
    for (int i = 0; i < 2 * HALF; i++)
    {
        snprintf(ids[i], sizeof ids[0], "%d", i);
        specs[i] = (gh_task_spec){.id = gh_str_of(ids[i]),
                                  .handler = gh_str_literal("work"),
                                  .payload = gh_str_make(payload, SIZE),
                                  .group = gh_str_literal("elves")};
        refs[i].id = gh_str_of(ids[i]);
    }
    assert_status(desk_push_all(self, specs, HALF), GH_OK);
    assert_status(desk_push_all(self, specs + HALF, HALF), GH_OK);
    assert_status(desk_push_group(self, "orc", "orcs"), GH_OK); /* the queue is not empty, so nothing is cleared */
    assert_status(
        gh_tasks_cancel_begin(&self->edit, queue_made(self->owner->client, self->queue, NULL), refs, 2 * HALF), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->edit.op) == GH_OK);
    assert_status(desk_push_active(self, ids[0], ""), GH_OK);
    assert_status(desk_push_active(self, ids[2 * HALF - 1], ""), GH_EXISTS);
    while (desk_take(self, 10) == GH_OK) desk_finish_all(self);
    assert_status(desk_push_active(self, ids[2 * HALF - 1], ""), GH_OK);
    desk_take_one(self, ids[2 * HALF - 1]);
    desk_finish_all(self);
    assert_drained(self);
}

/* What was remembered goes as a whole while a task waits for longer than that; the marks stay with that task. */
static void mark_that_outlives_its_memory_stands_for_no_new_task(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* self = desk_on(server);
    self->config.keep_us = 10 * SECOND_US;
    assert_status(desk_push_active(self, "waits", ""), GH_OK);
    assert_status(desk_push(self, "ready", ""), GH_OK);
    assert_status(desk_push_delayed(self, "delayed", SECOND_US), GH_OK);
    assert_status(desk_cancel(self, "ready"), GH_OK);
    assert_status(desk_cancel(self, "delayed"), GH_OK);
    redis_server_shift_clock(server, 3600 * (int64_t)SECOND_US);
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "t"), 0);
    assert_status(desk_push(self, "ready", "again"), GH_EXISTS); /* its place is still there */
    assert_status(desk_push_active(self, "ready", "again"), GH_OK);
    assert_status(desk_push(self, "delayed", "again"), GH_OK);
    assert_status(desk_take(self, 10), GH_OK);
    assert_string_equal(desk_ids(self), "waits ready delayed");
    desk_finish_all(self);
    assert_drained(self);
    redis_server_shift_clock(server, 0);
}

/* The place stays as long as the id is not taken again. */
static void push_without_room_leaves_the_place_of_a_cancelled_task(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* self = desk_on(server);
    assert_status(desk_push_active(self, "waits", ""), GH_OK);
    assert_status(desk_push_active(self, "jo", ""), GH_OK);
    assert_status(desk_cancel(self, "jo"), GH_OK);
    gh_task_spec specs[2] = {{.id = gh_str_literal("new"), .handler = gh_str_literal("work")},
                             {.id = gh_str_literal("jo"), .handler = gh_str_literal("work")}};
    specs[0].unique = specs[1].unique = GH_TASK_UNIQUE_WHILE_ACTIVE;
    self->config.capacity = 2;
    desk_push_all(self, specs, 2);
    assert_status(specs[0].status, GH_OK);
    assert_status(specs[1].status, GH_FULL);
    assert_int_equal(redis_server_integer(server, "LLEN " KEY "r0"), 3);
}

/* No turn of it can come, so it is not waited for: its id is taken for keep_us, and no longer. */
static void cancel_of_the_last_task_leaves_no_turn_to_wait_for(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* self = desk_on(server);
    self->config.keep_us = 10 * SECOND_US;
    assert_status(desk_push(self, "jo", ""), GH_OK);
    assert_status(desk_cancel(self, "jo"), GH_OK);
    assert_status(desk_push(self, "other", ""), GH_OK);
    desk_take_one(self, "other");
    redis_server_shift_clock(server, 60 * (int64_t)SECOND_US);
    assert_status(desk_push(self, "jo", ""), GH_OK);
    redis_server_shift_clock(server, 0);
}

/* As above, but a finish empties the queue, and it is used on, so that the marks of what was cancelled never go by
   themselves. */
static void finish_of_the_last_task_leaves_no_turn_to_wait_for(void** state)
{
    (void)state;
    static const char* const names[2][2] = {{"other", "next"}, {"another", "last but one"}};
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* self = desk_on(server);
    self->config.keep_us = 10 * SECOND_US;
    for (int i = 0; i < 2; i++)
    {
        assert_status(desk_push(self, "last", ""), GH_OK);
        assert_status(desk_push(self, "jo", ""), GH_OK);
        assert_status(desk_push(self, "jeff", ""), GH_OK);
        assert_status(desk_cancel(self, "jo"), GH_OK);
        assert_status(desk_cancel(self, "jeff"), GH_OK);
        take_and_finish(self, "last", GH_TASK_ACTION_DONE);
        assert_int_equal(redis_server_integer(server, "EXISTS " KEY "r0"), 0);
        assert_int_equal(desk_look(self, "jo"), GH_TASK_STATE_CANCELLED);
        assert_status(desk_push(self, "jo", ""), GH_EXISTS); /* it is remembered for keep_us */
        assert_status(i == 0 ? desk_push(self, names[i][0], "") : desk_push_group(self, names[i][0], "elves"), GH_OK);
        assert_status(desk_push(self, names[i][1], ""), GH_OK);
        assert_status(desk_take(self, 2), GH_OK); /* from now on the marks stay */
        redis_server_shift_clock(server, (i + 1) * 60 * (int64_t)SECOND_US);
        assert_int_equal(redis_server_integer(server, "HEXISTS " KEY "m jo"), 1);
        assert_int_equal(desk_look(self, "jo"), GH_TASK_STATE_NONE);
        assert_status(desk_push(self, "jo", ""), GH_OK);
        assert_status(desk_cancel(self, "jo"), GH_OK); /* its place is a new one, and is waited for */
        redis_server_shift_clock(server, (i + 1) * 60 * (int64_t)SECOND_US + 30 * (int64_t)SECOND_US);
        assert_int_equal(desk_look(self, "jo"), GH_TASK_STATE_CANCELLED);
        assert_status(desk_push(self, "jo", ""), GH_EXISTS);
        while (desk_take(self, 10) == GH_OK) desk_finish_all(self);
    }
    assert_drained(self);
    redis_server_shift_clock(server, 0);
}

/* ---- who else pushes ------------------------------------------------------------------------------------- */

enum
{
    PUSHERS = 2,
    NAMES = 3,
    ROUNDS = 400
};

/* Two push the same few ids, one takes, one cancels: each push that was told OK is over once, by a hand-out or by a
   cancel, and none that was told that the id is taken. */
static void each_push_that_was_told_ok_is_over_once(void** state)
{
    (void)state;
    static const char* const names[NAMES] = {"jo", "jeff", "jenny"};
    redis_server* server = redis_server_start(NULL);
    desk* taker = desk_on(server);
    desk* pushers[PUSHERS] = {desk_on(server), desk_on(server)};
    random_stream random = random_for_test("pushes");
    gh_task_spec specs[PUSHERS];
    int stored = 0, over = 0;
    for (int round = 0; round < ROUNDS; round++)
    {
        for (int i = 0; i < PUSHERS; i++)
        {
            specs[i] = (gh_task_spec){.id = gh_str_of(names[random_below(&random, NAMES)]),
                                      .handler = gh_str_literal("work"),
                                      .unique = GH_TASK_UNIQUE_WHILE_ACTIVE,
                                      .task_class = (uint32_t)random_below(&random, 2),
                                      .group = gh_str_of(random_one_in(&random, 3) ? "elves" : ""),
                                      .delay_us = random_one_in(&random, 4) ? 2000 : 0};
            desk* self = pushers[i];
            assert_status(
                gh_tasks_push_begin(&self->push, queue_made(self->owner->client, self->queue, NULL), &specs[i], 1),
                GH_OK);
        }
        GAME_UNTIL(gh_op_poll(&pushers[0]->push.op) != GH_PENDING && gh_op_poll(&pushers[1]->push.op) != GH_PENDING);
        for (int i = 0; i < PUSHERS; i++)
        {
            assert_status(gh_op_poll(&pushers[i]->push.op), GH_OK);
            if (specs[i].status == GH_OK) stored++;
        }
        bool same = gh_str_equal(specs[0].id, specs[1].id);
        if (same) assert_false(specs[0].status == GH_OK && specs[1].status == GH_OK);
        if (random_one_in(&random, 3))
        {
            const char* name = names[random_below(&random, NAMES)];
            gh_task_state stands = desk_look(taker, name);
            gh_status told = desk_cancel(taker, name);
            if (stands == GH_TASK_STATE_READY || stands == GH_TASK_STATE_DELAYED) over += told == GH_OK;
        }
        else if (desk_take(taker, 1) == GH_OK)
        {
            assert_int_equal(taker->tasks[0].attempt, 1);
            bool dies = random_one_in(&random, 3);
            gh_task_action action = dies ? GH_TASK_ACTION_FAIL : GH_TASK_ACTION_DONE;
            assert_status(desk_finish(taker, &taker->tasks[0], action), GH_OK);
            over++;
        }
    }
    taker->config.wait_us = 20000;
    while (desk_take(taker, 10) == GH_OK)
    {
        over += (int)taker->take.count;
        desk_finish_all(taker);
    }
    assert_int_equal(over, stored);
    assert_true(stored > ROUNDS / 4);
}

/* ---- what is left behind --------------------------------------------------------------------------------- */

/* A receipt for each push, and yet no more of them than are needed, about; and none where nothing was stored. */
static void receipts_of_pushes_go(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* self = desk_on(server);
    for (int i = 0; i < 300; i++)
    {
        char id[8];
        snprintf(id, sizeof id, "%d", i);
        assert_status(desk_push_active(self, id, ""), GH_OK);
    }
    self->config.lease_us = 3600 * SECOND_US;
    desk_take_one(self, "0"); /* now the hash lives on for an hour, whatever lies in it */
    long long receipts = redis_server_integer(server, "HLEN " KEY "w");
    assert_in_range(receipts, 301, 302);
    assert_status(desk_push_active(self, "0", ""), GH_EXISTS);
    assert_int_equal(redis_server_integer(server, "HLEN " KEY "w"), receipts);
    redis_server_shift_clock(server, 600 * (int64_t)SECOND_US);
    for (int i = 300; i < 600; i++)
    {
        char id[8];
        snprintf(id, sizeof id, "%d", i);
        assert_status(desk_push_active(self, id, ""), GH_OK);
    }
    assert_in_range(redis_server_integer(server, "HLEN " KEY "w"), 300, 350);
    redis_server_shift_clock(server, 0);
}

/* The server dies, and has all again: what was stored is there once. */
static void server_that_dies_costs_nothing_and_repeats_nothing(void** state)
{
    (void)state;
    redis_server_options options = {.append_only = true};
    redis_server* server = redis_server_start(&options);
    desk* self = desk_on(server);
    for (int round = 0; round < 3; round++)
    {
        gh_task_spec spec = {
            .id = gh_str_literal("jo"), .handler = gh_str_literal("work"), .unique = GH_TASK_UNIQUE_WHILE_ACTIVE};
        assert_status(gh_tasks_push_begin(&self->push, queue_made(self->owner->client, self->queue, NULL), &spec, 1),
                      GH_OK);
        game_tick_all();
        redis_server_kill9(server);
        redis_server_restart(server);
        GAME_UNTIL(gh_op_poll(&self->push.op) != GH_PENDING);
        assert_status(gh_op_poll(&self->push.op), GH_OK);
        assert_status(spec.status, GH_OK);
        take_and_finish(self, "jo", GH_TASK_ACTION_DONE);
        assert_status(desk_take(self, 1), GH_EMPTY);
    }
}

TEST_FILE(tasks_unique, cmocka_unit_test(id_of_a_task_that_is_done_is_free_at_once),
          cmocka_unit_test(new_task_goes_where_it_says), cmocka_unit_test(id_is_taken_while_its_task_is_active),
          cmocka_unit_test(one_request_has_both_kinds), cmocka_unit_test(dead_letter_is_replaced),
          cmocka_unit_test(letter_of_another_form_is_corrupt),
          cmocka_unit_test(dead_letter_that_is_replaced_by_a_delayed_task_waits),
          cmocka_unit_test(cancelled_id_is_free_at_once), cmocka_unit_test(cancelled_id_goes_where_it_says),
          cmocka_unit_test(cancelled_id_far_from_both_ends_waits_for_its_turn),
          cmocka_unit_test(cancelled_id_in_a_line_waits_for_its_turn),
          cmocka_unit_test(mark_that_outlives_its_memory_stands_for_no_new_task),
          cmocka_unit_test(push_without_room_leaves_the_place_of_a_cancelled_task),
          cmocka_unit_test(cancel_of_the_last_task_leaves_no_turn_to_wait_for),
          cmocka_unit_test(finish_of_the_last_task_leaves_no_turn_to_wait_for),
          cmocka_unit_test(each_push_that_was_told_ok_is_over_once), cmocka_unit_test(receipts_of_pushes_go),
          cmocka_unit_test(server_that_dies_costs_nothing_and_repeats_nothing));
