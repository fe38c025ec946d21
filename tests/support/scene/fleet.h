/* fleet.h -- the sample fleet as a user starts it, with a store of its own, and its board to see what goes
 * on. */

#ifndef GUILDHALL_TESTS_FLEET_H
#define GUILDHALL_TESTS_FLEET_H

#include "support/scene/program.h"
#include "support/server/redis_server.h"
#include "support/scratch.h"
#include "support/suite.h"
#include "support/wait.h"

#include "board.h"

typedef struct fleet_run
{
    program program;
    redis_server* store;
    char folder[SCRATCH_PATH_SIZE]; /* its TMPDIR: empty before and after */
    const board* board;
} fleet_run;

extern fleet_run fleet; /* one at a time, and too large for the stack */

/* The test may add to its arguments before it starts. */
void prepare_fleet(const char* bots, const char* seconds);
void start_fleet(void);

/* What the row of a process says now; false or 0 if there is none of that name. */
bool row_of(const char* name, board_row* row);
uint64_t frames_of(const char* name);
uint64_t count_of(const char* name, const char* counter);
bool was_said(const char* name, const char* words);
bool is_ready(const char* name);
bool is_in_phase(const char* name, const char* phase);
bool both_play(void); /* each server has players */

/* Waits, but not for a fleet that is gone. */
#define FLEET_UNTIL(condition)                                                                               \
    do                                                                                                       \
    {                                                                                                        \
        WAIT_FOR(child_has_ended(fleet.program.child) || (condition));                                       \
        if (child_has_ended(fleet.program.child))                                                            \
            fail_msg("ended with %d:\n%s", program_end(&fleet.program), fleet.program.output);               \
    } while (0)

/* Waits for its end, with this exit code. */
void expect_end(int status);

/* In good order, and every check held. */
void expect_good_end(void);

/* No folder, no connection but the test's own. */
void expect_nothing_behind(void);

#endif
