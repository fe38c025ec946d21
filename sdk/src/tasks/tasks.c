/* tasks.c -- a queue, and push. */

#include "base/least.h"
#include "scripts/tasks_scripts.h"
#include "tasks/task_text.h"
#include "tasks_place.h"

#define MS_US      1000ull
#define SECOND_US  1000000ull
#define QUEUE_KIND gh_str_literal("tasks")

/* ---- a queue ------------------------------------------------------------------------------------------- */

static const gh_bound queue_bounds_rows[] = {
    GH_BOUND(gh_queue_config, timeout_us, 5 * SECOND_US, MS_US, 3600 * SECOND_US, GH_INVALID_TIMEOUT),
    GH_BOUND(gh_queue_config, capacity, 1000000, 1, GH_TASKS_CAPACITY_MAX, GH_INVALID_TASK_CAPACITY),
    GH_BOUND(gh_queue_config, attempts_max, 5, 1, GH_TASKS_ATTEMPTS_MAX, GH_INVALID_TASK_ATTEMPTS),
    GH_BOUND(gh_queue_config, lease_us, 5 * SECOND_US, GH_TASKS_LEASE_MIN_US, GH_TASKS_LEASE_MAX_US, GH_INVALID_LEASE),
    GH_BOUND(gh_queue_config, wait_us, 0, 0, GH_TASKS_WAIT_MAX_US, GH_INVALID_WAIT),
    GH_BOUND(gh_queue_config, keep_us, 600 * SECOND_US, GH_TASKS_KEEP_MIN_US, GH_TASKS_KEEP_MAX_US,
             GH_INVALID_TASK_KEEP),
    GH_BOUND(gh_queue_config, backoff_min_us, SECOND_US, MS_US, GH_TASKS_DELAY_MAX_US, GH_INVALID_TASK_BACKOFF),
    GH_BOUND(gh_queue_config, backoff_max_us, 600 * SECOND_US, MS_US, GH_TASKS_DELAY_MAX_US, GH_INVALID_TASK_BACKOFF),
    GH_BOUND(gh_queue_config, count_min, 0, 0, GH_TASKS_COUNT_MIN_MAX, GH_INVALID_TASKS)};
static const gh_bounds queue_bounds = GH_BOUNDS(gh_queue_config, queue_bounds_rows);

gh_queue_config gh_queue_config_default(void)
{
    gh_queue_config config;
    gh_bounds_fill(&queue_bounds, &config);
    return config;
}

static bool queue_weights_fit(const uint32_t* weights)
{
    uint32_t set = 0;
    uint32_t i;
    for (i = 0; i < GH_TASKS_CLASSES; i++)
    {
        if (weights[i] > GH_TASKS_WEIGHT_MAX) return false;
        if (weights[i] > 0) set++;
    }
    return set == 0 || set == GH_TASKS_CLASSES;
}

/* What no row says alone. */
static gh_status queue_problem(const gh_queue_config* config)
{
    if (config->backoff_min_us > config->backoff_max_us) return GH_INVALID_TASK_BACKOFF;
    if (config->weights[0] > 0 && config->count_min > GH_TASKS_WEIGHTED_MIN_MAX) return GH_INVALID_TASKS;
    return queue_weights_fit(config->weights) ? GH_OK : GH_INVALID_TASK_WEIGHTS;
}

gh_status gh_queue_init(gh_queue* queue, gh_client* client, gh_str name, const gh_queue_config* config)
{
    gh_status status =
        gh_object_init((gh_object*)queue, client, name, &queue_bounds, config, offsetof(gh_queue, config));
    return status == GH_OK ? gh_object_made(&queue->object, queue_problem(&queue->config)) : status;
}

/* ---- copies ---------------------------------------------------------------------------------------------- */

uint64_t gh_task_not_after(const gh_op* op)
{
    return gh_least(gh_op_not_after(op), gh_op_store_time(op, gh_client_now(op->client) + GH_TASKS_KEEP_MIN_US));
}

gh_status gh_task_send_again(gh_op* op)
{
    gh_op_send(op, op->flags & (GH_OP_URGENT | GH_OP_MAYBE));
    return GH_PENDING;
}

/* ---- room ------------------------------------------------------------------------------------------------ */

#define TASK_KEYS_MAX    17u                          /* of a push with all there may be, and of a take */
#define TASK_NUMBERS_MAX 12u                          /* numbers, kinds, a token, of a push or a finish */
#define TASK_REQUEST_MAX (GH_TASKS_BYTES_MAX + 8192u) /* and headers                                    */

size_t gh_task_room(const gh_client* client, gh_str queue)
{
    size_t room = gh_client_script_room(client, QUEUE_KIND, queue, TASK_KEYS_MAX, TASK_NUMBERS_MAX);
    return room < TASK_REQUEST_MAX ? room : TASK_REQUEST_MAX;
}

void gh_task_encode_keys(gh_request* request, const gh_op* op, const gh_name* queue, gh_str parts)
{
    gh_request_part_keys(request, op->client, QUEUE_KIND, gh_name_str(queue), parts);
}

/* ---- push ---------------------------------------------------------------------------------------------- */

