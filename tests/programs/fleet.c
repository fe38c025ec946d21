/* fleet.c -- a Cluster, or servers with Sentinels, for a person or a script: it runs until control-C or the end of its
   input, and nothing of it stays behind. What it prints and takes stands in tests/fleet.sh. */

#include "support/cleanup.h"
#include "support/scratch.h"
#include "support/server/cluster.h"
#include "support/server/sentinels.h"
#include "support/wait.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* ---- the command line ---------------------------------------------------------------------------------- */

typedef struct wishes
{
    bool sentinel;
    unsigned masters;
    unsigned replicas;
    unsigned timeout_ms;
    bool append_only;
    bool quick;
} wishes;

static bool read_number(const char* text, unsigned* number)
{
    char* end;
    unsigned long value = text == NULL ? 0 : strtoul(text, &end, 10);
    if (text == NULL || *text == '\0' || *end != '\0' || value > 100000) return false;
    *number = (unsigned)value;
    return true;
}

static bool read_wishes(char** argv, wishes* wanted)
{
    char** at = argv + 1;
    if (*at == NULL || (strcmp(*at, "cluster") != 0 && strcmp(*at, "sentinel") != 0)) return false;
    *wanted = (wishes){.sentinel = strcmp(*at, "sentinel") == 0, .masters = 3};
    wanted->replicas = wanted->sentinel ? 2 : 1;
    for (at++; *at != NULL; at++)
    {
        bool good = false;
        if (strcmp(*at, "--append-only") == 0) good = wanted->append_only = true;
        else if (strcmp(*at, "--quick") == 0 && wanted->sentinel) good = wanted->quick = true;
        else if (strcmp(*at, "--replicas") == 0) good = read_number(*++at, &wanted->replicas);
        else if (strcmp(*at, "--timeout") == 0) good = read_number(*++at, &wanted->timeout_ms);
        else if (strcmp(*at, "--masters") == 0 && !wanted->sentinel) good = read_number(*++at, &wanted->masters);
        if (!good) return false;
    }
    return wanted->masters > 0 && (!wanted->sentinel || wanted->replicas > 0);
}

/* ---- what runs ----------------------------------------------------------------------------------------- */

#define SERVERS_MAX (CLUSTER_NODES_MAX + 2 * SENTINELS_MOST)
#define HOLD_MS     3600000 /* longer than anybody waits; "release" ends it, and the end of the server */

static cluster* nodes; /* one of the two is NULL */
static sentinels* watched;
static redis_server* servers[SERVERS_MAX]; /* numbered as they are printed; Sentinels come last; NULL: it was removed */
static size_t server_count;
static size_t first_sentinel;

static void start_cluster(const wishes* wanted)
{
    cluster_options options = {.masters = wanted->masters,
                               .replicas = wanted->replicas,
                               .node_timeout_ms = wanted->timeout_ms,
                               .append_only = wanted->append_only};
    nodes = cluster_start(&options);
    for (size_t i = 0; i < cluster_count(nodes); i++) servers[server_count++] = cluster_node(nodes, i);
    first_sentinel = server_count;
}

static void start_sentinels(const wishes* wanted)
{
    sentinels_options options = {.replicas = wanted->replicas,
                                 .down_after_ms = wanted->timeout_ms,
                                 .append_only = wanted->append_only,
                                 .quick = wanted->quick};
    watched = sentinels_start(&options);
    for (size_t i = 0; i < sentinels_server_count(watched); i++) servers[server_count++] = sentinels_server(watched, i);
    first_sentinel = server_count;
    for (size_t i = 0; i < sentinels_sentinel_count(watched); i++)
        servers[server_count++] = sentinels_sentinel(watched, i);
}

static const char* role_of(size_t number)
{
    redis_server* server = servers[number];
    if (redis_server_pid(server) == 0) return "killed";
    if (!redis_server_runs(server)) return "frozen";
    if (watched != NULL && number >= first_sentinel) return "sentinel";
    return (nodes != NULL ? cluster_is_master(server) : sentinels_is_master(server)) ? "master" : "replica";
}

