/* cluster.c -- nodes started, joined and let go, and what they say of each other. */

#include "support/server/cluster.h"

#include "support/cleanup.h"
#include "support/scratch.h"
#include "support/server/cluster_view.h"
#include "support/server/redis_process.h"
#include "support/suite.h"
#include "support/wait.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_SIZE            48
#define ADDRESS_SIZE       24
#define CONFIGURATION_SIZE 4096
#define NODES_FILE         "nodes.conf" /* in data/: who it is, and whom it knows */

typedef struct member
{
    redis_server* server;
    char id[ID_SIZE];
    bool is_master;      /* when it was last looked at               */
    uint64_t elected_us; /* when it was first seen to have become one */
} member;

struct cluster
{
    cluster_options options;
    member members[CLUSTER_NODES_MAX];
    size_t count;
    bool shared;
    char configuration[CONFIGURATION_SIZE];
    char seeds[CLUSTER_NODES_MAX * ADDRESS_SIZE];
};

void cluster_show(cluster* fleet)
{
    for (size_t i = 0; i < fleet->count; i++)
    {
        redis_server* node = fleet->members[i].server;
        fprintf(stderr, "---- node %zu %s\n", i, redis_server_runs(node) ? "" : "does not run");
        if (!redis_server_runs(node)) continue;
        fprintf(stderr, "%s", redis_server_text(node, "CLUSTER NODES"));
        fprintf(stderr, "%.80s\n", redis_server_text(node, "CLUSTER INFO"));
        redis_process_show_log(redis_server_folder(node));
    }
}

/* ---- the nodes ----------------------------------------------------------------------------------------- */

static void write_configuration(cluster* fleet)
{
    const cluster_options* options = &fleet->options;
    const char* password = options->password;
    const char* user = options->user;
    const char* settings = options->settings;
    const char* speaks_tls = options->tls == NULL ? "" : "tls-cluster yes\ntls-replication yes\n";
    int size = snprintf(fleet->configuration, CONFIGURATION_SIZE,
                        "cluster-enabled yes\ncluster-config-file " NODES_FILE "\ncluster-node-timeout %u\n"
                        "repl-diskless-sync-delay 0\n%s%s%s%s%s%s%s%s%s%s",
                        options->node_timeout_ms, speaks_tls, password == NULL ? "" : "requirepass ",
                        password == NULL ? "" : password, password == NULL ? "" : "\nmasterauth ",
                        password == NULL ? "" : password, password == NULL ? "" : "\n", user == NULL ? "" : "user ",
                        user == NULL ? "" : user, user == NULL ? "" : "\n", settings == NULL ? "" : settings);
    if (size >= CONFIGURATION_SIZE) fail_msg("%s", "too much configuration for a node");
}

static redis_server* start_node(cluster* fleet)
{
    if (fleet->count == CLUSTER_NODES_MAX) fail_msg("%s", "too many nodes");
    redis_server_options options = {.tcp = true,
                                    .append_only = fleet->options.append_only,
                                    .clock = fleet->options.clock,
                                    .tls = fleet->options.tls,
                                    .password = fleet->options.password,
                                    .configuration = fleet->configuration};
    member* self = &fleet->members[fleet->count];
    self->server = redis_server_start(&options);
    snprintf(self->id, sizeof(self->id), "%s", redis_server_text(self->server, "CLUSTER MYID"));
    fleet->count++;
    return self->server;
}

static member* member_of(cluster* fleet, const redis_server* node)
{
    for (size_t i = 0; i < fleet->count; i++)
        if (fleet->members[i].server == node) return &fleet->members[i];
    fail_msg("%s", "that server is no node of this fleet");
    return NULL;
}

static redis_server* node_called(cluster* fleet, const char* id)
{
    for (size_t i = 0; i < fleet->count; i++)
        if (strcmp(fleet->members[i].id, id) == 0) return fleet->members[i].server;
    return NULL;
}

size_t cluster_count(cluster* fleet)
{
    return fleet->count;
}

redis_server* cluster_node(cluster* fleet, size_t index)
{
    if (index >= fleet->count) fail_msg("there is no node %zu", index);
    return fleet->members[index].server;
}

