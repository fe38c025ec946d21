/* drill.c -- states that are prepared once and restored by the server itself, from one database into another. */

#include "support/scene/drill.h"

#include "support/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#define MEMORY_SIZE ((size_t)4 << 20)

/* COPY keeps the times to live. The client is never between the two steps. */
static const char restore_script[] = "redis.call('SELECT', ARGV[1]) local keys = redis.call('KEYS', '*') "
                                     "redis.call('SELECT', ARGV[2]) redis.call('FLUSHDB') "
                                     "redis.call('SELECT', ARGV[1]) "
                                     "for _, key in ipairs(keys) do redis.call('COPY', key, key, 'DB', ARGV[2]) end";

static void copy_store(drill* self, int from, int to)
{
    redis_server_do(self->server, "EVAL %s 0 %d %d", restore_script, from, to);
}

static void drill_free(void* thing)
{
    drill* self = thing;
    free(self->memory);
    free(self);
}

static char shelf[4]; /* of the marks of the game's client */

static gh_client_config config_of(const drill* self)
{
    gh_client_config config = game_config(self->seeds != NULL ? self->seeds : redis_server_address(self->server));
    if (self->seeds != NULL) config.topology = gh_topology_cluster();
    return config;
}

static void start_game(drill* self)
{
    gh_client_config config = config_of(self);
    config.wake = false;
    if (self->user != NULL) config.user = gh_str_of(self->user);
    if (self->user != NULL) config.password = gh_str_literal("secret");
    self->game = game_start_with(&config);
    GAME_UNTIL(self->user != NULL || gh_client_ready(self->game->client)); /* a user may lack rights for that */
    snprintf(shelf, sizeof(shelf), "%02x", (unsigned)(gh_client_id(self->game->client) >> 56));
}

drill* drill_start_in_cluster(const drill_system* system, redis_server* server, const char* seeds)
{
    drill* self = calloc(1, sizeof(*self));
    assert_non_null(self);
    self->memory = calloc(1, MEMORY_SIZE);
    assert_non_null(self->memory);
    cleanup_add(drill_free, self);
    self->system = system;
    self->within_us = 5 * SECOND_US * suite_patience();
    self->progress_us = seeds == NULL ? SECOND_US / 5 * suite_patience() : self->within_us; /* slots may move */
    self->server = server;
    self->seeds = seeds;
    start_game(self);
    return self;
}

drill* drill_start_on(const drill_system* system, redis_server* server)
{
    return drill_start_in_cluster(system, server, NULL);
}

static drill* start_drill(const drill_system* system, bool clock)
{
    static const char* const arguments[] = {
        "--lua-time-limit", "100", "--slowlog-log-slower-than", "2000", "--slowlog-max-len", "64", NULL};
    redis_server_options options = {.arguments = arguments, .clock = clock};
    drill* self = drill_start_on(system, redis_server_start(&options));
    self->has_clock = clock;
    return self;
}

drill* drill_start(const drill_system* system)
{
    return start_drill(system, false);
}

drill* drill_start_with_clock(const drill_system* system)
{
    return start_drill(system, true);
}

void drill_set_user(drill* self, const char* user)
{
    self->user = user;
    drill_new_game(self);
}

void drill_new_game(drill* self)
{
    game_end(self->game);
    start_game(self);
}

void drill_recover(drill* self)
{
    game_end(self->game);
    redis_server_kill9(self->server);
    redis_server_restart(self->server);
    memset(self->states, 0, sizeof(self->states));
    start_game(self);
}

void* drill_new(drill* self, size_t size)
{
    void* memory = self->memory + self->used;
    self->used += (size + 15) / 16 * 16;
    if (self->used > MEMORY_SIZE) fail_msg("the drill needs more memory");
    return memory;
}

/* ---- states -------------------------------------------------------------------------------------------- */

static int find_state(drill* self, const void* as)
{
    for (int i = 1; i < 16; i++)
        if (self->states[i] == as) return i;
    return 0;
}

static int new_state(drill* self, const void* as)
{
    int i = find_state(self, as);
    if (i == 0) i = find_state(self, NULL);
    if (i == 0) fail_msg("more states than databases");
    self->states[i] = as;
    return i;
}

static const void* state_of(const drill_case* of)
{
    const void* as;
    memcpy(&as, &of->prepare, sizeof(as));
    return as;
}

static bool has_states(const drill* self)
{
    for (int i = 1; i < 16; i++)
        if (self->states[i] != NULL) return true;
    return false;
}

static void run_prepare(drill* self, const drill_case* of)
{
    gh_client_config config = config_of(self);
    game* one = game_start_with(&config);
    game* two = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(one->client) && gh_client_ready(two->client));
    of->prepare(one, two);
    game_end(two);
    game_end(one);
}

/* All states have the epoch of the first, so that no client thinks that the store was lost. */
static void prepare_state(drill* self, const drill_case* of)
{
    static const char empty_script[] = "local epoch = redis.call('GET', 'gh:epoch') redis.call('FLUSHDB') "
                                       "redis.call('SET', 'gh:epoch', epoch)";
    if (has_states(self))
    {
        copy_store(self, 1, 0);
        redis_server_do(self->server, "EVAL %s 0", empty_script);
    }
    else
    {
        if (self->has_clock) redis_server_shift_clock(self->server, 0);
        redis_server_do(self->server, "FLUSHALL");
        drill_new_game(self);
    }
    run_prepare(self, of);
    copy_store(self, 0, new_state(self, state_of(of)));
}

