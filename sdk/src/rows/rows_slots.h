/* rows_slots.h -- what a refresher and its slots share: rows_refresh.c claims rows, rows_slots.c has them loaded. */

#ifndef GH_ROWS_SLOTS_H
#define GH_ROWS_SLOTS_H

#include "rows_shard.h"

typedef enum rows_state
{
    ROWS_LOOKING = 1,
    ROWS_SLEEPING
} rows_state;

typedef enum rows_slot_state
{
    ROWS_SLOT_FREE = 1,
    ROWS_SLOT_TAKEN,
    ROWS_SLOT_LOADING,
    ROWS_SLOT_RENEWING,
    ROWS_SLOT_FINISHING,
    ROWS_SLOT_VOID
} rows_slot_state;

/* rows_slots.c. A slot tells the refresher, its owner, when it rests. */
void gh_rows_slots_begin(gh_rows* rows, gh_client* client);
void gh_rows_slots_take(gh_rows* rows, gh_str row, uint32_t failures, uint64_t lease_end_us);
void gh_rows_slot_give_back(gh_rows_slot* slot);

#endif
