/* No script of ours ends half-way while its slot moves. Each op of each system is run on a client that follows a
   Cluster, while all slots of its object are on their way to another node, in four states of its keys: all are here,
   every second one has moved, the others have, all have moved. Every script that touches an object's keys is asked for
   meanwhile.

       prepare -> slots MIGRATING, keys as the state says -> run: TRYAGAIN ... -> keys move -> SETSLOT NODE -> its
   result

   Meanwhile nothing is written but by renewals. What all clients of one server see of this: store/test_migrating.c. */

#include "support/scene/permits.h"
#include "support/scene/slot_list.h"
#include "support/server/cluster.h"

#include "support/cleanup.h"
#include "support/faults/half.h"
#include "support/source_tree.h"

#include "client/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS       "gh:{[a-z]*:*" /* without epochs, which belong to nodes */
#define ROUNDS_MIN 3              /* TRYAGAIN so often is waiting */
#define REST_US    60000

typedef enum keys_at
{
    KEYS_HERE,
    KEYS_PARTED,
    KEYS_PARTED_OTHERWISE,
    KEYS_THERE,
    KEYS_STATES
} keys_at;

static const char* const state_names[KEYS_STATES] = {"here", "parted", "parted otherwise", "there"};

typedef struct migration
{
    redis_server* nodes[2];
    char ids[2][48];
    char seeds[64];
    slot_list slots;
    bool moving;
    bool gives; /* at the end node 1 has the slots; else node 0, and all keys again */
    uint64_t rest_us;
    uint64_t again_before; /* TRYAGAIN of the game, when the slots began to move */
    uint64_t again;        /* meanwhile                                          */
    char* before;          /* all that the store has                             */
    size_t before_size;
    bool touched;
    size_t waited;               /* how many did */
    bool asked[GH_SCRIPT_COUNT]; /* scripts that were on the wire while slots moved */

    /* of a run whose slots begin to move in its middle */
    uint64_t requests_before;
    uint64_t sent_at[GH_SCRIPT_COUNT]; /* so many requests had gone when the script was seen first; 0: it was not */
    uint64_t behind;                   /* the slots move as soon as so many have                                  */
    keys_at state;
} migration;

/* ---- slots --------------------------------------------------------------------------------------------- */

static void open_slots(migration* self)
{
    slot_list_set(&self->slots, self->nodes[1], "IMPORTING", self->ids[0]);
    slot_list_set(&self->slots, self->nodes[0], "MIGRATING", self->ids[1]);
    self->moving = true;
}

/* The new owner hears it first. They are not given back: who has a slot is told by gossip, too, and some of that may
   still be under way. */
static void give_slots(migration* self)
{
    redis_server_await_epoch(self->nodes[1], self->nodes[0]);
    slot_list_set(&self->slots, self->nodes[1], "NODE", self->ids[1]);
    slot_list_set(&self->slots, self->nodes[0], "NODE", self->ids[1]);
}

