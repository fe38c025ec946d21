/* worker.c -- the role worker: carries out what servers have left to do, inside the tick. It may be killed at
   any time: its tasks go to the next worker when their lease is over, and every step may be done again.

       frame_begin
       gh_tick       hands tasks out, each to a desk (desk.h), and takes every desk a step further
       gh_tick       what those have asked goes out
       frame_end     sleeps until the next frame */

#include "member.h"
#include "roles.h"
#include "stop.h"
#include "worker/desk.h"

#include <stdio.h>

#define ENDING_US 10000000u /* for what is under way when we are told to end */
#define DRAIN_US  2000000u

typedef struct worker
{
    member member;
    desks desks;
    gh_tasks_worker tasks;
    gh_task_handler handlers[JOB_KINDS];
    gh_queue queues[2];
    gh_tasks_worker_queue taken[2];
    uint64_t dead; /* before it was begun anew */
    _Alignas(16) char memory[DESKS * DESK_TASK_SIZE];
} worker;

/* What is first in line is asked first: trade before mail, and in trade by the classes of jobs.h. */
static gh_status begin_tasks(worker* w)
{
    static const gh_task_function functions[JOB_KINDS] = {
        [JOB_SOLD] = desk_sold, [JOB_END] = desk_end, [JOB_OPEN] = desk_open, [JOB_GUILD_MAIL] = desk_guild_mail};
    for (job_kind kind = 0; kind < JOB_KINDS; kind++)
    {
        w->handlers[kind] =
            (gh_task_handler){.name = job_name(kind), .function = functions[kind], .context = &w->desks};
    }
    (void)job_queue_init(&w->queues[0], w->member.client, gh_str_literal(JOBS_TRADE));
    (void)job_queue_init(&w->queues[1], w->member.client, gh_str_literal(JOBS_MAIL));
    for (int i = 0; i < 2; i++) w->taken[i] = (gh_tasks_worker_queue){.queue = &w->queues[i]};

    gh_tasks_worker_config config = gh_tasks_worker_config_default();
    config.handlers = w->handlers;
    config.handler_count = JOB_KINDS;
    config.queues = w->taken;
    config.queue_count = 2;
    config.slots = w->desks.slots;
    config.slot_count = DESKS;
    config.memory = w->memory;
    config.memory_size = sizeof w->memory;
    return gh_tasks_worker_begin(&w->tasks, w->member.client, &config);
}

static void show(worker* w)
{
    const gh_tasks_worker* t = &w->tasks;
    const desks* d = &w->desks;
    const struct
    {
        const char* name;
        uint64_t value;
    } counts[] = {{"jobs.sold", d->done[JOB_SOLD]},
                  {"jobs.ended", d->done[JOB_END]},
                  {"jobs.opened", d->done[JOB_OPEN]},
                  {"jobs.guild mail", d->done[JOB_GUILD_MAIL]},
                  {"letters", d->letters},
                  {"letters.refused", d->letters_refused},
                  {"tasks.running", t->running},
                  {"tasks.taken", t->taken},
                  {"tasks.retried", t->retried},
                  {"tasks.lost", t->lost},
                  {"tasks.dead", w->dead + t->dead}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    {
        uint64_t* count = board_count_of(&w->member.row, counts[i].name);
        if (count != NULL) *count = counts[i].value;
    }
}

static void one_frame(worker* w)
{
    frame_begin(&w->member.clock);
    member_tick(&w->member);
    member_tick(&w->member); /* what the handlers have begun in the first goes out */
    show(w);
    member_end_frame(&w->member);
}

/* Who is told to work and does not is begun anew, in each frame if it must be: a fleet without workers looks well, and
   trades come to no end. It ends so if something cancels all that is under way. */
static void keep_working(worker* w)
{
    if (gh_op_is_busy(&w->tasks.op)) return;
    w->dead += w->tasks.dead; /* its counts begin at 0 */
    const char* why = gh_status_text(gh_op_poll(&w->tasks.op));
    fprintf(stderr, "%s: takes no tasks any more (%s), and begins anew\n", w->member.row.name, why);
    (void)begin_tasks(w); /* how that failed is the op's status, and said in the next frame */
}

/* True: nothing was left half done. */
static bool run(worker* w)
{
    member_phase(&w->member, "working");
    while (stop_signals() == 0)
    {
        one_frame(w);
        keep_working(w);
    }

    member_phase(&w->member, "closing");
    gh_tasks_worker_end(&w->tasks);
    uint64_t give_up_us = frame_now_us() + ENDING_US;
    while (gh_op_poll(&w->tasks.op) == GH_PENDING && stop_signals() < 2 && frame_now_us() < give_up_us)
    {
        one_frame(w);
    }
    bool finished = gh_op_poll(&w->tasks.op) == GH_OK;

    member_phase(&w->member, "leaving");
    gh_client_drain(w->member.client, DRAIN_US);
    while (!gh_client_drained(w->member.client)) one_frame(w);
    return finished && w->dead + w->tasks.dead == 0;
}

int worker_main(const options* o)
{
    static _Thread_local worker w; /* too large for a stack */
    gh_client_config capacities = gh_client_config_default();
    capacities.ops_capacity = DESK_OPS;
    capacities.out_bytes = 256 * 1024;
    capacities.reply_bytes = 256 * 1024;
    capacities.reply_nodes = 4096;
    if (!member_open(&w.member, o, "worker", &capacities)) return 1;

    desks_init(&w.desks, w.member.client, o->prefix == NULL ? "gh" : o->prefix);
    gh_status status = begin_tasks(&w);
    bool good = status == GH_OK && run(&w);
    if (status != GH_OK) fprintf(stderr, "worker: %s\n", gh_status_text(status));
    member_close(&w.member, good);
    return good ? 0 : 1;
}
