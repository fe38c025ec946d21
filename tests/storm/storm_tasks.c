/* storm_tasks.c -- pushes, takes by hand, workers, cancels, requeues, rules: two queues, and the fate of every task. */

#include "storm/storm_tasks.h"

#include "guildhall/tasks_admin.h"
#include "guildhall/tasks_take.h"
#include "storm/storm_bell.h"
#include "storm/storm.h"

#include <stdio.h>
#include <string.h>

enum
{
    PUSHES = 2,
    HAND = 4,  /* tasks in one take */
    SLOTS = 4, /* of a worker */
    HAND_BYTES = GH_TASK_BYTES_MAX * HAND,
    SLOT_BYTES = 1024 * SLOTS,
    LETTERS = 4, /* dead letters on a page */
    LETTER_BYTES = GH_TASK_BYTES_MAX + GH_TASK_RESULT_SIZE_MAX
};

typedef struct task_push
{
    gh_tasks_push push;
    gh_task_spec specs[TASKS_PUSH_MAX];
    char ids[TASKS_PUSH_MAX][24];
    uint32_t op;
    uint8_t queue;
} task_push;

/* What a worker's slot does: until when the handler goes on, when it was called last, as what it will end. */
typedef struct task_job
{
    uint64_t until_us;
    uint64_t called_us;
    gh_task_action end;
} task_job;

typedef enum hand_state
{
    HAND_IDLE = 0,
    HAND_TAKING,
    HAND_WORKING,
    HAND_EXTENDING,
    HAND_FINISHING
} hand_state;

typedef struct task_actor
{
    storm_client* me;
    random_stream random;
    task_push pushes[PUSHES];

    gh_tasks_take take;
    gh_tasks_finish finish;
    gh_tasks_extend extend;
    gh_task tasks[HAND];
    uint32_t hand_op; /* of the take, extend or finish that goes on */
    hand_state state;
    uint8_t hand_queue;
    uint64_t work_until_us;
    uint64_t lease_us;
    bool extended;

    gh_tasks_worker worker;
    gh_task_handler handler;
    gh_tasks_worker_queue queues[TASKS_QUEUES];
    gh_queue taken[TASKS_QUEUES]; /* by the worker, from each in its own way */
    gh_task slots[SLOTS];
    task_job jobs[SLOTS];
    uint32_t work_op;
    uint64_t work_end_us;
    gh_status trouble[TASKS_QUEUES]; /* the worker's, as it was written down last */

    gh_tasks_edit edit;
    gh_task_ref ref;
    char ref_id[24];
    uint32_t edit_op;
    uint32_t last_push; /* one of ours that may be cancelled */
    gh_tasks_dead dead;
    gh_dead_task letters[LETTERS];
    uint32_t dead_op;
    uint8_t dead_queue;
    gh_tasks_edit rise; /* requeues what was read, or cancels it */
    gh_task_ref rising[LETTERS];
    char rising_ids[LETTERS][24];
    uint32_t rise_ops[LETTERS]; /* one a letter; 0: none goes on */
    gh_tasks_control control;
    uint32_t control_op;
    uint64_t control_at_us;
    bell_actor bell;
    char letter_bytes[LETTER_BYTES];
    _Alignas(16) char hand_bytes[HAND_BYTES];
    _Alignas(16) char slot_bytes[SLOT_BYTES];
} task_actor;

static const char* const whats[] = {"?",       "push",    "take",    "finish",  "extend",     "cancel",     "control",
                                    "worker",  "got",     "kept",    "over",    "ended",      "seen",       "left",
                                    "counted", "trouble", "requeue", "letters", "letter",     "lift",       "mute",
                                    "ring",    "listen",  "heard",   "watch",   "over heard", "heard seen", "unheard"};
const gh_str tasks_queues[TASKS_QUEUES] = {GH_STR_INIT("post"), GH_STR_INIT("smithy")};

/* ---- records --------------------------------------------------------------------------------------------- */

bool tasks_read_id(gh_str id, uint32_t* push, uint32_t* place)
{
    char text[32];
    unsigned op = 0, at = 0;
    (void)snprintf(text, sizeof text, "%.*s", (int)(id.size < 31 ? id.size : 31), id.bytes);
    bool good = sscanf(text, "%u.%u", &op, &at) == 2 && op <= history_count();
    *push = good ? op : 0;
    *place = at;
    return good;
}

