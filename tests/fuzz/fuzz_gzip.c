/* fuzz_gzip.c -- gzip in pieces of any size, against zlib at once; and what was packed here comes back whole.

   The input is unpacked as it is, and is packed first: as one member or as several, with zeros behind them or not. */

#include "fuzz.h"

#include "files/inflate.h"

#include <zlib.h>

#define PLAIN_MAX  65536u
#define PACKED_MAX 16384u

typedef struct plain
{
    uint8_t bytes[PLAIN_MAX];
    size_t size;
    gh_status status; /* GH_PENDING: it stopped in a member; GH_TOO_LARGE: it is more than is looked at */
} plain;

/* ---- zlib, all at once ------------------------------------------------------------------------------------------- */

static bool is_padding(const uint8_t* bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0) return false;
    return true;
}

/* One member, from *at on. */
static int take_member(const uint8_t* bytes, size_t size, size_t* at, plain* to)
{
    z_stream stream;
    memset(&stream, 0, sizeof(stream));
    FUZZ_MUST(inflateInit2(&stream, 15 + 16) == Z_OK);
    stream.next_in = (Bytef*)(uintptr_t)(bytes + *at);
    stream.avail_in = (uInt)(size - *at);
    stream.next_out = to->bytes + to->size;
    stream.avail_out = (uInt)(PLAIN_MAX - to->size);
    int result = inflate(&stream, Z_FINISH);
    to->size = PLAIN_MAX - stream.avail_out;
    *at = size - stream.avail_in;
    if (result == Z_BUF_ERROR && stream.avail_out == 0) result = Z_MEM_ERROR;
    inflateEnd(&stream);
    return result;
}

static void unpack_by_zlib(const uint8_t* bytes, size_t size, plain* to)
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

/* ---- ours, in pieces --------------------------------------------------------------------------------------------- */

/* The whole piece. False: it is over. */
static bool unpack_piece(gh_inflate* inflate, gh_str in, size_t out_max, plain* to)
{
    size_t made = 1;
    while (in.size > 0 || made > 0)
    {
        const size_t room = PLAIN_MAX - to->size < out_max ? PLAIN_MAX - to->size : out_max;
        const size_t before = in.size;
        if (room == 0)
        {
            to->status = GH_TOO_LARGE;
            return false;
        }
        char* out = fuzz_exact(to->bytes, room);
        const gh_status status = gh_inflate_step(inflate, &in, out, room, &made);
        FUZZ_MUST(made <= room && in.size <= before);
        memcpy(to->bytes + to->size, out, made);
        free(out);
        to->size += made;
        to->status = status;
        if (status != GH_OK) return false;
        FUZZ_MUST(made > 0 || in.size < before || in.size == 0);
    }
    return true;
}

static void unpack_in_pieces(fuzz_input pieces, const uint8_t* bytes, size_t size, plain* to)
{
    static _Alignas(16) char memory[GH_INFLATE_MEMORY];
    gh_inflate* inflate = gh_inflate_begin(memory);
    size_t at = 0;
    FUZZ_MUST(inflate != NULL && !gh_inflate_may_end(inflate));
    to->size = 0;
    to->status = GH_OK;
    while (at < size)
    {
        size_t piece = fuzz_left(&pieces) > 0 ? 1u + fuzz_byte(&pieces) : size;
        const size_t out_max = 1 + (size_t)fuzz_byte(&pieces) * 16;
        if (piece > size - at) piece = size - at;
        char* copy = fuzz_exact(bytes + at, piece);
        const bool goes_on = unpack_piece(inflate, gh_str_make(copy, piece), out_max, to);
        free(copy);
        at += piece;
        if (!goes_on) break;
    }
    if (to->status == GH_OK && !gh_inflate_may_end(inflate)) to->status = GH_PENDING;
}

/* Of what is corrupt, zlib may have given more or less before it saw that. */
static void must_be_same(const plain* got, const plain* expected)
{
    if (got->status == GH_TOO_LARGE || expected->status == GH_TOO_LARGE) return;
    if (got->status != expected->status)
        FUZZ_FAIL("unpacked %s, by zlib %s", gh_status_name(got->status), gh_status_name(expected->status));
    if (got->status == GH_CORRUPT) return;
    FUZZ_MUST(got->size == expected->size && memcmp(got->bytes, expected->bytes, got->size) == 0);
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

/* The text in members of any size, some zeros, and perhaps one byte that is another. */
static size_t pack_all(fuzz_input* input, gh_str text, uint8_t* out, bool* whole)
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

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static plain got, expected;
    static uint8_t packed[PACKED_MAX * 2 + 16];
    fuzz_input input = fuzz_input_of(data, size < PACKED_MAX ? size : PACKED_MAX);
    const bool packs = fuzz_bit(&input);
    const gh_str sizes = fuzz_text(&input, 64);
    const fuzz_input pieces = fuzz_input_of((const uint8_t*)sizes.bytes, sizes.size);
    const uint8_t* bytes = packed;
    bool whole = false;
    fuzz_input text = input;
    if (packs)
    {
        fuzz_number(&text, 4);
        size = pack_all(&input, fuzz_rest(&text), packed, &whole);
    }
    else
    {
        bytes = input.at;
        size = fuzz_left(&input);
    }
    unpack_by_zlib(bytes, size, &expected);
    unpack_in_pieces(pieces, bytes, size, &got);
    must_be_same(&got, &expected);
    if (whole) FUZZ_MUST(got.status == GH_OK);
    return 0;
}
