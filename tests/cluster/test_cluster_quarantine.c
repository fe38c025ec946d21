/* How long a node of a Cluster grants nothing after it has lost its data: by the age of these, which an epoch that lies
   on it tells. On a node without one nothing is known, and nothing of another node's, or of before, stands in for it;
   but its clock is known, by which nothing is granted late. */

#include "client/op.h"
#include "support/server/made_cluster.h"

#include <stdio.h>
#include <stdlib.h>

#define TICK_US       5000
#define QUARANTINE_US 3600000000u
#define BIRTH_US      1000000000000000u

static uint64_t not_before_us; /* of the last lock that was asked for */
static uint64_t not_after_us;
static scripted_answer honest;

/* Keys, token, sequence, lease, patience, window, not after, not before. */
static bool note_bounds(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    if (count == 14 && gh_str_equal(words[0], gh_str_literal("EVALSHA")))
    {
        not_after_us = strtoull(words[12].bytes, NULL, 10);
        not_before_us = strtoull(words[13].bytes, NULL, 10);
    }
    return honest(world, words, count, reply);
}

static made_cluster* fleet_of_two(void)
{
    made_cluster* fleet = made_cluster_new(2);
    fleet->config.quarantine_us = QUARANTINE_US;
    fleet->world->store_birth_us = BIRTH_US;
    honest = fleet->world->answer;
    fleet->world->answer = note_bounds;
    made_cluster_start(fleet);
    return fleet;
}

static uint64_t not_before_at(made_cluster* fleet, unsigned node)
{
    gh_lock* lock = made_cluster_want(fleet, node, 60000000);
    not_before_us = 1;
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 5000000);
    gh_lock_release(lock);
    MADE_UNTIL(fleet, !gh_op_is_busy(&lock->op), TICK_US, 1000000);
    return not_before_us;
}

static bool has_an_epoch(unsigned slot)
{
    for (unsigned group = 0; group < GH_SLOT_GROUPS; group++)
    {
        char digits[16];
        const int size = snprintf(digits, sizeof digits, "%u", (unsigned)gh_slot_group_tag(group));
        if (gh_slot_of_key(gh_str_make(digits, (size_t)size)) == slot) return true;
    }
    return false;
}

/* Node 1 keeps a single slot, in which no epoch lies. */
static void leave_one_slot(made_cluster* fleet)
{
    unsigned kept = GH_SLOTS - 1;
    while (has_an_epoch(kept)) kept--;
    for (unsigned slot = 0; slot < GH_SLOTS; slot++) fleet->owners[slot] = slot == kept ? 1 : 0;
}

static void node_without_an_epoch_has_no_age(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_of_two();
    assert_int_equal(not_before_at(fleet, 0), BIRTH_US + QUARANTINE_US);
    assert_int_equal(not_before_at(fleet, 1), BIRTH_US + QUARANTINE_US);
    gh_lock* moved = made_cluster_want(fleet, 1, 60000000);
    leave_one_slot(fleet);
    const unsigned long maps = fleet->maps;
    MADE_UNTIL(fleet, fleet->maps > maps && gh_op_poll(&moved->op) == GH_HELD, TICK_US, 5000000);
    MADE_UNTIL(fleet, gh_client_ready(fleet->world->client), TICK_US, 5000000);
    assert_int_equal(not_before_at(fleet, 1), 0);
    assert_int_equal(not_before_at(fleet, 0), BIRTH_US + QUARANTINE_US);
}

/* The first request of all says until when it may be carried out: a link that dies may hold it back for long. */
static void node_without_an_epoch_tells_its_time(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_of_two();
    leave_one_slot(fleet);
    assert_int_equal(not_before_at(fleet, 1), 0);
    assert_in_range(not_after_us, BIRTH_US + 1, BIRTH_US + fleet->world->now_us + fleet->config.request_timeout_us);
}

static void end_links_to(const made_cluster* fleet, unsigned node)
{
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (fleet->world->streams[i].port == MADE_PORT + node) fleet->world->streams[i].ended = true;
}

