/* tasks_worker.c -- a worker: takes tasks by itself and calls handlers, as much as each tick has time for.

       not ours --take--> HELD --call--> BEGUN --call again, while it says CONTINUE-.
          ^                 |              |  ^--------------------------------------'
          |                 |              v
          '---- finish ---- '--------->  ENDED: what became of it is told to the store

   It owns three ops of the pull style. Whatever happens (a tick's timer, a hint, one of the three has ended), it
   moves: loses what is over, calls handlers, and begins what there is to begin. */

#include "tasks_worker_parts.h"

#define SLOT_SIZE_MIN 256u

static gh_tasks_worker* worker_of(gh_op* op)
{
    return (gh_tasks_worker*)(void*)op;
}

static gh_tasks_worker* worker_of_bell(gh_op* op)
{
    return (gh_tasks_worker*)(void*)((char*)op - offsetof(gh_tasks_worker, bell));
}

/* In the next tick at the earliest: a timer that is due already would fire in this one again. */
static uint64_t worker_not_before_next_tick(const gh_tasks_worker* worker, uint64_t time_us)
{
    return time_us > gh_tasks_worker_now(worker) ? time_us : gh_tasks_worker_now(worker) + 1;
}

/* ---- moving -------------------------------------------------------------------------------------------- */

static void worker_end(gh_tasks_worker* worker, gh_status status)
{
    if (gh_tasks_op_is_busy(&worker->bell)) gh_op_end(&worker->bell, GH_CANCELLED);
    gh_op_end(&worker->op, status);
}

static bool worker_is_done(const gh_tasks_worker* worker)
{
    return worker->stopping != WORKER_WORKS && worker->running == 0 && worker->under_way == 0;
}

/* When a slot has something to do that no answer will bring about. */
static uint64_t task_next_time(const gh_tasks_worker* worker, const gh_task* task)
{
    uint64_t retry_us = gh_tasks_worker_queue_at(worker, task->queue)->retry_us;
    uint64_t next_us = GH_FOREVER;
    if (task->state == GH_TASK_PLACE_HELD) next_us = 0;
    if (task->state == GH_TASK_PLACE_BEGUN && task->again_us < GH_FOREVER - task->called_us)
        next_us = task->called_us + task->again_us;
    if (task->state == GH_TASK_PLACE_ENDED && (worker->under_way & WORKER_FINISH) == 0) next_us = retry_us;
    if ((worker->under_way & WORKER_EXTEND) == 0 && gh_task_is_kept(task) && task->renew_us < next_us)
        next_us = task->renew_us > retry_us ? task->renew_us : retry_us;
    return next_us;
}

static void worker_plan(gh_tasks_worker* worker)
{
    uint64_t next_us = gh_tasks_worker_next_question(worker);
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
    gh_op_timer(&worker->op, next_us == GH_FOREVER ? GH_FOREVER : worker_not_before_next_tick(worker, next_us));
    gh_op_lease(&worker->op, lease_end_us);
}

static void worker_move(gh_tasks_worker* worker)
{
    gh_tasks_worker_lose_expired(worker);
    gh_tasks_worker_run(worker);
    if (worker->stopping == WORKER_LEAVES) gh_op_cancel(&worker->take.op);
    gh_tasks_worker_ask(worker);
    worker_plan(worker);
    if (worker_is_done(worker)) worker_end(worker, worker->stopping == WORKER_LEAVES ? GH_CANCELLED : GH_OK);
}

/* The client is closing: handlers that have begun are told, and nothing is given back; it comes back after
   its lease. */
static void worker_close(gh_tasks_worker* worker)
{
    gh_tasks_worker_lose_all(worker);
    worker->running = 0;
    worker_end(worker, GH_CANCELLED);
}

/* Asks at once which tasks are still ours, and which shall be cancelled. */
static void worker_renew_all(gh_tasks_worker* worker)
{
    size_t i;
    for (i = 0; i < worker->config.slot_count; i++) worker->config.slots[i].renew_us = 0;
}

static void worker_set_retry(gh_tasks_worker* worker, uint64_t retry_us)
{
    uint32_t i;
    for (i = 0; i < worker->config.queue_count; i++) gh_tasks_worker_queue_at(worker, i)->retry_us = retry_us;
}

static void worker_set_stopping(gh_tasks_worker* worker, worker_stopping how)
{
    if (worker->stopping >= (uint8_t)how) return;
    worker->stopping = (uint8_t)how;
    if (how == WORKER_LEAVES && gh_tasks_op_is_busy(&worker->bell))
        gh_op_end(&worker->bell, GH_CANCELLED); /* room for the last */
    gh_op_timer(&worker->op, worker_not_before_next_tick(worker, 0));
}

static void worker_step(gh_op* op, const gh_event* event)
{
    gh_tasks_worker* worker = worker_of(op);
    switch (event->kind)
    {
    case GH_EVENT_TIMER:
    case GH_EVENT_LAPSED: worker_move(worker); break;
    case GH_EVENT_HINT:
        gh_tasks_worker_hear(worker);
        worker_move(worker);
        break;
    case GH_EVENT_RESET:
        gh_tasks_worker_lose_all(worker);
        worker_move(worker);
        break;
    case GH_EVENT_CHILD:
        gh_tasks_worker_hear_ends(worker);
        worker_move(worker);
        break;
    case GH_EVENT_CANCEL: /* all ops are being told: what were begun now would be told as well */
        worker_set_stopping(worker, WORKER_LEAVES);
        worker_set_retry(worker, worker_not_before_next_tick(worker, 0));
        break;
    case GH_EVENT_CLOSE: worker_close(worker); break;
    case GH_EVENT_DOUBT:
        worker_renew_all(worker);
        worker_set_retry(worker, 0);
        worker_move(worker);
        break;
    case GH_EVENT_REPLY:
    case GH_EVENT_FAILED: break; /* it never sends */
    }
}

