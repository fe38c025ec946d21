/* Sentinels that say what is not so, say it in another way than sentinels do, or say nothing. The servers are real. */

#include "sentinel/clerks.h"
#include "support/random.h"
#include "support/server/fake_server.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* One sentinel of the test's own: to the n-th question it says the n-th text, to later ones the last. */
typedef struct liar
{
    const char* const* says;
    unsigned count;
    atomic_uint asked;
} liar;

static void liar_answer(void* context, const fake_request* request, fake_reply* reply)
{
    liar* self = context;
    if (!fake_request_is(request, "SENTINEL"))
    {
        fake_reply_default(reply);
        return;
    }
    unsigned n = atomic_fetch_add(&self->asked, 1);
    fake_reply_text(reply, self->says[n < self->count ? n : self->count - 1]);
}

/* "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n6379\r\n" of "127.0.0.1:6379" */
static const char* address_of(redis_server* server, char text[96])
{
    const char* address = redis_server_tcp_address(server);
    const char* port = strrchr(address, ':') + 1;
    const int host_size = (int)(port - 1 - address);
    snprintf(text, 96, "*2\r\n$%d\r\n%.*s\r\n$%zu\r\n%s\r\n", host_size, host_size, address, strlen(port), port);
    return text;
}

static game* start_with(const char* seeds)
{
    gh_client_config config = game_config_behind(seeds);
    return game_start_with(&config);
}

static void replicate(redis_server* replica, redis_server* master)
{
    char host[64];
    snprintf(host, sizeof host, "%s", redis_server_tcp_address(master));
    char* colon = strrchr(host, ':');
    *colon = 0;
    redis_server_do(replica, "REPLICAOF %s %s", host, colon + 1);
}

static redis_server* server_with_port(void)
{
    return redis_server_start(&(redis_server_options){.tcp = true});
}

static void replica_is_not_believed(void** state)
{
    (void)state;
    redis_server* master = server_with_port();
    redis_server* replica = server_with_port();
    replicate(replica, master);
    char of_master[96];
    char of_replica[96];
    const char* const says[] = {address_of(replica, of_replica), of_replica, of_replica, address_of(master, of_master)};
    liar self = {says, 4, 0};
    game* a = start_with(fake_server_address(fake_server_start(liar_answer, &self, NULL)));
    clerks all = clerks_start(a, 4);
    clerks_until(&all, 5);
    clerks_rest(&all);
    assert_int_equal(clerks_lost(&all, master), 0);
    assert_true(atomic_load(&self.asked) >= 4);
    assert_null(strstr(redis_server_text(replica, "INFO commandstats"), "cmdstat_evalsha:"));
}

static void address_that_is_none_is_not_connected_to(void** state)
{
    (void)state;
    redis_server* master = server_with_port();
    char of_master[96];
    static char long_host[1400];
    memset(long_host, 'a', sizeof long_host);
    memcpy(long_host, "*2\r\n$1300\r\n", 11);
    snprintf(long_host + 1311, sizeof long_host - 1311, "\r\n$1\r\n1\r\n");
    const char* const says[] = {"*-1\r\n",
                                "$-1\r\n",
                                "*0\r\n",
                                "*2\r\n$0\r\n\r\n$4\r\n6379\r\n",
                                "*2\r\n$9\r\n127.0.0.1\r\n$1\r\n0\r\n",
                                "*2\r\n$9\r\n127.0.0.1\r\n$5\r\n65536\r\n",
                                "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n63a9\r\n",
                                "*2\r\n$9\r\n127.0.0.1\r\n:6379\r\n",
                                "*2\r\n:1\r\n:2\r\n",
                                "*2\r\n$7\r\nelsewhe\r\n$4\r\n6379\r\n",
                                "*2\r\n$-1\r\n$-1\r\n",
                                ":5\r\n",
                                "+OK\r\n",
                                "-ERR no\r\n",
                                "not RESP\r\n",
                                long_host,
                                address_of(master, of_master)};
    liar self = {says, sizeof says / sizeof says[0], 0};
    game* a = start_with(fake_server_address(fake_server_start(liar_answer, &self, NULL)));
    clerks all = clerks_start(a, 2);
    GAME_UNTIL(gh_client_ready(a->client));
    assert_int_equal(game_stats(a).links_ready, 1);
    assert_int_equal(atomic_load(&self.asked), self.count);
    (void)all;
}

