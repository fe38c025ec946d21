/* tasks_finish.c -- what became of tasks that were handed out, and more time for those that go on. */

#include "tasks_place.h"
#include "client/waiter.h"
#include "scripts/tasks_scripts.h"
#include "wire/name.h"
#include "tasks/task_text.h"

#define RECEIPT_SIZE_MAX 76u

static gh_tasks_finish* finish_of(gh_op* op)
{
    return (gh_tasks_finish*)(void*)op;
}

static char finish_kind_of(const gh_task* task)
{
    switch (task->action)
    {
    case GH_TASK_ACTION_DONE: return task->result.size > 0 ? 'D' : 'd';
    case GH_TASK_ACTION_RETRY: return 'r';
    case GH_TASK_ACTION_FAIL: return 'f';
    case GH_TASK_ACTION_GIVE_BACK:
    case GH_TASK_ACTION_CONTINUE: break;
    }
    return 'b';
}

static bool finish_has(const gh_tasks_finish* finish, uint32_t i)
{
    return (finish->tasks[i].sending & GH_TASK_SENDING_FINISH) != 0;
}

static void task_encode_ids(gh_request* request, const gh_task* tasks, uint32_t count, uint8_t flag)
{
    uint32_t i;
    for (i = 0; i < count; i++)
        if ((tasks[i].sending & flag) != 0) gh_request_str(request, tasks[i].id);
    for (i = 0; i < count; i++)
        if ((tasks[i].sending & flag) != 0)
            gh_request_task_receipt(request, tasks[i].attempt, tasks[i].fence, tasks[i].taker_client,
                                    tasks[i].taker_sequence);
}

static void finish_encode_field(gh_request* request, const gh_tasks_finish* finish)
{
    char field[GH_TOKEN_SIZE + 1];
    *gh_token_encode(finish->field_client, finish->field_sequence, field) = 'f';
    gh_request_str(request, gh_str_make(field, sizeof field));
}

static uint32_t finish_kinds(const gh_tasks_finish* finish, char* kinds, uint32_t* extras)
{
    uint32_t count = 0;
    uint32_t i;
    *extras = 0;
    for (i = 0; i < finish->task_count; i++)
    {
        if (!finish_has(finish, i)) continue;
        kinds[count] = finish_kind_of(&finish->tasks[i]);
        *extras += kinds[count] == 'r' ? 2 : kinds[count] == 'D' || kinds[count] == 'f' ? 1 : 0;
        count++;
    }
    return count;
}

static void finish_encode(gh_op* op, gh_request* request)
{
    const gh_tasks_finish* finish = finish_of(op);
    char kinds[GH_TASKS_BATCH_MAX];
    uint32_t extras;
    uint32_t count = finish_kinds(finish, kinds, &extras);
    uint32_t i;
    gh_request_op_script(request, op, 0, 2 * count + extras);
    gh_task_encode_keys(request, op, &finish->queue, gh_str_literal("w m l p t x i d0 d1 d2 d3"));
    if (gh_request_is_route(request)) return;
    finish_encode_field(request, finish);
    gh_request_number(request, op->sequence);
    gh_request_number(request, finish->keep_us);
    gh_request_str(request, gh_str_make(kinds, count));
    gh_request_number(request, gh_task_receipt_us(op->client, finish->timeout_us));
    gh_request_number(request, gh_op_generation(op));
    task_encode_ids(request, finish->tasks, finish->task_count, GH_TASK_SENDING_FINISH);
    for (i = 0; i < finish->task_count; i++)
    {
        char kind = finish_kind_of(&finish->tasks[i]);
        if (!finish_has(finish, i)) continue;
        if (kind == 'r') gh_request_number(request, finish->tasks[i].pause_us);
        if (kind == 'r' || kind == 'f' || kind == 'D') gh_request_str(request, finish->tasks[i].result);
    }
}

static gh_status finish_outcome(char code)
{
    switch (code)
    {
    case GH_TASKS_FINISH_AS_ASKED: return GH_OK;
    case GH_TASKS_FINISH_DEAD: return GH_DEAD;
    case GH_TASKS_FINISH_CANCELLED: return GH_CANCELLED;
    case GH_TASKS_FINISH_LOST: return GH_LOST;
    default: return GH_UNKNOWN;
    }
}

