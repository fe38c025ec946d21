/* Tests of the worker of guildhall/tasks.h: handlers by name, inside the tick. */

#include "support/scene/desk.h"
#include "support/server/redis_server.h"
#include "support/scene/shop.h"

#include "tasks/tasks_place.h"

#include <stdio.h>
#include <string.h>

#define QUEUE "mail"
#define KEY   "gh:{tasks:mail}:"
static desk* desk_on(redis_server* server)
{
    return desk_open(game_start_ready(redis_server_address(server)), QUEUE);
}

static void push_many(desk* clerk, unsigned from, unsigned count)
{
    for (unsigned i = from; i < from + count; i++)
    {
        char id[16];
        snprintf(id, sizeof(id), "t%u", i);
        assert_status(desk_push(clerk, id, ""), GH_OK);
    }
}

/* ---- handlers ------------------------------------------------------------------------------------------ */

static void handlers_are_called_by_name(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_on(server);
    push_many(clerk, 0, 40);
    GAME_UNTIL(baker->worker.done == 40);
    assert_int_equal(baker->ended, 40);
    assert_int_equal(baker->worker.taken, 40);
    assert_int_equal(baker->worker.running, 0);
    assert_status(baker->worker.trouble, GH_OK);
    assert_int_equal(desk_look(clerk, "t7"), GH_TASK_STATE_DONE);
    assert_int_equal(clerk->look.text.size, 2);
    assert_memory_equal(clerk->look.text.bytes, "t7", 2);
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "p " KEY "l " KEY "r0"), 0);
}

static void unknown_handler_is_kept_and_reported(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_on(server);
    gh_task_spec odd = {.id = gh_str_literal("odd"),
                        .handler = gh_str_literal("mystery"),
                        .payload = gh_str_literal("!"),
                        .attempts_max = 3};
    assert_status(desk_push_all(clerk, &odd, 1), GH_OK);
    GAME_UNTIL(baker->worker.dead == 1);
    assert_int_equal(baker->worker.unknown, 3);
    assert_string_equal(baker->worker.unknown_handler, "mystery");
    assert_int_equal(desk_look(clerk, "odd"), GH_TASK_STATE_DEAD);
    assert_memory_equal(clerk->look.text.bytes, "no handler", 10);

    shop* knows = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    knows->handlers[1] = (gh_task_handler){.function = shop_work, .context = knows}; /* for every other name */
    knows->config.handler_count = 2;
    gh_tasks_worker_end(&baker->worker);
    shop_begin(knows);
    assert_status(desk_requeue(clerk, "odd"), GH_OK);
    GAME_UNTIL(knows->worker.done == 1);
}

static void senseless_payload_is_kept(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_on(server);
    baker->answer = GH_TASK_ACTION_FAIL;
    push_many(clerk, 0, 1);
    redis_server_do(server, "HSET " KEY "p planted %s", "rubbish");
    redis_server_do(server, "RPUSH " KEY "r0 planted");
    GAME_UNTIL(baker->worker.dead == 1 && baker->worker.unknown == 1);
    assert_int_equal(desk_look(clerk, "t0"), GH_TASK_STATE_DEAD);
    assert_int_equal(baker->calls, 1);
    GAME_UNTIL(desk_look(clerk, "planted") == GH_TASK_STATE_DEAD);
}

static void failures_are_tried_again_and_then_die(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_on(server);
    clerk->config.attempts_max = 4;
    baker->answer = GH_TASK_ACTION_RETRY;
    push_many(clerk, 0, 5);
    GAME_UNTIL(baker->worker.dead == 5);
    assert_int_equal(baker->ended, 20);
    assert_int_equal(baker->worker.retried, 15);
    assert_int_equal(desk_count(clerk)->dead, 5);
    assert_int_equal(baker->worker.done, 0);
}

