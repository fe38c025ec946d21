/* Tests that the store can be read and shared by sdk/KEYS.md alone: locks between Guildhall and redis-cli,
   hints, and audits of every state with hiredis. */

#include "support/command.h"
#include "support/scene/locks.h"
#include "support/server/foreign.h"
#include "support/random.h"
#include "support/server/redis_server.h"

#include "client/waiter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_US (60 * SECOND_US)
#define HOUR_MS 3600000

/* Codes of lock_acquire.lua, lock_renew.lua and lock_release.lua. */
enum
{
    GRANTED = 0,
    WAITING = 1,
    BUSY = 2,
    RENEWED = 0,
    LOST = 1,
    RELEASED = 0
};

/* 16 hex digits, valid until the next call but three. */
static const char* hex(uint64_t number)
{
    static char texts[4][17];
    static unsigned next;
    char* text = texts[next++ % 4];
    snprintf(text, sizeof(texts[0]), "%016" PRIx64, number);
    return text;
}

static gh_lock* want_lock(game* from, const char* name, uint64_t wait_us)
{
    return lock_begun(from, name, LONG_US, wait_us);
}

static void give_back(gh_lock* lock)
{
    gh_lock_release(lock);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_OK);
}

/* ---- one lock, two kinds of clients -------------------------------------------------------------------- */

static void lock_of_redis_cli_is_respected(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    foreign_client cli = foreign_start(server, UINT64_C(0xd3b07384d113edec));
    foreign_grant grant = foreign_acquire(&cli, "sword", 1, LONG_US, 0);
    assert_int_equal(grant.code, GRANTED);
    assert_int_equal(grant.sequence, 1);
    gh_lock* lock = want_lock(a, "sword", 0);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    while (gh_op_poll(&lock->op) == GH_TIMEOUT) /* the machine stood still; it may be asked again */
    {
        lock = want_lock(a, "sword", 0);
        GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    }
    assert_status(gh_op_poll(&lock->op), GH_BUSY);

    lock = want_lock(a, "sword", LONG_US);
    GAME_UNTIL(lock->position == 1);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    uint64_t hints = game_stats(a).hints;
    assert_int_equal(foreign_release(&cli, "sword", 1), RELEASED);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    assert_true(lock->fence > (uint64_t)grant.fence);
    assert_int_equal(game_stats(a).hints, hints + 1);
}

static void lock_of_guildhall_is_respected(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    foreign_client cli = foreign_start(server, UINT64_C(0xd3b07384d113edec));
    gh_lock* lock = want_lock(a, "castle gate", LONG_US);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    assert_int_equal(foreign_acquire(&cli, "castle%20gate", 1, LONG_US, 0).code, BUSY);
    foreign_grant waiting = foreign_acquire(&cli, "castle%20gate", 2, LONG_US, LONG_US);
    assert_int_equal(waiting.code, WAITING);
    assert_int_equal(waiting.position, 1);
    uint64_t fence = lock->fence;
    give_back(lock);

    lock = want_lock(a, "castle gate", LONG_US); /* behind the one that waited */
    GAME_UNTIL(lock->position == 1);
    foreign_grant grant = foreign_acquire(&cli, "castle%20gate", 2, LONG_US, LONG_US);
    assert_int_equal(grant.code, GRANTED);
    assert_true((uint64_t)grant.fence > fence);
    assert_int_equal(foreign_renew(&cli, "castle%20gate", 2, LONG_US), RENEWED);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    assert_int_equal(foreign_release(&cli, "castle%20gate", 2), RELEASED);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    assert_true(lock->fence > (uint64_t)grant.fence);
    assert_int_equal(foreign_renew(&cli, "castle%20gate", 2, LONG_US), LOST);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
}

