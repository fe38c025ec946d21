/* peer_hiredis_sync.c -- the lock cycle with hiredis' synchronous interface, arguments prepared beforehand.
 */

#include "peers/peer_hiredis_sync.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

enum
{
    FIRST_SEQUENCE = 2000000, /* tokens that nobody has used */
    REPLIES = 256,
    TIMES = 200
};

struct bench_hiredis_sync
{
    redisContext* link;
    bench_request acquire;
    bench_request release;
    uint64_t sequence;
};

struct bench_hiredis_sync* bench_hiredis_sync_open(bench* self, const bench_recording* recording)
{
    struct bench_hiredis_sync* peer = calloc(1, sizeof *peer);
    const char* path = bench_server_path(self->server);
    redisContext* link = path != NULL ? redisConnectUnix(path)
                                      : redisConnect(bench_server_host(self->server), bench_server_port(self->server));
    if (peer == NULL || link == NULL || link->err != 0)
    {
        fprintf(stderr, "  hiredis cannot connect: %s\n", link == NULL ? "no memory" : link->errstr);
        if (link != NULL)
        {
            redisFree(link);
        }
        free(peer);
        return NULL;
    }
    peer->link = link;
    peer->sequence = FIRST_SEQUENCE;
    bench_request_copy(&peer->acquire, &recording->acquire, "sync_00000000");
    bench_request_copy(&peer->release, &recording->release, "sync_00000000");
    return peer;
}

void bench_hiredis_sync_close(struct bench_hiredis_sync* peer)
{
    if (peer != NULL)
    {
        redisFree(peer->link);
        free(peer);
    }
}

static bool ask(struct bench_hiredis_sync* peer, bench_request* request)
{
    bench_request_next(request, peer->sequence);
    redisReply* reply = redisCommandArgv(peer->link, request->count, request->arguments, request->sizes);
    bool good = reply != NULL && reply->type != REDIS_REPLY_ERROR && reply->type != REDIS_REPLY_NIL;
    freeReplyObject(reply);
    return good;
}

bool bench_hiredis_sync_run(void* context, uint64_t duration_us, bench_sample* sample)
{
    struct bench_hiredis_sync* peer = context;
    uint64_t end_us = bench_now_us() + duration_us;
    bool good = true;
    while (good && bench_now_us() < end_us)
    {
        peer->sequence++;
        good = ask(peer, &peer->acquire) && ask(peer, &peer->release);
        sample->cycles += good ? 1.0 : 0.0;
    }
    if (!good)
    {
        fprintf(stderr, "  hiredis, synchronous: an answer was missing or an error\n");
    }
    return good;
}

/* --- the reader alone ----------------------------------------------------------------------------------- */

/* hiredis wants something for each part of a reply; the same for all will do. */
static int part;

static void* any_text(const redisReadTask* task, char* text, size_t size)
{
    (void)task;
    (void)text;
    (void)size;
    return &part;
}

#if HIREDIS_MAJOR >= 1
static void* any_array(const redisReadTask* task, size_t count)
#else
static void* any_array(const redisReadTask* task, int count)
#endif
{
    (void)task;
    (void)count;
    return &part;
}

static void* any_number(const redisReadTask* task, long long value)
{
    (void)task;
    (void)value;
    return &part;
}

static void* any_nothing(const redisReadTask* task)
{
    (void)task;
    return &part;
}

static void drop(void* reply)
{
    (void)reply;
}

double bench_hiredis_reader_ns(void)
{
    static const char reply[] = "*5\r\n:1234567\r\n:1\r\n:1700000000000000\r\n:1700000010000000\r\n:0\r\n";
    static char bytes[REPLIES * sizeof reply];
    redisReplyObjectFunctions functions = {0};
    size_t size = 0;
    functions.createString = any_text;
    functions.createArray = any_array;
    functions.createInteger = any_number;
    functions.createNil = any_nothing;
    functions.freeObject = drop;
    redisReader* reader = redisReaderCreateWithFunctions(&functions);
    for (int i = 0; i < REPLIES; i++)
    {
        memcpy(bytes + size, reply, sizeof reply - 1);
        size += sizeof reply - 1;
    }
    uint64_t begun_ns = bench_thread_cpu_ns();
    for (int i = 0; reader != NULL && i < TIMES; i++)
    {
        void* seen = NULL;
        (void)redisReaderFeed(reader, bytes, size);
        while (redisReaderGetReply(reader, &seen) == REDIS_OK && seen != NULL)
        {
            seen = NULL;
        }
    }
    double ns = (double)(bench_thread_cpu_ns() - begun_ns) / (REPLIES * TIMES);
    if (reader != NULL)
    {
        redisReaderFree(reader);
    }
    return ns;
}
