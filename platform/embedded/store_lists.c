/* store_lists.c -- commands about lists: a row of texts. */

#include "store_commands.h"

static store_blob* item(const store_value* value, int64_t at)
{
    return (store_blob*)gh_store_row_at(&value->row, (uint32_t)at);
}

static bool is_text(const store_blob* blob, gh_str text)
{
    return gh_str_equal(gh_store_blob_text(blob), text);
}

static void remove_if_empty(gh_store* store, const store_key* key)
{
    if (key->value->row.count == 0) gh_store_key_remove(store, key);
}

static void push(gh_store* store, bool in_front, bool only_if_there)
{
    store_key key;
    uint32_t at;
    if (!gh_store_key_typed(store, STORE_LIST, &key)) return;
    if (key.value == NULL && only_if_there)
    {
        gh_store_reply_integer(store, 0);
        return;
    }
    if (key.value == NULL) key.value = gh_store_key_make(store, &key, STORE_LIST);
    for (at = 2; at < store->count; at++)
        gh_store_row_insert(&key.value->row, in_front ? 0 : key.value->row.count,
                            gh_store_blob_new(store->pool, store->words[at]));
    gh_store_changed(store, store->count - 2);
    gh_store_reply_integer(store, key.value->row.count);
}

void gh_store_rpush(gh_store* store)
{
    push(store, false, false);
}

void gh_store_lpush(gh_store* store)
{
    push(store, true, false);
}

void gh_store_rpushx(gh_store* store)
{
    push(store, false, true);
}

void gh_store_lpushx(gh_store* store)
{
    push(store, true, true);
}

void gh_store_llen(gh_store* store)
{
    store_key key;
    if (gh_store_key_typed(store, STORE_LIST, &key))
        gh_store_reply_integer(store, key.value == NULL ? 0 : key.value->row.count);
}

/* From the end, if negative. */
static bool is_inside(const store_value* value, int64_t* at)
{
    if (*at < 0) *at += value->row.count;
    return *at >= 0 && *at < value->row.count;
}

void gh_store_lindex(gh_store* store)
{
    store_key key;
    int64_t at;
    if (!gh_store_key_typed(store, STORE_LIST, &key)) return;
    if (key.value == NULL)
    {
        gh_store_reply_null(store);
        return;
    }
    if (!gh_store_word_integer(store, 2, &at)) return;
    if (is_inside(key.value, &at)) gh_store_reply_text(store, gh_store_blob_text(item(key.value, at)));
    else gh_store_reply_null(store);
}

void gh_store_clip(uint32_t count, int64_t* first, int64_t* last)
{
    if (*first < 0) *first += count;
    if (*last < 0) *last += count;
    if (*first < 0) *first = 0;
    if (*last >= count) *last = (int64_t)count - 1;
    if (*first > *last)
    {
        *first = 0;
        *last = -1;
    }
}

void gh_store_lrange(gh_store* store)
{
    store_key key;
    int64_t at;
    int64_t last;
    if (!gh_store_word_integer(store, 2, &at) || !gh_store_word_integer(store, 3, &last)) return;
    if (!gh_store_key_typed(store, STORE_LIST, &key)) return;
    gh_store_clip(key.value == NULL ? 0 : key.value->row.count, &at, &last);
    gh_store_reply_array(store, (size_t)(last - at + 1));
    for (; at <= last; at++) gh_store_reply_text(store, gh_store_blob_text(item(key.value, at)));
}

static void cut(gh_store* store, store_value* value, int64_t at, int64_t count)
{
    int64_t i;
    for (i = 0; i < count; i++) gh_store_blob_free(store->pool, item(value, at + i));
    gh_store_row_remove(&value->row, (uint32_t)at, (uint32_t)count);
}

void gh_store_ltrim(gh_store* store)
{
    store_key key;
    int64_t first;
    int64_t last;
    if (!gh_store_word_integer(store, 2, &first) || !gh_store_word_integer(store, 3, &last)) return;
    if (!gh_store_key_typed(store, STORE_LIST, &key)) return;
    if (key.value != NULL)
    {
        const uint32_t before = key.value->row.count;
        gh_store_clip(before, &first, &last);
        cut(store, key.value, last + 1, (int64_t)before - last - 1);
        cut(store, key.value, 0, first);
        gh_store_changed(store, before - key.value->row.count);
        remove_if_empty(store, &key);
    }
    gh_store_reply_ok(store);
}

