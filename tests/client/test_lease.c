/* What locks and permits promise together: nothing stays behind in the store, nothing comes late, whoever holds
   something hears in time that the store has forgotten it, and those who wait are served in order. */

#include "support/command.h"
#include "support/scene/locks.h"
#include "support/scene/permits.h"
#include "support/server/proxy.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"

#include "client/lease.h"
#include "client/state.h"
#include "client/waiter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_US       (60 * SECOND_US)
#define STATE_OF_LOCK "EVAL %s 1 gh:{lock:sword}:s"
#define STATE_WORD    "return string.match(redis.call('GET', KEYS[1]) or '', '^%S+ %d+ %d+ ([hrf])') or '-'"

static gh_status settle(const gh_lock* lock)
{
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    return gh_op_poll(&lock->op);
}

static gh_status give_back(gh_lock* lock)
{
    gh_lock_release(lock);
    return settle(lock);
}

static gh_lock* hold(game* from, const char* name, uint64_t lease_us)
{
    gh_lock* lock = lock_begun(from, name, lease_us, LONG_US);
    assert_status(settle(lock), GH_HELD);
    return lock;
}

/* 'h' held, 'r' kept, 'f' free, '-' never heard of. */
static char state_of_sword(redis_server* server)
{
    return redis_server_text(server, STATE_OF_LOCK, STATE_WORD)[0];
}

/* Its link passes a proxy; every script that it will want is loaded. */
static game* start_behind(chaos_proxy* proxy)
{
    game* self = game_start_deaf(proxy_address(proxy));
    GAME_UNTIL(gh_client_ready(self->client));
    assert_status(give_back(hold(self, "shield", SECOND_US)), GH_OK);
    assert_status(permit_give_back(permit_hold_one(self, "gate", 1, SECOND_US)), GH_OK);
    return self;
}

/* ---- a fenced write whose answer was lost ------------------------------------------------------------------------ */

static void fenced_write_that_was_done_is_never_fenced(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = start_behind(proxy);
    game* b = game_start_ready(redis_server_address(server));
    gh_lock* lock = hold(b, "sword", LONG_US);
    gh_command_config config = gh_command_config_default();
    config.fence = gh_lock_fence(lock);
    config.repeat = GH_REPEAT_SAFE;
    config.timeout_us = LONG_US;
    assert_status(settle_command(say(a, &config, "SET gold 0")), GH_OK); /* its script is loaded */
    proxy_arm(proxy, PROXY_REPLY, 0, PROXY_FIN);
    proxy_set_mode(proxy, PROXY_REFUSE);
    gh_command* write = say(a, &config, "SET gold 1");
    GAME_UNTIL(proxy_fired(proxy) == 1);
    assert_status(give_back(lock), GH_OK);
    proxy_set_mode(proxy, PROXY_PASS);
    assert_status(settle_command(write), GH_UNKNOWN);
    assert_string_equal(redis_server_text(server, "GET gold"), "1");
}

/* ---- the link is lost while it is asked for ---------------------------------------------------------------------- */

/* It was granted, nobody heard of it, and the wait is over before there is a link again. */
static void lock_that_was_granted_unheard_is_given_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = start_behind(proxy);
    for (int cancelled = 0; cancelled < 2; cancelled++)
    {
        uint64_t fired = proxy_fired(proxy);
        proxy_arm(proxy, PROXY_REPLY, 0, PROXY_FIN);
        proxy_set_mode(proxy, PROXY_REFUSE);
        gh_lock* lock = lock_begun(a, "sword", LONG_US, cancelled ? LONG_US : SECOND_US / 10);
        GAME_UNTIL(proxy_fired(proxy) > fired);
        if (cancelled) gh_op_cancel(&lock->op);
        GAME_UNTIL(lock->lease.op.state == GH_LEASE_LEAVING);
        assert_int_equal(state_of_sword(server), 'h');
        proxy_set_mode(proxy, PROXY_PASS);
        assert_status(settle(lock), cancelled ? GH_CANCELLED : GH_TIMEOUT);
        assert_int_equal(state_of_sword(server), 'f');
    }
}

