/* buffer.h -- bytes that grow, for the tests' own servers. Zero is empty. */

#ifndef GUILDHALL_TESTS_BUFFER_H
#define GUILDHALL_TESTS_BUFFER_H

#include <stddef.h>

typedef struct byte_buffer
{
    char* bytes;
    size_t size;
    size_t capacity; /* from `bytes` on */
    size_t taken;    /* what lies in front of them, of the same block */
} byte_buffer;

/* Returns where `size` more bytes can be written; buffer->size is not changed. */
char* buffer_reserve(byte_buffer* buffer, size_t size);
void buffer_add(byte_buffer* buffer, const void* bytes, size_t size);

/* A string of RESP, "$<size>\r\n...\r\n", as printf writes it: at most 255 bytes. */
void buffer_add_bulk(byte_buffer* buffer, const char* format, ...);

/* Takes bytes off the front, which costs the same whatever is behind them. */
void buffer_consume(byte_buffer* buffer, size_t size);
void buffer_free(byte_buffer* buffer);

#endif
