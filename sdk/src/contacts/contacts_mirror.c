/* contacts_mirror.c -- recent contacts in the caller's memory. */

#include "base/bounds.h"
#include "base/hash.h"
#include "base/least.h"
#include "client/object.h"
#include "contacts_shared.h"
#include "contacts_table.h"

#define CONTACTS_CAPACITY 100u

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
    gh_contacts_table table = gh_contacts_table_of(mirror);
    uint32_t i;
    for (i = 0; i < mirror->config.capacity; i++) table.slots[i] = i;
    mirror->count = 0;
}

/* The place of the contact of exactly this name; count: it is not there. */
static uint32_t mirror_find(const gh_contacts* mirror, gh_str name)
{
    gh_contacts_table table = gh_contacts_table_of(mirror);
    uint32_t hash = contacts_hash(name);
    uint32_t i;
    for (i = 0; i < mirror->count; i++)
    {
        const gh_contacts_record* record = &table.records[table.slots[i]];
        if (table.hashes[i] == hash && gh_str_equal(gh_str_make(record->name, record->name_size), name)) break;
    }
    return i;
}

void gh_contacts_mirror_put(gh_contacts* mirror, uint32_t at, gh_str name, uint64_t time_us)
{
    gh_contacts_table table = gh_contacts_table_of(mirror);
    gh_contacts_record* record = &table.records[table.slots[at]];
    char folded[GH_FOLDED_SIZE_MAX];
    size_t size = gh_fold_apply(mirror->config.fold, mirror->config.fold_context, name, folded);
    record->time_us = time_us;
    record->name_size = (uint8_t)name.size;
    record->folded_size = (uint8_t)size;
    memcpy(record->name, name.bytes, name.size);
    memcpy(record->folded, folded, (size_t)gh_least(size, sizeof record->folded));
    table.keys[at] = gh_contacts_key(folded, size);
    table.hashes[at] = contacts_hash(name);
}

/* The contact at one place goes to another; those between make room. */
static void mirror_move(gh_contacts* mirror, uint32_t from, uint32_t to)
{
    gh_contacts_table table = gh_contacts_table_of(mirror);
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
    gh_contacts_table table = gh_contacts_table_of(mirror);
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
    return config->capacity * (sizeof(uint64_t) + sizeof(gh_contacts_record) + 2 * sizeof(uint32_t));
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
    contacts->count = contacts->changes = contacts->link = 0;
    if (config == NULL) config = &usual;
    status = gh_object_init(&contacts->object, client, owner, &contacts_bounds, config,
                            offsetof(gh_contacts, config) - offsetof(gh_contacts, object));
    if (status != GH_OK) return status;
    if (!contacts_memory_fits(contacts, memory, size)) return gh_object_made(&contacts->object, GH_INVALID_MEMORY);
    contacts->memory = memory;
    if (memory != NULL) gh_contacts_mirror_clear(contacts);
    return GH_OK;
}