/* GH_PENDING: another attempt comes. GH_LOST: nothing has become of this attempt that anybody should know. */
static gh_status finish_end_of(const gh_task* task)
{
    if (task->status == GH_DEAD) return GH_DEAD;
    if (task->status != GH_OK) return GH_LOST;
    switch (task->action)
    {
    case GH_TASK_ACTION_DONE: return GH_OK;
    case GH_TASK_ACTION_RETRY: return GH_PENDING;
    case GH_TASK_ACTION_FAIL: return GH_DEAD;
    case GH_TASK_ACTION_GIVE_BACK:
    case GH_TASK_ACTION_CONTINUE: break;
    }
    return GH_LOST;
}

static void finish_trace(const gh_tasks_finish* finish, const gh_task* task)
{
    gh_trace_event event;
    gh_status end = finish_end_of(task);
    if (end == GH_LOST) return;
    memset(&event, 0, sizeof event);
    event.kind = GH_TRACE_TASK;
    event.status = end;
    event.queue = gh_name_str(&finish->queue);
    event.handler = task->handler;
    event.id = task->id;
    event.result = task->result;
    event.attempt = task->attempt;
    gh_op_trace(&finish->op, &event);
}

static gh_status finish_answer(gh_op* op, const gh_event* event)
{
    gh_tasks_finish* finish = finish_of(op);
    gh_str codes = gh_reply_text(event->reply, GH_TASKS_FINISH_CODES);
    gh_status outcome = GH_OK;
    uint32_t at = 0;
    uint32_t i;
    if (codes.size != finish->sending) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    for (i = 0; i < finish->task_count; i++)
    {
        if (!finish_has(finish, i)) continue;
        finish->tasks[i].status = finish_outcome(codes.bytes[at++]);
        if (finish->tasks[i].status == GH_UNKNOWN) outcome = gh_op_outcome(op, GH_REASON_UNUSABLE);
        finish->tasks[i].state = GH_TASK_PLACE_FREE;
        finish_trace(finish, &finish->tasks[i]);
    }
    return outcome;
}

/* Once the op is over, its tasks may be part of another request. */
static void task_release(const gh_op* op, gh_task* tasks, uint32_t count, uint8_t flag)
{
    uint32_t i;
    if (gh_op_is_busy(op)) return;
    for (i = 0; i < count; i++) tasks[i].sending &= (uint8_t)~flag;
}

static void finish_step(gh_op* op, const gh_event* event)
{
    const gh_tasks_finish* finish = finish_of(op);
    gh_call_step(op, event);
    task_release(op, finish->tasks, finish->task_count, GH_TASK_SENDING_FINISH);
}

static gh_op* finish_owner(const gh_op* op)
{
    return ((const gh_tasks_finish*)(const void*)op)->owner;
}

static const gh_op_kind finish_kind = {.name = "tasks_finish",
                                       .borrows = true,
                                       .step = finish_step,
                                       .encode = finish_encode,
                                       .text = &gh_tasks_finish_lua,
                                       .effect = GH_OP_CHANGES,
                                       .answer = finish_answer,
                                       .owner = finish_owner};

static bool finish_wants(const gh_tasks_finish* op, const gh_task* task)
{
    if (task->state == GH_TASK_PLACE_FREE || task->action == GH_TASK_ACTION_CONTINUE) return false;
    return op->owner == NULL || (task->state == GH_TASK_PLACE_ENDED && task->queue == op->queue_index);
}

static gh_status check_finished(const gh_task* task)
{
    if (task->action > GH_TASK_ACTION_GIVE_BACK) return GH_INVALID_TASK_ACTION;
    if (task->delay_us > GH_TASKS_DELAY_MAX_US) return GH_INVALID_TASK_DELAY;
    return gh_task_bytes_fit(task->result, GH_TASK_RESULT_SIZE_MAX) ? GH_OK : GH_INVALID_TASK_RESULT;
}

/* What it takes of the request, and what the script reads for it: the value of a task that runs again. */
static size_t finish_size(const gh_task* task)
{
    bool again = task->action == GH_TASK_ACTION_RETRY || task->action == GH_TASK_ACTION_GIVE_BACK;
    size_t value_size = task->status == GH_TOO_SMALL ? GH_TASK_PAYLOAD_SIZE_MAX : task->payload.size;
    return (again ? value_size : 0) + gh_request_str_size(task->id.size) + gh_request_str_size(RECEIPT_SIZE_MAX) +
           gh_request_str_size(20) + gh_request_str_size(task->result.size) + 8;
}

