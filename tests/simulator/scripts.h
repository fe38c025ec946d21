/* scripts.h -- the scripts of this build: their texts as they are sent, and what their digests are called. */

#ifndef GUILDHALL_TESTS_SIMULATOR_SCRIPTS_H
#define GUILDHALL_TESTS_SIMULATOR_SCRIPTS_H

#include <stddef.h>

enum
{
    SCRIPTS_DIGEST_SIZE = 40
};

/* Hands each text to that function. */
void scripts_each(void (*use)(void* context, const char* text, size_t size), void* context);

/* NULL: it is none of them. */
const char* scripts_name(const char digest[SCRIPTS_DIGEST_SIZE]);

#endif
