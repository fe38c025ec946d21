/* A held lock whose renewal waits for a lost master is sent to another one, to be told who has the slot by now. When
   the lost one comes back empty in that very moment, the lock is lost like all others there. */

#include "support/server/made_cluster.h"

#include "cluster/cluster_state.h"

#include <stdio.h>
#include <string.h>

#define TICK_US  5000
#define LEASE_US 10000000
#define BORN_US  9

enum
{
    LOST = 0,
    MASTERS = 3
};

static scripted_answer true_answer;
static scripted_stream* held_back; /* the one on which the master's epoch is asked for, and not told */

static bool is_epoch(const gh_str* words, size_t count)
{
    const gh_str end = gh_str_literal(":epoch");
    return count > 3 && words[3].size >= end.size &&
           memcmp(words[3].bytes + words[3].size - end.size, end.bytes, end.size) == 0;
}

static bool answer_late(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    const bool is_end = is_epoch(words, count) || gh_str_equal(words[0], gh_str_literal("PUBLISH"));
    if (world->asked->port != MADE_PORT + LOST || !is_end) return true_answer(world, words, count, reply);
    held_back = &world->streams[world->asked - world->streams];
    return true;
}

/* Of another birth; the rights, and PUBLISH. */
static void tell_epoch(const made_cluster* fleet)
{
    char text[128];
    const int size =
        snprintf(text, sizeof text, "*3\r\n:%d\r\n:%llu\r\n:%d\r\n+OK\r\n:0\r\n", BORN_US,
                 1000000000000000u + (unsigned long long)(fleet->world->now_us - fleet->world->start_us), BORN_US);
    buffer_add(&held_back->replies, text, (size_t)size);
}

static void lose(made_cluster* fleet)
{
    true_answer = fleet->world->answer;
    held_back = NULL;
    fleet->world->answer = answer_late;
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (fleet->world->streams[i].port == MADE_PORT + LOST) fleet->world->streams[i].ended = true;
}

/* With the next tick somebody is asked who has what the lost one had. */
static bool scouts_next(const made_cluster* fleet)
{
    const gh_client* client = fleet->world->client;
    const uint64_t scout_us = gh_cluster_of(client)->scout_us;
    return scout_us != 0 && scout_us <= client->now_us + TICK_US;
}

static gh_node* node_of(const made_cluster* fleet, unsigned node)
{
    gh_node* at = fleet->world->client->nodes;
    while (at->link.target->address.port != MADE_PORT + node) at++;
    return at;
}

static void lease_that_is_scouted_is_lost_with_the_others(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(MASTERS);
    made_cycler* goes_on = made_cluster_cycle(fleet, 1);
    made_cluster_start(fleet);
    gh_lock* lock = made_cluster_want(fleet, LOST, LEASE_US);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD && goes_on->cycles > 20, TICK_US, 10000000);
    const uint64_t held_us = fleet->world->now_us;
    MADE_UNTIL(fleet, fleet->world->now_us >= held_us + LEASE_US / 4, TICK_US, LEASE_US);
    lose(fleet);
    gh_lock* waits = made_cluster_want(fleet, LOST, 60000000); /* for which others are asked from now on */
    MADE_UNTIL(fleet, node_of(fleet, LOST)->urgent.count > 0 && held_back != NULL && scouts_next(fleet), TICK_US,
               LEASE_US);
    assert_int_equal(gh_op_poll(&lock->op), GH_HELD);
    tell_epoch(fleet);
    made_cluster_tick(fleet, TICK_US);
    assert_int_equal(scripted_stats(fleet->world).store_resets, 1);
    assert_int_equal(gh_op_poll(&lock->op), GH_LOST);
    MADE_UNTIL(fleet, gh_op_poll(&waits->op) == GH_HELD, TICK_US, 1000000);
}

TEST_FILE(cluster_scouted_loss, cmocka_unit_test(lease_that_is_scouted_is_lost_with_the_others));
