/* Tests of a queue as tasks.h makes it: a value, with settings of its own, on which ops are begun. */

#include "support/scene/desk.h"
#include "support/scene/shop.h"
#include "support/server/redis_server.h"

#include "guildhall/tasks_admin.h"

#include <stdio.h>
#include <string.h>

#define QUEUE "mail"

static desk* desk_of(redis_server* server, const char* queue)
{
    return desk_open(game_start_ready(redis_server_address(server)), queue);
}

/* ---- every begin on a queue ------------------------------------------------------------------------------------ */

enum
{
    BEGINS = 10
};

/* One op of each kind, and what they need. */
typedef struct hands
{
    gh_tasks_push push;
    gh_tasks_take take;
    gh_tasks_finish finish;
    gh_tasks_extend extend;
    gh_tasks_edit cancel;
    gh_tasks_edit requeue;
    gh_tasks_control control;
    gh_tasks_look look;
    gh_tasks_dead dead;
    gh_tasks_count count;
    gh_task_spec spec;
    gh_task taken[2]; /* in hand, from an earlier take */
    gh_task more[2];
    gh_task_ref refs[2];
    gh_dead_task letter;
    char memory[2 * (GH_TASK_BYTES_MAX + GH_TASK_RESULT_SIZE_MAX)];
    char dead_memory[GH_TASK_BYTES_MAX + GH_TASK_RESULT_SIZE_MAX];
} hands;

static gh_op* hand(hands* self, int which)
{
    gh_op* const all[BEGINS] = {&self->push.op,   &self->take.op,    &self->finish.op,  &self->extend.op,
                                &self->cancel.op, &self->requeue.op, &self->control.op, &self->look.op,
                                &self->dead.op,   &self->count.op};
    return all[which];
}

static gh_status begin(hands* self, int which, const gh_queue* queue)
{
    gh_str id = gh_str_literal("none");
    self->refs[0].id = self->refs[1].id = id;
    switch (which)
    {
    case 0: return gh_tasks_push_begin(&self->push, queue, &self->spec, 1);
    case 1: return gh_tasks_take_begin(&self->take, queue, self->more, 2, self->memory, sizeof(self->memory));
    case 2: return gh_tasks_finish_begin(&self->finish, queue, &self->taken[0], 1);
    case 3: return gh_tasks_extend_begin(&self->extend, queue, &self->taken[1], 1);
    case 4: return gh_tasks_cancel_begin(&self->cancel, queue, &self->refs[0], 1);
    case 5: return gh_tasks_requeue_begin(&self->requeue, queue, &self->refs[1], 1);
    case 6: return gh_tasks_control_begin(&self->control, queue, NULL);
    case 7: return gh_tasks_look_begin(&self->look, queue, id, NULL, 0);
    case 8:
        return gh_tasks_dead_begin(&self->dead, queue, 0, &self->letter, 1, self->dead_memory,
                                   sizeof(self->dead_memory));
    default: return gh_tasks_count_begin(&self->count, queue);
    }
}

/* Two tasks in hand, so that one can be finished and one extended. */
static hands* hands_with_two(desk* clerk, const gh_queue* queue)
{
    hands* self = GAME_NEW(clerk->owner, hands);
    assert_status(desk_push(clerk, "one", ""), GH_OK);
    assert_status(desk_push(clerk, "two", ""), GH_OK);
    self->spec.delay_us = 3600 * SECOND_US;
    assert_status(gh_tasks_take_begin(&self->take, queue, self->taken, 2, clerk->memory, sizeof(clerk->memory)), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->take.op) != GH_PENDING);
    assert_int_equal(self->take.count, 2);
    self->taken[0].action = GH_TASK_ACTION_DONE;
    return self;
}

/* Each begin answers it, each op has ended so, and, if there is a client to tell it, so says the queue of what
   happened. */
static void must_all_end(game* owner, hands* self, const gh_queue* queue, gh_status expected, bool told)
{
    unsigned seen = 0;
    for (int i = 0; i < BEGINS; i++)
    {
        hand(self, i)->tag = 1;
        assert_status(begin(self, i, queue), expected);
        assert_status(gh_op_poll(hand(self, i)), expected);
        assert_false(gh_op_is_busy(hand(self, i)));
    }
    if (!told) return;
    game_tick(owner);
    for (gh_op* op; (op = gh_client_next(owner->client)) != NULL; seen++) assert_status(op->status, expected);
    assert_int_equal(seen, BEGINS);
}

