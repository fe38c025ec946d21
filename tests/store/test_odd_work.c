/* Answers to queues, refreshers and commands, of a server that keeps the form of the script and not its sense: each op
   ends as its header says, and what it gives is within what the caller gave it. In a world that is made up. */

#include "support/server/odd.h"

#include "tasks/tasks_place.h"

#include <string.h>

#define NAME gh_str_literal("thing")

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

typedef struct tasks
{
    gh_queue queue;
    gh_tasks_look look;
    gh_tasks_dead dead;
    gh_tasks_edit edit;
    gh_task_ref refs[2];
    gh_dead_task letters[1];
    char memory[GH_TASK_BYTES_MAX + GH_TASK_RESULT_SIZE_MAX];
} tasks;

static tasks* open_queue(odd* self)
{
    tasks* queue = SCRIPTED_NEW(self->world, tasks);
    assert_status(gh_queue_init(&queue->queue, self->world->client, NAME, NULL), GH_OK);
    queue->refs[0].id = gh_str_literal("one");
    queue->refs[1].id = gh_str_literal("two");
    return queue;
}

static gh_op* look_at_task(tasks* queue, size_t memory_size)
{
    assert_status(gh_tasks_look_begin(&queue->look, &queue->queue, gh_str_literal("one"), queue->memory, memory_size),
                  GH_OK);
    return &queue->look.op;
}

static gh_op* look_at_dead(tasks* queue)
{
    assert_status(
        gh_tasks_dead_begin(&queue->dead, &queue->queue, 0, queue->letters, 1, queue->memory, sizeof(queue->memory)),
        GH_OK);
    return &queue->dead.op;
}

static gh_op* cancel_tasks(tasks* queue)
{
    assert_status(gh_tasks_cancel_begin(&queue->edit, &queue->queue, queue->refs, 2), GH_OK);
    return &queue->edit.op;
}

/* now, state, attempt, time, note, group */
static void states_of_tasks_that_are_none(void** state)
{
    (void)state;
    static const char* const broken[] = {"q:5|:99|:1|:1|$|$", "q:5|:1|:65536|:1|$|$"};
    odd* self = odd_start(NULL);
    tasks* queue = open_queue(self);
    ODD_EACH(self, look_at_task(queue, 4), broken, GH_CORRUPT);
    assert_status(odd_told(self, look_at_task(queue, 4), "q:5|:3|:2|:1|$progress|$group"), GH_OK);
    assert_int_equal(queue->look.text.size, 4);
    assert_int_equal(queue->look.group.size, 5);
    assert_status(
        odd_told(self, look_at_task(queue, sizeof(queue->memory)),
                 "q:5|:3|:2|:1|$progress|$a_group_whose_name_has_more_than_64_bytes_in_it_which_no_push_would_take"),
        GH_OK);
    assert_int_equal(queue->look.text.size, 8);
    assert_int_equal(queue->look.group.size, 0);
}

/* now, total, then of each letter its id, when it died, attempts, reason, and the task */
static void dead_letters_that_are_none(void** state)
{
    (void)state;
    static const char* const broken[] = {"q:5|:1|$one",
                                         "q:5|:1|$one|:1",
                                         "q:5|:1|$one|:1|:1",
                                         "q:5|:1|$one|:1|:1|$late",
                                         "q:5|:1|:1|:1|:1|$late|$",
                                         "q:5|:1|$one|$1|:1|$late|$",
                                         "q:5|:1|$one|:-1|:1|$late|$",
                                         "q:5|:1|$one|:1|$1|$late|$",
                                         "q:5|:1|$one|:1|:-1|$late|$",
                                         "q:5|:1|$one|:1|:4294967296|$late|$",
                                         "q:5|:1|$one|:1|:1|:5|$",
                                         "q:5|:1|$one|:1|:1|$late|:5",
                                         "q:5|:2|$one|:1|:1|$late|$|$two|:1|:1|$late|$"};
    static const char* const no_tasks[] = {"q:5|:1|$one|:1|:1|$late|$",
                                           "q:5|:1|$one|:1|:1|$late|$1 2 129:x",
                                           "q:5|:1|$one|:1|:1|$late|$1 2 1 129:x",
                                           "q:5|:1|$one|:1|:1|$late|$1 2 3:ab",
                                           "q:5|:1|$one|:1|:1|$late|$1 2 3",
                                           "q:5|:1|$one|:1|:1|$late|$1234567890 2 3:abc",
                                           "q:5|:1|$one|:1|:1|$late|$1 x 3:abc",
                                           "q:5|:1|$one|:1|:1|$late|$1/2 3:abc"};
    odd* self = odd_start(NULL);
    tasks* queue = open_queue(self);
    ODD_EACH(self, look_at_dead(queue), broken, GH_CORRUPT);
    for (size_t i = 0; i < sizeof(no_tasks) / sizeof(no_tasks[0]); i++)
    {
        assert_status(odd_told(self, look_at_dead(queue), no_tasks[i]), GH_OK);
        assert_int_equal(queue->letters[0].handler.size, 0);
    }
    assert_status(odd_told(self, look_at_dead(queue), "q:5|:1|$one|:1|:1|$late|$1 2 3:abcd"), GH_OK);
    assert_true(gh_str_equal(queue->letters[0].handler, gh_str_literal("abc")));
    assert_true(gh_str_equal(queue->letters[0].payload, gh_str_literal("d")));
}