static void begin_run(drill* self)
{
    self->end_us = wait_now_us() + self->within_us;
}

static void begin_case(drill* self, const drill_case* of)
{
    memset(self->memory, 0, self->used);
    self->used = 0;
    self->bag = NULL;
    self->current = of;
    self->repeated = false;
    self->later = false;
    self->end_us = wait_now_us() + 4 * self->within_us; /* all is whole yet: what is slow is the machine */
    if (of->arm != NULL) of->arm(self);
}

/* What is left of the last run lies in the memory that the next one gets, and must not touch its store. */
static void settle_game(drill* self)
{
    self->end_us = wait_now_us() + 50000 * suite_patience();
    DRILL_UNTIL(self, game_stats(self->game).ops_busy == 0);
    if (game_stats(self->game).ops_busy > 0) drill_new_game(self);
}

void drill_restore(drill* self, const drill_case* of)
{
    settle_game(self);
    if (find_state(self, state_of(of)) == 0) prepare_state(self, of);
    copy_store(self, find_state(self, state_of(of)), 0);
    begin_case(self, of);
}

void drill_prepare(drill* self, const drill_case* of)
{
    settle_game(self);
    redis_server_do(self->server, "FLUSHALL");
    drill_new_game(self);
    run_prepare(self, of);
    begin_case(self, of);
}
gh_status drill_run(drill* self, const drill_case* of)
{
    begin_run(self);
    return of->run(self);
}

bool drill_heal(drill* self, char why[256])
{
    begin_run(self);
    return self->system->heal(self, why);
}

void drill_let_leases_end(drill* self)
{
    redis_server_shift_clock(self->server, (int64_t)(DRILL_HOUR + DRILL_HOUR / 60));
    drill_jump(self, DRILL_HOUR + DRILL_HOUR / 60);
    memset(self->states, 0, sizeof(self->states)); /* they have times to live */
    self->later = true;
}

/* ---- time ---------------------------------------------------------------------------------------------- */

bool drill_goes_on(drill* self)
{
    struct timespec pause = {0, 30 * 1000};
    if (wait_now_us() >= self->end_us) return false;
    game_tick(self->game);
    if (self->between != NULL) self->between(self);
    nanosleep(&pause, NULL);
    return true;
}

void drill_await_answers(const game* asker)
{
    game_tick_all(); /* what was begun is asked in it */
    GAME_UNTIL(game_stats(asker).requests_sent + game_stats(asker).requests_waiting == 0);
}

void drill_jump(drill* self, uint64_t us)
{
    game_tick(self->game);
    DRILL_UNTIL(self, game_stats(self->game).requests_sent + game_stats(self->game).requests_waiting == 0);
    self->game->ahead_us += (int64_t)us;
    game_tick(self->game);
}

void drill_tick_for(drill* self, uint64_t us)
{
    uint64_t end_us = wait_now_us() + us;
    while (wait_now_us() < end_us && drill_goes_on(self)) continue;
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static const char* word_for(const char* place, size_t size)
{
    static const char* const pairs[][2] = {
        {"<name>", DRILL_NAME},     {"<owner>", DRILL_NAME},  {"<queue>", DRILL_NAME}, {"<channel>", DRILL_NAME},
        {"<player>", DRILL_PLAYER}, {"<set.day>", DRILL_SET}, {"<class>", "0"},        {"<seconds>", "1"}};
    static char shard[8];
    snprintf(shard, sizeof(shard), "%u", (unsigned)(XXH3_64bits(DRILL_NAME, strlen(DRILL_NAME)) % 64));
    if (size == strlen("<shelf>") && strncmp(place, "<shelf>", size) == 0) return shelf;
    if (size == strlen("<shard>") && strncmp(place, "<shard>", size) == 0) return shard;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (size == strlen(pairs[i][0]) && strncmp(place, pairs[i][0], size) == 0) return pairs[i][1];
    fail_msg("the drill has no word for %.*s of KEYS.md", (int)size, place);
    return NULL;
}

const char* drill_key(const char* row)
{
    static char key[128];
    size_t used = 0;
    while (*row != '\0' && used + 32 < sizeof(key))
    {
        size_t plain = strcspn(row, "<");
        used += (size_t)snprintf(key + used, sizeof(key) - used, "%.*s", (int)plain, row);
        row += plain;
        if (*row == '\0') break;
        size_t place = strcspn(row, ">") + 1;
        used += (size_t)snprintf(key + used, sizeof(key) - used, "%s", word_for(row, place));
        row += place;
    }
    return key;
}

bool drill_has_row(const drill_system* system, const char* row)
{
    const char* kind = strchr(row, '{');
    if (kind == NULL) return false;
    size_t size = strcspn(++kind, ":");
    for (const char* at = system->kinds; *at != '\0'; at += strspn(at, " "))
    {
        size_t word = strcspn(at, " ");
        if (word == size && strncmp(at, kind, size) == 0) return true;
        at += word;
    }
    return false;
}
