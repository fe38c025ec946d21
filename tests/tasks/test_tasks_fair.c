/* Tests of guildhall/tasks.h: groups take turns, and the rules of a queue hold for all who take from it. */

#include "support/scene/desk.h"
#include "support/process.h"
#include "support/random.h"
#include "support/server/redis_server.h"
#include "support/scene/shop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE "mail"
#define KEY   "gh:{tasks:mail}:"

static desk* desk_on(redis_server* server)
{
    return desk_open(game_start_ready(redis_server_address(server)), QUEUE);
}

static void assert_group(const gh_task* task, const char* group)
{
    if (!gh_str_equal(task->group, gh_str_of(group)))
        fail_msg("%.*s is of group %.*s, not %s", (int)task->id.size, task->id.bytes, (int)task->group.size,
                 task->group.bytes, group);
}

static void push_numbered(desk* clerk, const char* group, unsigned from, unsigned count)
{
    gh_task_spec tasks[GH_TASKS_GROUPED_MAX];
    char ids[GH_TASKS_GROUPED_MAX][32];
    for (unsigned done = 0; done < count;)
    {
        unsigned some = count - done < GH_TASKS_GROUPED_MAX ? count - done : GH_TASKS_GROUPED_MAX;
        for (unsigned i = 0; i < some; i++, done++)
        {
            snprintf(ids[i], sizeof(ids[i]), "%s%u", group, from + done);
            tasks[i] = (gh_task_spec){.id = gh_str_of(ids[i]), .group = gh_str_of(group)};
        }
        assert_status(desk_push_all(clerk, tasks, some), GH_OK);
    }
}

/* Nothing of the lines is left, by the layout of KEYS.md. */
static void assert_no_lines(redis_server* server)
{
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "q " KEY "g " KEY "r0 " KEY "d0 " KEY "p"), 0);
}

/* ---- turns --------------------------------------------------------------------------------------------- */

static void flood_of_one_group_does_not_delay_others(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    push_numbered(clerk, "a", 0, 10000);
    push_numbered(clerk, "b", 0, 20);
    push_numbered(clerk, "c", 0, 20);
    assert_int_equal(desk_count(clerk)->groups[0], 3);
    assert_int_equal(clerk->count.ready[0], 10040);
    unsigned seen[3] = {0};
    for (unsigned handed_out = 0; handed_out < 60;)
    {
        assert_status(desk_take(clerk, 1 + handed_out % 7), GH_OK);
        for (uint32_t i = 0; i < clerk->take.count; i++, handed_out++)
        {
            char group[2] = {clerk->tasks[i].group.bytes[0], 0};
            char id[16];
            snprintf(id, sizeof(id), "%s%u", group, seen[group[0] - 'a']++);
            assert_true(gh_str_equal(clerk->tasks[i].id, gh_str_of(id))); /* first come first in a group */
        }
        for (int i = 0; i < 3 && handed_out <= 60; i++) assert_in_range(3 * seen[i] + 2, handed_out, handed_out + 4);
        desk_finish_all(clerk);
    }
    assert_status(desk_take(clerk, GH_TASKS_BATCH_MAX), GH_OK);
    assert_int_equal(desk_count(clerk)->groups[0], 1);
    for (uint32_t i = 0; i < clerk->take.count; i++)
        if (seen[1] >= 20 && seen[2] >= 20) assert_group(&clerk->tasks[i], "a");
}

static void tasks_without_a_group_are_one_group(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    push_numbered(clerk, "", 0, 4);
    push_numbered(clerk, "b", 0, 2);
    push_numbered(clerk, "c", 0, 1);
    for (int i = 0; i < 3; i++) assert_status(desk_push_class(clerk, (const char*[]){"x", "y", "z"}[i], 1), GH_OK);
    assert_status(desk_take(clerk, GH_TASKS_BATCH_MAX), GH_OK);
    assert_string_equal(desk_ids(clerk), "b0 c0 0 b1 1 2 3 x y z");
    assert_group(&clerk->tasks[2], "");
    desk_finish_all(clerk);
    assert_status(desk_take(clerk, 1), GH_EMPTY);
    assert_no_lines(server);
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "c"), 0);
}

