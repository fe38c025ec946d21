/* guildhall/tasks.h -- work for later or for another process: queues of tasks, each done at least once.
   Here is what all have in common, how tasks are pushed, and the worker that does them inside the tick. Who rather
   takes them by hand goes on with tasks_take.h, who looks after a queue with tasks_admin.h.

                        .-- lease ran out, retry, given back --.
                        v                                      |
       push --> ready or delayed -- take, worker --> handed out --- done ------> over, remembered for keep_us
                  ^        |                             | '-- no attempt left, failed --> dead letter
                  |        '-- cancel --> over           '-- cancel: its worker is told --> over     |
                  '------------------------------ requeue -------------------------------------------'

   task     an id, a handler's name, a payload. The id makes a second push a no-op, for as long as you choose; without
            one Guildhall makes it
   queue    its name and how you use it, made once; pushes, takes and workers are begun on it
   push     up to GH_TASKS_BATCH_MAX tasks in one request, some for now and some for later, in classes 0
            (first) to 3
   group    whose task it is: a player's, a guild's. Within a class the groups take turns, so one that pushes
            ten thousand does not hold up the others
   rules    of a queue, tasks_admin.h: pause, how many tasks may run at once, how many may be handed out in a time
   worker   a thing of yours that takes tasks by itself and calls your handlers inside gh_tick, as much as the
            budget bears
   take     the same by hand, tasks_take.h: take, then finish each task as done, retry, failed or given back; extend
            what takes longer
   lease    a task that was handed out belongs to that worker for lease_us of the store's clock. A worker
            renews it by itself, also while a handler goes on over many ticks. When the worker dies, another
            gets the task after it

   Keys     gh:{tasks:<queue>}: :r0..:r3 ready, :d0..:d3 due later, :p payloads, :m states, :l leases, :w
            receipts, :x dead letters, :t ids that are remembered, :i sleepers, :c rules, :q lines of the
            groups, :g whose turn it is. KEYS.md has them all, with examples. All of a queue is in one slot.
   Order    inside a class: what is due first, first due first, then what is ready, first come first. Strict: a class is
            served while those before it are empty. By weight: over any stretch in which a class always has something,
            it gets at least its share of the tasks handed out (its weight by the weights of those that have something),
            less 3. That is the order of handing out; tasks run side by side, and a retry goes to the end of its wait.
   Turns    Inside a class, the groups that have ready tasks are served in turn, a task each; tasks without a group are
            one group together. When a group begins to wait for its turn and G groups wait, itself included, its next
            task is among the next G that the class hands out, whoever pushes meanwhile. It begins to wait when its
            first task is ready, and anew after each turn; tasks without a group, when somebody next takes. Inside a
            group: what is ready first comes first. Where groups are used, a task that falls due (delayed, retried,
            given back, lease ran out) does not go before the others: it joins the line of its group, by the time when
            it was due, when somebody takes: up to 12 in a take, first due first. A cancelled task takes no turn, unless
            it had no group; a group that has lost its last one to a cancel keeps its place, and counts as waiting,
            until its turn would come. There may be as many groups as tasks.

              ring of a class    :g   dragons -> elves -> (no group) -> dragons -> ...
              lines              :q   dragons: 4 7 8 9 ...   elves: 5    :r0 (no group): 6

   Once?    At least once. After a crash or a lost lease a task runs again; what it does must bear that, or
            use fence, which grows from hand-out to hand-out of a task. Two hand-outs of a task never overlap
            by the store's clock. A worker whose lease ran out is told before anything else in the next tick,
            and the store refuses its result.
   Time     the store's clock decides what is due and when a lease is over. A delayed task never runs early;
            it is handed out when some worker asks, and idle workers ask at the time that is due next, or
            every 100 ms at least.
   Threads  as the client.   Memory  ops, arrays and bytes are yours and stay in place until the op ends. No
            heap.
   Failure  a request whose answer was lost is sent again and does nothing twice; a take gets the very same tasks again,
            at once. A copy that hung on the way and reaches the store when all is over does nothing. Nothing that a
            dead worker held is lost: it comes back after its lease. An asynchronous failover of the store can lose the
            newest steps (Redis replication), as can a restart without AOF: after one a worker asks at once which
            tasks it has yet, and handlers are told LOST of the others; a taker asks by gh_tasks_extend. Where the store
            has lost that a take was answered, a copy of it may be handed tasks, which come back after their leases.
   Trace    hooks.trace is told of each attempt that the store knows has ended, GH_TRACE_TASK: GH_OK, done; GH_PENDING,
            failed, and tried again; GH_DEAD, a dead letter now. At most once, from the process that had it, worker or
            taker. Not of what was lost, given back or cancelled, nor of a finish that ends without an answer: when
            somebody dies over a task, nobody says so.
   End      once no task of a queue waits, is delayed, handed out or dead, all that is stored of it goes: keep_us after
            the last was over, and some minutes at most. Rules stay until they are taken back.
   Cost     server time per task with batches of 50: about 2 us for the push, 3.5 for the hand-out, 3 for the finish;
            with a group 5, 5 to 11 and 3. In the store: payload + about 115 bytes a waiting task, 360 handed out, 130
            for an id that is remembered; with a group 230 more for a task that waits in its line, and 115 for each
            group that waits. To keep each request short, tasks whose leases ran out are put back by a request of its
            own before each take, 32 at most; where groups are used a take hands out at most 30 (6 by weight), less
            those that fell due and joined their lines. The next take goes on. A take that meets only places that
            cancelled tasks have left, as many as it wants tasks, asks again at once; from then on it passes over up to
            128 of them in a request; where groups are used, 30 of them, or 48 groups without a task.

   Use
       static gh_task_action send_mail(void* context, gh_task* task)
       {
           return mail_out(context, task->payload) ? GH_TASK_ACTION_DONE : GH_TASK_ACTION_RETRY;
       }
       static gh_task_handler handlers[1];                        -- static: zero, in C and in C++
       handlers[0].name = gh_str_literal("mail");
       handlers[0].function = send_mail, handlers[0].context = &post;
       static gh_queue office;
       gh_queue_init(&office, client, gh_str_literal("post office"), NULL);
       static gh_tasks_worker_queue queues[1];
       queues[0].queue = &office;
       gh_tasks_worker_config config = gh_tasks_worker_config_default();
       config.handlers = handlers, config.handler_count = 1, config.queues = queues, config.queue_count = 1;
       config.slots = slots, config.slot_count = 16, config.memory = memory, config.memory_size = size;
       gh_tasks_worker_begin(&worker, client, &config); ... gh_tick does the rest. Elsewhere, perhaps:
       gh_task_spec task = {.handler = gh_str_literal("mail"), .payload = letter, .delay_us = 60000000};
       gh_tasks_push_begin(&push, &office, &task, 1);
       Fair to all players: task.group = player_name; */

