/* places.h -- a table of geo.h from a CSV file, at start-up. */

#ifndef GAME_SERVER_PLACES_H
#define GAME_SERVER_PLACES_H

#include "guildhall/geo.h"

typedef struct places
{
    gh_geo* table;
    void* memory; /* in which the table lives */
} places;

/* False: it was said on stderr why not. A table that turns out too small is made anew, twice as large. */
bool places_read(places* p, const char* path);
void places_free(places* p);

#endif
