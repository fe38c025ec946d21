/* tasks_worker_run.c -- a worker calls handlers, as many as the tick has time for, and loses what is over. */

#include "tasks_worker_parts.h"
#include "tasks/task_text.h"

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

/* What the handler has said. What is no action is a failure, and no reason to lose the task. */
static void task_obey(gh_task* task, gh_task_action action)
{
    switch (action)
    {
    case GH_TASK_ACTION_CONTINUE: break;
    case GH_TASK_ACTION_DONE:
    case GH_TASK_ACTION_GIVE_BACK: task_set_end(task, action, ""); break;
    case GH_TASK_ACTION_FAIL: task_set_end(task, action, "the handler gave it up"); break;
    case GH_TASK_ACTION_RETRY: task_set_end(task, action, "the handler failed"); break;
    default: task_set_end(task, GH_TASK_ACTION_RETRY, "the handler returned no action"); break;
    }
}

static void worker_call(gh_tasks_worker* worker, gh_task* task)
{
    gh_task_handler* handler = worker_handler(worker, task->handler);
    task->called_us = gh_tasks_worker_now(worker);
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
    task_obey(task, handler->function(handler->context, task));
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
    task->action = GH_TASK_ACTION_CONTINUE;
    worker->lost++;
}

/* What is being finished is left to the answer of the store. */
void gh_tasks_worker_lose_expired(gh_tasks_worker* worker)
{
    size_t i;
    for (i = 0; i < worker->config.slot_count; i++)
    {
        gh_task* task = &worker->config.slots[i];
        if (task->state == GH_TASK_PLACE_FREE || (task->sending & GH_TASK_SENDING_FINISH) != 0) continue;
        if (task->lease_end_us <= gh_tasks_worker_now(worker)) worker_lose(worker, task);
    }
}

void gh_tasks_worker_lose_queue(gh_tasks_worker* worker, uint32_t queue)
{
    size_t i;
    for (i = 0; i < worker->config.slot_count; i++)
        if (worker->config.slots[i].queue == queue) worker->config.slots[i].lease_end_us = 0;
    gh_tasks_worker_lose_expired(worker);
}

void gh_tasks_worker_lose_all(gh_tasks_worker* worker)
{
    size_t i;
    for (i = 0; i < worker->config.slot_count; i++) worker->config.slots[i].lease_end_us = 0;
    gh_tasks_worker_lose_expired(worker);
}

static bool task_is_runnable(const gh_tasks_worker* worker, const gh_task* task)
{
    if (task->state == GH_TASK_PLACE_HELD) return true;
    return task->state == GH_TASK_PLACE_BEGUN && task->called_us != gh_tasks_worker_now(worker) &&
           gh_tasks_worker_now(worker) - task->called_us >= task->again_us;
}

/* ---- as many as the tick has time for ------------------------------------------------------------------ */

/* Of those that were not called yet, some need no call. */
static bool worker_passes_over(gh_tasks_worker* worker, gh_task* task)
{
    bool give_back =
        task->state == GH_TASK_PLACE_HELD && (worker->stopping != WORKER_WORKS || task->status == GH_CANCELLED);
    if (worker->stopping == WORKER_LEAVES && (task->state == GH_TASK_PLACE_HELD || task->state == GH_TASK_PLACE_BEGUN))
    {
        worker_tell_lost(worker, task);
        give_back = true;
    }
    if (give_back) task_set_end(task, GH_TASK_ACTION_GIVE_BACK, "");
    return give_back;
}

void gh_tasks_worker_run(gh_tasks_worker* worker)
{
    uint32_t before;
    size_t i;
    if (worker->ran_us != gh_tasks_worker_now(worker)) worker->called = 0;
    worker->ran_us = gh_tasks_worker_now(worker);
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
    if (worker->called == before || worker->called < worker->appetite || !gh_client_budget_left(worker->op.client))
        return;
    worker->appetite = worker->appetite * 2; /* all of them, and there is time left */
    if (worker->appetite > worker->config.slot_count) worker->appetite = (uint32_t)worker->config.slot_count;
}
