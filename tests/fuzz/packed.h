/* packed.h -- gzip by zlib alone: unpacked all at once, and packed in the ways that files have. */

#ifndef GUILDHALL_TESTS_FUZZ_PACKED_H
#define GUILDHALL_TESTS_FUZZ_PACKED_H

#include "fuzz.h"

#define PACKED_PLAIN_MAX 65536u
#define PACKED_MAX       16384u /* bytes that are packed */
#define PACKED_ROOM      (2 * PACKED_MAX + 16)

typedef struct packed_plain
{
    uint8_t bytes[PACKED_PLAIN_MAX];
    size_t size;
    gh_status status; /* GH_PENDING: it stopped in a member; GH_TOO_LARGE: it is more than is looked at */
} packed_plain;

void packed_unpack(const uint8_t* bytes, size_t size, packed_plain* to);

/* The text in members of any size, some zeros, and perhaps one byte that is another: *whole is false then. Returns how
   many bytes of the room were used. */
size_t packed_make(fuzz_input* input, gh_str text, uint8_t out[PACKED_ROOM], bool* whole);

#endif
