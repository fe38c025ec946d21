/* tasks.c -- empty tasks pushed, handed out and acknowledged, in batches of 10 and of 50, by one process. */

#include "harness/crew.h"
#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    LANES = 16,
    BATCH_MAX = 50,
    FEW = 10000, /* tasks that wait in the queue all the time */
    MANY = 100000
};

typedef enum phase
{
    PUSHING,
    TAKING,
    FINISHING
} phase;

typedef struct lane
{
    phase phase;
    size_t left; /* of those that it has pushed, to be taken by it */
    gh_tasks_push push;
    gh_tasks_take take;
    gh_tasks_finish finish;
    gh_task_spec specs[BATCH_MAX];
    gh_task tasks[BATCH_MAX];
    char memory[BATCH_MAX * 256 + GH_TASK_BYTES_MAX];
} lane;

typedef struct tasks_side
{
    bench_crew crew;
    size_t batch;
    gh_queue queue;
    lane lanes[LANES];
} tasks_side;

static bool went(const char* what, size_t i, gh_status status)
{
    return status == GH_OK || bench_crew_complain(what, i, status) != BENCH_STEP_FAILED;
}

static bool push(bench_crew* crew, size_t i)
{
    tasks_side* self = crew->context;
    lane* at = &self->lanes[i];
    at->phase = PUSHING;
    at->left = self->batch;
    return went("gh_tasks_push_begin", i, gh_tasks_push_begin(&at->push, &self->queue, at->specs, self->batch));
}

static bool take(bench_crew* crew, size_t i)
{
    tasks_side* self = crew->context;
    lane* at = &self->lanes[i];
    at->phase = TAKING;
    return went("gh_tasks_take_begin", i,
                gh_tasks_take_begin(&at->take, &self->queue, at->tasks, at->left, at->memory, sizeof at->memory));
}

static bool finish(bench_crew* crew, size_t i)
{
    tasks_side* self = crew->context;
    lane* at = &self->lanes[i];
    at->phase = FINISHING;
    for (uint32_t k = 0; k < at->take.count; k++)
    {
        at->tasks[k].action = GH_TASK_ACTION_DONE;
    }
    return went("gh_tasks_finish_begin", i,
                gh_tasks_finish_begin(&at->finish, &self->queue, at->tasks, at->take.count));
}

static gh_status poll_lane(const bench_crew* crew, size_t i)
{
    const tasks_side* self = crew->context;
    const lane* at = &self->lanes[i];
    return at->phase == PUSHING  ? gh_op_poll(&at->push.op)
           : at->phase == TAKING ? gh_op_poll(&at->take.op)
                                 : gh_op_poll(&at->finish.op);
}

static bench_step goes_on(bool begun)
{
    return begun ? BENCH_STEP_GOES_ON : BENCH_STEP_FAILED;
}

static bench_step look(bench_crew* crew, size_t i, gh_status status)
{
    tasks_side* self = crew->context;
    lane* at = &self->lanes[i];
    if (at->phase == TAKING && status == GH_EMPTY)
    {
        return BENCH_STEP_OVER; /* other lanes had them */
    }
    if (status != GH_OK)
    {
        return bench_crew_complain("lane", i, status);
    }
    switch (at->phase)
    {
    case PUSHING: return goes_on(take(crew, i));
    case TAKING: return goes_on(finish(crew, i));
    case FINISHING:
    default:
        crew->done += (double)at->take.count;
        at->left -= at->take.count;
        return at->left == 0 ? BENCH_STEP_OVER : goes_on(take(crew, i));
    }
}

/* Tasks that stay in the queue behind those that come and go: what is pushed is handed out later. */
static bool fill(tasks_side* self, size_t waiting)
{
    gh_status status = GH_OK;
    for (size_t done = 0; done < waiting + LANES * BATCH_MAX && status == GH_OK; done += BATCH_MAX)
    {
        lane* at = &self->lanes[done / BATCH_MAX % LANES];
        status = done < LANES * BATCH_MAX ? GH_OK : bench_await(&self->crew.client, &at->push.op);
        if (status != GH_OK || done >= waiting)
        {
            continue;
        }
        status = gh_tasks_push_begin(&at->push, &self->queue, at->specs, BATCH_MAX);
    }
    return went("fill", waiting, status);
}

