/* store_run.c -- which command a request is, and all that a server asks before it carries it out: is it there, may the
   user, is the key here, is there room, is it the master. */

#include "store_commands.h"

#include <stdio.h>
#include <stdlib.h>

static const store_command commands[] = {
    {"acl|deluser", gh_store_acl_deluser, -3, STORE_NO_SCRIPT | STORE_ANY_TIME, 0, 0, 0},
    {"acl|setuser", gh_store_acl_setuser, -3, STORE_NO_SCRIPT | STORE_ANY_TIME, 0, 0, 0},
    {"acl|whoami", gh_store_acl_whoami, 2, STORE_NO_SCRIPT | STORE_ANY_TIME, 0, 0, 0},
    {"append", gh_store_append, 3, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"asking", gh_store_asking, 1, 0, 0, 0, 0},
    {"auth", gh_store_auth, -2, STORE_NO_SCRIPT | STORE_ANY_TIME | STORE_NO_USER | STORE_WHILE_BUSY, 0, 0, 0},
    {"client|getname", gh_store_client_getname, 2, STORE_NO_SCRIPT | STORE_ANY_TIME, 0, 0, 0},
    {"client|id", gh_store_client_id, 2, STORE_NO_SCRIPT | STORE_ANY_TIME, 0, 0, 0},
    {"client|kill", gh_store_client_kill, -3, STORE_NO_SCRIPT | STORE_ANY_TIME, 0, 0, 0},
    {"client|list", gh_store_client_list, -2, STORE_NO_SCRIPT | STORE_ANY_TIME, 0, 0, 0},
    {"client|setname", gh_store_client_setname, 3, STORE_NO_SCRIPT | STORE_ANY_TIME, 0, 0, 0},
    {"cluster", gh_store_cluster, -2, STORE_ANY_TIME, 0, 0, 0},
    {"dbsize", gh_store_dbsize, 1, 0, 0, 0, 0},
    {"decr", gh_store_decr, 2, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"decrby", gh_store_decrby, 3, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"del", gh_store_del, -2, STORE_WRITES, 1, -1, 1},
    {"echo", gh_store_echo, 2, 0, 0, 0, 0},
    {"eval", gh_store_eval, -3, STORE_NO_SCRIPT | STORE_RUNS, 0, 0, 0},
    {"evalsha", gh_store_evalsha, -3, STORE_NO_SCRIPT | STORE_RUNS, 0, 0, 0},
    {"exists", gh_store_exists, -2, 0, 1, -1, 1},
    {"expire", gh_store_expire, -3, STORE_WRITES, 1, 1, 1},
    {"expireat", gh_store_expireat, -3, STORE_WRITES, 1, 1, 1},
    {"flushall", gh_store_flushall, -1, STORE_WRITES, 0, 0, 0},
    {"flushdb", gh_store_flushdb, -1, STORE_WRITES, 0, 0, 0},
    {"get", gh_store_get, 2, 0, 1, 1, 1},
    {"getdel", gh_store_getdel, 2, STORE_WRITES, 1, 1, 1},
    {"hdel", gh_store_hdel, -3, STORE_WRITES, 1, 1, 1},
    {"hello", gh_store_hello, -1, STORE_NO_SCRIPT | STORE_ANY_TIME | STORE_NO_USER | STORE_WHILE_BUSY, 0, 0, 0},
    {"hexists", gh_store_hexists, 3, 0, 1, 1, 1},
    {"hget", gh_store_hget, 3, 0, 1, 1, 1},
    {"hgetall", gh_store_hgetall, 2, 0, 1, 1, 1},
    {"hincrby", gh_store_hincrby, 4, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"hkeys", gh_store_hkeys, 2, 0, 1, 1, 1},
    {"hlen", gh_store_hlen, 2, 0, 1, 1, 1},
    {"hmget", gh_store_hmget, -3, 0, 1, 1, 1},
    {"hmset", gh_store_hmset, -4, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"hrandfield", gh_store_hrandfield, -2, 0, 1, 1, 1},
    {"hscan", gh_store_hscan, -3, 0, 1, 1, 1},
    {"hset", gh_store_hset, -4, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"hsetnx", gh_store_hsetnx, 4, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"hstrlen", gh_store_hstrlen, 3, 0, 1, 1, 1},
    {"hvals", gh_store_hvals, 2, 0, 1, 1, 1},
    {"incr", gh_store_incr, 2, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"incrby", gh_store_incrby, 3, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"info", gh_store_tell_info, -1, STORE_ANY_TIME, 0, 0, 0},
    {"keys", gh_store_keys, 2, 0, 0, 0, 0},
    {"lindex", gh_store_lindex, 3, 0, 1, 1, 1},
    {"linsert", gh_store_linsert, 5, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"llen", gh_store_llen, 2, 0, 1, 1, 1},
    {"lpop", gh_store_lpop, -2, STORE_WRITES, 1, 1, 1},
    {"lpush", gh_store_lpush, -3, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"lpushx", gh_store_lpushx, -3, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"lrange", gh_store_lrange, 4, 0, 1, 1, 1},
    {"lrem", gh_store_lrem, 4, STORE_WRITES, 1, 1, 1},
    {"lset", gh_store_lset, 4, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"ltrim", gh_store_ltrim, 4, STORE_WRITES, 1, 1, 1},
    {"mget", gh_store_mget, -2, 0, 1, -1, 1},
    {"mset", gh_store_mset, -3, STORE_WRITES | STORE_GROWS, 1, -1, 2},
    {"persist", gh_store_persist, 2, STORE_WRITES, 1, 1, 1},
    {"pexpire", gh_store_pexpire, -3, STORE_WRITES, 1, 1, 1},
    {"pexpireat", gh_store_pexpireat, -3, STORE_WRITES, 1, 1, 1},
    {"pexpiretime", gh_store_pexpiretime, 2, 0, 1, 1, 1},
    {"ping", gh_store_ping, -1, STORE_LISTENS, 0, 0, 0},
    {"psubscribe", gh_store_psubscribe, -2, STORE_NO_SCRIPT | STORE_ANY_TIME | STORE_LISTENS | STORE_PATTERNS, 0, 0, 0},
    {"pttl", gh_store_pttl, 2, 0, 1, 1, 1},
    {"publish", gh_store_publish, 3, STORE_ANY_TIME | STORE_CHANNEL, 0, 0, 0},
    {"punsubscribe", gh_store_punsubscribe, -1, STORE_NO_SCRIPT | STORE_ANY_TIME | STORE_LISTENS, 0, 0, 0},
    {"quit", gh_store_quit, -1, STORE_NO_SCRIPT | STORE_ANY_TIME | STORE_NO_USER | STORE_WHILE_BUSY | STORE_LISTENS, 0,
     0, 0},
    {"readonly", gh_store_readonly, 1, STORE_ANY_TIME, 0, 0, 0},
    {"readwrite", gh_store_readwrite, 1, STORE_ANY_TIME, 0, 0, 0},
    {"reset", gh_store_reset, 1, STORE_NO_SCRIPT | STORE_ANY_TIME | STORE_NO_USER | STORE_WHILE_BUSY | STORE_LISTENS, 0,
     0, 0},
    {"role", gh_store_role, 1, STORE_NO_SCRIPT | STORE_ANY_TIME, 0, 0, 0},
    {"rpop", gh_store_rpop, -2, STORE_WRITES, 1, 1, 1},
    {"rpush", gh_store_rpush, -3, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"rpushx", gh_store_rpushx, -3, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"sadd", gh_store_sadd, -3, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"scan", gh_store_scan, -2, 0, 0, 0, 0},
    {"scard", gh_store_scard, 2, 0, 1, 1, 1},
    {"script|exists", gh_store_script_exists, -3, STORE_NO_SCRIPT, 0, 0, 0},
    {"script|flush", gh_store_script_flush, -2, STORE_NO_SCRIPT, 0, 0, 0},
    {"script|kill", gh_store_script_kill, 2, STORE_NO_SCRIPT | STORE_WHILE_BUSY, 0, 0, 0},
    {"script|load", gh_store_script_load, 3, STORE_NO_SCRIPT, 0, 0, 0},
    {"select", gh_store_select, 2, STORE_ANY_TIME, 0, 0, 0},
    {"set", gh_store_set, -3, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"setnx", gh_store_setnx, 3, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"sismember", gh_store_sismember, 3, 0, 1, 1, 1},
    {"smembers", gh_store_smembers, 2, 0, 1, 1, 1},
    {"spublish", gh_store_spublish, 3, STORE_ANY_TIME | STORE_CHANNEL, 1, 1, 1},
    {"srem", gh_store_srem, -3, STORE_WRITES, 1, 1, 1},
    {"sscan", gh_store_sscan, -3, 0, 1, 1, 1},
    {"ssubscribe", gh_store_ssubscribe, -2, STORE_NO_SCRIPT | STORE_ANY_TIME | STORE_LISTENS | STORE_CHANNELS, 1, -1,
     1},
    {"strlen", gh_store_strlen, 2, 0, 1, 1, 1},
    {"subscribe", gh_store_subscribe, -2, STORE_NO_SCRIPT | STORE_ANY_TIME | STORE_LISTENS | STORE_CHANNELS, 0, 0, 0},
    {"sunsubscribe", gh_store_sunsubscribe, -1, STORE_NO_SCRIPT | STORE_ANY_TIME | STORE_LISTENS, 1, -1, 1},
    {"time", gh_store_tell_time, 1, STORE_ANY_TIME, 0, 0, 0},
    {"ttl", gh_store_ttl, 2, 0, 1, 1, 1},
    {"type", gh_store_type, 2, 0, 1, 1, 1},
    {"unlink", gh_store_del, -2, STORE_WRITES, 1, -1, 1},
    {"unsubscribe", gh_store_unsubscribe, -1, STORE_NO_SCRIPT | STORE_ANY_TIME | STORE_LISTENS, 0, 0, 0},
    {"wait", gh_store_wait, 3, STORE_NO_SCRIPT, 0, 0, 0},
    {"zadd", gh_store_zadd, -4, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"zcard", gh_store_zcard, 2, 0, 1, 1, 1},
    {"zcount", gh_store_zcount, 4, 0, 1, 1, 1},
    {"zincrby", gh_store_zincrby, 4, STORE_WRITES | STORE_GROWS, 1, 1, 1},
    {"zlexcount", gh_store_zlexcount, 4, 0, 1, 1, 1},
    {"zmscore", gh_store_zmscore, -3, 0, 1, 1, 1},
    {"zpopmax", gh_store_zpopmax, -2, STORE_WRITES, 1, 1, 1},
    {"zpopmin", gh_store_zpopmin, -2, STORE_WRITES, 1, 1, 1},
    {"zrange", gh_store_zrange, -4, 0, 1, 1, 1},
    {"zrangebylex", gh_store_zrangebylex, -4, 0, 1, 1, 1},
    {"zrangebyscore", gh_store_zrangebyscore, -4, 0, 1, 1, 1},
    {"zrank", gh_store_zrank, 3, 0, 1, 1, 1},
    {"zrem", gh_store_zrem, -3, STORE_WRITES, 1, 1, 1},
    {"zremrangebylex", gh_store_zremrangebylex, 4, STORE_WRITES, 1, 1, 1},
    {"zremrangebyrank", gh_store_zremrangebyrank, 4, STORE_WRITES, 1, 1, 1},
    {"zremrangebyscore", gh_store_zremrangebyscore, 4, STORE_WRITES, 1, 1, 1},
    {"zrevrange", gh_store_zrevrange, -4, 0, 1, 1, 1},
    {"zrevrangebylex", gh_store_zrevrangebylex, -4, 0, 1, 1, 1},
    {"zrevrangebyscore", gh_store_zrevrangebyscore, -4, 0, 1, 1, 1},
    {"zrevrank", gh_store_zrevrank, 3, 0, 1, 1, 1},
    {"zscan", gh_store_zscan, -3, 0, 1, 1, 1},
    {"zscore", gh_store_zscore, 3, 0, 1, 1, 1},
};

