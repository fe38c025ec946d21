/* memory.c -- pieces of some sizes, cut one behind the other; those that come back are in a chain for each size.

       [head][piece.......][head][piece..][head][gap][head][piece at a multiple of 64.....]

   A head tells the size's class, and how far behind the first byte that was cut the piece begins. */

#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */

#include "simulator/memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__linux__)

enum
{
    STEP = 16,
    SMALL_CLASSES = 64, /* multiples of STEP; behind them, four in each power of two */
    CLASSES = SMALL_CLASSES + 4 * 30,
    LARGE_PAGE = 2 * 1024 * 1024
};

static const size_t ROOM = (size_t)16 << 30; /* of addresses: a page that nobody touches costs nothing */

typedef struct piece_head
{
    uint32_t number; /* of its class */
    uint32_t shift;
    uint64_t unused; /* a head is a STEP, so that pieces are aligned */
} piece_head;

/* Static: all of it is put back with the other variables. */
static struct
{
    char* begin;
    size_t used;
    void* kept[CLASSES]; /* chains */
} memory;

char* memory_begin(void)
{
    return memory.begin;
}

size_t memory_used(void)
{
    return memory.used;
}

/* ---- classes ---------------------------------------------------------------------------------------------- */

static size_t size_of_class(uint32_t number)
{
    if (number < SMALL_CLASSES) return (size_t)(number + 1) * STEP;
    uint32_t power = (number - SMALL_CLASSES) / 4, quarter = (number - SMALL_CLASSES) % 4;
    return ((size_t)SMALL_CLASSES * STEP << power) / 4 * (5 + quarter);
}

static uint32_t class_of_size(size_t size)
{
    const size_t most = (size_t)SMALL_CLASSES * STEP;
    if (size <= most) return size == 0 ? 0 : (uint32_t)((size - 1) / STEP);
    uint32_t power = 0;
    while (most << (power + 1) < size) power++;
    size_t quarter = (most << power) / 4;
    return SMALL_CLASSES + 4 * power + (uint32_t)((size - (most << power) - 1) / quarter);
}

/* ---- pieces ----------------------------------------------------------------------------------------------- */

static piece_head* head_of(void* piece)
{
    return (piece_head*)piece - 1;
}

static size_t room_of(void* piece)
{
    return size_of_class(head_of(piece)->number) - head_of(piece)->shift;
}

/* Large pages from the first one on: clients want megabytes. */
static void open_memory(void)
{
    int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char* room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, kind, -1, 0);
    if (room == MAP_FAILED) abort();
    memory.begin = (char*)(((uintptr_t)room + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
#ifdef MADV_HUGEPAGE
    (void)madvise(memory.begin, ROOM - LARGE_PAGE, MADV_HUGEPAGE);
#endif
}

static void* take(size_t size)
{
    if (size > ROOM / 2) return NULL;
    uint32_t number = class_of_size(size);
    void* piece = memory.kept[number];
    if (piece != NULL) memcpy(&memory.kept[number], piece, sizeof(void*));
    else
    {
        size_t cut = sizeof(piece_head) + size_of_class(number);
        if (memory.begin == NULL) open_memory();
        if (cut > ROOM - LARGE_PAGE - memory.used) return NULL;
        piece = memory.begin + memory.used + sizeof(piece_head);
        memory.used += cut;
    }
    *head_of(piece) = (piece_head){.number = number};
    return piece;
}

static void give(void* piece)
{
    uint32_t number = head_of(piece)->number;
    char* first = (char*)piece - head_of(piece)->shift;
    memcpy(first, &memory.kept[number], sizeof(void*));
    memory.kept[number] = first;
}

/* ---- put between ------------------------------------------------------------------------------------------ */

/* What the C library itself has taken. Weak, for a link without --wrap. */
#define REAL __attribute__((weak))
REAL void* __real_realloc(void* piece, size_t size);
REAL void __real_free(void* piece);

void* __wrap_malloc(size_t size);
void* __wrap_calloc(size_t count, size_t size);
void* __wrap_realloc(void* piece, size_t size);
void* __wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void* piece);

static int is_ours(const void* piece)
{
    return (const char*)piece >= memory.begin && (const char*)piece < memory.begin + memory.used;
}

static void* or_no_memory(void* piece)
{
    if (piece == NULL) errno = ENOMEM;
    return piece;
}

void* __wrap_malloc(size_t size)
{
    return or_no_memory(take(size));
}

void* __wrap_calloc(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) return or_no_memory(NULL);
    void* piece = take(count * size);
    if (piece != NULL) memset(piece, 0, count * size);
    return or_no_memory(piece);
}

void* __wrap_realloc(void* piece, size_t size)
{
    if (piece != NULL && !is_ours(piece)) return __real_realloc(piece, size);
    if (piece != NULL && size <= room_of(piece)) return piece;
    void* larger = take(size);
    if (piece == NULL || larger == NULL) return or_no_memory(larger);
    memcpy(larger, piece, room_of(piece));
    give(piece);
    return larger;
}

void* __wrap_aligned_alloc(size_t alignment, size_t size)
{
    char* piece = take(size + alignment);
    if (piece == NULL) return or_no_memory(NULL);
    uint32_t shift = (uint32_t)((alignment - (uintptr_t)piece % alignment) % alignment);
    piece_head head = {.number = head_of(piece)->number, .shift = shift};
    *head_of(piece + shift) = head;
    return piece + shift;
}

void __wrap_free(void* piece)
{
    if (piece == NULL) return;
    if (is_ours(piece)) give(piece);
    else __real_free(piece);
}

#else

char* memory_begin(void)
{
    return NULL;
}

size_t memory_used(void)
{
    return 0;
}

#endif