static void put_back(void* thing)
{
    migration* self = thing;
    if (self->moving) slot_list_set(&self->slots, self->nodes[0], "STABLE", "");
    if (self->moving) slot_list_set(&self->slots, self->nodes[1], "STABLE", "");
    self->moving = false;
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static void move_keys(migration* self, int from, size_t first, size_t every)
{
    redisReply* keys = keys_in_order(self->nodes[from], KEYS);
    const char* port = strrchr(redis_server_tcp_address(self->nodes[1 - from]), ':') + 1;
    for (size_t i = 0; i < keys->elements; i++)
        if (!slot_list_has(&self->slots, cluster_slot(keys->element[i]->str)))
            fail_msg("the test does not know that %s is a key of the system", keys->element[i]->str);
    for (size_t i = first; i < keys->elements; i += every)
        redis_server_queue(self->nodes[from], "MIGRATE 127.0.0.1 %s %s 0 30000", port, keys->element[i]->str);
    redis_server_drain(self->nodes[from]);
    freeReplyObject(keys);
}

/* Of both nodes; free it. */
static char* dump_store(migration* self, size_t* size)
{
    return keys_dump(keys_dump(NULL, size, self->nodes[0], KEYS), size, self->nodes[1], KEYS);
}

/* ---- the migration --------------------------------------------------------------------------------------- */

static void begin_move(migration* self, drill* scene, keys_at state)
{
    open_slots(self);
    if (state == KEYS_PARTED) move_keys(self, 0, 1, 2);
    if (state == KEYS_PARTED_OTHERWISE) move_keys(self, 0, 0, 2);
    if (state == KEYS_THERE) move_keys(self, 0, 0, 1);
    self->before = dump_store(self, &self->before_size);
    self->touched = false;
    self->again_before = game_stats(scene->game).try_again;
    self->rest_us = wait_now_us() + REST_US * suite_patience();
}

static void end_move(drill* scene)
{
    migration* self = scene->context;
    size_t size = 0;
    char* now = dump_store(self, &size);
    self->again = game_stats(scene->game).try_again - self->again_before;
    self->waited += self->again > 0;
    self->touched = size != self->before_size || memcmp(now, self->before, size) != 0;
    free(now);
    free(self->before);
    if (self->gives)
    {
        move_keys(self, 0, 0, 1);
        give_slots(self);
        scene->server = self->nodes[1];
    }
    else
    {
        slot_list_set(&self->slots, self->nodes[0], "STABLE", ""); /* or it would not take the keys back */
        move_keys(self, 1, 0, 1);
        slot_list_set(&self->slots, self->nodes[1], "STABLE", "");
    }
    self->moving = false;
}

static uint64_t requests_of(const drill* scene)
{
    const migration* self = scene->context;
    return game_stats(scene->game).requests - self->requests_before;
}

static void note_scripts(drill* scene)
{
    migration* self = scene->context;
    const gh_client* client = scene->game->client;
    for (const gh_node* node = client->nodes; node < client->nodes_end; node++)
        for (const gh_slot* slot = node->sent; slot != NULL; slot = slot->next)
            for (unsigned i = 0; i < GH_SCRIPT_COUNT; i++)
            {
                if (slot->purpose != GH_SLOT_OP || slot->script != &client->scripts[i]) continue;
                if (self->moving) self->asked[i] = true;
                if (self->sent_at[i] == 0) self->sent_at[i] = requests_of(scene);
            }
}

static void come_to_rest(drill* scene)
{
    migration* self = scene->context;
    if (!self->moving) return;
    note_scripts(scene);
    if (game_stats(scene->game).try_again < self->again_before + ROUNDS_MIN && wait_now_us() < self->rest_us) return;
    end_move(scene);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

/* Their scripts say that they go on meanwhile. */
static bool goes_on(const drill_case* of)
{
    return strcmp(of->name, "renew") == 0 || strcmp(of->name, "extend") == 0;
}

/* A caller's command that is carried out as it is, where its fence allows that. */
static bool is_the_callers(const drill_case* of)
{
    return strcmp(of->name, "fenced") == 0;
}

static bool ends_well(const drill_case* of, gh_status status)
{
    return status == of->healthy || (status == GH_TIMEOUT && of->times_out);
}

/* NULL: all is as it should be. */
static const char* judge(drill* scene, const drill_case* of, gh_status status, keys_at state)
{
    static char why[256];
    const migration* self = scene->context;
    if (!ends_well(of, status)) return gh_status_name(status);
    if (game_stats(scene->game).scripts_halved > 0) return "a script was ended in its middle";
    if (self->touched && !goes_on(of) && !is_the_callers(of)) return "wrote meanwhile";
    if (self->again > 0 && strcmp(of->name, "extend") == 0 && state == KEYS_HERE) return "was to go on meanwhile";
    scene->repeated = true;
    return drill_heal(scene, why) ? NULL : why;
}

static bool judge_run(drill* scene, const drill_case* of, void (*between)(drill*), keys_at state)
{
    migration* self = scene->context;
    scene->between = between;
    gh_status status = drill_run(scene, of);
    scene->between = NULL;
    if (self->moving) end_move(scene); /* it did not wait for it */
    const char* why = judge(scene, of, status, state);
    if (why != NULL) printf("    half, keys %s: %s.%s: %s\n", state_names[state], scene->system->name, of->name, why);
    return why == NULL;
}

static void prepare_run(drill* scene, const drill_case* of)
{
    migration* self = scene->context;
    redis_server_do(self->nodes[1], "FLUSHALL");
    drill_prepare(scene, of);
    memset(self->sent_at, 0, sizeof(self->sent_at));
    self->requests_before = game_stats(scene->game).requests;
}

static bool move_during(drill* scene, const drill_case* of, keys_at state)
{
    prepare_run(scene, of);
    begin_move(scene->context, scene, state);
    return judge_run(scene, of, come_to_rest, state);
}

static migration* migration_new(redis_server* from, redis_server* to)
{
    static migration self;
    memset(&self, 0, sizeof(self));
    self.nodes[0] = from;
    self.nodes[1] = to;
    for (int i = 0; i < 2; i++)
        snprintf(self.ids[i], sizeof(self.ids[i]), "%s", redis_server_text(self.nodes[i], "CLUSTER MYID"));
    snprintf(self.seeds, sizeof(self.seeds), "%s,%s", redis_server_tcp_address(to), redis_server_tcp_address(from));
    cleanup_add(put_back, &self);
    return &self;
}

static migration* migration_of_pair(void)
{
    redis_server* nodes[2];
    redis_server_cluster_pair(nodes);
    return migration_new(nodes[0], nodes[1]);
}

static bool is_of(half_script script, const drill_system* system)
{
    char file[128];
    char path[SOURCE_TREE_PATH_SIZE];
    snprintf(file, sizeof(file), "sdk/src/%s/%s.lua", system->name, script.name);
    return source_tree_path(path, file);
}

static bool is_left_out(const migration* self, half_script script, const drill_system* system)
{
    return !self->asked[script.number] && is_of(script, system);
}

static size_t scripts_left_out(const migration* self, const drill_system* system, bool told)
{
    size_t count = 0;
    for (size_t i = 0; i < half_count(); i++)
    {
        if (!is_left_out(self, half_at(i), system)) continue;
        if (told) printf("    half: nothing has asked for %s while its slot moved\n", half_at(i).name);
        count++;
    }
    return count;
}

static void begin_in_the_middle(drill* scene)
{
    migration* self = scene->context;
    note_scripts(scene);
    if (requests_of(scene) < self->behind) return;
    begin_move(self, scene, self->state);
    scene->between = come_to_rest;
}

static bool move_in_the_middle(drill* scene, const drill_case* of, uint64_t behind, keys_at state)
{
    migration* self = scene->context;
    prepare_run(scene, of);
    self->behind = behind;
    self->state = state;
    return judge_run(scene, of, begin_in_the_middle, state);
}

/* What an op asks for behind another request is asked for only when that one is answered, so the slots begin to move in
   between: behind the last request before it, or a little sooner. */
static size_t move_in_the_middles(drill* scene, const drill_case* of)
{
    migration* self = scene->context;
    uint64_t sent_at[GH_SCRIPT_COUNT];
    size_t failed = 0;
    prepare_run(scene, of);
    scene->between = note_scripts;
    (void)drill_run(scene, of);
    scene->between = NULL;
    memcpy(sent_at, self->sent_at, sizeof(sent_at));
    for (unsigned i = 0; i < GH_SCRIPT_COUNT; i++)
        for (uint64_t back = 1; back <= 4 && back < sent_at[i] && is_left_out(self, half_at(i), scene->system); back++)
        {
            failed += !move_in_the_middle(scene, of, sent_at[i] - back, KEYS_HERE);
            if (is_left_out(self, half_at(i), scene->system)) continue; /* it was too late, or too early */
            for (int state = KEYS_HERE + 1; state < KEYS_STATES; state++)
                failed += !move_in_the_middle(scene, of, sent_at[i] - back, (keys_at)state);
        }
    return failed;
}

static void judge_moves(const drill_system* system)
{
    migration* self = migration_of_pair();
    unsigned failed = 0;
    drill* scene = drill_start_in_cluster(system, self->nodes[0], self->seeds);
    scene->context = self;
    slot_list_of(&self->slots, system);
    for (size_t i = 0; i < system->count; i++)
        for (int state = 0; state < KEYS_STATES; state++)
            failed += !move_during(scene, &system->cases[i], (keys_at)state);
    for (size_t i = 0; i < system->count && scripts_left_out(self, system, false) > 0; i++)
        failed += (unsigned)move_in_the_middles(scene, &system->cases[i]);
    if (failed > 0) fail_msg("%s: %u failed", system->name, failed);
    assert_true(self->waited > system->count); /* the slots that move are those of the system */
    assert_int_equal(scripts_left_out(self, system, true), 0);
}

#define HALF_TEST(system)                                                                                              \
    static void system(void** state)                                                                                   \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        judge_moves(&drill_##system);                                                                                  \
    }
DRILL_SYSTEMS(HALF_TEST)

#define SYSTEM_OF(system) &drill_##system,

static const drill_system* const every_system[] = {DRILL_SYSTEMS(SYSTEM_OF)};

/* Scripts that are of no system's object, and why they cannot end half-way there. */
static const struct
{
    const char* name;
    const char* why;
} of_no_object[] = {{"epoch", "the hand-shake's, of a single key"},
                    {"rights", "the hand-shake's, which writes nothing"},
                    {"command", "stands in front of a caller's, and only reads"},
                    {"command_once", "stands around a caller's, of which its receipt says how far it came"},
                    {"fenced", "stands in front of a caller's, and only reads"}};

static bool is_of_a_system(half_script script)
{
    for (size_t i = 0; i < sizeof(every_system) / sizeof(every_system[0]); i++)
        if (is_of(script, every_system[i])) return true;
    return false;
}

static void every_script_is_of_a_system_or_of_no_object(void** state)
{
    (void)state;
    for (size_t i = 0; i < half_count(); i++)
    {
        const half_script script = half_at(i);
        bool excused = false;
        for (size_t k = 0; k < sizeof(of_no_object) / sizeof(of_no_object[0]); k++)
            excused = excused || strcmp(of_no_object[k].name, script.name) == 0;
        if (excused == is_of_a_system(script)) fail_msg("%s is of no system", script.name);
    }
}

/* ---- slots that have moved -------------------------------------------------------------------------------- */

/* What waits goes on at the new owner. */
static void what_waits_goes_on_elsewhere(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.masters = 2, .node_timeout_ms = 15000});
    redis_server* from = cluster_node(fleet, 0);
    redis_server* to = cluster_node(fleet, 1);
    unsigned failed = 0;
    for (size_t i = 0; i < sizeof(every_system) / sizeof(every_system[0]); i++)
    {
        migration* self = migration_new(from, to);
        self->gives = true;
        drill* scene = drill_start_in_cluster(every_system[i], from, self->seeds);
        scene->context = self;
        slot_list_of(&self->slots, every_system[i]);
        for (size_t k = 0; k < self->slots.count; k++)
            if (cluster_master(fleet, self->slots.slots[k]) == to) cluster_move_slot(fleet, self->slots.slots[k], from);
        failed += !move_during(scene, &every_system[i]->cases[0], KEYS_PARTED);
        game_end(scene->game);
        cleanup_forget(self);
    }
    assert_int_equal(failed, 0);
}

