/* names.h -- what a completion of names must look like. */

#ifndef GAME_SERVER_NAMES_H
#define GAME_SERVER_NAMES_H

#include "guildhall/base.h"

/* True if names has count lines, none twice, each beginning with prefix (in whatever case); and wanted among
   them, if it is not empty. */
bool names_are_right(gh_str prefix, gh_str names, int64_t count, gh_str wanted);

#endif
