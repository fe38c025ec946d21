/* shop.h -- a worker of a queue of tasks, with a handler that does what the test says and counts what it was
   asked to do. */

#ifndef GUILDHALL_TESTS_SHOP_H
#define GUILDHALL_TESTS_SHOP_H

#include "support/scene/game.h"
#include "support/server/redis_server.h"

#define SHOP_SLOTS 16
#define SHOP_SLOT_SIZE 512

typedef struct shop
{
    game* owner;
    gh_tasks_worker worker;
    gh_tasks_worker_config config;
    gh_task_handler handlers[4];
    gh_tasks_worker_queue queues[3];
    const char* names[3]; /* of these, and how it takes from each: made by shop_begin */
    gh_queue_config wants[3];
    gh_queue made[3];
    gh_task slots[SHOP_SLOTS];
    char memory[SHOP_SLOTS * SHOP_SLOT_SIZE];

    unsigned ticks_needed;  /* of each task                          */
    gh_task_action answer;  /* in the end; DONE if no test says more */
    uint64_t busy_us;       /* that each call takes                  */
    unsigned calls;
    unsigned ended;
    unsigned told_lost;
    unsigned told_cancelled;
    unsigned calls_in_tick_max;
    unsigned calls_in_tick;
    uint64_t tick;
    char ids[1024]; /* of tasks in the order of their ends, each with a blank behind it */
} shop;

/* The handler; its context is the shop. */
gh_task_action shop_work(void* context, gh_task* task);

/* Everything but the begin: one queue, and the handler under the name "work". */
shop* shop_prepare(game* owner, const char* queue);
void shop_begin(shop* self);

/* Both, with a game of its own. */
shop* shop_open(redis_server* server, const char* queue);

#endif
