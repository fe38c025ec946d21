/* number.c -- numbers of any length, of times and fences eight digits at a time. */

#include "wire/number.h"

#include <string.h>

static bool lowest_byte_is_first(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Neighbours are joined to pairs, pairs to fours, fours to the number. False: not all of them are digits, or this
   processor has its highest byte in front. */
static bool read_eight(const char* at, uint64_t* number)
{
    const uint64_t upper = UINT64_C(0xf0f0f0f0f0f0f0f0); /* of a digit's byte it is 3, also with 6 more */
    uint64_t bytes;
    uint64_t more;
    memcpy(&bytes, at, sizeof bytes);
    more = bytes + UINT64_C(0x0606060606060606);
    if (((bytes & upper) | (more & upper) >> 4) != UINT64_C(0x3333333333333333)) return false;
    if (!lowest_byte_is_first()) return false;
    bytes &= ~upper;
    bytes = (bytes * 10 + (bytes >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    bytes = (bytes * 100 + (bytes >> 16)) & UINT64_C(0x0000ffff0000ffff);
    *number = (bytes * 10000 + (bytes >> 32)) & UINT64_C(0xffffffff);
    return true;
}

const char* gh_number_digits(const char* first, const char* end, int64_t* number)
{
    const char* stop = end - first > GH_NUMBER_DIGITS_MAX ? first + GH_NUMBER_DIGITS_MAX : end;
    const char* at = first;
    uint64_t value = 0;
    uint64_t eight;
    for (; stop - at >= 8 && gh_number_is_digit(at[7]) && read_eight(at, &eight); at += 8)
        value = value * 100000000 + eight;
    for (; at < stop && gh_number_is_digit(*at); at++) value = value * 10 + (uint64_t)(*at - '0');
    if (at == first || value > INT64_MAX || (*first == '0' && at - first > 1)) return NULL;
    *number = (int64_t)value;
    return at;
}

const char* gh_number_read_long(const char* first, const char* end, int64_t* number)
{
    const char* at = gh_number_digits(first, end, number);
    if (at == NULL || end - at < 2 || at[0] != '\r' || at[1] != '\n') return NULL;
    return at + 2;
}
