/* waiters.c -- many waiters for one lock. */

#include "harness/waiters.h"

#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    QUEUED_WITHIN_US = 30 * 1000 * 1000,
    PAUSE_US = 100,
    FRONT = 4 /* waiters so far in front ask to notice the dead, not only to say that they live */
};

static void note_touched(void* context, const gh_trace_event* event)
{
    bench_waiters* self = context;
    if (self->ignored || (event->kind != GH_TRACE_REPLY && event->kind != GH_TRACE_END))
    {
        return;
    }
    if (self->touched_count == self->touched_capacity)
    {
        fprintf(stderr, "  more happened in one tick than the bench can take\n");
        self->failed = true;
        return;
    }
    bench_touched* touched = &self->touched[self->touched_count++];
    touched->op = (uint32_t)(((uintptr_t)event->op - (uintptr_t)self->locks) / sizeof(gh_lock));
    touched->position = event->kind == GH_TRACE_REPLY ? self->locks[touched->op].position : 0;
}

static bool open_clients(bench* self, bench_waiters* waiters, size_t client_count)
{
    gh_client_config config = bench_client_config(self);
    config.ops_capacity = (uint32_t)(waiters->count / client_count) + 16;
    config.requests_capacity = 1024;
    config.out_bytes = 512 * 1024;
    config.hooks.context = waiters;
    config.hooks.trace = note_touched;
    for (size_t i = 0; i < client_count; i++)
    {
        if (!bench_client_open(&waiters->clients[i], &config, gh_platform_default()))
        {
            return false;
        }
        waiters->client_count++;
    }
    return true;
}

bool bench_waiters_open(bench* self, bench_waiters* waiters, size_t count, size_t client_count)
{
    static unsigned number; /* of the name: what an earlier crowd left behind must not be in the way */
    memset(waiters, 0, sizeof *waiters);
    snprintf(waiters->name, sizeof waiters->name, "crowd_%u", ++number);
    waiters->count = count;
    waiters->touched_capacity = count * 4 + 4096;
    waiters->locks = calloc(count, sizeof *waiters->locks);
    waiters->touched = calloc(waiters->touched_capacity, sizeof *waiters->touched);
    waiters->config = gh_lock_config_default();
    waiters->config.wait_us = 600u * 1000u * 1000u;
    return waiters->locks != NULL && waiters->touched != NULL && open_clients(self, waiters, client_count);
}

void bench_waiters_close(bench_waiters* waiters)
{
    for (size_t i = 0; i < waiters->client_count; i++)
    {
        waiters->touched_count = 0;
        bench_client_close(&waiters->clients[i]);
    }
    free(waiters->locks);
    free(waiters->touched);
    memset(waiters, 0, sizeof *waiters);
}

void bench_waiters_kill(bench_waiters* waiters, size_t client)
{
    waiters->touched_count = 0;
    bench_client_close(&waiters->clients[client]);
    for (size_t i = client; i < waiters->count; i += waiters->client_count)
    {
        waiters->locks[i].op.user = NULL;
    }
}

void bench_waiters_ignore(bench_waiters* waiters)
{
    waiters->ignored = true;
}

static void begin(bench_waiters* self, size_t i)
{
    gh_client* client = self->clients[i % self->client_count].client;
    gh_status status = gh_lock_begin(&self->locks[i], client, gh_str_of(self->name), &self->config);
    if (status != GH_OK)
    {
        fprintf(stderr, "  gh_lock_begin: %s\n", gh_status_text(status));
        self->failed = true;
        return;
    }
    self->locks[i].op.user = self;
}

static void tick_all(bench_waiters* self)
{
    self->touched_count = 0;
    for (size_t i = 0; i < self->client_count; i++)
    {
        if (self->clients[i].memory != NULL)
        {
            gh_tick(self->clients[i].client, bench_now_us(), 0);
        }
    }
}

static bool answered(const bench_waiters* self, size_t i)
{
    return self->locks[i].position != 0 || gh_op_poll(&self->locks[i].op) != GH_PENDING;
}

static bool wait_for_answer(bench_waiters* self, size_t i, uint64_t give_up_us)
{
    while (!answered(self, i) && !self->failed)
    {
        bench_sleep_us(PAUSE_US);
        tick_all(self);
        if (bench_now_us() > give_up_us)
        {
            fprintf(stderr, "  lock %zu of %zu is not queued: %s\n", i, self->count,
                    gh_status_text(gh_op_poll(&self->locks[i].op)));
            self->failed = true;
        }
    }
    return !self->failed;
}

bool bench_waiters_queue(bench_waiters* waiters)
{
    uint64_t give_up_us = bench_now_us() + QUEUED_WITHIN_US;
    begin(waiters, 0);
    if (!wait_for_answer(waiters, 0, give_up_us) || gh_op_poll(&waiters->locks[0].op) != GH_HELD)
    {
        return false;
    }
    for (size_t i = 1; i < waiters->count; i++)
    {
        begin(waiters, i);
        if (waiters->client_count > 1 && i % waiters->client_count == 0)
        {
            tick_all(waiters); /* so that the clients stand in the queue in turn */
        }
    }
    for (size_t i = 1; i < waiters->count && !waiters->failed; i++)
    {
        (void)wait_for_answer(waiters, i, give_up_us);
    }
    return !waiters->failed;
}

/* True if the lock asks for another tick. */
static bool look_after(bench_waiters* self, size_t i, uint64_t now_us)
{
    gh_lock* lock = &self->locks[i];
    gh_status status = gh_op_poll(&lock->op);
    if (status == GH_PENDING || lock->op.user == NULL)
    {
        return false;
    }
    if (status == GH_HELD)
    {
        uint64_t gap_us = self->released_us == 0 ? 0 : now_us - self->released_us;
        self->worst_gap_us = gap_us > self->worst_gap_us ? gap_us : self->worst_gap_us;
        self->grants++;
        gh_lock_release(lock);
        self->released_us = now_us;
        return true;
    }
    lock->op.user = NULL;
    if (status != GH_OK)
    {
        fprintf(stderr, "  lock %zu ended: %s\n", i, gh_status_text(status));
        self->failed = true;
    }
    else if (self->again)
    {
        begin(self, i);
    }
    return self->again;
}

void bench_waiters_start(bench_waiters* waiters)
{
    (void)look_after(waiters, 0, bench_now_us());
}

void bench_waiters_move(bench_waiters* waiters)
{
    bool again = false;
    tick_all(waiters);
    uint64_t now_us = bench_now_us();
    for (size_t i = 0; i < waiters->touched_count; i++)
    {
        const bench_touched* touched = &waiters->touched[i];
        const gh_lock* lock = &waiters->locks[touched->op];
        bool still_waits = touched->position > 0 && lock->position > FRONT && gh_op_poll(&lock->op) == GH_PENDING;
        waiters->heartbeats += still_waits ? 1u : 0u;
        again |= look_after(waiters, touched->op, now_us);
    }
    if (!again)
    {
        bench_clients_wait(waiters->clients, waiters->client_count, 1000);
    }
}
