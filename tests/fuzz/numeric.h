/* numeric.h -- addresses as numbers, as the C library reads them: the model of geo.h's. */

#ifndef GUILDHALL_TESTS_FUZZ_NUMERIC_H
#define GUILDHALL_TESTS_FUZZ_NUMERIC_H

#include "guildhall/base.h"

typedef struct numeric
{
    uint64_t high;
    uint64_t low;
    bool is_ipv6;
} numeric;

/* False: it is no address. */
bool numeric_parse(gh_str text, numeric* made);

/* Below 0, 0 or above, by the numbers alone. */
int numeric_compare(numeric a, numeric b);

#endif
