/* store_strings.c -- commands about strings. */

#include "store_commands.h"

#include <stdio.h>

/* What is there goes, whatever its type, and with it its end unless that is kept. */
static void put_string(gh_store* store, store_key* key, gh_str text, bool keeps_end)
{
    store_value* value = key->value;
    if (value == NULL) value = key->value = gh_store_key_make(store, key, STORE_STRING);
    if (value->type != STORE_STRING)
    {
        const int64_t expires_ms = value->expires_ms;
        gh_store_key_remove(store, key);
        value = key->value = gh_store_key_make(store, key, STORE_STRING);
        value->expires_ms = expires_ms;
    }
    gh_store_blob_free(store->pool, value->text);
    value->text = gh_store_blob_new(store->pool, text);
    if (!keeps_end) value->expires_ms = 0;
    gh_store_changed(store, 1);
}

static void reply_string(gh_store* store, const store_value* value)
{
    if (value == NULL) gh_store_reply_null(store);
    else gh_store_reply_text(store, gh_store_blob_text(value->text));
}

void gh_store_get(gh_store* store)
{
    store_key key;
    if (gh_store_key_typed(store, STORE_STRING, &key)) reply_string(store, key.value);
}

/* ---- SET --------------------------------------------------------------------------------------------------------- */

typedef struct set_words
{
    bool only_new;
    bool only_old;
    bool keeps_end;
    bool wants_old;
    const char* unit; /* of the end; NULL: none */
    uint32_t end_at;
} set_words;

static bool is_unit(gh_str word, const char** unit)
{
    static const char* const units[] = {"ex", "px", "exat", "pxat"};
    size_t i;
    for (i = 0; i < sizeof units / sizeof *units; i++)
    {
        if (!gh_store_is_word(word, units[i])) continue;
        *unit = units[i];
        return true;
    }
    return false;
}

static bool read_set_word(gh_store* store, uint32_t* at, set_words* words)
{
    const gh_str word = store->words[*at];
    const char* unit = words->unit;
    if (gh_store_is_word(word, "nx") && !words->only_old) words->only_new = true;
    else if (gh_store_is_word(word, "xx") && !words->only_new) words->only_old = true;
    else if (gh_store_is_word(word, "get")) words->wants_old = true;
    else if (gh_store_is_word(word, "keepttl") && unit == NULL) words->keeps_end = true;
    else if (is_unit(word, &unit) && words->unit == NULL && !words->keeps_end && *at + 1 < store->count)
    {
        words->unit = unit;
        words->end_at = ++*at;
    }
    else return false;
    return true;
}

/* As the moment in ms. */
static bool read_end(gh_store* store, const char* unit, uint32_t at, const char* command, int64_t* end_ms)
{
    const bool in_seconds = unit[0] == 'e';
    const bool is_moment = unit[2] != '\0';
    int64_t value;
    if (!gh_store_word_integer(store, at, &value)) return false;
    if (value <= 0 || (in_seconds && value > INT64_MAX / 1000)) goto invalid;
    if (in_seconds) value *= 1000;
    if (!is_moment && value > INT64_MAX - store->now_ms) goto invalid;
    *end_ms = is_moment ? value : store->now_ms + value;
    return true;
invalid:
    gh_store_reply_error(store, "ERR invalid expire time in '%s' command", command);
    return false;
}

static void log_set(gh_store* store, int64_t end_ms)
{
    char text[STORE_NUMBER_SIZE];
    const gh_str words[5] = {gh_str_literal("SET"), store->words[1], store->words[2], gh_str_literal("PXAT"),
                             gh_str_make(text, gh_store_integer_text(end_ms, text))};
    gh_store_log_as(store, words, 5);
}

void gh_store_set(gh_store* store)
{
    set_words words = {0};
    store_key key;
    int64_t end_ms = 0;
    uint32_t at;
    bool is_refused;
    for (at = 3; at < store->count; at++)
    {
        if (read_set_word(store, &at, &words)) continue;
        gh_store_reply_error(store, STORE_SYNTAX);
        return;
    }
    if (words.unit != NULL && !read_end(store, words.unit, words.end_at, "set", &end_ms)) return;
    key = gh_store_key_at(store, 1);
    if (words.wants_old && key.value != NULL && key.value->type != STORE_STRING)
    {
        gh_store_reply_error(store, STORE_WRONG_TYPE);
        return;
    }
    is_refused = (words.only_new && key.value != NULL) || (words.only_old && key.value == NULL);
    if (words.wants_old) reply_string(store, key.value);
    else if (is_refused) gh_store_reply_null(store);
    if (is_refused) return;
    put_string(store, &key, store->words[2], words.keeps_end);
    if (end_ms != 0)
    {
        key.value->expires_ms = end_ms;
        log_set(store, end_ms);
    }
    if (!words.wants_old) gh_store_reply_ok(store);
}

