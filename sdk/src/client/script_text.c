/* script_text.c -- takes packed texts apart. */

#include "client/script_text.h"

#define FIRST_PAIR 128u
#define TWO_BYTES 255u
#define DEPTH_MAX 32u /* of pairs in pairs; sdk/premake/pack.lua sees to it */

/* Writes the bytes that a code stands for: goes into its left halves, and then into the right ones that wait. */
static char* script_put(uint32_t code, char* out)
{
    uint16_t waiting[DEPTH_MAX];
    uint32_t count = 0;
    for (;;)
    {
        while (code >= FIRST_PAIR)
        {
            const uint16_t* pair = gh_script_pairs[code - FIRST_PAIR];
            waiting[count++] = pair[1];
            code = pair[0];
        }
        *out++ = (char)code;
        if (count == 0) return out;
        code = waiting[--count];
    }
}

char* gh_script_unpack(const gh_script_text* text, char* out)
{
    const unsigned char* at = (const unsigned char*)text->packed;
    const unsigned char* end = at + text->packed_size;
    while (at < end)
    {
        uint32_t code = *at++;
        if (code == TWO_BYTES) code += *at++;
        out = script_put(code, out);
    }
    return out;
}
