/* store_lua.c -- Lua as a server has it: redis.call and its like, what a script returns as a reply, and its errors with
   the words and lines that a server gives them. */

#include "store_inside.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS_AT_FIRST 64u
#define AHEAD_MOST     8u
#define STEPS_A_LOOK   100

static gh_store_engine* engine_of(lua_State* lua)
{
    return (gh_store_engine*)lua_touserdata(lua, lua_upvalueindex(1));
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void push_error(lua_State* lua, const char* text, size_t size)
{
    lua_createtable(lua, 0, 1);
    lua_pushlstring(lua, text, size);
    lua_setfield(lua, -2, "err");
}

/* A table, which a call raises and a pcall returns. */
static int fail(lua_State* lua, bool raises, const char* text)
{
    push_error(lua, text, strlen(text));
    return raises ? lua_error(lua) : 1;
}

/* What a script's error is told as: the place is that of the Lua code, not that of the C function which raised it. */
static const char on_error[] = "local getinfo = debug.getinfo\n"
                               "debug = nil\n"
                               "return function(err)\n"
                               "  local i = getinfo(2, 'nSl')\n"
                               "  if i and i.what == 'C' then i = getinfo(3, 'nSl') end\n"
                               "  if type(err) ~= 'table' then err = {err = 'ERR ' .. tostring(err)} end\n"
                               "  if i then err['source'] = i.source err['line'] = i.currentline end\n"
                               "  return err\n"
                               "end";

/* ---- redis.call -------------------------------------------------------------------------------------------------- */

static void make_word_room(gh_store_engine* engine, uint32_t count)
{
    if (count > engine->word_room)
    {
        engine->word_room = count + WORDS_AT_FIRST;
        engine->words = (gh_str*)gh_store_heap_resize(engine->words, engine->word_room * sizeof *engine->words);
    }
    if (count <= engine->number_room) return;
    engine->number_room = count + WORDS_AT_FIRST;
    engine->numbers = (char*)gh_store_heap_resize(engine->numbers, (size_t)engine->number_room * STORE_NUMBER_SIZE);
}

/* Texts stay where Lua has them: the stack holds them until the call is over. */
static bool read_words(lua_State* lua, gh_store_engine* engine, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; i++)
    {
        const int type = lua_type(lua, (int)i + 1);
        gh_str* word = &engine->words[i];
        if (type == LUA_TSTRING) word->bytes = lua_tolstring(lua, (int)i + 1, &word->size);
        else if (type == LUA_TNUMBER)
        {
            char* text = engine->numbers + (size_t)i * STORE_NUMBER_SIZE;
            word->bytes = text;
            word->size = gh_store_lua_number_text(lua_tonumber(lua, (int)i + 1), engine->store->version_number, text);
        }
        else return false;
    }
    return true;
}

static int call(lua_State* lua, bool raises)
{
    gh_store_engine* engine = engine_of(lua);
    gh_store* store = engine->store;
    const uint32_t count = (uint32_t)lua_gettop(lua);
    store_answer* outer;
    store_answer answer;
    if (store == NULL) return fail(lua, raises, "ERR redis.call/pcall can only be called inside a script invocation");
    if (count == 0) return fail(lua, raises, "ERR Please specify at least one argument for this redis lib call");
    make_word_room(engine, count);
    if (!read_words(lua, engine, count))
        return fail(lua, raises, "ERR Lua redis lib command arguments must be strings or integers");
    answer.lua = lua;
    answer.bytes = NULL;
    answer.depth = 0;
    answer.has_failed = false;
    outer = store->answer;
    store->answer = &answer;
    gh_store_run_call(store, engine->words, count);
    store->answer = outer;
    if (!answer.has_failed) return 1;
    push_error(lua, answer.error, strlen(answer.error));
    lua_pushboolean(lua, 1);
    lua_setfield(lua, -2, "ignore_error_stats_update"); /* a server's own mark, which pairs() shows */
    return raises ? lua_error(lua) : 1;
}

static int redis_call(lua_State* lua)
{
    return call(lua, true);
}

static int redis_pcall(lua_State* lua)
{
    return call(lua, false);
}

/* ---- the others of redis ----------------------------------------------------------------------------------------- */

