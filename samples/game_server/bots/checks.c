/* checks.c -- the checks of the bots, by name. */

#include "bots/checks.h"

#include "aside.h"
#include "frame.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum
{
    SAID_MAX = 20 /* failures that are told in full */
};

static const char* const names[CHECKS] = {
    [CHECK_QUEUE] = "queue: moves forward",
    [CHECK_CHAT_GAP] = "chat: no gap",
    [CHECK_CHAT_TWICE] = "chat: nothing twice",
    [CHECK_CHAT_SAME] = "chat: all hear the same",
    [CHECK_MAIL_GAP] = "mail: no gap, nothing twice",
    [CHECK_WHISPER] = "whisper: in order, all there",
    [CHECK_GUILD_MAIL] = "guild mail: to all of it",
    [CHECK_ONE_BUYER] = "market: one buyer",
    [CHECK_SOLD_TOLD] = "mail: every sale told",
    [CHECK_GOLD] = "gold: as told",
    [CHECK_ITEMS] = "items: as told",
    [CHECK_NAMES] = "names: right",
    [CHECK_PROMOTION] = "promotion: there",
    [CHECK_ANSWERS] = "answers: to what was asked",
    [CHECK_FAREWELL] = "farewell: to everybody",
};

void checks_open(board_row* row)
{
    for (int i = 0; i < CHECKS; i++) snprintf(row->checks[i].name, sizeof row->checks[i].name, "%s", names[i]);
}

void check_that(board_row* row, check what, bool holds, const char* detail, ...)
{
    char text[BOARD_TEXT_SIZE * 2];
    board_check* counted = &row->checks[what];
    board_check_that(row, names[what], holds);
    if (holds || counted->failed > SAID_MAX) return;
    int size = snprintf(text, sizeof text, "%s: ", names[what]);
    va_list arguments;
    va_start(arguments, detail);
    vsnprintf(text + size, sizeof text - (size_t)size, detail, arguments);
    va_end(arguments);
    fprintf(stderr, "bots: %s\n", text);
    board_say(row, frame_now_us(), GH_LOG_ERROR, gh_str_of(text));
}

bool checks_hold(const board_row* row, bool all_wanted)
{
    bool hold = true;
    for (int i = 0; i < CHECKS; i++)
    {
        const board_check* c = &row->checks[i];
        bool never = c->passed + c->failed == 0;
        const char* verdict = c->failed > 0 ? "FAILED" : never ? "never made" : "";
        fprintf(aside(), "  %-30s %10" PRIu64 " held %8" PRIu64 " failed  %s\n", c->name, c->passed, c->failed,
                verdict);
        hold &= c->failed == 0 && !(never && all_wanted);
    }
    return hold;
}
