/* Copies of requests for tasks that hang on the way, and reach the store when everything is over: they do nothing. And
   what an op says that was sent twice is true of all of its copies. */

#include "support/scene/desk.h"
#include "support/server/proxy.h"
#include "support/server/redis_server.h"

#include "client/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE "mail"
#define KEY   "gh:{tasks:mail}:"

/* One desk whose requests pass a proxy that can hold them back, and one beside it. */
typedef struct street
{
    redis_server* server;
    chaos_proxy* proxy;
    desk* far;
    desk* near;
    bool closed;
} street;

static gh_task_spec of_one_attempt(const char* id)
{
    return (gh_task_spec){.id = gh_str_of(id), .handler = gh_str_literal("work"), .attempts_max = 1};
}

static void push_one(desk* self, const char* id)
{
    gh_task_spec spec = of_one_attempt(id);
    assert_status(desk_push_all(self, &spec, 1), GH_OK);
}

/* Every script that the far desk will want is loaded. */
static street street_open(void)
{
    redis_server_options options = {.clock = true};
    street self = {.server = redis_server_start(&options)};
    self.proxy = proxy_start(redis_server_address(self.server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(self.proxy));
    config.wake = false;
    config.request_timeout_us = SECOND_US / 20 * suite_patience();
    game* behind = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(behind->client));
    self.far = desk_open(behind, QUEUE);
    self.near = desk_open(game_start_ready(redis_server_address(self.server)), QUEUE);
    push_one(self.far, "first");
    assert_status(desk_finish(self.far, desk_take_one(self.far, "first"), GH_TASK_ACTION_FAIL), GH_OK);
    assert_status(desk_requeue(self.far, "first"), GH_OK);
    assert_status(desk_cancel(self.far, "first"), GH_OK);
    desk_control(self.far, (gh_tasks_rules){.paused = false});
    assert_status(desk_take(self.far, 1), GH_EMPTY);
    return self;
}

/* A server that stands still for a moment costs the far desk its link, and what it then says first is a hand-shake. */
static void street_is_quiet(const street* self)
{
    GAME_UNTIL(gh_client_ready(self->far->owner->client));
}

/* The next request of the far desk hangs until street_release; the copy that follows it does not. */
static void street_hold(street* self)
{
    street_is_quiet(self);
    proxy_arm_connection(self->proxy, proxy_connections(self->proxy), PROXY_REQUEST, 0, PROXY_HOLD);
}

/* From now on no copy passes; or they do again. */
static void street_close(street* self, bool closed)
{
    self->closed = closed;
    proxy_set_mode(self->proxy, closed ? PROXY_REFUSE : PROXY_PASS);
}

/* The next request is carried out, but its answer hangs; no other copy passes before street_close(self, false). */
static void street_hold_answer(street* self)
{
    street_is_quiet(self);
    proxy_arm_connection(self->proxy, proxy_connections(self->proxy), PROXY_REPLY, 0, PROXY_HOLD);
    street_close(self, true);
}

/* What hung is carried out, by a server whose clock says that it is `late_us` later than it is. Below zero: as if it
   had hung for less, so that its time is not over yet. */
static void street_release(street* self, int64_t late_us)
{
    assert_int_equal(proxy_fired(self->proxy), 1);
    if (!self->closed) street_is_quiet(self); /* no script is under way but the one that hung */
    redis_server_shift_clock(self->server, late_us);
    long long calls = redis_server_calls(self->server, "evalsha");
    proxy_release(self->proxy);
    WAIT_FOR(redis_server_calls(self->server, "evalsha") > calls);
    redis_server_shift_clock(self->server, 0);
}

#define IN_TIME    (-20 * (int64_t)SECOND_US)
#define MUCH_LATER (700 * (int64_t)SECOND_US)

/* ---- take ---------------------------------------------------------------------------------------------- */

/* Fault 6: the worker has taken since. A hand-out to nobody would be the only attempt of t3. */
static void take_that_hung_gets_nothing_after_a_later_one(void** state)
{
    (void)state;
    street self = street_open();
    push_one(self.near, "t1");
    street_hold(&self);
    desk_take_one(self.far, "t1");
    desk_finish_all(self.far);
    push_one(self.near, "t2");
    desk_take_one(self.far, "t2");
    push_one(self.near, "t3");
    street_release(&self, IN_TIME);
    assert_int_equal(desk_look(self.near, "t3"), GH_TASK_STATE_READY);
    assert_int_equal(desk_take_one(self.near, "t3")->attempt, 1);
}

