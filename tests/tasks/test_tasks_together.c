/* Takes with a count_min: so many tasks come together, or none does, whatever lies between them. */

#include "support/scene/desk.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

#define QUEUE "match"
#define KEY   "gh:{tasks:match}:"
#define FOUR  4u
#define BATCH 25u

static desk* desk_on(redis_server* server)
{
    return desk_open(game_start_ready(redis_server_address(server)), QUEUE);
}

static desk* desk_of_four(redis_server* server)
{
    desk* self = desk_on(server);
    self->config.count_min = FOUR;
    return self;
}

static void assert_all_ready(desk* self, const char* ids)
{
    for (const char* id = ids; *id != 0; id++)
        assert_int_equal(desk_look(self, (char[2]){*id, 0}), GH_TASK_STATE_READY);
    assert_int_equal(desk_count(self)->handed_out, 0);
}

/* ---- so many, or none ---------------------------------------------------------------------------------- */

static void nothing_is_handed_out_before_there_are_enough(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* self = desk_of_four(server);
    assert_status(desk_take(self, 10), GH_EMPTY);
    for (const char* id = "abc"; *id != 0; id++)
    {
        assert_status(desk_push(self, (char[2]){*id, 0}, ""), GH_OK);
        assert_status(desk_take(self, 10), GH_EMPTY);
        assert_int_equal(self->take.count, 0);
    }
    assert_all_ready(self, "abc");
    assert_status(desk_push(self, "d", ""), GH_OK);
    assert_status(desk_push(self, "e", ""), GH_OK);
    assert_status(desk_take(self, 10), GH_OK);
    assert_string_equal(desk_ids(self), "a b c d e");
    for (int i = 0; i < 5; i++) assert_int_equal(self->tasks[i].attempt, 1);
}

/* Those of groups, those of none and those that are due count alike. */
static void groups_keep_their_turns_while_too_few_wait(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* self = desk_of_four(server);
    assert_status(desk_push_group(self, "a", "elves"), GH_OK);
    assert_status(desk_push_group(self, "b", "elves"), GH_OK);
    assert_status(desk_push_group(self, "c", "orcs"), GH_OK);
    for (int i = 0; i < 3; i++) assert_status(desk_take(self, FOUR), GH_EMPTY);
    assert_all_ready(self, "abc");
    assert_status(desk_push(self, "d", ""), GH_OK);
    assert_status(desk_push_group(self, "e", "imps"), GH_OK);
    assert_status(desk_cancel(self, "a"), GH_OK);
    assert_status(desk_take(self, FOUR), GH_OK);
    assert_string_equal(desk_ids(self), "b c e d"); /* those without a group wait since this take */
    assert_status(desk_push_group(self, "f", "elves"), GH_OK);
    assert_status(desk_take(self, FOUR), GH_EMPTY);
    assert_int_equal(desk_look(self, "f"), GH_TASK_STATE_READY);
}

static void classes_and_weights_are_counted_together(void** state)
{
    (void)state;
    for (uint32_t weight = 0; weight < 2; weight++)
    {
        redis_server* server = redis_server_start(NULL);
        desk* self = desk_of_four(server);
        for (int i = 0; i < GH_TASKS_CLASSES; i++) self->config.weights[i] = weight;
        assert_status(desk_push_class(self, "a", 3), GH_OK);
        assert_status(desk_push_class(self, "b", 0), GH_OK);
        assert_status(desk_push_delayed(self, "c", 1), GH_OK);
        assert_status(desk_push_delayed(self, "z", 3600 * SECOND_US), GH_OK);
        assert_status(desk_take(self, FOUR), GH_EMPTY);
        assert_in_range(self->take.next_us, 1, 3600 * SECOND_US); /* c is due, and that is no reason to ask again */
        assert_true(self->take.next_us > 3000 * SECOND_US);
        assert_int_equal(desk_count(self)->handed_out, 0);
        assert_null(redis_server_text(server, "HGET " KEY "c credit")); /* nobody has had a share */
        assert_status(desk_push_class(self, "d", 2), GH_OK);
        assert_status(desk_take(self, FOUR), GH_OK);
        assert_int_equal(self->take.count, FOUR);
        if (weight == 0) assert_string_equal(desk_ids(self), "c b d a");
    }
}

