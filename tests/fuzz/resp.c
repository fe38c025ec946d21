/* resp.c -- requests are read strictly, replies are printed. */

#include "resp.h"

#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>

bool resp_is(gh_str word, const char* text)
{
    return gh_str_equal(word, gh_str_of(text));
}

bool resp_is_number(gh_str word, uint64_t* number)
{
    *number = 0;
    if (word.size == 0 || word.size > 18 || (word.size > 1 && word.bytes[0] == '0')) return false;
    for (size_t i = 0; i < word.size; i++)
    {
        if (word.bytes[i] < '0' || word.bytes[i] > '9') return false;
        *number = *number * 10 + (uint64_t)(word.bytes[i] - '0');
    }
    return true;
}

/* "<type><number>\r\n". Returns where it ends; NULL: it is not all there. */
static const char* read_head(const char* at, const char* end, char type, uint64_t* number)
{
    const char* line_end = memchr(at, '\n', (size_t)(end - at));
    if (line_end == NULL)
    {
        FUZZ_MUST(at == end || (*at == type && end - at < 24));
        return NULL;
    }
    FUZZ_MUST(*at == type && line_end - at >= 3 && line_end[-1] == '\r');
    FUZZ_MUST(resp_is_number(gh_str_make(at + 1, (size_t)(line_end - at) - 2), number));
    return line_end + 1;
}

size_t resp_read(const char* bytes, size_t size, resp_request* request)
{
    const char* end = bytes + size;
    uint64_t count, length;
    const char* at = read_head(bytes, end, '*', &count);
    if (at == NULL) return 0;
    FUZZ_MUST(count >= 1 && count <= RESP_WORDS_MAX);
    request->count = (size_t)count;
    for (size_t i = 0; i < count; i++)
    {
        at = read_head(at, end, '$', &length);
        if (at == NULL || (uint64_t)(end - at) < length + 2) return 0;
        request->words[i] = gh_str_make(at, (size_t)length);
        at += length;
        FUZZ_MUST(at[0] == '\r' && at[1] == '\n');
        at += 2;
    }
    return (size_t)(at - bytes);
}

void resp_put(resp_text* to, const void* bytes, size_t size)
{
    if (to->over || size > to->capacity - to->size)
    {
        to->over = true;
        return;
    }
    if (size > 0) memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

void resp_print(resp_text* to, const char* format, ...)
{
    char text[512];
    va_list values;
    va_start(values, format);
    const int size = vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    FUZZ_MUST(size >= 0 && (size_t)size < sizeof(text));
    resp_put(to, text, (size_t)size);
}

/* "<type><number>\r\n", as resp_print would write it, which takes long. */
static void put_head(resp_text* to, char type, bool negative, uint64_t number)
{
    char text[24];
    size_t at = sizeof(text);
    text[--at] = '\n';
    text[--at] = '\r';
    do text[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    if (negative) text[--at] = '-';
    text[--at] = type;
    resp_put(to, text + at, sizeof(text) - at);
}

void resp_bulk(resp_text* to, gh_str text)
{
    put_head(to, '$', false, text.size);
    resp_put(to, text.bytes, text.size);
    resp_put(to, "\r\n", 2);
}

void resp_array(resp_text* to, size_t count)
{
    put_head(to, '*', false, count);
}

void resp_integer(resp_text* to, int64_t number)
{
    put_head(to, ':', number < 0, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}
