/* Real servers in states in which they refuse: what waits goes on as soon as they let it. */

#include "support/command.h"
#include "support/scene/game.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS UINT64_C(1000)

static gh_lock* want_lock(game* from, const char* name, uint64_t lease_us)
{
    gh_lock* lock = GAME_NEW(from, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = lease_us;
    config.wait_us = 60 * SECOND_US;
    assert_status(gh_lock_begin(lock, from->client, gh_str_of(name), &config), GH_OK);
    return lock;
}

/* GH_REPEAT_NEVER: all that these servers answer says that it was not done. */
static gh_command* say_patiently(game* from, const char* line)
{
    gh_command_config config = command_config(from, GH_REPEAT_NEVER, 256);
    config.timeout_us = 60 * SECOND_US;
    return say(from, &config, line);
}

/* The server refuses writes from `begin` on, and takes them again after `end`: both are commands of an
   audit. A lock that is held is renewed and given back all the same if the server lets a script begin with
   a freeing command. */
static void assert_waits(redis_server* server, const char* begin, const char* end, bool holders_live)
{
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* held = want_lock(a, "held", 2 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&held->op) == GH_HELD);
    redis_server_do(server, begin);
    gh_lock* wanted = want_lock(a, "wanted", 60 * SECOND_US);
    gh_command* set = say_patiently(a, "SET here 1");
    unsigned warnings = a->warnings_logged;
    uint64_t begin_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - begin_us > 3 * SECOND_US);
    if (!holders_live) GAME_UNTIL(gh_op_poll(&held->op) != GH_HELD);
    assert_status(gh_op_poll(&held->op), holders_live ? GH_HELD : GH_LOST);
    assert_status(gh_op_poll(&wanted->op), GH_PENDING);
    assert_status(gh_op_poll(&set->op), GH_PENDING);
    assert_true(a->warnings_logged > warnings);
    assert_in_range(game_stats(a).retries, 4, 60); /* with pauses that grow */
    if (holders_live)
    {
        gh_lock_release(held);
        GAME_UNTIL(gh_op_poll(&held->op) == GH_OK);
    }
    redis_server_do(server, end);
    assert_ends(set, GH_OK);
    GAME_UNTIL(gh_op_poll(&wanted->op) == GH_HELD);
    assert_int_equal(game_stats(a).links_lost, 0);
    assert_int_equal(a->errors_logged, 0);
}

static void server_out_of_memory(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    assert_waits(server, "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", true);
}

static void server_without_its_replicas(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.append_only = true});
    assert_waits(server, "CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0", false);
}

/* A folder stands where the snapshot should go. */
static void server_that_cannot_save(void** state)
{
    (void)state;
    char path[160];
    redis_server* server = redis_server_start(NULL);
    snprintf(path, sizeof(path), "%s/data/dump.rdb", redis_server_folder(server));
    assert_int_equal(mkdir(path, 0700), 0);
    redis_server_do(server, "CONFIG SET stop-writes-on-bgsave-error no");
    redis_server_do(server, "CONFIG SET save %s", "3600 1000");
    redis_server_do(server, "BGSAVE");
    WAIT_FOR(strstr(redis_server_text(server, "INFO persistence"), "rdb_last_bgsave_status:err") != NULL);
    assert_waits(server, "CONFIG SET stop-writes-on-bgsave-error yes", "CONFIG SET stop-writes-on-bgsave-error no",
                 false);
    assert_int_equal(rmdir(path), 0);
}

static void server_busy_with_a_script(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "CONFIG SET lua-time-limit 10");
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_lock* before = want_lock(a, "before", 60 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&before->op) == GH_HELD);
    gh_command* endless = run_script(b, NULL, script_new(b, "while true do end"), "", "");
    GAME_UNTIL(game_stats(b).requests_sent == 1 && game_stats(b).requests_waiting == 0);
    for (int i = 0; i < 100; i++) game_tick_all();
    gh_lock* after = want_lock(a, "after", 60 * SECOND_US);
    gh_command* set = say_patiently(a, "SET here 1");
    GAME_UNTIL(game_stats(a).retries >= 6);
    assert_status(gh_op_poll(&after->op), GH_PENDING);
    assert_status(gh_op_poll(&before->op), GH_HELD);
    game* late = game_start(redis_server_address(server)); /* its hand-shake is told to wait, too */
    for (int i = 0; i < 100; i++) game_tick_all();
    assert_false(gh_client_ready(late->client));
    redis_server_do(server, "SCRIPT KILL");
    GAME_UNTIL(gh_op_poll(&after->op) == GH_HELD);
    assert_ends(set, GH_OK);
    GAME_UNTIL(gh_client_ready(late->client));
    gh_status ended = settle_command(endless);
    assert_true(ended == GH_ERROR || ended == GH_UNKNOWN);
    assert_int_equal(game_stats(a).protocol_errors, 0);
}

static void server_that_becomes_a_replica(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* held = want_lock(a, "held", 60 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&held->op) == GH_HELD);
    redis_server_do(server, "REPLICAOF 127.0.0.1 1");
    gh_lock* wanted = want_lock(a, "wanted", 60 * SECOND_US);
    gh_command* set = say_patiently(a, "SET here 1");
    GAME_UNTIL(game_stats(a).links_lost == 1);
    GAME_UNTIL((game_stats(a).warnings & GH_WARNING_REPLICA) != 0);
    assert_status(gh_op_poll(&held->op), GH_HELD);
    redis_server_do(server, "REPLICAOF NO ONE");
    assert_ends(set, GH_OK);
    GAME_UNTIL(gh_op_poll(&wanted->op) == GH_HELD);
    assert_status(gh_op_poll(&held->op), GH_HELD);
    gh_lock_release(held);
    GAME_UNTIL(gh_op_poll(&held->op) == GH_OK);
}