/* Events can be said by anybody who may PUBLISH there. */
static void event_leads_to_no_server_that_is_no_master(void** state)
{
    (void)state;
    redis_server* master = server_with_port();
    char answer[96];
    char said[600];
    snprintf(said, sizeof said,
             "%s*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$31\r\ngame 127.0.0.1 1 127.0.0.1 65000\r\n"
             "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$33\r\nothers 127.0.0.1 1 127.0.0.1 65000\r\n"
             "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$0\r\n\r\n"
             "*3\r\n$7\r\nmessage\r\n$35\r\n+failover-state-send-slaveof-noone\r\n$5\r\nslave\r\n",
             address_of(master, answer));
    const char* const says[] = {answer, said, answer};
    liar self = {says, 3, 0};
    game* a = start_with(fake_server_address(fake_server_start(liar_answer, &self, NULL)));
    clerks all = clerks_start(a, 2);
    clerks_until(&all, 5);
    redis_server_do(master, "CLIENT KILL TYPE normal");
    clerks_until(&all, 5);
    clerks_rest(&all);
    assert_int_equal(clerks_lost(&all, master), 0);
}

/* It answers once. */
static void silent_one_is_not_waited_for(void** state)
{
    (void)state;
    redis_server* master = server_with_port();
    char of_master[96];
    const char* const says[] = {address_of(master, of_master), ""};
    liar silent = {says, 2, 0};
    liar good = {says, 1, 0};
    char both[400];
    snprintf(both, sizeof both, "%s,%s", fake_server_address(fake_server_start(liar_answer, &silent, NULL)),
             fake_server_address(fake_server_start(liar_answer, &good, NULL)));
    game* a = start_with(both);
    for (uint64_t ready = 1; atomic_load(&silent.asked) < 2; ready++)
    {
        GAME_UNTIL(game_stats(a).links_ready == ready);
        redis_server_do(master, "CLIENT KILL TYPE normal");
    }
    GAME_UNTIL(gh_client_ready(a->client));
    assert_int_equal(atomic_load(&silent.asked), 2); /* before it was given up, and asked again */
}

/* Whatever one sentinel sends, the other is enough. */
static void garbage_costs_that_sentinel_alone(void** state)
{
    (void)state;
    static const char letters[] = "*$:-+0123456789\r\n\r\n\r\nabmessage";
    redis_server* master = server_with_port();
    char of_master[96];
    static char garbage[32][65];
    random_stream stream = random_for_test("garbage");
    const char* says[32];
    for (unsigned i = 0; i < 32; i++)
    {
        for (unsigned k = 0; k < 64; k++) garbage[i][k] = letters[random_below(&stream, sizeof letters - 1)];
        says[i] = garbage[i];
    }
    const char* const right[] = {address_of(master, of_master)};
    liar bad = {says, 32, 0};
    liar good = {right, 1, 0};
    char both[400];
    snprintf(both, sizeof both, "%s,%s", fake_server_address(fake_server_start(liar_answer, &bad, NULL)),
             fake_server_address(fake_server_start(liar_answer, &good, NULL)));
    game* a = start_with(both);
    clerks all = clerks_start(a, 2);
    for (unsigned i = 0; i < 16; i++)
    {
        clerks_until(&all, 2);
        redis_server_do(master, "CLIENT KILL TYPE normal");
    }
    clerks_until(&all, 2);
    clerks_rest(&all);
    assert_int_equal(clerks_lost(&all, master), 0);
}

TEST_FILE(sentinel_lies, cmocka_unit_test(replica_is_not_believed),
          cmocka_unit_test(address_that_is_none_is_not_connected_to),
          cmocka_unit_test(event_leads_to_no_server_that_is_no_master), cmocka_unit_test(silent_one_is_not_waited_for),
          cmocka_unit_test(garbage_costs_that_sentinel_alone));
