/* store_hashes.c -- commands about hashes. A small one keeps the order in which its fields came, as a server does; that
   of a large one is nobody's to lean on, and is drawn anew each time it is told. */

#include "store_commands.h"

#include <stdlib.h>

static store_entry* field_of(const store_value* value, gh_str field)
{
    return value == NULL ? NULL : gh_store_dict_find(&value->dict, field, gh_store_hash(field));
}

static void reply_field(gh_store* store, const store_entry* entry)
{
    if (entry == NULL) gh_store_reply_null(store);
    else gh_store_reply_text(store, gh_store_blob_text(entry->is.text));
}

/* True: it is new. */
static bool put_field(gh_store* store, store_value* value, gh_str field, gh_str text)
{
    const uint32_t hash = gh_store_hash(field);
    store_entry* entry = gh_store_dict_find(&value->dict, field, hash);
    const bool is_new = entry == NULL;
    if (is_new) entry = gh_store_dict_add(&value->dict, store->pool, field, hash);
    if (!is_new && entry->is.text->size == text.size)
        memcpy(entry->is.text->bytes, text.size == 0 ? "" : text.bytes, text.size);
    else
    {
        gh_store_blob_free(store->pool, entry->is.text);
        entry->is.text = gh_store_blob_new(store->pool, text);
    }
    gh_store_note_size(value, field.size, text.size);
    return is_new;
}

static int64_t put_fields(gh_store* store, const char* command)
{
    store_key key;
    int64_t added = 0;
    uint32_t at;
    if (store->count % 2 == 1)
    {
        gh_store_reply_error(store, "ERR wrong number of arguments for '%s' command", command);
        return -1;
    }
    if (!gh_store_key_typed(store, STORE_HASH, &key)) return -1;
    if (key.value == NULL) key.value = gh_store_key_make(store, &key, STORE_HASH);
    for (at = 2; at < store->count; at += 2)
        added += put_field(store, key.value, store->words[at], store->words[at + 1]);
    gh_store_changed(store, store->count / 2 - 1);
    return added;
}

void gh_store_hset(gh_store* store)
{
    const int64_t added = put_fields(store, "hset");
    if (added >= 0) gh_store_reply_integer(store, added);
}

void gh_store_hmset(gh_store* store)
{
    if (put_fields(store, "hmset") >= 0) gh_store_reply_ok(store);
}

void gh_store_hsetnx(gh_store* store)
{
    store_key key;
    bool is_new;
    if (!gh_store_key_typed(store, STORE_HASH, &key)) return;
    is_new = field_of(key.value, store->words[2]) == NULL;
    if (is_new)
    {
        if (key.value == NULL) key.value = gh_store_key_make(store, &key, STORE_HASH);
        put_field(store, key.value, store->words[2], store->words[3]);
        gh_store_changed(store, 1);
    }
    gh_store_reply_integer(store, is_new);
}

void gh_store_hget(gh_store* store)
{
    store_key key;
    if (gh_store_key_typed(store, STORE_HASH, &key)) reply_field(store, field_of(key.value, store->words[2]));
}

void gh_store_hmget(gh_store* store)
{
    store_key key;
    uint32_t at;
    if (!gh_store_key_typed(store, STORE_HASH, &key)) return;
    gh_store_reply_array(store, store->count - 2);
    for (at = 2; at < store->count; at++) reply_field(store, field_of(key.value, store->words[at]));
}

/* Of a hash or a set, those that the command names; with the last of them the key. */
void gh_store_members_remove(gh_store* store, store_type type)
{
    store_key key;
    int64_t count = 0;
    uint32_t at;
    if (!gh_store_key_typed(store, type, &key)) return;
    for (at = 2; key.value != NULL && at < store->count; at++)
    {
        const gh_str field = store->words[at];
        store_entry* entry = gh_store_dict_take(&key.value->dict, field, gh_store_hash(field));
        if (entry == NULL) continue;
        if (type == STORE_HASH) gh_store_blob_free(store->pool, entry->is.text);
        gh_store_entry_free(store->pool, entry);
        count++;
        if (key.value->dict.count > 0) continue;
        gh_store_key_remove(store, &key);
        key.value = NULL;
    }
    gh_store_changed(store, (uint64_t)count);
    gh_store_reply_integer(store, count);
}

