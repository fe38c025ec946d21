/* garbage.h -- what may stand in a key that somebody else wrote, planted one piece at a time.

   The rows of "All keys" in sdk/KEYS.md say which keys there are. A plant is at most two commands for the server; what
   there is to plant depends on what the keys have at the moment. */

#ifndef GUILDHALL_TESTS_GARBAGE_H
#define GUILDHALL_TESTS_GARBAGE_H

#include "support/scene/drill.h"
#include "support/scene/page.h"

#define GARBAGE_WORDS_MAX 6

typedef struct garbage_command
{
    char* words[GARBAGE_WORDS_MAX];
    size_t sizes[GARBAGE_WORDS_MAX];
    int count; /* 0: none */
} garbage_command;

typedef struct garbage_plant
{
    char what[192]; /* "gh:{lock:thing}:s word 2 = -1" */
    char place[96]; /* the key, and the field or place in it: where plants are of one kind */
    garbage_command commands[2];
} garbage_plant;

typedef struct garbage_plants
{
    garbage_plant* list;
    size_t count;
} garbage_plants;

/* All that can be planted in the keys of the system, as the store is now. "nothing" comes first. */
garbage_plants garbage_list(drill* self, const page_table* keys);
void garbage_free(garbage_plants* plants);

void garbage_plant_it(drill* self, const garbage_plant* plant);

/* Crowds: a key of that type with so many entries besides those that it has. They look odd, or old, or late. */
#define GARBAGE_CROWDS 3
void garbage_crowd(drill* self, const char* key, const char* type, int crowd, unsigned entries);

/* The table "All keys". */
page_table garbage_keys(void);

/* Its cells. */
const char* garbage_key_of(const page_row* row);
const char* garbage_type_of(const page_row* row);

#endif
