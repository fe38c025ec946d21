/* contacts_mirror.c -- recent contacts in the caller's memory, and names completed from them without the network.

   Four arrays in the caller's memory. Three are in the order of the contacts, the newest first, and are what a search
   runs through; a contact's record stays in its slot while its place changes. Places from count on name free slots.

       keys     the first 8 bytes of the folded name as a number, the first byte on top: one comparison for most names
       hashes   of the name as it is shown, to find it again
       slots    where its record is */

#include "base/bounds.h"
#include "base/hash.h"
#include "base/least.h"
#include "client/object.h"
#include "contacts_shared.h"

#define CONTACTS_CAPACITY 100u
#define CONTACTS_KEY_SIZE 8u /* bytes of a folded name that are compared as one number */

typedef struct contacts_record
{
    uint64_t time_us;
    uint8_t name_size;
    uint8_t folded_size; /* up to GH_FOLDED_SIZE_MAX, of which GH_NAME_SIZE_MAX bytes are kept */
    char name[GH_NAME_SIZE_MAX];
    char folded[GH_NAME_SIZE_MAX];
} contacts_record;

typedef struct contacts_table
{
    uint64_t* keys;
    contacts_record* records;
    uint32_t* hashes;
    uint32_t* slots;
} contacts_table;

static contacts_table contacts_table_of(const gh_contacts* mirror)
{
    contacts_table table;
    table.keys = (uint64_t*)mirror->memory;
    table.records = (contacts_record*)(void*)(table.keys + mirror->config.capacity);
    table.hashes = (uint32_t*)(void*)(table.records + mirror->config.capacity);
    table.slots = table.hashes + mirror->config.capacity;
    return table;
}

static uint64_t contacts_key(const char* folded, size_t size)
{
    uint64_t key = 0;
    size_t i;
    for (i = 0; i < CONTACTS_KEY_SIZE; i++) key = key << 8 | (i < size ? (unsigned char)folded[i] : 0);
    return key;
}

static uint32_t contacts_hash(gh_str name)
{
    return (uint32_t)gh_hash_seeded(name.bytes, name.size, 0);
}

bool gh_contacts_is_mirror(const gh_contacts* mirror)
{
    return mirror != NULL && mirror->memory != NULL;
}

void gh_contacts_mirror_clear(gh_contacts* mirror)
{
    contacts_table table = contacts_table_of(mirror);
    uint32_t i;
    for (i = 0; i < mirror->config.capacity; i++) table.slots[i] = i;
    mirror->count = 0;
}

/* The place of the contact of exactly this name; count: it is not there. */
static uint32_t mirror_find(const gh_contacts* mirror, gh_str name)
{
    contacts_table table = contacts_table_of(mirror);
    uint32_t hash = contacts_hash(name);
    uint32_t i;
    for (i = 0; i < mirror->count; i++)
    {
        const contacts_record* record = &table.records[table.slots[i]];
        if (table.hashes[i] == hash && gh_str_equal(gh_str_make(record->name, record->name_size), name)) break;
    }
    return i;
}

void gh_contacts_mirror_put(gh_contacts* mirror, uint32_t at, gh_str name, uint64_t time_us)
{
    contacts_table table = contacts_table_of(mirror);
    contacts_record* record = &table.records[table.slots[at]];
    char folded[GH_FOLDED_SIZE_MAX];
    size_t size = gh_fold_apply(mirror->config.fold, mirror->config.fold_context, name, folded);
    record->time_us = time_us;
    record->name_size = (uint8_t)name.size;
    record->folded_size = (uint8_t)size;
    memcpy(record->name, name.bytes, name.size);
    memcpy(record->folded, folded, (size_t)gh_least(size, sizeof record->folded));
    table.keys[at] = contacts_key(folded, size);
    table.hashes[at] = contacts_hash(name);
}

/* The contact at one place goes to another; those between make room. */
static void mirror_move(gh_contacts* mirror, uint32_t from, uint32_t to)
{
    contacts_table table = contacts_table_of(mirror);
    uint64_t key = table.keys[from];
    uint32_t hash = table.hashes[from];
    uint32_t slot = table.slots[from];
    uint32_t first = from < to ? from + 1 : to; /* of those between, and where they go */
    uint32_t target = from < to ? from : to + 1;
    uint32_t count = from < to ? to - from : from - to;
    memmove(table.keys + target, table.keys + first, count * sizeof *table.keys);
    memmove(table.hashes + target, table.hashes + first, count * sizeof *table.hashes);
    memmove(table.slots + target, table.slots + first, count * sizeof *table.slots);
    table.keys[to] = key;
    table.hashes[to] = hash;
    table.slots[to] = slot;
}

