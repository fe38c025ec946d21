/* random.c -- a stream of numbers made of the suite's seed and the test's name. */

#include "support/random.h"

#include "support/suite.h"

static uint64_t hash_text(uint64_t hash, const char* text)
{
    for (; *text != '\0'; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash;
}

random_stream random_from_seed(uint64_t seed)
{
    random_stream stream = {seed};
    return stream;
}

random_stream random_for_test(const char* label)
{
    uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325), suite_test_name());
    hash = hash_text(hash_text(hash, "/"), label);
    random_stream mixer = random_from_seed(suite_seed() ^ hash);
    return random_from_seed(random_next(&mixer));
}

uint64_t random_next(random_stream* stream) /* splitmix64 */
{
    uint64_t x = stream->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t random_below(random_stream* stream, uint64_t limit)
{
    /* The first 2^64 mod limit values, which are less than limit, would make the small results likelier: draw again. */
    uint64_t x = random_next(stream);
    if ((limit & (limit - 1)) == 0 && limit != 0) return x & (limit - 1); /* the same, without dividing */
    while (x < limit && x < (UINT64_MAX - limit + 1) % limit) x = random_next(stream);
    return x % limit;
}

uint64_t random_between(random_stream* stream, uint64_t low, uint64_t high)
{
    uint64_t count = high - low + 1; /* 0 when the range is all of the numbers */
    return count == 0 ? random_next(stream) : low + random_below(stream, count);
}

bool random_one_in(random_stream* stream, uint64_t odds)
{
    return random_below(stream, odds) == 0;
}

void random_fill(random_stream* stream, void* bytes, size_t size)
{
    unsigned char* out = bytes;
    for (size_t i = 0; i < size; i++) out[i] = (unsigned char)(random_next(stream) >> 56);
}
