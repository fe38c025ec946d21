/* text.c -- text in a buffer of fixed size. */

#include "text.h"

#include <stdarg.h>
#include <stdio.h>

text text_in(char* buffer, size_t capacity)
{
    buffer[0] = '\0';
    return (text){.bytes = buffer, .capacity = capacity};
}

void text_add(text* t, const char* format, ...)
{
    size_t room = t->capacity - t->size;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(t->bytes + t->size, room, format, arguments);
    va_end(arguments);
    if (size < 0) return;
    t->is_cut = t->is_cut || (size_t)size >= room;
    t->size += (size_t)size < room ? (size_t)size : room - 1;
}

void text_add_json(text* t, const char* string)
{
    text_add(t, "\"");
    for (const char* at = string; *at != '\0'; at++)
    {
        if (*at == '"' || *at == '\\') text_add(t, "\\%c", *at);
        else text_add(t, "%c", *at >= ' ' && *at <= '~' ? *at : '?');
    }
    text_add(t, "\"");
}
