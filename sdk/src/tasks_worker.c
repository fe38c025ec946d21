/* tasks_worker.c -- a worker: takes tasks by itself and calls handlers, as much as each tick has time for.

       not ours --take--> HELD --call--> BEGUN --call again, while it says PENDING--.
          ^                 |              |  ^--------------------------------------'
          |                 |              v
          '---- finish ---- '--------->  ENDED: what became of it is told to the store

   It stands on the three ops of the pull style. Whatever happens (a tick's timer, a hint, one of the three
   has ended), it moves: loses what is over, calls handlers, and begins what there is to begin. */

#include "tasks_place.h"
#include "wire/name.h"
#include "wire/task_text.h"

#define SLOT_SIZE_MIN    256u
#define PAUSE_MIN_US     1000u   /* of an empty queue: doubles with each empty answer ... */
#define PAUSE_MAX_US     100000u /* ... up to this                                        */
#define TROUBLE_PAUSE_US 100000ull
#define CREDIT_MAX       1000000

typedef enum worker_stopping
{
    WORKER_WORKS = 0,
    WORKER_STOPS, /* takes nothing more; what was begun goes on  */
    WORKER_LEAVES /* gives back everything                       */
} worker_stopping;

static void worker_move(gh_tasks_worker* worker);

static gh_tasks_worker* worker_of(gh_op* op)
{
    return (gh_tasks_worker*)(void*)((char*)op - offsetof(gh_tasks_worker, op));
}

static gh_tasks_worker* worker_of_bell(gh_op* op)
{
    return (gh_tasks_worker*)(void*)((char*)op - offsetof(gh_tasks_worker, bell));
}

static bool op_is_busy(const gh_op* op)
{
    return op->kind != NULL && gh_op_is_busy(op);
}

static uint64_t worker_now(const gh_tasks_worker* worker)
{
    return gh_client_now(worker->op.client);
}

/* In the next tick at the earliest: a timer that is due already would fire in this one again. */
static uint64_t worker_not_before_next_tick(const gh_tasks_worker* worker, uint64_t time_us)
{
    return time_us > worker_now(worker) ? time_us : worker_now(worker) + 1;
}

/* The one for every name, if there is none of this name; NULL if there is neither. */
static gh_task_handler* worker_handler(const gh_tasks_worker* worker, gh_str name)
{
    return gh_task_handlers_find(&worker->config, worker->op.client, name);
}

/* ---- one task ------------------------------------------------------------------------------------------ */

static void task_set_end(gh_task* task, gh_task_action action, const char* reason)
{
    task->state = GH_TASK_PLACE_ENDED;
    task->action = action;
    if (task->result.size == 0 || task->result.bytes == NULL) task->result = gh_str_of(reason);
    if (task->result.size > GH_TASK_RESULT_SIZE_MAX) task->result.size = GH_TASK_RESULT_SIZE_MAX;
    if (task->delay_us > GH_TASKS_DELAY_MAX_US) task->delay_us = GH_TASKS_DELAY_MAX_US;
}

static void worker_meet_unknown(gh_tasks_worker* worker, gh_task* task)
{
    size_t size = task->handler.size;
    if (size > 0) memcpy(worker->unknown_handler, task->handler.bytes, size);
    worker->unknown_handler[size] = 0;
    worker->unknown++;
    task_set_end(task, GH_TASK_ACTION_RETRY, "no handler of that name");
}

/* Its payload was left in the store: another worker may have the room. */
static void worker_meet_too_large(gh_tasks_worker* worker, gh_task* task)
{
    worker->too_large++;
    gh_op_warn(&worker->op, "a task is larger than a slot, and is left for others to try: ", task->id);
    task_set_end(task, GH_TASK_ACTION_RETRY, "larger than a slot of the worker");
}

