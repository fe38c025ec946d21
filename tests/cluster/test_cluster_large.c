/* A Cluster of thirty masters. It takes longer than a test may: tests/large.sh runs it. */

#include "sentinel/clerks.h"
#include "support/scene/desk.h"
#include "support/server/cluster.h"
#include "support/server/cluster_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NODES         30
#define LOCKS_OF_NODE 10
#define IDLE_TICKS    400
#define IDLE_PAUSE_US 2000

static game* start_game(cluster* fleet)
{
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    config.wake = false;
    return game_start_with(&config);
}

static unsigned owners[CLUSTER_SLOTS]; /* of each slot the number of its node, once asked for: that takes its time */

static void find_owners(cluster* fleet)
{
    cluster_view view = cluster_view_of(cluster_node(fleet, 0));
    for (unsigned i = 0; i < NODES; i++)
    {
        const cluster_line* line = cluster_view_find(&view, cluster_id(fleet, cluster_node(fleet, i)));
        assert_non_null(line);
        for (unsigned slot = 0; slot < CLUSTER_SLOTS; slot++)
            if (cluster_line_has(line, slot)) owners[slot] = i;
    }
    cluster_view_free(&view);
}

/* A name of an object on that node, another one with each number. */
static void name_there(unsigned node, const char* system, unsigned number, char name[24])
{
    for (unsigned i = 0;; i++)
    {
        char tag[40];
        snprintf(name, 24, "large%u_%u", number, i);
        snprintf(tag, sizeof tag, "{%s:%s}", system, name);
        if (owners[cluster_slot(tag)] == node) return;
    }
}

/* CPU of a tick, the kernel's too, at the pace of a game. */
static unsigned idle_ns(game* self)
{
    uint64_t ns = 0;
    for (int i = 0; i < IDLE_TICKS; i++)
    {
        const struct timespec pause = {.tv_nsec = IDLE_PAUSE_US * 1000};
        nanosleep(&pause, NULL);
        const uint64_t begin_ns = thread_time_ns();
        game_tick(self);
        ns += thread_time_ns() - begin_ns;
    }
    return (unsigned)(ns / IDLE_TICKS);
}

/* An op on each node: the node has done it, and its link is there from then on, but no other one. */
static void reach_all(game* self, cluster* fleet)
{
    assert_int_equal(game_stats(self).links_ready, 1);
    for (size_t i = 0; i < NODES; i++)
    {
        redis_server* node = cluster_node(fleet, i);
        gh_command_line* line = GAME_NEW(self, gh_command_line);
        char key[24];
        unsigned slot = 0;
        while (owners[slot] != i) slot++;
        cluster_tag(slot, key);
        assert_status(gh_command_format(line, self->client, NULL, "SET {%s}large 1", key), GH_OK);
        GAME_UNTIL(gh_op_poll(&line->op) != GH_PENDING);
        assert_status(gh_op_poll(&line->op), GH_OK);
        assert_int_equal(redis_server_integer(node, "EXISTS {%s}large", key), 1);
        assert_in_range(game_stats(self).links_ready, i + 1, i + 2);
    }
    assert_int_equal(game_stats(self).links_ready, NODES);
    assert_int_equal(game_stats(self).moved, 0);
}

static gh_lock** take_locks(game* self)
{
    gh_lock** locks = GAME_NEW_ARRAY(self, gh_lock*, NODES * LOCKS_OF_NODE);
    for (unsigned i = 0; i < NODES * LOCKS_OF_NODE; i++)
    {
        gh_lock_config config = gh_lock_config_default();
        char name[24];
        name_there(i % NODES, "lock", i, name);
        config.wait_us = 60 * SECOND_US;
        locks[i] = GAME_NEW(self, gh_lock);
        assert_status(gh_lock_begin(locks[i], self->client, gh_str_of(name), &config), GH_OK);
    }
    for (unsigned i = 0; i < NODES * LOCKS_OF_NODE; i++) GAME_UNTIL(gh_op_poll(&locks[i]->op) == GH_HELD);
    return locks;
}

static void work_on_tasks(game* self)
{
    for (unsigned i = 0; i < NODES; i++)
    {
        char* name = game_new(self, 24);
        name_there(i, "tasks", i, name);
        desk* at = desk_open(self, name);
        assert_status(desk_push(at, "letter", "hello"), GH_OK);
        assert_status(desk_finish(at, desk_take_one(at, "letter"), GH_TASK_ACTION_DONE), GH_OK);
    }
}

static void move_slots(cluster* fleet, clerks* all)
{
    cluster_reshard work = cluster_reshard_begin(fleet, NULL, cluster_node(fleet, NODES - 1), 100);
    clerks_until(all, 5);
    while (cluster_reshard_step(&work))
    {
        game_tick_all();
        clerks_work(all);
    }
    clerks_until(all, 5);
    clerks_rest(all);
}

static void thirty_nodes_are_reached_and_worked_on(void** state)
{
    (void)state;
    if (getenv("GUILDHALL_LARGE") == NULL) suite_skip("tests/large.sh runs it");
    cluster* fleet = cluster_start(&(cluster_options){.masters = NODES, .node_timeout_ms = 15000});
    find_owners(fleet);
    game* one = game_start_ready(redis_server_address(redis_server_start(NULL)));
    game* self = start_game(fleet);
    GAME_UNTIL(gh_client_ready(self->client));
    const unsigned of_one = idle_ns(one);
    const unsigned with_a_link = idle_ns(self);
    reach_all(self, fleet);
    const unsigned with_all = idle_ns(self);
    fprintf(stderr, "an idle tick: %u ns at one server; at %d nodes %u with a link to one, %u with links to all\n",
            of_one, NODES, with_a_link, with_all);
    game_end(one);
    gh_lock** locks = take_locks(self);
    work_on_tasks(self);
    assert_int_equal(game_stats(self).moved, 0);
    clerks all = clerks_start(self, CLERKS_MAX);
    move_slots(fleet, &all);
    for (unsigned i = 0; i < NODES * LOCKS_OF_NODE; i++) assert_status(gh_op_poll(&locks[i]->op), GH_HELD);
}

TEST_FILE(cluster_large, cmocka_unit_test(thirty_nodes_are_reached_and_worked_on));
