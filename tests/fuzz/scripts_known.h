/* scripts_known.h -- which script a digest stands for, as the peer of world.h gives digests. */

#ifndef GUILDHALL_TESTS_FUZZ_SCRIPTS_KNOWN_H
#define GUILDHALL_TESTS_FUZZ_SCRIPTS_KNOWN_H

#include "client/script_text.h"
#include "guildhall/base.h"

#define SCRIPTS_DIGEST_SIZE 40

/* In the fuzzers, gh_script_unpack copies what the library's own, under this name, has unpacked once. */
char* scripts_unpack(const gh_script_text* text, char* out);

/* Gives a text its digest. */
void scripts_note(gh_str text, char digest[SCRIPTS_DIGEST_SIZE]);

/* A text of the library has another digest as well, that of a server which makes them as Redis does. */
void scripts_alias(gh_str text, gh_str digest);

/* The library's script of that digest; NULL: a caller's. *once: a caller's that is run once. */
const gh_script_text* scripts_find(gh_str digest, bool* once);

#endif
