/* afresh.c -- of what lies between the linker's marks, those pages that were ever touched. */

#define _GNU_SOURCE /* MAP_ANONYMOUS, mincore */

#include "simulator/afresh.h"

#include "simulator/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__linux__) || defined(__SANITIZE_ADDRESS__)
#define AFRESH_CAN 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AFRESH_CAN 0
#endif
#endif
#if !defined(AFRESH_CAN)
#define AFRESH_CAN 1
#endif

enum
{
    PAGE = 4096,
    PAGES_MOST = 8192
};

bool afresh_can(void)
{
    return AFRESH_CAN != 0 && sysconf(_SC_PAGESIZE) == PAGE;
}

#if AFRESH_CAN

/* All of .data and .bss. */
extern char __data_start[], _end[];

typedef struct afresh_copy
{
    unsigned char here[PAGES_MOST]; /* the kernel's word for each page, bit 0: it has it in memory now  */
    bool touched[PAGES_MOST];       /* it ever had; one that lies in its swap is not here, and was touched */
    bool kept[PAGES_MOST];          /* there is something in it: else it was zero                       */
    char bytes[PAGES_MOST][PAGE];
} afresh_copy;

static struct
{
    afresh_copy* copy; /* not a variable: a mapping of its own */
    char* first;       /* of the first page */
    size_t pages;
    char* heap; /* what was there of it; the same */
    size_t heap_size;
} noted;

/* The part of the page that is variables. */
static size_t part_of(size_t page, char** from)
{
    char* begin = noted.first + page * PAGE;
    char* end = begin + PAGE;
    if (begin < __data_start) begin = __data_start;
    if (end > _end) end = _end;
    *from = begin;
    return (size_t)(end - begin);
}

static void look_what_is_touched(void)
{
    if (mincore(noted.first, noted.pages * PAGE, noted.copy->here) != 0) abort();
    for (size_t i = 0; i < noted.pages; i++)
        if ((noted.copy->here[i] & 1) != 0) noted.copy->touched[i] = true;
}

static bool is_zero(const char* bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0) return false;
    return true;
}

static void* map_room(size_t size)
{
    int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* room = mmap(NULL, size, PROT_READ | PROT_WRITE, kind, -1, 0);
    if (room == MAP_FAILED) abort();
    return room;
}

void afresh_note(void)
{
    noted.copy = map_room(sizeof(afresh_copy));
    noted.heap_size = memory_used();
    noted.heap = map_room(noted.heap_size);
    memcpy(noted.heap, memory_begin(), noted.heap_size);
    noted.first = (char*)((uintptr_t)__data_start / PAGE * PAGE);
    noted.pages = ((size_t)(_end - noted.first) + PAGE - 1) / PAGE;
    if (noted.pages > PAGES_MOST) abort();
    look_what_is_touched();
    for (size_t i = 0; i < noted.pages; i++)
    {
        char* from;
        size_t size = part_of(i, &from);
        if (!noted.copy->touched[i] || is_zero(from, size)) continue;
        noted.copy->kept[i] = true;
        memcpy(noted.copy->bytes[i], from, size);
    }
}

void afresh_put_back(void)
{
    memcpy(memory_begin(), noted.heap, noted.heap_size);
    look_what_is_touched();
    for (size_t i = 0; i < noted.pages; i++)
    {
        char* to;
        size_t size = part_of(i, &to);
        if (!noted.copy->touched[i]) continue;
        if (noted.copy->kept[i]) memcpy(to, noted.copy->bytes[i], size);
        else memset(to, 0, size);
    }
}

#else

void afresh_note(void)
{
    abort();
}

void afresh_put_back(void)
{
    abort();
}

#endif