static void take_that_hung_gets_nothing_after_it_was_told_of_nothing(void** state)
{
    (void)state;
    street self = street_open();
    street_hold(&self);
    assert_status(desk_take(self.far, 1), GH_EMPTY);
    push_one(self.near, "t1");
    street_release(&self, IN_TIME);
    assert_int_equal(desk_look(self.near, "t1"), GH_TASK_STATE_READY);
    assert_int_equal(desk_take_one(self.near, "t1")->attempt, 1);
}

/* No copy of it was answered: its time is all there is. */
static void take_that_hung_gets_nothing_after_its_time(void** state)
{
    (void)state;
    street self = street_open();
    street_hold(&self);
    street_close(&self, true);
    self.far->config.timeout_us = SECOND_US / 10 * suite_patience();
    assert_status(desk_take(self.far, 1), GH_UNKNOWN);
    push_one(self.near, "t1");
    street_release(&self, SECOND_US);
    assert_int_equal(desk_look(self.near, "t1"), GH_TASK_STATE_READY);
    street_close(&self, false);
}

/* ---- take of so many together ---------------------------------------------------------------------------- */

enum
{
    TABLE = 4
};

/* Three tasks, and the place of a fourth that was cancelled. */
static void push_three_and_a_place(desk* self)
{
    for (const char* id = "abcd"; *id != 0; id++) push_one(self, (char[2]){*id, 0});
    assert_status(desk_cancel(self, "b"), GH_OK);
}

static void assert_three_are_ready(desk* self)
{
    for (const char* id = "acd"; *id != 0; id++)
        assert_int_equal(desk_look(self, (char[2]){*id, 0}), GH_TASK_STATE_READY);
    assert_int_equal(desk_count(self)->handed_out, 0);
    assert_status(desk_take(self, TABLE), GH_OK);
    assert_string_equal(desk_ids(self), "a c d");
    for (int i = 0; i < 3; i++) assert_int_equal(self->tasks[i].attempt, 1);
}

/* No copy of it was answered, its time is not over, and there are too few. */
static void take_together_that_hung_gets_nothing_below_the_minimum(void** state)
{
    (void)state;
    street self = street_open();
    push_three_and_a_place(self.near);
    self.far->config.count_min = TABLE;
    self.far->config.timeout_us = SECOND_US / 10 * suite_patience();
    street_hold(&self);
    street_close(&self, true);
    assert_status(desk_take(self.far, TABLE), GH_UNKNOWN);
    street_release(&self, IN_TIME);
    street_close(&self, false);
    assert_three_are_ready(self.near);
}

/* Another copy was told that there are too few; when there are enough, the one that hung gets none of them. */
static void take_together_that_hung_gets_nothing_after_it_was_told_of_too_few(void** state)
{
    (void)state;
    street self = street_open();
    push_three_and_a_place(self.near);
    self.far->config.count_min = TABLE;
    street_hold(&self);
    assert_status(desk_take(self.far, TABLE), GH_EMPTY);
    push_one(self.near, "e");
    street_release(&self, IN_TIME);
    assert_int_equal(desk_count(self.near)->handed_out, 0);
    assert_status(desk_take(self.near, TABLE), GH_OK);
    assert_string_equal(desk_ids(self.near), "a c d e");
}

/* ---- finish -------------------------------------------------------------------------------------------- */

static void finish_that_hung_changes_nothing(void** state)
{
    (void)state;
    street self = street_open();
    assert_status(desk_push(self.near, "t1", ""), GH_OK);
    gh_task* task = desk_take_one(self.far, "t1");
    street_hold(&self);
    assert_status(desk_finish(self.far, task, GH_TASK_ACTION_GIVE_BACK), GH_OK);
    desk_finish(self.far, desk_take_one(self.far, "t1"), GH_TASK_ACTION_DONE);
    uint64_t done = self.far->finish.op.sequence;
    street_release(&self, IN_TIME);
    assert_int_equal(desk_look(self.near, "t1"), GH_TASK_STATE_DONE);
    /* Nor does it take the receipt away of the one that came after it. */
    const char* receipt = redis_server_text(self.server, "HGET " KEY "w %016llx:%016llxf",
                                            (unsigned long long)self.far->finish.field_client,
                                            (unsigned long long)self.far->finish.field_sequence);
    assert_non_null(receipt);
    assert_int_equal(strtoull(strchr(strchr(receipt, ' ') + 1, ' ') + 1, NULL, 10), done);
}