static gh_tasks_push* push_of(gh_op* op)
{
    return (gh_tasks_push*)(void*)op;
}

static void push_encode_keys(gh_request* request, const gh_tasks_push* push)
{
    gh_task_encode_keys(request, &push->op, &push->queue, gh_str_literal("p m t i"));
    gh_task_encode_keys(request, &push->op, &push->queue, gh_str_make("r0 r1 r2 r3", push->classes * 3 - 1));
    gh_task_encode_keys(request, &push->op, &push->queue, gh_str_make("d0 d1 d2 d3", push->classes * 3 - 1));
    if (push->grouped) gh_task_encode_keys(request, &push->op, &push->queue, gh_str_literal("q g c"));
    if (push->active) gh_task_encode_keys(request, &push->op, &push->queue, gh_str_literal("w x"));
}

/* "3", "3g", "3u", "3gu": classes, and which other keys there are. */
static void push_encode_classes(gh_request* request, const gh_tasks_push* push)
{
    char text[3];
    size_t size = 0;
    text[size++] = (char)('0' + push->classes);
    if (push->grouped) text[size++] = 'g';
    if (push->active) text[size++] = 'u';
    gh_request_str(request, gh_str_make(text, size));
}

/* An id that is made is never another task's. */
static bool push_is_active(const gh_task_spec* task)
{
    return task->unique == GH_TASK_UNIQUE_WHILE_ACTIVE && task->id.size > 0;
}

/* What tells a repeat where ids do not. */
static void push_encode_mark(gh_request* request, const gh_tasks_push* push)
{
    char kinds[GH_TASKS_BATCH_MAX];
    uint32_t i;
    for (i = 0; i < push->count; i++) kinds[i] = push_is_active(&push->tasks[i]) ? 'a' : 'k';
    gh_request_op_token(request, &push->op);
    gh_request_number(request, gh_task_receipt_us(push->op.client, push->timeout_us));
    gh_request_number(request, gh_op_sent_twice(&push->op) ? 1 : 0);
    gh_request_str(request, gh_str_make(kinds, push->count));
}

static void push_encode(gh_op* op, gh_request* request)
{
    const gh_tasks_push* push = push_of(op);
    char id[GH_TASK_ID_TEXT_SIZE];
    uint32_t i;
    gh_request_op_script(request, op, 2 * push->classes + (push->grouped ? 3 : 0) + (push->active ? 2 : 0),
                         3 * push->count + (push->active ? 4 : 0));
    push_encode_keys(request, push);
    if (gh_request_is_route(request)) return;
    gh_request_number(request, op->sequence);
    gh_request_number(request, push->capacity);
    gh_request_number(request, gh_task_not_after(op));
    push_encode_classes(request, push);
    for (i = 0; i < push->count; i++) gh_request_str(request, gh_str_make(id, gh_tasks_push_id(push, i, id)));
    for (i = 0; i < push->count; i++) gh_request_number(request, push->tasks[i].delay_us);
    for (i = 0; i < push->count; i++)
    {
        const gh_task_spec* task = &push->tasks[i];
        gh_task_text text = {0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}};
        text.task_class = task->task_class;
        text.attempts_max = task->attempts_max == 0 ? push->attempts_max : task->attempts_max;
        text.group = task->group;
        text.handler = task->handler;
        text.payload = task->payload;
        gh_request_task(request, &text);
    }
    if (push->active) push_encode_mark(request, push);
}

/* An id that we made and that the store knows already came from an earlier try of this op, whose answer was
   lost. What there was no room for may be stored by an earlier try yet. An earlier try that was stopped half-way
   tells no more than that it may be stored. */
static gh_status push_outcome(const gh_op* op, const gh_task_spec* task, char code)
{
    switch (code)
    {
    case GH_TASKS_PUSH_TAKEN: return GH_OK;
    case GH_TASKS_PUSH_EXISTS: return task->id.size == 0 ? GH_OK : GH_EXISTS;
    case GH_TASKS_PUSH_DIFFERS: return task->id.size == 0 ? GH_OK : GH_DIFFERS;
    case GH_TASKS_PUSH_FULL: return gh_op_refused(op, GH_FULL);
    case GH_TASKS_PUSH_UNSURE: return GH_UNKNOWN;
    default: return gh_op_outcome(op, GH_REASON_UNUSABLE);
    }
}

static gh_status push_answer(gh_op* op, const gh_event* event)
{
    gh_tasks_push* push = push_of(op);
    gh_str codes = gh_reply_text(event->reply, GH_TASKS_PUSH_CODES);
    gh_status outcome = GH_OK;
    uint32_t i;
    if (codes.size == 0) return gh_task_send_again(op);
    if (codes.size != push->count) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    for (i = 0; i < push->count; i++)
    {
        gh_status status = push_outcome(op, &push->tasks[i], codes.bytes[i]);
        push->tasks[i].status = status;
        if (status == GH_UNKNOWN || (status == GH_FULL && outcome == GH_OK)) outcome = status;
    }
    return outcome;
}

