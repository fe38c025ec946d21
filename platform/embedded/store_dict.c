/* store_dict.c -- see store_dict.h. */

#include "store_dict.h"

#include <stdlib.h>

#define ROOM_LEAST         4u
#define ROOM_WITHOUT_SLOTS 8u

store_blob* gh_store_blob_new(store_pool* pool, gh_str text)
{
    store_blob* blob = (store_blob*)gh_store_pool_take(pool, sizeof *blob + text.size);
    blob->size = (uint32_t)text.size;
    if (text.size > 0) memcpy(blob->bytes, text.bytes, text.size);
    return blob;
}

void gh_store_blob_free(store_pool* pool, store_blob* blob)
{
    if (blob != NULL) gh_store_pool_give(pool, blob, sizeof *blob + blob->size);
}

static uint64_t eight_bytes(const char* bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static uint64_t four_bytes(const char* bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* The last eight bytes, or all that there are: none is read one by one. */
static uint64_t last_bytes(gh_str name)
{
    const unsigned char* bytes = (const unsigned char*)name.bytes;
    if (name.size >= 8) return eight_bytes(name.bytes + name.size - 8);
    if (name.size >= 4) return four_bytes(name.bytes) | four_bytes(name.bytes + name.size - 4) << 32;
    if (name.size == 0) return 0;
    return bytes[0] | (uint64_t)bytes[name.size / 2] << 8 | (uint64_t)bytes[name.size - 1] << 16;
}

uint32_t gh_store_hash(gh_str name)
{
    uint64_t hash = 0x9e3779b97f4a7c15ull ^ name.size;
    size_t at;
    for (at = 0; at + 8 < name.size; at += 8)
    {
        hash = (hash ^ eight_bytes(name.bytes + at)) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 32;
    }
    hash = (hash ^ last_bytes(name)) * 0xff51afd7ed558ccdull;
    hash ^= hash >> 29;
    hash *= 0xc4ceb9fe1a85ec53ull;
    return (uint32_t)(hash >> 32);
}

static bool is_entry(const store_entry* entry, gh_str name, uint32_t hash)
{
    return entry->hash == hash && entry->size == name.size &&
           (name.size == 0 || memcmp(entry->name, name.bytes, name.size) == 0);
}

static void put_in_slot(store_dict* dict, uint32_t hash, uint32_t place)
{
    uint32_t slot = hash & dict->mask;
    while (dict->slots[slot] != 0) slot = (slot + 1) & dict->mask;
    dict->slots[slot] = (uint64_t)hash << 32 | (place + 1);
}

static void close_gaps(store_dict* dict)
{
    uint32_t from;
    uint32_t to = 0;
    for (from = 0; from < dict->used; from++)
        if (dict->row[from] != NULL) dict->row[to++] = dict->row[from];
    dict->used = to;
}

/* The row has no gaps then; slots have twice its room. */
static void rebuild(store_dict* dict, uint32_t room)
{
    uint32_t place;
    close_gaps(dict);
    if (room != dict->room) dict->row = (store_entry**)gh_store_heap_resize(dict->row, room * sizeof *dict->row);
    dict->room = room;
    if (room <= ROOM_WITHOUT_SLOTS) return;
    if (dict->mask != room * 2 - 1)
        dict->slots = (uint64_t*)gh_store_heap_resize(dict->slots, (size_t)room * 2 * sizeof *dict->slots);
    dict->mask = room * 2 - 1;
    memset(dict->slots, 0, (size_t)room * 2 * sizeof *dict->slots);
    for (place = 0; place < dict->used; place++) put_in_slot(dict, dict->row[place]->hash, place);
}

/* Where it is in the row, and in *SLOT in which slot; NONE if it is not there. */
#define NONE UINT32_MAX
static uint32_t place_of(const store_dict* dict, gh_str name, uint32_t hash, uint32_t* slot)
{
    uint32_t at;
    if (dict->slots == NULL)
    {
        for (at = 0; at < dict->used; at++)
            if (dict->row[at] != NULL && is_entry(dict->row[at], name, hash)) return at;
        return NONE;
    }
    for (at = hash & dict->mask; dict->slots[at] != 0; at = (at + 1) & dict->mask)
    {
        const uint32_t place = (uint32_t)dict->slots[at] - 1;
        if (dict->slots[at] >> 32 != hash || !is_entry(dict->row[place], name, hash)) continue;
        *slot = at;
        return place;
    }
    return NONE;
}

store_entry* gh_store_dict_find(const store_dict* dict, gh_str name, uint32_t hash)
{
    uint32_t slot;
    const uint32_t place = place_of(dict, name, hash, &slot);
    return place == NONE ? NULL : dict->row[place];
}

void gh_store_dict_come(const store_dict* dict, uint32_t hash)
{
    if (dict->slots != NULL) STORE_PREFETCH(&dict->slots[hash & dict->mask]);
}

store_entry* gh_store_dict_likely(const store_dict* dict, uint32_t hash)
{
    uint32_t at;
    if (dict->slots == NULL) return NULL;
    for (at = hash & dict->mask; dict->slots[at] != 0; at = (at + 1) & dict->mask)
        if (dict->slots[at] >> 32 == hash) return dict->row[(uint32_t)dict->slots[at] - 1];
    return NULL;
}

static uint32_t next_room(const store_dict* dict)
{
    if (dict->room == 0) return ROOM_LEAST;
    return (uint64_t)dict->count * 4 < (uint64_t)dict->room * 3 ? dict->room : dict->room * 2;
}

store_entry* gh_store_dict_add(store_dict* dict, store_pool* pool, gh_str name, uint32_t hash)
{
    store_entry* entry = (store_entry*)gh_store_pool_take(pool, sizeof *entry + name.size);
    if (dict->used == dict->room) rebuild(dict, next_room(dict));
    entry->hash = hash;
    entry->size = (uint32_t)name.size;
    entry->is.any = NULL;
    if (name.size > 0) memcpy(entry->name, name.bytes, name.size);
    if (dict->slots != NULL) put_in_slot(dict, hash, dict->used);
    dict->row[dict->used++] = entry;
    dict->count++;
    return entry;
}

/* Those behind it move up, so that no search ends at the hole. */
static void free_slot(store_dict* dict, uint32_t hole)
{
    uint32_t at = hole;
    for (;;)
    {
        uint32_t home;
        at = (at + 1) & dict->mask;
        if (dict->slots[at] == 0) break;
        home = (uint32_t)(dict->slots[at] >> 32) & dict->mask;
        if (((at - home) & dict->mask) < ((at - hole) & dict->mask)) continue;
        dict->slots[hole] = dict->slots[at];
        hole = at;
    }
    dict->slots[hole] = 0;
}

store_entry* gh_store_dict_take(store_dict* dict, gh_str name, uint32_t hash)
{
    uint32_t slot = 0;
    const uint32_t place = place_of(dict, name, hash, &slot);
    store_entry* entry;
    if (place == NONE) return NULL;
    entry = dict->row[place];
    if (dict->slots != NULL) free_slot(dict, slot);
    dict->row[place] = NULL;
    dict->count--;
    if (place + 1 == dict->used) dict->used--;
    if (dict->count == 0) dict->used = 0;
    return entry;
}

void gh_store_entry_free(store_pool* pool, store_entry* entry)
{
    gh_store_pool_give(pool, entry, sizeof *entry + entry->size);
}

void gh_store_dict_end(store_dict* dict, store_pool* pool)
{
    uint32_t at = 0;
    store_entry* entry;
    while ((entry = gh_store_dict_next(dict, &at)) != NULL) gh_store_entry_free(pool, entry);
    free(dict->row);
    free(dict->slots);
    memset(dict, 0, sizeof *dict);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Room at both ends; what is filled from one end alone has most of it there. */
static void make_room(store_row* row, bool at_the_end)
{
    const uint32_t room = row->count * 3 / 2 + 8;
    const uint32_t spare = room - row->count;
    const uint32_t first = at_the_end ? spare / 8 : spare - spare / 8;
    void** all = (void**)gh_store_heap_resize(NULL, room * sizeof *all);
    if (row->count > 0) memcpy(all + first, row->all + row->first, row->count * sizeof *all);
    free(row->all);
    row->all = all;
    row->first = first;
    row->room = room;
}

/* The shorter side moves. */
void gh_store_row_insert(store_row* row, uint32_t at, void* one)
{
    const bool at_the_end = at >= row->count - at;
    void** all;
    if (at_the_end ? row->first + row->count == row->room : row->first == 0) make_room(row, at_the_end);
    all = row->all + row->first;
    if (at_the_end) memmove(all + at + 1, all + at, (row->count - at) * sizeof *all);
    else
    {
        memmove(all - 1, all, at * sizeof *all);
        row->first--;
    }
    row->all[row->first + at] = one;
    row->count++;
}

void gh_store_row_remove(store_row* row, uint32_t at, uint32_t count)
{
    void** all = row->all + row->first;
    const uint32_t behind = row->count - at - count;
    if (at < behind)
    {
        memmove(all + count, all, at * sizeof *all);
        row->first += count;
    }
    else if (count > 0) memmove(all + at, all + at + count, behind * sizeof *all);
    row->count -= count;
}

void gh_store_row_end(store_row* row)
{
    free(row->all);
    memset(row, 0, sizeof *row);
}
