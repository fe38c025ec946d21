/* tasks.c -- a post office: letters are pushed for now and for in a second, and a worker delivers them inside
   the tick.

       tasks unix:/tmp/redis.sock        tasks 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"
#include "platform.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024];
static gh_task slots[8];
static char letters[8 * 512]; /* where tasks lie while they are worked on */

/* Walks to the house for three ticks, then puts the letter in. */
static gh_status deliver(void* context, gh_task* task)
{
    unsigned* delivered = context;
    if (task->status == GH_LOST) return GH_OK; /* not ours any more: another worker has it */
    if (++task->step < 3) return GH_PENDING;   /* call me again in the next tick */
    printf("delivered (attempt %u): %.*s\n", task->attempt, (int)task->payload.size, task->payload.bytes);
    ++*delivered;
    return GH_OK; /* anything else: tried again later, and in the end a dead letter */
}

int main(int argc, char** argv)
{
    const gh_platform* platform = gh_platform_default();
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_client* client = NULL;
    if (gh_client_init(memory, sizeof memory, &config, platform, &client) != GH_OK) return 1;

    unsigned done = 0;
    gh_task_handler handlers[] = {{.name = gh_str_literal("letter"), .function = deliver, .context = &done}};
    gh_tasks_queue queues[] = {{.name = gh_str_literal("post office")}};
    gh_tasks_worker_config want = gh_tasks_worker_config_default();
    want.handlers = handlers, want.handler_count = 1, want.queues = queues, want.queue_count = 1;
    want.slots = slots, want.slot_count = 8, want.memory = letters, want.memory_size = sizeof letters;
    gh_tasks_worker postman = {0};
    gh_tasks_worker_begin(&postman, client, &want);
    gh_task_spec mail[] = {
        {.handler = handlers[0].name, .payload = gh_str_literal("your sword was sold")},
        {.handler = handlers[0].name, .payload = gh_str_literal("your shield was sold")},
        {.handler = handlers[0].name, .payload = gh_str_literal("see you"), .delay_us = 1000 * 1000}};
    gh_tasks_push push = {0};
    gh_tasks_push_begin(&push, client, queues[0].name, mail, 3, NULL);

    for (int i = 0; i < 600 && gh_tasks_worker_poll(&postman) == GH_PENDING; i++) /* your frame loop */
    {
        gh_tick(client, platform->now_us(platform->context), 500);
        if (postman.done >= 3) gh_tasks_worker_stop(&postman);
        nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
    }
    gh_client_shutdown(client);
    return done >= 3 ? 0 : 1;
}
