/* Schedules and unschedules that clients set over one another: no copy of what is done undoes what was done since. */

#include "support/scene/refresher.h"
#include "support/server/proxy.h"
#include "support/server/store_script.h"

#include <stdio.h>
#include <string.h>

#define ROW       "itemX"
#define LONG_US   (600 * SECOND_US)
#define CODE_DONE 0
#define CODE_OLD  1
#define CODE_ASK  5
#define KNOWN_MAX 8u

typedef struct row_changes
{
    redis_server* server;
    const char* schedule;
    const char* unschedule;
    char keys[5][40]; /* as in PARTS */
    long long now_us; /* of the last reply */
} row_changes;

#define PARTS "dmtiv"

static row_changes row_changes_start(const redis_server_options* options)
{
    row_changes self = {.server = redis_server_start(options)};
    self.schedule = store_script(self.server, "rows/rows_schedule");
    self.unschedule = store_script(self.server, "rows/rows_unschedule");
    for (unsigned i = 0; i < sizeof(PARTS) - 1; i++)
        snprintf(self.keys[i], sizeof(self.keys[i]), "%s", row_key(ROW, PARTS[i]));
    return self;
}

/* 0: it unschedules. The code of one that says that it was told to ask again then. */
static long long row_set_again(row_changes* self, unsigned client, unsigned sequence, unsigned period,
                               long long seen_us)
{
    long long numbers[3];
    const char(*keys)[40] = (const char(*)[40])self->keys;
    redisReply* reply =
        period == 0 ? redis_server_command(self->server, "EVALSHA %s 4 %s %s %s %s %016x:%016x 9 0 " ROW " %llu",
                                           self->unschedule, keys[0], keys[1], keys[2], keys[4], client, sequence,
                                           (unsigned long long)seen_us)
                    : redis_server_command(self->server,
                                           "EVALSHA %s 4 %s %s %s %s %016x:%016x 9 0 " ROW " %u 6000000000 0 A %llu",
                                           self->schedule, keys[0], keys[1], keys[2], keys[3], client, sequence, period,
                                           (unsigned long long)seen_us);
    if (reply->type != REDIS_REPLY_STRING) fail_msg("%s", reply->str);
    assert_int_equal(redis_server_numbers(reply, numbers, 3), 3);
    self->now_us = numbers[2];
    freeReplyObject(reply);
    return numbers[1];
}

static long long row_set(row_changes* self, unsigned client, unsigned sequence, unsigned period)
{
    return row_set_again(self, client, sequence, period, 0);
}

/* 0: it is not scheduled. */
static unsigned row_period(redis_server* server)
{
    unsigned period = 0;
    const char* text = redis_server_text(server, "HGET %s " ROW, row_key(ROW, 'm'));
    if (text != NULL) assert_int_equal(sscanf(text, "%u", &period), 1);
    assert_int_equal(redis_server_text(server, "ZSCORE %s " ROW, row_key(ROW, 'd')) != NULL, text != NULL);
    return period;
}

static void copy_of_a_schedule_undoes_no_younger_one(void** state)
{
    (void)state;
    row_changes self = row_changes_start(NULL);
    assert_int_equal(row_set(&self, 1, 1, 1000), CODE_DONE);
    assert_int_equal(row_set(&self, 1, 2, 2000), CODE_DONE);
    assert_int_equal(redis_server_integer(self.server, "EXISTS %s", row_key(ROW, 't')), 0); /* nobody was set over */
    assert_int_equal(row_set(&self, 2, 1, 3000), CODE_DONE);
    for (unsigned sequence = 1; sequence <= 2; sequence++)
        assert_int_equal(row_set(&self, 1, sequence, 1000), CODE_OLD);
    assert_int_equal(row_set(&self, 2, 1, 3000), CODE_DONE); /* it is there */
    assert_int_equal(row_set(&self, 3, 1, 4000), CODE_DONE);
    for (unsigned client = 1; client <= 2; client++) assert_int_equal(row_set(&self, client, 1, 1000), CODE_OLD);
    assert_int_equal(row_period(self.server), 4000);
    assert_int_equal(row_set(&self, 1, 3, 5000), CODE_DONE); /* a new one is no copy */
    assert_int_equal(row_period(self.server), 5000);
    assert_in_range(redis_server_integer(self.server, "PTTL %s", row_key(ROW, 't')), 1, 1200000);
}

