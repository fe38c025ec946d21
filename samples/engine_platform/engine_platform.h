/* engine_platform.h -- Guildhall on the sockets, the clock and the random numbers of an engine. */

#ifndef ENGINE_PLATFORM_H
#define ENGINE_PLATFORM_H

#include "guildhall/guildhall.h"

const gh_platform* engine_platform(void);

#endif
