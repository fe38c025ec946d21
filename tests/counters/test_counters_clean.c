/* The cleaning of counters: one cleaner among all servers, at each precision's own pace, and what it leaves.
 */

#include "support/faults/counting.h"
#include "support/scene/keys.h"
#include "support/server/scripted.h"

#include <string.h>

static gh_counters_config cleaning_config(void)
{
    gh_counters_config config = counting_config();
    config.clean_us = SECOND_US / 10;
    config.precision_count = 3; /* 1, 5, 60 s: 2 hours are the longest */
    return config;
}

static void cleaner_that_ends_leaves_the_lease_to_the_next(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_counters_config config = cleaning_config();
    config.clean_us = 100 * SECOND_US;
    counting* first = counting_start(game_start_ready(redis_server_address(server)), &config);
    first->game->ahead_us += (int64_t)(100 * SECOND_US);
    GAME_UNTIL(counting_stats(first).rounds > 0);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{counters:clean}:l"), 1);
    gh_counters_end(first->counters);
    GAME_UNTIL(gh_counters_poll(first->counters) == GH_IDLE);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{counters:clean}:l"), 0);
}

/* All that was counted goes, and every trace of the counters with it. */
static void counter_that_nobody_touches_vanishes(void** state)
{
    (void)state;
    redis_server* server = server_with_clock();
    gh_counters_config config = cleaning_config();
    game* self = game_start_ready(redis_server_address(server));
    counting* hits = counting_start(self, &config);
    uint64_t hour_s = next_hour_s();
    for (unsigned i = 0; i < 3; i++)
    {
        stand_at(server, hour_s + 40 * i);
        for (int k = 0; k < 30; k++) counting_add(hits, counting_text("%d", k), 1);
        counting_settle(hits);
    }
    keys_must_be_on_the_page(server, "gh:{counters:<shard>}");
    uint64_t rounds = counting_stats(hits).rounds;
    GAME_UNTIL(counting_stats(hits).rounds >= rounds + 2);
    assert_int_equal(counting_stats(hits).samples_removed, 0); /* nothing is too old yet */

    stand_at(server, hour_s + 185); /* of the seconds, 120 are kept: those at 0 and 40 are too old */
    rounds = counting_stats(hits).rounds;
    GAME_UNTIL(counting_stats(hits).rounds >= rounds + 2);
    assert_int_equal(counting_stats(hits).counters_removed, 0);
    for (int i = 0; i < 30; i++)
    {
        assert_int_equal(stored_sum(server, counting_text("%d", i), 1), 1);
        assert_int_equal(stored_sum(server, counting_text("%d", i), 5), 3);
    }
    assert_int_equal(counting_stats(hits).samples_removed, 60);

    stand_at(server, hour_s + 7340);
    GAME_UNTIL(counting_stats(hits).counters_removed == 30);
    redisReply* keys = redis_server_command(server, "KEYS gh:{counters:*");
    for (size_t i = 0; i < keys->elements; i++)
        if (strstr(keys->element[i]->str, "}:w") == NULL && strstr(keys->element[i]->str, "}:l") == NULL)
            fail_msg("%s is left", keys->element[i]->str);
    freeReplyObject(keys);
    /* At 1 s: 2 before and the last one now. At 5 s two were gone by their list's time to live. At 60 s: 2.
     */
    assert_int_equal(counting_stats(hits).samples_removed, 30 * (3 + 1 + 2));
}

/* Each precision at its own pace: after a look the minute is not looked after again before a minute is over.
 */
static void precision_is_cleaned_at_its_own_pace(void** state)
{
    (void)state;
    redis_server* server = server_with_clock();
    gh_counters_config config = cleaning_config();
    config.precisions[0] = (gh_counter_precision){10, 2};
    config.precisions[1] = (gh_counter_precision){3600, 2};
    config.precision_count = 2;
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), &config);
    uint64_t hour_s = next_hour_s();
    stand_at(server, hour_s);
    counting_add(hits, "hits", 1);
    counting_settle(hits);
    assert_int_equal(redis_server_integer(server, "ZSCORE %s hits", stored_shard_key("hits", "k")), hour_s + 20);
    stand_at(server, hour_s + 21);
    GAME_UNTIL(counting_stats(hits).samples_removed == 1);
    long long due = redis_server_integer(server, "ZSCORE %s hits", stored_shard_key("hits", "k"));
    assert_int_equal(due, hour_s + 7200); /* only the hour is left */
    counting_add(hits, "hits", 1);
    counting_settle(hits);
    stand_at(server, hour_s + 7201);
    GAME_UNTIL(counting_stats(hits).counters_removed == 1);
}

