/* guild_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_GUILD_SCRIPTS_H
#define GH_GUILD_SCRIPTS_H

/* guild_join.lua */
typedef enum gh_guild_join_letters
{
    GH_GUILD_JOIN_JOINED = 'j',
    GH_GUILD_JOIN_MEMBER = 'm',
    GH_GUILD_JOIN_FULL = 'f'
} gh_guild_join_letters;

/* guild_leave.lua */
typedef enum gh_guild_leave_letters
{
    GH_GUILD_LEAVE_LEFT = 'l',
    GH_GUILD_LEAVE_NO_MEMBER = 'n'
} gh_guild_leave_letters;

/* guild_members.lua */
enum
{
    GH_GUILD_MEMBERS_SEQUENCE = 0,
    GH_GUILD_MEMBERS_CODE = 1,
    GH_GUILD_MEMBERS_MEMBERS = 2,
    GH_GUILD_MEMBERS_LETTERS = 3
};
typedef enum gh_guild_members_code
{
    GH_GUILD_MEMBERS_DONE = 0,
    GH_GUILD_MEMBERS_OLD = 1
} gh_guild_members_code;

#endif
