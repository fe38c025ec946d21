/* resp.c -- the sizes of requests and replies, and nothing of what they say. */

#include "support/server/resp.h"

#include <stdbool.h>
#include <string.h>

static ssize_t line_size(const char* bytes, size_t size)
{
    const char* end = memchr(bytes, '\n', size);
    return end == NULL ? 0 : end - bytes + 1;
}

/* Decimal, all of it, with or without a minus: the bytes need not end in a NUL, so no function of C reads them. */
static bool read_number(const char* text, size_t size, long long* number)
{
    bool negative = size > 0 && text[0] == '-';
    long long value = 0;
    size_t i = negative ? 1 : 0;
    if (size <= i || size > i + 18) return false; /* more digits could overflow */
    for (; i < size; i++)
    {
        if (text[i] < '0' || text[i] > '9') return false;
        value = value * 10 + (text[i] - '0');
    }
    *number = negative ? -value : value;
    return true;
}

ssize_t resp_header(const char* bytes, size_t size, char mark, long long* number)
{
    if (size == 0) return 0;
    if (bytes[0] != mark) return -1;
    ssize_t line = line_size(bytes, size);
    if (line == 0) return size > 32 ? -1 : 0;
    if (line < 4 || bytes[line - 2] != '\r' || !read_number(bytes + 1, (size_t)line - 3, number)) return -1;
    return line;
}

static ssize_t array_size(const char* bytes, size_t size)
{
    long long count = 0;
    ssize_t at = resp_header(bytes, size, '*', &count);
    for (long long i = 0; at > 0 && i < count; i++)
    {
        ssize_t element = resp_reply_size(bytes + at, size - (size_t)at);
        if (element <= 0) return element;
        at += element;
    }
    return at;
}

static ssize_t bulk_size(const char* bytes, size_t size)
{
    long long length = 0;
    ssize_t header = resp_header(bytes, size, '$', &length);
    if (header <= 0 || length < 0) return header;
    ssize_t all = header + (ssize_t)length + 2;
    return (size_t)all <= size ? all : 0;
}

ssize_t resp_reply_size(const char* bytes, size_t size)
{
    if (size == 0) return 0;
    switch (bytes[0])
    {
    case '+':
    case '-':
    case ':': return line_size(bytes, size);
    case '$': return bulk_size(bytes, size);
    case '*': return array_size(bytes, size);
    default: return -1;
    }
}
