/* store_scan.c -- SCAN and its like: a table is gone through by the hashes of its names, and the cursor is the next
   hash. So whatever is there from begin to end is told once, however much comes and goes meanwhile. */

#include "store_commands.h"

#include <errno.h>
#include <stdlib.h>

#define COUNT_USUAL 10

typedef struct scan_words
{
    uint64_t cursor;
    int64_t count;
    gh_str pattern;
    gh_str type;
    bool has_pattern;
    bool has_type;
} scan_words;

/* As C reads a number: none at all is 0, and a sign may stand in front. */
static bool read_cursor(gh_store* store, uint32_t at, uint64_t* cursor)
{
    const gh_str word = store->words[at];
    char text[32];
    char* end = text;
    const char first = word.size == 0 ? '0' : word.bytes[0];
    bool is_good = word.size < sizeof text && first != ' ' && !(first >= '\t' && first <= '\r');
    if (is_good)
    {
        if (word.size > 0) memcpy(text, word.bytes, word.size);
        text[word.size] = '\0';
        errno = 0;
        *cursor = strtoull(text, &end, 10);
        is_good = *end == '\0' && errno == 0;
    }
    if (!is_good) gh_store_reply_error(store, "ERR invalid cursor");
    return is_good;
}

static bool read_words(gh_store* store, uint32_t at, bool of_keys, scan_words* words)
{
    words->count = COUNT_USUAL;
    for (; at < store->count; at += 2)
    {
        const bool has_value = at + 1 < store->count;
        if (has_value && gh_store_is_word(store->words[at], "count"))
        {
            if (!gh_store_word_integer(store, at + 1, &words->count)) return false;
            if (words->count < 1) break;
        }
        else if (has_value && gh_store_is_word(store->words[at], "match"))
        {
            words->pattern = store->words[at + 1];
            words->has_pattern = true;
        }
        else if (has_value && of_keys && gh_store_is_word(store->words[at], "type"))
        {
            words->type = store->words[at + 1];
            words->has_type = true;
        }
        else break;
    }
    if (at >= store->count) return true;
    gh_store_reply_error(store, STORE_SYNTAX);
    return false;
}

/* ---- a page of a table ------------------------------------------------------------------------------------------- */