const char* cluster_id(cluster* fleet, const redis_server* node)
{
    return member_of(fleet, node)->id;
}

const char* cluster_password(cluster* fleet)
{
    return fleet->options.password;
}

const char* cluster_seeds(cluster* fleet)
{
    size_t size = 0;
    for (size_t i = 0; i < fleet->count; i++)
        size += (size_t)snprintf(fleet->seeds + size, sizeof(fleet->seeds) - size, "%s%s", i == 0 ? "" : ",",
                                 redis_server_tcp_address(fleet->members[i].server));
    return fleet->seeds;
}

static bool tells_port(redis_server* node, const char* id, const char* port)
{
    cluster_view view = cluster_view_of(node);
    const cluster_line* line = cluster_view_find(&view, id);
    const char* told = line == NULL ? NULL : strchr(line->address, ':');
    bool result = told != NULL && strncmp(told + 1, port, strlen(port)) == 0 && told[1 + strlen(port)] == '@';
    cluster_view_free(&view);
    return result;
}

static bool all_tell_port(cluster* fleet, const char* id, const char* port)
{
    for (size_t i = 0; i < fleet->count; i++)
        if (redis_server_runs(fleet->members[i].server) && !tells_port(fleet->members[i].server, id, port))
            return false;
    return true;
}

void cluster_announce(cluster* fleet, redis_server* node, const char* address)
{
    const char* port = strrchr(address, ':') + 1;
    redis_server_do(node, "CONFIG SET cluster-announce-port %s", port);
    redis_server_do(node, "CONFIG REWRITE");
    WAIT_SELDOM(all_tell_port(fleet, cluster_id(fleet, node), port), cluster_show(fleet));
}

void cluster_restart_empty(redis_server* node)
{
    char folder[SCRATCH_PATH_SIZE + 8];
    redis_server_kill9(node);
    snprintf(folder, sizeof(folder), "%s/data", redis_server_folder(node));
    DIR* data = opendir(folder);
    if (data == NULL) fail_msg("cannot read %s", folder);
    for (struct dirent* each = readdir(data); each != NULL; each = readdir(data))
    {
        char path[sizeof(folder) + sizeof(each->d_name) + 1];
        if (each->d_name[0] == '.' || strcmp(each->d_name, NODES_FILE) == 0) continue;
        snprintf(path, sizeof(path), "%s/%s", folder, each->d_name);
        scratch_remove(path);
    }
    closedir(data);
    redis_server_restart(node);
}

/* ---- slots --------------------------------------------------------------------------------------------- */

static unsigned crc16(const char* bytes, size_t size)
{
    unsigned crc = 0;
    for (size_t i = 0; i < size; i++)
    {
        crc ^= (unsigned)(unsigned char)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++) crc = (crc & 0x8000u) != 0 ? (crc << 1 ^ 0x1021u) & 0xffffu : crc << 1;
    }
    return crc;
}

unsigned cluster_slot(const char* key)
{
    const char* open = strchr(key, '{');
    const char* close = open == NULL ? NULL : strchr(open, '}');
    bool tagged = close != NULL && close > open + 1;
    return (tagged ? crc16(open + 1, (size_t)(close - open - 1)) : crc16(key, strlen(key))) % CLUSTER_SLOTS;
}

void cluster_tag(unsigned slot, char tag[CLUSTER_TAG_SIZE])
{
    if (slot >= CLUSTER_SLOTS) fail_msg("there is no slot %u", slot);
    for (unsigned number = 0;; number++)
    {
        snprintf(tag, CLUSTER_TAG_SIZE, "%u", number % 1000000u);
        if (cluster_slot(tag) == slot) return;
    }
}

/* ---- who is what --------------------------------------------------------------------------------------- */

bool cluster_is_master(redis_server* node)
{
    cluster_view view = cluster_view_of(node);
    bool result = cluster_view_own(&view)->is_master;
    cluster_view_free(&view);
    return result;
}

