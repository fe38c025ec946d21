/* wipe.h -- bytes of a secret, made zeros. */

#ifndef GH_WIPE_H
#define GH_WIPE_H

#include <stddef.h>

/* The compiler must not think that nobody will read them. */
static inline void gh_wipe(void* bytes, size_t size)
{
    volatile char* at = (volatile char*)bytes;
    size_t i;
    for (i = 0; i < size; i++) at[i] = 0;
}

#endif
