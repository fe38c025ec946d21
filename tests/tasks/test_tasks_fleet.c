/* Many processes and one queue: nothing is lost when workers are killed at any point, no hand-out is worked
   on twice, and the store says in the end what the history says. */

#include "support/scene/desk.h"
#include "support/process.h"
#include "support/random.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE "mail"
#define KEY   "gh:{tasks:mail}:"
#define TASKS 400
#define SLOTS 8
#define CREW  3

/* What a child tells of each task that it has worked on: to the end, as far as it knows. */
typedef struct entry
{
    uint32_t number; /* of the task: its payload */
    uint32_t attempt;
    uint64_t fence;
} entry;

typedef struct crew_plan
{
    char address[128];
    uint64_t lease_us;
    unsigned ticks; /* that each task takes, at most */
} crew_plan;

typedef struct mate
{
    gh_tasks_worker worker;
    gh_task_handler handler;
    gh_tasks_worker_queue queue;
    gh_queue made;
    gh_task slots[SLOTS];
    char memory[SLOTS * 256];
    crew_plan* plan;
    int results;
} mate;

static gh_task_action row(void* context, gh_task* task)
{
    mate* self = context;
    entry said = {.attempt = task->attempt, .fence = task->fence};
    char text[16] = {0};
    if (task->status == GH_LOST) return GH_TASK_ACTION_DONE;
    memcpy(text, task->payload.bytes, task->payload.size);
    said.number = (uint32_t)atoi(text);
    if (++task->step <= said.number % (self->plan->ticks + 1)) return GH_TASK_ACTION_CONTINUE;
    CHILD_CHECK(write(self->results, &said, sizeof(said)) == sizeof(said));
    return GH_TASK_ACTION_DONE;
}

/* Works until it is killed. */
static int row_on(void* context, int results)
{
    game_forget_all();
    crew_plan* plan = context;
    game* boat = game_start(plan->address);
    mate* self = GAME_NEW(boat, mate);
    gh_tasks_worker_config config = gh_tasks_worker_config_default();
    gh_queue_config want = gh_queue_config_default();
    self->plan = plan;
    self->results = results;
    self->handler = (gh_task_handler){.name = gh_str_literal("row"), .function = row, .context = self};
    want.lease_us = plan->lease_us;
    CHILD_CHECK(gh_queue_init(&self->made, boat->client, gh_str_literal(QUEUE), &want) == GH_OK);
    self->queue.queue = &self->made;
    config.handlers = &self->handler, config.handler_count = 1;
    config.queues = &self->queue, config.queue_count = 1;
    config.slots = self->slots, config.slot_count = SLOTS;
    config.memory = self->memory, config.memory_size = sizeof(self->memory);
    CHILD_CHECK(gh_tasks_worker_begin(&self->worker, boat->client, &config) == GH_OK);
    for (;;) game_tick_all();
}

typedef struct history
{
    entry entries[TASKS * 20];
    size_t count;
    unsigned times[TASKS]; /* that each task was worked on to the end */
} history;

/* Reads what the child has said, to its end: it has been killed. */
static void hear(history* self, child_process* child)
{
    while (child_read(child, &self->entries[self->count], sizeof(entry)) == sizeof(entry))
    {
        assert_true(self->entries[self->count].number < TASKS);
        self->times[self->entries[self->count].number]++;
        assert_true(++self->count < TASKS * 20);
    }
}

static void push_all(desk* clerk, random_stream* random)
{
    gh_task_spec tasks[50];
    char payloads[50][16];
    clerk->config.attempts_max = GH_TASKS_ATTEMPTS_MAX; /* kills must not make dead letters */
    for (unsigned i = 0; i < TASKS; i++)
    {
        snprintf(payloads[i % 50], sizeof(payloads[0]), "%u", i);
        tasks[i % 50] = (gh_task_spec){.id = gh_str_of(payloads[i % 50]),
                                       .handler = gh_str_literal("row"),
                                       .payload = gh_str_of(payloads[i % 50]),
                                       .task_class = (uint32_t)random_below(random, GH_TASKS_CLASSES),
                                       .delay_us = random_below(random, 4) == 0 ? random_below(random, SECOND_US) : 0};
        if (i % 50 == 49) assert_status(desk_push_all(clerk, tasks, 50), GH_OK);
    }
}

static int compare_entries(const void* a, const void* b)
{
    const entry* left = a;
    const entry* right = b;
    if (left->number != right->number) return left->number < right->number ? -1 : 1;
    return (left->fence > right->fence) - (left->fence < right->fence);
}

/* By hiredis and the layout of KEYS.md alone: all are over, nothing is anywhere else; and each hand-out was
   worked on once, with fences that grow with the attempts. */
static void audit(redis_server* server, history* self)
{
    assert_int_equal(redis_server_integer(server, "EXISTS " KEY "p " KEY "l " KEY "x " KEY "r0 " KEY "r1 " KEY "r2 " KEY
                                                  "r3 " KEY "d0 " KEY "d1 " KEY "d2 " KEY "d3"),
                     0);
    assert_int_equal(redis_server_integer(server, "ZCARD " KEY "t"), TASKS);
    for (unsigned i = 0; i < TASKS; i++)
    {
        assert_true(self->times[i] >= 1);
        assert_non_null(redis_server_text(server, "ZSCORE " KEY "t %u", i));
    }
    qsort(self->entries, self->count, sizeof(entry), compare_entries);
    for (size_t i = 1; i < self->count; i++)
    {
        if (self->entries[i].number != self->entries[i - 1].number) continue;
        assert_true(self->entries[i].fence > self->entries[i - 1].fence);
        assert_true(self->entries[i].attempt > self->entries[i - 1].attempt);
    }
}

