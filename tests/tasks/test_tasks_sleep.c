/* Who sleeps until gh_next_deadline sleeps also where a worker cannot do what it wants. In a world that is made up. */

#include "support/scene/sleeper.h"
#include "support/server/odd.h"

#define GIVEN   "q:0|:1000000000000000|:7|:1000000|:0|"
#define NOTHING "q:1|:1000000000000000|:0|:0|:86400000000"

typedef struct crew
{
    gh_tasks_worker worker;
    gh_task_handler handler;
    gh_queue made[2];
    gh_tasks_worker_queue queues[2];
    gh_task slots[4];
    char memory[4 * 256];
    unsigned lost;
} crew;

/* Never done, and never to be called again. */
static gh_task_action go_on(void* context, gh_task* task)
{
    crew* self = context;
    if (task->status == GH_LOST) self->lost++;
    task->again_us = UINT64_MAX;
    return GH_TASK_ACTION_CONTINUE;
}

/* Of two queues, with leases of a second. */
static crew* hire(odd* self)
{
    static const gh_str names[2] = {GH_STR_INIT("mail"), GH_STR_INIT("news")};
    crew* of = SCRIPTED_NEW(self->world, crew);
    gh_queue_config wants = gh_queue_config_default();
    gh_tasks_worker_config config = gh_tasks_worker_config_default();
    wants.lease_us = SECOND_US;
    for (int i = 0; i < 2; i++)
    {
        assert_status(gh_queue_init(&of->made[i], self->world->client, names[i], &wants), GH_OK);
        of->queues[i].queue = &of->made[i];
    }
    of->handler.function = go_on;
    of->handler.context = of;
    config.handlers = &of->handler;
    config.handler_count = 1;
    config.queues = of->queues;
    config.queue_count = 2;
    config.slots = of->slots;
    config.slot_count = 4;
    config.memory = of->memory;
    config.memory_size = sizeof of->memory;
    assert_status(gh_tasks_worker_begin(&of->worker, self->world->client, &config), GH_OK);
    return of;
}

static unsigned long ticks_within(odd* self, uint64_t time_us)
{
    const uint64_t end_us = self->world->now_us + time_us;
    unsigned long ticks = 0;
    for (; self->world->now_us < end_us; ticks++) sleeper_tick(self->world);
    return ticks;
}

/* What its handlers were told is lost is given back, one queue after the other, and not kept meanwhile. */
static void worker_that_leaves_lets_the_game_sleep(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    crew* of = hire(self);
    odd_say(self, &of->worker.take.op, GIVEN "$one|:1|$0 1 0:", NOTHING, GIVEN "$two|:1|$0 1 0:");
    for (int i = 0; i < 100 && of->worker.running < 2; i++) odd_wait(self, 1);
    assert_int_equal(of->worker.running, 2);
    odd_wait(self, 5);
    self->world->silent = true;
    gh_op_cancel(&of->worker.op);
    assert_in_range(ticks_within(self, 900000), 1, 200);
    assert_in_range(of->lost, 2, 4);
    assert_status(of->worker.trouble, GH_OK);
}

/* Nothing that a tick does brings room for one more. */
static void worker_without_room_lets_the_game_sleep(void** state)
{
    (void)state;
    gh_client_config config = scripted_config();
    config.ops_capacity = 2;
    odd* self = odd_start(&config);
    crew* of = hire(self);
    assert_in_range(ticks_within(self, SECOND_US), 1, 2100); /* one each ms, for each queue */
    assert_status(of->worker.trouble, GH_NO_ROOM);
}

TEST_FILE(tasks_sleep, cmocka_unit_test(worker_that_leaves_lets_the_game_sleep),
          cmocka_unit_test(worker_without_room_lets_the_game_sleep));