void gh_store_hdel(gh_store* store)
{
    gh_store_members_remove(store, STORE_HASH);
}

void gh_store_hlen(gh_store* store)
{
    store_key key;
    if (gh_store_key_typed(store, STORE_HASH, &key))
        gh_store_reply_integer(store, key.value == NULL ? 0 : key.value->dict.count);
}

void gh_store_hstrlen(gh_store* store)
{
    store_key key;
    const store_entry* entry;
    if (!gh_store_key_typed(store, STORE_HASH, &key)) return;
    entry = field_of(key.value, store->words[2]);
    gh_store_reply_integer(store, entry == NULL ? 0 : entry->is.text->size);
}

void gh_store_hexists(gh_store* store)
{
    store_key key;
    if (gh_store_key_typed(store, STORE_HASH, &key))
        gh_store_reply_integer(store, field_of(key.value, store->words[2]) != NULL);
}

void gh_store_hincrby(gh_store* store)
{
    char text[STORE_NUMBER_SIZE];
    store_key key;
    const store_entry* entry;
    int64_t by;
    int64_t value = 0;
    if (!gh_store_word_integer(store, 3, &by) || !gh_store_key_typed(store, STORE_HASH, &key)) return;
    entry = field_of(key.value, store->words[2]);
    if (entry != NULL && !gh_store_text_integer(gh_store_blob_text(entry->is.text), &value))
    {
        gh_store_reply_error(store, "ERR hash value is not an integer");
        return;
    }
    if (by < 0 ? value < INT64_MIN - by : value > INT64_MAX - by)
    {
        gh_store_reply_error(store, "ERR increment or decrement would overflow");
        return;
    }
    if (key.value == NULL) key.value = gh_store_key_make(store, &key, STORE_HASH);
    put_field(store, key.value, store->words[2], gh_str_make(text, gh_store_integer_text(value + by, text)));
    gh_store_changed(store, 1);
    gh_store_reply_integer(store, value + by);
}

/* ---- all fields -------------------------------------------------------------------------------------------------- */

/* Of a large one, from another field on each time and in steps that meet all: nobody may lean on an order. */
static const store_entry** in_order(gh_store* store, const store_value* value)
{
    const store_entry** all =
        (const store_entry**)gh_store_heap_resize(NULL, (value->dict.count + 1) * sizeof(store_entry*));
    const store_entry* entry;
    uint32_t at = 0;
    uint32_t count = 0;
    while ((entry = gh_store_dict_next(&value->dict, &at)) != NULL) all[count++] = entry;
    if (!value->is_large || store->config.keeps_order) return all;
    for (at = count; at > 1; at--)
    {
        const uint32_t other = (uint32_t)(gh_store_draw(store) % at);
        entry = all[at - 1];
        all[at - 1] = all[other];
        all[other] = entry;
    }
    return all;
}

static void reply_all(gh_store* store, bool names, bool texts)
{
    store_key key;
    const store_entry** all;
    uint32_t i;
    if (!gh_store_key_typed(store, STORE_HASH, &key)) return;
    if (key.value == NULL)
    {
        gh_store_reply_array(store, 0);
        return;
    }
    all = in_order(store, key.value);
    gh_store_reply_array(store, (size_t)key.value->dict.count * (names && texts ? 2 : 1));
    for (i = 0; i < key.value->dict.count; i++)
    {
        if (names) gh_store_reply_text(store, gh_store_entry_name(all[i]));
        if (texts) reply_field(store, all[i]);
    }
    free(all);
}

void gh_store_hgetall(gh_store* store)
{
    reply_all(store, true, true);
}

