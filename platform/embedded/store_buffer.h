/* store_buffer.h -- bytes that grow at the end and are taken from the front, numbers as text, and RESP. */

#ifndef GUILDHALL_EMBEDDED_STORE_BUFFER_H
#define GUILDHALL_EMBEDDED_STORE_BUFFER_H

#include "guildhall/base.h"

typedef struct store_buffer
{
    char* bytes;
    size_t at; /* taken so far */
    size_t size;
    size_t room;
} store_buffer;

#define STORE_BUFFER_KEPT ((size_t)64 << 10)

void gh_store_put(store_buffer* buffer, const void* bytes, size_t size);
void gh_store_put_head(store_buffer* buffer, char kind, int64_t value); /* ":12\r\n" */
void gh_store_put_bulk(store_buffer* buffer, gh_str text);
void gh_store_put_line(store_buffer* buffer, char kind, gh_str text); /* line ends in it become blanks */
void gh_store_buffer_drop(store_buffer* buffer, size_t size);         /* from the front */
void gh_store_buffer_empty(store_buffer* buffer); /* its memory goes back, but for STORE_BUFFER_KEPT */
void gh_store_buffer_end(store_buffer* buffer);

static inline size_t gh_store_buffer_left(const store_buffer* buffer)
{
    return buffer->size - buffer->at;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

enum
{
    STORE_NUMBER_SIZE = 40
};

/* Without a NUL; how many bytes. */
size_t gh_store_integer_text(int64_t value, char text[STORE_NUMBER_SIZE]);
size_t gh_store_double_text(double value, uint32_t version_number, char text[STORE_NUMBER_SIZE]);
size_t gh_store_lua_number_text(double value, uint32_t version_number, char text[STORE_NUMBER_SIZE]);

/* As the server reads them: no blanks, no plus, no zeros in front. */
bool gh_store_text_integer(gh_str text, int64_t* value);
bool gh_store_text_double(gh_str text, double* value);
bool gh_store_text_bound(gh_str text, double* value); /* of a range: as C reads it, up to a NUL; without digits 0 */

#endif
