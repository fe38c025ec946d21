/* sentinels.c -- servers and Sentinels started, and what the ones say of the others. */

#include "support/server/sentinels.h"

#include "support/cleanup.h"
#include "support/server/redis_process.h"
#include "support/suite.h"
#include "support/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIGURATION_SIZE 4096
#define SEEDS_SIZE         256
#define HOST_SIZE          64

/* Of Sentinels, in milliseconds: how often they ask a server how it stands, tell each other of themselves,
   and look whether a server is there.

   PUBLISH_MS is left as it is, because by it they measure how long they wait to hear of a failover: a replica that says
   to be a master is made a replica again after four times that. Only the one that leads a failover knows of it, and it
   asks the new master once a second, whatever INFO_MS is. With 200 ms the others undid failovers a tenth of a second
   before they would have been told: so that is for the start alone, where all have to find each other. */
#define INFO_MS          10000
#define PUBLISH_MS       2000
#define PING_MS          1000
#define QUICK_INFO_MS    200
#define START_PUBLISH_MS 200
#define TILT_MS          1000 /* how long one keeps still that finds that its clock has jumped, or that it was frozen */

struct sentinels
{
    sentinels_options options;
    redis_server* servers[SENTINELS_MOST];
    redis_server* watchers[SENTINELS_MOST];
    size_t server_count;
    size_t watcher_count;
    char master_configuration[CONFIGURATION_SIZE];
    char replica_configuration[CONFIGURATION_SIZE];
    char sentinel_configuration[CONFIGURATION_SIZE];
    char seeds[SEEDS_SIZE];
};

static void show_one(const char* what, size_t number, const redis_server* server)
{
    fprintf(stderr, "---- %s %zu %s %s\n", what, number, redis_server_tcp_address(server),
            redis_server_runs(server) ? "" : "does not run");
    redis_process_show_log(redis_server_folder(server));
}

void sentinels_show(const sentinels* fleet)
{
    for (size_t i = 0; i < fleet->server_count; i++) show_one("server", i, fleet->servers[i]);
    for (size_t i = 0; i < fleet->watcher_count; i++) show_one("sentinel", i, fleet->watchers[i]);
}

static const char* port_of(const redis_server* server)
{
    return strrchr(redis_server_tcp_address(server), ':') + 1;
}

/* ---- started ------------------------------------------------------------------------------------------- */

/* Adds a line, or nothing if the value is NULL. */
static void add_line(char* configuration, const char* name, const char* value)
{
    size_t size = strlen(configuration);
    if (value == NULL) return;
    if (snprintf(configuration + size, CONFIGURATION_SIZE - size, "%s %s\n", name, value) >=
        (int)(CONFIGURATION_SIZE - size))
        fail_msg("%s", "too much configuration for a server");
}

static void add_number(char* configuration, const char* name, unsigned value)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", value);
    add_line(configuration, name, text);
}

static bool has_name(const sentinels* fleet)
{
    return fleet->options.host != NULL;
}

static const char* host_of(const sentinels* fleet)
{
    return has_name(fleet) ? fleet->options.host : "127.0.0.1";
}

static void add_server(sentinels* fleet, char* configuration, const char* replica_of)
{
    char master[HOST_SIZE + 16];
    const sentinels_options* options = &fleet->options;
    configuration[0] = '\0';
    add_number(configuration, "repl-diskless-sync-delay", 0);
    if (options->tls != NULL) add_line(configuration, "tls-replication", "yes");
    add_line(configuration, "requirepass", options->password);
    add_line(configuration, "masterauth", options->password);
    add_line(configuration, "user", options->user);
    add_line(configuration, "replica-announce-ip", options->host);
    snprintf(master, sizeof(master), "%s %s", host_of(fleet), replica_of == NULL ? "" : replica_of);
    add_line(configuration, "replicaof", replica_of == NULL ? NULL : master);
    redis_server_options server = {.tcp = true,
                                   .append_only = options->append_only,
                                   .clock = options->clock,
                                   .tls = options->tls,
                                   .password = options->password,
                                   .configuration = configuration};
    fleet->servers[fleet->server_count] = redis_server_start(&server);
    fleet->server_count++;
}