void gh_store_lrem(gh_store* store)
{
    store_key key;
    int64_t wanted;
    int64_t count = 0;
    int64_t passed = 0;
    bool from_end;
    if (!gh_store_word_integer(store, 2, &wanted) || !gh_store_key_typed(store, STORE_LIST, &key)) return;
    from_end = wanted < 0;
    if (wanted < 0) wanted = wanted == INT64_MIN ? INT64_MAX : -wanted;
    if (wanted == 0) wanted = INT64_MAX;
    while (key.value != NULL && count < wanted && passed < key.value->row.count)
    {
        const int64_t at = from_end ? (int64_t)key.value->row.count - 1 - passed : passed;
        if (!is_text(item(key.value, at), store->words[3]))
        {
            passed++;
            continue;
        }
        cut(store, key.value, at, 1);
        count++;
    }
    gh_store_changed(store, (uint64_t)count);
    if (key.value != NULL) remove_if_empty(store, &key);
    gh_store_reply_integer(store, count);
}

void gh_store_lset(gh_store* store)
{
    store_key key;
    int64_t at;
    if (!gh_store_key_typed(store, STORE_LIST, &key)) return;
    if (key.value == NULL)
    {
        gh_store_reply_error(store, "ERR no such key");
        return;
    }
    if (!gh_store_word_integer(store, 2, &at)) return;
    if (!is_inside(key.value, &at))
    {
        gh_store_reply_error(store, "ERR index out of range");
        return;
    }
    gh_store_blob_free(store->pool, item(key.value, at));
    key.value->row.all[key.value->row.first + (uint32_t)at] = gh_store_blob_new(store->pool, store->words[3]);
    gh_store_changed(store, 1);
    gh_store_reply_ok(store);
}

void gh_store_linsert(gh_store* store)
{
    const bool behind = gh_store_is_word(store->words[2], "after");
    store_key key;
    uint32_t at = 0;
    if (!behind && !gh_store_is_word(store->words[2], "before"))
    {
        gh_store_reply_error(store, STORE_SYNTAX);
        return;
    }
    if (!gh_store_key_typed(store, STORE_LIST, &key)) return;
    if (key.value == NULL)
    {
        gh_store_reply_integer(store, 0);
        return;
    }
    while (at < key.value->row.count && !is_text(item(key.value, at), store->words[3])) at++;
    if (at == key.value->row.count)
    {
        gh_store_reply_integer(store, -1);
        return;
    }
    gh_store_row_insert(&key.value->row, at + (behind ? 1 : 0), gh_store_blob_new(store->pool, store->words[4]));
    gh_store_changed(store, 1);
    gh_store_reply_integer(store, key.value->row.count);
}

static void pop(gh_store* store, bool from_front)
{
    const bool has_count = store->count > 2;
    store_key key;
    int64_t count = 1;
    if (store->count > 3)
    {
        gh_store_reply_error(store, "ERR wrong number of arguments for '%s' command", from_front ? "lpop" : "rpop");
        return;
    }
    if (has_count && (!gh_store_text_integer(store->words[2], &count) || count < 0))
    {
        gh_store_reply_error(store, "ERR value is out of range, must be positive");
        return;
    }
    if (!gh_store_key_typed(store, STORE_LIST, &key)) return;
    if (key.value == NULL)
    {
        if (has_count) gh_store_reply_null_array(store);
        else gh_store_reply_null(store);
        return;
    }
    if (count > key.value->row.count) count = key.value->row.count;
    if (has_count) gh_store_reply_array(store, (size_t)count);
    gh_store_changed(store, (uint64_t)count);
    for (; count > 0; count--)
    {
        const int64_t at = from_front ? 0 : (int64_t)key.value->row.count - 1;
        gh_store_reply_text(store, gh_store_blob_text(item(key.value, at)));
        cut(store, key.value, at, 1);
    }
    remove_if_empty(store, &key);
}

void gh_store_lpop(gh_store* store)
{
    pop(store, true);
}

void gh_store_rpop(gh_store* store)
{
    pop(store, false);
}
