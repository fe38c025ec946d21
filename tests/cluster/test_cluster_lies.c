/* A node that says what no Cluster would: what it costs, and that it is found out. */

#include "support/scene/game.h"
#include "support/server/made_cluster.h"

#include "client/state.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define ENDLESS_BYTES ((size_t)8 << 20) /* more than is read until the client gives up */
#define PIECE_BYTES   60000

static bool endless_map(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    (void)world;
    if (count != 2 || words[0].size != 7 || memcmp(words[0].bytes, "CLUSTER", 7) != 0) return false;
    static char piece[PIECE_BYTES];
    memset(piece, 'x', sizeof(piece));
    char head[64];
    buffer_add(reply, "*1\r\n*3\r\n:0\r\n:16383\r\n*16384\r\n", strlen("*1\r\n*3\r\n:0\r\n:16383\r\n*16384\r\n"));
    snprintf(head, sizeof(head), "$9\r\n127.0.0.1\r\n:1\r\n");
    buffer_add(reply, head, strlen(head));
    while (reply->size < ENDLESS_BYTES)
    {
        snprintf(head, sizeof(head), "$%d\r\n", PIECE_BYTES);
        buffer_add(reply, head, strlen(head));
        buffer_add(reply, piece, sizeof(piece));
        buffer_add(reply, "\r\n", 2);
    }
    return true;
}

static scripted* start_world(void)
{
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.topology = gh_topology_cluster();
    world->answer = endless_map;
    scripted_start(world, &config);
    return world;
}

/* Ticks without a budget read what is there, and go on with it in the next one. */
static void endless_map_costs_a_tick_little(void** state)
{
    (void)state;
    scripted* world = start_world();
    uint64_t most = 0;
    for (int i = 0; i < 20; i++)
    {
        uint64_t before = scripted_stats(world).bytes_received;
        scripted_tick(world, 16000);
        uint64_t now = scripted_stats(world).bytes_received - before;
        if (now > most) most = now;
    }
    assert_true(most > 0);
    assert_true(most <= 256 * 1024);
}

/* Also where each tick ends before all is read that has come. */
static void endless_map_is_given_up(void** state)
{
    (void)state;
    scripted* world = start_world();
    gh_lock* lock = scripted_want(world, "door", 10000000, 20000000);
    world->budget_us = 1000;
    world->clock_step_us = 2000;
    SCRIPTED_UNTIL(world, scripted_logged(world, "no map in time"), 16000, 10000000);
    SCRIPTED_UNTIL(world, !gh_op_is_busy(&lock->op), 16000, 30000000);
    assert_int_equal(gh_op_poll(&lock->op), GH_TIMEOUT);
}

/* ---- nodes that send ops about ----------------------------------------------------------------------------------- */

#define TICK_US 5000
#define LIED_US 10000000
#define TICKS   (LIED_US / TICK_US)

/* So often an op is sent at most while it is sent elsewhere all the time: five times at once, and then with pauses of
   at least half of 2, 4, 8, 16, 32, 50, 50 ... ms. */
#define SENT_MOST (LIED_US / 25000 + 12)

static made_cluster* start_fleet(unsigned count)
{
    made_cluster* fleet = made_cluster_new(count);
    for (unsigned node = 0; node < count; node++) (void)made_cluster_cycle(fleet, node);
    return fleet;
}

static unsigned long least_cycles(const made_cluster* fleet)
{
    unsigned long least = fleet->cyclers[0].cycles;
    for (unsigned i = 1; i < fleet->cycler_count; i++)
        if (fleet->cyclers[i].cycles < least) least = fleet->cyclers[i].cycles;
    return least;
}

static uint64_t sent_elsewhere(const made_cluster* fleet)
{
    const gh_client_stats stats = scripted_stats(fleet->world);
    return stats.moved + stats.asked;
}

/* One slot is lied about for ten seconds; all others go on as they did, also at the node that lies; and as soon as the
   truth is told, the op of that slot goes on, too. */