/* Groups of any bytes, one the beginning of another, each with one task. */
static void groups_of_one_task_leave_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    char longest[GH_TASK_GROUP_SIZE_MAX];
    memset(longest, 0xff, sizeof(longest));
    gh_task_spec tasks[] = {{.id = gh_str_literal("1"), .group = gh_str_literal("g")},
                            {.id = gh_str_literal("2"), .group = gh_str_literal("g\1")},
                            {.id = gh_str_literal("3"), .group = gh_str_literal("gg")},
                            {.id = gh_str_literal("4"), .group = gh_str_make(longest, sizeof(longest))},
                            {.id = gh_str_literal("5"), .group = gh_str_literal("0")},
                            {.id = gh_str_literal("6"), .group = gh_str_literal("g")},
                            {.id = gh_str_literal("7"), .group = gh_str_literal("x"), .task_class = 3}};
    assert_status(desk_push_all(clerk, tasks, 7), GH_OK);
    assert_status(desk_push_all(clerk, tasks, 7), GH_OK);
    assert_status(tasks[0].status, GH_EXISTS);
    tasks[0].group = gh_str_literal("h");
    assert_status(desk_push_all(clerk, tasks, 1), GH_OK);
    assert_status(tasks[0].status, GH_DIFFERS);
    assert_int_equal(desk_count(clerk)->groups[0], 5);
    assert_int_equal(clerk->count.groups[3], 1);
    assert_int_equal(clerk->count.ready[3], 1);
    assert_int_equal(desk_look(clerk, "4"), GH_TASK_STATE_READY);
    assert_int_equal(clerk->look.group.size, GH_TASK_GROUP_SIZE_MAX);
    assert_status(desk_take(clerk, GH_TASKS_BATCH_MAX), GH_OK);
    assert_string_equal(desk_ids(clerk), "1 2 3 4 5 6 7");
    assert_memory_equal(clerk->tasks[3].group.bytes, longest, sizeof(longest));
    desk_finish_all(clerk);
    assert_status(desk_take(clerk, 1), GH_EMPTY);
    assert_no_lines(server);
}

/* ---- against a model: pushes, takes and cancels at random ---------------------------------------------- */

#define GROUPS    6
#define PER_GROUP 400

typedef struct line
{
    unsigned ids[PER_GROUP];
    unsigned first; /* what lies before is handed out */
    unsigned end;
    unsigned passed;  /* hand-outs since it began to wait for this turn ... */
    unsigned allowed; /* ... of at most so many                             */
    bool emptied;     /* by a cancel: it keeps its place until its turn would come */
} line;

static const char* const names[GROUPS] = {"", "a", "b", "bb", "c", "dragon slayers"};

static unsigned waiting_groups(const line* lines)
{
    unsigned count = 0;
    for (int i = 0; i < GROUPS; i++) count += lines[i].first < lines[i].end || lines[i].emptied;
    return count;
}

static void begin_wait(line* lines, int group)
{
    lines[group].passed = 0;
    lines[group].allowed = waiting_groups(lines);
}

static void push_at_random(desk* clerk, line* lines, unsigned* serial, random_stream* random)
{
    int group = (int)random_below(random, GROUPS);
    unsigned count = 1 + (unsigned)random_below(random, group == 1 ? 30 : 3);
    gh_task_spec tasks[30];
    char ids[30][16];
    bool waited = lines[group].first < lines[group].end;
    if (lines[group].end + count > PER_GROUP) return;
    for (unsigned i = 0; i < count; i++)
    {
        lines[group].ids[lines[group].end++] = *serial;
        snprintf(ids[i], sizeof(ids[i]), "%u", (*serial)++);
        tasks[i] = (gh_task_spec){.id = gh_str_of(ids[i]), .group = gh_str_of(names[group])};
    }
    assert_status(desk_push_all(clerk, tasks, count), GH_OK);
    lines[group].emptied = false;
    if (!waited) begin_wait(lines, group);
}

static void cancel_at_random(desk* clerk, line* lines, random_stream* random)
{
    line* self = &lines[1 + random_below(random, GROUPS - 1)];
    char id[16];
    if (self->first == self->end) return;
    unsigned at = self->first + (unsigned)random_below(random, self->end - self->first);
    snprintf(id, sizeof(id), "%u", self->ids[at]);
    assert_status(desk_cancel(clerk, id), GH_OK);
    memmove(&self->ids[at], &self->ids[at + 1], (self->end - at - 1) * sizeof(self->ids[0]));
    self->end--;
    self->emptied = self->first == self->end;
}

