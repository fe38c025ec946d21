/* fuzz.c -- draws from the input of a fuzzer; memory that is watched; how a fuzzer fails. */

#include "fuzz.h"

#include <sanitizer/asan_interface.h>

#include <stdarg.h>
#include <stdio.h>

fuzz_input fuzz_input_of(const uint8_t* data, size_t size)
{
    static const uint8_t none[1];
    fuzz_input input = {size > 0 ? data : none, size > 0 ? data + size : none};
    return input;
}

size_t fuzz_left(const fuzz_input* input)
{
    return (size_t)(input->end - input->at);
}

uint8_t fuzz_byte(fuzz_input* input)
{
    return input->at < input->end ? *input->at++ : 0;
}

bool fuzz_bit(fuzz_input* input)
{
    return (fuzz_byte(input) & 1) != 0;
}

uint64_t fuzz_number(fuzz_input* input, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++) number = number << 8 | fuzz_byte(input);
    return number;
}

uint32_t fuzz_below(fuzz_input* input, uint32_t limit)
{
    if (limit <= 1) return 0;
    return (uint32_t)fuzz_number(input, limit > 256 ? 2 : 1) % limit;
}

uint64_t fuzz_edge(fuzz_input* input)
{
    const uint8_t how = fuzz_byte(input);
    const uint64_t power = UINT64_C(1) << (how & 63);
    switch (how >> 6)
    {
    case 0: return power - 1;
    case 1: return power;
    case 2: return power + fuzz_byte(input) - 128;
    default: return fuzz_number(input, 1 + (how & 7));
    }
}

gh_str fuzz_text(fuzz_input* input, size_t size_max)
{
    size_t size = fuzz_byte(input);
    if (size == 255) size = fuzz_number(input, 2);
    if (size > size_max) size = size_max;
    if (size > fuzz_left(input)) size = fuzz_left(input);
    const gh_str text = gh_str_make((const char*)input->at, size);
    input->at += size;
    return text;
}

gh_str fuzz_rest(fuzz_input* input)
{
    const gh_str rest = gh_str_make((const char*)input->at, fuzz_left(input));
    input->at = input->end;
    return rest;
}

fuzz_input fuzz_slice(fuzz_input* input)
{
    const gh_str slice = fuzz_text(input, UINT16_MAX);
    return fuzz_input_of((const uint8_t*)slice.bytes, slice.size);
}

_Noreturn void fuzz_fail(const char* file, int line, const char* format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(stderr, "FAILED %s:%d: ", file, line);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    abort();
}

char* fuzz_exact(const void* bytes, size_t size)
{
    char* copy = malloc(size > 0 ? size : 1);
    FUZZ_MUST(copy != NULL);
    if (size > 0) memcpy(copy, bytes, size);
    else fuzz_poison(copy, 1);
    return copy;
}

void fuzz_touch(gh_str text)
{
    static volatile char sum;
    for (size_t i = 0; i < text.size; i++) sum = (char)(sum ^ text.bytes[i]);
}

void* fuzz_block(size_t size)
{
    void* block = NULL;
    FUZZ_MUST(posix_memalign(&block, 64, size > 0 ? size : 1) == 0);
    memset(block, 0, size);
    return block;
}

void fuzz_poison(const void* bytes, size_t size)
{
    ASAN_POISON_MEMORY_REGION((const volatile void*)bytes, size);
}

void fuzz_unpoison(const void* bytes, size_t size)
{
    ASAN_UNPOISON_MEMORY_REGION((const volatile void*)bytes, size);
}
