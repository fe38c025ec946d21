/* tasks_admin.c -- looking after a queue: cancel, requeue, pause, and what there is. */

#include "tasks_place.h"
#include "guildhall/tasks_admin.h"
#include "scripts/tasks_scripts.h"
#include "wire/name.h"
#include "tasks/task_text.h"

#define REPLY_BYTES_HEAD  64u
#define LETTER_NODES      5u /* in the answer, of each dead letter */
#define LETTER_NODES_HEAD 8u
#define COUNT_NUMBERS     (GH_TASKS_COUNT_GROUPS_3 + 1u)
#define COUNT_OF_CLASS    (GH_TASKS_COUNT_READY_1 - GH_TASKS_COUNT_READY_0)

static bool is_task_id(gh_str id)
{
    return id.size > 0 && gh_task_bytes_fit(id, GH_TASK_ID_SIZE_MAX) && memchr(id.bytes, 0, id.size) == NULL;
}

/* ---- cancel and requeue: a list of ids, a letter for each ---------------------------------------------- */

static gh_tasks_edit* edit_of(gh_op* op)
{
    return (gh_tasks_edit*)(void*)op;
}

static void edit_encode_ids(gh_request* request, const gh_tasks_edit* edit)
{
    uint32_t i;
    for (i = 0; i < edit->count; i++) gh_request_str(request, edit->refs[i].id);
}

static void revoke_encode(gh_op* op, gh_request* request)
{
    const gh_tasks_edit* edit = edit_of(op);
    gh_request_op_script(request, op, 0, edit->count);
    gh_task_encode_keys(request, op, &edit->queue, gh_str_literal("p m t x d0 d1 d2 d3 q w"));
    if (gh_request_is_route(request)) return;
    gh_request_op_id(request, op);
    gh_request_number(request, edit->keep_us);
    gh_request_number(request, gh_task_not_after(op));
    gh_request_number(request, gh_task_receipt_us(op->client, edit->timeout_us));
    gh_request_number(request, gh_op_sent_twice(op) ? 1 : 0);
    edit_encode_ids(request, edit);
}

static void requeue_encode(gh_op* op, gh_request* request)
{
    const gh_tasks_edit* edit = edit_of(op);
    gh_request_op_script(request, op, 0, edit->count);
    gh_task_encode_keys(request, op, &edit->queue, gh_str_literal("x p m t i r0 r1 r2 r3 q g c w"));
    if (gh_request_is_route(request)) return;
    gh_request_op_id(request, op);
    gh_request_number(request, gh_task_not_after(op));
    gh_request_number(request, gh_task_receipt_us(op->client, edit->timeout_us));
    edit_encode_ids(request, edit);
}

static gh_status edit_outcome(char code)
{
    switch (code)
    {
    case GH_ONCE_DONE: return GH_OK;
    case GH_TASKS_CANCEL_RUNS: return GH_RUNNING;
    case GH_TASKS_CANCEL_OVER:
    case GH_ONCE_NOT_KNOWN: return GH_GONE;
    default: return GH_UNKNOWN;
    }
}

static gh_status edit_answer(gh_op* op, const gh_event* event)
{
    gh_tasks_edit* edit = edit_of(op);
    gh_str codes = gh_reply_text(event->reply, GH_ONCE_CODES);
    gh_status outcome = GH_OK;
    uint32_t i;
    if (codes.size == 0) return gh_task_send_again(op);
    if (codes.size != edit->count) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    for (i = 0; i < edit->count; i++)
    {
        edit->refs[i].status = edit_outcome(codes.bytes[i]);
        if (edit->refs[i].status == GH_UNKNOWN) outcome = gh_op_outcome(op, GH_REASON_UNUSABLE);
    }
    return outcome;
}

static const gh_op_kind revoke_kind = {.name = "tasks_cancel",
                                       .borrows = true,
                                       .step = gh_call_step,
                                       .encode = revoke_encode,
                                       .text = &gh_tasks_cancel_lua,
                                       .effect = GH_OP_CHANGES,
                                       .answer = edit_answer};
static const gh_op_kind requeue_kind = {.name = "tasks_requeue",
                                        .borrows = true,
                                        .step = gh_call_step,
                                        .encode = requeue_encode,
                                        .text = &gh_tasks_requeue_lua,
                                        .effect = GH_OP_CHANGES,
                                        .answer = edit_answer};

