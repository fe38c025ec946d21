/* store.c -- servers of tests/support, and what the nemesis needs beyond them. */

#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "storm/store.h"

#include "storm/fleet.h"
#include "storm/history.h"
#include "storm/storm.h"
#include "storm/wire.h"
#include "support/server/redis_server.h"
#include "support/scratch.h"
#include "support/wait.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long the server may stand still before the storm gives it up. A connection that is left sooner may be the last
   one to be had: where a fault lets in four clients, the players are these four. */
enum
{
    PATIENCE_US = 20000000
};

/* Shared, so that the witness knows it too. */
static _Atomic int* primary;

static struct
{
    redis_server* servers[2];
    int chosen; /* of a fleet */
    bool kept;
    char path[2][WIRE_PATH_SIZE];
    char folder[SCRATCH_PATH_SIZE];
    redisContext* context;
} store;

/* What is written is in the file before it is answered (a kill -9 loses nothing), and no disk is waited for. */
static const char* const arguments_of_one[] = {"--appendfsync",
                                               "no",
                                               "--user",
                                               "game",
                                               "on",
                                               ">storm",
                                               "~*",
                                               "&*",
                                               "+@all",
                                               "--auto-aof-rewrite-percentage",
                                               "0",
                                               "--loglevel",
                                               "warning",
                                               NULL};

static const char* const arguments_of_two[] = {"--repl-diskless-sync",
                                               "yes",
                                               "--repl-diskless-sync-delay",
                                               "0",
                                               "--repl-timeout",
                                               "60",
                                               "--user",
                                               "game",
                                               "on",
                                               ">storm",
                                               "~*",
                                               "&*",
                                               "+@all",
                                               "--loglevel",
                                               "warning",
                                               "--client-output-buffer-limit",
                                               "replica 256mb 128mb 60",
                                               NULL};

static uint16_t port_of(int server)
{
    return (uint16_t)atoi(strrchr(redis_server_tcp_address(store.servers[server]), ':') + 1);
}

static bool replica_is_connected(void)
{
    const char* text = redis_server_text(store.servers[1 - *primary], "INFO replication");
    return text != NULL && strstr(text, "master_link_status:up") != NULL;
}

static void follow(int replica)
{
    char port[8];
    (void)snprintf(port, sizeof port, "%u", wire_replica_port());
    redis_server_do(store.servers[replica], "REPLICAOF 127.0.0.1 %s", port);
}

