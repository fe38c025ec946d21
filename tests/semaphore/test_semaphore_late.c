/* Copies of limits that hang on a link which was given up, and come when others have set another: by the script, and by
   whole clients. */

#include "support/scene/permits.h"
#include "support/server/proxy.h"
#include "support/server/store_script.h"

#include <stdio.h>
#include <string.h>

#define PAST      "gh:{semaphore:arena}:w"
#define KEYS      "gh:{semaphore:arena}:s gh:{semaphore:arena}:h gh:{semaphore:arena}:q gh:{semaphore:arena}:c " PAST
#define CODE_SET  0
#define CODE_OLD  1
#define CODE_ASK  5
#define KNOWN_MAX 8u

typedef struct limits
{
    redis_server* server;
    const char* digest;
    long long now_us; /* of the last reply */
} limits;

static limits limits_start(const redis_server_options* options)
{
    limits self = {.server = redis_server_start(options)};
    self.digest = store_script(self.server, "semaphore/semaphore_limit");
    return self;
}

/* The code of one that says that it was told so. */
static long long limit_set_again(limits* self, unsigned client, unsigned sequence, unsigned limit, long long seen_us)
{
    long long numbers[7];
    redisReply* reply =
        redis_server_command(self->server, "EVALSHA %s 5 " KEYS " %016x:%016x %u 200000 %u 0 %llu", self->digest,
                             client, sequence, sequence, limit, (unsigned long long)seen_us);
    if (reply->type != REDIS_REPLY_STRING) fail_msg("%s", reply->str);
    assert_int_equal(redis_server_numbers(reply, numbers, 7), 7);
    assert_int_equal(numbers[0], sequence);
    self->now_us = numbers[6];
    freeReplyObject(reply);
    return numbers[1];
}

static long long limit_set(limits* self, unsigned client, unsigned sequence, unsigned limit)
{
    return limit_set_again(self, client, sequence, limit, 0);
}

static unsigned limit_of(redis_server* server)
{
    return semaphore_stored(server, "arena").limit;
}

/* However often it comes, whatever others have set since, and whether it was the last of its client or not. */
static void copy_of_a_limit_undoes_no_younger_one(void** state)
{
    (void)state;
    limits self = limits_start(NULL);
    assert_int_equal(limit_set(&self, 1, 1, 5), CODE_SET);
    assert_int_equal(redis_server_integer(self.server, "EXISTS " PAST), 0); /* nobody was set over */
    assert_int_equal(limit_set(&self, 1, 1, 5), CODE_SET);
    assert_int_equal(limit_set(&self, 1, 2, 6), CODE_SET);
    assert_int_equal(redis_server_integer(self.server, "EXISTS " PAST), 0); /* nor by another */
    assert_int_equal(limit_set(&self, 2, 1, 7), CODE_SET);
    for (unsigned sequence = 1; sequence <= 2; sequence++) assert_int_equal(limit_set(&self, 1, sequence, 5), CODE_OLD);
    assert_int_equal(limit_set(&self, 3, 9, 8), CODE_SET);
    assert_int_equal(limit_set(&self, 1, 2, 6), CODE_OLD);
    assert_int_equal(limit_set(&self, 2, 1, 7), CODE_OLD);
    assert_int_equal(limit_of(self.server), 8);
    assert_int_equal(limit_set(&self, 1, 3, 9), CODE_SET); /* a new one is no copy */
    assert_int_equal(limit_set(&self, 3, 9, 8), CODE_OLD);
    assert_int_equal(limit_of(self.server), 9);
    assert_in_range(redis_server_integer(self.server, "PTTL " PAST), 1, 120000);
}

/* Those who were set over last are known; whoever is not may be one of the others, and has to ask again. */
static void crowd_of_setters_is_bounded_and_undoes_nothing(void** state)
{
    (void)state;
    enum
    {
        CROWD = 20
    };
    limits self = limits_start(NULL);
    long long first_us = 0;
    for (unsigned client = 1; client <= CROWD; client++)
    {
        long long code = limit_set(&self, client, 4, client);
        assert_int_equal(code, client <= KNOWN_MAX + 2 ? CODE_SET : CODE_ASK);
        if (first_us == 0) first_us = self.now_us;
        if (code == CODE_ASK) assert_int_equal(limit_set_again(&self, client, 4, client, self.now_us), CODE_SET);
    }
    assert_in_range(redis_server_integer(self.server, "STRLEN " PAST), 1, 500);
    for (unsigned client = 1; client < CROWD; client++)
    {
        assert_int_equal(limit_set(&self, client, 4, 100 + client), CROWD - client <= KNOWN_MAX ? CODE_OLD : CODE_ASK);
        if (CROWD - client > KNOWN_MAX) /* nor does what it was told before help a copy */
            assert_int_equal(limit_set_again(&self, client, 4, 100 + client, first_us), CODE_ASK);
    }
    assert_int_equal(limit_of(self.server), CROWD);
    assert_int_equal(limit_set_again(&self, CROWD + 1, 1, 50, self.now_us), CODE_SET);
    assert_int_equal(limit_of(self.server), 50);
}

