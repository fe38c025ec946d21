/* text.h -- text that is put together piece by piece in a buffer of fixed size. What does not fit is left
   out, and is_cut says so. */

#ifndef GAME_SERVER_TEXT_H
#define GAME_SERVER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct text
{
    char* bytes; /* always ends in a NUL */
    size_t size;
    size_t capacity;
    bool is_cut;
} text;

/* An empty text in a buffer of at least one byte. */
text text_in(char* buffer, size_t capacity);

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void text_add(text* t, const char* format, ...);

/* A string as JSON wants it, with its quotation marks. Bytes that are no printable ASCII become question
   marks. */
void text_add_json(text* t, const char* string);

#endif