static void expect_outlived(made_cluster* fleet, made_lie lie, uint64_t healed_us)
{
    char name[24];
    made_cluster_start(fleet);
    MADE_UNTIL(fleet, least_cycles(fleet) >= 20, TICK_US, 10000000);
    fleet->slot = made_name(fleet, 0, 1000, name);
    fleet->lie = lie;
    const unsigned long others = least_cycles(fleet);
    const unsigned long maps = fleet->maps;
    const uint64_t moved = sent_elsewhere(fleet);
    const uint64_t opens = fleet->world->opens;
    gh_lock* lock = made_cluster_want(fleet, 0, 3600000000u);
    for (unsigned i = 0; i < TICKS; i++) made_cluster_tick(fleet, TICK_US);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    assert_in_range(sent_elsewhere(fleet) - moved, 5, SENT_MOST);
    assert_true(least_cycles(fleet) - others > TICKS / 5);
    assert_true(fleet->maps - maps <= 12);
    assert_true(fleet->world->opens - opens <= 24);
    assert_true(fleet->requests_most <= 8);
    fleet->lie = NULL;
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, healed_us);
}

/* And where it never is, the op ends in its time. */
static void expect_time_out(made_cluster* fleet, made_lie lie)
{
    char name[24];
    made_cluster_start(fleet);
    fleet->slot = made_name(fleet, 0, 1000, name);
    fleet->lie = lie;
    gh_lock* lock = made_cluster_want(fleet, 0, 2000000);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) != GH_PENDING, TICK_US, 4000000);
    assert_status(gh_op_poll(&lock->op), GH_TIMEOUT);
    assert_true(least_cycles(fleet) > 20);
}

static void expect_harmless(made_lie lie)
{
    expect_outlived(start_fleet(3), lie, 200000);
    expect_time_out(start_fleet(3), lie);
}

static bool moved_to_and_fro(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    if (slot != fleet->slot) return false;
    made_redirect(reply, "MOVED", slot, node == 0 ? 1 : 0);
    return true;
}

static bool moved_to_itself(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    if (slot != fleet->slot) return false;
    made_redirect(reply, "MOVED", slot, node);
    return true;
}

static bool asked_for_ever(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    if (slot != fleet->slot) return false;
    made_redirect(reply, "ASK", slot, (node + 1) % fleet->count);
    return true;
}

static bool asked_of_itself(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    if (slot != fleet->slot) return false;
    made_redirect(reply, "ASK", slot, node);
    return true;
}

/* Each time to a node that nobody has heard of. */
static bool moved_to_new_ones(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)node;
    if (slot != fleet->slot) return false;
    made_redirect(reply, "MOVED", slot, 10 + (unsigned)(fleet->requests % 2000));
    return true;
}

/* Of another slot than the op's. */
static bool moved_of_another(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    if (slot != fleet->slot) return false;
    made_redirect(reply, "MOVED", (slot + 1) % GH_SLOTS, node);
    return true;
}

static bool moved_to_nowhere(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    static const char text[] = "-MOVED banana\r\n";
    (void)node;
    if (slot != fleet->slot) return false;
    buffer_add(reply, text, sizeof text - 1);
    return true;
}

/* The map is read instead. */
static void moved_to_nowhere_is_outlived(void** state)
{
    (void)state;
    made_cluster* fleet = start_fleet(3);
    char name[24];
    made_cluster_start(fleet);
    fleet->slot = made_name(fleet, 0, 1000, name);
    fleet->lie = moved_to_nowhere;
    gh_lock* lock = made_cluster_want(fleet, 0, 60000000);
    const unsigned long maps = fleet->maps;
    const unsigned long cycles = least_cycles(fleet);
    for (int i = 0; i < TICKS / 4; i++) made_cluster_tick(fleet, TICK_US);
    assert_int_equal(gh_op_poll(&lock->op), GH_PENDING);
    assert_in_range(fleet->maps - maps, 1, 16);
    assert_true(least_cycles(fleet) - cycles > 100); /* all others go on */
    fleet->lie = NULL;
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 1000000);
}

static void moved_to_and_fro_is_outlived(void** state)
{
    (void)state;
    expect_harmless(moved_to_and_fro);
}

static void moved_to_itself_is_outlived(void** state)
{
    (void)state;
    expect_harmless(moved_to_itself);
}

static void ask_without_end_is_outlived(void** state)
{
    (void)state;
    expect_harmless(asked_for_ever);
}

static void ask_of_itself_is_outlived(void** state)
{
    (void)state;
    expect_harmless(asked_of_itself);
}