/* No copy can have a time to live as long as that. */
static void who_was_set_over_long_ago_is_forgotten(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    limits self = limits_start(&options);
    for (unsigned client = 1; client <= KNOWN_MAX + 2; client++)
        assert_int_equal(limit_set(&self, client, 1, client), CODE_SET);
    assert_int_equal(limit_set(&self, 99, 1, 99), CODE_ASK);
    assert_non_null(strchr(redis_server_text(self.server, "GET " PAST), '*'));
    redis_server_do(self.server, "PERSIST " PAST);
    redis_server_shift_clock(self.server, 121 * (int64_t)SECOND_US);
    assert_int_equal(limit_set(&self, 99, 1, 99), CODE_SET);
    const char* past = redis_server_text(self.server, "GET " PAST);
    assert_int_equal(strlen(past), 1 + 33 + 1 + 16);                 /* one */
    redis_server_shift_clock(self.server, 119 * (int64_t)SECOND_US); /* it goes back by a little */
    assert_int_equal(limit_set(&self, KNOWN_MAX + 2, 1, 1), CODE_OLD);
}

static void nonsense_is_corrupt_and_nothing_is_set(void** state)
{
    (void)state;
    static const char* const texts[] = {"x", ",1:2", ",*:", ",1:2:3:4x", ",,1:1:1", " 1:1:1"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_semaphore_limit* op = GAME_NEW(a, gh_semaphore_limit);
    semaphore_set_limit(a, "arena", 3);
    for (unsigned i = 0; i <= sizeof(texts) / sizeof(texts[0]); i++)
    {
        char text[16 * 64] = "";
        for (unsigned n = 0; n < 16; n++) strcat(text, ",0000000000000001:0000000000000001:1000000000000000");
        const char* planted = i < sizeof(texts) / sizeof(texts[0]) ? texts[i] : text;
        redis_server_do(server, "SET " PAST " %b", planted, strlen(planted));
        assert_status(gh_semaphore_limit_begin(op, ON_SEMAPHORE(a->client, gh_str_of("arena"), 0), 4), GH_OK);
        GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
        assert_status(gh_op_poll(&op->op), GH_CORRUPT);
        assert_int_equal(limit_of(server), 3);
    }
    assert_int_equal(game_stats(a).links_lost, 0);
}

/* ---- whole clients --------------------------------------------------------------------------------------------- */

/* The first try gets stuck on its way, the second is carried out; and the first comes in time. */
static void limit_that_hangs_undoes_nothing_of_others(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_patient(proxy_address(proxy));
    game* b = game_start_ready(redis_server_address(server));
    GAME_UNTIL(gh_client_ready(a->client));
    semaphore_set_limit(a, "gate", 2); /* the script is loaded */
    gh_semaphore_limit* op = GAME_NEW(a, gh_semaphore_limit);
    proxy_arm(proxy, PROXY_REQUEST, 0, PROXY_HOLD);
    const gh_semaphore* arena = ON_SEMAPHORE_WITHIN(a->client, gh_str_of("arena"), 60 * SECOND_US);
    assert_status(gh_semaphore_limit_begin(op, arena, 5), GH_OK);
    GAME_UNTIL(proxy_fired(proxy) == 1);
    a->ahead_us += 31 * (int64_t)SECOND_US; /* no answer: another link, and the store's time is asked for anew */
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    assert_status(gh_op_poll(&op->op), GH_OK);
    semaphore_set_limit(b, "arena", 7);
    long long calls = redis_server_calls(server, "evalsha");
    proxy_release(proxy);
    WAIT_FOR(redis_server_calls(server, "evalsha") > calls);
    assert_int_equal(limit_of(server), 7);
}

/* Whoever was told UNKNOWN need not fear it any more, even where an answer may take much longer than that. */
static void nothing_is_set_behind_the_end(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_patient(proxy_address(proxy));
    game* b = game_start_ready(redis_server_address(server));
    GAME_UNTIL(gh_client_ready(a->client));
    semaphore_set_limit(a, "gate", 2); /* the script is loaded */
    semaphore_set_limit(b, "arena", 7);
    gh_semaphore_limit* op = GAME_NEW(a, gh_semaphore_limit);
    proxy_arm(proxy, PROXY_REQUEST, 0, PROXY_HOLD);
    const gh_semaphore* arena = ON_SEMAPHORE_WITHIN(a->client, gh_str_of("arena"), SECOND_US / 10);
    assert_status(gh_semaphore_limit_begin(op, arena, 5), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    assert_status(gh_op_poll(&op->op), GH_UNKNOWN);
    long long calls = redis_server_calls(server, "evalsha");
    proxy_release(proxy);
    WAIT_FOR(redis_server_calls(server, "evalsha") > calls);
    assert_int_equal(limit_of(server), 7);
}

/* Who has to ask again asks at once. */
static void client_that_is_not_known_asks_again(void** state)
{
    (void)state;
    limits self = limits_start(NULL);
    game* a = game_start_ready(redis_server_address(self.server));
    for (unsigned client = 1; client <= KNOWN_MAX + 2; client++)
        assert_int_equal(limit_set(&self, client, 1, client), CODE_SET);
    uint64_t sent = game_stats(a).requests;
    gh_semaphore_limit* op = semaphore_set_limit(a, "arena", 77);
    assert_int_equal(op->limit, 77);
    assert_int_equal(limit_of(self.server), 77);
    assert_in_range(game_stats(a).requests - sent, 2, 3); /* one may have found no script */
    assert_int_equal(limit_set(&self, KNOWN_MAX + 2, 1, 1), CODE_OLD);
}

TEST_FILE(semaphore_late, cmocka_unit_test(copy_of_a_limit_undoes_no_younger_one),
          cmocka_unit_test(crowd_of_setters_is_bounded_and_undoes_nothing),
          cmocka_unit_test(who_was_set_over_long_ago_is_forgotten),
          cmocka_unit_test(nonsense_is_corrupt_and_nothing_is_set),
          cmocka_unit_test(limit_that_hangs_undoes_nothing_of_others), cmocka_unit_test(nothing_is_set_behind_the_end),
          cmocka_unit_test(client_that_is_not_known_asks_again));
