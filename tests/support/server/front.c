/* front.c -- fleets that are kept, and a test's commands sent to the nodes that they are for. */

#define _GNU_SOURCE /* memmem */

#include "support/server/front.h"

#include "support/cleanup.h"
#include "support/server/cluster.h"
#include "support/server/sentinels.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FRONTS_MAX   8
#define WAYS_MAX     256
#define SETTINGS_MAX 16
#define LONG_MS      2000000000u /* until a node takes another for lost: longer than any clock jumps */

/* What a node had before a test changed it. */
typedef struct setting
{
    redis_server* node;
    char name[64];
    char value[256];
} setting;

struct store_front
{
    cluster* many;
    sentinels* watched;
    bool clock;
    bool taken;
    bool users_changed;
    bool clock_shifted;
    redis_server* nodes[FRONT_NODES_MAX]; /* masters first */
    size_t node_count;
    size_t master_count;
    setting settings[SETTINGS_MAX];
    size_t setting_count;
};

static store_front fronts[FRONTS_MAX];
static front_way ways[WAYS_MAX];
static size_t way_count;

/* ---- ways ---------------------------------------------------------------------------------------------- */

static front_way* way_of(const char* address)
{
    for (size_t i = 0; i < way_count; i++)
        if (strcmp(ways[i].address, address) == 0) return &ways[i];
    return NULL;
}

front_way* front_way_add(const char* address, store_front* front)
{
    front_way* way = way_of(address);
    if (way == NULL && way_count == WAYS_MAX) fail_msg("%s", "more ways than there is room for");
    if (way == NULL) way = &ways[way_count++];
    memset(way, 0, sizeof(*way));
    snprintf(way->address, sizeof(way->address), "%s", address);
    way->front = front;
    return way;
}

void front_way_remove(const char* address)
{
    front_way* way = way_of(address);
    if (way != NULL) *way = ways[--way_count];
}

const front_way* front_find(const char* address)
{
    return way_of(address);
}

/* ---- fleets -------------------------------------------------------------------------------------------- */

static void start_cluster(store_front* self)
{
    self->many = cluster_start(&(cluster_options){.replicas = 1, .node_timeout_ms = LONG_MS, .clock = self->clock});
    self->master_count = 3;
    self->node_count = cluster_count(self->many);
    for (size_t i = 0; i < self->node_count; i++) self->nodes[i] = cluster_node(self->many, i);
}

static void start_sentinels(store_front* self)
{
    sentinels_options options = {
        .replicas = 1, .down_after_ms = LONG_MS, .failover_timeout_ms = LONG_MS, .clock = self->clock};
    self->watched = sentinels_start(&options);
    self->master_count = 1;
    self->node_count = sentinels_server_count(self->watched);
    for (size_t i = 0; i < self->node_count; i++) self->nodes[i] = sentinels_server(self->watched, i);
}

static store_front* front_start(bool clock)
{
    store_front* self = fronts;
    while (self < fronts + FRONTS_MAX && self->node_count > 0) self++;
    if (self == fronts + FRONTS_MAX) fail_msg("%s", "more fleets than there is room for");
    memset(self, 0, sizeof(*self));
    self->clock = clock;
    size_t mark = cleanup_mark();
    if (suite_store() == SUITE_CLUSTER) start_cluster(self);
    else start_sentinels(self);
    cleanup_keep(mark);
    return self;
}

static void empty(store_front* self)
{
    for (size_t i = 0; i < self->master_count; i++)
    {
        redis_server* node = self->nodes[i];
        redis_server_do(node, "SELECT 0"); /* a test may have gone elsewhere on our connection */
        redis_server_do(node, "FLUSHALL");
        redis_server_do(node, "SCRIPT FLUSH");
        redis_server_do(node, "CONFIG RESETSTAT");
        redis_server_do(node, "SLOWLOG RESET");
    }
}

store_front* front_take(bool clock)
{
    store_front* self = fronts;
    while (self < fronts + FRONTS_MAX && (self->node_count == 0 || self->taken || self->clock != clock)) self++;
    if (self == fronts + FRONTS_MAX) self = front_start(clock);
    empty(self);
    self->taken = true;
    return self;
}

static void restore_users(redis_server* node)
{
    redisReply* users = redis_server_command(node, "ACL USERS");
    for (size_t i = 0; i < users->elements; i++)
        if (strcmp(users->element[i]->str, "default") != 0)
            redis_server_do(node, "ACL DELUSER %s", users->element[i]->str);
    freeReplyObject(users);
    redis_server_do(node, "ACL SETUSER default reset on nopass ~* &* +@all");
}

static void restore_settings(store_front* self)
{
    while (self->setting_count > 0)
    {
        const setting* each = &self->settings[--self->setting_count];
        redis_server_do(each->node, "CONFIG SET %s %s", each->name, each->value);
    }
}