static void moved_to_ever_new_nodes_is_outlived(void** state)
{
    (void)state;
    const uint64_t next_map_us = 3000000; /* which says whether such a node has an epoch */
    expect_outlived(start_fleet(3), moved_to_new_ones, next_map_us);
    expect_time_out(start_fleet(3), moved_to_new_ones);
}

static void moved_of_another_slot_is_outlived(void** state)
{
    (void)state;
    expect_harmless(moved_of_another);
}

/* A crowd that comes anew all the time costs the node no more connections than one op does. */
static void crowd_that_is_moved_to_where_it_is_costs_few_links(void** state)
{
    (void)state;
    made_cluster* fleet = start_fleet(3);
    gh_lock* locks = scripted_keep(fleet->world, 50 * sizeof *locks);
    char name[24];
    made_cluster_start(fleet);
    MADE_UNTIL(fleet, least_cycles(fleet) >= 20, TICK_US, 10000000);
    fleet->slot = made_name(fleet, 0, 1000, name);
    fleet->lie = moved_to_itself;
    const unsigned long others = least_cycles(fleet);
    const uint64_t opens = fleet->world->opens;
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 100000;
    for (unsigned i = 0; i < TICKS; i++)
    {
        for (unsigned k = 0; k < 50; k++)
            if (!gh_op_is_busy(&locks[k].op) && i % 50 == k)
                assert_status(gh_lock_begin(&locks[k], fleet->world->client, gh_str_of(name), &config), GH_OK);
        made_cluster_tick(fleet, TICK_US);
    }
    assert_true(fleet->world->opens - opens <= 24);
    assert_true(least_cycles(fleet) - others > TICKS / 5);
}

#define CROWD 8000
#define WIRE  512 /* requests_capacity */

/* What the tick costs, of this thread's time. */
static uint64_t cost_of_tick(made_cluster* fleet)
{
    const uint64_t begin_ns = thread_time_ns();
    made_cluster_tick(fleet, TICK_US);
    return thread_time_ns() - begin_ns;
}

/* Of ticks with that many answers the cheapest, which nothing of the machine's has come between: where all of them are
   MOVED, and where none is. */
typedef struct tick_costs
{
    uint64_t moved;
    uint64_t answered;
} tick_costs;

static void note_least(uint64_t* least, uint64_t cost)
{
    if (*least == 0 || cost < *least) *least = cost;
}

static tick_costs cheapest_ticks(made_cluster* fleet)
{
    tick_costs least = {0, 0};
    for (unsigned i = 0; i < 100; i++)
    {
        const gh_client_stats before = scripted_stats(fleet->world);
        const uint64_t cost = cost_of_tick(fleet);
        const gh_client_stats after = scripted_stats(fleet->world);
        if (after.moved - before.moved >= WIRE) note_least(&least.moved, cost);
        else if (after.moved == before.moved && after.replies - before.replies >= WIRE)
            note_least(&least.answered, cost);
    }
    assert_true(least.moved > 0 && least.answered > 0);
    return least;
}

/* All slots of a node have gone to another, while thousands wait for it. */
static void moved_with_thousands_that_wait_costs_a_tick_little(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(2);
    gh_lock_config config = gh_lock_config_default();
    fleet->config.ops_capacity = CROWD + 1;
    made_cluster_start(fleet);
    gh_lock* first = made_cluster_want(fleet, 0, 10000000);
    MADE_UNTIL(fleet, gh_op_poll(&first->op) == GH_HELD, TICK_US, 10000000);
    for (unsigned slot = 0; slot < GH_SLOTS; slot++) fleet->owners[slot] = 1;
    config.lease_us = config.wait_us = 600000000;
    for (unsigned i = 0; i < CROWD; i++)
    {
        char name[24];
        snprintf(name, sizeof name, "gate%u", i);
        gh_lock* lock = SCRIPTED_NEW(fleet->world, gh_lock);
        assert_status(gh_lock_begin(lock, fleet->world->client, gh_str_of(name), &config), GH_OK);
    }
    const tick_costs costs = cheapest_ticks(fleet);
    assert_true(costs.moved < 20 * costs.answered);
}

/* ---- who was replaced -------------------------------------------------------------------------------------------- */

static unsigned asked_of_successor;

static bool note_successor(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)reply;
    asked_of_successor += node == 1 && slot == fleet->slot;
    return false;
}

