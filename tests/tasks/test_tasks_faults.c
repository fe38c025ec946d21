/* Every fault of support/fault.h over every operation of tasks. The store is audited by the layout of
   KEYS.md. */

#include "support/scene/desk.h"
#include "support/faults/fault.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_US  (600 * SECOND_US)
#define KEY(part) "gh:{tasks:%s}:" part

/* Each run has a queue of its own, named like the run. */
typedef struct bench
{
    union
    {
        gh_tasks_push push;
        gh_tasks_take take;
        gh_tasks_finish finish;
        gh_tasks_extend extend;
        gh_tasks_edit edit;
        gh_tasks_control control;
    } op;
    gh_tasks_take taking; /* of the preparation */
    gh_tasks_push pushing;
    gh_task_spec pushed[3];
    gh_task tasks[3];
    gh_task_ref refs[3];
    char memory[GH_TASK_BYTES_MAX];
    bool grouped;       /* the tasks have a group: what is ready lies in its line */
    uint32_t count_min; /* of a take */
} bench;

static gh_queue_config config_of(void)
{
    gh_queue_config config = gh_queue_config_default();
    config.lease_us = LEASE_US;
    config.timeout_us = 60 * SECOND_US;
    return config;
}

static bench* bench_of(fault_scene* scene)
{
    return scene->op;
}

/* a and b for now, c for in an hour. */
static void name_tasks(bench* self)
{
    static const char* const ids[3] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
    {
        self->pushed[i] = (gh_task_spec){.id = gh_str_of(ids[i]),
                                         .payload = gh_str_literal("x"),
                                         .group = gh_str_of(self->grouped ? "guild" : ""),
                                         .delay_us = i == 2 ? 3600 * SECOND_US : 0};
        self->refs[i].id = gh_str_of(ids[i]);
    }
}

static void push_tasks(fault_scene* scene, game* from)
{
    bench* self = bench_of(scene);
    gh_queue_config config = config_of();
    name_tasks(self);
    assert_status(
        gh_tasks_push_begin(&self->pushing, queue_made(from->client, fault_name(scene), &config), self->pushed, 3),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&self->pushing.op) == GH_OK);
}

static void take_tasks(fault_scene* scene, gh_tasks_take* take)
{
    bench* self = bench_of(scene);
    gh_queue_config config = config_of();
    config.count_min = self->count_min;
    assert_status(gh_tasks_take_begin(take, queue_made(scene->game->client, fault_name(scene), &config), self->tasks, 2,
                                      self->memory, sizeof(self->memory)),
                  GH_OK);
}

static void prepare_pushed(fault_scene* scene)
{
    push_tasks(scene, scene->other);
}

static void prepare_taken(fault_scene* scene)
{
    bench* self = bench_of(scene);
    push_tasks(scene, scene->other);
    take_tasks(scene, &self->taking);
    GAME_UNTIL(gh_op_poll(&self->taking.op) == GH_OK);
    assert_int_equal(self->taking.count, 2);
}

static long long stored(fault_scene* scene, const char* command, const char* part)
{
    char text[64];
    snprintf(text, sizeof(text), "%s gh:{tasks:%s}:%s", command, scene->name, part);
    return redis_server_integer(scene->server, text);
}

static char mark_of(fault_scene* scene, const char* id)
{
    const char* mark = redis_server_text(scene->server, "HGET " KEY("m") " %s", scene->name, id);
    return mark == NULL ? '-' : mark[0];
}

static void assert_stored(fault_scene* scene, long long payloads, long long ready, long long due, long long leased,
                          long long dead, long long over)
{
    assert_int_equal(stored(scene, "HLEN", "p"), payloads);
    assert_int_equal(stored(scene, "LLEN", "r0") + stored(scene, "ZCARD", "q"), ready);
    assert_int_equal(stored(scene, "ZCARD", "d0"), due);
    assert_int_equal(stored(scene, "ZCARD", "l"), leased);
    assert_int_equal(stored(scene, "ZCARD", "x"), dead);
    assert_int_equal(stored(scene, "ZCARD", "t"), over);
}

/* ---- push ---------------------------------------------------------------------------------------------- */

static void begin_push(fault_scene* scene)
{
    bench* self = bench_of(scene);
    gh_queue_config config = config_of();
    name_tasks(self);
    self->pushed[1].id = gh_str_literal(""); /* made */
    assert_status(gh_tasks_push_begin(&self->op.push, queue_made(scene->game->client, fault_name(scene), &config),
                                      self->pushed, 3),
                  GH_OK);
}