static void rules_that_allow_fewer_hold_them_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* self = desk_of_four(server);
    for (const char* id = "abcdefgh"; *id != 0; id++) assert_status(desk_push(self, (char[2]){*id, 0}, ""), GH_OK);
    desk_control(self, (gh_tasks_rules){.running_max = 3});
    assert_status(desk_take(self, 8), GH_LIMITED);
    desk_control(self, (gh_tasks_rules){.rate_count = 1, .rate_period_us = 3600 * SECOND_US, .rate_burst = 3});
    assert_status(desk_take(self, 8), GH_LIMITED);
    assert_true(self->take.next_us >= 86400 * SECOND_US); /* never by itself */
    assert_all_ready(self, "abcdefgh");
    desk_control(
        self, (gh_tasks_rules){.running_max = 6, .rate_count = 1, .rate_period_us = 3600 * SECOND_US, .rate_burst = 7});
    assert_status(desk_take(self, 5), GH_OK);
    assert_int_equal(self->take.count, 5);
    desk* other = desk_of_four(server);
    assert_status(desk_take(other, 8), GH_LIMITED); /* two points are left of seven, and one more comes in an hour */
    assert_in_range(other->take.next_us, 7000 * SECOND_US, 7200 * SECOND_US);
}

/* Nothing is handed out of what cannot come together in the memory that there is. */
static void what_does_not_fit_together_is_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* self = desk_of_four(server);
    static char payload[GH_TASK_PAYLOAD_SIZE_MAX + 1];
    memset(payload, 'x', GH_TASK_PAYLOAD_SIZE_MAX);
    for (const char* id = "abcdef"; *id != 0; id++) assert_status(desk_push(self, (char[2]){*id, 0}, payload), GH_OK);
    self->config.count_min = 6; /* 48 KiB */
    assert_status(desk_take(self, 6), GH_TOO_SMALL);
    assert_all_ready(self, "abcdef");
    self->config.count_min = 3; /* as many as reply_bytes has room for */
    assert_status(desk_take(self, 6), GH_OK);
    assert_int_equal(self->take.count, 3);
}

static void count_min_is_checked(void** state)
{
    (void)state;
    desk* self = desk_on(redis_server_start(NULL));
    gh_queue_config* config = &self->config;
    gh_queue queue;
    config->count_min = GH_TASKS_COUNT_MIN_MAX + 1;
    assert_status(gh_queue_init(&queue, self->owner->client, self->queue, config), GH_INVALID_TASKS);
    config->count_min = GH_TASKS_COUNT_MIN_MAX;
    assert_status(gh_queue_init(&queue, self->owner->client, self->queue, config), GH_OK);
    assert_status(gh_tasks_take_begin(&self->take, &queue, self->tasks, GH_TASKS_COUNT_MIN_MAX - 1, self->memory,
                                      sizeof(self->memory)),
                  GH_INVALID_TASKS);
    for (int i = 0; i < GH_TASKS_CLASSES; i++) config->weights[i] = 1;
    assert_status(gh_queue_init(&queue, self->owner->client, self->queue, config), GH_INVALID_TASKS);
    config->count_min = GH_TASKS_WEIGHTED_MIN_MAX;
    assert_status(gh_queue_init(&queue, self->owner->client, self->queue, config), GH_OK);
}

/* ---- what lies between them ---------------------------------------------------------------------------- */

/* Pushed and cancelled in batches, so that their places stay. */
static void push_and_cancel(desk* self, unsigned count, const char* group)
{
    static unsigned serial = 0;
    char ids[BATCH][16];
    gh_task_spec specs[BATCH] = {0};
    gh_task_ref refs[BATCH] = {0};
    for (unsigned done = 0; done < count; done += BATCH)
    {
        for (unsigned i = 0; i < BATCH; i++)
        {
            snprintf(ids[i], sizeof(ids[i]), "dead%u", ++serial);
            refs[i].id = specs[i].id = gh_str_of(ids[i]);
            specs[i].group = gh_str_of(group);
        }
        assert_status(desk_push_all(self, specs, BATCH), GH_OK);
        assert_status(gh_tasks_cancel_begin(&self->edit, desk_queue(self), refs, BATCH), GH_OK);
        GAME_UNTIL(gh_op_poll(&self->edit.op) == GH_OK);
    }
}

/* Places of cancelled tasks before, between and behind those that wait go while too few wait; these keep their order,
   and the next question costs one request again. */
static void cancelled_tasks_between_them_hide_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* self = desk_of_four(server);
    for (const char* id = "abc"; *id != 0; id++)
    {
        push_and_cancel(self, 300, "");
        assert_status(desk_push(self, (char[2]){*id, 0}, ""), GH_OK);
    }
    push_and_cancel(self, 300, "");
    long long before = redis_server_calls(server, "evalsha");
    assert_status(desk_take(self, 10), GH_EMPTY);
    assert_in_range(redis_server_calls(server, "evalsha") - before, 2, 2 + 1200 / (128 - 3) + 1);
    assert_int_equal(redis_server_integer(server, "LLEN " KEY "r0"), 3);
    before = redis_server_calls(server, "evalsha");
    long long reads = redis_server_calls(server, "hmget");
    assert_status(desk_take(self, 10), GH_EMPTY);
    assert_int_equal(redis_server_calls(server, "evalsha") - before, 1);
    assert_in_range(redis_server_calls(server, "hmget") - reads, 0, 2); /* the tasks are counted, and not read */
    assert_all_ready(self, "abc");
    push_and_cancel(self, 300, "");
    assert_status(desk_push(self, "d", ""), GH_OK);
    assert_status(desk_take(self, 10), GH_OK);
    assert_string_equal(desk_ids(self), "a b c d");
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "r0"), 0);
}

