/* How permits are lost, and how they are not: leases, clocks, dead holders and waiters, data loss, and
   renewals in batches. */

#include "support/server/foreign.h"
#include "support/scene/permits.h"
#include "support/server/proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_US (3600 * (int64_t)SECOND_US)

/* ---- clocks -------------------------------------------------------------------------------------------- */

/* The naive way trusts the clients' clocks: those an hour ahead throw out everybody else. */
static void clients_with_clocks_an_hour_apart_steal_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* games[3];
    gh_permit* held[3];
    for (int i = 0; i < 3; i++)
    {
        games[i] = game_start(redis_server_address(server));
        games[i]->ahead_us = (i - 1) * HOUR_US;
        GAME_UNTIL(gh_client_ready(games[i]->client));
        held[i] = permit_hold_one(games[i], "arena", 3, 2 * SECOND_US);
    }
    uint64_t begun_us = wait_now_us();
    while (wait_now_us() - begun_us < 4 * SECOND_US) /* two leases long: all are renewed, nobody else gets in */
    {
        for (int i = 0; i < 3; i++)
        {
            assert_status(permit_settle(permit_want(games[i], "arena", 3, 2 * SECOND_US, 0)), GH_BUSY);
            assert_status(gh_op_poll(&held[i]->op), GH_HELD);
        }
    }
    gh_permit* waiter = permit_want(games[2], "arena", 3, 2 * SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(waiter->position == 1);
    game_end(games[0]); /* what it had is free after its lease, not at once and not after an hour */
    assert_status(gh_op_poll(&waiter->op), GH_PENDING);
    assert_status(permit_settle(waiter), GH_HELD);
    semaphore_must_be_sound(server, "arena");
}

static void fence_grows_when_the_servers_clock_goes_back(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* permit = permit_hold_one(a, "arena", 2, 10 * SECOND_US);
    redis_server_shift_clock(server, -HOUR_US);
    assert_true(permit_hold_one(a, "arena", 2, 10 * SECOND_US)->fence > permit->fence);
}

static void servers_clock_forward_frees_and_the_holder_learns_it(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_permit* permit = permit_hold_one(a, "arena", 1, 6 * SECOND_US);
    redis_server_shift_clock(server, HOUR_US);
    gh_permit* other = permit_hold_one(b, "arena", 1, 6 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&permit->op) != GH_HELD);
    assert_status(gh_op_poll(&permit->op), GH_LOST);
    assert_status(gh_op_poll(&other->op), GH_HELD);
    semaphore_must_be_sound(server, "arena");
}

/* ---- renewing ------------------------------------------------------------------------------------------ */

static void count_refreshes(unsigned permit_count, unsigned batches)
{
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit** permits = GAME_NEW_ARRAY(a, gh_permit*, permit_count);
    const uint64_t third_us = SECOND_US;
    for (unsigned i = 0; i < permit_count; i++)
    {
        permits[i] = permit_want(a, "arena", permit_count, 3 * third_us, 60 * SECOND_US);
        if (i % 10 == 9) GAME_UNTIL(gh_op_poll(&permits[i]->op) == GH_HELD); /* not all at the same time */
    }
    for (unsigned i = 0; i < permit_count; i++) assert_status(permit_settle(permits[i]), GH_HELD);
    GAME_UNTIL(redis_server_calls(server, "zmscore") >= batches); /* the first round brings them together */
    long long before = redis_server_calls(server, "zmscore");
    uint64_t begun_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - begun_us >= 3 * third_us + third_us / 2);
    long long calls = redis_server_calls(server, "zmscore") - before;
    assert_in_range(calls, batches, 4 * batches); /* fewer only where the machine did not let us come in time */
    for (unsigned i = 0; i < permit_count; i++) assert_status(gh_op_poll(&permits[i]->op), GH_HELD);
    semaphore_must_be_sound(server, "arena");
}

static void one_request_renews_a_hundred_permits(void** state)
{
    (void)state;
    count_refreshes(100, 1);
}

static void two_requests_renew_a_hundred_and_one(void** state)
{
    (void)state;
    count_refreshes(101, 2);
}

