/* scripted.c -- the made-up operating system: a clock that is a number, and streams in memory. */

#include "support/server/scripted.h"

#include "support/cleanup.h"
#include "support/server/resp.h"
#include "support/sha1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_ALIGNMENT 16

struct scripted_object
{
    struct scripted_object* next;
    max_align_t bytes[];
};

/* ---- the peer ------------------------------------------------------------------------------------------ */

static void say(byte_buffer* reply, const char* text)
{
    buffer_add(reply, text, strlen(text));
}

static void say_bulk(byte_buffer* reply, const char* bytes, size_t size)
{
    char header[32];
    snprintf(header, sizeof(header), "$%zu\r\n", size);
    say(reply, header);
    buffer_add(reply, bytes, size);
    say(reply, "\r\n");
}

static bool is(gh_str word, const char* text)
{
    return gh_str_equal(word, gh_str_of(text));
}

static bool ends_with(gh_str word, const char* end)
{
    size_t size = strlen(end);
    return word.size >= size && memcmp(word.bytes + word.size - size, end, size) == 0;
}

#define SERVER_ID  "6b1bf486c81ceb7edf3c093f4c48582e38c0e791"
#define ALL_RIGHTS "1111111111111111111111111111111111111111111111111111111111111111"

/* The words of a script without the key that stands behind its own on a Cluster; returns how many are left. */
static size_t drop_phantom(const gh_str* words, size_t count, gh_str* left)
{
    size_t behind = 3 + (size_t)words[2].bytes[0] - '0'; /* the keys: a lock has nine at most */
    bool has_one = words[2].size == 1 && behind > 3 && behind <= count &&
                   (ends_with(words[behind - 1], "}:-") || ends_with(words[behind - 1], "}:="));
    if (!has_one) behind = count;
    memcpy(left, words, behind * sizeof(words[0]));
    if (!has_one) return count;
    memcpy(left + behind - 1, words + behind, (count - behind) * sizeof(words[0]));
    return count - 1;
}

/* A lock's script, told by how many words it has; every lock is free. The fence is the op's sequence, so that a renewal
   is of the same grant. */
static bool answer_lock(unsigned long long now_us, const gh_str* all, size_t all_count, byte_buffer* reply)
{
    gh_str words[SCRIPTED_WORDS_MAX];
    const size_t count = all_count < 7 ? all_count : drop_phantom(all, all_count, words);
    const gh_str* sequence = &words[count == 7 ? 5 : count == 15 ? 8 : 7];
    if (count < 7 || ends_with(words[3], ":epoch")) return false;
    if (count == 13 || count == 15) /* with the epoch's key and birth, or without them */
        buffer_add_bulk(reply, "%.*s 0 %.*s %.*s 0 %llu", (int)sequence->size, sequence->bytes, (int)sequence->size,
                        sequence->bytes, (int)sequence[1].size, sequence[1].bytes, now_us);
    else if (count == 9 || count == 10) /* with a tombstone for late copies, or without */
        buffer_add_bulk(reply, "%.*s 0", (int)sequence->size, sequence->bytes);
    else if (count == 7)
        buffer_add_bulk(reply, "%.*s 0 %.*s %.*s %llu", (int)sequence->size, sequence->bytes, (int)sequence->size,
                        sequence->bytes, (int)sequence[1].size, sequence[1].bytes, now_us);
    else return false;
    return true;
}

static unsigned long long store_now_us(const scripted* world)
{
    return 1000000000000000u + ((world->now_us - world->start_us) & (UINT64_MAX >> 2));
}

static void answer_time(const scripted* world, byte_buffer* reply)
{
    say(reply, "*2\r\n");
    buffer_add_bulk(reply, "%llu", store_now_us(world) / 1000000);
    buffer_add_bulk(reply, "%llu", store_now_us(world) % 1000000);
}

/* The epoch, the rights, or a lock's script. */
static void answer_script(const scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    char text[256];
    const unsigned long long now_us = store_now_us(world);
    if (answer_lock(now_us, words, count, reply)) return;
    if (scripted_asks_epoch(words, count))
        snprintf(text, sizeof(text), "*3\r\n:%llu\r\n:%llu\r\n:%llu\r\n", (unsigned long long)world->store_birth_us,
                 now_us, (unsigned long long)world->store_birth_us);
    else if (count > 8 && ends_with(words[3], ":epoch"))
        snprintf(text, sizeof(text), "$%zu\r\n%.*s\r\n", count - 4, (int)(count - 4), ALL_RIGHTS);
    else snprintf(text, sizeof(text), "+OK\r\n");
    say(reply, text);
}

