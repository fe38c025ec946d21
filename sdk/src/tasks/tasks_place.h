/* tasks_place.h -- what the files of tasks share: where a task is that was handed out, and the handlers.

       tasks.c           a queue, push
       tasks_take.c      take: fills places
       tasks_finish.c    finish and extend: while a place is part of a request, it stays as it is
       tasks_worker.c    the worker, on top of these three; its other files, see tasks_worker.h
       tasks_handlers.c  its handlers by name; results
       tasks_admin.c     looking after a queue: knows nothing of places */

#ifndef GH_TASKS_PLACE_H
#define GH_TASKS_PLACE_H

#include "client/object.h"
#include "guildhall/tasks_take.h"

/* Who is told by a rate to wait for longer asks again all the same: the rules may have changed. */
#define GH_TASKS_RATE_WAIT_US 1000000ull

/* Of gh_task.state. */
typedef enum gh_task_place
{
    GH_TASK_PLACE_FREE = 0,
    GH_TASK_PLACE_HELD,  /* handed out                                  */
    GH_TASK_PLACE_BEGUN, /* a handler has been called                   */
    GH_TASK_PLACE_ENDED  /* a handler has ended, the store has to know  */
} gh_task_place;

/* Bits of gh_task.sending. */
typedef enum gh_task_sending
{
    GH_TASK_SENDING_FINISH = 1,
    GH_TASK_SENDING_EXTEND = 2
} gh_task_sending;

/* What a request may have of tasks: what the out buffer leaves beside digest, keys and numbers, and no more
   than the server can deal with in a moment. */
size_t gh_task_room(const gh_client* client, gh_str queue);

/* The keys of a queue: gh_request_part_keys. */
void gh_task_encode_keys(gh_request* request, const gh_op* op, const gh_name* queue, gh_str parts);

/* Store time after which a copy that is encoded now must do nothing: as gh_op_not_after, but by then no id of what
   is over is forgotten. 0 while the store's clock is not known. */
uint64_t gh_task_not_after(const gh_op* op);

/* How long copies of an op's request may be sent, and be under way: and a minute, by which the store's clock may step
   ahead meanwhile. */
static inline uint64_t gh_task_receipt_us(const gh_client* client, uint64_t timeout_us)
{
    return timeout_us + gh_client_request_timeout(client) + 60000000;
}

/* The generation that the task's lease was told under: after a restart of the server it may be forgotten there. */
static inline bool gh_task_is_in_doubt(const gh_client* client, const gh_task* task)
{
    return task->generation != gh_client_generation(client, task->route);
}

/* Whether its lease is to be renewed: not once somebody was told that it is lost, as a worker that leaves tells its
   handlers before it gives back what they had. */
static inline bool gh_task_is_kept(const gh_task* task)
{
    return task->state != GH_TASK_PLACE_FREE && task->status != GH_LOST &&
           (task->sending & GH_TASK_SENDING_FINISH) == 0;
}

/* False if one is not valid, or there twice. */
bool gh_task_handlers_set_up(const gh_tasks_worker_config* config, const gh_client* client);

/* The handler for every name if there is none of this name; NULL if there is neither. */
gh_task_handler* gh_task_handlers_find(const gh_tasks_worker_config* config, const gh_client* client,
                                       gh_str name);

/* A copy came too late, and was told what time it is: another one goes. */
gh_status gh_task_send_again(gh_op* op);

/* NULL, for a queue that is. */
static inline const gh_object* gh_queue_object(const gh_queue* queue)
{
    return (const gh_object*)(const void*)queue;
}

#endif
