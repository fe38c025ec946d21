/* peer_hiredis.c -- the lock cycle with hiredis' two interfaces, 0.14 and 1.x.

   Both are used as well as they can be: arguments prepared beforehand (redisCommandArgv, not a format string), and an
   event adapter that is nothing but three flags around poll(). */

#include "peer_hiredis.h"

#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdlib.h>

/* --- asynchronous -------------------------------------------------------------------------------------------- */

typedef struct slot
{
    struct bench_hiredis_async* peer;
    bench_lock_request request;
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

struct bench_hiredis_async* bench_hiredis_async_open(bench* self, const bench_lock_scripts* scripts, size_t in_flight)
{
    struct bench_hiredis_async* peer = calloc(1, sizeof *peer);
    slot* slots = calloc(in_flight, sizeof *slots);
    const char* path = bench_server_path(self->server);
    redisAsyncContext* link = path != NULL ? redisAsyncConnectUnix(path)
                                           : redisAsyncConnect(bench_server_host(self->server),
                                                               bench_server_port(self->server));
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
        slots[i].peer = peer;
        bench_lock_request_make(&slots[i].request, scripts, (unsigned)i, 0xa5a5a5a5a5a5a5a5u);
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

/* Both scripts answer an array: the sequence, then a code; 0 is what we want. */
static bool went_well(const redisReply* reply)
{
    return reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements >= 2 &&
           reply->element[1]->type == REDIS_REPLY_INTEGER && reply->element[1]->integer == 0;
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
    redisAsyncCommandArgv(link, released, self, BENCH_RELEASE_ARGUMENTS, self->request.release,
                          self->request.release_size);
}

static void acquire(slot* self)
{
    self->peer->busy++;
    bench_lock_request_next(&self->request, ++self->peer->sequence);
    redisAsyncCommandArgv(self->peer->link, acquired, self, BENCH_ACQUIRE_ARGUMENTS, self->request.acquire,
                          self->request.acquire_size);
}

static void move(struct bench_hiredis_async* peer)
{
    struct pollfd socket = {peer->link->c.fd, 0, 0};
    socket.events = (short)((peer->want_read ? POLLIN : 0) | (peer->want_write ? POLLOUT : 0));
    if (poll(&socket, 1, 1000) <= 0)
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
        fprintf(stderr, "  hiredis, asynchronous: an answer was missing or not what it should be\n");
    }
    sample->cycles = (double)peer->cycles;
    return !peer->failed && peer->link != NULL;
}

/* --- synchronous --------------------------------------------------------------------------------------------- */

struct bench_hiredis_sync
{
    redisContext* link;
    bench_lock_request request;
    uint64_t sequence;
};

struct bench_hiredis_sync* bench_hiredis_sync_open(bench* self, const bench_lock_scripts* scripts)
{
    struct bench_hiredis_sync* peer = calloc(1, sizeof *peer);
    const char* path = bench_server_path(self->server);
    if (peer == NULL)
    {
        return NULL;
    }
    peer->link = path != NULL ? redisConnectUnix(path)
                              : redisConnect(bench_server_host(self->server), bench_server_port(self->server));
    if (peer->link == NULL || peer->link->err != 0)
    {
        fprintf(stderr, "  hiredis cannot connect: %s\n", peer->link == NULL ? "no memory" : peer->link->errstr);
        bench_hiredis_sync_close(peer);
        return NULL;
    }
    bench_lock_request_make(&peer->request, scripts, 1000000, 0x5a5a5a5a5a5a5a5au);
    return peer;
}

void bench_hiredis_sync_close(struct bench_hiredis_sync* peer)
{
    if (peer != NULL)
    {
        if (peer->link != NULL)
        {
            redisFree(peer->link);
        }
        free(peer);
    }
}

static bool ask(redisContext* link, int count, const char** arguments, const size_t* sizes)
{
    redisReply* reply = redisCommandArgv(link, count, arguments, sizes);
    bool done = went_well(reply);
    freeReplyObject(reply);
    return done;
}

bool bench_hiredis_sync_run(void* context, uint64_t duration_us, bench_sample* sample)
{
    struct bench_hiredis_sync* peer = context;
    uint64_t end_us = bench_now_us() + duration_us;
    while (bench_now_us() < end_us)
    {
        bench_lock_request_next(&peer->request, ++peer->sequence);
        if (!ask(peer->link, BENCH_ACQUIRE_ARGUMENTS, peer->request.acquire, peer->request.acquire_size) ||
            !ask(peer->link, BENCH_RELEASE_ARGUMENTS, peer->request.release, peer->request.release_size))
        {
            fprintf(stderr, "  hiredis, synchronous: an answer was missing or not what it should be\n");
            return false;
        }
        sample->cycles += 1.0;
    }
    return true;
}
