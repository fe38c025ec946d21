/* tasks_worker_parts.h -- what the files of the worker share.

       tasks_worker.c           begin and end; each move, and when the next one is due
       tasks_worker_run.c       handlers, as many as the tick has time for
       tasks_worker_requests.c  the three ops of the pull style, which it owns, and by which it talks to the store */

#ifndef GH_TASKS_WORKER_PARTS_H
#define GH_TASKS_WORKER_PARTS_H

#include "tasks_place.h"

typedef enum worker_stopping
{
    WORKER_WORKS = 0,
    WORKER_STOPS, /* takes nothing more; what was begun goes on  */
    WORKER_LEAVES /* gives back everything                       */
} worker_stopping;

/* Of gh_tasks_worker.under_way: it was begun, and its end was not heard of. */
enum
{
    WORKER_TAKE = 1 << 0,
    WORKER_FINISH = 1 << 1,
    WORKER_EXTEND = 1 << 2
};

static inline bool gh_tasks_op_is_busy(const gh_op* op)
{
    return gh_op_is_at_work(op);
}

static inline gh_tasks_worker_queue* gh_tasks_worker_queue_at(const gh_tasks_worker* worker, uint32_t i)
{
    return &worker->config.queues[i];
}

static inline uint64_t gh_tasks_worker_now(const gh_tasks_worker* worker)
{
    return gh_client_now(worker->op.client);
}

/* tasks_worker_run.c */
void gh_tasks_worker_lose_expired(gh_tasks_worker* worker);
void gh_tasks_worker_lose_all(gh_tasks_worker* worker);
void gh_tasks_worker_lose_queue(gh_tasks_worker* worker, uint32_t queue);
void gh_tasks_worker_run(gh_tasks_worker* worker);

/* tasks_worker_requests.c */
void gh_tasks_worker_hire(gh_tasks_worker* worker);
void gh_tasks_worker_ask(gh_tasks_worker* worker);
void gh_tasks_worker_hear(gh_tasks_worker* worker);
void gh_tasks_worker_hear_ends(gh_tasks_worker* worker); /* of those three that are over now */
uint64_t gh_tasks_worker_next_question(const gh_tasks_worker* worker);

#endif
