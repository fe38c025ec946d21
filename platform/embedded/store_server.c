/* store_server.c -- a server's life: begun, restarted, copied, ended; and what a world around it may ask of it. */

#include "store_inside.h"

#include <stdio.h>
#include <stdlib.h>

#define LINKS_USUAL 10000u

gh_store_config gh_store_config_default(void)
{
    gh_store_config config = {0};
    config.version = "7.0.15";
    config.links_max = LINKS_USUAL;
    config.append_only = true;
    return config;
}

static uint32_t version_number(const char* text)
{
    unsigned parts[3] = {0, 0, 0};
    sscanf(text, "%u.%u.%u", &parts[0], &parts[1], &parts[2]);
    return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

gh_store* gh_store_new(const gh_store_config* config)
{
    gh_store* store = (gh_store*)gh_store_heap_resize(NULL, sizeof *store);
    memset(store, 0, sizeof *store);
    store->config = *config;
    store->owns_engine = config->engine == NULL;
    store->engine = store->owns_engine ? gh_store_engine_new() : config->engine;
    store->pool = &store->engine->pool;
    snprintf(store->version, sizeof store->version, "%s", config->version);
    snprintf(store->password, sizeof store->password, "%s", config->password == NULL ? "" : config->password);
    store->version_number = version_number(store->version);
    store->random = config->seed;
    store->lua_random = config->seed;
    gh_store_draw_id(store, store->run_id);
    gh_store_draw_id(store, store->history);
    gh_store_users_begin(store);
    return store;
}

void gh_store_free(gh_store* store)
{
    while (store->first_link != NULL) gh_store_disconnect(store->first_link);
    gh_store_flush(store);
    gh_store_flush_scripts(store);
    gh_store_users_end(store);
    gh_store_dict_end(&store->channels[0], store->pool);
    gh_store_dict_end(&store->channels[1], store->pool);
    gh_store_dict_end(&store->patterns, store->pool);
    gh_store_buffer_end(&store->asked[0]);
    gh_store_buffer_end(&store->asked[1]);
    if (store->owns_engine) gh_store_engine_free(store->engine);
    free(store);
}

void gh_store_set_time(gh_store* store, uint64_t unix_us)
{
    store->now_us = unix_us;
    store->now_ms = (int64_t)(unix_us / 1000);
}

uint64_t gh_store_time(const gh_store* store)
{
    return store->now_us;
}

void gh_store_restart(gh_store* store, uint64_t seed)
{
    gh_store_link* link;
    for (link = store->first_link; link != NULL; link = link->next) gh_store_link_close(link);
    gh_store_flush_scripts(store);
    store->states = 0;
    store->random ^= seed;
    gh_store_draw_id(store, store->run_id);
    gh_store_draw_id(store, store->history);
}

void gh_store_flush(gh_store* store)
{
    uint32_t i;
    for (i = 0; i < STORE_DATABASES; i++) gh_store_remove_all(store, &store->databases[i]);
    memset(store->sweep_at, 0, sizeof store->sweep_at);
}

void gh_store_flush_scripts(gh_store* store)
{
    gh_store_dict_end(&store->scripts, store->pool);
}

static void copy_keys(gh_store* to, store_dict* keys, const store_dict* from)
{
    uint32_t at = 0;
    const store_entry* entry;
    while ((entry = gh_store_dict_next(from, &at)) != NULL)
        gh_store_dict_add(keys, to->pool, gh_store_entry_name(entry), entry->hash)->is.value =
            gh_store_value_copy(to, entry->is.value);
}

void gh_store_copy(gh_store* to, const gh_store* from)
{
    uint32_t i;
    gh_store_flush(to);
    for (i = 0; i < STORE_DATABASES; i++) copy_keys(to, &to->databases[i], &from->databases[i]);
}

/* ---- states and names -------------------------------------------------------------------------------------------- */

void gh_store_set_states(gh_store* store, unsigned states)
{
    store->states = states;
}

unsigned gh_store_states(const gh_store* store)
{
    return store->states;
}

const char* gh_store_run_id(const gh_store* store)
{
    return store->run_id;
}

const char* gh_store_history(const gh_store* store)
{
    return store->history;
}

void gh_store_set_history(gh_store* store, const char* history)
{
    snprintf(store->history, sizeof store->history, "%s", history);
}

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

void gh_store_set_tap(gh_store* store, gh_store_tap tap, void* context)
{
    store->hooks.tap = tap;
    store->hooks.tap_context = context;
}

void gh_store_set_log(gh_store* store, gh_store_log log, void* context)
{
    store->hooks.log = log;
    store->hooks.log_context = context;
}

void gh_store_set_gate(gh_store* store, gh_store_gate gate, void* context)
{
    store->hooks.gate = gate;
    store->hooks.gate_context = context;
}

void gh_store_set_other(gh_store* store, gh_store_other other, void* context)
{
    store->hooks.other = other;
    store->hooks.other_context = context;
}

void gh_store_set_info(gh_store* store, gh_store_info info, void* context)
{
    store->hooks.info = info;
    store->hooks.info_context = context;
}

/* ---- commands of nobody ------------------------------------------------------------------------------------------ */

/* Scripts of one engine run one after the other, and none calls from within another. The words may be pieces of the
   reply before, which therefore stays until the next call is over. */
static gh_str run_as_nobody(gh_store* store, uint32_t database, const gh_str* words, size_t count, bool is_applied)
{
    const unsigned states = store->states;
    const gh_store_log log = store->hooks.log;
    store_buffer* asked = &store->asked[store->asked_last ^= 1u];
    store_answer answer;
    answer.lua = NULL;
    answer.bytes = asked;
    answer.depth = 0;
    answer.has_failed = false;
    gh_store_buffer_empty(asked);
    store->answer = &answer;
    store->link = NULL;
    store->user = NULL;
    store->database = database;
    store->keys = &store->databases[database];
    store->is_applied = is_applied;
    store->hooks.log = NULL;
    store->states = states & GH_STORE_READ_ONLY;
    gh_store_run_nobody(store, words, (uint32_t)count);
    store->states = states;
    store->hooks.log = log;
    store->has_logged = false;
    store->is_applied = false;
    store->answer = NULL;
    return gh_str_make(asked->bytes == NULL ? "" : asked->bytes, asked->size);
}

void gh_store_apply(gh_store* store, uint32_t database, const gh_str* words, size_t count)
{
    run_as_nobody(store, database, words, count, true);
}

gh_str gh_store_ask(gh_store* store, const gh_str* words, size_t count)
{
    return run_as_nobody(store, 0, words, count, false);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

bool gh_store_has(const gh_store* store, uint32_t database, gh_str key)
{
    const store_entry* entry = gh_store_dict_find(&store->databases[database], key, gh_store_hash(key));
    return entry != NULL && !gh_store_has_ended(store, entry->is.value);
}

size_t gh_store_key_count(const gh_store* store)
{
    size_t count = 0;
    uint32_t i;
    for (i = 0; i < STORE_DATABASES; i++) count += store->databases[i].count;
    return count;
}

void gh_store_each_key(const gh_store* store, gh_store_each each, void* context)
{
    uint32_t i;
    for (i = 0; i < STORE_DATABASES; i++)
    {
        uint32_t at = 0;
        const store_entry* entry;
        while ((entry = gh_store_dict_next(&store->databases[i], &at)) != NULL)
            if (!gh_store_has_ended(store, entry->is.value) && !each(context, i, gh_store_entry_name(entry))) return;
    }
}

static void remove_named(gh_store* store, uint32_t database, gh_str name)
{
    store_key key;
    key.name = name;
    key.hash = gh_store_hash(name);
    key.value = NULL;
    store->keys = &store->databases[database];
    gh_store_key_remove(store, &key);
}

bool gh_store_move(gh_store* to, gh_store* from, uint32_t database, gh_str key)
{
    const uint32_t hash = gh_store_hash(key);
    const store_entry* entry = gh_store_dict_find(&from->databases[database], key, hash);
    if (entry == NULL) return false;
    remove_named(to, database, key);
    gh_store_dict_add(&to->databases[database], to->pool, key, hash)->is.value =
        gh_store_value_copy(to, entry->is.value);
    remove_named(from, database, key);
    return true;
}

gh_store_counts gh_store_get_counts(const gh_store* store)
{
    gh_store_counts counts = store->counts;
    counts.links = store->link_count;
    counts.scripts = store->scripts.count;
    return counts;
}