static void shard_that_is_not_ours_does_not_stop_the_cleaner(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_counters_config config = cleaning_config();
    redis_server_do(server, "SET gh:{counters:0}:k nonsense");
    redis_server_do(server, "ZADD gh:{counters:1}:k 1 ghost 1 odd");
    redis_server_do(server, "SET gh:{counters:1}:o:odd nonsense");
    redis_server_do(server, "SET gh:{counters:1}:c:5:odd nonsense");
    counting* hits = counting_start(game_start_ready(redis_server_address(server)), &config);
    GAME_UNTIL(counting_stats(hits).rounds >= 2);
    assert_int_equal(counting_stats(hits).counters_removed, 1); /* the ghost */
    assert_string_equal(redis_server_text(server, "GET gh:{counters:1}:o:odd"), "nonsense");
    assert_true(redis_server_integer(server, "ZSCORE gh:{counters:1}:k odd") > 1);
}

typedef struct odd_list
{
    char named[64]; /* the counters that the cleaner wants to have cleaned */
    unsigned asked;
} odd_list;

static const char* const odd_names[] = {"a b", "%", "x}:y", "a\r\nb", "ok"};

/* A list that somebody else has written, and a script that names what stands there. */
static bool answer_with_odd_names(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    odd_list* self = world->context;
    if (!gh_str_equal(words[0], gh_str_literal("EVALSHA")) || count < 7) return false;
    if (gh_str_equal(words[3], gh_str_literal("gh:{counters:clean}:l")))
    {
        buffer_add_bulk(reply, "%.*s 0 1000 1000000000000000", (int)words[5].size, words[5].bytes);
        return true;
    }
    if (words[3].size < 14 || memcmp(words[3].bytes, "gh:{counters:", 13) != 0) return false;
    const size_t keys = (size_t)strtoul(words[2].bytes, NULL, 10);
    const bool first = self->asked++ == 0;
    for (size_t i = 1; i < keys && self->asked == 2; i += 2) /* of a precision; each has two keys */
        (void)snprintf(self->named + strlen(self->named), sizeof self->named - strlen(self->named), "%.*s ",
                       (int)words[3 + i].size, words[3 + i].bytes);
    const char* head = counting_text("*%d\r\n:%.*s\r\n:0\r\n:0\r\n:0\r\n", first ? 9 : 4, (int)words[3 + keys].size,
                                     words[3 + keys].bytes);
    buffer_add(reply, head, strlen(head));
    for (size_t i = 0; i < 5 && first; i++) buffer_add_bulk(reply, "%s", odd_names[i]);
    return true;
}

static void no_key_is_made_of_what_is_no_name(void** state)
{
    (void)state;
    odd_list list = {0};
    scripted* world = scripted_new();
    world->answer = answer_with_odd_names;
    world->context = &list;
    scripted_start_ready(world, NULL);
    gh_counters_config config = cleaning_config();
    config.precision_count = 1;
    gh_counters* hits = NULL;
    const size_t size = gh_counters_memory(&config);
    assert_status(gh_counters_init(&hits, world->client, &config, scripted_keep(world, size), size), GH_OK);
    SCRIPTED_UNTIL(world, list.asked >= 2, SECOND_US / 100, 10 * SECOND_US);
    assert_string_equal(list.named, "gh:{counters:0}:o:% gh:{counters:0}:o:ok ");
}

TEST_FILE(counters_clean, cmocka_unit_test(cleaner_that_ends_leaves_the_lease_to_the_next),
          cmocka_unit_test(counter_that_nobody_touches_vanishes), cmocka_unit_test(no_key_is_made_of_what_is_no_name),
          cmocka_unit_test(precision_is_cleaned_at_its_own_pace),
          cmocka_unit_test(shard_that_is_not_ours_does_not_stop_the_cleaner));
