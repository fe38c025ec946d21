/* How nodes of a Cluster say where they are, and under which name: managed services have manners of their own. */

#include "cluster/machines.h"

#include <stdio.h>
#include <string.h>

static void wait_until_done(machines* self, gh_command* op)
{
    MACHINES_UNTIL(self, gh_op_poll(&op->op) != GH_PENDING, 10 * SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_OK);
}

/* ---- names that are announced beside numbers --------------------------------------------------------------------- */

static void announced_name_goes_with_the_number(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("10.0.0.2", "node-2.game.example");
    machines_start(all, NULL);
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    assert_string_equal(all->served_by, "10.0.0.2");
    assert_string_equal(machines_stream(all, "10.0.0.2")->name, "node-2.game.example");
    assert_int_equal(all->resolved, 0);
}

/* The connection over which maps are asked for goes to the same machines. */
static void announced_name_goes_with_the_map_link(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("10.0.0.2", "node-2.game.example");
    machines_start(all, NULL);
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    uint64_t maps = scripted_stats(all->world).maps_read;
    SCRIPTED_UNTIL(all->world, scripted_stats(all->world).maps_read > maps, 100000, 60 * SECOND_US);
    assert_string_equal(all->world->opened_host, "10.0.0.2");
    assert_string_equal(all->world->opened_name, "node-2.game.example");
}

/* A name that is not announced any more is none. */
static void name_that_is_gone_is_verified_no_more(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("10.0.0.2", "node-2.game.example");
    machines_start(all, NULL);
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    all->map = machines_map("10.0.0.2", NULL);
    uint64_t maps = scripted_stats(all->world).maps_read;
    SCRIPTED_UNTIL(all->world, scripted_stats(all->world).maps_read > maps, 100000, 60 * SECOND_US);
    SCRIPTED_UNTIL(all->world, scripted_stats(all->world).maps_read > maps + 1, 100000, 60 * SECOND_US);
    assert_string_equal(all->world->opened_name, "");
}

static const char* moved_to_2(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count;
    if (machines_is(words[0], "CLUSTER")) return machines_map(self->count > 0 ? "10.0.0.2" : "10.0.0.1", "two.example");
    if (!machines_is(words[0], "GET") || strcmp(host, "10.0.0.2") == 0) return NULL;
    self->count++;
    return "-MOVED 5455 10.0.0.2:7000\r\n";
}

/* Whoever was only heard of by MOVED is not connected before a map has said what it is called. */
static void moved_waits_for_the_name(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->says = moved_to_2;
    machines_start(all, NULL);
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    assert_int_equal(all->count, 1);
    assert_string_equal(all->served_by, "10.0.0.2");
    assert_string_equal(machines_stream(all, "10.0.0.2")->name, "two.example");
}

/* ---- hosts that are names, or none ------------------------------------------------------------------------------- */

static void host_that_is_a_name_is_looked_up(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("node-2.game.example", NULL);
    all->number = "10.0.0.2";
    machines_start(all, NULL);
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    assert_string_equal(all->served_by, "10.0.0.2");
    assert_string_equal(machines_stream(all, "10.0.0.2")->name, "node-2.game.example");
}

/* The host is that of whoever was asked, whether it is left out by nil or by an empty text; a name beside it counts. */
static void host_that_is_left_out_is_whoever_was_asked(void** state)
{
    (void)state;
    static const char* const hosts[] = {NULL, ""};
    for (int i = 0; i < 2; i++)
    {
        machines* all = machines_new();
        all->map = machines_map(hosts[i], i == 0 ? "node-1.game.example" : NULL);
        machines_start(all, NULL);
        wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
        assert_string_equal(all->served_by, "10.0.0.1");
        assert_string_equal(machines_stream(all, "10.0.0.1")->name, i == 0 ? "node-1.game.example" : "");
    }
}

/* Of a name that was asked, the certificate is for that name, whatever the node is called beside it. */
static void host_that_is_left_out_keeps_the_name_that_was_asked(void** state)
{
    (void)state;
    machines* all = machines_new();
    gh_client_config config = scripted_config();
    config.address = gh_str_literal("fleet.game.example:7000");
    config.topology = gh_topology_cluster();
    all->map = machines_map(NULL, "node-1.game.example");
    all->number = "10.0.0.1";
    machines_start(all, &config);
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    assert_string_equal(machines_stream(all, "10.0.0.1")->name, "fleet.game.example");
}

/* As long as an address of the config may be: so long a name may be said by a node, announced beside its number, or be
   that of a node that leaves its host out. */
