/* store_channels.c -- who listens to what, and what is said there. */

#include "store_commands.h"

#include <stdlib.h>

enum
{
    OF_ALL = 0,
    OF_SHARD
};

uint32_t gh_store_listens_to(const gh_store_link* link)
{
    return link->channels[OF_ALL].count + link->channels[OF_SHARD].count + link->patterns.count;
}

/* ---- both ways: a link's channels, and a channel's links --------------------------------------------------------- */

static void add(gh_store_link* link, store_dict* own, store_dict* all, gh_str name)
{
    const uint32_t hash = gh_store_hash(name);
    store_entry* entry = gh_store_dict_find(all, name, hash);
    store_row* row;
    if (gh_store_dict_find(own, name, hash) != NULL) return;
    gh_store_dict_add(own, link->store->pool, name, hash);
    if (entry == NULL)
    {
        entry = gh_store_dict_add(all, link->store->pool, name, hash);
        entry->is.any = gh_store_pool_take(link->store->pool, sizeof(store_row));
        memset(entry->is.any, 0, sizeof(store_row));
    }
    row = (store_row*)entry->is.any;
    gh_store_row_insert(row, row->count, link);
}

static void leave_row(store_row* row, const gh_store_link* link)
{
    uint32_t i;
    for (i = 0; i < row->count; i++)
    {
        if (gh_store_row_at(row, i) != link) continue;
        gh_store_row_remove(row, i, 1);
        return;
    }
}

static void leave(gh_store_link* link, store_dict* own, store_dict* all, gh_str name)
{
    const uint32_t hash = gh_store_hash(name);
    store_pool* pool = link->store->pool;
    store_entry* mine = gh_store_dict_take(own, name, hash);
    store_entry* entry = gh_store_dict_find(all, name, hash);
    if (mine == NULL || entry == NULL) return;
    leave_row((store_row*)entry->is.any, link);
    if (((store_row*)entry->is.any)->count == 0)
    {
        gh_store_row_end((store_row*)entry->is.any);
        gh_store_pool_give(pool, entry->is.any, sizeof(store_row));
        gh_store_dict_take(all, name, hash);
        gh_store_entry_free(pool, entry);
    }
    gh_store_entry_free(pool, mine);
}

static void leave_all(gh_store_link* link, store_dict* own, store_dict* all)
{
    uint32_t at = 0;
    const store_entry* entry;
    while ((entry = gh_store_dict_next(own, &at)) != NULL) leave(link, own, all, gh_store_entry_name(entry));
    gh_store_dict_end(own, link->store->pool);
}

void gh_store_listen_to_nothing(gh_store_link* link)
{
    gh_store* store = link->store;
    leave_all(link, &link->channels[OF_ALL], &store->channels[OF_ALL]);
    leave_all(link, &link->channels[OF_SHARD], &store->channels[OF_SHARD]);
    leave_all(link, &link->patterns, &store->patterns);
}

/* ---- what is said ------------------------------------------------------------------------------------------------ */

static void put_words(store_buffer* out, const gh_str* words, uint32_t count)
{
    uint32_t i;
    gh_store_put_head(out, '*', count);
    for (i = 0; i < count; i++) gh_store_put_bulk(out, words[i]);
}

/* To one who listens. A server drops whoever lets so much lie, since there is no end of it otherwise. */
static void tell(gh_store_link* link, const gh_str* words, uint32_t count)
{
    put_words(&link->out, words, count);
    if (gh_store_waiting(link) > STORE_UNREAD_MAX) link->store->has_deaf = true;
}

/* When all have been told: a link that is closed leaves the rows which are gone through. */
static void drop_deaf(gh_store* store)
{
    gh_store_link* link;
    store->has_deaf = false;
    for (link = store->first_link; link != NULL; link = link->next)
    {
        if (gh_store_listens_to(link) == 0 || gh_store_waiting(link) <= STORE_UNREAD_MAX) continue;
        gh_store_link_close(link);
        gh_store_buffer_end(&link->out);
    }
}

static int64_t say_to_channel(const store_dict* all, const char* kind, gh_str channel, gh_str text)
{
    const gh_str words[3] = {gh_str_of(kind), channel, text};
    const store_entry* entry = gh_store_dict_find(all, channel, gh_store_hash(channel));
    const store_row* row = entry == NULL ? NULL : (const store_row*)entry->is.any;
    uint32_t i;
    for (i = 0; row != NULL && i < row->count; i++) tell((gh_store_link*)gh_store_row_at(row, i), words, 3);
    return row == NULL ? 0 : row->count;
}

