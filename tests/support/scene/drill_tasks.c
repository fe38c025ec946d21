/* drill_tasks.c -- the ops of tasks. */

#include "support/scene/drill.h"

#include "support/scene/desk.h"

#include <stdio.h>
#include <string.h>

#define NAME gh_str_literal(DRILL_NAME)

typedef struct tasks_bag
{
    gh_queue_config config;
    gh_tasks_push push;
    gh_tasks_take take;
    gh_tasks_finish finish;
    gh_tasks_extend extend;
    gh_tasks_edit edit;
    gh_tasks_control control;
    gh_tasks_look look;
    gh_tasks_dead dead;
    gh_tasks_count count;
    gh_task_spec specs[3];
    gh_task tasks[GH_TASKS_BATCH_MAX];
    gh_dead_task letters[4];
    gh_task_ref refs[3];
    char text[GH_TASK_RESULT_SIZE_MAX];
    _Alignas(16) char memory[256 * 1024];
} tasks_bag;

/* ---- states -------------------------------------------------------------------------------------------- */

static void prepare_no_tasks(game* one, game* two)
{
    (void)one, (void)two;
}

static gh_task* take_the(desk* self, const char* id)
{
    return desk_take_one(self, id);
}

/* Of everything one: done with a result, dead, handed out, ready in two classes, due later, of a group, with limits. */
static void prepare_tasks(game* one, game* two)
{
    desk* self = desk_open(one, DRILL_NAME);
    self->config.lease_us = DRILL_HOUR;
    desk_control(self, (gh_tasks_rules){
                           .running_max = 100, .rate_count = 1000, .rate_period_us = SECOND_US, .rate_burst = 1000});
    assert_status(desk_push(self, "done", "x"), GH_OK);
    gh_task* task = take_the(self, "done");
    task->result = gh_str_literal("fine");
    assert_status(desk_finish(self, task, GH_TASK_ACTION_DONE), GH_OK);
    gh_task_spec dies = {.id = gh_str_literal("dead"), .handler = gh_str_literal("work"), .attempts_max = 1};
    assert_status(desk_push_all(self, &dies, 1), GH_OK);
    assert_status(desk_finish(self, take_the(self, "dead"), GH_TASK_ACTION_FAIL), GH_OK);
    assert_status(desk_push(self, "held", "y"), GH_OK);
    (void)take_the(self, "held");
    assert_status(desk_push(self, "ready", "z"), GH_OK);
    assert_status(desk_push_class(self, "second", 1), GH_OK);
    assert_status(desk_push_delayed(self, "later", DRILL_HOUR), GH_OK);
    assert_status(desk_push_group(self, "g1", "team"), GH_OK);
    assert_status(desk_push_group(self, "g2", "team"), GH_OK);
    assert_status(desk_push_delayed(self, "due", 1000), GH_OK);
    (void)two;
}

/* As above, and some were cancelled: one has left its place in a list. */
static void prepare_cancelled(game* one, game* two)
{
    prepare_tasks(one, two);
    desk* self = desk_open(one, DRILL_NAME);
    const char* const ids[] = {"ready", "later", "g1"};
    for (int i = 0; i < 3; i++) assert_status(desk_cancel(self, ids[i]), GH_OK);
}

/* A worker waits for what comes, and another one holds one that was due. */
static void prepare_idle(game* one, game* two)
{
    desk* holder = desk_open(one, DRILL_NAME);
    desk* idle = desk_open(two, DRILL_NAME);
    holder->config.lease_us = DRILL_HOUR;
    idle->config.wait_us = DRILL_HOUR;
    assert_status(desk_push(holder, "held", "y"), GH_OK);
    (void)take_the(holder, "held");
    assert_status(
        gh_tasks_take_begin(&idle->take, desk_queue(idle), idle->tasks, 1, idle->memory, sizeof(idle->memory)), GH_OK);
    drill_await_answers(two);
}

