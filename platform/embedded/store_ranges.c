/* store_ranges.c -- ranges of sorted sets: by place, by score, by name. Options are read first, then the bounds, and
   the key is looked at last. */

#include "store_zsets.h"

#include <math.h>

/* Places from FIRST up to, without, BEHIND. */
typedef struct places
{
    uint32_t first;
    uint32_t behind;
} places;

typedef struct range_words
{
    bool from_end;
    bool with_scores;
    bool by_score;
    bool by_name;
    bool has_limit;
    int64_t offset;
    int64_t limit; /* -1: none */
} range_words;

/* ---- by score ---------------------------------------------------------------------------------------------------- */

typedef struct score_bound
{
    double score;
    bool is_open;
} score_bound;

static bool read_bound(gh_str word, score_bound* bound)
{
    bound->is_open = word.size > 0 && word.bytes[0] == '(';
    if (bound->is_open) word = gh_str_make(word.bytes + 1, word.size - 1);
    return gh_store_text_bound(word, &bound->score);
}

static bool read_bounds(gh_store* store, uint32_t low_at, uint32_t high_at, score_bound* low, score_bound* high)
{
    if (read_bound(store->words[low_at], low) && read_bound(store->words[high_at], high)) return true;
    gh_store_reply_error(store, STORE_NOT_RANGE);
    return false;
}

/* How many have a lower score; or that one, if PAST it. */
static uint32_t place_of_score(const store_value* value, double score, bool past)
{
    uint32_t low = 0;
    uint32_t high = value->row.count;
    while (low < high)
    {
        const uint32_t middle = low + (high - low) / 2;
        const double there = gh_store_member_at(value, middle)->is.score;
        if (there < score || (past && there == score)) low = middle + 1;
        else high = middle;
    }
    return low;
}

static places between_scores(const store_value* value, const score_bound* low, const score_bound* high)
{
    places found = {0, 0};
    if (value == NULL) return found;
    found.first = place_of_score(value, low->score, low->is_open);
    found.behind = place_of_score(value, high->score, !high->is_open);
    if (found.behind < found.first) found.behind = found.first;
    return found;
}

/* ---- by name ----------------------------------------------------------------------------------------------------- */

static bool is_name_bound(gh_str word)
{
    if (word.size == 0) return false;
    if (word.bytes[0] == '(' || word.bytes[0] == '[') return true;
    return word.size == 1 && (word.bytes[0] == '-' || word.bytes[0] == '+');
}

static bool are_name_bounds(gh_store* store, uint32_t low_at, uint32_t high_at)
{
    if (is_name_bound(store->words[low_at]) && is_name_bound(store->words[high_at])) return true;
    gh_store_reply_error(store, "ERR min or max not valid string range item");
    return false;
}

static uint32_t place_of_name(const store_value* value, gh_str bound, bool is_high)
{
    const gh_str name = gh_str_make(bound.bytes + 1, bound.size - 1);
    const bool past = (bound.bytes[0] == '[') == is_high;
    uint32_t low = 0;
    uint32_t high = value->row.count;
    if (bound.bytes[0] == '-') return 0;
    if (bound.bytes[0] == '+') return high;
    while (low < high)
    {
        const uint32_t middle = low + (high - low) / 2;
        const int order = gh_store_names_compare(gh_store_entry_name(gh_store_member_at(value, middle)), name);
        if (order < 0 || (past && order == 0)) low = middle + 1;
        else high = middle;
    }
    return low;
}

static places between_names(const store_value* value, gh_str low, gh_str high)
{
    places found = {0, 0};
    if (value == NULL) return found;
    found.first = place_of_name(value, low, false);
    found.behind = place_of_name(value, high, true);
    if (found.behind < found.first) found.behind = found.first;
    return found;
}

/* ---- replies ----------------------------------------------------------------------------------------------------- */

