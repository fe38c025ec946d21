/* A master hands over to its replica, and the others hear of it a while later. Whoever follows the old one's MOVED
   needs a map before the new one may be connected, and no map of theirs is to send it back. */

#include "support/server/made_cluster.h"

#include <string.h>

#define TICK_US  5000
#define SOON_US  60000   /* what waits goes on: twelve ticks behind the hand-over */
#define LATER_US 500000  /* the others know of it, too                            */
#define CALM_US  2000000 /* between two; maps in so short a time are asked for seldom */
#define TIMES    8

enum
{
    FIRST = 0,
    SECOND = 3,
    MASTERS = 3
};

/* Who has heard of the last hand-over, and who had what before it. */
static uint16_t former[GH_SLOTS];
static uint64_t known_us;

static void map_as_known(made_cluster* fleet, byte_buffer* reply)
{
    uint16_t owners[GH_SLOTS];
    const unsigned node = fleet->world->asked->port - MADE_PORT;
    const bool knows = node == FIRST || node == SECOND || fleet->world->now_us >= known_us;
    memcpy(owners, fleet->owners, sizeof owners);
    if (!knows) memcpy(fleet->owners, former, sizeof former);
    made_map_true(fleet, reply);
    memcpy(fleet->owners, owners, sizeof owners);
}

static void hand_over(made_cluster* fleet, unsigned from, unsigned to)
{
    memcpy(former, fleet->owners, sizeof former);
    known_us = fleet->world->now_us + LATER_US;
    for (unsigned slot = 0; slot < GH_SLOTS; slot++)
        if (fleet->owners[slot] == from) fleet->owners[slot] = (uint16_t)to;
}

static void run_for(made_cluster* fleet, uint64_t us)
{
    const uint64_t end_us = fleet->world->now_us + us;
    while (fleet->world->now_us < end_us) made_cluster_tick(fleet, TICK_US);
}

static made_cluster* fleet_with_a_replica(void)
{
    made_cluster* fleet = made_cluster_new(MASTERS + 1);
    made_cluster_share(fleet, MASTERS);
    fleet->map = map_as_known;
    known_us = 0;
    memset(former, 0, sizeof former);
    return fleet;
}

static void hand_over_is_followed_at_once(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_with_a_replica();
    made_cycler* goes_on = made_cluster_cycle(fleet, FIRST);
    made_cluster_start(fleet);
    MADE_UNTIL(fleet, goes_on->cycles > 20, TICK_US, 10000000);
    for (unsigned time = 0; time < TIMES; time++)
    {
        const uint64_t moved = scripted_stats(fleet->world).moved;
        const unsigned long cycles = goes_on->cycles;
        hand_over(fleet, time % 2 == 0 ? FIRST : SECOND, time % 2 == 0 ? SECOND : FIRST);
        MADE_UNTIL(fleet, goes_on->cycles > cycles + 1, TICK_US, SOON_US);
        run_for(fleet, CALM_US);
        assert_int_equal(scripted_stats(fleet->world).moved, moved + 1); /* nobody was sent back */
    }
}

/* Two send everybody on to each other, and their maps say the same. */
static bool to_each_other(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    if (slot != fleet->slot || node > 1) return false;
    made_redirect(reply, "MOVED", slot, 1 - node);
    return true;
}

static void map_of_each_other(made_cluster* fleet, byte_buffer* reply)
{
    const unsigned node = fleet->world->asked->port - MADE_PORT;
    const uint16_t owner = fleet->owners[fleet->slot];
    if (node <= 1) fleet->owners[fleet->slot] = (uint16_t)(1 - node);
    made_map_true(fleet, reply);
    fleet->owners[fleet->slot] = owner;
}

/* Who says where something is does not keep the others from being asked. */
static void others_are_asked_besides(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(MASTERS);
    made_cycler* goes_on = made_cluster_cycle(fleet, FIRST);
    made_cluster_start(fleet);
    MADE_UNTIL(fleet, goes_on->cycles > 20, TICK_US, 10000000);
    const unsigned long cycles = goes_on->cycles;
    fleet->slot = goes_on->slot;
    fleet->owners[fleet->slot] = 2;
    fleet->lie = to_each_other;
    fleet->map = map_of_each_other;
    MADE_UNTIL(fleet, goes_on->cycles > cycles + 1, TICK_US, 10000000);
}

TEST_FILE(cluster_handover, cmocka_unit_test(hand_over_is_followed_at_once),
          cmocka_unit_test(others_are_asked_besides));
