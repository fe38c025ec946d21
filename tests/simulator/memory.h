/* memory.h -- the heap of the whole program in one piece of memory, of which afresh.h can keep a copy.

   malloc and its kin come here by the linker's --wrap: not with a sanitizer, and on Linux alone. What one run leaves,
   the next one takes, at the same places. */

#ifndef GUILDHALL_TESTS_SIMULATOR_MEMORY_H
#define GUILDHALL_TESTS_SIMULATOR_MEMORY_H

#include <stddef.h>

/* Where it begins, and how much of it was ever given out. */
char* memory_begin(void);
size_t memory_used(void);

#endif