static scripted_stream* stream_to(made_cluster* fleet, unsigned node)
{
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (fleet->world->streams[i].open && fleet->world->streams[i].port == MADE_PORT + node)
            return &fleet->world->streams[i];
    fail_msg("no stream to node %u", node);
    return NULL;
}

/* A tick in which nothing comes from the node. */
static void tick_without(made_cluster* fleet, unsigned node, byte_buffer* held)
{
    made_cluster_tick(fleet, TICK_US);
    scripted_stream* stream = stream_to(fleet, node);
    buffer_add(held, stream->replies.bytes, stream->replies.size);
    buffer_consume(&stream->replies, stream->replies.size);
}

/* A renewal whose answer comes late, of a node that has lost the slot meanwhile: the one that has it is asked at once.
 */
static void late_renewal_of_who_was_replaced_is_doubted(void** state)
{
    (void)state;
    byte_buffer held = {0};
    made_cluster* fleet = made_cluster_new(3);
    fleet->config.request_timeout_us = 60000000;
    const made_cycler* cycler = made_cluster_cycle(fleet, 2);
    made_cluster_start(fleet);
    gh_lock* lock = made_cluster_want(fleet, 0, 60000000);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 1000000);
    char name[24];
    fleet->slot = made_name(fleet, 0, 1000, name);
    for (int i = 0; i < TICKS && held.size == 0; i++) tick_without(fleet, 0, &held);
    assert_true(held.size > 0);
    fleet->owners[fleet->slot] = fleet->owners[cycler->slot] = 1;
    for (int i = 0; i < 400; i++) tick_without(fleet, 0, &held); /* the cycler has it read a map */
    asked_of_successor = 0;
    fleet->lie = note_successor;
    buffer_add(&stream_to(fleet, 0)->replies, held.bytes, held.size);
    buffer_free(&held);
    for (int i = 0; i < 20; i++) made_cluster_tick(fleet, TICK_US);
    assert_in_range(asked_of_successor, 1, 2);
    assert_int_equal(gh_op_poll(&lock->op), GH_HELD);
}

/* All that the first master had is the second one's. */
static void replace_first(made_cluster* fleet)
{
    for (unsigned slot = 0; slot < GH_SLOTS; slot++)
        if (fleet->owners[slot] == 0) fleet->owners[slot] = 1;
}

/* Node 0 and that one are connected, and somebody has a lock of 0. */
static made_cluster* fleet_with_a_lock(unsigned other, uint64_t request_timeout_us)
{
    made_cluster* fleet = made_cluster_new(3);
    if (request_timeout_us != 0) fleet->config.request_timeout_us = request_timeout_us;
    const made_cycler* first = made_cluster_cycle(fleet, 0);
    const made_cycler* second = made_cluster_cycle(fleet, other);
    made_cluster_start(fleet);
    gh_lock* lock = made_cluster_want(fleet, 0, 60000000);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 1000000);
    MADE_UNTIL(fleet, first->cycles > 2 && second->cycles > 2, TICK_US, 1000000);
    char name[24];
    fleet->slot = made_name(fleet, 0, 1000, name);
    asked_of_successor = 0;
    fleet->lie = note_successor;
    return fleet;
}

/* It was connected before it had the slots: what it forgot with them, its hand-shake did not tell. */
static void successor_that_was_connected_is_asked_for_leases(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_with_a_lock(1, 0);
    replace_first(fleet);
    MADE_UNTIL(fleet, asked_of_successor == 1, TICK_US, 1000000);
}

static unsigned slot_on_its_way; /* from node 2 to node 0 */

static bool send_to_who_is_lost(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)note_successor(fleet, node, slot, reply);
    if (node != 2 || slot != slot_on_its_way) return false;
    made_redirect(reply, "ASK", slot, 0);
    return true;
}

static gh_status door_without_the_first(scripted* world, const gh_address* address)
{
    (void)world;
    return address->port == MADE_PORT ? GH_REFUSED : GH_OK;
}

