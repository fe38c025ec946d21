/* What the sanity check of the hand-shake finds out about real servers, and whom it tells. */

#include "support/server/fake_server.h"
#include "support/scene/log_book.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

static log_book book; /* of the client that a test looks at */

static uint32_t warnings_of(const game* self)
{
    return game_stats(self).warnings;
}

/* The rules are split at their spaces by the format of the audit. */
static void set_user(redis_server* server, const char* user, gh_str password, const char* rules)
{
    char format[1024];
    snprintf(format, sizeof(format), "ACL SETUSER %%s reset on >%%b %s", rules);
    redis_server_do(server, format, user, password.bytes, password.size);
}

static void good_server_gives_no_warning(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    gh_client_config config = game_config(redis_server_address(server));
    game* a = log_book_start(config, &book);
    assert_client_works(a);
    assert_int_equal(warnings_of(a), 0);
    assert_int_equal(book.warnings + book.errors, 0);
    assert_int_equal(game_stats(a).nodes_known, 1);
    assert_int_equal(game_stats(a).nodes_ready, 1);
    assert_int_equal(game_stats(a).failovers, 0);
    unsigned parts[3] = {0, 0, 0};
    const char* version = strstr(redis_server_text(server, "INFO server"), "redis_version:");
    assert_int_equal(sscanf(version, "redis_version:%u.%u.%u", &parts[0], &parts[1], &parts[2]), 3);
    assert_int_equal(game_stats(a).server_version, parts[0] * 10000 + parts[1] * 100 + parts[2]);
}

static void settings_that_lose_data_are_warned_of_once_a_connection(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "CONFIG SET maxmemory-policy allkeys-lru");
    game* a = log_book_start(game_config(redis_server_address(server)), &book);
    assert_client_works(a);
    assert_int_equal(warnings_of(a), GH_WARNING_EVICTION | GH_WARNING_NO_AOF);
    assert_int_equal(book.warnings, 2);
    assert_non_null(strstr(book.text, "allkeys-lru"));

    redis_server_do(server, "CONFIG SET maxmemory-policy noeviction");
    redis_server_do(server, "CLIENT KILL TYPE normal");
    GAME_UNTIL(game_stats(a).links_ready == 2);
    assert_int_equal(warnings_of(a), GH_WARNING_NO_AOF);
}

static void missing_rights_are_warned_of(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    gh_client_config config = game_config(redis_server_address(server));
    config.user = gh_str_literal("alice");
    config.password = gh_str_literal("open-sesame");
    set_user(server, "alice", config.password, "~gh:* &gh:wake:* +@all -info");
    game* a = log_book_start(config, &book);
    assert_client_works(a);
    assert_int_equal(warnings_of(a), GH_WARNING_NO_INFO);
    assert_int_equal(game_stats(a).server_version, 0);
    game_end(a);

    const char* const rights[] = {"~gh:* &gh:wake:* +@all -publish", "~gh:* resetchannels +@all",
                                  "~gh:* &other:* +@all"};
    for (int i = 0; i < 3; i++)
    {
        set_user(server, "alice", config.password, rights[i]);
        game* b = log_book_start(config, &book);
        assert_client_works(b);
        assert_int_equal(warnings_of(b), GH_WARNING_NO_WAKE);
        assert_int_equal(book.errors, 0);
        game_end(b);
    }
}

static void old_version_is_warned_of(void** state)
{
    (void)state;
    const struct
    {
        const char* text;
        uint32_t version;
        bool old;
    } rows[] = {{"6.0.16", 60016, true},  {"6.2.0", 60200, false}, {"5.0", 50000, true}, {"10.11.12", 101112, false},
                {"9.9.89", 90989, false}, {"nonsense", 0, true},   {"", 0, true}};
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        char info[128];
        char line[64];
        int size = snprintf(line, sizeof(line), "# Server\r\nredis_version:%s\r\n", rows[i].text);
        snprintf(info, sizeof(info), "$%d\r\n%s\r\n", size, line);
        fake_rule rules[] = {{.command = "INFO server", .text = info}};
        fake_rules table = {rules, 1};
        fake_server* fake = fake_server_start(fake_answer_by_rules, &table, redis_server_address(server));
        game* a = game_start(fake_server_address(fake));
        assert_client_works(a);
        assert_int_equal(warnings_of(a), rows[i].old ? GH_WARNING_VERSION : 0);
        assert_int_equal(game_stats(a).server_version, rows[i].version);
        game_end(a);
        fake_server_end(fake);
    }
}

static void replica_is_not_worked_with(void** state)
{
    (void)state;
    redis_server* master = redis_server_start(&(redis_server_options){.tcp = true});
    redis_server* replica = redis_server_start(&(redis_server_options){.append_only = true});
    const char* port = strrchr(redis_server_tcp_address(master), ':') + 1;
    redis_server_do(replica, "REPLICAOF 127.0.0.1 %s", port);
    game* a = log_book_start(game_config(redis_server_address(replica)), &book);
    GAME_UNTIL((warnings_of(a) & GH_WARNING_REPLICA) != 0);
    gh_lock* lock = GAME_NEW(a, gh_lock);
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), NULL), GH_OK);
    for (int i = 0; i < 200; i++) game_tick_all();
    assert_false(gh_client_ready(a->client));
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    redis_server_do(replica, "REPLICAOF NO ONE");
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    assert_int_equal(warnings_of(a), 0);
}

static void cluster_node_is_warned_of(void** state)
{
    (void)state;
    const char* arguments[] = {"--cluster-enabled", "yes", NULL};
    redis_server* server =
        redis_server_start(&(redis_server_options){.tcp = true, .append_only = true, .arguments = arguments});
    game* a = game_start(redis_server_address(server));
    for (int i = 0; i < 100; i++) game_tick_all();
    assert_false(gh_client_ready(a->client)); /* CLUSTERDOWN: no slot is served */
    redis_server_do(server, "CLUSTER ADDSLOTSRANGE 0 16383");
    assert_client_works(a);
    assert_int_equal(warnings_of(a), GH_WARNING_CLUSTER);
}

TEST_FILE(sanity, cmocka_unit_test(good_server_gives_no_warning),
          cmocka_unit_test(settings_that_lose_data_are_warned_of_once_a_connection),
          cmocka_unit_test(missing_rights_are_warned_of), cmocka_unit_test(old_version_is_warned_of),
          cmocka_unit_test(replica_is_not_worked_with), cmocka_unit_test(cluster_node_is_warned_of));