static gh_status poll_push(const void* op)
{
    return gh_op_poll(&((const bench*)op)->op.push.op);
}

static void cancel_push(void* op)
{
    gh_op_cancel(&((bench*)op)->op.push.op);
}

static void audit_push(fault_scene* scene, gh_status status)
{
    bench* self = bench_of(scene);
    if (status == GH_CANCELLED)
    {
        assert_stored(scene, 0, 0, 0, 0, 0, 0);
        return;
    }
    assert_stored(scene, 3, 2, 1, 0, 0, 0);
    assert_status(self->pushed[1].status, GH_OK);
    assert_true(self->pushed[0].status == GH_OK || self->pushed[0].status == GH_EXISTS);
}

static const fault_operation push = {"push",     sizeof(bench), 0,    2,           NULL,
                                     begin_push, poll_push,     NULL, cancel_push, audit_push};

/* a is done already and b dead, and both are new tasks: one each, whatever is sent how often. c is there already. */
static void prepare_over(fault_scene* scene)
{
    bench* self = bench_of(scene);
    desk* clerk = desk_open(scene->other, scene->name);
    name_tasks(self);
    assert_status(desk_push_all(clerk, self->pushed, 3), GH_OK);
    assert_status(desk_take(clerk, 2), GH_OK);
    clerk->tasks[0].action = GH_TASK_ACTION_DONE;
    clerk->tasks[1].action = GH_TASK_ACTION_FAIL;
    assert_status(
        gh_tasks_finish_begin(&clerk->finish, queue_made(scene->other->client, clerk->queue, NULL), clerk->tasks, 2),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&clerk->finish.op) == GH_OK);
    assert_stored(scene, 2, 0, 1, 0, 1, 1);
}

static void begin_active_push(fault_scene* scene)
{
    bench* self = bench_of(scene);
    gh_queue_config config = config_of();
    name_tasks(self);
    for (int i = 0; i < 3; i++) self->pushed[i].unique = GH_TASK_UNIQUE_WHILE_ACTIVE;
    assert_status(gh_tasks_push_begin(&self->op.push, queue_made(scene->game->client, fault_name(scene), &config),
                                      self->pushed, 3),
                  GH_OK);
}

static void audit_active_push(fault_scene* scene, gh_status status)
{
    bench* self = bench_of(scene);
    if (status == GH_CANCELLED)
    {
        assert_stored(scene, 2, 0, 1, 0, 1, 1);
        return;
    }
    assert_stored(scene, 3, 2, 1, 0, 0, 0);
    assert_status(self->pushed[0].status, GH_OK);
    assert_status(self->pushed[1].status, GH_OK);
    assert_status(self->pushed[2].status, GH_EXISTS);
    assert_int_equal(mark_of(scene, "b"), 'R');
}

static const fault_operation active_push = {"active_push",     sizeof(bench), 0,    8,           prepare_over,
                                            begin_active_push, poll_push,     NULL, cancel_push, audit_active_push};

/* ---- take ---------------------------------------------------------------------------------------------- */

static void begin_take(fault_scene* scene)
{
    take_tasks(scene, &bench_of(scene)->op.take);
}

static gh_status poll_take(const void* op)
{
    return gh_op_poll(&((const bench*)op)->op.take.op);
}

static void cancel_take(void* op)
{
    gh_op_cancel(&((bench*)op)->op.take.op);
}

/* The store says that we have what we have, at the first attempt: a lost answer cost nothing. */
static void audit_take(fault_scene* scene, gh_status status)
{
    bench* self = bench_of(scene);
    if (status == GH_CANCELLED)
    {
        assert_stored(scene, 3, 2, 1, 0, 0, 0);
        return;
    }
    assert_stored(scene, 3, 0, 1, 2, 0, 0);
    assert_int_equal(self->op.take.count, 2);
    for (int i = 0; i < 2; i++)
    {
        char expected[128];
        gh_task* task = &self->tasks[i];
        assert_true(gh_str_equal(task->id, self->pushed[i].id));
        assert_true(gh_task_remaining_us(scene->game->client, task) > 0);
        snprintf(expected, sizeof(expected), "L 1 %" PRIu64 " %016" PRIx64 ":%016" PRIx64, task->fence,
                 gh_client_id(scene->game->client), task->taker_sequence);
        assert_string_equal(redis_server_text(scene->server, "HGET " KEY("m") " %s", scene->name, i == 0 ? "a" : "b"),
                            expected);
    }
}