/* A slot was on its way to who was replaced, and something waits there out of turn. */
static void successor_is_asked_though_something_waits_for_who_was_replaced(void** state)
{
    (void)state;
    char name[24];
    made_cluster* fleet = fleet_with_a_lock(1, 0);
    slot_on_its_way = made_name(fleet, 2, 2000, name);
    fleet->lie = send_to_who_is_lost;
    fleet->world->door = door_without_the_first;
    stream_to(fleet, 0)->ended = true;
    gh_lock* waits = scripted_want(fleet->world, name, 10000000, 60000000);
    for (int i = 0; i < 50; i++) made_cluster_tick(fleet, TICK_US);
    assert_int_equal(gh_op_poll(&waits->op), GH_PENDING);
    asked_of_successor = 0;
    replace_first(fleet);
    MADE_UNTIL(fleet, asked_of_successor > 0, TICK_US, 1500000);
}

/* NULL: none is in it. */
static scripted_stream* find_hand_shake(const made_cluster* fleet)
{
    const gh_client* client = fleet->world->client;
    for (const gh_node* node = client->nodes; node < client->nodes_end; node++)
        if (node->link.state == GH_LINK_HANDSHAKE) return &fleet->world->streams[node->link.stream];
    return NULL;
}

static void tick_unanswered(made_cluster* fleet, scripted_stream* stream, byte_buffer* held)
{
    made_cluster_tick(fleet, TICK_US);
    buffer_add(held, stream->replies.bytes, stream->replies.size);
    buffer_consume(&stream->replies, stream->replies.size);
}

/* It is connected for another slot, and its hand-shake takes long: what a doubt asked then, was asked of who had the
   slots before. */
static void successor_in_its_hand_shake_is_asked_for_leases(void** state)
{
    (void)state;
    byte_buffer held = {0};
    made_cluster* fleet = fleet_with_a_lock(2, 60000000);
    fleet->owners[fleet->cyclers[0].slot] = 1;
    MADE_UNTIL(fleet, find_hand_shake(fleet) != NULL, TICK_US, 1000000);
    scripted_stream* stream = find_hand_shake(fleet);
    for (int i = 0; i < 20; i++) tick_unanswered(fleet, stream, &held);
    replace_first(fleet);
    fleet->owners[fleet->cyclers[1].slot] = 1; /* has it read a map */
    asked_of_successor = 0;
    const unsigned long maps = fleet->maps;
    for (int i = 0; i < 400 && fleet->maps == maps; i++) tick_unanswered(fleet, stream, &held);
    for (int i = 0; i < 4; i++) tick_unanswered(fleet, stream, &held);
    assert_ptr_equal(find_hand_shake(fleet), stream);
    assert_int_equal(asked_of_successor, 0);
    buffer_add(&stream->replies, held.bytes, held.size);
    buffer_free(&held);
    for (int i = 0; i < 40; i++) made_cluster_tick(fleet, TICK_US);
    assert_int_equal(asked_of_successor, 1);
}

/* They have come with their data. */
static void slots_that_have_moved_cost_no_question(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_with_a_lock(1, 0);
    const unsigned long maps = fleet->maps;
    fleet->owners[fleet->slot] = fleet->owners[fleet->cyclers[0].slot] = 1;
    MADE_UNTIL(fleet, fleet->maps > maps, TICK_US, 1000000);
    for (int i = 0; i < 100; i++) made_cluster_tick(fleet, TICK_US);
    assert_int_equal(asked_of_successor, 0);
}

TEST_FILE(cluster_lies, cmocka_unit_test(late_renewal_of_who_was_replaced_is_doubted),
          cmocka_unit_test(successor_that_was_connected_is_asked_for_leases),
          cmocka_unit_test(successor_is_asked_though_something_waits_for_who_was_replaced),
          cmocka_unit_test(successor_in_its_hand_shake_is_asked_for_leases),
          cmocka_unit_test(slots_that_have_moved_cost_no_question), cmocka_unit_test(endless_map_costs_a_tick_little),
          cmocka_unit_test(endless_map_is_given_up), cmocka_unit_test(moved_to_nowhere_is_outlived),
          cmocka_unit_test(moved_to_and_fro_is_outlived), cmocka_unit_test(moved_to_itself_is_outlived),
          cmocka_unit_test(ask_without_end_is_outlived), cmocka_unit_test(ask_of_itself_is_outlived),
          cmocka_unit_test(moved_to_ever_new_nodes_is_outlived), cmocka_unit_test(moved_of_another_slot_is_outlived),
          cmocka_unit_test(moved_with_thousands_that_wait_costs_a_tick_little),
          cmocka_unit_test(crowd_that_is_moved_to_where_it_is_costs_few_links));
