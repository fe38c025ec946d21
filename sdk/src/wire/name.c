#include "wire/name.h"

static const char hex_digits[] = "0123456789abcdef";

static bool is_plain_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
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

char* gh_decimal_encode(uint64_t value, char* out)
{
    char digits[20];
    size_t count = 0;
    do
    {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (count > 0) *out++ = digits[--count];
    return out;
}
