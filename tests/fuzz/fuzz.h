/* fuzz.h -- what the fuzzers share: how they draw from their input, and how they fail.

   A fuzzer is a file fuzz_<name>.c with LLVMFuzzerTestOneInput. The same input does the same, always: whatever is drawn
   comes from it, and an input that is used up gives zeros. */

#ifndef GUILDHALL_TESTS_FUZZ_H
#define GUILDHALL_TESTS_FUZZ_H

#include "guildhall/base.h"

#include <stdlib.h>

#define FUZZ_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* libFuzzer calls it: each time with other bytes, in memory of exactly their size. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

typedef struct fuzz_input
{
    const uint8_t* at;
    const uint8_t* end;
} fuzz_input;

fuzz_input fuzz_input_of(const uint8_t* data, size_t size);
size_t fuzz_left(const fuzz_input* input);

uint8_t fuzz_byte(fuzz_input* input);
bool fuzz_bit(fuzz_input* input);
uint64_t fuzz_number(fuzz_input* input, size_t bytes);

/* 0..limit - 1; limit is at least 1 and at most 2^16. */
uint32_t fuzz_below(fuzz_input* input, uint32_t limit);

/* A number near what is often an edge: 0, a power of two, the end of 32 or 64 bits; or any. */
uint64_t fuzz_edge(fuzz_input* input);

/* A view of the input, at most size_max bytes, with its length in front. fuzz_rest: all that is left. */
gh_str fuzz_text(fuzz_input* input, size_t size_max);
gh_str fuzz_rest(fuzz_input* input);

/* The next slice of the input, with its length in front, as an input of its own: what is drawn from it moves nothing
   that lies behind it. */
fuzz_input fuzz_slice(fuzz_input* input);

/* Says what does not hold and ends the process, which libFuzzer notes as a crash. */
_Noreturn void fuzz_fail(const char* file, int line, const char* format, ...) __attribute__((format(printf, 3, 4)));

#define FUZZ_MUST(condition)                                                                                           \
    do                                                                                                                 \
    {                                                                                                                  \
        if (!(condition)) fuzz_fail(__FILE__, __LINE__, "%s", #condition);                                             \
    } while (0)

#define FUZZ_FAIL(...) fuzz_fail(__FILE__, __LINE__, __VA_ARGS__)

/* A copy in memory of exactly its size, so that a read behind it is seen; to be freed. Never NULL. */
char* fuzz_exact(const void* bytes, size_t size);

/* Reads all of it, so that bytes that are not there are noticed. */
void fuzz_touch(gh_str text);

/* Zeroed and aligned to 64, of exactly that size; to be freed. */
void* fuzz_block(size_t size);

/* Nobody may touch these bytes any more; and whoever likes may again. */
void fuzz_poison(const void* bytes, size_t size);
void fuzz_unpoison(const void* bytes, size_t size);

#endif
