/* wipe.h -- bytes of a secret, made zeros. */

#ifndef GH_WIPE_H
#define GH_WIPE_H

#include <stddef.h>
#include <string.h>

/* The compiler must not think that nobody will read them: it cannot know that it is memset which is called. */
static inline void gh_wipe(void* bytes, size_t size)
{
    void* (*volatile set)(void*, int, size_t) = memset;
    if (size > 0) set(bytes, 0, size);
}

#endif
