/* made_nodes.c -- servers that answer in memory, at once: a hand-shake, a map, and +OK to all else. */

#include "harness/made_nodes.h"

#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    NODES_MAX = 1000,
    STREAMS_MAX = NODES_MAX + 8,
    WORDS_MAX = 256,
    REPLY_BYTES = 128 * 1024,
    FIRST_PORT = 7000,
    SLOTS = 16384,
    STEP_US = 1000,
    TICKS_MAX = 20000,
    ASKED = 20 /* of each node, so that none is left out */
};

typedef struct made_stream
{
    bool open;
    char* bytes; /* to be received */
    size_t size;
    size_t taken;
} made_stream;

struct bench_made
{
    gh_platform platform;
    gh_client* client;
    void* memory;
    uint32_t nodes;
    uint64_t now_us;
    uint64_t entropy;
    uint64_t looks;
    size_t map_bytes;
    made_stream streams[STREAMS_MAX];
};

/* --- what is answered ----------------------------------------------------------------------------------- */

static void say(made_stream* to, const char* text)
{
    size_t size = strlen(text);
    if (to->size + size <= REPLY_BYTES)
    {
        memcpy(to->bytes + to->size, text, size);
        to->size += size;
    }
}

static void say_map(bench_made* self, made_stream* to)
{
    char row[160];
    size_t begin = to->size;
    snprintf(row, sizeof row, "*%u\r\n", (unsigned)self->nodes);
    say(to, row);
    for (uint32_t i = 0; i < self->nodes; i++)
    {
        snprintf(row, sizeof row, "*3\r\n:%u\r\n:%u\r\n*4\r\n$9\r\n127.0.0.1\r\n:%u\r\n$40\r\n%040u\r\n*0\r\n",
                 (unsigned)(i * SLOTS / self->nodes), (unsigned)((i + 1) * SLOTS / self->nodes - 1),
                 (unsigned)(FIRST_PORT + i), (unsigned)i);
        say(to, row);
    }
    self->map_bytes = to->size - begin;
}

/* The epoch, whose first argument is a number, or which commands the user may call. */
static void say_of_script(made_stream* to, const gh_str* words, size_t count)
{
    if (words[4].bytes[0] >= '0' && words[4].bytes[0] <= '9')
    {
        say(to, "*3\r\n:7\r\n:1000000000000000\r\n:7\r\n");
        return;
    }
    char head[32];
    snprintf(head, sizeof head, "$%zu\r\n", count - 4);
    say(to, head);
    for (size_t i = 4; i < count; i++)
    {
        say(to, "1");
    }
    say(to, "\r\n");
}

static void say_info(made_stream* to)
{
    static const char info[] = "redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\nrole:master\r\n"
                               "run_id:6b1bf486c81ceb7edf3c093f4c48582e38c0e791\r\n"
                               "master_replid:6b1bf486c81ceb7edf3c093f4c48582e38c0e791\r\n";
    char head[32];
    snprintf(head, sizeof head, "$%zu\r\n", sizeof info - 1);
    say(to, head);
    say(to, info);
    say(to, "\r\n");
}

static bool is(gh_str word, const char* text)
{
    return gh_str_equal(word, gh_str_of(text));
}

static void answer(bench_made* self, made_stream* to, const gh_str* words, size_t count)
{
    if (is(words[0], "CLUSTER"))
    {
        say_map(self, to);
    }
    else if (is(words[0], "INFO"))
    {
        say_info(to);
    }
    else if (is(words[0], "EVALSHA") && count >= 7)
    {
        say_of_script(to, words, count);
    }
    else if (is(words[0], "SCRIPT") && is(words[1], "EXISTS"))
    {
        char head[32];
        snprintf(head, sizeof head, "*%zu\r\n", count - 2);
        say(to, head);
        for (size_t i = 2; i < count; i++)
        {
            say(to, ":1\r\n");
        }
    }
    else if (is(words[0], "SCRIPT"))
    {
        say(to, "$40\r\n6b1bf486c81ceb7edf3c093f4c48582e38c0e791\r\n"); /* any digest: it is not looked at */
    }
    else if (is(words[0], "TIME"))
    {
        say(to, "*2\r\n$10\r\n1000000000\r\n$1\r\n0\r\n"); /* that of the epoch's answer */
    }
    else if (is(words[0], "PUBLISH"))
    {
        say(to, ":0\r\n");
    }
    else
    {
        say(to, "+OK\r\n");
    }
}

/* A number behind its mark, and where the line ends. */
static size_t take_number(const char** at)
{
    char* end;
    size_t number = (size_t)strtoul(*at + 1, &end, 10);
    *at = end + 2;
    return number;
}

/* Requests are sent whole, as all that is sent is taken. */
static void serve(bench_made* self, made_stream* to, const char* at, size_t size)
{
    const char* end = at + size;
    while (at < end)
    {
        gh_str words[WORDS_MAX];
        size_t count = take_number(&at);
        for (size_t i = 0; i < count && i < WORDS_MAX; i++)
        {
            size_t word = take_number(&at);
            words[i] = gh_str_make(at, word);
            at += word + 2;
        }
        answer(self, to, words, count);
    }
}

/* --- the platform --------------------------------------------------------------------------------------- */

static uint64_t made_now(void* context)
{
    return ((bench_made*)context)->now_us;
}