/* A handler says as a taker does what is to become of a task. */
static void handler_that_gives_back_uses_up_no_attempt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_on(server);
    clerk->config.attempts_max = 1;
    baker->answer = GH_TASK_ACTION_GIVE_BACK;
    push_many(clerk, 0, 1);
    GAME_UNTIL(baker->ended >= 3);
    assert_int_equal(baker->worker.retried + baker->worker.dead + baker->worker.lost, 0);
    baker->answer = GH_TASK_ACTION_DONE;
    GAME_UNTIL(baker->worker.done == 1);
    assert_true(baker->worker.taken >= 4);
    assert_int_equal(desk_look(clerk, "t0"), GH_TASK_STATE_DONE);
    assert_int_equal(clerk->look.attempt, 1);
}

static void assert_text_of(desk* clerk, const char* id, const char* expected)
{
    (void)desk_look(clerk, id);
    assert_int_equal(clerk->look.text.size, strlen(expected));
    assert_memory_equal(clerk->look.text.bytes, expected, strlen(expected));
}

static gh_task_action say_less(void* context, gh_task* task)
{
    shop* self = context;
    self->calls++;
    if (task->step++ == 0) task->delay_us = 3600 * SECOND_US;
    return self->answer;
}

/* Without a reason of its own a handler's action is the reason; a number that is no action is a failure. */
static void action_is_the_reason_and_what_is_none_a_failure(void** state)
{
    (void)state;
    static const struct
    {
        gh_task_action answer;
        gh_task_state state;
        const char* reason;
    } turns[] = {{GH_TASK_ACTION_RETRY, GH_TASK_STATE_RETRYING, "the handler failed"},
                 {GH_TASK_ACTION_FAIL, GH_TASK_STATE_DEAD, "the handler gave it up"},
                 {(gh_task_action)77, GH_TASK_STATE_RETRYING, "the handler returned no action"}};
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    desk* clerk = desk_on(server);
    baker->handlers[0].function = say_less;
    shop_begin(baker);
    for (unsigned i = 0; i < 3; i++)
    {
        char id[16];
        snprintf(id, sizeof(id), "t%u", i);
        baker->answer = turns[i].answer;
        push_many(clerk, i, 1);
        GAME_UNTIL(baker->worker.retried + baker->worker.dead == i + 1);
        assert_int_equal(desk_look(clerk, id), turns[i].state); /* its delay is an hour */
        assert_text_of(clerk, id, turns[i].reason);
    }
    assert_int_equal(baker->calls, 3);
}

static void handler_goes_on_over_many_ticks_and_is_renewed(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    desk* other = desk_on(server);
    baker->wants[0].lease_us = 2 * SECOND_US;
    baker->ticks_needed = UINT32_MAX;
    push_many(other, 0, 3);
    shop_begin(baker);
    GAME_UNTIL(baker->worker.running == 3);
    uint64_t begin_us = wait_now_us();
    while (wait_now_us() - begin_us < 5 * SECOND_US)
    {
        assert_status(desk_take(other, 1), GH_EMPTY);
        game_tick_all();
    }
    baker->ticks_needed = 1;
    GAME_UNTIL(baker->worker.done == 3);
    assert_int_equal(baker->worker.lost, 0);
    assert_true(baker->calls > 100);
    assert_true(baker->calls_in_tick_max <= 3); /* each once in a tick */
}

static gh_task_action wait_for_a_call(void* context, gh_task* task)
{
    shop* self = context;
    self->calls++;
    task->again_us = UINT64_MAX;
    return GH_TASK_ACTION_CONTINUE;
}

