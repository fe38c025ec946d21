/* peer_polling.c -- the listing's lock, many waiters at once.

       TRYING --SETNX said 0--> sleeps 1 ms --> TRYING
          '-----SETNX said 1--> WATCHING --> READING --> ENDING --> TRYING
                                WATCH        GET         MULTI, DEL, EXEC

   In the listing each waiter is a process that blocks in a call of its own. Here all of them are one loop in
   C, which spares them a hundred processes' switches and Python. Each has a connection of its own up to
   1,000; more share them, which again costs less than the listing does. A waiter has one request on the wire
   at a time. */

#include "peers/peer_polling.h"

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdlib.h>

enum
{
    CONNECTIONS_MAX = 1000,
    ACCEPTED_AT_ONCE = 64, /* its backlog may be as short as 128 */
    PAUSE_US = 1000,
    ENDING_REPLIES = 3
};

enum
{
    TRYING,
    WATCHING,
    READING,
    ENDING
};

#define TEXT(text) {text, sizeof(text) - 1}

static const struct
{
    const char* bytes;
    size_t size;
} requests[] = {
    [TRYING] = TEXT("*3\r\n$5\r\nSETNX\r\n$11\r\nlock:market\r\n$36\r\n4c1c6a86-8e0a-4d8c-9a63-5b1f4be2f2f1\r\n"),
    [WATCHING] = TEXT("*2\r\n$5\r\nWATCH\r\n$11\r\nlock:market\r\n"),
    [READING] = TEXT("*2\r\n$3\r\nGET\r\n$11\r\nlock:market\r\n"),
    [ENDING] = TEXT("*1\r\n$5\r\nMULTI\r\n*2\r\n$3\r\nDEL\r\n$11\r\nlock:market\r\n*1\r\n$4\r\nEXEC\r\n"),
};

/* A ring of waiters. */
typedef struct line
{
    uint32_t* waiters;
    size_t capacity;
    size_t first;
    size_t count;
} line;

typedef struct poller
{
    uint64_t due_us; /* asleep until then */
    uint8_t state;
    uint8_t replies; /* of ENDING, so far */
} poller;

typedef struct polling
{
    redisContext** links;
    struct pollfd* sockets;
    line* awaiting; /* of each link: whose reply comes next */
    size_t link_count;
    poller* waiters;
    size_t count;
    line asleep; /* all sleep equally long, so the first is due first */
    uint64_t grants;
    uint64_t released_us;
    uint64_t worst_gap_us;
    bool failed;
} polling;

size_t bench_polling_connections(size_t count)
{
    return count < CONNECTIONS_MAX ? count : CONNECTIONS_MAX;
}

static bool line_open(line* self, size_t capacity)
{
    self->waiters = calloc(capacity, sizeof *self->waiters);
    self->capacity = capacity;
    return self->waiters != NULL;
}

static void line_push(line* self, uint32_t waiter)
{
    self->waiters[(self->first + self->count++) % self->capacity] = waiter;
}

static uint32_t line_pop(line* self)
{
    uint32_t waiter = self->waiters[self->first];
    self->first = (self->first + 1) % self->capacity;
    self->count--;
    return waiter;
}

/* -------------------------------------------------------------------------------------------------------- */

static void send_request(polling* self, uint32_t i, uint8_t state)
{
    size_t link = i % self->link_count;
    size_t replies = state == ENDING ? ENDING_REPLIES : 1;
    int done = 0;
    self->waiters[i].state = state;
    self->waiters[i].replies = 0;
    for (size_t k = 0; k < replies; k++)
    {
        line_push(&self->awaiting[link], i);
    }
    redisAppendFormattedCommand(self->links[link], requests[state].bytes, requests[state].size);
    self->failed |= redisBufferWrite(self->links[link], &done) != REDIS_OK;
    self->sockets[link].events = (short)(done ? POLLIN : POLLIN | POLLOUT);
}

static void note_grant(polling* self, uint64_t now_us)
{
    uint64_t gap_us = self->released_us == 0 ? 0 : now_us - self->released_us;
    self->worst_gap_us = gap_us > self->worst_gap_us ? gap_us : self->worst_gap_us;
    self->grants++;
}

static void take_reply(polling* self, uint32_t i, const redisReply* reply, uint64_t now_us)
{
    poller* waiter = &self->waiters[i];
    self->failed |= reply->type == REDIS_REPLY_ERROR;
    switch (waiter->state)
    {
    case TRYING:
        if (reply->integer == 1)
        {
            note_grant(self, now_us);
            send_request(self, i, WATCHING);
            return;
        }
        waiter->due_us = now_us + PAUSE_US;
        line_push(&self->asleep, i);
        return;
    case WATCHING: send_request(self, i, READING); return;
    case READING:
        self->released_us = now_us;
        send_request(self, i, ENDING);
        return;
    default:
        if (++waiter->replies == ENDING_REPLIES)
        {
            send_request(self, i, TRYING);
        }
        return;
    }
}