/* As above, in a queue with groups, where tasks that have none take turns too, and in one that has tasks in :d. */
static void cancelled_tasks_of_groups_hide_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* self = desk_of_four(server);
    assert_status(desk_push_group(self, "a", "elves"), GH_OK);
    for (const char* id = "bc"; *id != 0; id++)
    {
        push_and_cancel(self, 200, "");
        push_and_cancel(self, 200, "imps");
        assert_status(desk_push(self, (char[2]){*id, 0}, ""), GH_OK);
    }
    push_and_cancel(self, 100, "");
    assert_status(desk_take(self, 10), GH_EMPTY);
    assert_all_ready(self, "abc");
    assert_int_equal(redis_server_integer(server, "LLEN " KEY "r0"), 2);
    assert_status(desk_push_group(self, "d", "imps"), GH_OK);
    assert_status(desk_take(self, 10), GH_OK);
    assert_int_equal(self->take.count, FOUR);
    assert_string_equal(desk_ids(self), "a b d c");
}

/* ---- several who wait ---------------------------------------------------------------------------------- */

/* Two wait for four each, and players come one by one: each gets a whole table, and nobody is at two. */
static void each_of_two_takers_gets_a_whole_table(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* tables[2] = {desk_of_four(server), desk_of_four(server)};
    desk* door = desk_on(server);
    bool seated[8] = {false};
    for (int i = 0; i < 2; i++)
    {
        tables[i]->config.wait_us = 3600 * SECOND_US;
        assert_status(gh_tasks_take_begin(&tables[i]->take, desk_queue(tables[i]), tables[i]->tasks, FOUR,
                                          tables[i]->memory, sizeof(tables[i]->memory)),
                      GH_OK);
    }
    for (unsigned i = 0; i < 8; i++)
    {
        assert_status(desk_push(door, (char[2]){(char)('0' + i), 0}, ""), GH_OK);
        game_tick_all();
        unsigned busy = 0;
        for (int k = 0; k < 2; k++) busy += gh_op_poll(&tables[k]->take.op) == GH_PENDING;
        if (i < 3) assert_int_equal(busy, 2);
        if (i < 7) assert_true(busy >= 1);
    }
    GAME_UNTIL(gh_op_poll(&tables[0]->take.op) != GH_PENDING && gh_op_poll(&tables[1]->take.op) != GH_PENDING);
    for (int i = 0; i < 2; i++)
    {
        assert_status(gh_op_poll(&tables[i]->take.op), GH_OK);
        assert_int_equal(tables[i]->take.count, FOUR);
        for (unsigned k = 0; k < FOUR; k++)
        {
            bool* seat = &seated[tables[i]->tasks[k].id.bytes[0] - '0'];
            assert_false(*seat);
            *seat = true;
        }
    }
}

static void what_comes_back_counts_again(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* self = desk_of_four(server);
    for (const char* id = "abcd"; *id != 0; id++) assert_status(desk_push(self, (char[2]){*id, 0}, ""), GH_OK);
    assert_status(desk_take(self, FOUR), GH_OK);
    assert_status(desk_finish(self, &self->tasks[1], GH_TASK_ACTION_GIVE_BACK), GH_OK);
    desk* other = desk_of_four(server);
    assert_status(desk_take(other, FOUR), GH_EMPTY);
    assert_int_equal(desk_look(other, "b"), GH_TASK_STATE_DELAYED); /* due at once */
    for (int i = 0; i < 4; i++)
        if (i != 1) assert_status(desk_finish(self, &self->tasks[i], GH_TASK_ACTION_GIVE_BACK), GH_OK);
    assert_status(desk_take(other, FOUR), GH_OK);
    assert_int_equal(other->take.count, FOUR);
}

TEST_FILE(tasks_together, cmocka_unit_test(nothing_is_handed_out_before_there_are_enough),
          cmocka_unit_test(groups_keep_their_turns_while_too_few_wait),
          cmocka_unit_test(classes_and_weights_are_counted_together),
          cmocka_unit_test(rules_that_allow_fewer_hold_them_back), cmocka_unit_test(what_does_not_fit_together_is_told),
          cmocka_unit_test(count_min_is_checked), cmocka_unit_test(cancelled_tasks_between_them_hide_nothing),
          cmocka_unit_test(cancelled_tasks_of_groups_hide_nothing),
          cmocka_unit_test(each_of_two_takers_gets_a_whole_table), cmocka_unit_test(what_comes_back_counts_again));