/* The lease of a worker that died is over. */
static void prepare_expired(game* one, game* two)
{
    desk* self = desk_open(one, DRILL_NAME);
    self->config.lease_us = GH_TASKS_LEASE_MIN_US;
    assert_status(desk_push(self, "held", "y"), GH_OK);
    assert_status(desk_push_group(self, "g1", "team"), GH_OK);
    assert_status(desk_push_group(self, "g2", "team"), GH_OK);
    assert_status(desk_take(self, 2), GH_OK);
    uint64_t end_us = wait_now_us() + 2 * GH_TASKS_LEASE_MIN_US;
    one->asleep = true;
    GAME_UNTIL(wait_now_us() > end_us);
    (void)two;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static tasks_bag* new_tasks(drill* self)
{
    tasks_bag* bag = DRILL_NEW(self, tasks_bag);
    bag->config = gh_queue_config_default();
    bag->config.lease_us = DRILL_HOUR;
    return bag;
}

static const gh_queue* bag_queue(drill* self, const tasks_bag* bag)
{
    return queue_made(self->game->client, NAME, &bag->config);
}

static gh_status push_specs(drill* self, tasks_bag* bag, size_t count)
{
    for (size_t i = 0; i < count; i++) bag->specs[i].handler = gh_str_literal("work");
    assert_status(gh_tasks_push_begin(&bag->push, bag_queue(self, bag), bag->specs, count), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->push.op) != GH_PENDING);
    return gh_op_poll(&bag->push.op);
}

static gh_status run_push_new(drill* self)
{
    tasks_bag* bag = new_tasks(self);
    bag->specs[0].id = gh_str_literal("n1");
    bag->specs[1].id = gh_str_literal("n2");
    bag->specs[1].task_class = 1;
    bag->specs[2].delay_us = DRILL_HOUR;
    return push_specs(self, bag, 3);
}

static gh_status run_push_group(drill* self)
{
    tasks_bag* bag = new_tasks(self);
    bag->specs[0].id = gh_str_literal("n1");
    bag->specs[0].group = gh_str_literal("team");
    bag->specs[1].id = gh_str_literal("n2");
    bag->specs[1].group = gh_str_literal("other");
    bag->specs[1].delay_us = 1000;
    return push_specs(self, bag, 2);
}

static gh_status run_push_known(drill* self)
{
    tasks_bag* bag = new_tasks(self);
    bag->specs[0].id = gh_str_literal("ready");
    bag->specs[1].id = gh_str_literal("done");
    bag->specs[2].id = gh_str_literal("dead");
    return push_specs(self, bag, 3);
}

/* Each is new, but for the one that is held: what is over, dead or was cancelled stands in the way of none. */
static gh_status run_push_active(drill* self)
{
    tasks_bag* bag = new_tasks(self);
    bag->specs[0].id = gh_str_literal("done");
    bag->specs[1].id = gh_str_literal("dead");
    bag->specs[1].group = gh_str_literal("team");
    bag->specs[2].id = gh_str_literal("held");
    for (int i = 0; i < 3; i++) bag->specs[i].unique = GH_TASK_UNIQUE_WHILE_ACTIVE;
    return push_specs(self, bag, 3);
}

static gh_status run_push_cancelled(drill* self)
{
    tasks_bag* bag = new_tasks(self);
    bag->specs[0].id = gh_str_literal("ready");
    bag->specs[1].id = gh_str_literal("later");
    bag->specs[2].id = gh_str_literal("dead");
    bag->specs[2].delay_us = DRILL_HOUR;
    for (int i = 0; i < 3; i++) bag->specs[i].unique = GH_TASK_UNIQUE_WHILE_ACTIVE;
    return push_specs(self, bag, 3);
}

static gh_status take_some(drill* self, tasks_bag* bag, size_t count)
{
    gh_queue_config config = bag->config;
    config.timeout_us = self->within_us / 5; /* however large a crowd it passes over, it ends by then */
    assert_status(gh_tasks_take_begin(&bag->take, queue_made(self->game->client, NAME, &config), bag->tasks, count,
                                      bag->memory, sizeof(bag->memory)),
                  GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->take.op) != GH_PENDING);
    return gh_op_poll(&bag->take.op);
}

