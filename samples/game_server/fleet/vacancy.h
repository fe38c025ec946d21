/* vacancy.h -- is a prefix still free? The fleet removes all keys with its prefix at its end, so whatever is there
   before its beginning would be somebody else's loss. */

#ifndef GAME_SERVER_VACANCY_H
#define GAME_SERVER_VACANCY_H

#include "options.h"

typedef enum vacancy
{
    VACANCY_FREE = 0, /* no key begins with it */
    VACANCY_TAKEN,
    VACANCY_UNKNOWN /* the store does not answer, or we were told to stop; it was said on stderr */
} vacancy;

/* Takes as long as the store needs to go through its keys. Every client leaves a key, <prefix>:epoch, so the one that
   looks has a prefix that nobody has, own_prefix, and removes its key again. */
vacancy vacancy_of(const options* o, const char* own_prefix);

#endif
