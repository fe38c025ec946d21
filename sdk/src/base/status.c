/* status.c -- the version, and the texts and names of statuses. */

#include "guildhall/base.h"

uint32_t gh_version(void)
{
    return GH_VERSION_MAJOR * 10000 + GH_VERSION_MINOR * 100 + GH_VERSION_PATCH;
}

const char* gh_status_text(gh_status status)
{
    switch (status)
    {
#define GH_STATUS_TEXT(name, value, text)                                                                            \
    case GH_##name:                                                                                                  \
        return text;
        GH_STATUS_LIST(GH_STATUS_TEXT)
#undef GH_STATUS_TEXT
#define GH_DETAIL_TEXT(name, word, value, text)                                                                        \
    case GH_##name:                                                                                                  \
        return text;
        GH_DETAIL_LIST(GH_DETAIL_TEXT)
#undef GH_DETAIL_TEXT
    }
    return "not a status of Guildhall";
}

const char* gh_status_name(gh_status status)
{
    switch (status)
    {
#define GH_STATUS_NAME(name, value, text)                                                                            \
    case GH_##name:                                                                                                  \
        return #name;
        GH_STATUS_LIST(GH_STATUS_NAME)
#undef GH_STATUS_NAME
#define GH_DETAIL_NAME(name, word, value, text)                                                                        \
    case GH_##name:                                                                                                  \
        return #name;
        GH_DETAIL_LIST(GH_DETAIL_NAME)
#undef GH_DETAIL_NAME
    }
    return "?";
}