static void start_servers(bool failover)
{
    redis_server_options options = {0};
    primary = mmap(NULL, sizeof *primary, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (primary == MAP_FAILED) exit(2);
    options.append_only = !failover;
    options.tcp = failover;
    options.clock = true;
    options.arguments = failover ? arguments_of_two : arguments_of_one;
    for (int i = 0; i < (failover ? 2 : 1); i++)
    {
        store.servers[i] = redis_server_start(&options);
        (void)snprintf(store.path[i], WIRE_PATH_SIZE, "%s", redis_server_address(store.servers[i]) + 5);
    }
    wire_start(store.path[0], store.folder);
    if (!failover) return;
    wire_do((wire_order){.what = WIRE_UPSTREAM_OF_REPLICA, .port = port_of(0)});
    follow(1);
    WAIT_FOR(replica_is_connected());
}

void store_start(void)
{
    scratch_folder(store.folder);
    if (storm.store >= STORM_CLUSTER) fleet_start();
    else start_servers(storm.store == STORM_PAIR);
}

const char* store_path(void)
{
    if (storm.store >= STORM_CLUSTER) return fleet_path(store.chosen);
    return store.path[*primary];
}

const char* store_folder(void)
{
    return store.folder;
}

redisContext* store_connect(uint64_t limit_us)
{
    struct timeval limit = {(time_t)(limit_us / 1000000), (suseconds_t)(limit_us % 1000000)};
    redisContext* context = redisConnectUnixWithTimeout(store_path(), limit);
    if (context != NULL && context->err == 0)
    {
        (void)redisSetTimeout(context, limit);
        return context;
    }
    if (context != NULL) redisFree(context);
    return NULL;
}

static void forget_context(void)
{
    if (store.context != NULL) redisFree(store.context);
    store.context = NULL;
}

void store_choose(uint64_t x)
{
    if (storm.store < STORM_CLUSTER) return;
    redis_server* master = fleet_master(x);
    forget_context();
    if (master != NULL) store.chosen = fleet_behind((unsigned)atoi(strrchr(redis_server_tcp_address(master), ':') + 1));
}

static bool do_command(const char* format, va_list arguments)
{
    if (store.context == NULL) store.context = store_connect(PATIENCE_US);
    if (store.context == NULL) return false;
    redisReply* reply = redisvCommand(store.context, format, arguments);
    bool good = reply != NULL && reply->type != REDIS_REPLY_ERROR;
    if (reply == NULL) forget_context();
    else freeReplyObject(reply);
    return good;
}

bool store_do(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool good = do_command(format, arguments);
    va_end(arguments);
    return good;
}

void store_must(const char* format, ...)
{
    uint64_t end_us = history_now() + PATIENCE_US;
    if (storm.store >= STORM_CLUSTER)
    {
        fleet_must(format);
        return;
    }
    for (;;)
    {
        va_list arguments;
        va_start(arguments, format);
        bool good = do_command(format, arguments);
        va_end(arguments);
        if (good) return;
        if (history_now() > end_us) fail_msg("the server did not do \"%s\"", format);
        history_pause(10000);
    }
}

/* Sends it, and waits for no answer. */
static void send_command(const char* format, ...)
{
    va_list arguments;
    int done = 0;
    redisContext* context = store_connect(PATIENCE_US);
    if (context == NULL) return;
    va_start(arguments, format);
    (void)redisvAppendCommand(context, format, arguments);
    va_end(arguments);
    while (done == 0 && redisBufferWrite(context, &done) == REDIS_OK)
    {
    }
    redisFree(context);
}

void store_sleep(uint64_t us)
{
    char seconds[32];
    (void)snprintf(seconds, sizeof seconds, "%.3f", (double)us / 1e6);
    send_command("DEBUG SLEEP %s", seconds);
}

void store_run_long(uint64_t us)
{
    static const char script[] = "local t = redis.call('TIME') local e = t[1] * 1000000 + t[2] + ARGV[1] repeat t ="
                                 " redis.call('TIME') until t[1] * 1000000 + t[2] >= e return 1";
    char length[32];
    (void)snprintf(length, sizeof length, "%llu", (unsigned long long)us);
    (void)store_do("CONFIG SET lua-time-limit 15");
    send_command("EVAL %s 0 %s", script, length);
}

void store_kill(void)
{
    forget_context();
    redis_server_kill9(store.servers[*primary]);
}

void store_restart(void)
{
    redis_server_restart(store.servers[*primary]);
}

void store_freeze(void)
{
    redis_server_freeze(store.servers[*primary]);
}

void store_thaw(void)
{
    redis_server_thaw(store.servers[*primary]);
}

void store_shift_clock(int64_t offset_us)
{
    for (int i = 0; i < (storm.store == STORM_PAIR ? 2 : 1); i++) redis_server_shift_clock(store.servers[i], offset_us);
}

static void copy_folder(const char* from, const char* to)
{
    pid_t pid = fork();
    if (pid == 0)
    {
        execlp("cp", "cp", "-a", from, to, (char*)NULL);
        _exit(127);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) fprintf(stderr, "storm: cannot copy %s\n", from);
}

static void paths(char data[128], char kept[128])
{
    (void)snprintf(data, 128, "%s/data", redis_server_folder(store.servers[*primary]));
    (void)snprintf(kept, 128, "%s/kept", store.folder);
}

void store_keep(void)
{
    char data[128], kept[128];
    paths(data, kept);
    scratch_remove(kept);
    copy_folder(data, kept);
    store.kept = true;
}

bool store_has_kept(void)
{
    return store.kept;
}

void store_go_back(void)
{
    char data[128], kept[128];
    paths(data, kept);
    store_kill();
    if (store.kept)
    {
        scratch_remove(data);
        copy_folder(kept, data);
        store_restart();
    }
    else redis_server_restart_empty(store.servers[*primary]);
}

bool store_replica_has_all(void)
{
    long long replicas = 0;
    if (!replica_is_connected() || !store_do("PING")) return false; /* WAIT is for what this link has seen */
    redisReply* reply = redisCommand(store.context, "WAIT 1 300");
    if (reply == NULL) forget_context();
    else replicas = reply->type == REDIS_REPLY_INTEGER ? reply->integer : 0;
    freeReplyObject(reply);
    return replicas > 0;
}

static void lead_to(int server)
{
    wire_order order = {.what = WIRE_SERVER};
    *primary = server;
    (void)snprintf(order.path, sizeof order.path, "%s", store.path[server]);
    wire_do(order);
}

void store_fail_over(void)
{
    int old = *primary;
    int heir = 1 - old;
    store_kill();
    wire_do((wire_order){.what = WIRE_UPSTREAM_OF_REPLICA, .port = port_of(heir)});
    redis_server_do(store.servers[heir], "REPLICAOF NO ONE");
    lead_to(heir);
    redis_server_restart(store.servers[old]);
    follow(old);
}

void store_lead_away(void)
{
    int heir = 1 - *primary;
    redis_server_do(store.servers[heir], "REPLICAOF NO ONE");
    lead_to(heir);
}

void store_lead_back(void)
{
    int heir = *primary;
    lead_to(1 - heir);
    follow(heir);
}