void gh_contacts_mirror_touch(gh_contacts* mirror, gh_str name, uint64_t time_us)
{
    contacts_table table = contacts_table_of(mirror);
    uint32_t at = mirror_find(mirror, name);
    if (at < mirror->count) table.records[table.slots[at]].time_us = time_us;
    else
    {
        if (mirror->count < mirror->config.capacity) mirror->count++;
        at = mirror->count - 1; /* a new place, or that of the oldest, which goes */
        gh_contacts_mirror_put(mirror, at, name, time_us);
    }
    mirror_move(mirror, at, 0);
}

void gh_contacts_mirror_remove(gh_contacts* mirror, gh_str name)
{
    uint32_t at = mirror_find(mirror, name);
    if (at == mirror->count) return;
    mirror->count--;
    mirror_move(mirror, at, mirror->count);
}

static const gh_bound contacts_bounds_rows[] = {
    GH_BOUND_TIMEOUT(gh_contacts_config),
    GH_BOUND(gh_contacts_config, capacity, CONTACTS_CAPACITY, 1, GH_CONTACTS_CAPACITY_MAX,
             GH_INVALID_CONTACTS_CAPACITY),
    GH_BOUND(gh_contacts_config, idle_us, 0, 0, GH_CONTACTS_IDLE_MAX_US, GH_INVALID_CONTACTS_IDLE)};
static const gh_bounds contacts_bounds = GH_BOUNDS(gh_contacts_config, contacts_bounds_rows);

gh_contacts_config gh_contacts_config_default(void)
{
    gh_contacts_config config;
    gh_bounds_fill(&contacts_bounds, &config);
    config.fold = gh_fold_ascii;
    return config;
}

size_t gh_contacts_memory(const gh_contacts_config* config)
{
    gh_contacts_config defaults = gh_contacts_config_default();
    if (config == NULL) config = &defaults;
    if (gh_bounds_check(&contacts_bounds, config) != GH_OK) return 0;
    return config->capacity * (sizeof(uint64_t) + sizeof(contacts_record) + 2 * sizeof(uint32_t));
}

static bool contacts_memory_fits(const gh_contacts* contacts, const void* memory, size_t size)
{
    if (memory == NULL) return size == 0;
    return ((uintptr_t)memory & 7) == 0 && size >= gh_contacts_memory(&contacts->config);
}

gh_status gh_contacts_init(gh_contacts* contacts, gh_client* client, gh_str owner, const gh_contacts_config* config,
                           void* memory, size_t size)
{
    const gh_contacts_config usual = gh_contacts_config_default();
    gh_status status;
    if (contacts == NULL) return GH_INVALID_OBJECT;
    contacts->memory = NULL;
    contacts->count = contacts->changes = 0;
    if (config == NULL) config = &usual;
    status = gh_object_init(&contacts->object, client, owner, &contacts_bounds, config,
                            offsetof(gh_contacts, config) - offsetof(gh_contacts, object));
    if (status != GH_OK) return status;
    if (!contacts_memory_fits(contacts, memory, size)) return gh_object_made(&contacts->object, GH_INVALID_MEMORY);
    contacts->memory = memory;
    if (memory != NULL) gh_contacts_mirror_clear(contacts);
    return GH_OK;
}

/* The beginning is longer than a key, and its key fits. */
static bool mirror_record_begins(const gh_contacts* mirror, const contacts_record* record, gh_str folded)
{
    char again[GH_FOLDED_SIZE_MAX];
    gh_str name;
    if (folded.size <= sizeof record->folded) return memcmp(record->folded, folded.bytes, folded.size) == 0;
    name = gh_str_make(record->name, record->name_size);
    gh_fold_apply(mirror->config.fold, mirror->config.fold_context, name, again);
    return memcmp(again, folded.bytes, folded.size) == 0;
}

uint32_t gh_contacts_complete(const gh_contacts* contacts, gh_str prefix, gh_contact* found, uint32_t limit)
{
    char folded[GH_FOLDED_SIZE_MAX];
    contacts_table table;
    size_t size;
    uint64_t key;
    uint64_t mask;
    uint32_t count = 0;
    uint32_t i;
    if (!gh_contacts_is_mirror(contacts) || found == NULL || prefix.size > GH_NAME_SIZE_MAX) return 0;
    if (prefix.bytes == NULL && prefix.size > 0) return 0;
    table = contacts_table_of(contacts);
    size = gh_fold_apply(contacts->config.fold, contacts->config.fold_context, prefix, folded);
    key = contacts_key(folded, size);
    mask = size >= CONTACTS_KEY_SIZE ? UINT64_MAX : ~(UINT64_MAX >> (8 * size));
    for (i = 0; i < contacts->count && count < limit; i++)
    {
        const contacts_record* record;
        if ((table.keys[i] & mask) != key) continue;
        record = &table.records[table.slots[i]];
        if (record->folded_size < size) continue; /* behind its end a key has zeros, which may have been typed */
        if (size > CONTACTS_KEY_SIZE && !mirror_record_begins(contacts, record, gh_str_make(folded, size))) continue;
        found[count].name = gh_str_make(record->name, record->name_size);
        found[count].time_us = record->time_us;
        count++;
    }
    return count;
}
