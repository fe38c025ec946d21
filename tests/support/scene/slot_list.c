/* slot_list.c -- slots of a system, and what is in them. */

#include "support/scene/slot_list.h"

#include "support/faults/garbage.h"
#include "support/server/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS 64

bool slot_list_has(const slot_list* self, unsigned slot)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->slots[i] == slot) return true;
    return false;
}

void slot_list_add(slot_list* self, const char* key)
{
    unsigned slot = cluster_slot(key);
    if (slot_list_has(self, slot)) return;
    assert_true(self->count < SLOT_LIST_MAX);
    self->slots[self->count++] = slot;
}

static void add_row(slot_list* self, const char* row)
{
    slot_list_add(self, drill_key(row));
    if (strstr(row, "<player>") != NULL) slot_list_add(self, "gh:{chats:eve}:l"); /* who joins */
    if (strstr(row, "<player>") != NULL) slot_list_add(self, "gh:{chats:bob}:l");
    const char* shard = strstr(row, "<shard>");
    for (int i = 0; shard != NULL && i < SHARDS; i++)
    {
        char key[128];
        snprintf(key, sizeof(key), "%.*s%d}", (int)(shard - row), row, i);
        slot_list_add(self, key);
    }
}

void slot_list_of(slot_list* self, const drill_system* system)
{
    page_table keys = garbage_keys();
    self->count = 0;
    for (size_t i = 0; i < keys.count; i++)
        if (drill_has_row(system, garbage_key_of(&keys.rows[i]))) add_row(self, garbage_key_of(&keys.rows[i]));
    page_free_table(&keys);
}

void slot_list_set(const slot_list* self, redis_server* node, const char* state, const char* id)
{
    for (size_t i = 0; i < self->count; i++)
        redis_server_queue(node, id[0] == '\0' ? "CLUSTER SETSLOT %u %s" : "CLUSTER SETSLOT %u %s %s", self->slots[i],
                           state, id);
    redis_server_drain(node);
}

static int by_text(const void* left, const void* right)
{
    return strcmp((*(redisReply* const*)left)->str, (*(redisReply* const*)right)->str);
}

redisReply* keys_in_order(redis_server* node, const char* pattern)
{
    redisReply* keys = redis_server_command(node, "KEYS %s", pattern);
    if (keys->elements > 0) qsort(keys->element, keys->elements, sizeof(keys->element[0]), by_text);
    return keys;
}

char* keys_dump(char* all, size_t* size, redis_server* node, const char* pattern)
{
    redisReply* keys = keys_in_order(node, pattern);
    if (all == NULL) *size = 0;
    all = realloc(all, *size + 1);
    for (size_t i = 0; i < keys->elements; i++)
    {
        const redisReply* key = keys->element[i];
        redisReply* value = redis_server_command(node, "DUMP %s", key->str);
        all = realloc(all, *size + key->len + value->len + 1);
        assert_non_null(all);
        memcpy(all + *size, key->str, key->len);
        if (value->len > 0) memcpy(all + *size + key->len, value->str, value->len);
        *size += key->len + value->len;
        freeReplyObject(value);
    }
    freeReplyObject(keys);
    return all;
}
