/* A master is lost, and much later another one has its slots. Maps are asked for ever more seldom meanwhile; what waits
   for the lost one goes on soon all the same, whenever that happens. */

#include "support/server/made_cluster.h"

#include <stdio.h>

#define TICK_US   5000
#define SOON_US   350000
#define MAPS_MOST 12 /* in ten seconds */

enum
{
    LOST = 0,
    SUCCESSOR = 3,
    MASTERS = 3
};

static bool is_lost;

static gh_status door_of_the_living(scripted* world, const gh_address* address)
{
    (void)world;
    return is_lost && address->port == MADE_PORT + LOST ? GH_REFUSED : GH_OK;
}

/* As nodes say from when they hold a master for dead until he has a successor. */
static bool down(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)node;
    if (fleet->owners[slot] != LOST) return false;
    static const char text[] = "-CLUSTERDOWN The cluster is down\r\n";
    buffer_add(reply, text, sizeof text - 1);
    return true;
}

static void lose(made_cluster* fleet)
{
    is_lost = true;
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (fleet->world->streams[i].port == MADE_PORT + LOST) fleet->world->streams[i].ended = true;
}

static void replace(made_cluster* fleet)
{
    for (unsigned slot = 0; slot < GH_SLOTS; slot++)
        if (fleet->owners[slot] == LOST) fleet->owners[slot] = SUCCESSOR;
}

static void run_until(made_cluster* fleet, uint64_t us)
{
    while (fleet->world->now_us < us) made_cluster_tick(fleet, TICK_US);
}

static made_cluster* fleet_with_a_spare(void)
{
    is_lost = false;
    made_cluster* fleet = made_cluster_new(MASTERS + 1);
    made_cluster_share(fleet, MASTERS);
    fleet->world->door = door_of_the_living;
    return fleet;
}

/* Half of that time nodes tell a lie. Returns when it began. */
static uint64_t lose_for(made_cluster* fleet, uint64_t after_us, made_lie lie)
{
    const uint64_t lost_us = fleet->world->now_us;
    run_until(fleet, lost_us + after_us / 2);
    fleet->lie = lie;
    run_until(fleet, lost_us + after_us);
    fleet->lie = NULL;
    return lost_us;
}

static void expect_soon(uint64_t after_us, made_lie lie)
{
    made_cluster* fleet = fleet_with_a_spare();
    made_cycler* waits = made_cluster_cycle(fleet, LOST);
    made_cycler* goes_on = made_cluster_cycle(fleet, 1);
    made_cluster_start(fleet);
    MADE_UNTIL(fleet, waits->cycles > 20 && goes_on->cycles > 20, TICK_US, 10000000);
    const unsigned long maps = fleet->maps;
    lose(fleet);
    const uint64_t lost_us = lose_for(fleet, after_us, lie);
    const unsigned long cycles = waits->cycles;
    replace(fleet);
    MADE_UNTIL(fleet, waits->cycles > cycles + 2, TICK_US, SOON_US);
    run_until(fleet, lost_us + 10000000);
    assert_in_range(fleet->maps - maps, 1, MAPS_MOST);
    assert_int_equal(scripted_stats(fleet->world).failovers, 1);
    assert_int_equal(scripted_stats(fleet->world).nodes_known, MASTERS);
    assert_int_equal(scripted_stats(fleet->world).nodes_ready, 2); /* nobody needs the third */
}

/* Nothing waits for the lost one but what is to be on replicas. */
static void expect_soon_on_replicas(uint64_t after_us)
{
    made_cluster* fleet = fleet_with_a_spare();
    fleet->config.replicas = gh_replicas_wait();
    fleet->config.wait_replicas = 1;
    made_cycler* goes_on = made_cluster_cycle(fleet, 1);
    made_cluster_start(fleet);
    gh_lock* before = made_cluster_want(fleet, LOST, 10000000);
    MADE_UNTIL(fleet, gh_op_poll(&before->op) == GH_HELD && goes_on->cycles > 20, TICK_US, 10000000);
    gh_lock_release(before);
    MADE_UNTIL(fleet, !gh_op_is_busy(&before->op), TICK_US, 1000000);
    lose(fleet);
    gh_lock* waits = made_cluster_want(fleet, LOST, 60000000);
    (void)lose_for(fleet, after_us, NULL);
    assert_int_equal(gh_op_poll(&waits->op), GH_PENDING);
    replace(fleet);
    MADE_UNTIL(fleet, gh_op_poll(&waits->op) == GH_HELD, TICK_US, SOON_US);
}

static void successor_is_found_soon(void** state)
{
    (void)state;
    for (uint64_t after_us = 200000; after_us <= 6200000; after_us += 100000) expect_soon(after_us, NULL);
}

static void successor_of_a_cluster_that_was_down_is_found_soon(void** state)
{
    (void)state;
    for (uint64_t after_us = 200000; after_us <= 6200000; after_us += 100000) expect_soon(after_us, down);
}

static void successor_is_found_soon_by_what_waits_for_replicas(void** state)
{
    (void)state;
    for (uint64_t after_us = 200000; after_us <= 6200000; after_us += 100000) expect_soon_on_replicas(after_us);
}

TEST_FILE(cluster_scout, cmocka_unit_test(successor_is_found_soon),
          cmocka_unit_test(successor_of_a_cluster_that_was_down_is_found_soon),
          cmocka_unit_test(successor_is_found_soon_by_what_waits_for_replicas));