static const fault_operation take = {"take",     sizeof(bench), 0,    3,           prepare_pushed,
                                     begin_take, poll_take,     NULL, cancel_take, audit_take};

/* Both, or none. */
static void prepare_together(fault_scene* scene)
{
    bench_of(scene)->count_min = 2;
    prepare_pushed(scene);
}

static const fault_operation take_together = {"take_together", sizeof(bench), 0,    3,           prepare_together,
                                              begin_take,      poll_take,     NULL, cancel_take, audit_take};

/* ---- finish: one done with a result, one to be tried again --------------------------------------------- */

static void begin_finish(fault_scene* scene)
{
    bench* self = bench_of(scene);
    gh_queue_config config = config_of();
    self->tasks[0].action = GH_TASK_ACTION_DONE;
    self->tasks[0].result = gh_str_literal("result");
    self->tasks[1].action = GH_TASK_ACTION_RETRY;
    self->tasks[1].delay_us = 3600 * SECOND_US;
    assert_status(gh_tasks_finish_begin(&self->op.finish, queue_made(scene->game->client, fault_name(scene), &config),
                                        self->tasks, 2),
                  GH_OK);
}

static gh_status poll_finish(const void* op)
{
    return gh_op_poll(&((const bench*)op)->op.finish.op);
}

static void cancel_finish(void* op)
{
    gh_op_cancel(&((bench*)op)->op.finish.op);
}

static void audit_finish(fault_scene* scene, gh_status status)
{
    bench* self = bench_of(scene);
    if (status == GH_CANCELLED)
    {
        assert_stored(scene, 3, 0, 1, 2, 0, 0);
        return;
    }
    assert_stored(scene, 2, 0, 2, 0, 0, 1);
    assert_int_equal(mark_of(scene, "a"), 'D');
    assert_int_equal(mark_of(scene, "b"), 'W');
    assert_status(self->tasks[0].status, GH_OK); /* a repeat is answered like the first */
    assert_status(self->tasks[1].status, GH_OK);
}

static const fault_operation finish = {
    "finish", sizeof(bench), 0, 3, prepare_taken, begin_finish, poll_finish, NULL, cancel_finish, audit_finish};

/* ---- extend -------------------------------------------------------------------------------------------- */

static void begin_extend(fault_scene* scene)
{
    bench* self = bench_of(scene);
    gh_queue_config config = config_of();
    config.lease_us = 2 * LEASE_US;
    assert_status(gh_tasks_extend_begin(&self->op.extend, queue_made(scene->game->client, fault_name(scene), &config),
                                        self->tasks, 2),
                  GH_OK);
}

static gh_status poll_extend(const void* op)
{
    return gh_op_poll(&((const bench*)op)->op.extend.op);
}

static void cancel_extend(void* op)
{
    gh_op_cancel(&((bench*)op)->op.extend.op);
}

static void audit_extend(fault_scene* scene, gh_status status)
{
    bench* self = bench_of(scene);
    assert_stored(scene, 3, 0, 1, 2, 0, 0);
    for (int i = 0; i < 2; i++)
    {
        assert_status(self->tasks[i].status, GH_PENDING);
        if (status == GH_OK) assert_true(gh_task_remaining_us(scene->game->client, &self->tasks[i]) > LEASE_US);
    }
}

static const fault_operation extend = {
    "extend", sizeof(bench), 0, 7, prepare_taken, begin_extend, poll_extend, NULL, cancel_extend, audit_extend};

/* ---- cancel: one that waits, one that is delayed ------------------------------------------------------- */

static void begin_revoke(fault_scene* scene)
{
    bench* self = bench_of(scene);
    gh_queue_config config = config_of();
    assert_status(gh_tasks_cancel_begin(&self->op.edit, queue_made(scene->game->client, fault_name(scene), &config),
                                        self->refs + 1, 2),
                  GH_OK);
}

static gh_status poll_edit(const void* op)
{
    return gh_op_poll(&((const bench*)op)->op.edit.op);
}

static void cancel_edit(void* op)
{
    gh_op_cancel(&((bench*)op)->op.edit.op);
}

static void audit_revoke(fault_scene* scene, gh_status status)
{
    bench* self = bench_of(scene);
    if (status == GH_CANCELLED)
    {
        assert_stored(scene, 3, 2, 1, 0, 0, 0);
        return;
    }
    assert_stored(scene, 1, 2, 0, 0, 0, 2); /* b's place in the list stays, and its state says so */
    assert_int_equal(mark_of(scene, "b"), 'V');
    assert_int_equal(mark_of(scene, "c"), 'C');
    assert_status(self->refs[1].status, GH_OK);
    assert_status(self->refs[2].status, GH_OK);
}

