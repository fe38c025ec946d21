/* The user of the Sentinels that sdk/KEYS.md and guildhall/sentinel.h give: with it a client finds the master and
   follows a failover, and none of its rights is more than it needs. Real servers, real Sentinels. */

#include "support/scene/log_book.h"
#include "support/scene/rights.h"
#include "support/server/sentinels.h"
#include "sentinel/clerks.h"

#include <stdio.h>
#include <string.h>

static log_book book; /* of the client that a test looks at */

static gh_client_config config_of(sentinels* fleet)
{
    gh_client_config config = game_config_behind(sentinels_seeds(fleet));
    config.sentinel_user = gh_str_literal("watcher");
    config.sentinel_password = gh_str_literal("secret");
    return config;
}

static void page_and_header_give_the_same(void** state)
{
    (void)state;
    char line[2048];
    snprintf(line, sizeof(line), "watcher on >secret %s", rights_of_the_sentinels_header());
    assert_string_equal(rights_at_sentinels(), line);
}

static void failover_is_followed(void** state)
{
    (void)state;
    sentinels* fleet = sentinels_start(&(sentinels_options){.sentinel_user = rights_at_sentinels()});
    sentinels_replicas_have_all(fleet);
    game* a = log_book_start(config_of(fleet), &book);
    clerks all = clerks_start(a, 4);
    clerks_until(&all, 10);
    GAME_UNTIL(gh_client_handles(a->client, NULL, 0) == 5); /* commands, hints, three Sentinels */
    assert_int_equal(clerks_lost(&all, clerks_outlive_failover(&all, fleet, 10)), 0);
    assert_int_equal(game_stats(a).failovers, 1);
    assert_null(strstr(book.text, "NOPERM"));
}

static void set_user(redis_server* sentinel, const char* without)
{
    char words[2048], line[2048] = "ACL SETUSER watcher reset on >secret";
    snprintf(words, sizeof(words), "%s", rights_of_the_sentinels_header());
    for (char* word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        if (without == NULL || strcmp(word, without) != 0)
            snprintf(line + strlen(line), sizeof(line) - strlen(line), " %s", word);
    redis_server_do(sentinel, line);
}

/* All that a client asks of a Sentinel: at the beginning, anew, and whether it is there. True: it was told that it may
   not. */
static bool is_refused(sentinels* fleet)
{
    game* a = log_book_start(config_of(fleet), &book);
    for (uint64_t round = 1; round <= 2 && strstr(book.text, "NOPERM") == NULL; round++)
    {
        GAME_UNTIL(game_stats(a).links_ready >= round || strstr(book.text, "NOPERM") != NULL);
        redis_server_do(sentinels_master(fleet), "CLIENT KILL TYPE normal SKIPME yes");
    }
    const uint64_t end_us = wait_now_us() + SECOND_US / 2;
    for (int i = 0; i < 2 && strstr(book.text, "NOPERM") == NULL; i++)
    {
        GAME_UNTIL(gh_client_ready(a->client));
        a->ahead_us += 6 * (int64_t)SECOND_US;
        while (wait_now_us() < end_us && strstr(book.text, "NOPERM") == NULL) game_tick_all();
    }
    game_end(a);
    return strstr(book.text, "NOPERM") != NULL;
}

static void none_is_more_than_is_needed(void** state)
{
    (void)state;
    char words[2048];
    snprintf(words, sizeof(words), "%s", rights_of_the_sentinels_header());
    sentinels* fleet = sentinels_start(&(sentinels_options){.sentinels = 1, .replicas = 1});
    set_user(sentinels_sentinel(fleet, 0), NULL);
    assert_false(is_refused(fleet));
    char* rest = words;
    for (char* word = strtok_r(rest, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
    {
        if (strcmp(word, "resetchannels") == 0 || strcmp(word, "-@all") == 0) continue; /* they give nothing */
        set_user(sentinels_sentinel(fleet, 0), word);
        if (!is_refused(fleet)) fail_msg("nothing needs %s", word);
    }
}

TEST_FILE(sentinel_rights, cmocka_unit_test(page_and_header_give_the_same), cmocka_unit_test(failover_is_followed),
          cmocka_unit_test(none_is_more_than_is_needed));
