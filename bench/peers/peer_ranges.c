/* peer_ranges.c -- SETRANGE and GETRANGE, or a script of one line and HGET, pipelined: hiredis' synchronous
   interface, so many requests at once. */

#include "peers/peer_ranges.h"

#include <hiredis/hiredis.h>

static const char key[] = "bench:ranges";
static const char script[] = "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) return 1";

static redisContext* connect_to(const struct bench_server* server)
{
    const char* path = bench_server_path(server);
    return path != NULL ? redisConnectUnix(path) : redisConnect(bench_server_host(server), bench_server_port(server));
}

static void ask_by_script(redisContext* link, const bench_ranges* self, size_t chunk, bool write)
{
    size_t at = chunk * self->chunk;
    size_t left = self->size - at;
    size_t size = left < self->chunk ? left : self->chunk;
    if (write)
    {
        redisAppendCommand(link, "EVALSHA %s 1 %s %llu %b", self->digest, key, (unsigned long long)chunk,
                           self->bytes + at, size);
    }
    else
    {
        redisAppendCommand(link, "HGET %s %llu", key, (unsigned long long)chunk);
    }
}

static void ask(redisContext* link, const bench_ranges* self, size_t chunk, bool write)
{
    if (self->by_script)
    {
        ask_by_script(link, self, chunk, write);
        return;
    }
    size_t at = chunk * self->chunk;
    size_t left = self->size - at;
    size_t size = left < self->chunk ? left : self->chunk;
    if (write)
    {
        redisAppendCommand(link, "SETRANGE %s %llu %b", key, (unsigned long long)at, self->bytes + at, size);
    }
    else
    {
        redisAppendCommand(link, "GETRANGE %s %llu %llu", key, (unsigned long long)at,
                           (unsigned long long)(at + size - 1));
    }
}

static bool take(redisContext* link, const bench_ranges* self, size_t chunk, bool write)
{
    redisReply* reply = NULL;
    bool good = redisGetReply(link, (void**)&reply) == REDIS_OK && reply != NULL;
    size_t at = chunk * self->chunk;
    if (good && write)
    {
        good = reply->type == REDIS_REPLY_INTEGER;
    }
    else if (good)
    {
        good = reply->type == REDIS_REPLY_STRING && reply->len > 0 && reply->str[0] == self->bytes[at] &&
               reply->str[reply->len - 1] == self->bytes[at + (size_t)reply->len - 1];
    }
    freeReplyObject(reply);
    return good;
}

/* All chunks one way, with a window of requests. */
static bool pass(redisContext* link, const bench_ranges* self, bool write)
{
    size_t chunks = (self->size + self->chunk - 1) / self->chunk;
    bool good = true;
    for (size_t i = 0; i < chunks + self->in_flight && good; i++)
    {
        if (i < chunks)
        {
            ask(link, self, i, write);
        }
        if (i >= self->in_flight)
        {
            good = take(link, self, i - self->in_flight, write);
        }
    }
    return good;
}

static bool drop(redisContext* link)
{
    redisReply* reply = redisCommand(link, "DEL %s", key);
    bool good = reply != NULL && reply->type == REDIS_REPLY_INTEGER;
    freeReplyObject(reply);
    return good;
}

bool bench_ranges_run(void* ranges, uint64_t duration_us, bench_sample* sample)
{
    bench_ranges* self = ranges;
    redisContext* link = connect_to(self->owner->server);
    bool good = link != NULL && link->err == 0 &&
                (!self->by_script || bench_server_load(self->owner->server, script, self->digest));
    uint64_t end_us = bench_now_us() + duration_us;
    while (good && bench_now_us() < end_us)
    {
        good = pass(link, self, true) && pass(link, self, false) && drop(link);
        sample->cycles += (double)self->size;
    }
    if (!good)
    {
        fprintf(stderr, "  plain ranges: %s\n", link != NULL && link->err != 0 ? link->errstr : "wrong answer");
    }
    if (link != NULL)
    {
        redisFree(link);
    }
    return good;
}
