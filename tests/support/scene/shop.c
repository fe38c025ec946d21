/* shop.c -- handlers that note what they were given and end as the test says. */

#include "support/scene/shop.h"

#include "support/wait.h"

#include <stdio.h>
#include <string.h>

static void note_id(shop* self, const gh_task* task)
{
    size_t at = strlen(self->ids);
    snprintf(self->ids + at, sizeof(self->ids) - at, "%.*s ", (int)task->id.size, task->id.bytes);
}

static void note_call(shop* self)
{
    uint64_t tick = game_stats(self->owner).ticks;
    if (tick != self->tick) self->calls_in_tick = 0;
    self->tick = tick;
    self->calls++;
    if (++self->calls_in_tick > self->calls_in_tick_max) self->calls_in_tick_max = self->calls_in_tick;
}

gh_task_action shop_work(void* context, gh_task* task)
{
    shop* self = context;
    if (task->status == GH_LOST)
    {
        self->told_lost++;
        return GH_TASK_ACTION_DONE;
    }
    note_call(self);
    for (uint64_t begin_us = wait_now_us(); wait_now_us() - begin_us < self->busy_us;) continue;
    if (task->status == GH_CANCELLED)
    {
        self->told_cancelled++;
        return GH_TASK_ACTION_RETRY;
    }
    if (++task->step < self->ticks_needed) return GH_TASK_ACTION_CONTINUE;
    note_id(self, task);
    self->ended++;
    assert_true(gh_task_set_result(task, task->id));
    return self->answer;
}

shop* shop_prepare(game* owner, const char* queue)
{
    shop* self = GAME_NEW(owner, shop);
    self->owner = owner;
    self->config = gh_tasks_worker_config_default();
    self->handlers[0] = (gh_task_handler){.name = gh_str_literal("work"), .function = shop_work, .context = self};
    self->names[0] = queue;
    for (int i = 0; i < 3; i++)
    {
        self->wants[i] = gh_queue_config_default();
        self->wants[i].backoff_min_us = self->wants[i].backoff_max_us = SECOND_US / 100;
        self->queues[i].queue = &self->made[i];
    }
    self->config.handlers = self->handlers;
    self->config.handler_count = 1;
    self->config.queues = self->queues;
    self->config.queue_count = 1;
    self->config.slots = self->slots;
    self->config.slot_count = SHOP_SLOTS;
    self->config.memory = self->memory;
    self->config.memory_size = sizeof(self->memory);
    self->answer = GH_TASK_ACTION_DONE;
    return self;
}

void shop_begin(shop* self)
{
    for (size_t i = 0; i < self->config.queue_count; i++)
        assert_status(gh_queue_init(&self->made[i], self->owner->client, gh_str_of(self->names[i]), &self->wants[i]),
                      GH_OK);
    assert_status(gh_tasks_worker_begin(&self->worker, self->owner->client, &self->config), GH_OK);
    assert_status(gh_op_poll(&self->worker.op), GH_PENDING);
}

shop* shop_open(redis_server* server, const char* queue)
{
    shop* self = shop_prepare(game_start_ready(redis_server_address(server)), queue);
    shop_begin(self);
    return self;
}