static void bell_step(gh_op* op, const gh_event* event)
{
    gh_tasks_worker* worker = worker_of_bell(op);
    if (event->kind == GH_EVENT_CLOSE) gh_op_end(op, GH_CANCELLED);
    if (event->kind != GH_EVENT_HINT) return;
    worker_renew_all(worker); /* that tells which task */
    gh_op_child_moved(&worker->op);
}

/* Its handlers are told GH_LOST of what runs, now and never again. */
static void worker_detach(gh_op* op)
{
    gh_tasks_worker* worker = worker_of(op);
    if (!gh_op_is_busy(op)) return;
    worker_close(worker);
    gh_op_detach(&worker->bell);
    gh_op_detach(&worker->take.op);
    gh_op_detach(&worker->finish.op);
    gh_op_detach(&worker->extend.op);
}

static const gh_op_kind worker_kind = {.name = "tasks_worker",
                                       .step = worker_step,
                                       .effect = GH_OP_CHANGES,
                                       .detach = worker_detach,
                                       .owner_link = offsetof(gh_tasks_worker, next_owner)};
static const gh_op_kind bell_kind = {.name = "tasks_worker", .step = bell_step, .effect = GH_OP_CHANGES};

/* ---- what the caller calls ----------------------------------------------------------------------------- */

gh_tasks_worker_config gh_tasks_worker_config_default(void)
{
    gh_tasks_worker_config config;
    memset(&config, 0, sizeof config);
    config.struct_size = sizeof config;
    return config;
}

static bool worker_queue_is_good(const gh_queue* queue, const gh_client* client)
{
    return queue != NULL && queue->object.client == client && queue->object.status == GH_OK;
}

static gh_status check_worker_queues(const gh_tasks_worker_config* config, const gh_client* client)
{
    size_t weighted = 0;
    size_t i;
    size_t j;
    if (config->queues == NULL || config->queue_count == 0 || config->queue_count > GH_TASKS_QUEUES_MAX)
        return GH_INVALID_TASK_QUEUES;
    for (i = 0; i < config->queue_count; i++)
    {
        const gh_queue* queue = config->queues[i].queue;
        if (!worker_queue_is_good(queue, client)) return GH_INVALID_TASK_QUEUES;
        for (j = 0; j < i; j++)
            if (gh_str_equal(gh_name_str(&queue->object.name), gh_name_str(&config->queues[j].queue->object.name)))
                return GH_INVALID_TASK_QUEUES;
        if (config->queues[i].weight > GH_TASKS_WEIGHT_MAX) return GH_INVALID_TASK_WEIGHTS;
        if (config->queues[i].weight > 0) weighted++;
    }
    return weighted == 0 || weighted == config->queue_count ? GH_OK : GH_INVALID_TASK_WEIGHTS;
}

static gh_status check_worker_config(const gh_tasks_worker_config* config, gh_client* client)
{
    gh_status status;
    if (config == NULL || config->struct_size != sizeof *config) return GH_INVALID_CONFIG;
    status = check_worker_queues(config, client);
    if (status != GH_OK) return status;
    if (config->slots == NULL || config->slot_count == 0 || config->slot_count > GH_TASKS_BATCH_MAX ||
        config->memory == NULL || config->memory_size / config->slot_count < SLOT_SIZE_MIN)
        return GH_INVALID_TASK_SLOTS;
    if (config->handlers == NULL || config->handler_count == 0 || config->handler_count > GH_TASKS_HANDLERS_MAX)
        return GH_INVALID_TASK_HANDLERS;
    return gh_task_handlers_set_up(config, client) ? GH_OK : GH_INVALID_TASK_HANDLERS;
}

static void worker_set_up(gh_tasks_worker* worker, const gh_tasks_worker_config* config)
{
    size_t i;
    gh_op_clear(&worker->op, sizeof *worker);
    worker->config = *config;
    worker->appetite = 1;
    worker->weighted = config->queues[0].weight > 0;
    worker->slot_size =
        (uint32_t)(config->memory_size / config->slot_count > UINT16_MAX ? UINT16_MAX
                                                                         : config->memory_size / config->slot_count);
    for (i = 0; i < config->slot_count; i++)
    {
        memset(&config->slots[i], 0, sizeof config->slots[i]);
        config->slots[i].memory = (char*)config->memory + i * worker->slot_size;
        config->slots[i].memory_size = worker->slot_size;
    }
    for (i = 0; i < config->queue_count; i++)
    {
        config->queues[i].trouble = GH_OK;
        config->queues[i].credit = 0;
        config->queues[i].pause_us = 0;
        config->queues[i].ask_us = 0;
        config->queues[i].retry_us = 0;
        config->queues[i].full = false;
    }
}

static gh_status tasks_worker_try(gh_tasks_worker* worker, gh_client* client, const gh_tasks_worker_config* config)
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
    gh_tasks_worker_hire(worker);
    gh_op_timer(&worker->op, worker_not_before_next_tick(worker, 0));
    return GH_OK;
}

gh_status gh_tasks_worker_begin(gh_tasks_worker* worker, gh_client* client, const gh_tasks_worker_config* config)
{
    return gh_op_begun((gh_op*)worker, client, tasks_worker_try(worker, client, config));
}

void gh_tasks_worker_end(gh_tasks_worker* worker)
{
    if (worker != NULL && gh_tasks_op_is_busy(&worker->op)) worker_set_stopping(worker, WORKER_STOPS);
}
