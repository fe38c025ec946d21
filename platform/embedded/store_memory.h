/* store_memory.h -- Lua's memory. Scripts leave nothing behind, so behind a few dozens of them Lua is put back to how
   it was before, and all that they have made is forgotten at once: no collector looks at it.

       built, compiled  |  settled: noted as it is     script  script  script ... put back  script  script ...
       [ older pieces .............................. ] [ young pieces --------> ]           [ young ----->

   Put back are the state, the table of all texts, and whatever was there before the first script was compiled, as no
   script can change anything else: those that are compiled it cannot reach. What Lua's own collector has touched, when
   a single script has made too much, can not be put back; from then on there is nothing but the collector. */

#ifndef GUILDHALL_EMBEDDED_STORE_MEMORY_H
#define GUILDHALL_EMBEDDED_STORE_MEMORY_H

#include "guildhall/base.h"
#include "store_pool.h"

#include <lua.h>

typedef struct store_large store_large;

/* A part of the older pieces, and how it was. */
typedef struct store_noted
{
    void* place;
    void* copy;
    size_t size;
} store_noted;

/* An older piece that a script has given back: it is there again when Lua is put back. */
typedef struct store_given
{
    void* piece;
    size_t size;
} store_given;

enum
{
    STORE_NOTED = 3
};

typedef struct store_memory
{
    store_pool pool; /* of the young pieces, while there are some */
    lua_State* lua;
    char* base; /* what was there before the first script */
    char* base_end;
    bool is_building;
    bool is_whole; /* the base is all of it */
    bool is_open;  /* and young again when it is closed */
    bool is_young; /* what is taken now will be forgotten */
    bool is_spoilt;
    store_pool older;
    char* young; /* the first slab of the young pieces */
    store_large* large;
    size_t large_size;
    ptrdiff_t net; /* of what was taken since it was put back, less what was given back */
    ptrdiff_t most;
    ptrdiff_t part;  /* what was in use behind the last collection, or a little more */
    ptrdiff_t grown; /* by scripts that were compiled since then */
    void** texts;
    store_noted noted[STORE_NOTED];
    store_given* given;
    uint32_t given_count;
    uint32_t given_room;
} store_memory;

/* A new Lua, and when its libraries are open. */
lua_State* gh_store_memory_begin(store_memory* memory);
void gh_store_memory_built(store_memory* memory);
void gh_store_memory_end(store_memory* memory); /* and Lua's */

/* No script runs: collects, and from then on forgets what scripts make. */
void gh_store_memory_settle(store_memory* memory);

/* No script runs, and what is taken in between is to stay. */
void gh_store_memory_open(store_memory* memory);
void gh_store_memory_close(store_memory* memory);

/* Behind each script. */
void gh_store_memory_rest(store_memory* memory);

/* The collector is about to run. */
void gh_store_memory_spoil(store_memory* memory);

#endif
