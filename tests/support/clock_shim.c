/* clock_shim.c -- an LD_PRELOAD library that moves a process' wall clock by the offset in a mapped file, or holds it at
   the moment there; see clock.h. While it is held, rand() draws nothing: what a server picks is then the first.

   It asks the kernel and not the C library for the time: looking up the real function allocates, and a server
   whose allocator asks for the time would then call itself for ever. In the test binary this file is
   empty. */

#ifdef CLOCK_SHIM

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef struct clock_page
{
    _Atomic int64_t offset_us;
    _Atomic int64_t attached;
    _Atomic int64_t held_us; /* 0: it goes on */
} clock_page;

static clock_page* page;

__attribute__((constructor)) static void attach(void)
{
    const char* path = getenv("GUILDHALL_CLOCK_OFFSET");
    int descriptor = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return;
    void* mapped = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (mapped == MAP_FAILED) return;
    page = mapped;
    page->attached = 1;
}

int clock_gettime(clockid_t clock, struct timespec* now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result != 0 || page == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
    int64_t us = (int64_t)now->tv_sec * 1000000 + now->tv_nsec / 1000 + page->offset_us;
    if (page->held_us != 0) us = page->held_us;
    now->tv_sec = (time_t)(us / 1000000);
    now->tv_nsec = (long)(us % 1000000 * 1000);
    return 0;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone)
{
    struct timespec precise;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = (suseconds_t)(precise.tv_nsec / 1000);
    return 0;
}

time_t time(time_t* out)
{
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (out != NULL) *out = precise.tv_sec;
    return precise.tv_sec;
}

int rand(void)
{
    return page != NULL && page->held_us != 0 ? 0 : (int)random();
}

#else

typedef int clock_shim_is_a_library_of_its_own; /* C wants something in every file */

#endif