static void queue_that_is_none_is_refused(void** state)
{
    (void)state;
    game* owner = game_start(redis_server_address(redis_server_any()));
    hands* self = GAME_NEW(owner, hands);
    gh_queue zeroed = GH_ZERO;
    gh_str name = gh_str_literal(QUEUE);
    assert_status(gh_queue_init(NULL, owner->client, name, NULL), GH_INVALID_OBJECT);
    must_all_end(owner, self, NULL, GH_INVALID_OBJECT, false);
    must_all_end(owner, self, &zeroed, GH_INVALID_OBJECT, false);
    for (int i = 0; i < BEGINS; i++) assert_status(begin(self, i, &zeroed), GH_INVALID_OBJECT);
    assert_int_equal(game_stats(owner).ops_begun, 0);
    assert_null(gh_client_next(owner->client));
}

static void must_be_refused(game* owner, hands* self, gh_queue_config config, gh_status expected)
{
    gh_queue queue;
    assert_status(gh_queue_init(&queue, owner->client, gh_str_literal(QUEUE), &config), expected);
    must_all_end(owner, self, &queue, expected, true);
}

#define WITH(field, value, expected)                                                                                   \
    must_be_refused(owner, self, (config = gh_queue_config_default(), config.field = (value), config), expected)
#define GOOD(field, value)                                                                                             \
    assert_status(gh_queue_init(&queue, owner->client, gh_str_literal(QUEUE),                                          \
                                (config = gh_queue_config_default(), config.field = (value), &config)),                \
                  GH_OK)

static void config_names_the_field_that_is_wrong(void** state)
{
    (void)state;
    game* owner = game_start(redis_server_address(redis_server_any()));
    hands* self = GAME_NEW(owner, hands);
    gh_queue_config config = gh_queue_config_default();
    gh_queue queue;
    assert_status(gh_queue_init(&queue, owner->client, gh_str_literal(QUEUE), NULL), GH_OK);
    assert_status(gh_queue_init(&queue, owner->client, gh_str_literal(QUEUE), &config), GH_OK);
    WITH(struct_size, 0, GH_INVALID_CONFIG);
    WITH(timeout_us, 0, GH_INVALID_TIMEOUT);
    WITH(timeout_us, 999, GH_INVALID_TIMEOUT);
    GOOD(timeout_us, 1000);
    GOOD(timeout_us, 3600 * SECOND_US);
    WITH(timeout_us, 3600 * SECOND_US + 1, GH_INVALID_TIMEOUT);
    WITH(capacity, 0, GH_INVALID_TASK_CAPACITY);
    WITH(capacity, GH_TASKS_CAPACITY_MAX + 1, GH_INVALID_TASK_CAPACITY);
    WITH(attempts_max, 0, GH_INVALID_TASK_ATTEMPTS);
    WITH(attempts_max, GH_TASKS_ATTEMPTS_MAX + 1, GH_INVALID_TASK_ATTEMPTS);
    WITH(lease_us, GH_TASKS_LEASE_MIN_US - 1, GH_INVALID_LEASE);
    GOOD(lease_us, GH_TASKS_LEASE_MIN_US);
    GOOD(lease_us, GH_TASKS_LEASE_MAX_US);
    WITH(lease_us, GH_TASKS_LEASE_MAX_US + 1, GH_INVALID_LEASE);
    WITH(wait_us, GH_TASKS_WAIT_MAX_US + 1, GH_INVALID_WAIT);
    WITH(keep_us, GH_TASKS_KEEP_MIN_US - 1, GH_INVALID_TASK_KEEP);
    WITH(keep_us, GH_TASKS_KEEP_MAX_US + 1, GH_INVALID_TASK_KEEP);
    WITH(backoff_min_us, 999, GH_INVALID_TASK_BACKOFF);
    WITH(backoff_max_us, 999999, GH_INVALID_TASK_BACKOFF); /* less than the least */
    WITH(backoff_max_us, GH_TASKS_DELAY_MAX_US + 1, GH_INVALID_TASK_BACKOFF);
    WITH(count_min, GH_TASKS_COUNT_MIN_MAX + 1, GH_INVALID_TASKS);
    WITH(weights[2], 1, GH_INVALID_TASK_WEIGHTS);
    WITH(weights[0], GH_TASKS_WEIGHT_MAX + 1, GH_INVALID_TASK_WEIGHTS);
    assert_int_equal(game_stats(owner).ops_begun, 0);
}