static void note_task(storm_client* me, uint8_t what, const gh_task* task, uint64_t b, uint64_t d)
{
    uint32_t push = 0, place = 0;
    if (!tasks_read_id(task->id, &push, &place)) return;
    storm_event event = {.system = STORM_tasks,
                         .what = what,
                         .object = history_at(push)->object,
                         .about = push,
                         .a = task->fence,
                         .b = b,
                         .c = place,
                         .d = d};
    (void)history_event_at(me->who, event, what == TASKS_GOT ? me->now_us : history_now());
}

static uint64_t lease_end(const task_actor* a, const gh_task* task)
{
    return a->me->now_us + gh_task_remaining_us(a->me->client, task);
}

static gh_queue_config configure(random_stream* random)
{
    gh_queue_config config = gh_queue_config_default();
    config.timeout_us = random_between(random, 200000, 4000000);
    config.lease_us = random_between(random, 200000, TASKS_LEASE_MOST_US);
    config.keep_us = 3600000000u;
    if (storm.ancient && random_one_in(random, 2)) config.keep_us = GH_TASKS_KEEP_MIN_US; /* copies find nothing */
    config.backoff_min_us = 1000;
    config.backoff_max_us = 50000;
    return config;
}

static gh_queue queue_with(task_actor* a, uint8_t queue, const gh_queue_config* config)
{
    gh_queue made;
    (void)gh_queue_init(&made, a->me->client, tasks_queues[queue], config); /* a begin on it says what is wrong */
    return made;
}

static gh_queue queue_of(task_actor* a, uint8_t queue)
{
    gh_queue_config config = configure(&a->random);
    return queue_with(a, queue, &config);
}

/* ---- pushes ---------------------------------------------------------------------------------------------- */

static void begin_push(task_actor* a, task_push* p)
{
    static const char* const groups[] = {"", "elves", "dragons"};
    uint32_t count = (uint32_t)random_between(&a->random, 1, TASKS_PUSH_MAX);
    gh_queue_config config = configure(&a->random);
    config.capacity = random_one_in(&a->random, 12) ? 30 : 100000;
    config.attempts_max = (uint32_t)random_between(&a->random, 1, 5);
    p->queue = (uint8_t)random_below(&a->random, TASKS_QUEUES);
    p->op = history_begin(a->me->who, STORM_tasks, TASKS_PUSH, p->queue);
    if (p->op == 0) return;
    history_at(p->op)->a = count;
    history_at(p->op)->c = config.attempts_max;
    for (uint32_t i = 0; i < count; i++)
    {
        int size = snprintf(p->ids[i], sizeof p->ids[i], "%u.%u", p->op, i);
        p->specs[i] = (gh_task_spec){.id = gh_str_make(p->ids[i], (size_t)size), .handler = gh_str_literal("h")};
        p->specs[i].payload = p->specs[i].id;
        p->specs[i].task_class = (uint32_t)random_below(&a->random, 2);
        p->specs[i].group = gh_str_of(groups[p->queue == 0 ? 0 : random_below(&a->random, 3)]);
        /* A late copy that takes what is over for free brings it back: an id is pushed but once. */
        if (random_one_in(&a->random, 2)) p->specs[i].unique = GH_TASK_UNIQUE_WHILE_ACTIVE;
        if (random_one_in(&a->random, 5)) p->specs[i].delay_us = random_below(&a->random, 600000);
    }
    if (random_one_in(&a->random, 400)) p->specs[0].task_class = 77; /* begins INVALID: nothing may come of it */
    gh_queue queue = queue_with(a, p->queue, &config);
    gh_status status = gh_tasks_push_begin(&p->push, &queue, p->specs, count);
    if (status == GH_OK) return;
    history_end(p->op, STORM_NOT_DONE, status);
    p->op = 0;
}

static void turn_push(task_actor* a, task_push* p, bool may_begin)
{
    if (p->op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 70)) begin_push(a, p);
        return;
    }
    gh_status status = gh_op_poll(&p->push.op);
    if (status == GH_PENDING) return;
    storm_record* record = history_at(p->op);
    for (uint32_t i = 0; i < record->a; i++)
    {
        gh_status each = p->specs[i].status;
        if (each == GH_OK || each == GH_EXISTS) record->b |= 1u << i;
    }
    bool answered = status == GH_OK || status == GH_FULL;
    history_end(p->op, answered ? STORM_DONE : storm_outcome_of(status), status);
    a->last_push = p->op;
    p->op = 0;
}

/* ---- by hand --------------------------------------------------------------------------------------------- */