/* It is not called again by itself, and who sleeps between two ticks is not woken for it. */
static void handler_that_never_wants_another_call_lets_the_game_sleep(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    desk* other = desk_on(server);
    baker->handlers[0].function = wait_for_a_call;
    push_many(other, 0, 1);
    shop_begin(baker);
    GAME_UNTIL(baker->worker.running == 1);
    uint64_t longest_us = 0;
    uint64_t begin_us = wait_now_us();
    while (wait_now_us() - begin_us < SECOND_US)
    {
        game_tick_all();
        uint64_t now_us = game_now_us(baker->owner);
        uint64_t due_us = gh_next_deadline(baker->owner->client);
        if (due_us > now_us && due_us - now_us > longest_us) longest_us = due_us - now_us;
    }
    assert_int_equal(baker->calls, 1);
    assert_true(longest_us > 10000);
}

/* ---- leases and cancelling ----------------------------------------------------------------------------- */

static void hitch_longer_than_the_lease_is_told_before_anything_else(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    desk* clerk = desk_on(server);
    baker->wants[0].lease_us = SECOND_US;
    baker->ticks_needed = UINT32_MAX;
    push_many(clerk, 0, 2);
    shop_begin(baker);
    GAME_UNTIL(baker->worker.running == 2 && baker->calls >= 4);
    baker->owner->asleep = true;
    baker->owner->ahead_us += 2 * (int64_t)SECOND_US;
    unsigned calls = baker->calls;
    game_tick(baker->owner);
    assert_int_equal(baker->told_lost, 2);
    assert_int_equal(baker->calls, calls);
    assert_int_equal(baker->worker.lost, 2);
    baker->owner->asleep = false;
    baker->ticks_needed = 1;
    GAME_UNTIL(baker->worker.done == 2); /* they come back after the lease */
}

static void cancelled_task_hears_of_it_at_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    desk* clerk = desk_on(server);
    GAME_UNTIL(gh_client_link_state(baker->owner->client, GH_LINK_WAKE) == GH_LINK_READY);
    baker->wants[0].lease_us = 3600 * SECOND_US; /* a renewal would tell it after 20 min */
    baker->ticks_needed = UINT32_MAX;
    shop_begin(baker);
    push_many(clerk, 0, 2);
    GAME_UNTIL(baker->worker.running == 2);
    assert_status(desk_cancel(clerk, "t1"), GH_RUNNING);
    GAME_UNTIL(baker->worker.cancelled == 1);
    assert_int_equal(baker->told_cancelled, 1);
    assert_int_equal(desk_look(clerk, "t1"), GH_TASK_STATE_CANCELLED);
    assert_int_equal(desk_look(clerk, "t0"), GH_TASK_STATE_RUNNING);
}

static void store_that_lost_its_data_takes_the_tasks_along(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_on(server);
    baker->ticks_needed = UINT32_MAX;
    push_many(clerk, 0, 3);
    GAME_UNTIL(baker->worker.running == 3);
    redis_server_restart_empty(server);
    GAME_UNTIL(baker->worker.lost == 3);
    assert_int_equal(baker->told_lost, 3);
    baker->ticks_needed = 1;
    push_many(clerk, 10, 2);
    GAME_UNTIL(baker->worker.done == 2);
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static void stopped_worker_ends_what_it_has_begun(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_on(server);
    baker->ticks_needed = 20;
    push_many(clerk, 0, 4);
    GAME_UNTIL(baker->calls > 0);
    gh_tasks_worker_end(&baker->worker);
    GAME_UNTIL(gh_op_poll(&baker->worker.op) != GH_PENDING);
    assert_status(gh_op_poll(&baker->worker.op), GH_OK);
    assert_true(baker->worker.done > 0);
    assert_int_equal(baker->worker.done, baker->ended);
    assert_int_equal(desk_count(clerk)->handed_out, 0);
    assert_int_equal(desk_count(clerk)->stored, 4 - baker->ended);
    assert_int_equal(game_stats(baker->owner).ops_busy, 0);
    baker->ticks_needed = 1;
    shop_begin(baker);
    GAME_UNTIL(baker->ended == 4);
}

static void assert_given_back(shop* baker, desk* clerk)
{
    assert_status(gh_op_poll(&baker->worker.op), GH_CANCELLED);
    assert_int_equal(desk_count(clerk)->handed_out, 0);
    assert_status(desk_take(clerk, 10), GH_OK);
    assert_int_equal(clerk->take.count, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(clerk->tasks[i].attempt, 1);
    assert_int_equal(baker->told_lost, 4);
}

static shop* shop_with_four(redis_server* server, desk* clerk)
{
    shop* baker = shop_open(server, QUEUE);
    baker->ticks_needed = UINT32_MAX;
    push_many(clerk, 0, 4);
    GAME_UNTIL(baker->worker.running == 4 && baker->slots[3].state == GH_TASK_PLACE_BEGUN);
    return baker;
}

static void cancelled_worker_gives_everything_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    shop* baker = shop_with_four(server, clerk);
    gh_op_cancel(&baker->worker.op);
    GAME_UNTIL(gh_op_poll(&baker->worker.op) != GH_PENDING);
    assert_given_back(baker, clerk);
}

static void drained_client_gives_everything_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    shop* baker = shop_with_four(server, clerk);
    assert_status(gh_client_drain(baker->owner->client, 10 * SECOND_US), GH_OK);
    GAME_UNTIL(gh_client_drained(baker->owner->client));
    assert_given_back(baker, clerk);
}