static void refusal_is_said_in_words(void** state)
{
    (void)state;
    game* owner = game_start(redis_server_address(redis_server_any()));
    gh_queue_config config = gh_queue_config_default();
    gh_queue queue;
    config.lease_us = 10;
    assert_status(gh_queue_init(&queue, owner->client, gh_str_literal(QUEUE), &config), GH_INVALID_LEASE);
    assert_true(gh_str_equal(gh_client_last_invalid(owner->client),
                             gh_str_literal("lease_us = 10, not within 50000..86400000000")));
}

static void name_and_client_are_looked_at(void** state)
{
    (void)state;
    game* owner = game_start(redis_server_address(redis_server_any()));
    hands* self = GAME_NEW(owner, hands);
    static const char long_name[GH_NAME_SIZE_MAX + 1] = "0123456789";
    const gh_str names[] = {{"", 0}, {NULL, 0}, {NULL, 1}, {long_name, sizeof(long_name)}, {long_name, SIZE_MAX}};
    gh_queue queue;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    {
        assert_status(gh_queue_init(&queue, owner->client, names[i], NULL), GH_INVALID_NAME);
        must_all_end(owner, self, &queue, GH_INVALID_NAME, true);
    }
    assert_status(gh_queue_init(&queue, NULL, gh_str_literal(QUEUE), NULL), GH_INVALID_CLIENT);
    must_all_end(owner, self, &queue, GH_INVALID_CLIENT, false);
}

/* ---- a value --------------------------------------------------------------------------------------------------- */

/* Each op needs its queue no more once it is begun: copied, moved, overwritten, made anew for another one. */
static void queue_is_a_value(void** state)
{
    (void)state;
    desk* clerk = desk_of(redis_server_start(NULL), QUEUE);
    game* owner = clerk->owner;
    gh_queue first, queue;
    assert_status(gh_queue_init(&first, owner->client, gh_str_literal(QUEUE), NULL), GH_OK);
    hands* self = hands_with_two(clerk, &first);
    for (int i = 0; i < BEGINS; i++)
    {
        gh_queue* moved = GAME_NEW(owner, gh_queue);
        queue = first;
        memcpy(moved, &queue, sizeof(queue));
        memset(&queue, 0xa5, sizeof(queue));
        assert_status(begin(self, i, moved), GH_OK);
        if (i % 2 == 0) memset(moved, 0xa5, sizeof(*moved));
        else assert_status(gh_queue_init(moved, owner->client, gh_str_literal("other"), NULL), GH_OK);
    }
    memset(&first, 0xa5, sizeof(first));
    for (int i = 0; i < BEGINS; i++)
    {
        GAME_UNTIL(gh_op_poll(hand(self, i)) != GH_PENDING);
        assert_status(gh_op_poll(hand(self, i)), i == 1 ? GH_EMPTY : GH_OK);
    }
    assert_status(self->spec.status, GH_OK);
    assert_status(self->taken[0].status, GH_OK);
    assert_status(self->taken[1].status, GH_PENDING);
    assert_int_equal(desk_count(clerk)->delayed[0], 1);
    assert_int_equal(desk_count(clerk)->handed_out, 1);
    assert_int_equal(desk_count(desk_open(owner, "other"))->stored, 0);
}

static void queue_outlives_its_client_as_a_refusal(void** state)
{
    (void)state;
    desk* clerk = desk_of(redis_server_start(NULL), QUEUE);
    gh_client_config config = game_config(clerk->owner->config.address.bytes);
    size_t size = gh_client_memory(&config);
    void* memory = game_new(clerk->owner, size);
    gh_client* client;
    gh_queue queue;
    gh_task_handler handler = {.function = shop_work, .context = clerk};
    gh_tasks_worker_queue from = {.queue = &queue};
    gh_tasks_worker* worker = GAME_NEW(clerk->owner, gh_tasks_worker);
    gh_tasks_worker_config work = gh_tasks_worker_config_default();
    work.handlers = &handler, work.handler_count = 1, work.queues = &from, work.queue_count = 1;
    work.slots = clerk->tasks, work.slot_count = 1, work.memory = clerk->memory;
    work.memory_size = sizeof(clerk->memory);
    assert_status(gh_client_init(memory, size, &config, gh_platform_default(), &client), GH_OK);
    assert_status(gh_queue_init(&queue, client, gh_str_literal(QUEUE), NULL), GH_OK);
    gh_client_shutdown(client);
    must_all_end(clerk->owner, GAME_NEW(clerk->owner, hands), &queue, GH_INVALID_CLIENT, false);
    assert_status(gh_tasks_worker_begin(worker, client, &work), GH_INVALID_CLIENT);
    assert_status(gh_tasks_worker_begin(worker, clerk->owner->client, &work), GH_INVALID_TASK_QUEUES);
    assert_status(gh_queue_init(&queue, client, gh_str_literal(QUEUE), NULL), GH_INVALID_CLIENT);
}