/* Without a code of its own, an error is an ERR. */
static int redis_error_reply(lua_State* lua)
{
    const char* text;
    if (lua_gettop(lua) != 1 || lua_type(lua, -1) != LUA_TSTRING)
        return fail(lua, false, "ERR wrong number or type of arguments");
    text = lua_tostring(lua, -1);
    if (*text == '-') text++;
    lua_createtable(lua, 0, 1);
    if (strchr(text, ' ') == NULL) lua_pushfstring(lua, "ERR %s", text);
    else lua_pushstring(lua, text);
    lua_setfield(lua, -2, "err");
    return 1;
}

static int redis_status_reply(lua_State* lua)
{
    if (lua_gettop(lua) != 1 || lua_type(lua, -1) != LUA_TSTRING)
        return fail(lua, false, "ERR wrong number or type of arguments");
    lua_createtable(lua, 0, 1);
    lua_pushvalue(lua, 1);
    lua_setfield(lua, -2, "ok");
    return 1;
}

static int redis_sha1hex(lua_State* lua)
{
    char digest[STORE_ID_SIZE];
    size_t size;
    const char* text;
    if (lua_gettop(lua) != 1) return fail(lua, true, "ERR wrong number of arguments");
    text = lua_tolstring(lua, 1, &size);
    gh_store_sha1(text == NULL ? "" : text, text == NULL ? 0 : size, digest);
    lua_pushlstring(lua, digest, STORE_ID_SIZE - 1);
    return 1;
}

/* There is no log to write to, and replication is as it is. */
static int redis_nothing(lua_State* lua)
{
    (void)lua;
    return 0;
}

static int redis_true(lua_State* lua)
{
    lua_pushboolean(lua, 1);
    return 1;
}

/* ---- what a script returns --------------------------------------------------------------------------------------- */

static bool put_field(lua_State* lua, store_buffer* bytes, const char* field, char kind)
{
    const char* text;
    lua_pushstring(lua, field);
    lua_rawget(lua, -2);
    text = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : NULL;
    if (text != NULL) gh_store_put_line(bytes, kind, gh_str_of(text));
    lua_pop(lua, 1);
    return text != NULL;
}

static bool put_double(lua_State* lua, store_buffer* bytes)
{
    char text[STORE_NUMBER_SIZE];
    bool is_number;
    lua_pushstring(lua, "double");
    lua_rawget(lua, -2);
    is_number = lua_type(lua, -1) == LUA_TNUMBER;
    if (is_number)
        gh_store_put_bulk(bytes, gh_str_make(text, gh_store_double_text(lua_tonumber(lua, -1), 70000, text)));
    lua_pop(lua, 1);
    return is_number;
}

/* Up to the first nil. */
static int count_elements(lua_State* lua)
{
    int count = 0;
    for (;;)
    {
        bool is_nil;
        lua_rawgeti(lua, -1, count + 1);
        is_nil = lua_isnil(lua, -1);
        lua_pop(lua, 1);
        if (is_nil) return count;
        count++;
    }
}

static void put_table(lua_State* lua, store_buffer* bytes)
{
    int count;
    int i;
    if (put_field(lua, bytes, "err", '-') || put_field(lua, bytes, "ok", '+') || put_double(lua, bytes)) return;
    count = count_elements(lua);
    gh_store_put_head(bytes, '*', count);
    for (i = 1; i <= count; i++)
    {
        lua_rawgeti(lua, -1, i);
        gh_store_lua_answer(lua, bytes);
        lua_pop(lua, 1);
    }
}

/* As C converts it, and without a fault where C has none to give. */
static int64_t whole(double number)
{
    if (number >= -9223372036854775808.0 && number < 9223372036854775808.0) return (int64_t)number;
    return INT64_MIN;
}

void gh_store_lua_answer(lua_State* lua, store_buffer* bytes)
{
    gh_str text;
    if (!lua_checkstack(lua, 4))
    {
        gh_store_put_line(bytes, '-', gh_str_literal("ERR reached lua stack limit"));
        return;
    }
    switch (lua_type(lua, -1))
    {
    case LUA_TSTRING:
        text.bytes = lua_tolstring(lua, -1, &text.size);
        gh_store_put_bulk(bytes, text);
        break;
    case LUA_TBOOLEAN:
        if (lua_toboolean(lua, -1)) gh_store_put_head(bytes, ':', 1);
        else gh_store_put(bytes, "$-1\r\n", 5);
        break;
    case LUA_TNUMBER: gh_store_put_head(bytes, ':', whole(lua_tonumber(lua, -1))); break;
    case LUA_TTABLE: put_table(lua, bytes); break;
    default: gh_store_put(bytes, "$-1\r\n", 5); break;
    }
}

