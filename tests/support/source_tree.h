/* source_tree.h -- where the sources are, for tests that read or compile them. */

#ifndef GUILDHALL_TESTS_SOURCE_TREE_H
#define GUILDHALL_TESTS_SOURCE_TREE_H

#include <stdbool.h>

#define SOURCE_TREE_PATH_SIZE 1024

/* Writes the full path of a file that is named from the top of the sources ("sdk/KEYS.md"). False when it is
   not there. The top is GUILDHALL_SOURCE if that is set, else found by going up from the test binary, then
   from the current folder. */
bool source_tree_path(char path[SOURCE_TREE_PATH_SIZE], const char* relative);

#endif