static gh_status edit_try(gh_tasks_edit* op, const gh_queue* queue, gh_task_ref* refs, size_t count,
                          const gh_op_kind* kind)
{
    size_t i;
    size_t most = kind == &requeue_kind ? GH_TASKS_REQUEUE_MAX : GH_TASKS_BATCH_MAX;
    gh_status status = gh_object_check((gh_op*)op, gh_queue_object(queue));
    if (status != GH_OK) return status;
    if (refs == NULL || count == 0 || count > most) return GH_INVALID_TASKS;
    for (i = 0; i < count; i++)
        if (!is_task_id(refs[i].id)) return GH_INVALID_TASK_ID;
    GH_INVARIANT(queue->object.client, count * gh_request_str_size(GH_TASK_ID_SIZE_MAX) <=
                                           gh_task_room(queue->object.client, gh_name_str(&queue->object.name)));
    op->queue = queue->object.name;
    op->refs = refs;
    op->count = (uint32_t)count;
    op->keep_us = queue->config.keep_us;
    op->timeout_us = queue->config.timeout_us;
    for (i = 0; i < count; i++) refs[i].status = GH_PENDING;
    gh_call_begin(&op->op, queue->object.client, kind, op->timeout_us, 0);
    return GH_OK;
}

gh_status gh_tasks_cancel_begin(gh_tasks_edit* op, const gh_queue* queue, gh_task_ref* refs, size_t count)
{
    gh_status status = edit_try(op, queue, refs, count, &revoke_kind);
    return gh_object_begun((gh_op*)op, gh_queue_object(queue), status);
}

gh_status gh_tasks_requeue_begin(gh_tasks_edit* op, const gh_queue* queue, gh_task_ref* refs, size_t count)
{
    gh_status status = edit_try(op, queue, refs, count, &requeue_kind);
    return gh_object_begun((gh_op*)op, gh_queue_object(queue), status);
}

/* ---- pause and limit ----------------------------------------------------------------------------------- */

static gh_tasks_control* control_of(gh_op* op)
{
    return (gh_tasks_control*)(void*)op;
}

static void control_encode_rate(gh_request* request, const gh_tasks_rules* rules)
{
    char text[3 * GH_DECIMAL_SIZE_MAX + 2];
    char* end = text;
    if (rules->rate_count > 0)
    {
        end = gh_decimal_encode(rules->rate_count, end);
        *end++ = ' ';
        end = gh_decimal_encode(rules->rate_period_us, end);
        *end++ = ' ';
        end = gh_decimal_encode(rules->rate_burst == 0 ? rules->rate_count : rules->rate_burst, end);
    }
    gh_request_str(request, gh_str_make(text, (size_t)(end - text)));
}

static void control_encode(gh_op* op, gh_request* request)
{
    const gh_tasks_control* control = control_of(op);
    gh_request_op_script(request, op, 0, 0);
    gh_task_encode_keys(request, op, &control->queue, gh_str_literal("c i w"));
    gh_request_op_id(request, op);
    gh_request_number(request, gh_task_not_after(op));
    gh_request_number(request, gh_task_receipt_us(op->client, control->timeout_us));
    gh_request_number(request, control->rules.paused ? 1 : 0);
    gh_request_number(request, control->rules.running_max);
    control_encode_rate(request, &control->rules);
}

static gh_status control_answer(gh_op* op, const gh_event* event)
{
    const gh_str codes = gh_reply_text(event->reply, GH_ONCE_CODES);
    if (codes.size == 0) return gh_task_send_again(op);
    return codes.size == 1 && codes.bytes[0] == GH_ONCE_DONE ? GH_OK : gh_op_outcome(op, GH_REASON_UNUSABLE);
}

static const gh_op_kind control_kind = {.name = "tasks_control",
                                        .step = gh_call_step,
                                        .encode = control_encode,
                                        .text = &gh_tasks_control_lua,
                                        .effect = GH_OP_CHANGES,
                                        .answer = control_answer};

static gh_status check_rules(const gh_tasks_rules* rules)
{
    if (rules->running_max > GH_TASKS_CAPACITY_MAX) return GH_INVALID_TASK_CAPACITY;
    if (rules->rate_count == 0)
        return rules->rate_period_us == 0 && rules->rate_burst == 0 ? GH_OK : GH_INVALID_TASK_RATE;
    if (rules->rate_period_us < GH_TASKS_RATE_PERIOD_MIN_US || rules->rate_period_us > GH_TASKS_RATE_PERIOD_MAX_US ||
        rules->rate_count > GH_TASKS_RATE_MAX || rules->rate_burst > GH_TASKS_RATE_MAX)
        return GH_INVALID_TASK_RATE;
    return rules->rate_count > rules->rate_period_us ? GH_INVALID_TASK_RATE : GH_OK;
}