static void permits_that_were_granted_unheard_are_given_back(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = start_behind(proxy);
    proxy_arm(proxy, PROXY_REPLY, 0, PROXY_FIN);
    proxy_set_mode(proxy, PROXY_REFUSE);
    gh_permit* permit = permit_want(a, "arena", 1, LONG_US, SECOND_US / 10);
    GAME_UNTIL(permit->lease.op.state == GH_LEASE_LEAVING);
    assert_int_equal(semaphore_stored(server, "arena").held, 1);
    proxy_set_mode(proxy, PROXY_PASS);
    assert_status(permit_settle(permit), GH_TIMEOUT);
    assert_int_equal(semaphore_stored(server, "arena").held, 0);
    semaphore_must_be_sound(server, "arena");
}

/* A place in the queue is left, too. */
static void waiter_that_gives_up_without_a_link_leaves_no_place(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = start_behind(proxy);
    game* b = game_start_ready(redis_server_address(server));
    hold(b, "sword", LONG_US);
    gh_lock* waiter = lock_begun(a, "sword", LONG_US, LONG_US);
    GAME_UNTIL(waiter->position == 1);
    proxy_set_mode(proxy, PROXY_REFUSE);
    proxy_cut_now(proxy, PROXY_FIN);
    GAME_UNTIL(!gh_client_ready(a->client));
    gh_op_cancel(&waiter->op);
    game_tick(a);
    assert_status(gh_op_poll(&waiter->op), GH_PENDING);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{lock:sword}:q"), 1);
    proxy_set_mode(proxy, PROXY_PASS);
    assert_status(settle(waiter), GH_CANCELLED);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{lock:sword}:q"), 0);
}

/* No link until the lease that the store may have given is over: then it ends, and nobody knows what was. */
static void what_could_not_be_told_ends_unknown(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = start_behind(proxy);
    proxy_arm(proxy, PROXY_REPLY, 0, PROXY_FIN);
    proxy_set_mode(proxy, PROXY_REFUSE);
    gh_lock* lock = lock_begun(a, "sword", LONG_US, SECOND_US / 10);
    GAME_UNTIL(lock->lease.op.state == GH_LEASE_LEAVING);
    a->ahead_us += (int64_t)(LONG_US - SECOND_US);
    game_tick(a);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    a->ahead_us += (int64_t)(10 * SECOND_US);
    assert_status(settle(lock), GH_UNKNOWN);
}

/* ---- bytes of a dead link that arrive late ----------------------------------------------------------------------- */

/* Its first copy hangs on a link that its client has given up; asked again, it is granted. */
static gh_lock* hold_at_the_second_copy(game* from, chaos_proxy* proxy)
{
    uint64_t fired = proxy_fired(proxy);
    proxy_arm(proxy, PROXY_REQUEST, 0, PROXY_HOLD);
    gh_lock* lock = lock_begun(from, "sword", LONG_US, LONG_US);
    GAME_UNTIL(proxy_fired(proxy) > fired);
    from->ahead_us += 3 * (int64_t)SECOND_US; /* no answer */
    assert_status(settle(lock), GH_HELD);
    return lock;
}

static void let_the_late_bytes_come(redis_server* server, chaos_proxy* proxy)
{
    long long calls = redis_server_calls(server, "evalsha");
    proxy_release(proxy);
    WAIT_FOR(redis_server_calls(server, "evalsha") > calls);
}

static void late_request_of_a_released_lock_takes_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = start_behind(proxy);
    game* b = game_start_ready(redis_server_address(server));
    assert_status(give_back(hold_at_the_second_copy(a, proxy)), GH_OK);
    assert_status(give_back(hold(b, "sword", SECOND_US)), GH_OK); /* it is not the last owner any more */
    let_the_late_bytes_come(server, proxy);
    assert_int_equal(state_of_sword(server), 'f');
    assert_status(settle(lock_begun(b, "sword", SECOND_US, 0)), GH_HELD);
}

