/* backlog.c -- how much the workers still have to do. */

#include "backlog.h"

#include "worker/jobs.h"

void backlog_ask(backlog* b, gh_client* client)
{
    const gh_str names[BACKLOG_QUEUES] = {gh_str_literal(JOBS_TRADE), gh_str_literal(JOBS_MAIL)};
    *b = (backlog){.known = false};
    for (uint32_t i = 0; i < BACKLOG_QUEUES; i++) (void)job_queue_init(&b->queues[i], client, names[i]);
}

static void add(backlog* b, const gh_tasks_count* count)
{
    b->waiting += count->handed_out + count->expired;
    b->dead += count->dead;
    for (uint32_t i = 0; i < GH_TASKS_CLASSES; i++)
    {
        b->waiting += count->ready[i];
        b->delayed += count->delayed[i];
    }
}

bool backlog_frame(backlog* b)
{
    b->known = true;
    for (uint32_t i = 0; i < BACKLOG_QUEUES; i++)
    {
        if (b->answered[i]) continue;
        gh_status status = gh_op_poll(&b->counts[i].op);
        if (status == GH_OK)
        {
            add(b, &b->counts[i]);
            b->answered[i] = true;
            continue;
        }
        b->known = false;
        if (status != GH_PENDING) gh_tasks_count_begin(&b->counts[i], &b->queues[i]);
    }
    return b->known;
}