static gh_status run_take(drill* self)
{
    return take_some(self, new_tasks(self), 2);
}

static gh_status run_take_all(drill* self)
{
    return take_some(self, new_tasks(self), GH_TASKS_BATCH_MAX);
}

static gh_status run_take_wait(drill* self)
{
    tasks_bag* bag = new_tasks(self);
    bag->config.wait_us = 10000;
    return take_some(self, bag, 2);
}

static void arm_take(drill* self)
{
    tasks_bag* bag = self->bag = new_tasks(self);
    assert_status(take_some(self, bag, 5), GH_OK);
    assert_true(bag->take.count >= 3);
}

/* Done, to be tried again, failed, given back: one of each. */
static gh_status run_finish(drill* self)
{
    static const gh_task_action actions[] = {GH_TASK_ACTION_DONE, GH_TASK_ACTION_RETRY, GH_TASK_ACTION_FAIL,
                                             GH_TASK_ACTION_GIVE_BACK, GH_TASK_ACTION_DONE};
    tasks_bag* bag = self->bag;
    for (uint32_t i = 0; i < bag->take.count; i++) bag->tasks[i].action = actions[i];
    bag->tasks[0].result = gh_str_literal("ok");
    assert_status(gh_tasks_finish_begin(&bag->finish, bag_queue(self, bag), bag->tasks, bag->take.count), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->finish.op) != GH_PENDING);
    return gh_op_poll(&bag->finish.op);
}

static gh_status run_extend(drill* self)
{
    tasks_bag* bag = self->bag;
    assert_status(gh_tasks_extend_begin(&bag->extend, bag_queue(self, bag), bag->tasks, bag->take.count), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->extend.op) != GH_PENDING);
    return gh_op_poll(&bag->extend.op);
}

static gh_status edit_three(drill* self, bool requeue, const char* first, const char* second, const char* third)
{
    tasks_bag* bag = new_tasks(self);
    bag->refs[0].id = gh_str_of(first);
    bag->refs[1].id = gh_str_of(second);
    bag->refs[2].id = gh_str_of(third);
    assert_status(
        (requeue ? gh_tasks_requeue_begin : gh_tasks_cancel_begin)(&bag->edit, bag_queue(self, bag), bag->refs, 3),
        GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->edit.op) != GH_PENDING);
    return gh_op_poll(&bag->edit.op);
}

static gh_status run_cancel(drill* self)
{
    return edit_three(self, false, "ready", "later", "g1");
}

static gh_status run_cancel_held(drill* self)
{
    return edit_three(self, false, "held", "dead", "done");
}

static gh_status run_requeue(drill* self)
{
    return edit_three(self, true, "dead", "ready", "none");
}

static gh_status run_control(drill* self)
{
    tasks_bag* bag = new_tasks(self);
    gh_tasks_rules rules = {.running_max = 7};
    assert_status(gh_tasks_control_begin(&bag->control, bag_queue(self, bag), &rules), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->control.op) != GH_PENDING);
    return gh_op_poll(&bag->control.op);
}

static gh_status look_with(drill* self, tasks_bag* bag, const char* id)
{
    assert_status(gh_tasks_look_begin(&bag->look, bag_queue(self, bag), gh_str_of(id), bag->text, sizeof(bag->text)),
                  GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->look.op) != GH_PENDING);
    return gh_op_poll(&bag->look.op);
}

static gh_status look_at(drill* self, const char* id)
{
    return look_with(self, new_tasks(self), id);
}

static gh_status run_look(drill* self)
{
    gh_status status = look_at(self, "ready");
    return status == GH_OK ? look_at(self, "g1") : status;
}

static gh_status run_look_done(drill* self)
{
    gh_status status = look_at(self, "done");
    return status == GH_OK ? look_at(self, "held") : status;
}

static gh_status run_dead(drill* self)
{
    tasks_bag* bag = new_tasks(self);
    assert_status(
        gh_tasks_dead_begin(&bag->dead, bag_queue(self, bag), 0, bag->letters, 4, bag->memory, sizeof(bag->memory)),
        GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->dead.op) != GH_PENDING);
    return gh_op_poll(&bag->dead.op);
}