void front_give_back(store_front* self)
{
    if (self->clock_shifted) front_shift_clock(self, 0);
    self->clock_shifted = false;
    restore_settings(self);
    for (size_t i = 0; i < self->master_count; i++)
    {
        if (self->users_changed) restore_users(self->nodes[i]);
        freeReplyObject(redis_server_command(self->nodes[i], "CLIENT KILL TYPE normal"));
        freeReplyObject(redis_server_command(self->nodes[i], "CLIENT KILL TYPE pubsub"));
    }
    self->users_changed = false;
    self->taken = false;
}

const char* front_seeds(store_front* self)
{
    return self->many != NULL ? cluster_seeds(self->many) : sentinels_seeds(self->watched);
}

const char* front_only_master(const store_front* self)
{
    return self->master_count == 1 ? redis_server_address(self->nodes[0]) : NULL;
}

const char* front_node(store_front* self, size_t index)
{
    return index < self->node_count ? redis_server_tcp_address(self->nodes[index]) : NULL;
}

void front_shift_clock(store_front* self, int64_t offset_us)
{
    self->clock_shifted = true;
    for (size_t i = 0; i < self->node_count; i++) redis_server_shift_clock(self->nodes[i], offset_us);
}

/* ---- who is asked -------------------------------------------------------------------------------------- */

typedef enum who
{
    WHO_FIRST, /* any will do */
    WHO_ALL,
    WHO_KEY,  /* the owner of the word behind the command */
    WHO_KEY2, /* of the second word behind it             */
    WHO_KEYS, /* the owner of each word, one by one       */
    WHO_SCRIPT,
    WHO_NOBODY
} who;

typedef struct command_kind
{
    const char* name;
    who asked;
} command_kind;

static const command_kind kinds[] = {
    {"ACL", WHO_ALL},         {"BGSAVE", WHO_ALL},   {"CLIENT", WHO_ALL},       {"CLUSTER", WHO_NOBODY},
    {"CONFIG", WHO_ALL},      {"DBSIZE", WHO_ALL},   {"DEBUG", WHO_ALL},        {"DEL", WHO_KEYS},
    {"ECHO", WHO_FIRST},      {"EVAL", WHO_SCRIPT},  {"EVALSHA", WHO_SCRIPT},   {"EXISTS", WHO_KEYS},
    {"FAILOVER", WHO_NOBODY}, {"FLUSHALL", WHO_ALL}, {"FLUSHDB", WHO_ALL},      {"INFO", WHO_ALL},
    {"KEYS", WHO_ALL},        {"MEMORY", WHO_KEY2},  {"OBJECT", WHO_KEY2},      {"PING", WHO_FIRST},
    {"PUBLISH", WHO_FIRST},   {"PUBSUB", WHO_ALL},   {"REPLICAOF", WHO_NOBODY}, {"ROLE", WHO_FIRST},
    {"SAVE", WHO_ALL},        {"SCRIPT", WHO_ALL},   {"SHUTDOWN", WHO_NOBODY},  {"SLOWLOG", WHO_ALL},
    {"TIME", WHO_FIRST},      {"WAIT", WHO_NOBODY},
};

static bool is_word(const char* word, size_t size, const char* name)
{
    return strlen(name) == size && strncasecmp(word, name, size) == 0;
}

static who asked_by(const char* command, size_t size)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (is_word(command, size, kinds[i].name)) return kinds[i].asked;
    return WHO_KEY;
}

static redis_server* owner_of(const store_front* self, const char* key, size_t size)
{
    char text[512];
    snprintf(text, sizeof(text), "%.*s", (int)size, key);
    unsigned slot = cluster_slot(text);
    size_t owner = 0;
    while ((owner + 1) * CLUSTER_SLOTS / self->master_count <= slot) owner++;
    return self->nodes[owner];
}

/* What is told of each node; of the rest one node says enough. */
static bool is_joined(const char* word, size_t size)
{
    static const char* const names[] = {"CLIENT", "INFO", "KEYS", "PUBSUB", "SLOWLOG"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_word(word, size, names[i])) return true;
    return false;
}

