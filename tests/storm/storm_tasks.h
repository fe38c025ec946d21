/* storm_tasks.h -- what the records of the tasks mean, for storm_tasks.c and seen_tasks.c, which write them, and
   check_tasks.c.

   A task is named by its push and its place in it; its id is "<op>.<place>". */

#ifndef GUILDHALL_TESTS_STORM_STORM_TASKS_H
#define GUILDHALL_TESTS_STORM_STORM_TASKS_H

#include "storm/storm.h"

enum
{
    TASKS_QUEUES = 2,
    TASKS_PUSH_MAX = 4,
    TASKS_LEASE_MOST_US = 2500000
};

enum
{
    TASKS_PUSH = 1, /* a: tasks, b: bits of those that are stored, c: attempts_max                       */
    TASKS_TAKE,     /* a: lease, b: client id, d: how many came                                          */
    TASKS_FINISH,   /* a: how many tasks                                                                 */
    TASKS_EXTEND,
    TASKS_CANCEL, /* about: the push, c: place, d: what was told of it: a gh_status                    */
    TASKS_CONTROL,
    TASKS_WORK,       /* a worker, from its begin to its end; b: client id                                 */
    TASKS_GOT,        /* handed out. about: the push, a: fence, b: attempt, c: place, d: lease end; told by whom: d 0 */
    TASKS_KEPT,       /* a new end of the lease in d; the rest as above                                    */
    TASKS_OVER,       /* it is not worked on any more; b: what was asked for (gh_task_action)              */
    TASKS_ENDED,      /* the store has taken it: b: action, d: status                                      */
    TASKS_SEEN,       /* by the witness, among those handed out; a: fence, b: client id, c: place          */
    TASKS_LEFT,       /* in the end, in the store; a: the letter of its state, b: 1 if it is among the dead letters,
                         d: the fence of its last hand-out                                                  */
    TASKS_COUNTED,    /* an op of the auditor; a: stored, b: handed out, c: expired, d: dead               */
    TASKS_TROUBLE,    /* a request of a worker about a queue failed; b: client id, d: status                */
    TASKS_REQUEUE,    /* about: the push, c: place, d: what was told of it: a gh_status                     */
    TASKS_LETTERS,    /* somebody reads the dead letters; d: how many came                                  */
    TASKS_LETTER,     /* one of them. about: the push, b: attempts, c: place, d: the op that read it        */
    TASKS_LIFT,       /* of the bell, see storm_bell.h: a requeue of the id `object`                        */
    TASKS_MUTE,       /* a cancel of it                                                                     */
    TASKS_RING,       /* a push of it                                                   */
    TASKS_LISTEN,     /* a take                                                                             */
    TASKS_HEARD,      /* somebody is handed one. about: the push, a: fence, b: 1: a worker   */
    TASKS_WATCH,      /* a worker                                                                           */
    TASKS_OVER_HEARD, /* a worker does not go on with it any more; as TASKS_HEARD, d: when it was called last */
    TASKS_HEARD_SEEN, /* by the witness, of the id `object`; a: the fence of who has it, 0: nobody          */
    TASKS_UNHEARD     /* there in the end. about: the push, a: the letter of its state, '-': none */
};

extern const gh_str tasks_queues[TASKS_QUEUES];

/* The push and the place in an id; false, and no push: not one of the storm's. */
bool tasks_read_id(gh_str id, uint32_t* push, uint32_t* place);

/* seen_tasks.c */
void tasks_witness(storm_look* look);
void tasks_audit(storm_look* look);

void check_tasks(void);

#endif
