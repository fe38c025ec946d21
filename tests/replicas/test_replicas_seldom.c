/* A lock that replicas did not have in time, and that is on its way back when its wait, its owner's patience or its
   client ends. In a world that is made up. */

#include "support/scene/game.h"
#include "support/server/made_cluster.h"
#include "support/server/scripted.h"

#include "client/lease.h"

#include <string.h>

#define MS UINT64_C(1000)

typedef struct store
{
    bool replicas_lag; /* none has what was said */
    bool wait_is_mute; /* they are asked, and do not answer */
    bool takes_back;   /* else it does not answer a release */
    unsigned releases;
} store;

static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    store* self = world->context;
    const bool is_wait = gh_str_equal(words[0], gh_str_literal("WAIT"));
    const bool is_release = gh_str_equal(words[0], gh_str_literal("EVALSHA")) && (count == 9 || count == 10);
    if (is_wait && self->wait_is_mute && !gh_str_equal(words[1], gh_str_literal("0"))) return true; /* no hand-shake */
    if (is_wait && self->replicas_lag) buffer_add(reply, ":0\r\n", 4);
    self->releases += is_release;
    return (is_wait && self->replicas_lag) || (is_release && !self->takes_back);
}

/* It was granted, no replica has it, and the store does not say that it has it back. */
static gh_lock* start_giving_back(scripted* world, store* self, uint64_t wait_us)
{
    gh_client_config config = scripted_config();
    config.replicas = gh_replicas_wait();
    config.wait_replicas = 1;
    self->replicas_lag = true;
    world->context = self;
    world->answer = answer;
    scripted_start_ready(world, &config);
    gh_lock* lock = scripted_want(world, "sword", 600 * SECOND_US, wait_us);
    SCRIPTED_UNTIL(world, self->releases > 0, MS, wait_us);
    assert_int_equal(lock->lease.op.state, GH_LEASE_RETURNING);
    return lock;
}

/* Whoever answers next takes it. */
static gh_status end_of(scripted* world, store* self, const gh_lock* lock)
{
    self->takes_back = true;
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++) world->streams[i].ended = true;
    SCRIPTED_UNTIL(world, !gh_op_is_busy(&lock->op), MS, 10 * SECOND_US);
    return gh_op_poll(&lock->op);
}

static void lock_on_its_way_back_is_asked_for_again(void** state)
{
    (void)state;
    store self = {0};
    scripted* world = scripted_new();
    gh_lock* lock = start_giving_back(world, &self, 60 * SECOND_US);
    self.replicas_lag = false;
    self.takes_back = true;
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++) world->streams[i].ended = true;
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 10 * SECOND_US);
}

static void lock_on_its_way_back_is_cancelled(void** state)
{
    (void)state;
    store self = {0};
    scripted* world = scripted_new();
    gh_lock* lock = start_giving_back(world, &self, 60 * SECOND_US);
    gh_op_cancel(&lock->op);
    assert_status(end_of(world, &self, lock), GH_CANCELLED);
}

/* It has been given back, and whoever waited has it, when the owner's release comes: the answers come together. */
static bool answer_two_releases(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    store* self = world->context;
    const bool is_release = gh_str_equal(words[0], gh_str_literal("EVALSHA")) && (count == 9 || count == 10);
    if (!is_release || ++self->releases < 2) return answer(world, words, count, reply);
    buffer_add_bulk(reply, "%.*s 0", (int)words[7].size, words[7].bytes);
    buffer_add_bulk(reply, "%.*s 1", (int)words[7].size, words[7].bytes);
    return true;
}

/* Nobody was told that it was held, so it is not told as lost. */
static void lock_on_its_way_back_is_given_up(void** state)
{
    (void)state;
    store self = {0};
    scripted* world = scripted_new();
    gh_lock* lock = start_giving_back(world, &self, 60 * SECOND_US);
    world->answer = answer_two_releases;
    self.releases = 1;
    gh_lock_release(lock);
    SCRIPTED_UNTIL(world, !gh_op_is_busy(&lock->op), MS, SECOND_US);
    assert_status(gh_op_poll(&lock->op), GH_OK);
}

static void wait_is_over_for_a_lock_on_its_way_back(void** state)
{
    (void)state;
    store self = {0};
    scripted* world = scripted_new();
    gh_lock* lock = start_giving_back(world, &self, SECOND_US);
    for (int i = 0; i < 1100; i++) scripted_tick(world, MS);
    assert_status(end_of(world, &self, lock), GH_TIMEOUT);
}