/* How many of them go into one request: all, or, for a worker, as many as there is room for. */
static gh_status check_finish(const gh_tasks_finish* op, const gh_client* client, gh_str queue, const gh_task* tasks,
                              size_t count, uint32_t* fit)
{
    size_t room = gh_task_room(client, queue);
    bool full = false;
    size_t i;
    *fit = 0;
    if (tasks == NULL || count == 0 || count > GH_TASKS_BATCH_MAX) return GH_INVALID_TASKS;
    for (i = 0; i < count; i++)
    {
        gh_status status;
        size_t size;
        if ((tasks[i].sending & GH_TASK_SENDING_FINISH) != 0) return GH_INVALID_TASKS;
        if (!finish_wants(op, &tasks[i])) continue;
        status = check_finished(&tasks[i]);
        if (status != GH_OK) return status;
        size = finish_size(&tasks[i]);
        full = full || size > room;
        if (full) continue;
        room -= size;
        ++*fit;
    }
    if (full && (op->owner == NULL || *fit == 0)) return GH_TOO_LARGE;
    return *fit == 0 ? GH_INVALID_TASKS : GH_OK;
}

/* The pause before the next attempt: doubles with each, drawn from its upper half. */
static uint64_t finish_backoff(gh_client* client, const gh_task* task, const gh_queue_config* config)
{
    uint64_t pause_us = config->backoff_min_us;
    uint32_t i;
    if (task->delay_us > 0) return task->delay_us;
    for (i = 1; i < task->attempt && pause_us < config->backoff_max_us; i++) pause_us *= 2;
    return gh_client_jitter(client, pause_us < config->backoff_max_us ? pause_us : config->backoff_max_us);
}

static void finish_set_up(gh_tasks_finish* op, gh_client* client, gh_task* tasks, size_t count, uint32_t fit,
                          const gh_queue_config* config)
{
    size_t i;
    op->tasks = tasks;
    op->task_count = (uint8_t)count;
    op->keep_us = config->keep_us;
    op->timeout_us = config->timeout_us;
    op->sending = 0;
    for (i = 0; i < count && op->sending < fit; i++)
    {
        if (!finish_wants(op, &tasks[i])) continue;
        tasks[i].sending |= GH_TASK_SENDING_FINISH;
        tasks[i].pause_us = finish_backoff(client, &tasks[i], config);
        op->sending++;
    }
}

static gh_status tasks_finish_try(gh_tasks_finish* op, const gh_queue* queue, gh_task* tasks, size_t count)
{
    gh_client* client;
    uint32_t fit;
    gh_status status = gh_object_check((gh_op*)op, gh_queue_object(queue));
    if (status == GH_CLOSED && op->leaving) status = GH_OK;
    if (status != GH_OK) return status;
    client = queue->object.client;
    status = check_finish(op, client, gh_name_str(&queue->object.name), tasks, count, &fit);
    if (status != GH_OK) return status;
    op->queue = queue->object.name;
    finish_set_up(op, client, tasks, count, fit, &queue->config);
    gh_call_begin(&op->op, client, &finish_kind, op->timeout_us, GH_OP_URGENT);
    if (op->field_client != gh_client_id(client))
    {
        op->field_client = gh_client_id(client);
        op->field_sequence = op->op.sequence;
    }
    return GH_OK;
}

gh_status gh_tasks_finish_begin(gh_tasks_finish* op, const gh_queue* queue, gh_task* tasks, size_t count)
{
    gh_status status = tasks_finish_try(op, queue, tasks, count);
    return gh_object_begun((gh_op*)op, gh_queue_object(queue), status);
}

/* ---- extend -------------------------------------------------------------------------------------------- */

static gh_tasks_extend* extend_of(gh_op* op)
{
    return (gh_tasks_extend*)(void*)op;
}

static void extend_encode(gh_op* op, gh_request* request)
{
    const gh_tasks_extend* extend = extend_of(op);
    gh_request_op_script(request, op, 0, 2u * extend->sending);
    gh_task_encode_keys(request, op, &extend->queue, gh_str_literal("m l"));
    if (gh_request_is_route(request)) return;
    gh_request_number(request, op->sequence);
    gh_request_number(request, extend->lease_us);
    task_encode_ids(request, extend->tasks, extend->task_count, GH_TASK_SENDING_EXTEND);
}

/* False: not a code of tasks_renew.lua. A task that was finished meanwhile is not ours any more, and that is
   as it should. */
static bool extend_one(gh_task* task, char code, uint64_t lease_end_us, uint64_t renew_us, uint64_t generation)
{
    if (code != GH_TASKS_RENEW_RENEWED && code != GH_TASKS_RENEW_CANCELLED && code != GH_TASKS_RENEW_LOST) return false;
    if (task->state == GH_TASK_PLACE_FREE || (task->sending & GH_TASK_SENDING_FINISH) != 0) return true;
    if (code == GH_TASKS_RENEW_CANCELLED) task->status = GH_CANCELLED;
    if (code == GH_TASKS_RENEW_LOST)
    {
        task->status = GH_LOST;
        task->lease_end_us = 0;
        return true;
    }
    if (lease_end_us > task->lease_end_us) task->lease_end_us = lease_end_us;
    task->renew_us = renew_us;
    task->generation = generation;
    return true;
}