static gh_status tasks_control_try(gh_tasks_control* op, const gh_queue* queue, const gh_tasks_rules* rules)
{
    const gh_tasks_rules none = {false, 0, 0, 0, 0};
    gh_status status = gh_object_check((gh_op*)op, gh_queue_object(queue));
    if (status == GH_OK && rules != NULL) status = check_rules(rules);
    if (status != GH_OK) return status;
    op->queue = queue->object.name;
    op->rules = rules == NULL ? none : *rules;
    op->timeout_us = queue->config.timeout_us;
    gh_call_begin(&op->op, queue->object.client, &control_kind, op->timeout_us, 0);
    return GH_OK;
}

gh_status gh_tasks_control_begin(gh_tasks_control* op, const gh_queue* queue, const gh_tasks_rules* rules)
{
    gh_status status = tasks_control_try(op, queue, rules);
    return gh_object_begun((gh_op*)op, gh_queue_object(queue), status);
}

/* ---- how it stands with one task ----------------------------------------------------------------------- */

static gh_tasks_look* look_of(gh_op* op)
{
    return (gh_tasks_look*)(void*)op;
}

static void look_encode(gh_op* op, gh_request* request)
{
    const gh_tasks_look* look = look_of(op);
    gh_request_op_script(request, op, 0, 0);
    gh_task_encode_keys(request, op, &look->queue, gh_str_literal("p m l t x d0 d1 d2 d3"));
    gh_request_number(request, op->sequence);
    gh_request_str(request, gh_name_str(&look->id));
}

_Static_assert((int)GH_TASKS_LOOK_CANCELLED == (int)GH_TASK_STATE_CANCELLED, "tasks_look.lua has other states");

static gh_status look_answer(gh_op* op, const gh_event* event)
{
    gh_tasks_look* look = look_of(op);
    const gh_reply* reply = event->reply;
    gh_str text = gh_reply_text(reply, GH_TASKS_LOOK_NOTE);
    gh_str group = gh_reply_text(reply, GH_TASKS_LOOK_GROUP);
    int64_t state = gh_reply_integer(reply, GH_TASKS_LOOK_STATE);
    int64_t attempt = gh_reply_integer(reply, GH_TASKS_LOOK_ATTEMPT);
    if (state > GH_TASKS_LOOK_CANCELLED || attempt > UINT16_MAX) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    if (group.size > sizeof look->group_bytes) group.size = 0; /* planted by hand: as a taker sees it */
    if (group.size > 0) memcpy(look->group_bytes, group.bytes, group.size);
    look->group = gh_str_make(look->group_bytes, group.size);
    if (text.size > look->text_max) text.size = look->text_max;
    if (text.size > 0) memcpy((char*)look->text.bytes, text.bytes, text.size); /* where begin has put it */
    look->text.size = text.size;
    look->now_us = (uint64_t)gh_reply_integer(reply, GH_TASKS_LOOK_NOW_US);
    look->state = (gh_task_state)state;
    look->attempt = (uint16_t)attempt;
    look->time_us = (uint64_t)gh_reply_integer(reply, GH_TASKS_LOOK_TIME_US);
    return GH_OK;
}

static const gh_op_kind look_kind = {.name = "tasks_look",
                                     .step = gh_call_step,
                                     .encode = look_encode,
                                     .text = &gh_tasks_look_lua,
                                     .effect = GH_OP_READS,
                                     .answer = look_answer};

static gh_status tasks_look_try(gh_tasks_look* op, const gh_queue* queue, gh_str id, void* memory, size_t memory_size)
{
    gh_status status = gh_object_check((gh_op*)op, gh_queue_object(queue));
    if (status != GH_OK) return status;
    if (!is_task_id(id)) return GH_INVALID_TASK_ID;
    if (memory == NULL && memory_size > 0) return GH_INVALID_BUFFER;
    op->queue = queue->object.name;
    gh_name_keep(&op->id, id);
    op->text_max = memory_size > UINT16_MAX ? UINT16_MAX : (uint16_t)memory_size;
    op->state = GH_TASK_STATE_NONE;
    op->text = gh_str_make((char*)memory, 0);
    op->group = gh_str_make(NULL, 0);
    gh_call_begin(&op->op, queue->object.client, &look_kind, queue->config.timeout_us, 0);
    return GH_OK;
}

gh_status gh_tasks_look_begin(gh_tasks_look* op, const gh_queue* queue, gh_str id, void* memory, size_t memory_size)
{
    gh_status status = tasks_look_try(op, queue, id, memory, memory_size);
    return gh_object_begun((gh_op*)op, gh_queue_object(queue), status);
}

