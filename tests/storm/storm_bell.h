/* storm_bell.h -- a queue of few ids that are pushed again and again, each as soon as it is free: who rings, who hears
   it.

   A payload names the op that has pushed it, and a task has one attempt. So whoever is handed one shows which push was
   stored, and nobody else may be; but some become dead letters, which others requeue or cancel. */

#ifndef GUILDHALL_TESTS_STORM_STORM_BELL_H
#define GUILDHALL_TESTS_STORM_STORM_BELL_H

#include "guildhall/tasks_admin.h"
#include "guildhall/tasks_take.h"
#include "storm/storm.h"

enum
{
    BELL_SLOTS = 2,
    BELL_LEASE_US = 10000000 /* nobody is told of a hand-out as late as that */
};

/* In every third run workers listen, too, and go on for long with some of what they hear. */
static inline bool bell_has_workers(void)
{
    return storm.seed % 3 == 1;
}

/* What a worker's slot does: until when its handler goes on, and when it was called last. */
typedef struct bell_job
{
    uint64_t until_us;
    uint64_t called_us;
} bell_job;

typedef struct bell_actor
{
    storm_client* me;
    random_stream* random;
    gh_tasks_push push;
    gh_task_spec spec;
    char payload[16];
    uint32_t push_op; /* 0: none goes on; so the others */
    gh_tasks_take take;
    uint32_t take_op;
    gh_tasks_finish finish;
    uint32_t finish_op;
    gh_tasks_edit edit;
    gh_task_ref ref;
    uint32_t edit_op;
    gh_tasks_worker worker;
    gh_task_handler handler;
    gh_queue worked;
    gh_tasks_worker_queue queue;
    gh_task slots[BELL_SLOTS];
    bell_job jobs[BELL_SLOTS];
    uint32_t work_op;
    uint64_t work_end_us;
    gh_task task;
    _Alignas(16) char bytes[GH_TASK_BYTES_MAX];
    _Alignas(16) char slot_bytes[1024 * BELL_SLOTS];
} bell_actor;

void bell_start(bell_actor* a, storm_client* me, random_stream* random);
void bell_turn(bell_actor* a, bool may_begin);
bool bell_idle(const bell_actor* a);

/* Who has what of it. */
void bell_witness(storm_look* look);

/* What lies in it in the end. */
void bell_audit(storm_look* look);

void check_bell(void);

#endif