/* Begins a lock that was never begun, or was refused. Never true. */
static bool try_again(game* self, gh_lock* lock)
{
    gh_status status = gh_op_poll(&lock->op);
    if (status == GH_IDLE || status == GH_REFUSED)
        assert_status(gh_lock_begin(lock, self->client, gh_str_literal("sword"), NULL), GH_OK);
    return false;
}

static void server_that_takes_a_right_away(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "ACL SETUSER alice reset on >secret ~* &* +@all");
    gh_client_config config = game_config(redis_server_address(server));
    config.user = gh_str_literal("alice");
    config.password = gh_str_literal("secret");
    game* a = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(a->client));
    redis_server_do(server, "ACL SETUSER alice -evalsha");
    gh_lock* lock = want_lock(a, "sword", 60 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_REFUSED);
    assert_non_null(strstr(a->last_error, "NOPERM"));
    assert_ends(say(a, NULL, "SET here 1"), GH_OK);

    redis_server_do(server, "ACL SETUSER alice +evalsha -set"); /* refused inside the script */
    lock = want_lock(a, "sword", 60 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_UNKNOWN); /* the script may have written before it */

    lock = want_lock(a, "sword", 60 * SECOND_US); /* and before the next one the rights are looked at */
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_REFUSED);
    assert_non_null(strstr(a->last_error, "lacks rights to call: SET"));

    redis_server_do(server, "ACL SETUSER alice +@all");
    lock = GAME_NEW(a, gh_lock);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD || try_again(a, lock));
}

/* The server closes the connections of a user that is deleted, and knows the name no more. */
static void server_that_deletes_the_user(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "ACL SETUSER alice reset on >secret ~* &* +@all");
    gh_client_config config = game_config(redis_server_address(server));
    config.user = gh_str_literal("alice");
    config.password = gh_str_literal("secret");
    game* a = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(a->client));
    redis_server_do(server, "ACL DELUSER alice");
    GAME_UNTIL(!gh_client_ready(a->client));
    assert_ends(say(a, NULL, "SET here 1"), GH_REFUSED);
    redis_server_do(server, "ACL SETUSER alice reset on >secret ~* &* +@all");
    GAME_UNTIL(gh_client_ready(a->client) && gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
}

static void server_that_wants_another_password_from_now_on(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    redis_server_do(server, "CONFIG SET requirepass secret"); /* asks only new connections for it */
    assert_ends(say(a, NULL, "SET here 1"), GH_OK);
    redis_server_do(server, "CLIENT KILL TYPE normal SKIPME yes");
    GAME_UNTIL(!gh_client_ready(a->client));
    assert_ends(say(a, NULL, "SET here 1"), GH_REFUSED);
    redis_server_do(server, "CONFIG SET requirepass %s", "");
    GAME_UNTIL(gh_client_ready(a->client));
}

static void server_that_is_full(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    redis_server_do(server, "CONFIG SET maxclients 3"); /* the audit's, and the two of a */
    game* b = game_start(redis_server_address(server));
    gh_command* set = say_patiently(b, "SET here 1");
    uint64_t begin_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - begin_us > SECOND_US / 2);
    assert_false(gh_client_ready(b->client));
    assert_int_equal(game_stats(b).protocol_errors, 0);
    assert_true(gh_client_ready(a->client));
    redis_server_do(server, "CONFIG SET maxclients 100");
    assert_ends(set, GH_OK);
    assert_int_equal(b->errors_logged, 0);
}

/* A node of a Cluster: keys that lie together work, keys that do not are refused, slots that nobody serves
   are waited for. */
static void server_that_is_one_of_a_cluster(void** state)
{
    (void)state;
    const char* arguments[] = {"--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", NULL};
    redis_server_options options = {.tcp = true, .append_only = true, .arguments = arguments};
    redis_server* server = redis_server_start(&options);
    long long epoch = redis_server_integer(server, "CLUSTER KEYSLOT gh:epoch");
    long long sword = redis_server_integer(server, "CLUSTER KEYSLOT %s", "{lock:sword}");
    assert_int_not_equal(epoch, sword);
    redis_server_do(server, "CLUSTER ADDSLOTS %lld", epoch);
    game* a = game_start_ready(redis_server_address(server));
    gh_lock* lock = want_lock(a, "sword", 60 * SECOND_US);
    GAME_UNTIL(game_stats(a).retries >= 5);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
    redis_server_do(server, "CLUSTER ADDSLOTSRANGE 0 %lld %lld 16383", epoch - 1, epoch + 1);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    assert_ends(say(a, NULL, "MSET a 1 b 2"), GH_REFUSED); /* CROSSSLOT */
    assert_ends(say(a, NULL, "MSET {a}1 1 {a}2 2"), GH_OK);
    assert_true(gh_client_ready(a->client));
}

TEST_FILE(server_states, cmocka_unit_test(server_out_of_memory), cmocka_unit_test(server_without_its_replicas),
          cmocka_unit_test(server_that_cannot_save), cmocka_unit_test(server_busy_with_a_script),
          cmocka_unit_test(server_that_becomes_a_replica), cmocka_unit_test(server_that_takes_a_right_away),
          cmocka_unit_test(server_that_deletes_the_user),
          cmocka_unit_test(server_that_wants_another_password_from_now_on), cmocka_unit_test(server_that_is_full),
          cmocka_unit_test(server_that_is_one_of_a_cluster));
