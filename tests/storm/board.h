/* board.h -- what all processes of a storm read: its options, its stage, where the store is, and who is to go.

   It lies in shared memory, as the history does, and both have descriptors: so a program that was not forked from the
   first process may see them, too (builds.h). */

#ifndef GUILDHALL_TESTS_STORM_BOARD_H
#define GUILDHALL_TESTS_STORM_BOARD_H

#include "storm/storm.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum
{
    BOARD_ADDRESS_SIZE = 512
};

typedef struct storm_board
{
    storm_options options; /* what they point to is the first process' own */
    _Atomic int stage;
    _Atomic bool leaves[STORM_PLAYERS_MAX];   /* that player begins nothing more, and ends */
    char addresses[2][BOARD_ADDRESS_SIZE]; /* of the store, for every other client of a player */
} storm_board;

extern storm_board* board;

/* By the first process, before it starts another. */
void board_open(void);

/* Once the store has started. */
void board_fill(void);

/* Of the program that was not forked; false: it is of another size. */
bool board_join(int descriptor);
int board_descriptor(void);

/* Memory that all processes see, zero at first; NULL: there is none. It takes room only where it is written. */
void* board_share(size_t size, int* descriptor);
void* board_share_again(int descriptor, size_t* size);

#endif
