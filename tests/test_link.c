/* Connecting to real servers: the three kinds of address, who we say that we are, what the sanity check
   finds. */

#include "support/command.h"
#include "support/fake_server.h"
#include "support/game.h"
#include "support/redis_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything that was logged, to be searched. */
typedef struct log_book
{
    char text[64 * 1024];
    size_t size;
    unsigned warnings;
    unsigned errors;
} log_book;

static void write_down(void* context, gh_log_level level, gh_str text)
{
    log_book* book = context;
    if (level == GH_LOG_WARNING) book->warnings++;
    if (level == GH_LOG_ERROR) book->errors++;
    if (book->size + text.size + 2 > sizeof(book->text)) return;
    memcpy(book->text + book->size, text.bytes, text.size);
    book->size += text.size;
    book->text[book->size++] = '\n';
}

static bool trap(void* context, const char* file, int line, const char* expression)
{
    (void)context;
    fprintf(stderr, "%s:%d: the library asserts: %s\n", file, line, expression);
    abort();
}

static game* start_with_book(gh_client_config config, log_book* book)
{
    memset(book, 0, sizeof(*book));
    config.hooks.context = book;
    config.hooks.log = write_down;
    config.hooks.assertion = trap;
    return game_start_with(&config);
}

static log_book book; /* of the client that a test looks at */

/* The whole of a client's work in small: ready, one lock taken and given back, one command. */
static void assert_works(game* self)
{
    GAME_UNTIL(gh_client_ready(self->client));
    gh_lock* lock = GAME_NEW(self, gh_lock);
    assert_status(gh_lock_begin(lock, self->client, gh_str_literal("sword"), NULL), GH_OK);
    GAME_UNTIL(gh_lock_poll(lock) != GH_PENDING);
    assert_status(gh_lock_poll(lock), GH_OK);
    gh_lock_release(lock);
    GAME_UNTIL(gh_lock_poll(lock) != GH_PENDING);
    assert_status(gh_lock_poll(lock), GH_IDLE);
}

static uint32_t warnings_of(const game* self)
{
    return game_stats(self).warnings;
}

/* ---- addresses ----------------------------------------------------------------------------------------- */

static void connects_over_unix_ipv4_and_ipv6(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.tcp = true});
    const char* const addresses[] = {redis_server_address(server), redis_server_tcp_address(server),
                                     redis_server_tcp6_address(server)};
    for (int i = 0; i < 3; i++)
    {
        if (addresses[i] == NULL) continue; /* a machine without IPv6 */
        game* a = game_start(addresses[i]);
        assert_works(a);
        GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
        assert_true(gh_client_fd(a->client, GH_LINK_COMMANDS, NULL) >= 0);
        assert_true(gh_client_fd(a->client, GH_LINK_WAKE, NULL) >= 0);
        assert_int_equal(game_stats(a).links_ready, 1);
        game_end(a);
    }
}

static void wake_link_is_made_only_when_wanted(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.wake = false;
    game* a = game_start_with(&config);
    assert_works(a);
    assert_int_equal(gh_client_link_state(a->client, GH_LINK_WAKE), GH_LINK_IDLE);
    assert_int_equal(redis_server_integer(server, "PUBSUB NUMPAT"), 0);
    assert_null(strstr(redis_server_text(server, "CLIENT LIST TYPE pubsub"), "id="));
    game* b = game_start(redis_server_address(server));
    GAME_UNTIL(gh_client_link_state(b->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_non_null(strstr(redis_server_text(server, "CLIENT LIST TYPE pubsub"), "id="));
}

static void client_name_is_shown(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    assert_works(game_start_with(&config));
    assert_non_null(strstr(redis_server_text(server, "CLIENT LIST"), " name=guildhall "));
    config.client_name = gh_str_literal("eu-west-7:realm[12]/shard_0123456789-0123456789-0123456789-01234");
    assert_int_equal(config.client_name.size, 64);
    assert_works(game_start_with(&config));
    assert_non_null(strstr(redis_server_text(server, "CLIENT LIST"), config.client_name.bytes));
    config.client_name = gh_str_make(NULL, 0);
    assert_works(game_start_with(&config));
}

static void database_is_selected(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.database = 15;
    game* a = game_start_with(&config);
    assert_ends(say(a, NULL, "SET here 1"), GH_OK);
    assert_int_equal(redis_server_integer(server, "EXISTS here"), 0);
    redis_server_do(server, "SELECT 15");
    assert_int_equal(redis_server_integer(server, "EXISTS here"), 1);

    config.database = 16; /* the server has 0..15 */
    game* b = start_with_book(config, &book);
    assert_ends(say(b, NULL, "GET here"), GH_REFUSED);
    assert_non_null(strstr(book.text, "DB index is out of range"));
    assert_true(book.errors > 0);
}

/* ---- passwords ----------------------------------------------------------------------------------------- */

static redis_server* start_with_password(const char* password)
{
    static const char* arguments[3];
    static redis_server_options options;
    arguments[0] = "--requirepass";
    arguments[1] = password;
    options.password = password;
    options.arguments = arguments;
    return redis_server_start(&options);
}

static void password_opens_both_links(void** state)
{
    (void)state;
    redis_server* server = start_with_password("open-sesame");
    gh_client_config config = game_config(redis_server_address(server));
    config.password = gh_str_literal("open-sesame");
    game* a = start_with_book(config, &book);
    assert_works(a);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_null(strstr(book.text, "sesame"));
}

/* With the password that is not right, one that is missing, and one that nobody wants: what waits is
   REFUSED, a person is told, and when the server is mended the client finds out by itself. */
static void assert_refused(redis_server* server, gh_client_config config)
{
    game* a = start_with_book(config, &book);
    gh_command* command = say(a, NULL, "GET greeting");
    gh_lock* lock = GAME_NEW(a, gh_lock);
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), NULL), GH_OK);
    assert_ends(command, GH_REFUSED);
    GAME_UNTIL(gh_lock_poll(lock) != GH_PENDING);
    assert_status(gh_lock_poll(lock), GH_REFUSED);
    assert_true(book.errors > 0);
    assert_null(strstr(book.text, "mistaken"));
    assert_false(gh_client_ready(a->client));
    redis_server_do(server, "CONFIG SET requirepass %b", config.password.bytes, config.password.size);
    assert_works(a);
    game_end(a);
}