static void add_sentinel(sentinels* fleet)
{
    const sentinels_options* options = &fleet->options;
    char* configuration = fleet->sentinel_configuration;
    char monitor[HOST_SIZE + 32];
    snprintf(monitor, sizeof(monitor), "%s %s %u", host_of(fleet), port_of(fleet->servers[0]),
             options->sentinels / 2 + 1);
    configuration[0] = '\0';
    if (options->tls != NULL) add_line(configuration, "tls-replication", "yes");
    add_line(configuration, "requirepass", options->sentinel_password);
    add_line(configuration, "user", options->sentinel_user);
    if (has_name(fleet)) add_line(configuration, "sentinel resolve-hostnames", "yes");
    if (has_name(fleet)) add_line(configuration, "sentinel announce-hostnames", "yes");
    add_line(configuration, "sentinel monitor " SENTINELS_NAME, monitor);
    add_line(configuration, "sentinel auth-pass " SENTINELS_NAME, options->password);
    add_number(configuration, "sentinel down-after-milliseconds " SENTINELS_NAME, options->down_after_ms);
    add_number(configuration, "sentinel failover-timeout " SENTINELS_NAME, options->failover_timeout_ms);
    redis_server_options server = {.tcp = true,
                                   .tls = options->tls,
                                   .password = options->sentinel_password,
                                   .configuration = configuration,
                                   .sentinel = true};
    fleet->watchers[fleet->watcher_count] = redis_server_start(&server);
    fleet->watcher_count++;
}

/* A Sentinel tries to connect once in its ping period. After a failover it connects anew, and where that period is
   longer than what it takes for down, it takes the new master for down at once, and fails over again. One that is too
   old for this command goes on as it does. */
static void set_pace(const sentinels* fleet, redis_server* sentinel, bool quick, unsigned publish_ms)
{
    unsigned ping_ms = fleet->options.down_after_ms / 4;
    redisReply* reply = redis_server_command(
        sentinel, "SENTINEL DEBUG INFO-PERIOD %d PUBLISH-PERIOD %u PING-PERIOD %u TILT-PERIOD %d",
        quick ? QUICK_INFO_MS : INFO_MS, publish_ms, ping_ms < PING_MS ? ping_ms + 1 : PING_MS, TILT_MS);
    freeReplyObject(reply);
}

/* A Sentinel finds the replicas that its master has when it first looks, and then not for ten seconds. */
static bool knows_replicas(redis_server* master, unsigned count)
{
    unsigned online = 0;
    const char* info = redis_server_text(master, "INFO replication");
    for (const char* at = strstr(info, "state=online"); at != NULL; at = strstr(at + 1, "state=online")) online++;
    return online == count;
}

static void end_thing(void* thing)
{
    free(thing); /* servers and Sentinels are ended by themselves */
}

static sentinels* new_fleet(const sentinels_options* options)
{
    sentinels* fleet = calloc(1, sizeof(*fleet));
    if (fleet == NULL) abort();
    cleanup_add(end_thing, fleet);
    if (options != NULL) fleet->options = *options;
    if (fleet->options.replicas == 0) fleet->options.replicas = 2;
    if (fleet->options.sentinels == 0) fleet->options.sentinels = 3;
    if (fleet->options.down_after_ms == 0) fleet->options.down_after_ms = 500;
    if (fleet->options.failover_timeout_ms == 0) fleet->options.failover_timeout_ms = 2000;
    if (fleet->options.replicas >= SENTINELS_MOST || fleet->options.sentinels > SENTINELS_MOST)
        fail_msg("%s", "too many servers");
    return fleet;
}

sentinels* sentinels_start(const sentinels_options* options)
{
    sentinels* fleet = new_fleet(options);
    add_server(fleet, fleet->master_configuration, NULL);
    redis_server* master = fleet->servers[0];
    for (unsigned i = 0; i < fleet->options.replicas; i++)
        add_server(fleet, fleet->replica_configuration, port_of(master));
    WAIT_SELDOM(knows_replicas(master, fleet->options.replicas), sentinels_show(fleet));
    for (unsigned i = 0; i < fleet->options.sentinels; i++) add_sentinel(fleet);
    for (size_t i = 0; i < fleet->watcher_count; i++) set_pace(fleet, fleet->watchers[i], true, START_PUBLISH_MS);
    sentinels_settle(fleet);
    for (size_t i = 0; i < fleet->watcher_count; i++)
        set_pace(fleet, fleet->watchers[i], fleet->options.quick, PUBLISH_MS);
    return fleet;
}

