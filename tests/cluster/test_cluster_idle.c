/* A hundred nodes of which none has anything to do: they are looked at now and then, and are there when they are
   needed. In a world that is made up. */

#include "support/server/made_cluster.h"

#include "client/state.h"

#include <stdio.h>

#define NODES   100u
#define PLACES  128u /* that the table has: a node is looked at in 8 ms for each, and with every 32nd tick at most */
#define TICK_US 5000
#define NOTICED (PLACES * 8000 / TICK_US + PLACES / 4)
#define MOST    4u /* streams that rest, looked at in a tick */
#define SLEEPY  64u

static made_cluster* start_idle(void)
{
    made_cluster* fleet = made_cluster_new(NODES);
    fleet->config.nodes_capacity = PLACES;
    fleet->config.wake = false;
    fleet->world->streams_max = SCRIPTED_STREAMS_MAX;
    made_cluster_start(fleet);
    for (unsigned node = 0; node < NODES; node++)
    {
        gh_lock* lock = made_cluster_want(fleet, node, 60000000);
        MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 60000000);
        gh_lock_release(lock);
        MADE_UNTIL(fleet, !gh_op_is_busy(&lock->op), TICK_US, 60000000);
    }
    for (int i = 0; i < 3; i++) made_cluster_tick(fleet, TICK_US);
    return fleet;
}

static uint32_t count_awake(const made_cluster* fleet)
{
    uint32_t count = 0;
    for (const gh_node* node = fleet->world->client->awake; node != NULL; node = node->next_awake) count++;
    return count;
}

static void close_node(made_cluster* fleet, unsigned node)
{
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++)
    {
        scripted_stream* stream = &fleet->world->streams[i];
        if (stream->open && stream->port == MADE_PORT + node) stream->ended = true;
    }
}

static unsigned ticks_until_lost(made_cluster* fleet)
{
    const uint64_t lost = scripted_stats(fleet->world).links_lost;
    unsigned ticks = 0;
    for (; scripted_stats(fleet->world).links_lost == lost; ticks++)
    {
        if (ticks > 2 * NOTICED) fail_msg("%s", "it is not noticed");
        made_cluster_tick(fleet, TICK_US);
    }
    return ticks;
}

static void idle_nodes_are_seldom_visited(void** state)
{
    (void)state;
    made_cluster* fleet = start_idle();
    for (unsigned i = 0; i < 1000; i++)
    {
        const uint64_t receives = fleet->world->receives;
        made_cluster_tick(fleet, TICK_US);
        assert_in_range(count_awake(fleet), 1, MOST);
        assert_in_range(fleet->world->receives - receives, 0, MOST + 1); /* and the map's */
    }
}

static void stream_that_is_closed_is_noticed(void** state)
{
    (void)state;
    made_cluster* fleet = start_idle();
    for (unsigned node = 0; node < NODES; node += 9)
    {
        close_node(fleet, node);
        assert_in_range(ticks_until_lost(fleet), 0, NOTICED);
        MADE_UNTIL(fleet, count_awake(fleet) <= MOST, TICK_US, 10000000); /* it is connected again */
    }
}

/* The tick behind a sleep that a stream has ended must read it, whichever it is. */
static void who_sleeps_reads_all_streams(void** state)
{
    (void)state;
    made_cluster* fleet = start_idle();
    gh_client_handle handles[SLEEPY];
    assert_int_equal(gh_client_handles(fleet->world->client, handles, SLEEPY), NODES);
    for (unsigned node = 0; node < NODES; node += 9)
    {
        close_node(fleet, node);
        assert_int_equal(ticks_until_lost(fleet), 1);
        for (int i = 0; i < 200; i++) made_cluster_tick(fleet, TICK_US);
    }
}

static void node_that_rests_is_asked_at_once(void** state)
{
    (void)state;
    made_cluster* fleet = start_idle();
    for (unsigned node = 0; node < NODES; node += 9)
    {
        const unsigned long asked = fleet->asked[node];
        (void)made_cluster_want(fleet, node, 60000000);
        made_cluster_tick(fleet, TICK_US);
        assert_int_equal(fleet->asked[node], asked + 1);
    }
}

/* Of links that are lost all at once, the next tick connects anew what somebody waits for. */
static void lost_nodes_are_awake(void** state)
{
    (void)state;
    made_cluster* fleet = start_idle();
    for (unsigned node = 0; node < NODES; node++) close_node(fleet, node);
    for (unsigned i = 0; i < NOTICED; i++) made_cluster_tick(fleet, TICK_US);
    assert_int_equal(scripted_stats(fleet->world).links_lost, NODES);
    gh_lock* lock = made_cluster_want(fleet, 1, 60000000);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 2000000);
}

TEST_FILE(cluster_idle, cmocka_unit_test(idle_nodes_are_seldom_visited),
          cmocka_unit_test(stream_that_is_closed_is_noticed), cmocka_unit_test(who_sleeps_reads_all_streams),
          cmocka_unit_test(node_that_rests_is_asked_at_once), cmocka_unit_test(lost_nodes_are_awake));