static void take_replies(polling* self, size_t link)
{
    void* reply = NULL;
    uint64_t now_us = bench_now_us();
    self->failed |= redisBufferRead(self->links[link]) != REDIS_OK;
    while (!self->failed && redisGetReplyFromReader(self->links[link], &reply) == REDIS_OK && reply != NULL)
    {
        take_reply(self, line_pop(&self->awaiting[link]), reply, now_us);
        freeReplyObject(reply);
    }
}

static void move(polling* self)
{
    uint64_t now_us = bench_now_us();
    while (self->asleep.count > 0 && self->waiters[self->asleep.waiters[self->asleep.first]].due_us <= now_us)
    {
        send_request(self, line_pop(&self->asleep), TRYING);
    }
    (void)bench_poll(self->sockets, self->link_count, self->asleep.count > 0 ? 0 : 1);
    for (size_t i = 0; i < self->link_count && !self->failed; i++)
    {
        if ((self->sockets[i].revents & POLLOUT) != 0)
        {
            int done = 0;
            self->failed |= redisBufferWrite(self->links[i], &done) != REDIS_OK;
            self->sockets[i].events = (short)(done ? POLLIN : POLLIN | POLLOUT);
        }
        if ((self->sockets[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
        {
            take_replies(self, i);
        }
    }
}

/* -------------------------------------------------------------------------------------------------------- */

static bool open_link(polling* self, const struct bench_server* server, size_t i)
{
    const char* path = bench_server_path(server);
    size_t shared_by = self->count / self->link_count + 1;
    self->links[i] =
        path != NULL ? redisConnectUnix(path) : redisConnect(bench_server_host(server), bench_server_port(server));
    if (self->links[i] == NULL || self->links[i]->err != 0)
    {
        fprintf(stderr, "  polling, connection %zu: %s\n", i,
                self->links[i] == NULL ? "no memory" : self->links[i]->errstr);
        return false;
    }
    self->links[i]->flags &= ~REDIS_BLOCK;
    (void)fcntl(self->links[i]->fd, F_SETFL, O_NONBLOCK);
    self->sockets[i].fd = self->links[i]->fd;
    self->sockets[i].events = POLLIN;
    return line_open(&self->awaiting[i], shared_by + ENDING_REPLIES);
}

static bool open_all(polling* self, struct bench_server* server, size_t count)
{
    self->count = count;
    self->link_count = bench_polling_connections(count);
    self->links = calloc(self->link_count, sizeof(redisContext*));
    self->sockets = calloc(self->link_count, sizeof *self->sockets);
    self->awaiting = calloc(self->link_count, sizeof *self->awaiting);
    self->waiters = calloc(count, sizeof *self->waiters);
    if (self->links == NULL || self->sockets == NULL || self->awaiting == NULL || self->waiters == NULL ||
        !line_open(&self->asleep, count))
    {
        return false;
    }
    for (size_t i = 0; i < self->link_count; i++)
    {
        if (!open_link(self, server, i))
        {
            return false;
        }
        if (i % ACCEPTED_AT_ONCE == 0)
        {
            (void)bench_server_key_count(server); /* an answer means that it has come to accept those before */
        }
    }
    return true;
}

static void close_all(polling* self)
{
    for (size_t i = 0; i < self->link_count && self->links != NULL && self->awaiting != NULL; i++)
    {
        if (self->links[i] != NULL)
        {
            redisFree(self->links[i]);
        }
        free(self->awaiting[i].waiters);
    }
    free(self->links);
    free(self->sockets);
    free(self->awaiting);
    free(self->waiters);
    free(self->asleep.waiters);
}

bool bench_polling_run(bench* self, size_t count, uint64_t duration_us, bench_sample* sample)
{
    polling all = {0};
    bool good = bench_server_flush(self->server) && open_all(&all, self->server, count);
    if (good)
    {
        uint64_t begun_us = bench_now_us();
        for (size_t i = 0; i < count && !all.failed; i++) /* spread over a pause, as they would be */
        {
            all.waiters[i].due_us = begun_us + i * PAUSE_US / count;
            line_push(&all.asleep, (uint32_t)i);
        }
        while (!all.failed && bench_now_us() < begun_us + duration_us)
        {
            move(&all);
        }
        sample->wall_us = (double)(bench_now_us() - begun_us);
        sample->cycles = (double)all.grants;
        sample->worst_us = (double)all.worst_gap_us;
        if (all.failed || all.grants == 0)
        {
            fprintf(stderr, "  polling: a connection broke, or nobody got the lock\n");
        }
        good = !all.failed && all.grants > 0;
    }
    close_all(&all);
    return good;
}
