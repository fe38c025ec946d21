/* sized.h -- a struct for a caller whose headers may be older or newer than the library: it gets what both know. */

#ifndef GH_SIZED_H
#define GH_SIZED_H

#include "guildhall/base.h"

/* The first member of both is their struct_size, which says how much of the caller's is filled; the rest of it is 0. */
static inline void gh_sized_give(void* to, size_t size, const void* from, size_t known)
{
    const size_t filled = size < known ? size : known;
    memset(to, 0, size);
    memcpy(to, from, filled);
    if (size >= sizeof filled) memcpy(to, &filled, sizeof filled);
}

#endif
