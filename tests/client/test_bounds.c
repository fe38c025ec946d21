/* What is refused is said in words: which field, what stood in it, and what may. */

#include "support/scene/game.h"
#include "support/scene/on.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

static game* anyone(void)
{
    return game_start(redis_server_address(redis_server_start(NULL)));
}

static void assert_last_invalid(const game* self, const char* words)
{
    gh_str text = gh_client_last_invalid(self->client);
    if (text.size != strlen(words) || memcmp(text.bytes, words, text.size) != 0)
        fail_msg("\"%.*s\", not \"%s\"", GH_STR_ARG(text), words);
}

static gh_status try_lock(game* self, uint64_t lease_us, uint64_t wait_us)
{
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = lease_us;
    config.wait_us = wait_us;
    return gh_lock_begin(GAME_NEW(self, gh_lock), self->client, gh_str_literal("sword"), &config);
}

static void field_is_named_with_its_value_and_its_bounds(void** state)
{
    (void)state;
    game* a = anyone();
    assert_last_invalid(a, "");
    assert_status(try_lock(a, 10, 0), GH_INVALID_LEASE);
    assert_last_invalid(a, "lease_us = 10, not within 50000..3600000000");
    assert_status(try_lock(a, SECOND_US, UINT64_MAX), GH_INVALID_WAIT);
    assert_last_invalid(a, "wait_us = 18446744073709551615, not within 0..86400000000");
    assert_status(try_lock(a, SECOND_US, 0), GH_OK);
    assert_last_invalid(a, "wait_us = 18446744073709551615, not within 0..86400000000");
}

static void fields_of_four_bytes_and_those_that_may_be_0(void** state)
{
    (void)state;
    game* a = anyone();
    gh_permit* seat = GAME_NEW(a, gh_permit);
    assert_status(gh_permit_begin(seat, ON_SEMAPHORE(a->client, gh_str_literal("seat"), 0), NULL), GH_INVALID_LIMIT);
    assert_last_invalid(a, "limit = 0, not within 1..1000000");

    gh_semaphore_config limits = gh_semaphore_config_default();
    gh_semaphore semaphore;
    limits.limit = 1000001;
    assert_status(gh_semaphore_init(&semaphore, a->client, gh_str_literal("seat"), &limits), GH_INVALID_LIMIT);
    assert_last_invalid(a, "limit = 1000001, not within 1..1000000, nor 0");

    static _Alignas(64) char room[GH_CLIENT_MEMORY_DEFAULT];
    gh_counters* counters = NULL;
    gh_counters_config hits = gh_counters_config_default();
    hits.clean_us = 1;
    assert_status(gh_counters_init(&counters, a->client, &hits, room, sizeof(room)), GH_INVALID_CLEAN);
    assert_last_invalid(a, "clean_us = 1, not within 100000..3600000000, nor 0");
    hits.clean_us = 0;
    assert_true(gh_counters_memory(&hits) > 0);
}

/* What is made with a bad field is told in words once, and whoever begins on it is told the status. */
static void field_of_an_object_is_named_too(void** state)
{
    (void)state;
    game* a = anyone();
    gh_guild guild;
    gh_guild_size* size = GAME_NEW(a, gh_guild_size);
    gh_guild_config config = gh_guild_config_default();
    config.timeout_us = 999;
    assert_status(gh_guild_init(&guild, a->client, gh_str_literal("knights"), &config), GH_INVALID_TIMEOUT);
    assert_last_invalid(a, "timeout_us = 999, not within 1000..60000000");
    assert_status(gh_guild_size_begin(size, &guild), GH_INVALID_TIMEOUT);
    assert_last_invalid(a, gh_status_text(GH_INVALID_TIMEOUT));
    assert_status(gh_guild_init(&guild, a->client, gh_str_literal(""), NULL), GH_INVALID_NAME);
    assert_last_invalid(a, gh_status_text(GH_INVALID_NAME));
    assert_status(gh_guild_init(&guild, a->client, gh_str_literal("knights"), NULL), GH_OK);
    assert_status(gh_guild_size_begin(size, &guild), GH_OK);
}

/* What no row can say, its status does; and a sentence of before is not taken for it. */
static void other_refusals_have_the_words_of_their_status(void** state)
{
    (void)state;
    game* a = anyone();
    gh_permit_config seats = gh_permit_config_default();
    assert_status(try_lock(a, 10, 0), GH_INVALID_LEASE);
    seats.permits = 3;
    assert_status(gh_permit_begin(GAME_NEW(a, gh_permit), ON_SEMAPHORE(a->client, gh_str_literal("seat"), 2), &seats),
                  GH_INVALID_PERMITS);
    assert_last_invalid(a, gh_status_text(GH_INVALID_PERMITS));
    assert_status(gh_lock_begin(GAME_NEW(a, gh_lock), a->client, gh_str_literal(""), NULL), GH_INVALID_NAME);
    assert_last_invalid(a, gh_status_text(GH_INVALID_NAME));
    assert_status(try_lock(a, 10, 0), GH_INVALID_LEASE);
    assert_status(gh_lock_begin(NULL, a->client, gh_str_literal("sword"), NULL), GH_INVALID_OP);
    assert_last_invalid(a, gh_status_text(GH_INVALID_OP));
}

