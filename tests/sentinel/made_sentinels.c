/* made_sentinels.c -- sentinels that name whom they are told to name, servers that say what they are told to be. */

#include "sentinel/made_sentinels.h"

#include <stdio.h>
#include <string.h>

static bool is(gh_str word, const char* text)
{
    return gh_str_equal(word, gh_str_of(text));
}

static void add_bulk(byte_buffer* reply, gh_str text)
{
    buffer_add_bulk(reply, "%.*s", (int)text.size, text.bytes);
}

static void add(byte_buffer* reply, const char* text)
{
    buffer_add(reply, text, strlen(text));
}

static void add_channels(byte_buffer* reply, const gh_str* words, size_t count)
{
    char number[32];
    for (size_t i = 1; i < count; i++)
    {
        add(reply, "*3\r\n");
        add_bulk(reply, is(words[0], "SUBSCRIBE") ? gh_str_literal("subscribe") : gh_str_literal("unsubscribe"));
        add_bulk(reply, words[i]);
        snprintf(number, sizeof number, ":%zu\r\n", is(words[0], "SUBSCRIBE") ? i : count - 1 - i);
        add(reply, number);
    }
}

static bool answer_of_sentinel(made_sentinels* fleet, unsigned n, const gh_str* words, size_t count, byte_buffer* reply)
{
    if (is(words[0], "SENTINEL"))
    {
        fleet->asked[n]++;
        if (fleet->said[n] != NULL) add(reply, fleet->said[n]);
        if (fleet->said[n] != NULL) return true;
        add(reply, "*2\r\n");
        buffer_add_bulk(reply, "%s", "10.0.0.1");
        buffer_add_bulk(reply, "%u", MADE_SERVER_PORT + fleet->named[n]);
        return true;
    }
    if (!is(words[0], "SUBSCRIBE") && !is(words[0], "UNSUBSCRIBE")) return false;
    add_channels(reply, words, count);
    return true;
}

static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    made_sentinels* fleet = world->context;
    const unsigned port = world->asked->port;
    if (port >= MADE_SENTINEL_PORT) return answer_of_sentinel(fleet, port - MADE_SENTINEL_PORT, words, count, reply);
    if (fleet->silent[port - MADE_SERVER_PORT]) return true;
    if (!fleet->is_replica[port - MADE_SERVER_PORT] || !is(words[0], "INFO")) return false;
    buffer_add_bulk(reply, "redis_version:7.0.15\r\nrole:slave\r\nrun_id:%040d\r\n", 1);
    return true;
}

static gh_status door(scripted* world, const gh_address* address)
{
    made_sentinels* fleet = world->context;
    if (address->port >= MADE_SENTINEL_PORT)
        return fleet->away[address->port - MADE_SENTINEL_PORT] ? GH_REFUSED : GH_OK;
    fleet->connected[address->port - MADE_SERVER_PORT]++;
    return GH_OK;
}

made_sentinels* made_sentinels_new(unsigned count)
{
    static const char* const seeds = "10.0.0.9:26379,10.0.0.9:26380,10.0.0.9:26381,10.0.0.9:26382,10.0.0.9:26383";
    scripted* world = scripted_new();
    made_sentinels* fleet = SCRIPTED_NEW(world, made_sentinels);
    assert_in_range(count, 1, MADE_SENTINELS_MOST);
    fleet->world = world;
    fleet->count = count;
    fleet->config = scripted_config();
    fleet->config.address = gh_str_make(seeds, count * 15 - 1);
    fleet->config.topology = gh_topology_sentinel();
    fleet->config.sentinel_name = gh_str_literal("game");
    world->context = fleet;
    world->answer = answer;
    world->door = door;
    world->streams_max = 16;
    return fleet;
}

void made_sentinels_start(made_sentinels* fleet)
{
    scripted_start_ready(fleet->world, &fleet->config);
}

scripted_stream* made_sentinels_stream(made_sentinels* fleet, unsigned port)
{
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++)
    {
        scripted_stream* stream = &fleet->world->streams[i];
        if (stream->open && !stream->ended && stream->port == port) return stream;
    }
    return NULL;
}

void made_sentinels_part(made_sentinels* fleet, unsigned sentinel)
{
    scripted_stream* stream = made_sentinels_stream(fleet, MADE_SENTINEL_PORT + sentinel);
    assert_non_null(stream);
    stream->ended = true;
}

void made_sentinels_tell(made_sentinels* fleet, unsigned sentinel, const char* channel, const char* text)
{
    scripted_stream* stream = made_sentinels_stream(fleet, MADE_SENTINEL_PORT + sentinel);
    assert_non_null(stream);
    add(&stream->replies, "*3\r\n");
    buffer_add_bulk(&stream->replies, "%s", "message");
    buffer_add_bulk(&stream->replies, "%s", channel);
    buffer_add_bulk(&stream->replies, "%s", text);
}
