/* screen.c -- the live view: plain text and four escape sequences that every terminal knows. */

#include "screen.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DRAW_US       100000u
#define PICTURE_SIZE  (16 * 1024)
#define BAR_WIDTH     32u
#define OPS_EACH_LINE 7u
#define LINE_END      "\033[K\r\n" /* what was longer before is cleared to the end of its line */

/* ---- Pieces -------------------------------------------------------------------------------------------- */

static void add_process(text* t, const board_row* row, uint64_t now_us)
{
    char warnings[160];
    bool has_frames = row->frames > 0;
    uint64_t silent_us = now_us > row->beat_us ? now_us - row->beat_us : 0;
    text_add(t, "%-14s %-10s %-13s", row->name, silent_us > 1500000 ? "silent" : row->phase,
             snapshot_link_text(row->link));
    if (has_frames) text_add(t, " %5" PRIu32 " %5" PRIu32, row->players, row->queued);
    else text_add(t, " %5s %5s", "", "");
    text_add(t, " %9" PRIu64 " %7" PRIu64 " %6" PRIu32, row->stats.requests, row->stats.resends, row->stats.ops_busy);
    text_add(t, "  %s" LINE_END, snapshot_warnings(row->stats.warnings, warnings, sizeof warnings));
}

static void add_times(text* t, const char* name, const board_histogram* h)
{
    text_add(t, "  %-6s p50 %6.2f  p99 %6.2f  p99.9 %6.2f  longest %7.2f ms" LINE_END, name, (double)h->p50_us / 1e3,
             (double)h->p99_us / 1e3, (double)h->p999_us / 1e3, (double)h->max_us / 1e3);
}

static void add_bar(text* t, const char* sign, uint32_t ms, uint64_t count, uint64_t most)
{
    static const char bar[] = "################################";
    if (count == 0) return;
    int width = (int)(1 + count * (BAR_WIDTH - 1) / most);
    text_add(t, "    %2s %2" PRIu32 " ms %-*.*s %" PRIu64 LINE_END, sign, ms, (int)BAR_WIDTH, width, bar, count);
}

/* The bars between the outermost that are wide enough to be seen, and what lies outside of them in one on either side:
   "16 ms" are frames of 16.0 to 16.9 ms. */
static void add_bars(text* t, const uint64_t counts[BOARD_BARS])
{
    uint64_t most = 1, below = 0, above = 0;
    uint32_t from = BOARD_BARS - 1, to = 0;
    for (uint32_t i = 0; i < BOARD_BARS; i++) most = counts[i] > most ? counts[i] : most;
    for (uint32_t i = BOARD_BARS - 1; i > 0; i--) from = counts[i] * BAR_WIDTH >= most ? i : from;
    for (uint32_t i = 0; i < BOARD_BARS - 1; i++) to = counts[i] * BAR_WIDTH >= most ? i : to;
    if (to < from) to = from - 1; /* none of them is */
    for (uint32_t i = 0; i < from; i++) below += counts[i];
    for (uint32_t i = to + 1; i < BOARD_BARS; i++) above += counts[i];
    most = below > most ? below : most;
    most = above > most ? above : most;
    add_bar(t, "<", BOARD_BARS_FROM_MS + from - 1, below, most);
    for (uint32_t i = from; i <= to; i++) add_bar(t, "", BOARD_BARS_FROM_MS + i - 1, counts[i], most);
    add_bar(t, ">=", BOARD_BARS_FROM_MS + to, above, most);
}

static void add_server(text* t, const board_row* row)
{
    text_add(t,
             "\033[1m%s\033[0m  %" PRIu64 " frames, late: %" PRIu64 " by the tick, %" PRIu64 " by the machine" LINE_END,
             row->name, row->frames, row->frames_late_by_tick, row->frames_late_by_machine);
    add_times(t, "frame", &row->frame_us);
    add_bars(t, row->frame_bars);
    add_times(t, "tick", &row->tick_us);
}

