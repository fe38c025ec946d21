/* contacts_shared.h -- what the files of the contacts share: keys and bounds, and the mirror as the store's answers
   change it.

       contacts_mirror.c    whose contacts, with which settings, and the mirror; knows nothing of requests
       contacts_complete.c  what a player types, completed from it
       contacts_change.c    touch, remove, block, unblock
       contacts_load.c      load */

#ifndef GH_CONTACTS_SHARED_H
#define GH_CONTACTS_SHARED_H

#include "client/op.h"
#include "guildhall/contacts.h"

static inline gh_str gh_contacts_kind(void)
{
    return gh_str_literal("contacts");
}

#define GH_CONTACTS_PARTS "lzwb" /* of a key, of each script alike */

/* Whether it has one. */
bool gh_contacts_is_mirror(const gh_contacts* mirror);

void gh_contacts_mirror_clear(gh_contacts* mirror);

/* Writes the contact at a place whose slot is free. */
void gh_contacts_mirror_put(gh_contacts* mirror, uint32_t at, gh_str name, uint64_t time_us);

/* The contact comes to the front, in place of the oldest if it is new and the mirror is full. */
void gh_contacts_mirror_touch(gh_contacts* mirror, gh_str name, uint64_t time_us);

void gh_contacts_mirror_remove(gh_contacts* mirror, gh_str name);

#endif