static bool open_side(bench* self, tasks_side* side, size_t batch, size_t waiting)
{
    gh_client_config config = bench_client_config(self);
    gh_queue_config want = gh_queue_config_default();
    char name[32];
    memset(side, 0, sizeof *side);
    config.out_bytes = 512 * 1024;
    side->batch = batch;
    snprintf(name, sizeof name, "post_%zu_%zu", batch, waiting);
    want.keep_us = GH_TASKS_KEEP_MIN_US;
    for (size_t i = 0; i < LANES; i++)
    {
        for (size_t k = 0; k < BATCH_MAX; k++)
        {
            side->lanes[i].specs[k].handler = gh_str_literal("work");
        }
    }
    side->crew = (bench_crew){.owner = self, .count = LANES, .weight = 0.0, .context = side};
    side->crew.begin = push;
    side->crew.poll = poll_lane;
    side->crew.look = look;
    return bench_client_open(&side->crew.client, &config, gh_platform_default()) &&
           went("queue", waiting, gh_queue_init(&side->queue, side->crew.client.client, gh_str_of(name), &want)) &&
           fill(side, waiting);
}

enum
{
    TENS,
    FIFTIES,
    FIFTIES_FEW,
    FIFTIES_MANY,
    BULLMQ,
    SIDES
};

static void report(bench* self, bench_side* sides)
{
    bench_report_rate(self,
                      &(bench_rate){"push, hand out, ack; batches of 10", "tasks", &sides[TENS], &sides[BULLMQ], 10.0,
                                    "16 lanes on one link; peer: bulk add of 1,000, "
                                    "then a worker with concurrency 100"});
    bench_report_rate(self,
                      &(bench_rate){"the same, batches of 50", "tasks", &sides[FIFTIES], &sides[BULLMQ], 14.0, ""});
    sides[FIFTIES_FEW].name = "10,000 waiting";
    bench_report_slope(self, "the same, 100,000 waiting", "tasks", &sides[FIFTIES_MANY], &sides[FIFTIES_FEW]);
}

void bench_tasks(bench* self)
{
    static tasks_side all[BULLMQ];
    static const size_t batches[BULLMQ] = {10, 50, 50, 50};
    static const size_t waiting[BULLMQ] = {0, 0, FEW, MANY};
    bench_asked_side bullmq = {self, BENCH_PEER_BULLMQ, "tasks"};
    bool good = true;
    memset(all, 0, sizeof all);
    for (size_t i = 0; i < BULLMQ; i++)
    {
        good = good && open_side(self, &all[i], batches[i], waiting[i]);
    }
    if (good)
    {
        bench_side sides[SIDES] = {
            {.name = "Guildhall, batches of 10", .run = bench_crew_run, .context = &all[TENS].crew},
            {.name = "Guildhall, batches of 50", .run = bench_crew_run, .context = &all[FIFTIES].crew},
            {.name = "Guildhall, 10,000 waiting", .run = bench_crew_run, .context = &all[FIFTIES_FEW].crew},
            {.name = "Guildhall, 100,000 waiting", .run = bench_crew_run, .context = &all[FIFTIES_MANY].crew},
            {.name = "BullMQ", .run = bench_asked_run, .context = &bullmq},
        };
        sides[BULLMQ].missing = bench_peer_missing(self, BENCH_PEER_BULLMQ);
        sides[BULLMQ].lacks = "a push without an id of yours that is done once even if its answer is lost; a budget";
        bench_alternate(self, sides, SIDES);
        report(self, sides);
    }
    else
    {
        bench_report_gap(self, "not measured, see stderr");
    }
    for (size_t i = 0; i < BULLMQ; i++)
    {
        bench_client_close(&all[i].crew.client);
    }
}