/* Of all processes together; three on a line. */
static void add_counts(text* t, const board_row* sum)
{
    for (uint32_t k = 0; k < BOARD_COUNTS && sum->counts[k].name[0] != '\0'; k++)
    {
        text_add(t, "%-22s %9" PRIu64 "%s", sum->counts[k].name, sum->counts[k].value, k % 3 == 2 ? LINE_END : "   ");
    }
    text_add(t, LINE_END);
}

/* Ops that ended, of all processes together, by system. */
static void add_ops(text* t, const board_row* sum)
{
    text_add(t, "ops ended:");
    for (uint32_t k = 0; k < BOARD_SYSTEMS && sum->ops[k].name[0] != '\0'; k++)
    {
        if (k > 0 && k % OPS_EACH_LINE == 0) text_add(t, LINE_END "          ");
        text_add(t, "  %s %" PRIu64, sum->ops[k].name, sum->ops[k].value);
    }
    text_add(t, LINE_END);
}

static void add_checks(text* t, const snapshot* s)
{
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        for (uint32_t k = 0; k < BOARD_CHECKS && s->rows[i].checks[k].name[0] != '\0'; k++)
        {
            const board_check* check = &s->rows[i].checks[k];
            if (check->failed > 0)
                text_add(t, "\033[1mFAILED\033[0m %s: %" PRIu64 " times" LINE_END, check->name, check->failed);
        }
    }
}

static void add_events(text* t, const snapshot* s)
{
    for (uint32_t i = 0; i < s->event_count; i++)
    {
        const board_event* event = s->events[i].event;
        uint64_t age_us = s->now_us > event->at_us ? s->now_us - event->at_us : 0;
        text_add(t, "%6.1f s ago  %-13s %s" LINE_END, (double)age_us / 1e6, s->events[i].who, event->text);
    }
}

static void add_picture(text* t, const snapshot* s, const char* doing)
{
    text_add(t, "\033[H\033[1mGuildhall fleet\033[0m   %s, %.0f s" LINE_END LINE_END, doing,
             (double)(s->now_us - s->started_us) / 1e6);
    text_add(t, "%-14s %-10s %-13s %5s %5s %9s %7s %6s" LINE_END, "process", "phase", "link", "plays", "line",
             "requests", "resent", "ops");
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        if (s->rows[i].role[0] != '\0') add_process(t, &s->rows[i], s->now_us);
    }
    text_add(t, LINE_END);
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        if (strcmp(s->rows[i].role, "server") == 0) add_server(t, &s->rows[i]);
    }
    text_add(t, LINE_END);
    static board_row sum;
    snapshot_sum(s, &sum);
    add_counts(t, &sum);
    add_ops(t, &sum);
    totals_add(&s->totals, t, LINE_END);
    add_checks(t, s);
    add_events(t, s);
    text_add(t, "\033[JCtrl-C ends it in good order; once more: at once.");
}

/* ---- The terminal -------------------------------------------------------------------------------------- */

void screen_open(screen* s, bool quiet)
{
    *s = (screen){.is_live = !quiet && isatty(STDOUT_FILENO)};
    if (!s->is_live) return;
    printf("\033[?25l\033[2J"); /* cursor off, clear */
    fflush(stdout);
}

/* A terminal that takes nothing (a stopped one, a slow line) must not hold up the loop. */
static bool takes_text(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLOUT) != 0;
}

void screen_frame(screen* s, const snapshot* shown, const char* doing)
{
    if (!s->is_live || shown->now_us < s->draw_us || !takes_text()) return;
    s->draw_us = shown->now_us + DRAW_US;
    static char bytes[PICTURE_SIZE];
    text t = text_in(bytes, sizeof bytes);
    add_picture(&t, shown, doing);
    if (write(STDOUT_FILENO, t.bytes, t.size) < 0) s->is_live = false; /* it is gone; the fleet goes on */
}

void screen_close(screen* s)
{
    if (!s->is_live) return;
    s->is_live = false;
    printf("\r\033[K\033[?25h\n");
    fflush(stdout);
}
