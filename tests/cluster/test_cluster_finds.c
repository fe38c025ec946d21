/* A client that has lost sight of its Cluster finds it again. */

#include "cluster/machines.h"

#include "wire/slot.h"

#include <stdio.h>
#include <string.h>

static void wait_until_done(machines* self, gh_command* op)
{
    MACHINES_UNTIL(self, gh_op_poll(&op->op) != GH_PENDING, 20 * SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_OK);
}

/* ---- whom to ask for a map --------------------------------------------------------------------------------------- */

/* A Cluster of one master, which comes back elsewhere: only the seeds lead there. */
static void only_node_that_is_gone_is_found_by_the_seeds(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("10.0.0.2", NULL);
    machines_start(all, NULL);
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    assert_string_equal(all->served_by, "10.0.0.2");
    all->map = machines_map("10.0.0.3", NULL);
    all->gone[0] = "10.0.0.2";
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++) all->world->streams[i].ended = true;
    wait_until_done(all, machines_get(all, "sword", 20 * SECOND_US));
    assert_string_equal(all->served_by, "10.0.0.3");
}

/* ---- maps that are none ------------------------------------------------------------------------------------------ */

#define NO_ROWS "*0\r\n"

static const char* first_is_alone(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count;
    if (!machines_is(words[0], "CLUSTER") || strcmp(host, "10.0.0.1") != 0) return NULL;
    self->count++;
    return NO_ROWS;
}

/* The first of the seeds has left the Cluster, or not joined it yet: the second one knows. */
static void seed_that_is_alone_is_passed_over(void** state)
{
    (void)state;
    machines* all = machines_new();
    gh_client_config config = scripted_config();
    config.address = gh_str_literal("10.0.0.1:7000,10.0.0.2:7000");
    config.topology = gh_topology_cluster();
    all->map = machines_map("10.0.0.2", NULL);
    all->says = first_is_alone;
    machines_start(all, &config);
    gh_command* op = machines_get(all, "sword", 60 * SECOND_US);
    MACHINES_UNTIL(all, gh_op_poll(&op->op) != GH_PENDING, SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_OK);
    assert_int_equal(all->count, 1);
    assert_true(scripted_logged(all->world, "W map link: a map without any node, 10.0.0.1:7000\n"));
}

static const char* each_is_reset_once(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)host, (void)count;
    if (!machines_is(words[0], "CLUSTER") || self->count != 1) return NULL;
    self->count++;
    return NO_ROWS;
}

/* What was known goes on to hold, and so do the links. */
static void node_that_is_alone_takes_nothing_away(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("10.0.0.2", NULL);
    all->says = each_is_reset_once;
    machines_start(all, NULL);
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    all->count = 1;
    SCRIPTED_UNTIL(all->world, all->count > 1, 100000, 60 * SECOND_US);
    for (int i = 0; i < 100; i++) scripted_tick(all->world, 5000);
    assert_int_equal(scripted_stats(all->world).links_lost, 0);
    assert_int_equal(scripted_stats(all->world).links_ready, 1);
    uint64_t before_us = all->world->now_us;
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    assert_true(all->world->now_us - before_us < SECOND_US / 10);
}

/* A master that says no address of its own: a person is told, once, and it heals with the next map. */
static void host_that_nobody_knows_is_told(void** state)
{
    (void)state;
    static const char words[] = "W map link: slots wait, of whose node the server does not say where it is\n";
    machines* all = machines_new();
    all->map = machines_map("?", NULL);
    machines_start(all, NULL);
    gh_command* op = machines_get(all, "sword", 60 * SECOND_US);
    for (int i = 0; i < 400; i++) scripted_tick(all->world, 5000);
    assert_int_equal(gh_op_poll(&op->op), GH_PENDING);
    assert_int_equal(scripted_times_logged(all->world, words), 1);
    all->map = machines_map("10.0.0.2", NULL);
    wait_until_done(all, op);
}

static const char* three_masters(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)host, (void)count, (void)self;
    if (!machines_is(words[0], "CLUSTER")) return NULL;
    return "*3\r\n*3\r\n:0\r\n:1\r\n*2\r\n$8\r\n10.0.0.1\r\n:7000\r\n"
           "*3\r\n:2\r\n:3\r\n*2\r\n$8\r\n10.0.0.2\r\n:7000\r\n"
           "*3\r\n:4\r\n:16383\r\n*2\r\n$8\r\n10.0.0.3\r\n:7000\r\n";
}