unsigned cluster_slots_of(redis_server* node)
{
    cluster_view view = cluster_view_of(node);
    unsigned count = cluster_line_count(cluster_view_own(&view));
    cluster_view_free(&view);
    return count;
}

redis_server* cluster_master(cluster* fleet, unsigned slot)
{
    redis_server* best = NULL;
    long long best_epoch = 0;
    for (size_t i = 0; i < fleet->count; i++)
    {
        redis_server* node = fleet->members[i].server;
        if (!redis_server_runs(node)) continue;
        cluster_view view = cluster_view_of(node);
        const cluster_line* own = cluster_view_own(&view);
        if (own->is_master && cluster_line_has(own, slot) && (best == NULL || own->epoch > best_epoch))
        {
            best = node;
            best_epoch = own->epoch;
        }
        cluster_view_free(&view);
    }
    return best;
}

/* The same as the running nodes tell of all, so that it may be one that does not run. */
static redis_server* known_master(cluster* fleet, unsigned slot)
{
    char id[ID_SIZE] = "";
    long long best_epoch = 0;
    for (size_t i = 0; i < fleet->count; i++)
    {
        if (!redis_server_runs(fleet->members[i].server)) continue;
        cluster_view view = cluster_view_of(fleet->members[i].server);
        for (size_t k = 0; k < view.count; k++)
        {
            const cluster_line* line = &view.lines[k];
            if (!line->is_master || !cluster_line_has(line, slot) || (id[0] != '\0' && line->epoch <= best_epoch))
                continue;
            snprintf(id, sizeof(id), "%s", line->id);
            best_epoch = line->epoch;
        }
        cluster_view_free(&view);
    }
    redis_server* master = node_called(fleet, id);
    if (master == NULL) fail_msg("nobody has slot %u", slot);
    return master;
}

redis_server* cluster_replica(cluster* fleet, const redis_server* master, size_t index)
{
    const char* id = cluster_id(fleet, master);
    for (size_t i = 0; i < fleet->count; i++)
    {
        redis_server* node = fleet->members[i].server;
        if (!redis_server_runs(node)) continue;
        cluster_view view = cluster_view_of(node);
        bool is_one = strcmp(cluster_view_own(&view)->master, id) == 0;
        cluster_view_free(&view);
        if (is_one && index-- == 0) return node;
    }
    return NULL;
}

/* ---- do they agree ------------------------------------------------------------------------------------- */

typedef struct views
{
    cluster_view of[CLUSTER_NODES_MAX]; /* of zeros where the node does not run */
} views;

static void note_role(member* self, bool is_master)
{
    if (is_master && !self->is_master) self->elected_us = wait_now_us();
    self->is_master = is_master;
}

static views* look(cluster* fleet)
{
    views* all = calloc(1, sizeof(*all));
    if (all == NULL) abort();
    for (size_t i = 0; i < fleet->count; i++)
    {
        if (!redis_server_runs(fleet->members[i].server)) continue;
        all->of[i] = cluster_view_of(fleet->members[i].server);
        note_role(&fleet->members[i], cluster_view_own(&all->of[i])->is_master);
    }
    return all;
}

static void look_away(views* all)
{
    for (size_t i = 0; i < CLUSTER_NODES_MAX; i++) cluster_view_free(&all->of[i]);
    free(all);
}

/* What a node is told to be is what it thinks that it is. */
static bool is_told_right(const cluster_line* told, const cluster_line* own)
{
    return told != NULL && told->good && told->is_master == own->is_master && strcmp(told->master, own->master) == 0 &&
           strcmp(told->slots, own->slots) == 0;
}

static bool tells_of_all(cluster* fleet, const views* all, const cluster_view* view)
{
    for (size_t i = 0; i < view->count; i++)
        if (node_called(fleet, view->lines[i].id) == NULL) return false;
    for (size_t i = 0; i < fleet->count; i++)
        if (all->of[i].count > 0 &&
            !is_told_right(cluster_view_find(view, fleet->members[i].id), cluster_view_own(&all->of[i])))
            return false;
    return true;
}