#ifndef GUILDHALL_TASKS_H
#define GUILDHALL_TASKS_H

#include "guildhall/client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_TASKS_BATCH_MAX 50                   /* tasks in one request, and slots of a worker          */
#define GH_TASKS_CLASSES 4                      /* 0 is served first                                    */
#define GH_TASKS_QUEUES_MAX 16                  /* of one worker                                        */
#define GH_TASKS_HANDLERS_MAX 1024              /* of one worker                                        */
#define GH_TASKS_WEIGHT_MAX 100
#define GH_TASKS_ATTEMPTS_MAX 1000
#define GH_TASKS_CAPACITY_MAX 100000000         /* tasks in a queue                                     */
#define GH_TASKS_GROUPED_MAX 32                 /* tasks in one push, if one of them has a group        */
#define GH_TASKS_COUNT_MIN_MAX 30               /* tasks that have to come together in one take         */
#define GH_TASKS_WEIGHTED_MIN_MAX 6             /* the same, where classes have weights                 */
#define GH_TASKS_BYTES_MAX 40960                /* of ids, payloads and results in one request          */
#define GH_TASK_ID_SIZE_MAX 64                  /* bytes; any but NUL                                   */
#define GH_TASK_GROUP_SIZE_MAX 64               /* bytes; any but NUL                                   */
#define GH_TASK_PAYLOAD_SIZE_MAX 8192           /* bytes; for more, a key of yours, and its name here   */
#define GH_TASK_RESULT_SIZE_MAX 1024            /* bytes of a result, or of the reason of a failure     */
#define GH_TASKS_LEASE_MIN_US 50000ull          /* 50 ms                                                */
#define GH_TASKS_LEASE_MAX_US 86400000000ull    /* 24 h                                                 */
#define GH_TASKS_WAIT_MAX_US 86400000000ull     /* 24 h                                                 */
#define GH_TASKS_KEEP_MIN_US 10000000ull        /* 10 s                                                 */
#define GH_TASKS_KEEP_MAX_US 2592000000000ull   /* 30 days                                              */
#define GH_TASKS_DELAY_MAX_US 31536000000000ull /* 365 days                                             */

