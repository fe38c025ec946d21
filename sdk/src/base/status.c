/* status.c -- the version, and the texts and names of statuses. */

#include "base/texts.h"
#include "guildhall/base.h"

uint32_t gh_version(void)
{
    return GH_VERSION_MAJOR * 10000 + GH_VERSION_MINOR * 100 + GH_VERSION_PATCH;
}

static const gh_status status_values[] = {
#define GH_STATUS_VALUE(name, value, text) GH_##name,
    GH_STATUS_LIST(GH_STATUS_VALUE)
#undef GH_STATUS_VALUE
#define GH_DETAIL_VALUE(name, word, value, text) GH_##name,
        GH_DETAIL_LIST(GH_DETAIL_VALUE)
#undef GH_DETAIL_VALUE
};

/* In the order of the values. GH_NO_STATUS_TEXT leaves them out. */
#if !defined(GH_NO_STATUS_TEXT)
static const char status_texts[] =
#define GH_STATUS_TEXT(name, value, text) text "\0"
    GH_STATUS_LIST(GH_STATUS_TEXT)
#undef GH_STATUS_TEXT
#define GH_DETAIL_TEXT(name, word, value, text) text "\0"
        GH_DETAIL_LIST(GH_DETAIL_TEXT)
#undef GH_DETAIL_TEXT
    ;
#endif

static const char status_names[] =
#define GH_STATUS_NAME(name, value, text) #name "\0"
    GH_STATUS_LIST(GH_STATUS_NAME)
#undef GH_STATUS_NAME
#define GH_DETAIL_NAME(name, word, value, text) #name "\0"
        GH_DETAIL_LIST(GH_DETAIL_NAME)
#undef GH_DETAIL_NAME
    ;

/* The one of these texts that stands at the status' place; NULL: there is no such status. */
static const char* status_string(gh_status status, const char* text)
{
    for (size_t i = 0; i < sizeof status_values / sizeof status_values[0]; i++)
    {
        if (status_values[i] == status) return text;
        text = gh_texts_next(text);
    }
    return NULL;
}

const char* gh_status_text(gh_status status)
{
#if defined(GH_NO_STATUS_TEXT)
    return gh_status_name(status);
#else
    const char* text = status_string(status, status_texts);
    return text != NULL ? text : "not a status of Guildhall";
#endif
}

const char* gh_status_name(gh_status status)
{
    const char* name = status_string(status, status_names);
    return name != NULL ? name : "?";
}
