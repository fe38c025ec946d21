/* sight.h -- who reads the store while a run goes on, and after it: the witness and the auditor of the storm. */

#ifndef GUILDHALL_TESTS_SIMULATOR_SIGHT_H
#define GUILDHALL_TESTS_SIMULATOR_SIGHT_H

/* The witness looks now and then, until the stage is STAGE_STOP. */
void witness_begin(void);

/* Reads what is left, system by system. */
void audit_run(void);

#endif
