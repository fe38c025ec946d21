/* gh_op_detach gives an op's memory back in any state: nobody writes there any more, and what was held is given back
   all the same. */

#include "support/random.h"
#include "support/scene/everything.h"
#include "support/scene/game.h"
#include "support/scene/on.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS      UINT64_C(1000)
#define HOUR_US UINT64_C(3600000000)
#define GONE    0xa5

/* An op in memory that is gone with it. */
static void* born(size_t size)
{
    void* memory = calloc(1, size);
    assert_non_null(memory);
    return memory;
}

static void dies(void* memory, size_t size)
{
    memset(memory, GONE, size);
    free(memory);
}

static void detach_and_die(gh_lock* lock)
{
    gh_op_detach(&lock->op);
    assert_false(gh_op_is_busy(&lock->op));
    dies(lock, sizeof *lock);
}

/* Its lease is an hour: whoever gets it afterwards has it because it was given back. */
static gh_lock* lock_for_an_hour(game* from, uint64_t wait_us)
{
    gh_lock_config config = gh_lock_config_default();
    gh_lock* lock = born(sizeof *lock);
    config.lease_us = HOUR_US;
    config.wait_us = wait_us;
    lock->op.tag = 7;
    assert_status(gh_lock_begin(lock, from->client, gh_str_literal("sword"), &config), GH_OK);
    return lock;
}

static void assert_free_for(game* other)
{
    gh_lock* lock = lock_for_an_hour(other, 0);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    gh_lock_release(lock);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_OK);
    detach_and_die(lock);
}

static void lock_is_given_back_after_each_tick(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* other = game_start_ready(redis_server_address(server));
    for (int ticks = 0; ticks < 12; ticks++)
    {
        game* a = game_start_ready(redis_server_address(server));
        gh_lock* lock = lock_for_an_hour(a, 0);
        for (int i = 0; i < ticks; i++) game_tick(a);
        detach_and_die(lock);
        assert_null(gh_client_next(a->client));
        GAME_UNTIL(game_stats(a).ops_busy == 0);
        assert_int_equal(game_stats(a).ops_abandoned, 0);
        assert_free_for(other);
        game_end(a);
    }
}

static void waiter_that_is_detached_leaves_the_queue(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* other = game_start_ready(redis_server_address(server));
    gh_lock* held = lock_for_an_hour(other, 0);
    GAME_UNTIL(gh_op_poll(&held->op) == GH_HELD);
    gh_lock* waiter = lock_for_an_hour(a, SECOND_US * 60);
    GAME_UNTIL(redis_server_integer(server, "ZCARD gh:{lock:sword}:q") == 1);
    detach_and_die(waiter);
    GAME_UNTIL(game_stats(a).ops_busy == 0);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{lock:sword}:q"), 0);
    detach_and_die(held);
    GAME_UNTIL(game_stats(other).ops_busy == 0);
    assert_free_for(a);
}

/* The link is down: it goes when it is back. */
static void lock_is_given_back_when_the_link_is_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = lock_for_an_hour(a, 0);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    redis_server_do(server, "CLIENT KILL TYPE normal SKIPME yes");
    detach_and_die(lock);
    GAME_UNTIL(game_stats(a).ops_busy == 0);
    assert_free_for(a);
}

static void set_gives_all_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    for (int ticks = 0; ticks < 10; ticks++)
    {
        const gh_str names[] = {gh_str_literal("sword"), gh_str_literal("shield")};
        game* a = game_start_ready(redis_server_address(server));
        gh_lock_config config = gh_lock_config_default();
        gh_lock_set* set = born(sizeof *set);
        gh_lock* locks = born(2 * sizeof *locks);
        config.lease_us = HOUR_US;
        assert_status(gh_lock_set_begin(set, a->client, locks, names, 2, &config), GH_OK);
        for (int i = 0; i < ticks; i++) game_tick(a);
        gh_op_detach(&set->op);
        dies(set, sizeof *set);
        dies(locks, 2 * sizeof *locks);
        GAME_UNTIL(game_stats(a).ops_busy == 0);
        assert_free_for(a);
        game_end(a);
    }
}

