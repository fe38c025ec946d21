/* checks.h -- what the bots check while they play and at the end, counted on the board. */

#ifndef GAME_SERVER_CHECKS_H
#define GAME_SERVER_CHECKS_H

#include "board.h"

typedef enum check
{
    CHECK_QUEUE = 0,
    CHECK_CHAT_GAP,
    CHECK_CHAT_TWICE,
    CHECK_CHAT_SAME,
    CHECK_MAIL_GAP,
    CHECK_WHISPER,
    CHECK_GUILD_MAIL,
    CHECK_ONE_BUYER,
    CHECK_SOLD_TOLD,
    CHECK_GOLD,
    CHECK_ITEMS,
    CHECK_NAMES,
    CHECK_PROMOTION,
    CHECK_ANSWERS,
    CHECK_FAREWELL,
    CHECKS
} check;

/* All checks are on the row from the start, so that one that is never made is seen too. */
void checks_open(board_row* row);

/* What failed is said on stderr and among the row's events; of a flood only the first. */
void check_that(board_row* row, check what, bool holds, const char* detail, ...)
    __attribute__((format(printf, 4, 5)));

/* Prints all of them. True if none failed, and, if all_wanted, each was made. */
bool checks_hold(const board_row* row, bool all_wanted);

#endif
