/* board.c -- the shared file with a row for each process; see board.h. */

#include "board.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum
{
    LOOKS = 64 /* then its owner died in the middle, or never stops writing */
};

/* ---- The file ------------------------------------------------------------------------------------------ */

/* A file of another size is no board, and reading past its end would be SIGBUS. */
static bool has_size(int file)
{
    struct stat about;
    if (fstat(file, &about) != 0) return false;
    if (about.st_size == (off_t)sizeof(board)) return true;
    errno = EINVAL;
    return false;
}

static board* map(int file)
{
    board* b = MAP_FAILED;
    if (has_size(file)) b = mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int error = errno;
    close(file);
    errno = error;
    return b == MAP_FAILED ? NULL : b;
}

board* board_create(const char* path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return NULL;
    if (ftruncate(file, (off_t)sizeof(board)) == 0) return map(file); /* which fills it with zeros */
    int error = errno;
    close(file);
    errno = error;
    return NULL;
}

board* board_open(const char* path)
{
    int file = open(path, O_RDWR | O_CLOEXEC);
    return file < 0 ? NULL : map(file);
}

/* ---- A row in the file --------------------------------------------------------------------------------- */

/* The fences keep the copying between the two changes of the count, for the compiler and for the
   processor. */
void board_publish(board* b, uint32_t slot, const board_row* row)
{
    if (slot >= BOARD_ROWS) return;
    board_slot* s = &b->slots[slot];
    /* Odd already if the last owner died while it wrote; its half row is written over. */
    uint64_t odd = atomic_load_explicit(&s->count, memory_order_relaxed) | 1;
    atomic_store_explicit(&s->count, odd, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    s->row = *row;
    atomic_store_explicit(&s->count, odd + 1, memory_order_release);
}

bool board_look(const board* b, uint32_t slot, board_row* row)
{
    if (slot >= BOARD_ROWS) return false;
    const board_slot* s = &b->slots[slot];
    board_row copy;
    for (int i = 0; i < LOOKS; i++)
    {
        uint64_t before = atomic_load_explicit(&s->count, memory_order_acquire);
        if ((before & 1) != 0) continue;
        copy = s->row;
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&s->count, memory_order_relaxed) != before) continue;
        *row = copy;
        return true;
    }
    return false;
}

/* ---- A row at home ------------------------------------------------------------------------------------- */

void board_say(board_row* row, uint64_t now_us, int level, gh_str text)
{
    uint64_t number = 0;
    for (int i = 0; i < BOARD_EVENTS; i++)
        if (row->events[i].number > number) number = row->events[i].number;
    number++;
    board_event* event = &row->events[number % BOARD_EVENTS];
    size_t size = text.size < BOARD_TEXT_SIZE ? text.size : BOARD_TEXT_SIZE - 1;
    *event = (board_event){.number = number, .at_us = now_us, .level = level};
    if (size > 0) memcpy(event->text, text.bytes, size);
}

/* True if the place has that name, or had none and has it now. */
static bool is_place_of(char* place, size_t place_size, const char* name)
{
    if (place[0] != '\0') return strncmp(place, name, place_size - 1) == 0;
    strncpy(place, name, place_size - 1);
    return true;
}

static uint64_t* count_in(board_count* counts, int most, const char* name)
{
    for (int i = 0; i < most; i++)
        if (is_place_of(counts[i].name, sizeof(counts[i].name), name)) return &counts[i].value;
    return NULL;
}

uint64_t* board_count_of(board_row* row, const char* name)
{
    return count_in(row->counts, BOARD_COUNTS, name);
}

uint64_t* board_ops_of(board_row* row, const char* system)
{
    return count_in(row->ops, BOARD_SYSTEMS, system);
}

void board_end(board_row* row, const char* system, gh_status status)
{
    for (int i = 0; i < BOARD_ENDS; i++)
    {
        board_ended* end = &row->ends[i];
        if (end->system[0] != '\0' && end->status != (int32_t)status) continue;
        if (!is_place_of(end->system, sizeof(end->system), system)) continue;
        end->status = (int32_t)status;
        end->count++;
        return;
    }
}

void board_check_that(board_row* row, const char* name, bool holds)
{
    for (int i = 0; i < BOARD_CHECKS; i++)
    {
        board_check* check = &row->checks[i];
        if (!is_place_of(check->name, sizeof(check->name), name)) continue;
        if (holds) check->passed++;
        else check->failed++;
        return;
    }
}
