/* fuzz_sentinel.c -- what Sentinels answer and tell, and where a client goes by that: nowhere else than to where one of
   them has sent it, and there in the end, once they say so in good order. */

#include "world.h"

#include <stdio.h>

#define SENTINEL_PORT 26379u
#define SAID_MAX      64u
#define STEPS_MAX     60u

typedef struct said
{
    char host[64];
    char port[32];
} said;

typedef struct game
{
    fuzz_input input;
    said all[SAID_MAX]; /* whatever they have said might be a host and a port */
    size_t count;
    bool well; /* from here on all of them say the same */
    bool arrived;
} game;

static const char good_host[] = "10.0.9.9";
#define GOOD_PORT 7777u

static game the_game;

/* ---- where it goes ----------------------------------------------------------------------------------------------- */

static bool was_said(const game* self, const gh_address* address)
{
    char port[8];
    snprintf(port, sizeof(port), "%u", address->port);
    for (size_t i = 0; i < self->count; i++)
        if (gh_str_equal(address->host, gh_str_of(self->all[i].host)) && strcmp(port, self->all[i].port) == 0)
            return true;
    return self->count == SAID_MAX;
}

static bool is_sentinel(const gh_address* address)
{
    return address->port == SENTINEL_PORT && (gh_str_equal(address->host, gh_str_literal("10.0.0.1")) ||
                                              gh_str_equal(address->host, gh_str_literal("10.0.0.2")));
}

/* Once all is well, there is nobody elsewhere. */
static bool door(world* of, const gh_address* address)
{
    game* self = of->context;
    const bool is_good = gh_str_equal(address->host, gh_str_of(good_host)) && address->port == GOOD_PORT;
    FUZZ_MUST(address->kind == GH_ADDRESS_IPV4 || address->kind == GH_ADDRESS_IPV6);
    FUZZ_MUST(address->port > 0 && address->host.size > 0);
    if (is_good) FUZZ_MUST(self->well);
    if (is_good) self->arrived = true;
    if (is_good || is_sentinel(address)) return true;
    if (!was_said(self, address)) FUZZ_FAIL("it goes to %.*s:%u", GH_STR_ARG(address->host), address->port);
    return !self->well;
}

/* ---- what they say ----------------------------------------------------------------------------------------------- */

/* Without zero bytes, which no text of ours could hold. */
static void copy(char* to, size_t size, gh_str from)
{
    if (from.size >= size) from.size = size - 1;
    for (size_t i = 0; i < from.size; i++)
        if (from.bytes[i] == 0) from.size = i;
    if (from.size > 0) memcpy(to, from.bytes, from.size);
    to[from.size] = 0;
}

static const said* draw_said(game* self, fuzz_input* input)
{
    static const char* const hosts[] = {"10.0.0.7", "10.0.0.8", "2001:db8::7", "redis.example", "300.1.1.1", "::", ""};
    static const char* const ports[] = {"6379", "6380", "0", "65536", "065", "+1", ""};
    static said other;
    said* made = self->count < SAID_MAX ? &self->all[self->count++] : &other;
    const uint8_t host = fuzz_byte(input), port = fuzz_byte(input);
    if (host < 200) copy(made->host, sizeof(made->host), gh_str_of(hosts[host % FUZZ_COUNT(hosts)]));
    else copy(made->host, sizeof(made->host), fuzz_text(input, 60));
    if (port < 200) copy(made->port, sizeof(made->port), gh_str_of(ports[port % FUZZ_COUNT(ports)]));
    else copy(made->port, sizeof(made->port), fuzz_text(input, 30));
    return made;
}

static void answer_question(game* self, resp_text* reply)
{
    fuzz_input slice = fuzz_slice(&self->input);
    const uint8_t how = self->well ? 0 : fuzz_byte(&slice);
    if (self->well)
    {
        resp_print(reply, "*2\r\n$8\r\n%s\r\n$4\r\n%u\r\n", good_host, GOOD_PORT);
        return;
    }
    if (how < 160)
    {
        const said* where = draw_said(self, &slice);
        resp_array(reply, 2);
        resp_bulk(reply, gh_str_of(where->host));
        resp_bulk(reply, gh_str_of(where->port));
    }
    else if (how < 190) resp_print(reply, "*-1\r\n");
    else if (how < 210) resp_print(reply, "-IDONTKNOW no such master\r\n");
    else if (how < 220) resp_print(reply, "*1\r\n$8\r\n10.0.0.7\r\n");
    else if (how < 230) resp_print(reply, "*2\r\n:1\r\n:2\r\n");
    else if (how < 240)
    {
        const gh_str raw = fuzz_text(&slice, 100);
        resp_put(reply, raw.bytes, raw.size);
    } /* else it says nothing */
}