enum
{
    COMMAND_COUNT = sizeof commands / sizeof *commands
};

/* ---- by name ----------------------------------------------------------------------------------------------------- */

static uint32_t slot_of(gh_str name, uint32_t hash)
{
    size_t i;
    for (i = 0; i < name.size; i++) hash = hash * 33 ^ ((unsigned char)name.bytes[i] | 0x20u);
    return hash;
}

#define SLOT(hash) (((hash) ^ (hash) >> 11) & (STORE_COMMAND_SLOTS - 1))

void gh_store_commands_index(gh_store_engine* engine)
{
    uint32_t i;
    for (i = 0; i < COMMAND_COUNT; i++)
    {
        uint32_t slot = SLOT(slot_of(gh_str_of(commands[i].name), 0));
        while (engine->command_slots[slot] != 0) slot = (slot + 1) & (STORE_COMMAND_SLOTS - 1);
        engine->command_slots[slot] = (uint8_t)(i + 1);
    }
}

/* Letters of any case against small ones; as many as there are. */
static bool is_same(gh_str word, const char* name)
{
    size_t i;
    for (i = 0; i < word.size; i++)
        if ((word.bytes[i] >= 'A' && word.bytes[i] <= 'Z' ? word.bytes[i] | 0x20 : word.bytes[i]) != name[i])
            return false;
    return true;
}

