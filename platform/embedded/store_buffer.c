/* store_buffer.c -- see store_buffer.h. */

#include "store_buffer.h"
#include "store_pool.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define EXACT_MAX      1e16 /* whole numbers below it have the same digits in all forms */
#define INTEGER_DIGITS 18u  /* so few make an integer, which is rounded as a text is */

static void make_room(store_buffer* buffer, size_t size)
{
    size_t room;
    if (buffer->at > 0)
    {
        memmove(buffer->bytes, buffer->bytes + buffer->at, buffer->size - buffer->at);
        buffer->size -= buffer->at;
        buffer->at = 0;
    }
    if (buffer->size + size <= buffer->room) return;
    room = (buffer->size + size) * 2 + 128;
    buffer->bytes = (char*)gh_store_heap_resize(buffer->bytes, room);
    buffer->room = room;
}

void gh_store_put(store_buffer* buffer, const void* bytes, size_t size)
{
    if (buffer->size + size > buffer->room) make_room(buffer, size);
    if (size > 0) memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

void gh_store_put_head(store_buffer* buffer, char kind, int64_t value)
{
    char line[STORE_NUMBER_SIZE + 3];
    size_t size;
    line[0] = kind;
    size = 1 + gh_store_integer_text(value, line + 1);
    line[size++] = '\r';
    line[size++] = '\n';
    gh_store_put(buffer, line, size);
}

void gh_store_put_bulk(store_buffer* buffer, gh_str text)
{
    gh_store_put_head(buffer, '$', (int64_t)text.size);
    gh_store_put(buffer, text.bytes, text.size);
    gh_store_put(buffer, "\r\n", 2);
}

void gh_store_put_line(store_buffer* buffer, char kind, gh_str text)
{
    size_t from = buffer->size - buffer->at + 1;
    size_t i;
    gh_store_put(buffer, &kind, 1);
    gh_store_put(buffer, text.bytes, text.size);
    from += buffer->at;
    for (i = from; i < buffer->size; i++)
        if (buffer->bytes[i] == '\r' || buffer->bytes[i] == '\n') buffer->bytes[i] = ' ';
    gh_store_put(buffer, "\r\n", 2);
}

void gh_store_buffer_drop(store_buffer* buffer, size_t size)
{
    buffer->at += size;
    if (buffer->at == buffer->size) gh_store_buffer_empty(buffer);
}

void gh_store_buffer_empty(store_buffer* buffer)
{
    buffer->at = buffer->size = 0;
    if (buffer->room > STORE_BUFFER_KEPT) gh_store_buffer_end(buffer);
}

void gh_store_buffer_end(store_buffer* buffer)
{
    free(buffer->bytes);
    memset(buffer, 0, sizeof *buffer);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445"
    "46474849505152535455565758596061626364656667686970717273747576777879808182838485868788899091"
    "9293949596979899";

size_t gh_store_integer_text(int64_t value, char text[STORE_NUMBER_SIZE])
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = value < 0 ? 0u - (uint64_t)value : (uint64_t)value;
    for (; left >= 100; left /= 100)
    {
        at -= 2;
        memcpy(digits + at, pairs + left % 100 * 2, 2);
    }
    if (left >= 10) digits[--at] = pairs[left * 2 + 1];
    digits[--at] = left >= 10 ? pairs[left * 2] : (char)('0' + left);
    if (value < 0) digits[--at] = '-';
    memcpy(text, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

static bool is_exact(double value)
{
    return value > -EXACT_MAX && value < EXACT_MAX && value == (double)(int64_t)value &&
           (value != 0 || !signbit(value));
}

/* The fewest digits that are read as the same number. */
static size_t shortest_text(double value, char text[STORE_NUMBER_SIZE])
{
    int digits;
    int size = 0;
    for (digits = 15; digits <= 17; digits++)
    {
        size = snprintf(text, STORE_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return (size_t)size;
}

/* From 7.2 on with as few digits as can be, before it with 17. */
static size_t number_text(double value, uint32_t version_number, char text[STORE_NUMBER_SIZE])
{
    if (is_exact(value)) return gh_store_integer_text((int64_t)value, text);
    if (version_number >= 70200) return shortest_text(value, text);
    return (size_t)snprintf(text, STORE_NUMBER_SIZE, "%.17g", value);
}

size_t gh_store_double_text(double value, uint32_t version_number, char text[STORE_NUMBER_SIZE])
{
    if (!isinf(value)) return number_text(value, version_number, text);
    memcpy(text, value > 0 ? "inf" : "-inf", value > 0 ? 3 : 4);
    return value > 0 ? 3 : 4;
}

size_t gh_store_lua_number_text(double value, uint32_t version_number, char text[STORE_NUMBER_SIZE])
{
    return number_text(value, version_number, text);
}

/* So few digits that they can be no larger than an integer. */
static bool few_digits(const char* at, size_t size, uint64_t* sum)
{
    size_t i;
    *sum = 0;
    for (i = 0; i < size; i++)
    {
        const uint64_t digit = (uint64_t)(unsigned char)at[i] - '0';
        if (digit > 9) return false;
        *sum = *sum * 10 + digit;
    }
    return true;
}

bool gh_store_text_integer(gh_str text, int64_t* value)
{
    const bool is_negative = text.size > 0 && text.bytes[0] == '-';
    uint64_t most = (uint64_t)INT64_MAX + (is_negative ? 1u : 0u);
    uint64_t sum = 0;
    size_t i = is_negative ? 1 : 0;
    if (text.size == 1 && text.bytes[0] == '0')
    {
        *value = 0;
        return true;
    }
    if (i >= text.size || text.size > 20 || text.bytes[i] == '0') return false;
    if (text.size <= INTEGER_DIGITS)
    {
        if (!few_digits(text.bytes + i, text.size - i, &sum)) return false;
        *value = is_negative ? -(int64_t)sum : (int64_t)sum;
        return true;
    }
    for (; i < text.size; i++)
    {
        const uint64_t digit = (uint64_t)(unsigned char)text.bytes[i] - '0';
        if (digit > 9 || sum > (most - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    *value = (int64_t)(is_negative ? 0u - sum : sum);
    return true;
}

/* C wants a NUL behind it. */
static bool is_double(const char* text, size_t size, double* value)
{
    char* end;
    errno = 0;
    *value = strtod(text, &end);
    if (errno == ERANGE && (isinf(*value) || *value == 0)) return false;
    return end == text + size && !isnan(*value);
}

static bool is_bound(const char* text, size_t size, double* value)
{
    char* end;
    (void)size;
    *value = strtod(text, &end);
    return *end == '\0' && !isnan(*value);
}

static bool read_double(gh_str text, bool (*is_one)(const char* text, size_t size, double* value), double* value)
{
    char few[64];
    char* copy = few;
    bool is_good;
    if (text.size >= sizeof few) copy = (char*)gh_store_heap_resize(NULL, text.size + 1);
    if (text.size > 0) memcpy(copy, text.bytes, text.size);
    copy[text.size] = '\0';
    is_good = is_one(copy, text.size, value);
    if (copy != few) free(copy);
    return is_good;
}

bool gh_store_text_double(gh_str text, double* value)
{
    int64_t whole;
    if (text.size <= INTEGER_DIGITS && gh_store_text_integer(text, &whole))
    {
        *value = (double)whole;
        return true;
    }
    if (text.size == 0) return false;
    if (text.bytes[0] == ' ' || (text.bytes[0] >= '\t' && text.bytes[0] <= '\r')) return false;
    return read_double(text, is_double, value);
}

bool gh_store_text_bound(gh_str text, double* value)
{
    return read_double(text, is_bound, value);
}