static gh_status count_tasks(drill* self, tasks_bag* bag)
{
    assert_status(gh_tasks_count_begin(&bag->count, bag_queue(self, bag)), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->count.op) != GH_PENDING);
    return gh_op_poll(&bag->count.op);
}

static gh_status run_count(drill* self)
{
    return count_tasks(self, new_tasks(self));
}

/* ---- a worker ------------------------------------------------------------------------------------------ */

typedef struct worker_bag
{
    gh_tasks_worker worker;
    gh_task_handler handler;
    gh_tasks_worker_queue queue;
    gh_queue made;
    gh_task slots[8];
    _Alignas(16) char memory[8 * GH_TASK_BYTES_MAX];
} worker_bag;

static gh_task_action do_work(void* context, gh_task* task)
{
    (void)context, (void)task;
    return GH_TASK_ACTION_DONE;
}

static gh_status run_worker(drill* self)
{
    worker_bag* bag = DRILL_NEW(self, worker_bag);
    gh_tasks_worker_config config = gh_tasks_worker_config_default();
    gh_queue_config want = gh_queue_config_default();
    bag->handler.name = gh_str_literal("work");
    bag->handler.function = do_work;
    want.lease_us = DRILL_HOUR;
    assert_status(gh_queue_init(&bag->made, self->game->client, NAME, &want), GH_OK);
    bag->queue.queue = &bag->made;
    bag->queue.weight = 1;
    config.handlers = &bag->handler;
    config.handler_count = 1;
    config.queues = &bag->queue;
    config.queue_count = 1;
    config.slots = bag->slots;
    config.slot_count = 8;
    config.memory = bag->memory;
    config.memory_size = sizeof(bag->memory);
    assert_status(gh_tasks_worker_begin(&bag->worker, self->game->client, &config), GH_OK);
    drill_tick_for(self, 15000);
    gh_tasks_worker_end(&bag->worker);
    drill_tick_for(self, 5000);
    gh_op_cancel(&bag->worker.op);
    DRILL_UNTIL(self, gh_op_poll(&bag->worker.op) != GH_PENDING);
    gh_status status = gh_op_poll(&bag->worker.op);
    return status == GH_CANCELLED ? GH_OK : status;
}

static const drill_case tasks_cases[] = {
    {"push_first", prepare_no_tasks, NULL, run_push_new, GH_OK, false, 0},
    {"push", prepare_tasks, NULL, run_push_new, GH_OK, false, 0},
    {"push_to_idle", prepare_idle, NULL, run_push_new, GH_OK, false, 0},
    {"push_group", prepare_tasks, NULL, run_push_group, GH_OK, false, 0},
    {"push_known", prepare_tasks, NULL, run_push_known, GH_OK, false, 0},
    {"push_active", prepare_tasks, NULL, run_push_active, GH_OK, false, 0},
    {"push_cancelled", prepare_cancelled, NULL, run_push_cancelled, GH_OK, false, 0},
    {"take", prepare_tasks, NULL, run_take, GH_OK, false, 0},
    {"take_all", prepare_tasks, NULL, run_take_all, GH_OK, false, 0},
    {"take_wait", prepare_idle, NULL, run_take_wait, GH_EMPTY, true, 0},
    {"take_expired", prepare_expired, NULL, run_take_all, GH_OK, false, 0},
    {"finish", prepare_tasks, arm_take, run_finish, GH_OK, false, 0},
    {"extend", prepare_tasks, arm_take, run_extend, GH_OK, false, 0},
    {"cancel", prepare_tasks, NULL, run_cancel, GH_OK, false, 0},
    {"cancel_held", prepare_tasks, NULL, run_cancel_held, GH_OK, false, 0},
    {"requeue", prepare_tasks, NULL, run_requeue, GH_OK, false, 0},
    {"control", prepare_tasks, NULL, run_control, GH_OK, false, 0},
    {"look", prepare_tasks, NULL, run_look, GH_OK, false, 0},
    {"look_done", prepare_tasks, NULL, run_look_done, GH_OK, false, 0},
    {"dead", prepare_tasks, NULL, run_dead, GH_OK, false, 0},
    {"count", prepare_tasks, NULL, run_count, GH_OK, false, 0},
    {"worker", prepare_tasks, NULL, run_worker, GH_OK, false, 60},
};

