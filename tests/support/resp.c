/* resp.c -- the sizes of requests and replies, and nothing of what they say. */

#include "support/resp.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static ssize_t line_size(const char* bytes, size_t size)
{
    const char* end = memchr(bytes, '\n', size);
    return end == NULL ? 0 : end - bytes + 1;
}

ssize_t resp_header(const char* bytes, size_t size, char mark, long long* number)
{
    if (size == 0) return 0;
    if (bytes[0] != mark) return -1;
    ssize_t line = line_size(bytes, size);
    if (line == 0) return size > 32 ? -1 : 0;
    bool numeric = bytes[1] == '-' || (bytes[1] >= '0' && bytes[1] <= '9'); /* strtoll would skip line ends */
    if (!numeric) return -1;
    char* end = NULL;
    *number = strtoll(bytes + 1, &end, 10); /* stops at the line's end at the latest */
    return line >= 4 && end == bytes + line - 2 && *end == '\r' ? line : -1;
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
