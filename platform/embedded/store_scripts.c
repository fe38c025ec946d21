/* store_scripts.c -- SCRIPT, EVAL and EVALSHA. Whatever an engine has compiled once it keeps, but each server runs only
   what it was told of. */

#include "store_commands.h"

#include <lauxlib.h>

/* ---- known and compiled ------------------------------------------------------------------------------------------ */

/* A reference; LUA_NOREF: it does not compile, which has been said. */
static int compile(gh_store* store, gh_str text, const char* digest)
{
    gh_store_engine* engine = store->engine;
    const gh_str name = gh_str_make(digest, STORE_ID_SIZE - 1);
    const uint32_t hash = gh_store_hash(name);
    const store_entry* entry = gh_store_dict_find(&engine->scripts, name, hash);
    int script;
    if (entry != NULL) return (int)(intptr_t)entry->is.any;
    if (luaL_loadbuffer(engine->lua, text.bytes, text.size, "@user_script") != 0)
    {
        gh_store_reply_error(store, "ERR Error compiling script (new function): %s", lua_tostring(engine->lua, -1));
        lua_pop(engine->lua, 1);
        return LUA_NOREF;
    }
    script = luaL_ref(engine->lua, LUA_REGISTRYINDEX);
    gh_store_dict_add(&engine->scripts, &engine->pool, name, hash)->is.any = (void*)(intptr_t)script;
    return script;
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

/* LUA_NOREF: it does not compile. */
static int load(gh_store* store, gh_str text, char digest[STORE_ID_SIZE])
{
    const gh_str name = gh_str_make(digest, STORE_ID_SIZE - 1);
    int script;
    gh_store_sha1(text.bytes, text.size, digest);
    script = script_of(store, name);
    if (script != LUA_NOREF) return script;
    script = compile(store, text, digest);
    if (script == LUA_NOREF) return script;
    gh_store_dict_add(&store->scripts, store->pool, name, gh_store_hash(name))->is.any = (void*)(intptr_t)script;
    return script;
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