/* ---- dead letters -------------------------------------------------------------------------------------- */

static gh_tasks_dead* dead_of(gh_op* op)
{
    return (gh_tasks_dead*)(void*)op;
}

static void dead_encode(gh_op* op, gh_request* request)
{
    const gh_tasks_dead* dead = dead_of(op);
    uint32_t bytes = gh_client_reply_bytes(op->client) - REPLY_BYTES_HEAD;
    uint32_t room = dead->memory_size < GH_TASKS_BYTES_MAX ? dead->memory_size : GH_TASKS_BYTES_MAX;
    uint32_t most = (gh_client_reply_nodes(op->client) - LETTER_NODES_HEAD) / LETTER_NODES;
    gh_request_op_script(request, op, 0, 0);
    gh_task_encode_keys(request, op, &dead->queue, gh_str_literal("x p m"));
    gh_request_number(request, op->sequence);
    gh_request_number(request, dead->offset);
    gh_request_number(request, dead->capacity < most ? dead->capacity : most);
    gh_request_number(request, room < bytes ? room : bytes);
}

static gh_str dead_copy(gh_tasks_dead* dead, uint32_t* used, gh_str bytes)
{
    char* copy = dead->memory + *used;
    if (bytes.size > dead->memory_size - *used) bytes.size = dead->memory_size - *used;
    if (bytes.size > 0) memcpy(copy, bytes.bytes, bytes.size);
    *used += (uint32_t)bytes.size;
    return gh_str_make(copy, bytes.size);
}

