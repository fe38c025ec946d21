/* store_zsets.h -- a sorted set: a table of its members by name, and a row of them by score and name. */

#ifndef GUILDHALL_EMBEDDED_STORE_ZSETS_H
#define GUILDHALL_EMBEDDED_STORE_ZSETS_H

#include "store_commands.h"

static inline store_entry* gh_store_member_at(const store_value* value, uint32_t place)
{
    return (store_entry*)gh_store_row_at(&value->row, place);
}

/* How many stand before one of that score and name. */
uint32_t gh_store_member_place(const store_value* value, double score, gh_str name);
store_entry* gh_store_member(const store_value* value, gh_str name); /* NULL value: NULL */
void gh_store_members_cut(gh_store* store, const store_key* key, uint32_t place, uint32_t count);
int gh_store_names_compare(gh_str a, gh_str b);
void gh_store_reply_member(gh_store* store, const store_entry* entry, bool with_score);

#endif