/* What it says of one of them is not known, so it is not known of the whole. */
static void codes_of_a_cancel_that_are_none(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    tasks* queue = open_queue(self);
    assert_status(odd_told(self, cancel_tasks(queue), "t5 o"), GH_UNKNOWN);
    assert_status(odd_told(self, cancel_tasks(queue), "t5 gz"), GH_UNKNOWN);
    assert_status(queue->refs[0].status, GH_GONE);
    assert_status(queue->refs[1].status, GH_UNKNOWN);
    assert_status(odd_told(self, cancel_tasks(queue), "t5 gr"), GH_OK);
    assert_status(queue->refs[1].status, GH_RUNNING);
}

static void codes_of_an_extend_that_are_none(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    tasks* queue = open_queue(self);
    gh_tasks_extend* op = SCRIPTED_NEW(self->world, gh_tasks_extend);
    gh_task* held = SCRIPTED_NEW(self->world, gh_task);
    static const char* const broken[] = {"t5 z", "t5 oo"};
    held->id = gh_str_literal("one");
    held->state = GH_TASK_PLACE_HELD;
    for (size_t i = 0; i < 2; i++)
    {
        assert_status(gh_tasks_extend_begin(op, &queue->queue, held, 1), GH_OK);
        assert_status(odd_told(self, &op->op, broken[i]), GH_UNKNOWN);
    }
    assert_status(gh_tasks_extend_begin(op, &queue->queue, held, 1), GH_OK);
    assert_status(gh_tasks_extend_begin(SCRIPTED_NEW(self->world, gh_tasks_extend), &queue->queue, held, 1),
                  GH_INVALID_TASKS); /* it is on its way already */
    assert_status(odd_told(self, &op->op, "t5 l"), GH_OK);
    assert_status(held->status, GH_LOST);
}

typedef struct taker
{
    gh_queue queue;
    gh_tasks_take op;
    gh_task got[1];
    char memory[GH_TASK_BYTES_MAX];
} taker;

static gh_op* take_one(odd* self, taker* of)
{
    gh_queue_config config = gh_queue_config_default();
    config.timeout_us = SECOND_US;
    assert_status(gh_queue_init(&of->queue, self->world->client, NAME, &config), GH_OK);
    assert_status(gh_tasks_take_begin(&of->op, &of->queue, of->got, 1, of->memory, sizeof(of->memory)), GH_OK);
    return &of->op.op;
}

/* code, now, fence, what remains of the lease, when the next is due, then of each task its id, attempt, and itself */
#define STALE "q:3|:1000000000000000|:0|:0|:0"
#define LATE  "q:0|:1000000000000000|:7|:0|:0|$one|:1|$1 2 3:abc"

/* A store whose time cannot be met hands nothing out; and a hand-out that is over when it comes is none: it may have
   been ours. */
static void takes_that_come_too_late_each_time(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    taker* of = SCRIPTED_NEW(self->world, taker);
    assert_status(odd_told(self, take_one(self, of), STALE), GH_TIMEOUT);
    assert_status(odd_told(self, take_one(self, of), LATE), GH_UNKNOWN);
    odd_say(self, take_one(self, of), STALE, NULL, NULL);
    odd_wait(self, 100);
    gh_op_cancel(&of->op.op);
    odd_wait(self, 100);
    assert_status(gh_op_poll(&of->op.op), GH_CANCELLED);
    assert_status(
        odd_told_many(self, take_one(self, of), STALE, "q:0|:1000000000000000|:7|:1000000|:0|$one|:1|$1 2 3:abc", NULL),
        GH_OK);
    assert_int_equal(of->op.count, 1);
    assert_true(gh_str_equal(of->got[0].handler, gh_str_literal("abc")));
}

