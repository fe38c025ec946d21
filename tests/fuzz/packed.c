/* packed.c -- one call of zlib for each member. */

#include "packed.h"

#include <zlib.h>

/* ---- zlib, all at once ------------------------------------------------------------------------------------------- */

static bool is_padding(const uint8_t* bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0) return false;
    return true;
}

/* One member, from *at on. */
static int take_member(const uint8_t* bytes, size_t size, size_t* at, packed_plain* to)
{
    z_stream stream;
    memset(&stream, 0, sizeof(stream));
    FUZZ_MUST(inflateInit2(&stream, 15 + 16) == Z_OK);
    stream.next_in = (Bytef*)(uintptr_t)(bytes + *at);
    stream.avail_in = (uInt)(size - *at);
    stream.next_out = to->bytes + to->size;
    stream.avail_out = (uInt)(PACKED_PLAIN_MAX - to->size);
    int result = inflate(&stream, Z_FINISH);
    to->size = PACKED_PLAIN_MAX - stream.avail_out;
    *at = size - stream.avail_in;
    if (result == Z_BUF_ERROR && stream.avail_out == 0) result = Z_MEM_ERROR;
    inflateEnd(&stream);
    return result;
}

void packed_unpack(const uint8_t* bytes, size_t size, packed_plain* to)
{
    size_t at = 0;
    to->size = 0;
    to->status = GH_PENDING; /* there is no member yet */
    while (at < size)
    {
        if (to->status == GH_OK && bytes[at] == 0)
        {
            to->status = is_padding(bytes + at, size - at) ? GH_OK : GH_CORRUPT;
            return;
        }
        const int result = take_member(bytes, size, &at, to);
        to->status = result == Z_STREAM_END  ? GH_OK
                     : result == Z_MEM_ERROR ? GH_TOO_LARGE
                     : result == Z_BUF_ERROR ? GH_PENDING
                                             : GH_CORRUPT;
        if (to->status != GH_OK) return;
    }
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

static size_t pack(gh_str text, int level, uint8_t* out, size_t room)
{
    z_stream stream;
    memset(&stream, 0, sizeof(stream));
    FUZZ_MUST(deflateInit2(&stream, level, Z_DEFLATED, 9 + 16, 1, Z_DEFAULT_STRATEGY) == Z_OK);
    stream.next_in = (Bytef*)(uintptr_t)text.bytes;
    stream.avail_in = (uInt)text.size;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    FUZZ_MUST(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

size_t packed_make(fuzz_input* input, gh_str text, uint8_t out[PACKED_ROOM], bool* whole)
{
    const size_t member = 1 + (size_t)fuzz_byte(input) * 4, zeros = fuzz_byte(input) & 15;
    const int level = fuzz_byte(input) % 10;
    const uint8_t harm = fuzz_byte(input);
    size_t size = 0, members = 0;
    for (size_t at = 0; at < text.size && members < 8; members++)
    {
        const size_t part = members == 7 || member > text.size - at ? text.size - at : member;
        size += pack(gh_str_make(text.bytes + at, part), level, out + size, PACKED_MAX * 2 - size);
        at += part;
    }
    memset(out + size, 0, zeros);
    if (members > 0) size += zeros;
    *whole = members > 0 && harm == 0;
    if (members > 0 && harm != 0) out[fuzz_number(input, 2) % size] ^= harm;
    return size;
}
