/* peer_hiredis.c -- the lock cycle with hiredis' asynchronous interface, 0.14 and 1.x, used as well as it can
   be: arguments prepared beforehand (redisAsyncCommandArgv, not a format string), and an event adapter that
   is nothing but two flags around poll(). */

#include "peers/peer_hiredis.h"

#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdlib.h>

enum
{
    FIRST_SEQUENCE = 1000000 /* tokens that the recorded client has not used */
};

typedef struct slot
{
    struct bench_hiredis_async* peer;
    bench_request acquire;
    bench_request release;
} slot;

struct bench_hiredis_async
{
    redisAsyncContext* link;
    slot* slots;
    size_t slot_count;
    size_t busy;
    uint64_t sequence;
    uint64_t cycles;
    bool want_read;
    bool want_write;
    bool stopping;
    bool failed;
};

static void add_read(void* peer)
{
    ((struct bench_hiredis_async*)peer)->want_read = true;
}

static void delete_read(void* peer)
{
    ((struct bench_hiredis_async*)peer)->want_read = false;
}

static void add_write(void* peer)
{
    ((struct bench_hiredis_async*)peer)->want_write = true;
}

static void delete_write(void* peer)
{
    ((struct bench_hiredis_async*)peer)->want_write = false;
}

/* After this hiredis frees its context. */
static void clean_up(void* peer)
{
    ((struct bench_hiredis_async*)peer)->link = NULL;
}

struct bench_hiredis_async* bench_hiredis_async_open(bench* self, const bench_recording* recording, size_t in_flight)
{
    struct bench_hiredis_async* peer = calloc(1, sizeof *peer);
    slot* slots = calloc(in_flight, sizeof *slots);
    const char* path = bench_server_path(self->server);
    redisAsyncContext* link = path != NULL
                                  ? redisAsyncConnectUnix(path)
                                  : redisAsyncConnect(bench_server_host(self->server), bench_server_port(self->server));
    if (peer == NULL || slots == NULL || link == NULL || link->err != 0)
    {
        fprintf(stderr, "  hiredis cannot connect: %s\n", link == NULL ? "no memory" : link->errstr);
        if (link != NULL)
        {
            redisAsyncFree(link);
        }
        free(slots);
        free(peer);
        return NULL;
    }
    peer->link = link;
    peer->slots = slots;
    peer->slot_count = in_flight;
    peer->sequence = FIRST_SEQUENCE;
    link->ev.data = peer;
    link->ev.addRead = add_read;
    link->ev.delRead = delete_read;
    link->ev.addWrite = add_write;
    link->ev.delWrite = delete_write;
    link->ev.cleanup = clean_up;
    peer->want_read = true;
    peer->want_write = true; /* the first one tells hiredis that it is connected */
    for (size_t i = 0; i < in_flight; i++)
    {
        char name[32];
        snprintf(name, sizeof name, "peer_%08zu", i);
        slots[i].peer = peer;
        bench_request_copy(&slots[i].acquire, &recording->acquire, name);
        bench_request_copy(&slots[i].release, &recording->release, name);
    }
    return peer;
}

void bench_hiredis_async_close(struct bench_hiredis_async* peer)
{
    if (peer != NULL)
    {
        if (peer->link != NULL)
        {
            redisAsyncFree(peer->link);
        }
        free(peer->slots);
        free(peer);
    }
}

static bool went_well(const redisReply* reply)
{
    return reply != NULL && reply->type != REDIS_REPLY_ERROR && reply->type != REDIS_REPLY_NIL;
}

static void acquire(slot* self);

static void released(redisAsyncContext* link, void* reply, void* data)
{
    slot* self = data;
    (void)link;
    self->peer->busy--;
    if (!went_well(reply))
    {
        self->peer->failed = true;
        return;
    }
    self->peer->cycles++;
    if (!self->peer->stopping)
    {
        acquire(self);
    }
}

static void acquired(redisAsyncContext* link, void* reply, void* data)
{
    slot* self = data;
    if (!went_well(reply))
    {
        self->peer->failed = true;
        self->peer->busy--;
        return;
    }
    redisAsyncCommandArgv(link, released, self, self->release.count, self->release.arguments, self->release.sizes);
}

static void acquire(slot* self)
{
    self->peer->busy++;
    bench_request_next(&self->acquire, ++self->peer->sequence);
    bench_request_next(&self->release, self->peer->sequence);
    redisAsyncCommandArgv(self->peer->link, acquired, self, self->acquire.count, self->acquire.arguments,
                          self->acquire.sizes);
}

static void move(struct bench_hiredis_async* peer)
{
    struct pollfd socket = {peer->link->c.fd, 0, 0};
    socket.events = (short)((peer->want_read ? POLLIN : 0) | (peer->want_write ? POLLOUT : 0));
    if (bench_poll(&socket, 1, 1000) <= 0)
    {
        peer->failed = true; /* a second without an answer */
        return;
    }
    if ((socket.revents & (POLLIN | POLLHUP | POLLERR)) != 0)
    {
        redisAsyncHandleRead(peer->link);
    }
    if (peer->link != NULL && peer->want_write)
    {
        redisAsyncHandleWrite(peer->link);
    }
}

bool bench_hiredis_async_run(void* context, uint64_t duration_us, bench_sample* sample)
{
    struct bench_hiredis_async* peer = context;
    uint64_t end_us = bench_now_us() + duration_us;
    peer->cycles = 0;
    peer->stopping = false;
    for (size_t i = 0; i < peer->slot_count; i++)
    {
        acquire(&peer->slots[i]);
    }
    while (peer->busy > 0 && peer->link != NULL && !peer->failed)
    {
        move(peer);
        peer->stopping = bench_now_us() >= end_us;
    }
    if (peer->failed)
    {
        fprintf(stderr, "  hiredis, asynchronous: an answer was missing or an error\n");
    }
    sample->cycles = (double)peer->cycles;
    return !peer->failed && peer->link != NULL;
}
