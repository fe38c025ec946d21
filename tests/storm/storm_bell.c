/* storm_bell.c -- who pushes the few ids of the bell, and who takes them. */

#include "storm/storm_bell.h"

#include "storm/storm_tasks.h"

#include <stdio.h>
#include <string.h>

enum
{
    IDS = 3,
    CAPACITY_MOST = 2 /* fewer than the ids: so one is told FULL when another is there, or two are */
};

static const gh_str bell_name = GH_STR_INIT("bell");
static const gh_str ids[IDS] = {GH_STR_INIT("ding"), GH_STR_INIT("dong"), GH_STR_INIT("clang")};

void bell_start(bell_actor* a, storm_client* me, random_stream* random)
{
    a->me = me;
    a->random = random;
}

static gh_queue bell_with(gh_client* client, uint64_t capacity)
{
    gh_queue queue;
    gh_queue_config config = gh_queue_config_default();
    config.capacity = (uint32_t)capacity;
    config.attempts_max = 1;
    config.lease_us = BELL_LEASE_US;
    config.timeout_us = 8000000;
    (void)gh_queue_init(&queue, client, bell_name, &config);
    return queue;
}

static gh_queue bell_of(gh_client* client)
{
    return bell_with(client, CAPACITY_MOST);
}

/* ---- ringing ------------------------------------------------------------------------------------------------- */

static void begin_ring(bell_actor* a)
{
    uint8_t id = (uint8_t)random_below(a->random, IDS);
    a->push_op = history_begin(a->me->who, STORM_tasks, TASKS_RING, id);
    if (a->push_op == 0) return;
    int size = snprintf(a->payload, sizeof a->payload, "%u", a->push_op);
    a->spec = (gh_task_spec){.id = ids[id],
                             .handler = gh_str_literal("h"),
                             .payload = gh_str_make(a->payload, (size_t)size),
                             .unique = GH_TASK_UNIQUE_WHILE_ACTIVE};
    gh_queue queue = bell_with(a->me->client, random_between(a->random, 1, CAPACITY_MOST));
    gh_status status = gh_tasks_push_begin(&a->push, &queue, &a->spec, 1);
    if (status == GH_OK) return;
    history_end(a->push_op, STORM_NOT_DONE, status);
    a->push_op = 0;
}

static void turn_ring(bell_actor* a, bool may_begin)
{
    if (a->push_op == 0)
    {
        if (may_begin && storm_is_time(a->random, 60)) begin_ring(a);
        return;
    }
    gh_status status = gh_op_poll(&a->push.op);
    if (status == GH_PENDING) return;
    if (status == GH_OK || status == GH_FULL) status = a->spec.status;
    history_end(a->push_op, storm_outcome_of(status), status);
    a->push_op = 0;
}

/* ---- hearing ------------------------------------------------------------------------------------------------- */

static void begin_take(bell_actor* a)
{
    a->take_op = history_begin(a->me->who, STORM_tasks, TASKS_LISTEN, 0);
    if (a->take_op == 0) return;
    memset(&a->task, 0, sizeof a->task);
    gh_queue queue = bell_of(a->me->client);
    gh_status status = gh_tasks_take_begin(&a->take, &queue, &a->task, 1, a->bytes, sizeof a->bytes);
    if (status == GH_OK) return;
    history_end(a->take_op, STORM_NOT_DONE, status);
    a->take_op = 0;
}

static uint32_t push_of(gh_str payload)
{
    char text[16];
    unsigned op = 0;
    (void)snprintf(text, sizeof text, "%.*s", (int)payload.size, payload.bytes);
    return sscanf(text, "%u", &op) == 1 && op <= history_count() ? op : 0;
}

/* d: when it was called last. */
static void note(bell_actor* a, uint8_t what, const gh_task* task, bool by_worker, uint64_t called_us)
{
    storm_event event = {.system = STORM_tasks,
                         .what = what,
                         .about = push_of(task->payload),
                         .a = task->fence,
                         .b = by_worker ? 1 : 0,
                         .d = called_us};
    (void)history_event(a->me->who, event);
}

