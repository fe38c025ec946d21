/* How many connections a client of a Cluster has at most, also while nodes come, go and are replaced: as
   streams_capacity of guildhall/tls.h counts them. */

#include "support/server/made_cluster.h"

#include "client/state.h"

#define TICK_US  5000
#define CAPACITY 4
#define NODES    6

/* The world fails the test when one more is opened. */
static made_cluster* fleet_of_full_table(size_t connections)
{
    made_cluster* fleet = made_cluster_new(NODES);
    made_cluster_share(fleet, CAPACITY);
    fleet->config.nodes_capacity = CAPACITY;
    fleet->config.wake = true;
    fleet->world->streams_max = connections;
    return fleet;
}

static size_t open_streams(const made_cluster* fleet)
{
    size_t count = 0;
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++) count += fleet->world->streams[i].open;
    return count;
}

static void work(made_cluster* fleet, unsigned long cycles)
{
    unsigned long wanted[MADE_CYCLERS];
    for (unsigned i = 0; i < fleet->cycler_count; i++) wanted[i] = fleet->cyclers[i].cycles + cycles;
    for (unsigned i = 0; i < fleet->cycler_count; i++)
        MADE_UNTIL(fleet, fleet->cyclers[i].cycles >= wanted[i], TICK_US, 60000000);
}

/* One after the other loses all slots to another node, as in a failover, and all links break now and then. */
static void come_and_go(made_cluster* fleet)
{
    for (unsigned node = 0; node < CAPACITY; node++) (void)made_cluster_cycle(fleet, node);
    made_cluster_start(fleet);
    work(fleet, 5);
    for (unsigned turn = 0; turn < 12; turn++)
    {
        const uint16_t from = (uint16_t)(turn % NODES);
        const uint16_t to = (uint16_t)((turn + CAPACITY) % NODES);
        for (unsigned slot = 0; slot < GH_SLOTS; slot++)
            if (fleet->owners[slot] == from) fleet->owners[slot] = to;
        work(fleet, 5);
        if (turn % 3 != 2) continue;
        for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++) fleet->world->streams[i].ended = true;
        work(fleet, 5);
    }
}

static void a_link_to_each_node_and_two(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_of_full_table(CAPACITY + 2);
    come_and_go(fleet);
    assert_in_range(open_streams(fleet), CAPACITY + 1, CAPACITY + 2); /* maps come and go */
}

static void twice_as_many_where_replicas_are_waited_for(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_of_full_table(2 * CAPACITY + 2);
    fleet->config.replicas = gh_replicas_wait();
    fleet->config.wait_replicas = 1;
    come_and_go(fleet);
    assert_in_range(open_streams(fleet), 2 * CAPACITY + 1, 2 * CAPACITY + 2);
}

/* A lease whose slot moves, or a script that another node has, must see that the connection is not that of before. */
static void no_two_connections_have_a_number(void** state)
{
    (void)state;
    made_cluster* fleet = fleet_of_full_table(2 * CAPACITY + 2);
    fleet->config.replicas = gh_replicas_wait();
    fleet->config.wait_replicas = 1;
    come_and_go(fleet);
    uint32_t numbers[2 * CAPACITY + 1];
    uint32_t count = 0;
    const gh_client* client = fleet->world->client;
    for (const gh_node* node = client->nodes; node < client->nodes_end; node++)
        if (node->link.generation != 0) numbers[count++] = node->link.generation;
    numbers[count++] = client->wake.generation;
    assert_in_range(count, CAPACITY + 1, 2 * CAPACITY + 1);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < i; k++) assert_int_not_equal(numbers[i], numbers[k]);
}

/* The last bytes of what it says never come. */
static void freeze_in_the_middle(made_cluster* fleet, unsigned node)
{
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++)
    {
        scripted_stream* stream = &fleet->world->streams[i];
        if (stream->open && stream->port == MADE_PORT + node && stream->replies.size > 3) stream->replies.size -= 3;
    }
}

