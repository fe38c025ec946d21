/* ops_tasks.c -- pushes, takes and what follows them, workers, and what administrators do. */

#include "ops.h"

static void draw_queue(gh_queue* made, ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_queue_config config = gh_queue_config_default();
    config.timeout_us = ops_time(input, config.timeout_us);
    config.lease_us = ops_time(input, 500000);
    config.wait_us = fuzz_bit(input) ? 0 : ops_time(input, WORLD_SECOND_US);
    if (fuzz_byte(input) > 224) config.count_min = (uint32_t)ops_vary(input, 2);
    if (fuzz_byte(input) > 224)
        for (int i = 0; i < GH_TASKS_CLASSES; i++) config.weights[i] = 1 + fuzz_below(input, 100);
    OPS_VARY(input, config.capacity, uint32_t);
    OPS_VARY(input, config.attempts_max, uint32_t);
    gh_queue_init(made, client, ops_name(place, input), &config);
}

static void draw_spec(gh_task_spec* spec, ops_place* place, fuzz_input* input)
{
    if (fuzz_bit(input)) spec->id = ops_lent_name(place, input);
    if (fuzz_bit(input)) spec->handler = ops_lent_name(place, input);
    if (fuzz_bit(input)) spec->group = ops_lent_name(place, input);
    spec->payload = ops_lent_text(place, input, 200);
    if (fuzz_byte(input) > 128) spec->delay_us = ops_time(input, WORLD_SECOND_US);
    spec->task_class = fuzz_below(input, GH_TASKS_CLASSES);
    spec->unique = fuzz_bit(input) ? GH_TASK_UNIQUE_WHILE_ACTIVE : GH_TASK_UNIQUE_FOR_KEEP;
}

static gh_status push_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_queue queue;
    draw_queue(&queue, place, client, input);
    const size_t count = ops_count(input, 5), there = count > 6 ? 0 : count;
    gh_task_spec* specs = OPS_LEND_ARRAY(place, gh_task_spec, there);
    for (size_t i = 0; i < there; i++) draw_spec(&specs[i], place, input);
    return gh_tasks_push_begin(OPS_OP(place, gh_tasks_push), &queue, specs, count);
}

static void push_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    char id[GH_TASK_ID_TEXT_SIZE];
    (void)client;
    if (place->ended == GH_PENDING && !gh_op_is_busy(place->op)) return; /* it was refused */
    const size_t size = gh_tasks_push_id((const gh_tasks_push*)place->op, fuzz_below(input, 8), id);
    FUZZ_MUST(size < sizeof(id) && (size == 0 || id[size] == 0));
}

/* ---- taking by hand ---------------------------------------------------------------------------------------------- */

#define TAKEN_MAX 3u

/* A take, and the finish or the extend of what it brought. */
typedef struct taking
{
    gh_queue queue;
    gh_task* tasks;
    gh_tasks_finish* finish;
    gh_tasks_extend* extend;
} taking;

static gh_status take_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    taking* more = place->more = OPS_LEND(place, taking);
    size_t size;
    draw_queue(&more->queue, place, client, input);
    const size_t count = ops_count(input, TAKEN_MAX);
    more->tasks = OPS_LEND_ARRAY(place, gh_task, TAKEN_MAX);
    more->finish = OPS_LEND(place, gh_tasks_finish);
    more->extend = OPS_LEND(place, gh_tasks_extend);
    void* memory = ops_room(place, input, GH_TASK_BYTES_MAX, &size);
    return gh_tasks_take_begin(OPS_OP(place, gh_tasks_take), &more->queue, more->tasks, count > TAKEN_MAX ? 0 : count,
                               memory, size);
}

static void touch_task(const gh_task* task)
{
    fuzz_touch(task->id);
    fuzz_touch(task->group);
    fuzz_touch(task->handler);
    fuzz_touch(task->payload);
    FUZZ_MUST(task->id.size <= GH_TASK_ID_SIZE_MAX && task->task_class < GH_TASKS_CLASSES);
}

