/* What hardly ever comes, in a world that is made up: replies that nobody asked for, a store that is lost while a lock
   is waited for or given back, and ends where there is no room. */

#include "support/scene/game.h"
#include "support/server/scripted.h"

#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000)

/* ---- replies ----------------------------------------------------------------------------------------------------- */

/* It costs the link, which is made anew. */
static void say_unasked(const char* reply, uint64_t protocol_errors, const char* logged)
{
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    scripted_say(world, reply);
    SCRIPTED_UNTIL(world, scripted_stats(world).links_lost == 1, MS, SECOND_US);
    assert_int_equal(scripted_stats(world).protocol_errors, protocol_errors);
    assert_true(scripted_logged(world, logged));
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, 10 * SECOND_US);
}

static void reply_that_nobody_asked_for_costs_the_link(void** state)
{
    (void)state;
    say_unasked("+OK\r\n", 1, "a reply that nobody asked for");
}

/* As of a server that has too many clients, or is about to end. */
static void error_that_nobody_asked_for_is_why_the_server_closes(void** state)
{
    (void)state;
    say_unasked("-ERR max number of clients reached\r\n", 0, "the server closes: ERR max number of clients reached");
}

static bool says_stale(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    static const char text[] = "-STALE 8\r\n";
    (void)world;
    if (!gh_str_equal(words[0], gh_str_literal("GET")) || count != 1) return false;
    buffer_add(reply, text, sizeof(text) - 1);
    return true;
}

/* Only scripts of the library say that of the data. */
static void callers_command_that_is_stale_has_failed(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->answer = says_stale;
    scripted_start_ready(world, NULL);
    gh_command* op = scripted_ask(world, "GET", SECOND_US, GH_REPEAT_SAFE);
    SCRIPTED_UNTIL(world, !gh_op_is_busy(&op->op), MS, SECOND_US);
    assert_status(gh_op_poll(&op->op), GH_ERROR);
    assert_int_equal(scripted_stats(world).links_lost, 0);
}

static bool is_acquire(const gh_str* words, size_t count)
{
    static const char key[] = "gh:{lock:";
    return count >= 13 && gh_str_equal(words[0], gh_str_literal("EVALSHA")) && words[3].size > sizeof(key) &&
           memcmp(words[3].bytes, key, sizeof(key) - 1) == 0;
}

/* ---- a store that is lost -----------------------------------------------------------------------------------------
 */

typedef struct queue
{
    bool waits; /* whoever asks is told that others are before him */
    unsigned asked;
} queue;

static bool answer_of_queue(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    queue* self = world->context;
    const gh_str* sequence = &words[count == 15 || count == 16 ? 8 : 7];
    if (!is_acquire(words, count)) return false;
    self->asked++;
    if (!self->waits) return false;
    buffer_add_bulk(reply, "%.*s 1 0 9000000 40 1000000000000000", (int)sequence->size, sequence->bytes);
    return true;
}

static void lose_store(scripted* world)
{
    world->store_birth_us++;
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++) world->streams[i].ended = true;
}

typedef struct elder
{
    unsigned asked;
    bool says_ended; /* the number had it, and that is over */
    char sequences[8][24];
} elder;

static bool answer_of_elder(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    elder* self = world->context;
    const gh_str* sequence = &words[count == 15 || count == 16 ? 8 : 7];
    if (!is_acquire(words, count)) return false;
    assert_true(self->asked < 8);
    snprintf(self->sequences[self->asked++], sizeof(self->sequences[0]), "%.*s", (int)sequence->size, sequence->bytes);
    if (!self->says_ended) return false;
    buffer_add_bulk(reply, "%.*s 3 0 0 0 1000000000000000", (int)sequence->size, sequence->bytes);
    return true;
}

/* It asks again under another one, as somebody new. */
static void number_whose_lease_is_over_is_not_used_again(void** state)
{
    (void)state;
    elder self = {.says_ended = true};
    scripted* world = scripted_new();
    world->context = &self;
    world->answer = answer_of_elder;
    scripted_start_ready(world, NULL);
    gh_lock* lock = scripted_want(world, "sword", SECOND_US, 60 * SECOND_US);
    SCRIPTED_UNTIL(world, self.asked == 1, MS, SECOND_US);
    self.says_ended = false;
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, SECOND_US);
    assert_int_equal(self.asked, 2);
    assert_string_not_equal(self.sequences[0], self.sequences[1]);
}

