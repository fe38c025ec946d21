/* view.h -- what one sees: a live picture on a terminal, log lines without one, and a summary at the end. */

#ifndef GAME_SERVER_VIEW_H
#define GAME_SERVER_VIEW_H

#include "audit.h"
#include "frame.h"

enum
{
    VIEW_LINES = 5, /* of the log */
    VIEW_LINE_SIZE = 160
};

typedef struct view
{
    const frame_clock* clock;
    const world* world;
    gh_client* client;
    const char* doing; /* such as "trading" */

    /* private */
    bool live;
    bool quiet;
    uint64_t draw_us; /* next */
    uint64_t drawn_purchases;
    double purchases_per_s;
    uint32_t line_count;
    char lines[VIEW_LINES][VIEW_LINE_SIZE];
} view;

/* Goes live if stdout is a terminal and quiet is false. The rest of v is set by the caller. */
void view_open(view* v, bool quiet);

/* For gh_hooks.log. */
void view_log(void* context, gh_log_level level, gh_str text);

/* Each frame; draws five times a second. */
void view_frame(view* v);

/* Gives the terminal back. */
void view_close(view* v);

/* stats: what the client had counted before it was shut down. */
void view_summary(const view* v, const gh_client_stats* stats, const audit* a);

#endif