/* A push that takes the id of a task that is over forgets that one first, as tasks_push.lua says. */
static bool may_be_forgotten(const drill* self, const char* id)
{
    return self->later || (self->current->run == run_push_active && strcmp(id, "done") == 0);
}

/* No id that was pushed is forgotten, and none is ready when a take has nothing. */
static bool ids_are_known(drill* self, char why[256])
{
    static const char* const ids[] = {"ready", "second", "g1", "g2", "due", "held", "later", "done", "dead"};
    if (self->current->prepare != prepare_tasks) return true;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
    {
        tasks_bag* bag = new_tasks(self);
        self->end_us = wait_now_us() + self->within_us;
        gh_status status = look_with(self, bag, ids[i]);
        gh_task_state state = bag->look.state;
        self->used -= (sizeof(tasks_bag) + 15) / 16 * 16;
        if (status != GH_OK) return snprintf(why, 256, "look at %s: %s", ids[i], gh_status_name(status)) < 0;
        if (state == GH_TASK_STATE_READY || (state == GH_TASK_STATE_NONE && !may_be_forgotten(self, ids[i])) ||
            (state == GH_TASK_STATE_RUNNING && self->later))
            return snprintf(why, 256, "task %s has state %d in the end", ids[i], (int)state) < 0;
    }
    return true;
}

/* What was pushed for now is handed out until nothing is left of it, and what is counted is what there is. */
static bool heal_tasks(drill* self, char why[256])
{
    tasks_bag* bag = new_tasks(self);
    bag->specs[0].id = gh_str_literal("heal");
    gh_status status = push_specs(self, bag, 1);
    if (status != GH_OK) return snprintf(why, 256, "push: %s", gh_status_name(status)) < 0;
    bool healed = false;
    unsigned rounds = 0;
    for (status = take_some(self, bag, 5); status == GH_OK && rounds < 20; rounds++)
    {
        for (uint32_t i = 0; i < bag->take.count; i++)
        {
            healed = healed || gh_str_equal(bag->tasks[i].id, gh_str_literal("heal"));
            bag->tasks[i].action = GH_TASK_ACTION_DONE;
        }
        assert_status(gh_tasks_finish_begin(&bag->finish, bag_queue(self, bag), bag->tasks, bag->take.count), GH_OK);
        DRILL_UNTIL(self, gh_op_poll(&bag->finish.op) != GH_PENDING);
        status = gh_op_poll(&bag->finish.op);
        if (status != GH_OK) return snprintf(why, 256, "finish: %s", gh_status_name(status)) < 0;
        self->end_us = wait_now_us() + self->within_us;
        status = take_some(self, bag, 5);
    }
    if (status != GH_EMPTY || !healed)
        return snprintf(why, 256, "take: %s%s", gh_status_name(status), healed ? "" : ", one was not handed out") < 0;
    status = count_tasks(self, bag);
    if (status != GH_OK) return snprintf(why, 256, "count: %s", gh_status_name(status)) < 0;
    uint64_t known = bag->count.handed_out + bag->count.expired;
    for (int i = 0; i < GH_TASKS_CLASSES; i++) known += bag->count.ready[i] + bag->count.delayed[i];
    if (bag->count.stored > known + bag->count.dead)
        return snprintf(why, 256, "%llu stored, %llu are somewhere", (unsigned long long)bag->count.stored,
                        (unsigned long long)(known + bag->count.dead)) < 0;
    return ids_are_known(self, why);
}

const drill_system drill_tasks = {"tasks",    "tasks", tasks_cases, sizeof(tasks_cases) / sizeof(tasks_cases[0]),
                                  heal_tasks, true};
