/* sha1.h -- the name that a server gives a script. */

#ifndef GUILDHALL_TESTS_SHA1_H
#define GUILDHALL_TESTS_SHA1_H

#include <stddef.h>

/* 40 small hexadecimal digits and a NUL. */
void sha1_hex(const void* bytes, size_t size, char hex[41]);

#endif