/* False: a slow machine let the first one's turn pass before it claimed it, and nothing can be said. */
static bool wait_in_one_queue(game* a, foreign_client* first, foreign_client* last, const char* name)
{
    gh_lock* owner = want_lock(a, name, LONG_US);
    GAME_UNTIL(gh_op_poll(&owner->op) == GH_HELD);
    assert_int_equal(foreign_acquire(first, name, 1, LONG_US, LONG_US).position, 1);
    gh_lock* middle = want_lock(a, name, LONG_US);
    GAME_UNTIL(middle->position == 2);
    assert_int_equal(foreign_acquire(last, name, 1, LONG_US, LONG_US).position, 3);
    uint64_t begin_us = wait_now_us();
    give_back(owner);
    long long early = foreign_acquire(last, name, 1, LONG_US, LONG_US).code;
    long long claim = foreign_acquire(first, name, 1, LONG_US, LONG_US).code;
    if (wait_now_us() - begin_us >= GH_CLAIM_WINDOW_US)
    {
        gh_op_cancel(&middle->op);
        GAME_UNTIL(gh_op_poll(&middle->op) != GH_PENDING && gh_op_poll(&middle->op) != GH_HELD);
        return false;
    }
    assert_int_equal(early, WAITING);
    assert_int_equal(claim, GRANTED);
    assert_int_equal(foreign_release(first, name, 1), RELEASED);
    GAME_UNTIL(gh_op_poll(&middle->op) == GH_HELD);
    assert_int_equal(foreign_acquire(last, name, 1, LONG_US, LONG_US).code, WAITING);
    give_back(middle);
    assert_int_equal(foreign_acquire(last, name, 1, LONG_US, LONG_US).code, GRANTED);
    return true;
}

static void both_kinds_wait_in_one_queue(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    foreign_client first = foreign_start(server, UINT64_C(0x1111111111111111));
    foreign_client last = foreign_start(server, UINT64_C(0x2222222222222222));
    uint64_t end_us = wait_cap_us();
    char name[24] = "sword0";
    for (int i = 1; !wait_in_one_queue(a, &first, &last, name); i++)
    {
        if (wait_now_us() >= end_us) fail_msg("%d times the turn passed before it was claimed", i);
        snprintf(name, sizeof(name), "sword%d", i);
    }
}

