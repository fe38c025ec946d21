/* server.c -- the store's servers, and what befalls them, as storm/store.h has it. */

#include "simulator/server.h"

#include "simulator/events.h"
#include "simulator/network.h"
#include "simulator/scripts.h"
#include "simulator/trace.h"
#include "storm/fleet.h"
#include "storm/history.h"
#include "storm/storm.h"
#include "storm/store.h"
#include "support/sha1.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum
{
    AGAIN_US = 10000,
    PATIENCE_US = 20000000,
    BUSY_AFTER_US = 15000,
    LOADS_MOST_US = 150000, /* its data, at the start */
    CLIENTS_MAX = 10000,
    WORDS_SIZE = 256
};

typedef struct server_state
{
    gh_store* store;
    gh_store_link* beside; /* for who asks directly */
    bool down;
    bool frozen;
    uint64_t asleep_until_us;
    unsigned clients_max;
    gh_store_other other;
    void* other_context;
} server_state;

static struct
{
    server_state all[SERVERS_MAX];
    gh_store* single[SERVERS_MAX]; /* by what they are configured as */
    gh_store* cluster[SERVERS_MAX];
    gh_store* kept; /* an older state */
    bool has_kept;
    unsigned primary;
    int64_t clock_us; /* how much the servers' clocks were moved */
    random_stream random;
} servers;

unsigned server_primary(void)
{
    return servers.primary;
}

void server_count_on(unsigned server)
{
    servers.primary = server;
}

gh_store* server_store(unsigned server)
{
    return servers.all[server].store;
}

bool server_is_down(unsigned server)
{
    return servers.all[server].down;
}

bool server_stands_still(unsigned server)
{
    const server_state* s = &servers.all[server];
    return s->frozen || history_now() < s->asleep_until_us;
}

/* ---- requests --------------------------------------------------------------------------------------------- */

void server_set_time(unsigned server)
{
    uint64_t now_us = SERVER_START_US + history_now() + (uint64_t)servers.clock_us;
    gh_store_set_time(servers.all[server].store, now_us);
}

void server_feed(unsigned server, gh_store_link* link, const void* bytes, size_t size)
{
    server_set_time(server);
    gh_store_feed(link, bytes, size);
}

static redisReply* read_reply(gh_store_link* link)
{
    char bytes[16 * 1024];
    void* reply = NULL;
    redisReader* reader = redisReaderCreate();
    if (reader == NULL) abort();
    for (size_t size; (size = gh_store_take(link, bytes, sizeof bytes)) > 0;) redisReaderFeed(reader, bytes, size);
    if (redisReaderGetReply(reader, &reply) != REDIS_OK) reply = NULL;
    redisReaderFree(reader);
    return reply;
}

redisReply* server_ask(unsigned server, const char* format, va_list arguments)
{
    server_state* s = &servers.all[server];
    char* request = NULL;
    if (s->down || server_stands_still(server)) return NULL;
    if (s->beside == NULL) s->beside = gh_store_connect(s->store);
    int size = redisvFormatCommand(&request, format, arguments);
    if (size < 0) abort();
    server_feed(server, s->beside, request, (size_t)size);
    free(request);
    redisReply* reply = read_reply(s->beside);
    if (gh_store_is_closed(s->beside)) gh_store_disconnect(s->beside);
    if (gh_store_is_closed(s->beside)) s->beside = NULL;
    network_collect(server);
    return reply;
}

/* ---- orders ----------------------------------------------------------------------------------------------- */

void server_set_state(unsigned server, unsigned state, bool on)
{
    gh_store* store = servers.all[server].store;
    unsigned states = gh_store_states(store);
    gh_store_set_states(store, on ? states | state : states & ~state);
}

/* The words of the nemesis that are no commands here. False: these are others. */
static bool obey(unsigned server, const char* words, bool* good)
{
    static const char user[] = "ACL SETUSER game ", memory[] = "CONFIG SET maxmemory ",
                      clients[] = "CONFIG SET maxclients ", replicas[] = "CONFIG SET min-replicas-to-write ";
    gh_store* store = servers.all[server].store;
    if (strncmp(words, user, sizeof user - 1) == 0)
        *good = gh_store_set_user(store, "game", words + sizeof user - 1) == NULL;
    else if (strncmp(words, memory, sizeof memory - 1) == 0)
        server_set_state(server, GH_STORE_FULL, strcmp(words + sizeof memory - 1, "0") != 0);
    else if (strncmp(words, replicas, sizeof replicas - 1) == 0)
        server_set_state(server, GH_STORE_FEW_REPLICAS, strcmp(words + sizeof replicas - 1, "0") != 0);
    else if (strncmp(words, clients, sizeof clients - 1) == 0)
        servers.all[server].clients_max = (unsigned)atoi(words + sizeof clients - 1);
    else if (strcmp(words, "SCRIPT FLUSH") == 0) gh_store_flush_scripts(store);
    else return false;
    return true;
}

