/* script_text.c -- takes packed texts apart. */

#include "client/script_text.h"

#include <string.h>

#define KIND_BITS 3u
#define DEPTH_MAX 32u /* of pairs in pairs; sdk/premake/pack.lua sees to it */

/* Where the next number of a packed text begins, in bits. */
typedef struct script_place
{
    const unsigned char* packed;
    uint32_t at;
} script_place;

/* Up to 17 bits, of which the lowest comes first. */
static uint32_t script_bits(script_place* place, uint32_t count)
{
    const unsigned char* byte = place->packed + place->at / 8;
    const uint32_t three = byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16;
    const uint32_t bits = three >> place->at % 8 & ((1u << count) - 1);
    place->at += count;
    return bits;
}

static uint32_t script_number(script_place* place)
{
    static const unsigned char widths[1 << KIND_BITS] = {GH_SCRIPT_WIDTHS};
    const uint32_t kind = script_bits(place, KIND_BITS);
    uint32_t first = 0;
    for (uint32_t i = 0; i < kind; i++) first += 1u << widths[i];
    return first + script_bits(place, widths[kind]);
}

/* Writes the bytes that a code stands for: goes into its left codes, and then into the right ones that wait. */
static char* script_put(uint32_t code, char* out)
{
    uint32_t waiting[DEPTH_MAX];
    uint32_t count = 0;
    for (;;)
    {
        const unsigned char* bits = gh_script_codes[code];
        const uint32_t right = bits[1] >> 4 | (uint32_t)bits[2] << 4;
        code = bits[0] | (bits[1] & 15u) << 8;
        if (right != GH_SCRIPT_BYTE)
        {
            waiting[count++] = right;
            continue;
        }
        *out++ = (char)code;
        if (count == 0) return out;
        code = waiting[--count];
    }
}

/* Writes what stands from a place on. What stands there may be elsewhere, too, up to eight times over, as pack.lua sees
   to. */
static char* script_take(script_place place, uint32_t count, uint32_t place_bits, char* out)
{
    while (count-- > 0)
    {
        const uint32_t number = script_number(&place);
        if (number > 0)
        {
            out = script_put(number - 1, out);
            continue;
        }
        const script_place there = {place.packed, script_bits(&place, place_bits)};
        out = script_take(there, script_number(&place) + 1, place_bits, out);
    }
    return out;
}

char* gh_script_unpack(const gh_script_text* text, char* out)
{
    const script_place place = {(const unsigned char*)text->packed, text->at * 8u};
    if (text->place_bits > 0) return script_take(place, text->count, text->place_bits, out);
    memcpy(out, text->packed, text->size);
    return out + text->size;
}