static void node_without_a_place_is_told(void** state)
{
    (void)state;
    machines* all = machines_new();
    gh_client_config config = scripted_config();
    config.nodes_capacity = 2;
    all->says = three_masters;
    machines_start(all, &config);
    (void)machines_get(all, "sword", 60 * SECOND_US);
    for (int i = 0; i < 400; i++) scripted_tick(all->world, 5000);
    assert_int_equal(scripted_times_logged(all->world,
                                           "W slots of nodes that have no place wait, the Cluster is larger than "
                                           "nodes_capacity: enlarge it, it is 2\n"),
                     1);
}

/* ---- slots on their way ------------------------------------------------------------------------------------------ */

/* The slot is at 1 and moves to 2, and some of the keys are there: so often the op is told to wait. */
static const char* tries_again(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count;
    if (!machines_is(words[0], "GET")) return NULL;
    if (strcmp(host, "10.0.0.1") == 0)
        return self->count++ < 300 ? "-TRYAGAIN Multiple keys request during rehashing of slot\r\n"
                                   : "-ASK 5455 10.0.0.2:7000\r\n";
    return self->asking > 0 ? NULL : "-MOVED 5455 10.0.0.1:7000\r\n";
}

/* Whoever has waited for long goes on as soon as its keys are in one place, not when the slot is. */
static void patience_does_not_make_deaf_for_ask(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("10.0.0.1", NULL);
    all->says = tries_again;
    machines_start(all, NULL);
    gh_command* op = machines_get(all, "sword", 60 * SECOND_US);
    MACHINES_UNTIL(all, all->count >= 300, 40 * SECOND_US);
    MACHINES_UNTIL(all, gh_op_poll(&op->op) != GH_PENDING, SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_OK);
    assert_string_equal(all->served_by, "10.0.0.2");
}

static char asked_first[32];
static const char* sent_to_9; /* ASK or MOVED */

/* The key whose epoch is asked for first is on its way, or has gone. */
static const char* epoch_is_elsewhere(machines* self, const char* host, const gh_str* words, size_t count)
{
    static char redirect[64];
    if (strcmp(host, "10.0.0.1") != 0 || count < 4 || !machines_is(words[0], "EVALSHA") || words[3].size < 6 ||
        words[3].size >= sizeof asked_first || memcmp(words[3].bytes + words[3].size - 6, ":epoch", 6) != 0)
        return NULL;
    self->count++;
    if (asked_first[0] == '\0') memcpy(asked_first, words[3].bytes, words[3].size);
    if (!machines_is(words[3], asked_first)) return NULL;
    snprintf(redirect, sizeof redirect, "-%s %u 10.0.0.9:7000\r\n", sent_to_9, (unsigned)gh_slot_of_key(words[3]));
    return redirect;
}

/* It may have replaced a master, and the newest of its data may be lost: nothing goes to it before it has said. */
static void expect_another_epoch(const char* word)
{
    machines* all = machines_new();
    memset(asked_first, 0, sizeof asked_first);
    sent_to_9 = word;
    all->map = machines_map("10.0.0.1", NULL);
    all->says = epoch_is_elsewhere;
    machines_start(all, NULL);
    gh_command* op = machines_get(all, "sword", 10 * SECOND_US);
    MACHINES_UNTIL(all, gh_op_poll(&op->op) != GH_PENDING, 20 * SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_OK);
    assert_string_equal(all->served_by, "10.0.0.1");
    assert_in_range(all->count, 3, 4); /* of the first its epoch, and perhaps the rights; of the second both */
}

static void node_says_another_epoch_while_one_is_on_its_way(void** state)
{
    (void)state;
    expect_another_epoch("ASK");
}

static void node_says_another_epoch_when_one_has_gone(void** state)
{
    (void)state;
    expect_another_epoch("MOVED");
}

/* Two who send to each other for ever. */
static const char* sends_to_the_other(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count;
    if (!machines_is(words[0], "GET")) return NULL;
    self->count++;
    return strcmp(host, "10.0.0.1") == 0 ? "-MOVED 5455 10.0.0.2:7000\r\n" : "-MOVED 5455 10.0.0.1:7000\r\n";
}

static void circle_is_asked_seldom(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = MACHINES_TWO_MASTERS;
    all->says = sends_to_the_other;
    machines_start(all, NULL);
    gh_command* op = machines_get(all, "sword", 20 * SECOND_US);
    MACHINES_UNTIL(all, gh_op_poll(&op->op) != GH_PENDING, 30 * SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_TIMEOUT);
    assert_in_range(all->count, 100, 2000);
}

static bool map_is_kept;

static const char* keeps_the_map(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count;
    if (machines_is(words[0], "CLUSTER")) return self->count++ > 0 && map_is_kept ? "" : NULL;
    if (!machines_is(words[0], "GET") || strcmp(host, "10.0.0.1") != 0) return NULL;
    return "-MOVED 5455 10.0.0.2:7000\r\n";
}