static const gh_op_kind push_kind = {.name = "tasks_push",
                                     .borrows = true,
                                     .step = gh_call_step,
                                     .encode = push_encode,
                                     .text = &gh_tasks_push_lua,
                                     .effect = GH_OP_CHANGES,
                                     .answer = push_answer};

static gh_status check_task_new(const gh_task_spec* task)
{
    if (!gh_task_bytes_fit(task->id, GH_TASK_ID_SIZE_MAX)) return GH_INVALID_TASK_ID;
    if (task->id.size > 0 && memchr(task->id.bytes, 0, task->id.size) != NULL) return GH_INVALID_TASK_ID;
    if (!gh_task_bytes_fit(task->group, GH_TASK_GROUP_SIZE_MAX)) return GH_INVALID_TASK_GROUP;
    if (task->group.size > 0 && memchr(task->group.bytes, 0, task->group.size) != NULL) return GH_INVALID_TASK_GROUP;
    if (!gh_task_bytes_fit(task->handler, GH_NAME_SIZE_MAX)) return GH_INVALID_TASK_HANDLER;
    if (!gh_task_bytes_fit(task->payload, GH_TASK_PAYLOAD_SIZE_MAX)) return GH_INVALID_TASK_PAYLOAD;
    if (task->delay_us > GH_TASKS_DELAY_MAX_US) return GH_INVALID_TASK_DELAY;
    if (task->task_class >= GH_TASKS_CLASSES) return GH_INVALID_TASK_CLASS;
    if ((unsigned)task->unique > GH_TASK_UNIQUE_WHILE_ACTIVE) return GH_INVALID_TASK_UNIQUE;
    return task->attempts_max > GH_TASKS_ATTEMPTS_MAX ? GH_INVALID_TASK_ATTEMPTS : GH_OK;
}

static size_t push_size(const gh_task_spec* task)
{
    return gh_request_str_size(task->id.size == 0 ? GH_TASK_MADE_ID_MAX : task->id.size) + gh_request_str_size(20) +
           gh_request_str_size(GH_TASK_TEXT_HEADER_MAX + task->group.size + task->handler.size + task->payload.size);
}

static gh_status check_push(const gh_client* client, gh_str queue, const gh_task_spec* tasks, size_t count,
                            uint32_t* classes)
{
    size_t room = gh_task_room(client, queue);
    size_t i;
    *classes = 1;
    if (tasks == NULL || count == 0 || count > GH_TASKS_BATCH_MAX) return GH_INVALID_TASKS;
    for (i = 0; i < count; i++)
    {
        gh_status status = check_task_new(&tasks[i]);
        if (status != GH_OK) return status;
        if (tasks[i].task_class >= *classes) *classes = tasks[i].task_class + 1;
    }
    for (i = 0; i < count; i++)
    {
        if (tasks[i].group.size > 0 && count > GH_TASKS_GROUPED_MAX) return GH_INVALID_TASKS;
        if (push_size(&tasks[i]) > room) return GH_TOO_LARGE;
        room -= push_size(&tasks[i]);
    }
    return GH_OK;
}

static gh_status tasks_push_try(gh_tasks_push* op, const gh_queue* queue, gh_task_spec* tasks, size_t count)
{
    gh_client* client;
    uint32_t classes;
    size_t i;
    gh_status status = gh_object_check((gh_op*)op, gh_queue_object(queue));
    if (status != GH_OK) return status;
    client = queue->object.client;
    status = check_push(client, gh_name_str(&queue->object.name), tasks, count, &classes);
    if (status != GH_OK) return status;
    op->queue = queue->object.name;
    op->tasks = tasks;
    op->count = (uint32_t)count;
    op->capacity = queue->config.capacity;
    op->attempts_max = queue->config.attempts_max;
    op->classes = classes;
    op->maker = gh_client_id(client);
    op->timeout_us = queue->config.timeout_us;
    op->grouped = op->active = false;
    for (i = 0; i < count; i++)
    {
        tasks[i].status = GH_PENDING;
        if (tasks[i].group.size > 0) op->grouped = true;
        if (push_is_active(&tasks[i])) op->active = true;
    }
    if (op->active) op->classes = GH_TASKS_CLASSES; /* what a cancelled one has left may be in any */
    gh_call_begin(&op->op, client, &push_kind, op->timeout_us, 0);
    return GH_OK;
}

gh_status gh_tasks_push_begin(gh_tasks_push* op, const gh_queue* queue, gh_task_spec* tasks, size_t count)
{
    gh_status status = tasks_push_try(op, queue, tasks, count);
    return gh_object_begun((gh_op*)op, gh_queue_object(queue), status);
}

size_t gh_tasks_push_id(const gh_tasks_push* op, size_t i, char out[GH_TASK_ID_TEXT_SIZE])
{
    size_t size;
    if (op == NULL || out == NULL || op->op.kind != &push_kind || i >= op->count) return 0;
    size = op->tasks[i].id.size;
    if (size > 0) memcpy(out, op->tasks[i].id.bytes, size);
    else size = gh_task_make_id(op->maker, op->op.sequence, (uint32_t)i, out);
    out[size] = 0;
    return size;
}
