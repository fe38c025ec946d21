/* script_text.c -- takes packed texts apart. */

#include "client/script_text.h"

#include <string.h>

#define CODES_SHORT 208u /* those of two halves */
#define FIRST_LONG  13u  /* in the first half: there are three */
#define DEPTH_MAX   32u  /* of pairs in pairs; sdk/premake/pack.lua sees to it */

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

/* In a byte the lower half comes first. */
static uint32_t script_half(const char* packed, uint32_t at)
{
    return (uint32_t)(unsigned char)packed[at / 2] >> at % 2 * 4 & 15u;
}

char* gh_script_unpack(const gh_script_text* text, char* out)
{
    uint32_t at = 0;
    if (text->halves == 0)
    {
        memcpy(out, text->packed, text->size);
        return out + text->size;
    }
    while (at < text->halves)
    {
        const uint32_t first = script_half(text->packed, at++);
        uint32_t code = 0;
        if (first >= FIRST_LONG) code = CODES_SHORT + (first - FIRST_LONG) * 256 + script_half(text->packed, at++) * 16;
        if (first < FIRST_LONG) code = first * 16;
        out = script_put(code + script_half(text->packed, at++), out);
    }
    return out;
}
