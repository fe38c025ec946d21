/* store_dict.h -- names to something, in the order in which they came: the fields of a hash, the members of a sorted
   set, the keys of a database. */

#ifndef GUILDHALL_EMBEDDED_STORE_DICT_H
#define GUILDHALL_EMBEDDED_STORE_DICT_H

#include "guildhall/base.h"
#include "store_pool.h"

/* A text of its own. */
typedef struct store_blob
{
    uint32_t size;
    char bytes[];
} store_blob;

store_blob* gh_store_blob_new(store_pool* pool, gh_str text);
void gh_store_blob_free(store_pool* pool, store_blob* blob);

static inline gh_str gh_store_blob_text(const store_blob* blob)
{
    return gh_str_make(blob->bytes, blob->size);
}

typedef struct store_entry
{
    uint32_t hash;
    uint32_t size; /* of the name */
    union
    {
        void* any;
        store_blob* text;
        struct store_value* value;
        double score;
    } is;
    char name[];
} store_entry;

static inline gh_str gh_store_entry_name(const store_entry* entry)
{
    return gh_str_make(entry->name, entry->size);
}

typedef struct store_dict
{
    store_entry** row; /* in their order; NULL where one was */
    uint32_t used;     /* of the row, with those gaps        */
    uint32_t count;
    uint32_t room;     /* of the row                         */
    uint32_t mask;
    uint64_t* slots;   /* hash << 32 | place in the row + 1; NULL while there are few: the row is looked through */
} store_dict;

uint32_t gh_store_hash(gh_str name);
store_entry* gh_store_dict_find(const store_dict* dict, gh_str name, uint32_t hash);
store_entry* gh_store_dict_add(store_dict* dict, store_pool* pool, gh_str name, uint32_t hash); /* it is not there */
store_entry* gh_store_dict_take(store_dict* dict, gh_str name, uint32_t hash);                  /* out of it, or NULL */

/* For who looks something up a little later: first its slot is brought near, then the entry that the slot leads to, if
   there is one (else NULL; it need not have that name). */
void gh_store_dict_come(const store_dict* dict, uint32_t hash);
store_entry* gh_store_dict_likely(const store_dict* dict, uint32_t hash);

void gh_store_entry_free(store_pool* pool, store_entry* entry);
void gh_store_dict_end(store_dict* dict, store_pool* pool); /* and its entries, but not what they lead to */

/* For "for": the next entry at or behind *AT, or NULL. */
static inline store_entry* gh_store_dict_next(const store_dict* dict, uint32_t* at)
{
    while (*at < dict->used)
    {
        store_entry* entry = dict->row[(*at)++];
        if (entry != NULL) return entry;
    }
    return NULL;
}

/* ---- a row of pointers, to be changed at both ends and in between -------------------------------------- */

typedef struct store_row
{
    void** all;
    uint32_t first;
    uint32_t count;
    uint32_t room;
} store_row;

static inline void* gh_store_row_at(const store_row* row, uint32_t at)
{
    return row->all[row->first + at];
}

void gh_store_row_insert(store_row* row, uint32_t at, void* one);
void gh_store_row_remove(store_row* row, uint32_t at, uint32_t count);
void gh_store_row_end(store_row* row);

#endif
