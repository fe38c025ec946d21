/* The user that sdk/KEYS.md and guildhall/cluster.h say a game on a Cluster needs: every system works with it, a right
   that lacks is told in words, and so is a node that does not know the user. Real servers. */

#include "support/scene/drill.h"
#include "support/scene/rights.h"
#include "support/server/cluster.h"

#include "support/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MAX 96

/* ---- users ------------------------------------------------------------------------------------------------------- */

/* The words behind the user's name; without == count leaves none out. */
typedef struct rules
{
    char text[2048];
    const char* words[RULES_MAX];
    size_t count;
} rules;

static rules rules_of(const char* user)
{
    rules self = {.count = 0};
    snprintf(self.text, sizeof(self.text), "%s", strchr(user, ' ') + 1);
    return self;
}

/* Its words point into itself, so it must lie where it stays. */
static void split_rules(rules* self)
{
    for (char* word = strtok(self->text, " "); word != NULL; word = strtok(NULL, " "))
    {
        assert_true(self->count < RULES_MAX);
        self->words[self->count++] = word;
    }
}

static void set_user(redis_server* server, const rules* self, size_t without)
{
    char line[2048] = "ACL SETUSER game reset";
    for (size_t i = 0; i < self->count; i++)
        if (i != without) snprintf(line + strlen(line), sizeof(line) - strlen(line), " %s", self->words[i]);
    redis_server_do(server, line);
}

/* ---- one node has all slots, another none ------------------------------------------------------------------------ */

static redis_server* pair[2];
static char seeds[64];

static void forget_user(void* thing)
{
    (void)thing;
    for (int i = 0; i < 2; i++) redis_server_do(pair[i], "ACL DELUSER game");
}

static void take_pair(void)
{
    redis_server_cluster_pair(pair);
    snprintf(seeds, sizeof(seeds), "%s,%s", redis_server_tcp_address(pair[1]), redis_server_tcp_address(pair[0]));
    cleanup_add(forget_user, pair);
}

static void set_users(const rules* all, size_t without)
{
    for (int i = 0; i < 2; i++) set_user(pair[i], all, without);
}

static gh_status run_case(drill* scene, const drill_case* of)
{
    drill_prepare(scene, of);
    return drill_run(scene, of);
}

static void works_with_the_users_rights(const drill_system* system)
{
    static rules all;
    take_pair();
    all = rules_of(rights_in_a_cluster());
    split_rules(&all);
    all.words[all.count++] = "~{lock:" DRILL_NAME "}hoard*"; /* a caller's own key, and its receipts */
    set_users(&all, all.count);
    drill* scene = drill_start_in_cluster(system, pair[0], seeds);
    drill_set_user(scene, "game");
    for (size_t i = 0; i < system->count; i++)
    {
        const drill_case* of = &system->cases[i];
        gh_status status = run_case(scene, of);
        if (status != of->healthy)
            fail_msg("%s.%s ended %s: %s", system->name, of->name, gh_status_name(status), scene->game->last_error);
        assert_int_equal(scene->game->errors_logged, 0);
    }
    assert_int_equal(game_stats(scene->game).warnings & ~(uint32_t)GH_WARNING_NO_AOF, 0);
}

#define WORKS_TEST(system)                                                                                             \
    static void system##_works_with_the_users_rights(void** state)                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        works_with_the_users_rights(&drill_##system);                                                                  \
    }
DRILL_SYSTEMS(WORKS_TEST)

/* ---- one right lacks --------------------------------------------------------------------------------------------- */

static bool names_a_right(const char* words)
{
    static const char* const texts[] = {"NOPERM", "lacks rights to call:", "The user executing the script",
                                        "ACL failure"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strstr(words, texts[i]) != NULL) return true;
    return false;
}

/* True if the system cannot do without it. */
static bool is_refused_in_words(const drill_system* system, const char* right)
{
    const drill_case* of = &system->cases[0];
    drill* scene = drill_start_in_cluster(system, pair[0], seeds);
    drill_set_user(scene, "game");
    gh_status status = run_case(scene, of);
    if (status != of->healthy && status != GH_REFUSED)
        fail_msg("%s.%s without %s ends %s", system->name, of->name, right, gh_status_name(status));
    if (status == GH_REFUSED && !names_a_right(scene->game->last_error))
        fail_msg("%s.%s without %s is told: %s", system->name, of->name, right, scene->game->last_error);
    game_end(scene->game);
    return status == GH_REFUSED;
}

