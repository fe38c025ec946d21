/* world.c -- a platform in memory, and a server that is good at hand-shakes. */

#include "world.h"

#include "request_check.h"
#include "scripts_known.h"

#include <stdio.h>

#define SERVER_ID "6b1bf486c81ceb7edf3c093f4c48582e38c0e791"

/* ---- the peer ---------------------------------------------------------------------------------------------------- */

uint64_t world_store_us(const world* self)
{
    return WORLD_STORE_US + (self->now_us & (UINT64_MAX >> 16));
}

resp_text world_reply_of(world_stream* stream)
{
    if (stream->out_at > 0)
    {
        memmove(stream->out, stream->out + stream->out_at, stream->out_size - stream->out_at);
        stream->out_size -= stream->out_at;
        stream->out_at = 0;
    }
    const resp_text reply = {stream->out, stream->out_size, WORLD_BYTES, false};
    return reply;
}

/* A peer with more to say than there is room for hangs up. */
void world_said(world_stream* stream, const resp_text* reply)
{
    stream->out_size = reply->size;
    if (reply->over) stream->ended = true;
}

void world_say(world_stream* stream, gh_str bytes)
{
    resp_text reply = world_reply_of(stream);
    resp_put(&reply, bytes.bytes, bytes.size);
    world_said(stream, &reply);
}

#define INFO(clustered)                                                                                                \
    "redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\nrole:master\r\ncluster_"                  \
    "enabled:" clustered "\r\nrun_id:" SERVER_ID "\r\nmaster_replid:" SERVER_ID "\r\n"

static void answer_info(const world* self, resp_text* reply)
{
    resp_bulk(reply, self->clustered ? gh_str_literal(INFO("1")) : gh_str_literal(INFO("0")));
}

/* All slots are of this node. */
static void answer_slots(resp_text* reply)
{
    resp_print(reply, "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$8\r\n10.0.0.1\r\n:6379\r\n$40\r\n" SERVER_ID "\r\n");
}

static void answer_script_command(const world_request* request, resp_text* reply)
{
    char digest[SCRIPTS_DIGEST_SIZE];
    if (request->count == 3 && resp_is(request->words[1], "LOAD"))
    {
        scripts_note(request->words[2], digest);
        resp_bulk(reply, gh_str_make(digest, sizeof(digest)));
        return;
    }
    resp_array(reply, request->count - 2);
    for (size_t i = 2; i < request->count; i++) resp_integer(reply, 1);
}

static void answer_evalsha(world* self, const world_request* request, resp_text* reply)
{
    if (request->script == &gh_epoch_lua)
        resp_print(reply, "*3\r\n:%llu\r\n:%llu\r\n:%llu\r\n", (unsigned long long)self->birth_us,
                   (unsigned long long)world_store_us(self), (unsigned long long)self->generation);
    else if (request->script == &gh_rights_lua)
    {
        const size_t count = request->count - 3 - request->keys;
        resp_print(reply, "$%zu\r\n", count);
        for (size_t i = 0; i < count; i++) resp_put(reply, "1", 1);
        resp_put(reply, "\r\n", 2);
    }
    else resp_print(reply, "+OK\r\n");
}

static void answer_time(const world* self, resp_text* reply)
{
    resp_array(reply, 2);
    resp_print(reply, "$10\r\n%010llu\r\n", (unsigned long long)(world_store_us(self) / 1000000));
    resp_print(reply, "$6\r\n%06llu\r\n", (unsigned long long)(world_store_us(self) % 1000000));
}

static void answer_subscribe(const world_request* request, bool subscribes, resp_text* reply)
{
    for (size_t i = 1; i < request->count; i++)
    {
        resp_array(reply, 3);
        resp_bulk(reply, subscribes ? gh_str_literal("subscribe") : gh_str_literal("unsubscribe"));
        resp_bulk(reply, request->words[i]);
        resp_integer(reply, (int64_t)(subscribes ? i : request->count - 1 - i));
    }
    request->stream->subscribed = subscribes;
}

