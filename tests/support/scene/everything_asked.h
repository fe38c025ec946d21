/* everything_asked.h -- those of everything.h that ask one thing and keep nothing. */

#ifndef GUILDHALL_TESTS_EVERYTHING_ASKED_H
#define GUILDHALL_TESTS_EVERYTHING_ASKED_H

#include "support/scene/everything.h"

typedef struct everything_asked
{
    gh_command_line line;
} everything_asked;

void everything_asked_begin(everything_asked* all, gh_client* client, bool live);
void everything_asked_touch(everything_asked* all);
void everything_asked_detach(everything_asked* all);

#endif
