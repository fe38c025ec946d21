/* fuzz_gzip.c -- gzip in pieces of any size, against zlib at once; and what was packed here comes back whole.

   The input is unpacked as it is, and is packed first: as one member or as several, with zeros behind them or not. */

#include "packed.h"

#include "files/inflate.h"

/* ---- ours, in pieces --------------------------------------------------------------------------------------------- */

/* The whole piece. False: it is over. */
static bool unpack_piece(gh_inflate* inflate, gh_str in, size_t out_max, packed_plain* to)
{
    size_t made = 1;
    while (in.size > 0 || made > 0)
    {
        const size_t room = PACKED_PLAIN_MAX - to->size < out_max ? PACKED_PLAIN_MAX - to->size : out_max;
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

static void unpack_in_pieces(fuzz_input pieces, const uint8_t* bytes, size_t size, packed_plain* to)
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
static void must_be_same(const packed_plain* got, const packed_plain* expected)
{
    if (got->status == GH_TOO_LARGE || expected->status == GH_TOO_LARGE) return;
    if (got->status != expected->status)
        FUZZ_FAIL("unpacked %s, by zlib %s", gh_status_name(got->status), gh_status_name(expected->status));
    if (got->status == GH_CORRUPT) return;
    FUZZ_MUST(got->size == expected->size && memcmp(got->bytes, expected->bytes, got->size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static packed_plain got, expected;
    static uint8_t packed[PACKED_ROOM];
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
        size = packed_make(&input, fuzz_rest(&text), packed, &whole);
    }
    else
    {
        bytes = input.at;
        size = fuzz_left(&input);
    }
    packed_unpack(bytes, size, &expected);
    unpack_in_pieces(pieces, bytes, size, &got);
    must_be_same(&got, &expected);
    if (whole) FUZZ_MUST(got.status == GH_OK);
    return 0;
}
