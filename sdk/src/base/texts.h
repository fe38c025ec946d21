/* texts.h -- texts that stand one behind another in one string, each with a NUL behind it: "GET\0SET\0".

   A table of pointers to them would take as many bytes again, and each program would have to fill it in when it
   starts. They are walked through from the first, so this is for what is asked seldom. */

#ifndef GH_TEXTS_H
#define GH_TEXTS_H

#include <string.h>

static inline const char* gh_texts_next(const char* text)
{
    return text + strlen(text) + 1;
}

#endif
