/* While the slot of an object moves to another node, each op of it waits, and nothing of it is done by half: a key that
   a script itself removes counts as away then, and the next touch would end the script in its middle. When the slot has
   come to rest, the op ends as it does on any day. Renewals alone go on meanwhile. */

#include "support/scene/drill.h"
#include "support/faults/garbage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MAX 128
#define SHARDS    64
#define REST_US   30000

typedef struct move
{
    redis_server* nodes[2];
    char ids[2][48];
    long long slots[SLOTS_MAX];
    size_t count;
    bool moving;
    uint64_t rest_us; /* then the slots come to rest */
    char* before;     /* all that the store has      */
    size_t before_size;
    bool touched;
} move;

/* ---- slots --------------------------------------------------------------------------------------------- */

static void add_slot(move* self, const char* key)
{
    long long slot = redis_server_integer(self->nodes[0], "CLUSTER KEYSLOT %s", key);
    for (size_t i = 0; i < self->count; i++)
        if (self->slots[i] == slot) return;
    assert_true(self->count < SLOTS_MAX);
    self->slots[self->count++] = slot;
}

/* Of all keys of the system; of all shards where there are shards. */
static void list_slots(move* self, const drill_system* system)
{
    page_table keys = garbage_keys();
    self->count = 0;
    for (size_t i = 0; i < keys.count; i++)
    {
        const char* row = garbage_key_of(&keys.rows[i]);
        if (!drill_has_row(system, row)) continue;
        add_slot(self, drill_key(row));
        if (strstr(row, "<player>") != NULL) add_slot(self, "gh:{chats:eve}:l"); /* who joins */
        const char* shard = strstr(row, "<shard>");
        for (int k = 0; shard != NULL && k < SHARDS; k++)
        {
            char key[128];
            snprintf(key, sizeof(key), "%.*s%d}", (int)(shard - row), row, k);
            add_slot(self, key);
        }
    }
    page_free_table(&keys);
}

static void begin_move(move* self)
{
    for (size_t i = 0; i < self->count; i++)
    {
        redis_server_do(self->nodes[1], "CLUSTER SETSLOT %lld IMPORTING %s", self->slots[i], self->ids[0]);
        redis_server_do(self->nodes[0], "CLUSTER SETSLOT %lld MIGRATING %s", self->slots[i], self->ids[1]);
    }
    self->moving = true;
}

static void end_move(move* self)
{
    for (size_t i = 0; i < self->count && self->moving; i++)
        for (int node = 0; node < 2; node++)
            redis_server_do(self->nodes[node], "CLUSTER SETSLOT %lld STABLE", self->slots[i]);
    self->moving = false;
}

/* ---- what is in the store ------------------------------------------------------------------------------ */

static int by_text(const void* left, const void* right)
{
    return strcmp((*(redisReply* const*)left)->str, (*(redisReply* const*)right)->str);
}

/* All keys with what they hold, one behind the other; free it. */
static char* dump_store(redis_server* server, size_t* size)
{
    redisReply* keys = redis_server_command(server, "KEYS *");
    char* all = malloc(1);
    *size = 0;
    qsort(keys->element, keys->elements, sizeof(keys->element[0]), by_text);
    for (size_t i = 0; i < keys->elements; i++)
    {
        redisReply* value = redis_server_command(server, "DUMP %s", keys->element[i]->str);
        all = realloc(all, *size + keys->element[i]->len + value->len + 1);
        assert_non_null(all);
        memcpy(all + *size, keys->element[i]->str, keys->element[i]->len);
        if (value->len > 0) memcpy(all + *size + keys->element[i]->len, value->str, value->len);
        *size += keys->element[i]->len + value->len;
        freeReplyObject(value);
    }
    freeReplyObject(keys);
    return all;
}

static void come_to_rest(drill* scene)
{
    move* self = scene->context;
    if (!self->moving || wait_now_us() < self->rest_us) return;
    size_t size = 0;
    char* now = dump_store(self->nodes[0], &size);
    self->touched = size != self->before_size || memcmp(now, self->before, size) != 0;
    free(now);
    end_move(self);
}

static long long errors_of(redis_server* node, const char* kind)
{
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "errorstat_%s:count=", kind);
    const char* text = strstr(redis_server_text(node, "INFO errorstats"), wanted);
    return text == NULL ? 0 : strtoll(text + strlen(wanted), NULL, 10);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

/* They touch no key that they removed before, so they need not wait. */
static bool may_write_meanwhile(const drill_case* of)
{
    return strcmp(of->name, "renew") == 0 || strcmp(of->name, "fenced") == 0;
}

/* A caller's command that is not to be repeated; its keys are not declared, and so the server ends it. */
static bool is_the_callers(const drill_case* of)
{
    return strcmp(of->name, "fenced") == 0;
}

/* True: all is as it should be. */
static bool move_during(drill* scene, const drill_case* of)
{
    move* self = scene->context;
    char why[256] = "";
    drill_prepare(scene, of);
    self->before = dump_store(self->nodes[0], &self->before_size);
    self->touched = false;
    long long errors = errors_of(self->nodes[0], "ERR");
    uint64_t lost = game_stats(scene->game).links_lost;
    begin_move(self);
    self->rest_us = wait_now_us() + REST_US;
    scene->between = come_to_rest;
    gh_status status = drill_run(scene, of);
    if (status != GH_OK && self->moving) drill_tick_for(scene, 2 * REST_US); /* it did not wait for it */
    scene->between = NULL;
    end_move(self);
    free(self->before);
    if (status != of->healthy && !(status == GH_TIMEOUT && of->times_out) &&
        !(status == GH_UNKNOWN && is_the_callers(of)))
        snprintf(why, sizeof(why), "%s", gh_status_name(status));
    else if (self->touched && !may_write_meanwhile(of)) snprintf(why, sizeof(why), "wrote meanwhile");
    else if (errors_of(self->nodes[0], "ERR") != errors && !is_the_callers(of))
        snprintf(why, sizeof(why), "a script was ended");
    else if (game_stats(scene->game).links_lost != lost) snprintf(why, sizeof(why), "a link was lost");
    else
    {
        scene->repeated = true;
        if (drill_heal(scene, why)) return true;
    }
    printf("    migrating: %s.%s: %s\n", scene->system->name, of->name, why);
    return false;
}

static void judge_moves(const drill_system* system)
{
    static move self;
    unsigned failed = 0;
    memset(&self, 0, sizeof(self));
    redis_server_cluster_pair(self.nodes);
    for (int i = 0; i < 2; i++)
        snprintf(self.ids[i], sizeof(self.ids[i]), "%s", redis_server_text(self.nodes[i], "CLUSTER MYID"));
    list_slots(&self, system);
    drill* scene = drill_start_on(system, self.nodes[0]);
    scene->context = &self;
    for (size_t i = 0; i < system->count; i++) failed += !move_during(scene, &system->cases[i]);
    if (failed > 0) fail_msg("%s: %u of %zu failed", system->name, failed, system->count);
}

#define MOVE_TEST(system)                                                                                              \
    static void system(void** state)                                                                                   \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        judge_moves(&drill_##system);                                                                                  \
    }
DRILL_SYSTEMS(MOVE_TEST)

#define MOVE_TEST_NAME(system) cmocka_unit_test(system),
TEST_FILE(migrating, DRILL_SYSTEMS(MOVE_TEST_NAME));
