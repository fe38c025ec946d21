/* numeric.c -- inet_pton, and what it gives as one number. */

#include "numeric.h"

#include <arpa/inet.h>

int numeric_compare(numeric a, numeric b)
{
    if (a.high != b.high) return a.high < b.high ? -1 : 1;
    return a.low == b.low ? 0 : a.low < b.low ? -1 : 1;
}

static numeric number_of(const uint8_t* bytes, size_t count)
{
    numeric made = {0, 0, false};
    for (size_t i = 0; i < count; i++)
    {
        made.high = made.high << 8 | made.low >> 56;
        made.low = made.low << 8 | bytes[i];
    }
    return made;
}

/* The C library knows no more forms than ours, and no fewer. */
bool numeric_parse(gh_str text, numeric* made)
{
    char copy[64];
    uint8_t bytes[16];
    if (text.size == 0 || text.size >= sizeof(copy) || memchr(text.bytes, 0, text.size) != NULL) return false;
    memcpy(copy, text.bytes, text.size);
    copy[text.size] = 0;
    if (inet_pton(AF_INET, copy, bytes) == 1)
    {
        *made = number_of(bytes, 4);
        return true;
    }
    if (inet_pton(AF_INET6, copy, bytes) != 1) return false;
    *made = number_of(bytes, 16);
    made->is_ipv6 = made->high != 0 || made->low >> 32 != 0xffff;
    if (!made->is_ipv6) made->low &= UINT32_MAX;
    return true;
}
