/* Tests of GH_TRACE_TASK: what became of tasks, for whoever logs it. */

#include "support/scene/desk.h"
#include "support/scene/shop.h"
#include "support/server/proxy.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

#define QUEUE "smithy"

/* "sword 1 OK sharp;" for each. */
static char told[1024];

static void tell(void* context, const gh_trace_event* event)
{
    size_t used = strlen(told);
    (void)context;
    if (event->kind != GH_TRACE_TASK)
    {
        assert_int_equal(event->queue.size + event->handler.size + event->id.size + event->result.size, 0);
        assert_int_equal(event->attempt, 0);
        return;
    }
    assert_string_equal(event->system, "tasks_finish");
    assert_true(gh_str_equal(event->queue, gh_str_literal(QUEUE)));
    assert_true(gh_str_equal(event->handler, gh_str_literal("work")));
    assert_int_equal(event->elapsed_us, 0);
    (void)snprintf(told + used, sizeof told - used, "%.*s %u %s %.*s;", (int)event->id.size, event->id.bytes,
                   event->attempt, gh_status_name(event->status), (int)event->result.size, event->result.bytes);
}

static void assert_told(const char* expected)
{
    assert_string_equal(told, expected);
    told[0] = 0;
}

static game* listener_on(const char* address)
{
    gh_client_config config = game_config(address);
    config.hooks.trace = tell;
    config.wake = false;
    config.request_timeout_us = SECOND_US / 10;
    told[0] = 0;
    game* self = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(self->client));
    return self;
}

static gh_status finish_with(desk* self, const char* id, gh_task_action action, const char* result)
{
    gh_task* task = desk_take_one(self, id);
    task->result = gh_str_of(result);
    return desk_finish(self, task, action);
}

/* ---- by hand --------------------------------------------------------------------------------------------- */

static void each_end_of_an_attempt_is_told(void** state)
{
    (void)state;
    desk* self = desk_open(listener_on(redis_server_address(redis_server_start(NULL))), QUEUE);
    self->config.backoff_min_us = self->config.backoff_max_us = 1000;
    self->config.attempts_max = 2;
    self->config.wait_us = SECOND_US;
    assert_status(desk_push(self, "sword", ""), GH_OK);
    assert_status(finish_with(self, "sword", GH_TASK_ACTION_RETRY, "no coal"), GH_OK);
    assert_told("sword 1 PENDING no coal;");
    assert_status(finish_with(self, "sword", GH_TASK_ACTION_RETRY, "no iron"), GH_DEAD);
    assert_told("sword 2 DEAD no iron;");
    assert_status(desk_push(self, "shield", ""), GH_OK);
    assert_status(finish_with(self, "shield", GH_TASK_ACTION_FAIL, "what is a shield"), GH_OK);
    assert_told("shield 1 DEAD what is a shield;");
    assert_status(desk_push(self, "axe", ""), GH_OK);
    assert_status(finish_with(self, "axe", GH_TASK_ACTION_DONE, "sharp"), GH_OK);
    assert_told("axe 1 OK sharp;");
}

static void what_goes_on_elsewhere_is_not_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* self = desk_open(listener_on(redis_server_address(server)), QUEUE);
    assert_status(desk_push(self, "axe", ""), GH_OK);
    assert_status(finish_with(self, "axe", GH_TASK_ACTION_GIVE_BACK, ""), GH_OK);
    gh_task* task = desk_take_one(self, "axe");
    assert_status(desk_cancel(self, "axe"), GH_RUNNING);
    assert_status(desk_finish(self, task, GH_TASK_ACTION_RETRY), GH_CANCELLED);
    assert_status(desk_push(self, "bow", ""), GH_OK);
    task = desk_take_one(self, "bow");
    redis_server_do(server, "DEL gh:{tasks:" QUEUE "}:m");
    assert_status(desk_finish(self, task, GH_TASK_ACTION_DONE), GH_LOST);
    assert_told("");
}

/* Carried out twice, or answered twice: told once. Not answered at all: not told. */
static void lost_answer_is_told_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    desk* self = desk_open(listener_on(proxy_address(proxy)), QUEUE);
    for (int i = 0; i < 2; i++)
    {
        assert_status(desk_push(self, i == 0 ? "axe" : "bow", ""), GH_OK);
        gh_task* task = desk_take_one(self, i == 0 ? "axe" : "bow");
        task->result = gh_str_literal("good");
        task->action = GH_TASK_ACTION_DONE;
        self->config.timeout_us = i == 0 ? 5 * SECOND_US : SECOND_US / 5;
        proxy_arm(proxy, PROXY_REPLY, 0, PROXY_HOLD);
        assert_status(gh_tasks_finish_begin(&self->finish, desk_queue(self), task, 1), GH_OK);
        if (i == 1)
        {
            GAME_UNTIL(proxy_fired(proxy) == 2);
            proxy_set_mode(proxy, PROXY_REFUSE);
        }
        GAME_UNTIL(gh_op_poll(&self->finish.op) != GH_PENDING);
        assert_status(gh_op_poll(&self->finish.op), i == 0 ? GH_OK : GH_UNKNOWN);
        assert_told(i == 0 ? "axe 1 OK good;" : "");
    }
}

/* ---- a worker -------------------------------------------------------------------------------------------- */

static void worker_tells_of_each_attempt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_open(game_start_ready(redis_server_address(server)), QUEUE);
    shop* self = shop_prepare(listener_on(redis_server_address(server)), QUEUE);
    self->wants[0].backoff_min_us = self->wants[0].backoff_max_us = 1000;
    shop_begin(self);
    gh_task_spec spec = {.id = gh_str_literal("sword"), .handler = gh_str_literal("work"), .attempts_max = 2};
    assert_status(desk_push_all(clerk, &spec, 1), GH_OK);
    GAME_UNTIL(self->worker.done == 1);
    assert_told("sword 1 OK sword;"); /* what the handler gives as result, or as reason */
    self->answer = GH_TASK_ACTION_RETRY;
    spec.id = gh_str_literal("shield");
    assert_status(desk_push_all(clerk, &spec, 1), GH_OK);
    GAME_UNTIL(self->worker.dead == 1);
    assert_told("shield 1 PENDING shield;shield 2 DEAD shield;");
    self->answer = GH_TASK_ACTION_FAIL;
    spec.id = gh_str_literal("bow");
    assert_status(desk_push_all(clerk, &spec, 1), GH_OK);
    GAME_UNTIL(self->worker.dead == 2);
    assert_told("bow 1 DEAD bow;");
}

TEST_FILE(tasks_trace, cmocka_unit_test(each_end_of_an_attempt_is_told),
          cmocka_unit_test(what_goes_on_elsewhere_is_not_told), cmocka_unit_test(lost_answer_is_told_once),
          cmocka_unit_test(worker_tells_of_each_attempt));