static void begin_take(task_actor* a)
{
    gh_queue_config config = configure(&a->random);
    a->hand_queue = (uint8_t)random_below(&a->random, TASKS_QUEUES);
    a->lease_us = config.lease_us;
    config.wait_us = random_one_in(&a->random, 2) ? 0 : random_below(&a->random, 300000);
    a->hand_op = history_begin(a->me->who, STORM_tasks, TASKS_TAKE, a->hand_queue);
    if (a->hand_op == 0) return;
    history_at(a->hand_op)->a = config.lease_us;
    history_at(a->hand_op)->b = gh_client_id(a->me->client);
    memset(a->tasks, 0, sizeof a->tasks);
    gh_queue queue = queue_with(a, a->hand_queue, &config);
    gh_status status =
        gh_tasks_take_begin(&a->take, &queue, a->tasks, random_between(&a->random, 1, HAND), a->hand_bytes, HAND_BYTES);
    a->state = HAND_TAKING;
    if (status == GH_OK) return;
    history_end(a->hand_op, STORM_NOT_DONE, status);
    a->hand_op = 0;
    a->state = HAND_IDLE;
}

static void end_hand_op(task_actor* a, gh_status status, hand_state next)
{
    history_end(a->hand_op, storm_outcome_of(status), status);
    a->hand_op = 0;
    a->state = next;
}

static void turn_taking(task_actor* a)
{
    gh_status status = gh_op_poll(&a->take.op);
    if (status == GH_PENDING) return;
    if (status != GH_OK)
    {
        end_hand_op(a, status, HAND_IDLE);
        return;
    }
    history_at(a->hand_op)->d = a->take.count;
    for (uint32_t i = 0; i < a->take.count; i++)
        note_task(a->me, TASKS_GOT, &a->tasks[i], a->tasks[i].attempt, lease_end(a, &a->tasks[i]));
    end_hand_op(a, status, HAND_WORKING);
    a->extended = false;
    a->work_until_us = a->me->now_us + random_below(&a->random, 20000);
    if (random_one_in(&a->random, 12)) a->work_until_us += random_below(&a->random, a->lease_us);
}

static void begin_extend(task_actor* a)
{
    a->extended = true;
    a->hand_op = history_begin(a->me->who, STORM_tasks, TASKS_EXTEND, a->hand_queue);
    if (a->hand_op == 0) return;
    gh_queue queue = queue_of(a, a->hand_queue);
    gh_status status = gh_tasks_extend_begin(&a->extend, &queue, a->tasks, a->take.count);
    a->state = HAND_EXTENDING;
    if (status != GH_OK) end_hand_op(a, status, HAND_WORKING);
}

static void turn_extending(task_actor* a)
{
    gh_status status = gh_op_poll(&a->extend.op);
    if (status == GH_PENDING) return;
    for (uint32_t i = 0; i < a->take.count; i++)
    {
        if (gh_task_remaining_us(a->me->client, &a->tasks[i]) != 0)
            note_task(a->me, TASKS_KEPT, &a->tasks[i], a->tasks[i].attempt, lease_end(a, &a->tasks[i]));
    }
    end_hand_op(a, status, HAND_WORKING);
}

static gh_task_action draw_action(random_stream* random)
{
    switch (random_below(random, 12))
    {
    case 0: return GH_TASK_ACTION_FAIL;
    case 1: return GH_TASK_ACTION_GIVE_BACK;
    case 2:
    case 3:
    case 4: return GH_TASK_ACTION_RETRY;
    default: return GH_TASK_ACTION_DONE;
    }
}

static void begin_finish(task_actor* a)
{
    a->hand_op = history_begin(a->me->who, STORM_tasks, TASKS_FINISH, a->hand_queue);
    if (a->hand_op == 0) return;
    history_at(a->hand_op)->a = a->take.count;
    for (uint32_t i = 0; i < a->take.count; i++)
    {
        a->tasks[i].action = draw_action(&a->random);
        note_task(a->me, TASKS_OVER, &a->tasks[i], a->tasks[i].action, 0);
    }
    gh_queue queue = queue_of(a, a->hand_queue);
    gh_status status = gh_tasks_finish_begin(&a->finish, &queue, a->tasks, a->take.count);
    a->state = HAND_FINISHING;
    if (status != GH_OK) end_hand_op(a, status, HAND_IDLE);
}