/* Memory that holds any task: its id, its group, its handler's name, its payload. */
#define GH_TASK_BYTES_MAX                                                                                    \
    (GH_TASK_ID_SIZE_MAX + GH_TASK_GROUP_SIZE_MAX + GH_NAME_SIZE_MAX + GH_TASK_PAYLOAD_SIZE_MAX + 32)

/* -----------------------------------------------------------------------------------------------------------
   A queue. */

/* How you use a queue; each function reads what concerns it. Those who share a queue should agree on it: the store
   keeps none of it, each request goes by what its sender says. */
typedef struct gh_queue_config
{
    size_t struct_size;      /* set by gh_queue_config_default; leave it */
    uint64_t timeout_us;     /* of each request; 1 ms..1 h, default 5 s */
    uint32_t capacity;       /* push: tasks that may be stored in the queue, dead letters included;
                                1..GH_TASKS_CAPACITY_MAX, default 1,000,000. What is over is told GH_FULL */
    uint32_t attempts_max;   /* push: for tasks that say 0; 1..GH_TASKS_ATTEMPTS_MAX, default 5 */
    uint64_t lease_us;       /* take, extend, worker: how long the store waits for a worker that vanished;
                                GH_TASKS_LEASE_MIN_US.._MAX_US, default 5 s */
    uint64_t wait_us;        /* take: how long to wait when there is no task; 0 (default) asks once; at most
                                GH_TASKS_WAIT_MAX_US. A worker does not read it: it always waits */
    uint32_t count_min;      /* take: hand out nothing before so many can be handed out together: four players, or
                                wait. 0 (default), 1: whatever there is. At most GH_TASKS_COUNT_MIN_MAX, with
                                weights GH_TASKS_WEIGHTED_MIN_MAX; a worker does not read it */
    uint64_t keep_us;        /* finish, cancel, worker: how long results and ids of tasks that are over are
                                remembered. Longer than any push may take (timeout_us of the pushers);
                                GH_TASKS_KEEP_MIN_US.._MAX_US, default 10 min. Costs 130 bytes in the store
                                for each; the newest million is kept */
    uint64_t backoff_min_us; /* finish, worker: pause before the second attempt; doubles with each, up to */
    uint64_t backoff_max_us; /* the maximum, and is drawn from its upper half. 1 ms..GH_TASKS_DELAY_MAX_US,
                                default 1 s and 10 min */

    /* take, worker: of the classes. All 0 (default): strict; else each 1..GH_TASKS_WEIGHT_MAX. */
    uint32_t weights[GH_TASKS_CLASSES];
} gh_queue_config;

GH_API gh_queue_config gh_queue_config_default(void);

/* A queue as this process uses it: a value, which may be copied, and has no end. Two of one name, with settings of
   their own, are the same queue in the store: one that waits for four players, and one that pushes. */
typedef struct gh_queue
{
    /* private */
    gh_object object;
    gh_queue_config config;
} gh_queue;

/* Says which queue, by which client, with which settings; config may be NULL for the defaults. Asks the store nothing.
   A queue that was not made well may be used: each begin on it ends as init did.
   GH_OK; GH_INVALID_OBJECT (queue is NULL), _CLIENT, _NAME, and for the field that is wrong GH_INVALID_CONFIG,
   _TIMEOUT, _LEASE, _WAIT, _TASK_CAPACITY, _TASK_ATTEMPTS, _TASKS (count_min), _TASK_KEEP, _TASK_BACKOFF,
   _TASK_WEIGHTS. */
GH_API gh_status gh_queue_init(gh_queue* queue, gh_client* client, gh_str name, const gh_queue_config* config);

