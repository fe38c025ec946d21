/* Hand-shakes with nodes of a Cluster, and what is said of them elsewhere meanwhile: who they are, they say alone, and
   where their epochs lie, MOVED and maps say. */

#include "cluster/machines.h"

#include "support/sha1.h"
#include "wire/slot.h"

#include <stdio.h>
#include <string.h>

/* self->count: how often one was asked for its epoch as a server of which nothing is known. */
static const char* counts_unknown(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)host;
    if (scripted_asks_epoch(words, count) && machines_is(words[5], "-")) self->count++;
    return NULL;
}

/* The second has not said who it is when the first has told how the scripts are called that both are asked by. */
static void who_is_not_known_yet_is_not_asked_for_its_epoch(void** state)
{
    (void)state;
    const byte_buffer none = {0};
    machines* all = machines_new();
    all->map = MACHINES_TWO_MASTERS;
    all->says = counts_unknown;
    machines_start(all, NULL);
    gh_command* first = machines_get(all, "sword", 60 * SECOND_US);
    gh_command* second = machines_get(all, "bow", 60 * SECOND_US);
    const size_t receive_max = all->world->receive_max;
    MACHINES_UNTIL(all, machines_stream(all, "10.0.0.2") != NULL, SECOND_US);
    all->world->receive_max = 0;
    MACHINES_UNTIL(all, machines_stream(all, "10.0.0.2")->replies.size > 0, SECOND_US);
    const byte_buffer late = machines_stream(all, "10.0.0.2")->replies;
    machines_stream(all, "10.0.0.2")->replies = none;
    all->world->receive_max = receive_max;
    MACHINES_UNTIL(all, gh_op_poll(&first->op) == GH_OK, SECOND_US);
    assert_int_equal(gh_op_poll(&second->op), GH_PENDING);
    buffer_add(&machines_stream(all, "10.0.0.2")->replies, late.bytes, late.size);
    MACHINES_UNTIL(all, gh_op_poll(&second->op) == GH_OK, SECOND_US);
    assert_int_equal(all->count, 0);
    byte_buffer over = late;
    buffer_free(&over);
}

/* ---- an epoch that is named elsewhere before it was asked for ---------------------------------------------------- */

static bool map_is_kept;

/* In which the epoch of the last group lies. */
static unsigned slot_of_epoch(void)
{
    char digits[16];
    const int size = snprintf(digits, sizeof digits, "%u", (unsigned)gh_slot_group_tag(GH_SLOT_GROUPS - 1));
    return gh_slot_of_key(gh_str_make(digits, (size_t)size));
}

/* 1 knows that 2 has taken over, and says of the epoch's slot from "axe" on that it is at 3; self->count: from then on.
 */
static const char* names_the_epoch_elsewhere(machines* self, const char* host, const gh_str* words, size_t count)
{
    if (machines_is(words[0], "CLUSTER")) return map_is_kept ? "" : NULL;
    if (count != 2 || !machines_is(words[0], "GET") || strcmp(host, "10.0.0.1") != 0) return NULL;
    if (machines_is(words[1], "bow")) return "-MOVED 5455 10.0.0.2:7000\r\n";
    if (machines_is(words[1], "staff")) return "-MOVED 5456 10.0.0.2:7000\r\n";
    if (machines_is(words[1], "axe")) self->count = 1;
    return machines_moved(slot_of_epoch(), self->count == 0 ? "10.0.0.2" : "10.0.0.3");
}

static gh_status slow_door(scripted* world, const gh_address* address)
{
    (void)world;
    if (machines_is(address->host, "10.0.0.2")) return GH_PENDING;
    return machines_is(address->host, "10.0.0.3") ? GH_REFUSED : GH_OK;
}