static void answer_by_default(const scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    static const char info[] = "redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n"
                               "role:master\r\ncluster_enabled:0\r\n"
                               "run_id:" SERVER_ID "\r\nmaster_replid:" SERVER_ID "\r\n";
    char digest[41];
    if (is(words[0], "INFO")) say_bulk(reply, info, sizeof(info) - 1);
    else if (is(words[0], "SCRIPT") && is(words[1], "EXISTS"))
    {
        char header[32];
        snprintf(header, sizeof(header), "*%zu\r\n", count - 2);
        say(reply, header);
        for (size_t i = 2; i < count; i++) say(reply, ":1\r\n");
    }
    else if (is(words[0], "SCRIPT") && count == 3)
    {
        sha1_hex(words[2].bytes, words[2].size, digest);
        say_bulk(reply, digest, 40);
    }
    else if (is(words[0], "EVALSHA")) answer_script(world, words, count, reply);
    else if (is(words[0], "PUBLISH")) say(reply, ":0\r\n");
    else if (is(words[0], "WAIT")) say(reply, ":1\r\n");
    else if (is(words[0], "TIME")) answer_time(world, reply);
    else if (is(words[0], "PING")) say(reply, "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
    else if (is(words[0], "SUBSCRIBE") && count == 2)
    {
        say(reply, "*3\r\n$9\r\nsubscribe\r\n");
        say_bulk(reply, words[1].bytes, words[1].size);
        say(reply, ":1\r\n");
    }
    else say(reply, "+OK\r\n");
}

/* Takes one request apart; returns its size, 0 if it is not whole. */
static size_t take_words(const byte_buffer* from, gh_str* words, size_t* count)
{
    long long number = 0;
    ssize_t at = resp_header(from->bytes, from->size, '*', &number);
    if (at == 0) return 0;
    if (at < 0 || number < 1 || number > SCRIPTED_WORDS_MAX) fail_msg("%s", "the client sent what is no request");
    *count = (size_t)number;
    for (size_t i = 0; i < *count; i++)
    {
        long long size = 0;
        ssize_t header = resp_header(from->bytes + at, from->size - (size_t)at, '$', &size);
        if (header < 0) fail_msg("%s", "the client sent an argument that is no string");
        if (header == 0 || (size_t)(at + header) + (size_t)size + 2 > from->size) return 0;
        words[i] = gh_str_make(from->bytes + at + header, (size_t)size);
        at += header + (ssize_t)size + 2;
    }
    return (size_t)at;
}

static void serve(scripted* world, scripted_stream* stream)
{
    gh_str words[SCRIPTED_WORDS_MAX];
    size_t count = 0;
    while (stream->requests.size > 0)
    {
        size_t size = take_words(&stream->requests, words, &count);
        if (size == 0) return;
        world->asked = stream;
        if (world->answer == NULL || !world->answer(world, words, count, &stream->replies))
            answer_by_default(world, words, count, &stream->replies);
        buffer_consume(&stream->requests, size);
    }
}

/* ---- the platform -------------------------------------------------------------------------------------- */

static uint64_t scripted_now(void* context)
{
    scripted* world = context;
    world->clock_us += world->clock_step_us;
    return world->clock_us;
}

static bool scripted_entropy(void* context, void* bytes, size_t size)
{
    scripted* world = context;
    unsigned char* at = bytes;
    for (size_t i = 0; i < size; i++)
    {
        world->entropy = world->entropy * 6364136223846793005u + 1442695040888963407u;
        at[i] = (unsigned char)(world->entropy >> 56);
    }
    return true;
}

static scripted_stream* stream_of(scripted* world, intptr_t stream)
{
    if (stream < 0 || stream >= SCRIPTED_STREAMS_MAX || !world->streams[stream].open)
        fail_msg("%s", "the client uses a stream that is not open");
    return &world->streams[stream];
}

static void copy_text(char text[SCRIPTED_HOST_SIZE], gh_str from)
{
    snprintf(text, SCRIPTED_HOST_SIZE, "%.*s", (int)from.size, from.size == 0 ? "" : from.bytes);
}

static void note_address(scripted* world, const gh_address* address)
{
    world->opened_kind = address->kind;
    world->opened_port = address->port;
    copy_text(world->opened_host, address->host);
    copy_text(world->opened_name, address->name);
    if (world->opens < SCRIPTED_OPENS_MAX) world->opened_at_us[world->opens] = world->now_us;
    world->opens++;
}

static gh_status scripted_open(void* context, const gh_address* address, intptr_t* stream)
{
    scripted* world = context;
    gh_status status = world->door == NULL ? world->open_status : world->door(world, address);
    note_address(world, address);
    if (status != GH_OK && status != GH_PENDING) return status;
    for (intptr_t i = 0; i < (intptr_t)world->streams_max; i++)
    {
        scripted_stream* self = &world->streams[i];
        if (self->open) continue;
        memset(self, 0, sizeof(*self));
        self->open = true;
        self->port = address->port;
        copy_text(self->host, address->host);
        copy_text(self->name, address->name);
        *stream = i;
        return status;
    }
    fail_msg("%s", "the client opens more streams than it has links");
    return GH_REFUSED;
}

static gh_status scripted_connected(void* context, intptr_t stream)
{
    scripted* world = context;
    stream_of(world, stream);
    return world->connected_status;
}

static int64_t scripted_send(void* context, intptr_t stream, const void* bytes, size_t size)
{
    scripted* world = context;
    scripted_stream* self = stream_of(world, stream);
    world->sends++;
    if (self->ended) return GH_STREAM_CLOSED;
    if (size > world->send_max) size = world->send_max;
    if (size == 0) return GH_STREAM_WOULD_BLOCK;
    buffer_add(&self->requests, bytes, size);
    if (!world->silent) serve(world, self);
    return (int64_t)size;
}

static int64_t scripted_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    scripted* world = context;
    scripted_stream* self = stream_of(world, stream);
    world->receives++;
    if (size > world->receive_max) size = world->receive_max;
    if (size > self->replies.size) size = self->replies.size;
    if (size == 0) return self->ended && self->replies.size == 0 ? GH_STREAM_CLOSED : GH_STREAM_WOULD_BLOCK;
    memcpy(bytes, self->replies.bytes, size);
    buffer_consume(&self->replies, size);
    return (int64_t)size;
}

