/* look.h -- who reads the store while the storm goes on, and after it. */

#ifndef GUILDHALL_TESTS_STORM_LOOK_H
#define GUILDHALL_TESTS_STORM_LOOK_H

/* The body of the witness' process. */
int witness_run(void* context, int results);

/* Reads what is left, system by system. */
void audit_run(void);

#endif