static void permits_of_a_group_go_one_by_one(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit_config config = gh_permit_config_default();
    gh_permit* permits[5];
    config.lease_us = SECOND_US;
    for (int i = 0; i < 5; i++)
    {
        permits[i] = born(sizeof(gh_permit));
        assert_status(gh_permit_begin(permits[i], ON_SEMAPHORE(a->client, gh_str_literal("seat"), 5), &config), GH_OK);
    }
    for (int i = 0; i < 5; i++) GAME_UNTIL(gh_op_poll(&permits[i]->op) == GH_HELD);
    for (int i = 4; i >= 0; i--)
    {
        uint64_t until_us = wait_now_us() + SECOND_US / 2; /* they are renewed, together, once or more */
        GAME_UNTIL(wait_now_us() >= until_us);
        gh_op_detach(&permits[i]->op);
        dies(permits[i], sizeof(gh_permit));
        GAME_UNTIL(game_stats(a).ops_busy == (uint32_t)i);
        assert_int_equal(redis_server_integer(server, "ZCARD gh:{semaphore:seat}:h"), i);
        for (int k = 0; k < i; k++) assert_status(gh_op_poll(&permits[k]->op), GH_HELD);
    }
}

static void without_a_record_it_is_left_to_its_lease(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.detached_capacity = 1;
    game* a = game_start_with(&config);
    gh_lock* locks[2];
    for (int i = 0; i < 2; i++)
    {
        gh_lock_config want = gh_lock_config_default();
        locks[i] = born(sizeof(gh_lock));
        assert_status(gh_lock_begin(locks[i], a->client, gh_str_of(i == 0 ? "sword" : "bow"), &want), GH_OK);
        GAME_UNTIL(gh_op_poll(&locks[i]->op) == GH_HELD);
    }
    for (int i = 0; i < 2; i++) detach_and_die(locks[i]);
    assert_int_equal(game_stats(a).ops_abandoned, 1);
    GAME_UNTIL(game_stats(a).ops_busy == 0);
    assert_free_for(a);
    gh_lock* lock = lock_for_an_hour(a, 0); /* the record is free again */
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    detach_and_die(lock);
    assert_int_equal(game_stats(a).ops_abandoned, 1);
}

static void what_has_ended_is_not_handed_out(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    gh_lock* lock = scripted_want(world, "a", SECOND_US, 0);
    lock->op.tag = 1;
    for (int i = 0; i < 3; i++) scripted_tick(world, MS);
    assert_status(lock->op.status, GH_HELD);
    gh_op_detach(&lock->op);
    assert_null(gh_client_next(world->client));
    gh_op_detach(&lock->op);
    gh_op_detach(NULL);
}

/* Whatever came before, a record is found where the op was: in queues, in heaps, on the wire. */
static void many_die_at_any_time(void** state)
{
    (void)state;
    random_stream dice = random_for_test("deaths");
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.detached_capacity = 40;
    scripted_start_ready(world, &config);
    gh_lock* locks[40] = {NULL};
    for (int step = 0; step < 4000; step++)
    {
        size_t i = (size_t)random_below(&dice, 40);
        char name[16];
        snprintf(name, sizeof name, "l%zu", i);
        world->silent = random_below(&dice, 20) == 0;
        if (locks[i] == NULL)
        {
            gh_lock_config want = gh_lock_config_default();
            locks[i] = born(sizeof(gh_lock));
            (void)gh_lock_begin(locks[i], world->client, gh_str_of(name), &want);
        }
        else if (random_one_in(&dice, 2))
        {
            detach_and_die(locks[i]);
            locks[i] = NULL;
        }
        else if (random_one_in(&dice, 2))
        {
            gh_lock_release(locks[i]); /* and dies on its way back */
        }
        if (random_one_in(&dice, 2)) scripted_tick(world, MS * random_below(&dice, 30));
    }
    for (size_t i = 0; i < 40; i++)
        if (locks[i] != NULL) detach_and_die(locks[i]);
    world->silent = false;
    for (int i = 0; i < 60000 && scripted_stats(world).ops_busy > 0; i++) scripted_tick(world, MS);
    assert_int_equal(scripted_stats(world).ops_busy, 0);
}