static gh_permit* nth_held(gh_permit** permits, int count, int n)
{
    for (int i = 0; i < count; i++)
        if (gh_op_poll(&permits[i]->op) == GH_HELD && n-- == 0) return permits[i];
    fail_msg("%d more permits are not held", n + 1);
    return NULL;
}

static void take_away_in_the_store(redis_server* server, game* from, const gh_permit* permit)
{
    char member[64];
    snprintf(member, sizeof(member), "%016llx:%016llx 1", (unsigned long long)gh_client_id(from->client),
             (unsigned long long)permit->lease.op.sequence);
    assert_int_equal(redis_server_integer(server, "ZREM gh:{semaphore:arena}:h %s", member), 1);
}

/* Releases, one that is taken away in the store, and a new one, all while renewals are on their way. */
static void batches_bear_coming_and_going(void** state)
{
    (void)state;
    enum
    {
        COUNT = 130,
        ROUNDS = 10
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* permits[COUNT + ROUNDS];
    for (int i = 0; i < COUNT; i++) permits[i] = permit_want(a, "arena", 2 * COUNT, 6 * SECOND_US, 60 * SECOND_US);
    for (int i = 0; i < COUNT; i++) assert_status(permit_settle(permits[i]), GH_HELD);
    for (int round = 0; round < ROUNDS; round++)
    {
        gh_permit* released = nth_held(permits, COUNT, 5 * round);
        gh_permit* lost = nth_held(permits, COUNT, 5 * round + 1);
        gh_permit* renewed = nth_held(permits, COUNT, 5 * round + 2);
        take_away_in_the_store(server, a, lost);
        a->ahead_us += 2 * (int64_t)SECOND_US + (int64_t)SECOND_US / 10; /* more than a third: renewals begin */
        game_tick(a);
        assert_non_null(renewed->carrier);
        gh_permit* carrier = renewed->carrier;
        if (carrier != lost) gh_permit_release(carrier); /* whoever carries its batch leaves too */
        gh_permit_release(released);
        permits[COUNT + round] = permit_want(a, "arena", 2 * COUNT, 6 * SECOND_US, 60 * SECOND_US);
        GAME_UNTIL(gh_op_poll(&lost->op) != GH_HELD && gh_op_poll(&released->op) != GH_PENDING);
        assert_status(permit_settle(lost), GH_LOST);
        assert_status(permit_settle(permits[COUNT + round]), GH_HELD);
    }
    GAME_UNTIL(game_stats(a).requests_sent == 0 && game_stats(a).requests_waiting == 0);
    uint32_t held = 0;
    for (int i = 0; i < COUNT + ROUNDS; i++) held += gh_op_poll(&permits[i]->op) == GH_HELD;
    assert_true(held >= COUNT - 2 * ROUNDS);
    assert_int_equal(semaphore_stored(server, "arena").held, held);
    assert_int_equal(semaphore_stored(server, "arena").lapsed, 0);
}

/* redisson #775: after one renewal that failed, none followed. */
static void renewal_goes_on_after_one_that_failed(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_ready(proxy_address(proxy));
    gh_permit* permit = permit_hold_one(a, "arena", 1, 3 * SECOND_US);
    for (int i = 0; i < 3; i++)
    {
        uint64_t lease_end_us = permit->lease.lease_end_us;
        proxy_arm(proxy, PROXY_REQUEST, 5, PROXY_RST);
        a->ahead_us += (int64_t)SECOND_US;
        GAME_UNTIL(permit->lease.lease_end_us != lease_end_us || gh_op_poll(&permit->op) != GH_HELD);
        assert_status(gh_op_poll(&permit->op), GH_HELD);
    }
    assert_true(proxy_fired(proxy) >= 3);
}

/* redisson #7272: the renewal outlived the release, and nobody else ever got in. */
static void renewal_ends_with_the_release(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* permit = permit_hold_one(a, "arena", 1, SECOND_US / 2);
    GAME_UNTIL(redis_server_calls(server, "zmscore") > 0);
    assert_status(permit_give_back(permit), GH_OK);
    long long calls = redis_server_calls(server, "zmscore");
    uint64_t begun_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - begun_us > SECOND_US / 2);
    assert_int_equal(redis_server_calls(server, "zmscore"), calls);
    assert_status(permit_settle(permit_want(a, "arena", 1, SECOND_US, 0)), GH_HELD);
}

