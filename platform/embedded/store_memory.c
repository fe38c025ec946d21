/* store_memory.c -- see store_memory.h. */

#include "store_memory.h"

#include <stdlib.h>
#include <string.h>

#define YOUNG_SIZE ((size_t)STORE_POOL_SLAB)
#define YOUNG_MOST ((size_t)192 << 10) /* so much, and it is forgotten: less than a processor's own cache has */
#define LARGE_MOST ((size_t)1 << 20)
#define TEXTS      4096
#define SLAB_HEAD  ((size_t)STORE_POOL_STEP)

/* Per cent of what is in use behind a collection, before there is the next one. Of a settled Lua it is the last, or a
   quarter of a megabyte, which makes one part: the next one is put off until there are twenty. */
#define PAUSE       200
#define PART_LEAST  ((ptrdiff_t)256 << 10)
#define PARTS_PAUSE 20
#define PARTS_ROOM  16 /* so many at once, and one may be about to begin */

/* ---- Lua's state ------------------------------------------------------------------------------------------------- */

/* As the lstate.h of each Lua 5.1 has them, up to what is needed here. */
typedef struct state_of_all
{
    void** texts;
    uint32_t text_count;
    int text_room;
} state_of_all;

typedef struct state_head
{
    void* next;
    unsigned char kind;
    unsigned char mark;
    unsigned char status;
    char* top;
    char* bottom;
    state_of_all* all;
    char* call;
    const void* instruction;
    char* stack_last;
    char* stack;
    char* call_last;
    char* calls;
    int stack_room;
    int call_room;
} state_head;

enum
{
    CALL_SIZE = 5 * sizeof(void*),
    VALUE_SIZE = 2 * sizeof(void*),
    STACK_SPARE = 6
};

static const state_head* head_of(const store_memory* memory)
{
    return (const state_head*)(const void*)memory->lua;
}

static bool is_base(const store_memory* memory, const void* piece)
{
    return (const char*)piece >= memory->base && (const char*)piece < memory->base_end;
}

/* Whether this Lua looks as described: whoever has changed it gets no more than its collector. */
static bool is_known(const store_memory* memory)
{
    const state_head* head = head_of(memory);
    const int room = is_base(memory, head) && is_base(memory, head->all) ? head->all->text_room : 0;
    return room > 0 && (room & (room - 1)) == 0 && head->all->text_count < 2 * (uint32_t)room && head->call_room > 0 &&
           head->call == head->calls && head->call_last == head->calls + (head->call_room - 1) * CALL_SIZE &&
           head->stack_last == head->stack + (head->stack_room - STACK_SPARE) * VALUE_SIZE &&
           head->bottom == head->stack + VALUE_SIZE && head->top == head->bottom;
}

/* ---- large pieces ------------------------------------------------------------------------------------------------ */

/* In front of each piece that is not from the pool. */
struct store_large
{
    store_large* next;
    store_large* previous;
    size_t size;
    size_t is_young;
};

static store_large* large_of(void* piece)
{
    return (store_large*)piece - 1;
}

static void* take_large(store_memory* memory, size_t size)
{
    store_large* large;
    if (memory->is_building && size <= memory->pool.slab_left) return gh_store_pool_cut(&memory->pool, size);
    large = (store_large*)gh_store_heap_resize(NULL, sizeof *large + size);
    large->is_young = memory->is_young;
    if (!memory->is_young) return large + 1;
    large->size = size;
    large->previous = NULL;
    large->next = memory->large;
    if (large->next != NULL) large->next->previous = large;
    memory->large = large;
    memory->large_size += size;
    return large + 1;
}