static const fault_operation revoke = {"revoke",     sizeof(bench), 0,    7,           prepare_pushed,
                                       begin_revoke, poll_edit,     NULL, cancel_edit, audit_revoke};

/* ---- requeue ------------------------------------------------------------------------------------------- */

static void prepare_dead(fault_scene* scene)
{
    bench* self = bench_of(scene);
    gh_queue_config config = config_of();
    gh_tasks_finish* failing = GAME_NEW(scene->game, gh_tasks_finish);
    prepare_taken(scene);
    self->tasks[0].action = self->tasks[1].action = GH_TASK_ACTION_FAIL;
    assert_status(
        gh_tasks_finish_begin(failing, queue_made(scene->game->client, fault_name(scene), &config), self->tasks, 2),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&failing->op) == GH_OK);
}

static void begin_requeue(fault_scene* scene)
{
    bench* self = bench_of(scene);
    gh_queue_config config = config_of();
    assert_status(gh_tasks_requeue_begin(&self->op.edit, queue_made(scene->game->client, fault_name(scene), &config),
                                         self->refs, 2),
                  GH_OK);
}

static void audit_requeue(fault_scene* scene, gh_status status)
{
    bench* self = bench_of(scene);
    if (status == GH_CANCELLED)
    {
        assert_stored(scene, 3, 0, 1, 0, 2, 0);
        return;
    }
    assert_stored(scene, 3, 2, 1, 0, 0, 0);
    assert_status(self->refs[0].status, GH_OK);
    assert_status(self->refs[1].status, GH_OK);
}

static const fault_operation requeue = {"requeue",     sizeof(bench), 0,    7,           prepare_dead,
                                        begin_requeue, poll_edit,     NULL, cancel_edit, audit_requeue};

/* ---- pause --------------------------------------------------------------------------------------------- */

static void begin_pause(fault_scene* scene)
{
    const gh_tasks_rules rules = {.paused = true, .running_max = 7, .rate_count = 5, .rate_period_us = SECOND_US};
    assert_status(gh_tasks_control_begin(&bench_of(scene)->op.control,
                                         queue_made(scene->game->client, fault_name(scene), NULL), &rules),
                  GH_OK);
}

static gh_status poll_control(const void* op)
{
    return gh_op_poll(&((const bench*)op)->op.control.op);
}

static void cancel_control(void* op)
{
    gh_op_cancel(&((bench*)op)->op.control.op);
}

static void audit_pause(fault_scene* scene, gh_status status)
{
    assert_int_equal(stored(scene, "HLEN", "c"), status == GH_CANCELLED ? 0 : 3);
}

static const fault_operation pause_queue = {"pause", sizeof(bench),  0,          7, NULL, begin_pause, poll_control,
                                            NULL,    cancel_control, audit_pause};

/* ---- the same with a group, where that makes a difference ---------------------------------------------- */

static void begin_grouped_push(fault_scene* scene)
{
    bench_of(scene)->grouped = true;
    begin_push(scene);
}

/* One line, with one place in the ring. */
static void assert_one_group(fault_scene* scene, long long ready)
{
    assert_int_equal(stored(scene, "ZCARD", "q"), ready);
    assert_int_equal(stored(scene, "ZCARD", "g"), ready > 0);
    assert_int_equal(stored(scene, "LLEN", "r0"), 0);
}

static void audit_grouped_push(fault_scene* scene, gh_status status)
{
    audit_push(scene, status);
    assert_one_group(scene, status == GH_CANCELLED ? 0 : 2);
}

static const fault_operation grouped_push = {"grouped_push",     sizeof(bench), 0,    5,           NULL,
                                             begin_grouped_push, poll_push,     NULL, cancel_push, audit_grouped_push};

static void prepare_grouped(fault_scene* scene)
{
    bench_of(scene)->grouped = true;
    prepare_pushed(scene);
}

static void audit_grouped_take(fault_scene* scene, gh_status status)
{
    audit_take(scene, status);
    assert_one_group(scene, status == GH_CANCELLED ? 2 : 0);
}

static const fault_operation grouped_take = {"grouped_take", sizeof(bench), 0,    5,           prepare_grouped,
                                             begin_take,     poll_take,     NULL, cancel_take, audit_grouped_take};

