/* hash.c -- every hash of the library, by xxHash; no other file sees it. */

#include "base/hash.h"

#define XXH_STATIC_LINKING_ONLY /* shows what XXH3_state_t is, so that it needs no heap */
#include <xxhash.h>

uint64_t gh_hash_seeded(const void* bytes, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, size, seed);
}

uint32_t gh_hash_shard(const void* bytes, size_t size, uint32_t shard_count)
{
    return shard_count == 0 ? 0 : (uint32_t)(XXH3_64bits(bytes, size) % shard_count);
}

static gh_digest digest_of(XXH128_hash_t hash)
{
    XXH128_canonical_t canonical;
    gh_digest digest;
    XXH128_canonicalFromHash(&canonical, hash);
    memcpy(digest.bytes, canonical.digest, sizeof digest.bytes);
    return digest;
}

gh_digest gh_hash_digest(const void* bytes, size_t size)
{
    return digest_of(XXH3_128bits(bytes, size));
}

_Static_assert(sizeof(XXH3_state_t) <= sizeof(gh_digest_stream), "a stream must hold the state of XXH3");

void gh_digest_begin(gh_digest_stream* stream)
{
    XXH3_128bits_reset((XXH3_state_t*)(void*)stream->state);
}

void gh_digest_add(gh_digest_stream* stream, const void* bytes, size_t size)
{
    if (size > 0) XXH3_128bits_update((XXH3_state_t*)(void*)stream->state, bytes, size);
}

gh_digest gh_digest_end(const gh_digest_stream* stream)
{
    return digest_of(XXH3_128bits_digest((const XXH3_state_t*)(const void*)stream->state));
}