/* Its id is free again as soon as that is done, also if it is a dead letter. */
static void begin_finish(bell_actor* a)
{
    a->finish_op = history_begin(a->me->who, STORM_tasks, TASKS_FINISH, 0);
    if (a->finish_op == 0) return;
    a->task.action = random_one_in(a->random, 3) ? GH_TASK_ACTION_FAIL : GH_TASK_ACTION_DONE;
    gh_queue queue = bell_of(a->me->client);
    gh_status status = gh_tasks_finish_begin(&a->finish, &queue, &a->task, 1);
    if (status == GH_OK) return;
    history_end(a->finish_op, STORM_NOT_DONE, status);
    a->finish_op = 0;
}

static void turn_take(bell_actor* a, bool may_begin)
{
    if (a->take_op == 0)
    {
        if (may_begin && a->finish_op == 0 && storm_is_time(a->random, 40)) begin_take(a);
        return;
    }
    gh_status status = gh_op_poll(&a->take.op);
    if (status == GH_PENDING) return;
    bool has_heard = status == GH_OK && a->take.count == 1;
    if (has_heard) note(a, TASKS_HEARD, &a->task, false, 0);
    history_end(a->take_op, storm_outcome_of(status), status);
    a->take_op = 0;
    if (has_heard) begin_finish(a);
}

static void turn_finish(bell_actor* a)
{
    if (a->finish_op == 0) return;
    gh_status status = gh_op_poll(&a->finish.op);
    if (status == GH_PENDING) return;
    history_end(a->finish_op, storm_outcome_of(status), status);
    a->finish_op = 0;
}

/* ---- workers ------------------------------------------------------------------------------------------------- */

static gh_task_action work(void* context, gh_task* task)
{
    bell_actor* a = context;
    bell_job* job = &a->jobs[task - a->slots];
    if (task->status == GH_LOST)
    {
        note(a, TASKS_OVER_HEARD, task, true, job->called_us);
        return GH_TASK_ACTION_DONE;
    }
    job->called_us = a->me->now_us;
    if (task->step++ == 0)
    {
        note(a, TASKS_HEARD, task, true, 0);
        job->until_us = job->called_us + random_below(a->random, 20000);
        if (random_one_in(a->random, 3)) job->until_us += random_below(a->random, 3000000);
    }
    if (job->called_us < job->until_us) return GH_TASK_ACTION_CONTINUE;
    note(a, TASKS_OVER_HEARD, task, true, job->called_us);
    return random_one_in(a->random, 3) ? GH_TASK_ACTION_FAIL : GH_TASK_ACTION_DONE;
}

static void begin_work(bell_actor* a)
{
    gh_tasks_worker_config config = gh_tasks_worker_config_default();
    a->handler = (gh_task_handler){.function = work, .context = a};
    a->worked = bell_of(a->me->client);
    a->queue = (gh_tasks_worker_queue){.queue = &a->worked};
    config.handlers = &a->handler;
    config.handler_count = 1;
    config.queues = &a->queue;
    config.queue_count = 1;
    config.slots = a->slots;
    config.slot_count = BELL_SLOTS;
    config.memory = a->slot_bytes;
    config.memory_size = sizeof a->slot_bytes;
    memset(a->slots, 0, sizeof a->slots);
    a->work_op = history_begin(a->me->who, STORM_tasks, TASKS_WATCH, 0);
    if (a->work_op == 0) return;
    a->work_end_us = a->me->now_us + random_between(a->random, 2000000, 8000000);
    gh_status status = gh_tasks_worker_begin(&a->worker, a->me->client, &config);
    if (status == GH_OK) return;
    history_end(a->work_op, STORM_NOT_DONE, status);
    a->work_op = 0;
}

static void turn_work(bell_actor* a, bool may_begin)
{
    if (!bell_has_workers() || a->me->who.client > 1) return;
    if (a->work_op == 0)
    {
        if (may_begin && storm_is_time(a->random, 50)) begin_work(a);
        return;
    }
    gh_status status = gh_op_poll(&a->worker.op);
    if (status != GH_PENDING)
    {
        history_end(a->work_op, STORM_DONE, status);
        a->work_op = 0;
    }
    else if (!may_begin || a->me->now_us >= a->work_end_us)
    {
        a->work_end_us = UINT64_MAX;
        gh_tasks_worker_end(&a->worker);
    }
}

/* ---- requeues and cancels ---------------------------------------------------------------------------------------- */

