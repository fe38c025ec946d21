/* What a node is asked out of turn, as a slot is on its way to it: ASKING counts for the very next command alone. */

#include "support/scene/sleeper.h"
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

static gh_lock* want_numbered(made_cluster* fleet, unsigned node, unsigned number, unsigned* slot)
{
    char* name = scripted_keep(fleet->world, 24);
    *slot = made_name(fleet, node, number, name);
    return scripted_want(fleet->world, name, 10000000, 60000000);
}

/* Node 0 keeps all to itself but what it sends elsewhere. */
static bool silent_but_on_its_way(made_cluster* fleet, unsigned node, unsigned slot, byte_buffer* reply)
{
    return node == 0 && (on_its_way(fleet, node, slot, reply) || true);
}

/* One place is free, and ASKING needs another: nothing is to be done until an answer comes. */
static void sleeper_sleeps_until_two_places_are_free(void** state)
{
    (void)state;
    const unsigned capacity = 8;
    made_cluster* fleet = made_cluster_new(2);
    fleet->config.requests_capacity = capacity;
    made_cluster_start(fleet);
    connect_to(fleet, 0);
    connect_to(fleet, 1);
    for (unsigned node = 0; node < 2; node++)
    {
        gh_lock* lock = made_cluster_want(fleet, node, 60000000); /* whose script is known from here on */
        MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 5000000);
    }
    fleet->lie = silent_but_on_its_way;
    fleet->slot = GH_SLOTS;
    unsigned slot;
    for (unsigned i = 0; i + 1 < capacity; i++) (void)want_numbered(fleet, 0, i, &slot);
    for (int i = 0; i < 3; i++) made_cluster_tick(fleet, TICK_US);
    assert_int_equal(scripted_stats(fleet->world).requests_sent, capacity - 1);
    gh_lock* lock = want_numbered(fleet, 0, 100, &fleet->slot);
    for (int i = 0; i < 3; i++) made_cluster_tick(fleet, TICK_US);
    assert_int_equal(scripted_stats(fleet->world).asked, 1);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    fleet->lie = on_its_way; /* what was asked is asked again when the link is given up */
    SLEEP_UNTIL(fleet->world, gh_op_poll(&lock->op) == GH_HELD, 100, 5000000);
}

/* ---- clocks --------------------------------------------------------------------------------------------------------
 */

static scripted_answer honest;
static scripted_answer trouble; /* of locks that are not sent elsewhere, if it is set */
static int64_t ahead_us[2];     /* each node's clock, of the world's */
static unsigned stale[2];       /* acquires that came too late by it, or that may come for too long */

/* A lock's acquire, by the clock of the node that is asked. */
static bool answer_by_its_clock(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    const unsigned node = world->asked->port - MADE_PORT;
    const int64_t now_us = 1000000000000000 + (int64_t)(world->now_us - world->start_us) + ahead_us[node];
    if (honest(world, words, count, reply)) return true;
    if (count == 1 && gh_str_equal(words[0], gh_str_literal("TIME")))
    {
        buffer_add(reply, "*2\r\n", 4);
        buffer_add_bulk(reply, "%lld", (long long)(now_us / 1000000));
        buffer_add_bulk(reply, "%lld", (long long)(now_us % 1000000));
        return true;
    }
    if (count == 8 && gh_str_equal(words[0], gh_str_literal("EVALSHA"))) /* the epoch's */
    {
        char text[128];
        const int size = snprintf(text, sizeof text, "*3\r\n:%llu\r\n:%lld\r\n:1\r\n",
                                  (unsigned long long)world->store_birth_us, (long long)now_us);
        buffer_add(reply, text, (size_t)size);
        return true;
    }
    if (!scripted_runs_on(words, count, "gh:{lock:")) return false;
    if (trouble != NULL && trouble(world, words, count, reply)) return true;
    if (count < 13) return false;
    const gh_str* token = &words[3 + scripted_number(words[2])];
    const int64_t left_us = scripted_number(token[5]) - now_us;
    const bool is_good = left_us >= 0 && left_us <= 2 * 1000000;
    if (!is_good) stale[node]++;
    buffer_add_bulk(reply, "%lld %d %lld %lld 0 %lld", scripted_number(token[1]), is_good ? 0 : 4,
                    is_good ? (long long)now_us : 0, is_good ? scripted_number(token[2]) : 0, (long long)now_us);
    return true;
}

