/* guildhall/tasks_take.h -- tasks by hand, for those who do not want a worker of tasks.h to call them: take some,
   finish each of them, extend what takes longer. What a task, a lease and a queue are stands in tasks.h.

       begin --> ASKING --> ended OK, EMPTY, PAUSED, LIMITED  wait_us 0
                  ^  '-- nothing there --> WAITING --> ended EMPTY      wait_us ran out
                  '----- pause or hint -------'

   take     up to GH_TASKS_BATCH_MAX tasks for lease_us, or, with count_min, so many together or none
   finish   says of each task what has become of it: done, retry, failed, given back. hooks.trace is told, see tasks.h
   extend   a new lease for what is still being worked on. See to it before gh_task_remaining_us comes to an end
   Failure  who dies or forgets a task loses it after its lease, and another gets it; whose lease ran out is told LOST
            by finish and extend. What tasks.h says of copies and of lost answers holds here, too.
   Threads  as the client.   Memory  ops, tasks and bytes are yours and stay in place until the op ends, what was taken
            until it is finished. No heap.

   Use
       static gh_task players[4];
       static char memory[4 * GH_TASK_BYTES_MAX];
       gh_queue_config config = gh_queue_config_default();
       config.count_min = 4, config.wait_us = 60000000;        -- four players for a match, or wait for them
       gh_queue_init(&duels, client, gh_str_literal("duels"), &config);
       take.op.tag = TAKE, finish.op.tag = FINISH;
       gh_tasks_take_begin(&take, &duels, players, 4, memory, sizeof memory);
       ... in each frame
       for (gh_op* op; (op = gh_client_next(client)) != NULL;)
       {
           if (op->tag == TAKE && op->status == GH_OK)
           {
               for (uint32_t i = 0; i < take.count; i++)
                   players[i].action = seat(players[i].payload) ? GH_TASK_ACTION_DONE : GH_TASK_ACTION_RETRY;
               gh_tasks_finish_begin(&finish, &duels, players, take.count);
           }
           else if (op->tag == TAKE || op->tag == FINISH)      -- nobody came, or the match is set: on to the next one
               gh_tasks_take_begin(&take, &duels, players, 4, memory, sizeof memory);
       } */

#ifndef GUILDHALL_TASKS_TAKE_H
#define GUILDHALL_TASKS_TAKE_H

#include "guildhall/tasks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Wants up to `count` tasks, into an array and a memory of yours that hold them until the next begin.
   memory_size is at least GH_TASK_BYTES_MAX. The answer brings what fits it, GH_TASKS_BYTES_MAX, and the
   client's reply_bytes and reply_nodes. Besides: GH_INVALID_TASKS (NULL, 0, too many, fewer than count_min), _BUFFER
   (memory NULL or too small), GH_TOO_LARGE (count_min tasks are more than reply_nodes can tell).

   With count_min the store hands out that many at least, or none, in one step: those that are ready or due, in the
   order that always holds, as far as the rules of the queue allow so many at once. It holds nothing back
   from others: while they wait, the next taker or worker with a smaller count_min gets them, so let all who take from
   such a queue ask for as many. Several who do get whole hand-outs, each of other tasks. What a retry brings back,
   or a lease that ran out, counts as any other. A hint that one more is there may wake such a taker in vain; others
   find it within 100 ms.
   Rules that never allow so many at once (running_max, rate_burst) hold it up for good.

   Use an op again rather than a new one: the store keeps a receipt for each for as long as a copy of its last request
   may be under way. */
GH_API gh_status gh_tasks_take_begin(gh_tasks_take* op, const gh_queue* queue, gh_task* tasks, size_t count,
                                     void* memory, size_t memory_size);

/* How it ends:
   GH_OK: op->count tasks are yours, count_min at least; GH_EMPTY: none, or not as many, within wait_us; GH_TOO_SMALL:
   count_min tasks are there, and do not fit memory_size, GH_TASKS_BYTES_MAX or reply_bytes: nothing was handed out;
   GH_PAUSED: wait_us is 0 and the queue is paused; GH_LIMITED: wait_us is 0 and the rules of the queue allow no
   more for now, see op->next_us; GH_TIMEOUT: not asked in time; GH_UNKNOWN: asked, and no answer, or all answers came
   after the leases that they told of, or made no sense; what was handed out nevertheless comes back after its lease;
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT.
   gh_op_cancel ends it at once; if a request is on its way, with its answer: GH_OK if it brings tasks. */

/* Tells the store what became of tasks[0..count) that have an action; each gets its status. Others in the
   array are left alone. Besides: GH_INVALID_TASKS (also when none has an action, or one is on its way
   already), _TASK_ACTION, _TASK_DELAY, _TASK_RESULT. */
GH_API gh_status gh_tasks_finish_begin(gh_tasks_finish* op, const gh_queue* queue, gh_task* tasks, size_t count);

/* How it ends:
   GH_OK: each task that had an action has its status. */

/* A new lease for those of tasks[0..count) that are still yours. After GH_OK each of them has status GH_PENDING (or
   still GH_TOO_SMALL), GH_CANCELLED or GH_LOST. Besides: GH_INVALID_TASKS (also when none is yours). */
GH_API gh_status gh_tasks_extend_begin(gh_tasks_extend* op, const gh_queue* queue, gh_task* tasks, size_t count);

#ifdef __cplusplus
}
#endif

#endif