#define GIVEN "q:0|:1000000000000000|:7|:1000000|:0|"

/* None of it is taken, and whether something was handed out nobody knows. */
static void tasks_of_a_take_that_are_none(void** state)
{
    (void)state;
    static const char* const broken[] = {
        GIVEN "$one",
        GIVEN "$one|:1",
        GIVEN ":1|:1|$x",
        GIVEN "$one|$1|$x",
        GIVEN "$one|:65536|$x",
        GIVEN "$one|:-65536|$x",
        GIVEN "$one|:1|:5",
        GIVEN "$one|:1|$x|$two|:1|$x",
        GIVEN "$an_id_that_has_more_than_64_bytes_in_it_which_no_push_would_ever_have_taken|:1|$x",
        "q:0|:1000000000000000|:7|:9000000000|:0|$one|:1|$x",
        "q:99|:1000000000000000|:7|:0|:0"};
    odd* self = odd_start(NULL);
    taker* of = SCRIPTED_NEW(self->world, taker);
    ODD_EACH(self, take_one(self, of), broken, GH_UNKNOWN);
    assert_status(odd_told(self, take_one(self, of), GIVEN "$one|:-3|$planted by hand"), GH_OK);
    assert_status(of->got[0].status, GH_TOO_SMALL);
    assert_int_equal(of->got[0].attempt, 3);
    assert_true(gh_str_equal(of->got[0].payload, gh_str_literal("planted by hand")));
}

/* The queue's name takes as much of a request as any can, of a buffer that is as small as any can be. */
typedef struct narrow
{
    gh_queue queue;
    gh_tasks_edit edit;
    gh_tasks_finish finish;
    gh_tasks_extend extend;
    gh_task_ref refs[GH_TASKS_BATCH_MAX];
    gh_task held[GH_TASKS_BATCH_MAX + 1];
    char ids[GH_TASKS_BATCH_MAX + 1][GH_TASK_ID_SIZE_MAX];
    char result[GH_TASK_RESULT_SIZE_MAX];
} narrow;

static narrow* open_narrow(odd** self)
{
    static const char name[GH_NAME_SIZE_MAX] = {0};
    gh_client_config config = scripted_config();
    config.out_bytes = 16 * 1024;
    config.prefix = gh_str_literal("12345678901234567890123456789012");
    *self = odd_start(&config);
    narrow* of = SCRIPTED_NEW((*self)->world, narrow);
    assert_status(gh_queue_init(&of->queue, (*self)->world->client, gh_str_make(name, sizeof(name)), NULL), GH_OK);
    memset(of->ids, 'i', sizeof(of->ids));
    for (size_t i = 0; i <= GH_TASKS_BATCH_MAX; i++)
    {
        of->held[i].id = gh_str_make(of->ids[i], sizeof(of->ids[i]));
        of->held[i].state = GH_TASK_PLACE_HELD;
        of->held[i].action = GH_TASK_ACTION_FAIL;
        of->held[i].result = gh_str_make(of->result, sizeof(of->result));
        if (i < GH_TASKS_BATCH_MAX) of->refs[i].id = of->held[i].id;
    }
    return of;
}

static void most_tasks_in_the_smallest_buffer(void** state)
{
    (void)state;
    odd* self = NULL;
    narrow* of = open_narrow(&self);
    char codes[GH_TASKS_BATCH_MAX + 8] = "t5 ";
    memset(codes + 3, 'g', GH_TASKS_BATCH_MAX);
    assert_status(gh_tasks_cancel_begin(&of->edit, &of->queue, of->refs, GH_TASKS_BATCH_MAX), GH_OK);
    assert_status(odd_told(self, &of->edit.op, codes), GH_OK);
    assert_status(of->refs[GH_TASKS_BATCH_MAX - 1].status, GH_GONE);
    assert_status(gh_tasks_finish_begin(&of->finish, &of->queue, of->held, GH_TASKS_BATCH_MAX), GH_TOO_LARGE);
    for (size_t i = 0; i < GH_TASKS_BATCH_MAX; i++) assert_int_equal(of->held[i].sending, 0);
    assert_status(gh_tasks_finish_begin(&of->finish, &of->queue, of->held, 1), GH_OK);
    assert_status(odd_told(self, &of->finish.op, "t5 d"), GH_OK);
    assert_status(of->held[0].status, GH_DEAD);
}