/* As a task's lease is noted to be of. */
static uint64_t generation_at(made_cluster* fleet, unsigned node)
{
    gh_lock* lock = made_cluster_want(fleet, node, 60000000);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 5000000);
    const uint64_t generation = gh_client_generation(fleet->world->client, lock->op.route);
    gh_lock_release(lock);
    MADE_UNTIL(fleet, !gh_op_is_busy(&lock->op), TICK_US, 1000000);
    return generation;
}

/* Nothing tells whether the store has forgotten what was held over the link before: whoever holds a task asks. */
static void link_without_an_epoch_has_its_own_generation(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_of_two();
    leave_one_slot(fleet);
    const uint64_t before = generation_at(fleet, 1);
    assert_int_equal(generation_at(fleet, 1), before);
    end_links_to(fleet, 1);
    MADE_UNTIL(fleet, scripted_stats(fleet->world).links_lost > 0, TICK_US, 1000000);
    assert_true(generation_at(fleet, 1) != before);
}

/* A node that comes back with younger data, while the other one stays. */
static void node_that_lost_its_data_has_a_new_age(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_of_two();
    assert_int_equal(not_before_at(fleet, 0), BIRTH_US + QUARANTINE_US);
    assert_int_equal(not_before_at(fleet, 1), BIRTH_US + QUARANTINE_US);
    fleet->world->store_birth_us = BIRTH_US + 5;
    end_links_to(fleet, 1);
    MADE_UNTIL(fleet, scripted_stats(fleet->world).store_resets == 1, TICK_US, 5000000);
    assert_int_equal(not_before_at(fleet, 1), BIRTH_US + 5 + QUARANTINE_US);
    assert_int_equal(not_before_at(fleet, 0), BIRTH_US + QUARANTINE_US);
}

/* Node 1 keeps a single slot, in which an epoch lies. */
static void leave_one_epoch(made_cluster* fleet)
{
    unsigned kept = GH_SLOTS - 1;
    while (!has_an_epoch(kept)) kept--;
    for (unsigned slot = 0; slot < GH_SLOTS; slot++) fleet->owners[slot] = slot == kept ? 1 : 0;
}

static bool epoch_is_on_its_way(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    const gh_str end = gh_str_literal(":epoch");
    if (world->asked->port != MADE_PORT + 1 || count < 4 || words[3].size < end.size ||
        !gh_str_equal(gh_str_make(words[3].bytes + words[3].size - end.size, end.size), end))
        return note_bounds(world, words, count, reply);
    made_redirect(reply, "ASK", gh_slot_of_key(words[3]), 0);
    return true;
}

static void lose_link_to_the_second(made_cluster* fleet)
{
    const uint64_t ready = scripted_stats(fleet->world).links_ready;
    end_links_to(fleet, 1);
    MADE_UNTIL(fleet, scripted_stats(fleet->world).links_ready > ready, TICK_US, 5000000);
}

/* The slot of the only one was on its way when a hand-shake asked for it, and stayed after all: the next asks again. */
static void epoch_that_stayed_is_asked_for_again(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_of_two();
    leave_one_epoch(fleet);
    assert_int_equal(not_before_at(fleet, 1), BIRTH_US + QUARANTINE_US);
    fleet->world->answer = epoch_is_on_its_way;
    lose_link_to_the_second(fleet);
    assert_int_equal(not_before_at(fleet, 1), 0);
    fleet->world->answer = note_bounds;
    fleet->world->store_birth_us = BIRTH_US + 5;
    lose_link_to_the_second(fleet);
    assert_int_equal(not_before_at(fleet, 1), BIRTH_US + 5 + QUARANTINE_US);
    assert_int_equal(scripted_stats(fleet->world).store_resets, 1);
}

TEST_FILE(cluster_quarantine, cmocka_unit_test(epoch_that_stayed_is_asked_for_again),
          cmocka_unit_test(node_without_an_epoch_has_no_age), cmocka_unit_test(node_without_an_epoch_tells_its_time),
          cmocka_unit_test(link_without_an_epoch_has_its_own_generation),
          cmocka_unit_test(node_that_lost_its_data_has_a_new_age));
