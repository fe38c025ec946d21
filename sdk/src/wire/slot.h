/* slot.h -- in which of a Cluster's 16384 slots a key lies.

       key "gh:{lock:x}:s"  -->  what decides: "lock:x"  -->  CRC16 of it, the low 14 bits

   What decides is what stands between the first '{' of the key and the first '}' behind that; if there is no such pair,
   or nothing in it, the whole key. So all keys of one object, which have its name in braces, lie in one slot.

   A group is 64 slots that lie beside each other. Of each group there is one well-known tag, a small number n whose tag
   {n} lies in that group: a key with it moves with its slot, and everybody knows it without asking. */

#ifndef GH_SLOT_H
#define GH_SLOT_H

#include "guildhall/base.h"

#define GH_SLOTS            16384u
#define GH_SLOT_GROUPS      256u
#define GH_SLOT_GROUP_SLOTS (GH_SLOTS / GH_SLOT_GROUPS)

/* The CRC16 (XMODEM: 0x1021, from 0) of bytes that come behind others, whose CRC is `before`; of nothing it is 0. For
   tags that are put together of pieces. */
uint16_t gh_slot_crc(uint16_t before, const char* bytes, size_t size);

/* Of the CRC of what decides. */
static inline uint16_t gh_slot_of_crc(uint16_t crc)
{
    return crc & (GH_SLOTS - 1u);
}

/* What of a key decides; a view of it. */
gh_str gh_slot_tag(gh_str key);

uint16_t gh_slot_of_key(gh_str key);

/* The smallest number n of which {n} lies in the group: at most GH_SLOT_GROUP_TAG_MAX. group: 0..255. */
#define GH_SLOT_GROUP_TAG_MAX 477u
uint32_t gh_slot_group_tag(uint32_t group);

#endif