static void shutdown_tells_handlers_and_the_lease_brings_the_tasks_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    shop* baker = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    baker->wants[0].lease_us = SECOND_US / 2;
    baker->ticks_needed = UINT32_MAX;
    shop_begin(baker);
    push_many(clerk, 0, 2);
    GAME_UNTIL(baker->worker.running == 2);
    gh_client_shutdown(baker->owner->client);
    baker->owner->asleep = true;
    assert_int_equal(baker->told_lost, 2);
    assert_status(gh_op_poll(&baker->worker.op), GH_CANCELLED);
    clerk->config.wait_us = 10 * SECOND_US;
    assert_status(desk_take(clerk, 2), GH_OK);
    assert_int_equal(clerk->tasks[0].attempt, 2);
}

/* ---- several queues ------------------------------------------------------------------------------------ */

static void push_into(game* from, const char* queue, const char* prefix, unsigned count)
{
    desk* clerk = desk_open(from, queue);
    for (unsigned i = 0; i < count; i++)
    {
        char id[16];
        snprintf(id, sizeof(id), "%s%u", prefix, i);
        assert_status(desk_push(clerk, id, ""), GH_OK);
    }
}

static void queues_are_served_in_order_of_importance(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* pusher = game_start_ready(redis_server_address(server));
    shop* baker = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    baker->names[1] = "low";
    baker->names[2] = "lowest";
    baker->config.queue_count = 3;
    baker->config.slot_count = 1; /* one after the other */
    push_into(pusher, "lowest", "c", 3);
    push_into(pusher, "low", "b", 3);
    push_into(pusher, QUEUE, "a", 3);
    shop_begin(baker);
    GAME_UNTIL(baker->worker.done == 9);
    assert_string_equal(baker->ids, "a0 a1 a2 b0 b1 b2 c0 c1 c2 ");
}

static void queues_are_served_by_weight(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* pusher = game_start_ready(redis_server_address(server));
    shop* baker = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    baker->queues[0].weight = 3;
    baker->names[1] = "low";
    baker->queues[1].weight = 1;
    baker->config.queue_count = 2;
    baker->config.slot_count = 2;
    push_into(pusher, QUEUE, "a", 60);
    push_into(pusher, "low", "b", 60);
    shop_begin(baker);
    GAME_UNTIL(baker->worker.done >= 60);
    unsigned low = 0;
    for (unsigned i = 0, at = 0; i < 60; i++)
    {
        if (baker->ids[at] == 'b') low++;
        at += (unsigned)strcspn(baker->ids + at, " ") + 1;
        assert_in_range(low + 5, (i + 1) / 4 + 1, (i + 1) / 4 + 9); /* its quarter, give or take a batch a queue */
    }
    GAME_UNTIL(baker->worker.done == 120);
}