static void take_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_tasks_take* take = (const gh_tasks_take*)place->op;
    taking* more = place->more;
    if (gh_op_is_busy(&take->op) || gh_op_poll(&take->op) != GH_OK) return;
    FUZZ_MUST(take->count >= 1 && take->count <= TAKEN_MAX);
    for (uint32_t i = 0; i < take->count; i++) touch_task(&more->tasks[i]);
    if (client == NULL || gh_op_is_busy(&more->finish->op) || gh_op_is_busy(&more->extend->op)) return;
    gh_task_remaining_us(client, &more->tasks[0]);
    if (fuzz_bit(input))
    {
        gh_tasks_extend_begin(more->extend, &more->queue, more->tasks, take->count);
        return;
    }
    for (uint32_t i = 0; i < take->count; i++)
    {
        more->tasks[i].action = (gh_task_action)(fuzz_byte(input) % 5);
        if (fuzz_bit(input)) more->tasks[i].delay_us = ops_vary(input, 1000);
        if (fuzz_bit(input) && place->lent_count < OPS_LENT_MAX - 8)
            more->tasks[i].result = ops_lent_text(place, input, 100);
    }
    gh_tasks_finish_begin(more->finish, &more->queue, more->tasks, take->count);
}

static bool take_leave(ops_place* place)
{
    taking* more = place->more;
    gh_op_detach(&more->finish->op);
    gh_op_detach(&more->extend->op);
    gh_op_detach(place->op);
    return true;
}

/* ---- a worker ---------------------------------------------------------------------------------------------------- */

#define WORKER_SLOTS 3u

static fuzz_input worker_dice; /* what handlers do; set before each use */

static gh_task_action handle(void* context, gh_task* task)
{
    (void)context;
    touch_task(task);
    const uint8_t how = fuzz_byte(&worker_dice);
    if (task->status != GH_LOST && (how & 32) != 0) gh_task_set_result(task, gh_str_literal("some result"));
    if ((how & 64) != 0) task->again_us = 5000;
    return (gh_task_action)(how % 6); /* the last is none */
}

static gh_status worker_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_tasks_worker_config config = gh_tasks_worker_config_default();
    const size_t queues = ops_count(input, 2), there = queues > 3 ? 0 : queues;
    config.queues = OPS_LEND_ARRAY(place, gh_tasks_worker_queue, there);
    config.queue_count = there;
    const uint32_t weight = fuzz_bit(input) ? 0 : 1 + fuzz_below(input, 100);
    for (size_t i = 0; i < there; i++)
    {
        gh_queue* queue = OPS_LEND(place, gh_queue);
        draw_queue(queue, place, client, input);
        config.queues[i].queue = queue;
        config.queues[i].weight = weight;
    }
    config.handlers = OPS_LEND_ARRAY(place, gh_task_handler, 2);
    config.handler_count = 1 + fuzz_below(input, 2);
    config.handlers[0].name = ops_lent_name(place, input);
    config.handlers[0].function = config.handlers[1].function = handle;
    config.slots = OPS_LEND_ARRAY(place, gh_task, WORKER_SLOTS);
    config.slot_count = ops_count(input, WORKER_SLOTS);
    if (config.slot_count > WORKER_SLOTS) config.slot_count = 0;
    config.memory = ops_room(place, input, WORKER_SLOTS * 512, &config.memory_size);
    return gh_tasks_worker_begin(OPS_OP(place, gh_tasks_worker), client, &config);
}

static void worker_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_tasks_worker* worker = (const gh_tasks_worker*)place->op;
    (void)client;
    worker_dice = *input;
    FUZZ_MUST(worker->running <= WORKER_SLOTS);
    if (fuzz_byte(input) > 192) gh_tasks_worker_end((gh_tasks_worker*)place->op);
}

