/* kernel_time.c -- how long the process sat in send, receive and poll.

   getrusage tells user from system time by sampling 100 to 1000 times a second: too coarse for a client that needs a
   tenth of a core for a second or two. So the bench stands in front of the few calls through which Guildhall's
   platform and hiredis reach the kernel, and takes the time around each. All the rest of the process' CPU time is
   the client's own.

   A call that may sleep is timed with the thread's CPU clock, which is itself a call into the kernel; what that costs
   outside the timed span is measured once and taken off again. */

#include "bench.h"

#if defined(__linux__)

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* POSIX has no syscall(), and strict C11 hides its prototype. */
long syscall(long number, ...);

enum
{
    DESCRIPTORS_MAX = 1024,
    CALIBRATION_CALLS = 2000
};

enum
{
    NOT_LOOKED_AT = 0,
    MAY_SLEEP,
    NEVER_SLEEPS
};

static bool watching;
static char modes[DESCRIPTORS_MAX];
static bench_kernel_time total;
static uint64_t sleepy_calls;
static double sleepy_overhead_ns;
static double quick_overhead_ns;

static clockid_t clock_for(int descriptor)
{
    if (descriptor < 0 || descriptor >= DESCRIPTORS_MAX)
    {
        return CLOCK_MONOTONIC;
    }
    if (modes[descriptor] == NOT_LOOKED_AT)
    {
        int flags = fcntl(descriptor, F_GETFL);
        modes[descriptor] = (flags & O_NONBLOCK) != 0 ? NEVER_SLEEPS : MAY_SLEEP;
    }
    return modes[descriptor] == MAY_SLEEP ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void count(clockid_t clock, uint64_t begun_ns)
{
    total.inside_ns += clock_ns(clock) - begun_ns;
    total.calls++;
    sleepy_calls += clock == CLOCK_THREAD_CPUTIME_ID ? 1u : 0u;
}

/* ------------------------------------------------------------------------------------------------------------ */

ssize_t read(int descriptor, void* bytes, size_t size)
{
    if (!watching)
    {
        return (ssize_t)syscall(SYS_read, descriptor, bytes, size);
    }
    clockid_t clock = clock_for(descriptor);
    uint64_t begun_ns = clock_ns(clock);
    ssize_t result = (ssize_t)syscall(SYS_read, descriptor, bytes, size);
    count(clock, begun_ns);
    return result;
}

ssize_t write(int descriptor, const void* bytes, size_t size)
{
    if (!watching)
    {
        return (ssize_t)syscall(SYS_write, descriptor, bytes, size);
    }
    clockid_t clock = clock_for(descriptor);
    uint64_t begun_ns = clock_ns(clock);
    ssize_t result = (ssize_t)syscall(SYS_write, descriptor, bytes, size);
    count(clock, begun_ns);
    return result;
}

ssize_t recv(int descriptor, void* bytes, size_t size, int flags)
{
    if (!watching)
    {
        return (ssize_t)syscall(SYS_recvfrom, descriptor, bytes, size, flags, NULL, NULL);
    }
    clockid_t clock = (flags & MSG_DONTWAIT) != 0 ? CLOCK_MONOTONIC : clock_for(descriptor);
    uint64_t begun_ns = clock_ns(clock);
    ssize_t result = (ssize_t)syscall(SYS_recvfrom, descriptor, bytes, size, flags, NULL, NULL);
    count(clock, begun_ns);
    return result;
}

ssize_t send(int descriptor, const void* bytes, size_t size, int flags)
{
    if (!watching)
    {
        return (ssize_t)syscall(SYS_sendto, descriptor, bytes, size, flags, NULL, 0);
    }
    clockid_t clock = (flags & MSG_DONTWAIT) != 0 ? CLOCK_MONOTONIC : clock_for(descriptor);
    uint64_t begun_ns = clock_ns(clock);
    ssize_t result = (ssize_t)syscall(SYS_sendto, descriptor, bytes, size, flags, NULL, 0);
    count(clock, begun_ns);
    return result;
}

int poll(struct pollfd* descriptors, nfds_t descriptor_count, int timeout_ms)
{
    struct timespec timeout = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000L};
    struct timespec* limit = timeout_ms < 0 ? NULL : &timeout;
    if (!watching)
    {
        return (int)syscall(SYS_ppoll, descriptors, descriptor_count, limit, NULL, 8);
    }
    uint64_t begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int result = (int)syscall(SYS_ppoll, descriptors, descriptor_count, limit, NULL, 8);
    count(CLOCK_THREAD_CPUTIME_ID, begun_ns);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------ */

static double outside_ns(uint64_t cpu_begun, uint64_t inside_begun)
{
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begun;
    return ((double)cpu - (double)(total.inside_ns - inside_begun)) / CALIBRATION_CALLS;
}

static void calibrate(void)
{
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t inside = total.inside_ns;
    for (int i = 0; i < CALIBRATION_CALLS; i++)
    {
        (void)poll(NULL, 0, 0);
    }
    sleepy_overhead_ns = outside_ns(cpu, inside);

    char byte;
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    inside = total.inside_ns;
    for (int i = 0; i < CALIBRATION_CALLS; i++)
    {
        (void)recv(-1, &byte, 1, MSG_DONTWAIT);
    }
    quick_overhead_ns = outside_ns(cpu, inside);
    memset(&total, 0, sizeof total);
    sleepy_calls = 0;
}

void bench_kernel_time_watch(bool on)
{
    memset(modes, 0, sizeof modes);
    watching = on;
    if (on && sleepy_overhead_ns == 0.0)
    {
        calibrate();
    }
}

bench_kernel_time bench_kernel_time_read(void)
{
    bench_kernel_time time = total;
    time.overhead_ns = (uint64_t)((double)sleepy_calls * sleepy_overhead_ns +
                                  (double)(total.calls - sleepy_calls) * quick_overhead_ns);
    return time;
}

#else

void bench_kernel_time_watch(bool on)
{
    (void)on;
}

bench_kernel_time bench_kernel_time_read(void)
{
    bench_kernel_time none = {0, 0, 0};
    return none;
}

#endif
