/* nanosleep.h -- POSIX' nanosleep, as far as the samples use it, for a compiler that has none. The solution that
   premake5.lua makes includes it before each sample. */

#ifndef SAMPLES_WINDOWS_NANOSLEEP_H
#define SAMPLES_WINDOWS_NANOSLEEP_H

#if defined(_MSC_VER)

#include <time.h>

/* Of windows.h no more than this. */
__declspec(dllimport) void __stdcall Sleep(unsigned long milliseconds);

static __inline int nanosleep(const struct timespec* time, struct timespec* rest)
{
    (void)rest;
    Sleep((unsigned long)(time->tv_sec * 1000 + time->tv_nsec / 1000000));
    return 0;
}

#endif

#endif