static bool is_name(const char* name, gh_str first, gh_str second)
{
    const size_t size = strlen(name);
    if (second.bytes == NULL) return size == first.size && is_same(first, name);
    return size == first.size + 1 + second.size && name[first.size] == '|' && is_same(first, name) &&
           is_same(second, name + first.size + 1);
}

/* SECOND: of a command that has parts; its bytes are NULL if it has none. */
static const store_command* find(const gh_store_engine* engine, gh_str first, gh_str second)
{
    uint32_t hash = slot_of(first, 0);
    uint32_t slot;
    if (first.size > 0 && memchr(first.bytes, '|', first.size) != NULL) return NULL; /* the table's own sign */
    if (second.bytes != NULL) hash = slot_of(second, slot_of(gh_str_literal("|"), hash));
    for (slot = SLOT(hash); engine->command_slots[slot] != 0; slot = (slot + 1) & (STORE_COMMAND_SLOTS - 1))
    {
        const store_command* command = &commands[engine->command_slots[slot] - 1];
        if (is_name(command->name, first, second)) return command;
    }
    return NULL;
}

static bool has_parts(gh_str name)
{
    return gh_store_is_word(name, "script") || gh_store_is_word(name, "client") || gh_store_is_word(name, "acl");
}

const store_command* gh_store_command_find(gh_store_engine* engine, const gh_str* words, size_t count)
{
    const gh_str none = {NULL, 0};
    const gh_str name = words[0];
    store_recent* recent = &engine->recent[(uintptr_t)name.bytes / 16 % STORE_RECENT];
    const store_command* command;
    if (recent->size == name.size && name.size > 0 && memcmp(recent->name, name.bytes, name.size) == 0)
        return recent->command;
    command = find(engine, name, none);
    if (command != NULL && name.size <= STORE_RECENT_SIZE)
    {
        recent->command = command;
        recent->size = name.size;
        memcpy(recent->name, name.bytes, name.size);
    }
    if (command != NULL || count < 2 || !has_parts(name)) return command;
    return find(engine, name, words[1]);
}

