/* speed.h -- how fast the simulator is. */

#ifndef GUILDHALL_TESTS_SIMULATOR_SPEED_H
#define GUILDHALL_TESTS_SIMULATOR_SPEED_H

#include "simulator/schedule.h"

/* Prints how many requests and ops a second one processor carries out, without faults. Of the wish, systems and clients
   choose one run alone, and ops is the most of a run; 0: as many as show it best. */
void speed_show(const schedule_wish* wish);

#endif
