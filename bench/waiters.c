/* waiters.c -- one process that wants the same lock many times over. */

#include "waiters.h"

#include "platform.h"

#include <stdlib.h>

static void note_touched(void* context, const gh_trace_event* event)
{
    bench_waiters* self = context;
    uintptr_t first = (uintptr_t)self->locks;
    uintptr_t op = (uintptr_t)event->op;
    if ((event->kind == GH_TRACE_REPLY || event->kind == GH_TRACE_END) && op >= first &&
        op < (uintptr_t)(self->locks + self->count) && self->touched_count < self->touched_capacity)
    {
        self->touched[self->touched_count++] = (uint32_t)((op - first) / sizeof(gh_lock));
    }
}

bool bench_waiters_open(bench* self, bench_waiters* waiters, const char* name, size_t count)
{
    memset(waiters, 0, sizeof *waiters);
    waiters->name = name;
    waiters->count = count;
    waiters->touched_capacity = count * 4 + 4096;
    waiters->locks = calloc(count, sizeof *waiters->locks);
    waiters->touched = calloc(waiters->touched_capacity, sizeof *waiters->touched);
    waiters->config = gh_lock_config_default();
    waiters->config.wait_us = 600u * 1000u * 1000u;

    gh_client_config config = bench_client_config(self);
    config.ops_capacity = (uint32_t)count + 16;
    config.requests_capacity = 1024;
    config.out_bytes = 512 * 1024;
    config.hooks.context = waiters;
    config.hooks.trace = note_touched;
    if (waiters->locks == NULL || waiters->touched == NULL ||
        !bench_client_open(&waiters->client, &config, gh_platform_default()))
    {
        bench_waiters_close(waiters);
        return false;
    }
    return true;
}

void bench_waiters_close(bench_waiters* waiters)
{
    bench_client_close(&waiters->client);
    free(waiters->locks);
    free(waiters->touched);
    memset(waiters, 0, sizeof *waiters);
}

static void begin(bench_waiters* self, size_t i)
{
    gh_status status = gh_lock_begin(&self->locks[i], self->client.client, gh_str_of(self->name), &self->config);
    if (status != GH_OK)
    {
        fprintf(stderr, "  gh_lock_begin: %s\n", gh_status_text(status));
        self->failed = true;
        return;
    }
    self->busy++;
}

static bool answered(const bench_waiters* self, size_t i)
{
    return self->locks[i].position != 0 || gh_lock_poll(&self->locks[i]) != GH_PENDING;
}

bool bench_waiters_queue(bench_waiters* waiters, size_t first, size_t last)
{
    uint64_t give_up_us = bench_now_us() + 20u * 1000u * 1000u;
    for (size_t i = first; i < last; i++)
    {
        begin(waiters, i);
    }
    for (size_t i = first; i < last && !waiters->failed; i++)
    {
        while (!answered(waiters, i) && !waiters->failed)
        {
            gh_tick(waiters->client.client, bench_now_us(), 0);
            waiters->touched_count = 0;
            if (!answered(waiters, i))
            {
                bench_client_wait(&waiters->client, 1000);
            }
            waiters->failed |= bench_now_us() > give_up_us;
        }
        if (waiters->failed)
        {
            fprintf(stderr, "  lock %zu of %zu is not queued: %s\n", i, last,
                    gh_status_text(gh_lock_poll(&waiters->locks[i])));
        }
    }
    return !waiters->failed;
}

/* What is to be done for an op that got an answer. True if it asks for another tick. */
static bool look_after(bench_waiters* self, size_t i, uint64_t now_us)
{
    gh_status status = gh_lock_poll(&self->locks[i]);
    if (status == GH_PENDING)
    {
        return false;
    }
    if (status == GH_OK)
    {
        uint64_t gap_us = self->released_us == 0 ? 0 : now_us - self->released_us;
        self->worst_gap_us = gap_us > self->worst_gap_us ? gap_us : self->worst_gap_us;
        self->grants++;
        gh_lock_release(&self->locks[i]);
        self->released_us = now_us;
        return true;
    }
    if (status != GH_IDLE && status != GH_CANCELLED)
    {
        fprintf(stderr, "  lock %zu ended: %s\n", i, gh_status_text(status));
        self->failed = true;
        return false;
    }
    self->busy--;
    if (self->again)
    {
        begin(self, i);
    }
    return self->again;
}

void bench_waiters_move(bench_waiters* waiters)
{
    bool again = false;
    waiters->touched_count = 0;
    gh_tick(waiters->client.client, bench_now_us(), 0);
    uint64_t now_us = bench_now_us();
    size_t count = waiters->touched_count;
    for (size_t i = 0; i < count; i++)
    {
        bool seen = false; /* an op may have had two events in one tick */
        for (size_t k = i + 1; k < count && k < i + 4; k++)
        {
            seen |= waiters->touched[k] == waiters->touched[i];
        }
        again |= !seen && look_after(waiters, waiters->touched[i], now_us);
    }
    if (!again)
    {
        bench_client_wait(&waiters->client, 1000);
    }
}

void bench_waiters_stop(bench_waiters* waiters)
{
    uint64_t give_up_us = bench_now_us() + 20u * 1000u * 1000u;
    waiters->again = false;
    for (size_t i = 0; i < waiters->count; i++)
    {
        gh_lock_cancel(&waiters->locks[i]);
    }
    for (size_t i = 0; i < waiters->count; i++)
    {
        while (gh_lock_poll(&waiters->locks[i]) == GH_PENDING && bench_now_us() < give_up_us)
        {
            gh_tick(waiters->client.client, bench_now_us(), 0);
            waiters->touched_count = 0;
            bench_client_wait(&waiters->client, 1000);
        }
    }
    waiters->busy = 0;
}
