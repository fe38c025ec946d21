/* number.h -- the numbers in a reply. */

#ifndef GH_NUMBER_H
#define GH_NUMBER_H

#include "guildhall/base.h"

#define GH_NUMBER_DIGITS_MAX 19 /* of an int64_t; as many nines still fit into a uint64_t */

/* "<digits>\r\n", in the one way in which servers write it: no sign, no zero in front, and not over INT64_MAX. Returns
   where the line has ended; NULL: it is no such line, or is not all there. */
static inline const char* gh_number_read(const char* first, const char* end, int64_t* number)
{
    const char* stop = end - first > GH_NUMBER_DIGITS_MAX ? first + GH_NUMBER_DIGITS_MAX : end;
    const char* at = first;
    uint64_t value = 0;
    for (; at < stop; at++)
    {
        unsigned digit = (unsigned)*at - '0';
        if (digit > 9) break;
        value = value * 10 + digit;
    }
    if (at == first || value > INT64_MAX || (*first == '0' && at - first > 1)) return NULL;
    if (end - at < 2 || at[0] != '\r' || at[1] != '\n') return NULL;
    *number = (int64_t)value;
    return at + 2;
}

#endif
