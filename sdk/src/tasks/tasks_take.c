/* tasks_take.c -- tasks handed out: a taker's or a worker's question, asked again while it may wait. */

#include "tasks_place.h"
#include "client/question.h"
#include "client/waiter.h"
#include "scripts/tasks_scripts.h"
#include "wire/name.h"
#include "tasks/task_text.h"

#define PAUSE_MIN_US     1000u   /* between two questions of one who waits: doubles ...  */
#define PAUSE_MAX_US     100000u /* ... up to this                                       */
#define REPLY_NODES_HEAD 8u      /* of the answer, before the tasks                      */
#define REPLY_BYTES_HEAD 64u
#define LOOK_MAX         128u /* places in a request, once an answer was that there were only places left over */
#define ATTEMPT_MAX      (int64_t)UINT16_MAX

static gh_tasks_take* take_of(gh_op* op)
{
    return (gh_tasks_take*)(void*)op;
}

/* How it ends that asks no more, without an answer to the point. */
static gh_status take_outcome(const gh_tasks_take* take, gh_status done_nothing)
{
    if (take->came_late) return gh_op_outcome(&take->op, GH_REASON_UNUSABLE);
    return gh_op_sent_twice(&take->op) ? gh_op_outcome(&take->op, GH_REASON_DEADLINE) : done_nothing;
}

/* That a copy of this sequence may be under way is known as long as the sequence stays. */
static gh_status take_ask(gh_op* op)
{
    const gh_tasks_take* take = take_of(op);
    if (take->cancelled) return take_outcome(take, GH_CANCELLED);
    if (gh_client_now(op->client) >= take->deadline_us) return take_outcome(take, GH_TIMEOUT);
    return gh_question_ask(op, take->timeout_us, take->sleeper == op->sequence, op->flags & GH_OP_MAYBE);
}

/* What the last sequence was answered shall not be answered again; and late copies of it find its receipt. */
static void take_renumber(gh_tasks_take* take)
{
    bool listens = take->sleeper == take->op.sequence;
    gh_op_renumber(&take->op);
    take->op.flags &= (uint8_t)~GH_OP_MAYBE;
    take->came_late = false;
    if (listens) take->sleeper = take->op.sequence;
}

static gh_script* take_script(gh_op* op)
{
    return gh_client_script(op->client, take_of(op)->puts_back ? &gh_tasks_back_lua : &gh_tasks_take_lua);
}

static void take_encode_token(gh_request* request, uint64_t client, uint64_t sequence)
{
    if (sequence == 0) gh_request_str(request, gh_str_literal(""));
    else gh_request_token(request, client, sequence);
}

static void take_encode_weights(gh_request* request, const uint8_t* weights)
{
    char text[GH_TASKS_CLASSES * (GH_DECIMAL_SIZE_MAX + 1)];
    char* end = text;
    uint32_t i;
    for (i = 0; i < GH_TASKS_CLASSES && weights[i] > 0; i++)
    {
        if (i > 0) *end++ = ' ';
        end = gh_decimal_encode(weights[i], end);
    }
    gh_request_str(request, gh_str_make(text, (size_t)(end - text)));
}

/* In a worker's slots each task has its own piece of memory; a taker's tasks share one. */
static uint32_t take_value_most(const gh_tasks_take* take)
{
    return take->owner == NULL ? take->memory_size : take->memory_size - GH_TASK_ID_SIZE_MAX;
}

static uint32_t take_bytes_most(const gh_tasks_take* take)
{
    uint32_t reply_bytes = gh_client_reply_bytes(take->op.client) - REPLY_BYTES_HEAD;
    if (reply_bytes > GH_TASKS_BYTES_MAX) reply_bytes = GH_TASKS_BYTES_MAX;
    return take->owner == NULL && take->memory_size < reply_bytes ? take->memory_size : reply_bytes;
}

static void take_encode_back(gh_op* op, gh_request* request)
{
    const gh_tasks_take* take = take_of(op);
    gh_request_op_script(request, op, 0, 0);
    gh_task_encode_keys(request, op, &take->queue, gh_str_literal("l p m t x d0 d1 d2 d3"));
    gh_request_number(request, op->sequence);
    gh_request_number(request, take->keep_us);
}

