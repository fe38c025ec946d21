/* name.c -- names, numbers and ids as the parts of keys. */

#include "wire/name.h"

static const char hex_digits[] = "0123456789abcdef";

/* One bit a byte: letters, digits, _ . and - */
static const uint32_t plain_bytes[8] = {0, 0x03ff6000u, 0x87fffffeu, 0x07fffffeu, 0, 0, 0, 0};

static bool is_plain_byte(char c)
{
    unsigned char byte = (unsigned char)c;
    return (plain_bytes[byte >> 5] >> (byte & 31) & 1) != 0;
}

bool gh_name_is_plain(gh_str name)
{
    size_t i;
    for (i = 0; i < name.size; i++)
        if (!is_plain_byte(name.bytes[i])) return false;
    return true;
}

size_t gh_name_encoded_size(gh_str name)
{
    size_t size = name.size;
    size_t i;
    for (i = 0; i < name.size; i++)
        if (!is_plain_byte(name.bytes[i])) size += 2;
    return size;
}

char* gh_name_encode(gh_str name, char* out)
{
    size_t i;
    for (i = 0; i < name.size; i++)
    {
        char c = name.bytes[i];
        if (is_plain_byte(c))
        {
            *out++ = c;
            continue;
        }
        *out++ = '%';
        *out++ = hex_digits[(unsigned char)c >> 4];
        *out++ = hex_digits[(unsigned char)c & 15];
    }
    return out;
}

char* gh_hex_encode(uint64_t value, char* out)
{
    int shift;
    for (shift = 60; shift >= 0; shift -= 4) *out++ = hex_digits[(value >> shift) & 15];
    return out;
}

bool gh_hex_decode(gh_str str, uint64_t* value)
{
    uint64_t result = 0;
    size_t i;
    if (str.size != 16) return false;
    for (i = 0; i < 16; i++)
    {
        char c = str.bytes[i];
        if (c >= '0' && c <= '9')
            result = result << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            result = result << 4 | (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    *value = result;
    return true;
}

/* Two digits a division. */
static void put_pair(uint64_t pair, char* out)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    memcpy(out, pairs + 2 * pair, 2);
}

char* gh_decimal_encode(uint64_t value, char* out)
{
    char digits[20];
    size_t at = sizeof digits;
    while (value >= 10)
    {
        at -= 2;
        put_pair(value % 100, digits + at);
        value /= 100;
    }
    if (value > 0 || at == sizeof digits) digits[--at] = (char)('0' + value);
    memcpy(out, digits + at, sizeof digits - at);
    return out + (sizeof digits - at);
}
