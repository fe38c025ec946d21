/* alike.h -- replies that differ, and say the same. */

#ifndef GUILDHALL_TESTS_ALIKE_H
#define GUILDHALL_TESTS_ALIKE_H

#include "guildhall/base.h"

#include <stdbool.h>

/* A sorted set that is large is a table, and each server draws the order of its own: of ZSCAN the same pairs are
   expected, in any order, and where it is told in pages nothing, as a page is what the order makes it. */
bool alike_of_scan(gh_str request, gh_str reply, gh_str answer);

#endif