static void client_ends_with_a_lock_on_its_way_back(void** state)
{
    (void)state;
    store self = {0};
    scripted* world = scripted_new();
    gh_lock* lock = start_giving_back(world, &self, 60 * SECOND_US);
    gh_client_shutdown(world->client);
    assert_false(gh_op_is_busy(&lock->op));
    assert_status(gh_op_poll(&lock->op), GH_CANCELLED);
}

/* ---- before replicas have said anything ---------------------------------------------------------------------------
 */

/* It was granted, and who asks the replicas hears nothing. */
static gh_lock* start_asking_replicas(scripted* world, store* self, uint64_t wait_us)
{
    gh_client_config config = scripted_config();
    config.replicas = gh_replicas_wait();
    config.wait_replicas = 1;
    config.wait_us = 60 * SECOND_US;
    config.request_timeout_us = 60 * SECOND_US;
    self->wait_is_mute = true;
    world->context = self;
    world->answer = answer;
    scripted_start_ready(world, &config);
    gh_lock* lock = scripted_want(world, "sword", 600 * SECOND_US, wait_us);
    SCRIPTED_UNTIL(world, lock->lease.op.state == GH_LEASE_SYNCING, MS, SECOND_US);
    return lock;
}

static void wait_is_over_while_replicas_are_asked(void** state)
{
    (void)state;
    store self = {0};
    scripted* world = scripted_new();
    gh_lock* lock = start_asking_replicas(world, &self, SECOND_US);
    for (int i = 0; i < 1100; i++) scripted_tick(world, MS);
    assert_int_equal(lock->lease.op.state, GH_LEASE_LEAVING);
    assert_status(end_of(world, &self, lock), GH_TIMEOUT);
}

static bool answer_not_yours(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    store* self = world->context;
    const bool is_release = gh_str_equal(words[0], gh_str_literal("EVALSHA")) && (count == 9 || count == 10);
    if (!is_release) return answer(world, words, count, reply);
    self->releases++;
    buffer_add_bulk(reply, "%.*s 1", (int)words[7].size, words[7].bytes);
    return true;
}

/* Of a grant that a failover has lost meanwhile nobody was told. */
static void lock_is_released_while_replicas_are_asked(void** state)
{
    (void)state;
    store self = {0};
    scripted* world = scripted_new();
    gh_lock* lock = start_asking_replicas(world, &self, 60 * SECOND_US);
    world->answer = answer_not_yours;
    gh_lock_release(lock);
    SCRIPTED_UNTIL(world, !gh_op_is_busy(&lock->op), MS, SECOND_US);
    assert_int_equal(self.releases, 1);
    assert_status(gh_op_poll(&lock->op), GH_OK);
}

static void client_ends_while_replicas_are_asked(void** state)
{
    (void)state;
    store self = {0};
    scripted* world = scripted_new();
    gh_lock* lock = start_asking_replicas(world, &self, 60 * SECOND_US);
    gh_client_shutdown(world->client);
    assert_status(gh_op_poll(&lock->op), GH_CANCELLED);
}

#define SHOWN 8

static void note_row(void* context, gh_str line)
{
    byte_buffer* rows = context;
    if (line.size < 2 || memcmp(line.bytes, "  ", 2) != 0) return;
    buffer_add(rows, line.bytes, line.size);
    buffer_add(rows, "\n", 1);
}

/* Of two kinds, one behind the other in the heap of timers: the rows of a dump lie beside each other. */
static void dump_shows_what_replicas_are_asked_about(void** state)
{
    (void)state;
    static const char* const names[SHOWN] = {"sword", "shield", "bow", "axe", "spear", "mace", "sling", "knife"};
    store self = {.replicas_lag = true};
    byte_buffer rows = {0};
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    gh_lock* lock = NULL;
    config.replicas = gh_replicas_wait();
    config.wait_replicas = 1;
    config.wait_us = 60 * SECOND_US;
    world->context = &self;
    world->answer = answer;
    scripted_start_ready(world, &config);
    for (int i = 0; i < SHOWN; i++)
    {
        (void)scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
        lock = scripted_want(world, names[i], 600 * SECOND_US, 60 * SECOND_US);
    }
    SCRIPTED_UNTIL(world, lock->lease.op.state == GH_LEASE_SYNCING, MS, SECOND_US);
    assert_status(gh_client_dump(world->client, note_row, &rows), GH_OK);
    buffer_add(&rows, "", 1);
    if (strstr(rows.bytes, "  lock, state 5: 8, of these queued 0, sent 0, paused 0, awaited 8\n") == NULL ||
        strstr(rows.bytes, "  command, state 0: 8, of these queued 0, sent 0, paused 0, awaited 8\n") == NULL)
        fail_msg("it says:\n%s", rows.bytes);
    buffer_free(&rows);
}