/* Every begin on a queue answers GH_OK; GH_NO_ROOM (ops_capacity); GH_TOO_LARGE (the request would not fit out_bytes or
   GH_TASKS_BYTES_MAX, where a finish counts also the payloads of tasks that are to run again); GH_CLOSED; GH_INVALID_OP
   (NULL or busy), GH_INVALID_OBJECT (queue is NULL or was not made by gh_queue_init), GH_INVALID_CLIENT (it was shut
   down), or what gh_queue_init answered; and what stands with it.

   Every op of one request ends, besides what stands with it, GH_TIMEOUT (not carried out), GH_UNKNOWN (sent, and no
   answer within timeout_us, or none that is true of each copy that was sent: begin it again, a repeat does no harm;
   but a push stores tasks once more whose ids are made, or which are unique while they are active and are over by
   then), GH_CANCELLED, GH_REFUSED, GH_CORRUPT (a key is not as KEYS.md says, and nothing was done); its cancel ends it
   at once if it was not sent, else it ends with its answer. */

/* -----------------------------------------------------------------------------------------------------------
   Push. One op, an array of tasks, a status for each. */

/* How long an id is taken, as the push asks that wants it; the one that has it says nothing of that. */
typedef enum gh_task_unique
{
    GH_TASK_UNIQUE_FOR_KEEP = 0,    /* until its task is over and forgotten, keep_us later; a dead letter keeps it */
    GH_TASK_UNIQUE_WHILE_ACTIVE = 1 /* while its task is ready, delayed or runs: for a player in a queue, who may come
                                       again at once. What is kept of one that is over, or a dead letter, is replaced.
                                       An id that is made is FOR_KEEP all the same */
} gh_task_unique;

typedef struct gh_task_spec
{
    /* yours */
    gh_str id;             /* at most GH_TASK_ID_SIZE_MAX bytes, no NUL; empty: made, see gh_tasks_push_id */
    gh_str handler;        /* which handler a worker calls; at most GH_NAME_SIZE_MAX bytes, may be empty */
    gh_str payload;        /* any bytes, at most GH_TASK_PAYLOAD_SIZE_MAX */
    uint64_t delay_us;     /* 0: now; else not before this much store time; at most GH_TASKS_DELAY_MAX_US */
    uint32_t attempts_max; /* 0: of the queue's config */
    uint32_t task_class;   /* 0 .. GH_TASKS_CLASSES - 1 */
    gh_str group;          /* whose task it is, for fairness: at most GH_TASK_GROUP_SIZE_MAX bytes, no NUL;
                              empty: nobody's */
    gh_task_unique unique; /* what may have the id and yet is no reason not to store this one */

    /* read-only, once the op has ended GH_OK or GH_FULL */
    gh_status status; /* GH_OK: stored. GH_EXISTS: was there, or over and remembered; also when an earlier try of
                         this op may have stored it, its answer lost (WHILE_ACTIVE that is GH_OK); or when it was
                         cancelled while it was ready: then it may keep its place, and with it the id, until its turn
                         would come, even after keep_us (WHILE_ACTIVE only where more than 512 wait in a class,
                         or where a cancel of many tasks of groups left it in a group's line).
                         GH_DIFFERS: the id was there with another handler, payload, class, group or attempts.
                         GH_FULL: capacity; what replaces a dead letter needs none. After GH_UNKNOWN, GH_UNKNOWN: an
                         earlier try may have stored it or may do so yet, and for this one there was no room */
} gh_task_spec;

typedef struct gh_tasks_push
{
    gh_op op;

    /* private */
    gh_name queue;
    gh_task_spec* tasks;
    uint64_t maker; /* of ids: gh_client_id of the client */
    uint64_t timeout_us;
    uint32_t count;
    uint32_t capacity;
    uint32_t attempts_max;
    uint32_t classes;
    bool grouped;
    bool active; /* some are unique while they are active */
} gh_tasks_push;

/* Besides: GH_INVALID_TASKS, _TASK_ID, _TASK_HANDLER, _TASK_PAYLOAD, _TASK_DELAY, _TASK_CLASS,
   _TASK_ATTEMPTS, _TASK_GROUP, _TASK_UNIQUE. */
GH_API gh_status gh_tasks_push_begin(gh_tasks_push* op, const gh_queue* queue, gh_task_spec* tasks, size_t count);

/* How it ends:
   GH_OK: each task is stored, or its status says why there was no need; GH_FULL: some are not, for want of capacity,
   and have status GH_FULL: push those alone again, the others have been dealt with. */

/* The id of the i-th task: yours, or the one that was made for it, from gh_tasks_push_begin on, for as long as the
   array of tasks is in place. Writes a NUL behind it and returns its length; 0 if op was never begun or i is too
   large. */
