/* fleet.c -- starts the sample fleet, and reads its board. */

#include "support/scene/fleet.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

fleet_run fleet;

/* ---- A fleet, and its board
 * -------------------------------------------------------------------------------- */

/* The test may add to its arguments before it starts. */
void prepare_fleet(const char* bots, const char* seconds)
{
    redis_server_options options = {.append_only = true};
    memset(&fleet, 0, sizeof fleet);
    fleet.store = redis_server_start(&options);
    scratch_folder(fleet.folder);
    program_find(&fleet.program, "game_server");
    const char* arguments[] = {"fleet", "--redis", redis_server_address(fleet.store), "--bots", bots, "--seconds",
                               seconds, "--quiet"};
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) program_argument(&fleet.program, arguments[i]);
}

static const board* find_board(void)
{
    char pattern[SCRATCH_PATH_SIZE + 32];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/guildhall-fleet-*/board", fleet.folder);
    const board* b = NULL;
    if (glob(pattern, 0, NULL, &found) == 0)
    {
        b = board_open(found.gl_pathv[0]);
        globfree(&found);
    }
    return b;
}

void start_fleet(void)
{
    setenv("TMPDIR", fleet.folder, 1);
    program_start(&fleet.program);
    unsetenv("TMPDIR");
    WAIT_FOR(child_has_ended(fleet.program.child) || (fleet.board = find_board()) != NULL);
    if (fleet.board == NULL) fail_msg("ended with %d:\n%s", program_end(&fleet.program), fleet.program.output);
}

bool row_of(const char* name, board_row* row)
{
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        if (board_look(fleet.board, i, row) && strcmp(row->name, name) == 0) return true;
    }
    return false;
}

uint64_t frames_of(const char* name)
{
    board_row row;
    return row_of(name, &row) ? row.frames : 0;
}

uint64_t count_of(const char* name, const char* counter)
{
    board_row row;
    uint64_t* count = row_of(name, &row) ? board_count_of(&row, counter) : NULL;
    return count == NULL ? 0 : *count;
}

bool was_said(const char* name, const char* words)
{
    board_row row;
    if (!row_of(name, &row)) return false;
    for (uint32_t i = 0; i < BOARD_EVENTS; i++)
    {
        if (row.events[i].number > 0 && strstr(row.events[i].text, words) != NULL) return true;
    }
    return false;
}

bool is_ready(const char* name)
{
    board_row row;
    return row_of(name, &row) && row.link == GH_LINK_READY;
}

bool is_in_phase(const char* name, const char* phase)
{
    board_row row;
    return row_of(name, &row) && strcmp(row.phase, phase) == 0;
}

bool both_play(void)
{
    board_row first;
    board_row second;
    return row_of("server-1", &first) && row_of("server-2", &second) && first.players > 0 && second.players > 0;
}

/* An end takes several steps, each of which may wait for the store. */
void expect_end(int status)
{
    for (int i = 0; i < 8 && !child_has_ended(fleet.program.child); i++)
    {
        uint64_t end_us = wait_cap_us();
        while (!child_has_ended(fleet.program.child) && wait_now_us() < end_us) wait_briefly();
    }
    program_expect_status(&fleet.program, status);
}

void expect_good_end(void)
{
    expect_end(0);
    program_expect_text(&fleet.program, "all holds");
}

/* No folder, no key, no connection but the test's own. */
void expect_nothing_behind(void)
{
    char pattern[SCRATCH_PATH_SIZE + 8];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*", fleet.folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), GLOB_NOMATCH);
    WAIT_FOR(strstr(redis_server_text(fleet.store, "CLIENT LIST"), "name=server-") == NULL);
    WAIT_FOR(strstr(redis_server_text(fleet.store, "CLIENT LIST"), "name=fleet") == NULL);
}
