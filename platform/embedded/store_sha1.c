/* store_sha1.c -- the digest by which a server knows a script. */

#include "store_inside.h"

static uint32_t turned(uint32_t word, unsigned by)
{
    return word << by | word >> (32 - by);
}

static void take_block(uint32_t state[5], const unsigned char* block)
{
    uint32_t words[80];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    unsigned i;
    for (i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
                   block[4 * i + 3];
    for (; i < 80; i++) words[i] = turned(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    for (i = 0; i < 80; i++)
    {
        const uint32_t mixed = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                               : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                               : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                                        : (b ^ c ^ d) + 0xca62c1d6u;
        const uint32_t next = turned(a, 5) + mixed + e + words[i];
        e = d;
        d = c;
        c = turned(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void gh_store_sha1(const void* bytes, size_t size, char digest[STORE_ID_SIZE])
{
    uint32_t state[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    const unsigned char* at = (const unsigned char*)bytes;
    unsigned char last[128] = {0};
    const uint64_t bits = (uint64_t)size * 8;
    size_t left = size;
    size_t padded;
    unsigned i;
    for (; left >= 64; left -= 64, at += 64) take_block(state, at);
    if (left > 0) memcpy(last, at, left);
    last[left] = 0x80;
    padded = left < 56 ? 64 : 128;
    for (i = 0; i < 8; i++) last[padded - 1 - i] = (unsigned char)(bits >> 8 * i);
    take_block(state, last);
    if (padded == 128) take_block(state, last + 64);
    for (i = 0; i < 40; i++) digest[i] = "0123456789abcdef"[state[i / 8] >> (28 - 4 * (i % 8)) & 15u];
    digest[40] = '\0';
}