/* Of all who had scheduled it, not of the last one alone. */
static void copy_of_a_schedule_brings_no_row_back(void** state)
{
    (void)state;
    row_changes self = row_changes_start(NULL);
    assert_int_equal(row_set(&self, 1, 1, 1000), CODE_DONE);
    assert_int_equal(row_set(&self, 2, 1, 2000), CODE_DONE);
    assert_int_equal(row_set(&self, 3, 1, 0), CODE_DONE);
    for (unsigned client = 1; client <= 2; client++) assert_int_equal(row_set(&self, client, 1, 1000), CODE_OLD);
    assert_int_equal(row_set(&self, 4, 1, 0), 2); /* not there */
    for (unsigned client = 1; client <= 2; client++) assert_int_equal(row_set(&self, client, 1, 1000), CODE_OLD);
    assert_int_equal(row_period(self.server), 0);
    assert_int_equal(row_set(&self, 3, 1, 0), CODE_OLD);
    assert_int_equal(row_set(&self, 4, 1, 0), 2); /* the same answer again */
    assert_int_equal(row_set(&self, 5, 1, 3000), CODE_DONE);
    assert_int_equal(row_period(self.server), 3000);
}

static void copy_of_an_unschedule_takes_no_row_away(void** state)
{
    (void)state;
    row_changes self = row_changes_start(NULL);
    assert_int_equal(row_set(&self, 1, 1, 1000), CODE_DONE);
    assert_int_equal(row_set(&self, 2, 1, 0), CODE_DONE);
    assert_int_equal(row_set(&self, 1, 2, 1000), CODE_DONE);
    assert_int_equal(row_set(&self, 3, 1, 0), CODE_DONE);
    assert_int_equal(row_set(&self, 4, 1, 4000), CODE_DONE);
    assert_int_equal(row_set(&self, 2, 1, 0), CODE_OLD);
    assert_int_equal(row_set(&self, 3, 1, 0), CODE_DONE); /* scheduled again since */
    assert_int_equal(row_set(&self, 1, 2, 1000), CODE_OLD);
    assert_int_equal(row_period(self.server), 4000);
    assert_int_equal(row_set(&self, 2, 2, 0), CODE_DONE);
    assert_int_equal(row_period(self.server), 0);
}

/* Those who were set over last are known; whoever is not may be one of the others, and has to ask again. */
static void crowd_of_a_row_is_bounded_and_undoes_nothing(void** state)
{
    (void)state;
    enum
    {
        CROWD = 20
    };
    row_changes self = row_changes_start(NULL);
    long long first_us = 0;
    for (unsigned client = 1; client <= CROWD; client++)
    {
        unsigned period = client % 7 == 0 ? 0 : client;
        long long code = row_set(&self, client, 4, period);
        if (first_us == 0) first_us = self.now_us;
        assert_int_equal(code, client <= KNOWN_MAX + 2 ? CODE_DONE : CODE_ASK);
        if (code == CODE_ASK) assert_int_equal(row_set_again(&self, client, 4, period, self.now_us), CODE_DONE);
        assert_int_equal(row_period(self.server), period);
    }
    assert_in_range(redis_server_integer(self.server, "HSTRLEN %s " ROW, row_key(ROW, 't')), 1, 600);
    const char* text = redis_server_text(self.server, "HGET %s " ROW, row_key(ROW, 't'));
    assert_string_equal(strchr(strchr(text, ' ') + 1, ' ') + 1, strrchr(text, ' ') + 1); /* as scripts of before want */
    for (unsigned client = 1; client < CROWD - KNOWN_MAX - 1; client++)
    {
        assert_int_equal(row_set(&self, client, 4, 100), CODE_ASK);
        assert_int_equal(row_set_again(&self, client, 4, 0, first_us), CODE_ASK);
    }
    for (unsigned client = CROWD - KNOWN_MAX; client < CROWD; client++)
        assert_int_equal(row_set(&self, client, 4, 100), CODE_OLD);
    assert_int_equal(row_period(self.server), CROWD);
}

/* As it was written before there were others behind it, and when no copy can come any more. */
static void tombstones_of_before_and_old_ones(void** state)
{
    (void)state;
    redis_server_options options = {.clock = true};
    row_changes self = row_changes_start(&options);
    assert_int_equal(row_set(&self, 9, 1, 1000), CODE_DONE);
    char text[100];
    snprintf(text, sizeof(text), "%016x:%016x %lld %016x:%016x", 1, 5, self.now_us, 2, 5);
    redis_server_do(self.server, "HSET %s " ROW " %s", row_key(ROW, 't'), text);
    assert_int_equal(row_set(&self, 1, 5, 0), CODE_DONE); /* scheduled again since */
    for (unsigned sequence = 4; sequence <= 5; sequence++)
        assert_int_equal(row_set(&self, 2, sequence, 2000), CODE_OLD);
    assert_int_equal(row_set(&self, 1, 4, 0), CODE_OLD);
    assert_int_equal(row_period(self.server), 1000);
    redis_server_shift_clock(self.server, 121 * (int64_t)SECOND_US);
    assert_int_equal(row_set(&self, 3, 1, 3000), CODE_DONE);
    assert_int_equal(redis_server_integer(self.server, "HSTRLEN %s " ROW, row_key(ROW, 't')),
                     33 + 1 + 16 + 1 + 33 + 1 + 33 + 1 + 16); /* one is known besides */
}