/* ---- push ---------------------------------------------------------------------------------------------- */

static void push_that_hung_does_not_bring_back_what_is_forgotten(void** state)
{
    (void)state;
    street self = street_open();
    street_hold(&self);
    push_one(self.far, "t1");
    desk_take_one(self.near, "t1");
    desk_finish_all(self.near);
    street_release(&self, MUCH_LATER);
    assert_status(desk_take(self.near, 1), GH_EMPTY);
    assert_int_equal(redis_server_integer(self.server, "HLEN " KEY "p"), 0);
}

/* The copy that hung may be stored yet, when there is room. */
static void full_queue_is_unknown_when_a_copy_hangs(void** state)
{
    (void)state;
    street self = street_open();
    gh_task_spec spec = of_one_attempt("t2");
    push_one(self.near, "t1");
    self.far->config.capacity = 1;
    GAME_UNTIL(desk_push_all(self.far, &spec, 1) == GH_FULL); /* UNKNOWN, if it was sent twice */
    assert_status(spec.status, GH_FULL);
    street_hold(&self);
    assert_status(desk_push_all(self.far, &spec, 1), GH_UNKNOWN);
    assert_status(spec.status, GH_UNKNOWN);
    desk_take_one(self.near, "t1");
    desk_finish_all(self.near);
    street_release(&self, IN_TIME);
    assert_int_equal(desk_look(self.near, "t2"), GH_TASK_STATE_READY);
}

/* Fault 1: carried out, its answer lost, asked again and refused. */
static void push_that_was_done_is_not_refused(void** state)
{
    (void)state;
    street self = street_open();
    gh_task_spec spec = of_one_attempt("t1");
    street_hold_answer(&self);
    assert_status(
        gh_tasks_push_begin(&self.far->push, queue_made(self.far->owner->client, self.far->queue, NULL), &spec, 1),
        GH_OK);
    GAME_UNTIL(redis_server_integer(self.server, "HLEN " KEY "p") == 1);
    redis_server_do(self.server, "ACL SETUSER default -evalsha");
    street_close(&self, false);
    GAME_UNTIL(gh_op_poll(&self.far->push.op) != GH_PENDING);
    assert_status(gh_op_poll(&self.far->push.op), GH_UNKNOWN);
    redis_server_do(self.server, "ACL SETUSER default +evalsha");
    assert_int_equal(redis_server_integer(self.server, "HLEN " KEY "p"), 1);
}

/* Of a task that is unique while it is active, the id tells no repeat: the mark of the client does. */
static void push_that_hung_is_no_new_task(void** state)
{
    (void)state;
    street self = street_open();
    street_hold(&self);
    assert_status(desk_push_active(self.far, "t1", ""), GH_OK);
    desk_take_one(self.near, "t1");
    desk_finish_all(self.near);
    street_release(&self, IN_TIME);
    assert_status(desk_take(self.near, 1), GH_EMPTY);
}

static void push_that_hung_is_no_new_task_after_another_had_its_id(void** state)
{
    (void)state;
    street self = street_open();
    street_hold(&self);
    assert_status(desk_push_active(self.far, "t1", ""), GH_OK);
    desk_take_one(self.near, "t1");
    desk_finish_all(self.near);
    assert_status(desk_push_active(self.near, "t1", ""), GH_OK);
    desk_take_one(self.near, "t1");
    desk_finish_all(self.near);
    street_release(&self, IN_TIME);
    assert_status(desk_take(self.near, 1), GH_EMPTY);
    assert_int_equal(redis_server_integer(self.server, "HLEN " KEY "p"), 0);
}

/* Stored, its answer lost, done; then the copy that the client sends again is told what the first one was. */
static void push_that_is_sent_again_when_it_is_over_is_told_as_stored(void** state)
{
    (void)state;
    street self = street_open();
    gh_task_spec spec = of_one_attempt("t1");
    spec.unique = GH_TASK_UNIQUE_WHILE_ACTIVE;
    street_hold_answer(&self);
    assert_status(
        gh_tasks_push_begin(&self.far->push, queue_made(self.far->owner->client, self.far->queue, NULL), &spec, 1),
        GH_OK);
    GAME_UNTIL(redis_server_integer(self.server, "HLEN " KEY "p") == 1);
    desk_take_one(self.near, "t1");
    desk_finish_all(self.near);
    street_close(&self, false);
    GAME_UNTIL(gh_op_poll(&self.far->push.op) != GH_PENDING);
    assert_status(gh_op_poll(&self.far->push.op), GH_OK);
    assert_status(spec.status, GH_OK);
    assert_status(desk_take(self.near, 1), GH_EMPTY);
}