static void audit_grouped_revoke(fault_scene* scene, gh_status status)
{
    if (status == GH_CANCELLED)
    {
        assert_stored(scene, 3, 2, 1, 0, 0, 0);
        return;
    }
    assert_stored(scene, 1, 1, 0, 0, 0, 2);
    assert_one_group(scene, 1);
    assert_int_equal(mark_of(scene, "b"), 'C');
    assert_status(bench_of(scene)->refs[1].status, GH_OK);
    assert_status(bench_of(scene)->refs[2].status, GH_OK);
}

static const fault_operation grouped_revoke = {"grouped_revoke", sizeof(bench),       0,         7,
                                               prepare_grouped,  begin_revoke,        poll_edit, NULL,
                                               cancel_edit,      audit_grouped_revoke};

static void prepare_grouped_dead(fault_scene* scene)
{
    bench_of(scene)->grouped = true;
    prepare_dead(scene);
}

static void audit_grouped_requeue(fault_scene* scene, gh_status status)
{
    audit_requeue(scene, status);
    assert_one_group(scene, status == GH_CANCELLED ? 0 : 2);
}

static const fault_operation grouped_requeue = {"grouped_requeue",    sizeof(bench),        0,         7,
                                                prepare_grouped_dead, begin_requeue,        poll_edit, NULL,
                                                cancel_edit,          audit_grouped_requeue};

/* A take that uses the burst of a rate up: a repeat must not use it twice. */
static void prepare_rated(fault_scene* scene)
{
    const gh_tasks_rules rules = {.rate_count = 1, .rate_period_us = 3600 * SECOND_US, .rate_burst = 3};
    gh_tasks_control* control = GAME_NEW(scene->game, gh_tasks_control);
    assert_status(gh_tasks_control_begin(control, queue_made(scene->other->client, fault_name(scene), NULL), &rules),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&control->op) == GH_OK);
    prepare_pushed(scene);
}

static void audit_rated_take(fault_scene* scene, gh_status status)
{
    audit_take(scene, status);
    const char* full_at = redis_server_text(scene->server, "HGET " KEY("c") " bucket", scene->name);
    if (status == GH_CANCELLED)
    {
        assert_null(full_at);
        return;
    }
    assert_non_null(full_at);
    double used_us = atof(full_at) - (double)bench_of(scene)->tasks[0].fence;
    assert_true(used_us > 7199.9 * SECOND_US && used_us < 7200.1 * SECOND_US); /* two hand-outs */
}

static const fault_operation rated_take = {"rated_take", sizeof(bench), 0,    5,           prepare_rated,
                                           begin_take,   poll_take,     NULL, cancel_take, audit_rated_take};

/* ---- a worker: three tasks, none is lost, each is done once -------------------------------------------- */

typedef struct smithy
{
    gh_tasks_worker worker;
    gh_task slots[4];
    gh_task_handler handler;
    gh_tasks_worker_queue queue;
    gh_queue made;
    char memory[4 * 256];
    unsigned forged;
} smithy;

static gh_task_action forge(void* context, gh_task* task)
{
    smithy* self = context;
    if (task->status == GH_LOST || ++task->step < 2) return GH_TASK_ACTION_CONTINUE;
    self->forged++;
    return GH_TASK_ACTION_DONE;
}

static void prepare_work(fault_scene* scene)
{
    gh_tasks_push* pushing = scene->more;
    static gh_task_spec tasks[3];
    gh_queue_config config = config_of();
    for (int i = 0; i < 3; i++) tasks[i] = (gh_task_spec){.handler = gh_str_literal("forge")};
    assert_status(gh_tasks_push_begin(pushing, queue_made(scene->other->client, fault_name(scene), &config), tasks, 3),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&pushing->op) == GH_OK);
}

static void begin_work(fault_scene* scene)
{
    smithy* self = scene->op;
    gh_queue_config want = config_of();
    gh_tasks_worker_config config = gh_tasks_worker_config_default();
    self->handler = (gh_task_handler){.name = gh_str_literal("forge"), .function = forge, .context = self};
    assert_status(gh_queue_init(&self->made, scene->game->client, fault_name(scene), &want), GH_OK);
    self->queue.queue = &self->made;
    config.handlers = &self->handler, config.handler_count = 1;
    config.queues = &self->queue, config.queue_count = 1;
    config.slots = self->slots, config.slot_count = 4;
    config.memory = self->memory, config.memory_size = sizeof(self->memory);
    assert_status(gh_tasks_worker_begin(&self->worker, scene->game->client, &config), GH_OK);
}