#define GH_TASK_ID_TEXT_SIZE (GH_TASK_ID_SIZE_MAX + 1)
GH_API size_t gh_tasks_push_id(const gh_tasks_push* op, size_t i, char out[GH_TASK_ID_TEXT_SIZE]);

/* -----------------------------------------------------------------------------------------------------------
   A task that was handed out. Takers and workers fill an array of these, yours. */

/* What is to become of it: a worker's handler returns one of these, a taker sets it in the task. */
typedef enum gh_task_action
{
    GH_TASK_ACTION_CONTINUE = 0, /* nothing yet: it is still being worked on */
    GH_TASK_ACTION_DONE,         /* over; result is kept for keep_us */
    GH_TASK_ACTION_RETRY,        /* again after delay_us; if it was the last attempt, as FAIL; result says why */
    GH_TASK_ACTION_FAIL,         /* to the dead letters at once, as what nobody can do; result says why */
    GH_TASK_ACTION_GIVE_BACK     /* again at once, for whoever asks; the attempt does not count */
} gh_task_action;

typedef struct gh_task
{
    /* yours */
    void* user;
    uint64_t step;         /* 0 when handed out: how far a handler has come that takes many ticks */
    uint64_t again_us;     /* handlers: with CONTINUE, do not call for this long; 0: in the next tick */
    gh_task_action action; /* takers: what gh_tasks_finish_begin shall do with it. Handlers return it */
    uint64_t delay_us;     /* of a retry; 0: the back-off of the queue, by the number of the attempt */
    gh_str result;         /* takers: stays until the finish ends. Handlers use gh_task_set_result */

    /* read-only */
    gh_str id;             /* these four lie in the memory that you gave */
    gh_str group;
    gh_str handler;
    gh_str payload;
    uint64_t fence;        /* larger than that of every earlier hand-out of this task; and of one that had its id
                              before, unless the store's clock went back */
    uint32_t attempt;      /* 1, 2, 3, ... */
    uint32_t attempts_max;
    uint32_t task_class;
    gh_status status;      /* GH_PENDING: yours. GH_TOO_SMALL, for takers: larger than any task can be, as only
                              one planted by hand is; its payload is cut. GH_CANCELLED: yours still, and
                              somebody wants it cancelled: end it soon. GH_LOST: not yours any more. After a
                              finish: GH_OK, as asked; GH_DEAD, it was the last attempt; GH_CANCELLED,
                              and so it was; GH_LOST, refused: not the current hand-out */

    /* private */
    uint64_t lease_end_us; /* by the client's inner clock */
    uint64_t renew_us;
    uint64_t called_us;
    uint64_t taker_client;
    uint64_t taker_sequence;
    uint64_t pause_us;   /* of the retry that is on its way */
    uint64_t generation; /* of the store's data, when the lease was last known */
    char* memory;
    uint32_t memory_size;
    uint32_t memory_used;
    uint16_t queue;
    uint16_t route;      /* of a fleet of servers: whose it is           */
    uint8_t state;   /* free, held, begun, ended                     */
    uint8_t sending; /* part of a request on its way, so it stays    */
} gh_task;

/* How long it is still yours for certain, in us, as seen from the last tick. 0: not any more; or the server was
   restarted or promoted since, and may have forgotten it: a worker asks by itself, a taker by gh_tasks_extend. */
GH_API uint64_t gh_task_remaining_us(const gh_client* client, const gh_task* task);

/* -----------------------------------------------------------------------------------------------------------
   The requests of a worker. Those who take by hand begin them themselves: guildhall/tasks_take.h says how. */