static void numbers_of_tasks_that_are_none(void** state)
{
    (void)state;
    odd* self = NULL;
    narrow* of = open_narrow(&self);
    static const size_t counts[] = {0, GH_TASKS_BATCH_MAX + 1};
    assert_status(gh_tasks_finish_begin(&of->finish, &of->queue, NULL, 1), GH_INVALID_TASKS);
    assert_status(gh_tasks_extend_begin(&of->extend, &of->queue, NULL, 1), GH_INVALID_TASKS);
    for (size_t i = 0; i < 2; i++)
    {
        assert_status(gh_tasks_finish_begin(&of->finish, &of->queue, of->held, counts[i]), GH_INVALID_TASKS);
        assert_status(gh_tasks_extend_begin(&of->extend, &of->queue, of->held, counts[i]), GH_INVALID_TASKS);
    }
    assert_int_equal(scripted_stats(self->world).ops_busy, 0);
}

/* ---- commands, and claims of rows -------------------------------------------------------------------------------- */

/* No replica can have what nobody knows to be done. */
static void command_of_a_code_that_is_none(void** state)
{
    (void)state;
    static const gh_str words[] = {GH_STR_INIT("INCR"), GH_STR_INIT("gold")};
    gh_client_config wanted = scripted_config();
    wanted.replicas = gh_replicas_wait();
    wanted.wait_replicas = 1;
    odd* self = odd_start(&wanted);
    gh_command* op = SCRIPTED_NEW(self->world, gh_command);
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_ONCE;
    assert_status(gh_command_begin(op, self->world->client, words, 2, &config), GH_OK);
    assert_status(odd_told(self, &op->op, "q:99|:5"), GH_UNKNOWN);
    assert_int_equal(scripted_stats(self->world).unreplicated, 0);
}

typedef struct refresh
{
    gh_rows rows;
    gh_rows_slot slots[2];
    unsigned loads;
    char memory[2 * GH_ROW_SIZE_MAX];
} refresh;

static void load_for_ever(void* context, gh_row_load load, gh_str row)
{
    refresh* self = context;
    (void)load;
    assert_in_range(row.size, 1, GH_NAME_SIZE_MAX);
    self->loads++;
}

/* code, now, due, late, what remains of the lease, then rows and how often each has failed. What is none is passed
   over, and what has no slot is due again behind its lease. */
static void rows_that_are_none_and_more_than_there_are_slots(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    refresh* of = SCRIPTED_NEW(self->world, refresh);
    gh_rows_config config = gh_rows_config_default();
    config.loader = load_for_ever;
    config.context = of;
    config.slots = of->slots;
    config.slot_count = 2;
    config.memory = of->memory;
    config.memory_size = sizeof(of->memory);
    assert_status(gh_rows_begin(&of->rows, self->world->client, &config), GH_OK);
    odd_say(self, &of->rows.op,
            "q:0|:1000|:900000000|:0|:9000000|:7|:0|$odd|$0|$|:0"
            "|$a_name_that_has_more_than_64_bytes_in_it_which_no_schedule_would_ever_take|:0"
            "|$one|:0|$two|:4294967296|$three|:-1|$alone",
            "q:0|:1000|:900000000|:0|:9000000", NULL);
    odd_wait(self, 50);
    assert_int_equal(of->loads, 2);
    assert_int_equal(of->slots[0].failures, 0);
    assert_int_equal(of->slots[1].failures, UINT32_MAX);
    assert_int_equal(scripted_stats(self->world).links_lost, 0);
    gh_client_shutdown(self->world->client);
    assert_false(gh_op_is_busy(&of->rows.op));
}

TEST_FILE(odd_work, cmocka_unit_test(takes_that_come_too_late_each_time),
          cmocka_unit_test(tasks_of_a_take_that_are_none), cmocka_unit_test(most_tasks_in_the_smallest_buffer),
          cmocka_unit_test(numbers_of_tasks_that_are_none), cmocka_unit_test(command_of_a_code_that_is_none),
          cmocka_unit_test(rows_that_are_none_and_more_than_there_are_slots),
          cmocka_unit_test(states_of_tasks_that_are_none), cmocka_unit_test(dead_letters_that_are_none),
          cmocka_unit_test(codes_of_a_cancel_that_are_none), cmocka_unit_test(codes_of_an_extend_that_are_none));