uint32_t gh_store_command_number(const store_command* command)
{
    return (uint32_t)(command - commands);
}

uint32_t gh_store_command_count(void)
{
    return COMMAND_COUNT;
}

const store_command* gh_store_command_at(uint32_t number)
{
    return &commands[number];
}

/* ---- its keys ---------------------------------------------------------------------------------------------------- */

/* The digits in front, as C reads them: a server looks at a script's keys before it finds the number to be none. */
static int count_in_front(gh_str word)
{
    char text[32];
    const size_t size = word.size < sizeof text - 1 ? word.size : sizeof text - 1;
    if (size > 0) memcpy(text, word.bytes, size);
    text[size] = '\0';
    return (int)strtoll(text, NULL, 10);
}

static store_keys_of keys_of_script(const gh_str* words, size_t count)
{
    store_keys_of keys = {0, 0, 1};
    int declared;
    if (count < 3) return keys;
    declared = count_in_front(words[2]);
    if (declared < 1 || (uint64_t)declared > count - 3) return keys;
    keys.first = 3;
    keys.count = (uint32_t)declared;
    return keys;
}

store_keys_of gh_store_keys_of(const store_command* command, const gh_str* words, size_t count)
{
    store_keys_of keys = {0, 0, 1};
    int64_t last;
    if ((command->flags & STORE_RUNS) != 0) return keys_of_script(words, count);
    if (command->first_key == 0) return keys;
    last = command->last_key < 0 ? (int64_t)count + command->last_key : command->last_key;
    if (last >= (int64_t)count) last = (int64_t)count - 1;
    if (last < command->first_key) return keys;
    keys.first = command->first_key;
    keys.step = command->key_step;
    keys.count = (uint32_t)(last - keys.first) / keys.step + 1;
    return keys;
}

