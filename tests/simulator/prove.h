/* prove.h -- does the simulator do what it is for? */

#ifndef GUILDHALL_TESTS_SIMULATOR_PROVE_H
#define GUILDHALL_TESTS_SIMULATOR_PROVE_H

/* The same seed gives the same history, another one gives another; and stores that are wrong on purpose are caught.
   Prints each, and "N passed, N failed". Returns how many failed. */
unsigned prove(void);

#endif
