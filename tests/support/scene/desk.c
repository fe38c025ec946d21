/* desk.c -- one op of tasks at a time, awaited and judged. */

#include "support/scene/desk.h"

#include <stdio.h>
#include <string.h>

desk* desk_open(game* owner, const char* queue)
{
    desk* self = GAME_NEW(owner, desk);
    self->owner = owner;
    self->queue = gh_str_of(queue);
    self->config = gh_queue_config_default();
    return self;
}

const gh_queue* queue_made(gh_client* client, gh_str name, const gh_queue_config* config)
{
    static gh_queue made;
    memset(&made, 0xa5, sizeof(made));
    (void)gh_queue_init(&made, client, name, config);
    return &made;
}

const gh_queue* desk_queue(const desk* self)
{
    return queue_made(self->owner->client, self->queue, &self->config);
}

gh_status desk_push_all(desk* self, gh_task_spec* tasks, size_t count)
{
    assert_status(gh_tasks_push_begin(&self->push, desk_queue(self), tasks, count), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->push.op) != GH_PENDING);
    return gh_op_poll(&self->push.op);
}

static gh_status push_one(desk* self, gh_task_spec task)
{
    task.handler = gh_str_literal("work");
    gh_status status = desk_push_all(self, &task, 1);
    if (status != GH_OK && status != task.status)
        fail_msg("a push is %s, its task %s", gh_status_name(status), gh_status_name(task.status));
    return task.status;
}

gh_status desk_push(desk* self, const char* id, const char* payload)
{
    return push_one(self, (gh_task_spec){.id = gh_str_of(id), .payload = gh_str_of(payload)});
}

gh_status desk_push_active(desk* self, const char* id, const char* payload)
{
    return push_one(
        self,
        (gh_task_spec){.id = gh_str_of(id), .payload = gh_str_of(payload), .unique = GH_TASK_UNIQUE_WHILE_ACTIVE});
}

gh_status desk_push_delayed(desk* self, const char* id, uint64_t delay_us)
{
    return push_one(self, (gh_task_spec){.id = gh_str_of(id), .delay_us = delay_us});
}

gh_status desk_push_class(desk* self, const char* id, uint32_t task_class)
{
    return push_one(self, (gh_task_spec){.id = gh_str_of(id), .task_class = task_class});
}

gh_status desk_push_group(desk* self, const char* id, const char* group)
{
    return push_one(self, (gh_task_spec){.id = gh_str_of(id), .group = gh_str_of(group)});
}

gh_status desk_take(desk* self, size_t most)
{
    assert_status(
        gh_tasks_take_begin(&self->take, desk_queue(self), self->tasks, most, self->memory, sizeof(self->memory)),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&self->take.op) != GH_PENDING);
    return gh_op_poll(&self->take.op);
}

gh_task* desk_take_one(desk* self, const char* id)
{
    assert_status(desk_take(self, 1), GH_OK);
    assert_int_equal(self->take.count, 1);
    assert_string_equal(desk_ids(self), id);
    return &self->tasks[0];
}

gh_status desk_finish(desk* self, gh_task* task, gh_task_action action)
{
    task->action = action;
    assert_status(gh_tasks_finish_begin(&self->finish, desk_queue(self), task, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->finish.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->finish.op), GH_OK);
    return task->status;
}

void desk_finish_all(desk* self)
{
    for (uint32_t i = 0; i < self->take.count; i++) self->tasks[i].action = GH_TASK_ACTION_DONE;
    assert_status(gh_tasks_finish_begin(&self->finish, desk_queue(self), self->tasks, self->take.count), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->finish.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->finish.op), GH_OK);
    for (uint32_t i = 0; i < self->take.count; i++) assert_status(self->tasks[i].status, GH_OK);
}

gh_status desk_extend(desk* self)
{
    assert_status(gh_tasks_extend_begin(&self->extend, desk_queue(self), self->tasks, self->take.count), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->extend.op) != GH_PENDING);
    return gh_op_poll(&self->extend.op);
}

static gh_status end_edit(desk* self)
{
    GAME_UNTIL(gh_op_poll(&self->edit.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->edit.op), GH_OK);
    return self->ref.status;
}

gh_status desk_cancel(desk* self, const char* id)
{
    self->ref.id = gh_str_of(id);
    assert_status(gh_tasks_cancel_begin(&self->edit, desk_queue(self), &self->ref, 1), GH_OK);
    return end_edit(self);
}

gh_status desk_requeue(desk* self, const char* id)
{
    self->ref.id = gh_str_of(id);
    assert_status(gh_tasks_requeue_begin(&self->edit, desk_queue(self), &self->ref, 1), GH_OK);
    return end_edit(self);
}

void desk_control(desk* self, gh_tasks_rules rules)
{
    assert_status(gh_tasks_control_begin(&self->control, desk_queue(self), &rules), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->control.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->control.op), GH_OK);
}

gh_task_state desk_look(desk* self, const char* id)
{
    assert_status(gh_tasks_look_begin(&self->look, desk_queue(self), gh_str_of(id), self->text, sizeof(self->text)),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&self->look.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->look.op), GH_OK);
    return self->look.state;
}

const gh_tasks_count* desk_count(desk* self)
{
    assert_status(gh_tasks_count_begin(&self->count, desk_queue(self)), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->count.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->count.op), GH_OK);
    return &self->count;
}

const char* desk_ids(const desk* self)
{
    static char text[GH_TASKS_BATCH_MAX * (GH_TASK_ID_SIZE_MAX + 1) + 1];
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < self->take.count; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.*s", i == 0 ? "" : " ", (int)self->tasks[i].id.size,
                               self->tasks[i].id.bytes);
    return text;
}
