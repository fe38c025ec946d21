/* format.h -- puts values into a text, by a format of the caller's: what stands behind gh_name_format and
   gh_command_format. */

#ifndef GH_FORMAT_H
#define GH_FORMAT_H

#include "guildhall/base.h"

#include <stdarg.h>

typedef struct gh_format
{
    const char* at; /* in the format */
    char* out;      /* where the next byte goes */
    char* end;
    va_list values; /* started and ended by whoever has the values */
    bool full;      /* a byte had no room */
    bool wrong;     /* no such letter, or a string that is NULL: the values behind it are not looked at */
} gh_format;

/* Writes the format, or only what comes before its next blank: a blank inside a value is never looked at. False: it is
   full or wrong, and must not be gone on with. */
bool gh_format_all(gh_format* format);
bool gh_format_word(gh_format* format);

#endif
