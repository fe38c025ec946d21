/* buffer.c -- bytes that grow. */

#include "support/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes to the front of their block. */
static void close_up(byte_buffer* buffer)
{
    char* block = buffer->bytes - buffer->taken;
    memmove(block, buffer->bytes, buffer->size);
    buffer->bytes = block;
    buffer->capacity += buffer->taken;
    buffer->taken = 0;
}

/* Each byte is moved once for each that was taken, on the whole. */
char* buffer_reserve(byte_buffer* buffer, size_t size)
{
    if (buffer->taken > buffer->size) close_up(buffer);
    if (buffer->capacity - buffer->size < size)
    {
        if (buffer->taken > 0) close_up(buffer);
        buffer->capacity = (buffer->capacity + size) * 2;
        buffer->bytes = realloc(buffer->bytes, buffer->capacity);
        if (buffer->bytes == NULL) abort();
    }
    return buffer->bytes + buffer->size;
}

void buffer_add(byte_buffer* buffer, const void* bytes, size_t size)
{
    if (size == 0) return;
    memcpy(buffer_reserve(buffer, size), bytes, size);
    buffer->size += size;
}

void buffer_add_bulk(byte_buffer* buffer, const char* format, ...)
{
    char text[1024];
    char head[32];
    va_list values;
    va_start(values, format);
    int size = vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    if (size < 0 || (size_t)size >= sizeof(text)) abort();
    buffer_add(buffer, head, (size_t)snprintf(head, sizeof(head), "$%d\r\n", size));
    buffer_add(buffer, text, (size_t)size);
    buffer_add(buffer, "\r\n", 2);
}

void buffer_consume(byte_buffer* buffer, size_t size)
{
    if (size == 0) return;
    buffer->bytes += size;
    buffer->size -= size;
    buffer->capacity -= size;
    buffer->taken += size;
}

void buffer_free(byte_buffer* buffer)
{
    if (buffer->bytes != NULL) free(buffer->bytes - buffer->taken);
    memset(buffer, 0, sizeof(*buffer));
}
