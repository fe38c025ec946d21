/* name.c -- names, numbers and ids as the parts of keys. */

#include "wire/name.h"

/* Numbers and ids go out with every request, and two digits a step are half the work. */
static const char decimal_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
    "495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
static const char hex_pairs[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                                "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
                                "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
                                "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f"
                                "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"
                                "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
                                "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf"
                                "e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

/* What each byte takes in a key: 1 if it stays (letters, digits, _ . and -), 3 as %XX. A row has 16 bytes. */
static const unsigned char encoded_sizes[256] = {
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
};

static bool is_plain_byte(char c)
{
    return encoded_sizes[(unsigned char)c] == 1;
}

bool gh_name_is_plain(gh_str name)
{
    size_t i;
    for (i = 0; i < name.size; i++)
        if (!is_plain_byte(name.bytes[i])) return false;
    return true;
}

void gh_name_keep(gh_name* to, gh_str name)
{
    to->size = (uint8_t)name.size;
    if (name.size > 0) memcpy(to->bytes, name.bytes, name.size);
}

size_t gh_name_encoded_size(gh_str name)
{
    size_t size = 0;
    size_t i;
    for (i = 0; i < name.size; i++) size += encoded_sizes[(unsigned char)name.bytes[i]];
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
        memcpy(out, hex_pairs + 2 * (unsigned char)c, 2);
        out += 2;
    }
    return out;
}

/* Without a loop, which would cost as much as the digits. */
char* gh_hex_encode(uint64_t value, char* out)
{
    memcpy(out, hex_pairs + 2 * (value >> 56), 2);
    memcpy(out + 2, hex_pairs + 2 * (value >> 48 & 255), 2);
    memcpy(out + 4, hex_pairs + 2 * (value >> 40 & 255), 2);
    memcpy(out + 6, hex_pairs + 2 * (value >> 32 & 255), 2);
    memcpy(out + 8, hex_pairs + 2 * (value >> 24 & 255), 2);
    memcpy(out + 10, hex_pairs + 2 * (value >> 16 & 255), 2);
    memcpy(out + 12, hex_pairs + 2 * (value >> 8 & 255), 2);
    memcpy(out + 14, hex_pairs + 2 * (value & 255), 2);
    return out + 16;
}

/* 16: none. */
static uint32_t hex_digit(char c)
{
    if (c >= '0' && c <= '9') return (uint32_t)(c - '0');
    return c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10 : 16;
}

bool gh_hex_decode(gh_str str, uint64_t* value)
{
    uint64_t result = 0;
    size_t i;
    if (str.size != 16) return false;
    for (i = 0; i < 16; i++)
    {
        uint32_t digit = hex_digit(str.bytes[i]);
        if (digit > 15) return false;
        result = result << 4 | digit;
    }
    *value = result;
    return true;
}

char* gh_token_encode(uint64_t client, uint64_t sequence, char* out)
{
    out = gh_hex_encode(client, out);
    *out++ = ':';
    return gh_hex_encode(sequence, out);
}

bool gh_token_decode(gh_str token, uint64_t* client, uint64_t* sequence)
{
    return token.size == GH_TOKEN_SIZE && token.bytes[16] == ':' &&
           gh_hex_decode(gh_str_make(token.bytes, 16), client) &&
           gh_hex_decode(gh_str_make(token.bytes + 17, 16), sequence);
}

bool gh_name_decode(gh_str encoded, gh_name* name)
{
    char again[3 * GH_NAME_SIZE_MAX];
    size_t at = 0;
    memset(name, 0, sizeof *name);
    while (at < encoded.size && name->size < GH_NAME_SIZE_MAX)
    {
        bool escaped = encoded.bytes[at] == '%' && encoded.size - at > 2;
        uint32_t byte = (unsigned char)encoded.bytes[at];
        if (escaped) byte = hex_digit(encoded.bytes[at + 1]) << 4 | hex_digit(encoded.bytes[at + 2]);
        name->bytes[name->size++] = (char)(byte & 255);
        at += escaped ? 3u : 1u;
    }
    if (at < encoded.size || name->size == 0) return false;
    return gh_str_equal(gh_str_make(again, (size_t)(gh_name_encode(gh_name_str(name), again) - again)), encoded);
}

size_t gh_decimal_size(uint64_t value)
{
    size_t size = 1;
    for (; value >= 10000; value /= 10000) size += 4;
    return value < 100 ? size + (value >= 10) : size + 2 + (value >= 1000);
}

/* With the size known, the digits are written where they stay: the last first, two a division. */
char* gh_decimal_write(uint64_t value, size_t size, char* out)
{
    char* at = out + size;
    for (; value >= 100; value /= 100)
    {
        at -= 2;
        memcpy(at, decimal_pairs + 2 * (value % 100), 2);
    }
    if (value >= 10) memcpy(out, decimal_pairs + 2 * value, 2);
    else *out = (char)('0' + value);
    return out + size;
}

char* gh_decimal_encode(uint64_t value, char* out)
{
    return gh_decimal_write(value, gh_decimal_size(value), out);
}
