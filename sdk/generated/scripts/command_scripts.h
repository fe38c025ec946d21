/* command_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_COMMAND_SCRIPTS_H
#define GH_COMMAND_SCRIPTS_H

/* command_once.lua */
enum
{
    GH_COMMAND_ONCE_SEQUENCE = 0,
    GH_COMMAND_ONCE_CODE = 1,
    GH_COMMAND_ONCE_NOW_US = 2,
    GH_COMMAND_ONCE_ANSWER = 3
};
typedef enum gh_command_once_code
{
    GH_COMMAND_ONCE_DONE = 0,
    GH_COMMAND_ONCE_BEGUN = 1,
    GH_COMMAND_ONCE_LOST = 2,
    GH_COMMAND_ONCE_LATE = 3
} gh_command_once_code;

#endif