/* What it was granted is not there any more, and it asks anew. */
static void store_is_lost_while_replicas_are_asked(void** state)
{
    (void)state;
    store self = {.takes_back = true};
    scripted* world = scripted_new();
    gh_lock* lock = start_asking_replicas(world, &self, 60 * SECOND_US);
    const uint64_t sequence = lock->op.sequence;
    self.wait_is_mute = false;
    world->store_birth_us++;
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++) world->streams[i].ended = true;
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 10 * SECOND_US);
    assert_int_equal(scripted_stats(world).store_resets, 1);
    assert_true(lock->op.sequence != sequence);
}

#define CROWD      600u
#define CROWD_WIRE 8u

/* More wait to be asked than there are places on the wire, and go on to: the question for replicas gets its own. */
static void crowd_does_not_keep_replicas_from_being_asked(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    gh_command_line* ops = scripted_keep(world, CROWD * sizeof *ops);
    unsigned done = 0;
    config.replicas = gh_replicas_wait();
    config.wait_replicas = 1;
    config.requests_capacity = CROWD_WIRE;
    scripted_start_ready(world, &config);
    for (unsigned i = 0; i < 300; i++)
    {
        for (unsigned n = 0; n < CROWD; n++)
        {
            if (gh_op_is_busy(&ops[n].op)) continue;
            if (ops[n].op.kind != NULL) assert_status(gh_op_poll(&ops[n].op), GH_OK);
            done += ops[n].op.kind != NULL;
            assert_status(gh_command_format(&ops[n], world->client, NULL, "A"), GH_OK);
        }
        scripted_tick(world, 16 * MS);
    }
    assert_in_range(done, 300, UINT32_MAX);
    assert_int_equal(scripted_stats(world).unreplicated, 0);
}

/* A client that sleeps until its deadline gets a lock that replicas have, and gives it back. */
static void deadlines_are_enough(void** state)
{
    (void)state;
    store self = {.takes_back = true};
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.replicas = gh_replicas_wait();
    config.wait_replicas = 1;
    world->context = &self;
    world->answer = answer;
    scripted_start_ready(world, &config);
    gh_lock* lock = scripted_want(world, "sword", 10 * SECOND_US, 60 * SECOND_US);
    for (unsigned ticks = 0; gh_op_poll(&lock->op) != GH_HELD; ticks++)
    {
        const uint64_t due_us = gh_next_deadline(world->client);
        assert_true(ticks < 200);
        assert_true(due_us <= world->now_us + 60 * SECOND_US);
        scripted_tick(world, due_us > world->now_us ? due_us - world->now_us : 0);
        scripted_tick(world, 1); /* what was answered */
    }
    const uint64_t due_us = gh_next_deadline(world->client);
    assert_in_range(due_us, world->now_us, world->now_us + 10 * SECOND_US); /* its renewal */
}

/* The link ends behind the answer, before replicas are asked: nobody can say that they have it, so it is given back. */
static bool end_behind_the_answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    store* self = world->context;
    (void)reply;
    if (self->releases > 0 || !gh_str_equal(words[0], gh_str_literal("EVALSHA")) || count < 13 || words[3].size < 9 ||
        memcmp(words[3].bytes, "gh:{lock:", 9) != 0)
        return false;
    self->releases++;
    world->streams[world->asked - world->streams].ended = true;
    return false;
}

static void link_that_ends_before_replicas_are_asked(void** state)
{
    (void)state;
    store self = {0};
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.replicas = gh_replicas_wait();
    config.wait_replicas = 1;
    world->context = &self;
    world->answer = end_behind_the_answer;
    scripted_start_ready(world, &config);
    gh_lock* lock = scripted_want(world, "sword", 600 * SECOND_US, 60 * SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 10 * SECOND_US);
    assert_int_equal(self.releases, 1);
    assert_int_equal(scripted_stats(world).links_lost, 1);
}

/* ---- in a Cluster ------------------------------------------------------------------------------------------------ */

#define TICK_US 5000

static scripted_answer honest;
static bool wait_is_mute;