static void reply_places(gh_store* store, const store_value* value, places found, const range_words* words)
{
    int64_t count = (int64_t)found.behind - found.first;
    int64_t i;
    count = words->offset < 0 || words->offset > count ? 0 : count - words->offset;
    if (words->limit >= 0 && count > words->limit) count = words->limit;
    gh_store_reply_array(store, (size_t)count * (words->with_scores ? 2 : 1));
    for (i = 0; i < count; i++)
    {
        const int64_t at = words->offset + i;
        const int64_t place = words->from_end ? (int64_t)found.behind - 1 - at : (int64_t)found.first + at;
        gh_store_reply_member(store, gh_store_member_at(value, (uint32_t)place), words->with_scores);
    }
}

static bool read_limit(gh_store* store, uint32_t at, range_words* words)
{
    words->has_limit = true;
    return gh_store_word_integer(store, at + 1, &words->offset) && gh_store_word_integer(store, at + 2, &words->limit);
}

/* ANY: ZRANGE itself, which may be of each kind. */
static bool read_words(gh_store* store, bool any, range_words* words)
{
    uint32_t at;
    words->limit = -1;
    for (at = 4; at < store->count; at++)
    {
        const gh_str word = store->words[at];
        const bool takes_scores = any || words->by_score || !words->by_name;
        if (takes_scores && gh_store_is_word(word, "withscores")) words->with_scores = true;
        else if (at + 2 < store->count && gh_store_is_word(word, "limit"))
        {
            if (!read_limit(store, at, words)) return false;
            at += 2;
        }
        else if (any && gh_store_is_word(word, "rev")) words->from_end = true;
        else if (any && gh_store_is_word(word, "bylex")) words->by_name = true;
        else if (any && gh_store_is_word(word, "byscore")) words->by_score = true;
        else
        {
            gh_store_reply_error(store, STORE_SYNTAX);
            return false;
        }
    }
    return true;
}

