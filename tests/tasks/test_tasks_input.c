/* Tests of guildhall/tasks.h: bad input, and what is at its limits. */

#include "support/scene/desk.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

#define LONGEST                                                                                                        \
    "////////////////////////////////////////////////////////////////" /* each takes three bytes in a key              \
                                                                        */
#define QUEUE "mail"
#define KEY   "gh:{tasks:mail}:"

static desk* desk_on(redis_server* server)
{
    return desk_open(game_start_ready(redis_server_address(server)), QUEUE);
}

static desk* desk_alone(void)
{
    return desk_on(redis_server_any());
}

/* ---- bad input ----------------------------------------------------------------------------------------- */

static gh_status try_push(desk* clerk, gh_task_spec task)
{
    return gh_tasks_push_begin(&clerk->push, desk_queue(clerk), &task, 1);
}

static void push_refuses_bad_input(void** state)
{
    (void)state;
    desk* clerk = desk_alone();
    gh_client* client = clerk->owner->client;
    static char big[GH_TASK_PAYLOAD_SIZE_MAX + 1];
    static gh_task_spec many[GH_TASKS_BATCH_MAX + 1];
    gh_task_spec task = {.id = {0}};
    gh_str queue = clerk->queue;
    assert_status(gh_tasks_push_begin(NULL, desk_queue(clerk), &task, 1), GH_INVALID_OP);
    assert_status(gh_tasks_push_begin(&clerk->push, queue_made(NULL, queue, NULL), &task, 1), GH_INVALID_CLIENT);
    assert_status(gh_tasks_push_begin(&clerk->push, queue_made(client, gh_str_make("", 0), NULL), &task, 1),
                  GH_INVALID_NAME);
    assert_status(gh_tasks_push_begin(&clerk->push, queue_made(client, gh_str_make(big, 65), NULL), &task, 1),
                  GH_INVALID_NAME);
    assert_status(gh_tasks_push_begin(&clerk->push, desk_queue(clerk), NULL, 1), GH_INVALID_TASKS);
    assert_status(gh_tasks_push_begin(&clerk->push, desk_queue(clerk), many, 0), GH_INVALID_TASKS);
    assert_status(gh_tasks_push_begin(&clerk->push, desk_queue(clerk), many, GH_TASKS_BATCH_MAX + 1), GH_INVALID_TASKS);
    assert_status(try_push(clerk, (gh_task_spec){.id = {NULL, 1}}), GH_INVALID_TASK_ID);
    assert_status(try_push(clerk, (gh_task_spec){.id = gh_str_make("a\0b", 3)}), GH_INVALID_TASK_ID);
    assert_status(try_push(clerk, (gh_task_spec){.id = {big, SIZE_MAX}}), GH_INVALID_TASK_ID);
    assert_status(try_push(clerk, (gh_task_spec){.handler = {big, GH_NAME_SIZE_MAX + 1}}), GH_INVALID_TASK_HANDLER);
    assert_status(try_push(clerk, (gh_task_spec){.handler = {NULL, 1}}), GH_INVALID_TASK_HANDLER);
    assert_status(try_push(clerk, (gh_task_spec){.group = {big, GH_TASK_GROUP_SIZE_MAX + 1}}), GH_INVALID_TASK_GROUP);
    assert_status(try_push(clerk, (gh_task_spec){.group = {NULL, 1}}), GH_INVALID_TASK_GROUP);
    assert_status(try_push(clerk, (gh_task_spec){.group = gh_str_make("a\0b", 3)}), GH_INVALID_TASK_GROUP);
    assert_status(try_push(clerk, (gh_task_spec){.payload = {big, sizeof(big)}}), GH_INVALID_TASK_PAYLOAD);
    assert_status(try_push(clerk, (gh_task_spec){.payload = {NULL, 1}}), GH_INVALID_TASK_PAYLOAD);
    assert_status(try_push(clerk, (gh_task_spec){.delay_us = GH_TASKS_DELAY_MAX_US + 1}), GH_INVALID_TASK_DELAY);
    assert_status(try_push(clerk, (gh_task_spec){.delay_us = UINT64_MAX}), GH_INVALID_TASK_DELAY);
    assert_status(try_push(clerk, (gh_task_spec){.task_class = GH_TASKS_CLASSES}), GH_INVALID_TASK_CLASS);
    assert_status(try_push(clerk, (gh_task_spec){.unique = GH_TASK_UNIQUE_WHILE_ACTIVE + 1}), GH_INVALID_TASK_UNIQUE);
    assert_status(try_push(clerk, (gh_task_spec){.attempts_max = GH_TASKS_ATTEMPTS_MAX + 1}), GH_INVALID_TASK_ATTEMPTS);
    assert_status(gh_op_poll(&clerk->push.op), GH_INVALID_TASK_ATTEMPTS);
    gh_op_cancel(&clerk->push.op);
    assert_int_equal(gh_tasks_push_id(NULL, 0, clerk->text), 0);
    assert_int_equal(game_stats(clerk->owner).ops_begun, 0);
}