/* ---- a script runs ----------------------------------------------------------------------------------------------- */

/* The global's name is a reference, so that it is not looked up among all texts each time. */
static void set_table(lua_State* lua, int name, const gh_str* words, uint32_t count)
{
    uint32_t i;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, name);
    lua_createtable(lua, (int)count, 0);
    for (i = 0; i < count; i++)
    {
        lua_pushlstring(lua, words[i].bytes, words[i].size);
        lua_rawseti(lua, -2, (int)i + 1);
    }
    lua_rawset(lua, LUA_GLOBALSINDEX);
}

/* Of the keys that a script will look at: while Lua is told of them, they come nearer with each step. */
typedef struct store_ahead
{
    uint32_t count;
    uint32_t hashes[AHEAD_MOST];
    store_entry* entries[AHEAD_MOST];
} store_ahead;

static void see_slots(const gh_store* store, const gh_str* keys, uint32_t count, store_ahead* ahead)
{
    uint32_t i;
    ahead->count = count < AHEAD_MOST ? count : AHEAD_MOST;
    for (i = 0; i < ahead->count; i++)
    {
        ahead->hashes[i] = gh_store_hash(keys[i]);
        gh_store_dict_come(store->keys, ahead->hashes[i]);
    }
}

static void see_entries(const gh_store* store, store_ahead* ahead)
{
    uint32_t i;
    for (i = 0; i < ahead->count; i++)
    {
        ahead->entries[i] = gh_store_dict_likely(store->keys, ahead->hashes[i]);
        if (ahead->entries[i] != NULL) STORE_PREFETCH(ahead->entries[i]);
    }
}

static void see_values(const store_ahead* ahead)
{
    uint32_t i;
    for (i = 0; i < ahead->count; i++)
        if (ahead->entries[i] != NULL) STORE_PREFETCH(ahead->entries[i]->is.value);
}

/* As the server knows it, however it was asked for. */
static void put_small(store_buffer* bytes, gh_str digest)
{
    size_t i;
    for (i = 0; i < digest.size; i++)
    {
        const char letter = digest.bytes[i];
        const char small = letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
        gh_store_put(bytes, &small, 1);
    }
}

/* Without the metatable that a script may have given to its error: nobody is there to catch what that would raise. */
static const char* error_field(lua_State* lua, int error, const char* field)
{
    lua_pushstring(lua, field);
    lua_rawget(lua, error);
    return lua_tostring(lua, -1);
}

static void put_error(gh_store* store, gh_str digest)
{
    lua_State* lua = store->engine->lua;
    const int error = lua_gettop(lua);
    store_buffer text = {NULL, 0, 0, 0};
    const char* message;
    const char* source;
    const char* line;
    if (!lua_istable(lua, -1))
    {
        gh_store_reply_error(store, "ERR Error running script %.*s, %.100s", GH_STR_ARG(digest),
                             lua_isstring(lua, -1) ? lua_tostring(lua, -1) : "execution failure");
        return;
    }
    message = error_field(lua, error, "err");
    source = error_field(lua, error, "source");
    line = error_field(lua, error, "line");
    gh_store_put(&text, message == NULL ? "ERR unknown error" : message, message == NULL ? 17 : strlen(message));
    if (source != NULL && line != NULL)
    {
        gh_store_put(&text, " script: ", 9);
        put_small(&text, digest);
        gh_store_put(&text, ", on ", 5);
        gh_store_put(&text, source, strlen(source));
        gh_store_put(&text, ":", 1);
        gh_store_put(&text, line, strlen(line));
        gh_store_put(&text, ".", 1);
    }
    gh_store_put_line(store->answer->bytes, '-', gh_str_make(text.bytes, text.size));
    gh_store_buffer_end(&text);
    lua_pop(lua, 3);
}

