/* guildhall/tasks_admin.h -- looking after a queue of tasks.h: cancel tasks, try dead letters anew, pause a queue or
   bound it by rules, and see how it stands.

       cancel    waits, is delayed, dead --> over        runs --> its worker is told, and it ends so unless it is done
       requeue   dead letter --> ready, with all its attempts before it
       control   the rules of a queue: pause, how many run at once, how many are handed out in a time
       look      how it stands with one task, and its result or why it failed
       dead      a page of the dead letters
       count     how many there are of everything, and the rules

   Failure  cancel, requeue and control do nothing twice, and nothing late: begin them again after GH_UNKNOWN. What only
            reads (look, dead, count) never ends GH_UNKNOWN but GH_TIMEOUT, and its cancel always ends it at once.
   Threads  as the client.   Memory  ops, arrays and bytes are yours and stay in place until the op ends. No heap.

   Use
       No more than 8 at once, and than 100 in a second, 20 of them in one burst:
       gh_tasks_rules rules = {.running_max = 8, .rate_count = 100, .rate_period_us = 1000000, .rate_burst = 20};
       gh_tasks_control_begin(&control, &office, &rules);
       When a mender asks, all that is dead is tried anew, a page at a time:
       dead.op.tag = DEAD, requeue.op.tag = REQUEUE;
       gh_tasks_dead_begin(&dead, &office, 0, letters, 16, memory, sizeof memory);
       ... in each frame
       for (gh_op* op; (op = gh_client_next(client)) != NULL;)
       {
           if (op->tag == DEAD && op->status == GH_OK && dead.count > 0)
           {
               for (uint32_t i = 0; i < dead.count; i++) refs[i].id = letters[i].id;
               gh_tasks_requeue_begin(&requeue, &office, refs, dead.count);
           }
           else if (op->tag == REQUEUE && op->status == GH_OK)
               gh_tasks_dead_begin(&dead, &office, 0, letters, 16, memory, sizeof memory);
       } */

#ifndef GUILDHALL_TASKS_ADMIN_H
#define GUILDHALL_TASKS_ADMIN_H

#include "guildhall/tasks.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_TASKS_REQUEUE_MAX 16                    /* in one gh_tasks_requeue_begin          */
#define GH_TASKS_RATE_MAX 1000000                  /* hand-outs in a period, and in a burst  */
#define GH_TASKS_RATE_PERIOD_MIN_US 1000ull        /* 1 ms                                   */
#define GH_TASKS_RATE_PERIOD_MAX_US 86400000000ull /* 24 h                                   */

typedef struct gh_task_ref
{
    gh_str id;        /* yours */
    gh_status status; /* read-only. cancel: GH_OK; GH_RUNNING, its worker was told; GH_GONE, not known
                         or over before. requeue: GH_OK, no dead letter any more; GH_GONE, not known */
} gh_task_ref;

typedef struct gh_tasks_edit
{
    gh_op op;

    /* private */
    gh_name queue;
    gh_task_ref* refs;
    uint64_t keep_us;
    uint64_t timeout_us;
    uint32_t count;
} gh_tasks_edit;

/* Cancels tasks: those that wait, are delayed or dead are over at once; those that run are marked and end so,
   unless their handler returns DONE. Besides: GH_INVALID_TASKS (NULL, 0, too many), _TASK_ID. */
GH_API gh_status gh_tasks_cancel_begin(gh_tasks_edit* op, const gh_queue* queue, gh_task_ref* refs, size_t count);

/* Dead letters become ready again, with all their attempts before them. At most GH_TASKS_REQUEUE_MAX. */
GH_API gh_status gh_tasks_requeue_begin(gh_tasks_edit* op, const gh_queue* queue, gh_task_ref* refs, size_t count);

/* What holds for a queue, whoever takes from it; kept in the store until it is set anew. All 0: no limits. */
typedef struct gh_tasks_rules
{
    bool paused;             /* takes pushes and hands nothing out */
    uint32_t running_max;    /* tasks handed out and within their leases, at all workers together; 0: no
                                limit; at most GH_TASKS_CAPACITY_MAX. One past its lease does not count */
    uint32_t rate_count;     /* hand-outs in a period, retries included; 0: no limit; at most
                                GH_TASKS_RATE_MAX, and one each us */
    uint64_t rate_period_us; /* GH_TASKS_RATE_PERIOD_MIN_US.._MAX_US; 0 without a rate */
    uint32_t rate_burst;     /* how many may come at once after a pause; at most GH_TASKS_RATE_MAX; 0: as
                                rate_count. A stretch of t us has at most burst + t * count / period hand-outs
                                by the store's clock; with burst 1 they are evenly spaced */
} gh_tasks_rules;

typedef struct gh_tasks_control
{
    gh_op op;

    /* private */
    gh_name queue;
    uint64_t timeout_us;
    gh_tasks_rules rules;
} gh_tasks_control;