static void scripted_close(void* context, intptr_t stream)
{
    scripted* world = context;
    scripted_stream* self = stream_of(world, stream);
    self->open = false;
    buffer_free(&self->requests);
    buffer_free(&self->replies);
    world->closes++;
}

/* ---- what tests call ----------------------------------------------------------------------------------- */

static void end_thing(void* thing)
{
    scripted* world = thing;
    gh_client_shutdown(world->client);
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (world->streams[i].open) scripted_close(world, i);
    while (world->objects != NULL)
    {
        struct scripted_object* object = world->objects;
        world->objects = object->next;
        free(object);
    }
    buffer_free(&world->log);
    free(world);
}

scripted* scripted_new(void)
{
    scripted* world = calloc(1, sizeof(*world));
    if (world == NULL) abort();
    world->platform.context = world;
    world->platform.now_us = scripted_now;
    world->platform.entropy = scripted_entropy;
    world->platform.open = scripted_open;
    world->platform.connected = scripted_connected;
    world->platform.send = scripted_send;
    world->platform.receive = scripted_receive;
    world->platform.close = scripted_close;
    world->now_us = 5000000;
    world->store_birth_us = 7;
    world->entropy = 1;
    world->send_max = world->receive_max = SIZE_MAX;
    world->streams_max = 4;
    cleanup_add(end_thing, world);
    return world;
}

gh_client_config scripted_config(void)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_literal("127.0.0.1:1");
    config.wake = false;
    return config;
}

void* scripted_keep(scripted* world, size_t size)
{
    struct scripted_object* object = calloc(1, sizeof(*object) + size);
    if (object == NULL) abort();
    object->next = world->objects;
    world->objects = object;
    return object->bytes;
}