/* It was told that the id is taken, so no copy of it may come and take it when it is free. */
static void push_that_was_told_exists_stores_nothing_later(void** state)
{
    (void)state;
    street self = street_open();
    assert_status(desk_push_active(self.near, "t1", ""), GH_OK);
    street_hold(&self);
    assert_status(desk_push_active(self.far, "t1", ""), GH_EXISTS);
    desk_take_one(self.near, "t1");
    desk_finish_all(self.near);
    street_release(&self, IN_TIME);
    assert_status(desk_take(self.near, 1), GH_EMPTY);
}

/* Nobody knows how far an earlier copy has come that was stopped. */
static void push_of_which_a_copy_was_stopped_is_unknown(void** state)
{
    (void)state;
    street self = street_open();
    gh_task_spec spec = of_one_attempt("t1");
    spec.unique = GH_TASK_UNIQUE_WHILE_ACTIVE;
    street_hold(&self);
    assert_status(
        gh_tasks_push_begin(&self.far->push, queue_made(self.far->owner->client, self.far->queue, NULL), &spec, 1),
        GH_OK);
    char receipt[64];
    snprintf(receipt, sizeof receipt, "%" PRIu64 " 60000000 u", gh_op_store_time(&self.far->push.op, 0));
    redis_server_do(self.server, "HSET " KEY "w %016llx:%016llxo %s", (unsigned long long)self.far->push.maker,
                    (unsigned long long)self.far->push.op.sequence, receipt);
    GAME_UNTIL(gh_op_poll(&self.far->push.op) != GH_PENDING);
    assert_status(gh_op_poll(&self.far->push.op), GH_UNKNOWN);
    assert_status(spec.status, GH_UNKNOWN);
    assert_int_equal(redis_server_integer(self.server, "HLEN " KEY "p"), 0);
}

/* It replaces a letter, and may not take it off their list: by then the task is stored, and no copy may do it again. */
static void push_that_is_stopped_leaves_word_that_it_may_be_done(void** state)
{
    (void)state;
    street self = street_open();
    push_one(self.near, "t1");
    assert_status(desk_finish(self.near, desk_take_one(self.near, "t1"), GH_TASK_ACTION_FAIL), GH_OK);
    gh_task_spec spec = of_one_attempt("t1");
    spec.unique = GH_TASK_UNIQUE_WHILE_ACTIVE;
    redis_server_do(self.server, "ACL SETUSER default -zrem");
    assert_status(desk_push_all(self.near, &spec, 1), GH_UNKNOWN);
    redis_server_do(self.server, "ACL SETUSER default +zrem");
    assert_int_equal(desk_look(self.near, "t1"), GH_TASK_STATE_READY);
    const char* receipt =
        redis_server_text(self.server, "HGET " KEY "w %016llx:%016llxo", (unsigned long long)self.near->push.maker,
                          (unsigned long long)self.near->push.op.sequence);
    assert_non_null(receipt);
    assert_string_equal(strrchr(receipt, ' '), " u");
}

/* Where a cancel was stopped, too, it has noted the end of a letter that is there yet: what was given up is not handed
   out again for that. */
static void letter_of_a_stopped_cancel_is_not_handed_out(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* first = desk_open(game_start_ready(redis_server_address(server)), QUEUE);
    desk* second = desk_open(game_start_ready(redis_server_address(server)), QUEUE);
    push_one(first, "t1");
    assert_status(desk_finish(first, desk_take_one(first, "t1"), GH_TASK_ACTION_FAIL), GH_OK);
    redis_server_do(server, "ACL SETUSER default -zrem");
    first->ref.id = gh_str_literal("t1");
    assert_status(gh_tasks_cancel_begin(&first->edit, desk_queue(first), &first->ref, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&first->edit.op) != GH_PENDING);
    assert_status(gh_op_poll(&first->edit.op), GH_UNKNOWN);
    gh_task_spec spec = of_one_attempt("t1");
    spec.unique = GH_TASK_UNIQUE_WHILE_ACTIVE;
    spec.payload = gh_str_literal("second");
    assert_status(desk_push_all(second, &spec, 1), GH_UNKNOWN);
    redis_server_do(server, "ACL SETUSER default +zrem");
    gh_task* task = desk_take_one(second, "t1");
    assert_true(gh_str_equal(task->payload, gh_str_literal("second")));
    desk_finish_all(second);
    assert_status(desk_take(second, 1), GH_EMPTY);
}