/* One letter from the five values that begin with its id; NULL: not what was asked for. */
static const gh_reply* dead_take(gh_tasks_dead* dead, const gh_reply* id, uint32_t* used)
{
    gh_task_text text = {0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    const gh_reply* died = id->next;
    const gh_reply* attempts = died == NULL ? NULL : died->next;
    const gh_reply* reason = attempts == NULL ? NULL : attempts->next;
    const gh_reply* value = reason == NULL ? NULL : reason->next;
    gh_dead_task* letter = &dead->letters[dead->count];
    gh_str stored;
    if (value == NULL || dead->count == dead->capacity || id->type != GH_REPLY_STRING ||
        died->type != GH_REPLY_INTEGER || died->integer < 0 || attempts->type != GH_REPLY_INTEGER ||
        attempts->integer < 0 || attempts->integer > UINT32_MAX || reason->type != GH_REPLY_STRING ||
        value->type != GH_REPLY_STRING)
        return NULL;
    letter->id = dead_copy(dead, used, id->text);
    letter->reason = dead_copy(dead, used, reason->text);
    stored = dead_copy(dead, used, value->text);
    if (!gh_task_text_parse(stored, &text)) text.payload = stored;
    letter->group = text.group;
    letter->handler = text.handler;
    letter->payload = text.payload;
    letter->task_class = text.task_class;
    letter->died_us = (uint64_t)died->integer;
    letter->attempts = (uint32_t)attempts->integer;
    dead->count++;
    return value;
}

static gh_status dead_answer(gh_op* op, const gh_event* event)
{
    gh_tasks_dead* dead = dead_of(op);
    const gh_reply* at = gh_reply_at(event->reply, GH_TASKS_DEAD_LETTERS);
    uint32_t used = 0;
    dead->total = (uint64_t)gh_reply_integer(event->reply, GH_TASKS_DEAD_TOTAL);
    for (; at != NULL; at = at->next)
    {
        at = dead_take(dead, at, &used);
        if (at == NULL) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    }
    return GH_OK;
}

static const gh_op_kind dead_kind = {.name = "tasks_dead",
                                     .step = gh_call_step,
                                     .encode = dead_encode,
                                     .text = &gh_tasks_dead_lua,
                                     .effect = GH_OP_READS,
                                     .trees = gh_tree_read,
                                     .answer = dead_answer};

static gh_status tasks_dead_try(gh_tasks_dead* op, const gh_queue* queue, uint64_t offset, gh_dead_task* letters,
                                size_t count, void* memory, size_t memory_size)
{
    gh_status status = gh_object_check((gh_op*)op, gh_queue_object(queue));
    if (status != GH_OK) return status;
    if (letters == NULL || count == 0 || count > GH_TASKS_BATCH_MAX) return GH_INVALID_TASKS;
    if (memory == NULL || memory_size < GH_TASK_BYTES_MAX + GH_TASK_RESULT_SIZE_MAX) return GH_INVALID_BUFFER;
    op->queue = queue->object.name;
    op->letters = letters;
    op->capacity = (uint32_t)count;
    op->memory = (char*)memory;
    op->memory_size = memory_size > UINT32_MAX ? UINT32_MAX : (uint32_t)memory_size;
    op->offset = offset < INT32_MAX ? offset : INT32_MAX; /* more cannot be */
    op->count = 0;
    op->total = 0;
    gh_call_begin(&op->op, queue->object.client, &dead_kind, queue->config.timeout_us, 0);
    return GH_OK;
}

gh_status gh_tasks_dead_begin(gh_tasks_dead* op, const gh_queue* queue, uint64_t offset, gh_dead_task* letters,
                              size_t count, void* memory, size_t memory_size)
{
    gh_status status = tasks_dead_try(op, queue, offset, letters, count, memory, memory_size);
    return gh_object_begun((gh_op*)op, gh_queue_object(queue), status);
}

/* ---- how many are where -------------------------------------------------------------------------------- */

static gh_tasks_count* count_of(gh_op* op)
{
    return (gh_tasks_count*)(void*)op;
}

static void count_encode(gh_op* op, gh_request* request)
{
    gh_request_op_script(request, op, 0, 0);
    gh_task_encode_keys(request, op, &count_of(op)->queue, gh_str_literal("p l x t c r0 r1 r2 r3 d0 d1 d2 d3 q g"));
    gh_request_number(request, op->sequence);
}

static gh_status count_answer(gh_op* op, const gh_event* event)
{
    gh_tasks_count* count = count_of(op);
    const gh_reply* at = event->reply->first;
    uint64_t numbers[COUNT_NUMBERS]; /* at the places that they have in the reply */
    uint32_t i;
    for (i = 0; i < COUNT_NUMBERS; i++, at = at->next)
    {
        bool is_wide = i < GH_TASKS_COUNT_PAUSED || i == GH_TASKS_COUNT_RATE_PERIOD_US;
        if (!is_wide && at->integer > UINT32_MAX) return gh_op_outcome(op, GH_REASON_UNUSABLE);
        numbers[i] = (uint64_t)at->integer;
    }
    count->stored = numbers[GH_TASKS_COUNT_STORED];
    count->handed_out = numbers[GH_TASKS_COUNT_RUNNING];
    count->expired = numbers[GH_TASKS_COUNT_LAPSED];
    count->dead = numbers[GH_TASKS_COUNT_DEAD];
    count->remembered = numbers[GH_TASKS_COUNT_OVER];
    count->rules.paused = numbers[GH_TASKS_COUNT_PAUSED] != 0;
    count->rules.running_max = (uint32_t)numbers[GH_TASKS_COUNT_RUNNING_MAX];
    count->rules.rate_count = (uint32_t)numbers[GH_TASKS_COUNT_RATE_COUNT];
    count->rules.rate_period_us = numbers[GH_TASKS_COUNT_RATE_PERIOD_US];
    count->rules.rate_burst = (uint32_t)numbers[GH_TASKS_COUNT_RATE_BURST];
    for (i = 0; i < GH_TASKS_CLASSES; i++)
    {
        count->ready[i] = (uint32_t)numbers[GH_TASKS_COUNT_READY_0 + COUNT_OF_CLASS * i];
        count->delayed[i] = (uint32_t)numbers[GH_TASKS_COUNT_DELAYED_0 + COUNT_OF_CLASS * i];
        count->groups[i] = (uint32_t)numbers[GH_TASKS_COUNT_GROUPS_0 + COUNT_OF_CLASS * i];
    }
    return GH_OK;
}

static const gh_op_kind count_kind = {.name = "tasks_count",
                                      .step = gh_call_step,
                                      .encode = count_encode,
                                      .text = &gh_tasks_count_lua,
                                      .effect = GH_OP_READS,
                                      .answer = count_answer};

static gh_status tasks_count_try(gh_tasks_count* op, const gh_queue* queue)
{
    gh_status status = gh_object_check((gh_op*)op, gh_queue_object(queue));
    if (status != GH_OK) return status;
    op->queue = queue->object.name;
    gh_call_begin(&op->op, queue->object.client, &count_kind, queue->config.timeout_us, 0);
    return GH_OK;
}

gh_status gh_tasks_count_begin(gh_tasks_count* op, const gh_queue* queue)
{
    gh_status status = tasks_count_try(op, queue);
    return gh_object_begun((gh_op*)op, gh_queue_object(queue), status);
}