static void show_all(void)
{
    for (size_t i = 0; i < server_count; i++)
        if (servers[i] != NULL)
            printf("%zu %s %s process %ld\n", i, redis_server_tcp_address(servers[i]), role_of(i),
                   (long)redis_server_pid(servers[i]));
    if (watched != NULL) printf("name: %s\n", SENTINELS_NAME);
    printf("addresses: %s\n", nodes != NULL ? cluster_seeds(nodes) : sentinels_seeds(watched));
    fflush(stdout);
}

/* ---- what is asked for --------------------------------------------------------------------------------- */

static void restart(size_t number)
{
    if (watched != NULL && number >= first_sentinel) sentinels_restart(watched, servers[number]);
    else redis_server_restart(servers[number]);
}

static bool replicas_have(redis_server* master, long long offset)
{
    long long port = atoll(strrchr(redis_server_tcp_address(master), ':') + 1);
    for (size_t i = 0; i < server_count; i++)
    {
        if (servers[i] == NULL || !redis_server_runs(servers[i])) continue;
        if (redis_server_told(servers[i], "INFO replication", "\nmaster_port:") != port) continue;
        if (redis_server_told(servers[i], "INFO replication", "\nslave_repl_offset:") < offset) return false;
    }
    return true;
}

/* Writes that come now wait at the server, not carried out, and what it has answered is at all of its replicas: then
   it takes nothing along that anybody counts on, whatever happens to it. */
static void hold(redis_server* master)
{
    redis_server_do(master, "CLIENT PAUSE %d WRITE", HOLD_MS);
    long long offset = redis_server_told(master, "INFO replication", "\nmaster_repl_offset:");
    WAIT_FOR(replicas_have(master, offset));
}

/* Where all is well. Of a Cluster, the master or its replica may be named. */
static bool fail_over(size_t number)
{
    if (nodes == NULL)
    {
        if (!sentinels_has_settled(watched)) return false;
        const redis_server* former = sentinels_master(watched);
        sentinels_failover(watched);
        sentinels_await_master(watched, former);
        return true;
    }
    if (!cluster_has_settled(nodes)) return false;
    for (unsigned slot = 0; slot < CLUSTER_SLOTS; slot += 64)
    {
        redis_server* master = cluster_master(nodes, slot);
        if (master == NULL || cluster_replica(nodes, master, 0) == NULL) continue;
        if (master != servers[number] && cluster_replica(nodes, master, 0) != servers[number]) continue;
        cluster_failover(nodes, slot, CLUSTER_PLANNED);
        cluster_await_master(nodes, slot, master);
        return true;
    }
    return false;
}

/* A master that was frozen a moment ago is not missed yet by those that run. */
static bool all_slots_are_served(void)
{
    unsigned slots = 0;
    for (size_t i = 0; i < cluster_count(nodes); i++)
        if (redis_server_runs(cluster_node(nodes, i))) slots += cluster_slots_of(cluster_node(nodes, i));
    return slots == CLUSTER_SLOTS;
}

static void settle(void)
{
    if (watched != NULL) sentinels_settle(watched);
    else WAIT_SELDOM(all_slots_are_served() && cluster_has_settled(nodes), cluster_show(nodes));
}

/* One that was replaced meanwhile is a replica before, and refuses what waits. A Sentinel's greeting waits there, too,
   and with it all that the Sentinel would say: so that one is told by us. */
static void release(redis_server* server)
{
    if (watched != NULL) sentinels_make_replica(watched, server);
    else settle();
    redis_server_do(server, "CLIENT UNPAUSE");
}

static redis_server* master_with(bool most)
{
    redis_server* best = NULL;
    for (size_t i = 0; i < server_count; i++)
    {
        if (servers[i] == NULL || !redis_server_runs(servers[i]) || !cluster_is_master(servers[i])) continue;
        unsigned slots = cluster_slots_of(servers[i]);
        if (best == NULL || (most ? slots > cluster_slots_of(best) : slots <= cluster_slots_of(best)))
            best = servers[i];
    }
    return best;
}