/* ---- administrators ---------------------------------------------------------------------------------------------- */

static gh_status edit_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_queue queue;
    draw_queue(&queue, place, client, input);
    const size_t count = ops_count(input, 4), there = count > 5 ? 0 : count;
    gh_task_ref* refs = OPS_LEND_ARRAY(place, gh_task_ref, there);
    for (size_t i = 0; i < there; i++) refs[i].id = ops_lent_name(place, input);
    gh_tasks_edit* edit = OPS_OP(place, gh_tasks_edit);
    return fuzz_bit(input) ? gh_tasks_cancel_begin(edit, &queue, refs, count)
                           : gh_tasks_requeue_begin(edit, &queue, refs, count);
}

static gh_status control_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_queue queue;
    gh_tasks_rules rules = GH_ZERO;
    draw_queue(&queue, place, client, input);
    rules.paused = fuzz_bit(input);
    rules.running_max = (uint32_t)ops_vary(input, 3);
    if (fuzz_bit(input)) rules.rate_count = (uint32_t)ops_vary(input, 5);
    if (rules.rate_count > 0) rules.rate_period_us = ops_time(input, WORLD_SECOND_US);
    return gh_tasks_control_begin(OPS_OP(place, gh_tasks_control), &queue, fuzz_bit(input) ? NULL : &rules);
}

static gh_status look_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_queue queue;
    size_t size;
    draw_queue(&queue, place, client, input);
    void* memory = ops_room(place, input, 64, &size);
    return gh_tasks_look_begin(OPS_OP(place, gh_tasks_look), &queue, ops_name(place, input), memory, size);
}

static void look_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_tasks_look* look = (const gh_tasks_look*)place->op;
    (void)client;
    (void)input;
    if (gh_op_poll(&look->op) != GH_OK) return;
    FUZZ_MUST(look->state <= GH_TASK_STATE_CANCELLED);
    fuzz_touch(look->text);
    fuzz_touch(look->group);
}

static gh_status dead_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_queue queue;
    size_t size;
    draw_queue(&queue, place, client, input);
    const size_t count = ops_count(input, 3), there = count > 4 ? 0 : count;
    gh_dead_task* letters = OPS_LEND_ARRAY(place, gh_dead_task, there);
    void* memory = ops_room(place, input, GH_TASK_BYTES_MAX + GH_TASK_RESULT_SIZE_MAX, &size);
    place->more = letters;
    return gh_tasks_dead_begin(OPS_OP(place, gh_tasks_dead), &queue, ops_vary(input, 0), letters, count, memory, size);
}

static void dead_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_tasks_dead* dead = (const gh_tasks_dead*)place->op;
    const gh_dead_task* letters = place->more;
    (void)client;
    (void)input;
    if (gh_op_poll(&dead->op) != GH_OK) return;
    FUZZ_MUST(dead->count <= 4);
    for (uint32_t i = 0; i < dead->count; i++)
    {
        fuzz_touch(letters[i].id);
        fuzz_touch(letters[i].group);
        fuzz_touch(letters[i].handler);
        fuzz_touch(letters[i].payload);
        fuzz_touch(letters[i].reason);
    }
}

static gh_status count_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_queue queue;
    draw_queue(&queue, place, client, input);
    return gh_tasks_count_begin(OPS_OP(place, gh_tasks_count), &queue);
}

const ops_kind ops_tasks[] = {
    {"tasks push", push_begin, push_use, NULL},
    {"tasks take", take_begin, take_use, take_leave},
    {"tasks worker", worker_begin, worker_use, NULL},
    {"tasks edit", edit_begin, NULL, NULL},
    {"tasks control", control_begin, NULL, NULL},
    {"tasks look", look_begin, look_use, NULL},
    {"tasks dead", dead_begin, dead_use, NULL},
    {"tasks count", count_begin, NULL, NULL},
    {NULL, NULL, NULL, NULL},
};