/* Adds the second to the first, and frees it. */
static redisReply* add_up(redisReply* all, redisReply* more, bool joined)
{
    if (all == NULL || more->type == REDIS_REPLY_ERROR)
    {
        if (all != NULL) freeReplyObject(all);
        return more;
    }
    if (all->type != more->type || (!joined && all->type != REDIS_REPLY_INTEGER))
    {
        freeReplyObject(more);
        return all;
    }
    if (all->type == REDIS_REPLY_INTEGER) all->integer += more->integer;
    if (all->type == REDIS_REPLY_STRING)
    {
        all->str = realloc(all->str, all->len + more->len + 1);
        if (all->str == NULL) abort();
        memcpy(all->str + all->len, more->str, more->len + 1);
        all->len += more->len;
    }
    if (all->type == REDIS_REPLY_ARRAY && more->elements > 0)
    {
        all->element = realloc(all->element, (all->elements + more->elements) * sizeof(redisReply*));
        if (all->element == NULL) abort();
        memcpy(all->element + all->elements, more->element, more->elements * sizeof(redisReply*));
        all->elements += more->elements;
        more->elements = 0;
    }
    freeReplyObject(more);
    return all;
}

static void note_setting(store_front* self, redis_server* node, const char* name)
{
    if (self->setting_count == SETTINGS_MAX) fail_msg("%s", "a test changes too many settings");
    redisReply* had = redis_server_command(node, "CONFIG GET %s", name);
    if (had->type == REDIS_REPLY_ARRAY && had->elements == 2)
    {
        setting* place = &self->settings[self->setting_count++];
        place->node = node;
        snprintf(place->name, sizeof(place->name), "%s", name);
        snprintf(place->value, sizeof(place->value), "%s", had->element[1]->str);
    }
    freeReplyObject(had);
}

/* What has to be made undone behind the test. */
static void note_change(store_front* self, redis_server* node, const char* const* words, const size_t* sizes,
                        size_t count)
{
    if (is_word(words[0], sizes[0], "ACL")) self->users_changed = true;
    if (count < 4 || !is_word(words[0], sizes[0], "CONFIG") || !is_word(words[1], sizes[1], "SET")) return;
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)sizes[2], words[2]);
    for (size_t i = 0; i < self->setting_count; i++)
        if (self->settings[i].node == node && strcmp(self->settings[i].name, name) == 0) return;
    note_setting(self, node, name);
}

static redisReply* ask_all(store_front* self, const char* const* words, const size_t* sizes, size_t count)
{
    redisReply* all = NULL;
    for (size_t i = 0; i < self->master_count; i++)
    {
        note_change(self, self->nodes[i], words, sizes, count);
        all = add_up(all, redis_server_words(self->nodes[i], words, sizes, count), is_joined(words[0], sizes[0]));
    }
    return all;
}

/* DEL and EXISTS of many keys, which may lie anywhere. */
static redisReply* ask_each(store_front* self, const char* const* words, const size_t* sizes, size_t count)
{
    redisReply* all = NULL;
    for (size_t i = 1; i < count; i++)
    {
        const char* two[2] = {words[0], words[i]};
        const size_t two_sizes[2] = {sizes[0], sizes[i]};
        all = add_up(all, redis_server_words(owner_of(self, words[i], sizes[i]), two, two_sizes, 2), false);
    }
    return all;
}

/* Which word of the command has the slot; 0: none has. */
static size_t key_of(who asked, const char* const* words, size_t count)
{
    size_t key = asked == WHO_KEY || asked == WHO_KEYS ? 1 : asked == WHO_KEY2 ? 2 : 0;
    if (asked == WHO_SCRIPT && count > 3 && atoi(words[2]) > 0) key = 3;
    return key < count ? key : 0;
}

/* A script without keys is about all that lies in a store, if it looks there at all. */
static bool looks_around(who asked, const char* const* words, const size_t* sizes)
{
    return asked != WHO_SCRIPT || memmem(words[1], sizes[1], "redis.call", 10) != NULL;
}

redisReply* front_ask(store_front* self, const char* const* words, const size_t* sizes, size_t count)
{
    const who asked = asked_by(words[0], sizes[0]);
    const size_t key = key_of(asked, words, count);
    if (asked == WHO_NOBODY) suite_one_server(words[0]);
    if (self->master_count > 1 && asked == WHO_KEYS && count > 2) return ask_each(self, words, sizes, count);
    if (self->master_count > 1 && key > 0)
        return redis_server_words(owner_of(self, words[key], sizes[key]), words, sizes, count);
    if (asked == WHO_FIRST || !looks_around(asked, words, sizes))
        return redis_server_words(self->nodes[0], words, sizes, count);
    return ask_all(self, words, sizes, count);
}

long long front_keys(store_front* self)
{
    static const char script[] = "local n, e = 0, 0 for _, k in ipairs(redis.call('KEYS', '*')) do"
                                 " if string.find(k, '}:epoch$') then e = 1 else n = n + 1 end end return n * 2 + e";
    long long keys = 0;
    bool epochs = false;
    for (size_t i = 0; i < self->master_count; i++)
    {
        long long there = redis_server_integer(self->nodes[i], "EVAL %s 0", script);
        epochs = epochs || there % 2 == 1;
        keys += there / 2;
    }
    return keys + epochs;
}