void sentinels_end(sentinels* fleet)
{
    for (size_t i = 0; i < fleet->watcher_count; i++) redis_server_end(fleet->watchers[i]);
    for (size_t i = 0; i < fleet->server_count; i++) redis_server_end(fleet->servers[i]);
    cleanup_forget(fleet);
    end_thing(fleet);
}

void sentinels_restart(const sentinels* fleet, redis_server* sentinel)
{
    redis_server_restart(sentinel);
    set_pace(fleet, sentinel, fleet->options.quick, PUBLISH_MS);
}

/* ---- who is there -------------------------------------------------------------------------------------- */

size_t sentinels_server_count(const sentinels* fleet)
{
    return fleet->server_count;
}

redis_server* sentinels_server(const sentinels* fleet, size_t index)
{
    if (index >= fleet->server_count) fail_msg("there is no server %zu", index);
    return fleet->servers[index];
}

size_t sentinels_sentinel_count(const sentinels* fleet)
{
    return fleet->watcher_count;
}

redis_server* sentinels_sentinel(const sentinels* fleet, size_t index)
{
    if (index >= fleet->watcher_count) fail_msg("there is no Sentinel %zu", index);
    return fleet->watchers[index];
}

const char* sentinels_seeds(sentinels* fleet)
{
    size_t size = 0;
    for (size_t i = 0; i < fleet->watcher_count; i++)
        size += (size_t)snprintf(fleet->seeds + size, sizeof(fleet->seeds) - size, "%s%s", i == 0 ? "" : ",",
                                 redis_server_tcp_address(fleet->watchers[i]));
    return fleet->seeds;
}

/* One that changes its role cuts its clients off, so there may be no answer; is_what then says no. */
static bool tells_role(redis_server* server, bool (*is_what)(const redisReply* reply, const redis_server* master),
                       const redis_server* master)
{
    redisReply* reply = redis_server_try(server, "ROLE");
    if (reply == NULL) return false;
    bool result = reply->type == REDIS_REPLY_ARRAY && reply->elements >= 3 && is_what(reply, master);
    freeReplyObject(reply);
    return result;
}

static bool is_of_a_master(const redisReply* reply, const redis_server* master)
{
    (void)master;
    return strcmp(reply->element[0]->str, "master") == 0;
}

/* "slave", host, port, how far it is, bytes */
static bool is_of_its_replica(const redisReply* reply, const redis_server* master)
{
    return strcmp(reply->element[0]->str, "slave") == 0 && reply->elements >= 5 &&
           reply->element[2]->integer == atoi(port_of(master)) && strcmp(reply->element[3]->str, "connected") == 0;
}

bool sentinels_is_master(redis_server* server)
{
    return tells_role(server, is_of_a_master, NULL);
}

/* The server that a Sentinel names; NULL if it names none of ours. */
static redis_server* named_by(const sentinels* fleet, redis_server* sentinel)
{
    redis_server* named = NULL;
    redisReply* reply = redis_server_command(sentinel, "SENTINEL GET-MASTER-ADDR-BY-NAME " SENTINELS_NAME);
    for (size_t i = 0; i < fleet->server_count && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2; i++)
        if (strcmp(reply->element[1]->str, port_of(fleet->servers[i])) == 0) named = fleet->servers[i];
    freeReplyObject(reply);
    return named;
}

/* How many Sentinels run, and how many of them name this server. */
static size_t voices(const sentinels* fleet, const redis_server* server, size_t* running)
{
    size_t count = 0;
    *running = 0;
    for (size_t i = 0; i < fleet->watcher_count; i++)
    {
        if (!redis_server_runs(fleet->watchers[i])) continue;
        ++*running;
        if (named_by(fleet, fleet->watchers[i]) == server) count++;
    }
    return count;
}