/* It was begun to be connected for that epoch; without one it is asked for nothing until a map has told of another. */
static void who_has_no_epoch_any_more_is_asked_for_nothing(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("10.0.0.1", NULL);
    all->says = names_the_epoch_elsewhere;
    all->world->door = slow_door;
    all->world->connected_status = GH_PENDING;
    map_is_kept = false;
    machines_start(all, NULL);
    MACHINES_UNTIL(all, gh_client_ready(all->world->client), SECOND_US);
    map_is_kept = true;
    (void)machines_get(all, "sword", 60 * SECOND_US);
    MACHINES_UNTIL(all, machines_stream(all, "10.0.0.2") != NULL, SECOND_US);
    gh_command* op = machines_get(all, "bow", 60 * SECOND_US);
    (void)machines_get(all, "staff", 60 * SECOND_US);
    (void)machines_get(all, "axe", 60 * SECOND_US);
    for (int i = 0; i < 20; i++) scripted_tick(all->world, 5000);
    all->world->connected_status = GH_OK;
    for (int i = 0; i < 100; i++) scripted_tick(all->world, 5000);
    assert_int_equal(all->served, 0);
    all->map = machines_map("10.0.0.2", NULL);
    map_is_kept = false;
    MACHINES_UNTIL(all, gh_op_poll(&op->op) == GH_OK, 20 * SECOND_US);
    assert_string_equal(all->served_by, "10.0.0.2");
}

static const char* owner_of_sword; /* by what the others say */
static unsigned epochs_of_first;   /* how often 1 was asked for one */

static const char* sends_on(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)self;
    if (machines_is(words[0], "CLUSTER")) return map_is_kept ? "" : NULL;
    if (scripted_asks_epoch(words, count) && strcmp(host, "10.0.0.1") == 0) epochs_of_first++;
    if (!machines_is(words[0], "GET") || strcmp(host, owner_of_sword) == 0) return NULL;
    return machines_moved(gh_slot_of_key(words[1]), owner_of_sword);
}

static void sword_is_got_from(machines* all, const char* owner)
{
    owner_of_sword = owner;
    gh_command* op = machines_get(all, "sword", 60 * SECOND_US);
    MACHINES_UNTIL(all, gh_op_poll(&op->op) != GH_PENDING, SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_OK);
    assert_string_equal(all->served_by, owner);
}

/* By a MOVED that no map confirms yet. */
static machines* sword_is_lost_by_first(void)
{
    machines* all = machines_new();
    all->map = MACHINES_TWO_MASTERS;
    all->says = sends_on;
    map_is_kept = false;
    epochs_of_first = 0;
    machines_start(all, NULL);
    sword_is_got_from(all, "10.0.0.1");
    assert_int_equal(epochs_of_first, 1);
    map_is_kept = true;
    sword_is_got_from(all, "10.0.0.2");
    assert_int_equal(epochs_of_first, 1);
    return all;
}

/* 1 was made a replica, and is a master again, with what another had; its link has seen nothing of that. It is asked
   for its epoch before anything else of that slot is. */
static void who_has_lost_a_slot_and_got_it_back_is_asked_again(void** state)
{
    (void)state;
    machines* all = sword_is_lost_by_first();
    sword_is_got_from(all, "10.0.0.1");
    assert_int_equal(epochs_of_first, 2);
    sword_is_got_from(all, "10.0.0.1");
    assert_int_equal(epochs_of_first, 2);
}

/* The same by a map, which gives it back what MOVED took away. */
static void who_gets_a_slot_back_by_a_map_is_asked_again(void** state)
{
    (void)state;
    machines* all = sword_is_lost_by_first();
    map_is_kept = false;
    owner_of_sword = "10.0.0.1";
    MACHINES_UNTIL(all, epochs_of_first == 2, 20 * SECOND_US);
    sword_is_got_from(all, "10.0.0.1");
    assert_int_equal(epochs_of_first, 2);
}

/* ---- which scripts it has ---------------------------------------------------------------------------------------- */

static size_t digests_asked; /* of the second one, which has not answered */

/* 2 has all that it is asked for, and nothing else but what it is brought; self->count: how often it was asked to run
   what it had not. */