/* A coroutine counts its own steps from where it begins, so this comes after a few of each of them, and what is left is
   left to all. Behind the last it comes again and again, so that a pcall of the script's does not help it. */
static void look_at_steps(lua_State* lua, lua_Debug* unused)
{
    void* memory;
    gh_store_engine* engine;
    (void)unused;
    (void)lua_getallocf(lua, &memory);
    engine = (gh_store_engine*)(void*)((char*)memory - offsetof(gh_store_engine, memory));
    if (engine->steps_left > STEPS_A_LOOK)
    {
        engine->steps_left -= STEPS_A_LOOK;
        return;
    }
    engine->steps_left = 0;
    lua_sethook(lua, look_at_steps, LUA_MASKCOUNT | LUA_MASKLINE, 1);
    luaL_error(lua, "Script killed by user with SCRIPT KILL.");
}

static int run_within(gh_store* store, lua_State* lua)
{
    const uint64_t most = store->config.steps_max;
    int failed;
    store->engine->steps_left = most;
    if (most > 0) lua_sethook(lua, look_at_steps, LUA_MASKCOUNT, STEPS_A_LOOK);
    failed = lua_pcall(lua, 0, 1, -2);
    if (most > 0 && store->engine->steps_left == 0) store->counts.stopped++;
    if (most > 0) lua_sethook(lua, NULL, 0, 0); /* else there may be one that is not ours */
    return failed;
}

/* The database is that of the link again when the script has chosen another one. */
void gh_store_script_run(gh_store* store, gh_str digest, int script, uint32_t keys)
{
    gh_store_engine* engine = store->engine;
    lua_State* lua = engine->lua;
    const uint32_t database = store->database;
    store_ahead ahead;
    int failed;
    see_slots(store, store->words + 3, keys, &ahead);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, engine->on_error);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, script);
    set_table(lua, engine->name_of_keys, store->words + 3, keys);
    see_entries(store, &ahead);
    set_table(lua, engine->name_of_arguments, store->words + 3 + keys, store->count - 3 - keys);
    see_values(&ahead);
    engine->store = store;
    store->has_written = false;
    failed = run_within(store, lua);
    engine->store = NULL;
    store->database = database;
    store->keys = &store->databases[database];
    if (failed) put_error(store, digest);
    else gh_store_lua_answer(lua, store->answer->bytes);
    lua_settop(lua, 0);
    gh_store_memory_rest(&engine->memory);
}

/* ---- an engine --------------------------------------------------------------------------------------------------- */

static int no_such_global(lua_State* lua)
{
    return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'",
                      lua_isstring(lua, 2) ? lua_tostring(lua, 2) : luaL_typename(lua, 2));
}

static int no_new_global(lua_State* lua)
{
    return luaL_error(lua, "Attempt to modify a readonly table");
}

static void close_table(lua_State* lua, bool refuses_reads)
{
    lua_createtable(lua, 0, 3);
    lua_pushcfunction(lua, no_new_global);
    lua_setfield(lua, -2, "__newindex");
    if (refuses_reads)
    {
        lua_pushcfunction(lua, no_such_global);
        lua_setfield(lua, -2, "__index");
    }
    lua_setmetatable(lua, -2);
}

/* Scripts find what is there, and add nothing: what one leaves behind would be met by the next. */
static void close_globals(lua_State* lua)
{
    static const char* const libraries[] = {"string", "table", "math", "redis", "cmsgpack", "coroutine"};
    size_t i;
    for (i = 0; i < sizeof libraries / sizeof *libraries; i++)
    {
        lua_getglobal(lua, libraries[i]);
        close_table(lua, false);
        lua_pop(lua, 1);
    }
    lua_pushvalue(lua, LUA_GLOBALSINDEX);
    close_table(lua, true);
    lua_pop(lua, 1);
}

static void open_library(lua_State* lua, lua_CFunction open, const char* name)
{
    lua_pushcfunction(lua, open);
    lua_pushstring(lua, name);
    lua_call(lua, 1, 0);
}

static void set_function(gh_store_engine* engine, const char* name, lua_CFunction function)
{
    lua_pushlightuserdata(engine->lua, engine);
    lua_pushcclosure(engine->lua, function, 1);
    lua_setfield(engine->lua, -2, name);
}