static bool made_entropy(void* context, void* bytes, size_t size)
{
    bench_made* self = context;
    for (size_t i = 0; i < size; i++)
    {
        self->entropy = self->entropy * 6364136223846793005u + 1442695040888963407u;
        ((unsigned char*)bytes)[i] = (unsigned char)(self->entropy >> 56);
    }
    return true;
}

static gh_status made_open(void* context, const gh_address* address, intptr_t* stream)
{
    bench_made* self = context;
    (void)address;
    for (size_t i = 0; i < STREAMS_MAX; i++)
    {
        made_stream* to = &self->streams[i];
        if (!to->open)
        {
            to->bytes = to->bytes != NULL ? to->bytes : malloc(REPLY_BYTES);
            to->open = to->bytes != NULL;
            to->size = to->taken = 0;
            *stream = (intptr_t)i;
            return to->open ? GH_OK : GH_REFUSED;
        }
    }
    return GH_REFUSED;
}

static gh_status made_connected(void* context, intptr_t stream)
{
    (void)context;
    (void)stream;
    return GH_OK;
}

static int64_t made_send(void* context, intptr_t stream, const void* bytes, size_t size)
{
    bench_made* self = context;
    serve(self, &self->streams[stream], bytes, size);
    return (int64_t)size;
}

static int64_t made_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    bench_made* self = context;
    made_stream* from = &self->streams[stream];
    size_t left = from->size - from->taken;
    self->looks++;
    if (left == 0)
    {
        return GH_STREAM_WOULD_BLOCK;
    }
    size = left < size ? left : size;
    memcpy(bytes, from->bytes + from->taken, size);
    from->taken += size;
    if (from->taken == from->size)
    {
        from->size = from->taken = 0;
    }
    return (int64_t)size;
}

static void made_close(void* context, intptr_t stream)
{
    ((bench_made*)context)->streams[stream].open = false;
}

/* --- the client ----------------------------------------------------------------------------------------- */

static void complain(void* context, gh_log_level level, gh_str text)
{
    (void)context;
    if (level <= GH_LOG_WARNING)
    {
        fprintf(stderr, "  guildhall: %.*s\n", (int)text.size, text.bytes);
    }
}

static bool start(bench_made* self)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_literal("127.0.0.1:7000");
    config.wake = false;
    config.hooks.log = complain;
    if (self->nodes > 1)
    {
        config.topology = gh_topology_cluster();
        config.nodes_capacity = self->nodes;
    }
    size_t size = gh_client_memory(&config);
    self->memory = aligned_alloc(64, (size + 63) / 64 * 64);
    gh_status status = self->memory == NULL
                           ? GH_INVALID_MEMORY
                           : gh_client_init(self->memory, size, &config, &self->platform, &self->client);
    for (int i = 0; i < TICKS_MAX && status == GH_OK && !gh_client_ready(self->client); i++)
    {
        gh_tick(self->client, bench_made_later(self, STEP_US), 0);
    }
    return status == GH_OK && gh_client_ready(self->client);
}

bench_made* bench_made_open(uint32_t nodes)
{
    bench_made* self = nodes > NODES_MAX ? NULL : calloc(1, sizeof *self);
    if (self == NULL)
    {
        return NULL;
    }
    self->nodes = nodes;
    self->now_us = 1000000;
    self->platform.context = self;
    self->platform.now_us = made_now;
    self->platform.entropy = made_entropy;
    self->platform.open = made_open;
    self->platform.connected = made_connected;
    self->platform.send = made_send;
    self->platform.receive = made_receive;
    self->platform.close = made_close;
    if (start(self))
    {
        return self;
    }
    fprintf(stderr, "  a client of %u made-up nodes did not become ready\n", (unsigned)nodes);
    bench_made_close(self);
    return NULL;
}

void bench_made_close(bench_made* self)
{
    if (self == NULL)
    {
        return;
    }
    gh_client_shutdown(self->client);
    for (size_t i = 0; i < STREAMS_MAX; i++)
    {
        free(self->streams[i].bytes);
    }
    free(self->memory);
    free(self);
}

bool bench_made_reach(bench_made* self)
{
    gh_client_stats stats;
    for (uint32_t i = 0; i < self->nodes * ASKED; i++)
    {
        char name[24];
        gh_command_line line = {0};
        snprintf(name, sizeof name, "GET value:%u", (unsigned)i);
        bool begun = gh_command_format(&line, self->client, NULL, name) == GH_OK;
        for (int t = 0; t < TICKS_MAX && begun && gh_op_is_busy(&line.op); t++)
        {
            gh_tick(self->client, bench_made_later(self, STEP_US), 0);
        }
    }
    gh_client_get_stats(self->client, &stats);
    if (stats.links_ready >= self->nodes)
    {
        return true;
    }
    fprintf(stderr, "  of %u made-up nodes %llu were reached\n", (unsigned)self->nodes,
            (unsigned long long)stats.links_ready);
    return false;
}

gh_client* bench_made_client(bench_made* self)
{
    return self->client;
}

uint64_t bench_made_later(bench_made* self, uint64_t us)
{
    self->now_us += us;
    return self->now_us;
}

uint64_t bench_made_looks(const bench_made* self)
{
    return self->looks;
}

size_t bench_made_map_bytes(const bench_made* self)
{
    return self->map_bytes;
}
