/* bag.h -- the items that a player has with it, each with the version that it had when it came in. */

#ifndef GAME_SERVER_BAG_H
#define GAME_SERVER_BAG_H

#include <stdbool.h>
#include <stdint.h>

enum
{
    BAG_MAX = 64
};

typedef struct bag_item
{
    uint32_t item;
    int64_t version;
} bag_item;

/* All zero: empty. */
typedef struct bag
{
    bag_item items[BAG_MAX];
    uint32_t count;
} bag;

bool bag_is_full(const bag* b);
bool bag_has(const bag* b, uint32_t item);

/* False: it is full. What does not fit stays the player's in the store, for another time. */
bool bag_add(bag* b, uint32_t item, int64_t version);

/* Out of it. False: it is not in there. */
bool bag_take(bag* b, uint32_t item, int64_t* version);

#endif