static void pull_style_refuses_bad_input(void** state)
{
    (void)state;
    desk* clerk = desk_alone();
    gh_client* client = clerk->owner->client;
    gh_str queue = clerk->queue;
    gh_task* tasks = clerk->tasks;
    char* memory = clerk->memory;
    assert_status(gh_tasks_take_begin(NULL, desk_queue(clerk), tasks, 1, memory, 9000), GH_INVALID_OP);
    assert_status(gh_tasks_take_begin(&clerk->take, desk_queue(clerk), NULL, 1, memory, 9000), GH_INVALID_TASKS);
    assert_status(gh_tasks_take_begin(&clerk->take, desk_queue(clerk), tasks, 0, memory, 9000), GH_INVALID_TASKS);
    assert_status(gh_tasks_take_begin(&clerk->take, desk_queue(clerk), tasks, GH_TASKS_BATCH_MAX + 1, memory, 9000),
                  GH_INVALID_TASKS);
    assert_status(gh_tasks_take_begin(&clerk->take, desk_queue(clerk), tasks, 1, NULL, 9000), GH_INVALID_BUFFER);
    assert_status(gh_tasks_take_begin(&clerk->take, desk_queue(clerk), tasks, 1, memory, GH_TASK_BYTES_MAX - 1),
                  GH_INVALID_BUFFER);
    assert_status(gh_tasks_finish_begin(NULL, desk_queue(clerk), tasks, 1), GH_INVALID_OP);
    assert_status(gh_tasks_finish_begin(&clerk->finish, desk_queue(clerk), NULL, 1), GH_INVALID_TASKS);
    assert_status(gh_tasks_finish_begin(&clerk->finish, desk_queue(clerk), tasks, 1), GH_INVALID_TASKS);
    assert_status(gh_tasks_extend_begin(NULL, desk_queue(clerk), tasks, 1), GH_INVALID_OP);
    assert_status(gh_tasks_extend_begin(&clerk->extend, desk_queue(clerk), NULL, 1), GH_INVALID_TASKS);
    assert_status(gh_tasks_extend_begin(&clerk->extend, desk_queue(clerk), tasks, 1), GH_INVALID_TASKS);

    assert_status(desk_push(clerk, "a", ""), GH_OK);
    gh_task* task = desk_take_one(clerk, "a");
    assert_status(gh_tasks_finish_begin(&clerk->finish, desk_queue(clerk), task, 1), GH_INVALID_TASKS); /* no action */
    task->action = (gh_task_action)9;
    assert_status(gh_tasks_finish_begin(&clerk->finish, desk_queue(clerk), task, 1), GH_INVALID_TASK_ACTION);
    task->action = GH_TASK_ACTION_RETRY;
    task->delay_us = GH_TASKS_DELAY_MAX_US + 1;
    assert_status(gh_tasks_finish_begin(&clerk->finish, desk_queue(clerk), task, 1), GH_INVALID_TASK_DELAY);
    task->delay_us = 0;
    task->result = gh_str_make(memory, GH_TASK_RESULT_SIZE_MAX + 1);
    assert_status(gh_tasks_finish_begin(&clerk->finish, desk_queue(clerk), task, 1), GH_INVALID_TASK_RESULT);
    task->result = gh_str_make(NULL, 1);
    assert_status(gh_tasks_finish_begin(&clerk->finish, desk_queue(clerk), task, 1), GH_INVALID_TASK_RESULT);
    task->result.size = 0;
    assert_status(gh_tasks_finish_begin(&clerk->finish, desk_queue(clerk), task, 1), GH_OK);
    gh_tasks_finish* second = GAME_NEW(clerk->owner, gh_tasks_finish);
    assert_status(gh_tasks_finish_begin(second, desk_queue(clerk), task, 1), GH_INVALID_TASKS); /* on its way */
    gh_op_cancel(&clerk->finish.op);
    assert_status(gh_op_poll(&clerk->finish.op), GH_CANCELLED);
    assert_status(desk_finish(clerk, task, GH_TASK_ACTION_DONE), GH_OK);
    assert_int_equal(gh_task_remaining_us(NULL, task), 0);
    assert_int_equal(gh_task_remaining_us(client, NULL), 0);
    assert_false(gh_task_set_result(NULL, queue));
}