/* Only its epoch tells what was lost when it took over, and only a map says where that lies. */
static void new_master_is_asked_for_nothing_before_a_map_knows_it(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("10.0.0.1", NULL);
    all->says = keeps_the_map;
    map_is_kept = true;
    machines_start(all, NULL);
    gh_command* op = machines_get(all, "sword", 60 * SECOND_US);
    MACHINES_UNTIL(all, all->count >= 2, SECOND_US); /* it was told of 2, and asks */
    for (int i = 0; i < 100; i++) scripted_tick(all->world, 5000);
    assert_null(machines_stream(all, "10.0.0.2"));
    all->map = machines_map("10.0.0.2", NULL);
    map_is_kept = false;
    wait_until_done(all, op);
    assert_string_equal(all->served_by, "10.0.0.2");
}

static bool slot_is_there;

/* The first slot of 2 is on its way, and then there; only its epoch tells what is in it. */
static const char* moves_its_first_slot(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count;
    if (machines_is(words[0], "CLUSTER")) return self->count++ > 0 && map_is_kept ? "" : NULL;
    if (!machines_is(words[0], "GET") || strcmp(host, "10.0.0.1") != 0) return NULL;
    return slot_is_there ? "-MOVED 5455 10.0.0.2:7000\r\n" : "-ASK 5455 10.0.0.2:7000\r\n";
}

static void who_gets_its_first_slot_is_asked_for_nothing_before_a_map_knows_it(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("10.0.0.1", NULL);
    all->says = moves_its_first_slot;
    map_is_kept = true;
    slot_is_there = false;
    machines_start(all, NULL);
    wait_until_done(all, machines_get(all, "sword", 60 * SECOND_US));
    assert_string_equal(all->served_by, "10.0.0.2");
    slot_is_there = true;
    gh_command* op = machines_get(all, "sword", 60 * SECOND_US);
    MACHINES_UNTIL(all, all->count >= 2, SECOND_US);
    for (int i = 0; i < 100; i++) scripted_tick(all->world, 5000);
    assert_int_equal(all->served, 1);
    all->map = machines_map("10.0.0.2", NULL);
    map_is_kept = false;
    wait_until_done(all, op);
    assert_int_equal(all->served, 2);
}

/* The first of two rows of a map; the second one never comes. */
#define HALF_A_MAP "*2\r\n*3\r\n:0\r\n:16000\r\n*2\r\n$8\r\n10.0.0.2\r\n:7000\r\n"

/* 1 sends on to 2, out of turn, and has trouble later; self->count: how often 2 was asked for an epoch. */
static const char* tells_half_a_map(machines* self, const char* host, const gh_str* words, size_t count)
{
    if (machines_is(words[0], "CLUSTER")) return slot_is_there ? HALF_A_MAP : NULL;
    if (strcmp(host, "10.0.0.2") == 0 && scripted_asks_epoch(words, count)) self->count++;
    if (!machines_is(words[0], "GET") || strcmp(host, "10.0.0.1") != 0) return NULL;
    return slot_is_there ? "-CLUSTERDOWN The cluster is down\r\n" : "-ASK 5455 10.0.0.2:7000\r\n";
}

/* Rows hold before their map has come to its end, and by the first of this 2 has the slot. It was asked for no epoch
   when it was connected, as it had none. */
static void who_has_slots_by_half_a_map_is_asked_for_its_epoch_first(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("10.0.0.1", NULL);
    all->says = tells_half_a_map;
    slot_is_there = false;
    machines_start(all, NULL);
    wait_until_done(all, machines_get(all, "sword", 60 * SECOND_US));
    assert_string_equal(all->served_by, "10.0.0.2");
    assert_int_equal(all->count, 0);
    slot_is_there = true;
    wait_until_done(all, machines_get(all, "sword", 60 * SECOND_US));
    assert_string_equal(all->served_by, "10.0.0.2");
    assert_int_not_equal(all->count, 0);
}

/* 3 has taken the place of 1, and 2 has got a slot of it. */
#define SUCCESSOR_AND_HEIR                                                                                             \
    "*4\r\n*3\r\n:0\r\n:5454\r\n*2\r\n$8\r\n10.0.0.3\r\n:7000\r\n"                                                     \
    "*3\r\n:5455\r\n:5455\r\n*2\r\n$8\r\n10.0.0.2\r\n:7000\r\n"                                                        \
    "*3\r\n:5456\r\n:8191\r\n*2\r\n$8\r\n10.0.0.3\r\n:7000\r\n"                                                        \
    "*3\r\n:8192\r\n:16383\r\n*2\r\n$8\r\n10.0.0.2\r\n:7000\r\n"

