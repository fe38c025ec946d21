/* store_keys.c -- the keys of a database: what they lead to, and when they end. */

#include "store_inside.h"

#define SWEEP_EVERY_MS 100
#define SWEEP_LEAST    20u
#define SWEEP_PART     16u

/* ---- values ------------------------------------------------------------------------------------------------------ */

store_value* gh_store_value_new(gh_store* store, store_type type)
{
    store_value* value = (store_value*)gh_store_pool_take(store->pool, sizeof *value);
    memset(value, 0, sizeof *value);
    value->type = type;
    return value;
}

static void free_row_of_blobs(store_pool* pool, store_row* row)
{
    uint32_t i;
    for (i = 0; i < row->count; i++) gh_store_blob_free(pool, (store_blob*)gh_store_row_at(row, i));
}

static void free_texts(store_pool* pool, store_dict* dict)
{
    uint32_t at = 0;
    store_entry* entry;
    while ((entry = gh_store_dict_next(dict, &at)) != NULL) gh_store_blob_free(pool, entry->is.text);
}

void gh_store_value_free(gh_store* store, store_value* value)
{
    store_pool* pool = store->pool;
    if (value->type == STORE_LIST) free_row_of_blobs(pool, &value->row);
    if (value->type == STORE_HASH) free_texts(pool, &value->dict);
    gh_store_blob_free(pool, value->text);
    gh_store_dict_end(&value->dict, pool);
    gh_store_row_end(&value->row);
    gh_store_pool_give(pool, value, sizeof *value);
}

static store_blob* copy_blob(gh_store* to, const store_blob* blob)
{
    return blob == NULL ? NULL : gh_store_blob_new(to->pool, gh_store_blob_text(blob));
}

static void copy_dict(gh_store* to, store_value* copy, const store_value* from)
{
    uint32_t at = 0;
    const store_entry* entry;
    while ((entry = gh_store_dict_next(&from->dict, &at)) != NULL)
    {
        store_entry* added = gh_store_dict_add(&copy->dict, to->pool, gh_store_entry_name(entry), entry->hash);
        if (from->type == STORE_HASH) added->is.text = copy_blob(to, entry->is.text);
        if (from->type == STORE_ZSET) added->is.score = entry->is.score;
    }
}

static void copy_row(gh_store* to, store_value* copy, const store_value* from)
{
    uint32_t i;
    for (i = 0; i < from->row.count; i++)
    {
        const void* one = gh_store_row_at(&from->row, i);
        const store_entry* entry = (const store_entry*)one;
        void* added = from->type == STORE_LIST
                          ? (void*)copy_blob(to, (const store_blob*)one)
                          : gh_store_dict_find(&copy->dict, gh_store_entry_name(entry), entry->hash);
        gh_store_row_insert(&copy->row, i, added);
    }
}

store_value* gh_store_value_copy(gh_store* to, const store_value* from)
{
    store_value* copy = gh_store_value_new(to, from->type);
    copy->is_large = from->is_large;
    copy->expires_ms = from->expires_ms;
    copy->text = copy_blob(to, from->text);
    copy_dict(to, copy, from);
    copy_row(to, copy, from);
    return copy;
}

const char* gh_store_type_name(const store_value* value)
{
    static const char* const names[] = {"string", "hash", "list", "zset", "set"};
    return value == NULL ? "none" : names[value->type];
}

