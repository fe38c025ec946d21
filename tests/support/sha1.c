/* sha1.c -- SHA-1, as the servers have it. */

#include "support/sha1.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t rotate(uint32_t x, unsigned bits)
{
    return (x << bits) | (x >> (32 - bits));
}

static void add_block(uint32_t state[5], const unsigned char* block)
{
    uint32_t w[80];
    for (size_t i = 0; i < 16; i++)
    {
        w[i] = (uint32_t)block[i * 4] << 24 | (uint32_t)block[i * 4 + 1] << 16 | (uint32_t)block[i * 4 + 2] << 8 |
               (uint32_t)block[i * 4 + 3];
    }
    for (size_t i = 16; i < 80; i++) w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);

    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (size_t i = 0; i < 80; i++)
    {
        uint32_t mixed = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                         : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                         : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                                  : (b ^ c ^ d) + 0xca62c1d6u;
        uint32_t next = rotate(a, 5) + mixed + e + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void sha1_hex(const void* bytes, size_t size, char hex[41])
{
    uint32_t state[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    const unsigned char* from = bytes;
    size_t left = size;
    for (; left >= 64; left -= 64, from += 64) add_block(state, from);

    unsigned char tail[128] = {0};
    size_t tail_size = left < 56 ? 64 : 128;
    if (left > 0) memcpy(tail, from, left);
    tail[left] = 0x80;
    for (size_t i = 0; i < 8; i++) tail[tail_size - 1 - i] = (unsigned char)((uint64_t)size * 8 >> (8 * i));
    for (size_t at = 0; at < tail_size; at += 64) add_block(state, tail + at);
    for (size_t i = 0; i < 5; i++) snprintf(hex + i * 8, 9, "%08x", (unsigned)state[i]);
}
