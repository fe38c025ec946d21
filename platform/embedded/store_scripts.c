/* store_scripts.c -- SCRIPT, EVAL and EVALSHA. Whatever an engine has compiled once it keeps, but each server runs only
   what it was told of. */

#include "store_commands.h"

#include <lauxlib.h>

/* ---- known and compiled ------------------------------------------------------------------------------------------ */

/* LUA_NOREF: it does not compile, which has been said. What is compiled already is no script, here as with a server:
   Lua believes all that stands in it. */
static int compile(gh_store* store, gh_str text)
{
    store_memory* memory = &store->engine->memory;
    lua_State* lua = store->engine->lua;
    int script = LUA_NOREF;
    if (text.size > 0 && text.bytes[0] == LUA_SIGNATURE[0])
    {
        gh_store_reply_error(store, "ERR Error compiling script (new function): user_script:1: unexpected symbol near "
                                    "'char(27)'");
        return LUA_NOREF;
    }
    gh_store_memory_open(memory);
    if (luaL_loadbuffer(lua, text.bytes, text.size, "@user_script") == 0) script = luaL_ref(lua, LUA_REGISTRYINDEX);
    else
    {
        gh_store_reply_error(store, "ERR Error compiling script (new function): %s", lua_tostring(lua, -1));
        lua_pop(lua, 1);
    }
    gh_store_memory_close(memory);
    return script;
}

/* By its text, as a digest takes longer than to find it: its name is the digest and its value the reference. NULL: it
   does not compile. */
static const store_entry* compiled(gh_store* store, gh_str text)
{
    gh_store_engine* engine = store->engine;
    const uint32_t hash = gh_store_hash(text);
    const store_entry* known = gh_store_dict_find(&engine->texts, text, hash);
    char digest[STORE_ID_SIZE];
    gh_str name;
    store_entry* entry;
    int script;
    if (known != NULL) return (const store_entry*)known->is.any;
    script = compile(store, text);
    if (script == LUA_NOREF) return NULL;
    gh_store_sha1(text.bytes, text.size, digest);
    name = gh_str_make(digest, STORE_ID_SIZE - 1);
    entry = gh_store_dict_add(&engine->scripts, &engine->pool, name, gh_store_hash(name));
    entry->is.any = (void*)(intptr_t)script;
    gh_store_dict_add(&engine->texts, &engine->pool, text, hash)->is.any = entry;
    return entry;
}

static void small_digest(gh_str text, char digest[STORE_ID_SIZE])
{
    size_t i;
    for (i = 0; i < STORE_ID_SIZE - 1; i++)
    {
        const char letter = text.bytes[i];
        digest[i] = letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
    }
    digest[i] = '\0';
}

/* The entry's value is the engine's reference. It is asked for in small letters, nearly always. */
static int script_of(const gh_store* store, gh_str text)
{
    char digest[STORE_ID_SIZE];
    const store_entry* entry;
    if (text.size != STORE_ID_SIZE - 1) return LUA_NOREF;
    entry = gh_store_dict_find(&store->scripts, text, gh_store_hash(text));
    if (entry != NULL) return (int)(intptr_t)entry->is.any;
    small_digest(text, digest);
    text.bytes = digest;
    entry = gh_store_dict_find(&store->scripts, text, gh_store_hash(text));
    return entry == NULL ? LUA_NOREF : (int)(intptr_t)entry->is.any;
}

/* From here on the server knows it. LUA_NOREF: it does not compile. */
static int load(gh_store* store, gh_str text, char digest[STORE_ID_SIZE])
{
    const store_entry* script = compiled(store, text);
    gh_str name;
    if (script == NULL) return LUA_NOREF;
    name = gh_store_entry_name(script);
    memcpy(digest, name.bytes, name.size);
    digest[name.size] = '\0';
    if (gh_store_dict_find(&store->scripts, name, script->hash) == NULL)
        gh_store_dict_add(&store->scripts, store->pool, name, script->hash)->is.any = script->is.any;
    return (int)(intptr_t)script->is.any;
}

/* ---- SCRIPT ------------------------------------------------------------------------------------------------------ */

void gh_store_script_load(gh_store* store)
{
    char digest[STORE_ID_SIZE];
    if (load(store, store->words[2], digest) != LUA_NOREF)
        gh_store_reply_text(store, gh_str_make(digest, STORE_ID_SIZE - 1));
}

void gh_store_script_exists(gh_store* store)
{
    uint32_t at;
    gh_store_reply_array(store, store->count - 2);
    for (at = 2; at < store->count; at++)
        gh_store_reply_integer(store, script_of(store, store->words[at]) != LUA_NOREF);
}

void gh_store_script_flush(gh_store* store)
{
    const bool is_known = store->count == 2 || (store->count == 3 && (gh_store_is_word(store->words[2], "sync") ||
                                                                      gh_store_is_word(store->words[2], "async")));
    if (!is_known)
    {
        gh_store_reply_error(store, "ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        return;
    }
    gh_store_flush_scripts(store);
    gh_store_reply_ok(store);
}

void gh_store_script_kill(gh_store* store)
{
    gh_store_reply_error(store, "NOTBUSY No scripts in execution right now.");
}

/* ---- EVAL -------------------------------------------------------------------------------------------------------- */

static bool read_key_count(gh_store* store, uint32_t* keys)
{
    int64_t count;
    if (!gh_store_word_integer(store, 2, &count)) return false;
    if (count > (int64_t)store->count - 3)
        gh_store_reply_error(store, "ERR Number of keys can't be greater than number of args");
    else if (count < 0) gh_store_reply_error(store, "ERR Number of keys can't be negative");
    else
    {
        *keys = (uint32_t)count;
        return true;
    }
    return false;
}

void gh_store_eval(gh_store* store)
{
    char digest[STORE_ID_SIZE];
    uint32_t keys;
    int script;
    if (!read_key_count(store, &keys)) return;
    script = load(store, store->words[1], digest);
    if (script != LUA_NOREF) gh_store_script_run(store, gh_str_make(digest, STORE_ID_SIZE - 1), script, keys);
}

void gh_store_evalsha(gh_store* store)
{
    const int script = script_of(store, store->words[1]);
    uint32_t keys;
    if (store->words[1].size == STORE_ID_SIZE - 1 && !read_key_count(store, &keys)) return;
    if (script == LUA_NOREF)
    {
        gh_store_reply_error(store, "NOSCRIPT No matching script. Please use EVAL.");
        return;
    }
    gh_store_script_run(store, store->words[1], script, keys);
}