static bool are_together(gh_store* store, const range_words* words)
{
    const bool by_place = !words->by_score && !words->by_name;
    if (by_place && words->has_limit && words->limit != -1)
        gh_store_reply_error(store,
                             "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
    else if (words->by_name && words->with_scores)
        gh_store_reply_error(store, "ERR syntax error, WITHSCORES not supported in combination with BYLEX");
    else return true;
    return false;
}

static void range_by_place(gh_store* store, const range_words* words)
{
    store_key key;
    int64_t at;
    int64_t last;
    uint32_t count;
    if (!gh_store_word_integer(store, 2, &at) || !gh_store_word_integer(store, 3, &last)) return;
    if (!gh_store_key_typed(store, STORE_ZSET, &key)) return;
    count = key.value == NULL ? 0 : key.value->row.count;
    gh_store_clip(count, &at, &last);
    gh_store_reply_array(store, (size_t)(last - at + 1) * (words->with_scores ? 2 : 1));
    for (; at <= last; at++)
        gh_store_reply_member(store,
                              gh_store_member_at(key.value, (uint32_t)(words->from_end ? (int64_t)count - 1 - at : at)),
                              words->with_scores);
}

static void range_by_score(gh_store* store, const range_words* words)
{
    score_bound low;
    score_bound high;
    store_key key;
    if (!read_bounds(store, words->from_end ? 3 : 2, words->from_end ? 2 : 3, &low, &high)) return;
    if (!gh_store_key_typed(store, STORE_ZSET, &key)) return;
    reply_places(store, key.value, between_scores(key.value, &low, &high), words);
}

static void range_by_name(gh_store* store, const range_words* words)
{
    const uint32_t low_at = words->from_end ? 3 : 2;
    const uint32_t high_at = words->from_end ? 2 : 3;
    store_key key;
    if (!are_name_bounds(store, low_at, high_at) || !gh_store_key_typed(store, STORE_ZSET, &key)) return;
    reply_places(store, key.value, between_names(key.value, store->words[low_at], store->words[high_at]), words);
}

void gh_store_zrange(gh_store* store)
{
    range_words words = {0};
    if (!read_words(store, true, &words) || !are_together(store, &words)) return;
    if (words.by_score) range_by_score(store, &words);
    else if (words.by_name) range_by_name(store, &words);
    else range_by_place(store, &words);
}

void gh_store_zrevrange(gh_store* store)
{
    range_words words = {0};
    words.from_end = true;
    if (!read_words(store, false, &words) || !are_together(store, &words)) return;
    range_by_place(store, &words);
}

static void range_of_kind(gh_store* store, bool by_name, bool from_end)
{
    range_words words = {0};
    words.by_name = by_name;
    words.by_score = !by_name;
    words.from_end = from_end;
    if (!read_words(store, false, &words)) return;
    if (by_name) range_by_name(store, &words);
    else range_by_score(store, &words);
}

void gh_store_zrangebyscore(gh_store* store)
{
    range_of_kind(store, false, false);
}

void gh_store_zrevrangebyscore(gh_store* store)
{
    range_of_kind(store, false, true);
}

void gh_store_zrangebylex(gh_store* store)
{
    range_of_kind(store, true, false);
}

void gh_store_zrevrangebylex(gh_store* store)
{
    range_of_kind(store, true, true);
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

void gh_store_zcount(gh_store* store)
{
    score_bound low;
    score_bound high;
    store_key key;
    places found;
    if (!read_bounds(store, 2, 3, &low, &high) || !gh_store_key_typed(store, STORE_ZSET, &key)) return;
    found = between_scores(key.value, &low, &high);
    gh_store_reply_integer(store, found.behind - found.first);
}

void gh_store_zlexcount(gh_store* store)
{
    store_key key;
    places found;
    if (!are_name_bounds(store, 2, 3) || !gh_store_key_typed(store, STORE_ZSET, &key)) return;
    found = between_names(key.value, store->words[2], store->words[3]);
    gh_store_reply_integer(store, found.behind - found.first);
}

/* ---- what goes --------------------------------------------------------------------------------------------------- */

static void remove_places(gh_store* store, const store_key* key, places found)
{
    if (found.behind > found.first) gh_store_members_cut(store, key, found.first, found.behind - found.first);
    gh_store_reply_integer(store, found.behind - found.first);
}

void gh_store_zremrangebyscore(gh_store* store)
{
    score_bound low;
    score_bound high;
    store_key key;
    if (!read_bounds(store, 2, 3, &low, &high) || !gh_store_key_typed(store, STORE_ZSET, &key)) return;
    remove_places(store, &key, between_scores(key.value, &low, &high));
}

void gh_store_zremrangebylex(gh_store* store)
{
    store_key key;
    if (!are_name_bounds(store, 2, 3) || !gh_store_key_typed(store, STORE_ZSET, &key)) return;
    remove_places(store, &key, between_names(key.value, store->words[2], store->words[3]));
}

void gh_store_zremrangebyrank(gh_store* store)
{
    store_key key;
    int64_t first;
    int64_t last;
    places found;
    if (!gh_store_word_integer(store, 2, &first) || !gh_store_word_integer(store, 3, &last)) return;
    if (!gh_store_key_typed(store, STORE_ZSET, &key)) return;
    gh_store_clip(key.value == NULL ? 0 : key.value->row.count, &first, &last);
    found.first = (uint32_t)first;
    found.behind = (uint32_t)(last + 1);
    remove_places(store, &key, found);
}

static void pop(gh_store* store, bool from_end)
{
    store_key key;
    int64_t count = 1;
    int64_t i;
    uint32_t all;
    if (store->count > 3)
    {
        gh_store_reply_error(store, STORE_SYNTAX);
        return;
    }
    if (store->count > 2 && (!gh_store_text_integer(store->words[2], &count) || count < 0))
    {
        gh_store_reply_error(store, "ERR value is out of range, must be positive");
        return;
    }
    if (!gh_store_key_typed(store, STORE_ZSET, &key)) return;
    all = key.value == NULL ? 0 : key.value->row.count;
    if (count > all) count = all;
    gh_store_reply_array(store, (size_t)count * 2);
    for (i = 0; i < count; i++)
        gh_store_reply_member(store, gh_store_member_at(key.value, (uint32_t)(from_end ? all - 1 - i : i)), true);
    if (count > 0) gh_store_members_cut(store, &key, from_end ? all - (uint32_t)count : 0, (uint32_t)count);
}

void gh_store_zpopmin(gh_store* store)
{
    pop(store, false);
}

void gh_store_zpopmax(gh_store* store)
{
    pop(store, true);
}