/* ---- a worker whose queues differ ------------------------------------------------------------------------------ */

#define SHORT_US SECOND_US
#define LONG_US  (3600 * SECOND_US)

/* From two queues of which one is "quick" in everything, and one "slow". */
static shop* shop_of_two(redis_server* server)
{
    shop* baker = shop_prepare(game_start_ready(redis_server_address(server)), "slow");
    baker->names[1] = "quick";
    baker->config.queue_count = 2;
    baker->wants[0].lease_us = baker->wants[0].keep_us = LONG_US;
    baker->wants[0].backoff_min_us = baker->wants[0].backoff_max_us = 2 * LONG_US;
    baker->wants[1].lease_us = SHORT_US;
    baker->wants[1].keep_us = GH_TASKS_KEEP_MIN_US;
    baker->wants[1].backoff_min_us = baker->wants[1].backoff_max_us = 20000;
    return baker;
}

/* When it is due, its lease ends, or it is forgotten: from now on by the store's clock. */
static uint64_t time_left(desk* clerk, gh_task_state expected)
{
    assert_int_equal(desk_look(clerk, "bread"), expected);
    return clerk->look.time_us > clerk->look.now_us ? clerk->look.time_us - clerk->look.now_us : 0;
}

static void worker_keeps_the_lease_of_each_queue(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_of_two(server);
    desk* slow = desk_of(server, "slow");
    desk* quick = desk_of(server, "quick");
    baker->ticks_needed = UINT32_MAX;
    shop_begin(baker);
    assert_status(desk_push(slow, "bread", ""), GH_OK);
    assert_status(desk_push(quick, "bread", ""), GH_OK);
    GAME_UNTIL(baker->worker.running == 2);
    (void)desk_look(slow, "bread");
    uint64_t slow_end_us = slow->look.time_us;
    for (int renewals = 0; renewals < 4; renewals++)
    {
        assert_in_range(time_left(quick, GH_TASK_STATE_RUNNING), 0, SHORT_US);
        uint64_t end_us = quick->look.time_us;
        GAME_UNTIL((desk_look(quick, "bread"), quick->look.time_us) > end_us);
    }
    assert_in_range(time_left(slow, GH_TASK_STATE_RUNNING), LONG_US / 2, LONG_US);
    assert_int_equal(slow->look.time_us, slow_end_us); /* for which it is early yet */
    assert_int_equal(slow->look.attempt + quick->look.attempt, 2);
    assert_int_equal(baker->told_lost + baker->worker.lost, 0);
    baker->ticks_needed = 1;
    GAME_UNTIL(baker->worker.done == 2);
}

static void worker_backs_off_as_each_queue_says(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_of_two(server);
    desk* slow = desk_of(server, "slow");
    desk* quick = desk_of(server, "quick");
    baker->answer = GH_TASK_ACTION_RETRY;
    shop_begin(baker);
    assert_status(desk_push(slow, "bread", ""), GH_OK);
    assert_status(desk_push(quick, "bread", ""), GH_OK);
    GAME_UNTIL(baker->worker.dead == 1); /* after five attempts, a few ms apart */
    assert_int_equal(desk_look(quick, "bread"), GH_TASK_STATE_DEAD);
    assert_int_equal(quick->look.attempt, 5);
    GAME_UNTIL(baker->worker.retried == 5);
    assert_in_range(time_left(slow, GH_TASK_STATE_RETRYING), LONG_US / 2, 2 * LONG_US);
    assert_int_equal(slow->look.attempt, 1);
}