/* ---- told on time -------------------------------------------------------------------------------------- */

static void is_told_lost_while_the_server_is_away(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* permits[5];
    for (int i = 0; i < 5; i++) permits[i] = permit_hold_one(a, "arena", 5, SECOND_US);
    redis_server_kill9(server);
    for (int i = 0; i < 5; i++)
    {
        GAME_UNTIL(gh_op_poll(&permits[i]->op) != GH_HELD);
        assert_status(gh_op_poll(&permits[i]->op), GH_LOST);
    }
    assert_false(gh_client_ready(a->client));
}

static void is_told_lost_first_after_a_hitch(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* permits[5];
    for (int i = 0; i < 5; i++) permits[i] = permit_hold_one(a, "arena", 5, 10 * SECOND_US);
    a->ahead_us += 11 * (int64_t)SECOND_US;
    game_tick(a);
    for (int i = 0; i < 5; i++) assert_status(gh_op_poll(&permits[i]->op), GH_LOST);
}

static void grant_that_is_later_than_its_lease_is_not_reported(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    permit_hold_one(a, "gate", 1, SECOND_US); /* the script is loaded */
    gh_permit* permit = permit_want(a, "arena", 1, SECOND_US / 10, 60 * SECOND_US);
    game_tick(a);
    WAIT_FOR(semaphore_stored(server, "arena").exists); /* granted; the answer waits in our socket */
    a->ahead_us += (int64_t)SECOND_US / 5;
    game_tick(a); /* takes the answer */
    assert_status(gh_op_poll(&permit->op), GH_PENDING);
    assert_status(permit_settle(permit), GH_HELD);
    assert_true(gh_permit_remaining_us(permit) > 0);
    assert_int_equal(semaphore_stored(server, "arena").used, 1);
}

static void release_that_comes_too_late_says_so(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_permit* slow = permit_hold_one(a, "arena", 1, SECOND_US / 5);
    a->asleep = true; /* its lease runs out while it hangs */
    gh_permit* next = permit_hold_one(b, "arena", 1, 10 * SECOND_US);
    a->asleep = false;
    a->ahead_us -= 10 * (int64_t)SECOND_US; /* and it has not noticed: its clock stands still */
    assert_status(gh_op_poll(&slow->op), GH_HELD);
    assert_status(permit_give_back(slow), GH_LOST);
    assert_status(gh_op_poll(&next->op), GH_HELD);
    assert_int_equal(semaphore_stored(server, "arena").held, 1);
}

/* ---- repeats, and requests that come late -------------------------------------------------------------- */

#define ARENA_KEYS    "gh:{semaphore:arena}:s gh:{semaphore:arena}:h gh:{semaphore:arena}:q gh:{semaphore:arena}:c"
#define ARENA_PAST    "gh:{semaphore:arena}:w"
#define CODE_STALE    4
#define CODE_FULL     6
#define LATE_LEASE_US 60000000u

typedef struct scripts_of_permits
{
    redis_server* server;
    char acquire[FOREIGN_DIGEST_SIZE];
    char release[FOREIGN_DIGEST_SIZE];
    uint64_t not_after_us; /* of what is asked; 0: none */
} scripts_of_permits;

static uint64_t store_now_us(redis_server* server)
{
    redisReply* reply = redis_server_command(server, "TIME");
    uint64_t seconds = strtoull(reply->element[0]->str, NULL, 10);
    uint64_t now_us = seconds * SECOND_US + strtoull(reply->element[1]->str, NULL, 10);
    freeReplyObject(reply);
    return now_us;
}

