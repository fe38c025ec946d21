/* What is told only when replicas have it: replicas.h. A real master, real replicas behind it. */

#include "sentinel/clerks.h"
#include "support/server/cluster.h"
#include "support/server/proxy.h"
#include "support/server/sentinels.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- a master and two replicas ----------------------------------------------------------------------------------- */

typedef struct trio
{
    redis_server* master;
    redis_server* replicas[2];
} trio;

static redis_server* server_started(void)
{
    static const char* const arguments[] = {"--repl-diskless-sync-delay", "0", "--save", "", NULL};
    return redis_server_start(&(redis_server_options){.tcp = true, .arguments = arguments});
}

static void follow(redis_server* replica, const char* address)
{
    redis_server_do(replica, "REPLICAOF 127.0.0.1 %s", strrchr(address, ':') + 1);
}

/* The first may be answered by what they began with; a replica is fed what comes behind that only when it has said that
   it is there, up to a second later. */
static void await_replicas(redis_server* master, int count)
{
    for (int i = 0; i < 2; i++)
    {
        redis_server_do(master, "INCR replicated");
        assert_int_equal(redis_server_integer(master, "WAIT %d 60000", count), count);
    }
}

static trio trio_started(void)
{
    trio all;
    all.master = server_started();
    for (int i = 0; i < 2; i++)
    {
        all.replicas[i] = server_started();
        follow(all.replicas[i], redis_server_tcp_address(all.master));
    }
    await_replicas(all.master, 2);
    return all;
}

static void trio_freeze(trio* all)
{
    for (int i = 0; i < 2; i++) redis_server_freeze(all->replicas[i]);
}

static void trio_thaw(trio* all)
{
    for (int i = 0; i < 2; i++) redis_server_thaw(all->replicas[i]);
}

static gh_client_config config_of(redis_server* master, uint32_t wait_replicas)
{
    gh_client_config config = game_config(redis_server_address(master));
    config.replicas = gh_replicas_wait();
    config.wait_replicas = wait_replicas;
    return config;
}

static game* game_of(redis_server* master, uint32_t wait_replicas)
{
    gh_client_config config = config_of(master, wait_replicas);
    return game_start_with(&config);
}

/* ---- ops --------------------------------------------------------------------------------------------------------- */

static gh_command_line* incr_begun(game* a, const char* key, uint8_t replicas)
{
    gh_command_line* op = GAME_NEW(a, gh_command_line);
    gh_command_config config = gh_command_config_default();
    config.wait_replicas = replicas;
    config.timeout_us = 60 * SECOND_US;
    assert_status(gh_command_format(op, a->client, &config, "INCR %s", key), GH_OK);
    return op;
}

static gh_status ended(gh_command_line* op)
{
    GAME_UNTIL(!gh_op_is_busy(&op->op));
    return gh_op_poll(&op->op);
}

static gh_status incr(game* a, const char* key, uint8_t replicas)
{
    return ended(incr_begun(a, key, replicas));
}