void gh_store_setnx(gh_store* store)
{
    store_key key = gh_store_key_at(store, 1);
    const bool is_new = key.value == NULL;
    if (is_new) put_string(store, &key, store->words[2], false);
    gh_store_reply_integer(store, is_new);
}

void gh_store_getdel(gh_store* store)
{
    const gh_str words[2] = {gh_str_literal("DEL"), store->words[1]};
    store_key key;
    if (!gh_store_key_typed(store, STORE_STRING, &key)) return;
    reply_string(store, key.value);
    if (key.value == NULL) return;
    gh_store_key_remove(store, &key);
    gh_store_changed(store, 1);
    gh_store_log_as(store, words, 2);
}

void gh_store_strlen(gh_store* store)
{
    store_key key;
    if (!gh_store_key_typed(store, STORE_STRING, &key)) return;
    gh_store_reply_integer(store, key.value == NULL ? 0 : key.value->text->size);
}

void gh_store_append(gh_store* store)
{
    const gh_str more = store->words[2];
    store_key key;
    store_blob* text;
    gh_str before = {"", 0};
    if (!gh_store_key_typed(store, STORE_STRING, &key)) return;
    if (key.value != NULL) before = gh_store_blob_text(key.value->text);
    if (more.size > STORE_TEXT_MAX - before.size)
    {
        gh_store_reply_error(store, "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
        return;
    }
    if (key.value == NULL) key.value = gh_store_key_make(store, &key, STORE_STRING);
    text = (store_blob*)gh_store_pool_take(store->pool, sizeof *text + before.size + more.size);
    text->size = (uint32_t)(before.size + more.size);
    if (before.size > 0) memcpy(text->bytes, before.bytes, before.size);
    if (more.size > 0) memcpy(text->bytes + before.size, more.bytes, more.size);
    gh_store_blob_free(store->pool, key.value->text);
    key.value->text = text;
    gh_store_changed(store, 1);
    gh_store_reply_integer(store, text->size);
}

void gh_store_mget(gh_store* store)
{
    uint32_t at;
    gh_store_reply_array(store, store->count - 1);
    for (at = 1; at < store->count; at++)
    {
        const store_key key = gh_store_key_at(store, at);
        reply_string(store, key.value != NULL && key.value->type == STORE_STRING ? key.value : NULL);
    }
}

void gh_store_mset(gh_store* store)
{
    uint32_t at;
    if (store->count % 2 == 0)
    {
        gh_store_reply_error(store, "ERR wrong number of arguments for 'mset' command");
        return;
    }
    for (at = 1; at < store->count; at += 2)
    {
        store_key key = gh_store_key_at(store, at);
        put_string(store, &key, store->words[at + 1], false);
    }
    gh_store_reply_ok(store);
}

static void add(gh_store* store, int64_t by)
{
    char text[STORE_NUMBER_SIZE];
    store_key key;
    int64_t value = 0;
    if (!gh_store_key_typed(store, STORE_STRING, &key)) return;
    if (key.value != NULL && !gh_store_text_integer(gh_store_blob_text(key.value->text), &value))
    {
        gh_store_reply_error(store, STORE_NOT_INTEGER);
        return;
    }
    if (by < 0 ? value < INT64_MIN - by : value > INT64_MAX - by)
    {
        gh_store_reply_error(store, "ERR increment or decrement would overflow");
        return;
    }
    put_string(store, &key, gh_str_make(text, gh_store_integer_text(value + by, text)), true);
    gh_store_reply_integer(store, value + by);
}

void gh_store_incr(gh_store* store)
{
    add(store, 1);
}

void gh_store_decr(gh_store* store)
{
    add(store, -1);
}

void gh_store_incrby(gh_store* store)
{
    int64_t by;
    if (gh_store_word_integer(store, 2, &by)) add(store, by);
}

void gh_store_decrby(gh_store* store)
{
    int64_t by;
    if (!gh_store_word_integer(store, 2, &by)) return;
    if (by == INT64_MIN) gh_store_reply_error(store, "ERR decrement would overflow");
    else add(store, -by);
}