redis_server* sentinels_master(const sentinels* fleet)
{
    for (size_t i = 0; i < fleet->server_count; i++)
    {
        redis_server* server = fleet->servers[i];
        size_t running;
        if (!redis_server_runs(server) || !sentinels_is_master(server)) continue;
        if (voices(fleet, server, &running) * 2 > running) return server;
    }
    return NULL;
}

/* ---- do they agree ------------------------------------------------------------------------------------- */

/* The value behind a name in a list of names and values; "" if there is none. */
static const char* field(const redisReply* reply, const char* name)
{
    if (reply->type != REDIS_REPLY_ARRAY) return "";
    for (size_t i = 0; i + 1 < reply->elements; i += 2)
        if (strcmp(reply->element[i]->str, name) == 0) return reply->element[i + 1]->str;
    return "";
}

/* No failover under way, nobody down, nobody missing. */
static bool is_content(const sentinels* fleet, redis_server* sentinel)
{
    redisReply* reply = redis_server_command(sentinel, "SENTINEL MASTER " SENTINELS_NAME);
    bool result = strcmp(field(reply, "flags"), "master") == 0 &&
                  (size_t)atoi(field(reply, "num-slaves")) + 1 == fleet->server_count &&
                  (size_t)atoi(field(reply, "num-other-sentinels")) + 1 == fleet->watcher_count;
    freeReplyObject(reply);
    return result;
}

static bool all_name(const sentinels* fleet, const redis_server* master)
{
    size_t running;
    return master != NULL && voices(fleet, master, &running) == running;
}

bool sentinels_has_settled(const sentinels* fleet)
{
    const redis_server* master = sentinels_master(fleet);
    if (!all_name(fleet, master)) return false;
    for (size_t i = 0; i < fleet->watcher_count; i++)
        if (redis_server_runs(fleet->watchers[i]) && !is_content(fleet, fleet->watchers[i])) return false;
    for (size_t i = 0; i < fleet->server_count; i++)
    {
        redis_server* server = fleet->servers[i];
        if (server == master || !redis_server_runs(server)) continue;
        if (!tells_role(server, is_of_its_replica, master)) return false;
    }
    return true;
}

void sentinels_settle(const sentinels* fleet)
{
    WAIT_SELDOM(sentinels_has_settled(fleet), sentinels_show(fleet));
}

redis_server* sentinels_await_master(const sentinels* fleet, const redis_server* former)
{
    redis_server* master = NULL;
    WAIT_SELDOM((master = sentinels_master(fleet)) != NULL && master != former && all_name(fleet, master),
                sentinels_show(fleet));
    return master;
}

/* Its answer may be lost: a Sentinel that does the same cuts its clients off. */
static void tell(redis_server* server, const char* format, const char* word, const char* more)
{
    redisReply* reply = redis_server_try(server, format, word, more);
    if (reply != NULL) freeReplyObject(reply);
}

void sentinels_make_replica(const sentinels* fleet, redis_server* former)
{
    if (!redis_server_runs(former) || !sentinels_is_master(former)) return;
    for (size_t i = 0; i < fleet->server_count; i++)
    {
        redis_server* master = fleet->servers[i];
        if (master == former || !redis_server_runs(master) || !sentinels_is_master(master) || !all_name(fleet, master))
            continue;
        tell(former, "REPLICAOF %s %s", host_of(fleet), port_of(master));
        tell(former, "%s %s", "CONFIG", "REWRITE");
        return;
    }
}

static bool is_taken_up(const sentinels* fleet)
{
    bool taken = false;
    for (size_t i = 0; i < fleet->watcher_count && !taken; i++)
    {
        if (!redis_server_runs(fleet->watchers[i])) continue;
        redisReply* reply = redis_server_command(fleet->watchers[i], "SENTINEL FAILOVER " SENTINELS_NAME);
        taken = reply->type == REDIS_REPLY_STATUS;
        freeReplyObject(reply);
    }
    return taken;
}

void sentinels_replicas_have_all(const sentinels* fleet)
{
    redis_server_await_replicas(sentinels_master(fleet), sentinels_server_count(fleet) - 1);
}

void sentinels_failover(const sentinels* fleet)
{
    WAIT_SELDOM(is_taken_up(fleet), sentinels_show(fleet));
}