static void settle_turn(line* lines, const gh_task* task)
{
    char id[16] = {0};
    int group = 0;
    memcpy(id, task->id.bytes, task->id.size);
    while (!gh_str_equal(task->group, gh_str_of(names[group]))) group++;
    assert_true(lines[group].first < lines[group].end);
    assert_int_equal(lines[group].ids[lines[group].first], atoi(id));
    for (int i = 0; i < GROUPS; i++)
        if (lines[i].first < lines[i].end && ++lines[i].passed > lines[i].allowed)
            fail_msg("group %d waits for the %uth hand-out, of %u", i, lines[i].passed, lines[i].allowed);
    lines[group].first++;
    if (lines[group].first < lines[group].end) begin_wait(lines, group);
}

static bool is_in_ring(redis_server* server, int group)
{
    return redis_server_text(server, "ZSCORE " KEY "g 0%s", names[group]) != NULL;
}

/* Tasks without a group begin to wait for a turn when somebody takes, for a push does not know of groups. */
static bool take_at_random(desk* clerk, redis_server* server, line* lines, random_stream* random)
{
    if (lines[0].first < lines[0].end && !is_in_ring(server, 0)) begin_wait(lines, 0);
    bool took = desk_take(clerk, 1 + random_below(random, 8)) == GH_OK;
    for (uint32_t i = 0; took && i < clerk->take.count; i++) settle_turn(lines, &clerk->tasks[i]);
    for (int i = 1; i < GROUPS; i++) lines[i].emptied = lines[i].emptied && is_in_ring(server, i);
    if (took) desk_finish_all(clerk);
    return took;
}

static void next_of_each_is_among_as_many_as_there_are_groups(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    line* lines = GAME_NEW_ARRAY(clerk->owner, line, GROUPS);
    random_stream random = random_for_test("turns");
    unsigned serial = 0;
    for (int round = 0; round < 600; round++)
    {
        push_at_random(clerk, lines, &serial, &random);
        if (random_below(&random, 4) == 0) cancel_at_random(clerk, lines, &random);
        take_at_random(clerk, server, lines, &random);
    }
    while (take_at_random(clerk, server, lines, &random))
    {
    }
    assert_int_equal(waiting_groups(lines), 0);
    assert_no_lines(server);
}

/* ---- a task keeps its group -----------------------------------------------------------------------------
 */

static gh_task* take_of(desk* clerk, const char* id, const char* group)
{
    gh_task* task = desk_take_one(clerk, id);
    assert_group(task, group);
    return task;
}

static void group_stays_through_all_states(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_on(server);
    gh_tasks_dead* dead = GAME_NEW(clerk->owner, gh_tasks_dead);
    gh_dead_task letter;
    gh_task_spec later = {
        .id = gh_str_literal("a"), .group = gh_str_literal("guild"), .delay_us = 10 * SECOND_US, .attempts_max = 3};
    assert_status(desk_push_all(clerk, &later, 1), GH_OK);
    assert_int_equal(desk_look(clerk, "a"), GH_TASK_STATE_DELAYED);
    assert_true(gh_str_equal(clerk->look.group, gh_str_literal("guild")));
    assert_status(desk_take(clerk, 1), GH_EMPTY);
    redis_server_shift_clock(server, 11 * (int64_t)SECOND_US);
    gh_task* task = take_of(clerk, "a", "guild");
    assert_status(desk_finish(clerk, task, GH_TASK_ACTION_GIVE_BACK), GH_OK);
    task = take_of(clerk, "a", "guild");
    assert_int_equal(task->attempt, 1);
    task->delay_us = SECOND_US;
    assert_status(desk_finish(clerk, task, GH_TASK_ACTION_RETRY), GH_OK);
    redis_server_shift_clock(server, 13 * (int64_t)SECOND_US);
    assert_int_equal(take_of(clerk, "a", "guild")->attempt, 2);
    redis_server_shift_clock(server, 30 * (int64_t)SECOND_US); /* past the lease */
    task = take_of(clerk, "a", "guild");
    assert_int_equal(task->attempt, 3);
    assert_status(desk_finish(clerk, task, GH_TASK_ACTION_RETRY), GH_DEAD);
    assert_status(gh_tasks_dead_begin(dead, queue_made(clerk->owner->client, clerk->queue, NULL), 0, &letter, 1,
                                      clerk->memory, sizeof(clerk->memory)),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&dead->op) == GH_OK);
    assert_int_equal(dead->count, 1);
    assert_true(gh_str_equal(letter.group, gh_str_literal("guild")));
    assert_status(desk_requeue(clerk, "a"), GH_OK);
    assert_int_equal(desk_count(clerk)->groups[0], 1);
    assert_int_equal(take_of(clerk, "a", "guild")->attempt, 1);
    desk_finish_all(clerk);
    assert_status(desk_take(clerk, 1), GH_EMPTY);
    assert_no_lines(server);
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "c"), 0);
}