/* Any single one of them: the first op of each system does without it, or is refused and says why; none hangs, and none
   is stopped in its middle. */
static void each_right_that_lacks_is_told(void** state)
{
    (void)state;
    static const drill_system* const systems[] = {&drill_lock,    &drill_tasks, &drill_chat,  &drill_files,
                                                  &drill_mailbox, &drill_rows,  &drill_guild, &drill_contacts};
    static rules all;
    size_t refused = 0;
    take_pair();
    all = rules_of(rights_in_a_cluster());
    split_rules(&all);
    for (size_t i = 0; i < all.count; i++)
    {
        if (all.words[i][0] != '+') continue;
        set_users(&all, i);
        for (size_t k = 0; k < sizeof(systems) / sizeof(systems[0]); k++)
            refused += is_refused_in_words(systems[k], all.words[i]);
    }
    assert_true(refused > all.count);
}

/* ---- a whole Cluster --------------------------------------------------------------------------------------------- */

static gh_client_config user_config(cluster* fleet)
{
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    config.user = gh_str_literal("game");
    config.password = gh_str_literal("secret");
    return config;
}

static gh_lock* lock_begun(game* owner, const char* name)
{
    gh_lock* lock = GAME_NEW(owner, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 60 * SECOND_US;
    assert_status(gh_lock_begin(lock, owner->client, gh_str_of(name), &config), GH_OK);
    return lock;
}

static gh_status end_of_lock(game* owner, const char* name)
{
    gh_lock* lock = lock_begun(owner, name);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    return gh_op_poll(&lock->op);
}

/* One key of a slot that is on its way, with it; the user may read it. */
static gh_command_line* ask_while_a_slot_moves(game* owner, cluster* fleet, cluster_move* move)
{
    unsigned slot = cluster_slot("gh:box");
    redis_server_do(cluster_master(fleet, slot), "SET gh:box full");
    *move = cluster_move_begin(fleet, slot, cluster_master(fleet, (slot + CLUSTER_SLOTS / 2) % CLUSTER_SLOTS));
    while (cluster_move_keys(move, 100) > 0) continue;
    gh_command_line* line = GAME_NEW(owner, gh_command_line);
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE;
    config.timeout_us = 60 * SECOND_US;
    assert_status(gh_command_format(line, owner->client, &config, "GET gh:box"), GH_OK);
    return line;
}

/* Hints, slots on their way, replicas that are waited for, a master that gives way. */
static void whole_cluster_serves_the_user(void** state)
{
    (void)state;
    char user[2200], name[16];
    snprintf(user, sizeof(user), "%s +wait", rights_in_a_cluster());
    cluster* fleet = cluster_start(&(cluster_options){.replicas = 1, .user = user});
    gh_client_config config = user_config(fleet);
    config.replicas = gh_replicas_wait();
    config.wait_replicas = 1;
    game* a = game_start_with(&config);
    game* b = game_start_with(&config);
    for (int i = 0; i < 12; i++)
    {
        snprintf(name, sizeof(name), "door%d", i);
        gh_lock* first = lock_begun(a, name);
        GAME_UNTIL(gh_op_poll(&first->op) == GH_HELD);
        GAME_UNTIL(gh_client_link_state(b->client, GH_LINK_WAKE) == GH_LINK_READY);
        gh_lock* second = lock_begun(b, name);
        GAME_UNTIL(second->position > 0);
        gh_lock_release(first);
        GAME_UNTIL(gh_op_poll(&second->op) == GH_HELD);
    }
    assert_true(game_stats(b).hints > 0);
    cluster_move move;
    gh_command_line* line = ask_while_a_slot_moves(a, fleet, &move);
    GAME_UNTIL(gh_op_poll(&line->op) != GH_PENDING);
    assert_status(gh_op_poll(&line->op), GH_OK);
    assert_true(game_stats(a).asked > 0);
    cluster_move_end(&move);
    redis_server* old = cluster_master(fleet, 0);
    cluster_failover(fleet, 0, CLUSTER_PLANNED);
    cluster_await_master(fleet, 0, old);
    for (int i = 12; i < 24; i++)
    {
        snprintf(name, sizeof(name), "door%d", i);
        assert_status(end_of_lock(a, name), GH_HELD);
    }
    assert_int_equal(a->errors_logged + b->errors_logged, 0);
    assert_int_equal((game_stats(a).warnings | game_stats(b).warnings) & ~(uint32_t)GH_WARNING_NO_AOF, 0);
}

/* Ops wait for the time that the slot takes, and a person knows why. */
static void user_without_asking_waits_and_is_told(void** state)
{
    (void)state;
    char user[2200];
    snprintf(user, sizeof(user), "%s -asking", rights_in_a_cluster());
    cluster* fleet = cluster_start(&(cluster_options){.user = user});
    gh_client_config config = user_config(fleet);
    game* a = game_start_with(&config);
    cluster_move move;
    gh_command_line* line = ask_while_a_slot_moves(a, fleet, &move);
    GAME_UNTIL(strstr(a->last_error, "ops wait until their slot has moved: NOPERM") != NULL);
    assert_status(gh_op_poll(&line->op), GH_PENDING);
    cluster_move_end(&move);
    GAME_UNTIL(gh_op_poll(&line->op) != GH_PENDING);
    assert_status(gh_op_poll(&line->op), GH_OK);
}

static const char* door_of(cluster* fleet, const redis_server* master, bool is_its)
{
    static char names[8][16];
    static unsigned turn, number;
    char key[32];
    char* name = names[turn++ % 8];
    do
    {
        snprintf(name, 16, "gate%u", number++);
        snprintf(key, sizeof(key), "{lock:%s}", name);
    } while ((cluster_master(fleet, cluster_slot(key)) == master) != is_its);
    return name;
}

/* Users are not replicated. What lies on the others goes on, and when the node learns of the user, so does the rest. */
static void replica_that_lacks_the_user_refuses_its_slots_alone(void** state)
{
    (void)state;
    static rules all;
    cluster* fleet = cluster_start(&(cluster_options){.replicas = 1, .user = rights_in_a_cluster()});
    all = rules_of(rights_in_a_cluster());
    split_rules(&all);
    gh_client_config config = user_config(fleet);
    game* a = game_start_with(&config);
    redis_server* old = cluster_master(fleet, 0);
    redis_server* next = cluster_replica(fleet, old, 0);
    gh_lock* held = lock_begun(a, door_of(fleet, old, false));
    GAME_UNTIL(gh_op_poll(&held->op) == GH_HELD);
    assert_status(end_of_lock(a, door_of(fleet, old, true)), GH_HELD);
    redis_server_do(next, "ACL DELUSER game");
    cluster_failover(fleet, 0, CLUSTER_PLANNED);
    assert_ptr_equal(cluster_await_master(fleet, 0, old), next);
    for (int i = 0; i < 3; i++)
    {
        a->last_error[0] = '\0';
        assert_status(end_of_lock(a, door_of(fleet, next, true)), GH_REFUSED);
        assert_status(end_of_lock(a, door_of(fleet, next, false)), GH_HELD);
    }
    GAME_UNTIL(strstr(a->last_error, "WRONGPASS") != NULL && /* each attempt says so */
               strstr(a->last_error, redis_server_tcp_address(next)) != NULL);
    assert_status(gh_op_poll(&held->op), GH_HELD);
    set_user(next, &all, all.count);
    gh_status status = GH_REFUSED;
    while (status == GH_REFUSED) status = end_of_lock(a, door_of(fleet, next, true));
    assert_status(status, GH_HELD);
}

#define WORKS_TEST_NAME(system) cmocka_unit_test(system##_works_with_the_users_rights),
TEST_FILE(cluster_rights, DRILL_SYSTEMS(WORKS_TEST_NAME) cmocka_unit_test(each_right_that_lacks_is_told),
          cmocka_unit_test(whole_cluster_serves_the_user), cmocka_unit_test(user_without_asking_waits_and_is_told),
          cmocka_unit_test(replica_that_lacks_the_user_refuses_its_slots_alone));
