/* game.c -- clients on the heap, ticked in turns until something is true. */

#include "support/scene/game.h"

#include "support/cleanup.h"
#include "support/scene/fronted.h"
#include "support/scene/secure.h"
#include "support/server/sentinels.h"

#include "guildhall/sentinel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct game_object
{
    struct game_object* next;
    max_align_t bytes[];
};

/* No test means its game to hang for so long, but those that say so (asleep). */
#define STEP_MAX_US (SECOND_US / 10)

static game* games;

void* game_new(game* owner, size_t size)
{
    struct game_object* object = calloc(1, sizeof(*object) + size);
    assert_non_null(object);
    object->next = owner->objects;
    owner->objects = object;
    return object->bytes;
}

static void on_log(void* context, gh_log_level level, gh_str text)
{
    game* self = context;
    if (level == GH_LOG_WARNING) self->warnings_logged++;
    if (level == GH_LOG_ERROR)
    {
        self->errors_logged++;
        snprintf(self->last_error, sizeof(self->last_error), "%.*s", (int)text.size, text.bytes);
    }
    if (getenv("GUILDHALL_TEST_LOG") != NULL)
        fprintf(stderr, "    %p %d: %.*s\n", context, (int)level, (int)text.size, text.bytes);
}

static bool on_assertion(void* context, const char* file, int line, const char* expression)
{
    (void)context;
    fprintf(stderr, "%s:%d: the library asserts: %s\n", file, line, expression);
    abort();
}

gh_client_config game_config(const char* address)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(address);
    config.connect_timeout_us *= suite_patience();
    config.request_timeout_us *= suite_patience();
    return config;
}

gh_client_config game_config_behind(const char* seeds)
{
    gh_client_config config = game_config(seeds);
    config.topology = gh_topology_sentinel();
    config.sentinel_name = gh_str_literal(SENTINELS_NAME);
    return config;
}

static void game_close(void* thing)
{
    game* self = thing;
    game** link = &games;
    while (*link != NULL && *link != self) link = &(*link)->next;
    if (*link == self) *link = self->next;
    gh_client_shutdown(self->client);
    secure_close(self->way);
    fronted_close(self->fleet);
    while (self->objects != NULL)
    {
        struct game_object* object = self->objects;
        self->objects = object->next;
        free(object);
    }
    free(self->memory);
    free(self);
}

/* NULL: the platform of the run, which may lead to a fleet or speak TLS. */
game* game_start_on(const gh_client_config* config, const gh_platform* platform)
{
    game* self = calloc(1, sizeof(*self));
    assert_non_null(self);
    self->config = *config;
    self->step_max_us = STEP_MAX_US;
    if (self->config.hooks.context == NULL)
    {
        self->config.hooks.context = self;
        if (self->config.hooks.log == NULL) self->config.hooks.log = on_log;
    }
    if (self->config.hooks.assertion == NULL) self->config.hooks.assertion = on_assertion;
    if (platform == NULL)
    {
        self->way = secure_open(self->config.address);
        self->fleet = fronted_open(&self->config);
    }
    self->memory_size = gh_client_memory(&self->config);
    assert_true(self->memory_size > 0);
    assert_int_equal(posix_memalign(&self->memory, 16, self->memory_size), 0);
    memset(self->memory, 0xa5, self->memory_size); /* nothing may count on zeroed memory */
    if (platform == NULL) platform = fronted_platform(self->fleet, secure_platform(self->way));
    assert_status(gh_client_init(self->memory, self->memory_size, &self->config, platform, &self->client), GH_OK);
    self->next = games;
    games = self;
    cleanup_add(game_close, self);
    return self;
}

game* game_start_with(const gh_client_config* config)
{
    return game_start_on(config, NULL);
}

game* game_start(const char* address)
{
    gh_client_config config = game_config(address);
    return game_start_with(&config);
}

game* game_start_deaf(const char* address)
{
    gh_client_config config = game_config(address);
    config.wake = false;
    return game_start_with(&config);
}

game* game_start_patient(const char* address)
{
    gh_client_config config = game_config(address);
    config.wake = false;
    config.request_timeout_us = 30 * SECOND_US;
    return game_start_with(&config);
}

/* Of a Cluster each node; else links would come with the first op for each. */
static void open_links(game* self)
{
    const char* word;
    for (size_t i = 0; self->fleet != NULL && (word = fronted_word(i)) != NULL; i++)
    {
        gh_command* op = GAME_NEW(self, gh_command);
        const gh_str words[2] = {gh_str_literal("EXISTS"), gh_str_of(word)};
        assert_status(gh_command_begin(op, self->client, words, 2, NULL), GH_OK);
        GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    }
}

game* game_start_ready(const char* address)
{
    game* self = game_start(address);
    GAME_UNTIL(gh_client_ready(self->client));
    open_links(self);
    return self;
}

void game_end(game* ended)
{
    cleanup_forget(ended);
    game_close(ended);
}

uint64_t game_now_us(const game* self)
{
    return wait_now_us() + (uint64_t)self->ahead_us;
}

/* A machine that others fill gives the test no processor for seconds. Those are not the game's: its ops would be over
   before their first answer could be read. */
static void leave_out_stall(game* self)
{
    uint64_t now_us = wait_now_us();
    uint64_t stood_us = self->ticked_us == 0 ? 0 : now_us - self->ticked_us;
    if (self->step_max_us != 0 && stood_us > self->step_max_us)
        self->ahead_us -= (int64_t)(stood_us - self->step_max_us);
    self->ticked_us = now_us;
}

void game_tick(game* self)
{
    leave_out_stall(self);
    assert_status(gh_tick(self->client, game_now_us(self), 0), GH_OK);
}

void game_tick_all(void)
{
    game* self;
    for (self = games; self != NULL; self = self->next)
    {
        if (self->asleep) self->ticked_us = 0;
        else game_tick(self);
    }
    wait_briefly();
}

gh_client_stats game_stats(const game* self)
{
    gh_client_stats stats;
    assert_status(gh_client_get_stats(self->client, &stats), GH_OK);
    return stats;
}

void game_forget_all(void)
{
    games = NULL;
}
