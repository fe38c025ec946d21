/* script_list.h -- a number for each script of sdk/src, from the list that the build generates. */

#ifndef GH_SCRIPT_LIST_H
#define GH_SCRIPT_LIST_H

#include "gh_scripts.h"

typedef enum gh_script_id
{
#define GH_SCRIPT_ENUM(name) GH_SCRIPT_##name,
    GH_SCRIPT_LIST(GH_SCRIPT_ENUM)
#undef GH_SCRIPT_ENUM
        GH_SCRIPT_COUNT
} gh_script_id;

#endif