static void take_encode(gh_op* op, gh_request* request)
{
    const gh_tasks_take* take = take_of(op);
    if (take->puts_back)
    {
        take_encode_back(op, request);
        return;
    }
    gh_request_op_script(request, op, 0, take->need > 1 ? 2 : take->looks_on ? 1 : 0);
    gh_task_encode_keys(request, op, &take->queue, gh_str_literal("c l p m w i t r0 r1 r2 r3 d0 d1 d2 d3 q g"));
    gh_request_token(request, take->taker_client, take->taker_sequence);
    gh_request_number(request, op->sequence);
    gh_request_number(request, take->lease_us);
    gh_request_number(request, take->want);
    gh_request_number(request, take_bytes_most(take));
    gh_request_number(request, take_value_most(take));
    gh_request_number(request, gh_op_not_after(op));
    take_encode_token(request, gh_client_id(op->client), take->sleeper);
    gh_request_number(request, gh_task_receipt_us(op->client, take->timeout_us));
    take_encode_weights(request, take->weights);
    gh_request_number(request, gh_op_generation(op));
    gh_request_number(request, gh_op_sent_twice(op) ? 1 : 0);
    gh_request_number(request, take->has_put_back ? 1 : 0);
    if (take->looks_on || take->need > 1) gh_request_number(request, take->looks_on ? LOOK_MAX : take->want);
    if (take->need > 1) gh_request_number(request, take->need);
}

/* The next place for a task: from the first on, or in a worker any slot that is free. */
static gh_task* take_next_place(const gh_tasks_take* take, uint32_t* at)
{
    for (; *at < take->task_count; ++*at)
        if (take->tasks[*at].state == GH_TASK_PLACE_FREE && take->tasks[*at].sending == 0) return &take->tasks[(*at)++];
    return NULL;
}

static char* take_copy(gh_task* task, gh_str bytes)
{
    char* copy = task->memory + task->memory_used;
    if (bytes.size > 0) memcpy(copy, bytes.bytes, bytes.size);
    task->memory_used += (uint32_t)bytes.size;
    return copy;
}