/* What is due joins its line, by the time when it was due, and takes its turn as what was pushed. */
static void due_tasks_join_their_lines(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_on(server);
    gh_task_spec tasks[41];
    char ids[40][8];
    for (unsigned i = 0; i < 40; i++)
    {
        snprintf(ids[i], sizeof(ids[i]), "a%u", i);
        tasks[i] = (gh_task_spec){.id = gh_str_of(ids[i]), .group = gh_str_literal("a"), .delay_us = SECOND_US + i};
    }
    tasks[40] = (gh_task_spec){.id = gh_str_literal("n"), .delay_us = SECOND_US};
    assert_status(desk_push_all(clerk, &tasks[40], 1), GH_OK);
    for (unsigned i = 0; i < 40; i += 20) assert_status(desk_push_all(clerk, &tasks[i], 20), GH_OK);
    redis_server_shift_clock(server, 2 * (int64_t)SECOND_US);
    push_numbered(clerk, "b", 0, 2);
    push_numbered(clerk, "a", 40, 1);
    assert_status(desk_take(clerk, 6), GH_OK);
    assert_string_equal(desk_ids(clerk), "b0 a0 n b1 a1 a2");
    unsigned next = 3;
    while (desk_take(clerk, 7) == GH_OK)
        for (uint32_t i = 0; i < clerk->take.count; i++, next++)
        {
            char id[8];
            snprintf(id, sizeof(id), "a%u", next);
            assert_true(gh_str_equal(clerk->tasks[i].id, gh_str_of(id)));
        }
    assert_int_equal(next, 41);
}

/* Of large ones fewer join in one take; one of each class does. */
static void large_tasks_of_two_classes_join_their_lines(void** state)
{
    (void)state;
    static char payload[GH_TASK_PAYLOAD_SIZE_MAX];
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_on(server);
    char ids[6][8];
    memset(payload, 'x', sizeof(payload));
    for (unsigned i = 0; i < 6; i++)
    {
        snprintf(ids[i], sizeof(ids[i]), "%u", i);
        gh_task_spec task = {.id = gh_str_of(ids[i]),
                             .group = gh_str_literal("a"),
                             .delay_us = SECOND_US + i,
                             .task_class = i / 5,
                             .payload = gh_str_make(payload, sizeof(payload))};
        assert_status(desk_push_all(clerk, &task, 1), GH_OK);
    }
    redis_server_shift_clock(server, 2 * (int64_t)SECOND_US);
    for (unsigned taken = 0; taken < 6; taken += clerk->take.count)
    {
        assert_status(desk_take(clerk, 10), GH_OK);
        for (uint32_t i = 0; i < clerk->take.count; i++)
            assert_true(gh_str_equal(clerk->tasks[i].id, gh_str_of(ids[taken + i])));
    }
    assert_status(desk_take(clerk, 10), GH_EMPTY);
}

static void cancelled_flood_delays_nobody(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    char id[16];
    push_numbered(clerk, "a", 0, 300);
    push_numbered(clerk, "b", 0, 3);
    for (unsigned i = 0; i < 299; i++)
    {
        snprintf(id, sizeof(id), "a%u", i);
        assert_status(desk_cancel(clerk, id), GH_OK);
    }
    assert_status(desk_cancel(clerk, "a0"), GH_OK);
    assert_int_equal(desk_look(clerk, "a0"), GH_TASK_STATE_CANCELLED);
    assert_int_equal(desk_count(clerk)->ready[0], 4);
    assert_status(desk_take(clerk, 2), GH_OK);
    assert_string_equal(desk_ids(clerk), "a299 b0");
    push_numbered(clerk, "c", 0, 1);
    assert_status(desk_cancel(clerk, "c0"), GH_OK); /* its group has no line, and a place in the ring */
    assert_int_equal(desk_count(clerk)->groups[0], 2);
    assert_status(desk_take(clerk, 1), GH_OK);
    assert_status(desk_take(clerk, 9), GH_OK);
    assert_string_equal(desk_ids(clerk), "b2");
    assert_int_equal(desk_count(clerk)->groups[0], 0);
    assert_int_equal(redis_server_integer(server, "ZCARD " KEY "g"), 0);
}

