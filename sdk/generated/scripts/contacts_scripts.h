/* contacts_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_CONTACTS_SCRIPTS_H
#define GH_CONTACTS_SCRIPTS_H

/* contacts_load.lua */
enum
{
    GH_CONTACTS_LOAD_SEQUENCE = 0,
    GH_CONTACTS_LOAD_LENGTH = 1,
    GH_CONTACTS_LOAD_TIMED = 2,
    GH_CONTACTS_LOAD_VERSION = 3,
    GH_CONTACTS_LOAD_NAMES = 4
};

/* contacts_remove.lua */
enum
{
    GH_CONTACTS_REMOVE_SEQUENCE = 0,
    GH_CONTACTS_REMOVE_CODE = 1
};
typedef enum gh_contacts_remove_code
{
    GH_CONTACTS_REMOVE_DONE = 0,
    GH_CONTACTS_REMOVE_OLD = 1,
    GH_CONTACTS_REMOVE_FULL = 2
} gh_contacts_remove_code;

/* contacts_touch.lua */
enum
{
    GH_CONTACTS_TOUCH_NOW_US = 2,
    GH_CONTACTS_TOUCH_BLOCKED = 3
};
typedef enum gh_contacts_touch_blocked
{
    GH_CONTACTS_TOUCH_STAYED_OUT = 'b',
    GH_CONTACTS_TOUCH_TOUCHED = 't'
} gh_contacts_touch_blocked;

#endif