void world_answer_well(world* self, const world_request* request, resp_text* reply)
{
    const gh_str name = request->words[0];
    if (resp_is(name, "INFO")) answer_info(self, reply);
    else if (resp_is(name, "SCRIPT") && request->count > 2) answer_script_command(request, reply);
    else if (resp_is(name, "EVALSHA")) answer_evalsha(self, request, reply);
    else if (resp_is(name, "SUBSCRIBE")) answer_subscribe(request, true, reply);
    else if (resp_is(name, "UNSUBSCRIBE")) answer_subscribe(request, false, reply);
    else if (resp_is(name, "CLUSTER")) answer_slots(reply);
    else if (resp_is(name, "TIME")) answer_time(self, reply);
    else if (resp_is(name, "SENTINEL")) resp_print(reply, "*2\r\n$8\r\n10.0.0.1\r\n$4\r\n6379\r\n");
    else if (resp_is(name, "PUBLISH") || resp_is(name, "WAIT")) resp_integer(reply, 0);
    else if (resp_is(name, "PING") && request->stream->subscribed) resp_print(reply, "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
    else resp_print(reply, "+OK\r\n");
}

/* What a script takes first is the sequence, or it stands behind a token or a client's id. */
static uint64_t sequence_of(const world_request* request)
{
    uint64_t sequence;
    for (size_t at = 3 + request->keys; at < request->count && at < 5 + request->keys; at++)
        if (request->words[at].size != 16 && resp_is_number(request->words[at], &sequence)) return sequence;
    return 0;
}

static void serve_one(world* self, world_stream* stream, const resp_request* read, gh_str bytes)
{
    world_request request = {.bytes = bytes, .words = read->words, .count = read->count, .stream = stream};
    resp_text reply = world_reply_of(stream);
    self->requests++;
    if (resp_is(request.words[0], "EVALSHA"))
    {
        uint64_t keys;
        FUZZ_MUST(request.count >= 3 && request.words[1].size == SCRIPTS_DIGEST_SIZE);
        FUZZ_MUST(resp_is_number(request.words[2], &keys) && keys <= request.count - 3);
        request.keys = (size_t)keys;
        request.script = scripts_find(request.words[1], &request.once);
        request.sequence = sequence_of(&request);
        self->scripts += request.script != NULL;
    }
    request_check(self, &request);
    if (self->answer == NULL || !self->answer(self, &request, &reply)) world_answer_well(self, &request, &reply);
    world_said(stream, &reply);
}

static void serve(world* self, world_stream* stream)
{
    resp_request request;
    size_t at = 0;
    while (!stream->ended)
    {
        const size_t size = resp_read(stream->in + at, stream->in_size - at, &request);
        if (size == 0) break;
        serve_one(self, stream, &request, gh_str_make(stream->in + at, size));
        at += size;
    }
    memmove(stream->in, stream->in + at, stream->in_size - at);
    stream->in_size -= at;
}

/* ---- the platform ------------------------------------------------------------------------------------------------ */

static uint64_t platform_now(void* context)
{
    world* self = context;
    return self->now_us;
}

static bool platform_entropy(void* context, void* bytes, size_t size)
{
    world* self = context;
    for (size_t i = 0; i < size; i++)
    {
        self->entropy = self->entropy * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        ((unsigned char*)bytes)[i] = (unsigned char)(self->entropy >> 56);
    }
    return true;
}

static world_stream* stream_of(world* self, intptr_t stream)
{
    FUZZ_MUST(stream >= 0 && stream < WORLD_STREAMS && self->streams[stream].open);
    return &self->streams[stream];
}

static gh_status platform_open(void* context, const gh_address* address, intptr_t* stream)
{
    world* self = context;
    const uint8_t how = fuzz_byte(&self->dice);
    if (self->door != NULL && !self->door(self, address)) return GH_REFUSED;
    if (how >= 250) return GH_REFUSED;
    for (int i = 0; i < WORLD_STREAMS; i++)
    {
        world_stream* made = &self->streams[i];
        if (made->open) continue;
        made->open = true;
        made->connecting = how >= 200;
        made->ended = made->subscribed = false;
        made->opened = self->opens++;
        made->in_size = made->out_at = made->out_size = 0;
        snprintf(made->host, sizeof(made->host), "%.*s", GH_STR_ARG(address->host));
        made->port = address->port;
        *stream = i;
        return made->connecting ? GH_PENDING : GH_OK;
    }
    return GH_REFUSED;
}

static gh_status platform_connected(void* context, intptr_t stream)
{
    world* self = context;
    const uint8_t how = fuzz_byte(&self->dice);
    if (how >= 245) return GH_REFUSED;
    if (how >= 200) return GH_PENDING;
    stream_of(self, stream)->connecting = false;
    return GH_OK;
}

/* How many bytes move: all, fewer, none; -1: the stream has ended. */
static int64_t moved(world* self, const world_stream* stream, size_t most)
{
    const uint8_t how = fuzz_byte(&self->dice);
    FUZZ_MUST(!stream->connecting && most > 0);
    if (how >= 250) return GH_STREAM_CLOSED;
    if (how >= 230) return GH_STREAM_WOULD_BLOCK;
    if (how >= 128) return (int64_t)(1 + (how & 31u) % most);
    return (int64_t)most;
}

static int64_t platform_send(void* context, intptr_t stream, const void* bytes, size_t size)
{
    world* self = context;
    world_stream* to = stream_of(self, stream);
    if (to->ended) return GH_STREAM_CLOSED;
    if (size > WORLD_BYTES - to->in_size) size = WORLD_BYTES - to->in_size;
    if (size == 0) return GH_STREAM_WOULD_BLOCK;
    const int64_t taken = moved(self, to, size);
    if (taken > 0) memcpy(to->in + to->in_size, bytes, (size_t)taken);
    if (taken > 0) to->in_size += (size_t)taken;
    return taken;
}

static int64_t platform_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    world* self = context;
    world_stream* from = stream_of(self, stream);
    size_t most = from->out_size - from->out_at;
    if (most == 0) return from->ended ? GH_STREAM_CLOSED : GH_STREAM_WOULD_BLOCK;
    if (most > size) most = size;
    const int64_t given = moved(self, from, most);
    if (given > 0) memcpy(bytes, from->out + from->out_at, (size_t)given);
    if (given > 0) from->out_at += (size_t)given;
    return given;
}