static void weights_hold_between_classes_with_groups(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    gh_task_spec tasks[100];
    char ids[100][8];
    const uint32_t weights[GH_TASKS_CLASSES] = {3, 1, 1, 1};
    memcpy(clerk->config.weights, weights, sizeof(weights));
    for (unsigned i = 0; i < 100; i++)
    {
        snprintf(ids[i], sizeof(ids[i]), "%u", i);
        tasks[i] = (gh_task_spec){.id = gh_str_of(ids[i]), .task_class = i % 2, .group = gh_str_of(i < 90 ? "a" : "b")};
    }
    for (unsigned i = 0; i < 100; i += 25) assert_status(desk_push_all(clerk, &tasks[i], 25), GH_OK);
    unsigned got[2][2] = {{0}};
    for (unsigned taken = 0; taken < 24;)
    {
        assert_status(desk_take(clerk, 1 + taken % 5), GH_OK);
        for (uint32_t i = 0; i < clerk->take.count && taken < 24; i++, taken++)
            got[clerk->tasks[i].task_class][clerk->tasks[i].group.bytes[0] == 'b']++;
        desk_finish_all(clerk);
    }
    assert_in_range(got[0][0] + got[0][1], 15, 20); /* of 18 */
    assert_in_range(got[0][1], 5, 5);               /* b has but five */
    assert_true(got[1][1] >= 2);
}

/* ---- rate and running_max -------------------------------------------------------------------------------
 */

static void rate_holds_by_the_clock_of_the_store(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_on(server);
    desk* other = desk_on(server);
    push_numbered(clerk, "", 0, 30);
    desk_control(clerk, (gh_tasks_rules){.rate_count = 1, .rate_period_us = 600 * SECOND_US, .rate_burst = 3});
    assert_status(desk_take(clerk, 2), GH_OK); /* one less than the burst */
    assert_string_equal(desk_ids(clerk), "0 1");
    assert_status(desk_take(other, 2), GH_OK); /* the burst is used up */
    assert_string_equal(desk_ids(other), "2");
    assert_status(desk_take(clerk, 1), GH_LIMITED);
    assert_in_range(clerk->take.next_us, 500 * SECOND_US, 600 * SECOND_US);
    clerk->config.wait_us = SECOND_US / 20;
    assert_status(desk_take(clerk, 1), GH_EMPTY);
    clerk->config.wait_us = 0;
    desk_control(other, (gh_tasks_rules){.rate_count = 1, .rate_period_us = 600 * SECOND_US, .rate_burst = 3});
    assert_status(desk_take(other, 1), GH_LIMITED); /* what was used stays used */
    redis_server_shift_clock(server, 600 * (int64_t)SECOND_US);
    assert_status(desk_finish(clerk, desk_take_one(clerk, "0"), GH_TASK_ACTION_DONE), GH_OK); /* again */
    assert_status(desk_take(other, 9), GH_LIMITED);
    redis_server_shift_clock(server, 6000 * (int64_t)SECOND_US);
    assert_status(desk_take(clerk, 9), GH_OK); /* no more than the burst, however long the pause */
    assert_int_equal(clerk->take.count, 3);
    redis_server_shift_clock(server, 0); /* a clock that goes back does not lock the queue for long */
    assert_status(desk_take(clerk, 1), GH_LIMITED);
    assert_in_range(clerk->take.next_us, 1, 600 * SECOND_US);
    assert_int_equal(desk_count(clerk)->rules.rate_count, 1);
    assert_int_equal(clerk->count.rules.rate_period_us, 600 * SECOND_US);
    assert_int_equal(clerk->count.rules.rate_burst, 3);
    desk_control(clerk, (gh_tasks_rules){0});
    assert_status(desk_take(clerk, 9), GH_OK);
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "c"), 0);
}

static void burst_is_exact(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    desk_control(clerk, (gh_tasks_rules){.rate_count = 10, .rate_period_us = 3600 * SECOND_US});
    push_numbered(clerk, "", 0, 9);
    assert_status(desk_take(clerk, GH_TASKS_BATCH_MAX), GH_OK);
    assert_int_equal(clerk->take.count, 9);
    push_numbered(clerk, "", 9, 2);
    assert_status(desk_take(clerk, GH_TASKS_BATCH_MAX), GH_OK);
    assert_int_equal(clerk->take.count, 1);
    assert_status(desk_take(clerk, GH_TASKS_BATCH_MAX), GH_LIMITED);
    assert_in_range(clerk->take.next_us, 300 * SECOND_US, 360 * SECOND_US);
}