static bool answer_of_node(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    const bool is_wait = gh_str_equal(words[0], gh_str_literal("WAIT"));
    if (is_wait && wait_is_mute && !gh_str_equal(words[1], gh_str_literal("0"))) return true;
    return honest(world, words, count, reply);
}

static bool ask_the_next(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    if (slot != fleet->slot || node != 0) return false;
    made_redirect(reply, "ASK", slot, 1);
    return true;
}

static made_cluster* start_fleet(made_lie lie)
{
    char name[24];
    made_cluster* fleet = made_cluster_new(3);
    fleet->config.replicas = gh_replicas_wait();
    fleet->config.wait_replicas = 1;
    fleet->config.wait_us = 60 * SECOND_US;
    fleet->config.request_timeout_us = 60 * SECOND_US;
    fleet->slot = made_name(fleet, 0, 1000, name);
    fleet->lie = lie;
    honest = fleet->world->answer;
    fleet->world->answer = answer_of_node;
    made_cluster_start(fleet);
    return fleet;
}

static void part_from(made_cluster* fleet, unsigned node)
{
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (fleet->world->streams[i].port == MADE_PORT + node) fleet->world->streams[i].ended = true;
}

/* It was asked for at the node that its slot is on its way to, where replicas are asked; the owner has lost its data.
 */
static void owner_loses_its_data_while_replicas_of_another_are_asked(void** state)
{
    (void)state;
    wait_is_mute = true;
    made_cluster* fleet = start_fleet(ask_the_next);
    gh_lock* lock = made_cluster_want(fleet, 0, 60 * SECOND_US);
    MADE_UNTIL(fleet, lock->lease.op.state == GH_LEASE_SYNCING, TICK_US, SECOND_US);
    const uint64_t sequence = lock->op.sequence;
    wait_is_mute = false;
    fleet->world->store_birth_us++;
    part_from(fleet, 0);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 10 * SECOND_US);
    assert_true(scripted_stats(fleet->world).store_resets >= 1);
    assert_true(lock->op.sequence != sequence);
}

/* That of before. */
static void old_map(made_cluster* fleet, byte_buffer* reply)
{
    (void)fleet;
    made_map_begin(reply, 3);
    for (unsigned node = 0; node < 3; node++)
        made_map_row(reply, (GH_SLOTS * node + 2) / 3, (GH_SLOTS * (node + 1) + 2) / 3 - 1, "10.0.0.1", 8,
                     (long)MADE_PORT + node);
}

/* What tells its epoch lies at another node when it comes back, and the map does not say so yet. */
static void node_that_comes_back_with_fewer_slots(void** state)
{
    (void)state;
    wait_is_mute = false;
    made_cluster* fleet = start_fleet(NULL);
    gh_lock* lock = made_cluster_want(fleet, 0, 60 * SECOND_US);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, SECOND_US);
    for (unsigned slot = 0; slot < GH_SLOTS; slot++)
        if (fleet->owners[slot] == 0 && slot % 64 != 0) fleet->owners[slot] = 1;
    fleet->map = old_map;
    part_from(fleet, 0);
    for (int i = 0; i < 200; i++) made_cluster_tick(fleet, TICK_US);
    fleet->map = NULL;
    for (int i = 0; i < 1000; i++) made_cluster_tick(fleet, TICK_US);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    assert_int_equal(scripted_stats(fleet->world).store_resets, 0);
    assert_true(gh_client_ready(fleet->world->client));
}

TEST_FILE(replicas_seldom, cmocka_unit_test(link_that_ends_before_replicas_are_asked),
          cmocka_unit_test(owner_loses_its_data_while_replicas_of_another_are_asked),
          cmocka_unit_test(node_that_comes_back_with_fewer_slots),
          cmocka_unit_test(wait_is_over_while_replicas_are_asked),
          cmocka_unit_test(lock_is_released_while_replicas_are_asked),
          cmocka_unit_test(client_ends_while_replicas_are_asked),
          cmocka_unit_test(store_is_lost_while_replicas_are_asked), cmocka_unit_test(deadlines_are_enough),
          cmocka_unit_test(crowd_does_not_keep_replicas_from_being_asked),
          cmocka_unit_test(dump_shows_what_replicas_are_asked_about),
          cmocka_unit_test(lock_on_its_way_back_is_asked_for_again),
          cmocka_unit_test(lock_on_its_way_back_is_cancelled), cmocka_unit_test(lock_on_its_way_back_is_given_up),
          cmocka_unit_test(wait_is_over_for_a_lock_on_its_way_back),
          cmocka_unit_test(client_ends_with_a_lock_on_its_way_back));