/* The set goes on to its end without it, and nobody looks for the set any more. */
static void lock_of_a_set_may_die_first(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    for (int ticks = 0; ticks < 10; ticks++)
    {
        const gh_str names[] = {gh_str_literal("sword"), gh_str_literal("shield")};
        game* a = game_start_ready(redis_server_address(server));
        gh_lock_config config = gh_lock_config_default();
        gh_lock_set* set = born(sizeof *set);
        gh_lock* locks = born(2 * sizeof *locks);
        config.lease_us = HOUR_US;
        assert_status(gh_lock_set_begin(set, a->client, locks, names, 2, &config), GH_OK);
        for (int i = 0; i < ticks; i++) game_tick(a);
        gh_op_detach(&locks[1].op); /* the first to be taken */
        GAME_UNTIL(!gh_op_is_busy(&set->op));
        assert_status(gh_op_poll(&set->op), GH_OK);
        dies(set, sizeof *set);
        dies(locks, 2 * sizeof *locks);
        GAME_UNTIL(game_stats(a).ops_busy == 0);
        assert_free_for(a);
        game_end(a);
    }
}

/* A feed, its rooms, and a player in it, who dies when it is over already. */
typedef struct hall
{
    gh_chat_feed feed;
    gh_chat_room rooms[2];
    gh_chat_seat seats[4];
    _Alignas(8) char buffer[64 * 1024];
} hall;

static gh_chat_player* enter(hall* self, game* from)
{
    gh_chat_player* player = born(sizeof *player);
    gh_chat_feed_config config = gh_chat_feed_config_default();
    config.rooms = self->rooms;
    config.room_count = 2;
    config.seats = self->seats;
    config.seat_count = 4;
    config.buffer = self->buffer;
    config.buffer_size = sizeof self->buffer;
    self->feed.op.tag = 1;
    assert_status(gh_chat_feed_begin(&self->feed, NULL, &config), GH_INVALID_CLIENT);
    assert_status(gh_chat_feed_begin(&self->feed, from->client, &config), GH_OK);
    assert_int_equal(self->feed.op.tag, 1);
    player->op.tag = 2;
    assert_status(gh_chat_feed_add(&self->feed, player, gh_str_literal("jeff")), GH_OK);
    return player;
}

static void player_dies_in_a_feed_that_is_over(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    for (int how = 0; how < 3; how++)
    {
        game* a = game_start_ready(redis_server_address(server));
        hall* self = born(sizeof *self);
        gh_chat_player* player = enter(self, a);
        for (int i = 0; i < 5; i++) game_tick(a);
        if (how == 0) gh_op_cancel(&self->feed.op);
        if (how == 1) assert_status(gh_client_drain(a->client, SECOND_US), GH_OK);
        gh_op_detach(&player->op);
        dies(player, sizeof *player);
        GAME_UNTIL(how == 2 || game_stats(a).ops_busy == 0);
        gh_chat_feed_end(&self->feed);
        dies(self, sizeof *self);
        for (int i = 0; i < 5; i++) game_tick(a);
        assert_null(gh_client_next(a->client));
        game_end(a);
    }
}

/* Of each kind one, in each state that it comes by. */
static void everything_may_die(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* keeper = game_start(redis_server_address(server));
    for (int ticks = 0; ticks <= 12; ticks++)
    {
        game* a = game_start_ready(redis_server_address(server));
        everything* all = everything_new(keeper);
        everything_begin(all, a->client, true);
        for (int i = 0; i < ticks; i++)
        {
            game_tick(a);
            if (ticks < 12) everything_use(all);
        }
        if (ticks == 12) GAME_UNTIL(everything_use(all));
        everything_detach(all);
        assert_null(gh_client_next(a->client));
        GAME_UNTIL(game_stats(a).ops_busy == 0);
        assert_free_for(a);
        game_end(a);
        redis_server_do(server, "FLUSHALL");
    }
}

TEST_FILE(detach, cmocka_unit_test(lock_is_given_back_after_each_tick),
          cmocka_unit_test(waiter_that_is_detached_leaves_the_queue),
          cmocka_unit_test(lock_is_given_back_when_the_link_is_back), cmocka_unit_test(set_gives_all_back),
          cmocka_unit_test(permits_of_a_group_go_one_by_one),
          cmocka_unit_test(without_a_record_it_is_left_to_its_lease),
          cmocka_unit_test(what_has_ended_is_not_handed_out), cmocka_unit_test(many_die_at_any_time),
          cmocka_unit_test(lock_of_a_set_may_die_first), cmocka_unit_test(player_dies_in_a_feed_that_is_over),
          cmocka_unit_test(everything_may_die));