static void wrong_password_refuses_what_waits(void** state)
{
    (void)state;
    redis_server* server = start_with_password("open-sesame");
    gh_client_config config = game_config(redis_server_address(server));
    config.password = gh_str_literal("mistaken");
    assert_refused(server, config);
}

static void missing_password_refuses_what_waits(void** state)
{
    (void)state;
    redis_server* server = start_with_password("open-sesame");
    gh_client_config config = game_config(redis_server_address(server));
    config.password = gh_str_literal("");
    assert_refused(server, config);
}

static void needless_password_refuses_what_waits(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.password = gh_str_literal("mistaken");
    assert_refused(server, config);
}

/* ---- ACL users ----------------------------------------------------------------------------------------- */

/* What a production user gets: nothing that reads or flushes others' data, no EVAL, no CONFIG. */
#define LEAST_RIGHTS                                                                                         \
    "~gh:* resetchannels &gh:wake:* -@all +evalsha +script|load +publish +subscribe +unsubscribe +ping "     \
    "+auth +select +client|setname +info +time +get +set +pexpire +zadd +zrem +zrange +zremrangebyrank "     \
    "+zrank +zscore +hget +hset +hdel"

/* The rules are split at their spaces by the format of the audit. */
static void set_user(redis_server* server, const char* user, gh_str password, const char* rules)
{
    char format[1024];
    snprintf(format, sizeof(format), "ACL SETUSER %%s reset on >%%b %s", rules);
    redis_server_do(server, format, user, password.bytes, password.size);
}

static void user_with_the_least_rights_works(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    set_user(server, "alice", gh_str_literal("open-sesame"), LEAST_RIGHTS);
    gh_client_config config = game_config(redis_server_address(server));
    config.user = gh_str_literal("alice");
    config.password = gh_str_literal("open-sesame");
    game* a = start_with_book(config, &book);
    game* b = game_start_with(&config);
    assert_works(a);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    GAME_UNTIL(gh_client_link_state(b->client, GH_LINK_WAKE) == GH_LINK_READY);
    gh_lock* first = GAME_NEW(a, gh_lock);
    gh_lock* second = GAME_NEW(b, gh_lock);
    assert_status(gh_lock_begin(first, a->client, gh_str_literal("sword"), NULL), GH_OK);
    GAME_UNTIL(gh_lock_poll(first) == GH_OK);
    assert_status(gh_lock_begin(second, b->client, gh_str_literal("sword"), NULL), GH_OK);
    GAME_UNTIL(second->position == 1);
    gh_lock_release(first);
    GAME_UNTIL(gh_lock_poll(second) == GH_OK);
    assert_int_equal(game_stats(b).hints, 1);
    assert_int_equal(warnings_of(a), GH_WARNING_NO_AOF);
    assert_int_equal(book.errors, 0);
    assert_ends(say(a, NULL, "FLUSHALL"), GH_REFUSED);
    assert_ends(say(a, NULL, "GET other:key"), GH_REFUSED);
}

