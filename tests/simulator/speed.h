/* speed.h -- how fast the simulator is. */

#ifndef GUILDHALL_TESTS_SIMULATOR_SPEED_H
#define GUILDHALL_TESTS_SIMULATOR_SPEED_H

/* Prints how many requests and ops a second one processor carries out, without faults. */
void speed_show(void);

#endif