static void turn_working(task_actor* a, bool may_begin)
{
    if (!may_begin || a->me->now_us >= a->work_until_us)
    {
        a->state = HAND_IDLE;
        if (random_one_in(&a->random, 15)) return; /* forgotten: the leases run out */
        begin_finish(a);
    }
    else if (!a->extended && random_one_in(&a->random, 20)) begin_extend(a);
}

static void turn_finishing(task_actor* a)
{
    gh_status status = gh_op_poll(&a->finish.op);
    if (status == GH_PENDING) return;
    for (uint32_t i = 0; status == GH_OK && i < a->take.count; i++)
        note_task(a->me, TASKS_ENDED, &a->tasks[i], a->tasks[i].action, (uint64_t)(int64_t)a->tasks[i].status);
    end_hand_op(a, status, HAND_IDLE);
}

static void turn_hand(task_actor* a, bool may_begin)
{
    switch (a->state)
    {
    case HAND_IDLE:
        if (may_begin && storm_is_time(&a->random, 15)) begin_take(a);
        break;
    case HAND_TAKING: turn_taking(a); break;
    case HAND_WORKING: turn_working(a, may_begin); break;
    case HAND_EXTENDING: turn_extending(a); break;
    case HAND_FINISHING: turn_finishing(a); break;
    }
}

/* ---- a worker -------------------------------------------------------------------------------------------- */

static gh_task_action draw_end(random_stream* random)
{
    uint64_t x = random_below(random, 12);
    return x == 0  ? GH_TASK_ACTION_FAIL
           : x < 3 ? GH_TASK_ACTION_RETRY
           : x < 4 ? GH_TASK_ACTION_GIVE_BACK
                   : GH_TASK_ACTION_DONE;
}

static gh_task_action work(void* context, gh_task* task)
{
    task_actor* a = context;
    task_job* job = &a->jobs[task - a->slots];
    if (task->status == GH_LOST)
    {
        note_task(a->me, TASKS_OVER, task, GH_TASK_ACTION_CONTINUE, job->called_us);
        return GH_TASK_ACTION_DONE;
    }
    job->called_us = a->me->now_us;
    if (task->step++ == 0)
    {
        note_task(a->me, TASKS_GOT, task, task->attempt, 0);
        job->end = draw_end(&a->random);
        job->until_us = job->called_us + random_below(&a->random, 10000);
        if (random_one_in(&a->random, 20)) job->until_us += random_below(&a->random, 1200000);
    }
    if (job->called_us < job->until_us) return GH_TASK_ACTION_CONTINUE;
    task->delay_us = 1000;
    note_task(a->me, TASKS_OVER, task, (uint64_t)job->end, 0);
    return job->end;
}

static void begin_work(task_actor* a)
{
    gh_tasks_worker_config config = gh_tasks_worker_config_default();
    a->handler = (gh_task_handler){.function = work, .context = a};
    for (uint8_t i = 0; i < TASKS_QUEUES; i++)
    {
        gh_queue_config want = configure(&a->random);
        want.timeout_us = 8000000;
        want.lease_us = random_between(&a->random, 900000, TASKS_LEASE_MOST_US);
        a->taken[i] = queue_with(a, i, &want);
        a->queues[i] = (gh_tasks_worker_queue){.queue = &a->taken[i]};
    }
    config.handlers = &a->handler;
    config.handler_count = 1;
    config.queues = a->queues;
    config.queue_count = TASKS_QUEUES;
    config.slots = a->slots;
    config.slot_count = SLOTS;
    config.memory = a->slot_bytes;
    config.memory_size = SLOT_BYTES;
    memset(a->slots, 0, sizeof a->slots);
    a->work_op = history_begin(a->me->who, STORM_tasks, TASKS_WORK, 0);
    if (a->work_op == 0) return;
    history_at(a->work_op)->b = gh_client_id(a->me->client);
    a->work_end_us = a->me->now_us + random_between(&a->random, 500000, 6000000);
    gh_status status = gh_tasks_worker_begin(&a->worker, a->me->client, &config);
    if (status == GH_OK) return;
    history_end(a->work_op, STORM_NOT_DONE, status);
    a->work_op = 0;
}

static void note_trouble(task_actor* a, uint8_t queue)
{
    gh_status trouble = a->queues[queue].trouble;
    storm_event event = {.system = STORM_tasks,
                         .what = TASKS_TROUBLE,
                         .object = queue,
                         .about = a->work_op,
                         .b = gh_client_id(a->me->client),
                         .d = (uint64_t)(int64_t)trouble};
    if (trouble != a->trouble[queue] && trouble != GH_OK) (void)history_event(a->me->who, event);
    a->trouble[queue] = trouble;
}