/* However long a slot takes to move: no renewal waits for it. */
static void leases_live_through_a_move(void** state)
{
    (void)state;
    migration* self = migration_of_pair();
    gh_client_config settings = game_config(self->seeds);
    settings.topology = gh_topology_cluster();
    game* a = game_start_with(&settings);
    gh_lock* lock = GAME_NEW(a, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = DRILL_HOUR;
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("thing"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    gh_permit* permit = permit_hold_one(a, "thing", 2, DRILL_HOUR);
    slot_list_add(&self->slots, "gh:{lock:thing}:s");
    slot_list_add(&self->slots, "gh:{semaphore:thing}:s");
    open_slots(self);
    for (int i = 0; i < 2; i++)
    {
        uint64_t lock_end_us = gh_lock_end_us(lock);
        if (i == 1) move_keys(self, 0, 0, 1);
        a->ahead_us += (int64_t)(DRILL_HOUR * 2 / 5);
        game_tick(a);
        uint64_t least_us = gh_permit_remaining_us(permit);
        GAME_UNTIL(gh_lock_end_us(lock) > lock_end_us && gh_permit_remaining_us(permit) > least_us);
    }
    assert_int_equal(game_stats(a).try_again, 0);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    assert_status(gh_op_poll(&permit->op), GH_HELD);
    redis_server_do(self->nodes[1], "FLUSHALL");
}

#define HALF_TEST_NAME(system) cmocka_unit_test(system),
TEST_FILE(cluster_half, DRILL_SYSTEMS(HALF_TEST_NAME) cmocka_unit_test(every_script_is_of_a_system_or_of_no_object),
          cmocka_unit_test(what_waits_goes_on_elsewhere), cmocka_unit_test(leases_live_through_a_move));