static void who_waits_in_a_store_that_is_lost_asks_at_once(void** state)
{
    (void)state;
    queue line = {.waits = true};
    scripted* world = scripted_new();
    world->context = &line;
    world->answer = answer_of_queue;
    scripted_start_ready(world, NULL);
    gh_lock* lock = scripted_want(world, "sword", SECOND_US, 600 * SECOND_US);
    SCRIPTED_UNTIL(world, lock->position == 40, MS, SECOND_US);
    line.waits = false;
    const unsigned before = line.asked;
    lose_store(world);
    SCRIPTED_UNTIL(world, scripted_stats(world).store_resets == 1, MS, 10 * SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 20 * MS);
    assert_in_range(line.asked - before, 1, 2);
}

/* Nobody has the lock in the new store. */
static void who_gives_back_to_a_store_that_is_lost_is_done(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_lock* lock = scripted_want(world, "sword", 60 * SECOND_US, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, SECOND_US);
    world->silent = true;
    gh_lock_release(lock);
    scripted_tick(world, MS);
    scripted_tick(world, MS);
    world->silent = false;
    lose_store(world);
    SCRIPTED_UNTIL(world, scripted_stats(world).store_resets == 1, MS, 10 * SECOND_US);
    assert_false(gh_op_is_busy(&lock->op));
    assert_status(gh_op_poll(&lock->op), GH_OK);
}

/* ---- sets ---------------------------------------------------------------------------------------------------------
 */

typedef struct both
{
    gh_lock_set set;
    gh_lock locks[2];
} both;

static both* want_both(scripted* world)
{
    static const gh_str names[2] = {GH_STR_INIT("sword"), GH_STR_INIT("shield")};
    both* self = SCRIPTED_NEW(world, both);
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 60 * SECOND_US;
    assert_status(gh_lock_set_begin(&self->set, world->client, self->locks, names, 2, &config), GH_OK);
    return self;
}

/* The second lock of a set is an op more, for which there may be no room by then. */
static void set_that_finds_no_room_gives_back(void** state)
{
    (void)state;
    queue line = {.waits = true};
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.ops_capacity = 16;
    world->context = &line;
    world->answer = answer_of_queue;
    scripted_start_ready(world, &config);
    for (int i = 0; i < 14; i++) scripted_want(world, "throne", SECOND_US, 60 * SECOND_US);
    SCRIPTED_UNTIL(world, line.asked == 14, MS, SECOND_US);
    line.waits = false;
    both* all = want_both(world);
    SCRIPTED_UNTIL(world, gh_op_poll(&all->set.op) != GH_PENDING, MS, SECOND_US);
    assert_status(gh_op_poll(&all->set.op), GH_NO_ROOM);
    assert_status(gh_op_poll(&all->locks[1].op), GH_OK); /* "shield" comes first, and is given back */
}

static bool says_nothing_of_sword(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    (void)world;
    (void)reply;
    return is_acquire(words, count) && gh_str_equal(words[3], gh_str_literal("gh:{lock:sword}:s"));
}

/* With one lock held and one that may be, by the request on the wire. */
static void set_ends_with_its_client(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->answer = says_nothing_of_sword;
    scripted_start_ready(world, NULL);
    both* all = want_both(world);
    SCRIPTED_UNTIL(world, gh_op_poll(&all->locks[1].op) == GH_HELD, MS, SECOND_US);
    scripted_tick(world, MS);
    scripted_tick(world, MS);
    gh_client_shutdown(world->client);
    assert_status(gh_op_poll(&all->set.op), GH_UNKNOWN);
    assert_status(gh_op_poll(&all->locks[0].op), GH_UNKNOWN);
}

TEST_FILE(seldom, cmocka_unit_test(number_whose_lease_is_over_is_not_used_again),
          cmocka_unit_test(reply_that_nobody_asked_for_costs_the_link),
          cmocka_unit_test(error_that_nobody_asked_for_is_why_the_server_closes),
          cmocka_unit_test(callers_command_that_is_stale_has_failed),
          cmocka_unit_test(who_waits_in_a_store_that_is_lost_asks_at_once),
          cmocka_unit_test(who_gives_back_to_a_store_that_is_lost_is_done),
          cmocka_unit_test(set_that_finds_no_room_gives_back), cmocka_unit_test(set_ends_with_its_client));
