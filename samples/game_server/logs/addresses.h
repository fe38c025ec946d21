/* addresses.h -- where the players of the sample are: a made table of address ranges in the usual form
   (first, last, country, region, city), and an address for each player. A real table can take its place: only
   the totals will look different. */

#ifndef GAME_SERVER_ADDRESSES_H
#define GAME_SERVER_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum
{
    ADDRESS_SIZE = 46,
    ADDRESS_BLOCKS = 1000 /* of IPv4, with gaps between them */
};

/* Writes the table. False, with errno: it could not be written. */
bool addresses_write(const char* path);

/* Always the same one for a player: most lie in a range of IPv4, one in 16 in IPv6, one in 50 in a gap. */
void address_of_player(uint32_t player, char out[ADDRESS_SIZE]);

#endif
