/* tasks.c -- a post office: mail in classes, some for later, is delivered by a worker inside the tick; one house is
   shut for good, and one kind of mail nobody here knows: both end as dead letters.

       tasks unix:/tmp/redis.sock        tasks 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

#define SHOW(str) (int)(str).size, (str).bytes /* for %.*s */

static _Alignas(16) unsigned char memory[256 * 1024];
static gh_task slots[8];
static char mail_memory[8 * 512]; /* where tasks lie while they are worked on */
static char dead_memory[4 * (GH_TASK_BYTES_MAX + GH_TASK_RESULT_SIZE_MAX)];
static gh_client* client;
static gh_queue office;

/* Walks to the house for three ticks, then puts the letter in. */
static gh_task_action deliver(void* context, gh_task* task)
{
    (void)context;
    if (task->status == GH_LOST) return GH_TASK_ACTION_DONE; /* not ours any more: another worker has it */
    if (++task->step < 3) return GH_TASK_ACTION_CONTINUE;    /* call me again in the next tick */
    printf("delivered, class %u: %.*s\n", task->task_class, SHOW(task->payload));
    return GH_TASK_ACTION_DONE;
}

/* Tried again after a while, and in the end a dead letter with its reason. */
static gh_task_action hand_over(void* context, gh_task* task)
{
    (void)context;
    if (task->status == GH_LOST) return GH_TASK_ACTION_DONE;
    printf("nobody opens, attempt %u of %u: %.*s\n", task->attempt, task->attempts_max, SHOW(task->payload));
    gh_task_set_result(task, gh_str_literal("nobody opens"));
    return GH_TASK_ACTION_RETRY;
}

static void frame(void)
{
    const gh_platform* platform = gh_platform_default();
    gh_tick(client, platform->now_us(platform->context), 500);        /* handlers run in here */
    nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
}

/* How an op has ended; a begin that was refused has, too. */
static gh_status end_of(gh_op* op)
{
    while (gh_op_poll(op) == GH_PENDING) frame();
    return gh_op_poll(op);
}

static gh_status push_mail(void)
{
    static gh_task_spec mail[] = {
        {.handler = GH_STR_INIT("letter"), .payload = GH_STR_INIT("we have new shields"), .task_class = 3},
        {.handler = GH_STR_INIT("letter"), .payload = GH_STR_INIT("your sword was sold")}, /* class 0: before others */
        {.handler = GH_STR_INIT("letter"), .payload = GH_STR_INIT("see you"), .delay_us = 1000 * 1000},
        {.handler = GH_STR_INIT("parcel"), .payload = GH_STR_INIT("a shield"), .attempts_max = 2},
        {.handler = GH_STR_INIT("telegram"), .payload = GH_STR_INIT("stop"), .attempts_max = 1}};
    static gh_tasks_push push;
    gh_tasks_push_begin(&push, &office, mail, 5);
    return end_of(&push.op);
}

/* Until all five are done or dead. */
static gh_status work(void)
{
    static gh_task_handler handlers[] = {{.name = GH_STR_INIT("letter"), .function = deliver},
                                         {.name = GH_STR_INIT("parcel"), .function = hand_over}};
    static gh_tasks_worker_queue queues[1];
    static gh_tasks_worker postman;
    gh_tasks_worker_config want = gh_tasks_worker_config_default();
    queues[0].queue = &office;
    want.handlers = handlers, want.handler_count = 2, want.queues = queues, want.queue_count = 1;
    want.slots = slots, want.slot_count = 8, want.memory = mail_memory, want.memory_size = sizeof mail_memory;
    gh_tasks_worker_begin(&postman, client, &want);
    for (int frames = 900; gh_op_poll(&postman.op) == GH_PENDING && frames > 0; frames--) /* your frame loop */
    {
        frame();
        if (postman.done + postman.dead >= 5) gh_tasks_worker_end(&postman);
    }
    if (postman.unknown > 0) printf("no handler of the name %s\n", postman.unknown_handler);
    return gh_op_poll(&postman.op); /* GH_OK: it was told to end */
}

/* What a person would look at: gh_tasks_requeue_begin tries them anew, a cancel throws them away. */
static gh_status throw_dead_letters_away(void)
{
    static gh_tasks_dead dead;
    static gh_tasks_edit edit;
    static gh_dead_task letters[4];
    gh_task_ref refs[4];
    gh_tasks_dead_begin(&dead, &office, 0, letters, 4, dead_memory, sizeof dead_memory);
    gh_status status = end_of(&dead.op);
    for (uint32_t i = 0; i < dead.count; i++)
    {
        printf("dead: %.*s: %.*s\n", SHOW(letters[i].payload), SHOW(letters[i].reason));
        refs[i].id = letters[i].id;
    }
    if (status == GH_OK) status = gh_tasks_cancel_begin(&edit, &office, refs, dead.count);
    return status == GH_OK ? end_of(&edit.op) : status;
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    gh_queue_config wish = gh_queue_config_default();
    wish.backoff_min_us = wish.backoff_max_us = 200 * 1000; /* before the second attempt */
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_status status = gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client);
    if (status == GH_OK) status = gh_queue_init(&office, client, gh_str_literal("post office"), &wish);
    if (status == GH_OK) status = push_mail();
    if (status == GH_OK) status = work();
    if (status == GH_OK) status = throw_dead_letters_away();
    gh_client_shutdown(client);
    if (status != GH_OK) fprintf(stderr, "tasks: %s\n", gh_status_text(status));
    return status == GH_OK ? 0 : 1;
}