static gh_lock* lock_begun(game* a, const char* name, uint64_t wait_us, uint8_t replicas)
{
    gh_lock* lock = GAME_NEW(a, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = 30 * SECOND_US;
    config.wait_us = wait_us;
    config.wait_replicas = replicas;
    assert_status(gh_lock_begin(lock, a->client, gh_str_of(name), &config), GH_OK);
    return lock;
}

/* As KEYS.md has it: owner, fence, expiry, h for held. */
static bool lock_is_taken(redis_server* server, const char* name)
{
    const char* text = redis_server_text(server, "GET gh:{lock:%s}:s", name);
    return text != NULL && strstr(text, " h ") != NULL;
}

static long long number_at(redis_server* server, const char* key)
{
    const char* text = redis_server_text(server, "GET %s", key);
    return text == NULL ? 0 : strtoll(text, NULL, 10);
}

static long long waits(redis_server* server)
{
    return redis_server_calls(server, "wait");
}

/* ---- when all is well -------------------------------------------------------------------------------------------- */

static void link_is_opened_for_the_first_who_wants_it(void** state)
{
    (void)state;
    trio all = trio_started();
    game* a = game_of(all.master, 0);
    const long long before = waits(all.master);
    assert_status(incr(a, "plain", GH_REPLICAS_AS_CLIENT), GH_OK);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_int_equal(gh_client_handles(a->client, NULL, 0), 2);
    assert_int_equal(waits(all.master), before);
    assert_status(incr(a, "wanted", 2), GH_OK);
    assert_int_equal(gh_client_handles(a->client, NULL, 0), 3);
    assert_true(waits(all.master) > before);
}

/* The replica is read at the moment of the OK. */
static void what_is_told_is_there(void** state)
{
    (void)state;
    trio all = trio_started();
    game* a = game_of(all.master, 2);
    for (int i = 1; i <= 50; i++)
    {
        gh_command_line* op = incr_begun(a, "counted", GH_REPLICAS_AS_CLIENT);
        assert_status(ended(op), GH_OK);
        assert_int_equal(gh_command_reply(&op->command)->integer, i);
        for (int r = 0; r < 2; r++) assert_int_equal(number_at(all.replicas[r], "counted"), i);
    }
}

static void grants_of_one_tick_wait_together(void** state)
{
    (void)state;
    trio all = trio_started();
    game* a = game_of(all.master, 1);
    gh_lock* locks[16];
    assert_status(incr(a, "first", 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock_begun(a, "script", SECOND_US, 0)->op) != GH_IDLE);
    const long long before = waits(all.master);
    for (int i = 0; i < 16; i++)
    {
        char name[16];
        snprintf(name, sizeof name, "door%d", i);
        locks[i] = lock_begun(a, name, 60 * SECOND_US, 1);
    }
    for (int i = 0; i < 16; i++) GAME_UNTIL(gh_op_poll(&locks[i]->op) == GH_HELD);
    assert_in_range(waits(all.master) - before, 1, 4);
    for (int i = 0; i < 16; i++)
    {
        assert_true(locks[i]->fence > 0);
        assert_true(gh_lock_remaining_us(locks[i]) > 20 * SECOND_US);
        gh_lock_release(locks[i]);
    }
    for (int i = 0; i < 16; i++) GAME_UNTIL(!gh_op_is_busy(&locks[i]->op));
    for (int i = 0; i < 16; i++) assert_status(gh_op_poll(&locks[i]->op), GH_OK);
}

/* Those that wait in the queue of the store are granted by a hint, and are renewed as any. */
static void lock_is_handed_on_and_renewed(void** state)
{
    (void)state;
    trio all = trio_started();
    game* a = game_of(all.master, 1);
    game* b = game_of(all.master, 2);
    gh_lock* first = lock_begun(a, "door", 60 * SECOND_US, GH_REPLICAS_AS_CLIENT);
    GAME_UNTIL(gh_op_poll(&first->op) == GH_HELD);
    gh_lock* second = GAME_NEW(b, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = 300 * 1000;
    config.wait_us = 60 * SECOND_US;
    assert_status(gh_lock_begin(second, b->client, gh_str_literal("door"), &config), GH_OK);
    GAME_UNTIL(second->position == 1);
    uint64_t fence = first->fence;
    gh_lock_release(first);
    GAME_UNTIL(gh_op_poll(&second->op) == GH_HELD);
    assert_true(second->fence > fence);
    const uint64_t end_us = gh_lock_end_us(second);
    GAME_UNTIL(gh_op_poll(&second->op) != GH_HELD || gh_lock_end_us(second) > end_us);
    assert_status(gh_op_poll(&second->op), GH_HELD);
    gh_lock_release(second);
    GAME_UNTIL(!gh_op_is_busy(&second->op));
    assert_status(gh_op_poll(&second->op), GH_OK);
}

static void permits_wait_as_locks_do(void** state)
{
    (void)state;
    trio all = trio_started();
    game* a = game_of(all.master, 0);
    gh_semaphore seats;
    gh_permit* permits[3];
    gh_semaphore_config config = gh_semaphore_config_default();
    config.limit = 3;
    config.wait_replicas = 2;
    assert_status(gh_semaphore_init(&seats, a->client, gh_str_literal("seats"), &config), GH_OK);
    for (int i = 0; i < 3; i++)
    {
        gh_permit_config want = gh_permit_config_default();
        want.lease_us = 300 * 1000;
        permits[i] = GAME_NEW(a, gh_permit);
        assert_status(gh_permit_begin(permits[i], &seats, &want), GH_OK);
    }
    for (int i = 0; i < 3; i++) GAME_UNTIL(gh_op_poll(&permits[i]->op) == GH_HELD);
    for (int i = 0; i < 3; i++) assert_true(permits[i]->fence > 0);
    assert_true(waits(all.master) > 1);
    trio_freeze(&all); /* renewals wait for nobody */
    const uint64_t later_us = wait_now_us() + SECOND_US;
    GAME_UNTIL(wait_now_us() > later_us);
    for (int i = 0; i < 3; i++)
    {
        assert_status(gh_op_poll(&permits[i]->op), GH_HELD);
        gh_permit_release(permits[i]);
        GAME_UNTIL(!gh_op_is_busy(&permits[i]->op));
        assert_status(gh_op_poll(&permits[i]->op), GH_OK);
    }
}

/* ---- when replicas are away -------------------------------------------------------------------------------------- */

/* A WAIT over another connection would say yes here; one over the command link would stop the others. */
static void frozen_replicas_are_told_in_time_and_stop_nobody(void** state)
{
    (void)state;
    trio all = trio_started();
    gh_client_config config = config_of(all.master, 0);
    config.wait_us = 700 * 1000;
    game* a = game_start_with(&config);
    assert_status(incr(a, "counted", 1), GH_OK);
    assert_status(incr(a, "others", 0), GH_OK);
    trio_freeze(&all);
    const uint64_t begun_us = wait_now_us();
    gh_command_line* op = incr_begun(a, "counted", 1);
    unsigned others = 0;
    for (; gh_op_is_busy(&op->op); others++) assert_status(incr(a, "others", 0), GH_OK);
    assert_status(gh_op_poll(&op->op), GH_UNREPLICATED);
    assert_true(wait_now_us() - begun_us >= 700 * 1000);
    assert_int_equal(gh_command_reply(&op->command)->integer, 2);
    assert_int_equal(number_at(all.master, "counted"), 2);
    assert_true(others > 10); /* on a slow machine; one would be behind that WAIT */
    assert_int_equal(game_stats(a).unreplicated, 1);
    assert_int_equal(game_stats(a).links_lost, 0);
    trio_thaw(&all);
    assert_status(incr(a, "counted", 1), GH_OK);
}

static void lock_is_not_told_and_given_back(void** state)
{
    (void)state;
    trio all = trio_started();
    gh_client_config config = config_of(all.master, 1);
    config.wait_us = 50 * 1000;
    game* a = game_start_with(&config);
    assert_status(incr(a, "first", 1), GH_OK);
    trio_freeze(&all);
    gh_lock* lock = lock_begun(a, "door", 600 * 1000, GH_REPLICAS_AS_CLIENT);
    while (gh_op_is_busy(&lock->op))
    {
        assert_status(gh_op_poll(&lock->op), GH_PENDING);
        game_tick_all();
    }
    assert_status(gh_op_poll(&lock->op), GH_TIMEOUT);
    assert_true(game_stats(a).unreplicated > 1); /* asked for again */
    assert_false(lock_is_taken(all.master, "door"));
    gh_lock* once = lock_begun(a, "door", 0, GH_REPLICAS_AS_CLIENT);
    GAME_UNTIL(!gh_op_is_busy(&once->op));
    assert_status(gh_op_poll(&once->op), GH_TIMEOUT);
    assert_false(lock_is_taken(all.master, "door"));
    gh_lock* waits_on = lock_begun(a, "door", 60 * SECOND_US, GH_REPLICAS_AS_CLIENT);
    GAME_UNTIL(game_stats(a).unreplicated > 8);
    assert_status(gh_op_poll(&waits_on->op), GH_PENDING);
    trio_thaw(&all);
    GAME_UNTIL(gh_op_poll(&waits_on->op) == GH_HELD);
}

static void who_wants_more_keeps_nobody_who_wants_less(void** state)
{
    (void)state;
    trio all = trio_started();
    gh_client_config config = config_of(all.master, 0);
    config.wait_us = 2 * SECOND_US;
    game* a = game_start_with(&config);
    assert_status(incr(a, "first", 1), GH_OK);
    redis_server_freeze(all.replicas[0]);
    gh_command_line* two = incr_begun(a, "two", 2);
    gh_command_line* one = incr_begun(a, "one", 1);
    assert_status(ended(one), GH_OK);
    assert_true(gh_op_is_busy(&two->op));
    redis_server_thaw(all.replicas[0]);
    assert_status(ended(two), GH_OK);
}

static void server_without_replicas_has_none(void** state)
{
    (void)state;
    redis_server* alone = server_started();
    gh_client_config config = config_of(alone, 1);
    config.wait_us = 1000;
    game* a = game_start_with(&config);
    assert_status(incr(a, "counted", GH_REPLICAS_AS_CLIENT), GH_UNREPLICATED);
    assert_status(incr(a, "counted", 0), GH_OK);
}

static void cancelled_and_detached_locks_are_given_back(void** state)
{
    (void)state;
    trio all = trio_started();
    gh_client_config config = config_of(all.master, 1);
    config.wait_us = 5 * SECOND_US;
    game* a = game_start_with(&config);
    assert_status(incr(a, "first", 1), GH_OK);
    trio_freeze(&all);
    gh_lock* cancelled = lock_begun(a, "cancelled", 60 * SECOND_US, GH_REPLICAS_AS_CLIENT);
    gh_lock* detached = lock_begun(a, "detached", 60 * SECOND_US, GH_REPLICAS_AS_CLIENT);
    GAME_UNTIL(lock_is_taken(all.master, "cancelled") && lock_is_taken(all.master, "detached"));
    GAME_UNTIL(cancelled->fence != 0 && detached->fence != 0);
    gh_op_cancel(&cancelled->op);
    gh_op_detach(&detached->op);
    GAME_UNTIL(!gh_op_is_busy(&cancelled->op));
    assert_status(gh_op_poll(&cancelled->op), GH_CANCELLED);
    GAME_UNTIL(game_stats(a).ops_busy == 0);
    assert_false(lock_is_taken(all.master, "cancelled"));
    assert_false(lock_is_taken(all.master, "detached"));
}

static void shutdown_ends_what_waits(void** state)
{
    (void)state;
    trio all = trio_started();
    gh_client_config config = config_of(all.master, 1);
    config.wait_us = 5 * SECOND_US;
    game* a = game_start_with(&config);
    assert_status(incr(a, "counted", 1), GH_OK);
    trio_freeze(&all);
    gh_command_line* op = incr_begun(a, "counted", 1);
    gh_lock* lock = lock_begun(a, "door", 60 * SECOND_US, 1);
    GAME_UNTIL(op->command.reply.integer == 2 && lock->fence != 0);
    gh_client_shutdown(a->client);
    assert_status(gh_op_poll(&op->op), GH_UNREPLICATED);
    assert_status(gh_op_poll(&lock->op), GH_CANCELLED);
}

/* ---- links that die ---------------------------------------------------------------------------------------------- */

/* Its second link, by the address of its end here: the newest of the client's three. */
static void kill_second_link(redis_server* server, const char* name)
{
    redis_server_do(server, "EVAL %s 0 %s", "return redis.status_reply('OK')", name);
    redisReply* list = redis_server_command(server, "CLIENT LIST");
    const char* at = list->str;
    long long newest = 0;
    for (; at != NULL && *at != 0; at = strchr(at, '\n') == NULL ? NULL : strchr(at, '\n') + 1)
    {
        const char* its = strstr(at, " name=");
        if (its != NULL && strncmp(its + 6, name, strlen(name)) == 0 && atoll(at + 3) > newest) newest = atoll(at + 3);
    }
    freeReplyObject(list);
    assert_int_equal(redis_server_integer(server, "CLIENT KILL ID %lld", newest), 1);
}

static void lost_link_tells_nothing_of_replicas(void** state)
{
    (void)state;
    trio all = trio_started();
    gh_client_config config = config_of(all.master, 1);
    config.wait_us = 30 * SECOND_US;
    config.client_name = gh_str_literal("sought");
    game* a = game_start_with(&config);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_status(incr(a, "counted", 1), GH_OK);
    trio_freeze(&all);
    gh_command_line* op = incr_begun(a, "counted", 1);
    gh_lock* lock = lock_begun(a, "door", 60 * SECOND_US, 1);
    GAME_UNTIL(op->command.reply.integer == 2 && lock->fence != 0);
    const uint64_t fence = lock->fence;
    kill_second_link(all.master, "sought");
    assert_status(ended(op), GH_UNREPLICATED);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    assert_int_equal(game_stats(a).links_lost, 1);
    trio_thaw(&all);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    assert_true(lock->fence > fence);
    assert_status(incr(a, "counted", 1), GH_OK);
}

/* Both go, and come back beside one another. */
static void all_links_come_back(void** state)
{
    (void)state;
    trio all = trio_started();
    game* a = game_of(all.master, 2);
    gh_lock* lock = lock_begun(a, "door", 60 * SECOND_US, 2);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    for (int i = 1; i <= 5; i++)
    {
        redis_server_do(all.master, "CLIENT KILL TYPE normal");
        gh_status status = incr(a, "counted", 2);
        assert_true(status == GH_OK || status == GH_UNKNOWN);
    }
    assert_status(incr(a, "counted", 2), GH_OK);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
}

/* ---- a master that dies ------------------------------------------------------------------------------------------ */

/* A master and a replica whose stream can be held back. */
typedef struct pair
{
    redis_server* master;
    redis_server* replica;
    chaos_proxy* between;
} pair;

static pair pair_started(void)
{
    pair two;
    two.master = server_started();
    two.replica = server_started();
    two.between = proxy_start(redis_server_tcp_address(two.master), PROXY_TCP);
    follow(two.replica, proxy_address(two.between));
    await_replicas(two.master, 1);
    return two;
}

/* How many of those that were told OK are not on the replica after the master's end; with it behind from the tenth on.
 */
static long long lost_by_failover(uint8_t replicas)
{
    pair two = pair_started();
    gh_client_config config = config_of(two.master, 0);
    config.wait_us = 100 * 1000;
    game* a = game_start_with(&config);
    long long told = 0;
    for (int i = 0; i < 20; i++)
    {
        if (i == 10)
        {
            await_replicas(two.master, 1);
            proxy_arm(two.between, PROXY_REPLY, 0, PROXY_HOLD);
        }
        gh_status status = incr(a, "counted", replicas);
        if (status == GH_OK) told++;
        else assert_status(status, GH_UNREPLICATED);
        if (status != GH_OK && i < 10) fail_msg("%d is not replicated", i);
    }
    redis_server_kill9(two.master);
    redis_server_do(two.replica, "REPLICAOF NO ONE");
    const long long there = number_at(two.replica, "counted");
    game_end(a);
    return told - there;
}

static void what_was_told_outlives_its_master(void** state)
{
    (void)state;
    assert_int_equal(lost_by_failover(0), 10);
    assert_int_equal(lost_by_failover(1), 0);
}

/* ---- refused ----------------------------------------------------------------------------------------------------- */

static void user_who_may_not_wait_is_refused(void** state)
{
    (void)state;
    trio all = trio_started();
    redis_server_do(all.master, "ACL SETUSER default -wait");
    game* a = game_of(all.master, 1);
    gh_lock* lock = lock_begun(a, "door", 60 * SECOND_US, GH_REPLICAS_AS_CLIENT);
    assert_status(incr(a, "counted", GH_REPLICAS_AS_CLIENT), GH_REFUSED);
    GAME_UNTIL(!gh_op_is_busy(&lock->op));
    assert_status(gh_op_poll(&lock->op), GH_REFUSED);
    assert_int_equal(redis_server_integer(all.master, "EXISTS counted gh:{lock:door}:s"), 0);
    assert_true((game_stats(a).warnings & GH_WARNING_NO_REPLICAS) != 0);
    assert_status(incr(a, "counted", 0), GH_OK);
    assert_int_equal(game_stats(a).links_lost, 0);
    redis_server_do(all.master, "ACL SETUSER default +wait");
    gh_status status = GH_REFUSED;
    while (status == GH_REFUSED) status = incr(a, "counted", GH_REPLICAS_AS_CLIENT);
    assert_status(status, GH_OK);
    redis_server_do(all.master, "ACL SETUSER default -wait"); /* what is done is done */
    assert_status(incr(a, "counted", GH_REPLICAS_AS_CLIENT), GH_UNREPLICATED);
    assert_status(incr(a, "counted", GH_REPLICAS_AS_CLIENT), GH_REFUSED);
    assert_int_equal(number_at(all.master, "counted"), 3);
}

static void configs_that_cannot_be_are_refused(void** state)
{
    (void)state;
    redis_server* server = redis_server_any();
    gh_client_config config = game_config(redis_server_address(server));
    config.wait_replicas = 1;
    assert_int_equal(gh_client_memory(&config), 0);
    game* a = game_start(redis_server_address(server));
    game* b = game_of(server, GH_REPLICAS_MAX);
    game* both[] = {a, b};
    for (int i = 0; i < 2; i++)
    {
        gh_command_config command = gh_command_config_default();
        gh_lock_config lock = gh_lock_config_default();
        gh_semaphore_config semaphore = gh_semaphore_config_default();
        const uint8_t wrong = i == 0 ? 1 : GH_REPLICAS_MAX + 1;
        gh_semaphore seats;
        assert_int_equal(command.wait_replicas, GH_REPLICAS_AS_CLIENT);
        assert_int_equal(lock.wait_replicas, GH_REPLICAS_AS_CLIENT);
        assert_int_equal(semaphore.wait_replicas, GH_REPLICAS_AS_CLIENT);
        command.wait_replicas = lock.wait_replicas = semaphore.wait_replicas = wrong;
        semaphore.limit = 1;
        assert_status(gh_command_format(GAME_NEW(a, gh_command_line), both[i]->client, &command, "PING"),
                      GH_INVALID_REPLICAS);
        assert_status(gh_lock_begin(GAME_NEW(a, gh_lock), both[i]->client, gh_str_literal("door"), &lock),
                      GH_INVALID_REPLICAS);
        assert_status(gh_semaphore_init(&seats, both[i]->client, gh_str_literal("seats"), &semaphore), GH_OK);
        assert_status(gh_permit_begin(GAME_NEW(a, gh_permit), &seats, NULL), GH_INVALID_REPLICAS);
    }
}

/* ---- behind Sentinel, and on a Cluster --------------------------------------------------------------------------- */

typedef struct counter
{
    gh_command_line op;
    long long told;
    bool begun;
} counter;

/* Each counts on, and what it was told OK of is counted. What was done and not told, may be there. */
static void counters_work(game* a, counter* each, int count)
{
    for (int i = 0; i < count; i++)
    {
        gh_command_config config = gh_command_config_default();
        if (gh_op_is_busy(&each[i].op.op)) continue;
        if (each[i].begun)
        {
            const gh_status status = gh_op_poll(&each[i].op.op);
            if (status == GH_OK) each[i].told++;
            else assert_status(status, GH_UNREPLICATED);
        }
        config.repeat = GH_REPEAT_ONCE;
        config.timeout_us = 60 * SECOND_US;
        each[i].begun = true;
        assert_status(gh_command_format(&each[i].op, a->client, &config, "INCR counter:%d", i), GH_OK);
    }
}

static long long least_told(const counter* each, int count)
{
    long long least = each[0].told;
    for (int i = 1; i < count; i++)
        if (each[i].told < least) least = each[i].told;
    return least;
}

static void counters_until(game* a, counter* each, int count, long long more)
{
    const long long most = least_told(each, count) + more;
    const uint64_t end_us = wait_cap_us();
    while (least_told(each, count) < most)
    {
        if (wait_now_us() >= end_us) fail_msg("told %lld of %lld", least_told(each, count), most);
        counters_work(a, each, count);
        game_tick_all();
    }
}

static void assert_told_is_there(const counter* one, int i, redis_server* master)
{
    char key[32];
    snprintf(key, sizeof key, "counter:%d", i);
    const long long there = number_at(master, key);
    if (there < one->told) fail_msg("counter %d: told %lld, there %lld", i, one->told, there);
}

static void assert_all_told_is_there(const counter* each, int count, redis_server* master)
{
    for (int i = 0; i < count; i++) assert_told_is_there(&each[i], i, master);
}

static void failover_of_sentinels_loses_nothing_told(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(NULL);
    await_replicas(sentinels_master(fleet), 2);
    gh_client_config config = config_of(sentinels_master(fleet), 1);
    config.address = gh_str_of(sentinels_seeds(fleet));
    config.topology = gh_topology_sentinel();
    config.sentinel_name = gh_str_literal(SENTINELS_NAME);
    game* a = game_start_with(&config);
    counter* each = GAME_NEW_ARRAY(a, counter, 8);
    counters_until(a, each, 8, 20);
    redis_server* old = sentinels_master(fleet);
    redis_server_kill9(old);
    counters_until(a, each, 8, 20);
    assert_ptr_not_equal(sentinels_master(fleet), old);
    assert_all_told_is_there(each, 8, sentinels_master(fleet));
}

static void failover_of_a_cluster_loses_nothing_told(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    gh_client_config config = config_of(cluster_master(fleet, 0), 1);
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    game* a = game_start_with(&config);
    counter* each = GAME_NEW_ARRAY(a, counter, 12);
    counters_until(a, each, 12, 10);
    assert_int_equal(game_stats(a).moved, 0);
    const unsigned slot = cluster_slot("counter:0");
    redis_server* old = cluster_master(fleet, slot);
    redis_server_kill9(old);
    redis_server* master = NULL;
    for (; master == old || master == NULL; master = cluster_master(fleet, slot))
    {
        counters_work(a, each, 12);
        game_tick_all();
    }
    redis_server_restart(old); /* the new master has no replica before */
    counters_until(a, each, 12, 10);
    for (int i = 0; i < 12; i++)
    {
        char key[32];
        snprintf(key, sizeof key, "counter:%d", i);
        assert_told_is_there(&each[i], i, cluster_master(fleet, cluster_slot(key)));
    }
}

TEST_FILE(replicas, cmocka_unit_test(link_is_opened_for_the_first_who_wants_it),
          cmocka_unit_test(what_is_told_is_there), cmocka_unit_test(grants_of_one_tick_wait_together),
          cmocka_unit_test(lock_is_handed_on_and_renewed), cmocka_unit_test(permits_wait_as_locks_do),
          cmocka_unit_test(frozen_replicas_are_told_in_time_and_stop_nobody),
          cmocka_unit_test(lock_is_not_told_and_given_back),
          cmocka_unit_test(who_wants_more_keeps_nobody_who_wants_less),
          cmocka_unit_test(server_without_replicas_has_none),
          cmocka_unit_test(cancelled_and_detached_locks_are_given_back), cmocka_unit_test(shutdown_ends_what_waits),
          cmocka_unit_test(lost_link_tells_nothing_of_replicas), cmocka_unit_test(all_links_come_back),
          cmocka_unit_test(what_was_told_outlives_its_master), cmocka_unit_test(user_who_may_not_wait_is_refused),
          cmocka_unit_test(configs_that_cannot_be_are_refused),
          cmocka_unit_test(failover_of_sentinels_loses_nothing_told),
          cmocka_unit_test(failover_of_a_cluster_loses_nothing_told));