static made_cluster* start_with_clocks(int64_t ahead_of_1_us)
{
    made_cluster* fleet = made_cluster_new(2);
    ahead_us[0] = 0;
    ahead_us[1] = ahead_of_1_us;
    stale[0] = stale[1] = 0;
    trouble = NULL;
    honest = fleet->world->answer;
    fleet->world->answer = answer_by_its_clock;
    fleet->lie = on_its_way;
    made_cluster_start(fleet);
    connect_to(fleet, 0);
    connect_to(fleet, 1);
    return fleet;
}

/* The clock of a node that has no slot of its own for the client was set: the first answer says so. */
static void clock_of_whom_is_asked_out_of_turn_is_noted_as_its_own(void** state)
{
    (void)state;
    const int64_t steps_us[] = {3600000000, -3600000000};
    for (int i = 0; i < 2; i++)
    {
        made_cluster* fleet = start_with_clocks(0);
        ahead_us[1] = steps_us[i];
        gh_lock* lock = want_numbered(fleet, 0, 7, &fleet->slot);
        MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 5000000);
        assert_int_equal(stale[1], 1);
    }
}

/* What it says of the time means nothing to the owner of the slot. */
static void clock_of_the_owner_is_not_that_of_whom_is_asked(void** state)
{
    (void)state;
    const int64_t ahead_of_1_us[] = {3600000000, -3600000000};
    for (int i = 0; i < 2; i++)
    {
        unsigned other;
        made_cluster* fleet = start_with_clocks(ahead_of_1_us[i]);
        gh_lock* lock = want_numbered(fleet, 0, 7, &fleet->slot);
        MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 5000000);
        lock = want_numbered(fleet, 0, 8, &other);
        assert_true(other != fleet->slot);
        MADE_UNTIL(fleet, gh_op_poll(&lock->op) == GH_HELD, TICK_US, 5000000);
        assert_int_equal(stale[0], 0);
        assert_int_equal(stale[1], 0);
    }
}

static unsigned acquires;  /* that node 1 has got                                */
static unsigned told_late; /* releases that tell until when a copy of one may come */

/* Of the first acquire there will be no answer, and whatever comes behind it finds too many waiting. */
static bool full_behind_a_lost_answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    if (world->asked->port != MADE_PORT + 1) return false;
    if (count < 13)
    {
        told_late += words[count - 1].size > 12;
        return false;
    }
    if (acquires++ == 0) world->streams[world->asked - world->streams].ended = true;
    else
    {
        const gh_str* token = &words[3 + scripted_number(words[2])];
        buffer_add_bulk(reply, "%lld 6 0 0 0 %lld", scripted_number(token[1]), scripted_number(token[5]) - 2000000);
    }
    return true;
}

/* A copy that hangs on the dead link to whom was asked out of turn may come as late as that one's clock says: the store
   is told of it before it is said that there is no lock. */
static void late_copy_is_told_by_the_clock_of_whom_was_asked(void** state)
{
    (void)state;
    const int64_t ahead_of_1_us[] = {60000000, -60000000};
    for (int i = 0; i < 2; i++)
    {
        made_cluster* fleet = start_with_clocks(ahead_of_1_us[i]);
        trouble = full_behind_a_lost_answer;
        acquires = told_late = 0;
        gh_lock* lock = want_numbered(fleet, 0, 7, &fleet->slot);
        const uint64_t begun_us = fleet->world->now_us;
        MADE_UNTIL(fleet, gh_op_poll(&lock->op) != GH_PENDING, TICK_US, 5000000);
        assert_status(gh_op_poll(&lock->op), GH_FULL);
        assert_true(fleet->world->now_us - begun_us < 2000000); /* else it may not come any more */
        assert_int_equal(acquires, 2);
        assert_int_equal(told_late, 1);
    }
}

TEST_FILE(cluster_ask, cmocka_unit_test(sleeper_sleeps_until_two_places_are_free),
          cmocka_unit_test(script_is_loaded_in_front_of_asking),
          cmocka_unit_test(clock_of_whom_is_asked_out_of_turn_is_noted_as_its_own),
          cmocka_unit_test(clock_of_the_owner_is_not_that_of_whom_is_asked),
          cmocka_unit_test(late_copy_is_told_by_the_clock_of_whom_was_asked),
          cmocka_unit_test(largest_request_has_room_for_asking));