static scripts_of_permits load_scripts(redis_server* server)
{
    scripts_of_permits self = {.server = server};
    foreign_load(server, self.acquire, "semaphore/semaphore_acquire.lua");
    foreign_load(server, self.release, "semaphore/semaphore_release.lua");
    return self;
}

/* So many permits of three. Returns the code. */
static long long acquire_many_by_script(const scripts_of_permits* self, unsigned sequence, unsigned permits,
                                        unsigned lease_us, uint64_t* fence)
{
    redisReply* reply = redis_server_command(
        self->server, "EVALSHA %s 4 " ARENA_KEYS " 0000000000000001:%016x %u %u 60000000 200000 %llu 0 %u 3",
        self->acquire, sequence, sequence, lease_us, (unsigned long long)self->not_after_us, permits);
    long long code;
    long long remaining_us;
    unsigned long long given;
    assert_int_equal(sscanf(reply->str, "%*u %lld %llu %lld %*u %*u %*u", &code, &given, &remaining_us), 3);
    *fence = given;
    if (code == 0) assert_in_range(remaining_us, 1, lease_us);
    freeReplyObject(reply);
    return code;
}

static long long acquire_by_script(const scripts_of_permits* self, unsigned sequence, uint64_t* fence)
{
    return acquire_many_by_script(self, sequence, 1, LATE_LEASE_US, fence);
}

/* late_us: 0 where each copy of its request was answered. */
static long long release_by_script(const scripts_of_permits* self, unsigned sequence, uint64_t late_us)
{
    char late[32] = "";
    if (late_us != 0) snprintf(late, sizeof(late), " %llu", (unsigned long long)late_us);
    char words[512];
    snprintf(words, sizeof(words), "EVALSHA %s 4 " ARENA_KEYS " 0000000000000001:%016x %u 200000 1%s", self->release,
             sequence, sequence, late);
    redisReply* reply = redis_server_command(self->server, words);
    long long code;
    assert_int_equal(sscanf(reply->str, "%*u %lld %*u", &code), 1);
    freeReplyObject(reply);
    return code;
}

/* Whether it was granted at once or after its turn came. */
static void repeat_of_a_grant_has_its_fence(void** state)
{
    (void)state;
    scripts_of_permits self = load_scripts(redis_server_start(NULL));
    uint64_t fences[5] = {0};
    uint64_t again;
    for (unsigned i = 1; i <= 3; i++) assert_int_equal(acquire_by_script(&self, i, &fences[i]), 0);
    assert_int_equal(acquire_by_script(&self, 4, &again), 1);
    assert_int_equal(release_by_script(&self, 3, 0), 0);
    assert_int_equal(acquire_by_script(&self, 4, &fences[4]), 0);
    for (unsigned i = 1; i <= 4; i++) assert_true(fences[i] > fences[i - 1]);
    for (unsigned i = 4; i >= 1; i--)
    {
        if (i == 3) continue;
        assert_int_equal(acquire_by_script(&self, i, &again), 0);
        assert_int_equal(again, fences[i]);
    }
    assert_int_equal(semaphore_stored(self.server, "arena").fence, fences[4]);
    semaphore_must_be_sound(self.server, "arena");
}

/* The one before was never heard of; the new one is above all others. */
static void repeat_behind_the_last_fence_has_a_larger_one(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    scripts_of_permits self = load_scripts(redis_server_start(&options));
    uint64_t before, lost, repeated, next;
    assert_int_equal(acquire_by_script(&self, 1, &before), 0);
    redis_server_shift_clock(self.server, -HOUR_US);
    assert_int_equal(acquire_by_script(&self, 2, &lost), 0);
    assert_true(lost > before);
    redis_server_shift_clock(self.server, (int64_t)SECOND_US - HOUR_US);
    assert_int_equal(acquire_by_script(&self, 2, &repeated), 0);
    assert_true(repeated > lost);
    assert_int_equal(acquire_by_script(&self, 3, &next), 0);
    assert_true(next > repeated);
    assert_int_equal(semaphore_stored(self.server, "arena").held, 3);
}

/* Neither what was released nor what was given up unheard of comes back; a late release changes nothing either. What
   was asked for later than what may come late is granted. */