static const char* has_what_it_is_brought(machines* self, const char* host, const gh_str* words, size_t count)
{
    static char brought[8][41];
    static unsigned brought_count;
    const bool is_second = strcmp(host, "10.0.0.2") == 0;
    if (is_second && machines_is(words[0], "SCRIPT") && machines_is(words[1], "EXISTS"))
    {
        digests_asked = count - 2;
        brought_count = 0;
        return "";
    }
    if (is_second && machines_is(words[0], "SCRIPT") && brought_count < 8)
        sha1_hex(words[2].bytes, words[2].size, brought[brought_count++]);
    if (!scripted_runs_on(words, count, "gh:{file:")) return NULL;
    bool is_there = !is_second;
    for (unsigned i = 0; i < brought_count; i++) is_there = is_there || machines_is(words[1], brought[i]);
    if (!is_there) self->count++;
    return is_there ? "-NOPERM nobody may\r\n" : "-NOSCRIPT No matching script.\r\n";
}

/* A file whose slot is the first's, or the second's. */
static void look_at_a_file(machines* all, bool of_second)
{
    char tag[32];
    gh_file_look* look = SCRIPTED_NEW(all->world, gh_file_look);
    int number = 0;
    int size;
    do size = snprintf(tag, sizeof tag, "file:n%d", number++);
    while ((gh_slot_of_key(gh_str_make(tag, (size_t)size)) > 8191) != of_second);
    assert_int_equal(gh_file_look_begin(look, all->world->client, gh_str_of(tag + 5), NULL), GH_OK);
    MACHINES_UNTIL(all, gh_op_poll(&look->op) == GH_REFUSED, SECOND_US);
}

/* While it answers which scripts it has, another one tells of a script: the answer is not about that one. */
static void answer_about_scripts_is_of_those_that_were_asked_for(void** state)
{
    (void)state;
    char text[32];
    machines* all = machines_new();
    all->map = MACHINES_TWO_MASTERS;
    all->says = has_what_it_is_brought;
    digests_asked = 0;
    machines_start(all, NULL);
    MACHINES_UNTIL(all, gh_client_ready(all->world->client), SECOND_US);
    const gh_lock* lock = scripted_want(all->world, "a", 60 * SECOND_US, 60 * SECOND_US);
    assert_in_range(gh_slot_of_key(gh_str_literal("lock:a")), 0, 8191);
    MACHINES_UNTIL(all, gh_op_poll(&lock->lease.op) == GH_HELD, SECOND_US);
    const gh_command* op = machines_get(all, "bow", 60 * SECOND_US);
    assert_in_range(gh_slot_of_key(gh_str_literal("bow")), 8192, 16383);
    MACHINES_UNTIL(all, digests_asked > 0, SECOND_US);
    look_at_a_file(all, false);
    byte_buffer* replies = &machines_stream(all, "10.0.0.2")->replies;
    buffer_add(replies, text, (size_t)snprintf(text, sizeof text, "*%zu\r\n", digests_asked));
    for (size_t i = 0; i < digests_asked; i++) buffer_add(replies, ":1\r\n", 4);
    MACHINES_UNTIL(all, gh_op_poll(&op->op) == GH_OK, SECOND_US);
    look_at_a_file(all, true);
    assert_int_equal(all->count, 0);
    assert_int_equal(scripted_stats(all->world).script_reloads, 0);
}

/* ---- without a buffer -------------------------------------------------------------------------------------------- */

#define THREE_MASTERS                                                                                                  \
    "*3\r\n*3\r\n:0\r\n:5999\r\n*2\r\n$8\r\n10.0.0.1\r\n:7000\r\n"                                                     \
    "*3\r\n:6000\r\n:11999\r\n*2\r\n$8\r\n10.0.0.2\r\n:7000\r\n"                                                       \
    "*3\r\n:12000\r\n:16383\r\n*2\r\n$8\r\n10.0.0.3\r\n:7000\r\n"