/* One that loads, as a replica does that gets all anew, does not. */
static bool works(redis_server* node)
{
    redisReply* info = redis_server_try(node, "CLUSTER INFO");
    bool fine = info != NULL && info->type == REDIS_REPLY_STRING && strstr(info->str, "cluster_state:ok") != NULL &&
                strstr(info->str, "cluster_slots_ok:16384") != NULL;
    if (info != NULL) freeReplyObject(info);
    return fine;
}

static bool all_work(cluster* fleet)
{
    for (size_t i = 0; i < fleet->count; i++)
        if (redis_server_runs(fleet->members[i].server) && !works(fleet->members[i].server)) return false;
    return true;
}

static bool all_agree(cluster* fleet, const views* all)
{
    for (size_t i = 0; i < fleet->count; i++)
        if (all->of[i].count > 0 && !tells_of_all(fleet, all, &all->of[i])) return false;
    return true;
}

static size_t times_said(const char* text, const char* words)
{
    size_t times = 0;
    for (const char* at = strstr(text, words); at != NULL; at = strstr(at + 1, words)) times++;
    return times;
}

static size_t running_replicas(cluster* fleet, const views* all, const char* id)
{
    size_t count = 0;
    for (size_t i = 0; i < fleet->count; i++)
        if (all->of[i].count > 0 && strcmp(cluster_view_own(&all->of[i])->master, id) == 0) count++;
    return count;
}

/* On both sides: a replica that its master does not count as online is not elected for a while. */
static bool all_are_fed(cluster* fleet, const views* all)
{
    for (size_t i = 0; i < fleet->count; i++)
    {
        if (all->of[i].count == 0) continue;
        const char* info = redis_server_text(fleet->members[i].server, "INFO replication");
        bool fed = cluster_view_own(&all->of[i])->is_master
                       ? times_said(info, "state=online") >= running_replicas(fleet, all, fleet->members[i].id)
                       : strstr(info, "master_link_status:up") != NULL;
        if (!fed) return false;
    }
    return true;
}

bool cluster_has_settled(cluster* fleet)
{
    if (!all_work(fleet)) return false;
    views* all = look(fleet);
    bool result = all_agree(fleet, all) && all_are_fed(fleet, all);
    look_away(all);
    return result;
}

void cluster_settle(cluster* fleet)
{
    WAIT_SELDOM(cluster_has_settled(fleet), cluster_show(fleet));
}

static redis_server* agreed_master(cluster* fleet, unsigned slot)
{
    if (!all_work(fleet)) return NULL;
    views* all = look(fleet);
    bool agreed = all_agree(fleet, all);
    look_away(all);
    return agreed ? cluster_master(fleet, slot) : NULL;
}

redis_server* cluster_await_master(cluster* fleet, unsigned slot, const redis_server* former)
{
    redis_server* master = NULL;
    WAIT_SELDOM((master = agreed_master(fleet, slot)) != NULL && master != former, cluster_show(fleet));
    return master;
}

static bool still_has_votes(cluster* fleet, const redis_server* replica)
{
    uint64_t timeout_us = UINT64_C(1000) * fleet->options.node_timeout_ms;
    uint64_t kept_us = 2 * (timeout_us > 1000000 ? timeout_us : 1000000) + 500000;
    uint64_t elected_us = member_of(fleet, replica)->elected_us;
    return elected_us != 0 && wait_now_us() < elected_us + kept_us;
}

redis_server* cluster_failover(cluster* fleet, unsigned slot, cluster_failover_kind kind)
{
    static const char* const words[] = {"CLUSTER FAILOVER", "CLUSTER FAILOVER FORCE", "CLUSTER FAILOVER TAKEOVER"};
    redis_server* replica = cluster_replica(fleet, known_master(fleet, slot), 0);
    if (replica == NULL) fail_msg("no replica of the master of slot %u runs", slot);
    while (kind != CLUSTER_TAKEOVER && still_has_votes(fleet, replica)) wait_a_while();
    redis_server_do(replica, words[kind]);
    return replica;
}

/* ---- formed -------------------------------------------------------------------------------------------- */

static void meet(redis_server* node, const redis_server* other)
{
    redis_server_do(node, "CLUSTER MEET 127.0.0.1 %s", strrchr(redis_server_tcp_address(other), ':') + 1);
}

