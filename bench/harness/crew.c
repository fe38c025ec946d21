/* crew.c -- keeps many ops of one client going. */

#include "harness/crew.h"

enum
{
    WAIT_US = 1000,
    AWAIT_WITHIN_US = 30 * 1000 * 1000
};

static void set_out(bench_crew* crew, size_t i)
{
    if (!crew->begin(crew, i))
    {
        crew->failed = true;
        return;
    }
    crew->busy[i] = true;
    crew->busy_count++;
}

/* True if somebody asks for another tick at once. */
static bool look_after(bench_crew* crew, size_t i, bool stopping)
{
    gh_status status = crew->busy[i] ? crew->poll(crew, i) : GH_PENDING;
    if (status == GH_PENDING)
    {
        return false;
    }
    switch (crew->look(crew, i, status))
    {
    case BENCH_STEP_GOES_ON: return true;
    case BENCH_STEP_OVER:
        crew->busy[i] = false;
        crew->busy_count--;
        crew->done += crew->weight;
        if (!stopping)
        {
            set_out(crew, i);
        }
        return !stopping;
    case BENCH_STEP_FAILED:
    default: crew->failed = true; return false;
    }
}

static void drive(bench_crew* crew, uint64_t end_us)
{
    bench_client_wake(&crew->client);
    for (size_t i = 0; i < crew->count && !crew->failed; i++)
    {
        set_out(crew, i);
    }
    while (crew->busy_count > 0 && !crew->failed)
    {
        uint64_t now_us = bench_now_us();
        bool again = false;
        gh_tick(crew->client.client, now_us, 0);
        for (size_t i = 0; i < crew->count; i++)
        {
            again |= look_after(crew, i, now_us >= end_us);
        }
        if (!again)
        {
            bench_clients_wait(&crew->client, 1, WAIT_US);
        }
    }
}

bool bench_crew_run(void* crew, uint64_t duration_us, bench_sample* sample)
{
    bench_crew* self = crew;
    self->done = 0.0;
    bench_heap_begin();
    drive(self, bench_now_us() + duration_us);
    int64_t calls = bench_heap_end();
    sample->cycles = self->done;
    sample->heap_calls = (double)calls;
    if (calls >= 0)
    {
        self->owner->heap_calls += (uint64_t)calls;
        self->owner->heap_ops += (uint64_t)self->done;
    }
    return !self->failed;
}

bool bench_crew_once(bench_crew* crew)
{
    crew->done = 0.0;
    drive(crew, 0);
    return !crew->failed;
}

bench_step bench_crew_complain(const char* what, size_t i, gh_status status)
{
    fprintf(stderr, "  %s %zu: %s\n", what, i, gh_status_text(status));
    return BENCH_STEP_FAILED;
}

gh_status bench_await(bench_client* client, const gh_op* op)
{
    uint64_t give_up_us = bench_now_us() + AWAIT_WITHIN_US;
    while (gh_op_poll(op) == GH_PENDING && bench_now_us() < give_up_us)
    {
        gh_tick(client->client, bench_now_us(), 0);
        if (gh_op_poll(op) == GH_PENDING) bench_clients_wait(client, 1, WAIT_US); /* nothing comes after the end */
    }
    return gh_op_poll(op);
}

gh_status bench_await_counters(bench_client* client, const gh_counters* counters)
{
    uint64_t give_up_us = bench_now_us() + AWAIT_WITHIN_US;
    while (gh_counters_poll(counters) == GH_PENDING && bench_now_us() < give_up_us)
    {
        gh_tick(client->client, bench_now_us(), 0);
        if (gh_counters_poll(counters) == GH_PENDING) bench_clients_wait(client, 1, WAIT_US);
    }
    return gh_counters_poll(counters);
}
