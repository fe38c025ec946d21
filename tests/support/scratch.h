/* scratch.h -- temporary folders that are gone after the run, even after a kill -9 of the test binary.

       /tmp/guildhall-XXXXXX/      one for the run; a tiny shell waits for the end of the run and removes it
       /tmp/guildhall-XXXXXX/7/    one for each call of scratch_folder */

#ifndef GUILDHALL_TESTS_SCRATCH_H
#define GUILDHALL_TESTS_SCRATCH_H

#include <stddef.h>

/* Short enough that a socket in it fits the 108 bytes of a unix address. */
#define SCRATCH_PATH_SIZE 80

/* The run's folder, made at the first call. Valid until the process ends. */
const char* scratch_root(void);

/* Makes a new folder and writes its path; it goes away after the test. */
void scratch_folder(char path[SCRATCH_PATH_SIZE]);

/* Removes a folder and all that is in it; a folder that is not there is fine. */
void scratch_remove(const char* path);

/* Removes the run's folder; returns when it is gone. For main alone. */
void scratch_close(void);

#endif
