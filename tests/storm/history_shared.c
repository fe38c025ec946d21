/* history_shared.c -- the table of records in memory that all processes of a storm share. */

#include "storm/board.h"
#include "storm/history.h"

#include <stdio.h>
#include <stdlib.h>

static int own_descriptor = -1;

void history_open(uint32_t capacity)
{
    void* memory = board_share(history_size(capacity), &own_descriptor);
    if (memory == NULL)
    {
        perror("storm: no memory for the history");
        exit(2);
    }
    history_begin_table(memory, capacity);
}

int history_descriptor(void)
{
    return own_descriptor;
}

bool history_join(int descriptor)
{
    size_t size = 0;
    void* memory = board_share_again(descriptor, &size);
    if (memory != NULL) history_use_table(memory);
    return memory != NULL;
}