static void turn_worker(task_actor* a, bool may_begin)
{
    if (a->me->who.client > 1) return; /* the others take by hand alone */
    if (a->work_op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 50)) begin_work(a);
        return;
    }
    gh_status status = gh_op_poll(&a->worker.op);
    for (uint8_t i = 0; i < TASKS_QUEUES; i++) note_trouble(a, i);
    if (status != GH_PENDING)
    {
        history_end(a->work_op, STORM_DONE, status);
        a->work_op = 0;
    }
    else if (!may_begin || a->me->now_us >= a->work_end_us)
    {
        a->work_end_us = UINT64_MAX;
        if (random_one_in(&a->random, 3)) gh_op_cancel(&a->worker.op);
        else gh_tasks_worker_end(&a->worker);
    }
}

/* ---- looking after the queues ------------------------------------------------------------------------------ */

static void turn_edit(task_actor* a, bool may_begin)
{
    if (a->edit_op == 0)
    {
        if (!may_begin || a->last_push == 0 || !storm_is_time(&a->random, 300)) return;
        const storm_record* push = history_at(a->last_push);
        uint32_t place = (uint32_t)random_below(&a->random, push->a);
        int size = snprintf(a->ref_id, sizeof a->ref_id, "%u.%u", a->last_push, place);
        a->ref = (gh_task_ref){.id = gh_str_make(a->ref_id, (size_t)size)};
        a->edit_op = history_begin(a->me->who, STORM_tasks, TASKS_CANCEL, push->object);
        if (a->edit_op == 0) return;
        history_at(a->edit_op)->about = a->last_push;
        history_at(a->edit_op)->c = place;
        gh_queue queue = queue_of(a, push->object);
        gh_status status = gh_tasks_cancel_begin(&a->edit, &queue, &a->ref, 1);
        if (status == GH_OK) return;
        history_end(a->edit_op, STORM_NOT_DONE, status);
        a->edit_op = 0;
        return;
    }
    gh_status status = gh_op_poll(&a->edit.op);
    if (status == GH_PENDING) return;
    if (status == GH_OK) history_at(a->edit_op)->d = (uint64_t)(int64_t)a->ref.status;
    history_end(a->edit_op, storm_outcome_of(status), status);
    a->edit_op = 0;
}

/* ---- dead letters ------------------------------------------------------------------------------------------ */

static void begin_letters(task_actor* a)
{
    uint64_t offset = random_below(&a->random, a->dead.total + 1); /* of what there was when they were last read */
    a->dead_queue = (uint8_t)random_below(&a->random, TASKS_QUEUES);
    a->dead_op = history_begin(a->me->who, STORM_tasks, TASKS_LETTERS, a->dead_queue);
    if (a->dead_op == 0) return;
    gh_queue queue = queue_of(a, a->dead_queue);
    gh_status status =
        gh_tasks_dead_begin(&a->dead, &queue, offset, a->letters, LETTERS, a->letter_bytes, LETTER_BYTES);
    if (status == GH_OK) return;
    history_end(a->dead_op, STORM_NOT_DONE, status);
    a->dead_op = 0;
}

static void end_rise(task_actor* a, gh_status status)
{
    for (int i = 0; i < LETTERS && a->rise_ops[i] != 0; i++)
    {
        if (status == GH_OK) history_at(a->rise_ops[i])->d = (uint64_t)(int64_t)a->rising[i].status;
        history_end(a->rise_ops[i], storm_outcome_of(status), status);
        a->rise_ops[i] = 0;
    }
}

/* What was read comes to life again, or is cancelled. */
static void begin_rise(task_actor* a)
{
    bool cancels = random_one_in(&a->random, 8);
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->dead.count; i++)
    {
        uint32_t push = 0, place = 0;
        if (!tasks_read_id(a->letters[i].id, &push, &place)) continue;
        uint32_t op = history_begin(a->me->who, STORM_tasks, cancels ? TASKS_CANCEL : TASKS_REQUEUE, a->dead_queue);
        if (op == 0) break;
        history_at(op)->about = push;
        history_at(op)->c = place;
        int size = snprintf(a->rising_ids[count], sizeof a->rising_ids[count], "%u.%u", push, place);
        a->rising[count] = (gh_task_ref){.id = gh_str_make(a->rising_ids[count], (size_t)size)};
        a->rise_ops[count++] = op;
    }
    if (count == 0) return;
    gh_queue queue = queue_of(a, a->dead_queue);
    gh_status status = cancels ? gh_tasks_cancel_begin(&a->rise, &queue, a->rising, count)
                               : gh_tasks_requeue_begin(&a->rise, &queue, a->rising, count);
    if (status != GH_OK) end_rise(a, status);
}