static int by_hash(const void* a, const void* b)
{
    const store_entry* x = *(const store_entry* const*)a;
    const store_entry* y = *(const store_entry* const*)b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

typedef struct scan_page
{
    const store_entry** all;
    size_t count;
    uint64_t cursor; /* of the next page; 0: this was the last */
} scan_page;

/* Those of one hash come together. */
static scan_page page_of(const store_dict* dict, uint64_t cursor, int64_t wanted)
{
    scan_page page = {NULL, 0, 0};
    const store_entry* entry;
    uint32_t at = 0;
    size_t end;
    page.all = (const store_entry**)gh_store_heap_resize(NULL, (dict->count + 1) * sizeof *page.all);
    while ((entry = gh_store_dict_next(dict, &at)) != NULL)
        if (entry->hash >= cursor) page.all[page.count++] = entry;
    qsort(page.all, page.count, sizeof *page.all, by_hash);
    if ((uint64_t)wanted >= page.count) return page;
    end = (size_t)wanted;
    while (end < page.count && page.all[end]->hash == page.all[end - 1]->hash) end++;
    if (end < page.count) page.cursor = page.all[end]->hash;
    page.count = end;
    return page;
}

static void reply_cursor(gh_store* store, uint64_t cursor)
{
    char text[STORE_NUMBER_SIZE];
    gh_store_reply_array(store, 2);
    gh_store_reply_text(store, gh_str_make(text, gh_store_integer_text((int64_t)cursor, text)));
}

/* In place: only those that are asked for. */
static void filter(const gh_store* store, scan_page* page, const scan_words* words, bool of_keys)
{
    size_t kept = 0;
    size_t i;
    for (i = 0; i < page->count; i++)
    {
        const store_entry* entry = page->all[i];
        if (words->has_pattern && !gh_store_matches(words->pattern, gh_store_entry_name(entry))) continue;
        if (of_keys && gh_store_has_ended(store, entry->is.value)) continue;
        if (words->has_type && !gh_store_is_word(words->type, gh_store_type_name(entry->is.value))) continue;
        page->all[kept++] = entry;
    }
    page->count = kept;
}

void gh_store_scan(gh_store* store)
{
    scan_words words = {0};
    scan_page page;
    size_t i;
    if (!read_cursor(store, 1, &words.cursor) || !read_words(store, 2, true, &words)) return;
    page = page_of(store->keys, words.cursor, words.count);
    filter(store, &page, &words, true);
    reply_cursor(store, page.cursor);
    gh_store_reply_array(store, page.count);
    for (i = 0; i < page.count; i++) gh_store_reply_text(store, gh_store_entry_name(page.all[i]));
    free(page.all);
}

/* A small one is told at once, in its order, whatever the cursor. */
static scan_page whole(const store_value* value)
{
    scan_page page = {NULL, 0, 0};
    uint32_t at = 0;
    const store_entry* entry;
    page.all = (const store_entry**)gh_store_heap_resize(NULL, (value->dict.count + 1) * sizeof *page.all);
    if (value->type == STORE_ZSET)
        for (; page.count < value->row.count; page.count++)
            page.all[page.count] = (const store_entry*)gh_store_row_at(&value->row, (uint32_t)page.count);
    else
        while ((entry = gh_store_dict_next(&value->dict, &at)) != NULL) page.all[page.count++] = entry;
    return page;
}

#define KEPT_WHOLE 4611686018427387903.0

/* A small one keeps scores that are whole as such, and tells them so. */
static void reply_kept_score(gh_store* store, const store_value* value, double score)
{
    char text[STORE_NUMBER_SIZE];
    const bool is_whole = score >= -KEPT_WHOLE && score <= KEPT_WHOLE && score == (double)(int64_t)score;
    if (value->is_large || !is_whole) gh_store_reply_double(store, score);
    else gh_store_reply_text(store, gh_str_make(text, gh_store_integer_text((int64_t)score, text)));
}

/* Whether it is told at once. */
static bool is_told_whole(const gh_store* store, const store_value* value)
{
    return !value->is_large || (value->type == STORE_HASH && store->config.keeps_order);
}

static void scan_value(gh_store* store, store_type type)
{
    scan_words words = {0};
    store_key key;
    scan_page page;
    size_t i;
    if (!read_cursor(store, 2, &words.cursor)) return;
    if (!gh_store_key_typed(store, type, &key)) return;
    if (key.value == NULL)
    {
        reply_cursor(store, 0);
        gh_store_reply_array(store, 0);
        return;
    }
    if (!read_words(store, 3, false, &words)) return;
    page = is_told_whole(store, key.value) ? whole(key.value) : page_of(&key.value->dict, words.cursor, words.count);
    filter(store, &page, &words, false);
    reply_cursor(store, page.cursor);
    gh_store_reply_array(store, page.count * (type == STORE_SET ? 1 : 2));
    for (i = 0; i < page.count; i++)
    {
        gh_store_reply_text(store, gh_store_entry_name(page.all[i]));
        if (type == STORE_HASH) gh_store_reply_text(store, gh_store_blob_text(page.all[i]->is.text));
        if (type == STORE_ZSET) reply_kept_score(store, key.value, page.all[i]->is.score);
    }
    free(page.all);
}

void gh_store_hscan(gh_store* store)
{
    scan_value(store, STORE_HASH);
}

void gh_store_zscan(gh_store* store)
{
    scan_value(store, STORE_ZSET);
}

void gh_store_sscan(gh_store* store)
{
    scan_value(store, STORE_SET);
}