/* By their own names: a node that was only told an address of them has made one up. */
static bool all_know(cluster* fleet, const char* id)
{
    for (size_t i = 0; i < fleet->count; i++)
    {
        if (!redis_server_runs(fleet->members[i].server)) continue;
        cluster_view view = cluster_view_of(fleet->members[i].server);
        const cluster_line* line = cluster_view_find(&view, id);
        bool known = line != NULL && line->good;
        cluster_view_free(&view);
        if (!known) return false;
    }
    return true;
}

/* Each two of them at once: the bus alone would tell of all in a second or two. */
static void meet_all(cluster* fleet)
{
    for (size_t i = 0; i < fleet->count; i++)
        for (size_t k = i + 1; k < fleet->count; k++)
            if (redis_server_runs(fleet->members[i].server) && redis_server_runs(fleet->members[k].server))
                meet(fleet->members[i].server, fleet->members[k].server);
}

/* Two nodes give their hand-shake up when it takes longer than their time-out, so they are made to meet again. */
static bool have_met(cluster* fleet, uint64_t* again_us)
{
    bool result = true;
    for (size_t i = 0; i < fleet->count && result; i++)
        if (redis_server_runs(fleet->members[i].server)) result = all_know(fleet, fleet->members[i].id);
    if (result || wait_now_us() < *again_us) return result;
    *again_us = wait_now_us() + 5000000;
    meet_all(fleet);
    return false;
}

static void join_nodes(cluster* fleet)
{
    uint64_t again_us = 0;
    WAIT_SELDOM(have_met(fleet, &again_us), cluster_show(fleet));
}

/* Epochs that differ from the start: else the masters would have to sort that out. */
static void share_slots(cluster* fleet)
{
    const unsigned masters = fleet->options.masters;
    for (size_t i = 0; i < fleet->count; i++)
        redis_server_do(fleet->members[i].server, "CLUSTER SET-CONFIG-EPOCH %d", (int)i + 1);
    for (unsigned i = 0; i < masters; i++)
        redis_server_do(fleet->members[i].server, "CLUSTER ADDSLOTSRANGE %u %u", i * CLUSTER_SLOTS / masters,
                        (i + 1) * CLUSTER_SLOTS / masters - 1);
}

static void end_thing(void* thing)
{
    free(thing); /* its nodes are ended by themselves */
}

cluster* cluster_start(const cluster_options* options)
{
    cluster* fleet = calloc(1, sizeof(*fleet));
    if (fleet == NULL) abort();
    cleanup_add(end_thing, fleet);
    fleet->options = options == NULL ? (cluster_options){.replicas = 1} : *options;
    if (fleet->options.masters == 0) fleet->options.masters = 3;
    if (fleet->options.node_timeout_ms == 0) fleet->options.node_timeout_ms = 1000;
    write_configuration(fleet);

    const unsigned masters = fleet->options.masters;
    const unsigned replicas = fleet->options.replicas;
    for (unsigned i = 0; i < masters * (1 + replicas); i++) start_node(fleet);
    share_slots(fleet);
    join_nodes(fleet);
    for (unsigned i = 0; i < masters * replicas; i++)
        redis_server_do(fleet->members[masters + i].server, "CLUSTER REPLICATE %s", fleet->members[i / replicas].id);
    cluster_settle(fleet);
    for (size_t i = 0; i < fleet->count; i++) fleet->members[i].elected_us = 0; /* nobody was elected */
    return fleet;
}

void cluster_needs_names(void)
{
    redis_server* server = redis_server_start(NULL);
    redisReply* reply = redis_server_command(server, "CONFIG GET cluster-announce-hostname");
    bool has_names = reply->elements > 0;
    freeReplyObject(reply);
    redis_server_end(server);
    if (!has_names) suite_skip("this server has no host names");
}

void cluster_end(cluster* fleet)
{
    for (size_t i = 0; i < fleet->count; i++) redis_server_end(fleet->members[i].server);
    cleanup_forget(fleet);
    end_thing(fleet);
}

