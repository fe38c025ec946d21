/* addresses.c -- a made table of places. */

#include "addresses.h"

#include <stdio.h>

#define IPV6_BLOCKS 20u
#define BLOCK_WIDTH                                                                                                    \
    30u                /* second bytes that a block covers, of the 50 that it could: the others are the gap behind it */
#define BLOCKS_EACH 5u /* for each first byte */
#define FIRST_BYTE  20u

static const char* const countries[] = {"Aland",        "Borduria", "Cascara", "Drosselmark", "Erewhon", "Freedonia",
                                        "Glubbdubdrib", "Hyrule",   "Illyria", "Jotunheim",   "Kyrat",   "Laputa"};

enum
{
    COUNTRIES = sizeof countries / sizeof countries[0]
};

/* What stands behind the two addresses in a row. */
static void write_place(FILE* file, uint32_t block)
{
    const char* country = countries[block % COUNTRIES];
    uint32_t region = block / COUNTRIES % 3 + 1;
    fprintf(file, ",%s,%s %u,Town %u\n", country, country, region, block);
}

bool addresses_write(const char* path)
{
    FILE* file = fopen(path, "w");
    if (file == NULL) return false;
    fputs("# first,last,country,region,city: made up, as the countries are\n", file);
    for (uint32_t block = 0; block < ADDRESS_BLOCKS; block++)
    {
        uint32_t first = FIRST_BYTE + block / BLOCKS_EACH;
        uint32_t second = block % BLOCKS_EACH * 50;
        fprintf(file, "%u.%u.0.0,%u.%u.255.255", first, second, first, second + BLOCK_WIDTH - 1);
        write_place(file, block);
    }
    for (uint32_t block = 0; block < IPV6_BLOCKS; block++)
    {
        fprintf(file, "2001:db8:%x::,2001:db8:%x:ffff:ffff:ffff:ffff:ffff", block, block);
        write_place(file, block);
    }
    bool written = ferror(file) == 0;
    return fclose(file) == 0 && written;
}

void address_of_player(uint32_t player, char out[ADDRESS_SIZE])
{
    uint32_t block = player * 7919u % ADDRESS_BLOCKS;
    uint32_t first = FIRST_BYTE + block / BLOCKS_EACH;
    uint32_t second = block % BLOCKS_EACH * 50 + player % BLOCK_WIDTH;
    if (player % 50 == 49) second += BLOCK_WIDTH - player % BLOCK_WIDTH; /* just behind the block */
    if (player % 16 == 15) snprintf(out, ADDRESS_SIZE, "2001:db8:%x::%x", player % IPV6_BLOCKS, player & 0xffff);
    else snprintf(out, ADDRESS_SIZE, "%u.%u.%u.%u", first, second, (player >> 8) & 255, player & 255);
}
