/* While the slot of an object moves to another node, each op of it waits, and nothing of it is done by half: a key that
   a script itself removes counts as away then, and the next touch would end the script in its middle. When the slot has
   come to rest, the op ends as it does on any day. Renewals alone go on meanwhile. */

#include "support/scene/slot_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REST_US 30000

typedef struct move
{
    redis_server* nodes[2];
    char ids[2][48];
    slot_list slots;
    bool moving;
    uint64_t rest_us; /* then the slots come to rest */
    char* before;     /* all that the store has      */
    size_t before_size;
    bool touched;
} move;

static void begin_move(move* self)
{
    slot_list_set(&self->slots, self->nodes[1], "IMPORTING", self->ids[0]);
    slot_list_set(&self->slots, self->nodes[0], "MIGRATING", self->ids[1]);
    self->moving = true;
}

static void end_move(move* self)
{
    for (int node = 0; node < 2 && self->moving; node++) slot_list_set(&self->slots, self->nodes[node], "STABLE", "");
    self->moving = false;
}

static void come_to_rest(drill* scene)
{
    move* self = scene->context;
    if (!self->moving || wait_now_us() < self->rest_us) return;
    size_t size = 0;
    char* now = keys_dump(NULL, &size, self->nodes[0], "*");
    self->touched = size != self->before_size || memcmp(now, self->before, size) != 0;
    free(now);
    end_move(self);
}

static long long errors_of(redis_server* node, const char* kind)
{
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "errorstat_%s:count=", kind);
    long long count = redis_server_told(node, "INFO errorstats", wanted);
    return count < 0 ? 0 : count;
}

/* ---- tests --------------------------------------------------------------------------------------------- */

/* They touch no key that they removed before, so they need not wait. */
static bool may_write_meanwhile(const drill_case* of)
{
    return strcmp(of->name, "renew") == 0 || strcmp(of->name, "extend") == 0 || strcmp(of->name, "fenced") == 0;
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
    self->before = keys_dump(NULL, &self->before_size, self->nodes[0], "*");
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
    slot_list_of(&self.slots, system);
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