static void release_refuses_what_comes_late(void** state)
{
    (void)state;
    scripts_of_permits self = load_scripts(redis_server_start(NULL));
    uint64_t late_us = store_now_us(self.server) + 60 * SECOND_US;
    self.not_after_us = late_us;
    uint64_t fence;
    assert_int_equal(release_by_script(&self, 7, late_us), 1); /* before the semaphore was there */
    assert_int_equal(acquire_by_script(&self, 7, &fence), CODE_STALE);
    self.not_after_us++;
    assert_int_equal(acquire_by_script(&self, 1, &fence), 0);
    assert_int_equal(acquire_by_script(&self, 2, &fence), 0);
    assert_int_equal(release_by_script(&self, 1, late_us), 0);
    assert_int_equal(release_by_script(&self, 1, late_us), 1);
    assert_int_equal(release_by_script(&self, 1, 0), 1);
    self.not_after_us--;
    assert_int_equal(acquire_by_script(&self, 1, &fence), CODE_STALE);
    assert_int_equal(acquire_by_script(&self, 7, &fence), CODE_STALE);
    assert_int_equal(acquire_by_script(&self, 2, &fence), 0); /* a repeat */
    assert_int_equal(semaphore_stored(self.server, "arena").held, 1);
    semaphore_must_be_sound(self.server, "arena");
    self.not_after_us++;
    for (unsigned i = 3; i <= 4; i++) assert_int_equal(acquire_by_script(&self, i, &fence), 0);
    assert_int_equal(acquire_by_script(&self, 5, &fence), 1); /* there are three, as before */
    self.not_after_us--;
    assert_int_equal(acquire_by_script(&self, 6, &fence), CODE_STALE); /* and nobody waits who is gone */
    assert_int_equal(semaphore_stored(self.server, "arena").queued, 1);
}

/* A copy that hung somewhere until others have set another limit sets none. */
static void late_limit_undoes_no_younger_one(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    char limit[FOREIGN_DIGEST_SIZE];
    long long numbers[3];
    foreign_load(server, limit, "semaphore/semaphore_limit.lua");
    uint64_t now_us = store_now_us(server);
    for (unsigned turn = 0; turn < 3; turn++) /* one sets 5, another 7, and then comes the first once more */
    {
        redisReply* reply = redis_server_command(
            server, "EVALSHA %s 5 " ARENA_KEYS " " ARENA_PAST " %016x:0000000000000001 1 200000 %u %llu 0", limit,
            1 + turn % 2, 5 + turn % 2 * 2, (unsigned long long)(turn < 2 ? now_us + 60 * SECOND_US : now_us));
        assert_int_equal(redis_server_numbers(reply, numbers, 3), 3);
        assert_int_equal(numbers[1], turn < 2 ? 0 : 2);
        freeReplyObject(reply);
    }
    assert_memory_equal(redis_server_text(server, "GET gh:{semaphore:arena}:s"), "7 0 ", 4);
}

/* The request hangs on a link that its client has given up, and is sent again, granted and given back
 * meanwhile. */
static void late_request_of_a_released_permit_takes_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_ready(proxy_address(proxy));
    game* b = game_start_ready(redis_server_address(server));
    assert_status(permit_give_back(permit_hold_one(a, "gate", 1, SECOND_US)), GH_OK); /* scripts are loaded */
    proxy_arm(proxy, PROXY_REQUEST, 0, PROXY_HOLD);
    gh_permit* permit = permit_want(a, "arena", 1, 60 * SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(proxy_fired(proxy) == 1);
    a->ahead_us += 3 * (int64_t)SECOND_US; /* no answer */
    assert_status(permit_settle(permit), GH_HELD);
    assert_status(permit_give_back(permit), GH_OK);
    assert_true(semaphore_stored(server, "arena").lates);

    long long calls = redis_server_calls(server, "evalsha");
    proxy_release(proxy);
    WAIT_FOR(redis_server_calls(server, "evalsha") > calls);
    stored_semaphore now = semaphore_stored(server, "arena");
    assert_int_equal(now.used, 0);
    assert_int_equal(now.held, 0);
    assert_status(permit_settle(permit_want(b, "arena", 1, SECOND_US, 0)), GH_HELD);
}