/* ---- what is asked of both, requests and calls ------------------------------------------------------------------- */

/* Keys that are not side by side are put so. */
static const char* ask_gate(gh_store* store, const store_command* command, const gh_str* words, uint32_t count,
                            bool in_script)
{
    const store_keys_of keys = gh_store_keys_of(command, words, count);
    gh_store_asked asked = {0};
    gh_str* apart = NULL;
    const char* error;
    uint32_t i;
    if (keys.count == 0) return NULL;
    asked.link = store->link;
    asked.keys = words + keys.first;
    asked.count = keys.count;
    asked.writes = (command->flags & STORE_WRITES) != 0;
    asked.is_script = (command->flags & STORE_RUNS) != 0;
    asked.in_script = in_script;
    asked.is_asking = store->link->is_asking;
    if (keys.step > 1)
    {
        apart = (gh_str*)gh_store_heap_resize(NULL, keys.count * sizeof *apart);
        for (i = 0; i < keys.count; i++) apart[i] = words[keys.first + i * keys.step];
        asked.keys = apart;
    }
    error = store->hooks.gate(store->hooks.gate_context, &asked);
    free(apart);
    return error;
}

static bool is_gated(const gh_store* store)
{
    return store->hooks.gate != NULL && store->link != NULL && !store->is_applied;
}

static const char* write_refused(const gh_store* store)
{
    if ((store->states & GH_STORE_DISK_FAILS) != 0)
        return "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. "
               "Commands "
               "that may modify the data set are disabled, because this instance is configured to report errors during "
               "writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for "
               "details about the RDB error.";
    if ((store->states & GH_STORE_FEW_REPLICAS) != 0) return "NOREPLICAS Not enough good replicas to write.";
    if ((store->states & GH_STORE_READ_ONLY) != 0) return "READONLY You can't write against a read only replica.";
    return NULL;
}

static bool is_arity(const store_command* command, uint32_t count)
{
    return command->words >= 0 ? count == (uint32_t)command->words : count >= (uint32_t)-command->words;
}

static const char full_error[] = "OOM command not allowed when used memory > 'maxmemory'.";

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* The words behind the name, as many as fit. */
static void reply_unknown(gh_store* store, const gh_str* words, uint32_t count)
{
    char list[160];
    size_t size = 0;
    uint32_t i;
    for (i = 1; i < count && size < 128; i++)
    {
        const size_t left = 128 - size;
        const int shown = (int)(words[i].size < left ? words[i].size : left);
        size += (size_t)snprintf(list + size, sizeof list - size, "'%.*s' ", shown, words[i].bytes);
    }
    list[size] = '\0';
    gh_store_reply_error(store, "ERR unknown command '%.*s', with args beginning with: %s",
                         (int)(words[0].size < 128 ? words[0].size : 128), words[0].bytes, list);
}