static void open_redis(gh_store_engine* engine)
{
    static const char* const levels[] = {"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"};
    int i;
    lua_createtable(engine->lua, 0, 16);
    set_function(engine, "call", redis_call);
    set_function(engine, "pcall", redis_pcall);
    set_function(engine, "error_reply", redis_error_reply);
    set_function(engine, "status_reply", redis_status_reply);
    set_function(engine, "sha1hex", redis_sha1hex);
    set_function(engine, "log", redis_nothing);
    set_function(engine, "setresp", redis_nothing);
    set_function(engine, "set_repl", redis_nothing);
    set_function(engine, "replicate_commands", redis_true);
    for (i = 0; i < 4; i++)
    {
        lua_pushnumber(engine->lua, i);
        lua_setfield(engine->lua, -2, levels[i]);
    }
    lua_setglobal(engine->lua, "redis");
}

static int collect(lua_State* lua)
{
    gh_store_memory_spoil(&engine_of(lua)->memory);
    return engine_of(lua)->collect(lua);
}

static void open_collect(gh_store_engine* engine)
{
    lua_getglobal(engine->lua, "collectgarbage");
    engine->collect = lua_tocfunction(engine->lua, -1);
    lua_pop(engine->lua, 1);
    lua_pushlightuserdata(engine->lua, engine);
    lua_pushcclosure(engine->lua, collect, 1);
    lua_setglobal(engine->lua, "collectgarbage");
}

static void take_away(lua_State* lua)
{
    static const char* const names[] = {"print",   "dofile",  "loadfile", "newproxy",
                                        "getfenv", "setfenv", "module",   "require"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++)
    {
        lua_pushnil(lua);
        lua_setglobal(lua, names[i]);
    }
}

/* KEYS and ARGV are there before the globals are closed, so that each script's are but set. */
static void open_arguments(gh_store_engine* engine)
{
    lua_pushstring(engine->lua, "KEYS");
    engine->name_of_keys = luaL_ref(engine->lua, LUA_REGISTRYINDEX);
    lua_pushstring(engine->lua, "ARGV");
    engine->name_of_arguments = luaL_ref(engine->lua, LUA_REGISTRYINDEX);
    set_table(engine->lua, engine->name_of_keys, NULL, 0);
    set_table(engine->lua, engine->name_of_arguments, NULL, 0);
}

gh_store_engine* gh_store_engine_new(void)
{
    gh_store_engine* engine = (gh_store_engine*)gh_store_heap_resize(NULL, sizeof *engine);
    lua_State* lua;
    memset(engine, 0, sizeof *engine);
    gh_store_commands_index(engine);
    lua = engine->lua = gh_store_memory_begin(&engine->memory);
    open_library(lua, luaopen_base, "");
    open_library(lua, luaopen_table, LUA_TABLIBNAME);
    open_library(lua, luaopen_string, LUA_STRLIBNAME);
    open_library(lua, luaopen_math, LUA_MATHLIBNAME);
    open_library(lua, luaopen_debug, LUA_DBLIBNAME);
    if (luaL_loadbuffer(lua, on_error, sizeof on_error - 1, "@on_error") != 0 || lua_pcall(lua, 0, 1, 0) != 0) abort();
    engine->on_error = luaL_ref(lua, LUA_REGISTRYINDEX);
    open_redis(engine);
    open_collect(engine);
    gh_store_lua_open_text(engine);
    gh_store_lua_open_match(engine);
    gh_store_lua_open_pack(engine);
    gh_store_lua_open_random(engine);
    take_away(lua);
    open_arguments(engine);
    close_globals(lua);
    lua_settop(lua, 0);
    gh_store_memory_built(&engine->memory);
    return engine;
}

void gh_store_engine_settle(gh_store_engine* engine)
{
    gh_store_memory_settle(&engine->memory);
}

void gh_store_engine_free(gh_store_engine* engine)
{
    gh_store_memory_end(&engine->memory);
    gh_store_dict_end(&engine->scripts, &engine->pool);
    gh_store_dict_end(&engine->texts, &engine->pool);
    gh_store_pool_end(&engine->pool);
    free(engine->words);
    free(engine->spare_words);
    free(engine->numbers);
    gh_store_lua_end_match(engine);
    gh_store_buffer_end(&engine->packed);
    free(engine);
}
