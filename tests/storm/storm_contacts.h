/* storm_contacts.h -- what the records of contact lists and guilds mean: the same for both, sets of names. */

#ifndef GUILDHALL_TESTS_STORM_STORM_CONTACTS_H
#define GUILDHALL_TESTS_STORM_STORM_CONTACTS_H

enum
{
    SET_OWNERS = 3,   /* lists or guilds */
    SET_NAMES = 12,   /* who may be in them */
    SET_CAPACITY = 8, /* of a contact list */
    SET_GUILD_CAPACITY = 100
};

enum
{
    SET_IN = 1, /* touch or join;  a: which name */
    SET_OUT,    /* remove or leave; a: which name */
    SET_LOAD,   /* a: how many came */
    SET_THERE   /* in the end; a: which name, b: its place */
};

void check_contacts(void);
void check_guild(void);

#endif