/* Three are received from at once. Those who stop in the middle of an answer hold nobody up for long. */
static void half_answers_hold_up_no_other_node(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(CAPACITY);
    gh_lock* locks[2 * CAPACITY];
    made_cluster_start(fleet);
    for (unsigned node = 0; node < CAPACITY; node++)
    {
        locks[node] = made_cluster_want(fleet, node, 60000000);
        MADE_UNTIL(fleet, gh_op_poll(&locks[node]->op) == GH_HELD, TICK_US, 5000000);
    }
    for (unsigned node = 0; node < CAPACITY - 1; node++)
        locks[CAPACITY + node] = made_cluster_want(fleet, node, 60000000);
    made_cluster_tick(fleet, TICK_US);
    for (unsigned node = 0; node < CAPACITY - 1; node++) freeze_in_the_middle(fleet, node);
    made_cluster_tick(fleet, TICK_US);
    gh_lock_release(locks[CAPACITY - 1]);
    MADE_UNTIL(fleet, gh_op_poll(&locks[CAPACITY - 1]->op) == GH_OK, TICK_US,
               fleet->config.request_timeout_us / 4 + 4 * TICK_US);
    assert_in_range(scripted_stats(fleet->world).links_lost, 1, CAPACITY - 1);
    for (unsigned node = 0; node < CAPACITY - 1; node++)
        MADE_UNTIL(fleet, gh_op_poll(&locks[CAPACITY + node]->op) == GH_HELD, TICK_US, 5000000);
}

/* While nobody wants to be received from, one may take its time. */
static void half_answer_is_waited_for(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(CAPACITY);
    made_cluster_start(fleet);
    gh_lock* lock = made_cluster_want(fleet, 0, 60000000);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 5000000);
    gh_lock* slow = made_cluster_want(fleet, 0, 60000000);
    made_cluster_tick(fleet, TICK_US);
    freeze_in_the_middle(fleet, 0);
    const uint64_t end_us = fleet->world->now_us + fleet->config.request_timeout_us * 3 / 4;
    while (fleet->world->now_us < end_us) made_cluster_tick(fleet, TICK_US);
    assert_int_equal(scripted_stats(fleet->world).links_lost, 0);
    assert_int_equal(gh_op_poll(&slow->op), GH_PENDING);
}

/* Ticks of a client that sleeps until its deadlines, or until it is answered. */
static unsigned ticks_of_a_sleeper(made_cluster* fleet, uint64_t us)
{
    const uint64_t end_us = fleet->world->now_us + us;
    unsigned ticks = 0;
    while (fleet->world->now_us < end_us)
    {
        const uint64_t due_us = gh_next_deadline(fleet->world->client);
        const uint64_t now_us = fleet->world->now_us;
        made_cluster_tick(fleet, due_us > now_us ? (due_us < end_us ? due_us : end_us) - now_us : 0);
        made_cluster_tick(fleet, 100); /* what was answered */
        ticks++;
    }
    return ticks;
}

static void hold_all(made_cluster* fleet, gh_lock* locks[CAPACITY])
{
    made_cluster_start(fleet);
    for (unsigned node = 0; node < CAPACITY; node++)
    {
        locks[node] = made_cluster_want(fleet, node, 60000000);
        MADE_UNTIL(fleet, gh_op_poll(&locks[node]->op) == GH_HELD, TICK_US, 5000000);
    }
}

/* Three stop in the middle of an answer: a fourth is read from when one of them is given up, and not asked for before.
 */
