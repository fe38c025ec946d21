/* store_generic.c -- commands about keys of any type: whether they are, what they are, when they end. */

#include "store_commands.h"

#include <stdlib.h>

void gh_store_del(gh_store* store)
{
    int64_t count = 0;
    uint32_t at;
    for (at = 1; at < store->count; at++)
    {
        const store_key key = gh_store_key_at(store, at);
        if (key.value == NULL) continue;
        gh_store_key_remove(store, &key);
        gh_store_changed(store, 1);
        count++;
    }
    gh_store_reply_integer(store, count);
}

void gh_store_exists(gh_store* store)
{
    int64_t count = 0;
    uint32_t at;
    for (at = 1; at < store->count; at++)
        if (gh_store_key_at(store, at).value != NULL) count++;
    gh_store_reply_integer(store, count);
}

void gh_store_type(gh_store* store)
{
    gh_store_reply_status(store, gh_store_type_name(gh_store_key_at(store, 1).value));
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

static void reply_left(gh_store* store, int64_t unit)
{
    const store_value* value = gh_store_key_at(store, 1).value;
    int64_t left;
    if (value == NULL || value->expires_ms == 0)
    {
        gh_store_reply_integer(store, value == NULL ? -2 : -1);
        return;
    }
    left = value->expires_ms - store->now_ms;
    gh_store_reply_integer(store, left <= 0 ? 0 : (left + unit / 2) / unit);
}

void gh_store_pttl(gh_store* store)
{
    reply_left(store, 1);
}

void gh_store_ttl(gh_store* store)
{
    reply_left(store, 1000);
}

void gh_store_pexpiretime(gh_store* store)
{
    const store_value* value = gh_store_key_at(store, 1).value;
    gh_store_reply_integer(store, value == NULL ? -2 : value->expires_ms == 0 ? -1 : value->expires_ms);
}

typedef struct expire_words
{
    bool nx;
    bool xx;
    bool gt;
    bool lt;
} expire_words;

static bool read_expire_words(gh_store* store, expire_words* words)
{
    uint32_t at;
    for (at = 3; at < store->count; at++)
    {
        const gh_str word = store->words[at];
        if (gh_store_is_word(word, "nx")) words->nx = true;
        else if (gh_store_is_word(word, "xx")) words->xx = true;
        else if (gh_store_is_word(word, "gt")) words->gt = true;
        else if (gh_store_is_word(word, "lt")) words->lt = true;
        else
        {
            gh_store_reply_error(store, "ERR Unsupported option %.*s", (int)(word.size < 200 ? word.size : 200),
                                 word.bytes);
            return false;
        }
    }
    if (words->nx && (words->xx || words->gt || words->lt))
        gh_store_reply_error(store, "ERR NX and XX, GT or LT options at the same time are not compatible");
    else if (words->gt && words->lt)
        gh_store_reply_error(store, "ERR GT and LT options at the same time are not compatible");
    else return true;
    return false;
}

static bool keeps_end(const expire_words* words, int64_t before_ms, int64_t end_ms)
{
    if (words->nx && before_ms != 0) return true;
    if (words->xx && before_ms == 0) return true;
    if (words->gt && (before_ms == 0 || end_ms <= before_ms)) return true;
    return words->lt && before_ms != 0 && end_ms >= before_ms;
}

/* What should have ended already is gone at once; but on a replica, which waits to be told. */
static void expire_at(gh_store* store, const store_key* key, int64_t end_ms)
{
    char text[STORE_NUMBER_SIZE];
    const bool is_over = end_ms <= store->now_ms && !store->is_applied;
    const gh_str moment[3] = {gh_str_literal("PEXPIREAT"), key->name,
                              gh_str_make(text, gh_store_integer_text(end_ms, text))};
    const gh_str gone[2] = {gh_str_literal("DEL"), key->name};
    if (is_over) gh_store_key_remove(store, key);
    else key->value->expires_ms = end_ms;
    gh_store_changed(store, 1);
    gh_store_log_as(store, is_over ? gone : moment, is_over ? 2 : 3);
}

static void expire(gh_store* store, const char* command, int64_t base_ms, int64_t unit)
{
    expire_words words = {false, false, false, false};
    store_key key;
    int64_t value;
    if (!read_expire_words(store, &words) || !gh_store_word_integer(store, 2, &value)) return;
    if (value > INT64_MAX / unit || value < INT64_MIN / unit || value * unit > INT64_MAX - base_ms)
    {
        gh_store_reply_error(store, "ERR invalid expire time in '%s' command", command);
        return;
    }
    value = value * unit + base_ms;
    key = gh_store_key_at(store, 1);
    if (key.value == NULL || keeps_end(&words, key.value->expires_ms, value))
    {
        gh_store_reply_integer(store, 0);
        return;
    }
    expire_at(store, &key, value);
    gh_store_reply_integer(store, 1);
}

void gh_store_pexpire(gh_store* store)
{
    expire(store, "pexpire", store->now_ms, 1);
}

void gh_store_expire(gh_store* store)
{
    expire(store, "expire", store->now_ms, 1000);
}

void gh_store_pexpireat(gh_store* store)
{
    expire(store, "pexpireat", 0, 1);
}

void gh_store_expireat(gh_store* store)
{
    expire(store, "expireat", 0, 1000);
}

void gh_store_persist(gh_store* store)
{
    const store_key key = gh_store_key_at(store, 1);
    const bool had_end = key.value != NULL && key.value->expires_ms != 0;
    if (had_end)
    {
        key.value->expires_ms = 0;
        gh_store_changed(store, 1);
    }
    gh_store_reply_integer(store, had_end);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

void gh_store_dbsize(gh_store* store)
{
    gh_store_reply_integer(store, store->keys->count);
}

/* False: it is not, and that has been said. */
static bool is_flush(gh_store* store)
{
    const bool is_one = store->count == 1 || (store->count == 2 && (gh_store_is_word(store->words[1], "sync") ||
                                                                    gh_store_is_word(store->words[1], "async")));
    if (!is_one) gh_store_reply_error(store, STORE_SYNTAX);
    return is_one;
}

void gh_store_flushall(gh_store* store)
{
    if (!is_flush(store)) return;
    gh_store_flush(store);
    gh_store_changed(store, 1);
    gh_store_reply_ok(store);
}

void gh_store_flushdb(gh_store* store)
{
    if (!is_flush(store)) return;
    gh_store_remove_all(store, store->keys);
    gh_store_changed(store, 1);
    gh_store_reply_ok(store);
}

/* Those that are now and match; replied when their number is known. */
void gh_store_keys(gh_store* store)
{
    const gh_str pattern = store->words[1];
    const store_entry* entry;
    uint32_t at = 0;
    size_t count = 0;
    while ((entry = gh_store_dict_next(store->keys, &at)) != NULL)
        if (!gh_store_has_ended(store, entry->is.value) && gh_store_matches(pattern, gh_store_entry_name(entry)))
            count++;
    gh_store_reply_array(store, count);
    at = 0;
    while ((entry = gh_store_dict_next(store->keys, &at)) != NULL)
        if (!gh_store_has_ended(store, entry->is.value) && gh_store_matches(pattern, gh_store_entry_name(entry)))
            gh_store_reply_text(store, gh_store_entry_name(entry));
}
