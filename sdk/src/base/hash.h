/* hash.h -- the only door to xxhash.

   gh_hash_seeded   tables inside this process: the seed comes from the platform's entropy, so that players cannot
                    choose names that collide
   gh_hash_shard    part of the wire contract (KEYS.md): which shard a name lives in; unseeded, the same everywhere
   gh_hash_digest   finds accidents in files and chunks; it is no defence against an attacker */

#ifndef GH_HASH_H
#define GH_HASH_H

#include "guildhall/base.h"

typedef struct gh_digest
{
    uint8_t bytes[16]; /* XXH3-128 in its canonical (big-endian) form */
} gh_digest;

uint64_t gh_hash_seeded(const void* bytes, size_t size, uint64_t seed);
uint32_t gh_hash_shard(const void* bytes, size_t size, uint32_t shard_count);
gh_digest gh_hash_digest(const void* bytes, size_t size);

#endif