static void expired_leases_do_not_count_as_running(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_on(server);
    push_numbered(clerk, "", 0, 200);
    desk_control(clerk, (gh_tasks_rules){.running_max = 50});
    assert_status(desk_take(clerk, 49), GH_OK);
    assert_int_equal(clerk->take.count, 49);
    assert_status(desk_take(clerk, 2), GH_OK);
    assert_int_equal(clerk->take.count, 1);
    assert_status(desk_take(clerk, 1), GH_LIMITED);
    assert_in_range(clerk->take.next_us, 1, 5 * SECOND_US);
    redis_server_shift_clock(server, 6 * (int64_t)SECOND_US);
    assert_int_equal(desk_count(clerk)->expired, 50);
    assert_status(desk_take(clerk, GH_TASKS_BATCH_MAX), GH_OK);
    assert_int_equal(clerk->take.count, 50); /* a lease that ran out is none, whether it was put back or not */
    assert_status(desk_take(clerk, 1), GH_LIMITED);
    assert_int_equal(desk_count(clerk)->handed_out, 50);
}

/* It waits as long as it is told, not as long as it waits for an empty queue. */
static void worker_asks_again_when_the_rate_allows_it(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    const unsigned count = 4;
    desk_control(clerk, (gh_tasks_rules){.rate_count = 5, .rate_period_us = 2 * SECOND_US, .rate_burst = 1});
    push_numbered(clerk, "", 0, count);
    shop* baker = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    baker->handlers[0].name = gh_str_literal("");
    baker->wants[0].lease_us = 60 * SECOND_US;
    long long before = redis_server_calls(server, "evalsha");
    uint64_t begun_us = wait_now_us();
    shop_begin(baker);
    GAME_UNTIL(baker->worker.done == count);
    long long calls = redis_server_calls(server, "evalsha") - before;
    assert_true(wait_now_us() - begun_us >= (count - 1) * 2 * SECOND_US / 5);
    assert_in_range(calls, 2 * count, 3 * count + 2); /* one in vain for each task, where polling had five */
}

/* One that has reached running_max goes on as soon as it has finished a task. */
static void worker_goes_on_after_its_own_task(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    desk* clerk = desk_on(server);
    desk_control(clerk, (gh_tasks_rules){.running_max = 1});
    push_numbered(clerk, "", 0, 60);
    shop* baker = shop_prepare(game_start_ready(redis_server_address(server)), QUEUE);
    baker->handlers[0].name = gh_str_literal("");
    baker->ticks_needed = 10;
    shop_begin(baker);
    GAME_UNTIL(baker->worker.done == 1);
    assert_int_equal(baker->worker.running <= 1, 1);
    GAME_UNTIL(baker->worker.done == 60);
    assert_int_equal(baker->worker.taken, 60);
    assert_status(baker->worker.trouble, GH_OK);
}

/* ---- many processes -------------------------------------------------------------------------------------
 */

#define CREW       3
#define RATE       200
#define BURST      10
#define RUNNING    4
#define FLEET_SIZE 150

typedef struct stamp
{
    uint64_t fence; /* the time of the hand-out by the store's clock */
    char group;
} stamp;

typedef struct rower
{
    gh_tasks_worker worker;
    gh_task_handler handler;
    gh_tasks_worker_queue queue;
    gh_queue made;
    gh_task slots[8];
    char memory[8 * 512];
    int results;
} rower;

static gh_task_action pull(void* context, gh_task* task)
{
    rower* self = context;
    stamp said = {.fence = task->fence, .group = task->group.size > 0 ? task->group.bytes[0] : '-'};
    CHILD_CHECK(task->status == GH_PENDING);
    if (++task->step < 3) return GH_TASK_ACTION_CONTINUE;
    CHILD_CHECK(write(self->results, &said, sizeof(said)) == sizeof(said));
    return GH_TASK_ACTION_DONE;
}