/* Sets all rules of a queue; NULL: none. What was used of a burst stays used. Workers ask again when the rate
   allows it, within 1 s of new rules at the latest; those that running_max held back, when they finish a task
   or within 100 ms. Besides: GH_INVALID_TASK_CAPACITY (running_max), _TASK_RATE. */
GH_API gh_status gh_tasks_control_begin(gh_tasks_control* op, const gh_queue* queue, const gh_tasks_rules* rules);

typedef enum gh_task_state
{
    GH_TASK_STATE_NONE = 0,   /* never pushed, or over and forgotten                    */
    GH_TASK_STATE_READY,
    GH_TASK_STATE_DELAYED,    /* time_us: when it is due                                */
    GH_TASK_STATE_RUNNING,    /* time_us: end of the lease                              */
    GH_TASK_STATE_CANCELLING, /* as RUNNING, and its worker was told                    */
    GH_TASK_STATE_RETRYING,   /* time_us: when it is due; text: why the last one failed */
    GH_TASK_STATE_DEAD,       /* time_us: since when; text: why                         */
    GH_TASK_STATE_DONE,       /* time_us: until when it is remembered; text: the result */
    GH_TASK_STATE_CANCELLED   /* time_us: until when it is remembered                   */
} gh_task_state;

typedef struct gh_tasks_look
{
    gh_op op;

    /* read-only, after GH_OK */
    gh_task_state state;
    uint16_t attempt; /* the one that runs, or the last one; 0: none yet                       */
    uint16_t text_max; /* private */
    uint64_t time_us; /* of the store's clock, since 1970                                      */
    uint64_t now_us;  /* of the store's clock, when it was asked                               */
    gh_str text;      /* in the memory that you gave, until the next begin; cut if it is small */
    gh_str group;     /* in the op; empty: none, or the task is over                           */

    /* private */
    gh_name queue;
    gh_name id;
    char group_bytes[GH_TASK_GROUP_SIZE_MAX];
} gh_tasks_look;

/* How it stands with a task. memory is for its result or the reason of its failure; GH_TASK_RESULT_SIZE_MAX
   bytes hold each of them; NULL with 0 if you do not care. GH_OK once known (GH_TASK_STATE_NONE too).
   Besides: GH_INVALID_TASK_ID, _BUFFER. */
GH_API gh_status gh_tasks_look_begin(gh_tasks_look* op, const gh_queue* queue, gh_str id, void* memory,
                                     size_t memory_size);

typedef struct gh_dead_task
{
    gh_str id; /* all of them in the memory that you gave, until the next begin */
    gh_str group;
    gh_str handler; /* empty: it is no letter any more; a requeue or a cancel of its id takes it from the list */
    gh_str payload;
    gh_str reason;
    uint64_t died_us; /* of the store's clock, since 1970 */
    uint32_t attempts;
    uint32_t task_class;
} gh_dead_task;

typedef struct gh_tasks_dead
{
    gh_op op;

    /* read-only, after GH_OK */
    uint32_t count; /* how many were filled, from the first on */
    uint64_t total; /* dead letters of the queue               */

    /* private */
    gh_name queue;
    gh_dead_task* letters;
    char* memory;
    uint64_t offset;
    uint32_t memory_size;
    uint32_t capacity;
} gh_tasks_dead;

/* A page of the dead letters, the oldest first, from the offset-th on. memory_size is at least
   GH_TASK_BYTES_MAX + GH_TASK_RESULT_SIZE_MAX; fewer come when they do not fit. Besides: GH_INVALID_TASKS
   (letters NULL, 0, too many), _BUFFER. */
GH_API gh_status gh_tasks_dead_begin(gh_tasks_dead* op, const gh_queue* queue, uint64_t offset, gh_dead_task* letters,
                                     size_t count, void* memory, size_t memory_size);

typedef struct gh_tasks_count
{
    gh_op op;

    /* read-only, after GH_OK */
    uint64_t stored;     /* of the capacity: all of these but the remembered             */
    uint64_t handed_out; /* within their leases                                           */
    uint64_t expired;    /* handed out, their leases ran out, and nobody has asked since  */
    uint64_t dead;
    uint64_t remembered; /* over, within keep_us                                          */
    uint32_t ready[GH_TASKS_CLASSES]; /* those included that have no group and were cancelled meanwhile */
    uint32_t delayed[GH_TASKS_CLASSES];
    uint32_t groups[GH_TASKS_CLASSES]; /* that have ready tasks, or had until these were cancelled */
    gh_tasks_rules rules;

    /* private */
    gh_name queue;
} gh_tasks_count;

GH_API gh_status gh_tasks_count_begin(gh_tasks_count* op, const gh_queue* queue);

#ifdef __cplusplus
}
#endif

#endif
