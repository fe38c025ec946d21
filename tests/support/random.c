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

uint64_t random_between(random_stream* stream, uint64_t low, uint64_t high)
{
    uint64_t count = high - low + 1; /* 0 when the range is all of the numbers */
    return count == 0 ? random_next(stream) : low + random_below(stream, count);
}

void random_fill(random_stream* stream, void* bytes, size_t size)
{
    unsigned char* out = bytes;
    for (size_t i = 0; i < size; i++) out[i] = (unsigned char)(random_next(stream) >> 56);
}
