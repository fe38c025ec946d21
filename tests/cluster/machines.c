/* machines.c -- what every machine of a made-up Cluster says. */

#include "cluster/machines.h"

#include <stdio.h>
#include <string.h>

#define MAPS_MAX 16

bool machines_is(gh_str word, const char* text)
{
    return gh_str_equal(word, gh_str_of(text));
}

static void say(byte_buffer* reply, const char* text)
{
    buffer_add(reply, text, strlen(text));
}

static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    machines* self = world->context;
    const char* text = self->says == NULL ? NULL : self->says(self, world->asked->host, words, count);
    if (machines_is(words[0], "ASKING")) self->asking++;
    if (text == NULL && machines_is(words[0], "CLUSTER")) text = self->map;
    if (text == NULL && machines_is(words[0], "GET"))
    {
        self->served++;
        snprintf(self->served_by, sizeof(self->served_by), "%s", world->asked->host);
    }
    if (text == NULL) return false;
    say(reply, text);
    return true;
}

static gh_status door(scripted* world, const gh_address* address)
{
    const machines* self = world->context;
    for (int i = 0; i < MACHINES_GONE_MAX; i++)
        if (self->gone[i] != NULL && machines_is(address->host, self->gone[i])) return GH_REFUSED;
    return GH_OK;
}

static gh_status resolve(void* context, gh_str host, gh_str* numeric)
{
    machines* self = context;
    (void)host;
    self->resolved++;
    *numeric = gh_str_of(self->number);
    return GH_OK;
}

machines* machines_new(void)
{
    static machines self;
    memset(&self, 0, sizeof(self));
    self.world = scripted_new();
    self.world->context = &self;
    self.world->answer = answer;
    self.world->door = door;
    return &self;
}

static size_t add_bulk(char* text, size_t size, const char* bytes)
{
    return (size_t)snprintf(text, size, "$%zu\r\n%s\r\n", strlen(bytes), bytes);
}

const char* machines_map(const char* host, const char* name)
{
    static char maps[MAPS_MAX][512];
    static unsigned turn;
    char* text = maps[turn++ % MAPS_MAX];
    size_t size = (size_t)snprintf(text, 512, "*1\r\n*3\r\n:0\r\n:16383\r\n*4\r\n");
    size +=
        host == NULL ? (size_t)snprintf(text + size, 512 - size, "$-1\r\n") : add_bulk(text + size, 512 - size, host);
    size += (size_t)snprintf(text + size, 512 - size, ":7000\r\n$2\r\nid\r\n*%d\r\n", name == NULL ? 0 : 2);
    if (name == NULL) return text;
    size += add_bulk(text + size, 512 - size, "hostname");
    add_bulk(text + size, 512 - size, name);
    return text;
}

const char* machines_moved(unsigned slot, const char* host)
{
    static char answer[64];
    snprintf(answer, sizeof answer, "-MOVED %u %s:7000\r\n", slot, host);
    return answer;
}

void machines_start(machines* self, const gh_client_config* wanted)
{
    gh_client_config config = wanted == NULL ? scripted_config() : *wanted;
    if (wanted == NULL || wanted->topology == NULL) config.address = gh_str_literal("10.0.0.1:7000");
    config.topology = gh_topology_cluster();
    if (self->number != NULL)
    {
        config.resolver = resolve;
        config.resolver_context = self;
    }
    scripted_start(self->world, &config);
}

typedef struct asked
{
    gh_command op;
    gh_str words[2];
    _Alignas(8) char reply[256];
} asked;

gh_command* machines_get(machines* self, const char* key, uint64_t timeout_us)
{
    asked* made = SCRIPTED_NEW(self->world, asked);
    gh_command_config config = gh_command_config_default();
    made->words[0] = gh_str_literal("GET");
    made->words[1] = gh_str_of(key);
    config.timeout_us = timeout_us;
    config.repeat = GH_REPEAT_SAFE;
    config.reply_memory = made->reply;
    config.reply_size = sizeof(made->reply);
    assert_int_equal(gh_command_begin(&made->op, self->world->client, made->words, 2, &config), GH_OK);
    return &made->op;
}

scripted_stream* machines_stream(const machines* self, const char* host)
{
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (self->world->streams[i].open && strcmp(self->world->streams[i].host, host) == 0)
            return &self->world->streams[i];
    return NULL;
}
