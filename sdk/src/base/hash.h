/* hash.h -- the only door to xxhash.

   gh_hash_seeded   tables inside this process: the seed comes from the platform's entropy, so that players
                    cannot choose names that collide
   gh_hash_shard    part of the wire contract (KEYS.md): which shard a name lives in; unseeded, the same
                    everywhere
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

/* The same digest of bytes that come piece by piece. Asking for it does not end the stream. */
typedef struct gh_digest_stream
{
    _Alignas(64) unsigned char state[576];
} gh_digest_stream;

void gh_digest_begin(gh_digest_stream* stream);
void gh_digest_add(gh_digest_stream* stream, const void* bytes, size_t size);
gh_digest gh_digest_end(const gh_digest_stream* stream);

static inline bool gh_digest_equal(const gh_digest* a, const gh_digest* b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

#endif