static void work_off(bool killing, bool restarting)
{
    redis_server_options options = {.append_only = restarting};
    redis_server* server = redis_server_start(&options);
    bool calm = !killing && !restarting; /* nobody is to lose a lease, however slow the machine is */
    crew_plan plan = {.lease_us = calm ? 60 * SECOND_US : SECOND_US / 4, .ticks = 60};
    child_process* crew[CREW];
    random_stream random = random_for_test("fleet");
    snprintf(plan.address, sizeof(plan.address), "%s", redis_server_address(server));
    game* office = game_start_ready(plan.address);
    desk* clerk = desk_open(office, QUEUE);
    history* all = GAME_NEW(office, history);
    push_all(clerk, &random);
    for (int i = 0; i < CREW; i++) crew[i] = child_start(row_on, &plan);

    unsigned round = 0;
    unsigned killed_at_work = 0;
    while (redis_server_integer(server, "ZCARD " KEY "t") < TASKS)
    {
        int which = (int)random_below(&random, CREW);
        for (uint64_t end_us = wait_now_us() + random_below(&random, 60000); wait_now_us() < end_us;) wait_briefly();
        round++;
        if (restarting && round % 4 == 0)
        {
            redis_server_kill9(server);
            redis_server_restart(server);
        }
        if (!killing) continue;
        /* Or, on a slow machine, all might be killed before they have anything. */
        WAIT_FOR(redis_server_integer(server, "ZCARD " KEY "l") > SLOTS ||
                 redis_server_integer(server, "ZCARD " KEY "t") > TASKS - 4 * SLOTS);
        killed_at_work +=
            redis_server_integer(server, "ZCARD " KEY "l") > (CREW - 1) * SLOTS; /* each of them has some */
        child_kill9(crew[which]);
        hear(all, crew[which]);
        child_end(crew[which]);
        crew[which] = child_start(row_on, &plan);
    }
    for (int i = 0; i < CREW; i++)
    {
        child_kill9(crew[i]);
        hear(all, crew[i]);
    }
    audit(server, all);
    size_t again = 0;
    for (size_t i = 0; i < all->count; i++) again += all->entries[i].attempt > 1;
    if (killed_at_work > 2)
        assert_true(again > 0); /* where few are at work together, those without may have been hit */
    if (calm) assert_int_equal(all->count, TASKS);
}

static void processes_share_the_work_and_none_is_done_twice(void** state)
{
    (void)state;
    work_off(false, false);
}

static void killed_workers_lose_nothing(void** state)
{
    (void)state;
    work_off(true, false);
}

static void restarted_server_and_killed_workers_lose_nothing(void** state)
{
    (void)state;
    work_off(true, true);
}

/* ---- stories of others --------------------------------------------------------------------------------- */

static void delayed_tasks_come_after_a_reconnect(void** state)
{
    (void)state;
    redis_server_options options = {.append_only = true};
    redis_server* server = redis_server_start(&options);
    desk* clerk = desk_open(game_start_ready(redis_server_address(server)), QUEUE);
    assert_status(desk_push_delayed(clerk, "a", SECOND_US / 2), GH_OK);
    clerk->config.wait_us = 60 * SECOND_US;
    assert_status(
        gh_tasks_take_begin(&clerk->take, desk_queue(clerk), clerk->tasks, 1, clerk->memory, sizeof(clerk->memory)),
        GH_OK);
    GAME_UNTIL(redis_server_integer(server, "ZCARD " KEY "i") == 1);
    redis_server_restart(server);
    GAME_UNTIL(gh_op_poll(&clerk->take.op) != GH_PENDING);
    assert_status(gh_op_poll(&clerk->take.op), GH_OK);
    assert_int_equal(game_stats(clerk->owner).links_lost, 1);
}

/* Requests that a frozen server carries out long after their taker has given up hand nothing out. */
static void backlog_of_a_frozen_server_hands_nothing_out(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.request_timeout_us = SECOND_US / 20;
    game* taker = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(taker->client));
    desk* clerk = desk_open(taker, QUEUE);
    assert_status(desk_push(clerk, "a", ""), GH_OK);
    assert_status(desk_take(clerk, 1), GH_OK); /* the store's time is known */
    assert_status(desk_finish(clerk, &clerk->tasks[0], GH_TASK_ACTION_GIVE_BACK), GH_OK);
    redis_server_freeze(server);
    clerk->config.timeout_us = SECOND_US / 10;
    assert_status(desk_take(clerk, 1), GH_UNKNOWN);
    for (uint64_t end_us = wait_now_us() + SECOND_US / 2; wait_now_us() < end_us;) wait_briefly();
    redis_server_thaw(server);
    clerk->config.timeout_us = 5 * SECOND_US;
    assert_int_equal(desk_count(clerk)->handed_out, 0);
    assert_int_equal(desk_take_one(clerk, "a")->attempt, 1);
}

TEST_FILE(tasks_fleet, cmocka_unit_test(processes_share_the_work_and_none_is_done_twice),
          cmocka_unit_test(killed_workers_lose_nothing),
          cmocka_unit_test(restarted_server_and_killed_workers_lose_nothing),
          cmocka_unit_test(delayed_tasks_come_after_a_reconnect),
          cmocka_unit_test(backlog_of_a_frozen_server_hands_nothing_out));
