/* lua_lines.h -- which lines of scripts are run, told to libFuzzer as if they were code of the program. */

#ifndef GUILDHALL_TESTS_FUZZ_LUA_LINES_H
#define GUILDHALL_TESTS_FUZZ_LUA_LINES_H

#include "store.h"

#include <stdint.h>

void lua_lines_watch(gh_store_engine* engine);

/* The script that runs next: any number that stands for it. */
void lua_lines_begin(uint32_t script);

/* How many lines it has run. */
uint64_t lua_lines_count(void);

#endif