typedef struct gh_tasks_take
{
    gh_op op;

    /* read-only */
    uint32_t count;   /* after GH_OK: how many of the tasks were filled, from the first on */
    uint64_t next_us; /* after GH_EMPTY: how long until a task is due or a lease runs out, at most a day.
                         After GH_LIMITED: by the rate, how long until one more may be handed out; by
                         running_max, until a lease runs out; room may come sooner, when a task is finished */

    /* private */
    gh_name queue;
    gh_task* tasks;
    char* memory;
    uint64_t lease_us;
    uint64_t timeout_us;
    uint64_t give_up_us;     /* end of the wait                                        */
    uint64_t deadline_us;    /* no question is asked after this                        */
    uint64_t keep_us;
    uint64_t taker_client;   /* who is named in the store as the one who has the tasks */
    uint64_t taker_sequence;
    uint64_t sleeper;        /* the sequence that hints shall name; 0: none */
    struct gh_op* owner;     /* a worker's; NULL: the caller's own */
    uint32_t memory_size;
    uint32_t pause_us;
    uint8_t weights[GH_TASKS_CLASSES];
    uint8_t task_count;
    uint8_t want;
    uint8_t need;
    uint8_t queue_index;
    bool ask_once;
    bool by_rate, looks_on;  /* the limit that was told; it asks again, as all that it met was over */
    bool cancelled;
    bool puts_back, has_put_back; /* leases ran out: that is seen to first             */
    bool came_late;          /* tasks were handed out, and told after their leases     */
} gh_tasks_take;

typedef struct gh_tasks_finish
{
    gh_op op;

    /* private */
    gh_name queue;
    gh_task* tasks;
    uint64_t keep_us;
    uint64_t timeout_us;
    uint64_t field_client; /* what names this op in the store, so that a repeat is known */
    uint64_t field_sequence;
    struct gh_op* owner;
    uint8_t task_count;
    uint8_t sending;
    uint8_t queue_index;
    bool leaving; /* of a worker that gives back what it has, while the client drains, too */
} gh_tasks_finish;

typedef struct gh_tasks_extend
{
    gh_op op;

    /* private */
    gh_name queue;
    gh_task* tasks;
    uint64_t lease_us;
    struct gh_op* owner;
    uint8_t task_count;
    uint8_t sending;
    uint8_t queue_index;
} gh_tasks_extend;

/* -----------------------------------------------------------------------------------------------------------
   A worker: takes tasks from one or more queues and calls handlers, until it is told to end.

       begin --> WORKING -- end: nothing more is taken; what runs goes on to its end --> ended OK
                    '------ cancel, drain: what runs is told LOST, all is given back --> ended CANCELLED

   It takes what it can eat: at first one task, then twice as many each time the budget of gh_tick sufficed
   for all of them, up to its slots, and no more than were done when it did not. Handlers that return
   CONTINUE are called again in each tick, in turn; at least one handler is called in each tick that has
   something to do. */

/* Called inside gh_tick (and, with status GH_LOST, inside gh_client_shutdown or gh_op_detach). May begin ops on the
   same client; must not call gh_tick. task->status says GH_PENDING, or GH_CANCELLED when somebody wants the task
   cancelled, or GH_LOST: not yours any more, clean up, what you return is ignored. Only a task that was
   called before is called with GH_LOST. Returns, each with GH_TASK_ACTION_ before it,
       CONTINUE    not yet: call me again, after task->again_us; task->step and task->user are yours to
                   remember by
       DONE        over; the result is what gh_task_set_result was given
       RETRY       failed: again after task->delay_us or the back-off, until the attempts are used up; the reason
                   is what gh_task_set_result was given. So is what is no action
       FAIL        the payload makes no sense, or nobody can do it: to the dead letters at once, never tried again by
                   itself; the reason as above
       GIVE_BACK   not here, not now: again at once, for whoever asks, perhaps this worker; the attempt does not
                   count */
typedef gh_task_action (*gh_task_function)(void* context, gh_task* task);

/* For handlers: keeps a copy of the result, or of the reason of a failure, in what is left of the task's slot. False:
   no room, or larger than GH_TASK_RESULT_SIZE_MAX; then the one of before stays. A taker's task has no slot, and so no
   room. */
GH_API bool gh_task_set_result(gh_task* task, gh_str result);

typedef struct gh_task_handler
{
    /* yours */
    gh_str name; /* at most GH_NAME_SIZE_MAX; empty: for every task that no other handler is for */
    gh_task_function function;
    void* context;

    /* private: the table by name, in which each place begins one chain and is part of one */
    uint64_t hash;
    uint32_t first;
    uint32_t next;
} gh_task_handler;