static gh_status poll_work(const void* op)
{
    return gh_op_poll(&((const smithy*)op)->worker.op);
}

static bool work_is_over(fault_scene* scene)
{
    smithy* self = scene->op;
    if (self->worker.done == 3) gh_tasks_worker_end(&self->worker);
    return poll_work(self) != GH_PENDING;
}

static void cancel_work(void* op)
{
    gh_op_cancel(&((smithy*)op)->worker.op);
}

static void audit_work(fault_scene* scene, gh_status status)
{
    smithy* self = scene->op;
    if (status == GH_CANCELLED)
    {
        assert_stored(scene, 3 - self->forged, stored(scene, "LLEN", "r0"), stored(scene, "ZCARD", "d0"), 0, 0,
                      self->forged);
        assert_int_equal(stored(scene, "LLEN", "r0") + stored(scene, "ZCARD", "d0"), 3 - self->forged);
        return;
    }
    assert_stored(scene, 0, 0, 0, 0, 0, 3);
    assert_int_equal(self->forged, 3);
    assert_int_equal(self->worker.lost, 0);
}

static const fault_operation work = {"work",     sizeof(smithy), sizeof(gh_tasks_push), 61,          prepare_work,
                                     begin_work, poll_work,      work_is_over,          cancel_work, audit_work};

/* ---- the tests ----------------------------------------------------------------------------------------- */

FAULT_TESTS(push)
FAULT_TESTS(active_push)
FAULT_TESTS(take)
FAULT_TESTS(take_together)
FAULT_TESTS(finish)
FAULT_TESTS(extend)
FAULT_TESTS(revoke)
FAULT_TESTS(requeue)
FAULT_TESTS(pause_queue)
FAULT_TESTS(grouped_push)
FAULT_TESTS(grouped_take)
FAULT_TESTS(grouped_revoke)
FAULT_TESTS(grouped_requeue)
FAULT_TESTS(rated_take)
FAULT_TESTS(work)
FAULT_CANCEL_TEST(push)
FAULT_CANCEL_TEST(active_push)
FAULT_CANCEL_TEST(take)
FAULT_CANCEL_TEST(take_together)
FAULT_CANCEL_TEST(finish)
FAULT_CANCEL_TEST(extend)
FAULT_CANCEL_TEST(revoke)
FAULT_CANCEL_TEST(requeue)
FAULT_CANCEL_TEST(pause_queue)
FAULT_CANCEL_TEST(grouped_push)
FAULT_CANCEL_TEST(grouped_take)
FAULT_CANCEL_TEST(grouped_revoke)
FAULT_CANCEL_TEST(grouped_requeue)
FAULT_CANCEL_TEST(rated_take)
FAULT_CANCEL_TEST(work)

TEST_FILE(tasks_faults, FAULT_TEST_LIST(push), FAULT_TEST_LIST(active_push), FAULT_CANCEL_TEST_LIST(active_push),
          FAULT_TEST_LIST(take), FAULT_TEST_LIST(finish), FAULT_TEST_LIST(take_together),
          FAULT_CANCEL_TEST_LIST(take_together), FAULT_TEST_LIST(extend), FAULT_TEST_LIST(revoke),
          FAULT_TEST_LIST(requeue), FAULT_TEST_LIST(pause_queue), FAULT_TEST_LIST(grouped_push),
          FAULT_TEST_LIST(grouped_take), FAULT_TEST_LIST(grouped_revoke), FAULT_TEST_LIST(grouped_requeue),
          FAULT_TEST_LIST(rated_take), FAULT_TEST_LIST(work), FAULT_CANCEL_TEST_LIST(push),
          FAULT_CANCEL_TEST_LIST(take), FAULT_CANCEL_TEST_LIST(finish), FAULT_CANCEL_TEST_LIST(extend),
          FAULT_CANCEL_TEST_LIST(revoke), FAULT_CANCEL_TEST_LIST(requeue), FAULT_CANCEL_TEST_LIST(pause_queue),
          FAULT_CANCEL_TEST_LIST(grouped_push), FAULT_CANCEL_TEST_LIST(grouped_take),
          FAULT_CANCEL_TEST_LIST(grouped_revoke), FAULT_CANCEL_TEST_LIST(grouped_requeue),
          FAULT_CANCEL_TEST_LIST(rated_take), FAULT_CANCEL_TEST_LIST(work));