static void longest_names_are_taken(void** state)
{
    (void)state;
    char longest[254], address[264];
    memset(longest, 'n', sizeof longest);
    longest[253] = '\0';
    snprintf(address, sizeof address, "%s:7000", longest);
    for (int i = 0; i < 3; i++)
    {
        machines* all = machines_new();
        gh_client_config config = scripted_config();
        config.address = i == 0 ? gh_str_of(address) : gh_str_literal("10.0.0.1:7000");
        config.topology = gh_topology_cluster();
        all->map = machines_map(i == 0 ? NULL : i == 1 ? longest : "10.0.0.2", i == 2 ? longest : NULL);
        all->number = "10.0.0.2";
        machines_start(all, &config);
        wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
        assert_string_equal(all->served_by, "10.0.0.2");
        assert_string_equal(machines_stream(all, "10.0.0.2")->name, longest);
    }
}

static void name_without_a_resolver_is_refused_in_words(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("node-2.game.example", NULL);
    machines_start(all, NULL);
    gh_command* op = machines_get(all, "sword", 60 * SECOND_US);
    MACHINES_UNTIL(all, gh_op_poll(&op->op) != GH_PENDING, 10 * SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_REFUSED);
    assert_true(scripted_logged(all->world, "E command link: a host name, and config.resolver is not set, "
                                            "node-2.game.example:7000\n"));
}

/* Whoever sleeps is not woken all the time for a node that cannot be connected. */
static void name_without_a_resolver_lets_sleepers_sleep(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("node-2.game.example", NULL);
    machines_start(all, NULL);
    (void)machines_get(all, "sword", 60 * SECOND_US);
    uint64_t end_us = all->world->now_us + 60 * SECOND_US;
    unsigned ticks = 0;
    for (; all->world->now_us < end_us; ticks++)
    {
        uint64_t deadline_us = gh_next_deadline(all->world->client);
        scripted_tick(all->world, deadline_us > all->world->now_us ? deadline_us - all->world->now_us : 1);
    }
    assert_true(ticks < 2000);
}

/* ---- names that lead to another machine -------------------------------------------------------------------------- */

/* The machine at 10.0.0.1 knows of the node by its name alone, and is not it any more. */
static const char* knows_the_name(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count;
    if (!machines_is(words[0], "GET") || strcmp(host, "10.0.0.1") != 0) return NULL;
    self->count++;
    return "-MOVED 5455 node.game.example:7000\r\n";
}

static machines* machines_of_a_name(void)
{
    machines* all = machines_new();
    gh_client_config config = scripted_config();
    config.address = gh_str_literal("node.game.example:7000");
    config.topology = gh_topology_cluster();
    all->map = machines_map("node.game.example", NULL);
    all->number = "10.0.0.1";
    machines_start(all, &config);
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    return all;
}

static void name_that_leads_to_itself_is_looked_up_again(void** state)
{
    (void)state;
    machines* all = machines_of_a_name();
    gh_command* op = machines_get(all, "sword", 60 * SECOND_US);
    all->says = knows_the_name;
    MACHINES_UNTIL(all, all->count > 0, SECOND_US);
    all->number = "10.0.0.2";
    MACHINES_UNTIL(all, gh_op_poll(&op->op) != GH_PENDING, SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_OK);
    assert_string_equal(all->served_by, "10.0.0.2");
}

/* Whoever looks names up is told the old number for a while: one op, however long it has waited, is enough to go on
   asking, and the machine is not run over with attempts meanwhile. */
static void name_is_looked_up_until_it_leads_elsewhere(void** state)
{
    (void)state;
    machines* all = machines_of_a_name();
    gh_command* op = machines_get(all, "sword", 200 * SECOND_US);
    all->says = knows_the_name;
    uint64_t opens = all->world->opens;
    for (int i = 0; i < 60 * 200; i++) scripted_tick(all->world, 5000);
    assert_in_range(all->world->opens - opens, 20, 200);
    assert_int_equal(gh_op_poll(&op->op), GH_PENDING);
    all->number = "10.0.0.2";
    MACHINES_UNTIL(all, gh_op_poll(&op->op) != GH_PENDING, 10 * SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_OK);
    assert_string_equal(all->served_by, "10.0.0.2");
}

TEST_FILE(cluster_names, cmocka_unit_test(announced_name_goes_with_the_number),
          cmocka_unit_test(announced_name_goes_with_the_map_link),
          cmocka_unit_test(name_that_is_gone_is_verified_no_more), cmocka_unit_test(moved_waits_for_the_name),
          cmocka_unit_test(host_that_is_a_name_is_looked_up),
          cmocka_unit_test(host_that_is_left_out_is_whoever_was_asked),
          cmocka_unit_test(host_that_is_left_out_keeps_the_name_that_was_asked),
          cmocka_unit_test(longest_names_are_taken), cmocka_unit_test(name_without_a_resolver_is_refused_in_words),
          cmocka_unit_test(name_without_a_resolver_lets_sleepers_sleep),
          cmocka_unit_test(name_that_leads_to_itself_is_looked_up_again),
          cmocka_unit_test(name_is_looked_up_until_it_leads_elsewhere));