static void take_fill(gh_tasks_take* take, gh_task* task, gh_str id, gh_str stored)
{
    gh_task_text text = {0, 1, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    task->user = NULL;
    task->step = task->again_us = task->delay_us = task->called_us = 0;
    task->action = GH_TASK_ACTION_CONTINUE;
    task->result = gh_str_make(NULL, 0);
    task->memory_used = 0;
    task->id = gh_str_make(take_copy(task, id), id.size);
    stored.bytes = take_copy(task, stored);
    if (!gh_task_text_parse(stored, &text)) text.payload = stored; /* planted by hand: kept, and handed out as it is */
    task->group = text.group;
    task->handler = text.handler;
    task->payload = text.payload;
    task->task_class = text.task_class;
    task->attempts_max = text.attempts_max;
    task->state = GH_TASK_PLACE_HELD;
    task->queue = take->queue_index;
    task->taker_client = take->taker_client;
    task->taker_sequence = take->taker_sequence;
}

/* A task from the three values that begin with its id; NULL: not what was asked for, else what stands behind it. */
static const gh_reply* take_task_end(const gh_reply* id)
{
    const gh_reply* attempt = id->next;
    const gh_reply* value = attempt == NULL ? NULL : attempt->next;
    if (value == NULL || id->type != GH_REPLY_STRING || id->text.size > GH_TASK_ID_SIZE_MAX ||
        attempt->type != GH_REPLY_INTEGER || attempt->integer < -ATTEMPT_MAX || attempt->integer > ATTEMPT_MAX ||
        value->type != GH_REPLY_STRING)
        return NULL;
    return value;
}

/* False: the answer is not what was asked for, and none of it is taken. */
static bool take_fits(const gh_tasks_take* take, const gh_reply* reply)
{
    const gh_reply* id = gh_reply_at(reply, GH_TASKS_TAKE_TASKS);
    uint32_t used = 0;
    uint32_t at = 0;
    if ((uint64_t)gh_reply_integer(reply, GH_TASKS_TAKE_REMAINING_US) > take->lease_us) return false;
    while (id != NULL)
    {
        const gh_reply* value = take_task_end(id);
        const gh_task* task = take_next_place(take, &at);
        uint32_t room = take->owner == NULL ? take->memory_size - used : task == NULL ? 0 : task->memory_size;
        if (value == NULL || task == NULL || id->text.size + value->text.size > room) return false;
        if (take->owner == NULL) used += (uint32_t)(id->text.size + value->text.size);
        id = value->next;
    }
    return true;
}

static void take_tasks(gh_tasks_take* take, const gh_event* event, uint64_t lease_end_us)
{
    const gh_reply* id = gh_reply_at(event->reply, GH_TASKS_TAKE_TASKS);
    uint32_t used = 0;
    uint32_t at = 0;
    while (id != NULL)
    {
        const gh_reply* attempt = id->next;
        gh_task* task = take_next_place(take, &at);
        if (take->owner == NULL)
        {
            task->memory = take->memory + used;
            task->memory_size = take->memory_size - used;
        }
        take_fill(take, task, id->text, attempt->next->text);
        task->status = attempt->integer < 0 ? GH_TOO_SMALL : GH_PENDING; /* the value is cut */
        task->attempt = (uint32_t)(attempt->integer < 0 ? -attempt->integer : attempt->integer);
        task->fence = (uint64_t)gh_reply_integer(event->reply, GH_TASKS_TAKE_FENCE);
        task->lease_end_us = lease_end_us;
        task->renew_us = gh_client_after(take->op.client, take->lease_us / 3);
        task->generation = event->generation;
        task->route = take->op.route;
        if (take->owner == NULL) task->memory_size = task->memory_used; /* what follows is the next task's */
        used += task->memory_used;
        take->count++;
        id = attempt->next->next;
    }
}

/* Of one who waits, between two questions. By a rate it is known when the next one has a point; nothing else
   is: it doubles. */
static uint64_t take_pause(gh_tasks_take* take)
{
    if (take->by_rate) return take->next_us < GH_TASKS_RATE_WAIT_US ? take->next_us : GH_TASKS_RATE_WAIT_US;
    take->pause_us = take->pause_us == 0 ? PAUSE_MIN_US : take->pause_us * 2;
    if (take->pause_us > PAUSE_MAX_US) take->pause_us = PAUSE_MAX_US;
    return take->next_us == 0 || take->next_us > take->pause_us ? take->pause_us : take->next_us;
}

static gh_status take_nothing(gh_tasks_take* take, gh_status outcome, uint64_t next_us)
{
    take->next_us = next_us;
    if (gh_op_sent_twice(&take->op)) take_renumber(take); /* what was nothing has left a receipt */
    if (take->cancelled) return GH_CANCELLED;
    if (gh_client_now(take->op.client) >= take->give_up_us) return take->ask_once ? outcome : GH_EMPTY;
    return gh_question_sleep(&take->op, take_pause(take), take->give_up_us);
}

/* Tasks, or none: there was something, but not for us. */
static gh_status take_reply_tasks(gh_tasks_take* take, const gh_event* event)
{
    uint64_t remaining_us = (uint64_t)gh_reply_integer(event->reply, GH_TASKS_TAKE_REMAINING_US);
    uint64_t lease_end_us = gh_lease_end(take->lease_us, event->sent_us, remaining_us);
    if (!take_fits(take, event->reply)) return gh_op_outcome(&take->op, GH_REASON_UNUSABLE);
    if (event->reply->count > GH_TASKS_TAKE_TASKS && lease_end_us <= gh_client_now(take->op.client))
    {
        take->came_late = true;
        return take_ask(&take->op); /* later than the leases, as far as we can know: this tells what is left of them */
    }
    take_tasks(take, event, lease_end_us);
    if (take->count > 0) return GH_OK;
    if (take->cancelled) return GH_CANCELLED;
    take_renumber(take);
    return take_ask(&take->op);
}

static gh_status take_answer(gh_op* op, const gh_event* event)
{
    gh_tasks_take* take = take_of(op);
    const gh_reply* reply = event->reply;
    uint64_t next_us;
    int64_t code;
    take->has_put_back = take->puts_back; /* as many as one request does; the next question goes on */
    take->puts_back = false;
    if (take->has_put_back) return take_ask(op);
    next_us = (uint64_t)gh_reply_integer(reply, GH_TASKS_TAKE_NEXT_US);
    code = gh_reply_integer(reply, GH_TASKS_TAKE_CODE);
    take->by_rate = code == GH_TASKS_TAKE_OVER_RATE;
    take->looks_on = code == GH_TASKS_TAKE_GIVEN; /* if none, something was passed over, and more may be behind it */
    take->puts_back = code == GH_TASKS_TAKE_LAPSED;
    switch (code)
    {
    case GH_TASKS_TAKE_GIVEN: return take_reply_tasks(take, event);
    case GH_TASKS_TAKE_EMPTY: return take_nothing(take, GH_EMPTY, next_us);
    case GH_TASKS_TAKE_PAUSED: return take_nothing(take, GH_PAUSED, next_us);
    case GH_TASKS_TAKE_OVER_RATE:
    case GH_TASKS_TAKE_OVER_RUNNING: return take_nothing(take, GH_LIMITED, next_us);
    case GH_TASKS_TAKE_TOO_LARGE: return GH_TOO_SMALL;
    case GH_TASKS_TAKE_LAPSED:
    case GH_TASKS_TAKE_STALE: return take_ask(op); /* our idea of the store's time is better now */
    default: return gh_op_outcome(op, GH_REASON_UNUSABLE);
    }
}

static void take_step(gh_op* op, const gh_event* event)
{
    gh_tasks_take* take = take_of(op);
    gh_status status;
    if (event->kind == GH_EVENT_CANCEL) take->cancelled = true; /* but what was asked may bring tasks */
    status = gh_question_verdict(op, event, take->give_up_us, take_ask);
    if (status != GH_PENDING) gh_op_end(op, status);
}

static gh_op* take_owner(const gh_op* op)
{
    return ((const gh_tasks_take*)(const void*)op)->owner;
}

static const gh_op_kind take_kind = {.name = "tasks_take",
                                     .step = take_step,
                                     .encode = take_encode,
                                     .script = take_script,
                                     .effect = GH_OP_CHANGES,
                                     .answer = take_answer,
                                     .owner = take_owner,
                                     .trees = gh_tree_read};

/* How many the client can be told of in one answer. */
static uint32_t take_tasks_most(const gh_client* client)
{
    return (gh_client_reply_nodes(client) - REPLY_NODES_HEAD) / 3;
}

static void take_set_up(gh_tasks_take* op, const gh_client* client, size_t count, const gh_queue_config* config)
{
    uint64_t wait_us = op->owner == NULL ? config->wait_us : 0; /* a worker waits itself, for all of its queues */
    uint32_t most = take_tasks_most(client);
    uint32_t i;
    if (op->owner == NULL) op->want = (uint8_t)count;
    op->need = op->owner == NULL ? (uint8_t)config->count_min : 0; /* a worker works on what there is */
    if (op->want > most) op->want = (uint8_t)most;
    op->task_count = (uint8_t)count;
    op->count = 0;
    op->next_us = 0;
    op->by_rate = op->looks_on = false;
    op->pause_us = 0;
    op->cancelled = false;
    op->puts_back = op->has_put_back = false;
    op->came_late = false;
    op->lease_us = config->lease_us;
    op->timeout_us = config->timeout_us;
    op->ask_once = wait_us == 0;
    op->keep_us = config->keep_us;
    op->give_up_us = gh_client_after(client, wait_us);
    op->deadline_us = gh_client_after(client, wait_us + config->timeout_us);
    for (i = 0; i < GH_TASKS_CLASSES; i++) op->weights[i] = (uint8_t)config->weights[i];
}

/* Whether so many tasks as have to come together can come at all. */
static gh_status check_count_min(const gh_client* client, size_t count, uint32_t count_min)
{
    if (count_min > count) return GH_INVALID_TASKS;
    return count_min > take_tasks_most(client) ? GH_TOO_LARGE : GH_OK;
}

static gh_status check_take(const gh_tasks_take* op, const gh_queue* queue, const gh_task* tasks, size_t count,
                            const void* memory, size_t memory_size)
{
    if (tasks == NULL || count == 0 || count > GH_TASKS_BATCH_MAX) return GH_INVALID_TASKS;
    if (op->owner != NULL) return GH_OK;
    if (memory == NULL || memory_size < GH_TASK_BYTES_MAX) return GH_INVALID_BUFFER;
    return check_count_min(queue->object.client, count, queue->config.count_min);
}

static gh_status tasks_take_try(gh_tasks_take* op, const gh_queue* queue, gh_task* tasks, size_t count, void* memory,
                                size_t memory_size)
{
    gh_client* client;
    size_t i;
    gh_status status = gh_object_check((gh_op*)op, gh_queue_object(queue));
    if (status == GH_OK) status = check_take(op, queue, tasks, count, memory, memory_size);
    if (status != GH_OK) return status;
    client = queue->object.client;
    for (i = 0; op->owner == NULL && i < count; i++)
    {
        tasks[i].state = GH_TASK_PLACE_FREE;
        tasks[i].sending = 0;
    }
    op->queue = queue->object.name;
    op->tasks = tasks;
    op->memory = (char*)memory;
    op->memory_size = memory_size > UINT32_MAX ? UINT32_MAX : (uint32_t)memory_size;
    take_set_up(op, client, count, &queue->config);
    gh_op_begin(&op->op, client, &take_kind);
    if (op->taker_client != gh_client_id(client))
    {
        op->taker_client = gh_client_id(client);
        op->taker_sequence = op->op.sequence;
    }
    if (op->owner == NULL) op->sleeper = op->ask_once ? 0 : op->op.sequence;
    take_ask(&op->op);
    return GH_OK;
}

gh_status gh_tasks_take_begin(gh_tasks_take* op, const gh_queue* queue, gh_task* tasks, size_t count, void* memory,
                              size_t memory_size)
{
    gh_status status = tasks_take_try(op, queue, tasks, count, memory, memory_size);
    return gh_object_begun((gh_op*)op, gh_queue_object(queue), status);
}

uint64_t gh_task_remaining_us(const gh_client* client, const gh_task* task)
{
    if (gh_client_id(client) == 0 || task == NULL || task->state == GH_TASK_PLACE_FREE) return 0;
    if (gh_task_is_in_doubt(client, task)) return 0;
    return task->lease_end_us > gh_client_now(client) ? task->lease_end_us - gh_client_now(client) : 0;
}
