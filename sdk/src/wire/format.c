/* format.c -- %s %b %d %u %lld %llu and %%, without the locale and the reach of printf. */

#include "wire/format.h"

#include "wire/name.h"

static void format_bytes(gh_format* format, const char* bytes, size_t size)
{
    if (bytes == NULL && size > 0) format->wrong = true;
    if ((size_t)(format->end - format->out) < size) format->full = true;
    if (format->wrong || format->full || size == 0) return;
    memcpy(format->out, bytes, size);
    format->out += size;
}

static void format_number(gh_format* format, bool negative, uint64_t number)
{
    char text[1 + GH_DECIMAL_SIZE_MAX] = "-";
    char* from = negative ? text : text + 1;
    format_bytes(format, from, (size_t)(gh_decimal_encode(number, text + 1) - from));
}

static void format_signed(gh_format* format, long long number)
{
    format_number(format, number < 0, number < 0 ? 0u - (uint64_t)number : (uint64_t)number);
}

static void format_text(gh_format* format, const char* text)
{
    if (text == NULL) format->wrong = true;
    else format_bytes(format, text, strlen(text));
}

static void format_str(gh_format* format, gh_str str)
{
    format_bytes(format, str.bytes, str.size);
}

/* The value that the letters behind a % ask for. */
static void format_value(gh_format* format)
{
    const char* letter = format->at++;
    switch (*letter)
    {
    case '%': format_bytes(format, "%", 1); return;
    case 's': format_text(format, va_arg(format->values, const char*)); return;
    case 'b': format_str(format, va_arg(format->values, gh_str)); return;
    case 'd': format_signed(format, va_arg(format->values, int)); return;
    case 'u': format_number(format, false, va_arg(format->values, unsigned)); return;
    default: break;
    }
    if (strncmp(letter, "lld", 3) == 0) format_signed(format, va_arg(format->values, long long));
    else if (strncmp(letter, "llu", 3) == 0) format_number(format, false, va_arg(format->values, unsigned long long));
    else format->wrong = true;
    format->at = format->wrong ? letter : letter + 3;
}

static bool format_until(gh_format* format, char stop)
{
    while (*format->at != 0 && *format->at != stop && !format->full && !format->wrong)
    {
        const char* from = format->at++;
        if (*from == '%') format_value(format);
        else format_bytes(format, from, 1);
    }
    return !format->full && !format->wrong;
}

bool gh_format_all(gh_format* format)
{
    return format_until(format, 0);
}

bool gh_format_word(gh_format* format)
{
    return format_until(format, ' ');
}

gh_str gh_name_format(gh_name* name, const char* text, ...)
{
    gh_format format;
    if (name == NULL) return gh_str_make("", 0);
    name->size = 0;
    if (text == NULL) return gh_name_str(name);
    memset(&format, 0, sizeof format);
    format.at = text;
    format.out = name->bytes;
    format.end = name->bytes + sizeof name->bytes;
    va_start(format.values, text);
    if (gh_format_all(&format)) name->size = (uint8_t)(format.out - name->bytes);
    va_end(format.values);
    return gh_name_str(name);
}