static void push_wakes_an_idle_worker(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_on(server);
    GAME_UNTIL(gh_client_link_state(baker->owner->client, GH_LINK_WAKE) == GH_LINK_READY);
    uint64_t hints = game_stats(baker->owner).hints;
    for (unsigned i = 0; i < 20; i++)
    {
        GAME_UNTIL(redis_server_integer(server, "ZCARD " KEY "i") == 1);
        push_many(clerk, i, 1);
        GAME_UNTIL(baker->worker.done == i + 1);
    }
    assert_true(game_stats(baker->owner).hints - hints >= 15);
}

/* ---- the budget ---------------------------------------------------------------------------------------- */

static void tick_takes_no_more_than_its_budget_can_eat(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_on(server);
    baker->owner->asleep = true; /* ticked below, with a budget */
    baker->busy_us = 2000;
    push_many(clerk, 0, 40);
    uint64_t end_us = wait_cap_us();
    while (baker->worker.done < 40 && wait_now_us() < end_us)
    {
        unsigned held = 0;
        assert_status(gh_tick(baker->owner->client, game_now_us(baker->owner), 3000), GH_OK);
        for (int i = 0; i < SHOP_SLOTS; i++) held += baker->slots[i].state == GH_TASK_PLACE_HELD;
        assert_true(held <= 2); /* two are more than a tick can eat */
        assert_true(baker->worker.appetite <= 2);
    }
    assert_int_equal(baker->worker.done, 40);
    assert_in_range(baker->calls_in_tick_max, 1, 2);

    baker->busy_us = 0; /* and when they are cheap, it takes its fill */
    push_many(clerk, 100, 60);
    end_us = wait_cap_us();
    uint32_t most_appetite = 0;
    while (baker->worker.done < 100 && wait_now_us() < end_us)
    {
        assert_status(gh_tick(baker->owner->client, game_now_us(baker->owner), 3000), GH_OK);
        if (baker->worker.appetite > most_appetite) most_appetite = baker->worker.appetite;
    }
    assert_int_equal(baker->worker.done, 100);
    assert_true(most_appetite > 4);
}

static void each_tick_calls_a_handler_however_small_the_budget(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_on(server);
    baker->owner->asleep = true;
    push_many(clerk, 0, 10);
    uint64_t end_us = wait_cap_us();
    while (baker->worker.done < 10 && wait_now_us() < end_us)
        assert_status(gh_tick(baker->owner->client, game_now_us(baker->owner), 1), GH_OK);
    assert_int_equal(baker->worker.done, 10);
    assert_int_equal(baker->calls_in_tick_max, 1);
}

/* ---- tasks that are larger than a slot ----------------------------------------------------------------- */

static void task_larger_than_a_slot_is_tried_again_and_then_dies(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_open(server, QUEUE);
    desk* clerk = desk_on(server);
    static char payload[GH_TASK_PAYLOAD_SIZE_MAX + 1];
    memset(payload, 'x', GH_TASK_PAYLOAD_SIZE_MAX);
    /* "0 5 4:work" before the payload, the id beside it */
    const size_t most = SHOP_SLOT_SIZE - GH_TASK_ID_SIZE_MAX - 10;
    clerk->config.attempts_max = 3;
    assert_status(desk_push(clerk, "largest", payload + GH_TASK_PAYLOAD_SIZE_MAX - most), GH_OK);
    assert_status(desk_push(clerk, "too large", payload + GH_TASK_PAYLOAD_SIZE_MAX - most - 1), GH_OK);
    assert_status(desk_push(clerk, "far too large", payload), GH_OK);
    push_many(clerk, 0, 1);
    GAME_UNTIL(baker->worker.done == 2 && baker->worker.dead == 2);
    assert_string_equal(baker->ids, "largest t0 ");
    assert_int_equal(baker->worker.too_large, 6);
    assert_int_equal(baker->worker.retried, 4);
    assert_int_equal(baker->worker.taken, 8);
    assert_int_equal(baker->worker.unknown, 0);
    assert_true(baker->owner->warnings_logged > 0);
    assert_int_equal(desk_look(clerk, "too large"), GH_TASK_STATE_DEAD);
    assert_memory_equal(clerk->look.text.bytes, "larger than a slot", 18);
    assert_int_equal(desk_look(clerk, "far too large"), GH_TASK_STATE_DEAD);
}