static void worker_call(gh_tasks_worker* worker, gh_task* task)
{
    gh_task_handler* handler = worker_handler(worker, task->handler);
    gh_status status;
    task->called_us = worker_now(worker);
    worker->called++;
    if (task->status == GH_TOO_SMALL)
    {
        worker_meet_too_large(worker, task);
        return;
    }
    if (handler == NULL)
    {
        worker_meet_unknown(worker, task);
        return;
    }
    task->state = GH_TASK_PLACE_BEGUN;
    task->again_us = 0;
    task->delay_us = 0;
    status = handler->function(handler->context, task);
    if (status == GH_OK)
        task_set_end(task, GH_TASK_ACTION_DONE, "");
    else if (status == GH_CORRUPT)
        task_set_end(task, GH_TASK_ACTION_FAIL, "the payload makes no sense");
    else if (status != GH_PENDING)
        task_set_end(task, GH_TASK_ACTION_RETRY, gh_status_text(status));
}

/* Not ours any more: a handler that has begun is told, so that it can clean up. */
static void worker_tell_lost(gh_tasks_worker* worker, gh_task* task)
{
    gh_task_handler* handler = worker_handler(worker, task->handler);
    bool begun = task->state == GH_TASK_PLACE_BEGUN;
    task->status = GH_LOST;
    task->state = GH_TASK_PLACE_ENDED;
    if (begun && handler != NULL) handler->function(handler->context, task);
}

static void worker_lose(gh_tasks_worker* worker, gh_task* task)
{
    worker_tell_lost(worker, task);
    task->state = GH_TASK_PLACE_FREE;
    task->action = GH_TASK_ACTION_KEEP;
    worker->lost++;
}

/* What is being finished is left to the answer of the store. */
static void worker_lose_expired(gh_tasks_worker* worker)
{
    size_t i;
    for (i = 0; i < worker->config.slot_count; i++)
    {
        gh_task* task = &worker->config.slots[i];
        if (task->state == GH_TASK_PLACE_FREE || (task->sending & GH_TASK_SENDING_FINISH) != 0) continue;
        if (task->lease_end_us <= worker_now(worker)) worker_lose(worker, task);
    }
}

static void worker_lose_all(gh_tasks_worker* worker)
{
    size_t i;
    for (i = 0; i < worker->config.slot_count; i++) worker->config.slots[i].lease_end_us = 0;
    worker_lose_expired(worker);
}

static bool task_is_runnable(const gh_tasks_worker* worker, const gh_task* task)
{
    if (task->state == GH_TASK_PLACE_HELD) return true;
    return task->state == GH_TASK_PLACE_BEGUN && task->called_us != worker_now(worker) &&
           worker_now(worker) - task->called_us >= task->again_us;
}

/* ---- as many as the tick has time for ------------------------------------------------------------------ */

/* Of those that were not called yet, some need no call. */
static bool worker_passes_over(gh_tasks_worker* worker, gh_task* task)
{
    bool give_back = task->state == GH_TASK_PLACE_HELD &&
                     (worker->stopping != WORKER_WORKS || task->status == GH_CANCELLED);
    if (worker->stopping == WORKER_LEAVES &&
        (task->state == GH_TASK_PLACE_HELD || task->state == GH_TASK_PLACE_BEGUN))
    {
        worker_tell_lost(worker, task);
        give_back = true;
    }
    if (give_back) task_set_end(task, GH_TASK_ACTION_GIVE_BACK, "");
    return give_back;
}

