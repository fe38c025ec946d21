/* store_zsets.c -- commands about the members of sorted sets by name; those about ranges are in store_ranges.c. */

#include "store_zsets.h"

#include <math.h>

int gh_store_names_compare(gh_str a, gh_str b)
{
    const size_t size = a.size < b.size ? a.size : b.size;
    const int order = size == 0 ? 0 : memcmp(a.bytes, b.bytes, size);
    if (order != 0) return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

static bool is_before(const store_entry* entry, double score, gh_str name)
{
    if (entry->is.score != score) return entry->is.score < score;
    return gh_store_names_compare(gh_store_entry_name(entry), name) < 0;
}

/* The end is the most common place. */
uint32_t gh_store_member_place(const store_value* value, double score, gh_str name)
{
    uint32_t low = 0;
    uint32_t high = value->row.count;
    if (high > 0 && is_before(gh_store_member_at(value, high - 1), score, name)) return high;
    while (low < high)
    {
        const uint32_t middle = low + (high - low) / 2;
        if (is_before(gh_store_member_at(value, middle), score, name)) low = middle + 1;
        else high = middle;
    }
    return low;
}

store_entry* gh_store_member(const store_value* value, gh_str name)
{
    return value == NULL ? NULL : gh_store_dict_find(&value->dict, name, gh_store_hash(name));
}

/* A small one keeps scores as texts of numbers, and knows no zero below zero. */
static double kept_score(const store_value* value, double score)
{
    return score == 0 && !value->is_large ? 0 : score;
}

static void add_member(gh_store* store, store_value* value, gh_str name, double score)
{
    store_entry* entry;
    uint32_t place;
    const bool is_too_many = value->row.count + 1 > STORE_SMALL_COUNT;
    if (is_too_many || name.size > STORE_SMALL_SIZE) value->is_large = true;
    score = kept_score(value, score);
    place = gh_store_member_place(value, score, name);
    entry = gh_store_dict_add(&value->dict, store->pool, name, gh_store_hash(name));
    entry->is.score = score;
    gh_store_row_insert(&value->row, place, entry);
}

static void move_member(store_value* value, store_entry* entry, double score)
{
    const gh_str name = gh_store_entry_name(entry);
    gh_store_row_remove(&value->row, gh_store_member_place(value, entry->is.score, name), 1);
    entry->is.score = kept_score(value, score);
    gh_store_row_insert(&value->row, gh_store_member_place(value, entry->is.score, name), entry);
}

void gh_store_members_cut(gh_store* store, const store_key* key, uint32_t place, uint32_t count)
{
    uint32_t i;
    for (i = place; i < place + count; i++)
    {
        store_entry* entry = gh_store_member_at(key->value, i);
        gh_store_dict_take(&key->value->dict, gh_store_entry_name(entry), entry->hash);
        gh_store_entry_free(store->pool, entry);
    }
    gh_store_row_remove(&key->value->row, place, count);
    gh_store_changed(store, count);
    if (key->value->row.count == 0) gh_store_key_remove(store, key);
}

void gh_store_reply_member(gh_store* store, const store_entry* entry, bool with_score)
{
    gh_store_reply_text(store, gh_store_entry_name(entry));
    if (with_score) gh_store_reply_double(store, entry->is.score);
}

/* ---- ZADD and ZINCRBY -------------------------------------------------------------------------------------------- */

typedef struct zadd_words
{
    bool nx;
    bool xx;
    bool gt;
    bool lt;
    bool ch;
    bool incr;
    uint32_t first; /* score; and every second one from there */
} zadd_words;

static bool read_zadd_flag(gh_str word, zadd_words* words)
{
    if (gh_store_is_word(word, "nx")) words->nx = true;
    else if (gh_store_is_word(word, "xx")) words->xx = true;
    else if (gh_store_is_word(word, "gt")) words->gt = true;
    else if (gh_store_is_word(word, "lt")) words->lt = true;
    else if (gh_store_is_word(word, "ch")) words->ch = true;
    else if (gh_store_is_word(word, "incr")) words->incr = true;
    else return false;
    return true;
}

static bool read_zadd_words(gh_store* store, zadd_words* words)
{
    const char* error = NULL;
    uint32_t at = 2;
    uint32_t count;
    while (at < store->count && read_zadd_flag(store->words[at], words)) at++;
    words->first = at;
    count = store->count - at;
    if (count == 0 || count % 2 == 1) error = STORE_SYNTAX;
    else if (words->nx && words->xx) error = "ERR XX and NX options at the same time are not compatible";
    else if ((words->gt && words->nx) || (words->lt && words->nx) || (words->gt && words->lt))
        error = "ERR GT, LT, and/or NX options at the same time are not compatible";
    else if (words->incr && count > 2) error = "ERR INCR option supports a single increment-element pair";
    if (error != NULL) gh_store_reply_error(store, "%s", error);
    return error == NULL;
}

typedef enum zadd_result
{
    ZADD_NOTHING = 0, /* its words forbid it */
    ZADD_SAME,
    ZADD_ADDED,
    ZADD_CHANGED,
    ZADD_NOT_A_NUMBER
} zadd_result;

/* *SCORE is what it has then. */
static zadd_result put_member(gh_store* store, store_value* value, const zadd_words* words, gh_str name, double* score)
{
    store_entry* entry = gh_store_member(value, name);
    double wanted = *score;
    if (entry == NULL)
    {
        if (words->xx) return ZADD_NOTHING;
        add_member(store, value, name, wanted);
        return ZADD_ADDED;
    }
    if (words->incr) wanted += entry->is.score;
    if (isnan(wanted)) return ZADD_NOT_A_NUMBER;
    *score = words->nx ? entry->is.score : wanted;
    if (words->nx) return ZADD_NOTHING;
    if ((words->gt && wanted <= entry->is.score) || (words->lt && wanted >= entry->is.score)) return ZADD_NOTHING;
    if (wanted == entry->is.score) return ZADD_SAME;
    move_member(value, entry, wanted);
    return ZADD_CHANGED;
}

static bool are_scores(gh_store* store, const zadd_words* words)
{
    double score;
    uint32_t at;
    for (at = words->first; at < store->count; at += 2)
        if (!gh_store_word_double(store, at, &score)) return false;
    return true;
}

/* One and its increment. */
static void increase(gh_store* store, store_value* value, const zadd_words* words)
{
    double score = 0;
    zadd_result result;
    gh_store_text_double(store->words[words->first], &score);
    result = put_member(store, value, words, store->words[words->first + 1], &score);
    if (result == ZADD_NOT_A_NUMBER)
    {
        gh_store_reply_error(store, "ERR resulting score is not a number (NaN)");
        return;
    }
    if (result > ZADD_SAME) gh_store_changed(store, 1);
    if (result == ZADD_NOTHING) gh_store_reply_null(store);
    else gh_store_reply_double(store, score);
}

static void put_members(gh_store* store, store_value* value, const zadd_words* words)
{
    int64_t added = 0;
    int64_t changed = 0;
    uint32_t at;
    for (at = words->first; at < store->count; at += 2)
    {
        double score = 0;
        zadd_result result;
        gh_store_text_double(store->words[at], &score);
        result = put_member(store, value, words, store->words[at + 1], &score);
        added += result == ZADD_ADDED;
        changed += result == ZADD_CHANGED;
    }
    gh_store_changed(store, (uint64_t)(added + changed));
    gh_store_reply_integer(store, words->ch ? added + changed : added);
}

static void zadd(gh_store* store, const zadd_words* words)
{
    store_key key;
    if (!are_scores(store, words) || !gh_store_key_typed(store, STORE_ZSET, &key)) return;
    if (key.value == NULL && words->xx)
    {
        if (words->incr) gh_store_reply_null(store);
        else gh_store_reply_integer(store, 0);
        return;
    }
    if (key.value == NULL)
    {
        key.value = gh_store_key_make(store, &key, STORE_ZSET);
        key.value->is_large = store->words[words->first + 1].size > STORE_SMALL_SIZE;
    }
    if (words->incr) increase(store, key.value, words);
    else put_members(store, key.value, words);
}

void gh_store_zadd(gh_store* store)
{
    zadd_words words = {0};
    if (read_zadd_words(store, &words)) zadd(store, &words);
}

void gh_store_zincrby(gh_store* store)
{
    zadd_words words = {0};
    words.incr = true;
    words.first = 2;
    zadd(store, &words);
}

/* ---- the others -------------------------------------------------------------------------------------------------- */

void gh_store_zrem(gh_store* store)
{
    store_key key;
    int64_t count = 0;
    uint32_t at;
    if (!gh_store_key_typed(store, STORE_ZSET, &key)) return;
    for (at = 2; key.value != NULL && at < store->count; at++)
    {
        const store_entry* entry = gh_store_member(key.value, store->words[at]);
        const bool is_last = key.value->row.count == 1;
        if (entry == NULL) continue;
        gh_store_members_cut(store, &key, gh_store_member_place(key.value, entry->is.score, gh_store_entry_name(entry)),
                             1);
        count++;
        if (is_last) key.value = NULL;
    }
    gh_store_reply_integer(store, count);
}

static void reply_score(gh_store* store, const store_entry* entry)
{
    if (entry == NULL) gh_store_reply_null(store);
    else gh_store_reply_double(store, entry->is.score);
}

void gh_store_zscore(gh_store* store)
{
    store_key key;
    if (gh_store_key_typed(store, STORE_ZSET, &key)) reply_score(store, gh_store_member(key.value, store->words[2]));
}

void gh_store_zmscore(gh_store* store)
{
    store_key key;
    uint32_t at;
    if (!gh_store_key_typed(store, STORE_ZSET, &key)) return;
    gh_store_reply_array(store, store->count - 2);
    for (at = 2; at < store->count; at++) reply_score(store, gh_store_member(key.value, store->words[at]));
}

void gh_store_zcard(gh_store* store)
{
    store_key key;
    if (gh_store_key_typed(store, STORE_ZSET, &key))
        gh_store_reply_integer(store, key.value == NULL ? 0 : key.value->row.count);
}

static void rank(gh_store* store, bool from_end)
{
    store_key key;
    const store_entry* entry;
    uint32_t place;
    if (!gh_store_key_typed(store, STORE_ZSET, &key)) return;
    entry = gh_store_member(key.value, store->words[2]);
    if (entry == NULL)
    {
        gh_store_reply_null(store);
        return;
    }
    place = gh_store_member_place(key.value, entry->is.score, gh_store_entry_name(entry));
    gh_store_reply_integer(store, from_end ? key.value->row.count - 1 - place : place);
}

void gh_store_zrank(gh_store* store)
{
    rank(store, false);
}

void gh_store_zrevrank(gh_store* store)
{
    rank(store, true);
}