static int64_t (*send_on)(void* context, intptr_t stream, const void* bytes, size_t size);
static bool is_stuck; /* nothing leaves for the first two */

static int64_t send_unless_stuck(void* context, intptr_t stream, const void* bytes, size_t size)
{
    const scripted* world = context;
    if (is_stuck && strcmp(world->streams[stream].host, "10.0.0.3") != 0) return GH_STREAM_WOULD_BLOCK;
    return send_on(context, stream, bytes, size);
}

/* The first two answer nothing any more. */
static const char* falls_silent(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count;
    return self->count > 0 && machines_is(words[0], "GET") && strcmp(host, "10.0.0.3") != 0 ? "" : NULL;
}

/* Sleeps until the deadline, or until the third has said something. */
static void sleep_and_tick(machines* all)
{
    const uint64_t now_us = all->world->now_us;
    const uint64_t due_us = gh_next_deadline(all->world->client);
    const scripted_stream* third = machines_stream(all, "10.0.0.3");
    const bool sleeps = due_us > now_us && (third == NULL || third->replies.size == 0);
    scripted_tick(all->world, sleeps ? due_us - now_us : 50);
}

/* Two nodes have both buffers to send from, which they give back when their turn in a tick is over; the third, whose
   turn may be before theirs, goes on in the next one. */
static void hand_shake_goes_on_as_soon_as_there_is_a_buffer(void** state)
{
    (void)state;
    for (int turn = 0; turn < 6; turn++)
    {
        machines* all = machines_new();
        const size_t receive_max = all->world->receive_max;
        all->map = THREE_MASTERS;
        all->says = falls_silent;
        send_on = all->world->platform.send;
        all->world->platform.send = send_unless_stuck;
        is_stuck = false;
        machines_start(all, NULL);
        const gh_command* ops[] = {machines_get(all, "sword", 60 * SECOND_US),
                                   machines_get(all, "bow", 60 * SECOND_US)};
        MACHINES_UNTIL(all, gh_op_poll(&ops[0]->op) == GH_OK && gh_op_poll(&ops[1]->op) == GH_OK, SECOND_US);
        const gh_command* op = machines_get(all, "staff", 60 * SECOND_US);
        MACHINES_UNTIL(all, machines_stream(all, "10.0.0.3") != NULL, SECOND_US);
        all->world->receive_max = 0;
        MACHINES_UNTIL(all, machines_stream(all, "10.0.0.3")->replies.size > 0, SECOND_US);
        is_stuck = true;
        all->count = 1;
        (void)machines_get(all, "sword", 60 * SECOND_US);
        (void)machines_get(all, "bow", 60 * SECOND_US);
        scripted_tick(all->world, 5000);
        all->world->receive_max = receive_max;
        for (int i = 0; i <= turn; i++) scripted_tick(all->world, 5000);
        assert_int_equal(gh_op_poll(&op->op), GH_PENDING);
        is_stuck = false;
        scripted_tick(all->world, 50); /* a stream takes bytes again */
        const uint64_t begun_us = all->world->now_us;
        while (gh_op_poll(&op->op) == GH_PENDING && all->world->now_us < begun_us + SECOND_US) sleep_and_tick(all);
        assert_int_equal(gh_op_poll(&op->op), GH_OK);
    }
}

TEST_FILE(cluster_handshake, cmocka_unit_test(who_has_lost_a_slot_and_got_it_back_is_asked_again),
          cmocka_unit_test(who_gets_a_slot_back_by_a_map_is_asked_again),
          cmocka_unit_test(who_is_not_known_yet_is_not_asked_for_its_epoch),
          cmocka_unit_test(who_has_no_epoch_any_more_is_asked_for_nothing),
          cmocka_unit_test(answer_about_scripts_is_of_those_that_were_asked_for),
          cmocka_unit_test(hand_shake_goes_on_as_soon_as_there_is_a_buffer));
