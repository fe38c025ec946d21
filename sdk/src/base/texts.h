/* texts.h -- texts that stand one behind another in one string, each with a NUL behind it: "GET\0SET\0".

   A table of pointers to them would take as many bytes again, and each program would have to fill it in when it
   starts. They are walked through from the first, so this is for what is asked seldom. */

#ifndef GH_TEXTS_H
#define GH_TEXTS_H

#include "guildhall/base.h"

#include <string.h>

static inline const char* gh_texts_next(const char* text)
{
    return text + strlen(text) + 1;
}

/* Whether a text begins with that one. */
static inline bool gh_text_begins(gh_str text, const char* begin)
{
    const size_t size = strlen(begin);
    return text.size >= size && memcmp(text.bytes, begin, size) == 0;
}

#endif