static void on_log(void* context, gh_log_level level, gh_str text)
{
    scripted* world = context;
    const char marks[] = "?EWID";
    const char head[2] = {marks[level], ' '};
    buffer_add(&world->log, head, sizeof(head));
    buffer_add(&world->log, text.bytes, text.size);
    buffer_add(&world->log, "\n", 1);
}

static bool on_assertion(void* context, const char* file, int line, const char* expression)
{
    (void)context;
    fprintf(stderr, "%s:%d: the library asserts: %s\n", file, line, expression);
    abort();
}

void scripted_start(scripted* world, const gh_client_config* wanted)
{
    gh_client_config config = wanted == NULL ? scripted_config() : *wanted;
    if (config.hooks.context == NULL) config.hooks.context = world;
    if (config.hooks.log == NULL && config.hooks.context == world) config.hooks.log = on_log;
    if (config.hooks.assertion == NULL) config.hooks.assertion = on_assertion;
    world->start_us = world->now_us;
    size_t size = gh_client_memory(&config);
    assert_true(size > 0);
    char* memory = scripted_keep(world, size + MEMORY_ALIGNMENT);
    memory += (MEMORY_ALIGNMENT - (uintptr_t)memory % MEMORY_ALIGNMENT) % MEMORY_ALIGNMENT;
    assert_int_equal(gh_client_init(memory, size, &config, &world->platform, &world->client), GH_OK);
}

void scripted_tick(scripted* world, uint64_t later_us)
{
    world->now_us += later_us;
    assert_int_equal(gh_tick(world->client, world->now_us, world->budget_us), GH_OK);
}

void scripted_start_ready(scripted* world, const gh_client_config* config)
{
    scripted_start(world, config);
    for (int i = 0; i < 100 && !gh_client_ready(world->client); i++) scripted_tick(world, 1000);
    assert_true(gh_client_ready(world->client));
}

void scripted_say(scripted* world, const char* text)
{
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (world->streams[i].open) say(&world->streams[i].replies, text);
}

void scripted_speak(scripted* world)
{
    world->silent = false;
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (world->streams[i].open) serve(world, &world->streams[i]);
}

gh_client_stats scripted_stats(const scripted* world)
{
    gh_client_stats stats;
    assert_int_equal(gh_client_get_stats(world->client, &stats), GH_OK);
    return stats;
}

long long scripted_number(gh_str word)
{
    char text[32];
    snprintf(text, sizeof(text), "%.*s", (int)word.size, word.bytes);
    return atoll(text);
}

bool scripted_runs_on(const gh_str* words, size_t count, const char* key)
{
    const size_t size = strlen(key);
    return count > 3 && is(words[0], "EVALSHA") && words[3].size > size && memcmp(words[3].bytes, key, size) == 0;
}

bool scripted_asks_epoch(const gh_str* words, size_t count)
{
    return count == 8 && is(words[0], "EVALSHA") && ends_with(words[3], ":epoch");
}

typedef struct asked
{
    gh_command op;
    gh_str word;
    _Alignas(8) char reply[256];
} asked;

gh_command* scripted_ask(scripted* world, const char* word, uint64_t timeout_us, gh_repeat repeat)
{
    asked* self = SCRIPTED_NEW(world, asked);
    gh_command_config config = gh_command_config_default();
    self->word = gh_str_of(word);
    config.timeout_us = timeout_us;
    config.repeat = repeat;
    config.reply_memory = self->reply;
    config.reply_size = sizeof(self->reply);
    assert_int_equal(gh_command_begin(&self->op, world->client, &self->word, 1, &config), GH_OK);
    return &self->op;
}

gh_lock* scripted_want(scripted* world, const char* name, uint64_t lease_us, uint64_t wait_us)
{
    gh_lock* lock = SCRIPTED_NEW(world, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = lease_us;
    config.wait_us = wait_us;
    assert_int_equal(gh_lock_begin(lock, world->client, gh_str_of(name), &config), GH_OK);
    return lock;
}

unsigned scripted_times_logged(const scripted* world, const char* text)
{
    size_t size = strlen(text);
    unsigned times = 0;
    for (size_t i = 0; i + size <= world->log.size; i++) times += memcmp(world->log.bytes + i, text, size) == 0;
    return times;
}

bool scripted_logged(const scripted* world, const char* text)
{
    return scripted_times_logged(world, text) > 0;
}