/* The same while another holds it: nobody who is gone stands in the queue. */
static void late_request_of_a_lock_that_gave_up_does_not_wait(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = start_behind(proxy);
    game* b = game_start_ready(redis_server_address(server));
    assert_status(give_back(hold_at_the_second_copy(a, proxy)), GH_OK);
    gh_lock* held = hold(b, "sword", LONG_US);
    let_the_late_bytes_come(server, proxy);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{lock:sword}:q"), 0);
    gh_lock* living = lock_begun(a, "sword", LONG_US, LONG_US); /* of the same client: it is not refused for that */
    GAME_UNTIL(living->position == 1);
    assert_status(give_back(held), GH_OK);
    assert_status(settle(living), GH_HELD);
}

/* Whoever was answered each time leaves nothing behind. */
static void release_leaves_no_mark_where_each_copy_was_answered(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(give_back(hold(a, "sword", LONG_US)), GH_OK);
    const char* text = redis_server_text(server, "GET gh:{lock:sword}:s");
    assert_string_equal(text + strlen(text) - 6, " 0 f 0");
    assert_status(permit_give_back(permit_hold_one(a, "arena", 1, LONG_US)), GH_OK);
    assert_false(semaphore_stored(server, "arena").lates);
}

/* More clients than are kept apart: then it is any client whose requests of that time are refused. */
static void marks_of_late_requests_are_bounded(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = start_behind(proxy_start(redis_server_address(server), PROXY_UNIX));
    const char* release = a->client->scripts[GH_SCRIPT_lock_release].digest;
    uint64_t store_us = a->client->nodes->store_offset_us + gh_client_now(a->client);
    for (unsigned i = 1; i <= 50; i++)
        redis_server_do(server,
                        "EVALSHA %b 3 gh:{lock:sword}:s gh:{lock:sword}:q gh:{lock:sword}:c "
                        "%016x:%016x 1 200000 %llu",
                        release, (size_t)40, i, 1u, (unsigned long long)(store_us + 3 * SECOND_US));
    assert_true(strlen(redis_server_text(server, "GET gh:{lock:sword}:s")) < 400);
    assert_non_null(strstr(redis_server_text(server, "GET gh:{lock:sword}:s"), " *:"));
    assert_status(settle(lock_begun(a, "sword", SECOND_US, LONG_US)),
                  GH_HELD); /* asked for until it is later than that */
}

/* ---- the store came back with older data ------------------------------------------------------------------------- */

/* Two clients, both connected, must not both be told OK for a third of a lease. */
static void owner_learns_of_older_data_under_the_same_epoch(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = hold(a, "sword", LONG_US);
    gh_permit* permit = permit_hold_one(a, "arena", 1, LONG_US);
    redis_server_do(server, "DEL gh:{lock:sword}:s gh:{semaphore:arena}:s gh:{semaphore:arena}:h");
    redis_server_restart(server);
    uint64_t begun_us = wait_now_us();
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_HELD && gh_op_poll(&permit->op) != GH_HELD);
    assert_status(gh_op_poll(&lock->op), GH_LOST);
    assert_status(gh_op_poll(&permit->op), GH_LOST);
    assert_int_equal(game_stats(a).store_resets, 0);
    assert_true(wait_now_us() - begun_us < LONG_US / 6);
}

/* ---- FLUSHALL under connected clients ---------------------------------------------------------------------------- */

static void quarantine_holds_after_a_flush_under_connected_clients(void** state)
{
    (void)state;
    const uint64_t quarantine_us = SECOND_US;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.quarantine_us = quarantine_us;
    game* a = game_start_with(&config);
    game* b = game_start_with(&config);
    hold(a, "sword", LONG_US);
    assert_status(give_back(hold(b, "shield", LONG_US)), GH_OK);
    assert_status(permit_settle(permit_want(b, "gate", 1, LONG_US, LONG_US)), GH_HELD);
    redis_server_do(server, "FLUSHALL");
    gh_lock* lock = lock_begun(b, "sword", LONG_US, LONG_US);
    gh_permit* permit = permit_want(b, "arena", 1, LONG_US, LONG_US);
    assert_status(settle(lock), GH_HELD);
    assert_status(permit_settle(permit), GH_HELD);
    uint64_t birth_us = strtoull(redis_server_text(server, "GET gh:epoch"), NULL, 10);
    assert_true(lock->fence >= birth_us + quarantine_us); /* a fence is at least the store's time of the grant */
    assert_true(permit->fence >= birth_us + quarantine_us);
    assert_true(game_stats(b).store_resets > 0);
}

