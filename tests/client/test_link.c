/* Connecting to real servers: the three kinds of address, and who we say that we are. */

#include "support/command.h"
#include "support/scene/log_book.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

static log_book book; /* of the client that a test looks at */

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
        assert_client_works(a);
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
    game* a = game_start_deaf(redis_server_address(server));
    assert_client_works(a);
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
    assert_client_works(game_start_with(&config));
    assert_non_null(strstr(redis_server_text(server, "CLIENT LIST"), " name=guildhall "));
    config.client_name = gh_str_literal("eu-west-7:realm[12]/shard_0123456789-0123456789-0123456789-01234");
    assert_int_equal(config.client_name.size, 64);
    assert_client_works(game_start_with(&config));
    assert_non_null(strstr(redis_server_text(server, "CLIENT LIST"), config.client_name.bytes));
    config.client_name = gh_str_make(NULL, 0);
    assert_client_works(game_start_with(&config));
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
    game* b = log_book_start(config, &book);
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
    game* a = log_book_start(config, &book);
    assert_client_works(a);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_null(strstr(book.text, "sesame"));
}

/* With the password that is not right, one that is missing, and one that nobody wants: what waits is
   REFUSED, a person is told, and when the server is mended the client finds out by itself. */
static void assert_refused(redis_server* server, gh_client_config config)
{
    game* a = log_book_start(config, &book);
    gh_command* command = say(a, NULL, "GET greeting");
    gh_lock* lock = GAME_NEW(a, gh_lock);
    assert_status(gh_lock_begin(lock, a->client, gh_str_literal("sword"), NULL), GH_OK);
    assert_ends(command, GH_REFUSED);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_REFUSED);
    assert_true(book.errors > 0);
    assert_null(strstr(book.text, "mistaken"));
    assert_false(gh_client_ready(a->client));
    redis_server_do(server, "CONFIG SET requirepass %b", config.password.bytes, config.password.size);
    assert_client_works(a);
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
#define LEAST_RIGHTS                                                                                                   \
    "~gh:* resetchannels &gh:wake:* -@all +evalsha +script|load +script|exists +publish +subscribe +ping "             \
    "+auth +select +client|setname +info +time +get +set +pexpire +zadd +zrem +zrange +zremrangebyrank "               \
    "+zrank +zscore +zcard +hget +hset +hdel"

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
    game* a = log_book_start(config, &book);
    game* b = game_start_with(&config);
    assert_client_works(a);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    GAME_UNTIL(gh_client_link_state(b->client, GH_LINK_WAKE) == GH_LINK_READY);
    gh_lock* first = GAME_NEW(a, gh_lock);
    gh_lock* second = GAME_NEW(b, gh_lock);
    assert_status(gh_lock_begin(first, a->client, gh_str_literal("sword"), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&first->op) == GH_HELD);
    assert_status(gh_lock_begin(second, b->client, gh_str_literal("sword"), NULL), GH_OK);
    GAME_UNTIL(second->position == 1);
    gh_lock_release(first);
    GAME_UNTIL(gh_op_poll(&second->op) == GH_HELD);
    assert_int_equal(game_stats(b).hints, 1);
    assert_int_equal(game_stats(a).warnings, GH_WARNING_NO_AOF);
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
    assert_client_works(a);
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    assert_int_equal(redis_server_integer(server, "GET witness"), 1);
    assert_int_equal(redis_server_integer(server, "EXISTS a-prefix-of-thirty-two-bytes-123:{lock:sword}:s"), 1);
}

TEST_FILE(link, cmocka_unit_test(connects_over_unix_ipv4_and_ipv6),
          cmocka_unit_test(wake_link_is_made_only_when_wanted), cmocka_unit_test(client_name_is_shown),
          cmocka_unit_test(database_is_selected), cmocka_unit_test(password_opens_both_links),
          cmocka_unit_test(wrong_password_refuses_what_waits), cmocka_unit_test(missing_password_refuses_what_waits),
          cmocka_unit_test(needless_password_refuses_what_waits), cmocka_unit_test(user_with_the_least_rights_works),
          cmocka_unit_test(longest_and_oddest_credentials_work));
