/* storm_contacts.h -- what the records of contact lists and guilds mean: the same for both, sets of names. */

#ifndef GUILDHALL_TESTS_STORM_STORM_CONTACTS_H
#define GUILDHALL_TESTS_STORM_STORM_CONTACTS_H

enum
{
    SET_OWNERS = 3,   /* lists or guilds */
    SET_NAMES = 12,   /* who may be in them */
    SET_FREE_NAMES = 8, /* of a contact list: the first, whom nobody ever blocks */
    SET_CAPACITY = 8, /* of a contact list */
    SET_GUILD_CAPACITY = 100
};

enum
{
    SET_IN = 1, /* touch or join;  a: which name; of a touch b: 1 if it was kept out, being blocked, c: in_mirror */
    SET_OUT,    /* remove or leave; a: which name; c: of a remove, in_mirror                                 */
    SET_LOAD,   /* a: how many came; of contacts b: bits of their names, c: 1 if it is of those who are blocked */
    SET_THERE,  /* in the end; a: which name, b: its place                                                   */
    SET_BLOCK,  /* a: which name, c: in_mirror                                                               */
    SET_UNBLOCK /* a: which name                                                                             */
};

/* What a mirror that follows has once a change was carried out. */
typedef enum in_mirror
{
    IN_MIRROR_UNSEEN = 0, /* nobody looked, or more than this change has come to it */
    IN_MIRROR_NO,
    IN_MIRROR_YES
} in_mirror;

void check_contacts(void);
void check_blocks(void);
void check_guild(void);

#endif