/* The page's way to free a lock by hand. */
static void lock_is_freed_by_hand(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    foreign_client cli = foreign_start(server, 1);
    gh_lock* owner = GAME_NEW(a, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = 2 * SECOND_US;
    assert_status(gh_lock_begin(owner, a->client, gh_str_literal("sword"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&owner->op) == GH_HELD);
    gh_lock* waiter = want_lock(b, "sword", LONG_US);
    GAME_UNTIL(waiter->position == 1);
    uint64_t client;
    uint64_t sequence;
    const char* stored = redis_server_text(server, "GET gh:{lock:sword}:s");
    assert_int_equal(sscanf(stored, "%16" SCNx64 ":%16" SCNx64 " ", &client, &sequence), 2);
    cli.id = client;
    assert_int_equal(foreign_release(&cli, "sword", sequence), RELEASED);
    GAME_UNTIL(gh_op_poll(&waiter->op) == GH_HELD && gh_op_poll(&owner->op) != GH_HELD);
    assert_status(gh_op_poll(&owner->op), GH_LOST);
    assert_true(waiter->fence > owner->fence);
}

/* fenced.lua in front of a text of one's own, as the page says. */
static void fence_guards_a_foreign_write(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    char digest[FOREIGN_DIGEST_SIZE];
    char arguments[256];
    char out[128];
    foreign_load(server, digest, "command/fenced.lua command/command.lua");
    gh_lock* lock = want_lock(a, "sword", LONG_US);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    const char* line = "EVALSHA %s 1 'gh:{lock:sword}:s' %" PRIu64 " INCR '{lock:sword}:gold'";
    snprintf(arguments, sizeof(arguments), line, digest, lock->fence);
    foreign_say(server, out, sizeof(out), arguments);
    assert_string_equal(out, "1\n");
    give_back(lock);
    foreign_say(server, out, sizeof(out), arguments);
    assert_int_equal(strncmp(out, "FENCED ", 7), 0);
    assert_string_equal(redis_server_text(server, "GET {lock:sword}:gold"), "1");
}

/* ---- hints --------------------------------------------------------------------------------------------- */

static redisContext* subscribe(redis_server* server, uint64_t client)
{
    struct timeval cap = {20, 0};
    redisContext* context = redisConnectUnixWithTimeout(redis_server_address(server) + strlen("unix:"), cap);
    assert_true(context != NULL && context->err == 0);
    assert_int_equal(redisSetTimeout(context, cap), REDIS_OK);
    redisReply* reply = redisCommand(context, "SUBSCRIBE gh:wake:%s", hex(client));
    assert_non_null(reply);
    freeReplyObject(reply);
    return context;
}

static void expect_hint(redisContext* context, const char* hint)
{
    redisReply* reply = NULL;
    assert_int_equal(redisGetReply(context, (void**)&reply), REDIS_OK);
    assert_int_equal(reply->elements, 3);
    assert_string_equal(reply->element[0]->str, "message");
    assert_string_equal(reply->element[2]->str, hint);
    freeReplyObject(reply);
}

static void hints_are_as_described(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    foreign_client one = foreign_start(server, UINT64_C(0x00000000000000f1));
    foreign_client two = foreign_start(server, UINT64_C(0xf200000000000000));
    redisContext* to_one = subscribe(server, one.id);
    redisContext* to_two = subscribe(server, two.id);
    gh_lock* lock = want_lock(a, "sword", LONG_US);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    assert_int_equal(foreign_acquire(&one, "sword", 0xabc, LONG_US, LONG_US).position, 1);
    assert_int_equal(foreign_acquire(&two, "sword", 7, LONG_US, LONG_US).position, 2);
    give_back(lock);
    expect_hint(to_one, "0000000000000abc");  /* its turn */
    expect_hint(to_two, "0000000000000007w"); /* to ask when that turn is over */
    redisFree(to_one);
    redisFree(to_two);
}

/* ---- audits -------------------------------------------------------------------------------------------- */

typedef struct stored_state
{
    char token[40];
    uint64_t fence;
    uint64_t expiry_us;
    char state;
    unsigned waiters;
} stored_state;

static stored_state read_state(redis_server* server, const char* encoded_name)
{
    stored_state self;
    char rest;
    const char* text = redis_server_text(server, "GET gh:{lock:%s}:s", encoded_name);
    assert_non_null(text);
    if (sscanf(text, "%39s %" SCNu64 " %" SCNu64 " %c %u%c", self.token, &self.fence, &self.expiry_us, &self.state,
               &self.waiters, &rest) != 5)
        fail_msg("not laid out as described: %s", text);
    return self;
}

static uint64_t store_now_us(redis_server* server)
{
    redisReply* reply = redis_server_command(server, "TIME");
    uint64_t now_us =
        strtoull(reply->element[0]->str, NULL, 10) * SECOND_US + strtoull(reply->element[1]->str, NULL, 10);
    freeReplyObject(reply);
    return now_us;
}

static void assert_token_of(const char* token, const game* owner)
{
    assert_int_equal(strlen(token), 33);
    assert_int_equal(strspn(token, "0123456789abcdef"), 16);
    assert_int_equal(token[16], ':');
    assert_int_equal(strspn(token + 17, "0123456789abcdef"), 16);
    assert_int_equal(strncmp(token, hex(gh_client_id(owner->client)), 16), 0);
}

static void audit_waiters(redis_server* server, game* waiting, size_t count)
{
    redisReply* queue = redis_server_command(server, "ZRANGE gh:{lock:sword}:q 0 -1 WITHSCORES");
    uint64_t last = 0;
    assert_int_equal(queue->elements, 2 * count);
    for (size_t i = 0; i < count; i++)
    {
        uint64_t arrival = strtoull(queue->element[2 * i + 1]->str, NULL, 10);
        assert_token_of(queue->element[2 * i]->str, waiting);
        assert_true(arrival > last && arrival <= store_now_us(server) + count);
        last = arrival;
    }
    freeReplyObject(queue);
    assert_int_equal(redis_server_integer(server, "HLEN gh:{lock:sword}:c"), 1);
    uint64_t alive =
        (uint64_t)redis_server_integer(server, "HGET gh:{lock:sword}:c %s", hex(gh_client_id(waiting->client)));
    assert_true(alive > store_now_us(server));
    assert_in_range(redis_server_integer(server, "PTTL gh:{lock:sword}:q"), HOUR_MS / 2, HOUR_MS);
    assert_in_range(redis_server_integer(server, "PTTL gh:{lock:sword}:c"), HOUR_MS, 2 * HOUR_MS);
}

static void states_are_laid_out_as_described(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    uint64_t before_us = store_now_us(server);
    gh_lock* owner = want_lock(a, "sword", LONG_US);
    GAME_UNTIL(gh_op_poll(&owner->op) == GH_HELD);
    stored_state now = read_state(server, "sword");
    assert_token_of(now.token, a);
    assert_int_equal(now.state, 'h');
    assert_int_equal(now.fence, owner->fence);
    assert_in_range(now.expiry_us, before_us + LONG_US, store_now_us(server) + LONG_US);
    assert_int_equal(now.waiters, 0);
    assert_in_range(redis_server_integer(server, "PTTL gh:{lock:sword}:s"), HOUR_MS / 2, HOUR_MS);

    gh_lock* waiters[3];
    for (unsigned i = 0; i < 3; i++)
    {
        waiters[i] = want_lock(b, "sword", LONG_US);
        GAME_UNTIL(waiters[i]->position == i + 1);
    }
    assert_int_equal(read_state(server, "sword").waiters, 3);
    audit_waiters(server, b, 3);

    b->asleep = true;
    give_back(owner);
    now = read_state(server, "sword");
    assert_token_of(now.token, b);
    assert_int_equal(now.state, 'r');
    assert_true(now.fence > owner->fence);
    assert_true(now.expiry_us > before_us && now.expiry_us <= store_now_us(server) + SECOND_US / 5);
    assert_int_equal(now.waiters, 2);
    b->asleep = false;
    for (unsigned i = 0; i < 3; i++)
    {
        GAME_UNTIL(gh_op_poll(&waiters[i]->op) == GH_HELD);
        give_back(waiters[i]);
    }
    now = read_state(server, "sword");
    assert_token_of(now.token, b);
    assert_int_equal(now.state, 'f');
    assert_int_equal(now.fence, waiters[2]->fence);
    assert_int_equal(now.expiry_us, 0);
    assert_int_equal(now.waiters, 0);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{lock:sword}:q"), 0);
}

static void long_leases_keep_the_state_longer(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = GAME_NEW(a, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = GH_LOCK_LEASE_MAX_US;
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    assert_in_range(redis_server_integer(server, "PTTL gh:{lock:sword}:s"), 4 * HOUR_MS - HOUR_MS / 2, 4 * HOUR_MS);
}

/* A waiter may wait for a day. As long as it asks, its place in the queue must not go away. */
static void queue_lives_as_long_as_its_waiters(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    foreign_client one = foreign_start(server, 1);
    foreign_client two = foreign_start(server, 2);
    assert_int_equal(foreign_acquire(&one, "sword", 1, LONG_US, LONG_US).code, GRANTED);
    assert_int_equal(foreign_acquire(&two, "sword", 1, LONG_US, LONG_US).code, WAITING);
    redis_server_do(server, "PEXPIRE gh:{lock:sword}:q %d", HOUR_MS / 10); /* as if it had waited for most of an hour */
    redis_server_do(server, "PEXPIRE gh:{lock:sword}:c %d", HOUR_MS / 10);
    redis_server_do(server, "PEXPIRE gh:{lock:sword}:s %d", HOUR_MS / 10);
    assert_int_equal(foreign_acquire(&two, "sword", 1, LONG_US, LONG_US).position, 1);
    assert_true(redis_server_integer(server, "PTTL gh:{lock:sword}:c") > HOUR_MS / 2);
    assert_true(redis_server_integer(server, "PTTL gh:{lock:sword}:q") > HOUR_MS / 2);
}

/* ---- names, scripts, epoch ----------------------------------------------------------------------------- */

/* By the words of the page, not by the code. */
static void encode(char* out, const char* name, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    for (size_t i = 0; i < size; i++)
    {
        bool stays = name[i] != 0 && strchr(plain, name[i]) != NULL;
        if (stays) *out++ = name[i];
        else out += sprintf(out, "%%%02x", (unsigned char)name[i]);
    }
    *out = 0;
}

static void names_are_encoded_as_described(void** state)
{
    (void)state;
    enum
    {
        COUNT = 512
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* locks = GAME_NEW_ARRAY(a, gh_lock, COUNT);
    char* names = GAME_NEW_ARRAY(a, char, COUNT* GH_NAME_SIZE_MAX);
    size_t sizes[COUNT];
    random_stream random = random_for_test("names");
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = config.wait_us = 600 * SECOND_US; /* all are held at the same time, however slow that is */
    for (size_t i = 0; i < COUNT; i++)                  /* each byte alone, then any bytes of any size */
    {
        sizes[i] = i < 256 ? 1 : (size_t)random_between(&random, 2, GH_NAME_SIZE_MAX);
        char* name = names + i * GH_NAME_SIZE_MAX;
        random_fill(&random, name, sizes[i]);
        if (i < 256) name[0] = (char)i;
        assert_status(gh_lock_begin(&locks[i], a->client, gh_str_make(name, sizes[i]), &config), GH_OK);
    }
    for (size_t i = 0; i < COUNT; i++) GAME_UNTIL(gh_op_poll(&locks[i].op) == GH_HELD);
    assert_int_equal(redis_server_keys(server), COUNT + 1); /* and the epoch */
    for (size_t i = 0; i < COUNT; i++)
    {
        char encoded[3 * GH_NAME_SIZE_MAX + 1];
        encode(encoded, names + i * GH_NAME_SIZE_MAX, sizes[i]);
        assert_int_equal(read_state(server, encoded).fence, locks[i].fence);
    }
}

static void other_prefixes_are_other_worlds(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.prefix = gh_str_literal("fleet-2.test_x");
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_with(&config);
    gh_lock* one = want_lock(a, "sword", 0);
    gh_lock* two = want_lock(b, "sword", 0);
    GAME_UNTIL(gh_op_poll(&one->op) == GH_HELD && gh_op_poll(&two->op) == GH_HELD);
    assert_int_equal(redis_server_integer(server, "EXISTS fleet-2.test_x:{lock:sword}:s fleet-2.test_x:epoch"), 2);
    GAME_UNTIL(gh_client_link_state(b->client, GH_LINK_WAKE) == GH_LINK_READY);
    redisReply* channels =
        redis_server_command(server, "PUBSUB CHANNELS fleet-2.test_x:wake:%s", hex(gh_client_id(b->client)));
    assert_int_equal(channels->elements, 1);
    freeReplyObject(channels);
}

typedef struct epoch_key
{
    char text[128];
    uint64_t birth_us;
    uint64_t generation;
} epoch_key;

static epoch_key read_epoch(redis_server* server)
{
    epoch_key self;
    unsigned layout;
    char server_id[64];
    snprintf(self.text, sizeof(self.text), "%s", redis_server_text(server, "GET gh:epoch"));
    if (sscanf(self.text, "%" SCNu64 " %" SCNu64 " %u %63s", &self.birth_us, &self.generation, &layout, server_id) != 4)
        fail_msg("the epoch is %s", self.text);
    assert_int_equal(layout, 2);
    assert_int_equal(strlen(server_id), 32);
    return self;
}

static void epoch_is_written_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    uint64_t before_us = store_now_us(server);
    game* a = game_start_ready(redis_server_address(server));
    epoch_key first = read_epoch(server);
    assert_in_range(first.birth_us, before_us, store_now_us(server));
    assert_int_equal(first.generation, first.birth_us);
    game_start_ready(redis_server_address(server));
    assert_string_equal(read_epoch(server).text, first.text);
    redis_server_restart_empty(server);
    GAME_UNTIL(game_stats(a).store_resets == 1);
    assert_true(read_epoch(server).birth_us > first.birth_us);
}

TEST_FILE(keys, cmocka_unit_test(lock_of_redis_cli_is_respected), cmocka_unit_test(lock_of_guildhall_is_respected),
          cmocka_unit_test(both_kinds_wait_in_one_queue), cmocka_unit_test(lock_is_freed_by_hand),
          cmocka_unit_test(fence_guards_a_foreign_write), cmocka_unit_test(hints_are_as_described),
          cmocka_unit_test(states_are_laid_out_as_described), cmocka_unit_test(long_leases_keep_the_state_longer),
          cmocka_unit_test(queue_lives_as_long_as_its_waiters), cmocka_unit_test(names_are_encoded_as_described),
          cmocka_unit_test(other_prefixes_are_other_worlds), cmocka_unit_test(epoch_is_written_once));