static void give_large(store_memory* memory, void* piece)
{
    store_large* large = large_of(piece);
    if (is_base(memory, piece)) return;
    if (large->is_young)
    {
        if (large->previous != NULL) large->previous->next = large->next;
        else memory->large = large->next;
        if (large->next != NULL) large->next->previous = large->previous;
        memory->large_size -= large->size;
    }
    free(large);
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static bool is_in_slabs(const store_memory* memory, const void* piece)
{
    const char* slab = (const char*)memory->pool.slabs;
    const char* next; /* which stands at the beginning of each */
    for (; slab != NULL; slab = next)
    {
        if ((const char*)piece >= slab && (const char*)piece < slab + STORE_POOL_SLAB) return true;
        memcpy((void*)&next, slab, sizeof next);
    }
    return false;
}

static bool is_older(const store_memory* memory, void* piece, size_t size)
{
    if (!memory->is_young || (uintptr_t)piece - (uintptr_t)memory->young < YOUNG_SIZE) return false;
    if (size > STORE_POOL_LARGEST) return is_base(memory, piece) || !large_of(piece)->is_young;
    return !is_in_slabs(memory, piece);
}

static void note_given(store_memory* memory, void* piece, size_t size)
{
    if (memory->given_count == memory->given_room)
    {
        memory->given_room = memory->given_room * 2 + 8;
        memory->given = (store_given*)gh_store_heap_resize(memory->given, memory->given_room * sizeof *memory->given);
    }
    memory->given[memory->given_count].piece = piece;
    memory->given[memory->given_count++].size = size;
}

static void* take(store_memory* memory, size_t size)
{
    if (size > STORE_POOL_LARGEST) return take_large(memory, size);
    return gh_store_pool_take(&memory->pool, size);
}

static void give(store_memory* memory, void* piece, size_t size)
{
    if (piece == NULL) return;
    if (is_older(memory, piece, size)) note_given(memory, piece, size);
    else if (size > STORE_POOL_LARGEST) give_large(memory, piece);
    else gh_store_pool_give(&memory->pool, piece, size);
}

static void* reallocate(void* context, void* piece, size_t size, size_t wanted)
{
    store_memory* memory = (store_memory*)context;
    void* result = NULL;
    memory->net += (ptrdiff_t)(wanted - size);
    if (memory->net > memory->most) memory->most = memory->net;
    if (wanted > 0) result = take(memory, wanted);
    if (wanted > 0 && piece != NULL) memcpy(result, piece, size < wanted ? size : wanted);
    give(memory, piece, size);
    return result;
}

/* ---- there and back ---------------------------------------------------------------------------------------------- */

static void note(store_memory* memory, unsigned at, void* place, size_t size)
{
    store_noted* noted = &memory->noted[at];
    noted->copy = gh_store_heap_resize(noted->copy, size);
    noted->place = place;
    noted->size = size;
    memcpy(noted->copy, place, size);
}

static void begin_young(store_memory* memory)
{
    memset(&memory->pool, 0, sizeof memory->pool);
    memory->pool.slab = memory->young + SLAB_HEAD;
    memory->pool.slab_left = YOUNG_SIZE - SLAB_HEAD;
    memory->net = memory->most = 0;
    memory->given_count = 0;
}

static void put_back(store_memory* memory)
{
    unsigned i;
    while (memory->large != NULL) give_large(memory, memory->large + 1);
    gh_store_pool_end(&memory->pool);
    begin_young(memory);
    for (i = 0; i < STORE_NOTED; i++) memcpy(memory->noted[i].place, memory->noted[i].copy, memory->noted[i].size);
}

/* What has been taken meanwhile is as old as all else. */
static void keep_young(store_memory* memory)
{
    uint32_t i;
    memory->is_young = false;
    for (; memory->large != NULL; memory->large = memory->large->next) memory->large->is_young = 0;
    memory->large_size = 0;
    gh_store_pool_add_slab(&memory->pool, memory->young);
    gh_store_pool_join(&memory->pool, &memory->older);
    memory->young = NULL;
    for (i = 0; i < memory->given_count; i++) give(memory, memory->given[i].piece, memory->given[i].size);
    memory->given_count = 0;
}

void gh_store_memory_open(store_memory* memory)
{
    memory->is_open = memory->is_young;
    if (!memory->is_young) return;
    put_back(memory);
    memory->is_young = false;
    memory->pool = memory->older;
}

/* From here on what is taken is young. */
static void note_all(store_memory* memory)
{
    const state_head* head = head_of(memory);
    note(memory, 0, memory->base, (size_t)(memory->base_end - memory->base));
    note(memory, 1, head->calls, (size_t)head->call_room * CALL_SIZE);
    note(memory, 2, head->all->texts, (size_t)head->all->text_room * sizeof(void*));
    memory->texts = head->all->texts;
    memory->older = memory->pool;
    if (memory->young == NULL) memory->young = (char*)gh_store_heap_resize(NULL, YOUNG_SIZE);
    begin_young(memory);
    memory->is_spoilt = false;
    memory->is_young = true;
}

/* A collection only when there is much more than at the last one. */
void gh_store_memory_close(store_memory* memory)
{
    if (!memory->is_open) return;
    memory->grown += memory->net;
    if (memory->most < PARTS_ROOM * memory->part && memory->grown < memory->part) note_all(memory);
    else gh_store_memory_settle(memory);
}

/* The table of texts gets room for those of some scripts, so that it stays where it is; a collection halves it. */
static void make_room_for_texts(store_memory* memory)
{
    const state_head* head = head_of(memory);
    uint32_t i;
    (void)lua_gc(memory->lua, LUA_GCSTOP, 0);
    for (i = 0; head->all->text_room < 2 * TEXTS; i++)
    {
        lua_pushlstring(memory->lua, (const char*)&i, sizeof i);
        lua_pop(memory->lua, 1);
    }
}

/* The table does not grow while a collection is under way: there is one before, too. */
void gh_store_memory_settle(store_memory* memory)
{
    ptrdiff_t used;
    gh_store_memory_open(memory);
    (void)lua_gc(memory->lua, LUA_GCSETPAUSE, PAUSE);
    (void)lua_gc(memory->lua, LUA_GCCOLLECT, 0);
    if (STORE_POOL_LARGEST == 0 || !memory->is_whole || !is_known(memory)) return;
    used = (ptrdiff_t)lua_gc(memory->lua, LUA_GCCOUNT, 0) * 1024;
    memory->part = used > PART_LEAST ? used : PART_LEAST;
    memory->grown = 0;
    make_room_for_texts(memory);
    (void)lua_gc(memory->lua, LUA_GCSETPAUSE, (int)(memory->part * 100 / used * PARTS_PAUSE));
    (void)lua_gc(memory->lua, LUA_GCCOLLECT, 0);
    (void)lua_gc(memory->lua, LUA_GCSETPAUSE, PAUSE);
    note_all(memory);
}

void gh_store_memory_spoil(store_memory* memory)
{
    memory->is_spoilt = true;
}

void gh_store_memory_rest(store_memory* memory)
{
    if (!memory->is_young) return;
    if (memory->is_spoilt || memory->most >= PARTS_ROOM * memory->part || head_of(memory)->all->texts != memory->texts)
        keep_young(memory);
    else if ((size_t)(memory->pool.slab - memory->young) > YOUNG_MOST || memory->pool.slabs != NULL ||
             memory->large_size > LARGE_MOST)
        put_back(memory);
}

/* ---- the first and the last -------------------------------------------------------------------------------------- */

lua_State* gh_store_memory_begin(store_memory* memory)
{
    memory->is_building = STORE_POOL_LARGEST > 0;
    gh_store_pool_begin_slab(&memory->pool);
    memory->base = (char*)memory->pool.slabs;
    memory->base_end = memory->base + STORE_POOL_SLAB;
    memory->lua = lua_newstate(reallocate, memory);
    if (memory->lua == NULL) abort();
    return memory->lua;
}

void gh_store_memory_built(store_memory* memory)
{
    memory->is_building = false;
    memory->is_whole = memory->pool.slabs == memory->base;
    if (memory->is_whole) memory->base_end = memory->pool.slab;
}

void gh_store_memory_end(store_memory* memory)
{
    unsigned i;
    gh_store_memory_open(memory);
    lua_close(memory->lua);
    gh_store_pool_end(&memory->pool);
    for (i = 0; i < STORE_NOTED; i++) free(memory->noted[i].copy);
    free(memory->given);
    free(memory->young);
}