static void turn_letters(task_actor* a, bool may_begin)
{
    if (a->rise_ops[0] != 0)
    {
        gh_status risen = gh_op_poll(&a->rise.op);
        if (risen != GH_PENDING) end_rise(a, risen);
        return;
    }
    if (a->dead_op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 150)) begin_letters(a);
        return;
    }
    gh_status status = gh_op_poll(&a->dead.op);
    if (status == GH_PENDING) return;
    for (uint32_t i = 0; status == GH_OK && i < a->dead.count; i++)
    {
        uint32_t push = 0, place = 0;
        if (a->letters[i].handler.size == 0 || !tasks_read_id(a->letters[i].id, &push, &place)) continue;
        storm_event event = {.system = STORM_tasks,
                             .what = TASKS_LETTER,
                             .object = a->dead_queue,
                             .about = push,
                             .b = a->letters[i].attempts,
                             .c = place,
                             .d = a->dead_op};
        (void)history_event(a->me->who, event);
    }
    history_at(a->dead_op)->d = a->dead.count;
    history_end(a->dead_op, storm_outcome_of(status), status);
    a->dead_op = 0;
    if (status == GH_OK && may_begin && !random_one_in(&a->random, 4)) begin_rise(a);
}

/* ---- rules --------------------------------------------------------------------------------------------------- */

static void turn_control(task_actor* a, bool may_begin)
{
    if (a->control_op == 0)
    {
        if (!may_begin || a->me->now_us < a->control_at_us) return;
        a->control_at_us = a->me->now_us + random_between(&a->random, 100000, 4000000);
        gh_tasks_rules rules = {0};
        uint64_t x = random_below(&a->random, 10);
        rules.paused = x == 0;
        if (x == 1) rules.running_max = 3;
        if (x == 2) rules.rate_count = 200, rules.rate_period_us = 1000000, rules.rate_burst = 10;
        uint8_t queue = (uint8_t)random_below(&a->random, TASKS_QUEUES);
        a->control_op = history_begin(a->me->who, STORM_tasks, TASKS_CONTROL, queue);
        if (a->control_op == 0) return;
        gh_queue made = queue_of(a, queue);
        gh_status status = gh_tasks_control_begin(&a->control, &made, &rules);
        if (status == GH_OK) return;
        history_end(a->control_op, STORM_NOT_DONE, status);
        a->control_op = 0;
        return;
    }
    gh_status status = gh_op_poll(&a->control.op);
    if (status == GH_PENDING) return;
    history_end(a->control_op, storm_outcome_of(status), status);
    a->control_op = 0;
}

/* ---- the actor ------------------------------------------------------------------------------------------- */

static void start(void* actor, storm_client* me, random_stream random)
{
    task_actor* a = actor;
    a->me = me;
    a->random = random;
    a->control_at_us = history_now() + random_below(&a->random, 4000000);
    bell_start(&a->bell, me, &a->random);
}

static void turn(void* actor, bool may_begin)
{
    task_actor* a = actor;
    for (int i = 0; i < PUSHES; i++) turn_push(a, &a->pushes[i], may_begin);
    turn_hand(a, may_begin);
    turn_worker(a, may_begin);
    turn_edit(a, may_begin);
    turn_letters(a, may_begin);
    turn_control(a, may_begin);
    bell_turn(&a->bell, may_begin);
}

static bool idle(const void* actor)
{
    const task_actor* a = actor;
    bool busy = a->state != HAND_IDLE || a->work_op != 0 || a->edit_op != 0 || a->control_op != 0;
    busy = busy || a->dead_op != 0 || a->rise_ops[0] != 0 || !bell_idle(&a->bell);
    for (int i = 0; i < PUSHES; i++) busy = busy || a->pushes[i].op != 0;
    return !busy;
}

const storm_system storm_tasks = {.name = "tasks",
                                  .whats = whats,
                                  .actor_size = sizeof(task_actor),
                                  .start = start,
                                  .turn = turn,
                                  .idle = idle,
                                  .witness = tasks_witness,
                                  .audit = tasks_audit,
                                  .check = check_tasks};
