/* path_tape.c -- a client whose talk with the server is taken down, or played back.

   The file holds what came, each piece with the number of bytes that had been sent by then: played back, it
   comes when as many have been sent. Entropy and time are the same in both. */

#include "paths/path_tape.h"

#include <poll.h>
#include <stdlib.h>

enum
{
    ANSWER_WITHIN_MS = 20,
    REST_US = 1500, /* so that all of an answer has come */
    TICKS_MAX = 100000,
    MEMORY_SIZE = 4 * 1024 * 1024
};

typedef struct piece
{
    uint64_t after; /* bytes sent */
    uint64_t size;
} piece;

struct bench_tape
{
    gh_platform platform;
    const gh_platform* real; /* NULL: played back */
    FILE* file;
    intptr_t stream;
    uint64_t now_us;
    uint64_t sent;
    uint64_t entropy;
    bool differs;

    /* played back */
    char* bytes;
    size_t size;
    size_t at;    /* of the next piece's head */
    size_t taken; /* of the piece          */

    gh_client* client;
    _Alignas(16) char memory[MEMORY_SIZE];
};

static uint64_t tape_now(void* context)
{
    return ((bench_tape*)context)->now_us;
}

static bool tape_entropy(void* context, void* bytes, size_t size)
{
    bench_tape* self = context;
    for (size_t i = 0; i < size; i++)
    {
        self->entropy = self->entropy * 6364136223846793005u + 1442695040888963407u;
        ((unsigned char*)bytes)[i] = (unsigned char)(self->entropy >> 56);
    }
    return true;
}

static gh_status tape_open(void* context, const gh_address* address, intptr_t* stream)
{
    bench_tape* self = context;
    gh_status status = GH_OK;
    *stream = 1;
    if (self->real != NULL)
    {
        status = self->real->open(self->real->context, address, stream);
        self->stream = *stream;
    }
    return status;
}

static gh_status tape_connected(void* context, intptr_t stream)
{
    const bench_tape* self = context;
    return self->real != NULL ? self->real->connected(self->real->context, stream) : GH_OK;
}

static int64_t tape_send(void* context, intptr_t stream, const void* bytes, size_t size)
{
    bench_tape* self = context;
    int64_t sent = (int64_t)size;
    if (self->real != NULL)
    {
        sent = self->real->send(self->real->context, stream, bytes, size);
        self->differs |= sent != (int64_t)size; /* the socket must take all at once, as it will when played */
    }
    self->sent += sent > 0 ? (uint64_t)sent : 0u;
    return sent;
}

static int64_t play(bench_tape* self, void* bytes, size_t size)
{
    piece head;
    if (self->at + sizeof head > self->size)
    {
        return GH_STREAM_WOULD_BLOCK;
    }
    memcpy(&head, self->bytes + self->at, sizeof head);
    if (head.after > self->sent)
    {
        return GH_STREAM_WOULD_BLOCK;
    }
    size_t left = (size_t)head.size - self->taken;
    size_t some = left < size ? left : size;
    memcpy(bytes, self->bytes + self->at + sizeof head + self->taken, some);
    self->taken += some;
    if (self->taken == head.size)
    {
        self->at += sizeof head + (size_t)head.size;
        self->taken = 0;
    }
    return (int64_t)some;
}

static int64_t tape_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    bench_tape* self = context;
    if (self->real == NULL)
    {
        return play(self, bytes, size);
    }
    int64_t got = self->real->receive(self->real->context, stream, bytes, size);
    if (got > 0)
    {
        piece head = {self->sent, (uint64_t)got};
        self->differs |=
            fwrite(&head, sizeof head, 1, self->file) != 1 || fwrite(bytes, (size_t)got, 1, self->file) != 1;
    }
    return got;
}

static void tape_close_stream(void* context, intptr_t stream)
{
    const bench_tape* self = context;
    if (self->real != NULL)
    {
        self->real->close(self->real->context, stream);
    }
}

/* -------------------------------------------------------------------------------------------------------- */

static bool load(bench_tape* self)
{
    if (fseek(self->file, 0, SEEK_END) != 0)
    {
        return false;
    }
    long size = ftell(self->file);
    self->bytes = size > 0 ? malloc((size_t)size) : NULL;
    self->size = size > 0 ? (size_t)size : 0;
    rewind(self->file);
    return self->bytes != NULL && fread(self->bytes, self->size, 1, self->file) == 1;
}

static bool start(bench_tape* self, const char* redis)
{
    gh_client_config config = gh_client_config_default();
    self->platform.context = self;
    self->platform.now_us = tape_now;
    self->platform.entropy = tape_entropy;
    self->platform.open = tape_open;
    self->platform.connected = tape_connected;
    self->platform.send = tape_send;
    self->platform.receive = tape_receive;
    self->platform.close = tape_close_stream;
    config.address = gh_str_of(redis != NULL ? redis : "unix:/tape");
    config.wake = false; /* one stream on the tape */
    config.out_bytes = 256 * 1024;
    config.reply_bytes = 128 * 1024;
    config.reply_nodes = 4096;
    config.ops_capacity = 256;
    gh_status status = gh_client_init(self->memory, sizeof self->memory, &config, &self->platform, &self->client);
    (void)gh_client_fd(self->client, GH_LINK_COMMANDS, NULL); /* it looks at its stream in every tick */
    for (int i = 0; i < TICKS_MAX && status == GH_OK && !gh_client_ready(self->client); i++)
    {
        bench_tape_tick(self);
    }
    return status == GH_OK && gh_client_ready(self->client);
}

bench_tape* bench_tape_open(const char* redis, const char* file)
{
    bench_tape* tape = aligned_alloc(64, (sizeof *tape + 63) / 64 * 64);
    FILE* opened = file != NULL ? fopen(file, redis != NULL ? "wb" : "rb") : NULL;
    if (tape == NULL || opened == NULL)
    {
        fprintf(stderr, "no tape: %s\n", file != NULL ? file : "give --tape FILE");
        free(tape);
        return NULL;
    }
    memset(tape, 0, sizeof *tape);
    tape->file = opened;
    tape->real = redis != NULL ? gh_platform_default() : NULL;
    tape->now_us = 1000000;
    if ((redis != NULL || load(tape)) && start(tape, redis))
    {
        return tape;
    }
    fprintf(stderr, "the client on the tape did not become ready\n");
    fclose(opened);
    free(tape->bytes);
    free(tape);
    return NULL;
}

bool bench_tape_close(bench_tape* tape)
{
    gh_client_shutdown(tape->client);
    bool good = fclose(tape->file) == 0 && !tape->differs;
    free(tape->bytes);
    free(tape);
    return good;
}

gh_client* bench_tape_client(bench_tape* tape)
{
    return tape->client;
}

void bench_tape_tick(bench_tape* tape)
{
    tape->now_us++;
    gh_tick(tape->client, tape->now_us, 0);
    if (tape->real != NULL && tape->stream != 0)
    {
        struct pollfd socket = {(int)tape->stream, POLLIN, 0};
        if (poll(&socket, 1, ANSWER_WITHIN_MS) > 0)
        {
            bench_sleep_us(REST_US);
        }
    }
}

gh_status bench_tape_await(bench_tape* tape, const gh_op* op)
{
    for (int i = 0; i < TICKS_MAX && gh_op_poll(op) == GH_PENDING; i++)
    {
        bench_tape_tick(tape);
    }
    return gh_op_poll(op);
}