static void longest_and_oddest_credentials_work(void** state)
{
    (void)state;
    char user[129];
    char password[512];
    redis_server* server = redis_server_start(NULL);
    memset(user, 'u', 128);
    user[128] = '\0';
    for (size_t i = 0; i < sizeof(password); i++) password[i] = (char)(i * 7 + 1);
    memcpy(password, "\r\n*1\r\n$8\r\nFLUSHALL\r\n", 21);
    redis_server_do(server, "SET witness 1");
    const gh_str secret = gh_str_make(password, sizeof(password));
    redis_server_do(server, "ACL SETUSER %s reset on >%b ~* &* +@all", user, secret.bytes, secret.size);
    gh_client_config config = game_config(redis_server_address(server));
    config.user = gh_str_make(user, 128);
    config.password = secret;
    config.prefix = gh_str_literal("a-prefix-of-thirty-two-bytes-123");
    game* a = game_start_with(&config);
    assert_works(a);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_int_equal(redis_server_integer(server, "GET witness"), 1);
    assert_int_equal(redis_server_integer(server, "EXISTS a-prefix-of-thirty-two-bytes-123:{lock:sword}:s"),
                     1);
}

/* ---- the sanity check ---------------------------------------------------------------------------------- */

static void good_server_gives_no_warning(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    gh_client_config config = game_config(redis_server_address(server));
    game* a = start_with_book(config, &book);
    assert_works(a);
    assert_int_equal(warnings_of(a), 0);
    assert_int_equal(book.warnings + book.errors, 0);
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
    game* a = start_with_book(game_config(redis_server_address(server)), &book);
    assert_works(a);
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
    game* a = start_with_book(config, &book);
    assert_works(a);
    assert_int_equal(warnings_of(a), GH_WARNING_NO_INFO);
    assert_int_equal(game_stats(a).server_version, 0);
    game_end(a);

    const char* const rights[] = {"~gh:* &gh:wake:* +@all -publish", "~gh:* resetchannels +@all",
                                  "~gh:* &other:* +@all"};
    for (int i = 0; i < 3; i++)
    {
        set_user(server, "alice", config.password, rights[i]);
        game* b = start_with_book(config, &book);
        assert_works(b);
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
    } rows[] = {{"6.0.16", 60016, true}, {"6.2.0", 60200, false}, {"5.0", 50000, true},
                {"10.11.12", 101112, false}, {"nonsense", 0, true}, {"", 0, true}};
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
        assert_works(a);
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
    game* a = start_with_book(game_config(redis_server_address(replica)), &book);
    GAME_UNTIL((warnings_of(a) & GH_WARNING_REPLICA) != 0);
    gh_lock* lock = GAME_NEW(a, gh_lock);
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), NULL), GH_OK);
    for (int i = 0; i < 200; i++) game_tick_all();
    assert_false(gh_client_ready(a->client));
    assert_status(gh_lock_poll(lock), GH_PENDING);
    redis_server_do(replica, "REPLICAOF NO ONE");
    GAME_UNTIL(gh_lock_poll(lock) == GH_OK);
    assert_int_equal(warnings_of(a), 0);
}

static void cluster_node_is_warned_of(void** state)
{
    (void)state;
    const char* arguments[] = {"--cluster-enabled", "yes", NULL};
    redis_server* server = redis_server_start(&(redis_server_options){.tcp = true, .append_only = true,
                                                                      .arguments = arguments});
    game* a = game_start(redis_server_address(server));
    for (int i = 0; i < 100; i++) game_tick_all();
    assert_false(gh_client_ready(a->client)); /* CLUSTERDOWN: no slot is served */
    redis_server_do(server, "CLUSTER ADDSLOTSRANGE 0 16383");
    assert_works(a);
    assert_int_equal(warnings_of(a), GH_WARNING_CLUSTER);
}

TEST_FILE(link, cmocka_unit_test(connects_over_unix_ipv4_and_ipv6),
          cmocka_unit_test(wake_link_is_made_only_when_wanted), cmocka_unit_test(client_name_is_shown),
          cmocka_unit_test(database_is_selected), cmocka_unit_test(password_opens_both_links),
          cmocka_unit_test(wrong_password_refuses_what_waits),
          cmocka_unit_test(missing_password_refuses_what_waits),
          cmocka_unit_test(needless_password_refuses_what_waits),
          cmocka_unit_test(user_with_the_least_rights_works),
          cmocka_unit_test(longest_and_oddest_credentials_work),
          cmocka_unit_test(good_server_gives_no_warning),
          cmocka_unit_test(settings_that_lose_data_are_warned_of_once_a_connection),
          cmocka_unit_test(missing_rights_are_warned_of), cmocka_unit_test(old_version_is_warned_of),
          cmocka_unit_test(replica_is_not_worked_with), cmocka_unit_test(cluster_node_is_warned_of));