void gh_store_hkeys(gh_store* store)
{
    reply_all(store, true, false);
}

void gh_store_hvals(gh_store* store)
{
    reply_all(store, false, true);
}

/* ---- some of them ------------------------------------------------------------------------------------------------ */

/* Gaps in the row are met again and again; a row has never more of them than it has room for entries. */
static const store_entry* any_field(gh_store* store, const store_dict* dict)
{
    uint32_t at = store->config.draws_first ? 0 : (uint32_t)(gh_store_draw(store) % dict->used);
    const store_entry* entry = gh_store_dict_next(dict, &at);
    at = 0;
    return entry != NULL ? entry : gh_store_dict_next(dict, &at);
}

static void reply_drawn(gh_store* store, const store_entry* entry, bool with_values)
{
    gh_store_reply_text(store, gh_store_entry_name(entry));
    if (with_values) reply_field(store, entry);
}

#define FEW 64u

/* A few of many: what has been drawn already is drawn again. */
static void reply_few(gh_store* store, const store_dict* dict, uint32_t wanted, bool with_values)
{
    const store_entry* drawn[FEW];
    uint32_t count = 0;
    uint32_t i;
    while (count < wanted)
    {
        drawn[count] = any_field(store, dict);
        for (i = 0; drawn[i] != drawn[count];) i++;
        if (i < count) continue;
        reply_drawn(store, drawn[count++], with_values);
    }
}

/* No field twice: each is taken with the chance that just so many are taken in the end. */
static void reply_different(gh_store* store, const store_dict* dict, uint32_t wanted, bool with_values)
{
    uint32_t at = 0;
    uint32_t left = dict->count;
    const store_entry* entry;
    if (!store->config.draws_first && wanted <= FEW && wanted < dict->count / 4)
    {
        reply_few(store, dict, wanted, with_values);
        return;
    }
    while (wanted > 0 && (entry = gh_store_dict_next(dict, &at)) != NULL)
    {
        if (store->config.draws_first || gh_store_draw(store) % left < wanted)
        {
            reply_drawn(store, entry, with_values);
            wanted--;
        }
        left--;
    }
}

static void reply_some(gh_store* store, const store_value* value, int64_t count, bool with_values)
{
    const store_dict* dict = &value->dict;
    const bool repeats = count < 0;
    if (repeats) count = -count;
    else if (count > dict->count) count = dict->count;
    gh_store_reply_array(store, (size_t)count * (with_values ? 2 : 1));
    if (!repeats) reply_different(store, dict, (uint32_t)count, with_values);
    else
        for (; count > 0; count--) reply_drawn(store, any_field(store, dict), with_values);
}

void gh_store_hrandfield(gh_store* store)
{
    const bool with_values = store->count == 4 && gh_store_is_word(store->words[3], "withvalues");
    store_key key;
    int64_t count = 0;
    if (store->count >= 3)
    {
        if (!gh_store_word_integer(store, 2, &count)) return;
        if (count < -INT64_MAX) /* there is no such number of repeats */
        {
            gh_store_reply_error(store, "ERR value is out of range, value must between %lld and %lld",
                                 (long long)-INT64_MAX, (long long)INT64_MAX);
            return;
        }
        if (store->count > 4 || (store->count == 4 && !with_values))
        {
            gh_store_reply_error(store, STORE_SYNTAX);
            return;
        }
        if (with_values && (count < -INT64_MAX / 2 || count > INT64_MAX / 2))
        {
            gh_store_reply_error(store, "ERR value is out of range");
            return;
        }
    }
    if (!gh_store_key_typed(store, STORE_HASH, &key)) return;
    if (store->count == 2)
    {
        if (key.value == NULL) gh_store_reply_null(store);
        else gh_store_reply_text(store, gh_store_entry_name(any_field(store, &key.value->dict)));
    }
    else if (key.value == NULL || count == 0) gh_store_reply_array(store, 0);
    else reply_some(store, key.value, count, with_values);
}