static gh_status try_rules(desk* clerk, gh_tasks_rules rules)
{
    return gh_tasks_control_begin(&clerk->control, desk_queue(clerk), &rules);
}

static void looking_after_refuses_bad_input(void** state)
{
    (void)state;
    desk* clerk = desk_alone();
    gh_client* client = clerk->owner->client;
    gh_str queue = clerk->queue;
    gh_task_ref ref = {.id = gh_str_literal("a")};
    gh_dead_task letter;
    gh_tasks_dead* dead = GAME_NEW(clerk->owner, gh_tasks_dead);
    const size_t room = GH_TASK_BYTES_MAX + GH_TASK_RESULT_SIZE_MAX;
    assert_status(gh_tasks_cancel_begin(NULL, desk_queue(clerk), &ref, 1), GH_INVALID_OP);
    assert_status(gh_tasks_cancel_begin(&clerk->edit, desk_queue(clerk), NULL, 1), GH_INVALID_TASKS);
    assert_status(gh_tasks_requeue_begin(&clerk->edit, desk_queue(clerk), &ref, 0), GH_INVALID_TASKS);
    assert_status(gh_tasks_requeue_begin(&clerk->edit, desk_queue(clerk), &ref, 101), GH_INVALID_TASKS);
    ref.id.size = 0;
    assert_status(gh_tasks_requeue_begin(&clerk->edit, desk_queue(clerk), &ref, 1), GH_INVALID_TASK_ID);
    assert_status(gh_tasks_control_begin(NULL, desk_queue(clerk), NULL), GH_INVALID_OP);
    assert_status(try_rules(clerk, (gh_tasks_rules){.running_max = GH_TASKS_CAPACITY_MAX + 1}),
                  GH_INVALID_TASK_CAPACITY);
    const gh_tasks_rules wrong[] = {
        {.rate_period_us = SECOND_US},
        {.rate_burst = 1},
        {.rate_count = 1},
        {.rate_count = 1, .rate_period_us = GH_TASKS_RATE_PERIOD_MIN_US - 1},
        {.rate_count = 1, .rate_period_us = GH_TASKS_RATE_PERIOD_MAX_US + 1},
        {.rate_count = 1, .rate_period_us = UINT64_MAX},
        {.rate_count = GH_TASKS_RATE_MAX + 1, .rate_period_us = 3600 * SECOND_US},
        {.rate_count = 1001, .rate_period_us = 1000},
        {.rate_count = 1, .rate_period_us = SECOND_US, .rate_burst = GH_TASKS_RATE_MAX + 1}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_status(try_rules(clerk, wrong[i]), GH_INVALID_TASK_RATE);
    assert_status(gh_tasks_look_begin(NULL, desk_queue(clerk), queue, NULL, 0), GH_INVALID_OP);
    assert_status(gh_tasks_look_begin(&clerk->look, desk_queue(clerk), ref.id, NULL, 0), GH_INVALID_TASK_ID);
    assert_status(gh_tasks_look_begin(&clerk->look, desk_queue(clerk), queue, NULL, 1), GH_INVALID_BUFFER);
    assert_status(gh_tasks_dead_begin(NULL, desk_queue(clerk), 0, &letter, 1, clerk->memory, room), GH_INVALID_OP);
    assert_status(gh_tasks_dead_begin(dead, desk_queue(clerk), 0, NULL, 1, clerk->memory, room), GH_INVALID_TASKS);
    assert_status(gh_tasks_dead_begin(dead, desk_queue(clerk), 0, &letter, 0, clerk->memory, room), GH_INVALID_TASKS);
    assert_status(gh_tasks_dead_begin(dead, desk_queue(clerk), 0, &letter, 1, clerk->memory, room - 1),
                  GH_INVALID_BUFFER);
    assert_status(gh_tasks_count_begin(NULL, desk_queue(clerk)), GH_INVALID_OP);
    assert_status(gh_tasks_count_begin(&clerk->count, queue_made(client, gh_str_make(NULL, 0), NULL)), GH_INVALID_NAME);
    assert_int_equal(game_stats(clerk->owner).ops_begun, 0);
    assert_status(gh_tasks_dead_begin(dead, desk_queue(clerk), UINT64_MAX, &letter, 1, clerk->memory, room), GH_OK);
    GAME_UNTIL(gh_op_poll(&dead->op) != GH_PENDING);
    assert_status(gh_op_poll(&dead->op), GH_OK);
    assert_int_equal(dead->count, 0);
}

static gh_task_action nothing(void* context, gh_task* task)
{
    (void)context;
    (void)task;
    return GH_TASK_ACTION_DONE;
}

static void worker_refuses_bad_input(void** state)
{
    (void)state;
    game* owner = game_start(redis_server_address(redis_server_any()));
    game* other = game_start(redis_server_address(redis_server_any()));
    gh_tasks_worker* worker = GAME_NEW(owner, gh_tasks_worker);
    gh_task slots[2];
    char memory[512];
    gh_task_handler handlers[2] = {{.name = gh_str_literal("a"), .function = nothing},
                                   {.name = gh_str_literal("a"), .function = nothing}};
    gh_queue q, r, once, elsewhere, bad, unmade = GH_ZERO;
    gh_queue_config wrong = gh_queue_config_default();
    gh_tasks_worker_queue queues[2] = {{.queue = &q}, {.queue = &r}};
    gh_tasks_worker_config good = gh_tasks_worker_config_default();
    good.handlers = handlers, good.handler_count = 1, good.queues = queues, good.queue_count = 1;
    good.slots = slots, good.slot_count = 2, good.memory = memory, good.memory_size = sizeof(memory);
    gh_tasks_worker_config config;
    wrong.keep_us = 0;
    assert_status(gh_queue_init(&q, owner->client, gh_str_literal("q"), NULL), GH_OK);
    assert_status(gh_queue_init(&r, owner->client, gh_str_literal("r"), NULL), GH_OK);
    assert_status(gh_queue_init(&once, owner->client, gh_str_literal("q"), NULL), GH_OK);
    assert_status(gh_queue_init(&elsewhere, other->client, gh_str_literal("q"), NULL), GH_OK);
    assert_status(gh_queue_init(&bad, owner->client, gh_str_literal("q"), &wrong), GH_INVALID_TASK_KEEP);
#define TRY(change, expected)                                                                                          \
    config = good;                                                                                                     \
    change;                                                                                                            \
    assert_status(gh_tasks_worker_begin(worker, owner->client, &config), expected)
    assert_status(gh_tasks_worker_begin(NULL, owner->client, &good), GH_INVALID_OP);
    assert_status(gh_tasks_worker_begin(worker, NULL, &good), GH_INVALID_CLIENT);
    assert_status(gh_tasks_worker_begin(worker, owner->client, NULL), GH_INVALID_CONFIG);
    TRY(config.struct_size = 1, GH_INVALID_CONFIG);
    TRY(config.queues = NULL, GH_INVALID_TASK_QUEUES);
    TRY(config.queue_count = 0, GH_INVALID_TASK_QUEUES);
    TRY(config.queue_count = GH_TASKS_QUEUES_MAX + 1, GH_INVALID_TASK_QUEUES);
    const gh_queue* const none[] = {NULL, &unmade, &bad, &elsewhere, &q, &once}; /* the last two: one twice */
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
    {
        queues[1].queue = none[i];
        TRY(config.queue_count = 2, GH_INVALID_TASK_QUEUES);
    }
    queues[1].queue = &r;
    TRY((config.queue_count = 2, queues[1].weight = 1), GH_INVALID_TASK_WEIGHTS);
    queues[1].weight = 0;
    TRY(config.handlers = NULL, GH_INVALID_TASK_HANDLERS);
    TRY(config.handler_count = 2, GH_INVALID_TASK_HANDLERS); /* one twice */
    TRY(config.handler_count = GH_TASKS_HANDLERS_MAX + 1, GH_INVALID_TASK_HANDLERS);
    handlers[1] = (gh_task_handler){.name = gh_str_literal("b")};
    TRY(config.handler_count = 2, GH_INVALID_TASK_HANDLERS); /* no function */
    TRY(config.slots = NULL, GH_INVALID_TASK_SLOTS);
    TRY(config.slot_count = 0, GH_INVALID_TASK_SLOTS);
    TRY(config.slot_count = GH_TASKS_BATCH_MAX + 1, GH_INVALID_TASK_SLOTS);
    TRY(config.memory = NULL, GH_INVALID_TASK_SLOTS);
    for (size_t size = 0; size < sizeof(memory); size++)
    {
        TRY(config.memory_size = size, GH_INVALID_TASK_SLOTS);
    }
    assert_status(gh_op_poll(&worker->op), GH_INVALID_TASK_SLOTS);
    gh_tasks_worker_end(worker);
    gh_tasks_worker_end(NULL);
    TRY((void)0, GH_OK);
    assert_status(gh_tasks_worker_begin(worker, owner->client, &good), GH_INVALID_OP);
    gh_op_cancel(&worker->op);
    GAME_UNTIL(gh_op_poll(&worker->op) == GH_CANCELLED);
#undef TRY
}

/* ---- at the limits ------------------------------------------------------------------------------------- */

static gh_status push_numbered(desk* clerk, gh_task_spec* tasks, char (*ids)[16], size_t count, gh_str payload)
{
    static unsigned serial;
    for (size_t i = 0; i < count; i++)
    {
        snprintf(ids[i], sizeof(ids[i]), "n%u", serial++);
        tasks[i] = (gh_task_spec){.id = gh_str_of(ids[i]), .payload = payload};
    }
    return desk_push_all(clerk, tasks, count);
}

static void capacity_is_exact(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    gh_task_spec tasks[4];
    char ids[4][16];
    clerk->config.capacity = 10;
    for (int i = 0; i < 3; i++)
        assert_status(push_numbered(clerk, tasks, ids, 3, gh_str_literal("")), GH_OK); /* 9 of 10 */
    assert_status(push_numbered(clerk, tasks, ids, 3, gh_str_literal("")), GH_FULL);
    assert_status(tasks[0].status, GH_OK);
    assert_status(tasks[1].status, GH_FULL);
    assert_status(tasks[2].status, GH_FULL);
    assert_int_equal(redis_server_integer(server, "HLEN " KEY "p"), 10);
    assert_int_equal(redis_server_integer(server, "LLEN " KEY "r0"), 10);
    assert_status(desk_take(clerk, 1), GH_OK);
    desk_finish_all(clerk);
    assert_status(push_numbered(clerk, tasks, ids, 1, gh_str_literal("")), GH_OK);
}

static void largest_tasks_pass_as_many_as_a_request_may_have(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.out_bytes = config.reply_bytes = 2 * 1024 * 1024;
    game* owner = game_start_with(&config);
    desk* clerk = desk_open(owner, QUEUE);
    static char payload[GH_TASK_PAYLOAD_SIZE_MAX];
    memset(payload, '7', sizeof(payload));
    gh_str largest = gh_str_make(payload, sizeof(payload));
    gh_task_spec* tasks = GAME_NEW_ARRAY(owner, gh_task_spec, GH_TASKS_BATCH_MAX);
    char(*ids)[16] = (char(*)[16])game_new(owner, GH_TASKS_BATCH_MAX * 16);
    for (int i = 0; i < 8; i++) assert_status(push_numbered(clerk, tasks, ids, 4, largest), GH_OK);
    for (int i = 0; i < 6; i++) tasks[i].payload = largest;
    assert_status(gh_tasks_push_begin(&clerk->push, desk_queue(clerk), tasks, 6), GH_TOO_LARGE);
    unsigned taken = 0;
    while (desk_take(clerk, GH_TASKS_BATCH_MAX) == GH_OK)
    {
        assert_in_range(clerk->take.count, 1, 5);
        for (uint32_t i = 0; i < clerk->take.count; i++, taken++)
        {
            assert_int_equal(clerk->tasks[i].payload.size, sizeof(payload));
            assert_memory_equal(clerk->tasks[i].payload.bytes, payload, sizeof(payload));
        }
        desk_finish_all(clerk);
    }
    assert_int_equal(taken, 32);
    assert_int_equal(game_stats(owner).protocol_errors, 0);
}

/* One task with a group makes it a push that may have fewer. */
static void grouped_pushes_have_their_own_bound(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    gh_task_spec tasks[GH_TASKS_GROUPED_MAX + 1] = {{.group = {"a", 1}}};
    for (size_t count = GH_TASKS_GROUPED_MAX - 1; count <= GH_TASKS_GROUPED_MAX; count++)
        assert_status(desk_push_all(clerk, tasks, count), GH_OK);
    assert_status(gh_tasks_push_begin(&clerk->push, desk_queue(clerk), tasks, GH_TASKS_GROUPED_MAX + 1),
                  GH_INVALID_TASKS);
    tasks[0].group = gh_str_literal("");
    assert_status(desk_push_all(clerk, tasks, GH_TASKS_GROUPED_MAX + 1), GH_OK);
}

static void as_many_tasks_as_may_be_pass_in_each_request(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    gh_task_spec* tasks = GAME_NEW_ARRAY(clerk->owner, gh_task_spec, GH_TASKS_BATCH_MAX);
    gh_task_ref* refs = GAME_NEW_ARRAY(clerk->owner, gh_task_ref, GH_TASKS_BATCH_MAX);
    char(*ids)[16] = (char(*)[16])game_new(clerk->owner, GH_TASKS_BATCH_MAX * 16);
    for (size_t count = GH_TASKS_BATCH_MAX - 1; count <= GH_TASKS_BATCH_MAX; count++)
    {
        assert_status(push_numbered(clerk, tasks, ids, count, gh_str_literal("payload")), GH_OK);
        assert_status(desk_take(clerk, count), GH_OK);
        assert_int_equal(clerk->take.count, count);
        assert_status(desk_extend(clerk), GH_OK);
        for (size_t i = 0; i < count; i++) clerk->tasks[i].action = GH_TASK_ACTION_FAIL;
        assert_status(gh_tasks_finish_begin(&clerk->finish, desk_queue(clerk), clerk->tasks, count), GH_OK);
        GAME_UNTIL(gh_op_poll(&clerk->finish.op) != GH_PENDING);
        for (size_t i = 0; i < count; i++) refs[i].id = tasks[i].id;
        assert_status(gh_tasks_requeue_begin(&clerk->edit, desk_queue(clerk), refs, GH_TASKS_REQUEUE_MAX + 1),
                      GH_INVALID_TASKS);
        for (size_t done = 0, some; done < count; done += some)
        {
            some = count - done < GH_TASKS_REQUEUE_MAX ? count - done : GH_TASKS_REQUEUE_MAX;
            assert_status(gh_tasks_requeue_begin(&clerk->edit, desk_queue(clerk), &refs[done], some), GH_OK);
            GAME_UNTIL(gh_op_poll(&clerk->edit.op) != GH_PENDING);
        }
        assert_int_equal(desk_count(clerk)->ready[0], count);
        assert_status(gh_tasks_cancel_begin(&clerk->edit, desk_queue(clerk), refs, count), GH_OK);
        GAME_UNTIL(gh_op_poll(&clerk->edit.op) != GH_PENDING);
        for (size_t i = 0; i < count; i++) assert_status(refs[i].status, GH_OK);
        assert_status(desk_take(clerk, GH_TASKS_BATCH_MAX), GH_EMPTY);
        assert_int_equal(desk_count(clerk)->stored, 0);
    }
}

enum
{
    LONG_COUNT = 17,
    LONG_STEP = 7
};

/* With names, ids and keys as long as can be: what begin takes has room in the out buffer, down to the last byte. */
static void longest_names_are_told_by_begin(void** state)
{
    (void)state;
    static char payload[LONG_COUNT * 1024];
    static char ids[LONG_COUNT][GH_TASK_ID_SIZE_MAX];
    static gh_task_spec specs[LONG_COUNT];
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.out_bytes = 16384;
    config.prefix = gh_str_literal("12345678901234567890123456789012");
    desk* clerk = desk_open(game_start_with(&config), LONGEST);
    memset(payload, 'x', sizeof payload);
    for (int i = 0; i < LONG_COUNT; i++)
    {
        memset(ids[i], 'a' + i, sizeof ids[i]);
        specs[i] = (gh_task_spec){.id = gh_str_make(ids[i], sizeof ids[i]),
                                  .group = gh_str_literal(LONGEST),
                                  .handler = gh_str_literal(LONGEST),
                                  .delay_us = GH_TASKS_DELAY_MAX_US,
                                  .attempts_max = GH_TASKS_ATTEMPTS_MAX,
                                  .task_class = GH_TASKS_CLASSES - 1,
                                  .unique = GH_TASK_UNIQUE_WHILE_ACTIVE};
    }
    gh_status status = GH_OK;
    int fitted = 0;
    for (size_t size = 0; status == GH_OK; size += LONG_STEP) /* one more byte for each of some of them */
    {
        for (size_t i = 0; i < LONG_COUNT; i++) specs[i].payload = gh_str_make(payload, (size + i) / LONG_COUNT);
        status = gh_tasks_push_begin(&clerk->push, desk_queue(clerk), specs, LONG_COUNT);
        if (status != GH_OK) break;
        fitted++;
        GAME_UNTIL(gh_op_poll(&clerk->push.op) != GH_PENDING);
        assert_status(gh_op_poll(&clerk->push.op), GH_OK);
    }
    assert_status(status, GH_TOO_LARGE);
    assert_true(fitted > 0);
    assert_int_equal(game_stats(clerk->owner).links_lost, 0);
}

static void smallest_client_takes_what_it_can(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.out_bytes = config.reply_bytes = 16384;
    config.reply_nodes = 64;
    config.requests_capacity = 8;
    game* owner = game_start_with(&config);
    desk* clerk = desk_open(owner, QUEUE);
    static char payload[GH_TASK_PAYLOAD_SIZE_MAX];
    gh_task_spec tasks[100];
    char ids[100][16];
    assert_status(push_numbered(clerk, tasks, ids, 50, gh_str_literal("")), GH_OK);
    assert_status(push_numbered(clerk, tasks, ids, 1, gh_str_make(payload, sizeof(payload))), GH_OK);
    assert_status(gh_tasks_push_begin(&clerk->push, desk_queue(clerk),
                                      (gh_task_spec[2]){{.payload = {payload, sizeof(payload)}},
                                                        {.payload = {payload, sizeof(payload)}}},
                                      2),
                  GH_TOO_LARGE);
    unsigned taken = 0;
    while (desk_take(clerk, GH_TASKS_BATCH_MAX) == GH_OK)
    {
        taken += clerk->take.count;
        desk_finish_all(clerk);
    }
    assert_int_equal(taken, 51);
    assert_int_equal(game_stats(owner).protocol_errors, 0);
}

TEST_FILE(tasks_input, cmocka_unit_test(push_refuses_bad_input), cmocka_unit_test(pull_style_refuses_bad_input),
          cmocka_unit_test(looking_after_refuses_bad_input), cmocka_unit_test(worker_refuses_bad_input),
          cmocka_unit_test(capacity_is_exact), cmocka_unit_test(largest_tasks_pass_as_many_as_a_request_may_have),
          cmocka_unit_test(grouped_pushes_have_their_own_bound),
          cmocka_unit_test(as_many_tasks_as_may_be_pass_in_each_request),
          cmocka_unit_test(longest_names_are_told_by_begin), cmocka_unit_test(smallest_client_takes_what_it_can));