static void platform_close(void* context, intptr_t stream)
{
    stream_of(context, stream)->open = false;
}

static int platform_reason(void* context, const char** text)
{
    (void)context;
    *text = NULL;
    return 104;
}

/* ---- the client -------------------------------------------------------------------------------------------------- */

/* Of a library that is used well, an assertion is always a fault. */
static bool no_assertion(void* context, const char* file, int line, const char* expression)
{
    (void)context;
    fuzz_fail(file, line, "asserted: %s", expression);
}

/* Printable, all of it, whatever the server has said. */
static void look_at_log(void* context, gh_log_level level, gh_str text)
{
    (void)context;
    FUZZ_MUST(level >= GH_LOG_ERROR && level <= GH_LOG_DEBUG);
    for (size_t i = 0; i < text.size; i++) FUZZ_MUST(text.bytes[i] >= ' ' && text.bytes[i] <= '~');
}

gh_client_config world_config(void)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_literal("10.0.0.1:6379");
    config.ops_capacity = 96;
    config.requests_capacity = 32;
    config.detached_capacity = 2;
    config.out_bytes = 16384;
    config.reply_bytes = 16384;
    config.reply_nodes = 128;
    config.wake = false;
    config.hooks.assertion = no_assertion;
    config.hooks.log = look_at_log;
    return config;
}

/* Blocks of the sizes that were asked for, which are used again and again: nobody may touch those that wait. */
#define SPARES_MAX     32u
#define SPARE_SIZE_MAX (1u << 18)

static struct
{
    void* block; /* NULL: it is in use */
    size_t size;
} spares[SPARES_MAX];

static void* borrow(size_t size)
{
    for (size_t i = 0; i < SPARES_MAX; i++)
    {
        void* block = spares[i].block;
        if (block == NULL || spares[i].size != size) continue;
        spares[i].block = NULL;
        fuzz_unpoison(block, size);
        memset(block, 0, size);
        return block;
    }
    return fuzz_block(size);
}

static void give_back(void* block, size_t size)
{
    size_t i = 0;
    while (i < SPARES_MAX && spares[i].block != NULL) i++;
    if (i == SPARES_MAX || size > SPARE_SIZE_MAX)
    {
        fuzz_unpoison(block, size);
        free(block);
        return;
    }
    fuzz_poison(block, size);
    spares[i].block = block;
    spares[i].size = size;
}

bool world_start(world* self, const gh_client_config* config, gh_str dice)
{
    const gh_platform platform = {self,          platform_now,     platform_entropy, platform_open,  platform_connected,
                                  platform_send, platform_receive, platform_close,   platform_reason};
    self->platform = platform;
    self->client = NULL;
    self->now_us = 1000;
    self->entropy = 1;
    self->dice = fuzz_input_of((const uint8_t*)dice.bytes, dice.size);
    self->answer = NULL;
    self->door = NULL;
    self->silent = self->checks_words = self->confuses = false;
    self->clustered = config->topology == gh_topology_cluster();
    self->birth_us = WORLD_STORE_US - 1000 * WORLD_SECOND_US;
    self->generation = self->birth_us;
    self->requests = self->scripts = 0;
    for (int i = 0; i < WORLD_STREAMS; i++) self->streams[i].open = false;
    self->memory_size = gh_client_memory(config);
    self->memory = NULL;
    if (self->memory_size == 0) return false;
    self->memory = borrow(self->memory_size);
    FUZZ_MUST(gh_client_init(self->memory, self->memory_size, config, &self->platform, &self->client) == GH_OK);
    return true;
}

void world_tick(world* self, uint64_t later_us)
{
    self->now_us += later_us;
    for (int i = 0; i < WORLD_STREAMS && !self->silent; i++)
        if (self->streams[i].open) serve(self, &self->streams[i]);
    if (self->client != NULL) FUZZ_MUST(gh_tick(self->client, self->now_us, 0) == GH_OK);
}

bool world_tick_until_ready(world* self)
{
    for (int i = 0; i < 100 && !gh_client_ready(self->client); i++) world_tick(self, 16000);
    return gh_client_ready(self->client);
}

void world_end(world* self)
{
    if (self->client == NULL) return;
    gh_client_shutdown(self->client);
    self->client = NULL;
    for (int i = 0; i < WORLD_STREAMS; i++) FUZZ_MUST(!self->streams[i].open);
    fuzz_poison(self->memory, self->memory_size);
}

void world_forget(world* self)
{
    if (self->memory == NULL) return;
    give_back(self->memory, self->memory_size);
    self->memory = NULL;
}

gh_client_stats world_stats(const world* self)
{
    gh_client_stats stats;
    FUZZ_MUST(gh_client_get_stats(self->client, &stats) == GH_OK);
    return stats;
}
