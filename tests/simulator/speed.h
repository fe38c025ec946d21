/* speed.h -- how fast the simulator is. */

#ifndef GUILDHALL_TESTS_SIMULATOR_SPEED_H
#define GUILDHALL_TESTS_SIMULATOR_SPEED_H

#include <stdint.h>

/* Prints how many requests and ops a second one processor carries out, without faults. MOST: no more ops than that in a
   run; 0: as many as show it best. */
void speed_show(uint32_t most);

#endif
