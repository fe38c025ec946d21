#include "base/hash.h"

#include <xxhash.h>

uint64_t gh_hash_seeded(const void* bytes, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, size, seed);
}

uint32_t gh_hash_shard(const void* bytes, size_t size, uint32_t shard_count)
{
    return shard_count == 0 ? 0 : (uint32_t)(XXH3_64bits(bytes, size) % shard_count);
}

gh_digest gh_hash_digest(const void* bytes, size_t size)
{
    XXH128_canonical_t canonical;
    gh_digest digest;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, size));
    memcpy(digest.bytes, canonical.digest, sizeof digest.bytes);
    return digest;
}