static void worker_keeps_what_is_over_as_each_queue_says(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_of_two(server);
    desk* slow = desk_of(server, "slow");
    desk* quick = desk_of(server, "quick");
    shop_begin(baker);
    assert_status(desk_push(slow, "bread", ""), GH_OK);
    assert_status(desk_push(quick, "bread", ""), GH_OK);
    GAME_UNTIL(baker->worker.done == 2);
    assert_in_range(time_left(quick, GH_TASK_STATE_DONE), 0, GH_TASKS_KEEP_MIN_US);
    assert_in_range(time_left(slow, GH_TASK_STATE_DONE), LONG_US / 2, LONG_US);
}

/* The first of its queues cannot be read: the second is served all the same. */
static void queue_that_fails_holds_up_no_other(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_of_two(server);
    desk* quick = desk_of(server, "quick");
    assert_int_equal(redis_server_integer(server, "HSET gh:{tasks:slow}:l not a"), 1);
    shop_begin(baker);
    GAME_UNTIL(baker->worker.trouble == GH_CORRUPT);
    for (int i = 0; i < 10; i++)
    {
        char id[16];
        snprintf(id, sizeof(id), "t%d", i);
        assert_status(desk_push(quick, id, ""), GH_OK);
    }
    GAME_UNTIL(baker->worker.done == 10);
    assert_status(baker->worker.trouble, GH_CORRUPT);
    assert_status(baker->queues[0].trouble, GH_CORRUPT);
    assert_status(baker->queues[1].trouble, GH_OK);
    assert_int_equal(redis_server_integer(server, "DEL gh:{tasks:slow}:l"), 1);
    desk* slow = desk_of(server, "slow");
    assert_status(desk_push(slow, "bread", ""), GH_OK);
    GAME_UNTIL(baker->worker.done == 11 && baker->worker.trouble == GH_OK);
}

static gh_task_action give_up(void* context, gh_task* task)
{
    (void)context, (void)task;
    return GH_TASK_ACTION_FAIL;
}

/* What is over in the first cannot be told to the store; of the second it can, and what runs there is given back when
   the worker leaves. */
static void ends_of_one_queue_hold_up_no_other(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    shop* baker = shop_of_two(server);
    desk* slow = desk_of(server, "slow");
    desk* quick = desk_of(server, "quick");
    baker->handlers[1] = (gh_task_handler){.name = gh_str_literal("give up"), .function = give_up};
    baker->config.handler_count = 2;
    baker->wants[1].lease_us = LONG_US; /* nothing comes back by itself */
    assert_int_equal(redis_server_integer(server, "HSET gh:{tasks:slow}:x not a"), 1);
    gh_task_spec hopeless = {.id = gh_str_literal("stone"), .handler = gh_str_literal("give up")};
    assert_status(desk_push_all(slow, &hopeless, 1), GH_OK);
    shop_begin(baker);
    GAME_UNTIL(baker->worker.trouble == GH_CORRUPT);
    assert_status(desk_push(quick, "bread", ""), GH_OK);
    GAME_UNTIL(baker->worker.done == 1);
    baker->ticks_needed = UINT32_MAX;
    assert_status(desk_push(quick, "cake", ""), GH_OK);
    GAME_UNTIL(baker->worker.running == 2 && baker->calls > 2);
    gh_op_cancel(&baker->worker.op);
    GAME_UNTIL(gh_op_poll(&baker->worker.op) == GH_CANCELLED);
    assert_int_equal(baker->told_lost, 1);
    assert_int_equal(desk_take_one(quick, "cake")->attempt, 1);
    assert_int_equal(desk_look(slow, "stone"), GH_TASK_STATE_RUNNING); /* comes back after its lease */
}

TEST_FILE(tasks_queue, cmocka_unit_test(queue_that_is_none_is_refused),
          cmocka_unit_test(config_names_the_field_that_is_wrong), cmocka_unit_test(refusal_is_said_in_words),
          cmocka_unit_test(name_and_client_are_looked_at), cmocka_unit_test(queue_is_a_value),
          cmocka_unit_test(queue_outlives_its_client_as_a_refusal),
          cmocka_unit_test(worker_keeps_the_lease_of_each_queue), cmocka_unit_test(worker_backs_off_as_each_queue_says),
          cmocka_unit_test(worker_keeps_what_is_over_as_each_queue_says),
          cmocka_unit_test(queue_that_fails_holds_up_no_other), cmocka_unit_test(ends_of_one_queue_hold_up_no_other));