/* From who has most slots to who has fewest. Slots that go to and fro, as they would between masters with as many,
   end now and then where two masters each say that the other has one. */
static bool reshard(unsigned slots)
{
    if (nodes == NULL) return false;
    settle();
    redis_server* from = master_with(true);
    redis_server* to = master_with(false);
    if (from == NULL || from == to || slots == 0 || slots > cluster_slots_of(from)) return false;
    cluster_reshard work = cluster_reshard_begin(nodes, from, to, slots);
    while (cluster_reshard_step(&work) && !interrupted)
    {
    }
    return true;
}

static bool add_node(void)
{
    if (nodes == NULL || server_count == SERVERS_MAX) return false;
    settle();
    servers[server_count++] = cluster_add(nodes);
    return true;
}

static bool remove_node(size_t number)
{
    if (nodes == NULL) return false;
    settle();
    cluster_remove(nodes, servers[number]);
    servers[number] = NULL;
    return true;
}

/* What is asked of the fleet as a whole. */
static bool is_of_all(const char* word, unsigned number, bool* good)
{
    *good = true;
    if (strcmp(word, "settle") == 0) settle();
    else if (strcmp(word, "reshard") == 0) *good = reshard(number);
    else if (strcmp(word, "add") == 0) *good = add_node();
    else return false;
    return true;
}

/* False if it makes no sense. */
static bool obey(const char* line)
{
    char word[16];
    unsigned number = 0;
    bool good;
    int count = sscanf(line, "%15s %u", word, &number);
    if (count <= 0) return true;
    if (is_of_all(word, number, &good)) return good;
    if (number >= server_count || servers[number] == NULL) return false;
    if (strcmp(word, "failover") == 0)
    {
        settle();
        return (watched != NULL || count == 2) && fail_over(number);
    }
    if (count != 2) return false;
    if (strcmp(word, "remove") == 0) return remove_node(number);
    bool exists = redis_server_pid(servers[number]) != 0;
    bool runs = redis_server_runs(servers[number]);
    if (strcmp(word, "kill") == 0) redis_server_kill9(servers[number]);
    else if (strcmp(word, "hold") == 0 && runs) hold(servers[number]);
    else if (strcmp(word, "release") == 0 && runs) release(servers[number]);
    else if (strcmp(word, "freeze") == 0 && runs) redis_server_freeze(servers[number]);
    else if (strcmp(word, "thaw") == 0 && exists) redis_server_thaw(servers[number]);
    else if (strcmp(word, "restart") == 0) restart(number);
    else return false;
    return true;
}

/* A line of the input at a time; an empty one only shows all. */
static void serve(void)
{
    char line[64];
    char byte;
    size_t size = 0;
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    while (!interrupted) /* a signal may come just before the poll */
    {
        if (poll(&input, 1, 500) <= 0) continue;
        if (read(STDIN_FILENO, &byte, 1) <= 0) return;
        if (byte != '\n' && size + 1 < sizeof(line)) line[size++] = byte;
        if (byte != '\n') continue;
        line[size] = '\0';
        size = 0;
        if (!obey(line))
            printf("kill N, freeze N, thaw N, restart N, failover N, hold N, release N, settle, reshard SLOTS, add, "
                   "remove N; or nothing, to see who is what\n");
        show_all();
    }
}

int main(int argc, char** argv)
{
    wishes wanted;
    struct sigaction action;
    (void)argc;
    if (!read_wishes(argv, &wanted))
    {
        fprintf(stderr, "fleet cluster|sentinel [--masters N] [--replicas N] [--timeout MS] [--append-only] "
                        "[--quick]\n");
        return 2;
    }
    if (wanted.sentinel) start_sentinels(&wanted);
    else start_cluster(&wanted);
    show_all();

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    serve();
    cleanup_end();
    scratch_close();
    return 0;
}