static gh_status extend_answer(gh_op* op, const gh_event* event)
{
    gh_tasks_extend* extend = extend_of(op);
    gh_str codes = gh_reply_text(event->reply, GH_TASKS_RENEW_CODES);
    uint64_t lease_end_us = gh_lease_end(extend->lease_us, event->sent_us, extend->lease_us);
    uint32_t at = 0;
    uint32_t i;
    if (codes.size != extend->sending) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    for (i = 0; i < extend->task_count; i++)
    {
        gh_task* task = &extend->tasks[i];
        if ((task->sending & GH_TASK_SENDING_EXTEND) == 0) continue;
        if (!extend_one(task, codes.bytes[at++], lease_end_us, gh_client_after(op->client, extend->lease_us / 3),
                        event->generation))
            return gh_op_outcome(op, GH_REASON_UNUSABLE);
        if (extend->owner == NULL && task->status == GH_LOST) task->state = GH_TASK_PLACE_FREE;
    }
    return GH_OK;
}

static void extend_step(gh_op* op, const gh_event* event)
{
    const gh_tasks_extend* extend = extend_of(op);
    gh_call_step(op, event);
    task_release(op, extend->tasks, extend->task_count, GH_TASK_SENDING_EXTEND);
}

static gh_op* extend_owner(const gh_op* op)
{
    return ((const gh_tasks_extend*)(const void*)op)->owner;
}

static const gh_op_kind extend_kind = {.name = "tasks_extend",
                                       .borrows = true,
                                       .step = extend_step,
                                       .encode = extend_encode,
                                       .text = &gh_tasks_renew_lua,
                                       .effect = GH_OP_CHANGES,
                                       .answer = extend_answer,
                                       .owner = extend_owner};

static bool extend_wants(const gh_tasks_extend* op, const gh_task* task)
{
    return gh_task_is_kept(task) && (op->owner == NULL || task->queue == op->queue_index);
}

/* As check_finish. */
static gh_status check_extend(const gh_tasks_extend* op, const gh_client* client, gh_str queue, const gh_task* tasks,
                              size_t count, uint32_t* fit)
{
    size_t most = gh_task_room(client, queue) /
                  (gh_request_str_size(GH_TASK_ID_SIZE_MAX) + gh_request_str_size(RECEIPT_SIZE_MAX) + 4);
    size_t i;
    *fit = 0;
    if (tasks == NULL || count == 0 || count > GH_TASKS_BATCH_MAX) return GH_INVALID_TASKS;
    for (i = 0; i < count; i++)
    {
        if ((tasks[i].sending & GH_TASK_SENDING_EXTEND) != 0) return GH_INVALID_TASKS;
        if (extend_wants(op, &tasks[i])) ++*fit;
    }
    if (*fit > most && op->owner == NULL) return GH_TOO_LARGE;
    if (*fit > most) *fit = (uint32_t)most;
    return *fit == 0 ? GH_INVALID_TASKS : GH_OK;
}

static gh_status tasks_extend_try(gh_tasks_extend* op, const gh_queue* queue, gh_task* tasks, size_t count)
{
    gh_client* client;
    uint32_t fit;
    size_t i;
    gh_status status = gh_object_check((gh_op*)op, gh_queue_object(queue));
    if (status != GH_OK) return status;
    client = queue->object.client;
    status = check_extend(op, client, gh_name_str(&queue->object.name), tasks, count, &fit);
    if (status != GH_OK) return status;
    op->queue = queue->object.name;
    op->tasks = tasks;
    op->task_count = (uint8_t)count;
    op->lease_us = queue->config.lease_us;
    op->sending = 0;
    for (i = 0; i < count && op->sending < fit; i++)
    {
        if (!extend_wants(op, &tasks[i])) continue;
        tasks[i].sending |= GH_TASK_SENDING_EXTEND;
        op->sending++;
    }
    gh_call_begin(&op->op, client, &extend_kind, queue->config.timeout_us, GH_OP_URGENT);
    return GH_OK;
}

gh_status gh_tasks_extend_begin(gh_tasks_extend* op, const gh_queue* queue, gh_task* tasks, size_t count)
{
    gh_status status = tasks_extend_try(op, queue, tasks, count);
    return gh_object_begun((gh_op*)op, gh_queue_object(queue), status);
}
