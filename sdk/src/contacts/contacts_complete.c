/* contacts_complete.c -- names completed from the mirror, without the network. */

#include "contacts_shared.h"
#include "contacts_table.h"

/* The beginning is longer than a key, and its key fits. */
static bool mirror_record_begins(const gh_contacts* mirror, const gh_contacts_record* record, gh_str folded)
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
    gh_contacts_table table;
    size_t size;
    uint64_t key;
    uint64_t mask;
    uint32_t count = 0;
    uint32_t i;
    if (!gh_contacts_is_mirror(contacts) || found == NULL || prefix.size > GH_NAME_SIZE_MAX) return 0;
    if (prefix.bytes == NULL && prefix.size > 0) return 0;
    table = gh_contacts_table_of(contacts);
    size = gh_fold_apply(contacts->config.fold, contacts->config.fold_context, prefix, folded);
    key = gh_contacts_key(folded, size);
    mask = size >= GH_CONTACTS_KEY_SIZE ? UINT64_MAX : ~(UINT64_MAX >> (8 * size));
    for (i = 0; i < contacts->count && count < limit; i++)
    {
        const gh_contacts_record* record;
        if ((table.keys[i] & mask) != key) continue;
        record = &table.records[table.slots[i]];
        if (record->folded_size < size) continue; /* behind its end a key has zeros, which may have been typed */
        if (size > GH_CONTACTS_KEY_SIZE && !mirror_record_begins(contacts, record, gh_str_make(folded, size))) continue;
        found[count].name = gh_str_make(record->name, record->name_size);
        found[count].time_us = record->time_us;
        count++;
    }
    return count;
}
