/* play.c -- one input played from the first byte to the last, then the drain, the shutdown, and what is left. */

#include "play.h"

#include "hostile.h"
#include "ops.h"
#include "request_check.h"

#include <stdio.h>

#define PLACES    14u
#define STEPS_MAX 400u
#define TICKS_MAX 120u
#define DRAIN_US  (2 * WORLD_SECOND_US)

typedef struct game
{
    const play_rules* rules;
    fuzz_input steps;
    fuzz_input answers;
    fuzz_input input; /* the slice of the present step */
    world* world;
    ops_place places[PLACES];
    uint32_t ticks;
} game;

/* ---- the peer ---------------------------------------------------------------------------------------------------- */

static bool answer(world* of, const world_request* request, resp_text* reply)
{
    game* self = of->context;
    fuzz_input slice = fuzz_slice(&self->answers);
    return hostile_answer(of, request, &slice, reply);
}

static world_stream* draw_stream(game* self)
{
    world_stream* stream = &self->world->streams[fuzz_below(&self->input, 4)];
    return stream->open && !stream->connecting ? stream : NULL;
}

static void say_raw(game* self)
{
    world_stream* stream = draw_stream(self);
    const gh_str bytes = fuzz_text(&self->input, 2000);
    if (stream != NULL && bytes.size > 0) self->world->confuses = true;
    if (stream != NULL) world_say(stream, bytes);
}

/* A hint, as anybody may publish it. */
static void say_hint(game* self)
{
    char payload[32];
    const ops_place* place = &self->places[fuzz_below(&self->input, PLACES)];
    const uint64_t sequence =
        place->op != NULL && fuzz_byte(&self->input) < 224 ? place->op->sequence : fuzz_edge(&self->input);
    const uint8_t letter = fuzz_byte(&self->input);
    int size = snprintf(payload, sizeof(payload), "%016llx", (unsigned long long)sequence);
    if (letter > 128) payload[size++] = (char)letter;
    for (int i = 0; i < WORLD_STREAMS; i++)
    {
        world_stream* stream = &self->world->streams[i];
        if (!stream->open || !stream->subscribed) continue;
        resp_text text = world_reply_of(stream);
        resp_print(&text, "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n");
        resp_bulk(&text, gh_str_make(payload, (size_t)size));
        world_said(stream, &text);
    }
}

static void end_stream(game* self)
{
    world_stream* stream = draw_stream(self);
    if (stream != NULL) stream->ended = true;
}

/* ---- the caller -------------------------------------------------------------------------------------------------- */

static void begin(game* self, ops_place* place)
{
    const ops_kind* kind = ops_kind_at(fuzz_below(&self->input, ops_kind_count()));
    if (place->kind != NULL && !ops_empty(place)) return;
    place->tag = fuzz_byte(&self->input) & 3;
    ops_begin(place, kind, self->world->client, &self->input);
}

static void see_changes(game* self)
{
    for (gh_op* op = gh_client_next(self->world->client); op != NULL; op = gh_client_next(self->world->client))
    {
        FUZZ_MUST(op->tag != 0);
        FUZZ_MUST(((const ops_place*)op->user)->op == op);
        gh_op_poll(op);
    }
}

static void take_line(void* context, gh_str line)
{
    (void)context;
    for (size_t i = 0; i < line.size; i++) FUZZ_MUST(line.bytes[i] >= ' ' && line.bytes[i] <= '~');
}

static void look_around(game* self)
{
    gh_client* client = self->world->client;
    gh_client_handle handles[4];
    char text[GH_UNIQUE_SIZE];
    bool want_write;
    FUZZ_MUST(gh_client_dump(client, take_line, NULL) == GH_OK);
    FUZZ_MUST(gh_client_unique(client, text) == GH_OK && strlen(text) == GH_UNIQUE_SIZE - 1);
    gh_client_handles(client, handles, FUZZ_COUNT(handles));
    gh_client_fd(client, GH_LINK_WAKE, &want_write);
    fuzz_touch(gh_client_last_invalid(client));
    FUZZ_MUST(gh_next_deadline(client) > 0 || self->ticks == 0);
    const gh_client_stats stats = world_stats(self->world);
    FUZZ_MUST(stats.ops_ended <= stats.ops_begun);
}

static void check_all(game* self)
{
    for (uint32_t i = 0; i < PLACES; i++) ops_check(&self->places[i]);
}

static void tick(game* self, uint64_t later_us)
{
    if (self->ticks >= TICKS_MAX) return;
    self->ticks++;
    world_tick(self->world, later_us);
    check_all(self);
    if (self->world->client != NULL && !fuzz_bit(&self->input)) see_changes(self);
}

