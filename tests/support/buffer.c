/* buffer.c -- bytes that grow. */

#include "support/buffer.h"

#include <stdlib.h>
#include <string.h>

char* buffer_reserve(byte_buffer* buffer, size_t size)
{
    if (buffer->capacity - buffer->size < size)
    {
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

void buffer_consume(byte_buffer* buffer, size_t size)
{
    if (size == 0) return;
    buffer->size -= size;
    memmove(buffer->bytes, buffer->bytes + size, buffer->size);
}

void buffer_free(byte_buffer* buffer)
{
    free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->size = buffer->capacity = 0;
}
