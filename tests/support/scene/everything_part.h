/* everything_part.h -- what the parts of everything.h share. */

#ifndef GUILDHALL_TESTS_EVERYTHING_PART_H
#define GUILDHALL_TESTS_EVERYTHING_PART_H

#include "support/scene/everything.h"

/* Calls the function, and notes that it was. */
#define CALL(function) (everything_note(#function), function)

/* A name that is there only during the call of begin; at most two at a time. */
#define PASSING(text) everything_passing(text)
gh_str everything_passing(const char* text);

/* Begins; with a client that is not live, it must be refused. */
#define BEGIN_AS(live, function, ...) everything_must_begin((live), #function, CALL(function)(__VA_ARGS__))
void everything_must_begin(bool live, const char* what, gh_status got);

/* Neither busy nor PENDING, whatever it is told. */
void everything_must_be_over(gh_op* op);

#endif
