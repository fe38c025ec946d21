/* shrink.h -- makes a run that fails smaller, and shows what is left of it. */

#ifndef GUILDHALL_TESTS_SIMULATOR_SHRINK_H
#define GUILDHALL_TESTS_SIMULATOR_SHRINK_H

#include "simulator/schedule.h"

/* Fewer systems, faults, ops and clients, as long as the same promise is broken first. Prints how the rest is run
   again, what it breaks, and the end of its trace; all of the trace goes into a file of that folder. */
void shrink_and_show(const schedule_wish* wish, const schedule_result* result, const char* folder);

#endif
