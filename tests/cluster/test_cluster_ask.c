/* What a node is asked out of turn, as a slot is on its way to it: ASKING counts for the very next command alone. */

#include "support/server/made_cluster.h"

#include <stdio.h>

#define TICK_US 5000

/* The slot is on its way from node 0 to node 1, and has no key left at node 0. */
static bool on_its_way(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    if (node != 0 || slot != fleet->slot) return false;
    made_redirect(reply, "ASK", slot, 1);
    return true;
}

/* A command, without any script. */
static void connect_to(made_cluster* fleet, unsigned node)
{
    char key[40];
    char name[24];
    gh_command* op = SCRIPTED_NEW(fleet->world, gh_command);
    gh_str* words = scripted_keep(fleet->world, 2 * sizeof(gh_str));
    char* kept = scripted_keep(fleet->world, sizeof key);
    (void)made_name(fleet, node, 1, name);
    snprintf(kept, sizeof key, "{lock:%s}", name);
    words[0] = gh_str_literal("GET");
    words[1] = gh_str_of(kept);
    gh_command_config config = gh_command_config_default();
    config.timeout_us = 60000000;
    assert_int_equal(gh_command_begin(op, fleet->world->client, words, 2, &config), GH_OK);
    MADE_UNTIL(fleet, !gh_op_is_busy(&op->op), TICK_US, 5000000);
}

/* The node has not seen the op's script yet: that is loaded in front of ASKING, not behind it. */
static void script_is_loaded_in_front_of_asking(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(2);
    made_cluster_start(fleet);
    connect_to(fleet, 1); /* while no script was used yet */
    gh_lock* first = made_cluster_want(fleet, 0, 60000000);
    MADE_UNTIL(fleet, gh_op_poll(&first->op) == GH_HELD, TICK_US, 5000000);
    assert_int_equal(fleet->asked[1], 0);
    fleet->lie = on_its_way;
    gh_lock* lock = SCRIPTED_NEW(fleet->world, gh_lock);
    char* name = scripted_keep(fleet->world, 24);
    fleet->slot = made_name(fleet, 0, 7, name);
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 60000000;
    assert_int_equal(gh_lock_begin(lock, fleet->world->client, gh_str_of(name), &config), GH_OK);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 5000000);
    assert_int_equal(fleet->asked[1], 1);
    assert_int_equal(scripted_stats(fleet->world).asked, 1);
    assert_int_equal(scripted_stats(fleet->world).moved, 0);
}

static unsigned longest;

static bool note_longest(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    const scripted_stream* stream = fleet->world->asked;
    if (stream->requests.size > longest) longest = (unsigned)stream->requests.size;
    return on_its_way(fleet, node, slot, reply);
}

/* What a begin takes has room for ASKING in front of it: the largest body of all, in the smallest buffer. */
static void largest_request_has_room_for_asking(void** state)
{
    (void)state;
    static char body[16384];
    made_cluster* fleet = made_cluster_new(2);
    fleet->config.out_bytes = sizeof body;
    made_cluster_start(fleet);
    connect_to(fleet, 0);
    connect_to(fleet, 1);
    char* name = scripted_keep(fleet->world, 24);
    char tag[40];
    for (unsigned number = 0;; number++)
    {
        snprintf(name, 24, "box%u", number);
        snprintf(tag, sizeof tag, "mailbox:%s", name);
        fleet->slot = gh_slot_of_key(gh_str_of(tag)); /* a tag without its braces is its own */
        if (fleet->owners[fleet->slot] == 0) break;
    }
    gh_mailbox mailbox;
    gh_mailbox_push* push = SCRIPTED_NEW(fleet->world, gh_mailbox_push);
    gh_post post = {.body = gh_str_make(body, sizeof body)};
    gh_status status = GH_TOO_LARGE;
    assert_int_equal(gh_mailbox_init(&mailbox, fleet->world->client, gh_str_of(name), NULL), GH_OK);
    while (status == GH_TOO_LARGE && post.body.size > 0)
    {
        post.body.size--;
        status = gh_mailbox_push_begin(push, &mailbox, &post, 1);
    }
    assert_int_equal(status, GH_OK);
    fleet->lie = note_longest;
    longest = 0;
    MADE_UNTIL(fleet, !gh_op_is_busy(&push->op), TICK_US, 10000000);
    assert_true(fleet->asked[1] > 0); /* which is no mailbox, and answers nonsense */
    assert_in_range(longest, 15000, sizeof body - 32);
}

TEST_FILE(cluster_ask, cmocka_unit_test(script_is_loaded_in_front_of_asking),
          cmocka_unit_test(largest_request_has_room_for_asking));