static gh_status third_door;
static unsigned third_asked;

static gh_status door_to_the_third(scripted* world, const gh_address* address)
{
    (void)world;
    if (machines_is(address->host, "10.0.0.1")) return GH_REFUSED;
    if (!machines_is(address->host, "10.0.0.3")) return GH_OK;
    third_asked++;
    return third_door;
}

static void lose(const machines* all, const char* host)
{
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        if (strcmp(all->world->streams[i].host, host) == 0) all->world->streams[i].ended = true;
}

/* To the client 1 is lost, and a map has told it of 3, to which this door leads. */
static machines* replace_the_first(gh_status door)
{
    machines* all = machines_new();
    gh_client_config config = scripted_config();
    config.connect_timeout_us = 60 * SECOND_US;
    config.address = gh_str_literal("10.0.0.1:7000");
    config.topology = gh_topology_cluster();
    all->map = MACHINES_TWO_MASTERS;
    machines_start(all, &config);
    wait_until_done(all, machines_get(all, "bow", 10 * SECOND_US));
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    assert_string_equal(all->served_by, "10.0.0.1");
    third_door = door;
    third_asked = 0;
    all->map = SUCCESSOR_AND_HEIR;
    all->world->door = door_to_the_third;
    all->world->connected_status = GH_PENDING;
    lose(all, "10.0.0.1");
    MACHINES_UNTIL(all, third_asked > 0, 20 * SECOND_US);
    return all;
}

static void heir_of_a_master_is_asked_behind_its_successor(void** state)
{
    (void)state;
    machines* all = replace_the_first(GH_PENDING);
    gh_command* op = machines_get(all, "sword", 60 * SECOND_US);
    for (int i = 0; i < 100; i++) scripted_tick(all->world, 5000);
    assert_int_equal(all->served, 2);
    all->world->connected_status = GH_OK;
    wait_until_done(all, op);
    assert_string_equal(all->served_by, "10.0.0.2");
}

static void successor_that_is_not_there_holds_nobody_up(void** state)
{
    (void)state;
    machines* all = replace_the_first(GH_REFUSED);
    wait_until_done(all, machines_get(all, "sword", 20 * SECOND_US));
    assert_string_equal(all->served_by, "10.0.0.2");
}

#define SENT_TO_NOBODY 20u

/* The slot was to move to 2, which is gone; then 1 keeps it. */
static const char* keeps_the_slot(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count;
    if (!machines_is(words[0], "GET") || strcmp(host, "10.0.0.1") != 0) return NULL;
    return ++self->count <= SENT_TO_NOBODY ? "-ASK 5455 10.0.0.2:7000\r\n" : NULL;
}

static void who_is_sent_to_nobody_comes_back(void** state)
{
    (void)state;
    gh_command* crowd[SENT_TO_NOBODY];
    machines* all = machines_new();
    all->map = machines_map("10.0.0.1", NULL);
    all->says = keeps_the_slot;
    all->gone[0] = "10.0.0.2";
    machines_start(all, NULL);
    for (unsigned i = 0; i < SENT_TO_NOBODY; i++) crowd[i] = machines_get(all, "sword", 60 * SECOND_US);
    MACHINES_UNTIL(all, all->served == SENT_TO_NOBODY, SECOND_US); /* together, not one in each look for a successor */
    for (unsigned i = 0; i < SENT_TO_NOBODY; i++) wait_until_done(all, crowd[i]);
    assert_string_equal(all->served_by, "10.0.0.1");
}

/* An empty master gets its first slot: no map has it yet, while maps are read again and again, and to connect takes
   longer than that. */
static const char* gives_its_first_slot(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count;
    if (machines_is(words[0], "CLUSTER") && self->world->connected_status == GH_PENDING && ++self->count == 3)
        self->world->connected_status = GH_OK;
    if (!machines_is(words[0], "GET")) return NULL;
    if (strcmp(host, "10.0.0.1") == 0) return "-ASK 5455 10.0.0.2:7000\r\n";
    return NULL;
}

static gh_status slow_door(scripted* world, const gh_address* address)
{
    (void)world;
    return machines_is(address->host, "10.0.0.2") ? GH_PENDING : GH_OK;
}

