/* half.h -- scripts that end behind their n-th write, as one does whose right is taken away in its middle, or whose
   slot moves. */

#ifndef GUILDHALL_TESTS_HALF_H
#define GUILDHALL_TESTS_HALF_H

#include "support/scene/drill.h"

typedef struct half_script
{
    const char* name; /* "lock_release" */
    unsigned number;  /* of the client's list */
} half_script;

#define HALF_WHOLE 1000000u /* writes: it ends by itself */

/* Scripts of the library; those of a part of it alone are not among them. */
size_t half_count(void);
half_script half_at(size_t i);

/* From now on the game runs the script only up to that many writes; keys and arguments of the last run are noted.
   False: the game has never used it, and so does not know its digest. */
bool half_install(drill* self, half_script script, unsigned writes);

/* The library's own, 40 digits and a NUL. False: the game has never used it. */
bool half_digest(drill* self, half_script script, char digest[64]);

/* Its text as the library has it, with its parts, between a head and a tail. Good until the next call. */
const char* half_text_between(half_script script, const char* head, const char* tail, size_t* size);

/* From now on the game runs that text in its place. False: as half_install. */
bool half_install_text(drill* self, half_script script, const char* text, size_t size);

/* As the library has it. */
void half_remove(drill* self, half_script script);

/* Since half_install or half_forget: was it run, and did it end before its end? */
bool half_ran(drill* self, half_script script);
bool half_was_cut(drill* self);
void half_forget(drill* self);

/* The last request again, as a whole, from somewhere else. */
void half_repeat(drill* self, half_script script);

#endif