static bool answer(world* of, const world_request* request, resp_text* reply)
{
    if (!resp_is(request->words[0], "SENTINEL")) return false;
    FUZZ_MUST(request->count == 3 && resp_is(request->words[2], "game"));
    answer_question(of->context, reply);
    return true;
}

/* A master that was switched, a replica that is promoted, a failover that was ended; or any text on their channels. */
static void tell(world* of, fuzz_input* input)
{
    static const char* const channels[] = {"+switch-master", "+failover-state-send-slaveof-noone",
                                           "-failover-abort-no-good-slave", "-failover-abort-slave-timeout"};
    game* self = of->context;
    const uint32_t which = fuzz_below(input, 5);
    const char* name = fuzz_byte(input) < 200 ? "game" : "other";
    const said* where = draw_said(self, input);
    char text[400];
    if (which == 0) snprintf(text, sizeof(text), "%s 10.0.0.1 1 %s %s", name, where->host, where->port);
    else if (which < 4) snprintf(text, sizeof(text), "slave x:1 %s %s @ %s 10.0.0.1 1", where->host, where->port, name);
    else copy(text, sizeof(text), fuzz_text(input, 100));
    if (which == 4) return;
    for (int i = 0; i < WORLD_STREAMS; i++)
    {
        world_stream* stream = &of->streams[i];
        if (!stream->open || stream->port != SENTINEL_PORT || !stream->subscribed) continue;
        resp_text reply = world_reply_of(stream);
        resp_print(&reply, "*3\r\n$7\r\nmessage\r\n");
        resp_bulk(&reply, gh_str_of(channels[which % 4]));
        resp_bulk(&reply, gh_str_of(text));
        world_said(stream, &reply);
    }
}

static void end_some(world* of, uint8_t which)
{
    for (int i = 0; i < WORLD_STREAMS; i++)
        if (of->streams[i].open && ((which >> (i & 3)) & 1) != 0) of->streams[i].ended = true;
}

static void step(world* of)
{
    game* self = of->context;
    fuzz_input slice = fuzz_slice(&self->input);
    const uint8_t which = fuzz_byte(&slice);
    if (which < 120) world_tick(of, 50000);
    else if (which < 150) world_tick(of, WORLD_SECOND_US);
    else if (which < 210) tell(of, &slice);
    else if (which < 230) end_some(of, fuzz_byte(&slice));
    else of->silent = !of->silent;
}

/* From here on they agree, and links hold. */
static void settle(world* of)
{
    game* self = of->context;
    self->well = true;
    self->arrived = false;
    of->silent = false;
    of->dice = fuzz_input_of(NULL, 0);
    end_some(of, 15);
    for (int i = 0; i < 200 && !(self->arrived && gh_client_ready(of->client)); i++) world_tick(of, 200000);
    FUZZ_MUST(self->arrived && gh_client_ready(of->client));
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static world the_world;
    gh_client_config config = world_config();
    config.address = gh_str_literal("10.0.0.1:26379,10.0.0.2:26379");
    config.topology = gh_topology_sentinel();
    config.sentinel_name = gh_str_literal("game");
    memset(&the_game, 0, sizeof(the_game));
    the_game.input = fuzz_input_of(data, size);
    FUZZ_MUST(world_start(&the_world, &config, fuzz_text(&the_game.input, 100)));
    the_world.context = &the_game;
    the_world.door = door;
    the_world.answer = answer;
    for (uint32_t i = 0; i < STEPS_MAX && fuzz_left(&the_game.input) > 0; i++) step(&the_world);
    settle(&the_world);
    world_end(&the_world);
    world_forget(&the_world);
    return 0;
}