static void nonsense_behind_a_tombstone_is_corrupt(void** state)
{
    (void)state;
    static const char* const texts[] = {
        "", "x", "0:0 5", "0:0 5 - x", "0:0 5 -,*:", "0:0 5 -,,1:2:3", "0:0 5 -,1:2", "- 5 -"};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(row_schedule(a, ROW, LONG_US), GH_OK);
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
    {
        redis_server_do(server, "HSET %s " ROW " %b", row_key(ROW, 't'), texts[i], strlen(texts[i]));
        assert_status(row_schedule(a, ROW, 2 * LONG_US), GH_CORRUPT);
        assert_status(row_unschedule(a, ROW), GH_CORRUPT);
        assert_int_equal(row_period(server), LONG_US);
    }
    assert_int_equal(game_stats(a).links_lost, 0);
}

/* ---- whole clients --------------------------------------------------------------------------------------------- */

/* The first try gets stuck on its way, the second is carried out; and the first comes in time. */
static void schedule_that_hangs_undoes_nothing_of_others(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_patient(proxy_address(proxy));
    game* b = game_start_ready(redis_server_address(server));
    game* c = game_start_ready(redis_server_address(server));
    GAME_UNTIL(gh_client_ready(a->client));
    assert_status(row_schedule(a, "other", LONG_US), GH_OK); /* the script is loaded */
    gh_row_schedule* op = GAME_NEW(a, gh_row_schedule);
    gh_row_schedule_config config = gh_row_schedule_config_default();
    config.timeout_us = 60 * SECOND_US;
    proxy_arm(proxy, PROXY_REQUEST, 0, PROXY_HOLD);
    assert_status(gh_row_schedule_begin(op, a->client, gh_str_literal(ROW), &config), GH_OK);
    GAME_UNTIL(proxy_fired(proxy) == 1);
    a->ahead_us += 31 * (int64_t)SECOND_US; /* no answer: another link, and the store's time is asked for anew */
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    assert_status(gh_op_poll(&op->op), GH_OK);
    assert_status(row_schedule(b, ROW, LONG_US), GH_OK);
    assert_status(row_unschedule(c, ROW), GH_OK);
    long long calls = redis_server_calls(server, "evalsha");
    proxy_release(proxy);
    WAIT_FOR(redis_server_calls(server, "evalsha") > calls);
    assert_int_equal(row_period(server), 0);
}

/* Who has to ask again asks at once. */
static void client_that_a_row_does_not_know_asks_again(void** state)
{
    (void)state;
    row_changes self = row_changes_start(NULL);
    game* a = game_start_ready(redis_server_address(self.server));
    game* b = game_start_ready(redis_server_address(self.server));
    for (unsigned client = 1; client <= KNOWN_MAX + 2; client++)
        assert_int_equal(row_set(&self, client, 1, client), CODE_DONE);
    uint64_t sent = game_stats(a).requests;
    assert_status(row_schedule(a, ROW, LONG_US), GH_OK);
    assert_in_range(game_stats(a).requests - sent, 2, 3); /* one may have found no script */
    assert_int_equal(row_period(self.server), LONG_US);
    assert_status(row_unschedule(b, ROW), GH_OK);
    assert_int_equal(row_period(self.server), 0);
    assert_int_equal(row_set(&self, KNOWN_MAX + 2, 1, 1), CODE_OLD);
}

TEST_FILE(rows_set_over, cmocka_unit_test(copy_of_a_schedule_undoes_no_younger_one),
          cmocka_unit_test(copy_of_a_schedule_brings_no_row_back),
          cmocka_unit_test(copy_of_an_unschedule_takes_no_row_away),
          cmocka_unit_test(crowd_of_a_row_is_bounded_and_undoes_nothing),
          cmocka_unit_test(tombstones_of_before_and_old_ones), cmocka_unit_test(nonsense_behind_a_tombstone_is_corrupt),
          cmocka_unit_test(schedule_that_hangs_undoes_nothing_of_others),
          cmocka_unit_test(client_that_a_row_does_not_know_asks_again));
