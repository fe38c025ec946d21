/* tasks_worker_requests.c -- the three ops of a worker, take, finish and extend: when each begins, from which queue it
   takes, and what its end changes. */

#include "tasks_worker_parts.h"

#define PAUSE_MIN_US     1000u   /* of an empty queue: doubles with each empty answer ... */
#define PAUSE_MAX_US     100000u /* ... up to this                                        */
#define TROUBLE_PAUSE_US 100000ull
#define CREDIT_MAX       1000000

/* ---- requests ------------------------------------------------------------------------------------------ */

/* How a request about the queue ended. It could not begin, or failed: not again at once. */
static void worker_note(gh_tasks_worker* worker, gh_tasks_worker_queue* queue, gh_status status, uint64_t pause_us)
{
    uint32_t i;
    queue->trouble = worker->trouble = status;
    for (i = 0; i < worker->config.queue_count && worker->trouble == GH_OK; i++)
        worker->trouble = gh_tasks_worker_queue_at(worker, i)->trouble;
    if (status != GH_OK) queue->retry_us = gh_client_after(worker->op.client, pause_us);
}

/* One of the three was begun, or could not be: in the next frame, as no tick brings room by itself. */
static void worker_begun(gh_tasks_worker* worker, gh_tasks_worker_queue* queue, int which, gh_status status)
{
    if (status == GH_OK) worker->under_way |= (uint8_t)which;
    else worker_note(worker, queue, status, PAUSE_MIN_US);
}

static bool worker_queue_pauses(const gh_tasks_worker* worker, const gh_tasks_worker_queue* queue)
{
    return queue->retry_us > gh_tasks_worker_now(worker);
}

static bool task_wants_finish(const gh_tasks_worker* worker, const gh_task* task)
{
    return task->state == GH_TASK_PLACE_ENDED &&
           !worker_queue_pauses(worker, gh_tasks_worker_queue_at(worker, task->queue));
}

static void worker_send_finish(gh_tasks_worker* worker)
{
    gh_tasks_worker_queue* queue;
    gh_status status;
    size_t i;
    if ((worker->under_way & WORKER_FINISH) != 0) return;
    for (i = 0; i < worker->config.slot_count; i++)
        if (task_wants_finish(worker, &worker->config.slots[i])) break;
    if (i == worker->config.slot_count) return;
    worker->finish.queue_index = (uint8_t)worker->config.slots[i].queue;
    worker->finish.leaving = worker->stopping == WORKER_LEAVES;
    queue = gh_tasks_worker_queue_at(worker, worker->finish.queue_index);
    status = gh_tasks_finish_begin(&worker->finish, queue->queue, worker->config.slots, worker->config.slot_count);
    worker_begun(worker, queue, WORKER_FINISH, status);
}

static bool task_wants_renewal(const gh_tasks_worker* worker, const gh_task* task)
{
    return gh_task_is_kept(task) && task->renew_us <= gh_tasks_worker_now(worker) &&
           !worker_queue_pauses(worker, gh_tasks_worker_queue_at(worker, task->queue));
}

/* Of the queue whose task has the least time left, all tasks. */
static void worker_send_extend(gh_tasks_worker* worker)
{
    const gh_task* first = NULL;
    gh_tasks_worker_queue* queue;
    gh_status status;
    size_t i;
    if ((worker->under_way & WORKER_EXTEND) != 0) return;
    for (i = 0; i < worker->config.slot_count; i++)
    {
        const gh_task* task = &worker->config.slots[i];
        if (!task_wants_renewal(worker, task)) continue;
        if (first == NULL || task->lease_end_us < first->lease_end_us) first = task;
    }
    if (first == NULL) return;
    worker->extend.queue_index = (uint8_t)first->queue;
    queue = gh_tasks_worker_queue_at(worker, worker->extend.queue_index);
    status = gh_tasks_extend_begin(&worker->extend, queue->queue, worker->config.slots, worker->config.slot_count);
    worker_begun(worker, queue, WORKER_EXTEND, status);
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
        if (task->state == GH_TASK_PLACE_HELD || (task->state == GH_TASK_PLACE_BEGUN && task->again_us == 0)) waiting++;
    }
    hunger = worker->appetite > waiting ? worker->appetite - waiting : 0;
    return hunger < unused ? hunger : unused;
}