static void begin_edit(bell_actor* a)
{
    uint8_t id = (uint8_t)random_below(a->random, IDS);
    bool cancels = random_one_in(a->random, 2);
    a->edit_op = history_begin(a->me->who, STORM_tasks, cancels ? TASKS_MUTE : TASKS_LIFT, id);
    if (a->edit_op == 0) return;
    a->ref = (gh_task_ref){.id = ids[id]};
    gh_queue queue = bell_of(a->me->client);
    gh_status status = cancels ? gh_tasks_cancel_begin(&a->edit, &queue, &a->ref, 1)
                               : gh_tasks_requeue_begin(&a->edit, &queue, &a->ref, 1);
    if (status == GH_OK) return;
    history_end(a->edit_op, STORM_NOT_DONE, status);
    a->edit_op = 0;
}

static void turn_edit(bell_actor* a, bool may_begin)
{
    if (a->edit_op == 0)
    {
        if (may_begin && storm_is_time(a->random, 90)) begin_edit(a);
        return;
    }
    gh_status status = gh_op_poll(&a->edit.op);
    if (status == GH_PENDING) return;
    if (status == GH_OK) status = a->ref.status;
    history_end(a->edit_op, storm_outcome_of(status), status);
    a->edit_op = 0;
}

/* ---- the actor ------------------------------------------------------------------------------------------------- */

void bell_turn(bell_actor* a, bool may_begin)
{
    turn_ring(a, may_begin);
    turn_edit(a, may_begin);
    turn_work(a, may_begin);
    turn_finish(a);
    turn_take(a, may_begin);
}

bool bell_idle(const bell_actor* a)
{
    bool has_op = a->push_op != 0 || a->take_op != 0 || a->finish_op != 0 || a->edit_op != 0;
    return !has_op && a->work_op == 0;
}

/* ---- what the store says ---------------------------------------------------------------------------------------- */

/* By KEYS.md: "L <attempt> <fence> ..." in :m while somebody has it, or K. */
void bell_witness(storm_look* look)
{
    static const char states[] = "gh:{tasks:bell}:m";
    if (!bell_has_workers()) return;
    redisReply* reply =
        storm_look_command(look, states, "HMGET %s %s %s %s", states, ids[0].bytes, ids[1].bytes, ids[2].bytes);
    bool is_array = reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == IDS;
    for (uint8_t i = 0; is_array && i < IDS; i++)
    {
        const redisReply* state = reply->element[i];
        unsigned long long fence = 0;
        bool is_text = state->type == REDIS_REPLY_STRING && (state->str[0] == 'L' || state->str[0] == 'K');
        if (!is_text || sscanf(state->str + 1, "%*u %llu", &fence) != 1) fence = 0;
        storm_event event = {.system = STORM_tasks, .what = TASKS_HEARD_SEEN, .object = i, .a = fence};
        (void)history_event(look->who, event);
    }
    if (reply != NULL) freeReplyObject(reply);
}

/* ---- in the end ------------------------------------------------------------------------------------------------ */

/* By KEYS.md: "<class> <attempts> <handler size>:<handler><payload>" in :p, and in :m a state that begins with a
   letter, or none if it was never handed out. */
void bell_audit(storm_look* look)
{
    static const char payloads[] = "gh:{tasks:bell}:p", states[] = "gh:{tasks:bell}:m";
    for (int i = 0; i < IDS; i++)
    {
        redisReply* value = storm_look_command(look, payloads, "HGET %s %s", payloads, ids[i].bytes);
        redisReply* state = storm_look_command(look, states, "HGET %s %s", states, ids[i].bytes);
        unsigned op = 0;
        bool there = value != NULL && value->type == REDIS_REPLY_STRING &&
                     sscanf(value->str, "%*u %*u 1:h%u", &op) == 1 && op <= history_count();
        bool marked = state != NULL && state->type == REDIS_REPLY_STRING && state->len > 0;
        storm_event event = {.system = STORM_tasks,
                             .what = TASKS_UNHEARD,
                             .about = op,
                             .a = marked ? (unsigned char)state->str[0] : (unsigned char)'-'};
        if (there) (void)history_event(look->who, event);
        if (value != NULL) freeReplyObject(value);
        if (state != NULL) freeReplyObject(state);
    }
}
