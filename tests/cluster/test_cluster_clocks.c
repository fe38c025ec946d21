/* The nodes of a Cluster have clocks of their own, which may differ: what one says of a time means nothing to another.
   Real servers. */

#include "support/scene/on.h"
#include "support/server/cluster.h"

#include <stdio.h>

#define CHAT_AFTER 4 /* of chat_change.c: the chat has answered, and the player's own list is to be changed */

static game* start_at(cluster* fleet)
{
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    return game_start_with(&config);
}

/* Whose list lies at that node. */
static void name_player(cluster* fleet, const redis_server* node, char name[16])
{
    char tag[32];
    for (unsigned i = 0;; i++)
    {
        snprintf(name, 16, "player%u", i);
        snprintf(tag, sizeof(tag), "{chats:%s}", name);
        if (cluster_master(fleet, cluster_slot(tag)) == node) return;
    }
}

static void name_chat(cluster* fleet, const redis_server* node, char name[16])
{
    char tag[32];
    for (unsigned i = 0;; i++)
    {
        snprintf(name, 16, "raid%u", i);
        snprintf(tag, sizeof(tag), "{chat:%s}", name);
        if (cluster_master(fleet, cluster_slot(tag)) == node) return;
    }
}

static bool is_noted(const game* from, cluster* fleet, const char* player)
{
    char key[64];
    snprintf(key, sizeof(key), "%.*s:{chats:%s}:l", (int)from->config.prefix.size, from->config.prefix.bytes, player);
    return redis_server_integer(cluster_master(fleet, cluster_slot(key)), "EXISTS %s", key) == 1;
}

/* The chat's node is a minute ahead. Between the leave and what it does to the player's list, the player joins anew. */
static void leave_takes_no_note_of_a_later_join(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(&(cluster_options){.clock = true});
    redis_server* first = cluster_master(fleet, 0);
    char chat[16];
    char other[16];
    char player[16];
    name_chat(fleet, first, chat);
    name_player(fleet, first, other);
    name_player(fleet, cluster_master(fleet, CLUSTER_SLOTS - 1), player);
    redis_server_shift_clock(first, 60 * (int64_t)SECOND_US);
    game* a = start_at(fleet);
    game* b = start_at(fleet);
    gh_chat_change* create = GAME_NEW(b, gh_chat_change);
    const gh_str members[] = {gh_str_of(other), gh_str_of(player)};
    assert_status(gh_chat_create_begin(create, ON_CHAT(b->client, gh_str_of(chat)), members, 2, NULL), GH_OK);
    GAME_UNTIL(!gh_op_is_busy(&create->op));
    assert_status(gh_op_poll(&create->op), GH_OK);

    gh_chat_change* leave = GAME_NEW(a, gh_chat_change);
    assert_status(gh_chat_leave_begin(leave, ON_CHAT(a->client, gh_str_of(chat)), gh_str_of(player)), GH_OK);
    GAME_UNTIL(leave->op.state == CHAT_AFTER);
    a->asleep = true; /* while it connects to the list's node */
    assert_true(is_noted(a, fleet, player));
    gh_chat_change* join = GAME_NEW(b, gh_chat_change);
    assert_status(gh_chat_join_begin(join, ON_CHAT(b->client, gh_str_of(chat)), gh_str_of(player), GH_CHAT_FROM_NOW),
                  GH_OK);
    GAME_UNTIL(!gh_op_is_busy(&join->op));
    assert_status(gh_op_poll(&join->op), GH_OK);
    a->asleep = false;
    GAME_UNTIL(!gh_op_is_busy(&leave->op));
    assert_status(gh_op_poll(&leave->op), GH_OK);

    assert_true(is_noted(b, fleet, player));

    /* And a note that is older goes with the leave, whatever the chat's clock says. */
    const uint64_t noted_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - noted_us > SECOND_US);
    redis_server_shift_clock(first, -60 * (int64_t)SECOND_US);
    gh_chat_change* last = GAME_NEW(b, gh_chat_change);
    assert_status(gh_chat_leave_begin(last, ON_CHAT(b->client, gh_str_of(chat)), gh_str_of(player)), GH_OK);
    GAME_UNTIL(!gh_op_is_busy(&last->op));
    assert_status(gh_op_poll(&last->op), GH_OK);
    assert_false(is_noted(b, fleet, player));
}

TEST_FILE(cluster_clocks, cmocka_unit_test(leave_takes_no_note_of_a_later_join));