/* The queue to be asked: the first, or by weight the one furthest behind, of those that are not known to be
   empty, nor have failed just now. */
static gh_tasks_worker_queue* worker_choose_queue(const gh_tasks_worker* worker)
{
    gh_tasks_worker_queue* best = NULL;
    uint32_t i;
    for (i = 0; i < worker->config.queue_count; i++)
    {
        gh_tasks_worker_queue* queue = gh_tasks_worker_queue_at(worker, i);
        if (queue->ask_us > gh_tasks_worker_now(worker) || worker_queue_pauses(worker, queue)) continue;
        if (best == NULL || (worker->weighted && queue->credit > best->credit)) best = queue;
    }
    return best;
}

static void worker_send_take(gh_tasks_worker* worker)
{
    uint32_t hunger;
    gh_tasks_worker_queue* queue;
    gh_status status;
    if (worker->stopping != WORKER_WORKS || (worker->under_way & WORKER_TAKE) != 0) return;
    hunger = worker_hunger(worker);
    queue = hunger == 0 ? NULL : worker_choose_queue(worker);
    if (queue == NULL) return;
    worker->take.want = (uint8_t)hunger;
    worker->take.queue_index = (uint8_t)(queue - worker->config.queues);
    worker->hinted = false;
    status = gh_tasks_take_begin(&worker->take, queue->queue, worker->config.slots, worker->config.slot_count, NULL,
                                 worker->slot_size);
    worker_begun(worker, queue, WORKER_TAKE, status);
}

/* Begins what there is to begin. */
void gh_tasks_worker_ask(gh_tasks_worker* worker)
{
    worker_send_finish(worker);
    worker_send_extend(worker);
    worker_send_take(worker);
}

uint64_t gh_tasks_worker_next_question(const gh_tasks_worker* worker)
{
    uint64_t next_us = GH_FOREVER;
    uint32_t i;
    if (worker->stopping != WORKER_WORKS || (worker->under_way & WORKER_TAKE) != 0 || worker_hunger(worker) == 0)
        return GH_FOREVER;
    for (i = 0; i < worker->config.queue_count; i++)
    {
        const gh_tasks_worker_queue* queue = gh_tasks_worker_queue_at(worker, i);
        uint64_t time_us = queue->ask_us > queue->retry_us ? queue->ask_us : queue->retry_us;
        if (time_us < next_us) next_us = time_us;
    }
    return next_us;
}

/* ---- one of the three has ended ------------------------------------------------------------------------ */

/* A queue gave so many tasks: each that may have some gets its share as credit, and the one that gave them
   pays. */
static void worker_settle(gh_tasks_worker* worker, gh_tasks_worker_queue* gave, uint32_t count)
{
    int32_t sum = 0;
    uint32_t i;
    for (i = 0; worker->weighted && i < worker->config.queue_count; i++)
    {
        gh_tasks_worker_queue* queue = gh_tasks_worker_queue_at(worker, i);
        if (queue->ask_us > gh_tasks_worker_now(worker))
        {
            queue->credit = 0; /* one that is empty saves nothing up */
            continue;
        }
        if (worker_queue_pauses(worker, queue)) continue;
        sum += (int32_t)queue->weight;
        queue->credit += (int32_t)(queue->weight * count);
        if (queue->credit > CREDIT_MAX) queue->credit = CREDIT_MAX;
    }
    gave->credit -= sum * (int32_t)count;
    if (gave->credit < -CREDIT_MAX) gave->credit = -CREDIT_MAX;
}

void gh_tasks_worker_hear(gh_tasks_worker* worker)
{
    uint32_t i;
    worker->hinted = true; /* what is being asked now may have been asked too early */
    for (i = 0; i < worker->config.queue_count; i++) gh_tasks_worker_queue_at(worker, i)->ask_us = 0;
}

static void worker_rest(gh_tasks_worker* worker, gh_tasks_worker_queue* queue, uint64_t next_us)
{
    queue->pause_us = queue->pause_us == 0 ? PAUSE_MIN_US : queue->pause_us * 2;
    if (queue->pause_us > PAUSE_MAX_US) queue->pause_us = PAUSE_MAX_US;
    if (next_us == 0) next_us = PAUSE_MIN_US;
    queue->ask_us = gh_client_after(worker->op.client, next_us < queue->pause_us ? next_us : queue->pause_us);
    if (worker->hinted) gh_tasks_worker_hear(worker);
}