static int64_t say_to_patterns(const gh_store* store, gh_str channel, gh_str text)
{
    uint32_t at = 0;
    const store_entry* entry;
    int64_t count = 0;
    while ((entry = gh_store_dict_next(&store->patterns, &at)) != NULL)
    {
        const gh_str words[4] = {gh_str_literal("pmessage"), gh_store_entry_name(entry), channel, text};
        const store_row* row = (const store_row*)entry->is.any;
        uint32_t i;
        if (!gh_store_matches(words[1], channel)) continue;
        for (i = 0; i < row->count; i++) tell((gh_store_link*)gh_store_row_at(row, i), words, 4);
        count += row->count;
    }
    return count;
}

int64_t gh_store_publish_to(gh_store* store, bool of_shard, gh_str channel, gh_str text)
{
    int64_t count;
    store->told++;
    if (of_shard) count = say_to_channel(&store->channels[OF_SHARD], "smessage", channel, text);
    else
        count =
            say_to_channel(&store->channels[OF_ALL], "message", channel, text) + say_to_patterns(store, channel, text);
    if (store->has_deaf) drop_deaf(store);
    return count;
}

/* Replicas say it as well. */
static void publish(gh_store* store, bool of_shard)
{
    gh_store_reply_integer(store, gh_store_publish_to(store, of_shard, store->words[1], store->words[2]));
    gh_store_log_as(store, store->words, store->count);
}

void gh_store_publish(gh_store* store)
{
    publish(store, false);
}

void gh_store_spublish(gh_store* store)
{
    publish(store, true);
}

/* ---- to listen and to listen no more ----------------------------------------------------------------------------- */

static uint32_t count_of(const gh_store_link* link, bool of_shard)
{
    if (of_shard) return link->channels[OF_SHARD].count;
    return link->channels[OF_ALL].count + link->patterns.count;
}

static void confirm(gh_store_link* link, const char* what, const gh_str* channel, bool of_shard)
{
    gh_store_put_head(&link->out, '*', 3);
    gh_store_put_bulk(&link->out, gh_str_of(what));
    if (channel == NULL) gh_store_put(&link->out, "$-1\r\n", 5);
    else gh_store_put_bulk(&link->out, *channel);
    gh_store_put_head(&link->out, ':', count_of(link, of_shard));
}

static void listen_to(gh_store* store, const char* what, store_dict* own, store_dict* all, bool of_shard)
{
    uint32_t at;
    for (at = 1; at < store->count; at++)
    {
        add(store->link, own, all, store->words[at]);
        confirm(store->link, what, &store->words[at], of_shard);
    }
}

static void leave_each(gh_store* store, const char* what, store_dict* own, store_dict* all, bool of_shard)
{
    gh_store_link* link = store->link;
    uint32_t at;
    for (at = 1; at < store->count; at++)
    {
        leave(link, own, all, store->words[at]);
        confirm(link, what, &store->words[at], of_shard);
    }
    if (store->count > 1) return;
    if (own->count == 0) confirm(link, what, NULL, of_shard);
    while (own->count > 0)
    {
        store_entry* entry;
        store_blob* name;
        gh_str text;
        at = 0;
        entry = gh_store_dict_next(own, &at);
        name = gh_store_blob_new(store->pool, gh_store_entry_name(entry));
        text = gh_store_blob_text(name);
        leave(link, own, all, text);
        confirm(link, what, &text, of_shard);
        gh_store_blob_free(store->pool, name);
    }
}

void gh_store_subscribe(gh_store* store)
{
    if (store->link == NULL) return;
    listen_to(store, "subscribe", &store->link->channels[OF_ALL], &store->channels[OF_ALL], false);
}

void gh_store_unsubscribe(gh_store* store)
{
    if (store->link == NULL) return;
    leave_each(store, "unsubscribe", &store->link->channels[OF_ALL], &store->channels[OF_ALL], false);
}

void gh_store_psubscribe(gh_store* store)
{
    if (store->link == NULL) return;
    listen_to(store, "psubscribe", &store->link->patterns, &store->patterns, false);
}

void gh_store_punsubscribe(gh_store* store)
{
    if (store->link == NULL) return;
    leave_each(store, "punsubscribe", &store->link->patterns, &store->patterns, false);
}

void gh_store_ssubscribe(gh_store* store)
{
    if (store->link == NULL) return;
    listen_to(store, "ssubscribe", &store->link->channels[OF_SHARD], &store->channels[OF_SHARD], true);
}

void gh_store_sunsubscribe(gh_store* store)
{
    if (store->link == NULL) return;
    leave_each(store, "sunsubscribe", &store->link->channels[OF_SHARD], &store->channels[OF_SHARD], true);
}
