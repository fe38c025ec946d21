/* tls_games.c -- a gh_tls that outlives its games. */

#include "tls/tls_games.h"

#include "support/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note_line(void* context, gh_log_level level, gh_str text)
{
    tls_games* self = context;
    const size_t room = sizeof(self->log) - self->log_size;
    (void)level;
    int size = snprintf(self->log + self->log_size, room, "%.*s\n", (int)text.size, text.bytes);
    if (size > 0 && (size_t)size < room) self->log_size += (size_t)size;
}

static void end_thing(void* thing)
{
    tls_games* self = thing;
    gh_tls_shutdown(self->tls);
    free(self->block);
    free(self);
}

tls_games* tls_games_new(const gh_client_config* config, uint32_t streams)
{
    tls_games* self = calloc(1, sizeof(*self));
    assert_non_null(self);
    cleanup_add(end_thing, self);
    self->config = *config;
    self->config.hooks.context = self;
    self->config.hooks.log = note_line;
    gh_tls_config tls_config = gh_tls_config_default();
    tls_config.credentials.roots = papers_read("root.pem");
    tls_config.streams_capacity = tls_config.tickets_capacity = streams;
    tls_config.steps_per_tick = 64;
    size_t size = gh_tls_memory(&tls_config);
    assert_int_equal(posix_memalign(&self->block, 16, size), 0);
    assert_int_equal(gh_tls_init(self->block, size, &tls_config, gh_platform_default(), &self->tls), GH_OK);
    return self;
}

game* tls_games_start(tls_games* self)
{
    return game_start_on(&self->config, gh_tls_platform(self->tls));
}

gh_tls_stats tls_games_stats(const tls_games* self)
{
    return gh_tls_get_stats(self->tls);
}

bool tls_games_said(const tls_games* self, const char* words)
{
    return strstr(self->log, words) != NULL;
}