/* The smallest slots, and the longest names: what is cut from such a task is its payload alone. */
static void task_larger_than_a_slot_is_done_by_one_with_room(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* small = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    shop* large = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    desk* clerk = desk_on(server);
    static const char name[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    static char payload[GH_TASK_PAYLOAD_SIZE_MAX];
    static char room[4 * (GH_TASK_BYTES_MAX + GH_TASK_ID_SIZE_MAX)]; /* any task, and an id as its result */
    gh_task_spec spec = {.id = gh_str_of(name),
                         .handler = gh_str_of(name),
                         .group = gh_str_of(name),
                         .payload = gh_str_make(payload, sizeof(payload)),
                         .attempts_max = GH_TASKS_ATTEMPTS_MAX};
    small->config.memory_size = SHOP_SLOTS * 256;
    small->handlers[0].name = large->handlers[0].name = spec.handler;
    large->config.memory = room;
    large->config.memory_size = sizeof(room);
    large->config.slot_count = 4;
    shop_begin(small);
    assert_status(desk_push_all(clerk, &spec, 1), GH_OK);
    push_many(clerk, 0, 1); /* no handler of its name, in either */
    GAME_UNTIL(small->worker.too_large >= 2 && small->worker.retried >= 2);
    shop_begin(large);
    GAME_UNTIL(large->worker.done == 1);
    assert_int_equal(large->worker.too_large, 0);
    assert_int_equal(small->worker.done + small->ended, 0);
    assert_int_equal(desk_look(clerk, name), GH_TASK_STATE_DONE);
}

TEST_FILE(tasks_worker, cmocka_unit_test(handlers_are_called_by_name),
          cmocka_unit_test(unknown_handler_is_kept_and_reported), cmocka_unit_test(senseless_payload_is_kept),
          cmocka_unit_test(failures_are_tried_again_and_then_die),
          cmocka_unit_test(handler_that_gives_back_uses_up_no_attempt),
          cmocka_unit_test(action_is_the_reason_and_what_is_none_a_failure),
          cmocka_unit_test(handler_goes_on_over_many_ticks_and_is_renewed),
          cmocka_unit_test(handler_that_never_wants_another_call_lets_the_game_sleep),
          cmocka_unit_test(hitch_longer_than_the_lease_is_told_before_anything_else),
          cmocka_unit_test(cancelled_task_hears_of_it_at_once),
          cmocka_unit_test(store_that_lost_its_data_takes_the_tasks_along),
          cmocka_unit_test(stopped_worker_ends_what_it_has_begun),
          cmocka_unit_test(cancelled_worker_gives_everything_back),
          cmocka_unit_test(drained_client_gives_everything_back),
          cmocka_unit_test(shutdown_tells_handlers_and_the_lease_brings_the_tasks_back),
          cmocka_unit_test(queues_are_served_in_order_of_importance), cmocka_unit_test(queues_are_served_by_weight),
          cmocka_unit_test(push_wakes_an_idle_worker), cmocka_unit_test(tick_takes_no_more_than_its_budget_can_eat),
          cmocka_unit_test(each_tick_calls_a_handler_however_small_the_budget),
          cmocka_unit_test(task_larger_than_a_slot_is_tried_again_and_then_dies),
          cmocka_unit_test(task_larger_than_a_slot_is_done_by_one_with_room));