static void who_waits_to_be_read_from_lets_sleepers_sleep(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(CAPACITY);
    gh_lock* locks[CAPACITY];
    hold_all(fleet, locks);
    for (unsigned node = 0; node < CAPACITY - 1; node++) (void)made_cluster_want(fleet, node, 60000000);
    made_cluster_tick(fleet, TICK_US);
    for (unsigned node = 0; node < CAPACITY - 1; node++) freeze_in_the_middle(fleet, node);
    made_cluster_tick(fleet, TICK_US);
    gh_lock_release(locks[CAPACITY - 1]);
    const unsigned ticks = ticks_of_a_sleeper(fleet, fleet->config.request_timeout_us / 4 + 4 * TICK_US);
    assert_int_equal(gh_op_poll(&locks[CAPACITY - 1]->op), GH_OK);
    assert_in_range(ticks, 1, 60);
}

/* Nobody takes what is sent: two links hold what there is to send from, and the others wait for that. */
static void who_waits_to_send_lets_sleepers_sleep(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(CAPACITY);
    gh_lock* locks[CAPACITY];
    hold_all(fleet, locks);
    fleet->world->send_max = 0;
    for (unsigned node = 0; node < CAPACITY; node++) gh_lock_release(locks[node]);
    assert_in_range(ticks_of_a_sleeper(fleet, fleet->config.request_timeout_us / 2), 1, 60);
    fleet->world->send_max = SIZE_MAX;
    assert_in_range(ticks_of_a_sleeper(fleet, fleet->config.request_timeout_us), 1, 60);
    for (unsigned node = 0; node < CAPACITY; node++) assert_int_equal(gh_op_poll(&locks[node]->op), GH_OK);
}

/* Of nodes, how they are to be reached. */
static gh_status doors[3];

static gh_status door_of_its_node(scripted* world, const gh_address* address)
{
    (void)world;
    return doors[address->port - MADE_PORT];
}

static gh_link_state state_of(const made_cluster* fleet)
{
    return gh_client_link_state(fleet->world->client, GH_LINK_COMMANDS);
}

/* Nobody needs the first of them: how it stands says nothing of the others. */
static void state_of_the_links_is_that_of_the_best(void** state)
{
    (void)state;
    made_cluster* fleet = made_cluster_new(3);
    fleet->world->door = door_of_its_node;
    fleet->world->connected_status = GH_PENDING;
    doors[0] = doors[1] = doors[2] = GH_OK;
    made_cluster_start(fleet);
    assert_int_equal(state_of(fleet), GH_LINK_IDLE);
    gh_lock* lock = made_cluster_want(fleet, 1, 60000000);
    MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 1000000);
    assert_int_equal(state_of(fleet), GH_LINK_READY);
    doors[0] = doors[1] = doors[2] = GH_REFUSED;
    for (size_t i = 0; i < SCRIPTED_STREAMS_MAX; i++) fleet->world->streams[i].ended = true;
    MADE_UNTIL(fleet, state_of(fleet) == GH_LINK_BACKOFF, TICK_US, 1000000);
    doors[1] = GH_PENDING;
    MADE_UNTIL(fleet, state_of(fleet) == GH_LINK_CONNECTING, TICK_US, 2000000);
    for (int i = 0; i < 20; i++)
    {
        made_cluster_tick(fleet, TICK_US);
        assert_int_equal(state_of(fleet), GH_LINK_CONNECTING);
    }
    fleet->world->connected_status = GH_OK;
    MADE_UNTIL(fleet, state_of(fleet) == GH_LINK_READY, TICK_US, 1000000);
}

TEST_FILE(cluster_links, cmocka_unit_test(state_of_the_links_is_that_of_the_best),
          cmocka_unit_test(half_answers_hold_up_no_other_node), cmocka_unit_test(half_answer_is_waited_for),
          cmocka_unit_test(who_waits_to_be_read_from_lets_sleepers_sleep),
          cmocka_unit_test(who_waits_to_send_lets_sleepers_sleep), cmocka_unit_test(a_link_to_each_node_and_two),
          cmocka_unit_test(twice_as_many_where_replicas_are_waited_for),
          cmocka_unit_test(no_two_connections_have_a_number));