/* Not begins alone: whatever is asked of what was begun or made. */
static void calls_on_what_was_begun_are_told_too(void** state)
{
    (void)state;
    game* a = anyone();
    static _Alignas(64) char room[GH_CLIENT_MEMORY_DEFAULT];
    gh_counters* counters = NULL;
    gh_counter counter = {0};
    assert_status(gh_counters_init(&counters, a->client, NULL, room, sizeof(room)), GH_OK);
    assert_status(gh_counters_open(counters, gh_str_literal(""), &counter), GH_INVALID_NAME);
    assert_last_invalid(a, gh_status_text(GH_INVALID_NAME));
    assert_status(gh_counters_open(counters, gh_str_literal("hits"), NULL), GH_INVALID_OUT);
    assert_last_invalid(a, gh_status_text(GH_INVALID_OUT));
    assert_status(gh_counters_open(counters, gh_str_literal("hits"), &counter), GH_OK);
    assert_last_invalid(a, gh_status_text(GH_INVALID_OUT));
    counter.generation += 7;
    assert_status(gh_counters_close(counters, counter), GH_INVALID_COUNTER);
    assert_last_invalid(a, gh_status_text(GH_INVALID_COUNTER));
    assert_status(gh_client_unique(a->client, NULL), GH_INVALID_OUT);
    assert_status(gh_counters_add(counters, counter, 1), GH_INVALID_COUNTER);
    assert_last_invalid(a, gh_status_text(GH_INVALID_COUNTER));
    assert_status(gh_client_unique(a->client, NULL), GH_INVALID_OUT);
    assert_last_invalid(a, gh_status_text(GH_INVALID_OUT));
    assert_status(gh_counters_add_at(counters, counter, 1, 1), GH_INVALID_COUNTER);
    assert_last_invalid(a, gh_status_text(GH_INVALID_COUNTER));

    gh_chat_feed* feed = GAME_NEW(a, gh_chat_feed);
    gh_chat_player* player = GAME_NEW(a, gh_chat_player);
    gh_chat_feed_config feeds = gh_chat_feed_config_default();
    static _Alignas(64) char lines[65536];
    feeds.rooms = GAME_NEW_ARRAY(a, gh_chat_room, 2);
    feeds.seats = GAME_NEW_ARRAY(a, gh_chat_seat, 2);
    feeds.room_count = feeds.seat_count = 2;
    feeds.buffer = lines;
    feeds.buffer_size = sizeof(lines);
    assert_status(gh_chat_feed_begin(feed, a->client, &feeds), GH_OK);
    assert_status(gh_chat_feed_add(feed, player, gh_str_literal("")), GH_INVALID_NAME);
    assert_last_invalid(a, gh_status_text(GH_INVALID_NAME));
    assert_status(gh_chat_feed_add(feed, NULL, gh_str_literal("jo")), GH_INVALID_OP);
    assert_last_invalid(a, gh_status_text(GH_INVALID_OP));
}

/* What outlives its client has nobody to tell. */
static void calls_after_the_client_tell_nobody(void** state)
{
    (void)state;
    game* a = anyone();
    static _Alignas(64) char room[GH_CLIENT_MEMORY_DEFAULT];
    gh_counters* counters = NULL;
    gh_counter counter = {0};
    assert_status(gh_counters_init(&counters, a->client, NULL, room, sizeof(room)), GH_OK);
    game_end(a); /* and its memory */
    assert_status(gh_counters_open(counters, gh_str_literal(""), &counter), GH_INVALID_NAME);
    assert_status(gh_counters_close(counters, (gh_counter){.index = 1, .generation = 9}), GH_INVALID_COUNTER);
}

static void each_client_keeps_its_own_and_none_has_none(void** state)
{
    (void)state;
    game* a = anyone();
    game* b = anyone();
    assert_status(try_lock(a, 10, 0), GH_INVALID_LEASE);
    assert_last_invalid(b, "");
    assert_int_equal(gh_client_last_invalid(NULL).size, 0);
}

/* ---- a config that makes no client --------------------------------------------------------------------------- */

static char told[256];

static void keep_line(void* context, gh_log_level level, gh_str text)
{
    (void)context;
    assert_int_equal(level, GH_LOG_ERROR);
    snprintf(told, sizeof(told), "%.*s", GH_STR_ARG(text));
}

static void config_of_a_client_is_told_to_its_log(void** state)
{
    (void)state;
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_literal("127.0.0.1:6379");
    config.hooks.log = keep_line;
    config.reply_nodes = 63;
    told[0] = 0;
    assert_int_equal(gh_client_memory(&config), 0);
    assert_string_equal(told, "reply_nodes = 63, not within 64..1048576");
    config.reply_nodes = 64;
    config.prefix = gh_str_literal("");
    assert_int_equal(gh_client_memory(&config), 0);
    assert_string_equal(told, gh_status_text(GH_INVALID_PREFIX));
    config.prefix = gh_str_literal("gh");
    config.hooks.log = NULL;
    config.backoff_min_us = 0;
    assert_int_equal(gh_client_memory(&config), 0); /* and nobody to be told */
}

TEST_FILE(bounds, cmocka_unit_test(field_is_named_with_its_value_and_its_bounds),
          cmocka_unit_test(fields_of_four_bytes_and_those_that_may_be_0),
          cmocka_unit_test(field_of_an_object_is_named_too),
          cmocka_unit_test(other_refusals_have_the_words_of_their_status),
          cmocka_unit_test(calls_on_what_was_begun_are_told_too), cmocka_unit_test(calls_after_the_client_tell_nobody),
          cmocka_unit_test(each_client_keeps_its_own_and_none_has_none),
          cmocka_unit_test(config_of_a_client_is_told_to_its_log));
