/* board.c -- shared memory with a descriptor, and the board in it. */

#define _GNU_SOURCE /* memfd_create */

#include "storm/board.h"

#include "storm/fleet.h"
#include "storm/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

storm_board* board;

static int own_descriptor = -1;

static void* map(int descriptor, size_t size)
{
    void* mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

void* board_share(size_t size, int* descriptor)
{
    *descriptor = memfd_create("storm", MFD_CLOEXEC);
    if (*descriptor < 0 || ftruncate(*descriptor, (off_t)size) != 0) return NULL;
    return map(*descriptor, size);
}

void* board_share_again(int descriptor, size_t* size)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0 || status.st_size <= 0) return NULL;
    *size = (size_t)status.st_size;
    return map(descriptor, *size);
}

void board_open(void)
{
    board = board_share(sizeof *board, &own_descriptor);
    if (board == NULL) perror("storm: no memory for the board");
    if (board == NULL) exit(2);
    board->options = storm;
}

void board_fill(void)
{
    for (int i = 0; i < 2; i++)
        (void)snprintf(board->addresses[i], BOARD_ADDRESS_SIZE, "%s",
                       storm.store >= STORM_CLUSTER ? fleet_address() : wire_address(i == 1));
}

int board_descriptor(void)
{
    return own_descriptor;
}

bool board_join(int descriptor)
{
    size_t size = 0;
    board = board_share_again(descriptor, &size);
    if (board == NULL || size != sizeof *board) return false;
    storm = board->options;
    storm.redis = storm.faults = storm.history = storm.other = NULL;
    storm.left_out = NULL;
    return true;
}