/* By a rate it is known when to ask again. By running_max, it may be as soon as a task is finished. */
static void worker_rest_limited(gh_tasks_worker* worker, gh_tasks_worker_queue* queue)
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

static void worker_take_ended(gh_tasks_worker* worker)
{
    gh_tasks_worker_queue* queue = gh_tasks_worker_queue_at(worker, worker->take.queue_index);
    gh_status status = gh_op_poll(&worker->take.op);
    queue->full = false;
    worker->taken += worker->take.count; /* some may have come before the answer turned out to be broken */
    if (status == GH_OK)
    {
        queue->pause_us = 0;
        queue->ask_us = 0;
        worker_settle(worker, queue, worker->take.count);
        worker_note(worker, queue, GH_OK, 0);
    }
    else if (status == GH_EMPTY || status == GH_PAUSED)
    {
        worker_note(worker, queue, GH_OK, 0);
        worker_rest(worker, queue, worker->take.next_us);
    }
    else if (status == GH_LIMITED)
    {
        worker_note(worker, queue, GH_OK, 0);
        worker_rest_limited(worker, queue);
    }
    else if (status != GH_CANCELLED)
    {
        queue->credit = 0; /* one that fails saves nothing up, either */
        worker_note(worker, queue, status, TROUBLE_PAUSE_US);
    }
}

static void worker_count(gh_tasks_worker* worker, const gh_task* task)
{
    if (task->status == GH_LOST && task->action != GH_TASK_ACTION_GIVE_BACK) worker->lost++;
    else if (task->status == GH_CANCELLED) worker->cancelled++;
    else if (task->status == GH_DEAD || (task->status == GH_OK && task->action == GH_TASK_ACTION_FAIL)) worker->dead++;
    else if (task->action == GH_TASK_ACTION_RETRY) worker->retried++;
    else if (task->action == GH_TASK_ACTION_DONE) worker->done++;
}

static void worker_finish_ended(gh_tasks_worker* worker)
{
    gh_tasks_worker_queue* queue = gh_tasks_worker_queue_at(worker, worker->finish.queue_index);
    gh_status status = gh_op_poll(&worker->finish.op);
    size_t i;
    for (i = 0; i < worker->config.slot_count; i++)
    {
        gh_task* task = &worker->config.slots[i];
        if (task->state != GH_TASK_PLACE_FREE || task->action == GH_TASK_ACTION_CONTINUE) continue;
        worker_count(worker, task);
        task->action = GH_TASK_ACTION_CONTINUE;
    }
    if (queue->full) queue->ask_us = 0; /* there is room for others now */
    if (worker->stopping == WORKER_LEAVES && (status == GH_CORRUPT || status == GH_REFUSED))
        gh_tasks_worker_lose_queue(worker, worker->finish.queue_index); /* each comes back after its lease */
    worker_note(worker, queue, status, TROUBLE_PAUSE_US);
}

static void worker_extend_ended(gh_tasks_worker* worker)
{
    gh_tasks_worker_queue* queue = gh_tasks_worker_queue_at(worker, worker->extend.queue_index);
    worker_note(worker, queue, gh_op_poll(&worker->extend.op), TROUBLE_PAUSE_US);
}

void gh_tasks_worker_hear_ends(gh_tasks_worker* worker)
{
    uint32_t over = 0;
    if (!gh_tasks_op_is_busy(&worker->take.op)) over |= WORKER_TAKE;
    if (!gh_tasks_op_is_busy(&worker->finish.op)) over |= WORKER_FINISH;
    if (!gh_tasks_op_is_busy(&worker->extend.op)) over |= WORKER_EXTEND;
    over &= worker->under_way;
    worker->under_way ^= (uint8_t)over;
    if ((over & WORKER_TAKE) != 0) worker_take_ended(worker);
    if ((over & WORKER_FINISH) != 0) worker_finish_ended(worker);
    if ((over & WORKER_EXTEND) != 0) worker_extend_ended(worker);
}

void gh_tasks_worker_hire(gh_tasks_worker* worker)
{
    worker->take.owner = worker->finish.owner = worker->extend.owner = &worker->op;
    worker->take.taker_client = worker->finish.field_client = gh_client_id(worker->op.client);
    worker->take.taker_sequence = worker->finish.field_sequence = worker->bell.sequence;
    worker->take.sleeper = worker->op.sequence;
}