void gh_store_note_size(store_value* value, size_t name_size, size_t value_size)
{
    if (value->is_large) return;
    value->is_large =
        value->dict.count > STORE_SMALL_COUNT || name_size > STORE_SMALL_SIZE || value_size > STORE_SMALL_SIZE;
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

bool gh_store_has_ended(const gh_store* store, const store_value* value)
{
    return value->expires_ms != 0 && store->now_ms > value->expires_ms;
}

static void remove_key(gh_store* store, store_dict* keys, gh_str name, uint32_t hash)
{
    store_entry* entry = gh_store_dict_take(keys, name, hash);
    if (entry == NULL) return;
    gh_store_value_free(store, entry->is.value);
    gh_store_entry_free(store->pool, entry);
}

/* A replica is told of its end; that it has ended it sees by itself. */
static void end_key(gh_store* store, gh_str name, uint32_t hash)
{
    const gh_str words[2] = {gh_str_literal("DEL"), name};
    const bool was_rewritten = store->is_rewritten;
    gh_store_log_as(store, words, 2);
    store->is_rewritten = was_rewritten;
    remove_key(store, store->keys, name, hash);
}

/* A replica waits to be told, unless it is written to after all. */
static bool ends_keys(const gh_store* store)
{
    return (store->states & GH_STORE_READ_ONLY) == 0 || (store->command->flags & STORE_WRITES) != 0;
}

store_key gh_store_key_at(gh_store* store, uint32_t at)
{
    store_key key;
    const store_entry* entry;
    key.name = store->words[at];
    key.hash = gh_store_hash(key.name);
    entry = gh_store_dict_find(store->keys, key.name, key.hash);
    key.value = entry == NULL ? NULL : entry->is.value;
    if (key.value == NULL || store->is_applied || !gh_store_has_ended(store, key.value)) return key;
    if (ends_keys(store)) end_key(store, key.name, key.hash);
    key.value = NULL;
    return key;
}

bool gh_store_key_typed(gh_store* store, store_type type, store_key* key)
{
    *key = gh_store_key_at(store, 1);
    if (key->value == NULL || key->value->type == type) return true;
    gh_store_reply_error(store, STORE_WRONG_TYPE);
    return false;
}

store_value* gh_store_key_make(gh_store* store, const store_key* key, store_type type)
{
    store_value* value = gh_store_value_new(store, type);
    gh_store_dict_add(store->keys, store->pool, key->name, key->hash)->is.value = value;
    return value;
}

void gh_store_key_remove(gh_store* store, const store_key* key)
{
    remove_key(store, store->keys, key->name, key->hash);
}

void gh_store_remove_all(gh_store* store, store_dict* keys)
{
    uint32_t at = 0;
    store_entry* entry;
    while ((entry = gh_store_dict_next(keys, &at)) != NULL) gh_store_value_free(store, entry->is.value);
    gh_store_dict_end(keys, store->pool);
}

/* ---- those that nobody asks for any more ------------------------------------------------------------------------- */

static void sweep_database(gh_store* store, uint32_t number)
{
    uint32_t* at = &store->sweep_at[number];
    uint32_t left;
    store->keys = &store->databases[number];
    store->database = number;
    left = SWEEP_LEAST + store->keys->used / SWEEP_PART;
    if (left > store->keys->used) left = store->keys->used;
    for (; left > 0; left--)
    {
        const store_entry* entry;
        if (*at >= store->keys->used) *at = 0;
        if (store->keys->used == 0) return;
        entry = store->keys->row[(*at)++];
        if (entry != NULL && gh_store_has_ended(store, entry->is.value))
            end_key(store, gh_store_entry_name(entry), entry->hash);
    }
}

/* A part of the keys now and then, as a server does, so that what has ended takes no memory for long. */
void gh_store_sweep(gh_store* store)
{
    uint32_t number;
    if (store->now_ms >= store->swept_ms && store->now_ms - store->swept_ms < SWEEP_EVERY_MS) return;
    store->swept_ms = store->now_ms;
    if ((store->states & (GH_STORE_READ_ONLY | GH_STORE_LOADING)) != 0) return;
    for (number = 0; number < STORE_DATABASES; number++)
        if (store->databases[number].count > 0) sweep_database(store, number);
    gh_store_log_end(store);
}

/* ---- draws ------------------------------------------------------------------------------------------------------- */

uint64_t gh_store_draw(gh_store* store)
{
    uint64_t z = store->random += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

void gh_store_draw_id(gh_store* store, char* id)
{
    size_t i;
    for (i = 0; i + 1 < STORE_ID_SIZE; i++) id[i] = "0123456789abcdef"[gh_store_draw(store) & 15u];
    id[i] = '\0';
}

/* ---- the log ----------------------------------------------------------------------------------------------------- */

void gh_store_log_as(gh_store* store, const gh_str* words, uint32_t count)
{
    store->is_rewritten = true;
    if (store->hooks.log == NULL || store->is_applied) return;
    store->has_logged = true;
    store->hooks.log(store->hooks.log_context, store->database, words, count);
}

void gh_store_log_end(gh_store* store)
{
    if (!store->has_logged) return;
    store->has_logged = false;
    store->hooks.log(store->hooks.log_context, store->database, NULL, 0);
}