static void worker_run(gh_tasks_worker* worker)
{
    uint32_t before;
    size_t i;
    if (worker->ran_us != worker_now(worker)) worker->called = 0;
    worker->ran_us = worker_now(worker);
    before = worker->called;
    for (i = 0; i < worker->config.slot_count; i++)
    {
        gh_task* task = &worker->config.slots[worker->next_slot];
        bool runnable = !worker_passes_over(worker, task) && task_is_runnable(worker, task);
        if (runnable && worker->called > 0 && !gh_client_budget_left(worker->op.client))
        {
            worker->appetite = worker->called;
            return;
        }
        worker->next_slot = (worker->next_slot + 1) % (uint32_t)worker->config.slot_count;
        if (runnable) worker_call(worker, task);
    }
    if (worker->called == before || worker->called < worker->appetite ||
        !gh_client_budget_left(worker->op.client))
        return;
    worker->appetite = worker->appetite * 2; /* all of them, and there is time left */
    if (worker->appetite > worker->config.slot_count) worker->appetite = (uint32_t)worker->config.slot_count;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static gh_tasks_queue* worker_queue(const gh_tasks_worker* worker, uint32_t i)
{
    return &worker->config.queues[i];
}

/* A request could not begin, or failed: not again at once. */
static void worker_note(gh_tasks_worker* worker, gh_status status, uint64_t pause_us)
{
    worker->trouble = status;
    if (status != GH_OK) worker->retry_us = gh_client_after(worker->op.client, pause_us);
}

static void worker_send_finish(gh_tasks_worker* worker)
{
    gh_status status;
    size_t i;
    if (op_is_busy(&worker->finish.op) || worker_now(worker) < worker->retry_us) return;
    for (i = 0; i < worker->config.slot_count; i++)
        if (worker->config.slots[i].state == GH_TASK_PLACE_ENDED) break;
    if (i == worker->config.slot_count) return;
    worker->finish.queue_index = (uint8_t)worker->config.slots[i].queue;
    worker->finish.leaving = worker->stopping == WORKER_LEAVES;
    status = gh_tasks_finish_begin(&worker->finish, worker->op.client,
                                   worker_queue(worker, worker->finish.queue_index)->name,
                                   worker->config.slots, worker->config.slot_count, &worker->config.tasks);
    if (status != GH_OK) worker_note(worker, status, 1);
}

static bool task_wants_renewal(const gh_tasks_worker* worker, const gh_task* task)
{
    return task->state != GH_TASK_PLACE_FREE && (task->sending & GH_TASK_SENDING_FINISH) == 0 &&
           task->renew_us <= worker_now(worker);
}

static void worker_send_extend(gh_tasks_worker* worker)
{
    gh_status status;
    size_t i;
    if (op_is_busy(&worker->extend.op) || worker_now(worker) < worker->retry_us) return;
    for (i = 0; i < worker->config.slot_count; i++)
        if (task_wants_renewal(worker, &worker->config.slots[i])) break;
    if (i == worker->config.slot_count) return;
    worker->extend.queue_index = (uint8_t)worker->config.slots[i].queue;
    status = gh_tasks_extend_begin(&worker->extend, worker->op.client,
                                   worker_queue(worker, worker->extend.queue_index)->name,
                                   worker->config.slots, worker->config.slot_count, &worker->config.tasks);
    if (status != GH_OK) worker_note(worker, status, 1);
}

/* How many tasks it would like to have now: what a tick can eat, less what lies ready. */
static uint32_t worker_hunger(const gh_tasks_worker* worker)
{
    uint32_t unused = 0;
    uint32_t waiting = 0;
    uint32_t hunger;
    size_t i;
    for (i = 0; i < worker->config.slot_count; i++)
    {
        const gh_task* task = &worker->config.slots[i];
        if (task->state == GH_TASK_PLACE_FREE && task->sending == 0) unused++;
        if (task->state == GH_TASK_PLACE_HELD || (task->state == GH_TASK_PLACE_BEGUN && task->again_us == 0))
            waiting++;
    }
    hunger = worker->appetite > waiting ? worker->appetite - waiting : 0;
    return hunger < unused ? hunger : unused;
}

/* The queue to be asked: the first, or by weight the one furthest behind, of those that are not known to be
   empty. */
static gh_tasks_queue* worker_choose_queue(const gh_tasks_worker* worker)
{
    gh_tasks_queue* best = NULL;
    uint32_t i;
    for (i = 0; i < worker->config.queue_count; i++)
    {
        gh_tasks_queue* queue = worker_queue(worker, i);
        if (queue->ask_us > worker_now(worker)) continue;
        if (best == NULL || (worker->weighted && queue->credit > best->credit)) best = queue;
    }
    return best;
}

static void worker_send_take(gh_tasks_worker* worker)
{
    uint32_t hunger;
    gh_tasks_queue* queue;
    gh_status status;
    if (worker->stopping != WORKER_WORKS || op_is_busy(&worker->take.op) ||
        worker_now(worker) < worker->retry_us)
        return;
    hunger = worker_hunger(worker);
    queue = hunger == 0 ? NULL : worker_choose_queue(worker);
    if (queue == NULL) return;
    worker->take.want = (uint8_t)hunger;
    worker->take.queue_index = (uint8_t)(queue - worker->config.queues);
    worker->hinted = false;
    status = gh_tasks_take_begin(&worker->take, worker->op.client, queue->name, worker->config.slots,
                                 worker->config.slot_count, NULL, worker->slot_size, &worker->config.tasks);
    if (status != GH_OK) worker_note(worker, status, 1);
}

/* ---- one of the three has ended ------------------------------------------------------------------------ */

/* A queue gave so many tasks: each that may have some gets its share as credit, and the one that gave them
   pays. */
static void worker_settle(gh_tasks_worker* worker, gh_tasks_queue* gave, uint32_t count)
{
    int32_t sum = 0;
    uint32_t i;
    for (i = 0; worker->weighted && i < worker->config.queue_count; i++)
    {
        gh_tasks_queue* queue = worker_queue(worker, i);
        if (queue->ask_us > worker_now(worker))
        {
            queue->credit = 0; /* one that is empty saves nothing up */
            continue;
        }
        sum += (int32_t)queue->weight;
        queue->credit += (int32_t)(queue->weight * count);
        if (queue->credit > CREDIT_MAX) queue->credit = CREDIT_MAX;
    }
    gave->credit -= sum * (int32_t)count;
    if (gave->credit < -CREDIT_MAX) gave->credit = -CREDIT_MAX;
}

static void worker_hear(gh_tasks_worker* worker)
{
    uint32_t i;
    worker->hinted = true; /* what is being asked now may have been asked too early */
    for (i = 0; i < worker->config.queue_count; i++) worker_queue(worker, i)->ask_us = 0;
}

static void worker_rest(gh_tasks_worker* worker, gh_tasks_queue* queue, uint64_t next_us)
{
    queue->pause_us = queue->pause_us == 0 ? PAUSE_MIN_US : queue->pause_us * 2;
    if (queue->pause_us > PAUSE_MAX_US) queue->pause_us = PAUSE_MAX_US;
    if (next_us == 0) next_us = PAUSE_MIN_US;
    queue->ask_us = gh_client_after(worker->op.client, next_us < queue->pause_us ? next_us : queue->pause_us);
    if (worker->hinted) worker_hear(worker);
}

/* By a rate it is known when to ask again. By running_max, it may be as soon as a task is finished. */
static void worker_rest_limited(gh_tasks_worker* worker, gh_tasks_queue* queue)
{
    uint64_t next_us = worker->take.next_us;
    if (!worker->take.by_rate)
    {
        queue->full = true;
        worker_rest(worker, queue, next_us);
        return;
    }
    queue->pause_us = 0;
    queue->ask_us =
        gh_client_after(worker->op.client, next_us < GH_TASKS_RATE_WAIT_US ? next_us : GH_TASKS_RATE_WAIT_US);
}

static void worker_take_ended(void* owner)
{
    gh_tasks_worker* worker = (gh_tasks_worker*)owner;
    gh_tasks_queue* queue = worker_queue(worker, worker->take.queue_index);
    gh_status status = gh_tasks_take_poll(&worker->take);
    if (!op_is_busy(&worker->op)) return;
    queue->full = false;
    worker->taken += worker->take.count; /* some may have come before the answer turned out to be broken */
    if (status == GH_OK)
    {
        queue->pause_us = 0;
        queue->ask_us = 0;
        worker_settle(worker, queue, worker->take.count);
        worker_note(worker, GH_OK, 0);
    }
    else if (status == GH_EMPTY || status == GH_TASK_PAUSED)
    {
        worker_note(worker, GH_OK, 0);
        worker_rest(worker, queue, worker->take.next_us);
    }
    else if (status == GH_TASK_LIMITED)
    {
        worker_note(worker, GH_OK, 0);
        worker_rest_limited(worker, queue);
    }
    else if (status != GH_CANCELLED)
    {
        worker_note(worker, status, TROUBLE_PAUSE_US);
    }
    worker_move(worker);
}

static void worker_count(gh_tasks_worker* worker, const gh_task* task)
{
    if (task->status == GH_LOST && task->action != GH_TASK_ACTION_GIVE_BACK)
        worker->lost++;
    else if (task->status == GH_CANCELLED)
        worker->cancelled++;
    else if (task->status == GH_TASK_DEAD || (task->status == GH_OK && task->action == GH_TASK_ACTION_FAIL))
        worker->dead++;
    else if (task->action == GH_TASK_ACTION_RETRY)
        worker->retried++;
    else if (task->action == GH_TASK_ACTION_DONE)
        worker->done++;
}

static void worker_finish_ended(void* owner)
{
    gh_tasks_worker* worker = (gh_tasks_worker*)owner;
    gh_tasks_queue* queue = worker_queue(worker, worker->finish.queue_index);
    gh_status status = gh_tasks_finish_poll(&worker->finish);
    size_t i;
    if (!op_is_busy(&worker->op)) return;
    for (i = 0; i < worker->config.slot_count; i++)
    {
        gh_task* task = &worker->config.slots[i];
        if (task->state != GH_TASK_PLACE_FREE || task->action == GH_TASK_ACTION_KEEP) continue;
        worker_count(worker, task);
        task->action = GH_TASK_ACTION_KEEP;
    }
    if (queue->full) queue->ask_us = 0; /* there is room for others now */
    worker_note(worker, status, TROUBLE_PAUSE_US);
    worker_move(worker);
}

static void worker_extend_ended(void* owner)
{
    gh_tasks_worker* worker = (gh_tasks_worker*)owner;
    if (!op_is_busy(&worker->op)) return;
    worker_note(worker, gh_tasks_extend_poll(&worker->extend), TROUBLE_PAUSE_US);
    worker_move(worker); /* loses those whose lease end is 0 now */
}

/* ---- moving -------------------------------------------------------------------------------------------- */

static void worker_end(gh_tasks_worker* worker, gh_status status)
{
    if (op_is_busy(&worker->bell)) gh_op_end(&worker->bell, GH_CANCELLED);
    gh_op_end(&worker->op, status);
}

static bool worker_is_done(const gh_tasks_worker* worker)
{
    return worker->stopping != WORKER_WORKS && worker->running == 0 && !op_is_busy(&worker->take.op) &&
           !op_is_busy(&worker->finish.op) && !op_is_busy(&worker->extend.op);
}

/* When a slot has something to do that no answer will bring about. */
static uint64_t task_next_time(const gh_tasks_worker* worker, const gh_task* task)
{
    uint64_t next_us = GH_FOREVER;
    if (task->state == GH_TASK_PLACE_HELD) next_us = 0;
    if (task->state == GH_TASK_PLACE_BEGUN) next_us = task->called_us + task->again_us;
    if (task->state == GH_TASK_PLACE_ENDED && !op_is_busy(&worker->finish.op)) next_us = worker->retry_us;
    if (!op_is_busy(&worker->extend.op) && task->renew_us < next_us)
        next_us = task->renew_us > worker->retry_us ? task->renew_us : worker->retry_us;
    return next_us;
}

static uint64_t worker_next_question(const gh_tasks_worker* worker)
{
    uint64_t next_us = GH_FOREVER;
    uint32_t i;
    if (worker->stopping != WORKER_WORKS || op_is_busy(&worker->take.op) || worker_hunger(worker) == 0)
        return GH_FOREVER;
    for (i = 0; i < worker->config.queue_count; i++)
        if (worker_queue(worker, i)->ask_us < next_us) next_us = worker_queue(worker, i)->ask_us;
    return next_us > worker->retry_us ? next_us : worker->retry_us;
}

static void worker_plan(gh_tasks_worker* worker)
{
    uint64_t next_us = worker_next_question(worker);
    uint64_t lease_end_us = GH_FOREVER;
    size_t i;
    worker->running = 0;
    for (i = 0; i < worker->config.slot_count; i++)
    {
        const gh_task* task = &worker->config.slots[i];
        uint64_t time_us;
        if (task->state == GH_TASK_PLACE_FREE) continue;
        worker->running++;
        if ((task->sending & GH_TASK_SENDING_FINISH) != 0) continue;
        time_us = task_next_time(worker, task);
        if (time_us < next_us) next_us = time_us;
        if (task->lease_end_us < lease_end_us) lease_end_us = task->lease_end_us;
    }
    gh_op_timer(&worker->op,
                next_us == GH_FOREVER ? GH_FOREVER : worker_not_before_next_tick(worker, next_us));
    gh_op_lease(&worker->op, lease_end_us);
}

static void worker_move(gh_tasks_worker* worker)
{
    worker->again = worker->moving;
    if (worker->moving) return;
    worker->moving = true;
    do
    {
        worker->again = false;
        worker_lose_expired(worker);
        worker_run(worker);
        if (worker->stopping == WORKER_LEAVES) gh_tasks_take_cancel(&worker->take);
        worker_send_finish(worker);
        worker_send_extend(worker);
        worker_send_take(worker);
    } while (worker->again);
    worker->moving = false;
    worker_plan(worker);
    if (worker_is_done(worker))
        worker_end(worker, worker->stopping == WORKER_LEAVES ? GH_CANCELLED : GH_IDLE);
}

/* The client is closing: handlers that have begun are told, and nothing is given back; it comes back after
   its lease. */
static void worker_close(gh_tasks_worker* worker)
{
    worker->moving = true;
    worker_lose_all(worker);
    worker->moving = false;
    worker->running = 0;
    worker_end(worker, GH_CANCELLED);
}

static void worker_step(gh_op* op, const gh_event* event)
{
    gh_tasks_worker* worker = worker_of(op);
    switch (event->kind)
    {
    case GH_EVENT_TIMER:
    case GH_EVENT_LAPSED: worker_move(worker); break;
    case GH_EVENT_HINT:
        worker_hear(worker);
        worker_move(worker);
        break;
    case GH_EVENT_RESET:
        worker_lose_all(worker);
        worker_move(worker);
        break;
    case GH_EVENT_CANCEL: /* all ops are being told: what were begun now would be told as well */
        gh_tasks_worker_cancel(worker);
        worker->retry_us = worker_not_before_next_tick(worker, 0);
        break;
    case GH_EVENT_CLOSE: worker_close(worker); break;
    case GH_EVENT_REPLY:
    case GH_EVENT_FAILED: break; /* it never sends */
    }
}

static void bell_step(gh_op* op, const gh_event* event)
{
    gh_tasks_worker* worker = worker_of_bell(op);
    size_t i;
    if (event->kind == GH_EVENT_CLOSE) gh_op_end(op, GH_CANCELLED);
    if (event->kind != GH_EVENT_HINT) return;
    for (i = 0; i < worker->config.slot_count; i++)
        worker->config.slots[i].renew_us = 0; /* that tells which task */
    worker_move(worker);
}

static const gh_op_kind worker_kind = {"tasks_worker", worker_step, NULL, NULL, false, NULL};
static const gh_op_kind bell_kind = {"tasks_worker", bell_step, NULL, NULL, false, NULL};

/* ---- what the caller calls ----------------------------------------------------------------------------- */

gh_tasks_worker_config gh_tasks_worker_config_default(void)
{
    gh_tasks_worker_config config;
    memset(&config, 0, sizeof config);
    config.struct_size = sizeof config;
    config.tasks = gh_tasks_config_default();
    return config;
}

static gh_status check_worker_queues(const gh_tasks_worker_config* config)
{
    size_t weighted = 0;
    size_t i;
    size_t j;
    if (config->queues == NULL || config->queue_count == 0 || config->queue_count > GH_TASKS_QUEUES_MAX)
        return GH_INVALID_TASK_QUEUES;
    for (i = 0; i < config->queue_count; i++)
    {
        if (!gh_name_is_valid(config->queues[i].name)) return GH_INVALID_TASK_QUEUES;
        for (j = 0; j < i; j++)
            if (gh_str_equal(config->queues[i].name, config->queues[j].name)) return GH_INVALID_TASK_QUEUES;
        if (config->queues[i].weight > GH_TASKS_WEIGHT_MAX) return GH_INVALID_TASK_WEIGHTS;
        if (config->queues[i].weight > 0) weighted++;
    }
    return weighted == 0 || weighted == config->queue_count ? GH_OK : GH_INVALID_TASK_WEIGHTS;
}

static gh_status check_worker_config(const gh_tasks_worker_config* config, const gh_client* client)
{
    gh_status status;
    if (config == NULL || config->struct_size != sizeof *config) return GH_INVALID_CONFIG;
    status = gh_tasks_config_check(&config->tasks);
    if (status == GH_OK) status = check_worker_queues(config);
    if (status != GH_OK) return status;
    if (config->slots == NULL || config->slot_count == 0 || config->slot_count > GH_TASKS_BATCH_MAX ||
        config->memory == NULL || config->memory_size / config->slot_count < SLOT_SIZE_MIN)
        return GH_INVALID_TASK_SLOTS;
    if (config->handlers == NULL || config->handler_count == 0 ||
        config->handler_count > GH_TASKS_HANDLERS_MAX)
        return GH_INVALID_TASK_HANDLERS;
    return gh_task_handlers_set_up(config, client) ? GH_OK : GH_INVALID_TASK_HANDLERS;
}

static void worker_set_up(gh_tasks_worker* worker, const gh_tasks_worker_config* config)
{
    void* user = worker->user;
    size_t i;
    memset(worker, 0, sizeof *worker);
    worker->user = user;
    worker->config = *config;
    worker->config.tasks.wait_us = 0; /* it waits itself, for all of its queues */
    worker->appetite = 1;
    worker->weighted = config->queues[0].weight > 0;
    worker->slot_size = (uint32_t)(config->memory_size / config->slot_count > UINT16_MAX
                                       ? UINT16_MAX
                                       : config->memory_size / config->slot_count);
    for (i = 0; i < config->slot_count; i++)
    {
        memset(&config->slots[i], 0, sizeof config->slots[i]);
        config->slots[i].memory = (char*)config->memory + i * worker->slot_size;
        config->slots[i].memory_size = worker->slot_size;
    }
    for (i = 0; i < config->queue_count; i++)
    {
        config->queues[i].credit = 0;
        config->queues[i].pause_us = 0;
        config->queues[i].ask_us = 0;
        config->queues[i].full = false;
    }
}

static void worker_hire(gh_tasks_worker* worker)
{
    worker->take.owner = worker->finish.owner = worker->extend.owner = worker;
    worker->take.ended = worker_take_ended;
    worker->finish.ended = worker_finish_ended;
    worker->extend.ended = worker_extend_ended;
    worker->take.taker_client = worker->finish.field_client = gh_client_id(worker->op.client);
    worker->take.taker_sequence = worker->finish.field_sequence = worker->bell.sequence;
    worker->take.sleeper = worker->op.sequence;
}

gh_status gh_tasks_worker_begin(gh_tasks_worker* worker, gh_client* client,
                                const gh_tasks_worker_config* config)
{
    gh_op bell;
    gh_status status = gh_op_check(worker == NULL ? NULL : &worker->op, client);
    if (status != GH_OK) return status;
    status = check_worker_config(config, client);
    if (status != GH_OK) return status;
    memset(&bell, 0, sizeof bell);
    gh_op_begin(&bell, client, &bell_kind); /* is there room for two? */
    status = gh_op_check(&worker->op, client);
    gh_op_end(&bell, GH_IDLE);
    if (status != GH_OK) return status;
    worker_set_up(worker, config);
    gh_op_begin(&worker->op, client, &worker_kind);
    gh_op_begin(&worker->bell, client, &bell_kind);
    gh_op_listen(&worker->op);
    gh_op_listen(&worker->bell);
    worker_hire(worker);
    gh_op_timer(&worker->op, worker_not_before_next_tick(worker, 0));
    return GH_OK;
}

gh_status gh_tasks_worker_poll(const gh_tasks_worker* worker)
{
    return worker == NULL ? GH_IDLE : gh_op_poll(&worker->op);
}

static void worker_set_stopping(gh_tasks_worker* worker, worker_stopping how)
{
    if (worker == NULL || !op_is_busy(&worker->op) || worker->stopping >= (uint8_t)how) return;
    worker->stopping = (uint8_t)how;
    if (how == WORKER_LEAVES && op_is_busy(&worker->bell))
        gh_op_end(&worker->bell, GH_CANCELLED); /* room for the last */
    gh_op_timer(&worker->op, worker_not_before_next_tick(worker, 0));
}

void gh_tasks_worker_stop(gh_tasks_worker* worker)
{
    worker_set_stopping(worker, WORKER_STOPS);
}

void gh_tasks_worker_cancel(gh_tasks_worker* worker)
{
    worker_set_stopping(worker, WORKER_LEAVES);
}
