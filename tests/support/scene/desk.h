/* desk.h -- somebody who works with one queue of tasks, step by step: each function begins one op and waits
   for its end.

   A desk lives as long as its game. Everything that an op needs stays in it, so a test may look at it
   afterwards. */

#ifndef GUILDHALL_TESTS_DESK_H
#define GUILDHALL_TESTS_DESK_H

#include "support/scene/game.h"

typedef struct desk
{
    game* owner;
    gh_str queue;
    gh_queue_config config; /* the defaults, until a test changes them */

    gh_tasks_push push;
    gh_tasks_take take;
    gh_tasks_finish finish;
    gh_tasks_extend extend;
    gh_tasks_edit edit;
    gh_tasks_control control;
    gh_tasks_look look;
    gh_tasks_count count;
    gh_task tasks[GH_TASKS_BATCH_MAX]; /* what the last take brought */
    gh_task_ref ref;
    char memory[256 * 1024];
    char text[GH_TASK_RESULT_SIZE_MAX];
} desk;

desk* desk_open(game* owner, const char* queue);

/* A queue made for one begin: it is overwritten when the next one is made, as what was begun on it needs it no more.
   What is wrong with it is told by the begin. */
const gh_queue* queue_made(gh_client* client, gh_str name, const gh_queue_config* config);

/* The same of the desk's queue, with its settings of now. */
const gh_queue* desk_queue(const desk* self);

/* As gh_op_poll says in the end. */
gh_status desk_push_all(desk* self, gh_task_spec* tasks, size_t count);

/* One task, its handler "work"; returns its status. */
gh_status desk_push(desk* self, const char* id, const char* payload);
gh_status desk_push_active(desk* self, const char* id, const char* payload); /* unique while it is active */
gh_status desk_push_delayed(desk* self, const char* id, uint64_t delay_us);
gh_status desk_push_class(desk* self, const char* id, uint32_t task_class);
gh_status desk_push_group(desk* self, const char* id, const char* group);

/* As gh_op_poll says in the end; at most `most` tasks. */
gh_status desk_take(desk* self, size_t most);

/* Takes exactly one task, whose id must be this. */
gh_task* desk_take_one(desk* self, const char* id);

/* Finishes one of the tasks; returns its status. */
gh_status desk_finish(desk* self, gh_task* task, gh_task_action action);

/* Finishes all tasks of the last take as done; each must be. */
void desk_finish_all(desk* self);

/* As gh_op_poll says in the end; the tasks have their statuses. */
gh_status desk_extend(desk* self);

/* The id's status. */
gh_status desk_cancel(desk* self, const char* id);
gh_status desk_requeue(desk* self, const char* id);

void desk_control(desk* self, gh_tasks_rules rules);
gh_task_state desk_look(desk* self, const char* id);
const gh_tasks_count* desk_count(desk* self);

/* "a b c": the ids of the last take, in order. Valid until the next call. */
const char* desk_ids(const desk* self);

#endif