/* ---- the dead ------------------------------------------------------------------------------------------ */

/* redisson #4462: what a crashed holder had was lost for ever. */
static void crash_leaks_no_permit(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* dead = game_start_ready(redis_server_address(server));
    game* a = game_start_ready(redis_server_address(server));
    for (int i = 0; i < 5; i++) permit_hold_one(dead, "arena", 5, SECOND_US / 2);
    game_end(dead);
    gh_permit* all = permit_want_many(a, "arena", 5, 5);
    assert_status(permit_settle(all), GH_HELD);
    semaphore_must_be_sound(server, "arena");
}

static void dead_waiters_are_dropped(void** state)
{
    (void)state;
    enum
    {
        DEAD = 300
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* dead = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_permit* owner = permit_hold_one(a, "arena", 1, 60 * SECOND_US);
    gh_permit* last = NULL;
    for (int i = 0; i < DEAD; i++) last = permit_want(dead, "arena", 1, SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(last->position == DEAD);
    gh_permit* waiter = permit_want(b, "arena", 1, SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(waiter->position == DEAD + 1);
    game_end(dead);
    gh_permit_release(owner);
    assert_status(permit_settle(waiter), GH_HELD);
    assert_int_equal(semaphore_stored(server, "arena").queued, 0);
    semaphore_must_be_sound(server, "arena");
}

static void waiter_that_missed_its_turn_stands_at_the_end(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* slow = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_permit* owner = permit_hold_one(a, "arena", 1, 60 * SECOND_US);
    gh_permit* first = permit_want(slow, "arena", 1, 60 * SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(first->position == 1);
    gh_permit* second = permit_want(b, "arena", 1, 60 * SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(second->position == 2);
    slow->asleep = true;
    gh_permit_release(owner);
    assert_status(permit_settle(second), GH_HELD);
    slow->asleep = false;
    GAME_UNTIL(first->position == 1); /* it has asked, and was put into the queue again */
    assert_status(gh_op_poll(&first->op), GH_PENDING);
    gh_permit_release(second);
    assert_status(permit_settle(first), GH_HELD);
    semaphore_must_be_sound(server, "arena");
}

/* A hundred thousand wait, and one more is refused. What its request cleared away on the way stays cleared away. */
static void refusal_of_one_too_many_keeps_the_count(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    scripts_of_permits self = load_scripts(redis_server_start(&options));
    uint64_t fence;
    assert_int_equal(acquire_many_by_script(&self, 1, 1, SECOND_US, &fence), 0);
    assert_int_equal(acquire_by_script(&self, 2, &fence), 0);
    assert_int_equal(acquire_many_by_script(&self, 3, 3, LATE_LEASE_US, &fence), 1);
    redis_server_do(self.server, "EVAL %s 4 " ARENA_KEYS,
                    "for i = 1, 99999 do redis.call('ZADD', KEYS[3], string.format('%.0f', 1e15 + 1e15 + i), "
                    "'0000000000000001:' .. string.format('%016x', 100 + i) .. ' 1') end "
                    "local state = redis.call('GET', KEYS[1]) "
                    "return redis.call('SET', KEYS[1], (string.gsub(state, ' 1 %-$', ' 100000 -')))");
    semaphore_must_be_sound(self.server, "arena");
    redis_server_shift_clock(self.server, 2 * (int64_t)SECOND_US);
    assert_int_equal(acquire_by_script(&self, 4, &fence), CODE_FULL);
    semaphore_must_be_sound(self.server, "arena");
    stored_semaphore now = semaphore_stored(self.server, "arena");
    assert_int_equal(now.used, 1);
    assert_int_equal(now.waiters, 100000);
    assert_int_equal(release_by_script(&self, 2, 0), 0);
    assert_int_equal(semaphore_stored(self.server, "arena").turns, 3); /* the first in line has its turn */
    semaphore_must_be_sound(self.server, "arena");
}

/* ---- data loss ----------------------------------------------------------------------------------------- */

static void holders_learn_that_the_store_lost_its_data(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* permits[3];
    for (int i = 0; i < 3; i++) permits[i] = permit_hold_one(a, "arena", 3, 60 * SECOND_US);
    gh_permit* waiter = permit_want(a, "arena", 3, 60 * SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(waiter->position == 1);
    redis_server_restart_empty(server);
    for (int i = 0; i < 3; i++)
    {
        GAME_UNTIL(gh_op_poll(&permits[i]->op) != GH_HELD);
        assert_status(gh_op_poll(&permits[i]->op), GH_LOST);
    }
    assert_status(permit_settle(waiter), GH_HELD);
    assert_true(waiter->fence > permits[2]->fence);
}

static void state_that_vanished_grants_no_more_than_the_limit(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* old = permit_hold_one(a, "arena", 1, 2 * SECOND_US);
    redis_server_do(server, "DEL gh:{semaphore:arena}:s"); /* evicted, say */
    gh_permit* next = permit_hold_one(a, "arena", 1, 60 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&old->op) != GH_HELD);
    assert_status(gh_op_poll(&old->op), GH_LOST);
    assert_status(gh_op_poll(&next->op), GH_HELD);
    semaphore_must_be_sound(server, "arena");
    redis_server_do(server, "DEL gh:{semaphore:arena}:h");
    assert_status(permit_settle(permit_want(a, "arena", 1, 60 * SECOND_US, 0)),
                  GH_HELD); /* nothing is counted for ever */
}

/* The dead had them, and nobody asked for two hours: who they were is forgotten, the limit that was set is not. */
static void leave_permits_that_are_forgotten(redis_server* server, unsigned count)
{
    game* dead = game_start_ready(redis_server_address(server));
    semaphore_set_limit(dead, "arena", 10);
    for (unsigned i = 0; i < count; i++) permit_hold_one(dead, "arena", 10, SECOND_US);
    game_end(dead);
    assert_int_equal(semaphore_stored(server, "arena").used, count);
    assert_int_equal(redis_server_integer(server, "DEL gh:{semaphore:arena}:h"), 1);
}

static void forgotten_permits_are_free(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    leave_permits_that_are_forgotten(server, 5);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* four = permit_want_many(a, "arena", 10, 4);
    assert_status(permit_settle(four), GH_HELD); /* there is room for it, whoever is counted */
    assert_int_equal(semaphore_stored(server, "arena").used, 4);
    gh_permit* one = permit_hold_one(a, "arena", 10, 60 * SECOND_US);
    assert_int_equal(semaphore_stored(server, "arena").used, 5);
    assert_status(permit_settle(permit_want_many(a, "arena", 10, 5)), GH_HELD);
    assert_status(permit_give_back(four), GH_OK);
    assert_status(permit_give_back(one), GH_OK);
    assert_int_equal(semaphore_stored(server, "arena").used, 5);
    semaphore_must_be_sound(server, "arena");
}

static void forgotten_permits_are_free_while_the_servers_clock_is_behind(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    leave_permits_that_are_forgotten(server, 5);
    redis_server_shift_clock(server, -HOUR_US);
    game* a = game_start_ready(redis_server_address(server));
    gh_permit* four = permit_want_many(a, "arena", 10, 4);
    assert_status(permit_settle(four), GH_HELD);
    assert_int_equal(semaphore_stored(server, "arena").used, 4);
    semaphore_must_be_sound(server, "arena");
}

static void forgotten_permits_are_not_shown(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    leave_permits_that_are_forgotten(server, 5);
    game* a = game_start_ready(redis_server_address(server));
    gh_semaphore_look* look = GAME_NEW(a, gh_semaphore_look);
    assert_status(gh_semaphore_look_begin(look, ON_SEMAPHORE(a->client, gh_str_literal("arena"), 0), NULL, 0), GH_OK);
    GAME_UNTIL(gh_op_poll(&look->op) != GH_PENDING);
    assert_status(gh_op_poll(&look->op), GH_OK);
    assert_int_equal(look->limit, 10);
    assert_int_equal(look->used, 0);
}

/* Who is told that it is its turn may be dead, and nobody may ask again. */
static void turn_of_the_dead_does_not_stay_for_ever(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_permit* held = permit_hold_one(a, "arena", 1, 60 * SECOND_US);
    gh_permit* waiter = permit_want(b, "arena", 1, 60 * SECOND_US, 60 * SECOND_US);
    GAME_UNTIL(waiter->position == 1);
    b->asleep = true;
    assert_status(permit_give_back(held), GH_OK);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{semaphore:arena}:h"), 1); /* the turn */
    assert_true(redis_server_integer(server, "TTL gh:{semaphore:arena}:h") > 0);
}

static void foreign_keys_are_corrupt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    const char* const keys[] = {"s", "h"};
    for (int i = 0; i < 2; i++)
    {
        redis_server_do(server, "FLUSHDB");
        if (i == 1) permit_hold_one(a, "arena", 2, SECOND_US);
        redis_server_do(server, "DEL gh:{semaphore:arena}:%s", keys[i]);
        redis_server_do(server, "SET gh:{semaphore:arena}:%s nonsense", keys[i]);
        assert_status(permit_settle(permit_want(a, "arena", 2, SECOND_US, SECOND_US)), GH_CORRUPT);
        assert_string_equal(redis_server_text(server, "GET gh:{semaphore:arena}:%s", keys[i]), "nonsense");
        gh_semaphore_look* look = GAME_NEW(a, gh_semaphore_look);
        assert_status(gh_semaphore_look_begin(look, ON_SEMAPHORE(a->client, gh_str_literal("arena"), 0), NULL, 0),
                      GH_OK);
        GAME_UNTIL(gh_op_poll(&look->op) != GH_PENDING);
        assert_status(gh_op_poll(&look->op), GH_CORRUPT);
    }
}

TEST_FILE(semaphore_loss, cmocka_unit_test(clients_with_clocks_an_hour_apart_steal_nothing),
          cmocka_unit_test(fence_grows_when_the_servers_clock_goes_back),
          cmocka_unit_test(servers_clock_forward_frees_and_the_holder_learns_it),
          cmocka_unit_test(one_request_renews_a_hundred_permits),
          cmocka_unit_test(two_requests_renew_a_hundred_and_one), cmocka_unit_test(batches_bear_coming_and_going),
          cmocka_unit_test(renewal_goes_on_after_one_that_failed), cmocka_unit_test(renewal_ends_with_the_release),
          cmocka_unit_test(is_told_lost_while_the_server_is_away), cmocka_unit_test(is_told_lost_first_after_a_hitch),
          cmocka_unit_test(grant_that_is_later_than_its_lease_is_not_reported),
          cmocka_unit_test(release_that_comes_too_late_says_so), cmocka_unit_test(repeat_of_a_grant_has_its_fence),
          cmocka_unit_test(repeat_behind_the_last_fence_has_a_larger_one),
          cmocka_unit_test(release_refuses_what_comes_late), cmocka_unit_test(late_limit_undoes_no_younger_one),
          cmocka_unit_test(late_request_of_a_released_permit_takes_nothing), cmocka_unit_test(crash_leaks_no_permit),
          cmocka_unit_test(dead_waiters_are_dropped), cmocka_unit_test(waiter_that_missed_its_turn_stands_at_the_end),
          cmocka_unit_test(refusal_of_one_too_many_keeps_the_count),
          cmocka_unit_test(holders_learn_that_the_store_lost_its_data),
          cmocka_unit_test(state_that_vanished_grants_no_more_than_the_limit),
          cmocka_unit_test(forgotten_permits_are_free),
          cmocka_unit_test(forgotten_permits_are_free_while_the_servers_clock_is_behind),
          cmocka_unit_test(forgotten_permits_are_not_shown), cmocka_unit_test(turn_of_the_dead_does_not_stay_for_ever),
          cmocka_unit_test(foreign_keys_are_corrupt));
