/* contacts_table.h -- how the mirror lies in the caller's memory.

   Four arrays in the caller's memory. Three are in the order of the contacts, the newest first, and are what a search
   runs through; a contact's record stays in its slot while its place changes. Places from count on name free slots.

       keys     the first 8 bytes of the folded name as a number, the first byte on top: one comparison for most names
       hashes   of the name as it is shown, to find it again
       slots    where its record is */

#ifndef GH_CONTACTS_TABLE_H
#define GH_CONTACTS_TABLE_H

#include "guildhall/contacts.h"

#define GH_CONTACTS_KEY_SIZE 8u /* bytes of a folded name that are compared as one number */

typedef struct gh_contacts_record
{
    uint64_t time_us;
    uint8_t name_size;
    uint8_t folded_size; /* up to GH_FOLDED_SIZE_MAX, of which GH_NAME_SIZE_MAX bytes are kept */
    char name[GH_NAME_SIZE_MAX];
    char folded[GH_NAME_SIZE_MAX];
} gh_contacts_record;

typedef struct gh_contacts_table
{
    uint64_t* keys;
    gh_contacts_record* records;
    uint32_t* hashes;
    uint32_t* slots;
} gh_contacts_table;

static inline gh_contacts_table gh_contacts_table_of(const gh_contacts* mirror)
{
    gh_contacts_table table;
    table.keys = (uint64_t*)mirror->memory;
    table.records = (gh_contacts_record*)(void*)(table.keys + mirror->config.capacity);
    table.hashes = (uint32_t*)(void*)(table.records + mirror->config.capacity);
    table.slots = table.hashes + mirror->config.capacity;
    return table;
}

static inline uint64_t gh_contacts_key(const char* folded, size_t size)
{
    uint64_t key = 0;
    size_t i;
    for (i = 0; i < GH_CONTACTS_KEY_SIZE; i++) key = key << 8 | (i < size ? (unsigned char)folded[i] : 0);
    return key;
}

#endif
