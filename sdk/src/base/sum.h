/* sum.h -- whether strings are what they were, for this process alone. It finds accidents, and is no hash for a table:
   the clients of every program link it, and most of them need no xxHash. */

#ifndef GH_SUM_H
#define GH_SUM_H

#include "guildhall/base.h"

typedef struct gh_sum
{
    uint32_t value;
    bool is_asked; /* false: what is added is passed over */
} gh_sum;

/* One string behind another: "ab" and "c" are not "a" and "bc". */
void gh_sum_add(gh_sum* sum, gh_str str);

#endif