static void in_capitals(gh_str word, char text[16])
{
    size_t i;
    for (i = 0; i < word.size && i < 15; i++) text[i] = (char)(word.bytes[i] & ~0x20);
    text[i] = '\0';
}

static void in_small_letters(gh_str word, char text[16])
{
    size_t i;
    for (i = 0; i < word.size && i < 15; i++) text[i] = (char)(word.bytes[i] | 0x20);
    text[i] = '\0';
}

static void reply_not_there(gh_store* store, const gh_str* words, uint32_t count)
{
    char name[16];
    if (!has_parts(words[0])) reply_unknown(store, words, count);
    else if (count < 2)
    {
        in_small_letters(words[0], name);
        gh_store_reply_error(store, "ERR wrong number of arguments for '%s' command", name);
    }
    else
    {
        in_capitals(words[0], name);
        gh_store_reply_error(store, "ERR unknown subcommand '%.*s'. Try %s HELP.",
                             (int)(words[1].size < 128 ? words[1].size : 128), words[1].bytes, name);
    }
}

static bool is_right(gh_store* store, const store_command* command, const gh_str* words, uint32_t count)
{
    switch (gh_store_right_to(store, command, words, count))
    {
    case STORE_MAY: return true;
    case STORE_MAY_NOT_RUN:
        gh_store_reply_error(store, "NOPERM this user has no permissions to run the '%s' command", command->name);
        return false;
    case STORE_MAY_NOT_KEY:
        gh_store_reply_error(store, "NOPERM this user has no permissions to access one of the keys used as arguments");
        return false;
    case STORE_MAY_NOT_CHANNEL:
    default:
        gh_store_reply_error(store,
                             "NOPERM this user has no permissions to access one of the channels used as arguments");
        return false;
    }
}

/* What the server's own states forbid; NULL: nothing. */
static const char* state_refused(const gh_store* store, const store_command* command)
{
    const bool writes = (command->flags & STORE_WRITES) != 0;
    const char* error = writes ? write_refused(store) : NULL;
    if (store->states == 0) return NULL;
    if ((store->states & GH_STORE_FULL) != 0 && (command->flags & STORE_GROWS) != 0) return full_error;
    if (error != NULL) return error;
    if ((store->states & GH_STORE_MASTER_DOWN) != 0 && (command->flags & STORE_ANY_TIME) == 0)
        return "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
    if ((store->states & GH_STORE_LOADING) != 0 && (command->flags & STORE_ANY_TIME) == 0)
        return "LOADING Redis is loading the dataset in memory";
    if ((store->states & GH_STORE_BUSY) != 0 && (command->flags & STORE_WHILE_BUSY) == 0)
        return "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
    return NULL;
}

static bool may_run(gh_store* store, const store_command* command, const gh_str* words, uint32_t count)
{
    const char* error = NULL;
    if (store->user == NULL && store->link != NULL && (command->flags & STORE_NO_USER) == 0)
    {
        gh_store_reply_error(store, "NOAUTH Authentication required.");
        return false;
    }
    if (!is_right(store, command, words, count)) return false;
    if (is_gated(store)) error = ask_gate(store, command, words, count, false);
    if (error == NULL) error = state_refused(store, command);
    if (error != NULL)
    {
        gh_store_reply_error(store, "%s", error);
        return false;
    }
    if (store->link == NULL || (command->flags & STORE_LISTENS) != 0 || gh_store_listens_to(store->link) == 0)
        return true;
    gh_store_reply_error(store,
                         "ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
                         "allowed in this context",
                         command->name);
    return false;
}

/* What other commands a world around the store knows. Who is not known yet has nothing to ask. */
static bool is_others(gh_store* store, const gh_str* words, uint32_t count)
{
    if (store->hooks.other == NULL || store->link == NULL || store->user == NULL) return false;
    return store->hooks.other(store->hooks.other_context, store->link, words, count);
}