static bool do_command(unsigned server, const char* words, ...)
{
    va_list arguments;
    va_start(arguments, words);
    redisReply* reply = server_ask(server, words, arguments);
    va_end(arguments);
    bool good = reply != NULL && reply->type != REDIS_REPLY_ERROR;
    if (storm.verbose && reply != NULL && !good) fprintf(stderr, "store: \"%s\": %s\n", words, reply->str);
    if (reply != NULL) freeReplyObject(reply);
    return good;
}

bool server_do(unsigned server, const char* words)
{
    bool good = !server_is_down(server) && !server_stands_still(server);
    if (!good || obey(server, words, &good)) return good;
    return do_command(server, words);
}

void server_must(unsigned server, const char* words)
{
    for (uint64_t end_us = history_now() + PATIENCE_US; history_now() < end_us; history_pause(AGAIN_US))
        if (server_do(server, words)) return;
    fprintf(stderr, "a server did not do \"%s\"\n", words);
    abort();
}

bool store_do(const char* format, ...)
{
    char words[WORDS_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return server_do(servers.primary, words);
}

void store_must(const char* format, ...)
{
    char words[WORDS_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    if (storm.store >= STORM_CLUSTER) fleet_must(words);
    else server_must(servers.primary, words);
}

/* ---- the trace ---------------------------------------------------------------------------------------------- */

/* Who looks past the network is of no interest. */
static void tap(void* context, gh_store_link* link, gh_str request, gh_str reply)
{
    const server_state* s = context;
    unsigned host = 0, number = 0;
    char who[64];
    if (!network_who(link, &host, &number)) return;
    (void)snprintf(who, sizeof who, "wire: process %u, link %u, server %u:", host, number, (unsigned)(s - servers.all));
    trace_request(who, request.bytes, request.size, reply.bytes, reply.size);
}

/* ---- a wrong store ------------------------------------------------------------------------------------------ */

static const server_plant* planted;

void server_set_plant(const server_plant* plant)
{
    planted = plant;
}

static bool load_planted(server_state* s, gh_store_link* link, const gh_str* words, size_t count);

static bool answer_in_its_stead(void* context, gh_store_link* link, const gh_str* words, size_t count)
{
    server_state* s = context;
    if (planted != NULL && load_planted(s, link, words, count)) return true;
    return s->other != NULL && s->other(s->other_context, link, words, count);
}

void server_set_other(unsigned server, gh_store_other other, void* context)
{
    server_state* s = &servers.all[server];
    s->other = other;
    s->other_context = context;
    gh_store_set_other(s->store, other != NULL || planted != NULL ? answer_in_its_stead : NULL, s);
}

/* SCRIPT LOAD of the script loads another one in its stead: clients call scripts as they are told. */
static bool load_planted(server_state* s, gh_store_link* link, const gh_str* words, size_t count)
{
    char digest[SCRIPTS_DIGEST_SIZE + 1];
    if (count != 3 || words[0].size != 6 || strncasecmp(words[0].bytes, "SCRIPT", 6) != 0) return false;
    if (words[1].size != 4 || strncasecmp(words[1].bytes, "LOAD", 4) != 0) return false;
    sha1_hex(words[2].bytes, words[2].size, digest);
    const char* name = scripts_name(digest);
    if (name == NULL || strcmp(name, planted->script) != 0) return false;
    size_t size = strlen(planted->before) + 1 + words[2].size;
    char* text = malloc(size + 1);
    if (text == NULL) abort();
    (void)snprintf(text, size + 1, "%s %.*s", planted->before, (int)words[2].size, words[2].bytes);
    gh_str again[] = {words[0], words[1], gh_str_make(text, size)};
    gh_str reply = gh_store_ask(s->store, again, 3);
    gh_store_say(link, reply.bytes, reply.size);
    free(text);
    return true;
}

/* ---- a run ------------------------------------------------------------------------------------------------ */

static const char user[] = "ACL SETUSER game on >storm ~* &* +@all";

static void begin_server(unsigned server, gh_store* store)
{
    server_state* s = &servers.all[server];
    if (s->beside != NULL) gh_store_disconnect(s->beside);
    *s = (server_state){.store = store, .clients_max = CLIENTS_MAX};
    gh_store_flush(store);
    gh_store_restart(store, random_next(&servers.random));
    gh_store_set_tap(store, trace_is_on() ? tap : NULL, s);
    server_set_other(server, NULL, NULL);
}

static gh_store* new_store(gh_store_engine* engine, bool clustered)
{
    gh_store_config config = gh_store_config_default();
    config.engine = engine;
    config.append_only = true;
    config.cluster_enabled = clustered;
    return gh_store_new(&config);
}

static void compile(void* context, const char* text, size_t size)
{
    char* request = NULL;
    int length = redisFormatCommand(&request, "SCRIPT LOAD %b", text, size);
    if (length < 0) abort();
    gh_store_feed(context, request, (size_t)length);
    redisReply* reply = read_reply(context);
    if (reply == NULL || reply->type != REDIS_REPLY_STRING) abort();
    freeReplyObject(reply);
    free(request);
}

void server_warm(void)
{
    gh_store_engine* engine = gh_store_engine_new();
    for (unsigned i = 0; i < SERVERS_MAX; i++) servers.single[i] = new_store(engine, false);
    for (unsigned i = 0; i < SERVERS_MAX; i++) servers.cluster[i] = new_store(engine, true);
    servers.kept = new_store(engine, false);
    gh_store_link* link = gh_store_connect(servers.kept);
    scripts_each(compile, link);
    gh_store_disconnect(link);
    gh_store_engine_settle(engine);
}

uint64_t server_requests(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < SERVERS_MAX; i++) sum += gh_store_get_counts(servers.all[i].store).requests;
    return sum;
}

bool server_is_full(unsigned server)
{
    return gh_store_get_counts(servers.all[server].store).links >= servers.all[server].clients_max;
}

void server_open(bool clustered)
{
    servers.primary = 0;
    servers.clock_us = 0;
    servers.has_kept = false;
    servers.random = storm_random("server", 0, 0, 0);
    for (unsigned i = 0; i < SERVERS_MAX; i++) begin_server(i, clustered ? servers.cluster[i] : servers.single[i]);
    for (unsigned i = 0; i < SERVERS_MAX; i++) server_must(i, user);
}

/* ---- its process ------------------------------------------------------------------------------------------ */

void server_kill(unsigned server)
{
    server_state* s = &servers.all[server];
    if (s->down) return;
    network_server_died(server);
    if (s->beside != NULL) gh_store_disconnect(s->beside);
    s->beside = NULL;
    s->down = true;
    s->frozen = false;
    s->asleep_until_us = 0;
}

static void set_loaded(void* context, uint64_t server)
{
    (void)context;
    server_set_state((unsigned)server, GH_STORE_LOADING, false);
}

void server_start(unsigned server)
{
    server_state* s = &servers.all[server];
    uint64_t loads_us = random_below(&servers.random, LOADS_MOST_US);
    gh_store_restart(s->store, random_next(&servers.random));
    server_set_state(server, GH_STORE_LOADING, true);
    events_at(history_now() + loads_us, set_loaded, NULL, server);
    s->down = false;
    s->clients_max = CLIENTS_MAX;
    server_must(server, user);
}

void server_freeze(unsigned server)
{
    servers.all[server].frozen = !servers.all[server].down;
}

static void resume(void* context, uint64_t server)
{
    (void)context;
    if (!server_stands_still((unsigned)server)) network_server_resumes((unsigned)server);
}

void server_thaw(unsigned server)
{
    servers.all[server].frozen = false;
    resume(NULL, server);
}

void store_kill(void)
{
    server_kill(servers.primary);
}

void store_restart(void)
{
    server_start(servers.primary);
}

void store_freeze(void)
{
    server_freeze(servers.primary);
}

void store_thaw(void)
{
    server_thaw(servers.primary);
}

void store_sleep(uint64_t us)
{
    servers.all[servers.primary].asleep_until_us = history_now() + us;
    events_at(history_now() + us, resume, NULL, servers.primary);
}

static void set_busy(void* context, uint64_t busy)
{
    (void)context;
    server_set_state(servers.primary, GH_STORE_BUSY, busy != 0);
}

void store_run_long(uint64_t us)
{
    store_sleep(us < BUSY_AFTER_US ? us : BUSY_AFTER_US);
    if (us <= BUSY_AFTER_US) return;
    events_at(history_now() + BUSY_AFTER_US, set_busy, NULL, 1);
    events_at(history_now() + us, set_busy, NULL, 0);
}

void store_shift_clock(int64_t offset_us)
{
    servers.clock_us = offset_us;
}

/* ---- older data ------------------------------------------------------------------------------------------- */

void store_keep(void)
{
    gh_store_copy(servers.kept, servers.all[servers.primary].store);
    servers.has_kept = true;
}

bool store_has_kept(void)
{
    return servers.has_kept;
}

void store_go_back(void)
{
    gh_store* store = servers.all[servers.primary].store;
    store_kill();
    if (servers.has_kept) gh_store_copy(store, servers.kept);
    else gh_store_flush(store);
    store_restart();
}
