/* number.h -- the numbers in a reply, in the one way in which they are written: no sign, no zero in front, and not over
   INT64_MAX. */

#ifndef GH_NUMBER_H
#define GH_NUMBER_H

#include "guildhall/base.h"

#define GH_NUMBER_DIGITS_MAX 19 /* of an int64_t; as many nines still fit into a uint64_t */

static inline bool gh_number_is_digit(char c)
{
    return (unsigned)c - '0' <= 9;
}

/* The number from first on, of at most GH_NUMBER_DIGITS_MAX digits, none of them from end on. Returns where it ends;
   one more digit may stand there, if there were so many. NULL: it is none. */
const char* gh_number_digits(const char* first, const char* end, int64_t* number);

/* "<digits>\r\n", of any length. Returns where the line has ended; NULL: it is no such line, or is not all there. */
const char* gh_number_read_long(const char* first, const char* end, int64_t* number);

/* The same. Half of all numbers have one digit: counts, codes, nothing; sizes of names have two. */
static inline const char* gh_number_read(const char* first, const char* end, int64_t* number)
{
    if (end - first < 4 || !gh_number_is_digit(first[0])) return gh_number_read_long(first, end, number);
    *number = first[0] - '0';
    if (first[1] == '\r' && first[2] == '\n') return first + 3;
    if (first[2] != '\r' || first[3] != '\n' || !gh_number_is_digit(first[1]) || *number == 0)
        return gh_number_read_long(first, end, number);
    *number = *number * 10 + (first[1] - '0');
    return first + 4;
}

#endif
