/* judge.h -- the verdict over what happened: what holds for all systems, then the checkers of each. */

#ifndef GUILDHALL_TESTS_STORM_JUDGE_H
#define GUILDHALL_TESTS_STORM_JUDGE_H

#include <stdbool.h>

/* What is not in the history. */
typedef struct storm_end
{
    bool all_ended;    /* the players came to an end in time */
    unsigned cap_s;    /* that time */
    unsigned crashed;  /* players that died by themselves */
    unsigned replaced; /* masters */
} storm_end;

/* Ops by system and outcome. */
void judge_print_ops(void);

/* The history, a line a record, to storm.history if it says a file. */
void judge_write_history(void);

/* All checkers but those of builds.h. False: too much happened, and nothing can be judged. */
bool judge_all(const storm_end* end);

#endif