/* ---- numbers that cannot be -------------------------------------------------------------------------------------- */

static void lock_of_a_broken_number_is_corrupt(void** state)
{
    (void)state;
    static const char* const states[] = {"- 9007199254740991 0 f 0",
                                         "- 9007199254740992 0 f 0",
                                         "- 12345678901234567890 0 f 0",
                                         "- 5 12345678901234567890 h 0",
                                         "- 5 0 f 12345678901234567890",
                                         "- 5 0 f 0 x",
                                         "- 5 0 f 0 abc:12 def",
                                         "- -5 0 f 0",
                                         "- 1e400 0 f 0",
                                         "- nan 0 f 0"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
    {
        redis_server_do(server, "SET gh:{lock:sword}:s %s", states[i]);
        assert_status(settle(lock_begun(a, "sword", SECOND_US, SECOND_US)), GH_CORRUPT);
        assert_string_equal(redis_server_text(server, "GET gh:{lock:sword}:s"), states[i]);
    }
    assert_int_equal(game_stats(a).links_lost, 0);
}

/* The last number that is a whole one is a fence; after it there is none. */
static void fence_is_never_handed_out_twice(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_do(server, "SET gh:{lock:sword}:s %s", "- 9007199254740989 0 f 0");
    gh_lock* lock = hold(a, "sword", LONG_US);
    assert_int_equal(lock->fence, 9007199254740990u);
    assert_status(give_back(lock), GH_OK);
    lock = hold(a, "sword", LONG_US);
    assert_int_equal(lock->fence, 9007199254740991u);
    assert_status(give_back(lock), GH_OK);
    assert_status(settle(lock_begun(a, "sword", SECOND_US, SECOND_US)), GH_CORRUPT);
    gh_command_config config = gh_command_config_default();
    config.fence = (gh_fence){gh_str_literal("shield"), 5};
    redis_server_do(server, "SET gh:{lock:shield}:s %s", "- 12345678901234567890 9000000000000000 h 0");
    assert_status(settle_command(say(a, &config, "SET gold 1")), GH_CORRUPT);
}

static void semaphore_of_a_broken_number_is_corrupt(void** state)
{
    (void)state;
    static const char* const states[] = {"99999999 0 0 0 -",
                                         "1000001 0 0 0 -",
                                         "5 99999999 0 0 -",
                                         "5 0 9007199254740991 0 -",
                                         "5 0 0 12345678901234567890 -",
                                         "5 0 0 0",
                                         "5 0 1e400 0 -",
                                         "5 0 0 0 - abc",
                                         "12345678901234567890 0 0 0 -"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
    {
        redis_server_do(server, "SET gh:{semaphore:arena}:s %s", states[i]);
        assert_status(permit_settle(permit_want(a, "arena", 5, SECOND_US, SECOND_US)), GH_CORRUPT);
        assert_string_equal(redis_server_text(server, "GET gh:{semaphore:arena}:s"), states[i]);
    }
    redis_server_do(server, "SET gh:{semaphore:arena}:s %s", "5 5 100 0 -");
    redis_server_do(server, "ZADD gh:{semaphore:arena}:h inf %s", "0000000000000001:0000000000000001 5");
    assert_status(permit_settle(permit_want(a, "arena", 5, SECOND_US, 0)), GH_BUSY);
    assert_int_equal(game_stats(a).links_lost, 0);
}

static bool answer_large_numbers(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    char text[256];
    (void)world;
    if (!gh_str_equal(words[0], gh_str_literal("EVALSHA")) || (count != 8 && count != 11)) return false;
    gh_str sequence = words[count == 8 ? 6 : 8];
    if (count == 11) buffer_add_bulk(reply, "%.*s 0 5 4294967297 0 0", (int)sequence.size, sequence.bytes);
    else
    {
        snprintf(text, sizeof(text), "*5\r\n:%.*s\r\n:5\r\n:4294967297\r\n:0\r\n:7\r\n", (int)sequence.size,
                 sequence.bytes);
        buffer_add(reply, text, strlen(text));
    }
    return true;
}

static void numbers_of_a_semaphore_are_not_cut(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->answer = answer_large_numbers;
    scripted_start_ready(world, NULL);
    gh_semaphore_look* look = SCRIPTED_NEW(world, gh_semaphore_look);
    gh_semaphore_limit* limit = SCRIPTED_NEW(world, gh_semaphore_limit);
    gh_str name = gh_str_literal("arena");
    assert_status(gh_semaphore_look_begin(look, ON_SEMAPHORE(world->client, name, 0), NULL, 0), GH_OK);
    assert_status(gh_semaphore_limit_begin(limit, ON_SEMAPHORE(world->client, name, 0), 5), GH_OK);
    SCRIPTED_UNTIL(world, gh_op_poll(&look->op) != GH_PENDING && gh_op_poll(&limit->op) != GH_PENDING, 1000, SECOND_US);
    assert_status(gh_op_poll(&look->op), GH_CORRUPT);
    assert_status(gh_op_poll(&limit->op), GH_UNKNOWN);
    assert_int_equal(look->used, 0);
}

/* ---- without the wake link --------------------------------------------------------------------------------------- */

#define IN_LINE 9

/* Each gives back what it has got as soon as it has it. */
static void waiters_without_a_wake_link_are_served_in_order(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.wake = false;
    gh_lock* locks[IN_LINE];
    gh_permit* permits[IN_LINE];
    game* owner = game_start_with(&config);
    game* games[3] = {game_start_with(&config), game_start_with(&config), game_start_with(&config)};
    gh_lock* lock = hold(owner, "sword", LONG_US);
    gh_permit* permit = permit_hold_one(owner, "arena", 1, LONG_US);
    for (int i = 0; i < IN_LINE; i++)
    {
        locks[i] = lock_begun(games[i % 3], "sword", LONG_US, LONG_US);
        permits[i] = permit_want(games[i % 3], "arena", 1, LONG_US, LONG_US);
        GAME_UNTIL(locks[i]->position == (unsigned)i + 1 && permits[i]->position == (unsigned)i + 1);
    }
    gh_lock_release(lock);
    gh_permit_release(permit);
    for (int l = 0, p = 0; l < IN_LINE || p < IN_LINE;)
    {
        GAME_UNTIL((l < IN_LINE && gh_op_poll(&locks[l]->op) == GH_HELD) ||
                   (p < IN_LINE && gh_op_poll(&permits[p]->op) == GH_HELD));
        if (l < IN_LINE && gh_op_poll(&locks[l]->op) == GH_HELD) gh_lock_release(locks[l++]);
        if (p < IN_LINE && gh_op_poll(&permits[p]->op) == GH_HELD) gh_permit_release(permits[p++]);
        for (int i = l + 1; i < IN_LINE; i++) assert_status(gh_op_poll(&locks[i]->op), GH_PENDING);
        for (int i = p + 1; i < IN_LINE; i++) assert_status(gh_op_poll(&permits[i]->op), GH_PENDING);
    }
    for (int i = 1; i < IN_LINE; i++)
    {
        assert_true(locks[i]->fence > locks[i - 1]->fence);
        assert_true(permits[i]->fence > permits[i - 1]->fence);
    }
}

/* The first in line has no wake link, and does not ask for longer than a turn lasts otherwise. */
static void turn_is_kept_for_as_long_as_its_waiter_may_sleep(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* sleeper = game_start_deaf(redis_server_address(server));
    game* other = game_start_ready(redis_server_address(server));
    gh_lock* lock = hold(other, "sword", LONG_US);
    gh_permit* permit = permit_hold_one(other, "arena", 1, LONG_US);
    gh_lock* locks[2] = {lock_begun(sleeper, "sword", LONG_US, LONG_US), NULL};
    gh_permit* permits[2] = {permit_want(sleeper, "arena", 1, LONG_US, LONG_US), NULL};
    GAME_UNTIL(locks[0]->position == 1 && permits[0]->position == 1);
    locks[1] = lock_begun(other, "sword", LONG_US, LONG_US);
    permits[1] = permit_want(other, "arena", 1, LONG_US, LONG_US);
    GAME_UNTIL(locks[1]->position == 2 && permits[1]->position == 2);
    sleeper->asleep = true;
    assert_status(give_back(lock), GH_OK);
    assert_status(permit_give_back(permit), GH_OK);
    uint64_t begun_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - begun_us > 3 * GH_CLAIM_WINDOW_US);
    sleeper->asleep = false;
    if (wait_now_us() - begun_us > 9 * GH_CLAIM_WINDOW_US) return; /* a machine so slow says nothing */
    assert_status(settle(locks[0]), GH_HELD);
    assert_status(permit_settle(permits[0]), GH_HELD);
    assert_status(gh_op_poll(&locks[1]->op), GH_PENDING);
    assert_status(gh_op_poll(&permits[1]->op), GH_PENDING);
}

/* ---- a grant of which too little is left ------------------------------------------------------------------------- */

#define LITTLE_US (20 * SECOND_US)

static uint64_t little_end_us; /* when it is over */
static unsigned little_asked;  /* how often it was asked for until then */

/* An earlier copy of the request was granted, and nobody has heard of it. */
static bool grants_what_is_left(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    if (count != 13 || !scripted_runs_on(words, count, "gh:{lock:sword}") || world->now_us >= little_end_us)
        return false;
    little_asked++;
    buffer_add_bulk(reply, "%.*s 0 7 %llu 0 1000000000000000", (int)words[7].size, words[7].bytes,
                    (unsigned long long)(little_end_us - world->now_us));
    return true;
}

/* A hundredth of a lease is for clocks that run unevenly: of one of an hour, half a minute. Nobody is told that he has
   it for so long, and it is not asked for all the while either. */
static void lease_of_which_too_little_is_left_is_waited_for(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->answer = grants_what_is_left;
    scripted_start_ready(world, NULL);
    little_end_us = world->now_us + LITTLE_US;
    little_asked = 0;
    gh_lock* lock = scripted_want(world, "sword", GH_LOCK_LEASE_MAX_US, GH_LOCK_WAIT_MAX_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, 1000, 2 * LITTLE_US);
    assert_true(world->now_us >= little_end_us);
    assert_in_range(little_asked, 1, 100);
}

TEST_FILE(lease, cmocka_unit_test(fenced_write_that_was_done_is_never_fenced),
          cmocka_unit_test(lock_that_was_granted_unheard_is_given_back),
          cmocka_unit_test(permits_that_were_granted_unheard_are_given_back),
          cmocka_unit_test(waiter_that_gives_up_without_a_link_leaves_no_place),
          cmocka_unit_test(what_could_not_be_told_ends_unknown),
          cmocka_unit_test(late_request_of_a_released_lock_takes_nothing),
          cmocka_unit_test(late_request_of_a_lock_that_gave_up_does_not_wait),
          cmocka_unit_test(release_leaves_no_mark_where_each_copy_was_answered),
          cmocka_unit_test(marks_of_late_requests_are_bounded),
          cmocka_unit_test(owner_learns_of_older_data_under_the_same_epoch),
          cmocka_unit_test(quarantine_holds_after_a_flush_under_connected_clients),
          cmocka_unit_test(lock_of_a_broken_number_is_corrupt), cmocka_unit_test(fence_is_never_handed_out_twice),
          cmocka_unit_test(semaphore_of_a_broken_number_is_corrupt),
          cmocka_unit_test(numbers_of_a_semaphore_are_not_cut),
          cmocka_unit_test(turn_is_kept_for_as_long_as_its_waiter_may_sleep),
          cmocka_unit_test(lease_of_which_too_little_is_left_is_waited_for),
          cmocka_unit_test(waiters_without_a_wake_link_are_served_in_order));