/* A queue that a worker takes from, and its share of the worker. One whose requests fail does not hold up the rest. */
typedef struct gh_tasks_worker_queue
{
    /* yours */
    const gh_queue* queue; /* in place, and left as it is, until the worker has ended. For its tasks the worker goes
                              by its lease, keep, back-off, timeout and weights of the classes */
    uint32_t weight; /* all 0: a queue is asked when those before it are empty. Else 1..GH_TASKS_WEIGHT_MAX: a
                        queue that always has something gets at least its share of the tasks, less a batch for
                        each queue */

    /* read-only */
    gh_status trouble; /* how the last request about it failed; GH_OK since the last that succeeded */

    /* private */
    int32_t credit;
    uint32_t pause_us;
    uint64_t ask_us;
    uint64_t retry_us; /* after a failure, nothing of it is begun before */
    bool full;         /* running_max was reached when it was last asked */
} gh_tasks_worker_queue;

typedef struct gh_tasks_worker_config
{
    size_t struct_size;            /* set by gh_tasks_worker_config_default; leave it */
    gh_task_handler* handlers;     /* 1..GH_TASKS_HANDLERS_MAX, in place until the worker has ended */
    size_t handler_count;
    gh_tasks_worker_queue* queues; /* 1..GH_TASKS_QUEUES_MAX, by importance, in place as the handlers */
    size_t queue_count;
    gh_task* slots;                /* 1..GH_TASKS_BATCH_MAX: the tasks that it has at once */
    size_t slot_count;
    void* memory;                  /* divided among the slots, each at least 256 bytes: 64 for the id, 24 for the
                                      fixed part, then group, handler's name, payload, and the result in what is
                                      left. GH_TASK_BYTES_MAX a slot holds any task. One that does not fit is a
                                      failure, counted and logged, and tried again, as another worker may have
                                      the room */
    size_t memory_size;
} gh_tasks_worker_config;

GH_API gh_tasks_worker_config gh_tasks_worker_config_default(void);

typedef struct gh_tasks_worker
{
    gh_op op;

    /* read-only */
    uint32_t running;        /* tasks in slots */
    uint32_t appetite;       /* how many it thinks that a tick can eat */
    uint64_t taken;          /* counts since begin */
    uint64_t done;
    uint64_t retried;
    uint64_t dead;           /* went to the dead letters */
    uint64_t lost;           /* the lease ran out, or the result was refused */
    uint64_t cancelled;
    uint64_t unknown;        /* no handler of that name: a failure, tried again, as another may have one */
    char unknown_handler[GH_NAME_SIZE_MAX + 1]; /* the last of them, cut at the first NUL */
    uint64_t too_large;      /* did not fit a slot: a failure, tried again, as another may have the room */
    gh_status trouble;       /* of one of its queues; GH_OK: none has any */

    /* private */
    struct gh_op* next_owner;
    gh_op bell;           /* hints that a task is to be cancelled; its sequence names us in the store     */
    gh_tasks_take take;
    gh_tasks_finish finish;
    gh_tasks_extend extend;
    gh_tasks_worker_config config;
    uint64_t ran_us;      /* the tick that `called` is of                                                */
    uint32_t called;      /* handlers, in that tick                                                      */
    uint32_t slot_size;
    uint32_t next_slot;   /* who is called next: those that the budget left out come first               */
    uint8_t stopping;
    bool hinted;          /* while it was asking                                                         */
    uint8_t under_way;    /* which of the three it has begun, and has not heard of their end             */
    bool weighted;
} gh_tasks_worker;

/* Begins to work. The worker takes 5 places of ops_capacity at most; while it finds none for a request it tries again
   each millisecond, and says GH_NO_ROOM in `trouble`.
   GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED; GH_INVALID_OP (NULL or busy), _CLIENT, _CONFIG, _TASK_QUEUES (none, too
   many, a name twice, one that is NULL, of another client, or not made well), _TASK_WEIGHTS (of queues: some 0, some
   not), _TASK_HANDLERS, _TASK_SLOTS. config must not be NULL; it is copied, what it points to stays yours. */
GH_API gh_status gh_tasks_worker_begin(gh_tasks_worker* worker, gh_client* client,
                                       const gh_tasks_worker_config* config);

/* GH_PENDING while it works; GH_IDLE: never begun; GH_OK: it was told to end, and nothing is left; GH_CANCELLED. */

/* Asks it to end, and returns at once: the drawing says what then happens. It ends in a later tick. NULL, or one that
   does not work: nothing. */
GH_API void gh_tasks_worker_end(gh_tasks_worker* worker);

#ifdef __cplusplus
}
#endif

#endif