/* It is still being connected to for a slot that is on its way when it gets that one: no map has said of its epoch. */
static void who_gets_its_first_slot_while_it_is_connected_is_asked_for_nothing(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("10.0.0.1", NULL);
    all->says = moves_its_first_slot;
    all->world->door = slow_door;
    all->world->connected_status = GH_PENDING;
    map_is_kept = true;
    slot_is_there = false;
    machines_start(all, NULL);
    gh_command* first = machines_get(all, "sword", 60 * SECOND_US);
    MACHINES_UNTIL(all, machines_stream(all, "10.0.0.2") != NULL, SECOND_US);
    slot_is_there = true;
    gh_command* second = machines_get(all, "sword", 60 * SECOND_US);
    MACHINES_UNTIL(all, all->count >= 2, SECOND_US);
    all->world->connected_status = GH_OK;
    for (int i = 0; i < 100; i++) scripted_tick(all->world, 5000);
    assert_int_equal(all->served, 0);
    all->map = machines_map("10.0.0.2", NULL);
    map_is_kept = false;
    wait_until_done(all, first);
    wait_until_done(all, second);
    assert_string_equal(all->served_by, "10.0.0.2");
}

static void who_has_no_slot_yet_is_connected(void** state)
{
    (void)state;
    machines* all = machines_new();
    gh_client_config config = scripted_config();
    config.connect_timeout_us = 60 * SECOND_US;
    all->map = machines_map("10.0.0.1", NULL);
    all->says = gives_its_first_slot;
    all->world->door = slow_door;
    all->world->connected_status = GH_PENDING;
    machines_start(all, &config);
    gh_command* op = machines_get(all, "sword", 300 * SECOND_US);
    SCRIPTED_UNTIL(all->world, gh_op_poll(&op->op) != GH_PENDING, 100000, 200 * SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_OK);
    assert_string_equal(all->served_by, "10.0.0.2");
    unsigned opened = 0;
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++)
        opened += all->world->streams[i].open && strcmp(all->world->streams[i].host, "10.0.0.2") == 0;
    assert_int_equal(opened, 1);
    assert_int_equal(scripted_stats(all->world).links_lost, 0);
    assert_false(scripted_logged(all->world, "it goes elsewhere"));
}

/* ---- hints ------------------------------------------------------------------------------------------------------- */

/* A node that has left its Cluster goes on as a server of its own, and answers whatever it is asked. */
static void hints_are_not_awaited_at_a_node_that_has_left(void** state)
{
    (void)state;
    machines* all = machines_new();
    gh_client_config config = scripted_config();
    config.wake = true;
    all->map = machines_map("10.0.0.2", NULL);
    machines_start(all, &config);
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    MACHINES_UNTIL(all, gh_client_link_state(all->world->client, GH_LINK_WAKE) == GH_LINK_READY, 5 * SECOND_US);
    all->map = machines_map("10.0.0.3", NULL);
    SCRIPTED_UNTIL(all->world, machines_stream(all, "10.0.0.2") == NULL, 100000, 120 * SECOND_US);
    wait_until_done(all, machines_get(all, "sword", 10 * SECOND_US));
    MACHINES_UNTIL(all, gh_client_link_state(all->world->client, GH_LINK_WAKE) == GH_LINK_READY, 5 * SECOND_US);
    assert_null(machines_stream(all, "10.0.0.2"));
}

TEST_FILE(cluster_finds, cmocka_unit_test(only_node_that_is_gone_is_found_by_the_seeds),
          cmocka_unit_test(seed_that_is_alone_is_passed_over), cmocka_unit_test(node_that_is_alone_takes_nothing_away),
          cmocka_unit_test(host_that_nobody_knows_is_told), cmocka_unit_test(node_without_a_place_is_told),
          cmocka_unit_test(patience_does_not_make_deaf_for_ask),
          cmocka_unit_test(node_says_another_epoch_while_one_is_on_its_way),
          cmocka_unit_test(node_says_another_epoch_when_one_has_gone), cmocka_unit_test(circle_is_asked_seldom),
          cmocka_unit_test(new_master_is_asked_for_nothing_before_a_map_knows_it),
          cmocka_unit_test(who_gets_its_first_slot_is_asked_for_nothing_before_a_map_knows_it),
          cmocka_unit_test(who_gets_its_first_slot_while_it_is_connected_is_asked_for_nothing),
          cmocka_unit_test(who_has_slots_by_half_a_map_is_asked_for_its_epoch_first),
          cmocka_unit_test(heir_of_a_master_is_asked_behind_its_successor),
          cmocka_unit_test(successor_that_is_not_there_holds_nobody_up),
          cmocka_unit_test(who_is_sent_to_nobody_comes_back), cmocka_unit_test(who_has_no_slot_yet_is_connected),
          cmocka_unit_test(hints_are_not_awaited_at_a_node_that_has_left));