static void shut_down(game* self)
{
    if (!self->rules->shuts_down) return;
    world_end(self->world);
    check_all(self);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void step_of_the_world(game* self, uint8_t which)
{
    switch (which)
    {
    case 0: say_hint(self); break;
    case 1: end_stream(self); break;
    case 2: self->world->silent = !self->world->silent; break;
    case 3: self->world->birth_us += fuzz_byte(&self->input); break;
    case 4: self->world->generation += fuzz_byte(&self->input); break;
    case 5:
        if (self->rules->peer == PLAY_RAW) say_raw(self);
        break;
    default:
        if (self->rules->harm != NULL) self->rules->harm(self->world, &self->input);
        break;
    }
}

static void step(game* self)
{
    const uint8_t which = fuzz_byte(&self->steps);
    ops_place* place = &self->places[fuzz_byte(&self->steps) % PLACES];
    gh_client* client = self->world->client;
    self->input = fuzz_slice(&self->steps);
    if (which < 88) begin(self, place);
    else if (which < 150) tick(self, 16000);
    else if (which < 160) tick(self, fuzz_edge(&self->input) >> 20);
    else if (which < 200) ops_use(place, client, &self->input);
    else if (which < 208) ops_empty(place);
    else if (which < 214 && place->op != NULL) gh_op_cancel(place->op);
    else if (which < 220 && client != NULL) look_around(self);
    else if (which < 222 && client != NULL) gh_client_drain(client, fuzz_edge(&self->input) >> 30);
    else if (which < 224) shut_down(self);
    else if (self->rules->peer == PLAY_RAW && which < 240) say_raw(self);
    else if (self->rules->harm != NULL && which < 248) self->rules->harm(self->world, &self->input);
    else step_of_the_world(self, which & 7);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* What was told to end within a time, ends within it. */
static void drain(game* self)
{
    if (self->world->client == NULL) return;
    self->world->silent = false;
    FUZZ_MUST(gh_client_drain(self->world->client, DRAIN_US) == GH_OK);
    for (uint64_t gone_us = 0; gone_us <= DRAIN_US && !gh_client_drained(self->world->client); gone_us += 100000)
    {
        world_tick(self->world, 100000);
        check_all(self);
    }
    if (!gh_client_drained(self->world->client))
        FUZZ_FAIL("%u ops are busy after a drain", world_stats(self->world).ops_busy);
    for (uint32_t i = 0; i < PLACES; i++)
        if (self->places[i].op != NULL) FUZZ_MUST(!gh_op_is_busy(self->places[i].op));
    world_tick(self->world, 1); /* the figures are those of the last tick */
    if (world_stats(self->world).ops_busy > 0)
        FUZZ_FAIL("%u ops are busy that nobody has", world_stats(self->world).ops_busy);
}

static void end(game* self)
{
    self->input = fuzz_slice(&self->answers);
    if (!fuzz_bit(&self->input)) drain(self);
    world_end(self->world);
    check_all(self);
    for (uint32_t i = 0; i < PLACES; i++) ops_use(&self->places[i], NULL, &self->input);
    check_all(self);
    for (uint32_t i = 0; i < PLACES; i++) FUZZ_MUST(ops_empty(&self->places[i]));
    world_forget(self->world);
    if (self->rules->peer == PLAY_STORE) self->rules->end(self->world);
    request_forget_all();
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static void draw_config(gh_client_config* config, fuzz_input* input)
{
    const uint8_t what = fuzz_byte(input);
    config->wake = (what & 1) != 0;
    if ((what & 2) != 0) config->request_timeout_us = 200000;
    if ((what & 4) != 0) config->ops_capacity = 12;
    if ((what & 8) != 0) config->requests_capacity = 8;
    if ((what & 16) != 0) config->quarantine_us = WORLD_SECOND_US;
    if ((what & 32) != 0) config->password = gh_str_literal("secret");
    if ((what & 192) == 64) config->topology = gh_topology_cluster();
    if ((what & 192) == 128)
    {
        config->topology = gh_topology_sentinel();
        config->sentinel_name = gh_str_literal("game");
    }
    if ((what & 192) == 192) config->replicas = gh_replicas_wait();
    if ((what & 192) == 192) config->wait_replicas = 1;
    if (config->topology == gh_topology_cluster()) config->nodes_capacity = 3;
}

void play(const play_rules* rules, const uint8_t* data, size_t size)
{
    static world the_world;
    static game self;
    gh_client_config config = world_config();
    memset(&self, 0, sizeof(self));
    self.rules = rules;
    self.world = &the_world;
    self.answers = fuzz_input_of(data, size);
    draw_config(&config, &self.answers);
    const gh_str dice = fuzz_text(&self.answers, 254);
    self.steps = fuzz_slice(&self.answers);
    FUZZ_MUST(world_start(self.world, &config, dice));
    if (rules->peer == PLAY_STORE)
    {
        rules->start(self.world);
        self.world->answer = rules->answer;
    }
    if (rules->starts_ready) world_tick_until_ready(self.world);
    self.world->checks_words = rules->checks_words;
    self.world->context = &self;
    if (rules->peer == PLAY_HOSTILE) self.world->answer = answer;
    if (rules->peer == PLAY_RAW) self.world->silent = !rules->starts_ready;
    for (uint32_t i = 0; i < STEPS_MAX && fuzz_left(&self.steps) > 0; i++) step(&self);
    end(&self);
}