/* ---- cancel, requeue, rules ---------------------------------------------------------------------------- */

static void cancel_that_hung_takes_nothing_that_came_later(void** state)
{
    (void)state;
    street self = street_open();
    street_hold(&self);
    assert_status(desk_cancel(self.far, "t1"), GH_GONE);
    push_one(self.near, "t1");
    street_release(&self, IN_TIME);
    assert_int_equal(desk_look(self.near, "t1"), GH_TASK_STATE_READY);
}

/* Its first copy is carried out and not heard of; by the time of the second another has the id. */
static void cancel_that_is_sent_again_takes_nothing_that_came_later(void** state)
{
    (void)state;
    street self = street_open();
    assert_status(desk_push_active(self.near, "t1", ""), GH_OK);
    gh_task_ref ref = {.id = gh_str_literal("t1")};
    street_hold_answer(&self);
    assert_status(
        gh_tasks_cancel_begin(&self.far->edit, queue_made(self.far->owner->client, self.far->queue, NULL), &ref, 1),
        GH_OK);
    GAME_UNTIL(redis_server_integer(self.server, "HLEN " KEY "p") == 0);
    assert_status(desk_push_active(self.near, "t1", ""), GH_OK);
    street_close(&self, false);
    GAME_UNTIL(gh_op_poll(&self.far->edit.op) != GH_PENDING);
    assert_status(gh_op_poll(&self.far->edit.op), GH_OK);
    assert_status(ref.status, GH_OK);
    desk_take_one(self.near, "t1");
}

static void requeue_that_hung_revives_nothing_that_died_again(void** state)
{
    (void)state;
    street self = street_open();
    push_one(self.near, "t1");
    assert_status(desk_finish(self.near, desk_take_one(self.near, "t1"), GH_TASK_ACTION_FAIL), GH_OK);
    street_hold(&self);
    assert_status(desk_requeue(self.far, "t1"), GH_OK);
    assert_status(desk_finish(self.near, desk_take_one(self.near, "t1"), GH_TASK_ACTION_FAIL), GH_OK);
    street_release(&self, IN_TIME);
    assert_int_equal(desk_look(self.near, "t1"), GH_TASK_STATE_DEAD);
}

static void rules_that_hung_do_not_replace_newer_ones(void** state)
{
    (void)state;
    street self = street_open();
    street_hold(&self);
    desk_control(self.far, (gh_tasks_rules){.paused = true});
    desk_control(self.near, (gh_tasks_rules){.running_max = 7});
    street_release(&self, IN_TIME);
    const gh_tasks_count* count = desk_count(self.near);
    assert_false(count->rules.paused);
    assert_int_equal(count->rules.running_max, 7);
}

TEST_FILE(tasks_late, cmocka_unit_test(take_that_hung_gets_nothing_after_a_later_one),
          cmocka_unit_test(take_that_hung_gets_nothing_after_it_was_told_of_nothing),
          cmocka_unit_test(take_that_hung_gets_nothing_after_its_time),
          cmocka_unit_test(take_together_that_hung_gets_nothing_below_the_minimum),
          cmocka_unit_test(take_together_that_hung_gets_nothing_after_it_was_told_of_too_few),
          cmocka_unit_test(finish_that_hung_changes_nothing),
          cmocka_unit_test(push_that_hung_does_not_bring_back_what_is_forgotten),
          cmocka_unit_test(full_queue_is_unknown_when_a_copy_hangs),
          cmocka_unit_test(push_that_was_done_is_not_refused), cmocka_unit_test(push_that_hung_is_no_new_task),
          cmocka_unit_test(push_that_hung_is_no_new_task_after_another_had_its_id),
          cmocka_unit_test(push_that_is_sent_again_when_it_is_over_is_told_as_stored),
          cmocka_unit_test(push_that_was_told_exists_stores_nothing_later),
          cmocka_unit_test(push_of_which_a_copy_was_stopped_is_unknown),
          cmocka_unit_test(push_that_is_stopped_leaves_word_that_it_may_be_done),
          cmocka_unit_test(letter_of_a_stopped_cancel_is_not_handed_out),
          cmocka_unit_test(cancel_that_hung_takes_nothing_that_came_later),
          cmocka_unit_test(cancel_that_is_sent_again_takes_nothing_that_came_later),
          cmocka_unit_test(requeue_that_hung_revives_nothing_that_died_again),
          cmocka_unit_test(rules_that_hung_do_not_replace_newer_ones));