static int pull_on(void* context, int results)
{
    game_forget_all();
    game* boat = game_start(context);
    rower* self = GAME_NEW(boat, rower);
    gh_tasks_worker_config config = gh_tasks_worker_config_default();
    gh_queue_config want = gh_queue_config_default();
    self->results = results;
    self->handler = (gh_task_handler){.function = pull, .context = self};
    want.lease_us = 60 * SECOND_US;
    CHILD_CHECK(gh_queue_init(&self->made, boat->client, gh_str_literal(QUEUE), &want) == GH_OK);
    self->queue.queue = &self->made;
    config.handlers = &self->handler, config.handler_count = 1;
    config.queues = &self->queue, config.queue_count = 1;
    config.slots = self->slots, config.slot_count = 8;
    config.memory = self->memory, config.memory_size = sizeof(self->memory);
    CHILD_CHECK(gh_tasks_worker_begin(&self->worker, boat->client, &config) == GH_OK);
    for (;;) game_tick_all();
}

static int compare_stamps(const void* a, const void* b)
{
    const stamp* left = a;
    const stamp* right = b;
    return (left->fence > right->fence) - (left->fence < right->fence);
}

/* In every stretch of time no more than the burst and what flows in meanwhile; and the groups of 25 tasks are
   through when three times as many were handed out, give or take what was on its way. */
static void check_stamps(stamp* stamps, size_t count)
{
    size_t small = 0;
    qsort(stamps, count, sizeof(stamps[0]), compare_stamps);
    for (size_t i = 0; i < count; i++)
        for (size_t k = i; k < count; k++)
        {
            double allowed = BURST + (double)(stamps[k].fence - stamps[i].fence) * RATE / SECOND_US;
            if ((double)(k - i + 1) > allowed + 0.01)
                fail_msg("%zu hand-outs where %f are allowed", k - i + 1, allowed);
        }
    for (size_t i = 0; i < 75 + 8; i++) small += stamps[i].group != 'a';
    assert_int_equal(small, 50);
}

static void processes_obey_the_rules_together(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    char address[128];
    child_process* crew[CREW];
    snprintf(address, sizeof(address), "%s", redis_server_address(server));
    game* office = game_start_ready(address);
    desk* clerk = desk_open(office, QUEUE);
    stamp* stamps = GAME_NEW_ARRAY(office, stamp, FLEET_SIZE);
    desk_control(
        clerk,
        (gh_tasks_rules){.running_max = RUNNING, .rate_count = RATE, .rate_period_us = SECOND_US, .rate_burst = BURST});
    push_numbered(clerk, "a", 0, FLEET_SIZE - 50);
    push_numbered(clerk, "b", 0, 25);
    push_numbered(clerk, "c", 0, 25);
    for (int i = 0; i < CREW; i++) crew[i] = child_start(pull_on, address);
    long long most = 0;
    for (uint64_t end_us = wait_cap_us(); redis_server_integer(server, "ZCARD " KEY "t") < FLEET_SIZE;)
    {
        long long running = redis_server_integer(server, "ZCARD " KEY "l");
        if (running > most) most = running;
        assert_true(wait_now_us() < end_us);
        wait_briefly();
    }
    assert_in_range(most, 1, RUNNING);
    size_t count = 0;
    for (int i = 0; i < CREW; i++)
    {
        child_kill9(crew[i]);
        while (count < FLEET_SIZE && child_read(crew[i], &stamps[count], sizeof(stamp)) == sizeof(stamp)) count++;
    }
    assert_int_equal(count, FLEET_SIZE);
    check_stamps(stamps, count);
    assert_no_lines(server);
}

TEST_FILE(tasks_fair, cmocka_unit_test(flood_of_one_group_does_not_delay_others),
          cmocka_unit_test(tasks_without_a_group_are_one_group), cmocka_unit_test(groups_of_one_task_leave_nothing),
          cmocka_unit_test(next_of_each_is_among_as_many_as_there_are_groups),
          cmocka_unit_test(group_stays_through_all_states), cmocka_unit_test(due_tasks_join_their_lines),
          cmocka_unit_test(large_tasks_of_two_classes_join_their_lines),
          cmocka_unit_test(cancelled_flood_delays_nobody), cmocka_unit_test(weights_hold_between_classes_with_groups),
          cmocka_unit_test(rate_holds_by_the_clock_of_the_store), cmocka_unit_test(burst_is_exact),
          cmocka_unit_test(expired_leases_do_not_count_as_running),
          cmocka_unit_test(worker_asks_again_when_the_rate_allows_it),
          cmocka_unit_test(worker_goes_on_after_its_own_task), cmocka_unit_test(processes_obey_the_rules_together));