void gh_store_run_request(gh_store* store, const gh_str* words, uint32_t count)
{
    const store_command* command = gh_store_command_find(store->engine, words, count);
    const bool was_asking = store->link != NULL && store->link->is_asking;
    store->words = words;
    store->count = count;
    store->counts.requests++;
    if (!is_others(store, words, count))
    {
        if (command == NULL) reply_not_there(store, words, count);
        else if (!is_arity(command, count))
            gh_store_reply_error(store, "ERR wrong number of arguments for '%s' command", command->name);
        else if (may_run(store, command, words, count)) gh_store_carry_out(store, command);
    }
    if (was_asking && store->link != NULL) store->link->is_asking = false;
    gh_store_log_end(store);
}

void gh_store_run_nobody(gh_store* store, const gh_str* words, uint32_t count)
{
    const store_command* command = gh_store_command_find(store->engine, words, count);
    store->words = words;
    store->count = count;
    if (command == NULL) reply_not_there(store, words, count);
    else if (!is_arity(command, count))
        gh_store_reply_error(store, "ERR wrong number of arguments for '%s' command", command->name);
    else gh_store_carry_out(store, command);
}

/* ---- calls from scripts ------------------------------------------------------------------------------------------ */

static bool is_right_in_script(gh_store* store, const store_command* command, const gh_str* words, uint32_t count)
{
    static const char* const errors[] = {"", "run this command or subcommand",
                                         "access at least one of the keys mentioned in the command arguments",
                                         "publish to the channel mentioned in the command"};
    const store_right right = gh_store_right_to(store, command, words, count);
    if (right == STORE_MAY) return true;
    gh_store_reply_error(store, "ERR The user executing the script can't %s", errors[right]);
    return false;
}

/* Only the first write of a script is asked for these: it is not stopped in the middle. */
static const char* first_write_refused(const gh_store* store, const store_command* command)
{
    const char* error = NULL;
    if (store->states == 0 || store->has_written || store->link == NULL) return NULL;
    if ((command->flags & STORE_WRITES) != 0) error = write_refused(store);
    if (error == NULL && (store->states & GH_STORE_FULL) != 0 && (command->flags & STORE_GROWS) != 0)
        error = full_error;
    return error;
}

void gh_store_run_call(gh_store* store, const gh_str* words, uint32_t count)
{
    const store_command* command = gh_store_command_find(store->engine, words, count);
    const char* error;
    store->counts.calls++;
    if (command == NULL)
    {
        gh_store_reply_error(store, "ERR Unknown Redis command called from script");
        return;
    }
    if (!is_arity(command, count))
    {
        gh_store_reply_error(store, "ERR Wrong number of args calling Redis command from script");
        return;
    }
    if ((command->flags & STORE_NO_SCRIPT) != 0 || (command->flags & STORE_LISTENS) != 0)
    {
        if (strcmp(command->name, "ping") != 0)
        {
            gh_store_reply_error(store, "ERR This Redis command is not allowed from script");
            return;
        }
    }
    if (!is_right_in_script(store, command, words, count)) return;
    error = first_write_refused(store, command);
    if (error == NULL)
    {
        if ((command->flags & STORE_WRITES) != 0) store->has_written = true;
        if (is_gated(store)) error = ask_gate(store, command, words, count, true);
    }
    if (error != NULL)
    {
        gh_store_reply_error(store, "%s", error);
        return;
    }
    store->words = words;
    store->count = count;
    gh_store_carry_out(store, command);
}

/* ---- the command itself ------------------------------------------------------------------------------------------ */

void gh_store_carry_out(gh_store* store, const store_command* command)
{
    const uint64_t before = store->changes;
    store->command = command;
    store->is_rewritten = false;
    command->run(store);
    if ((command->flags & STORE_WRITES) == 0 || store->changes == before || store->is_rewritten) return;
    gh_store_log_as(store, store->words, store->count);
}