static void mend(cluster* fleet)
{
    for (size_t i = 0; i < fleet->count; i++)
    {
        redis_server* node = fleet->members[i].server;
        if (redis_server_pid(node) == 0) redis_server_restart(node);
        else if (!redis_server_runs(node)) redis_server_thaw(node);
    }
    cluster_settle(fleet);
    cluster_close_slots(fleet);
    for (size_t i = 0; i < fleet->count; i++)
    {
        redis_server* node = fleet->members[i].server;
        if (cluster_is_master(node)) redis_server_do(node, "FLUSHALL");
        redis_server_do(node, "SCRIPT FLUSH");
    }
}

cluster* cluster_shared(void)
{
    static cluster* shared;
    if (shared == NULL)
    {
        size_t mark = cleanup_mark();
        cluster* started = cluster_start(NULL);
        cleanup_keep(mark);
        started->shared = true;
        shared = started;
    }
    mend(shared);
    return shared;
}

/* ---- nodes that come and go ---------------------------------------------------------------------------- */

static void must_be_of_one_test(cluster* fleet)
{
    if (fleet->shared) fail_msg("%s", "the shared fleet keeps its nodes: use cluster_start");
}

/* It may not take part yet: a master waits for two seconds. */
static redis_server* introduce_node(cluster* fleet)
{
    must_be_of_one_test(fleet);
    redis_server* node = start_node(fleet);
    join_nodes(fleet);
    return node;
}

redis_server* cluster_add(cluster* fleet)
{
    redis_server* node = introduce_node(fleet);
    cluster_settle(fleet);
    return node;
}

redis_server* cluster_add_replica(cluster* fleet, redis_server* master)
{
    redis_server* node = introduce_node(fleet);
    redis_server_do(node, "CLUSTER REPLICATE %s", cluster_id(fleet, master));
    cluster_settle(fleet);
    return node;
}

static void move_all_slots(cluster* fleet, redis_server* from)
{
    cluster_reshard work = cluster_reshard_begin(fleet, from, NULL, cluster_slots_of(from));
    while (cluster_reshard_step(&work))
    {
    }
}

/* Of the masters that stay, the one with the fewest replicas. */
static redis_server* new_home(cluster* fleet, const redis_server* leaving)
{
    redis_server* best = NULL;
    size_t fewest = 0;
    for (size_t i = 0; i < fleet->count; i++)
    {
        redis_server* node = fleet->members[i].server;
        size_t count = 0;
        if (node == leaving || !redis_server_runs(node) || cluster_slots_of(node) == 0) continue;
        while (cluster_replica(fleet, node, count) != NULL) count++;
        if (best == NULL || count < fewest)
        {
            best = node;
            fewest = count;
        }
    }
    if (best == NULL) fail_msg("%s", "no master would be left");
    return best;
}

/* A node does not forget its own master. */
static void move_replicas(cluster* fleet, const redis_server* from)
{
    for (redis_server* each = cluster_replica(fleet, from, 0); each != NULL; each = cluster_replica(fleet, from, 0))
    {
        redis_server_do(each, "CLUSTER REPLICATE %s", cluster_id(fleet, new_home(fleet, from)));
        cluster_settle(fleet);
    }
}

static void forget(cluster* fleet, redis_server* node)
{
    member* gone = member_of(fleet, node);
    char id[ID_SIZE];
    snprintf(id, sizeof(id), "%s", gone->id);
    redis_server_end(node);
    memmove(gone, gone + 1, (size_t)(&fleet->members[fleet->count] - (gone + 1)) * sizeof(*gone));
    fleet->count--;
    for (size_t i = 0; i < fleet->count; i++) redis_server_do(fleet->members[i].server, "CLUSTER FORGET %s", id);
}

void cluster_remove(cluster* fleet, redis_server* node)
{
    must_be_of_one_test(fleet);
    if (redis_server_runs(node) && cluster_slots_of(node) > 0) move_all_slots(fleet, node);
    cluster_settle(fleet);
    move_replicas(fleet, node);
    forget(fleet, node);
    cluster_settle(fleet);
}
