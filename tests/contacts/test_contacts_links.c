/* The mirror of guildhall/contacts.h, when a slot of a Cluster moves while it is filled: its owner before and the one
   behind answer over two links, of which the older may be the slower. */

#include "cluster/machines.h"

#include "wire/slot.h"

#include <stdio.h>
#include <string.h>

#define OWNER  "jason" /* whose slot is in the lower half, see MACHINES_TWO_MASTERS */
#define OTHERS "bow"   /* in the upper half                                         */

#define LOAD_ARGUMENTS 4 /* of contacts_load.lua */

/* What the test knows of the two machines. */
static struct
{
    scripted_answer honest;
    char load[32]; /* sequence of the load that 10.0.0.1 has not answered yet; "": there is none */
} scene;

/* Where the numbers of a script begin, behind its keys. */
static const gh_str* arguments(const gh_str* words)
{
    return words + 3 + scripted_number(words[2]);
}

static void say_list(byte_buffer* reply, const char* sequence, const char* names)
{
    char text[256];
    unsigned count = 0;
    for (const char* at = names; *at != 0; at++) count += *at == '$';
    snprintf(text, sizeof text, "*%u\r\n:%s\r\n:%u\r\n:0\r\n$0\r\n\r\n%s", count + 4, sequence, count, names);
    buffer_add(reply, text, strlen(text));
}

/* 10.0.0.1 is slow from the load on. */
static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    const bool is_first = strcmp(world->asked->host, "10.0.0.1") == 0;
    if (is_first && scene.load[0] != 0) return true;
    if (machines_is(words[0], "GET") && machines_is(words[1], OTHERS))
    {
        const char* moved = machines_moved(gh_slot_of_key(words[1]), "10.0.0.2");
        buffer_add(reply, moved, strlen(moved));
        return true;
    }
    if (!scripted_runs_on(words, count, "gh:{contacts:")) return scene.honest(world, words, count, reply);
    if (arguments(words) + LOAD_ARGUMENTS != words + count) /* a touch */
    {
        const gh_str sequence = arguments(words)[1];
        buffer_add_bulk(reply, "%.*s 0 9000000 ", (int)sequence.size, sequence.bytes);
        return true;
    }
    char sequence[32];
    snprintf(sequence, sizeof sequence, "%.*s", (int)arguments(words)->size, arguments(words)->bytes);
    if (is_first) memcpy(scene.load, sequence, sizeof scene.load);
    else say_list(reply, sequence, "$3\r\nmia\r\n$3\r\nbob\r\n");
    return true;
}

static void load_that_the_owner_before_answers_late_is_asked_again(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = MACHINES_TWO_MASTERS;
    memset(&scene, 0, sizeof scene);
    scene.honest = all->world->answer;
    all->world->answer = answer;
    machines_start(all, NULL);

    gh_contacts* mirror = SCRIPTED_NEW(all->world, gh_contacts);
    void* memory = scripted_keep(all->world, gh_contacts_memory(NULL));
    assert_int_equal(
        gh_contacts_init(mirror, all->world->client, gh_str_literal(OWNER), NULL, memory, gh_contacts_memory(NULL)),
        GH_OK);
    gh_contacts_load* load = SCRIPTED_NEW(all->world, gh_contacts_load);
    assert_int_equal(gh_contacts_load_begin(load, mirror, NULL), GH_OK);
    MACHINES_UNTIL(all, scene.load[0] != 0, SECOND_US);

    all->map = machines_map("10.0.0.2", NULL);
    machines_get(all, OTHERS, 60 * SECOND_US); /* by its MOVED the client asks for a map */
    gh_contacts_change* touch = SCRIPTED_NEW(all->world, gh_contacts_change);
    MACHINES_UNTIL(all, scripted_stats(all->world).moved > 0, SECOND_US);
    for (int i = 0; i < 20; i++) scripted_tick(all->world, 5000);
    assert_int_equal(gh_contacts_touch_begin(touch, mirror, gh_str_literal("mia")), GH_OK);
    MACHINES_UNTIL(all, gh_op_poll(&touch->op) != GH_PENDING, SECOND_US);
    assert_int_equal(gh_op_poll(&touch->op), GH_OK);
    assert_int_equal(gh_op_poll(&load->op), GH_PENDING);

    say_list(&machines_stream(all, "10.0.0.1")->replies, scene.load, "$3\r\nbob\r\n");
    MACHINES_UNTIL(all, gh_op_poll(&load->op) != GH_PENDING, SECOND_US);
    assert_int_equal(gh_op_poll(&load->op), GH_OK);
    gh_contact found[4];
    assert_int_equal(gh_contacts_complete(mirror, gh_str_make("", 0), found, 4), 2);
    assert_true(machines_is(found[0].name, "mia"));
    assert_true(machines_is(found[1].name, "bob"));
}

TEST_FILE(contacts_links, cmocka_unit_test(load_that_the_owner_before_answers_late_is_asked_again));
